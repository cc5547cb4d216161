"""Gemini's Interactions: what is written is what its SDK takes, what its SDK returns is read."""

from __future__ import annotations

from typing import Any

import pytest

from loopback import get_weather, loopback, responses, unknown, written
from payloads import Payload
from toolglot import ToolResult, detect_provider, get_provider, parse_response

genai = pytest.importorskip("google.genai")
interactions = pytest.importorskip("google.genai.interactions")
pytestmark = pytest.mark.sdk


@pytest.mark.parametrize(("case", "section", "value"), written("gemini_interactions"))
def test_shapes(case: str, section: str, value: Any) -> None:
    members = {"model": "m", **(value if section == "request" else {"input": value})}
    read = interactions.CreateModelInteraction.model_validate(members)
    assert read.model_dump(mode="json", by_alias=True, exclude_unset=True) == members
    for step in read.input or () if section != "request" else ():
        if step.type == "function_result" and not isinstance(step.result, (str, list)):
            step.result = ""  # of which the type says no more than that it is an object
    assert unknown(read) == []
    assert "is_unknown" not in repr(read)


@pytest.mark.parametrize(
    "case", responses("gemini_interactions", lambda case: "steps" in case.data["payload"]), ids=lambda case: case.name
)
def test_round(case: Payload) -> None:
    """Definition, call, result: through the SDK to a server and back."""
    provider = get_provider("google_interactions")
    with loopback() as server:
        server.answer = case.data["payload"]
        client = genai.Client(api_key="key", http_options={"base_url": server.url})
        request = provider.request(get_weather, "required")
        response = client.interactions.create(model="m", input="Weather?", **request)
        sent = server.seen.pop()
        assert {key: sent[key] for key in request} == request
        assert detect_provider(response).value == "google_interactions"
        message = parse_response(response)
        plain = parse_response(server.answer)
        assert (message.tool_calls, message.content, message.reasoning, message.stop_reason) == (
            plain.tool_calls,
            plain.content,
            plain.reasoning,
            plain.stop_reason,
        )
        results = provider.results([ToolResult(call.id, {"ok": 1}) for call in message.tool_calls], message)
        steps = [*provider.assistant(message), *results]
        client.interactions.create(model="m", input=steps, **request)
        assert server.seen.pop()["input"] == steps
        client.close()
