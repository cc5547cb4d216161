"""Bedrock's InvokeModel: each family's bodies are those of its own API."""

from __future__ import annotations

import json
from typing import Any

import pytest

from toolglot import ConversionError, Provider, Tool, ToolResult, detect_provider, get_provider
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
