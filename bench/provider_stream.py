"""Streams of providers: microseconds an event over `json.loads` of the same event, and how they grow.

``python -m bench.stream`` measures these and those of text.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import toolglot

from .report import Report, Row
from .timing import once

Event = dict[str, Any]

COST, DOUBLE = "Streams of providers, an event", "Doubling a provider's stream, 50,000 to 100,000 events"
EVENTS, REPEATS = 2_000, 9
LONG, LONG_REPEATS = 100_000, 3


@dataclass(frozen=True)
class Shape:
    """A provider's stream: what opens and closes the text and the call, and what one delta of each looks like.

    ``piece`` gives a delta of text, ``argument`` one of a call's arguments: JSON text, of a string that grows. None
    where calls are never split.
    """

    text: tuple[list[Event], Callable[[str], Event], list[Event]]
    call: tuple[list[Event], Callable[[str], Event], list[Event]] | None

    def texts(self, count: int) -> list[Event]:
        """A stream of ``count`` deltas of text."""
        opening, piece, closing = self.text
        return [*opening, *(piece(f" w{number % 10}") for number in range(count)), *closing]

    def arguments(self, count: int) -> list[Event] | None:
        """A stream of ``count`` deltas of one call's arguments."""
        if self.call is None:
            return None
        opening, piece, closing = self.call
        between = (piece(f" a{number % 10}") for number in range(count - 2))
        return [*opening, piece('{"text": "'), *between, piece('"}'), *closing]


def _chat(id: str, **rest: Any) -> Shape:
    """Chat Completions."""

    def chunk(delta: Event, reason: str | None = None) -> Event:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}
        return {
            "id": "chatcmpl-9fGq",
            "object": "chat.completion.chunk",
            "created": 1764000000,
            "model": "m-5",
            **rest,
            "choices": [choice],
        }

    def part(**function: str) -> Event:
        named = {"id": id, "type": "function"} if "name" in function else {}
        return chunk({"tool_calls": [{"index": 0, **named, "function": function}]})

    said = chunk({"role": "assistant", "content": ""})
    return Shape(
        ([said], lambda piece: chunk({"content": piece}), [chunk({}, "stop")]),
        (
            [said, part(name="write", arguments="")],
            lambda piece: part(arguments=piece),
            [chunk({}, "tool_calls")],
        ),
    )


def _responses() -> Shape:
    numbers = iter(range(sys.maxsize))

    def event(kind: str, **members: Any) -> Event:
        return {"type": kind, "sequence_number": next(numbers), **members}

    def response(kind: str, status: str) -> Event:
        return event(kind, response={"id": "resp_1", "object": "response", "status": status, "output": []})

    begin = [response("response.created", "in_progress"), response("response.in_progress", "in_progress")]
    end = [response("response.completed", "completed")]
    message: Event = {"id": "msg_1", "type": "message", "status": "in_progress", "role": "assistant", "content": []}
    call: Event = {"id": "fc_1", "type": "function_call", "call_id": "call_1", "name": "write", "arguments": ""}
    part = {"type": "output_text", "text": "", "annotations": []}
    at: Event = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
    return Shape(
        (
            [
                *begin,
                event("response.output_item.added", output_index=0, item=message),
                event("response.content_part.added", **at, part=part),
            ],
            lambda piece: event("response.output_text.delta", **at, delta=piece, logprobs=[], obfuscation="x1aB"),
            end,
        ),
        (
            [*begin, event("response.output_item.added", output_index=0, item=call)],
            lambda piece: event(
                "response.function_call_arguments.delta",
                item_id="fc_1",
                output_index=0,
                delta=piece,
                obfuscation="x1aB",
            ),
            end,
        ),
    )


def _anthropic() -> Shape:
    message: Event = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [],
        "stop_reason": None,
    }
    start: Event = {"type": "message_start", "message": message}

    def blocks(block: Event, reason: str) -> tuple[list[Event], list[Event]]:
        return (
            [start, {"type": "content_block_start", "index": 0, "content_block": block}],
            [
                {"type": "content_block_stop", "index": 0},
                {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 9}},
                {"type": "message_stop"},
            ],
        )

    def delta(kind: str, key: str, piece: str) -> Event:
        return {"type": "content_block_delta", "index": 0, "delta": {"type": kind, key: piece}}

    begin, end = blocks({"type": "text", "text": ""}, "end_turn")
    begin_call, end_call = blocks({"type": "tool_use", "id": "toolu_1", "name": "write", "input": {}}, "tool_use")
    return Shape(
        (begin, lambda piece: delta("text_delta", "text", piece), end),
        (begin_call, lambda piece: delta("input_json_delta", "partial_json", piece), end_call),
    )


