"""Mistral: what is written is what its SDK takes, what its SDK returns is read."""

from __future__ import annotations

from typing import Any

import pytest

from loopback import get_weather, loopback, responses, written
from payloads import Payload
from toolglot import Provider, ToolResult, detect_provider, get_provider, parse_response

models = pytest.importorskip("mistralai.client.models")
pydantic = pytest.importorskip("pydantic")
pytestmark = pytest.mark.sdk

TAKES = {
    "request": models.ChatCompletionRequestTypedDict,
    "results": list[models.ToolMessageTypedDict],
    "assistant": models.AssistantMessageTypedDict,
}


@pytest.mark.parametrize(("case", "section", "value"), written("mistral"))
def test_shapes(case: str, section: str, value: Any) -> None:
    if section == "request":
        value = {"model": "m", "messages": [], **value}
    adapter = pydantic.TypeAdapter(TAKES[section])
    # What the SDK does not know is gone.
    assert adapter.dump_python(adapter.validate_python(value)) == value


@pytest.mark.parametrize(
    "case", responses("mistral", lambda case: "created" in case.data["payload"]), ids=lambda case: case.name
)
def test_round(case: Payload) -> None:
    """Definition, call, result: through the SDK to a server and back."""
    from mistralai.client import Mistral

    provider = get_provider("mistral")
    with loopback() as server:
        server.answer = case.data["payload"]
        client = Mistral(api_key="key", server_url=server.url)
        messages: list[Any] = [{"role": "user", "content": "Weather?"}]
        request = provider.request(get_weather, "required")
        response = client.chat.complete(model="m", messages=messages, **request)
        sent = server.seen.pop()
        assert (sent["tools"], sent["tool_choice"]) == (request["tools"], "any")
        assert detect_provider(response) is Provider.MISTRAL
        message = parse_response(response)
        plain = provider.parse(server.answer)
        assert (message.tool_calls, message.content, message.reasoning, message.stop_reason) == (
            plain.tool_calls,
            plain.content,
            plain.reasoning,
            plain.stop_reason,
        )
        results = provider.results([ToolResult(call.id, {"ok": 1}) for call in message.tool_calls], message)
        client.chat.complete(model="m", messages=[*messages, provider.assistant(message), *results], **request)
        assert server.seen.pop()["messages"][2:] == results
