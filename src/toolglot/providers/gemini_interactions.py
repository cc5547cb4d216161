"""Gemini's Interactions: a turn is a list of steps.

Cannot carry: whether calls may be parallel, strict mode, reasoning of others. Steps that are Google's own (what it ran
itself, thoughts with their signatures) go back as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final

from ..definition import Tool
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
from ._pieces import Pieces, hashable, merge
from ._reading import Reading, rest
from ._writing import Wire, Writing, base64_text, result_parts, result_text, sent_arguments
from .gemini import JSON_SCHEMA

_MODES: Final = {"auto": "auto", "none": "none", "required": "any", "named": "any"}
_CALL: Final = words("type id name arguments")
_TEXT: Final = words("type text")
_OUTPUT: Final = words("type content error")


class GeminiInteractions(WireProvider):
    """Interactions."""

    wire = WireFormat.GEMINI_INTERACTIONS
    tool_names = NameRule("A-Za-z0-9_.:-", 64, "A-Za-z_")
    list_member = "steps"
    stream_ends_with = "interaction.completed, or [DONE]"
    cut_objects = True  # whole, they are objects
    stop_reasons: ClassVar[Mapping[str, StopReason]] = {
        "completed": "stop",
        "requires_action": "tool_calls",
        "incomplete": "length",
        "budget_exceeded": "length",
        "requires_continuation": "length",
        "failed": "error",
    }

    # -- definition

    def write_tool(self, tool: Tool, name: str, path: str, out: Writing) -> dict[str, Any]:
        schema, _ = self.schema(tool, path, out, JSON_SCHEMA, None)
        about = {"description": tool.description} if tool.description else {}
        parameters = {"parameters": schema} if schema.get("properties") else {}
        return {"type": "function", "name": name, **about, **parameters, **self.own(tool.extra)}

    # -- choice

    def write_choice(self, choice: ToolChoice, named: list[Tool], out: Writing) -> dict[str, Any]:
        if choice.parallel is not None:
            out.lost("loss.parallel", "$.parallel", "Gemini does not take it")
        said: Any = _MODES[choice.mode]
        if named:  # as in generateContent, only these two modes can be limited
            mode = "validated" if choice.mode == "auto" else said
            said = {"allowed_tools": {"mode": mode, "tools": [tool.name for tool in named]}}
        return {"generation_config": {"tool_choice": said}}

    # -- response

    def read(self, payload: dict[str, Any], new: NewReading) -> list[Reading]:
        reading = new()
        if "steps" not in payload and "type" in payload:
            self._step(payload, (), reading)  # a step by itself
            return [reading]
        self.stop(payload.get("status"), reading, "status")
        for key in ("id", "model"):
            if payload.get(key) is not None:
                reading.extra[key] = payload[key]
        reading.usage = payload.get("usage")
        steps = reading.as_list(payload.get("steps"), ("steps",))
        # A stored interaction is whole: what the caller sent, and calls that were answered, are among its steps.
        answered = {
            step["call_id"]
            for step in steps
            if type(step) is dict and step.get("type") == "function_result" and type(step.get("call_id")) is str
        }
        for number, item in enumerate(steps):
            path: Path = ("steps", number)
            step = item if type(item) is dict else reading.as_object(item, path)
            id = step.get("id") if answered else None
            if type(id) is str and id in answered and step.get("type") == "function_call":
                reading.opaque(step)
            else:
                self._step(step, path, reading)
        if payload.get("status") == "failed":
            errors = reading.as_list(payload.get("errors"), ("errors",))
            said = reading.as_object(errors[0], ("errors", 0)).get("message") if errors else None
            self._failed(said, ("errors", 0) if errors else ("status",), reading)
        return [reading]

    def _failed(self, said: Any, path: Path, reading: Reading) -> None:
        text = said if type(said) is str and said else "no more is said"
        reading.error(f"the provider answered with an error: {text[:450]}", "provider.error_response", path)

    def _step(self, step: dict[str, Any], path: Path, reading: Reading) -> None:
        kind = step.get("type")
        if kind == "function_call":
            reading.call(step.get("name"), step.get("arguments"), path, id=step.get("id"), extra=rest(step, _CALL))
        elif kind == "thought":
            at = (*path, "summary")
            texts = [
                reading.as_text(reading.as_object(part, (*at, number)).get("text"), (*at, number, "text"))
                for number, part in enumerate(reading.as_list(step.get("summary"), at))
            ]
            reading.reasoning("\n\n".join(text for text in texts if text), {"item": step})
        elif kind == "model_output":
            beside = rest(step, _OUTPUT)
            for number, item in enumerate(reading.as_list(step.get("content"), (*path, "content"))):
                part = reading.as_object(item, (*path, "content", number))
                if part.get("type") == "text":
                    extra = {**({"step": beside} if beside else {}), **(rest(part, _TEXT) or {})}
                    reading.text(reading.as_text(part.get("text"), (*path, "content", number, "text")), extra)
                elif part:
                    reading.opaque({"type": "model_output", "content": [part], **(beside or {})})
            if step.get("error") is not None:
                error = reading.as_object(step["error"], (*path, "error"))
                self._failed(error.get("message"), (*path, "error"), reading)
        elif type(kind) is str and kind.endswith("_call"):
            reading.server_call(
                step.get("name") or kind.removesuffix("_call"), step.get("arguments"), step.get("id"), step
            )
        elif step:
            reading.opaque(step)  # results of Google's own calls, what the caller sent, what is yet to come

    # -- stream

    def stream_event(self, event: dict[str, Any], into: Assembly) -> None:
        kind = event.get("event_type")
        index = hashable(event.get("index"))
        if kind == "step.delta":
            self._delta(into.as_object(event.get("delta"), ("delta",)), into.items.get(index), into)
        elif kind == "step.start":
            self._start(dict(into.as_object(event.get("step"), ("step",))), index, into)
        elif kind == "step.stop":
            slot = into.slots.get(index)
            if slot is not None:  # whether the model was cut off in it, only the next event tells
                into.go_on()
                into.stopped(slot)
        elif kind == "interaction.status_update":
            into.payload["status"] = event.get("status")
        elif kind in ("interaction.created", "interaction.completed"):
            about = into.as_object(event.get("interaction"), ("interaction",))
            into.payload.update({key: value for key, value in about.items() if key != "steps" and value is not None})
            if kind == "interaction.completed":
                if "steps" not in into.payload:  # none was streamed
                    into.payload["steps"] = into.as_list(about.get("steps"), ("interaction", "steps"))
                into.stop(into.payload.get("status"))
                into.finish()
        elif type(kind) is not str or not kind.startswith("interaction."):
            into.unknown(kind)

    def _start(self, step: dict[str, Any], index: Any, into: Assembly) -> None:
        if into.late():
            return
        into.go_on()
        steps = into.payload.setdefault("steps", [])
        path: Path = ("steps", len(steps))
        steps.append(step)
        into.items[index] = step
        if step.get("type") == "function_call":
            into.begin(index, step, path, id=step.get("id"), name=step.get("name"))
            return
        for key in ("content", "summary"):
            parts = into.as_list(step.get(key), ("step", key))
            if parts and step.get("type") in ("model_output", "thought"):
                step[key] = []
                for part in parts:
                    self._part_delta(into.as_object(part, ("step", key)), step, key, into)

    def _delta(self, delta: dict[str, Any], step: dict[str, Any] | None, into: Assembly) -> None:
        kind = delta.get("type")
        if step is None:
            if not into.late():
                into.lost(("index",), "a step that has not begun")
        elif kind == "arguments_delta":
            piece = into.as_text(delta.get("arguments"), ("delta", "arguments"))
            slot = into.slot_of(step)
            if slot is not None and piece:
                if not slot.size:
                    step["arguments"] = slot.pieces  # what the start held was a default
                into.arguments(slot, piece)
        elif into.late():
            pass
        elif kind == "thought_summary":
            self._part_delta(into.as_object(delta.get("content"), ("delta", "content")), step, "summary", into)
        elif kind == "thought_signature":
            step["signature"] = delta.get("signature")
        elif kind == "text_annotation_delta":
            last = step["content"][-1] if step.get("content") else None
            if type(last) is dict:
                merge(last, "annotations", into.as_list(delta.get("annotations"), ("delta", "annotations")))
        elif step.get("type") == "model_output":
            self._part_delta(delta, step, "content", into)
        else:  # of what the server does
            step.update({key: value for key, value in delta.items() if key != "type" and value is not None})

    def _part_delta(self, part: dict[str, Any], step: dict[str, Any], key: str, into: Assembly) -> None:
        """A part of content or of a summary; texts go on, whole they are one."""
        parts = step.setdefault(key, [])
        if part.get("type") != "text":
            parts.append(part)
            return
        last = parts[-1] if parts else {}
        if type(last.get("text")) is not Pieces:
            last = {**part, "text": Pieces()}
            parts.append(last)
        add = into.text if key == "content" else into.reasoning
        add(last["text"], into.as_text(part.get("text"), ("delta", "text")))

    def read_item(self, item: dict[str, Any], path: Path, reading: Reading) -> None:
        self._step(item, path, reading)

    # -- result

    def write_results(self, results: list[tuple[ToolResult, ToolCall | None]], out: Writing) -> Wire:
        steps = []
        for number, (result, call) in enumerate(results):
            step: dict[str, Any] = {"type": "function_result", "call_id": self.result_id(result, call)}
            name = call.name if call is not None else result.tool_name
            if name:
                step["name"] = self.name(name)
            parts = result_parts(result)
            text = result_text(result) if parts is None else ""  # it has to be JSON in any case
            if parts is not None:
                made = [_part(part, f"$[{number}].content[{place}]", out) for place, part in enumerate(parts)]
                step["result"] = [part for part in made if part is not None]
            else:
                step["result"] = result.content if isinstance(result.content, dict) else text
            step["is_error"] = result.is_error
            steps.append(step)
        return out.as_list(steps)

    def write_assistant(self, message: Message, parts: list[tuple[str, Any]], out: Writing) -> Wire:
        steps: list[dict[str, Any]] = []
        for path, part in parts:
            own = self.own(part.extra)
            if isinstance(part, TextPart):
                beside = own.pop("step", {})
                _output({"content": [{"type": "text", "text": part.text, **own}], **beside}, steps)
            elif isinstance(part, ReasoningPart):
                if "item" in own:
                    steps.append(own["item"])
                else:
                    out.lost("loss.reasoning", path, "reasoning of another provider")
            elif isinstance(part, OpaquePart):
                if part.data.get("type") == "model_output":
                    _output(part.data, steps)
                else:
                    steps.append(part.data)
            elif isinstance(part, CallPart):
                steps.append(own["item"] if part.call.kind == "server" else self._call_back(part.call))
        return out.as_list(steps)

    def _call_back(self, call: ToolCall) -> dict[str, Any]:
        return {
            "type": "function_call",
            "id": self.call_id(call.id, f"the call of {call.name!r}"),
            "name": self.name(call.name),
            "arguments": sent_arguments(call),
            **self.own(call.extra),
        }


def _output(output: Mapping[str, Any], steps: list[dict[str, Any]]) -> None:
    """Add to what the model said: to the last step, if that is the same."""
    beside = {key: value for key, value in output.items() if key not in _OUTPUT}
    last = steps[-1] if steps else {}
    if last.get("type") == "model_output" and {k: v for k, v in last.items() if k not in _OUTPUT} == beside:
        last["content"] = [*last["content"], *output["content"]]
    else:
        steps.append({"type": "model_output", "content": list(output["content"]), **beside})


def _part(part: TextPart | ImagePart | FilePart, path: str, out: Writing) -> dict[str, Any] | None:
    """A part of a result; None if there is none for it."""
    if isinstance(part, TextPart):
        return {"type": "text", "text": part.text}
    kind = part.media_type.partition("/")[0]
    kind = "image" if isinstance(part, ImagePart) else kind if kind in ("image", "audio", "video") else "document"
    if part.data is not None:
        return {"type": kind, "data": base64_text(part.data), "mime_type": part.media_type}
    if part.url is not None:
        return {"type": kind, "uri": part.url, "mime_type": part.media_type}
    out.lost("loss.part", path, "there is neither data nor an address")
    return None


WIRE = GeminiInteractions
