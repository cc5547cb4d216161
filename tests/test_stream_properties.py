"""Streams that nobody recorded: answers cut by an honest server, and recorded streams with something wrong in them."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import payloads
from payloads import Payload
from test_provider_properties import OBJECTS, VALUES, mutated
from test_providers import label, provider_of
from test_streams import alike
from toolglot import (
    ErrorEvent,
    Message,
    ReasoningDelta,
    ReasoningPart,
    TextDelta,
    TextPart,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    ToolglotError,
    get_provider,
)

WIRES = ("mistral", "openai_chat", "openai_responses")
CASES = [case for case in payloads.cases() if case.wire in WIRES]
STREAMS = [case for case in CASES if "stream" in case.data]
VALUES = [*VALUES, *OBJECTS, float("inf"), float("nan"), "h" * 5000, {"type": "text", "text": "t"}, [{"index": "0"}]]

# -- what is always so


def consistent(events: list[Any], message: Message) -> None:
    """`coherent` of test_streams, for streams that contradict themselves or come out of order.

    No character of a text is lost or invented, though the message may have another order. Where the API's last word
    is not what was streamed, a `Loss` has to say so.
    """
    overruled = any("which count" in loss.detail for loss in message.losses)
    for delta, part in ((TextDelta, TextPart), (ReasoningDelta, ReasoningPart)):
        told = "".join(event.text for event in events if type(event) is delta)
        found = "".join(one.text for one in message.parts if type(one) is part)
        # What stands between a block's parts may be told at another place.
        assert overruled or sorted(told.replace("\n", "")) == sorted(found.replace("\n", ""))
    calls = {call.index: call for call in message.tool_calls}
    assert len(calls) == len(message.tool_calls)
    ends = [event for event in events if type(event) is ToolCallEnd]
    assert [event.index for event in ends] == [event.call.index for event in ends]
    assert sorted(event.index for event in ends) == sorted(call.index for call in message.tool_calls)
    for end in ends:
        call = calls[end.index]
        assert end.call is call
        starts = [event for event in events if type(event) is ToolCallStart and event.index == end.index]
        assert [start.name for start in starts] == [call.name]
        assert starts[0].id in (None, call.id)
        pieces = [event.arguments for event in events if type(event) is ToolCallDelta and event.index == end.index]
        assert overruled or "".join(pieces) == call.arguments_json
    errors = [event.error for event in events if type(event) is ErrorEvent]
    assert sorted(errors, key=repr) == sorted(message.errors, key=repr)


def fed(case: Payload, events: list[Any], ids: Any = "given") -> tuple[list[Any], Message] | None:
    """What comes of ``events``; None if they are refused as they should be."""
    stream = provider_of(case).stream(on_error="collect", ids=ids)
    before = repr(events)
    told: list[Any] = []
    try:
        for event in events:
            told += stream.feed(event)
            ended = [one.call for one in told if type(one) is ToolCallEnd]
            assert {id(call) for call in stream.message.tool_calls} == {id(call) for call in ended}
        told += stream.close()
    except ToolglotError as error:
        assert error.code
        return None
    except TypeError as error:  # what is no JSON where an event should be
        assert str(error).startswith("response: expected JSON"), repr(error)
        return None
    assert repr(events) == before  # the caller's own
    return told, stream.message


# -- an honest server


class Cutter:
    """Cuts a whole answer into the events of its stream, in one of the ways in which servers do it."""

    def __init__(self, draw: Any) -> None:
        self.draw = draw
        # Of Chat Completions: what is sent again, whether an index is sent (and as what), whether calls take turns.
        self.again = draw(st.booleans())
        self.index: Callable[[int], Any] | None = draw(st.sampled_from([int, float]))
        self.turns = draw(st.booleans())

    def pieces(self, text: str) -> list[str]:
        """``text`` in pieces, some of which may be empty."""
        places = sorted(self.draw(st.lists(st.integers(0, len(text)), max_size=6)))
        return [text[a:b] for a, b in zip([0, *places], [*places, len(text)], strict=True)]

    def chat(self, whole: dict[str, Any]) -> list[dict[str, Any]]:
        """The chunks of a completion, the first choice's only."""
        choice = whole["choices"][0]
        message = choice["message"]
        deltas: list[dict[str, Any]] = [{"role": "assistant"}]
        for key, value in message.items():
            if key == "role" or value is None:
                continue
            if key == "tool_calls":
                deltas += self.calls(value)
            elif key == "function_call":
                pieces = self.pieces(value["arguments"])
                deltas.append({key: {"name": value["name"], "arguments": pieces[0]}})
                deltas += [{key: {"arguments": piece}} for piece in pieces[1:]]
            elif type(value) is str:
                deltas += [{key: piece} for piece in self.pieces(value)]
            elif key == "content":
                deltas += [{key: [part]} for one in value for part in self.part(one)]
            else:
                deltas.append({key: value})
        about = {key: value for key, value in whole.items() if key not in ("choices", "usage", "object")}
        about["object"] = "chat.completion.chunk"
        reasons = {key: value for key, value in choice.items() if key in ("finish_reason", "stop_reason")}
        beside = {key: value for key, value in choice.items() if key not in ("index", "message", *reasons)}
        events = [{**about, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
        events.append({**about, "choices": [{**beside, "index": 0, "delta": {}, **reasons}]})
        events.append({**about, "choices": [], "usage": whole.get("usage")})
        return events

    def part(self, part: dict[str, Any]) -> list[dict[str, Any]]:
        """A part of content in pieces, if it is text."""
        if part.get("type") != "text":
            return [part]
        return [{**part, "text": piece} for piece in self.pieces(part["text"])]

    def calls(self, calls: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """The deltas of calls: one after the other, or in turns."""
        rows = []
        for number, call in enumerate(calls):
            key = "custom" if "custom" in call else "function"
            inner = call[key]
            name = "input" if key == "custom" else "arguments"
            said = inner.get(name)
            pieces = self.pieces(said) if type(said) is str else [said]
            index = {} if self.index is None else {"index": self.index(number)}
            row = [{**call, **index, key: {**inner, name: pieces[0]}}]
            known = {"id": call["id"], "type": call.get("type")} if self.again and "id" in call else {}
            named = {"name": inner["name"]} if self.again else {}
            row += [{**known, **index, key: {**named, name: piece}} for piece in pieces[1:]]
            rows.append(row)
        if not self.turns:
            return [{"tool_calls": [one]} for row in rows for one in row]
        found = [{"tool_calls": [row[0]]} for row in rows]  # a call's ordinal is the place of its beginning
        rest = [row[1:] for row in rows]
        while any(rest):
            row = self.draw(st.sampled_from([row for row in rest if row]))
            found.append({"tool_calls": [row.pop(0)]})
        return found

    def responses(self, whole: dict[str, Any]) -> list[dict[str, Any]]:
        """The events of a response, with the item's id or its place alone, and with all or some of its ends."""
        running = {"status": "in_progress"} if "status" in whole else {}
        events: list[dict[str, Any]] = [
            {"type": "response.created", "response": {**whole, **running, "output": [], "usage": None}}
        ]
        rows = [self.item(number, item) for number, item in enumerate(whole["output"])]
        for row in rows:
            events += row
        status = whole.get("status")
        status = status if status in ("incomplete", "failed") else "completed"
        return [*events, {"type": f"response.{status}", "response": whole}]

    def item(self, index: int, item: dict[str, Any]) -> list[dict[str, Any]]:
        """The events of an item."""
        kind = item.get("type")
        where: dict[str, Any] = {"output_index": index}
        if "id" in item and self.again:
            where["item_id"] = item["id"]
        begun = copy.deepcopy(item)
        events: list[dict[str, Any]] = []
        name = {"function_call": "arguments", "custom_tool_call": "input"}.get(str(kind))
        if name is not None:
            what = "response.function_call_arguments" if name == "arguments" else "response.custom_tool_call_input"
            begun[name] = ""
            events = [{"type": f"{what}.delta", **where, "delta": piece} for piece in self.pieces(item[name])]
            if self.draw(st.booleans()):
                events.append({"type": f"{what}.done", **where, name: item[name]})
        elif kind in ("message", "reasoning"):
            for key in ("summary", "content"):
                if key in item:
                    begun[key] = []
                for number, part in enumerate(item.get(key) or []):
                    events += self.text({**where, f"{key}_index": number}, key, kind, part)
        ends = self.draw(st.booleans())
        added = {"type": "response.output_item.added", "output_index": index, "item": begun}
        return [added, *events, *([{**added, "type": "response.output_item.done", "item": item}] if ends else [])]

    def text(self, where: dict[str, Any], key: str, kind: str, part: dict[str, Any]) -> list[dict[str, Any]]:
        """The events of a part of text."""
        name = "refusal" if part.get("type") == "refusal" else "text"
        what = {"message": "output_text", "reasoning": "reasoning_text"}[kind]
        what = "refusal" if name == "refusal" else "reasoning_summary_text" if key == "summary" else what
        if type(part.get(name)) is not str:
            return []  # the item has it in the end
        events = [{"type": f"response.{what}.delta", **where, "delta": piece} for piece in self.pieces(part[name])]
        if self.draw(st.booleans()):
            events.append({"type": f"response.{what}.done", **where, name: part[name]})
        return events


def _whole(case: Payload) -> dict[str, Any] | None:
    """The case's answer, if a server could stream it."""
    found = json.loads(case.text) if case.is_response else None
    if type(found) is not dict or "wrong_shapes" in case.name or found.get("error"):
        return None
    if case.wire == "openai_responses":
        if found.get("object") != "response" or type(found.get("output")) is not list:
            return None
        # Of a call that was answered there a stream tells before it knows.
        answers = any("call_output" in str(item.get("type")) for item in found["output"])
        return None if answers else found
    choices = found.get("choices")
    if type(choices) is not list or not choices or type(choices[0].get("message")) is not dict:
        return None
    message = choices[0]["message"]
    legacy = message.get("function_call")
    calls = message.get("tool_calls")
    listed = [] if calls is None else calls
    if type(listed) is not list or any("function" not in one and "custom" not in one for one in listed):
        return None  # of no stream
    if legacy is not None and (calls or type(legacy.get("arguments")) is not str):
        return None
    if "error" in choices[0] or {"reasoning", "reasoning_content"} <= message.keys():
        return None  # recorded as streams
    content = message.get("content")
    if type(content) is list and any(len(part.get("thinking") or "") > 1 for part in content):
        return None  # a stream does not say where one thought ends and the next begins
    # A stream of calls with neither ids nor names says nothing of which is which.
    return found if all(type((one.get("function") or one.get("custom")).get("name")) is str for one in listed) else None


WHOLE = [(case, whole) for case in CASES if (whole := _whole(case)) is not None]


@pytest.mark.parametrize(("case", "whole"), WHOLE, ids=[label(case) for case, _ in WHOLE])
@given(data=st.data())
def test_any_cut_gives_the_whole(case: Payload, whole: dict[str, Any], data: st.DataObject) -> None:
    cutter = Cutter(data.draw)
    events = (cutter.responses if case.wire == "openai_responses" else cutter.chat)(whole)
    found = fed(case, events)
    assert found is not None
    told, message = found
    if whole.get("choices"):
        whole = {**whole, "choices": whole["choices"][:1]}
    expected = provider_of(case).parse(whole, on_error="collect")
    if len(expected.losses) < len(message.losses):  # those of the events, which a whole answer does not have
        message.losses = [loss for loss in message.losses if loss.path.startswith("$.choices[0].message")]
    assert alike(message) == alike(expected)
    consistent(told, message)


def test_most_answers_are_cut() -> None:
    wires = [case.wire for case, _ in WHOLE]
    assert all(wires.count(wire) > 5 for wire in WIRES)


# -- anything


@given(st.data())
def test_mutated_streams(data: st.DataObject) -> None:
    case = data.draw(st.sampled_from(STREAMS))
    events = data.draw(mutated([case.data["stream"]], VALUES))
    found = fed(case, events, data.draw(st.sampled_from(["given", "synthesize"])))
    if found is not None:
        consistent(*found)


@given(st.data())
def test_events_in_any_order(data: st.DataObject) -> None:
    """Doubled, missing, and out of order."""
    case = data.draw(st.sampled_from(STREAMS))
    events = data.draw(st.lists(st.sampled_from(case.data["stream"]), max_size=2 * len(case.data["stream"])))
    found = fed(case, events)
    assert found is not None
    consistent(*found)


@given(st.data())
def test_streams_of_others(data: st.DataObject) -> None:
    """A stream that is read as another provider's, and two of them in one."""
    one, other = data.draw(st.sampled_from(STREAMS)), data.draw(st.sampled_from(STREAMS))
    events = [*one.data["stream"], *other.data["stream"]]
    stream = get_provider(data.draw(st.sampled_from(["openai", "mistral", "openai_responses"]))).stream(
        on_error="collect"
    )
    told = [event for item in events for event in stream.feed(item)]
    consistent(told + stream.close(), stream.message)
