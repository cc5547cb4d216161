"""Cohere: what is written is what its SDK takes, what its SDK returns is read."""

from __future__ import annotations

from typing import Any

import pytest

from loopback import get_weather, loopback, responses, unknown, written
from payloads import Payload
from toolglot import OpaquePart, ToolResult, detect_provider, get_provider, parse_response

cohere = pytest.importorskip("cohere")
pydantic = pytest.importorskip("pydantic")
pytestmark = pytest.mark.sdk

TAKES = {
    "request": pydantic.TypeAdapter(list[cohere.ToolV2]),
    "results": pydantic.TypeAdapter(list[cohere.ToolChatMessageV2]),
    "assistant": pydantic.TypeAdapter(cohere.AssistantChatMessageV2),
}


@pytest.mark.parametrize(("case", "section", "value"), written("cohere"))
def test_shapes(case: str, section: str, value: Any) -> None:
    if section == "request":
        assert set(value) <= {"tools", "tool_choice", "strict_tools"}
        assert value.get("tool_choice", "NONE") in ("REQUIRED", "NONE")
        value = value["tools"]
    assert unknown(TAKES[section].validate_python(value)) == []


@pytest.mark.parametrize("case", responses("cohere"), ids=lambda case: case.name)
def test_round(case: Payload) -> None:
    """Definition, call, result: through the SDK to a server and back."""
    provider = get_provider("cohere")
    with loopback() as server:
        server.answer = {"id": "r", **case.data["payload"]}
        client = cohere.ClientV2("key", base_url=server.url)
        messages: list[Any] = [{"role": "user", "content": "Weather?"}]
        request = provider.request(get_weather, "required")
        response = client.chat(model="m", messages=messages, **request)
        sent = server.seen.pop()
        assert (sent["tools"], sent["tool_choice"]) == (request["tools"], "REQUIRED")
        assert detect_provider(response).value == "cohere"
        message = parse_response(response)
        plain = parse_response(server.answer)
        assert (message.parts, message.stop_reason, message.content) == (plain.parts, plain.stop_reason, plain.content)
        results = provider.results([ToolResult(call.id, {"ok": 1}) for call in message.tool_calls], message)
        client.chat(model="m", messages=[*messages, provider.assistant(message), *results], **request)
        assert server.seen.pop()["messages"][1:] == [provider.assistant(message), *results]


@pytest.mark.filterwarnings("error")
def test_an_object_that_holds_what_its_types_do_not_know() -> None:
    """The SDK takes whatever comes, and warns of it in every way but one to get it out again."""
    from cohere.core.unchecked_base_model import construct_type

    payload: Any = {
        "id": "r",
        "finish_reason": "COMPLETE",
        "message": {"role": "assistant", "content": [{"type": "new"}]},
    }
    payload["message"] |= {"tool_plan": 3, "citations": {"a": 1}}
    response = construct_type(type_=cohere.V2ChatResponse, object_=payload)
    message = parse_response(response)
    assert [part.data for part in message.parts if isinstance(part, OpaquePart)] == [{"type": "new"}]
    assert [loss.path for loss in message.losses] == ["$.message.tool_plan"]
