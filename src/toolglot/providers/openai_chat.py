"""OpenAI's Chat Completions, and those who speak it: their deviations are data, in ``_dialects.py``.

Cannot carry: an error flag on a result (the text says it), images and files in a result (they follow in a user's
message), ids of more than 40 characters.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final

from ..definition import Tool
from ..schema.names import NameRule
from ..schema.subset import Subset, words
from ..types import (
    CallPart,
    FilePart,
    ImagePart,
    Message,
    ReasoningPart,
    StopReason,
    TextPart,
    ToolCall,
    ToolChoice,
    ToolResult,
)
from ._base import NewReading, WireProvider
from ._dialects import DIALECTS, Dialect
from ._names import Provider, WireFormat
from ._payload import Path
from ._reading import Reading, rest, with_inner
from ._writing import Wire, Writing, base64_text, data_url, result_parts, result_text

# What the API says of a function's schema without strict mode, and with it.
PLAIN: Final = Subset(bare_arrays=False, root_unions=False)
STRICT: Final = Subset(
    words(
        "type description title properties required additionalProperties items enum const anyOf $ref pattern "
        "format minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minItems maxItems"
    ),
    references="bare",
    untyped=False,
    bare_arrays=False,
    root_unions=False,
    closed=True,
    formats=words("date-time time date duration email hostname ipv4 ipv6 uuid"),
)
_REASONING: Final = ("reasoning_content", "reasoning")
_CALL: Final = words("id type function index custom")
FUNCTION: Final = words("name arguments")
_BARE: Final = words("id type index name arguments parameters")
_CUSTOM: Final = words("name input")
RESPONSE: Final = words("choices usage object created error message choice refusal stop_reason")
CHOICE: Final = words("index message delta finish_reason")
_READ: Final = words("role content tool_calls function_call refusal reasoning reasoning_content")


class OpenAIChat(WireProvider):
    """Chat Completions, in the dialect of whoever serves it."""

    wire = WireFormat.OPENAI_CHAT
    call_ids = NameRule("!-~", 40)
    list_member = "tool_calls"
    stop_reasons: ClassVar[Mapping[str, StopReason]] = {
        "stop": "stop",
        "tool_calls": "tool_calls",
        "function_call": "tool_calls",
        "length": "length",
        "content_filter": "content_filter",
    }

    def __init__(self, provider: Provider) -> None:
        super().__init__(provider)
        self.dialect = DIALECTS.get(provider, Dialect())
        self.limits_choice = self.dialect.allowed  # type: ignore[misc]

    # -- definition

    def write_tool(self, tool: Tool, name: str, path: str, out: Writing) -> dict[str, Any]:
        about = {"description": tool.description} if tool.description else {}
        if tool.kind == "custom" and self.dialect.custom:
            form = {k: v for own in tool.extra.values() for k, v in own.items() if k == "format"}
            return {"type": "custom", "custom": {"name": name, **about, **form}}
        if tool.kind == "custom":
            out.lost("loss.tool_kind", path, "free text; now a function with a string called input")
        schema, strict = self.schema(tool, path, out, PLAIN, STRICT if self.dialect.strict else None)
        function = {"name": name, **about, "parameters": schema, **({"strict": True} if strict else {})}
        return {"type": "function", "function": function, **self.own(tool.extra)}

    # -- choice

    def write_choice(self, choice: ToolChoice, named: list[Tool], out: Writing) -> dict[str, Any]:
        members: dict[str, Any] = {}
        kinds = ["custom" if tool.kind == "custom" and self.dialect.custom else "function" for tool in named]
        shells = [{"type": kind, kind: {"name": tool.name}} for kind, tool in zip(kinds, named, strict=True)]
        if choice.mode == "named" and len(shells) == 1:
            members["tool_choice"] = shells[0]
        elif shells:
            mode = "required" if choice.mode == "named" else choice.mode
            members["tool_choice"] = {"type": "allowed_tools", "allowed_tools": {"mode": mode, "tools": shells}}
        else:
            members["tool_choice"] = choice.mode
        if choice.parallel is not None and self.dialect.parallel:
            members["parallel_tool_calls"] = choice.parallel
        elif choice.parallel is not None:
            out.lost("loss.parallel", "$.parallel", f"{self.provider} does not take it")
        return members

    # -- response

    def read(self, payload: dict[str, Any], new: NewReading) -> list[Reading]:
        readings: list[Reading] = []
        first = new()
        choices = first.choices(payload.get("choices"), ("choices",))
        for number, item in enumerate(choices):
            reading = first if not readings else new()
            path: Path = ("choices", number)
            choice = reading.as_object(item, path)
            key = "message" if choice.get("message") is not None else "delta"
            self.stop(choice.get("finish_reason"), reading, *path, "finish_reason")
            self._message(reading.as_object(choice.get(key), (*path, key)), (*path, key), reading)
            beside = rest(choice, CHOICE)
            if beside is not None:
                reading.extra["choice"] = beside  # probabilities, what a filter found
                if beside.get("error") and isinstance(beside["error"], (str, dict)):  # OpenRouter's
                    self.refused(beside["error"], reading, (*path, "error"))
            readings.append(reading)
        if not choices:  # a message by itself
            path = ("message",) if isinstance(payload.get("message"), dict) else ()
            self._message(payload["message"] if path else payload, path, first)
            return [first]
        first.keep(payload, RESPONSE)
        about = {key: payload[key] for key in ("id", "model") if payload.get(key) is not None}
        for reading in readings:
            reading.usage = payload.get("usage")
            reading.extra.update(about)
        return readings

    def _message(self, message: dict[str, Any], path: Path, reading: Reading) -> None:
        get = message.get
        thought = None
        for key in _REASONING:
            if get(key):
                if thought is None:
                    thought = message[key]
                    reading.reasoning(reading.as_text(thought, (*path, key)), {"key": key})
                elif message[key] != thought:  # some say it under both names
                    reading.lost((*path, key), f"not what {_REASONING[0]} says")
        content = get("content")
        if type(content) is str:
            reading.text(content)
        elif content is not None:
            self._content(reading.as_list(content, (*path, "content")), (*path, "content"), reading)
        if get("refusal"):
            reading.extra["refusal"] = message["refusal"]
            reading.stop_reason = "content_filter"
        calls = get("tool_calls")
        if calls is not None:
            listed = [calls] if type(calls) is dict else reading.as_list(calls, (*path, "tool_calls"))
            for number, item in enumerate(listed):
                where = (*path, "tool_calls") if listed is not calls else (*path, "tool_calls", number)
                self._call(reading.as_object(item, where), where, reading)
        if get("function_call") is not None:
            where = (*path, "function_call")
            call = reading.as_object(message["function_call"], where)
            reading.call(
                call.get("name"), call.get("arguments"), where, extra={"function_call": rest(call, FUNCTION) or True}
            )
        extra = rest(message, _READ)
        if extra and (path or get("role") == "assistant"):
            reading.extra["message"] = extra  # annotations, audio, reasoning_details: some of it has to go back

    def _content(self, parts: list[Any], path: Path, reading: Reading) -> None:
        for number, item in enumerate(parts):
            part = reading.as_object(item, (*path, number))
            if part.get("type") in ("text", "refusal"):
                key = part["type"]
                reading.text(reading.as_text(part.get(key), (*path, number, key)))
            elif part:
                reading.opaque(part)

    def _call(self, item: dict[str, Any], path: Path, reading: Reading) -> None:
        if not item:
            return
        extra = rest(item, _CALL)
        custom = item.get("custom")
        if type(custom) is dict or (custom is not None and item.get("function") is None):
            at = (*path, "custom")
            custom = reading.as_object(custom, at)
            extra = with_inner(extra, "custom", custom, _CUSTOM)
            reading.custom(custom.get("name"), custom.get("input"), at, id=item.get("id"), extra=extra)
            return
        function = item.get("function")
        if function is None and "name" in item:  # without its envelope
            key = "parameters" if "arguments" not in item and "parameters" in item else "arguments"
            reading.call(item["name"], item.get(key), path, key=key, id=item.get("id"), extra=rest(item, _BARE))
            return
        at = (*path, "function")
        function = reading.as_object(function, at)
        kind = item.get("type")
        if type(kind) is str and kind.startswith("TOOL_CALL_TYPE_"):  # of xAI's own tools, which only its SDK shows
            reading.server_call(function.get("name"), function.get("arguments"), item.get("id"), item)
            return
        extra = with_inner(extra, "function", function, FUNCTION)
        reading.call(function.get("name"), function.get("arguments"), at, id=item.get("id"), extra=extra)

    # -- result

    def write_results(self, results: list[tuple[ToolResult, ToolCall | None]], out: Writing) -> Wire:
        messages: list[dict[str, Any]] = []
        moved: list[dict[str, Any]] = []
        for number, (result, call) in enumerate(results):
            id = self.result_id(result, call)
            parts = result_parts(result)
            content: Any = result_text(result) if parts is None else ""
            if parts and self.dialect.parts and not any(isinstance(part, FilePart) for part in parts):
                made = [
                    {"type": "text", "text": part.text} if isinstance(part, TextPart) else _media(part)
                    for part in parts
                ]
                if None not in made:
                    content, parts = made, None
            before = len(moved)
            for place, part in enumerate(parts or ()):
                if isinstance(part, TextPart):
                    content += part.text
                    continue
                written = _media(part) if self.dialect.files or isinstance(part, ImagePart) else None
                if written is None:
                    why = "an address only, or nothing" if self.dialect.files else "only images are taken"
                    out.lost("loss.part", f"$[{number}].content[{place}]", why)
                    continue
                moved += [{"type": "text", "text": f"From the result of tool call {id}:"}, written]
                out.lost("loss.moved", f"$[{number}].content[{place}]", "now in a user's message behind the results")
            if not content and len(moved) > before:
                content = "The result is in the user's message that follows."
            messages.append({"role": "tool", "tool_call_id": id, "content": content})
        return out.as_list([*messages, {"role": "user", "content": moved}] if moved else messages)

    def write_assistant(self, message: Message, parts: list[tuple[str, Any]], out: Writing) -> Wire:
        written: dict[str, Any] = {"role": "assistant", "content": None, **self._rest(message)}
        texts: list[str] = []
        opaque: list[dict[str, Any]] = []
        calls: list[dict[str, Any]] = []
        thoughts: dict[str, str] = {}
        for path, part in parts:
            if isinstance(part, TextPart):
                texts.append(part.text)
            elif isinstance(part, ReasoningPart):
                key = self.own(part.extra).get("key") if self.dialect.echo else None
                key = key or self.dialect.reasoning
                if key is None:
                    out.lost("loss.reasoning", path, f"{self.provider} does not take reasoning back")
                else:
                    thoughts[key] = thoughts.get(key, "") + part.text
            elif isinstance(part, CallPart) and part.call.kind == "server":
                out.lost("loss.part", path, "a call that the provider ran")
            elif isinstance(part, CallPart):
                calls += self._call_back(part.call, written)
            else:
                opaque.append(part.data)
        if opaque:
            written["content"] = [*({"type": "text", "text": text} for text in texts), *opaque]
        elif texts:
            written["content"] = "".join(texts)
        if calls:
            written["tool_calls"] = calls
        return out.as_object({**written, **thoughts})

    def _rest(self, message: Message) -> dict[str, Any]:
        own = self.own(message.extra)
        refusal = {"refusal": own["refusal"]} if "refusal" in own else {}
        beside = own.get("message")
        # `annotations` and the like are the answer's only; reasoning_details have to go back.
        kept = {k: v for k, v in beside.items() if k == "reasoning_details"} if isinstance(beside, dict) else {}
        return {**refusal, **kept}

    def _call_back(self, call: ToolCall, written: dict[str, Any]) -> list[dict[str, Any]]:
        extra = self.own(call.extra)
        legacy = extra.pop("function_call", None)
        if legacy and not call.id:  # the legacy form has no id
            own = legacy if isinstance(legacy, dict) else {}
            written["function_call"] = {"name": self.name(call.name), "arguments": call.arguments_json, **own}
            return []
        id = self.call_id(call.id, f"the call of {call.name!r}")
        if call.kind == "custom" and self.dialect.custom:
            custom = {"name": self.name(call.name), "input": call.input or ""}
            return [{"id": id, "type": "custom", **self.enveloped("custom", custom, extra)}]
        arguments = call.arguments_json
        if call.kind == "custom":
            arguments = ToolCall(call.name, {"input": call.input or ""}).arguments_json
        function = {"name": self.name(call.name), "arguments": arguments}
        return [{"id": id, "type": "function", **self.enveloped("function", function, extra)}]


def _media(part: ImagePart | FilePart) -> dict[str, Any] | None:
    """An image or file as a part of a user's message; None if it cannot be one."""
    if isinstance(part, ImagePart):
        url = data_url(part)
        detail = {"detail": part.detail} if part.detail else {}
        return None if url is None else {"type": "image_url", "image_url": {"url": url, **detail}}
    if part.id is not None:
        return {"type": "file", "file": {"file_id": part.id}}
    if part.data is None:
        return None
    data = f"data:{part.media_type};base64,{base64_text(part.data)}"
    return {"type": "file", "file": {"file_data": data, "filename": part.name or "file"}}


WIRE = OpenAIChat
