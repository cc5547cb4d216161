"""OpenAI's Responses.

Cannot carry: an error flag on a result (the text says it), reasoning of others, call ids of more than 64 characters.
Items that the client has to answer in a way of their own (shell, computer, approvals) are kept, and noted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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
from ._history import Report
from ._items import BEGUN, ItemStream
from ._names import WireFormat
from ._ordinary import Unusual, call_of, ordinary_message
from ._payload import Path
from ._reading import Reading, rest
from ._responses_parts import (
    CALLS,
    MESSAGE,
    OUTPUTS,
    PART,
    RULES,
    check,
    message,
    output,
    read_part,
    read_turn,
    runs,
    say,
)
from ._turns import TurnReader
from ._writing import Wire, Writing, numbered, system_text
from .openai_chat import PLAIN, STRICT

# Calls that OpenAI runs itself, and what the client has to answer by an item of its own kind.
_SERVER: Final = words(
    "web_search_call file_search_call code_interpreter_call image_generation_call mcp_call mcp_list_tools "
    "program tool_search_call"
)
_CLIENT: Final = words("computer_call local_shell_call shell_call apply_patch_call mcp_approval_request")
_ABOUT: Final = ("id", "model")
_CALL: Final = words("type call_id name arguments input")
_SAID: Final = words("output_text refusal text input_text")
_INCOMPLETE: Final[dict[Any, StopReason]] = {"max_output_tokens": "length", "content_filter": "content_filter"}


class OpenAIResponses(ItemStream):
    """Responses."""

    wire = WireFormat.OPENAI_RESPONSES
    writer_module = "_write_responses"
    call_ids = NameRule("!-~", 64)
    list_member = "output"
    stop_reasons: ClassVar[Mapping[str, StopReason]] = {"completed": "stop", "failed": "error", "cancelled": "other"}

    # -- definition

    def write_tool(self, tool: Tool, name: str, path: str, out: Writing) -> dict[str, Any]:
        about = {"description": tool.description} if tool.description else {}
        own = self.own(tool.extra)
        if tool.kind == "custom":
            form = {k: v for extra in tool.extra.values() for k, v in extra.items() if k == "format"}
            return {"type": "custom", "name": name, **about, **form, **own}
        schema, strict = self.schema(tool, path, out, PLAIN, STRICT)
        # Left out, the API makes every schema strict that it can.
        return {"type": "function", "name": name, **about, "parameters": schema, "strict": strict, **own}

    def write_tools(self, tools: list[dict[str, Any]]) -> dict[str, Any]:
        written: list[dict[str, Any]] = []
        groups: dict[str, list[dict[str, Any]]] = {}
        for tool in tools:
            space = tool.get("namespace")
            if not isinstance(space, dict) or not isinstance(space.get("name"), str):
                written.append(tool)
                continue
            del tool["namespace"]
            if space["name"] not in groups:
                groups[space["name"]] = []
                written.append({"type": "namespace", **space, "tools": groups[space["name"]]})
            groups[space["name"]].append(tool)
        return {"tools": written}

    # -- choice

    def write_choice(self, choice: ToolChoice, named: list[Tool], out: Writing) -> dict[str, Any]:
        shells: list[dict[str, Any]] = [
            {"type": self.own(tool.extra).get("type", tool.name)}  # {"type": "web_search"}
            if tool.kind == "server"
            else {"type": tool.kind, "name": tool.name}
            for tool in named
        ]
        said: Any = choice.mode
        if choice.mode == "named" and len(shells) == 1:
            said = shells[0]
        elif shells:
            mode = "required" if choice.mode == "named" else choice.mode
            said = {"type": "allowed_tools", "mode": mode, "tools": shells}
        return {
            "tool_choice": said,
            **({} if choice.parallel is None else {"parallel_tool_calls": choice.parallel}),
        }

    # -- response

    def read(self, payload: dict[str, Any], new: NewReading) -> list[Reading]:
        reading = new()
        self.stop(payload, "status", (), reading)
        details = payload.get("incomplete_details")
        if payload.get("status") == "incomplete":
            reason = details.get("reason") if type(details) is dict else None
            reading.stop_reason = _INCOMPLETE.get(reason, "other") if isinstance(reason, str) else "other"
            reading.cut = reading.stop_reason == "length"
            reading.extra["incomplete_details"] = details
        for key in _ABOUT:
            value = payload.get(key)
            if value is not None:
                reading.extra[key] = value
        reading.usage = payload.get("usage")
        if payload.get("output") is None and payload.get("object") != "response" and "type" in payload:
            self._item(payload, (), reading)  # an item by itself
            return [reading]
        items = reading.list_at(payload, "output", ())
        # A call whose output stands there too was answered: nobody has to run it again.
        answered = {
            item["call_id"]
            for item in items
            if type(item) is dict and item.get("type") in OUTPUTS and type(item.get("call_id")) is str
        }
        answered -= payload.get(BEGUN, frozenset())
        for number, item in enumerate(items):
            path: Path = ("output", number)
            if type(item) is not dict:
                item = reading.as_object(item, path)
            id = item.get("call_id") if answered else None
            if type(id) is str and id in answered and item.get("type") in CALLS:
                reading.opaque(item)
            else:
                self._item(item, path, reading)
        return [reading]

    def _item(self, item: dict[str, Any], path: Path, reading: Reading) -> None:
        kind = item.get("type")
        if kind in CALLS:
            custom = kind == "custom_tool_call"
            key = "input" if custom else "arguments"
            value = item.get(key)
            status = item.get("status")
            if status == "incomplete" and (custom or value is None or (type(value) is str and not value.strip())):
                reading.truncated_call(item.get("name"), (*path, key))
                return
            id = item.get("call_id") or item.get("id")
            (reading.custom if custom else reading.call)(item.get("name"), value, path, id=id, extra=rest(item, _CALL))
            if status == "completed":
                reading.sure()
        elif kind == "message":
            self._message(item, path, reading)
        elif kind == "reasoning":
            texts = [
                reading.as_text(reading.as_object(part, (*path, key, number)).get("text"), (*path, key, number, "text"))
                for key in ("summary", "content")
                for number, part in enumerate(reading.list_at(item, key, path))
            ]
            reading.reasoning("\n\n".join(texts), {"item": item})
        elif type(kind) is str and kind in _SERVER:
            reading.server_call(
                item.get("name") or kind.removesuffix("_call"), item.get("arguments"), item.get("id"), item
            )
        elif item:
            reading.opaque(item)
            if type(kind) is str and kind in _CLIENT:
                reading.lost(path, f"a {kind} has to be answered in its own way")

    def _message(self, item: dict[str, Any], path: Path, reading: Reading) -> None:
        extra = rest(item, MESSAGE)
        content = item.get("content")
        if type(content) is str:
            reading.text(content, extra)
            return
        for number, part in enumerate(reading.as_list(content, (*path, "content"))):
            part = reading.as_object(part, (*path, "content", number))
            if part and type(part.get("type")) is str and part["type"] not in _SAID:
                reading.opaque({"type": "message", "role": "assistant", "content": [part], **(extra or {})})
                continue
            key = "refusal" if part.get("type") == "refusal" else "text"
            if key == "refusal":
                reading.stop_reason = "content_filter"
            text = reading.as_text(part.get(key), (*path, "content", number, key))
            reading.text(text, {**(extra or {}), "part": part} if extra or key == "refusal" else None)

    def read_ordinary(self, payload: dict[str, Any]) -> Message:
        reason, items = payload["status"], payload["output"]
        if type(reason) is not str or reason == "incomplete" or type(items) is not list:
            raise Unusual
        parts: list[Part] = []
        calls: list[ToolCall] = []
        for item in items:
            if type(item) is not dict or item["type"] != "function_call" or item.get("status") == "incomplete":
                raise Unusual
            id, extra = item["call_id"] or item.get("id"), rest(item, _CALL)
            call = call_of(self._wire, len(calls), id, item["name"], item["arguments"], extra)
            calls.append(call)
            parts.append(CallPart(call, None, {}))
        about = {"stop_reason": reason}
        for key in _ABOUT:
            value = payload.get(key)
            if value is not None:
                about[key] = value
        stop = self.stop_reasons.get(reason, "other")
        return ordinary_message(self._name, self._wire, parts, calls, "", "", stop, payload.get("usage"), about)

    # -- stream

    # In `ItemStream`.

    def read_item(self, item: dict[str, Any], path: Path, reading: Reading) -> None:
        self._item(item, path, reading)

    # -- result

    def write_results(self, results: list[tuple[ToolResult, ToolCall | None]], out: Writing) -> Wire:
        items = []
        for number, (result, call) in enumerate(results):
            beside = self.own(result.extra)
            kind = beside.pop("type", OUTPUTS[0]) if call is None else OUTPUTS[call.kind == "custom"]
            # A call that a program made wants its caller back.
            own = self.own(call.extra) if call is not None else {}
            caller = {"caller": own["caller"]} if own.get("caller") else {}
            id, said = self.result_id(result, call), output(result, f"$[{number}]", out, self.own)
            items.append({"type": kind, "call_id": id, "output": said, **caller, **beside})
        return out.as_list(items)

    def write_assistant(self, message: Message, parts: list[tuple[str, Any]], out: Writing) -> Wire:
        items: list[dict[str, Any]] = []
        for path, part in parts:
            own = self.own(part.extra)
            if isinstance(part, TextPart):
                shown = own.pop("part", None) or {"type": "output_text", "annotations": []}
                content: Any = part.text  # not of an item of the API's own, which need an id
                if "id" in own:
                    content = [{**shown, "refusal" if shown.get("type") == "refusal" else "text": part.text}]
                say({"type": "message", "role": "assistant", "content": content, **own}, items)
            elif isinstance(part, (ReasoningPart, OpaquePart)):
                item = part.data if isinstance(part, OpaquePart) else own.get("item")
                if item is not None and item.get("type") == "message":
                    say(item, items)
                elif item is None:
                    out.lost("loss.reasoning", path, "reasoning of another provider")
                else:
                    items.append(item)
            elif isinstance(part, CallPart):
                items.append(own["item"] if part.call.kind == "server" else self._call_back(part.call))
        return out.as_list(items)

    def _call_back(self, call: ToolCall) -> dict[str, Any]:
        named = {"call_id": self.call_id(call.id, f"the call of {call.name!r}"), "name": self.name(call.name)}
        if call.kind == "custom":
            return {"type": "custom_tool_call", **named, "input": call.input or "", **self.own(call.extra)}
        return {"type": "function_call", **named, "arguments": call.arguments_json, **self.own(call.extra)}

    # -- history

    messages_member = "input"
    system_member = "instructions"
    system_inside = True
    text_alone = True
    interleaves = True
    stored_by = ("previous_response_id", "conversation")
    error_flag = False
    image_detail = True
    opaque_results = True
    custom_calls = True
    forms = words("type role status text refusal")
    rules = RULES
    roles = frozenset(("user", "assistant", "system", "developer", None))

    def runs(self, items: list[Any]) -> Iterator[int]:
        return runs(items)

    def read_turn(self, items: list[Any], turns: TurnReader) -> None:
        read_turn(items, turns)

    def read_system(self, value: Any, turns: TurnReader) -> None:
        turns.system(turns.content(value, (), read_part, PART))

    def write_system(self, turns: list[SystemMessage], out: Writing) -> Any:
        return system_text(turns, out)

    def write_system_message(self, turn: SystemMessage, out: Writing) -> Any:
        content = turn.content if isinstance(turn.content, str) else numbered("$", turn.content)
        return message("system", content, self.own(turn.extra), out, self.own)

    def write_user(self, content: str | list[tuple[str, UserPart]], extra: dict[str, Any], out: Writing) -> Any:
        return message("user", content, extra, out, self.own)

    def check(self, turns: Turns, report: Report) -> None:
        check(turns, report)


WIRE = OpenAIResponses
