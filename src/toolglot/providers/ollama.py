"""Ollama's own chat, ``/api/chat``.

Cannot carry: any choice (``request`` leaves tools out where that helps), whether calls may be parallel, strict mode,
most of what a schema says beside types, members and listed values (the description says it), an error flag on a
result (the text says it), files. Its Python client drops ids, and more of a schema than the server does.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final

from ..definition import Tool
from ..errors import ConversionError
from ..schema.subset import Subset, words
from ..types import (
    CallPart,
    ImagePart,
    Message,
    ReasoningPart,
    StopReason,
    TextPart,
    ToolCall,
    ToolChoice,
    ToolResult,
)
from ._assembly import Assembly
from ._base import NewReading, WireProvider
from ._names import WireFormat
from ._payload import Path
from ._pieces import Pieces, merge
from ._reading import Reading, rest, with_inner
from ._writing import Wire, Writing, base64_text, result_parts, result_text, sent_arguments

# What the server's `ToolProperty` keeps; the model's template never sees the rest.
SCHEMA: Final = Subset(
    words("type description properties required items enum anyOf"), references="inline", root_unions=False
)
_CALL: Final = words("id type function")
_FUNCTION: Final = words("name arguments index")
_RESPONSE: Final = words("message done done_reason prompt_eval_count eval_count error")
_MESSAGE: Final = words("role content thinking tool_calls done_reason error")
_USAGE: Final = ("prompt_eval_count", "eval_count")


class Ollama(WireProvider):
    """``/api/chat``."""

    wire = WireFormat.OLLAMA
    modes = frozenset({"auto"})
    limits_choice = False
    stream_ends_with = 'a chunk with "done": true'
    list_member = "tool_calls"
    stop_reasons: ClassVar[Mapping[str, StopReason]] = {"stop": "stop", "length": "length"}

    # -- definition

    def write_tool(self, tool: Tool, name: str, path: str, out: Writing) -> dict[str, Any]:
        schema, _ = self.schema(tool, path, out, SCHEMA, None)
        about = {"description": tool.description} if tool.description else {}
        function = {"name": name, **about, "parameters": schema}
        return {"type": "function", "function": function, **self.own(tool.extra)}

    # -- choice

    def write_choice(self, choice: ToolChoice, named: list[Tool], out: Writing) -> dict[str, Any]:
        if choice.parallel is not None:
            out.lost("loss.parallel", "$.parallel", "Ollama does not take it")
        return {}

    # -- response

    def read(self, payload: dict[str, Any], new: NewReading) -> list[Reading]:
        reading = new()
        self.stop(payload.get("done_reason"), reading, "done_reason")
        if "message" not in payload:
            self._message(payload, (), reading)
            return [reading]
        reading.keep(payload, _RESPONSE)
        usage = {key: payload[key] for key in _USAGE if payload.get(key) is not None}
        reading.usage = usage or None
        self._message(reading.as_object(payload["message"], ("message",)), ("message",), reading)
        return [reading]

    def _message(self, message: dict[str, Any], path: Path, reading: Reading) -> None:
        reading.reasoning(reading.as_text(message.get("thinking"), (*path, "thinking")))
        reading.text(reading.as_text(message.get("content"), (*path, "content")))
        if "role" in message or path:
            reading.keep(message, _MESSAGE)  # images
        for number, item in enumerate(reading.as_list(message.get("tool_calls"), (*path, "tool_calls"))):
            at = (*path, "tool_calls", number)
            call = item if type(item) is dict else reading.as_object(item, at)
            if call:
                self.read_item(call, at, reading)

    def read_item(self, item: dict[str, Any], path: Path, reading: Reading) -> None:
        path = (*path, "function")
        function = reading.as_object(item.get("function"), path)
        extra = with_inner(rest(item, _CALL), "function", function, _FUNCTION)
        reading.call(function.get("name"), function.get("arguments"), path, id=item.get("id"), extra=extra)

    # -- stream

    def stream_event(self, event: dict[str, Any], into: Assembly) -> None:
        payload = into.payload
        message = payload.setdefault("message", {})
        for key, value in event.items():
            if key != "message" and value is not None:
                payload[key] = value
        for key, value in into.as_object(event.get("message"), ("message",)).items():
            if key in ("content", "thinking"):
                add = into.text if key == "content" else into.reasoning
                add(message.setdefault(key, Pieces()), into.as_text(value, ("message", key)))
            elif key == "tool_calls":
                for number, item in enumerate(into.as_list(value, ("message", key))):
                    self._whole_call(into.as_object(item, ("message", key, number)), message, into)
            elif value is not None and not into.late():
                merge(message, key, value)
        if event.get("done") is True:
            into.stop(event.get("done_reason"))
            into.finish()

    def _whole_call(self, call: dict[str, Any], message: dict[str, Any], into: Assembly) -> None:
        """Calls are never split."""
        if not call or into.late():
            return
        calls = message.setdefault("tool_calls", [])
        calls.append(call)
        function = call.get("function")
        name = function.get("name") if type(function) is dict else None
        into.whole(call, ("message", "tool_calls", len(calls) - 1), id=call.get("id"), name=name)

    # -- result

    def write_results(self, results: list[tuple[ToolResult, ToolCall | None]], out: Writing) -> Wire:
        messages = []
        for number, (result, call) in enumerate(results):
            name = call.name if call is not None else result.tool_name
            id = call.id if call is not None else result.tool_call_id
            if not name and not id:
                raise ConversionError("a result needs its tool's name; give the calls too", "conversion.missing_name")
            written: dict[str, Any] = {"role": "tool"}
            if name:
                written["tool_name"] = self.name(name)
            if id:
                written["tool_call_id"] = id
            parts = result_parts(result)
            if parts is None:
                written["content"] = result_text(result)
            else:
                written["content"] = "".join(part.text for part in parts if isinstance(part, TextPart))
                images = []
                for place, part in enumerate(parts):
                    if isinstance(part, ImagePart) and part.data is not None:
                        images.append(base64_text(part.data))
                    elif not isinstance(part, TextPart):
                        out.lost("loss.part", f"$[{number}].content[{place}]", "Ollama takes only bytes of images")
                if images:
                    written["images"] = images
            messages.append(written)
        return out.as_list(messages)

    def write_assistant(self, message: Message, parts: list[tuple[str, Any]], out: Writing) -> Wire:
        content: list[str] = []
        thinking: list[str] = []
        calls: list[dict[str, Any]] = []
        for path, part in parts:
            if isinstance(part, TextPart):
                content.append(part.text)
            elif isinstance(part, ReasoningPart):
                thinking.append(part.text)
            elif isinstance(part, CallPart):
                calls.append(self._call_back(part.call))
            else:
                out.lost("loss.part", path, "Ollama's messages have no other parts")
        written: dict[str, Any] = {"role": "assistant", "content": "".join(content)}
        if any(thinking):
            written["thinking"] = "".join(thinking)
        if calls:
            written["tool_calls"] = calls
        images = self.own(message.extra).get("images")
        if images:
            written["images"] = images
        return out.as_object(written)

    def _call_back(self, call: ToolCall) -> dict[str, Any]:
        # Arguments as text are refused in a history.
        arguments = sent_arguments(call)
        function = {"name": self.name(call.name), "arguments": arguments}
        return {**({"id": call.id} if call.id else {}), **self.enveloped("function", function, self.own(call.extra))}


WIRE = Ollama
