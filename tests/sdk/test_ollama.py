"""Ollama: what is written is what its SDK takes, what its SDK returns is read."""

from __future__ import annotations

from typing import Any

import pytest

from loopback import get_weather, loopback, responses, written
from payloads import Payload
from toolglot import ToolResult, detect_provider, get_provider, parse_response

ollama = pytest.importorskip("ollama")
pytestmark = pytest.mark.sdk


def known(message: dict[str, Any]) -> dict[str, Any]:
    """A message without the ids, which the server has and the SDK has not."""
    rest = {key: value for key, value in message.items() if key != "tool_call_id"}
    if "tool_calls" in rest:
        rest["tool_calls"] = [{"function": call["function"]} for call in rest["tool_calls"]]
    return rest


@pytest.mark.parametrize(("case", "section", "value"), written("ollama"))
def test_shapes(case: str, section: str, value: Any) -> None:
    if section == "request":
        for tool in value.get("tools", ()):
            assert ollama.Tool(**tool).model_dump(exclude_none=True) == tool
        return
    for message in value if isinstance(value, list) else [value]:
        images = message.get("images", [])
        read = ollama.Message(**{**message, "images": None}).model_dump(exclude_none=True)
        assert {**read, **({"images": images} if images else {})} == known(message)
        assert [ollama.Image(value=image).model_dump() for image in images] == images


@pytest.mark.parametrize(
    "case", responses("ollama", lambda case: case.name != "text_arguments"), ids=lambda case: case.name
)
def test_round(case: Payload) -> None:
    """Definition, call, result: through the SDK to a server and back."""
    provider = get_provider("ollama")
    with loopback() as server:
        server.answer = case.data["payload"]
        client = ollama.Client(host=server.url)
        messages: list[Any] = [{"role": "user", "content": "Weather?"}]
        request = provider.request(get_weather, "auto")
        response = client.chat(model="m", messages=messages, **request)
        assert server.seen.pop()["tools"] == request["tools"]
        assert detect_provider(response).value == "ollama"
        message = parse_response(response)
        plain = parse_response(server.answer)
        seen = [(call.name, call.arguments) for call in message.tool_calls]
        assert seen == [(call.name, call.arguments) for call in plain.tool_calls]
        assert (message.content, message.reasoning, message.stop_reason) == (
            plain.content,
            plain.reasoning,
            plain.stop_reason,
        )
        results = provider.results([ToolResult(call.id, {"ok": 1}, call.name) for call in message.tool_calls], message)
        client.chat(model="m", messages=[*messages, provider.assistant(message), *results], **request)
        sent = [provider.assistant(message), *results]
        # The client leaves out what is empty.
        assert server.seen.pop()["messages"][1:] == [{k: v for k, v in one.items() if v} for one in sent]
