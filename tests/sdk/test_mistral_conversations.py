"""Mistral's Conversations: what is written is what its SDK takes, what its SDK returns is read."""

from __future__ import annotations

from typing import Any

import pytest

import turns
from loopback import get_weather, loopback, responses, written
from payloads import Payload
from toolglot import ToolResult, detect_provider, get_provider, parse_response

models = pytest.importorskip("mistralai.client.models")
pydantic = pytest.importorskip("pydantic")
pytestmark = pytest.mark.sdk


@pytest.mark.parametrize(("case", "section", "value"), written("mistral_conversations"))
def test_shapes(case: str, section: str, value: Any) -> None:
    members = value if section == "request" else {"inputs": value}
    request = {"stream": False, "inputs": "Hi", **members}
    adapter = pydantic.TypeAdapter(models.ConversationRequestTypedDict)
    # What the SDK does not know is gone.
    assert adapter.dump_python(adapter.validate_python(request)) == request


@pytest.mark.parametrize("case", [None, *turns.cases()], ids=str)
def test_conversations(case: turns.Case | None) -> None:
    """The conversation that is written for every API, and the histories of all others."""
    provider = get_provider("mistral_conversations")
    history = turns.CONVERSATION if case is None else case.parser.history(case.data["history"])
    request = {"stream": False, **provider.messages(history)}
    adapter = pydantic.TypeAdapter(models.ConversationRequestTypedDict)
    if case is None or case.wire != provider.wire:
        assert adapter.dump_python(adapter.validate_python(request)) == request


@pytest.mark.parametrize(
    "case",
    responses("mistral_conversations", lambda case: "outputs" in case.data["payload"]),
    ids=lambda case: case.name,
)
def test_round(case: Payload) -> None:
    """Definition, call, result: through the SDK to a server and back."""
    from mistralai.client import Mistral

    provider = get_provider("mistral_conversations")
    with loopback() as server:
        server.answer = case.data["payload"]
        client = Mistral(api_key="key", server_url=server.url)
        request = provider.request(get_weather, "required")
        response = client.beta.conversations.start(model="m", inputs="Weather?", **request)
        sent = server.seen.pop()
        assert {key: sent[key] for key in request} == request
        assert detect_provider(response).value == "mistral_conversations"
        message = parse_response(response)
        plain = parse_response(server.answer)
        assert (message.tool_calls, message.server_calls) == (plain.tool_calls, plain.server_calls)
        assert (message.content, message.reasoning) == (plain.content, plain.reasoning)
        results = provider.results([ToolResult(call.id, {"ok": 1}) for call in message.tool_calls], message)
        client.beta.conversations.append(conversation_id="conv_1", inputs=results)
        assert server.seen.pop()["inputs"] == results
        client.beta.conversations.start(model="m", inputs=[*provider.assistant(message), *results])
        assert server.seen.pop()["inputs"] == [*provider.assistant(message), *results]
