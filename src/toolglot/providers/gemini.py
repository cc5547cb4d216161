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
)
from ._assembly import Assembly
from ._base import NewReading, WireProvider
from ._json_path import Unreadable, put_at
from ._names import WireFormat
from ._payload import Path
from ._pieces import Pieces
from ._reading import Reading, rest, with_inner
from ._writing import Wire, Writing, base64_text, result_parts, result_text, sent_arguments

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
    "MALFORMED_ROOT",
)
_CALL: Final = words("functionCall")
_FUNCTION: Final = words("id name args")
_CONTENT: Final = words("role parts")
_CANDIDATE: Final = words("index content finishReason")
# What only the SDK adds is left out.
_ROOT: Final = words("candidates usageMetadata responseId error sdkHttpResponse automaticFunctionCallingHistory parsed")
_TEXT: Final = words("text thought")
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
    "will_continue": "willContinue",
    "partial_args": "partialArgs",
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
            whole = _camel(payload)
            self._response(whole, (), first, readings, new)
            return self._about(whole, first, readings)
        whole = {}
        for number, item in enumerate(payload["chunks"]):
            path: Path = ("chunks", number)
            chunk = _camel(first.as_object(item, path))
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
            candidate = first.as_object(item, at)
            place = candidate.get("index", 0) if path else number
            if type(place) is not int or not 0 <= place < len(made):
                place = len(made)
                made.append(new() if made else first)
            self._candidate(candidate, at, made[place])
        if not candidates and not path:
            self._bare(payload, first)

    def _candidate(self, found: dict[str, Any], path: Path, reading: Reading) -> None:
        candidate = _camel(found)
        where = (*path, "finish_reason" if "finish_reason" in found else "finishReason")
        self.stop(candidate.get("finishReason"), reading, *where)
        reading.keep(candidate, _CANDIDATE)  # citations, grounding
        content = reading.as_object(candidate.get("content"), (*path, "content"))
        reading.keep(content, _CONTENT)
        self._parts(content.get("parts"), (*path, "content", "parts"), reading)
        malformed = candidate.get("finishReason") == "MALFORMED_FUNCTION_CALL"
        if malformed and not reading.errors and CallPart not in map(type, reading.parts):
            said = candidate.get("finishMessage")
            text = said if isinstance(said, str) else "the provider could not read the model's call"
            reading.unreadable_call(text, where)

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
            where = (*path, number)
            self._part(item if type(item) is dict else reading.as_object(item, where), where, reading)

    def _part(self, found: dict[str, Any], path: Path, reading: Reading) -> None:
        part = _camel(found)
        call = part.get("functionCall")
        if call is not None:
            at = (*path, "functionCall" if "functionCall" in found else "function_call")
            call = _camel(reading.as_object(call, at))
            if call.get("willContinue") or call.get("partialArgs") is not None:
                # A piece of a call whose arguments are streamed, which only a stream can put together.
                if call.get("name"):
                    reading.truncated_call(call["name"], at)
                else:
                    reading.lost(at, "a piece of a call")
                return
            extra = with_inner(rest(part, _CALL), "functionCall", call, _FUNCTION)
            id = call.get("id")
            if id:
                extra = {**(extra or {}), "id": id}  # Gemini's own: only such a one may go back
            reading.call(call.get("name"), call.get("args"), at, key="args", id=id, extra=extra)
        elif "text" in part:
            add = reading.reasoning if part.get("thought") is True else reading.text
            add(reading.as_text(part["text"], (*path, "text")), rest(part, _TEXT))
        elif isinstance(part.get("toolCall"), dict):
            server = part["toolCall"]
            reading.server_call(server.get("toolType"), server.get("args"), server.get("id"), part)
        elif part:
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
        call = part.get("functionCall")
        if type(call) is dict:
            self._call_delta(_camel(call), part, parts, into)
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
        self, call: dict[str, Any], part: dict[str, Any], parts: list[dict[str, Any]], into: Assembly
    ) -> None:
        """A whole call; or, from Vertex, one whose arguments come by their paths.

        Such a call ends with an empty ``functionCall``, or with a chunk that does not say ``willContinue``.
        """
        slot = into.calls[-1] if into.calls and not into.calls[-1].ended else None
        goes_on = call.get("willContinue") is True
        pieces = call.get("partialArgs")
        if slot is None or call.get("name"):
            if slot is not None:
                into.end(slot, truncated=True)  # another call begins, but this one was to go on
            whole = {key: value for key, value in call.items() if key not in ("willContinue", "partialArgs")}
            item = {**part, "functionCall": whole}
            path: Path = ("candidates", 0, "content", "parts", len(parts))
            parts.append(item)
            slot = into.begin(None, item, path, id=call.get("id"), name=call.get("name"))
            if goes_on or pieces is not None:
                whole["args"] = dict(whole.get("args") or {})
        else:
            slot.item.update({key: value for key, value in part.items() if key != "functionCall"})
        for number, one in enumerate(into.as_list(pieces, (*slot.path, "partialArgs"))):
            piece = _camel(into.as_object(one, (*slot.path, "partialArgs", number)))
            try:
                slot.size += put_at(slot.item["functionCall"]["args"], piece, into.limits)
            except Unreadable as error:
                into.end(slot, broken=str(error))
                return
        if slot.size > into.limits.arguments:
            raise LimitError(f"arguments of more than {into.limits.arguments} characters", "arguments")
        if not goes_on:
            into.end(slot)

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
                arguments = sent_arguments(call)
                body = {"name": self.name(call.name), "args": arguments}
                if "id" in beside:
                    body = {"id": beside.pop("id"), **body}
                beside = self.enveloped("functionCall", body, beside)
                if not signed:
                    beside.setdefault("thoughtSignature", _NO_SIGNATURE)
                    signed = True  # the others of a turn need none
                written.append(beside)
        return out.as_object({"role": "model", "parts": written})


def _camel(node: dict[str, Any]) -> dict[str, Any]:
    """Members as the wire has them; the SDK's own dump, and REST, also know them in snake_case."""
    if _SNAKES.isdisjoint(node):
        return node
    return {_SNAKE.get(key, key): value for key, value in node.items()}


def _response(result: ToolResult) -> dict[str, Any]:
    """The result as an object: ``output`` and ``error`` are understood, any other object is the output itself."""
    parts = result_parts(result)
    content = result.content if parts is None else "".join(part.text for part in parts if isinstance(part, TextPart))
    text = result_text(ToolResult(None, content))  # it has to be JSON in any case
    if result.is_error:
        return {"error": result.error_message or text}
    if not isinstance(content, dict):
        return {"output": text if isinstance(content, (str, tuple)) else content}
    if '"$ref"' in text or '"$defs"' in text:
        return {"output": text}  # these are refused anywhere in a response
    return {"output": content} if {"output", "error"} & set(content) else content


WIRE = Gemini
