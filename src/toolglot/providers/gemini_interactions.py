"""Gemini's Interactions: a turn is a list of steps.

Cannot carry: whether calls may be parallel, strict mode, reasoning of others. Steps that are Google's own (what it ran
itself, thoughts with their signatures) go back as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any, ClassVar, Final

from ..definition import Tool
from ..history import SystemMessage, UserPart
from ..schema.names import NameRule
from ..schema.subset import words
from ..types import (
    CallPart,
    FilePart,
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
from ._gemini_parts import JSON_SCHEMA
from ._names import WireFormat
from ._ordinary import Unusual, call_of, ordinary_message
from ._payload import Path
from ._pieces import Pieces, hashable, joined, merge, parse_member, shown
from ._reading import Reading, rest
from ._turns import TurnReader, from_base64, shortest
from ._writing import Wire, Writing, base64_text, numbered, result_parts, result_text, sent_arguments, system_text

_MODES: Final = {"auto": "auto", "none": "none", "required": "any", "named": "any"}
_CALL: Final = words("type id name arguments")
_TEXT: Final = words("type text")
_OUTPUT: Final = words("type content error")
_TYPE: Final = words("type")
# What of a stream's events about the whole is the whole's; and deltas that are of one kind of step only.
_ABOUT: Final = words("agent continuation_token created errors id model object service_tier status updated usage")
_NOT_OUTPUT: Final = words("thought_summary thought_signature text_annotation_delta")
_INPUT: Final = words("type content")
_RESULT: Final = words("type call_id name result is_error")
_PART: Final = words("type text data uri mime_type")
_MEDIA: Final = ("image", "audio", "video", "document")
# What it refuses is known from its types only.
_RULES: Final[dict[str, str | None]] = dict.fromkeys(
    (
        "history.orphan_call",
        "history.orphan_result",
        "history.duplicate_id",
        "history.duplicate_result",
        "history.missing_id",
        "history.illegal_name",
        "history.arguments_not_object",
    )
)


class GeminiInteractions(WireProvider):
    """Interactions."""

    wire = WireFormat.GEMINI_INTERACTIONS
    tool_names = NameRule("A-Za-z0-9_.:-", 64, "A-Za-z_")
    list_member = "steps"
    stream_ends_with = "interaction.completed, or [DONE]"
    cut_objects = True
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
        self.stop(payload, "status", (), reading)
        for key in ("id", "model"):
            if payload.get(key) is not None:
                reading.extra[key] = payload[key]
        reading.usage = payload.get("usage")
        steps = reading.list_at(payload, "steps", ())
        # A stored interaction is whole: what the caller sent, and calls that were answered, are among its steps.
        answered = {
            step["call_id"]
            for step in steps
            if type(step) is dict and step.get("type") == "function_result" and type(step.get("call_id")) is str
        }
        if reading.known:  # of a stream, which has told of its calls already
            answered = set()
        for number, item in enumerate(steps):
            path: Path = ("steps", number)
            step = item if type(item) is dict else reading.as_object(item, path)
            id = step.get("id") if answered else None
            if type(id) is str and id in answered and step.get("type") == "function_call":
                reading.opaque(step)
            elif reading.cut and step.get("type") == "function_call" and number == len(steps) - 1:
                # At the limit the last step may lack its end, and arguments that were cut off still are an object.
                reading.truncated_call(step.get("name"), path)
            else:
                self._step(step, path, reading)
        if payload.get("status") == "failed":
            errors = reading.list_at(payload, "errors", ())
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
            for number, item in enumerate(reading.list_at(step, "content", path)):
                part = reading.as_object(item, (*path, "content", number))
                if part.get("type") == "text":
                    extra = {**({"step": beside} if beside else {}), **(rest(part, _TEXT) or {})}
                    reading.text(reading.as_text(part.get("text"), (*path, "content", number, "text")), extra)
                elif part:
                    reading.opaque({"type": "model_output", "content": [part], **(beside or {})})
            if step.get("error") is not None:
                error = reading.object_at(step, "error", path)
                self._failed(error.get("message"), (*path, "error"), reading)
        elif type(kind) is str and kind.endswith("_call"):
            reading.server_call(
                step.get("name") or kind.removesuffix("_call"), step.get("arguments"), step.get("id"), step
            )
        elif step:
            reading.opaque(step)  # results of Google's own calls, what the caller sent, what is yet to come

    def read_ordinary(self, payload: dict[str, Any]) -> Message:
        reason, steps = payload["status"], payload["steps"]
        if type(reason) is not str or type(steps) is not list:
            raise Unusual
        parts: list[Part] = []
        calls: list[ToolCall] = []
        for step in steps:
            if type(step) is not dict or len(step) != 4 or step["type"] != "function_call":
                raise Unusual
            call = call_of(self._wire, len(calls), step["id"], step["name"], step["arguments"])
            calls.append(call)
            parts.append(CallPart(call, None, {}))
        extra = {"stop_reason": reason}
        for key in ("id", "model"):
            value = payload.get(key)
            if value is not None:
                extra[key] = value
        stop = self.stop_reasons.get(reason, "other")
        return ordinary_message(self._name, self._wire, parts, calls, "", "", stop, payload.get("usage"), extra)

    # -- stream

    def stream_event(self, event: dict[str, Any], into: Assembly) -> None:
        kind = event.get("event_type")
        index = hashable(event.get("index"))
        if kind == "step.delta":
            self._delta(into.as_object(event.get("delta"), ("delta",)), into.items.get(index), into)
        elif kind == "step.start":
            self._start(into.as_object(event.get("step"), ("step",)), index, into)
        elif kind == "step.stop":
            slot = into.slots.get(index)
            if slot is not None:  # whether the model was cut off in it, only the next event tells
                into.go_on()
                into.stopped(slot)
            elif index in into.items:
                parse_member(into.items[index], "arguments")
        elif kind == "interaction.status_update":
            into.payload.update({key: event[key] for key in ("status", "usage") if event.get(key) is not None})
        elif kind in ("interaction.created", "interaction.completed"):
            about = into.as_object(event.get("interaction"), ("interaction",))
            into.payload.update({key: value for key, value in about.items() if key in _ABOUT and value is not None})
            if kind == "interaction.completed":
                if not into.payload.get("steps"):  # none was streamed
                    at = ("interaction", "steps")
                    for number, step in enumerate(into.as_list(about.get("steps"), at)):
                        self._start(into.as_object(step, (*at, number)), None, into)
                into.stop(into.payload.get("status"))
                into.finish()
        elif kind == "error":
            into.refused({"message": "no more is said"})
        elif type(kind) is not str or not kind.startswith("interaction."):
            into.unknown(kind)

    def stream_close(self, into: Assembly) -> None:
        into.stop(into.payload.get("status"))  # [DONE] may come without interaction.completed

    def _start(self, step: dict[str, Any], index: Any, into: Assembly) -> None:
        calls = step.get("type") == "function_call"
        if into.late() or (calls and index is not None and into.repeated(index, step.get("id"))):
            return
        into.go_on()
        steps = into.payload.setdefault("steps", [])
        path: Path = ("steps", len(steps))
        into.items[index] = begun = joined(step)
        steps.append(begun)
        ids = into.state.setdefault("ids", set())
        if calls:
            ids.add(into.begin(index, begun, path, id=step.get("id"), name=step.get("name")).id)
            return
        for kind, key in (("model_output", "content"), ("thought", "summary")):
            if step.get("type") == kind and key in step:
                begun[key] = []
                for part in into.as_list(step[key], ("step", key)):
                    self._part_delta(into.as_object(part, ("step", key)), begun, key, into)
        if step.get("type") == "function_result" and hashable(step.get("call_id")) in ids:
            into.lost(path, "a call of this stream is answered in it")

    def _delta(self, delta: dict[str, Any], step: dict[str, Any] | None, into: Assembly) -> None:
        if into.late():
            return
        if step is None:
            into.lost(("index",), "a step that has not begun")
            return
        kind = hashable(delta.get("type"))
        about = step.get("type")
        slot = into.slot_of(step)
        if kind == "arguments_delta":
            piece = into.as_text(delta.get("arguments"), ("delta", "arguments"))
            if slot is not None and piece:
                if not slot.size:
                    step["arguments"] = slot.pieces  # what the start held was a default
                into.arguments(slot, piece)
            elif piece:  # of a call that Google runs
                if type(step.get("arguments")) is not Pieces:
                    step["arguments"] = Pieces()
                step["arguments"].append(piece)
        elif about == "thought" and kind == "thought_summary":
            self._part_delta(into.as_object(delta.get("content"), ("delta", "content")), step, "summary", into)
        elif about == "thought" and kind == "thought_signature":
            step["signature"] = delta.get("signature")
        elif about == "model_output" and kind == "text_annotation_delta" and step.get("content"):
            notes = into.as_list(delta.get("annotations"), ("delta", "annotations"))
            merge(step["content"][-1], "annotations", notes)
        elif about == "model_output" and kind not in _NOT_OUTPUT:
            self._part_delta(delta, step, "content", into)
        elif slot is not None or about in ("thought", "model_output") or kind in _NOT_OUTPUT:
            into.lost(("delta",), f"a delta of the type {shown(kind)} for a step of the type {shown(about)}")
        else:  # of what Google does
            for key, value in (rest(delta, _TYPE) or {}).items():
                if key != "result" or type(value) is not str:
                    merge(step, key, value)
                elif type(step.get(key)) is Pieces:
                    step[key].append(value)
                else:
                    step[key] = Pieces([value])

    def _part_delta(self, part: dict[str, Any], step: dict[str, Any], key: str, into: Assembly) -> None:
        """A part of content or of a summary; texts go on, whole they are one."""
        parts = step.setdefault(key, [])
        if part.get("type") != "text" and not (key == "summary" and part.get("text")):
            parts.append(joined(part))
            return
        last = parts[-1] if parts else {}
        if type(last.get("text")) is not Pieces:
            last = {**joined(part), "text": Pieces()}
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
                step["result"] = self._said(numbered(f"$[{number}]", parts), out)
            else:
                step["result"] = result.content if isinstance(result.content, dict) else text
            step["is_error"] = result.is_error
            steps.append({**step, **self.own(result.extra)})
        return out.as_list(steps)

    def write_assistant(self, message: Message, parts: list[tuple[str, Any]], out: Writing) -> Wire:
        steps: list[dict[str, Any]] = []
        for path, part in parts:
            own = self.own(part.extra)
            if isinstance(part, TextPart):
                beside = own.pop("step", {})
                _output({**beside, "content": [{"type": "text", "text": part.text, **own}]}, steps)
            elif isinstance(part, ReasoningPart):
                if "item" in own:
                    steps.append(own["item"])
                else:
                    out.lost("loss.reasoning", path, "reasoning of another provider")
            elif isinstance(part, OpaquePart):
                if part.data.get("type") == "model_output" and isinstance(part.data.get("content"), list):
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

    # -- history

    messages_member = "input"
    system_member = "system_instruction"
    text_alone = True
    interleaves = True
    stored_by = ("previous_interaction_id",)
    opaque_results = True
    rules = _RULES

    def runs(self, items: list[Any]) -> Iterator[int]:
        for together, run in groupby(items, lambda item: "model" if _by_model(item) else _is_content(item)):
            count = sum(1 for _ in run)
            yield from (count,) if together else (1,) * count

    def read_turn(self, items: list[Any], turns: TurnReader) -> None:
        step = items[0]
        kind = step.get("type") if isinstance(step, dict) else None
        if _by_model(step):
            turns.assistant({"steps": items}, ("steps",))
        elif _is_content(step):
            turns.user(shortest([turns.part(item, _read_part, _PART) for item in items]))
        elif kind == "user_input":
            content = turns.content(step.get("content"), ("content",), _read_part, _PART)
            turns.user(shortest(content), rest(step, _INPUT))
        elif kind == "function_result":
            result = step.get("result")
            if result is None or isinstance(result, list):
                result = turns.content(result, ("result",), _read_part, _PART)
            is_error = step.get("is_error") is True
            turns.result(step.get("call_id"), result, step.get("name"), is_error=is_error, extra=rest(step, _RESULT))
        else:
            turns.unknown(step)

    def read_request(self, request: dict[str, Any], turns: TurnReader) -> tuple[Any, Path]:
        items, at = super().read_request(request, turns)
        return [items] if isinstance(items, dict) else items, at

    def write_request(self, items: list[Any], system: Any) -> dict[str, Any]:
        if len({*map(_is_content, items)}) > 1:  # parts without a step around them stand by themselves only
            said = groupby(items, _is_content)
            items = [
                step
                for is_content, run in said
                for step in ([{"type": "user_input", "content": [*run]}] if is_content else run)
            ]
        return super().write_request(items, system)

    def read_system(self, value: Any, turns: TurnReader) -> None:
        turns.system(turns.content(value, (), _read_part, _PART))

    def write_system(self, turns: list[SystemMessage], out: Writing) -> Any:
        return system_text(turns, out)

    def write_user(self, content: str | list[tuple[str, UserPart]], extra: dict[str, Any], out: Writing) -> Any:
        said = [{"type": "text", "text": content}] if isinstance(content, str) else self._said(content, out)
        return {"type": "user_input", "content": said, **extra}

    def _said(self, parts: list[tuple[str, UserPart]], out: Writing) -> list[dict[str, Any]]:
        made = [_part(part, path, out, self.own(part.extra)) for path, part in parts]
        return [part for part in made if part is not None]


def _output(output: Mapping[str, Any], steps: list[dict[str, Any]]) -> None:
    """Add to what the model said: to the last step, if that is the same."""
    beside = {key: value for key, value in output.items() if key not in _OUTPUT}
    last = steps[-1] if steps else {}
    said = last.get("content") if last.get("type") == "model_output" else None
    if isinstance(said, list) and {k: v for k, v in last.items() if k not in _OUTPUT} == beside:
        steps[-1] = {**last, "content": [*said, *output["content"]]}
    else:
        steps.append({"type": "model_output", "content": list(output["content"]), **beside})


def _part(part: UserPart, path: str, out: Writing, own: dict[str, Any]) -> dict[str, Any] | None:
    """A part of a result or of what a user said; ``own`` is what goes beside it. None if there is none for it."""
    if isinstance(part, OpaquePart):
        return part.data  # type: ignore[no-any-return]
    if isinstance(part, TextPart):
        return {"type": "text", "text": part.text, **own}
    kind = part.media_type.partition("/")[0]
    kind = "image" if isinstance(part, ImagePart) else kind if kind in ("image", "audio", "video") else "document"
    if part.data is not None:
        return {"type": kind, "data": base64_text(part.data), "mime_type": part.media_type, **own}
    if part.url is not None:
        return {"type": kind, "uri": part.url, "mime_type": part.media_type, **own}
    out.lost("loss.part", path, "there is neither data nor an address")
    return None


def _read_part(part: dict[str, Any]) -> TextPart | ImagePart | FilePart | None:
    """A part as a part; None if it is of another kind, or does not say of which."""
    kind, told = part.get("type"), part.get("mime_type")
    if kind == "text" and isinstance(part.get("text"), str):
        return TextPart(part["text"])
    if kind not in _MEDIA or (kind != "image" and not isinstance(told, str)):
        return None
    made = ImagePart() if kind == "image" else FilePart()
    if isinstance(told, str):
        made.media_type = told
    if isinstance(part.get("uri"), str):
        made.url = part["uri"]
    else:
        made.data = from_base64(part.get("data"))
    return None if made.data is None and made.url is None else made


def _is_content(item: Any) -> bool:
    """Whether an item is a part of what a user said; a list may be nothing but those."""
    return isinstance(item, dict) and item.get("type") in ("text", *_MEDIA)


def _by_model(item: Any) -> bool:
    """Whether a step is one of the model's, or Google's for it."""
    kind = item.get("type") if isinstance(item, dict) else None
    return isinstance(kind, str) and kind not in ("user_input", "function_result") and not _is_content(item)


WIRE = GeminiInteractions
