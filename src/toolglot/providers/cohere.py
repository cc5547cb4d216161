"""Cohere's chat, version 2.

Cannot carry: a choice of one tool (``request`` leaves the others out), whether calls may be parallel, strict mode for
some tools only, an error flag on a result (the text says it), images and files in a result, reasoning of others.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Final

from ..definition import Tool
from ..schema.subset import Subset, words
from ..types import (
    CallPart,
    Message,
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
from ._payload import Path
from ._pieces import Pieces, hashable, merge
from ._reading import Reading, rest, with_inner
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
_CHOICES: Final = {"required": "REQUIRED", "none": "NONE"}
_CALL: Final = words("id type function")
_FUNCTION: Final = words("name arguments")
_RESPONSE: Final = words("finish_reason message usage tool_plan error")
_MESSAGE: Final = words("role content tool_plan tool_calls finish_reason error")
_TEXT: Final = words("type text")
_THINKING: Final = words("type thinking")


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
        strict = [tool.get("function", {}).pop("strict", False) for tool in members.get("tools", ())]
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
        self.stop(payload.get("finish_reason"), reading, "finish_reason")
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
                reading.text(reading.as_text(part.get("text"), (*at, "text")), rest(part, _TEXT))
            elif part.get("type") == "thinking":
                extra = {"key": "thinking", **(rest(part, _THINKING) or {})}
                reading.reasoning(reading.as_text(part.get("thinking"), (*at, "thinking")), extra)
            elif part:
                reading.opaque(part)
        reading.keep(message, _MESSAGE)
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
            into.payload.update({key: value for key, value in delta.items() if value is not None})
            into.stop(delta.get("finish_reason"))
            into.finish()
            if type(delta.get("error")) is str:
                into.refused(delta["error"])
        elif kind not in ("content-end", "citation-end", "debug"):
            into.unknown(kind)

    def _part_delta(
        self, part: dict[str, Any], index: Any, begins: bool, message: dict[str, Any], into: Assembly
    ) -> None:
        """Of content; a part that has not begun begins with what is in it first."""
        if into.late():
            return
        block = None if begins else into.items.get(index)
        if block is None:
            block = into.items[index] = {"type": "thinking" if "thinking" in part else "text"}
            message.setdefault("content", []).append(block)
        for key, value in part.items():
            if key in ("text", "thinking"):
                add = into.text if key == "text" else into.reasoning
                add(block.setdefault(key, Pieces()), into.as_text(value, ("delta", "message", "content", key)))
            elif value is not None:
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
            content = _content(result, f"$[{number}].content", out)
            messages.append({"role": "tool", "tool_call_id": self.result_id(result, call), "content": content})
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


def _plan(holder: dict[str, Any], path: Path, reading: Reading) -> None:
    if holder.get("tool_plan"):
        reading.reasoning(reading.as_text(holder["tool_plan"], (*path, "tool_plan")), {"key": "tool_plan"})


def _content(result: ToolResult, path: str, out: Writing) -> str | list[dict[str, Any]]:
    """A result: text, or documents, which can be cited."""
    parts = result_parts(result)
    if parts is None:
        if result.is_error and not isinstance(result.content, dict):
            return json_text({"error": result.error_message or result_text(result)})
        if isinstance(result.content, dict):
            result_text(result)  # it has to be JSON
            return [{"type": "document", "document": {"data": result.content}}]
        return result_text(result)
    written = []
    for place, part in enumerate(parts):
        if isinstance(part, TextPart):
            written.append({"type": "text", "text": part.text})
        else:
            out.lost("loss.part", f"{path}[{place}]", "Cohere takes no images and files in a result")
    return written or ""


WIRE = Cohere
