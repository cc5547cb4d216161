"""Mistral's Conversations: what a model puts out is a list of entries.

Cannot carry: a choice of one tool (``request`` leaves the others out), whether calls may be parallel, an error flag on
a result (the text says it), images and files in a result, sound and files that are kept from a user, reasoning of
others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any, ClassVar, Final

from ..definition import Tool
from ..history import SystemMessage, Turns, UserPart
from ..schema.names import NameRule
from ..schema.subset import words
from ..types import (
    CallPart,
    FilePart,
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
from ._mistral_parts import CHUNK, chunk_of, is_text, read_chunk
from ._names import WireFormat
from ._payload import Path
from ._pieces import Pieces, hashable
from ._reading import Reading, rest
from ._turns import SOURCE, TurnReader
from ._writing import Wire, Writing, result_parts, result_text, sent_text, system_text
from .openai_chat import PLAIN, STRICT

_CALL: Final = words("object type tool_call_id name arguments")
_RESPONSE: Final = words("object outputs usage error")
_OUTPUT: Final = words("object type role content")
_TEXT: Final = words("type text")
_THINKING: Final = words("type thinking")
_NEXT: Final = words("next_agent_id next_agent_name")
_RESULT: Final = words("object type tool_call_id result")
# What it refuses is known from its types, and from the models that it runs.
_RULES: Final[dict[str, str | None]] = dict.fromkeys(
    (
        "history.orphan_call",
        "history.orphan_result",
        "history.duplicate_id",
        "history.duplicate_result",
        "history.missing_id",
        "history.illegal_id",
        "history.illegal_name",
        "history.arguments_not_object",
    )
)

# What of an event is the entry's; the other members say where it belongs in the stream.
_KEPT: Final = words("id name created_at model agent_id role previous_agent_id previous_agent_name")


class MistralConversations(WireProvider):
    """Conversations."""

    wire = WireFormat.MISTRAL_CONVERSATIONS
    call_ids = NameRule("A-Za-z0-9", 9, least=9)
    modes = frozenset({"auto", "none", "required"})
    limits_choice = False
    list_member = "outputs"
    stream_ends_with = "conversation.response.done"
    stop_reasons: ClassVar[Mapping[str, StopReason]] = {}  # none is given

    # -- definition

    def write_tool(self, tool: Tool, name: str, path: str, out: Writing) -> dict[str, Any]:
        schema, strict = self.schema(tool, path, out, PLAIN, STRICT)
        about = {"description": tool.description} if tool.description else {}
        function = {"name": name, **about, "parameters": schema, **({"strict": True} if strict else {})}
        return {"type": "function", "function": function, **self.own(tool.extra)}

    # -- choice

    def write_choice(self, choice: ToolChoice, named: list[Tool], out: Writing) -> dict[str, Any]:
        if choice.parallel is not None:
            out.lost("loss.parallel", "$.parallel", "Conversations do not take it")
        return {"completion_args": {"tool_choice": "any" if choice.mode == "required" else choice.mode}}

    # -- response

    def read(self, payload: dict[str, Any], new: NewReading) -> list[Reading]:
        reading = new()
        if "outputs" not in payload:
            if type(payload.get("message")) is str:  # all that there is of an error
                self.refused(payload["message"], reading, ("message",))
                reading.extra["error"] = payload
            else:
                self._entry(payload, (), reading)  # an entry by itself
            return [reading]
        reading.usage = payload.get("usage")
        reading.keep(payload, _RESPONSE)
        for number, item in enumerate(reading.list_at(payload, "outputs", ())):
            path: Path = ("outputs", number)
            self._entry(reading.as_object(item, path), path, reading)
        return [reading]

    def _entry(self, entry: dict[str, Any], path: Path, reading: Reading) -> None:
        kind = entry.get("type")
        if kind == "function.call":
            id = entry.get("tool_call_id") or entry.get("id")
            reading.call(entry.get("name"), entry.get("arguments"), path, id=id, extra=rest(entry, _CALL))
        elif kind == "message.output":
            beside = rest(entry, _OUTPUT)
            extra = {"entry": beside} if beside else {}
            content = entry.get("content")
            if type(content) is str:
                reading.text(content, extra)
                return
            for number, item in enumerate(reading.as_list(content, (*path, "content"))):
                at = (*path, "content", number)
                self._chunk(reading.as_object(item, at), at, extra, reading)
        elif kind == "tool.execution":
            reading.server_call(entry.get("name"), entry.get("arguments"), entry.get("id"), entry)
        elif entry and kind is not None:
            reading.opaque(entry)  # handoffs, what is yet to come
        elif entry:
            reading.lost(path, "an entry without a type")

    def _chunk(self, chunk: dict[str, Any], path: Path, extra: dict[str, Any], reading: Reading) -> None:
        kind = chunk.get("type")
        if kind == "text":
            reading.text(reading.text_at(chunk, "text", path), {**extra, **(rest(chunk, _TEXT) or {})})
        elif kind == "thinking":
            at = (*path, "thinking")
            texts = [
                reading.as_text(reading.as_object(part, (*at, number)).get("text"), (*at, number, "text"))
                for number, part in enumerate(reading.as_list(chunk.get("thinking"), at))
            ]
            reading.reasoning("".join(texts), {**extra, "item": chunk})
        elif chunk:
            reading.opaque({"type": "message.output", "content": [chunk], **extra.get("entry", {})})

    # -- stream

    def stream_event(self, event: dict[str, Any], into: Assembly) -> None:
        kind = event.get("type")
        into.payload.setdefault("outputs", [])
        if kind == "conversation.response.started":
            into.payload["conversation_id"] = event.get("conversation_id")
        elif kind == "conversation.response.done":
            into.payload["usage"] = event.get("usage")
            into.finish()
        elif kind == "conversation.response.error":
            into.refused(event)
        elif kind == "message.output.delta":
            self._text_delta(event, into)
        elif kind == "function.call.delta":
            self._call_delta(event, into)
        elif type(kind) is str and kind.startswith("tool.execution."):
            entry = self._entry_of(event, "tool.execution", into)
            if entry is not None:
                piece = into.as_text(event.get("arguments"), ("arguments",))
                entry.setdefault("arguments", Pieces()).append(piece)
                if event.get("info") is not None:
                    entry["info"] = event["info"]
        elif type(kind) is str and kind.startswith("agent.handoff."):
            entry = self._entry_of(event, "agent.handoff", into)
            if entry is not None:
                entry.update({name: event[name] for name in _NEXT if event.get(name) is not None})
        else:
            into.unknown(kind)

    def _entry_of(self, event: dict[str, Any], kind: str, into: Assembly) -> dict[str, Any] | None:
        """The entry that an event is about, which begins if it has not; None behind the end."""
        key = (hashable(event.get("output_index")), hashable(event.get("id")), kind)
        entry = into.items.get(key)
        if entry is None and not into.late():
            members = {name: value for name, value in event.items() if name in _KEPT and value is not None}
            entry = {"object": "entry", "type": kind, **members}
            into.items[key] = entry
            into.payload["outputs"].append(entry)
        return entry

    def _text_delta(self, event: dict[str, Any], into: Assembly) -> None:
        content = event.get("content")
        entry = self._entry_of(event, "message.output", into)
        if entry is None:
            return
        if type(content) is str and type(entry.setdefault("content", Pieces())) is Pieces:
            into.text(entry["content"], content)
            return
        begun = entry.get("content")
        if type(begun) is not list:
            entry["content"] = [{"type": "text", "text": begun}] if begun else []
        chunk = {"type": "text", "text": content} if type(content) is str else into.as_object(content, ("content",))
        self._chunk_delta(chunk, entry["content"], into)

    def _chunk_delta(self, chunk: dict[str, Any], chunks: list[Any], into: Assembly) -> None:
        last = chunks[-1] if chunks else {}
        kind = chunk.get("type")
        if kind == "text":
            if type(last.get("text")) is not Pieces:
                last = {**chunk, "text": Pieces()}
                chunks.append(last)
            into.text(last["text"], into.as_text(chunk.get("text"), ("content", "text")))
        elif kind == "thinking":
            if last.get("type") != "thinking":
                last = {"type": "thinking", "thinking": []}
                chunks.append(last)
            last.update(rest(chunk, _THINKING) or {})
            for number, item in enumerate(into.as_list(chunk.get("thinking"), ("content", "thinking"))):
                at: Path = ("content", "thinking", number)
                self._thought(into.as_object(item, at), at, last["thinking"], into)
        elif chunk:
            chunks.append(chunk)

    def _thought(self, part: dict[str, Any], at: Path, parts: list[dict[str, Any]], into: Assembly) -> None:
        if part.get("text") is None:
            parts.append(part)  # what the thought refers to
            return
        if not parts or type(parts[-1].get("text")) is not Pieces:
            parts.append({**part, "text": Pieces()})
        into.reasoning(parts[-1]["text"], into.as_text(part["text"], (*at, "text")))

    def _call_delta(self, event: dict[str, Any], into: Assembly) -> None:
        id = event.get("tool_call_id")
        key = (hashable(event.get("id")), hashable(id))
        slot = into.slots.get(key)
        if slot is None:
            if into.late():
                return
            kept = {name: value for name, value in event.items() if name in _KEPT and value is not None}
            entry: dict[str, Any] = {"object": "entry", "type": "function.call", "tool_call_id": id, **kept}
            outputs = into.payload["outputs"]
            path: Path = ("outputs", len(outputs))
            outputs.append(entry)
            slot = into.begin(key, entry, path, id=id or event.get("id"), name=event.get("name"))
            entry["arguments"] = slot.pieces
        if event.get("confirmation_status") is not None:
            slot.item["confirmation_status"] = event["confirmation_status"]
        into.value(slot, slot.item, "arguments", event.get("arguments"))

    def read_item(self, item: dict[str, Any], path: Path, reading: Reading) -> None:
        self._entry(item, path, reading)

    # -- result

    def write_results(self, results: list[tuple[ToolResult, ToolCall | None]], out: Writing) -> Wire:
        entries = []
        for number, (result, call) in enumerate(results):
            parts = result_parts(result)
            for place, part in enumerate(parts or ()):
                if not isinstance(part, TextPart):
                    out.lost("loss.part", f"$[{number}].content[{place}]", "a result here is text")
            text = "".join(part.text for part in parts or () if isinstance(part, TextPart))
            text = result_text(result) if parts is None else text
            id = self.result_id(result, call)
            entry = {"object": "entry", "type": "function.result", "tool_call_id": id, "result": text}
            entries.append({**entry, **self.own(result.extra)})
        return out.as_list(entries)

    def write_assistant(self, message: Message, parts: list[tuple[str, Any]], out: Writing) -> Wire:
        entries: list[dict[str, Any]] = []
        said: list[dict[str, Any]] = []

        def say(chunks: list[dict[str, Any]], beside: dict[str, Any]) -> None:
            """Add to what the model said: to the last entry, if that is the same."""
            if not said or entries[-1] is not said[-1] or (rest(said[-1], _OUTPUT) or {}) != beside:
                kind = "message.input" if "prefix" in beside else "message.output"  # to be gone on with
                said.append({"object": "entry", "type": kind, "role": "assistant", **beside, "content": []})
                entries.append(said[-1])
            said[-1]["content"] += chunks

        for path, part in parts:
            own = self.own(part.extra)
            beside = own.pop("entry", {})
            if isinstance(part, TextPart):
                say([{"type": "text", "text": part.text, **own}], beside)
            elif isinstance(part, ReasoningPart):
                if "item" in own:
                    say([own["item"]], beside)
                else:
                    out.lost("loss.reasoning", path, "reasoning of another provider")
            elif isinstance(part, OpaquePart):
                if part.data.get("type") == "message.output" and isinstance(part.data.get("content"), list):
                    say(part.data["content"], rest(part.data, _OUTPUT) or {})
                else:
                    entries.append(part.data)
            elif isinstance(part, CallPart):
                entries.append(own["item"] if part.call.kind == "server" else self._call_back(part.call))
        for entry in said:
            if all(is_text(chunk) for chunk in entry["content"]):
                entry["content"] = "".join(chunk["text"] for chunk in entry["content"])
        return out.as_list(entries)

    def _call_back(self, call: ToolCall) -> dict[str, Any]:
        return {
            "object": "entry",
            "type": "function.call",
            "tool_call_id": self.call_id(call.id, f"the call of {call.name!r}"),
            "name": self.name(call.name),
            "arguments": sent_text(call),
            **self.own(call.extra),
        }

    # -- history

    messages_member = "inputs"
    system_member = "instructions"
    text_alone = True
    interleaves = True
    stored_by = ("conversation_id",)
    error_flag = False
    image_detail = True
    unique_ids = False
    forms = words("completed_at")
    rules = _RULES

    def runs(self, items: list[Any]) -> Iterator[int]:
        for together, run in groupby(items, _by_model):
            count = sum(1 for _ in run)
            yield from (count,) if together else (1,) * count

    def read_turn(self, items: list[Any], turns: TurnReader) -> None:
        entry = items[0]
        kind = entry.get("type") if isinstance(entry, dict) else None
        if _by_model(entry):
            said = [{**one, "type": "message.output"} if one["type"] == "message.input" else one for one in items]
            turns.assistant({"outputs": said}, ("outputs",))
        elif kind == "message.input" and entry.get("role") == "user":
            turns.user(turns.content(entry.get("content"), ("content",), read_chunk, CHUNK), rest(entry, _OUTPUT))
        elif kind == "function.result":
            result = entry.get("result")
            turns.result(entry.get("tool_call_id"), "" if result is None else result, extra=rest(entry, _RESULT))
        else:
            turns.unknown(entry)

    def read_system(self, value: Any, turns: TurnReader) -> None:
        turns.system(turns.content(value, (), read_chunk, CHUNK))

    def write_system(self, turns: list[SystemMessage], out: Writing) -> Any:
        return system_text(turns, out)

    def write_user(self, content: str | list[tuple[str, UserPart]], extra: dict[str, Any], out: Writing) -> Any:
        said: Any = content
        if not isinstance(content, str):
            said = []
            for path, part in content:
                if isinstance(part, FilePart) and (part.id is not None or part.media_type.startswith("audio/")):
                    out.lost("loss.part", path, "documents are taken, and of files none that is kept, and no sound")
                elif (chunk := chunk_of(part, path, out, self.own(part.extra))) is not None:
                    said.append(chunk)
        return {"object": "entry", "type": "message.input", "role": "user", "content": said, **extra}

    def check(self, turns: Turns, report: Report) -> None:
        for number, turn in enumerate(turns):
            for item in turn.extra[SOURCE].get("items", []):
                if isinstance(item, dict) and item.get("type") == "function.call" and not item.get("tool_call_id"):
                    if isinstance(item.get("id"), str):  # without either that is said already
                        report("history.missing_id", number, f"{item['id']!r:.80} has no tool_call_id", item["id"])


def _by_model(entry: Any) -> bool:
    """Whether an entry is one of the model's, or Mistral's for it."""
    kind = entry.get("type") if isinstance(entry, dict) else None
    if kind == "message.input":
        return bool(entry.get("role") == "assistant")
    return isinstance(kind, str) and kind != "function.result"


WIRE = MistralConversations
