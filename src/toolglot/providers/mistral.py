"""Mistral's chat completions: much like OpenAI's, but for ids, choices, thinking and what a result may hold.

Cannot carry: a choice limited to several tools (``request`` leaves the others out), an error flag on a result (the
text says it), reasoning of others.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final

from ..definition import Tool
from ..history import SystemMessage, Turns, UserPart
from ..schema.names import NameRule
from ..schema.subset import words
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
from ._base import NewReading
from ._chunks import CHOICE, FUNCTION, RESPONSE, ChunkStream
from ._history import Report
from ._mistral_parts import CHUNK, RULES, chunk_of, is_text, read_chunk
from ._names import WireFormat
from ._ordinary import Unusual, enveloped, keep, only, ordinary_message, text_of
from ._payload import Path
from ._reading import Reading, rest
from ._turns import TurnReader
from ._writing import Wire, Writing, numbered, result_parts, result_text, sent_text
from .openai_chat import PLAIN, STRICT

_CALL: Final = words("id type index function")
_CHOICE: Final = CHOICE | words("messages stop_reason")
_MESSAGE: Final = words("role content tool_calls prefix")
_TEXT: Final = words("type text")
_TOLD: Final = words("role content")
_RESULT: Final = words("role content tool_call_id name")


class Mistral(ChunkStream):
    """Chat completions."""

    wire = WireFormat.MISTRAL
    call_ids = NameRule("A-Za-z0-9", 9, least=9)
    limits_choice = False
    list_member = "tool_calls"
    no_ids = frozenset(("", "null"))  # the last is what the SDK makes of a missing one
    thinking_parts = True
    reasons = ("finish_reason", "stop_reason")  # the latter is Bedrock's
    members = frozenset()
    text_parts = ("text",)
    stop_reasons: ClassVar[Mapping[str, StopReason]] = {
        "stop": "stop",
        "tool_calls": "tool_calls",
        "length": "length",
        "model_length": "length",
        "error": "error",
    }

    # -- definition

    def write_tool(self, tool: Tool, name: str, path: str, out: Writing) -> dict[str, Any]:
        schema, strict = self.schema(tool, path, out, PLAIN, STRICT)
        about = {"description": tool.description} if tool.description else {}
        function = {"name": name, **about, "parameters": schema, **({"strict": True} if strict else {})}
        return {"type": "function", "function": function, **self.own(tool.extra)}

    # -- choice

    def write_choice(self, choice: ToolChoice, named: list[Tool], out: Writing) -> dict[str, Any]:
        said: Any = "any" if choice.mode == "required" else choice.mode
        if choice.mode == "named":
            said = {"type": "function", "function": {"name": named[0].name}}
        return {
            "tool_choice": said,
            **({} if choice.parallel is None else {"parallel_tool_calls": choice.parallel}),
        }

    # -- response

    def can_parse(self, response: Any) -> bool:
        """Whether it has the shape that Mistral shares with OpenAI."""
        from ._detect import detect_provider

        return detect_provider(response).is_openai_compatible

    def read(self, payload: dict[str, Any], new: NewReading) -> list[Reading]:
        first = new()
        if "choices" not in payload:
            for key in ("message", "detail"):  # of an error; of a request that was not valid
                if type(payload.get(key)) is str or (key == "detail" and payload.get(key) is not None):
                    said = payload[key] if type(payload[key]) is str else "the request is not valid"
                    self.refused(said, first, (key,))
                    first.extra["error"] = payload
                    return [first]
            path: Path = ("message",) if type(payload.get("message")) is dict else ()
            self._message(payload["message"] if path else payload, path, first)
            return [first]
        readings: list[Reading] = []
        for number, item in enumerate(first.choices(payload["choices"], ("choices",))):
            reading = first if not readings else new()
            path = ("choices", number)
            choice = reading.as_object(item, path)
            given = choice.get("finish_reason") is not None
            self.stop(choice, "finish_reason" if given else "stop_reason", path, reading)  # which is Bedrock's name
            beside = rest(choice, _CHOICE)
            if beside is not None:
                reading.extra["choice"] = beside
            key = "message" if choice.get("message") is not None else "delta"
            self._message(reading.object_at(choice, key, path), (*path, key), reading)
            if choice.get("messages") is not None:
                reading.lost((*path, "messages"), "the messages of tools that Mistral ran")
            readings.append(reading)
        first.keep(payload, RESPONSE)
        about = {key: payload[key] for key in ("id", "model") if payload.get(key) is not None}
        for reading in readings or [first]:
            reading.usage = payload.get("usage")
            reading.extra.update(about)
        return readings or [first]

    def _message(self, message: dict[str, Any], path: Path, reading: Reading) -> None:
        content = message.get("content")
        if type(content) is str:
            reading.text(content)
        else:
            for number, item in enumerate(reading.as_list(content, (*path, "content"))):
                at = (*path, "content", number)
                self._chunk(reading.as_object(item, at), at, reading)
        for number, item in enumerate(reading.list_at(message, "tool_calls", path)):
            at = (*path, "tool_calls", number)
            call = reading.as_object(item, at)
            if call:
                self.read_item(call, at, reading)
        beside = rest(message, _MESSAGE)
        if beside is not None and (path or "role" in message):
            reading.extra["message"] = beside

    def read_item(self, item: dict[str, Any], path: Path, reading: Reading) -> None:
        reading.enveloped_call(item, path, _CALL, FUNCTION, id=self.given_id(item))

    def read_ordinary(self, payload: dict[str, Any]) -> Message:
        choice = only(payload["choices"])
        said, reason = choice["message"], choice["finish_reason"]
        if type(said) is not dict or type(reason) is not str:
            raise Unusual
        parts: list[Part] = []
        text = text_of(said, "content")
        if text:
            parts.append(TextPart(text, None, {}))
        calls = enveloped(self._wire, said.get("tool_calls"), _CALL, FUNCTION, parts)
        extra: dict[str, Any] = {"stop_reason": reason}
        beside = rest(choice, _CHOICE)
        if beside is not None:
            extra["choice"] = beside
        beside = rest(said, _MESSAGE)
        if beside is not None:
            extra["message"] = beside
        if choice.get("messages") is not None or any(call.id is None or call.id in self.no_ids for call in calls):
            raise Unusual
        keep(payload, RESPONSE, extra)
        stop = self.stop_reasons.get(reason, "other")
        return ordinary_message(self._name, self._wire, parts, calls, text, "", stop, payload.get("usage"), extra)

    def _chunk(self, chunk: dict[str, Any], path: Path, reading: Reading) -> None:
        kind = chunk.get("type")
        if kind == "text":
            reading.text(reading.text_at(chunk, "text", path), rest(chunk, _TEXT))
        elif kind == "thinking":
            at = (*path, "thinking")
            thoughts = reading.as_list(chunk.get("thinking"), at)
            texts = [
                reading.as_text(reading.as_object(part, (*at, number)).get("text"), (*at, number, "text"))
                for number, part in enumerate(thoughts)
            ]
            reading.reasoning("".join(texts), {"item": chunk})
        elif chunk:
            reading.opaque(chunk)  # references, images

    # -- stream

    # In `ChunkStream`: the chunks are OpenAI's, but for thinking among the parts of content.

    # -- result

    def write_results(self, results: list[tuple[ToolResult, ToolCall | None]], out: Writing) -> Wire:
        messages = []
        for number, (result, call) in enumerate(results):
            name = call.name if call is not None else result.tool_name
            content: Any = None
            parts = result_parts(result)
            if parts is None:
                content = result_text(result)
            else:
                content = self._said(numbered(f"$[{number}]", parts), out)
            written = {"role": "tool", **({"name": self.name(name)} if name else {})}
            written |= {"tool_call_id": self.result_id(result, call), "content": content}
            messages.append({**written, **self.own(result.extra)})
        return out.as_list(messages)

    def write_assistant(self, message: Message, parts: list[tuple[str, Any]], out: Writing) -> Wire:
        chunks: list[dict[str, Any]] = []
        calls: list[dict[str, Any]] = []
        for path, part in parts:
            own = self.own(part.extra)
            if isinstance(part, TextPart):
                chunks.append({"type": "text", "text": part.text, **own})
            elif isinstance(part, ReasoningPart):
                if "item" in own:
                    chunks.append(own["item"])
                else:
                    out.lost("loss.reasoning", path, "reasoning of another provider")
            elif isinstance(part, OpaquePart):
                chunks.append(part.data)
            elif isinstance(part, CallPart):
                calls.append(self._call_back(part.call))
        plain = all(is_text(chunk) for chunk in chunks)
        content = "".join(chunk["text"] for chunk in chunks) if plain else chunks
        beside = self.own(message.extra).get("message")
        prefix = {"prefix": True} if isinstance(beside, dict) and beside.get("prefix") is True else {}
        calling = {"tool_calls": calls} if calls else {}
        return out.as_object({"role": "assistant", "content": content, **calling, **prefix})

    def _call_back(self, call: ToolCall) -> dict[str, Any]:
        arguments = sent_text(call)
        return {
            "id": self.call_id(call.id, f"the call of {call.name!r}"),
            "type": "function",
            **self.enveloped("function", {"name": self.name(call.name), "arguments": arguments}, self.own(call.extra)),
        }

    # -- history

    error_flag = False
    image_detail = True
    opaque_results = True
    unique_ids = False
    rules = RULES
    roles = frozenset(("user", "assistant", "system", "tool"))

    def read_turn(self, items: list[Any], turns: TurnReader) -> None:
        message = items[0]
        role = message.get("role") if isinstance(message, dict) else None
        if role == "assistant":
            turns.assistant({"message": message}, ("message",))
        elif role not in ("system", "user", "tool"):
            turns.unknown(message)
        else:
            content = turns.content(message.get("content"), ("content",), read_chunk, CHUNK)
            if role == "tool":
                id = message.get("tool_call_id")
                id = None if isinstance(id, str) and id in self.no_ids else id
                turns.result(id, content, message.get("name"), extra=rest(message, _RESULT))
            else:
                (turns.user if role == "user" else turns.system)(content, rest(message, _TOLD))

    def write_user(self, content: str | list[tuple[str, UserPart]], extra: dict[str, Any], out: Writing) -> Any:
        said = content if isinstance(content, str) else self._said(content, out)
        return {"role": "user", "content": said, **extra}

    def write_system(self, turns: list[SystemMessage], out: Writing) -> Any:
        (turn,) = turns
        content: Any = turn.content
        if not isinstance(content, str):
            said = numbered("$", content)
            for path, part in said:
                if not isinstance(part, (TextPart, OpaquePart)):
                    out.lost("loss.part", path, "the system prompt is text")
            content = self._said([one for one in said if isinstance(one[1], (TextPart, OpaquePart))], out)
        return {"role": "system", "content": content, **self.own(turn.extra)}

    def _said(self, parts: list[tuple[str, UserPart]], out: Writing) -> list[dict[str, Any]]:
        made = [chunk_of(part, path, out, self.own(part.extra)) for path, part in parts]
        return [part for part in made if part is not None]

    def system_fits(self, last: Any) -> bool:
        return last is None or (isinstance(last, dict) and last.get("role") in ("system", "user"))

    def check(self, turns: Turns, report: Report) -> None:
        for number, turn in enumerate(turns):
            before = turns[number - 1] if number else None
            if isinstance(turn, SystemMessage) and isinstance(before, (Message, ToolResult)):
                report("history.turn_order", number, "a message of the system behind one of the assistant or a tool")


WIRE = Mistral
