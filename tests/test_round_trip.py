"""What is written is read back as it was, or writing it is refused; for every format."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import example, given, note
from hypothesis import strategies as st

import toolglot
from compare import unordered
from effort import examples
from texts import PIECES, format_ids, tools_of

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
def call_lists(draw: st.DrawFn, names: st.SearchStrategy[str] = NAMES) -> list[toolglot.ToolCall]:
    chosen = draw(st.lists(names, min_size=1, max_size=3))
    return [toolglot.ToolCall(name, draw(st.dictionaries(KEYS, VALUES, max_size=4))) for name in chosen]


# What formats can write that cannot write every name.
CALLS: dict[str, st.SearchStrategy[list[toolglot.ToolCall]]] = {
    "mcp_xml": call_lists(st.sampled_from(["main/f", "files/read/all", "f", "/f", "a.b/"])),
    "smolagents_code": st.builds(
        lambda code: [toolglot.ToolCall("python_interpreter", {"code": code})],
        st.one_of(STRINGS, st.sampled_from(["print(1)", "\nif x:\n    y()\n", "1", "</code>"])),
    ),
}


def check_refusal(error: toolglot.ConversionError) -> None:
    """An error of `render` has a code of the table, and can be sent to another process."""
    assert error.code in toolglot.errors.CODES
    assert pickle.loads(pickle.dumps(error)).args == error.args


PROSE = st.sampled_from([None, None, None, "I will look.", "Two lines\nof é text. ", "a < b && c[0]", "\n x \n"])


@pytest.mark.parametrize("format", format_ids())
def test_round_trip(format: str) -> None:
    written = 0

    @examples(150)
    @given(CALLS.get(format, call_lists()), PROSE, PROSE)
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
        # What is written is a whole turn: no prompt opened its reasoning.
        message = toolglot.parse(text, format=format, tools=tools_of(calls), generation_prompt="")
        expected = [(call.name, unordered(call.arguments)) for call in calls]
        assert [(call.name, unordered(call.arguments)) for call in message.tool_calls] == expected
        assert message.content == (content if content and content.strip() else None)
        assert message.reasoning == (reasoning if reasoning and reasoning.strip() else None)
        assert [call.kind for call in message.tool_calls] == ["function"] * len(calls)

    run()
    assert written >= 2, "nothing could be written"


@pytest.mark.parametrize(
    ("format", "written"),
    [("gemma4", "a:{x:1,y:2}"), ("inkling", '"args":{"a":{"x":1,"y":2}}'), ("hermes", '"y": 2, "x"')],
)
def test_keys_that_the_template_sorts(format: str, written: str) -> None:
    """To sort keys at any depth is no reason to refuse a value."""
    assert written in toolglot.render([toolglot.ToolCall("f", {"a": {"y": 2, "x": 1}})], format)


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