def _gemini() -> Shape:
    def chunk(part: Event | None, **rest: Any) -> Event:
        content = {"parts": [] if part is None else [part], "role": "model"}
        usage = {"promptTokenCount": 8, "candidatesTokenCount": 12, "totalTokenCount": 20}
        return {
            "candidates": [{"content": content, **rest, "index": 0}],
            "usageMetadata": usage,
            "modelVersion": "m-3",
            "responseId": "r1",
        }

    def partial(piece: str) -> Event:
        """One of Vertex: more of a string at its path, so what is around the string says nothing."""
        one = {"jsonPath": "$.text", "stringValue": piece if piece[0] == " " else "", "willContinue": True}
        return chunk({"functionCall": {"partialArgs": [one], "willContinue": True}})

    end = [chunk(None, finishReason="STOP")]
    return Shape(
        ([], lambda piece: chunk({"text": piece}), end),
        (
            [chunk({"functionCall": {"name": "write", "willContinue": True}})],
            partial,
            [chunk({"functionCall": {}}), *end],
        ),
    )


def _interactions() -> Shape:
    def steps(step: Event, status: str) -> tuple[list[Event], list[Event]]:
        about = {"id": "v1_1", "object": "interaction", "model": "m"}
        return (
            [
                {"event_type": "interaction.created", "interaction": {**about, "status": "in_progress"}},
                {"event_type": "step.start", "index": 0, "step": step},
            ],
            [
                {"event_type": "step.stop", "index": 0},
                {"event_type": "interaction.completed", "interaction": {**about, "status": status}},
            ],
        )

    def delta(**members: str) -> Event:
        return {"event_type": "step.delta", "index": 0, "delta": members, "event_id": "ev_1"}

    begin, end = steps({"type": "model_output"}, "completed")
    call = {"type": "function_call", "id": "g1", "name": "write", "arguments": {}}
    begin_call, end_call = steps(call, "requires_action")
    return Shape(
        (begin, lambda piece: delta(type="text", text=piece), end),
        (begin_call, lambda piece: delta(type="arguments_delta", arguments=piece), end_call),
    )


def _cohere() -> Shape:
    def event(kind: str, message: Event) -> Event:
        return {"type": kind, "index": 0, "delta": {"message": message}}

    def part(kind: str, **function: str) -> Event:
        named = {"id": "write_1", "type": "function"} if "name" in function else {}
        return event(kind, {"tool_calls": {**named, "function": function}})

    def end(reason: str) -> Event:
        return {"type": "message-end", "id": "r1", "delta": {"finish_reason": reason}}

    start: Event = {"type": "message-start", "id": "r1", "delta": {"message": {"role": "assistant", "content": []}}}
    return Shape(
        (
            [start, event("content-start", {"content": {"type": "text", "text": ""}})],
            lambda piece: event("content-delta", {"content": {"text": piece}}),
            [{"type": "content-end", "index": 0}, end("COMPLETE")],
        ),
        (
            [start, part("tool-call-start", name="write", arguments="")],
            lambda piece: part("tool-call-delta", arguments=piece),
            [{"type": "tool-call-end", "index": 0}, end("TOOL_CALL")],
        ),
    )


def _cohere_v1() -> Shape:
    def event(kind: str, **members: Any) -> Event:
        return {"is_finished": kind == "stream-end", "event_type": kind, **members}

    def part(**delta: Any) -> Event:
        return event("tool-calls-chunk", tool_call_delta={"index": 0, **delta})

    start = event("stream-start", generation_id="g")
    return Shape(
        (
            [start],
            lambda piece: event("text-generation", text=piece),
            [event("stream-end", finish_reason="COMPLETE", response={})],
        ),
        (
            [start, part(name="write")],
            lambda piece: part(parameters=piece),
            [event("stream-end", finish_reason="COMPLETE", response={})],
        ),
    )


def _bedrock() -> Shape:
    def delta(members: Event) -> Event:
        return {"contentBlockDelta": {"delta": members, "contentBlockIndex": 0}}

    def end(reason: str) -> list[Event]:
        usage = {"usage": {"inputTokens": 1, "outputTokens": 1}, "metrics": {"latencyMs": 1}}
        return [
            {"contentBlockStop": {"contentBlockIndex": 0}},
            {"messageStop": {"stopReason": reason}},
            {"metadata": usage},
        ]

    start: Event = {"messageStart": {"role": "assistant"}}
    call: Event = {"toolUse": {"toolUseId": "t1", "name": "write"}}
    return Shape(
        ([start], lambda piece: delta({"text": piece}), end("end_turn")),
        (
            [start, {"contentBlockStart": {"start": call, "contentBlockIndex": 0}}],
            lambda piece: delta({"toolUse": {"input": piece}}),
            end("tool_use"),
        ),
    )


