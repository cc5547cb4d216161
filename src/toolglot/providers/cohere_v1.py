"""Cohere's chat, version 1, also as Bedrock's InvokeModel has it for Command R.

Calls have no ids: a result repeats its call, so results can only be written with the calls. Cannot carry: any choice
(``request`` leaves tools out where that helps), strict mode, schemas of nested objects but in words, an error flag on a
result (the output says it), images and files, reasoning.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final

from ..definition import Tool
from ..errors import ConversionError
from ..history import SystemMessage, UserPart
from ..schema.names import NameRule
from ..schema.subset import Subset, words
from ..types import CallPart, Message, StopReason, TextPart, ToolCall, ToolChoice, ToolResult, json_text
from ._assembly import Assembly
from ._base import NewReading, WireProvider
from ._names import WireFormat
from ._payload import Path
from ._pieces import Pieces, joined, merge, number_of
from ._reading import Reading, rest
from ._turns import TurnReader
from ._writing import Wire, WireObject, Writing, pop_beside, result_parts, result_text, sent_arguments, system_text

SCHEMA: Final = Subset(
    words("type description properties required items anyOf"), references="inline", root_unions=False
)
# A type is written as in Python.
_PYTHON: Final = {
    "string": "str",
    "integer": "int",
    "number": "float",
    "boolean": "bool",
    "array": "List",
    "object": "Dict",
    "null": "None",
}
_CALL: Final = words("name parameters")
_RESPONSE: Final = words("text message role tool_calls actions finish_reason meta chat_history prompt error")
_ACTION: Final = words("tool_name tool_input")
# What of the last event has come before it.
_STREAMED: Final = words("role message text tool_calls finish_reason")
_SAID: Final = words("role message")
_ANSWER: Final = words("role message tool_calls actions meta finish_reason")
_RESULT: Final = words("call outputs")
_RESULTS: Final = words("role tool_results")
_UNANSWERED: Final = (
    "invalid request: An assistant message with 'tool_calls' must be followed by tool messages responding to each "
    "'tool_call_id'. The following tool_call_ids did not have response messages: …"
)
_RULES: Final[dict[str, str | None]] = {
    "history.unknown_role": None,
    "history.orphan_call": _UNANSWERED,
    "history.results_not_adjacent": _UNANSWERED,
    "history.user_after_tool": "cannot specify message if the last entry in chat history contains tool results",
    "history.empty_message": "all elements in history must have a message.",
    "history.illegal_name": None,
    "history.arguments_not_object": None,
}
_IDS: Final = NameRule()


class _Member(dict[str, Any]):
    """A member of the request, which is a message that has no role yet."""


class CohereV1(WireProvider):
    """Chat, version 1."""

    wire = WireFormat.COHERE_V1
    tool_names = NameRule("A-Za-z0-9_", 64, "A-Za-z_")
    modes = frozenset({"auto"})
    limits_choice = False
    stream_ends_with = "stream-end"
    list_member = "tool_calls"
    stop_reasons: ClassVar[Mapping[str, StopReason]] = {
        "COMPLETE": "stop",
        "STOP_SEQUENCE": "stop",
        "MAX_TOKENS": "length",
        "ERROR_LIMIT": "length",
        "ERROR_TOXIC": "content_filter",
        "ERROR": "error",
        "TIMEOUT": "error",
    }

    # -- definition

    def write_tool(self, tool: Tool, name: str, path: str, out: Writing) -> dict[str, Any]:
        schema, _ = self.schema(tool, path, out, SCHEMA, None)
        required = schema.get("required", ())
        definitions = {}
        for key, member in schema["properties"].items():
            said = [member["description"]] if isinstance(member.get("description"), str) else []
            if _has_members(member):
                # Its members have no place; the model reads them.
                said.append(f"(JSON Schema: {json_text({k: v for k, v in member.items() if k != 'description'})})")
                out.lost("loss.schema_keyword", f"{path}.parameters.properties.{key}", "said in the description")
            definition: dict[str, Any] = {"description": " ".join(said)} if said else {}
            definitions[key] = {**definition, "type": _python_type(member), "required": key in required}
        parameters = {"parameter_definitions": definitions} if definitions else {}
        return {"name": name, "description": tool.description, **parameters, **self.own(tool.extra)}

    # -- choice

    def write_choice(self, choice: ToolChoice, named: list[Tool], out: Writing) -> dict[str, Any]:
        if choice.parallel is not None:
            out.lost("loss.parallel", "$.parallel", "Cohere does not take it")
        return {}

    # -- response

    def read(self, payload: dict[str, Any], new: NewReading) -> list[Reading]:
        reading = new()
        self.stop(payload, "finish_reason", (), reading)
        said = payload.get("message")
        if type(said) is str and "role" not in payload:  # all that there is of an error
            self.refused(said, reading, ("message",))
            reading.extra["error"] = payload
            return [reading]
        reading.keep(payload, _RESPONSE)
        reading.usage = payload.get("meta")
        key = "message" if "role" in payload else "text"  # in a history it has the other name
        reading.text(reading.text_at(payload, key, ()))
        self._calls(payload, (), reading)
        if key == "text":  # ToolCallParser has them there too
            self._calls(reading.as_object(said, ("message",)), ("message",), reading)
        for number, item in enumerate(reading.list_at(payload, "actions", ())):
            at: Path = ("actions", number)
            call = reading.as_object(item, at)
            if call:
                name, given = call.get("tool_name"), call.get("tool_input")
                reading.call(name, given, at, name_key="tool_name", key="tool_input", extra=rest(call, _ACTION))
        return [reading]

    def _calls(self, holder: dict[str, Any], path: Path, reading: Reading) -> None:
        for number, item in enumerate(reading.list_at(holder, "tool_calls", path)):
            at = (*path, "tool_calls", number)
            call = reading.as_object(item, at)
            if call:
                self.read_item(call, at, reading)

    def read_item(self, item: dict[str, Any], path: Path, reading: Reading) -> None:
        reading.call(item.get("name"), item.get("parameters"), path, key="parameters", extra=rest(item, _CALL))

    # -- stream

    def stream_event(self, event: dict[str, Any], into: Assembly) -> None:
        kind = event.get("event_type")
        payload = into.payload
        if kind == "text-generation":
            into.text(payload.setdefault("text", Pieces()), into.as_text(event.get("text"), ("text",)))
        elif kind == "tool-calls-chunk":
            # The plan comes as text beside the calls, and is the text of the whole answer.
            delta = into.as_object(event.get("tool_call_delta"), ("tool_call_delta",))
            said = event.get("text") if delta.get("text") is None else delta["text"]
            into.text(payload.setdefault("text", Pieces()), into.as_text(said, ("text",)))
            self._call_delta(delta, into)
        elif kind == "tool-calls-generation":
            self._all_text(event.get("text"), ("text",), into)
            self._all_calls(into.as_list(event.get("tool_calls"), ("tool_calls",)), into)
        elif kind == "citation-generation":
            if not into.late():
                merge(payload, "citations", into.as_list(event.get("citations"), ("citations",)))
        elif kind == "stream-start":
            payload["generation_id"] = event.get("generation_id")
        elif kind == "stream-end":
            response = into.as_object(event.get("response"), ("response",))
            payload["finish_reason"] = event.get("finish_reason") or response.get("finish_reason")
            into.stop(payload["finish_reason"])
            self._all_text(response.get("text"), ("response", "text"), into)
            self._all_calls(into.as_list(response.get("tool_calls"), ("response", "tool_calls")), into)
            payload.update({key: joined(value) for key, value in response.items() if key not in _STREAMED})
            into.finish()
        elif kind not in ("search-queries-generation", "search-results", "debug"):
            into.unknown(kind)

    def _call_delta(self, delta: dict[str, Any], into: Assembly) -> None:
        index = number_of(delta.get("index"))
        name = delta.get("name")
        if not name and delta.get("parameters") is None:
            return
        slot = into.slots.get(index)
        if slot is None:
            if into.late():
                return
            calls = into.payload.setdefault("tool_calls", [])
            call: dict[str, Any] = {"name": name}
            calls.append(call)
            slot = into.begin(index, call, ("tool_calls", len(calls) - 1), name=name)
            call["parameters"] = slot.pieces
        else:
            into.named(slot, None, name)
            slot.item["name"] = slot.name
        into.arguments(slot, into.as_text(delta.get("parameters"), ("tool_call_delta", "parameters")))

    def _all_text(self, text: Any, path: Path, into: Assembly) -> None:
        """The text once more, or for the first time."""
        pieces = into.payload.setdefault("text", Pieces())
        if not pieces:
            into.text(pieces, into.as_text(text, path))

    def _all_calls(self, calls: list[Any], into: Assembly) -> None:
        """The calls once more, whole: this is the sign that they are complete."""
        for slot in into.calls[: len(calls)]:
            call = into.as_object(calls[slot.index], ("tool_calls", slot.index))
            if not slot.ended and not slot.size and call.get("name") == slot.name:
                slot.item.update(call)  # nothing of its parameters was streamed
        into.end_calls()
        for number in range(len(into.calls), len(calls)):  # a server that does not send them in pieces
            call = into.as_object(calls[number], ("tool_calls", number))
            if not call or into.late():
                continue
            listed = into.payload.setdefault("tool_calls", [])
            call = dict(call)
            listed.append(call)
            into.whole(call, ("tool_calls", len(listed) - 1), name=call.get("name"))

    # -- result

    def write_results(self, results: list[tuple[ToolResult, ToolCall | None]], out: Writing) -> Wire:
        written = []
        beside: dict[str, Any] = {}
        for number, (result, call) in enumerate(results):
            own = self.own(result.extra)
            repeated = own.pop("call", None)
            beside |= pop_beside(own)
            if call is not None:
                repeated = {"name": self.name(call.name), "parameters": sent_arguments(call)}
            elif repeated is None:
                raise ConversionError("a result repeats its call; give the calls too", "conversion.missing_name")
            written.append({"call": repeated, "outputs": _outputs(result, f"$[{number}].content", out), **own})
        return out.as_object({"tool_results": written, **beside})

    def write_assistant(self, message: Message, parts: list[tuple[str, Any]], out: Writing) -> Wire:
        texts: list[str] = []
        calls: list[dict[str, Any]] = []
        for path, part in parts:
            if isinstance(part, TextPart):
                texts.append(part.text)
            elif isinstance(part, CallPart):
                call = part.call
                own = self.own(call.extra)
                calls.append({"name": self.name(call.name), "parameters": sent_arguments(call), **own})
            else:
                out.lost("loss.reasoning", path, "Cohere's first version has no reasoning")
        written: dict[str, Any] = {"role": "CHATBOT", "message": "".join(texts)}
        return out.as_object({**written, **({"tool_calls": calls} if calls else {})})

    # -- history

    messages_member = "chat_history"
    system_member = "preamble"
    error_flag = False
    forms = words("call")
    rules = _RULES
    roles = frozenset(("USER", "CHATBOT", "SYSTEM", "TOOL", None))

    def read_request(self, request: dict[str, Any], turns: TurnReader) -> tuple[Any, Path]:
        """The history; behind it stands what the model is to answer, in members of its own."""
        items, at = super().read_request(request, turns)
        last = [_Member({key: request[key]}) for key in ("tool_results", "message") if request.get(key)]
        before = items[-1] if isinstance(items, list) and items else None
        if (
            request.get("message") == ""
            and not last
            and not (isinstance(before, dict) and before.get("role") == "TOOL")
        ):
            last = [_Member({"message": ""})]  # behind results it is only the place of one
        if items is None and ("message" in request or last):
            items = []
        if not isinstance(items, list):
            return items, at
        for number, item in enumerate(items):
            self._read_one(item, (*at, number), turns)
        for item in last:
            self._read_one(item, (*item,), turns)
        return [], at

    def _read_one(self, item: Any, at: Path, turns: TurnReader) -> None:
        turns.begin([item], at)
        self.read_turn([item], turns)
        turns.end("items", [item])

    def read_turn(self, items: list[Any], turns: TurnReader) -> None:
        item = items[0]
        role = item.get("role") if isinstance(item, dict) else None
        if isinstance(item, _Member):
            role = "TOOL" if "tool_results" in item else "USER"
        if role == "CHATBOT":
            turns.assistant(item, (), rest(item, _ANSWER))
            # Calls have no ids, and results repeat their call: what both say makes one.
            made = turns.turns[-1]
            seen: dict[str, int] = {}
            for call in made.tool_calls if isinstance(made, Message) else ():
                call.id, call.id_synthesized = _id(call.name, call.arguments, seen), True
        elif role == "TOOL":
            self._read_results(item.get("tool_results"), rest(item, _RESULTS), turns)
        elif role in ("USER", "SYSTEM"):
            text = item.get("message")
            if text is not None and not isinstance(text, str):
                turns.lost(("message",), "expected a string")
            text = text if isinstance(text, str) else ""
            (turns.user if role == "USER" else turns.system)(text, rest(item, _SAID))
        else:
            turns.unknown(item)

    def _read_results(self, results: Any, beside: dict[str, Any] | None, turns: TurnReader) -> None:
        if not isinstance(results, list):
            turns.lost(("tool_results",), "expected a list")
            return
        seen: dict[str, int] = {}
        for number, result in enumerate(results):
            if not isinstance(result, dict):
                turns.lost(("tool_results", number), "expected an object")
                continue
            call = result.get("call")
            name = call.get("name") if isinstance(call, dict) else None
            given = call.get("parameters") if isinstance(call, dict) else None
            id = _id(name, given, seen) if isinstance(name, str) and isinstance(given, dict) else None
            extra = {**({"call": call} if isinstance(call, dict) else {}), **(rest(result, _RESULT) or {})}
            turns.result(id, _content(result.get("outputs")), name, extra=extra, beside=beside)

    def read_system(self, value: Any, turns: TurnReader) -> None:
        turns.system(turns.content(value, (), lambda part: None, frozenset()))

    def write_user(self, content: str | list[tuple[str, UserPart]], extra: dict[str, Any], out: Writing) -> Any:
        parts = [("$.content", TextPart(content))] if isinstance(content, str) else content
        for path, part in parts:
            if not isinstance(part, TextPart):
                out.lost("loss.part", path, "Cohere's first version takes nothing but text")
        text = "\n".join(part.text for _, part in parts if isinstance(part, TextPart))
        return _Member({"message": text, **extra})

    def write_system(self, turns: list[SystemMessage], out: Writing) -> Any:
        return system_text(turns, out)

    def write_request(self, items: list[Any], system: Any) -> dict[str, Any]:
        made = list(items)
        last: dict[str, Any] = {}
        for key in ("message", "tool_results"):
            if made and _is_member(made[-1]) and key in made[-1]:
                last |= made.pop()
        history = [
            {"role": "TOOL" if "tool_results" in item else "USER", **item} if _is_member(item) else item
            for item in made
        ]
        return {**super().write_request(history, system), **({"message": ""} if "tool_results" in last else {}), **last}


def _is_member(item: Any) -> bool:
    return isinstance(item, (_Member, WireObject)) and "role" not in item


def _id(name: str, parameters: dict[str, Any], seen: dict[str, int]) -> str:
    """An id for a call that has none; of calls that are the same, each in its turn."""
    try:
        said = f"{name}({json_text(parameters, sort_keys=True)})"
    except (TypeError, ValueError, RecursionError):  # what no JSON is
        said = f"{name}()"
    seen[said] = seen.get(said, 0) + 1
    return _IDS.fit(said if seen[said] == 1 else f"{said}#{seen[said]}")


def _content(outputs: Any) -> Any:
    """The content of a result: an object, several, or the text that one holds which `_outputs` made."""
    if not isinstance(outputs, list) or not outputs:
        return "" if outputs in (None, []) else outputs
    one = outputs[0]
    if len(outputs) > 1 or not isinstance(one, dict):
        return outputs
    return one["output"] if one.keys() == {"output"} and isinstance(one["output"], str) else one


def _python_type(schema: Mapping[str, Any]) -> str:
    """A schema's type, as Python writes it."""
    branches = schema.get("anyOf")
    if isinstance(branches, list):
        types = [_python_type(branch) for branch in branches]
    else:
        named = schema.get("type")
        types = [_PYTHON[name] for name in ([named] if isinstance(named, str) else named or ())]
        items = schema.get("items")
        if isinstance(items, Mapping) and "List" in types:
            inner = _python_type(items)
            types = [f"List[{inner}]" if name == "List" and inner != "Any" else name for name in types]
    types = list(dict.fromkeys(types))
    some = [name for name in types if name != "None"]
    if not some:
        return types[0] if types else "Any"
    made = some[0] if len(some) == 1 else f"Union[{', '.join(some)}]"
    return f"Optional[{made}]" if len(some) < len(types) else made


