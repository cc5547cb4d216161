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
from ..history import SystemMessage, Turns, UserPart
from ..schema.subset import Subset, words
from ..types import (
    CallPart,
    ImagePart,
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
from ._assembly import Assembly
from ._base import NewReading, WireProvider
from ._history import Report
from ._names import WireFormat
from ._ordinary import Unusual, enveloped, keep, ordinary_message, text_of
from ._payload import Path
from ._pieces import Pieces, merge
from ._reading import Reading, rest
from ._turns import TurnReader, from_base64
from ._writing import (
    Wire,
    Writing,
    base64_text,
    message_parts,
    result_parts,
    result_text,
    sent_arguments,
    system_text,
)

# What the server's `ToolProperty` keeps; the model's template never sees the rest.
SCHEMA: Final = Subset(
    words("type description properties required items enum anyOf"), references="inline", root_unions=False
)
_CALL: Final = words("id type function")
_FUNCTION: Final = words("name arguments index")
_RESPONSE: Final = words("message done done_reason prompt_eval_count eval_count error")
_MESSAGE: Final = words("role content thinking tool_calls done_reason error")
_SAID: Final = words("role content images")
_ANSWER: Final = words("role content thinking tool_calls")
_RESULT: Final = words("role content images tool_name tool_call_id")
_RULES: Final[dict[str, str | None]] = {
    "history.arguments_not_object": "json: cannot unmarshal string into Go struct field "
    "ChatRequest.messages.tool_calls.function.arguments of type api.ToolCallFunctionArguments",
}
# What the first bytes of an image say of its type.
_KINDS: Final = ((b"\xff\xd8\xff", "image/jpeg"), (b"GIF8", "image/gif"), (b"RIFF", "image/webp"))
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
        self.stop(payload, "done_reason", (), reading)
        if "message" not in payload:
            self._message(payload, (), reading)
            return [reading]
        reading.keep(payload, _RESPONSE)
        usage = {key: payload[key] for key in _USAGE if payload.get(key) is not None}
        reading.usage = usage or None
        self._message(reading.object_at(payload, "message", ()), ("message",), reading)
        return [reading]

    def _message(self, message: dict[str, Any], path: Path, reading: Reading) -> None:
        reading.reasoning(reading.text_at(message, "thinking", path))
        reading.text(reading.text_at(message, "content", path))
        if "role" in message or path:
            reading.keep(message, _MESSAGE)  # images
        for number, item in enumerate(reading.list_at(message, "tool_calls", path)):
            at = (*path, "tool_calls", number)
            call = item if type(item) is dict else reading.as_object(item, at)
            if call:
                self.read_item(call, at, reading)

    def read_item(self, item: dict[str, Any], path: Path, reading: Reading) -> None:
        reading.enveloped_call(item, path, _CALL, _FUNCTION, id=item.get("id"))

    def read_ordinary(self, payload: dict[str, Any]) -> Message:
        reason, said = payload["done_reason"], payload["message"]
        if type(reason) is not str or type(said) is not dict:
            raise Unusual
        parts: list[Part] = []
        text, thought = said["content"], text_of(said, "thinking") if "thinking" in said else ""
        if type(text) is not str:
            raise Unusual
        if thought:
            parts.append(ReasoningPart(thought, None, {}))
        if text:
            parts.append(TextPart(text, None, {}))
        calls = enveloped(self._wire, said.get("tool_calls"), _CALL, _FUNCTION, parts)
        extra, usage = {"stop_reason": reason}, {}
        keep(payload, _RESPONSE, extra)
        read, written = payload.get("prompt_eval_count"), payload.get("eval_count")
        if read is not None:
            usage["prompt_eval_count"] = read
        if written is not None:
            usage["eval_count"] = written
        if not _MESSAGE.issuperset(said):
            keep(said, _MESSAGE, extra)
        stop = self.stop_reasons.get(reason, "other")
        return ordinary_message(self._name, self._wire, parts, calls, text, thought, stop, usage or None, extra)

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
                paths = [(f"$[{number}].content[{place}]", part) for place, part in enumerate(parts)]
                if images := _images(paths, out):
                    written["images"] = images
            messages.append({**written, **self.own(result.extra)})
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

    # -- history

    error_flag = False
    opaque_results = True
    rules = _RULES

    def read_turn(self, items: list[Any], turns: TurnReader) -> None:
        message = items[0]
        role = message.get("role") if isinstance(message, dict) else None
        if role == "assistant":
            turns.assistant({"message": message}, ("message",), rest(message, _ANSWER))
        elif role == "tool":
            id, name = message.get("tool_call_id"), message.get("tool_name")
            turns.result(id, _content(message, turns), name, extra=rest(message, _RESULT))
        elif role in ("user", "system"):
            (turns.user if role == "user" else turns.system)(_content(message, turns), rest(message, _SAID))
        else:
            turns.unknown(message)

    def write_user(self, content: str | list[tuple[str, UserPart]], extra: dict[str, Any], out: Writing) -> Any:
        written: dict[str, Any] = {"role": "user", "content": content}
        if not isinstance(content, str):
            written["content"] = "\n".join(part.text for _, part in content if isinstance(part, TextPart))
            if images := _images(content, out):
                written["images"] = images
        return {**written, **extra}

    def write_system(self, turns: list[SystemMessage], out: Writing) -> Any:
        text = system_text(turns, out) or ""
        return {"role": "system", "content": text, **self.own(turns[0].extra)}

    def wants_id(self, one: ToolCall | ToolResult) -> bool:
        return False

    def check(self, turns: Turns, report: Report) -> None:
        for number, turn in enumerate(turns):
            for part in message_parts(turn) if isinstance(turn, Message) else ():
                if isinstance(part, CallPart) and part.call.raw_arguments is not None:
                    detail = f"the arguments of {part.call.name!r:.80} are a string"
                    report("history.arguments_not_object", number, detail, part.call.name)


def _images(parts: list[tuple[str, Any]], out: Writing) -> list[Any]:
    """The images among the parts; what is no text either is lost."""
    images = []
    for path, part in parts:
        if isinstance(part, OpaquePart):
            images.append(part.data)
        elif isinstance(part, ImagePart) and part.data is not None:
            images.append(base64_text(part.data))
        elif not isinstance(part, TextPart):
            out.lost("loss.part", path, "Ollama takes only bytes of images")
        elif images:
            out.lost("loss.moved", path, "now before the images")
    return images


def _content(message: dict[str, Any], turns: TurnReader) -> Any:
    """A text; or a list of parts, if there are images."""
    text, images = message.get("content"), message.get("images")
    if text is not None and not isinstance(text, str):
        turns.lost(("content",), "expected a string")
    text = text if isinstance(text, str) else ""
    if images is not None and not isinstance(images, list):
        turns.lost(("images",), "expected a list")
    parts: list[Any] = [_image(image) or turns.opaque(image) for image in (images if isinstance(images, list) else ())]
    return [*([TextPart(text)] if text else []), *parts] if parts else text


def _image(image: Any) -> ImagePart | None:
    """An image of a message, which is base64, or the bytes themselves."""
    data = image if isinstance(image, bytes) else from_base64(image)
    if not data:
        return None
    return ImagePart(data, next((kind for start, kind in _KINDS if data.startswith(start)), "image/png"))


WIRE = Ollama
