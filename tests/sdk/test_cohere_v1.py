"""Cohere, version 1: what is written is what its SDK takes, what its SDK returns is read."""

from __future__ import annotations

from typing import Any

import pytest

import turns
from loopback import get_weather, loopback, responses, unknown, written
from payloads import Payload
from toolglot import ToolResult, detect_provider, get_provider, parse_response

cohere = pytest.importorskip("cohere")
pydantic = pytest.importorskip("pydantic")
pytestmark = pytest.mark.sdk

TAKES = {
    "request": pydantic.TypeAdapter(list[cohere.Tool]),
    "results": pydantic.TypeAdapter(list[cohere.ToolResult]),
    "assistant": pydantic.TypeAdapter(cohere.ChatbotMessage),
}


@pytest.mark.parametrize(("case", "section", "value"), written("cohere_v1"))
def test_shapes(case: str, section: str, value: Any) -> None:
    value = value["tools"] if section == "request" else value["tool_results"] if section == "results" else value
    assert unknown(TAKES[section].validate_python(value)) == []


@pytest.mark.parametrize("case", turns.cases(), ids=str)
def test_histories(case: turns.Case) -> None:
    """The conversation, and everyone's own history, in the SDK's types."""
    provider = get_provider("cohere_v1")
    for read in (turns.CONVERSATION, case.parser.history(case.data["history"])):
        members = provider.messages(read)
        history = pydantic.TypeAdapter(list[cohere.Message]).validate_python(members["chat_history"])
        results = TAKES["results"].validate_python(members.get("tool_results", []))
        assert unknown([*history, *results]) == []
        assert members.keys() <= {"preamble", "chat_history", "message", "tool_results"}


@pytest.mark.parametrize(
    "case", responses("cohere_v1", lambda case: "generation_id" in case.data["payload"]), ids=lambda case: case.name
)
def test_round(case: Payload) -> None:
    """Definition, call, result: through the SDK to a server and back."""
    provider = get_provider("cohere_v1")
    with loopback() as server:
        server.answer = case.data["payload"]
        client = cohere.Client("key", base_url=server.url)
        request = provider.request(get_weather)
        response = client.chat(model="m", message="Weather?", **request)
        assert server.seen.pop()["tools"] == request["tools"]
        assert detect_provider(response).value == "cohere_v1"
        message = parse_response(response)
        plain = parse_response(server.answer)
        assert (message.parts, message.stop_reason, message.content) == (plain.parts, plain.stop_reason, plain.content)
        results = provider.results([ToolResult(None, {"ok": 1}, call.name) for call in message.tool_calls], message)
        history = [provider.assistant(message)]
        client.chat(model="m", message="", chat_history=history, **request, **results)
        sent = server.seen.pop()
        assert (sent["chat_history"], sent["tool_results"]) == (history, results["tool_results"])
