"""Cohere's chat, version 2.

Cannot carry: a choice of one tool (``request`` leaves the others out), whether calls may be parallel, strict mode for
some tools only, an error flag on a result (the text says it), images and files in a result, reasoning of others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, ClassVar, Final

from ..definition import Tool
from ..history import SystemMessage, UserPart
from ..schema.subset import Subset, words
from ..types import (
    CallPart,
    FilePart,
    Message,
    Part,
    ReasoningPart,
    StopReason,
    TextPart,
    ToolCall,
    ToolChoice,
    ToolResult,
    json_text,
)
from ._assembly import Assembly
from ._base import NewReading, WireProvider
from ._names import WireFormat
from ._openai_parts import PART, read_part, user_part
from ._ordinary import Unusual, enveloped, keep, ordinary_message, text_of
from ._payload import Path
from ._pieces import Pieces, hashable, merge
from ._reading import Reading, rest
from ._turns import TurnReader
from ._writing import Wire, Writing, result_parts, result_text, sent_text

PLAIN: Final = Subset(root_unions=False)
# What its structured outputs can hold a model to.
STRICT: Final = Subset(
    words("type description title properties required additionalProperties items enum const anyOf $ref pattern format"),
    references="alone",
    untyped=False,
    root_unions=False,
    closed=True,
    optional=True,
    formats=words("date-time date time uuid"),
)
Own = Callable[[Mapping[str, Any]], dict[str, Any]]
_CHOICES: Final = {"required": "REQUIRED", "none": "NONE"}
_CALL: Final = words("id type function")
_FUNCTION: Final = words("name arguments")
_RESPONSE: Final = words("finish_reason message usage tool_plan error")
_MESSAGE: Final = words("role content tool_plan tool_calls finish_reason error")
_TEXT: Final = words("type text")
_THINKING: Final = words("type thinking")
_PIECES: Final = ("text", "thinking")
_ENDING: Final = words("finish_reason usage error")
_SAID: Final = words("role content")
_ANSWER: Final = words("role content tool_calls tool_plan")
_RESULT: Final = words("role content tool_call_id")
_DOCUMENT: Final = PART | {"document"}
_UNANSWERED: Final = (
    "invalid request: An assistant message with 'tool_calls' must be followed by tool messages responding to each "
    "'tool_call_id'. The following tool_call_ids did not have response messages: …"
)
_RULES: Final[dict[str, str | None]] = {
    "history.unknown_role": None,
    "history.orphan_call": _UNANSWERED,
    "history.results_not_adjacent": _UNANSWERED,
    "history.orphan_result": None,
    "history.duplicate_id": None,
    "history.duplicate_result": None,
    "history.missing_id": None,
    "history.illegal_name": None,
    "history.empty_message": "message must not be empty in a turn",
}


class Cohere(WireProvider):
    """Chat, version 2."""

    wire = WireFormat.COHERE
    modes = frozenset({"auto", "none", "required"})
    limits_choice = False
    stream_ends_with = "message-end"
    list_member = "tool_calls"
    stop_reasons: ClassVar[Mapping[str, StopReason]] = {
        "COMPLETE": "stop",
        "STOP_SEQUENCE": "stop",
        "TOOL_CALL": "tool_calls",
        "MAX_TOKENS": "length",
        "ERROR_TOXIC": "content_filter",
        "ERROR": "error",
        "TIMEOUT": "error",
    }

    # -- definition

    def _tools(self, tools: list[Tool], out: Writing) -> dict[str, Any]:
        """The tools; strict mode is said once, for all of them."""
        every = all(tool.strict for tool in tools)
        for number, tool in enumerate(tools if not every else ()):
            if tool.strict:
                out.lost(
                    "loss.strict", f"$[{number}].strict", "not all tools are strict; Cohere has it for all or none"
                )
        members = super()._tools(tools if every else [replace(tool, strict=None) for tool in tools], out)
        functions = [tool.get("function") for tool in members.get("tools", ())]
        strict = [isinstance(function, dict) and function.pop("strict", False) for function in functions]
        return {**members, "strict_tools": True} if strict and all(strict) else members

    def write_tool(self, tool: Tool, name: str, path: str, out: Writing) -> dict[str, Any]:
        if tool.strict and not tool.parameters.get("required"):
            out.lost("loss.strict", f"{path}.parameters", "not sent as strict: no parameter is required")
            tool = replace(tool, strict=None)
        schema, strict = self.schema(tool, path, out, PLAIN, STRICT)
        about = {"description": tool.description} if tool.description else {}
        function = {"name": name, **about, "parameters": schema, **({"strict": True} if strict else {})}
        return {"type": "function", "function": function, **self.own(tool.extra)}

    # -- choice

    def write_choice(self, choice: ToolChoice, named: list[Tool], out: Writing) -> dict[str, Any]:
        if choice.parallel is not None:
            out.lost("loss.parallel", "$.parallel", "Cohere does not take it")
        return {"tool_choice": _CHOICES[choice.mode]} if choice.mode in _CHOICES else {}  # left out it is auto

    # -- response

    def read(self, payload: dict[str, Any], new: NewReading) -> list[Reading]:
        reading = new()
        self.stop(payload, "finish_reason", (), reading)
        said = payload.get("message")
        if type(said) is str:  # all that there is of an error
            self.refused(said, reading, ("message",))
            reading.extra["error"] = payload
            return [reading]
        if "message" not in payload:
            self._message(payload, (), reading)
            return [reading]
        reading.usage = payload.get("usage")
        reading.keep(payload, _RESPONSE)
        _plan(payload, (), reading)  # ToolCallParser has it beside the message too
        self._message(reading.as_object(said, ("message",)), ("message",), reading)
        return [reading]

    def _message(self, message: dict[str, Any], path: Path, reading: Reading) -> None:
        _plan(message, path, reading)
        content = message.get("content")
        if type(content) is str:
            reading.text(content)
            content = None
        for number, item in enumerate(reading.as_list(content, (*path, "content"))):
            at = (*path, "content", number)
            part = reading.as_object(item, at)
            if part.get("type") == "text":
                reading.text(reading.text_at(part, "text", at), rest(part, _TEXT))
            elif part.get("type") == "thinking":
                extra = {"key": "thinking", **(rest(part, _THINKING) or {})}
                reading.reasoning(reading.text_at(part, "thinking", at), extra)
            elif part:
                reading.opaque(part)
        reading.keep(message, _MESSAGE)
        for number, item in enumerate(reading.list_at(message, "tool_calls", path)):
            at = (*path, "tool_calls", number)
            call = item if type(item) is dict else reading.as_object(item, at)
            if call:
                self.read_item(call, at, reading)

    def read_item(self, item: dict[str, Any], path: Path, reading: Reading) -> None:
        reading.enveloped_call(item, path, _CALL, _FUNCTION, id=item.get("id"))

    def read_ordinary(self, payload: dict[str, Any]) -> Message:
        reason, said = payload["finish_reason"], payload["message"]
        if type(reason) is not str or type(said) is not dict or payload.get("tool_plan"):
            raise Unusual
        parts: list[Part] = []
        plan, text = text_of(said, "tool_plan"), text_of(said, "content")
        if plan:
            parts.append(ReasoningPart(plan, None, {self._wire: {"key": "tool_plan"}}))
        if text:
            parts.append(TextPart(text, None, {}))
        calls = enveloped(self._wire, said.get("tool_calls"), _CALL, _FUNCTION, parts)
        extra = {"stop_reason": reason}
        keep(payload, _RESPONSE, extra)
        if not _MESSAGE.issuperset(said):
            keep(said, _MESSAGE, extra)
        stop = self.stop_reasons.get(reason, "other")
        return ordinary_message(self._name, self._wire, parts, calls, text, plan, stop, payload.get("usage"), extra)

    # -- stream

    def stream_event(self, event: dict[str, Any], into: Assembly) -> None:
        kind = event.get("type")
        index = hashable(event.get("index"))
        delta = into.as_object(event.get("delta"), ("delta",))
        at = ("delta", "message")
        said = into.as_object(delta.get("message"), at)
        message = into.payload.setdefault("message", {})
        if kind in ("tool-call-start", "tool-call-delta"):
            self._call_delta(into.as_object(said.get("tool_calls"), (*at, "tool_calls")), index, message, into)
        elif kind == "tool-call-end":
            if index in into.slots:
                into.end(into.slots[index])
        elif kind in ("content-start", "content-delta"):
            part = into.as_object(said.get("content"), (*at, "content"))
            self._part_delta(part, index, kind == "content-start", message, into)
        elif kind == "tool-plan-delta":
            plan = into.as_text(said.get("tool_plan"), (*at, "tool_plan"))
            into.reasoning(message.setdefault("tool_plan", Pieces()), plan)
        elif kind == "citation-start":
            if said.get("citations") is not None and not into.late():
                merge(message, "citations", [said["citations"]])
        elif kind == "message-start":
            if event.get("id") is not None:
                into.payload["id"] = event["id"]
        elif kind == "message-end":
            ending = {key: value for key, value in delta.items() if key in _ENDING and value is not None}
            into.payload.update(ending)
            into.stop(delta.get("finish_reason"))
            if delta.get("error"):
                into.refused(delta["error"])
            else:
                into.finish()
        elif kind not in ("content-end", "citation-end", "debug"):
            into.unknown(kind)

    def _part_delta(
        self, part: dict[str, Any], index: Any, begins: bool, message: dict[str, Any], into: Assembly
    ) -> None:
        """Of content; a part that has not begun begins with what is in it first."""
        if into.late():
            return
        block = None if begins else into.items.get(index)
        for key, value in [("type", None), *part.items()]:
            kind = part.get("type") if key == "type" else key
            if block is None or (value and key in _PIECES and block["type"] != kind):  # a part is of one kind
                block = into.items[index] = {"type": kind or next((one for one in _PIECES if part.get(one)), "text")}
                message.setdefault("content", []).append(block)
            if key in _PIECES:
                piece = into.as_text(value, ("delta", "message", "content", key))
                (into.text if key == "text" else into.reasoning)(block.setdefault(key, Pieces()), piece)
            elif value is not None and key != "type":
                block[key] = value

    def _call_delta(self, item: dict[str, Any], index: Any, message: dict[str, Any], into: Assembly) -> None:
        function = into.as_object(item.get("function"), ("delta", "message", "tool_calls", "function"))
        slot = into.slots.get(index)
        id = item.get("id")
        if slot is None or (id and slot.id not in (None, id)):
            if into.late():
                return
            calls = message.setdefault("tool_calls", [])
            call: dict[str, Any] = {**item, "function": {**function}}
            path: Path = ("message", "tool_calls", len(calls))
            calls.append(call)
            slot = into.begin(index, call, path, id=id, name=function.get("name"))
            call["function"]["arguments"] = slot.pieces
        else:
            into.named(slot, id, function.get("name"))
            slot.item["id"] = slot.id
            slot.item["function"]["name"] = slot.name
        into.arguments(slot, into.as_text(function.get("arguments"), ("delta", "message", "tool_calls", "function")))

    # -- result

    def write_results(self, results: list[tuple[ToolResult, ToolCall | None]], out: Writing) -> Wire:
        messages: list[dict[str, Any]] = []
        for number, (result, call) in enumerate(results):
            content = _content(result, f"$[{number}].content", out, self.own)
            own = self.own(result.extra)
            document = own.pop("document", None)
            if document and isinstance(content, list) and isinstance(result.content, dict):
                content = [{"type": "document", "document": {**document, "data": result.content}}]
            id = self.result_id(result, call)
            messages.append({"role": "tool", "tool_call_id": id, "content": content, **own})
        return out.as_list(messages)

    def write_assistant(self, message: Message, parts: list[tuple[str, Any]], out: Writing) -> Wire:
        plan: list[str] = []
        content: list[dict[str, Any]] = []
        calls: list[dict[str, Any]] = []
        for path, part in parts:
            own = self.own(part.extra)
            if isinstance(part, TextPart):
                if part.text:
                    content.append({"type": "text", "text": part.text, **own})
            elif isinstance(part, ReasoningPart):
                key = own.pop("key", None)
                if key == "tool_plan":
                    plan.append(part.text)
                elif key == "thinking":
                    content.append({"type": "thinking", "thinking": part.text, **own})
                else:
                    out.lost("loss.reasoning", path, "reasoning of another provider")
            elif isinstance(part, CallPart):
                calls.append(self._call_back(part.call))
            else:
                content.append(part.data)
        written: dict[str, Any] = {"role": "assistant"}
        if plan:
            written["tool_plan"] = "".join(plan)
        if content:
            written["content"] = content
        if calls:
            written["tool_calls"] = calls
        citations = self.own(message.extra).get("citations")
        if content and citations:
            written["citations"] = citations
        return out.as_object(written)

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
    forms = words("key")
    rules = _RULES
    roles = frozenset(("user", "assistant", "system", "tool"))

    def read_turn(self, items: list[Any], turns: TurnReader) -> None:
        message = items[0]
        role = message.get("role") if isinstance(message, dict) else None
        if role == "assistant":
            turns.assistant({"message": message}, ("message",), rest(message, _ANSWER))
        elif role == "tool":
            content, extra = message.get("content"), rest(message, _RESULT) or {}
            alone = _document(content[0]) if isinstance(content, list) and len(content) == 1 else None
            if alone is None:
                content = turns.content(content, ("content",), _read_part, _DOCUMENT)
            else:
                beside = {key: value for key, value in alone.items() if key != "data"}
                content, extra = alone["data"], {**extra, **({"document": beside} if beside else {})}
            turns.result(message.get("tool_call_id"), content, extra=extra)
        elif role in ("user", "system"):
            content = turns.content(message.get("content"), ("content",), read_part, PART)
            (turns.user if role == "user" else turns.system)(content, rest(message, _SAID))
        else:
            turns.unknown(message)

    def write_user(self, content: str | list[tuple[str, UserPart]], extra: dict[str, Any], out: Writing) -> Any:
        if isinstance(content, str):
            return {"role": "user", "content": content, **extra}
        written = []
        for path, part in content:
            if isinstance(part, FilePart):
                out.lost("loss.part", path, "Cohere takes no files from a user")
            else:
                written.append(user_part(part, self.own(part.extra)))
        return {"role": "user", "content": written, **extra}

    def write_system(self, turns: list[SystemMessage], out: Writing) -> Any:
        (turn,) = turns
        content: Any = turn.content
        if not isinstance(content, str):
            content = []
            for place, part in enumerate(turn.content):
                if isinstance(part, TextPart):
                    content.append(user_part(part, self.own(part.extra)))
                else:
                    out.lost("loss.part", f"$.content[{place}]", "the system prompt is text")
        return {"role": "system", "content": content, **self.own(turn.extra)}


def _plan(holder: dict[str, Any], path: Path, reading: Reading) -> None:
    if holder.get("tool_plan"):
        reading.reasoning(reading.text_at(holder, "tool_plan", path), {"key": "tool_plan"})


def _content(result: ToolResult, path: str, out: Writing, own: Own) -> str | list[dict[str, Any]]:
    """A result: text, or documents, which can be cited."""
    parts = result_parts(result)
    if parts is None:
        if result.is_error and not isinstance(result.content, dict):
            said = result_text(result)
            if result.error_message and said in ("", f"Error: {result.error_message}"):
                said = result.error_message
            return json_text({"error": said})
        if isinstance(result.content, dict):
            result_text(result)  # it has to be JSON
            return [{"type": "document", "document": {"data": result.content}}]
        return result_text(result)
    written = []
    for place, part in enumerate(parts):
        if isinstance(part, TextPart):
            document = own(part.extra).get("document")
            if document is not None and json_text(document["data"]) == part.text:
                written.append({"type": "document", "document": document})
            else:
                written.append({"type": "text", "text": part.text})
        else:
            out.lost("loss.part", f"{path}[{place}]", "Cohere takes no images and files in a result")
    return written or ""


def _document(part: Any) -> dict[str, Any] | None:
    """The document that a part of a result is; None if it is none."""
    document = part.get("document") if isinstance(part, dict) and part.get("type") == "document" else None
    return document if isinstance(document, dict) and isinstance(document.get("data"), dict) else None


def _read_part(part: dict[str, Any]) -> Any:
    """A part of a result; None if it is of another kind. A document is the text of its JSON."""
    document = _document(part)
    if document is None:
        return read_part(part)
    try:
        return TextPart(json_text(document["data"]), extra={"document": document})
    except (TypeError, ValueError, RecursionError):
        return None


WIRE = Cohere
