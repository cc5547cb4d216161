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
    FilePart,
    ImagePart,
    Message,
    OpaquePart,
    ReasoningPart,
    StopReason,
    TextPart,
    ToolCall,
    ToolChoice,
    ToolResult,
)
from ._assembly import Assembly
from ._base import NewReading, WireProvider
from ._history import Report
from ._names import WireFormat
from ._payload import Path
from ._pieces import Pieces, hashable, parse_member, shown
from ._reading import Reading, rest
from ._turns import TurnReader, from_base64
from ._writing import Wire, Writing, base64_text, media_type, pop_beside, result_parts, result_text, sent_arguments

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
_IMAGES: Final = words("image/png image/jpeg image/gif image/webp")
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
_PART: Final = words("type text source title")
_UNANSWERED: Final = "messages.N: tool_use ids were found without tool_result blocks immediately after: toolu_…"
_FIRST: Final = (
    "Did not find 1 tool_result block(s) at the beginning of this message. Messages following tool_use blocks must "
    "begin with a matching number of tool_result blocks."
)
_RULES: Final[dict[str, str | None]] = {
    "history.unknown_role": None,
    "history.orphan_call": _UNANSWERED,
    "history.results_not_adjacent": _UNANSWERED,
    "history.results_split": _FIRST,
    "history.text_before_results": _FIRST,
    "history.text_after_calls": _UNANSWERED,
    "history.orphan_result": "messages.8.content.0: unexpected tool_use_id found in tool_result blocks: toolu_… Each "
    "tool_result block must have a corresponding tool_use block in the previous message.",
    "history.duplicate_id": "messages.1.content.1: `tool_use` ids must be unique",
    "history.duplicate_result": None,
    "history.missing_id": None,
    "history.illegal_id": "messages.1.content.1.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
    "history.illegal_name": "tools.134.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'",
    "history.arguments_not_object": "messages.1.content.0.tool_use.input: Input should be a valid dictionary",
    "history.tools_missing": "Requests which include tool_use or tool_result blocks must define tools",
    "history.empty_text": "messages: text content blocks must be non-empty",
    "history.empty_message": None,
    "history.unsigned_reasoning": "messages.1.content.0.thinking.signature: Field required",
    "history.reasoning_order": "messages.5.content.0: If an assistant message contains any thinking blocks, the "
    "first block must be `thinking` or `redacted_thinking`. Found `text`.",
    "history.server_result_missing": "web_search tool use with id srvtoolu_… was found without a corresponding "
    "web_search_tool_result block",
}


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
        self.stop(payload.get("stop_reason"), reading, "stop_reason")
        reading.usage = payload.get("usage")
        content = payload.get("content")
        if type(content) is str:  # as a history may have it
            reading.text(content)
            content = None
        elif content is None and "type" in payload and "stop_reason" not in payload:
            content = [payload] if payload["type"] != "message" else None  # a block by itself
        if content is None or content is payload.get("content"):
            reading.keep(payload, _RESPONSE)
        blocks = reading.as_list(content, ("content",))
        alone = content is not payload.get("content")
        for number, item in enumerate(blocks):
            path: Path = () if alone else ("content", number)
            block = item if type(item) is dict else reading.as_object(item, path)
            # At the limit the last block may lack its end, and an input that was cut off still is an object.
            if reading.cut and block.get("type") == "tool_use" and number == len(blocks) - 1:
                reading.truncated_call(block.get("name"), path, block.get("id"))
            else:
                self._block(block, path, reading)
        return [reading]

    def _block(self, block: dict[str, Any], path: Path, reading: Reading) -> None:
        kind = block.get("type")
        if kind == "text":
            reading.text(reading.as_text(block.get("text"), (*path, "text")), rest(block, _TEXT))
        elif kind == "tool_use":
            extra = rest(block, _CALL)
            reading.call(block.get("name"), block.get("input"), path, key="input", id=block.get("id"), extra=extra)
        elif kind == "thinking":
            reading.reasoning(reading.as_text(block.get("thinking"), (*path, "thinking")), rest(block, _THINKING))
        elif type(kind) is str and kind in _SERVER_CALLS:
            reading.server_call(block.get("name"), block.get("input"), block.get("id"), block)
        elif block:
            reading.opaque(block)  # redacted thinking, results of the server's own calls, what is yet to come

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
                    if (written := _part(part, f"$[{number}].content[{place}]", out, self.own(part.extra))) is not None
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
    rules = _RULES
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
            turns.user(turns.content(content, ("content",), _read_part, _PART), extra)
        else:
            turns.unknown(message)

    def _read_blocks(self, blocks: list[Any], extra: dict[str, Any] | None, turns: TurnReader) -> None:
        """A user's message: runs of results, and of what the user said."""
        said: list[UserPart] = []
        for block in blocks:
            if not isinstance(block, dict) or block.get("type") != "tool_result":
                said.append(turns.part(block, _read_part, _PART))
                continue
            if said:
                turns.user(said, extra)
                said = []
            content = turns.content(block.get("content"), ("content",), _read_part, _PART)
            is_error = block.get("is_error") is True
            turns.result(block.get("tool_use_id"), content, is_error=is_error, extra=rest(block, _RESULT), beside=extra)
        if said or not blocks:
            turns.user(said, extra)

    def read_system(self, value: Any, turns: TurnReader) -> None:
        turns.system(turns.content(value, (), _read_part, _PART))

    def write_user(self, content: str | list[tuple[str, UserPart]], extra: dict[str, Any], out: Writing) -> Any:
        if isinstance(content, str):
            return {"role": "user", "content": content, **extra}
        blocks = [
            block for path, part in content if (block := _part(part, path, out, self.own(part.extra))) is not None
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


def _part(part: UserPart, path: str, out: Writing, own: dict[str, Any]) -> dict[str, Any] | None:
    """A part of a result or of a user's message as a block; None if there is none for it."""
    if isinstance(part, OpaquePart):
        return part.data  # type: ignore[no-any-return]
    if isinstance(part, TextPart):
        return {"type": "text", "text": part.text, **own} if part.text else None
    kind = "image" if isinstance(part, ImagePart) else "document"
    named = media_type(part)
    titled = {"title": part.name} if isinstance(part, FilePart) and part.name else {}
    source: dict[str, Any]
    if isinstance(part, FilePart) and part.id is not None:
        source = {"type": "file", "file_id": part.id}
    elif part.url is not None:
        source = {"type": "url", "url": part.url}
    elif part.data is None:
        out.lost("loss.part", path, "there is nothing in it")
        return None
    elif named in _IMAGES if kind == "image" else named == "application/pdf":
        source = {"type": "base64", "media_type": named, "data": base64_text(part.data)}
    elif kind == "document" and named == "text/plain":
        source = {"type": "text", "media_type": "text/plain", "data": part.data.decode("utf-8", "replace")}
    else:
        out.lost("loss.part", path, f"Anthropic takes nothing of the type {part.media_type!r:.80}")
        return None
    return {"type": kind, "source": source, **titled, **own}


def _read_part(block: dict[str, Any]) -> TextPart | ImagePart | FilePart | None:
    """A block as a part; None if it is of another kind."""
    kind, source = block.get("type"), block.get("source")
    if kind == "text" and isinstance(block.get("text"), str):
        return TextPart(block["text"])
    if kind not in ("image", "document") or not isinstance(source, dict):
        return None
    title = block.get("title")
    made = ImagePart() if kind == "image" else FilePart(name=title if isinstance(title, str) else None)
    how, told = source.get("type"), source.get("media_type")
    if isinstance(told, str):
        made.media_type = told
    if how == "base64":
        made.data = from_base64(source.get("data"))
    elif how == "text" and isinstance(source.get("data"), str):
        made.data = source["data"].encode("utf-8", "surrogatepass")
    elif how == "url" and isinstance(source.get("url"), str):
        made.url = source["url"]
    elif how == "file" and isinstance(made, FilePart) and isinstance(source.get("file_id"), str):
        made.id = source["file_id"]
        return made
    return made if made.data is not None or made.url is not None else None


WIRE = Anthropic
