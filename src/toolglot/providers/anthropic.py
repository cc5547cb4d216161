"""Anthropic's Messages, also as Bedrock's InvokeModel and compatible servers speak it.

Cannot carry: a choice limited to several tools (``request`` leaves the others out), reasoning without the signature
that it came with, files other than PDF and plain text.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final

from ..definition import Tool
from ..history import SystemMessage, Turns, UserPart
from ..schema.names import NameRule
from ..schema.subset import Subset, words
from ..types import (
    CallPart,
    Message,
    OpaquePart,
    Part,
    ReasoningPart,
    StopReason,
    TextPart,
    ToolCall,
    ToolChoice,
    ToolResult,
)
from ._anthropic_parts import PART, RULES, read_part, user_part
from ._assembly import Assembly
from ._base import NewReading, WireProvider
from ._history import Report
from ._names import WireFormat
from ._ordinary import Unusual, call_of, keep, ordinary_message
from ._payload import Path
from ._pieces import Pieces, hashable, parse_member, shown
from ._reading import Reading, rest
from ._turns import TurnReader
from ._writing import Wire, Writing, pop_beside, result_parts, result_text, sent_arguments

PLAIN: Final = Subset(root_unions=False)
# What the SDK's own transformation keeps.
STRICT: Final = Subset(
    words("type description title properties required additionalProperties items enum const anyOf allOf $ref format"),
    references="alone",
    untyped=False,
    root_unions=False,
    closed=True,
    optional=True,
    formats=words("date-time time date duration email hostname uri ipv4 ipv6 uuid"),
)
_CHOICES: Final = {"auto": "auto", "none": "none", "required": "any", "named": "tool"}
_RESPONSE: Final = words("type role content stop_reason usage error")
_TEXT: Final = words("type text")
_CALL: Final = words("type id name input")
_THINKING: Final = words("type thinking")
_ENDING: Final = words("stop_reason stop_sequence stop_details container context_management")
_TYPE: Final = words("type")
_SERVER_CALLS: Final = words("server_tool_use mcp_tool_use")
_MESSAGE: Final = words("role content")
_ANSWER: Final = _MESSAGE | words("type usage")
_RESULT: Final = words("type tool_use_id content is_error")


class Anthropic(WireProvider):
    """Messages."""

    wire = WireFormat.ANTHROPIC
    writer_module = "_write_messages"
    call_ids = NameRule()
    limits_choice = False
    stream_ends_with = "message_stop"
    cut_objects = True
    stop_reasons: ClassVar[Mapping[str, StopReason]] = {
        "end_turn": "stop",
        "stop_sequence": "stop",
        "tool_use": "tool_calls",
        "max_tokens": "length",
        "model_context_window_exceeded": "length",
        "refusal": "content_filter",
    }

    # -- definition

    def write_tool(self, tool: Tool, name: str, path: str, out: Writing) -> dict[str, Any]:
        schema, strict = self.schema(tool, path, out, PLAIN, STRICT)
        about = {"description": tool.description} if tool.description else {}
        return {
            "name": name,
            **about,
            "input_schema": schema,
            **({"strict": True} if strict else {}),
            **self.own(tool.extra),
        }

    # -- choice

    def write_choice(self, choice: ToolChoice, named: list[Tool], out: Writing) -> dict[str, Any]:
        written: dict[str, Any] = {"type": _CHOICES[choice.mode]}
        if choice.mode == "named":
            written["name"] = named[0].name
        if choice.parallel is not None and choice.mode != "none":
            written["disable_parallel_tool_use"] = not choice.parallel
        return {"tool_choice": written}

    # -- response

    def read(self, payload: dict[str, Any], new: NewReading) -> list[Reading]:
        reading = new()
        self.stop(payload, "stop_reason", (), reading)
        reading.usage = payload.get("usage")
        content = payload.get("content")
        if content is None and "stop_reason" not in payload and payload.get("type", "message") != "message":
            self._block(payload, (), reading)  # a block by itself
            return [reading]
        reading.keep(payload, _RESPONSE)
        if type(content) is str:  # as a history may have it
            reading.text(content)
            return [reading]
        blocks = content if type(content) is list else reading.as_list(content, ("content",))
        last = len(blocks) - 1 if reading.cut else -1
        for number, item in enumerate(blocks):
            path: Path = ("content", number)
            block = item if type(item) is dict else reading.as_object(item, path)
            # At the limit the last block may lack its end, and an input that was cut off still is an object.
            if number == last and block.get("type") == "tool_use":
                reading.truncated_call(block.get("name"), path, block.get("id"))
            else:
                self._block(block, path, reading)
        return [reading]

    def _block(self, block: dict[str, Any], path: Path, reading: Reading) -> None:
        kind = block.get("type")
        if kind == "text":
            reading.text(reading.text_at(block, "text", path), rest(block, _TEXT))
        elif kind == "tool_use":
            extra = rest(block, _CALL)
            reading.call(block.get("name"), block.get("input"), path, key="input", id=block.get("id"), extra=extra)
        elif kind == "thinking":
            reading.reasoning(reading.text_at(block, "thinking", path), rest(block, _THINKING))
        elif type(kind) is str and kind in _SERVER_CALLS:
            reading.server_call(block.get("name"), block.get("input"), block.get("id"), block)
        elif block:
            reading.opaque(block)  # redacted thinking, results of the server's own calls, what is yet to come

    def read_ordinary(self, payload: dict[str, Any]) -> Message:
        reason, content = payload["stop_reason"], payload["content"]
        if type(reason) is not str or type(content) is not list:
            raise Unusual
        parts: list[Part] = []
        calls: list[ToolCall] = []
        text = ""
        for block in content:
            kind = block["type"] if type(block) is dict else None
            if kind == "tool_use" and len(block) == 4:
                call = call_of(self._wire, len(calls), block["id"], block["name"], block["input"])
                calls.append(call)
                parts.append(CallPart(call, None, {}))
            elif kind == "text" and len(block) == 2 and type(block["text"]) is str and block["text"]:
                parts.append(TextPart(block["text"], None, {}))
                text += block["text"]
            else:
                raise Unusual
        extra = {"stop_reason": reason}
        keep(payload, _RESPONSE, extra)
        stop = self.stop_reasons.get(reason, "other")
        return ordinary_message(self._name, self._wire, parts, calls, text, "", stop, payload.get("usage"), extra)

    # -- stream

    def stream_event(self, event: dict[str, Any], into: Assembly) -> None:
        kind = event.get("type")
        if kind == "content_block_delta":
            self._delta(into.as_object(event.get("delta"), ("delta",)), event.get("index"), into)
        elif kind == "content_block_start":
            into.go_on()
            self._start(into.as_object(event.get("content_block"), ("content_block",)), event.get("index"), into)
        elif kind == "content_block_stop":
            self._stopped(into.items.get(hashable(event.get("index"))), into)
        elif kind == "message_start":
            message = into.as_object(event.get("message"), ("message",))
            into.payload.update({**message, "content": into.payload.get("content", [])})
            for number, block in enumerate(into.as_list(message.get("content"), ("message", "content"))):
                self._start(into.as_object(block, ("message", "content", number)), number, into)
        elif kind == "message_delta":
            delta = into.as_object(event.get("delta"), ("delta",))
            into.payload.update({key: value for key, value in delta.items() if key in _ENDING and value is not None})
            usage = rest(into.as_object(event.get("usage"), ("usage",)), frozenset())
            if usage:  # totals, of which those that are null stay as they were
                begun = into.payload.get("usage")
                into.payload["usage"] = {**begun, **usage} if type(begun) is dict else usage
            if delta.get("stop_reason") is not None:
                into.stop(delta["stop_reason"])
                into.end_calls()
        elif kind == "message_stop":
            into.finish()
        elif kind == "error":
            into.refused({"message": "no more is said"})
        elif kind != "ping":
            into.unknown(kind)

    def _start(self, block: dict[str, Any], index: Any, into: Assembly) -> None:
        """A block begins; what it holds already is all of it if nothing follows."""
        if into.late() or (block.get("type") == "tool_use" and into.repeated(hashable(index), block.get("id"))):
            return
        block = {key: list(value) if type(value) is list else value for key, value in block.items()}
        content = into.payload.setdefault("content", [])
        path = ("content", len(content))
        content.append(block)
        into.items[hashable(index)] = block
        kind = block.get("type")
        if kind == "tool_use":
            into.begin(hashable(index), block, path, id=block.get("id"), name=block.get("name"))
        elif kind in ("text", "thinking"):
            begun = into.as_text(block.get(kind), (kind,))
            block[kind] = Pieces()
            (into.text if kind == "text" else into.reasoning)(block[kind], begun)
        elif kind == "fallback":  # the model that goes on
            model = into.as_object(block.get("to"), ("content_block", "to")).get("model")
            if model is not None:
                into.payload["model"] = model

    def _delta(self, delta: dict[str, Any], index: Any, into: Assembly) -> None:
        if into.late():
            return
        block = into.items.get(hashable(index))
        if block is None:
            into.lost(("index",), f"the block {shown(index)} has not begun")
            return
        kind = delta.get("type")
        if kind == "text_delta" and type(block.get("text")) is Pieces:
            into.text(block["text"], into.as_text(delta.get("text"), ("delta", "text")))
        elif kind == "input_json_delta":
            piece = into.as_text(delta.get("partial_json"), ("delta", "partial_json"))
            slot = into.slot_of(block)
            if piece and slot is not None:
                if not slot.size:
                    block["input"] = slot.pieces  # what the start held was a default
                into.arguments(slot, piece)
            elif piece:  # of a call that the server runs
                if type(block.get("input")) is not Pieces:
                    block["input"] = Pieces()
                block["input"].append(piece)
        elif kind == "thinking_delta" and type(block.get("thinking")) is Pieces:
            into.reasoning(block["thinking"], into.as_text(delta.get("thinking"), ("delta", "thinking")))
        elif kind == "signature_delta":
            block["signature"] = delta.get("signature")
        elif kind == "citations_delta":
            if type(block.get("citations")) is not list:
                block["citations"] = []
            block["citations"].append(delta.get("citation"))
        elif kind == "compaction_delta":
            block.update(rest(delta, _TYPE) or {})
        elif kind in ("text_delta", "thinking_delta"):
            into.lost(("delta",), f"a {kind} for a block of the type {shown(block.get('type'))}")
        else:
            into.unknown(kind)

    def _stopped(self, block: dict[str, Any] | None, into: Assembly) -> None:
        if block is None:
            return
        slot = into.slot_of(block)
        if slot is not None:  # whether the model was cut off in it, only the next event tells
            into.stopped(slot)
        else:
            parse_member(block, "input")

    def read_item(self, item: dict[str, Any], path: Path, reading: Reading) -> None:
        self._block(item, path, reading)

    # -- result

    def write_results(self, results: list[tuple[ToolResult, ToolCall | None]], out: Writing) -> Wire:
        blocks = []
        beside: dict[str, Any] = {}
        for number, (result, call) in enumerate(results):
            block: dict[str, Any] = {"type": "tool_result", "tool_use_id": self.result_id(result, call)}
            parts = result_parts(result)
            if parts is None:
                block["content"] = result_text(result)
            else:
                block["content"] = [
                    written
                    for place, part in enumerate(parts)
                    if (written := user_part(part, f"$[{number}].content[{place}]", out, self.own(part.extra)))
                    is not None
                ]
            block["is_error"] = result.is_error
            own = self.own(call.extra) if call is not None else {}
            if "toolset_name" in own:
                block["toolset_name"] = own["toolset_name"]
            block |= self.own(result.extra)
            beside |= pop_beside(block)
            blocks.append(block)
        return out.as_object({"role": "user", "content": blocks, **beside})

    def write_assistant(self, message: Message, parts: list[tuple[str, Any]], out: Writing) -> Wire:
        blocks: list[dict[str, Any]] = []
        calls: list[dict[str, Any]] = []
        for path, part in parts:
            own = self.own(part.extra)
            if isinstance(part, TextPart):
                if part.text:  # an empty block is refused
                    blocks.append({"type": "text", "text": part.text, **own})
            elif isinstance(part, ReasoningPart):
                if "signature" in own:
                    blocks.append({"type": "thinking", "thinking": part.text, **own})
                else:
                    out.lost("loss.reasoning", path, "reasoning without Anthropic's signature")
            elif isinstance(part, OpaquePart):
                blocks.append(part.data)
            elif isinstance(part, CallPart) and part.call.kind == "server":
                blocks.append(own["item"])
            elif isinstance(part, CallPart):
                calls.append(self._call_back(part.call))
        # Calls come last: text or the server's blocks behind them are refused.
        return out.as_object({"role": "assistant", "content": [*blocks, *calls]})

    def _call_back(self, call: ToolCall) -> dict[str, Any]:
        return {
            "type": "tool_use",
            "id": self.call_id(call.id, f"the call of {call.name!r}"),
            "name": self.name(call.name),
            "input": sent_arguments(call),
            **self.own(call.extra),
        }

    # -- history

    system_member = "system"
    joins = True
    opaque_results = True
    rules = RULES
    roles = frozenset(("user", "assistant", "system"))

    def read_turn(self, items: list[Any], turns: TurnReader) -> None:
        message = items[0]
        role = message.get("role") if isinstance(message, dict) else None
        content = message.get("content") if isinstance(message, dict) else None
        extra = rest(message, _MESSAGE) if isinstance(message, dict) else None
        if role == "assistant":
            turns.assistant(message, (), rest(message, _ANSWER))
        elif role == "user" and isinstance(content, list):
            self._read_blocks(content, extra, turns)
        elif role == "user":
            turns.user(turns.content(content, ("content",), read_part, PART), extra)
        else:
            turns.unknown(message)

    def _read_blocks(self, blocks: list[Any], extra: dict[str, Any] | None, turns: TurnReader) -> None:
        """A user's message: runs of results, and of what the user said."""
        said: list[UserPart] = []
        for block in blocks:
            if not isinstance(block, dict) or block.get("type") != "tool_result":
                said.append(turns.part(block, read_part, PART))
                continue
            if said:
                turns.user(said, extra)
                said = []
            content = turns.content(block.get("content"), ("content",), read_part, PART)
            is_error = block.get("is_error") is True
            turns.result(block.get("tool_use_id"), content, is_error=is_error, extra=rest(block, _RESULT), beside=extra)
        if said or not blocks:
            turns.user(said, extra)

    def read_system(self, value: Any, turns: TurnReader) -> None:
        turns.system(turns.content(value, (), read_part, PART))

    def write_user(self, content: str | list[tuple[str, UserPart]], extra: dict[str, Any], out: Writing) -> Any:
        if isinstance(content, str):
            return {"role": "user", "content": content, **extra}
        blocks = [
            block for path, part in content if (block := user_part(part, path, out, self.own(part.extra))) is not None
        ]
        return {"role": "user", "content": blocks, **extra}

    def write_system(self, turns: list[SystemMessage], out: Writing) -> Any:
        if len(turns) == 1 and isinstance(turns[0].content, str):
            return turns[0].content or None
        blocks = []
        for number, turn in enumerate(turns):
            for place, part in enumerate([TextPart(turn.content)] if isinstance(turn.content, str) else turn.content):
                if isinstance(part, TextPart):
                    blocks += [{"type": "text", "text": part.text, **self.own(part.extra)}] if part.text else []
                else:
                    out.lost("loss.part", f"$[{number}].content[{place}]", "the system prompt is text")
        return blocks or None

    def join(self, messages: list[dict[str, Any]]) -> dict[str, Any]:
        blocks: list[Any] = []
        joined: dict[str, Any] = {}
        for message in messages:
            content = message.get("content")
            if isinstance(content, str):
                blocks += [{"type": "text", "text": content}] if content else []
            else:
                blocks += content if isinstance(content, list) else [content]
            joined |= message
        return {**joined, "content": blocks}

    def check(self, turns: Turns, report: Report) -> None:
        for number, turn in enumerate(turns):
            parts = turn.parts if isinstance(turn, Message) else []
            kept = [part.data for part in parts if isinstance(part, OpaquePart) and isinstance(part.data, dict)]
            ids = {block.get("tool_use_id") for block in kept if isinstance(block.get("tool_use_id"), str)}
            for part in parts:
                if isinstance(part, ReasoningPart) and not self.own(part.extra).get("signature"):
                    report("history.unsigned_reasoning", number, "reasoning without its signature", part.text)
                elif isinstance(part, CallPart) and part.call.kind == "server" and part.call.id not in ids:
                    detail = f"the call {part.call.id!r:.80} of {part.call.name!r:.80} has lost its result"
                    report("history.server_result_missing", number, detail, part.call.id)


WIRE = Anthropic
