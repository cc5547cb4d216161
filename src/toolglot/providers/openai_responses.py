"""OpenAI's Responses.

Cannot carry: an error flag on a result (the text says it), reasoning of others, call ids of more than 64 characters.
Items that the client has to answer in a way of their own (shell, computer, approvals) are kept, and noted.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final

from ..definition import Tool
from ..events import ReasoningDelta
from ..schema.names import NameRule
from ..schema.subset import words
from ..types import (
    CallPart,
    FilePart,
    ImagePart,
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
from ._names import WireFormat
from ._payload import Path
from ._pieces import Pieces, hashable
from ._reading import Reading, rest
from ._writing import Wire, Writing, data_url, result_parts, result_text
from .openai_chat import PLAIN, STRICT

# Calls that OpenAI runs itself, and what the client has to answer by an item of its own kind.
_SERVER: Final = words(
    "web_search_call file_search_call code_interpreter_call image_generation_call mcp_call mcp_list_tools "
    "program tool_search_call"
)
_CLIENT: Final = words("computer_call local_shell_call shell_call apply_patch_call mcp_approval_request")
_CALLS: Final = ("function_call", "custom_tool_call")
_OUTPUTS: Final = ("function_call_output", "custom_tool_call_output")
_CALL: Final = words("type call_id name arguments input")
_MESSAGE: Final = words("type role content")
_SAID: Final = words("output_text refusal text input_text")
_INCOMPLETE: Final[dict[Any, StopReason]] = {"max_output_tokens": "length", "content_filter": "content_filter"}

_ARGUMENTS: Final[dict[Any, str]] = {"function_call": "arguments", "custom_tool_call": "input"}
_ENDS: Final = words("response.completed response.incomplete response.failed response.done response.cancelled")
# What an event does: the name of a method.
_EVENTS: Final = {
    **dict.fromkeys(words("response.created response.in_progress response.queued") | _ENDS, "_response"),
    "response.output_item.added": "_added",
    "response.output_item.done": "_done",
    **dict.fromkeys(
        words(
            "response.function_call_arguments.delta response.function_call_arguments.done "
            "response.custom_tool_call_input.delta response.custom_tool_call_input.done"
        ),
        "_call_delta",
    ),
    **dict.fromkeys(words("response.content_part.added response.reasoning_summary_part.added"), "_part_added"),
    **dict.fromkeys(
        words(
            "response.output_text.delta response.refusal.delta response.reasoning_text.delta response.text.delta "
            "response.reasoning_summary_text.delta"
        ),
        "_text_delta",
    ),
}
# Events that bring nothing that the items do not hold in the end.
_KNOWN: Final = tuple(
    f"response.{name}"
    for name in words(
        "output_text. refusal. text. content_part. reasoning mcp_ web_search_call. file_search_call. audio. "
        "code_interpreter_call image_generation_call. shell_call compaction output_audio rate_limits."
    )
)


class OpenAIResponses(WireProvider):
    """Responses."""

    wire = WireFormat.OPENAI_RESPONSES
    writer_module = "_write_responses"
    call_ids = NameRule("!-~", 64)
    list_member = "output"
    stream_ends_with = "response.completed, response.incomplete or response.failed"
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
        self.stop(payload.get("status"), reading, "status")
        details = payload.get("incomplete_details")
        if payload.get("status") == "incomplete":
            reason = details.get("reason") if type(details) is dict else None
            reading.stop_reason = _INCOMPLETE.get(reason, "other") if isinstance(reason, str) else "other"
            reading.cut = reading.stop_reason == "length"
            reading.extra["incomplete_details"] = details
        for key in ("id", "model"):
            if payload.get(key) is not None:
                reading.extra[key] = payload[key]
        reading.usage = payload.get("usage")
        if payload.get("output") is None and payload.get("object") != "response" and "type" in payload:
            self._item(payload, (), reading)  # an item by itself
            return [reading]
        items = reading.as_list(payload.get("output"), ("output",))
        # A call whose output stands there too was answered: nobody has to run it again.
        answered = {
            item["call_id"]
            for item in items
            if type(item) is dict and item.get("type") in _OUTPUTS and type(item.get("call_id")) is str
        }
        for number, item in enumerate(items):
            path: Path = ("output", number)
            item = reading.as_object(item, path)
            id = item.get("call_id")
            if answered and item.get("type") in _CALLS and type(id) is str and id in answered:
                reading.opaque(item)
            else:
                self._item(item, path, reading)
        return [reading]

    def _item(self, item: dict[str, Any], path: Path, reading: Reading) -> None:
        kind = item.get("type")
        if kind == "function_call":
            id = item.get("call_id") or item.get("id")
            reading.call(item.get("name"), item.get("arguments"), path, id=id, extra=rest(item, _CALL))
        elif kind == "custom_tool_call":
            id = item.get("call_id") or item.get("id")
            reading.custom(item.get("name"), item.get("input"), path, id=id, extra=rest(item, _CALL))
        elif kind == "message":
            self._message(item, path, reading)
        elif kind == "reasoning":
            texts = [
                reading.as_text(reading.as_object(part, (*path, key, number)).get("text"), (*path, key, number, "text"))
                for key in ("summary", "content")
                for number, part in enumerate(reading.as_list(item.get(key), (*path, key)))
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
        extra = rest(item, _MESSAGE)
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

    # -- stream

    def stream_event(self, event: dict[str, Any], into: Assembly) -> None:
        """Also what the Realtime API says of a response; the other events of its sessions are noted once a kind."""
        kind = event.get("type")
        handler = _EVENTS.get(kind) if type(kind) is str else None
        if handler is not None:
            getattr(self, handler)(event, into)
        elif kind == "error":
            into.refused(event)
        elif type(kind) is not str or not kind.startswith(_KNOWN):
            into.unknown(kind)

    def _response(self, event: dict[str, Any], into: Assembly) -> None:
        response = into.as_object(event.get("response"), ("response",))
        into.payload.update({key: value for key, value in response.items() if key != "output"})
        if event["type"] not in _ENDS or into.ended:
            return
        output = into.as_list(response.get("output"), ("response", "output"))
        if "output" not in into.payload:  # no item was streamed
            for item in output:
                self._added({"item": item}, into)
        details = response.get("incomplete_details") or response.get("status_details")
        reason = details.get("reason") if type(details) is dict else None
        into.cut = response.get("status") in ("incomplete", "cancelled", "failed") and reason != "content_filter"
        if response.get("error"):
            into.refused(response["error"])
        into.finish()

    def _added(self, event: dict[str, Any], into: Assembly) -> None:
        if into.late():
            return
        item = dict(into.as_object(event.get("item"), ("item",)))
        output = into.payload.setdefault("output", [])
        path: Path = ("output", len(output))
        output.append(item)
        index, id = hashable(event.get("output_index")), hashable(item.get("id"))
        for place in ((index, id), ("index", index), ("id", id)):
            if place[1] is not None:
                into.items[place] = item
        key = _ARGUMENTS.get(item.get("type"))
        if key is not None:
            begun = item.get(key)
            slot = into.begin(None, item, path, id=item.get("call_id"), name=item.get("name"), custom=key == "input")
            item[key] = slot.pieces
            into.arguments(slot, into.as_text(begun, ("item", key)))
        elif item.get("type") in ("message", "reasoning"):
            for key in ("content", "summary"):
                parts = into.as_list(item.get(key), ("item", key))
                if key in item:
                    item[key] = []
                for number, part in enumerate(parts):
                    self._part_at(item, key, number, part, into)

    def _item_of(self, event: dict[str, Any], into: Assembly) -> dict[str, Any] | None:
        """The item that an event is about, by its place and id, else by one of them: gateways use either again."""
        index, id = hashable(event.get("output_index")), hashable(event.get("item_id"))
        for place in ((index, id), ("index", index), ("id", id)):
            item = into.items.get(place) if place[1] is not None else None
            if item is not None and (place[0] != "index" or id is None or item.get("id") in (None, id)):
                return item
        return None

    def _call_delta(self, event: dict[str, Any], into: Assembly) -> None:
        kind = event["type"]
        item = self._item_of(event, into)
        if item is None:  # Realtime's may come by themselves
            if into.late():
                return
            about = {"id": event.get("item_id"), "call_id": event.get("call_id"), "name": event.get("name")}
            what = "custom_tool_call" if "custom" in kind else "function_call"
            self._added({**event, "item": {"type": what, **about}}, into)
            item = into.payload["output"][-1]
        slot = into.slot_of(item)
        if slot is None:
            into.unknown(kind)
            return
        into.named(slot, event.get("call_id"), event.get("name"))
        item.update(name=slot.name, call_id=slot.id)
        if kind.endswith(".delta"):
            into.arguments(slot, into.as_text(event.get("delta"), ("delta",)))
        else:
            into.complete(slot, event.get("input") if slot.custom else event.get("arguments"))

    def _part_at(self, item: dict[str, Any], key: str, number: Any, part: Any, into: Assembly) -> dict[str, Any]:
        """The part of that number of an item's content or summary, which begins if it has not."""
        place = (id(item), key, hashable(number))
        if place in into.items:
            return into.items[place]
        made: dict[str, Any] = dict(into.as_object(part, ("part",)))
        into.items[place] = made
        reasons = item.get("type") == "reasoning"
        if reasons and (item.get("summary") or item.get("content")):
            into.events.append(ReasoningDelta("\n\n"))  # which `read` puts between them
        if type(item.get(key)) is not list:
            item[key] = []
        item[key].append(made)
        name = "refusal" if made.get("type") == "refusal" else "text"
        begun = into.as_text(made.get(name), ("part", name))
        made[name] = Pieces()
        (into.reasoning if reasons else into.text)(made[name], begun)
        return made

    def _part_added(self, event: dict[str, Any], into: Assembly) -> None:
        item = self._item_of(event, into)
        key = "summary" if "summary_index" in event else "content"
        if item is not None and not into.late():
            self._part_at(item, key, event.get(f"{key}_index"), event.get("part"), into)

    def _text_delta(self, event: dict[str, Any], into: Assembly) -> None:
        if into.late():
            return
        kind = event["type"]
        item = self._item_of(event, into)
        if item is None:
            what = "reasoning" if kind.startswith("response.reasoning") else "message"
            self._added({**event, "item": {"type": what, "id": event.get("item_id")}}, into)
            item = into.payload["output"][-1]
        key = "summary" if "summary_index" in event else "content"
        part = {"type": "refusal" if "refusal" in kind else "summary_text" if key == "summary" else "output_text"}
        made = self._part_at(item, key, event.get(f"{key}_index"), part, into)
        name = "refusal" if made.get("type") == "refusal" else "text"
        add = into.reasoning if item.get("type") == "reasoning" else into.text
        if type(made.get(name)) is Pieces:
            add(made[name], into.as_text(event.get("delta"), ("delta",)))

    def _done(self, event: dict[str, Any], into: Assembly) -> None:
        """An item once more, whole: it has what was not streamed."""
        item = into.as_object(event.get("item"), ("item",))
        known = self._item_of({**event, "item_id": item.get("id")}, into)
        if known is None:
            if into.late():
                return
            self._added(event, into)
            known = into.payload["output"][-1]
        slot = into.slot_of(known)
        if slot is None:
            if not into.late():
                self._rest_of_texts(known, item, into)
                known.update(item)
            return
        key = "input" if slot.custom else "arguments"
        into.named(slot, item.get("call_id"), item.get("name"))
        into.complete(slot, item.get(key))
        known.update({name: value for name, value in item.items() if name != key and value is not None})
        if item.get("status") != "incomplete":  # else the response's end says why
            into.end(slot)

    def _rest_of_texts(self, known: dict[str, Any], item: dict[str, Any], into: Assembly) -> None:
        """Give out what of an item's texts was not streamed."""
        if item.get("type") not in ("message", "reasoning"):
            return
        add = into.reasoning if item["type"] == "reasoning" else into.text
        for key in ("summary", "content"):
            for number, part in enumerate(into.as_list(item.get(key), ("item", key))):
                at: Path = ("item", key, number)
                part = into.as_object(part, at)
                name = "refusal" if part.get("type") == "refusal" else "text"
                begun = self._part_at(known, key, number, {"type": part.get("type")}, into).get(name)
                if type(begun) is Pieces:
                    told = "".join(begun)
                    text = into.as_text(part.get(name), (*at, name))
                    if text.startswith(told):
                        add(begun, text[len(told) :])

    def read_item(self, item: dict[str, Any], path: Path, reading: Reading) -> None:
        self._item(item, path, reading)

    # -- result

    def write_results(self, results: list[tuple[ToolResult, ToolCall | None]], out: Writing) -> Wire:
        items = []
        for number, (result, call) in enumerate(results):
            parts = result_parts(result)
            output: Any = (
                result_text(result)
                if parts is None
                else [
                    written
                    for place, part in enumerate(parts)
                    if (written := _part(part, f"$[{number}].content[{place}]", out)) is not None
                ]
            )
            kind = "custom_tool_call_output" if call is not None and call.kind == "custom" else "function_call_output"
            # A call that a program made wants its caller back.
            own = self.own(call.extra) if call is not None else {}
            caller = {"caller": own["caller"]} if own.get("caller") else {}
            items.append({"type": kind, "call_id": self.result_id(result, call), "output": output, **caller})
        return out.as_list(items)

    def write_assistant(self, message: Message, parts: list[tuple[str, Any]], out: Writing) -> Wire:
        items: list[dict[str, Any]] = []
        for path, part in parts:
            own = self.own(part.extra)
            if isinstance(part, TextPart) and "id" not in own:  # not an item of the API's own, which need an id
                items.append({"type": "message", "role": "assistant", "content": part.text})
            elif isinstance(part, TextPart):
                content = own.pop("part", None) or {"type": "output_text", "text": part.text, "annotations": []}
                _say({"type": "message", "role": "assistant", "content": [content], **own}, items)
            elif isinstance(part, (ReasoningPart, OpaquePart)):
                item = part.data if isinstance(part, OpaquePart) else own.get("item")
                if item is not None and item.get("type") == "message":
                    _say(item, items)
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


def _say(message: dict[str, Any], items: list[dict[str, Any]]) -> None:
    """Add to what the model said: to the last item, if that is the same."""
    last = items[-1] if items else {}
    if last.get("type") == "message" and "id" in last and last["id"] == message.get("id"):
        last["content"] += message["content"]
    else:
        items.append({**message, "content": list(message["content"])})


def _part(part: TextPart | ImagePart | FilePart, path: str, out: Writing) -> dict[str, Any] | None:
    """A part of a result; None if there is none for it."""
    if isinstance(part, TextPart):
        return {"type": "input_text", "text": part.text}
    if isinstance(part, FilePart) and part.id is not None:
        return {"type": "input_file", "file_id": part.id}
    url = data_url(part)
    if url is None:
        out.lost("loss.part", path, "there is nothing in it")
        return None
    if isinstance(part, ImagePart):
        return {"type": "input_image", "image_url": url, "detail": part.detail or "auto"}
    if part.data is None:
        return {"type": "input_file", "file_url": url}
    return {"type": "input_file", "file_data": url, "filename": part.name or "file"}


WIRE = OpenAIResponses
