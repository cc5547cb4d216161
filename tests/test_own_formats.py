"""Formats that nobody has declared yet: whatever the declaration, whole and streamed are the same.

A complete call is read by a fast way (`engine/quick.py`), by the operations where that does not answer, and by the
operations alone in a stream. Here all three read the same texts, in formats that are drawn.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given, note
from hypothesis import strategies as st

import toolglot
from compare import plain
from effort import examples
from toolglot import ConversionError, DefinitionError, Format, ToolCall
from toolglot.pattern import Node, arguments, call, call_object, each, key, name, section, value, ws

OPENERS = ["<<", "<call ", "do: ", "do ", "@@", "[[", "\u260e", "call>", "#! ", "<|x|>", "<t>\n", "\n>> "]
BEHIND_NAME = [">>", ">", ":", "\n", "]", " -> ", "|", "(", "-", "=>", "\n\n", ".", "</n>"]
KEY_OPENERS = ["@", "<", "- ", "[", "\n", "<arg ", "$", "", "<k>", "--"]
BEHIND_KEY = [":", ">", "=", " = ", "]:", "</k><v>", "\n"]
BEHIND_VALUE = ["|", ";", "\n", "</arg>", "<", "]", ";;", "##>", "$$", "</v>", ">", "[/a]", ")"]
CLOSERS = ["<</>>", "</call>", "@end", "]]", "}}", "\n\n", ".", "<|/x|>", "</t>", ")"]
SPACES = st.sampled_from([(), (), (ws("\n"),), (ws(""),), (ws(" "),)])


@st.composite
def items(draw: st.DrawFn) -> list[Node | str]:
    """The parts of a call."""
    found: list[Node | str] = [draw(st.sampled_from(OPENERS)), *draw(SPACES)]
    kind = draw(st.sampled_from(["each", "each", "json", "python", "object"]))
    if kind == "object":
        found.append(call_object())
    else:
        found += [name(), *draw(SPACES), draw(st.sampled_from(BEHIND_NAME)), *draw(SPACES)]
        if kind == "each":
            opener = draw(st.sampled_from(KEY_OPENERS))
            found.append(
                each(
                    *([opener] if opener else []),
                    key(),
                    *draw(SPACES),
                    draw(st.sampled_from(BEHIND_KEY)),
                    *draw(SPACES),
                    value(),
                    *draw(SPACES),
                    draw(st.sampled_from(BEHIND_VALUE)),
                    *draw(SPACES),
                )
            )
        else:
            found.append(arguments(kind))
    return [*found, *draw(SPACES), draw(st.sampled_from(CLOSERS))]


@st.composite
def formats(draw: st.DrawFn) -> Format:
    parts = draw(items())
    try:
        made = call(*parts)
        if draw(st.integers(0, 3)) == 0:
            made = section("<s>", made, "</s>", bare=draw(st.sampled_from(["no", "yes"])))
        fmt = Format(made, id="drawn", between=draw(st.sampled_from(["", "\n"])))
        toolglot.register_format(fmt)
    except DefinitionError:
        assume(False)
    note(f"{parts}")
    return fmt


WORDS = st.sampled_from(["x", "Oslo", "two words", "1", "true", "a|b", "a:b", "<b>", "x;", "]", "-", "", "a\nb", "[1]"])
VALUES = st.one_of(WORDS, st.integers(-3, 99), st.booleans(), st.lists(st.integers(0, 9), max_size=2))
CALL_LISTS = st.lists(
    st.builds(
        ToolCall,
        st.sampled_from(["f", "get_weather", "a.b", "x-1", "f:1"]),
        st.dictionaries(st.sampled_from(["to", "n", "city", "a-b"]), VALUES, max_size=3),
    ),
    min_size=1,
    max_size=2,
)
PROSE = st.sampled_from(["", "", "Hello. ", "do not\n", "a < b ", "\n"])


def read_in_all_ways(text: str, fmt: str | None) -> tuple[Any, Any, list[Any]]:
    """By the fast way, by the operations at once, and in pieces of one and of three characters."""
    whole = toolglot.parse(text, format=fmt, on_error="collect")
    slow = toolglot.parse(text, format=fmt, on_error="collect", limits=toolglot.Limits(calls=1000))
    streamed = []
    for size in (1, 3):
        parser = toolglot.StreamParser(format=fmt, on_error="collect")
        for at in range(0, len(text), size):
            parser.feed(text[at : at + size])
        parser.close()
        streamed.append(plain(parser.message))
    return plain(whole), plain(slow), streamed


@pytest.mark.parametrize("detected", [False, True])
def test_drawn_formats(detected: bool) -> None:
    @examples(600)
    @given(formats(), CALL_LISTS, PROSE, PROSE, st.integers(0, 30))
    def run(fmt: Format, calls: list[ToolCall], before: str, behind: str, cut: int) -> None:
        try:
            text = toolglot.render(calls, fmt.id)
        except ConversionError:
            assume(False)
        for one in (before + text + behind, text[: len(text) - cut] + text, text[:cut] + text[cut + 1 :]):
            note(repr(one))
            whole, slow, streamed = read_in_all_ways(one, None if detected else fmt.id)
            assert whole == slow
            assert streamed == [whole, whole]

    run()
