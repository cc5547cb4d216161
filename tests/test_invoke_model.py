"""Bedrock's InvokeModel: each family's bodies are those of its own API."""

from __future__ import annotations

import json
from typing import Any

import pytest

import wires
from toolglot import (
    ConversionError,
    ParseError,
    Provider,
    Tool,
    ToolCallEnd,
    ToolResult,
    detect_provider,
    get_provider,
    iter_events,
)
from toolglot.providers.bedrock import Bedrock

BEDROCK = get_provider("bedrock")
assert isinstance(BEDROCK, Bedrock)

TOOL = Tool("get_weather", "Weather now", {"type": "object", "properties": {"city": {"type": "string"}}})
CALL = {"id": "aB3dE6gH9", "function": {"name": "get_weather", "arguments": '{"city": "Oslo"}'}}
ANSWERS: dict[str, tuple[str, str, dict[str, Any]]] = {
    # Model, who its bodies are of, the body of an answer.
    "claude": (
        "us.anthropic.claude-sonnet-4-20250514-v1:0",
        "anthropic",
        {
            "type": "message",
            "stop_reason": "tool_use",
            "content": [{"type": "tool_use", "id": "t1", "name": "get_weather", "input": {"city": "Oslo"}}],
        },
    ),
    "nova": (
        "arn:aws:bedrock:us-east-1:1:inference-profile/us.amazon.nova-lite-v1:0",
        "bedrock",
        {
            "output": {
                "message": {
                    "role": "assistant",
                    "content": [{"toolUse": {"toolUseId": "t1", "name": "get_weather", "input": {"city": "Oslo"}}}],
                }
            },
            "stopReason": "tool_use",
        },
    ),
    "mistral": (
        "mistral.mistral-large-2407-v1:0",
        "mistral",
        {"choices": [{"message": {"role": "assistant", "tool_calls": [CALL]}, "stop_reason": "tool_calls"}]},
    ),
    "command_r": (
        "cohere.command-r-plus-v1:0",
        "cohere_v1",
        {"text": "", "generation_id": "g", "tool_calls": [{"name": "get_weather", "parameters": {"city": "Oslo"}}]},
    ),
    "jamba": (
        "ai21.jamba-1-5-large-v1:0",
        "openai_compatible",
        {"choices": [{"message": {"tool_calls": [CALL]}, "finish_reason": "tool_calls"}]},
    ),
    "gpt_oss": (
        "openai.gpt-oss-120b-1:0",
        "openai_compatible",
        {"choices": [{"message": {"tool_calls": [CALL]}, "finish_reason": "tool_calls"}]},
    ),
}


@pytest.mark.parametrize("family", ANSWERS)
def test_families(family: str) -> None:
    model, name, answer = ANSWERS[family]
    provider = BEDROCK.for_invoke_model(model)
    assert provider.provider is Provider(name)
    assert provider.can_parse(answer)
    message = provider.parse(json.dumps(answer).encode())
    assert message.stop_reason == "tool_calls"
    assert [(call.name, call.arguments) for call in message.tool_calls] == [("get_weather", {"city": "Oslo"})]
    assert "get_weather" in json.dumps(provider.request(TOOL, "auto"))
    call = message.tool_calls[0]
    assert "4 C" in json.dumps(provider.results(ToolResult(call.id, "4 C"), message))
    # Without being told, detection finds someone who reads the same call.
    found = get_provider(detect_provider(answer)).parse(answer).tool_calls
    assert found == message.tool_calls


@pytest.mark.parametrize("model", ["meta.llama3-1-70b-instruct-v1:0", "amazon.titan-text-v1", "anthropic", ""])
def test_models_that_take_a_prompt(model: str) -> None:
    with pytest.raises(ConversionError, match="takes a prompt"):
        BEDROCK.for_invoke_model(model)


EVENTS: list[dict[str, Any]] = [
    {"type": "message_start", "message": {"content": []}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "id": "t", "name": "f"}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": '{"a": 1}'}},
    {"type": "content_block_stop", "index": 0},
    {"type": "message_delta", "delta": {"stop_reason": "tool_use"}},
    {"type": "message_stop"},
]


def test_streams() -> None:
    """boto3 gives the bytes of each event in a chunk (botocore's service model, PayloadPart)."""
    provider = BEDROCK.for_invoke_model("anthropic.claude-3-haiku-20240307-v1:0")
    chunks = [{"chunk": {"bytes": json.dumps(event).encode()}} for event in EVENTS]
    told = [event for event in iter_events(chunks) if type(event) is ToolCallEnd]
    assert [(end.call.id, end.call.name, end.call.arguments) for end in told] == [("t", "f", {"a": 1})]
    for pieces in ([wires.invoke_model(EVENTS)], [bytes([byte]) for byte in wires.invoke_model(EVENTS)]):
        pytest.importorskip("botocore")
        stream = provider.stream()
        for piece in pieces:
            stream.feed_bytes(piece)
        stream.close()
        assert stream.message.tool_calls == [told[0].call]
    assert not get_provider("anthropic").binary  # which is another object


@pytest.mark.parametrize("chunk", [{}, {"bytes": None}, {"bytes": b"{"}, {"bytes": b"1"}, None, "x"])
def test_chunks_that_are_none(chunk: Any) -> None:
    assert detect_provider({"chunk": chunk}) is Provider.AUTO
    stream = BEDROCK.for_invoke_model("anthropic.claude-v1").stream(on_error="collect")
    if chunk == {"bytes": b"{"}:
        with pytest.raises(ParseError):
            stream.feed({"chunk": chunk})
    else:
        stream.feed({"chunk": chunk})
    assert stream.message.losses or chunk == {"bytes": b"{"}
