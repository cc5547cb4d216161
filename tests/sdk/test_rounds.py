"""One function through every SDK: its definition goes out, a call comes in, the result goes back."""

from __future__ import annotations

import json
from typing import Any

import pytest
from clients import CLIENTS, Client, listed

from loopback import Loopback, get_weather, loopback
from toolglot import Message, ToolResult, WireFormat, detect_provider, get_provider, providers, tools

# Warnings of an SDK about itself are its own affair.
pytestmark = [pytest.mark.sdk, pytest.mark.filterwarnings("ignore::DeprecationWarning")]
KNOWN = [client for client in CLIENTS if client.provider in set(providers())]


def ask(client: Client, server: Loopback, messages: list[Any], choice: str | None, answer: str) -> Any:
    """Send a request; what the server got is what we wrote, and the SDK's own types know all of it."""
    members = get_provider(client.provider).request(get_weather, choice)
    assert {loss.code for loss in members.losses} <= client.loses
    server.answer = client.answer(answer)
    response = client.send(server.url, messages, members)
    known = client.check(server.seen[-1])
    assert holds(known, {**members, client.messages: messages})
    return response


def holds(known: Any, ours: Any) -> bool:
    """Whether all that we wrote is there; an SDK may add its defaults, and leave out what is empty."""
    if isinstance(ours, dict):
        return isinstance(known, dict) and all(
            holds(known[key], value) if key in known else not value for key, value in ours.items()
        )
    if isinstance(ours, list):
        return isinstance(known, list) and len(known) == len(ours) and all(map(holds, known, ours))
    return bool(known == ours)


@pytest.mark.parametrize("client", KNOWN, ids=str)
def test_round(client: Client) -> None:
    pytest.importorskip(client.package)
    parser = get_provider(client.provider)
    with loopback() as server:
        # The definition goes out, a call comes in.
        history = [client.user]
        response = ask(client, server, history, "required", "call")
        assert detect_provider(response) == client.provider
        message = parser.parse(response)
        (call,) = message.tool_calls
        assert (call.name, call.arguments) == ("get_weather", {"city": "Oslo", "unit": "c"})
        assert message.losses == []
        # The SDK's object says all that the wire says.
        assert seen(parser.parse(client.answer("call"))) == seen(message)

        # The call and its result go back, and the answer is read.
        result = ToolResult.success(call.id, get_weather(**call.arguments), call.name)
        history += listed(parser.assistant(message, strict=True)) + listed(parser.results(result, message, strict=True))
        answer = parser.parse(ask(client, server, history, None, "text"))
    assert (answer.content, answer.tool_calls, answer.stop_reason) == ("4 degrees.", [], "stop")
    sent = json.dumps(server.seen[-1])
    assert sent.count('"temp') == 1
    assert call.id is None or sent.count(json.dumps(call.id)) == 2
    assert len(server.seen) == 2


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
def test_functions_of_the_third_seed(id: str, read: Any, expected: str | None) -> None:
    """`toolglot.tools` reads the SDKs' own objects, and the SDKs take its definitions."""
    (client,) = [client for client in CLIENTS if client.id == id]
    pytest.importorskip(client.package)
    name = {"openai_chat": "openai"}.get(id, id)
    definition = {"name": "get_weather", "description": "The weather.", "parameters": {"type": "object"}}
    written = getattr(tools, f"to_{name}_tools")([definition])
    with loopback() as server:
        server.answer = client.answer("call")
        response = client.send(server.url, [client.user], {"toolConfig" if id == "bedrock" else "tools": written})
    assert read(response) == [tools.ToolCall(expected, "get_weather", {"city": "Oslo", "unit": "c"})]


def test_every_wire_format_has_a_client() -> None:
    # These have no list of messages to go on with; their rounds are in files of their own.
    others = {WireFormat.MCP, WireFormat.COHERE_V1, WireFormat.MISTRAL_CONVERSATIONS}
    assert {get_provider(client.provider).wire for client in KNOWN} == {one.wire_format for one in providers()} - others