def _conversations() -> Shape:
    def event(kind: str, **members: Any) -> Event:
        return {"type": kind, "created_at": "2026-01-01T00:00:00Z", **members}

    start = event("conversation.response.started", conversation_id="conv_1")
    end = event("conversation.response.done", usage={"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2})
    about: Event = {"output_index": 0, "id": "msg_1", "model": "m"}
    call: Event = {"output_index": 0, "id": "fc_1", "name": "write", "tool_call_id": "aB3dE6gH9", "model": "m"}
    return Shape(
        (
            [start],
            lambda piece: event("message.output.delta", **about, content_index=0, role="assistant", content=piece),
            [end],
        ),
        ([start], lambda piece: event("function.call.delta", **call, arguments=piece), [end]),
    )


def _ollama() -> Shape:
    def chunk(message: Event, **rest: Any) -> Event:
        said = {"role": "assistant", "content": "", **message}
        return {"model": "m", "created_at": "2026-01-01T00:00:00Z", "message": said, "done": False, **rest}

    return Shape(([], lambda piece: chunk({"content": piece}), [chunk({}, done=True, done_reason="stop")]), None)


def shapes() -> dict[str, Shape]:
    """A stream of each wire format, with what its API sends beside the deltas; by its provider."""
    return {
        "openai": _chat("call_9fGq", service_tier="default", system_fingerprint="fp_1", obfuscation="x1aB"),
        "openai_responses": _responses(),
        "anthropic": _anthropic(),
        "google": _gemini(),
        "google_interactions": _interactions(),
        "cohere": _cohere(),
        "cohere_v1": _cohere_v1(),
        "bedrock": _bedrock(),
        "mistral": _chat("aB3dE6gH9"),
        "mistral_conversations": _conversations(),
        "ollama": _ollama(),
    }


def _read(provider: str, events: list[Any]) -> toolglot.Message:
    """The whole stream."""
    stream = toolglot.get_provider(provider).stream()
    feed = stream.feed
    for event in events:
        feed(event)
    stream.close()
    return stream.message


def _loads(texts: list[str]) -> None:
    for text in texts:
        json.loads(text)


def _checked(provider: str, events: list[Event], count: int) -> None:
    """Both forms say the same, and nothing of it is missing."""
    message = _read(provider, events)
    if message != _read(provider, [json.dumps(event) for event in events]):
        raise SystemExit(f"{provider}: events as text and as dicts are not read alike")
    told = message.content or "".join(call.arguments["text"] for call in message.tool_calls)
    if len(told) not in (3 * count, 3 * (count - 2)) or message.losses or message.errors:
        raise SystemExit(f"{provider}: the stream is not read")


def cost(report: Report, provider: str, shape: Shape) -> None:
    """What an event costs, as text and as a dict, in a stream of text and in one of arguments."""
    found: dict[str, dict[str, float]] = {"text": {}, "dicts": {}}
    streams = {"text deltas": shape.texts(EVENTS), "argument deltas": shape.arguments(EVENTS)}
    for kind, events in streams.items():
        if events is None:
            continue
        _checked(provider, events, EVENTS)
        texts = [json.dumps(event) for event in events]
        taken = {"loads": float("inf"), "text": float("inf"), "dicts": float("inf")}
        for _ in range(REPEATS):
            taken["loads"] = min(taken["loads"], once(partial(_loads, texts)))
            taken["text"] = min(taken["text"], once(partial(_read, provider, texts)))
            taken["dicts"] = min(taken["dicts"], once(partial(_read, provider, events)))
        found["text"][kind] = (taken["text"] - taken["loads"]) / len(events) * 1e6
        found["dicts"][kind] = taken["dicts"] / len(events) * 1e6
    for form, costs in found.items():
        detail = ", ".join(f"{kind} {value:.2f} us" for kind, value in costs.items())
        report.add(Row(COST, f"{provider}, {form}", max(costs.values()), "us", 4.0, detail))


def growth(provider: str, shape: Shape, count: int = LONG) -> list[Row]:
    """Twice as many events take twice the time."""
    rows = []
    for kind, make in (("text deltas", shape.texts), ("argument deltas", shape.arguments)):
        whole, half = make(count), make(count // 2)
        if whole is None or half is None:
            continue
        long = short = float("inf")
        for _ in range(LONG_REPEATS):
            short = min(short, once(partial(_read, provider, half)))
            long = min(long, once(partial(_read, provider, whole)))
        detail = f"{short / len(half) * 1e6:.2f} us, {long / len(whole) * 1e6:.2f} us an event"
        rows.append(Row(DOUBLE, f"{provider}, {kind}", long / short, "x", 2.2, detail))
    return rows


def run(report: Report) -> None:
    """All rows about streams of providers."""
    found = shapes()
    for provider, shape in found.items():
        cost(report, provider, shape)
    for provider, shape in found.items():
        for row in growth(provider, shape):
            report.add(row)
