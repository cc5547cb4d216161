"""OpenAI's Chat Completions, and those who speak it: their deviations are data, in ``_dialects.py``.

Cannot carry: an error flag on a result (the text says it), images and files in a result (they follow in a user's
message), ids of more than 40 characters.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final

from ..definition import Tool
from ..history import SystemMessage, Turns, UserPart
from ..schema.names import NameRule
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
)
from ._base import NewReading
from ._chunks import CALL, CHOICE, CUSTOM, FUNCTION, REASONING, RESPONSE, SERVER, ChunkStream
from ._dialects import DIALECTS, Dialect
from ._history import Report
from ._names import Provider, WireFormat
from ._openai_parts import PART, RULES, media_part, read_part, user_part
from ._ordinary import Unusual, enveloped, keep, only, ordinary_message, text_of
from ._payload import Path
from ._reading import Reading, rest, with_inner
from ._turns import SOURCE, TurnReader
from ._writing import Wire, Writing, result_parts, result_text, sent_text

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
_BARE: Final = words("id type index name arguments parameters")
_READ: Final = words("role content tool_calls function_call refusal reasoning reasoning_content")
_PARTS: Final = words("type text refusal")
_RESULTS: Final = ("tool", "function")  # the second is of the legacy form, and goes by the name
_ROLES: Final = ("system", "developer", "user", *_RESULTS)
_SAID: Final = words("role content")
_RESULT: Final = words("role content tool_call_id name")


class OpenAIChat(ChunkStream):
    """Chat Completions, in the dialect of whoever serves it."""

    wire = WireFormat.OPENAI_CHAT
    writer_module = "_write_chunks"
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
        self.custom_calls = self.dialect.custom
        self.rules = {**RULES, **self.dialect.rules}
        # Whoever serves other models may take what their templates know.
        self.roles = frozenset(("assistant", *_ROLES)) if self.dialect.developer else None

    # -- definition

    def write_tool(self, tool: Tool, name: str, path: str, out: Writing) -> dict[str, Any]:
        about = {"description": tool.description} if tool.description else {}
        if tool.kind == "custom" and self.dialect.custom:
            form = {k: v for own in tool.extra.values() for k, v in own.items() if k == "format"}
            return {"type": "custom", "custom": {"name": name, **about, **form}}
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
            choice = item if type(item) is dict else reading.as_object(item, path)
            key = "message" if choice.get("message") is not None else "delta"
            self.stop(choice, "finish_reason", path, reading)
            message = choice.get(key)
            where = (*path, key)
            self._message(message if type(message) is dict else reading.as_object(message, where), where, reading)
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
        usage, id, model = payload.get("usage"), payload.get("id"), payload.get("model")
        for reading in readings:
            reading.usage = usage
            if id is not None:
                reading.extra["id"] = id
            if model is not None:
                reading.extra["model"] = model
        return readings

    def _message(self, message: dict[str, Any], path: Path, reading: Reading) -> None:
        get = message.get
        thought = None
        for key in REASONING:
            if get(key):
                if thought is None:
                    thought = message[key]
                    reading.reasoning(reading.as_text(thought, (*path, key)), {"key": key})
                elif message[key] != thought:  # some say it under both names
                    reading.lost((*path, key), f"not what {REASONING[0]} says")
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
                self._call(item if type(item) is dict else reading.as_object(item, where), where, reading)
        if get("function_call") is not None:
            where = (*path, "function_call")
            self._function_call(reading.as_object(message["function_call"], where), where, reading)
        extra = rest(message, _READ)
        if extra and (path or get("role") == "assistant"):
            reading.extra["message"] = extra  # annotations, audio, reasoning_details: some of it has to go back

    def _function_call(self, call: dict[str, Any], path: Path, reading: Reading) -> None:
        extra = {"function_call": rest(call, FUNCTION) or True}
        reading.call(call.get("name"), call.get("arguments"), path, extra=extra)

    def _content(self, parts: list[Any], path: Path, reading: Reading) -> None:
        for number, item in enumerate(parts):
            part = reading.as_object(item, (*path, number))
            if part.get("type") in ("text", "refusal"):
                key = part["type"]
                reading.text(reading.as_text(part.get(key), (*path, number, key)), rest(part, _PARTS))
            elif part:
                reading.opaque(part)

    def _call(self, item: dict[str, Any], path: Path, reading: Reading) -> None:
        if not item:
            return
        custom = item.get("custom")
        if type(custom) is dict or (custom is not None and item.get("function") is None):
            at = (*path, "custom")
            custom = reading.as_object(custom, at)
            extra = with_inner(rest(item, CALL), "custom", custom, CUSTOM)
            reading.custom(custom.get("name"), custom.get("input"), at, id=item.get("id"), extra=extra)
            return
        function = item.get("function")
        if function is None and "name" in item:  # without its envelope
            key = "parameters" if "arguments" not in item and "parameters" in item else "arguments"
            reading.call(item["name"], item.get(key), path, key=key, id=item.get("id"), extra=rest(item, _BARE))
            return
        kind = item.get("type")
        if kind != "function" and type(kind) is str and kind.startswith(SERVER):
            function = reading.object_at(item, "function", path)
            reading.server_call(function.get("name"), function.get("arguments"), item.get("id"), item)
        else:
            reading.enveloped_call(item, path, CALL, FUNCTION, id=item.get("id"))

    def read_ordinary(self, payload: dict[str, Any]) -> Message:
        choice = only(payload["choices"])
        said, reason = choice["message"], choice["finish_reason"]
        if type(said) is not dict or type(reason) is not str:
            raise Unusual
        get = said.get
        if get("refusal") or get("function_call") is not None or get("reasoning") or get("reasoning_content"):
            raise Unusual
        parts: list[Part] = []
        text = text_of(said, "content")
        if text:
            parts.append(TextPart(text, None, {}))
        calls = enveloped(self._wire, get("tool_calls"), CALL, FUNCTION, parts)
        extra: dict[str, Any] = {"stop_reason": reason}
        beside = rest(said, _READ)
        if beside is not None:
            extra["message"] = beside
        beside = rest(choice, CHOICE)
        if beside is not None:
            extra["choice"] = beside
            if beside.get("error"):
                raise Unusual
        keep(payload, RESPONSE, extra)
        stop = self.stop_reasons.get(reason, "other")
        return ordinary_message(self._name, self._wire, parts, calls, text, "", stop, payload.get("usage"), extra)

    # -- stream

    # In `ChunkStream`, which `Mistral` shares.

    def read_item(self, item: dict[str, Any], path: Path, reading: Reading) -> None:
        if path[-1] == "function_call":
            self._function_call(item, path, reading)
        else:
            self._call(item, path, reading)

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
                    {"type": "text", "text": part.text} if isinstance(part, TextPart) else media_part(part)
                    for part in parts
                ]
                if None not in made:
                    content, parts = made, None
            before = len(moved)
            for place, part in enumerate(parts or ()):
                if isinstance(part, TextPart):
                    content += part.text
                    continue
                written = media_part(part) if self.dialect.files or not isinstance(part, FilePart) else None
                if written is None:
                    why = "an address only, or nothing" if self.dialect.files else "only images are taken"
                    out.lost("loss.part", f"$[{number}].content[{place}]", why)
                    continue
                moved += [{"type": "text", "text": f"From the result of tool call {id}:"}, written]
                out.lost("loss.moved", f"$[{number}].content[{place}]", "now in a user's message behind the results")
            if not content and len(moved) > before:
                content = "The result is in the user's message that follows."
            own = {key: value for key, value in self.own(result.extra).items() if key not in self.forms}
            messages.append({"role": "tool", "tool_call_id": id, "content": content, **own})
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
        kept = beside if isinstance(beside, dict) else {}
        if SOURCE not in message.extra:
            # Of an answer; `annotations` and the like are its only, reasoning_details have to go back.
            kept = {key: value for key, value in kept.items() if key == "reasoning_details"}
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
        arguments = sent_text(call)
        function = {"name": self.name(call.name), "arguments": arguments}
        return [{"id": id, "type": "function", **self.enveloped("function", function, extra)}]

    # -- history

    error_flag = False
    image_detail = True
    forms = words("key function_call role")

    def read_turn(self, items: list[Any], turns: TurnReader) -> None:
        message = items[0]
        role = message.get("role") if isinstance(message, dict) else None
        if role == "assistant":
            turns.assistant({"message": message}, ("message",))
            return
        if role not in _ROLES:
            turns.unknown(message)
            return
        content = turns.content(message.get("content"), ("content",), read_part, PART)
        extra = rest(message, _RESULT if role in _RESULTS else _SAID) or {}
        if role in _RESULTS:
            extra |= {"function_call": True} if role == "function" else {}
            turns.result(message.get("tool_call_id"), content, message.get("name"), extra=extra)
        elif role == "user":
            turns.user(content, extra)
        else:
            turns.system(content, {**extra, "role": role} if role != "system" else extra)

    def write_user(self, content: str | list[tuple[str, UserPart]], extra: dict[str, Any], out: Writing) -> Any:
        return {"role": "user", "content": self._said(content, out), **extra}

    def write_system(self, turns: list[SystemMessage], out: Writing) -> Any:
        (turn,) = turns
        extra = self.own(turn.extra)
        role = extra.pop("role", "system") if self.dialect.developer else "system"
        content = turn.content
        if not isinstance(content, str):
            content = self._said([(f"$.content[{place}]", part) for place, part in enumerate(content)], out)
        return {"role": role, "content": content, **extra}

    def _said(self, content: str | list[tuple[str, UserPart]], out: Writing) -> Any:
        if isinstance(content, str):
            return content
        written = []
        for path, part in content:
            takes = self.dialect.files or not isinstance(part, FilePart)
            made = user_part(part, self.own(part.extra)) if takes else None
            if made is None:
                out.lost("loss.part", path, f"{self.provider} does not take such a file")
            else:
                written.append(made)
        return written

    def wants_id(self, one: ToolCall | ToolResult) -> bool:
        return not self.own(one.extra).get("function_call")

    def check(self, turns: Turns, report: Report) -> None:
        messages = [(number, turn) for number, turn in enumerate(turns) if isinstance(turn, Message)]
        if any(turn.reasoning for _, turn in messages):  # so the model is a thinking one
            for number, turn in messages:
                if turn.tool_calls and turn.reasoning is None:
                    report("history.reasoning_missing", number, "calls without their reasoning_content")


WIRE = OpenAIChat