def _has_members(schema: Mapping[str, Any]) -> bool:
    """Whether an object somewhere in it has members."""
    branches = schema.get("anyOf")
    inner = [schema.get("items"), *(branches if isinstance(branches, (list, tuple)) else ())]
    return bool(schema.get("properties")) or any(_has_members(one) for one in inner if isinstance(one, Mapping))


def _outputs(result: ToolResult, path: str, out: Writing) -> list[dict[str, Any]]:
    """A result as a list of objects."""
    parts = result_parts(result)
    content = result.content
    if parts is not None:
        for place, part in enumerate(parts):
            if not isinstance(part, TextPart):
                out.lost("loss.part", f"{path}[{place}]", "Cohere takes no images and files in a result")
        content = "".join(part.text for part in parts if isinstance(part, TextPart))
    else:
        text = result_text(result)  # it has to be JSON in any case
        content = text if isinstance(content, tuple) else content
    if result.is_error and not isinstance(content, dict):
        said = content if isinstance(content, str) else json_text(content)
        if result.error_message and said in ("", "null", f"Error: {result.error_message}"):
            said = result.error_message
        return [{"error": said}]
    if isinstance(content, list) and content and all(isinstance(one, dict) for one in content):
        return content
    return [content if isinstance(content, dict) else {"output": content}]


WIRE = CohereV1
