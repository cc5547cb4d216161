"""Gemini's generateContent, of the Gemini API and of Vertex AI.

Cannot carry: whether calls may be parallel, strict mode, an id that Gemini did not give, reasoning of others. What a
call's first part of a turn has to bring along (``thoughtSignature``) goes back with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final

from ..definition import Tool
from ..errors import ConversionError, LimitError
from ..schema.names import NameRule
from ..schema.subset import Subset, words
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
    json_text,
)
from ._assembly import Assembly, Slot
from ._base import NewReading, WireProvider
from ._json_path import Unreadable, put_at
from ._names import WireFormat
from ._payload import Path
from ._pieces import Pieces, joined
from ._reading import Reading, id_text, rest
from ._writing import Wire, Writing, base64_text, result_parts, result_text

JSON_SCHEMA: Final = Subset(references="alone", bare_arrays=False, root_unions=False)
# `parameters`, the older member: a part of OpenAPI 3.0.
OPENAPI: Final = Subset(
    words(
        "type format title description nullable default enum items minItems maxItems properties required "
        "propertyOrdering minProperties maxProperties minimum maximum minLength maxLength pattern anyOf"
    ),
    references="inline",
    type_lists=False,
    nullable=True,
    string_enums=True,
    untyped=False,
    bare_arrays=False,
    root_unions=False,
    upper=True,
    formats=words("date-time enum int32 int64 float double"),
)
_MODES: Final = {"auto": "AUTO", "none": "NONE", "required": "ANY", "named": "ANY"}
_BLOCKED: Final = ("SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY", "LANGUAGE")
_FAILED: Final = (
    "MALFORMED_FUNCTION_CALL",
    "UNEXPECTED_TOOL_CALL",
    "TOO_MANY_TOOL_CALLS",
    "MISSING_THOUGHT_SIGNATURE",
    "MALFORMED_RESPONSE",
)
_CALL: Final = words("functionCall")
_TEXT: Final = words("text thought")
_NONE: Final[frozenset[str]] = frozenset()
# What stands in for a signature where the model's call came from elsewhere; documented by Google.
_NO_SIGNATURE: Final = "skip_thought_signature_validator"
_SNAKE: Final = {
    "function_call": "functionCall",
    "thought_signature": "thoughtSignature",
    "finish_reason": "finishReason",
    "finish_message": "finishMessage",
    "usage_metadata": "usageMetadata",
    "prompt_feedback": "promptFeedback",
    "tool_call": "toolCall",
    "partial_args": "partialArgs",
    "will_continue": "willContinue",
    "json_path": "jsonPath",
    "string_value": "stringValue",
    "number_value": "numberValue",
    "bool_value": "boolValue",
    "null_value": "nullValue",
    "response_id": "responseId",
}
_SNAKES: Final = frozenset(_SNAKE)


class Gemini(WireProvider):
    """generateContent."""

    wire = WireFormat.GEMINI
    tool_names = NameRule("A-Za-z0-9_.:-", 64, "A-Za-z_")
    list_member = "parts"
    openapi = False
    stream_ends_with = "a finishReason"
    cut_objects = True  # of calls that come in pieces; others are whole
    stop_reasons: ClassVar[Mapping[str, StopReason]] = {
        "STOP": "stop",
        "MAX_TOKENS": "length",
        **dict.fromkeys(_BLOCKED, "content_filter"),
        **dict.fromkeys(_FAILED, "error"),
    }

    # -- definition

    def with_openapi(self) -> Gemini:
        """The same, but definitions have ``parameters`` as OpenAPI instead of ``parametersJsonSchema``.

        Some proxies know no other; the schema loses more.
        """
        made = Gemini(self.provider)
        made.openapi = True
        return made

    def write_tool(self, tool: Tool, name: str, path: str, out: Writing) -> dict[str, Any]:
        if tool.kind == "custom":
            out.lost("loss.tool_kind", path, "free text; now a function with a string called input")
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
        """The chunks of a stream that was not cut into events, as one response; or the parts of a message."""
        chunks = [item for item in items if isinstance(item, dict) and isinstance(item.get("candidates"), list)]
        if not chunks:
            return {"parts": items}
        candidates = [chunk["candidates"][0] for chunk in chunks if chunk["candidates"]]
        if not candidates:
            return chunks[-1]
        contents = [one.get("content") for one in candidates if isinstance(one, dict)]
        parts = [one.get("parts") for one in contents if isinstance(one, dict)]
        whole = {"content": {"parts": [part for listed in parts if isinstance(listed, list) for part in listed]}}
        return {**chunks[-1], "candidates": [{**(candidates[-1] if isinstance(candidates[-1], dict) else {}), **whole}]}

    def read(self, payload: dict[str, Any], new: NewReading) -> list[Reading]:
        payload = _camel(payload)
        readings: list[Reading] = []
        first = new()
        candidates = first.choices(payload.get("candidates"), ("candidates",))
        for number, item in enumerate(candidates):
            reading = first if not readings else new()
            path: Path = ("candidates", number)
            candidate = _camel(reading.as_object(item, path))
            self.stop(candidate.get("finishReason"), reading)
            content = reading.as_object(candidate.get("content"), (*path, "content"))
            self._parts(content.get("parts"), (*path, "content", "parts"), reading)
            if candidate.get("finishReason") == "MALFORMED_FUNCTION_CALL" and not _has_call(reading):
                said = candidate.get("finishMessage")
                text = said if isinstance(said, str) else "the provider could not read the model's call"
                reading.unreadable_call(text, (*path, "finishReason"))
            readings.append(reading)
        if not candidates:
            self._bare(payload, first)
            readings = [first]
        for reading in readings:
            reading.usage = payload.get("usageMetadata")
            if payload.get("responseId") is not None:
                reading.extra["id"] = payload["responseId"]
        return readings

    def _bare(self, payload: dict[str, Any], reading: Reading) -> None:
        """What has no candidates: a prompt that was blocked, a content, a part."""
        if payload.get("promptFeedback") is not None:
            reading.extra["promptFeedback"] = payload["promptFeedback"]
            reading.stop_reason = "content_filter"
        content = payload.get("content")
        if isinstance(content, dict):
            self._parts(content.get("parts"), ("content", "parts"), reading)
        elif "parts" in payload:
            self._parts(payload["parts"], ("parts",), reading)
        elif "functionCall" in payload:
            self._part(payload, (), reading)

    def _parts(self, parts: Any, path: Path, reading: Reading) -> None:
        for number, item in enumerate(reading.as_list(parts, path)):
            where = (*path, number)
            self._part(_camel(item if type(item) is dict else reading.as_object(item, where)), where, reading)

    def _part(self, part: dict[str, Any], path: Path, reading: Reading) -> None:
        call = part.get("functionCall")
        if call is not None:
            at = (*path, "functionCall")
            call = reading.as_object(call, at)
            extra = rest(part, _CALL)
            id = call.get("id")
            if id:
                extra = {**(extra or {}), "id": id}  # Gemini's own: only such a one may go back
            reading.call(call.get("name"), call.get("args"), at, key="args", id=id, extra=extra)
        elif part.get("text") is not None:
            add = reading.reasoning if part.get("thought") is True else reading.text
            add(reading.as_text(part["text"], (*path, "text")), rest(part, _TEXT))
        elif isinstance(part.get("toolCall"), dict):
            server = part["toolCall"]
            reading.server_call(server.get("toolType"), server.get("args"), server.get("id"), part)
        elif rest(part, _NONE):
            reading.opaque(part)

    # -- stream

    def stream_event(self, event: dict[str, Any], into: Assembly) -> None:
        event = _camel(event)
        payload = into.payload
        for key, value in event.items():
            if key != "candidates" and value is not None:
                payload[key] = value
        for number, item in enumerate(into.as_list(event.get("candidates"), ("candidates",))):
            path: Path = ("candidates", number)
            candidate = _camel(into.as_object(item, path))
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
            for place, one in enumerate(into.as_list(content.get("parts"), (*path, "content", "parts"))):
                part = _camel(into.as_object(one, (*path, "content", "parts", place)))
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
            call = _camel(into.as_object(part["functionCall"], path))
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
            into.named(slot, id)
            whole = slot.item["functionCall"]
            slot.item.update(rest(part, _CALL) or {})
            whole.update({"id": id} if id else {})
            given = into.as_object(call.get("args"), (*path, "args"))
            if given and whole["args"]:
                into.lost((*path, "args"), "arguments that come whole and in pieces; the first count")
            elif given:
                whole["args"] = joined(given)
        slot.goes_on = goes_on
        if not slot.ended:
            self._pieces(into.as_list(pieces, (*path, "partialArgs")), slot, into)
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

    def _pieces(self, pieces: list[Any], slot: Slot, into: Assembly) -> None:
        for number, one in enumerate(pieces):
            piece = _camel(into.as_object(one, (*slot.path, "functionCall", "partialArgs", number)))
            try:
                slot.size += put_at(slot.item["functionCall"]["args"], piece, into.limits)
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
        for number, (result, call) in enumerate(results):
            name = call.name if call is not None else result.tool_name
            if not name:
                raise ConversionError("a result needs its tool's name; give the calls too", "conversion.missing_name")
            own = self.own(call.extra) if call is not None else {}
            written: dict[str, Any] = {"id": own["id"]} if "id" in own else {}
            written |= {"name": self.name(name), "response": _response(result)}
            media = []
            for place, part in enumerate(result_parts(result) or ()):
                if isinstance(part, TextPart):
                    continue
                if part.data is not None:
                    named = {"displayName": part.name} if isinstance(part, FilePart) and part.name else {}
                    blob = {"mimeType": part.media_type, "data": base64_text(part.data), **named}
                    media.append({"inlineData": blob})
                elif part.url is not None:
                    media.append({"fileData": {"mimeType": part.media_type, "fileUri": part.url}})
                else:
                    out.lost("loss.part", f"$[{number}].content[{place}]", "there is nothing in it")
            parts.append({"functionResponse": {**written, **({"parts": media} if media else {})}})
        return out.as_object({"role": "user", "parts": parts})

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
                arguments = {"input": call.input or ""} if call.kind == "custom" else call.arguments
                body = {"name": self.name(call.name), "args": arguments}
                if "id" in beside:
                    body = {"id": beside.pop("id"), **body}
                if not signed:
                    beside.setdefault("thoughtSignature", _NO_SIGNATURE)
                    signed = True  # the others of a turn need none
                written.append({"functionCall": body, **beside})
        return out.as_object({"role": "model", "parts": written})


def _camel(node: dict[str, Any]) -> dict[str, Any]:
    """Members as the wire has them; the SDK's own dump, and REST, also know them in snake_case."""
    if _SNAKES.isdisjoint(node):
        return node
    return {_SNAKE.get(key, key): value for key, value in node.items()}


def _has_call(reading: Reading) -> bool:
    return bool(reading.errors) or any(isinstance(part, CallPart) for part in reading.parts)


def _response(result: ToolResult) -> dict[str, Any]:
    """The result as an object: ``output`` and ``error`` are understood, any other object is the output itself."""
    parts = result_parts(result)
    content = result.content if parts is None else "".join(part.text for part in parts if isinstance(part, TextPart))
    if result.is_error:
        return {"error": result.error_message or (content if isinstance(content, str) else json_text(content))}
    if not isinstance(content, dict):
        return {"output": content if not isinstance(content, (str, tuple)) else result_text(ToolResult(None, content))}
    text = result_text(result)  # it has to be JSON in any case
    if '"$ref"' in text or '"$defs"' in text:
        return {"output": text}  # these are refused anywhere in a response
    return {"output": content} if {"output", "error"} & set(content) else content


WIRE = Gemini
