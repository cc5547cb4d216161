"""Client to server to client: every SDK sends a definition, gets a call, sends the result, and its types take it all."""

from __future__ import annotations

import json
from typing import Any, Literal

import pytest
from clients import CLIENTS, Client
from loopback import Loopback

from toolglot import Message, ToolResult, WireFormat, detect_provider, get_provider, providers, tools

# Warnings of an SDK about itself are its own affair.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
KNOWN = [client for client in CLIENTS if client.provider in set(providers())]


def get_weather(city: str, unit: Literal["c", "f"] = "c") -> dict[str, Any]:
    """The weather now.

    Args:
        city: Where.
        unit: Celsius or Fahrenheit.
    """
    return {"city": city, "temperature": 4 if unit == "c" else 39, "unit": unit}


def ask(client: Client, server: Loopback, messages: list[Any], choice: str | None) -> Any:
    """Send a request; what the server got is what we wrote, and the SDK's own types know all of it."""
    members = get_provider(client.provider).request(get_weather, choice, strict=True)
    response = client.send(server.url, messages, members)
    path, body = server.requests[-1]
    assert path == client.path
    known = client.check(body)
    assert {key: known[key] for key in members} == members
    assert known[client.messages] == messages
    return response


def listed(written: Any) -> list[Any]:
    """Some APIs have a turn as one message, some as several."""
    return [*written] if isinstance(written, list) else [written]


@pytest.mark.parametrize("client", KNOWN, ids=str)
def test_round(client: Client, server: Loopback) -> None:
    pytest.importorskip(client.package)
    parser = get_provider(client.provider)
    server.answers = [client.answer("call"), client.answer("text")]

    # The definition goes out, a call comes in.
    history = [client.user]
    response = ask(client, server, history, "required")
    assert detect_provider(response) == (client.detected or client.provider)
    message = parser.parse(response)
    assert [(call.name, call.arguments) for call in message.tool_calls] == [
        ("get_weather", {"city": "Oslo", "unit": "c"})
    ]
    assert message.losses == []
    # The SDK's object says all that the wire says.
    assert seen(parser.parse(client.answer("call"))) == seen(message)

    # The call and its result go back, and the answer is read.
    (call,) = message.tool_calls
    result = ToolResult.success(call.id, get_weather(**call.arguments), call.name)
    history += listed(parser.assistant(message, strict=True)) + listed(parser.results(result, message, strict=True))
    answer = parser.parse(ask(client, server, history, None))
    assert (answer.content, answer.tool_calls, answer.stop_reason) == ("4 degrees.", [], "stop")
    sent = json.dumps(server.requests[-1].body)
    assert "39" not in sent
    assert call.id is None or sent.count(json.dumps(call.id)) == 2
    assert server.answers == []


def seen(message: Message) -> Any:
    """Everything that was read, without what an SDK's object adds to an answer as a whole."""
    return message.parts, [call.extra for call in message.tool_calls], message.content, message.stop_reason


def of_message(response: Any) -> list[tools.ToolCall]:
    return tools.parse_openai_tool_calls(response.choices[0].message)


@pytest.mark.parametrize(
    ("id", "read", "expected"),
    [
        ("openai_chat", of_message, "call_a7XqT0"),
        ("groq", of_message, "call_a7XqT0"),
        ("mistral", of_message, "aB3dE6gH9"),
        ("anthropic", lambda response: tools.parse_anthropic_tool_calls(response.content), "toolu_01A7XqT0"),
        ("gemini", tools.parse_gemini_tool_calls, None),
        (
            "bedrock",
            lambda response: tools.parse_bedrock_tool_calls(response["output"]["message"]["content"]),
            "tooluse_a7XqT0",
        ),
        ("ollama", lambda response: tools.parse_ollama_tool_calls(response["message"]), None),
    ],
)
def test_functions_of_the_third_seed(id: str, read: Any, expected: str | None, server: Loopback) -> None:
    """`toolglot.tools` reads the SDKs' own objects, and the SDKs take its definitions."""
    (client,) = [client for client in CLIENTS if client.id == id]
    pytest.importorskip(client.package)
    name = {"openai_chat": "openai"}.get(id, id)
    definition = {"name": "get_weather", "description": "The weather.", "parameters": {"type": "object"}}
    written = getattr(tools, f"to_{name}_tools")([definition])
    server.answers = [client.answer("call")]
    response = client.send(server.url, [client.user], {"toolConfig" if id == "bedrock" else "tools": written})
    assert read(response) == [tools.ToolCall(expected, "get_weather", {"city": "Oslo", "unit": "c"})]


def test_every_wire_format_has_a_client() -> None:
    wires = {provider.wire_format for provider in providers()} - {WireFormat.MCP}  # which has no model to ask
    assert {get_provider(client.provider).wire for client in KNOWN} == wires
