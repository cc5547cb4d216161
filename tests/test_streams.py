"""Streams: every recorded stream in every form and cut anywhere; what it says of the same answer whole."""

from __future__ import annotations

import json
import pickle
import random
from dataclasses import replace
from typing import Any

import pytest

import payloads
import wires
from payloads import Payload
from test_providers import label, provider_of, seen
from toolglot import (
    ErrorEvent,
    Message,
    ParseError,
    ReasoningDelta,
    ReasoningPart,
    StreamParser,
    TextDelta,
    TextPart,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    get_provider,
)

STREAMS = [case for case in payloads.cases() if "stream" in case.data]


def run(case: Payload, pieces: list[Any] | None = None, as_bytes: bool = False) -> tuple[list[Any], Message]:
    """The events and the message of ``pieces``, or of the case's events."""
    stream = provider_of(case).stream(on_error="collect")
    feed = stream.feed_bytes if as_bytes else stream.feed
    events = [event for piece in (case.data["stream"] if pieces is None else pieces) for event in feed(piece)]
    events += stream.close()
    return events, stream.message


def coherent(events: list[Any], message: Message) -> None:
    """The events tell what the message says."""
    for delta, part in ((TextDelta, TextPart), (ReasoningDelta, ReasoningPart)):
        told = "".join(event.text for event in events if type(event) is delta)
        # A block's parts may be joined with something between them.
        found = "".join(one.text for one in message.parts if type(one) is part)
        assert told.replace("\n", "") == found.replace("\n", "")
    calls = {call.index: call for call in message.tool_calls}
    ended = {event.index: event.call for event in events if type(event) is ToolCallEnd}
    assert ended == calls
    assert all(ended[index] is call for index, call in calls.items())
    for index, call in calls.items():
        starts = [event for event in events if type(event) is ToolCallStart and event.index == index]
        assert [start.name for start in starts] == [call.name]
        assert starts[0].id in (None, call.id)
        told = "".join(event.arguments for event in events if type(event) is ToolCallDelta and event.index == index)
        assert told == call.arguments_json
    errors = [event.error for event in events if type(event) is ErrorEvent]
    assert sorted(errors, key=repr) == sorted(message.errors, key=repr)


@pytest.mark.parametrize("case", STREAMS, ids=label)
def test_stream(case: Payload) -> None:
    expected = case.data.get("message")
    as_given = json.dumps(case.data["stream"])
    events, message = run(case)
    assert json.dumps(case.data["stream"]) == as_given
    assert message.provider == provider_of(case).provider.value
    coherent(events, message)
    if expected is not None:
        assert seen(message, expected, None) == expected
    if "payload" in case.data or "text" in case.data:
        whole = provider_of(case).parse(case.text, on_error="collect")
        assert alike(message) == alike(whole)
    # Events as text and one after the other, and the message as far as it is known at any time.
    stream = provider_of(case).stream(on_error="collect")
    told = []
    for event in case.data["stream"]:
        told += stream.feed(json.dumps(event))
        assert pickle.loads(pickle.dumps(stream.message)) == stream.message
    assert (told + stream.close(), stream.message) == (events, message)


def alike(message: Message) -> Message:
    """``message`` without what a stream cannot know: where in a text its errors stand."""
    errors = [
        type(error)(error.text, error.code, path=error.path, call_index=error.call_index, expected=error.expected)
        for error in message.errors
    ]
    return replace(message, errors=errors)


@pytest.mark.parametrize("case", STREAMS, ids=label)
def test_errors_are_raised_behind_their_events(case: Payload) -> None:
    whole, _ = run(case)
    first = next((n for n, event in enumerate(whole) if type(event) is ErrorEvent), None)
    stream = provider_of(case).stream()
    events: list[Any] = []
    try:
        for event in case.data["stream"]:
            events += stream.feed(event)
        events += stream.close()
    except ParseError as error:
        assert type(events[-1]) is ErrorEvent
        assert error is events[-1].error
        assert error.message is not None
    assert events == (whole if first is None else whole[: first + 1])


@pytest.mark.parametrize("case", STREAMS, ids=label)
def test_bytes_cut_anywhere(case: Payload) -> None:
    data = wires.encoded(case.wire, case.data["stream"])
    expected = run(case, [data], as_bytes=True)
    assert expected[1].tool_calls == run(case)[1].tool_calls
    offsets = range(1, len(data)) if len(data) < 4000 else sorted(random.Random(0).sample(range(1, len(data)), 1000))
    for at in offsets:
        assert run(case, [data[:at], data[at:]], as_bytes=True) == expected
    assert run(case, [data[at : at + 1] for at in range(len(data))], as_bytes=True) == expected


@pytest.mark.parametrize("case", STREAMS, ids=label)
def test_a_dropped_connection(case: Payload) -> None:
    """Whatever the stream breaks off behind: an error, and of calls only those of the whole."""
    events = case.data["stream"]
    whole = {call.index: call for call in run(case)[1].tool_calls}
    for size in range(len(events)):
        told, message = run(case, events[:size])
        coherent(told, message)
        for call in message.tool_calls:
            assert whole.get(call.index, call) == call
            assert call.index in whole or not whole


def test_what_feed_gave_stays() -> None:
    """The list that `feed` returns is the caller's, also where it is empty: what comes later is not put into it."""
    stream = get_provider("ollama").stream()
    parser = StreamParser(format="hermes")
    for feed, first, second in (
        (stream.feed, '{"message": {"content": ""}}', '{"message": {"content": "Hi."}}'),
        (parser.feed, "<tool_call>", "</tool_call> x"),
    ):
        given = feed(first)
        assert given == []
        assert feed(second) != []
        assert given == []


def test_a_call_that_was_complete_before_an_error_stands() -> None:
    """A block that has stopped was not cut off by what went wrong behind it; only a limit could have cut it off."""
    events = [
        {"type": "message_start", "message": {"content": []}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "id": "t", "name": "f"}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": "{}"}},
        {"type": "content_block_stop", "index": 0},
        {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
    ]
    for size, calls in ((4, ["f"]), (3, [])):
        stream = get_provider("anthropic").stream(on_error="collect")
        for event in [*events[:size], events[4]]:
            stream.feed(event)
        assert [call.name for call in stream.message.tool_calls] == calls


def test_a_call_that_the_provider_ran_is_no_event() -> None:
    """xAI's own tools stand among the calls; the caller's are told once, with their ordinals."""
    server = {"index": 0, "id": "s1", "type": "TOOL_CALL_TYPE_WEB_SEARCH_TOOL", "function": {"name": "web_search"}}
    mine = {"index": 1, "id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
    stream = get_provider("xai").stream()
    events = []
    for call in (server, mine):
        events += stream.feed({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]})
    events += stream.feed({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]})
    events += stream.close()
    coherent(events, stream.message)
    assert [type(event).__name__ for event in events] == ["ToolCallStart", "ToolCallDelta", "ToolCallEnd"]
    assert [(call.index, call.id) for call in stream.message.tool_calls] == [(0, "c1")]
    assert [call.id for call in stream.message.server_calls] == ["s1"]
