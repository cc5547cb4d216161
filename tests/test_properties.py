"""Properties that hold for every text, every way of cutting it, and every format.

`TOOLGLOT_EXAMPLES=20 pytest tests/test_properties.py` tries twenty times as many examples.
"""

from __future__ import annotations

import dataclasses
import json
import os
import pickle
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeAlias

import pytest
from hypothesis import HealthCheck, assume, example, given, note, settings
from hypothesis import strategies as st

import toolglot
from texts import CLOSERS, PIECES, TOOLS, format_ids, golden_texts, markup, tools_of

Options: TypeAlias = "dict[str, Any]"

GOLDEN_TEXTS = golden_texts()
ALL_TEXTS = [text for texts in GOLDEN_TEXTS.values() for text in texts]
FORMATS: list[str | None] = [None, *format_ids()]
# The golden tests settle what each text means; here many odd ones are tried, which takes no deadline.
QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]


def examples(count: int) -> settings:
    return settings(
        max_examples=count * int(os.environ.get("TOOLGLOT_EXAMPLES", "1")), deadline=None, suppress_health_check=QUIET
    )


# Texts.


def slices(texts: list[str]) -> st.SearchStrategy[str]:
    """A golden text, or a piece of one."""

    def cut(text: str, start: float, end: float) -> str:
        return text[int(start * len(text)) : len(text) - int(end * len(text))]

    part = st.sampled_from([0.0, 0.0, 0.0, 0.1, 0.25, 0.5, 0.6, 0.9])
    return st.builds(cut, st.sampled_from(texts), part, part)


def texts_of(format: str | None) -> st.SearchStrategy[str]:
    """Texts made of what trips up the parser of ``format``."""
    own = ALL_TEXTS if format is None else GOLDEN_TEXTS.get(format) or ALL_TEXTS
    pieces = st.one_of(
        slices(own),
        st.sampled_from([*markup(own, 200 if format is None else 60), CLOSERS]),
        st.sampled_from(PIECES),
        st.text(st.characters(exclude_categories=[]), max_size=6),
        st.text("<>[](){}|/\"'\\:,=_-. \nab1", max_size=12),
    )
    return st.lists(pieces, min_size=1, max_size=8).map("".join)


OPTIONS: st.SearchStrategy[Options] = st.fixed_dictionaries(
    {
        "tools": st.sampled_from([None, None, TOOLS]),
        "finish_reason": st.sampled_from([None, None, "stop", "length"]),
        "generation_prompt": st.sampled_from([None, None, "", "<think>\n"]),
        "ids": st.sampled_from(["given", "given", "synthesize"]),
    }
)


@dataclass(frozen=True)
class Cut:
    """A text, and where it is cut into deltas; everywhere if ``places`` is None."""

    text: str
    places: tuple[int, ...] | None

    @property
    def pieces(self) -> list[str]:
        if self.places is None:
            return list(self.text)
        return [self.text[a:b] for a, b in pairwise([0, *self.places, len(self.text)])]


@st.composite
def cut_texts(draw: st.DrawFn, format: str | None) -> Cut:
    """A text in pieces, empty ones among them."""
    text = draw(texts_of(format))
    if draw(st.booleans()):
        return Cut(text, None)
    return Cut(text, tuple(sorted(draw(st.lists(st.integers(0, len(text)), max_size=12)))))


# What a parse says, as plain data in which everything counts, also what `==` leaves out.


def plain(value: Any) -> Any:
    if isinstance(value, toolglot.ToolglotError):
        fields = {key: item for key, item in vars(value).items() if key != "message"}
        return (type(value).__name__, str(value), plain(fields))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        hidden = {"id"} if getattr(value, "id_synthesized", False) else set()  # such ids are random
        names = [field.name for field in dataclasses.fields(value) if field.name[0] != "_" and field.name not in hidden]
        return (type(value).__name__, [(name, plain(getattr(value, name))) for name in names])
    if isinstance(value, dict):
        return [(plain(key), plain(item)) for key, item in value.items()]
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return repr(value)


