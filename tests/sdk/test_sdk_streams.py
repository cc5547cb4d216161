"""Streams through every SDK: what its client makes of the bytes gives the message of the same answer whole."""

from __future__ import annotations

import asyncio
import http.client
import random
from collections.abc import AsyncIterator, Iterable, Iterator
from importlib import import_module
from typing import Any

import pytest
from streaming import STREAMED, Streamed

from loopback import Loopback, loopback
from toolglot import Message, aevents, detect_provider, iter_events, providers
from toolglot.events import Event

# Warnings of an SDK about itself are its own affair.
pytestmark = [pytest.mark.sdk, pytest.mark.filterwarnings("ignore::DeprecationWarning")]

SAMPLE = 30  # offsets of a body that are tried by themselves: a request takes some milliseconds
ASYNC_SAMPLE = 8


def cuttings(streamed: Streamed, sample: int = SAMPLE) -> list[list[bytes]]:
    """The body whole, byte by byte, and cut in two at some of its offsets."""
    body = streamed.body
    offsets = sorted(random.Random(streamed.id).sample(range(1, len(body)), sample))
    return [[body], [body[at : at + 1] for at in range(len(body))], *([body[:at], body[at:]] for at in offsets)]


def serving(streamed: Streamed, server: Loopback, sample: int = SAMPLE) -> Iterator[None]:
    """The server answers with each of the cuttings in turn."""
    server.content_type = streamed.content_type
    for pieces in cuttings(streamed, sample):
        server.pieces = pieces
        yield


def read(streamed: Streamed, events: Iterable[Any]) -> tuple[list[Event], Message]:
    """What our stream makes of an SDK's events."""
    stream = streamed.parser.stream()
    told = [event for one in events for event in stream.feed(one)] + stream.close()
    return told, stream.message


def everything(message: Message) -> Any:
    """All that was found: calls are equal whatever their extra is."""
    return message, [(call.extra, call.index, call.input) for call in message.tool_calls]


def known(streamed: Streamed) -> Message:
    """The message of the answer whole, as far as the SDK's objects have it."""
    whole = streamed.recorded["whole"]
    if "id" in streamed.loses:
        for call in whole["message"]["tool_calls"]:
            del call["id"]
    return streamed.parser.parse(whole)


def test_cuttings_are_counted() -> None:
    """The recorded streams are long enough, and every cutting gives the same bytes."""
    count = 0
    for streamed in STREAMED:
        found = cuttings(streamed)
        assert len({tuple(pieces) for pieces in found}) == SAMPLE + 2
        assert {b"".join(pieces) for pieces in found} == {streamed.body}
        assert "ø".encode() in streamed.body or streamed.id == "bedrock_invoke"  # which is base64
        count += len(found)
    print(f"{count} cuttings of {len(STREAMED)} streams")
    assert count == len(STREAMED) * (SAMPLE + 2)


@pytest.mark.parametrize("streamed", STREAMED, ids=str)
def test_objects(streamed: Streamed) -> None:
    pytest.importorskip(streamed.package)
    expected = everything(known(streamed))
    assert len(expected[0].tool_calls) == 2
    with loopback() as server, streamed.session(server.url) as ask:
        for _ in serving(streamed, server):
            events = list(ask())
            told, message = read(streamed, events)
            assert everything(message) == expected
            assert list(iter_events(events)) == told  # whoever it is detected to be
        assert list(iter_events(ask(), streamed.provider)) == told


@pytest.mark.parametrize("streamed", [one for one in STREAMED if one.asession], ids=str)
def test_objects_asynchronously(streamed: Streamed) -> None:
    pytest.importorskip(streamed.package)
    told, message = read(streamed, streamed.recorded["events"])
    if streamed.loses:
        told, _ = read(streamed, _without_ids(streamed.recorded["events"]))
    assert streamed.asession is not None

    async def run(server: Loopback) -> None:
        assert streamed.asession is not None
        async with streamed.asession(server.url) as ask:
            for _ in serving(streamed, server, ASYNC_SAMPLE):
                assert [event async for event in aevents(ask(), streamed.provider)] == told

    with loopback() as server:
        asyncio.run(run(server))
    assert len(message.tool_calls) == 2


def _without_ids(events: list[Any]) -> list[Any]:
    for event in events:
        for call in event["message"].get("tool_calls", ()):
            del call["id"]
    return events


def body_of(url: str) -> Iterator[bytes]:
    """The chunks of the server's answer, by the standard library's client."""
    connection = http.client.HTTPConnection(url.removeprefix("http://"))
    try:
        connection.request("POST", "/", b"{}")
        response = connection.getresponse()
        while chunk := response.read1():
            yield chunk
    finally:
        connection.close()


