"""The recorded streams as the SDKs' own objects: each is of the SDK's types, and says the same."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest

import payloads
from payloads import Payload
from test_providers import label, provider_of
from toolglot import Message

pytestmark = pytest.mark.sdk
WIRES = ("anthropic", "cohere", "cohere_v1", "gemini", "gemini_interactions", "mistral_conversations", "ollama")
# What an SDK cannot hold, and why.
REFUSED = {
    "gemini/stream_error": "the SDK raises its own error",
    "ollama/stream_error": "the SDK raises its own error",
    "ollama/stream_images": "the SDK has images of what is sent only",
    "ollama/stream_text_arguments": "the SDK wants objects",
    "gemini/stream_partial_array": "the SDK has the enum's NULL_VALUE only, not null",
    "ollama/stream_all": "the SDK loses the ids",
}
if sys.version_info < (3, 11):
    REFUSED["gemini_interactions/stream_unknown"] = (
        "the SDK for this Python refuses kinds of steps that it does not know"
    )
STREAMS = [
    case for case in payloads.cases() if case.wire in WIRES and "stream" in case.data and label(case) not in REFUSED
]


def _reader(wire: str) -> Callable[[Any], Any]:
    """What makes the SDK's object of an event, as the SDK does."""
    adapter = pytest.importorskip("pydantic").TypeAdapter
    if wire == "anthropic":
        pytest.importorskip("anthropic")
        construct = import_module("anthropic._models").construct_type
        kind = import_module("anthropic.types.beta").BetaRawMessageStreamEvent
        return lambda event: construct(type_=kind, value=event)
    if wire in ("cohere", "cohere_v1"):
        pytest.importorskip("cohere")
        construct = import_module("cohere.core.unchecked_base_model").construct_type
        name = "V2ChatStreamResponse" if wire == "cohere" else "StreamedChatResponse"
        kind = getattr(import_module("cohere.v2.types" if wire == "cohere" else "cohere.types"), name)
        return lambda event: construct(type_=kind, object_=event)
    if wire == "gemini":
        kind = pytest.importorskip("google.genai").types.GenerateContentResponse
        return kind.model_validate
    if wire == "gemini_interactions":
        pytest.importorskip("google.genai")
        kind = import_module("google.genai._gaos.types.interactions.interactionsseevent").InteractionSSEEvent
        return lambda event: adapter(kind).validate_python(event)
    if wire == "mistral_conversations":
        pytest.importorskip("mistralai")
        kind = import_module("mistralai.client.models").ConversationEvents
        return lambda event: kind(event=event["type"], data=event)
    kind = pytest.importorskip("ollama").ChatResponse
    return kind.model_validate


def _read(case: Payload, events: list[Any]) -> Message:
    stream = provider_of(case).stream(on_error="collect")
    for event in events:
        stream.feed(event)
    stream.close()
    return stream.message


@pytest.mark.parametrize("case", STREAMS, ids=label)
def test_objects(case: Payload) -> None:
    read = _reader(case.wire)
    events = case.data["stream"]
    objects = [read(event) for event in events]
    known = [event for event, one in zip(events, objects, strict=True) if type(one) is not dict]
    assert known == events or "unknown blocks" in case.data["tags"]
    assert _read(case, objects) == _read(case, events)
