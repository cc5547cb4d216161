"""What `render` refuses: always an error of Toolglot's, or a `TypeError` that names the argument."""

from __future__ import annotations

from typing import Any

import pytest

import toolglot
from texts import format_ids
from toolglot import ConversionError, ToolCall, ToolResult, UnsafeValueError, parse, render, render_results


def writes_any_tool(format: str) -> bool:
    """Some formats write only calls of one tool, or of tools of a server."""
    try:
        render([ToolCall("f", {"x": 1})], format)
    except ConversionError:
        return False
    return not toolglot.get_format(format).by_tool


WRITTEN = [format for format in format_ids() if writes_any_tool(format)]


def circular() -> Any:
    value: dict[str, Any] = {}
    value["a"] = [value, value]
    return value


def deep(levels: int, leaf: Any = 1) -> Any:
    value = leaf
    for _ in range(levels):
        value = {"a": value}
    return value


NO_JSON = {
    "nan": float("nan"),
    "inf": [float("inf")],
    "digits": {"a": -(10**5000)},
    "circular": circular(),
    "deep": deep(100_000),
}
NO_VALUE = {"key": {1: 2}, "set": {1}, "bytes": [b"x"], "object": object(), "none key": {"a": {None: 1}}}


@pytest.mark.parametrize("check", [True, False])
@pytest.mark.parametrize("name", NO_JSON)
@pytest.mark.parametrize("format", format_ids())
def test_what_json_cannot_say(format: str, name: str, check: bool) -> None:
    with pytest.raises(ConversionError):
        render([ToolCall("f", {"x": NO_JSON[name]})], format, check=check)


@pytest.mark.parametrize("name", NO_VALUE)
@pytest.mark.parametrize("format", format_ids())
def test_what_is_no_json_value(format: str, name: str) -> None:
    with pytest.raises(TypeError, match=r"calls\[0\].*'x'"):
        render([ToolCall("f", {"x": NO_VALUE[name]})], format)


@pytest.mark.parametrize("format", WRITTEN)
def test_what_is_deep_is_written_or_refused(format: str) -> None:
    for levels in (100, 400, 505, 511, 512):
        for check in (True, False):
            try:
                render([ToolCall("f", {"x": deep(levels - 1, "y")})], format, check=check)
            except ConversionError as error:
                assert levels > 100, error


@pytest.mark.parametrize("format", WRITTEN)
def test_deep_elements_are_read(format: str) -> None:
    """What is written without a look back is read, or is an error."""
    for leaf in (["y"], {"a": "y"}):
        value: Any = leaf
        for _ in range(300):
            value = [value] if isinstance(leaf, list) else {"a": value}
        text = render([ToolCall("f", {"x": value})], format, check=False)
        message = toolglot.parse(text, format=format, on_error="collect")
        assert len(message.tool_calls) + len(message.errors) == 1


@pytest.mark.parametrize("format", format_ids())
@pytest.mark.parametrize(
    ("call", "error", "named"),
    [
        (ToolCall("f", [1]), TypeError, r"calls\[0\]\.arguments: expected dict, got list"),  # type: ignore[arg-type]
        (ToolCall("f", {1: 2}), TypeError, r"calls\[0\].*key 1"),  # type: ignore[dict-item]
        (ToolCall(""), ConversionError, r"calls\[0\]\.name"),
        (ToolCall(None), TypeError, r"calls\[0\]\.name: expected str, got NoneType"),  # type: ignore[arg-type]
        (ToolCall("f", {}, 4), TypeError, r"calls\[0\]\.id: expected str, got int"),  # type: ignore[arg-type]
    ],
    ids=["arguments", "key", "empty name", "no name", "id"],
)
def test_what_is_no_call(format: str, call: ToolCall, error: type[Exception], named: str) -> None:
    for check in (True, False):
        with pytest.raises(error, match=named):
            render([call], format, check=check)


@pytest.mark.parametrize("what", ["content", "reasoning"])
def test_what_is_no_text(what: str) -> None:
    wrong: Any = {what: 3}
    with pytest.raises(TypeError, match=f"{what}: expected str or None, got int"):
        render([ToolCall("f")], "hermes", **wrong)


@pytest.mark.parametrize("format", WRITTEN)
def test_a_tuple_says_why(format: str) -> None:
    for value in ((1, 2), {"b": [(1,)]}):
        with pytest.raises(UnsafeValueError, match="a tuple is read back as a list"):
            render([ToolCall("f", {"a": value})], format)


@pytest.mark.parametrize("inner", ["", [], {}])
def test_an_empty_value_inside_another(inner: Any) -> None:
    """MiniMax-M3's template writes them all alike: no usual schema says which it was."""
    for value in ([inner], {"a": inner}, [[inner]], {"a": 1, "b": inner}):
        with pytest.raises(UnsafeValueError):
            render([ToolCall("f", {"a": value})], "minimax_m3")
        for format in ("hermes", "qwen3_coder", "glm45", "gemma4"):
            render([ToolCall("f", {"a": value})], format)
    tools = [{"name": "f", "parameters": {"properties": {"a": {"type": toolglot.rendering.json_type(inner)}}}}]
    text = render([ToolCall("f", {"a": inner})], "minimax_m3")
    assert toolglot.parse(text, format="minimax_m3", tools=tools).tool_calls[0].arguments == {"a": inner}


@pytest.mark.parametrize("name", NO_JSON)
def test_arguments_json(name: str) -> None:
    with pytest.raises(ConversionError, match="'f'"):
        assert ToolCall("f", {"x": NO_JSON[name]}).arguments_json


@pytest.mark.parametrize("format", ["hermes", "gemma4", "mistral_v3", "cohere_action", "harmony"])
def test_results(format: str) -> None:
    for value in NO_JSON.values():
        with pytest.raises(ConversionError):
            render_results([ToolResult("1", value, "f")], format)
    for value in NO_VALUE.values():
        with pytest.raises(TypeError, match="result 0"):
            render_results([ToolResult("1", value, "f")], format)


def test_the_tools_that_were_offered() -> None:
    """A value that their schema gives another type, or content that calls one of them, would not come back."""
    nullable = {"type": "object", "properties": {"a": {"type": ["string", "null"]}}}
    tools = [{"name": "f", "parameters": nullable}, {"name": "other", "parameters": {}}]
    call = ToolCall("f", {"a": "null"})
    text = render([call], "qwen3_coder")
    assert parse(text, format="qwen3_coder", tools=tools).tool_calls[0].arguments == {"a": None}
    with pytest.raises(UnsafeValueError):
        render([call], "qwen3_coder", tools=tools)
    assert render([ToolCall("f", {"a": "x"})], "qwen3_coder", tools=tools)
    said = "It would be <function=other>\n</function>"
    with pytest.raises(UnsafeValueError):
        render([ToolCall("f", {})], "qwen3_coder", content=said, tools=tools)
    with pytest.raises(UnsafeValueError, match="'g', which is not among the tools"):
        render([ToolCall("g", {})], "hermes", tools=tools)