def unordered(value: Any) -> Any:
    """As `plain`, the keys of objects sorted, as some templates write them."""
    if isinstance(value, dict):
        return sorted((key, unordered(item)) for key, item in value.items())
    return [unordered(item) for item in value] if isinstance(value, list) else repr(value)


def parsed(text: str, format: str | None, on_error: str, options: Options) -> Any:
    """The message, or the error that was raised."""
    try:
        return toolglot.parse(text, format=format, on_error=on_error, **options)
    except toolglot.ToolglotError as error:
        return error


def streamed(pieces: list[str], format: str | None, on_error: str, options: Options) -> tuple[list[Any], Any]:
    """All events, and the message or the error that was raised."""
    options = dict(options)
    finish_reason = options.pop("finish_reason")
    parser = toolglot.StreamParser(format=format, on_error=on_error, **options)
    events: list[Any] = []
    try:
        for piece in pieces:
            events += parser.feed(piece)
        events += parser.close(finish_reason)
    except toolglot.ToolglotError as error:
        return events, error
    broken = [event.error for event in events if isinstance(event, toolglot.ErrorEvent)]
    if on_error == "raise" and broken:  # found by `close`, after which nothing is left to raise
        return events, broken[0]
    return events, parser.message


def check_message(text: str, message: toolglot.Message) -> None:
    """What every message keeps of its text."""
    regions: list[tuple[int, int]] = list(message.separators)
    for part in message.parts:
        assert part.span is not None
        regions.append(part.span)
        piece = text[slice(*part.span)]
        if isinstance(part, (toolglot.TextPart, toolglot.ReasoningPart)):
            assert part.text == piece
        elif isinstance(part, toolglot.CallPart):
            assert part.call.span == part.span
    for error in message.errors:
        check_position(text, error)
        if error.code == "reasoning.unclosed" and error.span is None:
            continue  # what it is about is reasoning, which has its own span
        assert error.span is not None
        regions.append(error.span)
        assert error.raw == text[slice(*error.span)]
    at = 0
    for start, end in sorted(regions):
        assert start == at, f"nothing accounts for {text[at:start]!r}" if start > at else f"two regions claim {at}"
        assert end >= start
        at = end
    assert at == len(text), f"nothing accounts for {text[at:]!r}"
    content = "".join(part.text for part in message.parts if isinstance(part, toolglot.TextPart))
    assert message.content == (content if content.strip() else None)
    assert message.tool_calls == [part.call for part in message.parts if isinstance(part, toolglot.CallPart)]
    for call in message.tool_calls:
        assert plain(json.loads(call.arguments_json)) == plain(call.arguments)
    indexes = [call.index for call in message.tool_calls]
    assert indexes == sorted(set(indexes))


def check_position(text: str, error: toolglot.ParseError) -> None:
    """A position lies in the caller's own text, and line and column say the same."""
    assert error.code in toolglot.errors.CODES
    assert error.position is not None
    assert 0 <= error.position <= len(text)
    assert error.line == text.count("\n", 0, error.position) + 1
    assert error.column == error.position - text.rfind("\n", 0, error.position)


def check_raised(text: str, error: toolglot.ParseError) -> None:
    """An error of the seed's functions: it has a position, can be shown, and can be sent to another process."""
    if isinstance(error, toolglot.NoToolCallFoundError):
        assert (error.code, error.position) == ("tool_call.not_found", None)
    else:
        check_position(text, error)
        assert isinstance(error.context(), str)
        assert isinstance(error.feedback(), str)
    assert plain(pickle.loads(pickle.dumps(error))) == plain(error)


def check_refusal(error: toolglot.ConversionError) -> None:
    """An error of `render` has a code of the table, and can be sent to another process."""
    assert error.code in toolglot.errors.CODES
    assert pickle.loads(pickle.dumps(error)).args == error.args