@pytest.mark.parametrize("streamed", STREAMED, ids=str)
def test_bytes(streamed: Streamed) -> None:
    if streamed.content_type.startswith("application/vnd.amazon"):
        pytest.importorskip("botocore")
    expected = everything(streamed.parser.parse(streamed.recorded["whole"]))
    with loopback() as server:
        for _ in serving(streamed, server):
            stream = streamed.parser.stream()
            told = [event for chunk in body_of(server.url) for event in stream.feed_bytes(chunk)] + stream.close()
            assert everything(stream.message) == expected
            if streamed.id != "bedrock_invoke":
                assert list(iter_events(body_of(server.url), streamed.provider)) == told


# A name alone says nothing of binary messages with events of Anthropic's.
@pytest.mark.parametrize("streamed", [one for one in STREAMED if one.id != "bedrock_invoke"], ids=str)
def test_bytes_asynchronously(streamed: Streamed) -> None:
    httpx = pytest.importorskip("httpx")
    if streamed.content_type.startswith("application/vnd.amazon"):
        pytest.importorskip("botocore")
    told, _ = read(streamed, streamed.recorded["events"])

    async def chunks(client: Any, url: str) -> AsyncIterator[bytes]:
        async with client.stream("POST", url, json={}) as response:
            async for chunk in response.aiter_bytes():
                yield chunk

    async def run(server: Loopback) -> None:
        async with httpx.AsyncClient() as client:
            for _ in serving(streamed, server, ASYNC_SAMPLE):
                found = [event async for event in aevents(chunks(client, server.url), streamed.provider)]
                assert found == told

    with loopback() as server:
        asyncio.run(run(server))


def test_pieces_come_as_they_were_cut() -> None:
    """Else nothing here would be cut."""
    with loopback() as server:
        server.pieces = [b"data: ", b"{", b"}\n\n"]
        assert list(body_of(server.url)) == server.pieces


@pytest.mark.parametrize("streamed", STREAMED, ids=str)
def test_detection_by_the_first_event(streamed: Streamed) -> None:
    """Of the SDK's objects, and of the same events as JSON."""
    first = detect_provider(streamed.recorded["events"][0])
    shared = {"groq", "mistral"}  # who cannot be told from OpenAI by a shape
    assert first == ("openai" if streamed.provider in shared else streamed.provider)
    pytest.importorskip(streamed.package)
    with loopback() as server, streamed.session(server.url) as ask:
        server.pieces, server.content_type = [streamed.body], streamed.content_type
        events = [*ask()]
    assert detect_provider(events[0]) == streamed.provider


# -- what SDKs lose, and what they do not


def test_ollama_has_no_ids() -> None:
    """providers.md section 9: the model of the SDK has no `id`. When it gets one, ``loses`` has to go."""
    ollama = pytest.importorskip("ollama")
    assert set(ollama.Message.ToolCall.model_fields) == {"function"}
    assert set(ollama.Message.ToolCall.Function.model_fields) == {"name", "arguments"}
    (streamed,) = [one for one in STREAMED if one.id == "ollama"]
    whole = streamed.parser.parse(streamed.recorded["whole"])
    assert [call.id for call in whole.tool_calls] == ["call_a7XqT0", "call_b8YrU1"]
    assert [call.id for call in known(streamed).tool_calls] == [None, None]


def test_mistral_defaults_are_not_taken_for_the_wire() -> None:
    """providers.md section 8: an id that is missing is "null" in the SDK's object, and a missing index 0."""
    pytest.importorskip("mistralai")
    (streamed,) = [one for one in STREAMED if one.id == "mistral"]
    functions = [{"name": name, "arguments": "{}"} for name in ("f", "g")]
    events = streamed.recorded["events"]
    events[-1]["choices"][0]["delta"]["tool_calls"] = [{"function": function} for function in functions]
    with loopback() as server, streamed.session(server.url) as ask:
        import wires

        server.pieces = [wires.encoded("mistral", events)]
        objects = list(ask())
    calls = objects[-1].data.choices[0].delta.tool_calls
    assert [(call.id, call.index) for call in calls] == [("null", 0), ("null", 0)]
    _, message = read(streamed, objects)
    assert [(call.id, call.name, call.arguments) for call in message.tool_calls] == [(None, "f", {}), (None, "g", {})]


def test_partial_arguments() -> None:
    """Vertex's, which the SDK's types have (`google.genai.types.FunctionCall.partial_args`)."""
    pytest.importorskip("google.genai")
    import payloads
    import wires

    types: Any = import_module("google.genai.types")
    assert {"partial_args", "will_continue"} <= set(types.FunctionCall.model_fields)
    (streamed,) = [one for one in STREAMED if one.id == "gemini"]
    (case,) = [case for case in payloads.cases() if case.wire == "gemini" and case.name == "stream"]
    with loopback() as server, streamed.session(server.url) as ask:
        server.pieces = [wires.encoded("gemini", case.data["stream"])]
        _, message = read(streamed, ask())
    assert everything(message) == everything(streamed.parser.parse(case.text))


def test_every_wire_format_that_streams_has_a_client() -> None:
    assert {one.parser.wire for one in STREAMED} == {one.wire_format for one in providers()} - {"mcp"}
