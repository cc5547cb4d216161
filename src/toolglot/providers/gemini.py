"""Gemini's generateContent, of the Gemini API and of Vertex AI.

Cannot carry: whether calls may be parallel, strict mode, an id that Gemini did not give, reasoning of others. What a
call's first part of a turn has to bring along (``thoughtSignature``) goes back with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final

from ..definition import Tool
from ..errors import ConversionError, LimitError
from ..history import SystemMessage, Turns, UserPart
from ..schema.names import NameRule
from ..schema.subset import words
from ..types import (
    CallPart,
    Message,
    OpaquePart,
    ReasoningPart,
    StopReason,
    TextPart,
    ToolCall,
    ToolChoice,
    ToolResult,
)
from ._assembly import Assembly, Slot
from ._base import NewReading, WireProvider
from ._gemini_parts import (
    JSON_SCHEMA,
    NO_SIGNATURE,
    OPENAPI,
    RULES,
    SNAKES,
    STOP_REASONS,
    camel,
    check,
    known_camel,
    ordinary_parts,
    read_content,
    read_system,
    response,
    user_part,
)
from ._history import Report
from ._json_path import Unreadable, put_at
from ._names import WireFormat
from ._ordinary import Unusual, keep, only, ordinary_message
from ._payload import Path
from ._pieces import Pieces, joined
from ._reading import Reading, id_text, rest, with_inner
from ._turns import TurnReader
from ._writing import Wire, Writing, numbered, pop_beside, result_parts, sent_arguments

_MODES: Final = {"auto": "AUTO", "none": "NONE", "required": "ANY", "named": "ANY"}
_CALL: Final = words("functionCall")
_FUNCTION: Final = words("id name args")
_CONTENT: Final = words("role parts")
_CANDIDATE: Final = words("index content finishReason")
# What only the SDK adds is left out.
_ROOT: Final = words("candidates usageMetadata responseId error sdkHttpResponse automaticFunctionCallingHistory parsed")
_TEXT: Final = words("text thought")
_NONE: Final[frozenset[str]] = frozenset()


class Gemini(WireProvider):
    """generateContent."""

    wire = WireFormat.GEMINI
    tool_names = NameRule("A-Za-z0-9_.:-", 64, "A-Za-z_")
    list_member = "parts"
    openapi = False
    stream_ends_with = "a finishReason"
    cut_objects = True  # of calls that come in pieces; others are whole
    stop_reasons: ClassVar[Mapping[str, StopReason]] = STOP_REASONS

    # -- definition

    def with_openapi(self) -> Gemini:
        """The same, but definitions have ``parameters`` as OpenAPI instead of ``parametersJsonSchema``.

        Some proxies know no other; the schema loses more.
        """
        made = Gemini(self.provider)
        made.openapi = True
        return made

    def write_tool(self, tool: Tool, name: str, path: str, out: Writing) -> dict[str, Any]:
        schema, _ = self.schema(tool, path, out, OPENAPI if self.openapi else JSON_SCHEMA, None)
        written: dict[str, Any] = {"name": name, **({"description": tool.description} if tool.description else {})}
        if schema.get("properties"):  # an object without members is refused
            written["parameters" if self.openapi else "parametersJsonSchema"] = schema
        return {**written, **self.own(tool.extra)}

    def write_tools(self, tools: list[dict[str, Any]]) -> dict[str, Any]:
        declarations = [tool for tool in tools if "name" in tool]
        others = [tool for tool in tools if "name" not in tool]  # {"googleSearch": {}}
        return {"tools": [*([{"functionDeclarations": declarations}] if declarations else []), *others]}

    # -- choice

    def write_choice(self, choice: ToolChoice, named: list[Tool], out: Writing) -> dict[str, Any]:
        if choice.parallel is not None:
            out.lost("loss.parallel", "$.parallel", "Gemini does not take it")
        # Only ANY and VALIDATED can be limited; VALIDATED leaves the model free to answer in text.
        names = [tool.name for tool in named]
        mode = "VALIDATED" if names and choice.mode == "auto" else _MODES[choice.mode]
        config = {"mode": mode, **({"allowedFunctionNames": names} if names else {})}
        return {"toolConfig": {"functionCallingConfig": config}}

    # -- response

    def from_list(self, items: list[Any]) -> dict[str, Any]:
        """The chunks of a stream that was not cut into events; or the parts of a message."""
        chunks = any(isinstance(item, dict) and isinstance(item.get("candidates"), list) for item in items)
        return {"chunks" if chunks else "parts": items}

    def read(self, payload: dict[str, Any], new: NewReading) -> list[Reading]:
        first = new()
        readings: list[Reading] = []
        if type(payload.get("chunks")) is not list:
            whole = known_camel(payload)
            self._response(whole, (), first, readings, new)
            return self._about(whole, first, readings)
        whole = {}
        for number, item in enumerate(payload["chunks"]):
            path: Path = ("chunks", number)
            chunk = known_camel(first.as_object(item, path))
            self._response(chunk, path, first, readings, new)
            whole.update((key, value) for key, value in chunk.items() if value is not None)
            if chunk.get("error") is not None:
                self.refused(chunk["error"], first, (*path, "error"))
        return self._about(whole, first, readings)

    def _about(self, payload: dict[str, Any], first: Reading, readings: list[Reading]) -> list[Reading]:
        """What a response says beside its candidates: all of it with the first."""
        usage, id, blocked = payload.get("usageMetadata"), payload.get("responseId"), payload.get("promptFeedback")
        if readings or blocked is not None:
            first.keep(payload, _ROOT)
        if blocked is not None and not readings:
            first.stop_reason = "content_filter"
        for reading in readings or [first]:
            reading.usage = usage
            if id is not None:
                reading.extra["id"] = id
        return readings or [first]

    def _response(
        self, payload: dict[str, Any], path: Path, first: Reading, made: list[Reading], new: NewReading
    ) -> None:
        """A response; or one chunk of it, with the readings of those before."""
        candidates = first.choices(payload.get("candidates"), (*path, "candidates"))
        for number, item in enumerate(candidates):
            at: Path = (*path, "candidates", number)
            candidate = item if type(item) is dict else first.as_object(item, at)
            place = candidate.get("index", 0) if path else number
            if type(place) is not int or not 0 <= place < len(made):
                place = len(made)
                made.append(new() if made else first)
            self._candidate(candidate, at, made[place])
        if not candidates and not path:
            self._bare(payload, first)

    def _candidate(self, found: dict[str, Any], path: Path, reading: Reading) -> None:
        candidate = known_camel(found)
        where = "finish_reason" if "finish_reason" in found else "finishReason"
        self.stop({where: candidate.get("finishReason")}, where, path, reading)
        reading.keep(candidate, _CANDIDATE)  # citations, grounding
        content = reading.object_at(candidate, "content", path)
        reading.keep(content, _CONTENT)
        self._parts(content.get("parts"), (*path, "content", "parts"), reading)
        malformed = candidate.get("finishReason") == "MALFORMED_FUNCTION_CALL"
        if malformed and not reading.errors and CallPart not in map(type, reading.parts):
            said = candidate.get("finishMessage")
            text = said if isinstance(said, str) else "the provider could not read the model's call"
            reading.unreadable_call(text, (*path, where))

    def _bare(self, payload: dict[str, Any], reading: Reading) -> None:
        """What has no candidates: a content, a part."""
        content = payload.get("content")
        if isinstance(content, dict):
            self._parts(content.get("parts"), ("content", "parts"), reading)
        elif "parts" in payload:
            self._parts(payload["parts"], ("parts",), reading)
        elif "functionCall" in payload:
            self._part(payload, (), reading)

    def _parts(self, parts: Any, path: Path, reading: Reading) -> None:
        for number, item in enumerate(reading.as_list(parts, path)):
            at = (*path, number)
            self._part(item if type(item) is dict else reading.as_object(item, at), at, reading)

    def _part(self, found: dict[str, Any], path: Path, reading: Reading) -> None:
        part = known_camel(found)
        call = part.get("functionCall")
        if call is not None:
            at = (*path, "functionCall" if "functionCall" in found else "function_call")
            call = known_camel(call if type(call) is dict else reading.as_object(call, at))
            name, id = call.get("name"), call.get("id")
            if call.get("willContinue") or call.get("partialArgs") is not None:
                # A piece of a call whose arguments are streamed, which only a stream can put together.
                if name:
                    reading.truncated_call(name, at, id)
                else:
                    reading.lost(at, "a piece of a call")
                return
            extra = with_inner(rest(part, _CALL), "functionCall", call, _FUNCTION)
            if id:
                extra = {**(extra or {}), "id": id}  # Gemini's own: only such a one may go back
            reading.call(name, call.get("args"), at, key="args", id=id, extra=extra)
        elif part.get("text") is not None:
            add = reading.reasoning if part.get("thought") is True else reading.text
            add(reading.text_at(part, "text", path), rest(part, _TEXT))
        elif isinstance(part.get("toolCall"), dict):
            server = part["toolCall"]
            reading.server_call(server.get("toolType"), server.get("args"), server.get("id"), part)
        elif rest(part, _NONE):
            reading.opaque(part)

    def read_ordinary(self, payload: dict[str, Any]) -> Message:
        candidate = only(payload["candidates"])
        content, reason = candidate["content"], candidate["finishReason"]
        if not SNAKES.isdisjoint(payload) or not SNAKES.isdisjoint(candidate) or "chunks" in payload:
            raise Unusual
        if type(content) is not dict or type(content["parts"]) is not list or type(reason) is not str:
            raise Unusual
        extra = {"stop_reason": reason}
        if not _CANDIDATE.issuperset(candidate):
            keep(candidate, _CANDIDATE, extra)
        if not _CONTENT.issuperset(content):
            keep(content, _CONTENT, extra)
        keep(payload, _ROOT, extra)
        id = payload.get("responseId")
        if id is not None:
            extra["id"] = id
        parts, calls, text = ordinary_parts(self._wire, content["parts"])
        stop, usage = self.stop_reasons.get(reason, "other"), payload.get("usageMetadata")
        return ordinary_message(self._name, self._wire, parts, calls, text, "", stop, usage, extra)

    # -- stream

    def stream_event(self, event: dict[str, Any], into: Assembly) -> None:
        event = known_camel(event)
        payload = into.payload
        for key, value in event.items():
            if key != "candidates" and value is not None:
                payload[key] = value
        for number, item in enumerate(into.as_list(event.get("candidates"), ("candidates",))):
            path: Path = ("candidates", number)
            candidate = known_camel(item if type(item) is dict else into.as_object(item, path))
            index = candidate.get("index") or 0
            if "candidates" not in payload:
                payload["candidates"] = [{"index": index, "content": {"parts": []}}]
            first = payload["candidates"][0]
            if index != first["index"]:
                into.choices.add(index if type(index) is int else str(index))
                continue
            for key, value in candidate.items():
                if key != "content" and value is not None:
                    first[key] = value
            content = into.as_object(candidate.get("content"), (*path, "content"))
            at: Path = (*path, "content", "parts")
            for place, one in enumerate(into.as_list(content.get("parts"), at)):
                part = known_camel(one if type(one) is dict else into.as_object(one, (*at, place)))
                self._part_delta(part, first["content"]["parts"], into)
            into.stop(candidate.get("finishReason"))

    def stream_close(self, into: Assembly) -> None:
        # Some servers say finishReason in every chunk, so that only the end is one.
        payload = into.payload
        if "promptFeedback" in payload or (payload.get("candidates") and payload["candidates"][0].get("finishReason")):
            into.finish()

    def _part_delta(self, part: dict[str, Any], parts: list[dict[str, Any]], into: Assembly) -> None:
        if into.late():
            return
        if part.get("functionCall") is not None:
            path: Path = ("candidates", 0, "content", "parts", len(parts), "functionCall")
            call = known_camel(into.as_object(part["functionCall"], path))
            self._call_delta(call, part, parts, path, into)
        elif type(part.get("text")) is str:
            last = parts[-1] if parts else {}
            own = rest(part, _TEXT)
            if own or type(last.get("text")) is not Pieces or part.get("thought") != last.get("thought"):
                last = {**part, "text": Pieces()}
                parts.append(last)
            add = into.reasoning if part.get("thought") is True else into.text
            add(last["text"], part["text"])
            if own:  # a signature belongs to what it came with
                last["text"] = "".join(last["text"])
        elif part:
            parts.append(part)

    def _call_delta(
        self, call: dict[str, Any], part: dict[str, Any], parts: list[dict[str, Any]], path: Path, into: Assembly
    ) -> None:
        """A whole call; or, from Vertex, one whose arguments come by their paths.

        Such a call ends with an empty ``functionCall``, or with a chunk that does not say ``willContinue``.
        """
        open = into.state.setdefault("open", {})  # calls that go on, by their ids
        id = id_text(call.get("id"))
        pieces = call.get("partialArgs")
        goes_on = call.get("willContinue") is True
        slot: Slot | None = open.get(id) if id or not call.get("name") else None
        if slot is None and not call.get("name"):  # more of the last one, unless that has another id
            slot = open.get(None) if id else next(reversed(open.values()), None)
        if slot is None:
            if self._again(call, id, into):
                return
            for key in list(open) if id is None else [None] if None in open else []:
                into.end(open.pop(key))  # another call begins, but this one was to go on
            whole = {key: value for key, value in call.items() if key not in ("willContinue", "partialArgs")}
            if pieces is not None or goes_on:
                whole["args"] = joined(into.as_object(call.get("args"), (*path, "args")))
            parts.append({**part, "functionCall": whole})
            slot = into.begin(id, parts[-1], path[:-1], id=id, name=call.get("name"))
            into.state["in pieces"] = pieces is not None or goes_on
        elif not slot.ended:
            whole = slot.item["functionCall"]
            if id is not None:
                into.named(slot, id)
                whole["id"] = id
            if len(part) > 1:
                slot.item.update(rest(part, _CALL) or {})
            given = call.get("args")
            given = None if given is None else into.as_object(given, (*path, "args"))
            if given and whole["args"]:
                into.lost((*path, "args"), "arguments that come whole and in pieces; the first count")
            elif given:
                whole["args"] = joined(given)
        slot.goes_on = goes_on
        if pieces is not None and not slot.ended:
            self._pieces(into.as_list(pieces, (*path, "partialArgs")), path, slot, into)
        if slot.id is not None or not goes_on:
            for key in (None, slot.id):
                if open.get(key) is slot and (not goes_on or key != slot.id):
                    del open[key]
        if goes_on:
            open[slot.id] = slot
        else:
            into.end(slot)

    def _again(self, call: dict[str, Any], id: str | None, into: Assembly) -> bool:
        """Whether this only says once more what has been said: that a call has ended, or a whole call."""
        if into.state.get("in pieces") and rest(call, _NONE) is None:
            return True
        known = into.slots.get(id) if id else None
        if known is None or not known.ended or call.get("partialArgs") is not None or call.get("willContinue"):
            return False
        said = known.item["functionCall"]
        return bool(known.name == call.get("name") and (said.get("args") or {}) == (call.get("args") or {}))

    def _pieces(self, pieces: list[Any], path: Path, slot: Slot, into: Assembly) -> None:
        for number, one in enumerate(pieces):
            piece = one if type(one) is dict else into.as_object(one, (*path, "partialArgs", number))
            try:
                slot.size += put_at(slot.item["functionCall"]["args"], known_camel(piece), into.limits)
            except Unreadable as error:
                into.end(slot, broken=str(error))
                return
        if slot.size > into.limits.arguments:
            raise LimitError(f"arguments of more than {into.limits.arguments} characters", "arguments")

    def read_item(self, item: dict[str, Any], path: Path, reading: Reading) -> None:
        self._part(item, path, reading)

    # -- result

    def write_results(self, results: list[tuple[ToolResult, ToolCall | None]], out: Writing) -> Wire:
        parts = []
        said: dict[str, Any] = {}
        for number, (result, call) in enumerate(results):
            name = call.name if call is not None else result.tool_name
            if not name:
                raise ConversionError("a result needs its tool's name; give the calls too", "conversion.missing_name")
            beside = self.own(result.extra)
            around, id = beside.pop("part", None), beside.pop("id", None)
            said |= pop_beside(beside)
            if call is not None:
                id = self.own(call.extra).get("id")
            written: dict[str, Any] = {"id": id} if id is not None else {}
            written |= {"name": self.name(name), "response": response(result), **beside}
            media = numbered(f"$[{number}]", result_parts(result) or ())
            made = self._said([one for one in media if not isinstance(one[1], TextPart)], out)
            written |= {"parts": made} if made else {}
            parts.append({"functionResponse": written, **(around if isinstance(around, dict) else {})})
        return out.as_object({"role": "user", "parts": parts, **said})

    def write_assistant(self, message: Message, parts: list[tuple[str, Any]], out: Writing) -> Wire:
        written: list[dict[str, Any]] = []
        signed = message.provider is not None and message.provider == self.provider.value
        for path, part in parts:
            own = self.own(part.extra)
            if isinstance(part, TextPart):
                written.append({"text": part.text, **own})
            elif isinstance(part, ReasoningPart):
                if signed or own:
                    written.append({"text": part.text, "thought": True, **own})
                else:
                    out.lost("loss.reasoning", path, "reasoning of another provider")
            elif isinstance(part, OpaquePart):
                written.append(part.data)
            elif isinstance(part, CallPart) and part.call.kind == "server":
                written.append(own["item"])
            elif isinstance(part, CallPart):
                call = part.call
                beside = self.own(call.extra)
                arguments = sent_arguments(call)
                body = {"name": self.name(call.name), "args": arguments}
                if "id" in beside:
                    body = {"id": beside.pop("id"), **body}
                beside = self.enveloped("functionCall", body, beside)
                if not signed and (out.repair is None or "signature_missing" in out.repair):
                    if out.repair is not None and "thoughtSignature" not in beside:
                        out.mended("history.signature_missing", path, f"the call of {call.name!r:.80} got a stand-in")
                    beside.setdefault("thoughtSignature", NO_SIGNATURE)
                    signed = True  # the others of a turn need none
                written.append(beside)
        return out.as_object({"role": "model", "parts": written})

    # -- history

    messages_member = "contents"
    system_member = "systemInstruction"
    joins = frozenset({"model"})  # a function's response stands alone in its content
    interleaves = True
    opaque_results = True
    rules = RULES
    roles = frozenset(("user", "model", "function", "tool", None))

    def read_turn(self, items: list[Any], turns: TurnReader) -> None:
        read_content(items[0], turns)

    def read_request(self, request: dict[str, Any], turns: TurnReader) -> tuple[Any, Path]:
        return super().read_request(camel(request), turns)

    def read_system(self, value: Any, turns: TurnReader) -> None:
        read_system(value, turns)

    def write_system(self, turns: list[SystemMessage], out: Writing) -> Any:
        parts: list[dict[str, Any]] = []
        for number, turn in enumerate(turns):
            said = [TextPart(turn.content)] if isinstance(turn.content, str) else turn.content
            parts += self._said(numbered(f"$[{number}]", said), out)
        return {"parts": parts} if parts else None

    def write_user(self, content: str | list[tuple[str, UserPart]], extra: dict[str, Any], out: Writing) -> Any:
        parts = [{"text": content}] if isinstance(content, str) else self._said(content, out)
        return {"role": "user", "parts": parts, **extra}

    def _said(self, parts: list[tuple[str, UserPart]], out: Writing) -> list[dict[str, Any]]:
        made = [user_part(part, path, out, self.own(part.extra)) for path, part in parts]
        return [part for part in made if part is not None]

    def join(self, messages: list[dict[str, Any]]) -> dict[str, Any]:
        parts: list[Any] = []
        joined: dict[str, Any] = {}
        for message in messages:
            said = message.get("parts") or []
            parts += said if isinstance(said, list) else [said]
            joined |= message
        return {**joined, "parts": parts}

    def check(self, turns: Turns, report: Report) -> None:
        check(turns, report)


WIRE = Gemini