def check_events(text: str, events: list[Any], message: toolglot.Message) -> None:
    """What the events said is what the message says."""
    moved = [event.span for event in events if isinstance(event, toolglot.ReasoningReclassified)]
    content: list[str] = []
    marks = {i for span in message.separators for i in range(*span)}
    reasoning = [(span[0], "".join(text[i] for i in range(*span) if i not in marks)) for span in moved]
    for event in events:
        if isinstance(event, toolglot.TextDelta):
            assert event.span is not None
            assert event.text == text[slice(*event.span)]
            if not any(start <= event.span[0] and event.span[1] <= end for start, end in moved):
                content.append(event.text)
        elif isinstance(event, toolglot.ReasoningDelta):
            assert event.span is not None
            reasoning.append((event.span[0], event.text))
    joined = "".join(content)
    assert message.content == (joined if joined.strip() else None)
    parts = [part.text for part in message.parts if isinstance(part, toolglot.ReasoningPart)]
    assert "".join(piece for _, piece in sorted(reasoning)) == "".join(parts)
    assert plain([event.call for event in events if isinstance(event, toolglot.ToolCallEnd)]) == plain(
        message.tool_calls
    )
    assert [event.error for event in events if isinstance(event, toolglot.ErrorEvent)] == message.errors
    started: dict[int, tuple[str | None, str]] = {}
    deltas: dict[int, str] = {}
    for event in events:
        if isinstance(event, toolglot.ToolCallStart):
            assert event.index not in started
            started[event.index], deltas[event.index] = (event.id, event.name), ""
        elif isinstance(event, toolglot.ToolCallDelta):
            deltas[event.index] += event.arguments
        elif isinstance(event, toolglot.ToolCallEnd):
            assert event.index == event.call.index
            start_id, start_name = started[event.index]
            assert start_name == event.call.name
            assert start_id in (None, event.call.id)  # a JSON call may say its id behind its arguments
            assert deltas[event.index] == event.call.arguments_json


def check(text: str, pieces: list[str], format: str | None, options: Options) -> None:
    """Whole equals streamed, nothing is lost, and all of it can be sent to another process."""
    for on_error in ("collect", "repair"):
        whole = parsed(text, format, on_error, options)
        events, stream = streamed(pieces, format, on_error, options)
        assert plain(stream) == plain(whole)
        assert pickle.loads(pickle.dumps(events)) == events
        assert plain(pickle.loads(pickle.dumps(whole))) == plain(whole)
        if isinstance(whole, toolglot.Message):
            check_message(text, whole)
            check_events(text, events, whole)

    collected = parsed(text, format, "collect", options)
    whole = parsed(text, format, "raise", options)
    events, stream = streamed(pieces, format, "raise", options)
    if isinstance(whole, toolglot.ParseError):
        assert plain(stream) == plain(whole)
        assert isinstance(collected, toolglot.Message)
        assert plain(whole) == plain(collected.errors[0])
        assert whole.message is not None
        assert plain(whole.message.tool_calls) == plain(collected.tool_calls)
        errors = [event.error for event in events if isinstance(event, toolglot.ErrorEvent)]
        assert plain(errors) == [plain(whole)]
        assert isinstance(events[-1], toolglot.ErrorEvent)
        restored = pickle.loads(pickle.dumps(whole))
        assert plain(restored) == plain(whole)
        assert plain(restored.message) == plain(whole.message)
    else:
        assert plain(whole) == plain(stream) == plain(collected)


@pytest.mark.parametrize("format", FORMATS, ids=str)
def test_any_cutting(format: str | None) -> None:
    @examples(400 if format is None else 80)
    @given(cut_texts(format), OPTIONS)
    def run(cut: Cut, options: Options) -> None:
        check(cut.text, cut.pieces, format, options)

    run()


@pytest.mark.parametrize("format", FORMATS, ids=str)
def test_seed_functions_raise_only_parse_errors(format: str | None) -> None:
    @examples(200 if format is None else 30)
    @given(texts_of(format))
    def run(text: str) -> None:
        try:
            calls = toolglot.parse_tool_calls(text, include_format=True)
        except toolglot.ParseError as error:
            check_raised(text, error)
        except toolglot.LimitError:
            pass
        else:
            assert calls
            assert all(list(call) == ["name", "arguments", "format"] for call in calls)

    run()


