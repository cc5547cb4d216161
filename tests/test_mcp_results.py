"""MCP: a server's answer as a result for any provider."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolglot import ConversionError, FilePart, ImagePart, TextPart, ToolCall, ToolglotError, ToolResult, get_provider
from toolglot.providers.mcp import MCP

mcp = get_provider("mcp")
assert isinstance(mcp, MCP)

PNG = base64.b64encode(b"\x89PNG").decode()
TEXT = {"type": "text", "text": "4 C"}


@pytest.mark.parametrize(
    ("answer", "content"),
    [
        ({"content": [TEXT]}, "4 C"),
        ({"content": []}, ""),
        ({}, ""),
        ({"content": [], "structuredContent": {"t": 4}}, {"t": 4}),
        ({"content": [{"type": "text", "text": '{"t": 4}'}], "structuredContent": {"t": 4}}, {"t": 4}),
        ({"content": [TEXT], "structuredContent": {"t": 4}}, [TextPart("4 C"), TextPart('{"t": 4}')]),
        ({"content": [{"type": "text", "text": "{"}], "structuredContent": [4]}, [TextPart("{"), TextPart("[4]")]),
        ({"content": [TEXT, TEXT]}, [TextPart("4 C"), TextPart("4 C")]),
        ({"content": [{"type": "image", "data": PNG, "mimeType": "image/gif"}]}, [ImagePart(b"\x89PNG", "image/gif")]),
        ({"content": [{"type": "audio", "data": PNG, "mimeType": "audio/wav"}]}, [FilePart(b"\x89PNG", "audio/wav")]),
        (
            {"content": [{"type": "resource", "resource": {"uri": "file:///a/b%20c.pdf", "blob": PNG}}]},
            [FilePart(b"\x89PNG", "application/octet-stream", "b c.pdf")],
        ),
        ({"content": [{"type": "resource", "resource": {"uri": "x://y", "text": "4 C"}}]}, "4 C"),
        (
            {"content": [{"type": "resource_link", "uri": "https://x/y.csv", "name": "y", "mimeType": "text/csv"}]},
            [FilePart(None, "text/csv", "y", "https://x/y.csv")],
        ),
        # What has no part of its own is told as JSON.
        ({"content": [{"type": "resource_link", "uri": "demo://y"}]}, '{"type": "resource_link", "uri": "demo://y"}'),
        ({"content": [{"type": "image", "data": "?"}]}, '{"type": "image", "data": "?"}'),
        ({"content": [3]}, "3"),
        ({"content": "x"}, ""),
    ],
)
def test_read_result(answer: dict[str, Any], content: Any) -> None:
    for response in (answer, json.dumps(answer), {"jsonrpc": "2.0", "id": 7, "result": answer}):
        result = mcp.read_result(response)
        assert (result.content, result.is_error) == (content, False)
    assert result.tool_call_id == "7"


def test_what_was_written_is_read_again() -> None:
    call = ToolCall("f", id="7", extra={"mcp": {"id": 7}})
    for content in ("4 C", {"t": [1, None]}, [TextPart("a"), ImagePart(b"x"), FilePart(b"y", "text/csv", "a b.csv")]):
        for failed in (False, True):
            written = mcp.results(ToolResult("7", content, "f", failed), [call])
            result = mcp.read_result(written[0], call)
            assert (result.content, result.is_error, result.tool_name) == (content, failed, "f")


def test_errors() -> None:
    failed = mcp.read_result({"content": [TEXT], "structuredContent": {"t": 4}, "isError": True})
    assert (failed.is_error, failed.error_message) == (True, "4 C")
    assert failed.content == [TextPart("4 C"), TextPart('{"t": 4}')]  # nothing of it is lost
    refused = mcp.read_result({"jsonrpc": "2.0", "id": "a", "error": {"code": -32602, "message": "Unknown tool: f"}})
    assert (refused.tool_call_id, refused.is_error, refused.error_message) == ("a", True, "Unknown tool: f")
    with pytest.raises(ConversionError, match="not final"):
        mcp.read_result({"resultType": "input_required", "content": []})


def test_an_answer_goes_to_every_provider() -> None:
    call = ToolCall("f", id="call_1")
    result = mcp.read_result({"content": [TEXT, {"type": "image", "data": PNG, "mimeType": "image/png"}]}, call)
    for name in ("openai", "openai_responses", "anthropic", "google", "google_interactions", "bedrock", "mistral"):
        written = json.dumps(get_provider(name).results(result, [call]))
        assert "4 C" in written
        assert PNG in written


def test_requests() -> None:
    requests = mcp.call_requests([ToolCall("a/b", {"x": 1}, "1"), ToolCall("g", id="2", kind="custom", input="y")])
    assert [request["id"] for request in requests] == ["1", "2"]
    assert requests[0]["params"] == {"name": mcp.name("a/b"), "arguments": {"x": 1}}
    assert requests[1]["params"] == {"name": "g", "arguments": {"input": "y"}}
    with pytest.raises(ConversionError) as info:
        mcp.call_requests([ToolCall("f")])
    assert info.value.code == "conversion.missing_id"


KEYS = ("content", "type", "text", "data", "mimeType", "resource", "uri", "blob", "structuredContent", "isError", "id")
JSON = st.recursive(
    st.sampled_from([None, True, 3, 1.5, float("nan"), "", "text", "image", "resource_link", "http://x", "\ud800"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    max_leaves=12,
)


@given(JSON)
def test_whatever_stands_in_an_answer(answer: Any) -> None:
    """A result, or an error of ours."""
    for response in ({"content": answer}, {"content": [answer]}, {"result": answer}, {"content": [], "error": answer}):
        try:
            result = mcp.read_result(response)
        except ToolglotError as error:
            assert error.code
        else:
            assert isinstance(result.is_error, bool)