@examples(300)
@given(st.text(st.characters(exclude_characters="<[{(`|]")))
@example("\ud800")
@example(" \n")
@example("x\n\n")
def test_text_without_markup_is_content(text: str) -> None:
    message = toolglot.parse(text)
    # `:` and `>` alone open nothing, but a model's prose may be a format's word (`Action:`).
    assume(not message.errors and not message.tool_calls)
    assert message.content == (text if text.strip() else None)
    assert message.reasoning is None


# Round trip.

KEYS = st.one_of(
    st.sampled_from(["a", "city", "path", "text", "query_2", "items", "when", "name", "arguments", "k-1", "x.y", "é"]),
    st.text(min_size=1, max_size=5),
)
STRINGS = st.one_of(
    st.text(max_size=20),
    st.text("<>[](){}|/\"'\\:,=`\n\t ab1", max_size=20),
    st.sampled_from(
        ["", " x ", "007", "1", "1.0", "null", "true", "True", "None", "[1]", '{"a": 1}', "\n", "\nx\n", "a b"]
    ),
    st.sampled_from(PIECES),
    st.sampled_from(["say &lt;b&gt; & &amp;amp;", "&#60;", "</parameter", "\n</parameter>", '"', "'", "'''", '"""']),
    st.sampled_from(["\\n", "\\", "\\\\", "\x7f", "\x85", "\u2028", "\r\n", "\N{ZERO WIDTH SPACE}", "😀"]),
)
NUMBERS = st.one_of(
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([0, -0.0, 1.0, 1e16, 1e22, 5e-324, 2**63, 10**30, -(2**200)]),
)
SCALARS = st.one_of(st.none(), st.booleans(), NUMBERS, STRINGS)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=6,
)
NAMES = st.sampled_from(["get_weather", "f", "search-web", "a.b", "Tool2", "write_file", "ns:tool"])


@st.composite
def call_lists(draw: st.DrawFn) -> list[toolglot.ToolCall]:
    names = draw(st.lists(NAMES, min_size=1, max_size=3))
    return [toolglot.ToolCall(name, draw(st.dictionaries(KEYS, VALUES, max_size=4))) for name in names]


PROSE = st.sampled_from([None, None, None, "I will look.", "Two lines\nof é text. ", "a < b && c[0]", "\n x \n"])


@pytest.mark.parametrize("format", format_ids())
def test_round_trip(format: str) -> None:
    written = 0

    @examples(150)
    @given(call_lists(), PROSE, PROSE)
    @example([toolglot.ToolCall("ping", {})], None, None)
    @example([toolglot.ToolCall("get_weather", {"city": "Paris", "days": 2})], None, None)
    def run(calls: list[toolglot.ToolCall], content: str | None, reasoning: str | None) -> None:
        nonlocal written
        try:
            text = toolglot.render(calls, format, content=content, reasoning=reasoning)
        except toolglot.ConversionError as error:
            check_refusal(error)
            return
        written += 1
        note(repr(text))
        message = toolglot.parse(text, format=format, tools=tools_of(calls))
        expected = [(call.name, unordered(call.arguments)) for call in calls]
        assert [(call.name, unordered(call.arguments)) for call in message.tool_calls] == expected
        assert message.content == (content if content and content.strip() else None)
        assert message.reasoning == (reasoning if reasoning and reasoning.strip() else None)
        assert [call.kind for call in message.tool_calls] == ["function"] * len(calls)

    run()
    assert written >= 2, "nothing could be written"


@pytest.mark.parametrize("format", format_ids())
@pytest.mark.parametrize("content", [None, "Hello."])
def test_segments_join_to_the_text(format: str, content: str | None) -> None:
    calls = [toolglot.ToolCall("get_weather", {"city": "Paris"})]
    try:
        text = toolglot.render(calls, format, content=content)
    except toolglot.ConversionError:
        with pytest.raises(toolglot.ConversionError):
            toolglot.render_segments(calls, format, content=content)
    else:
        segments = toolglot.render_segments(calls, format, content=content)
        assert "".join(segment[0] for segment in segments) == text
