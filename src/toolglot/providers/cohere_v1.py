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
from ..schema.names import NameRule
from ..schema.subset import Subset, words
from ..types import CallPart, Message, StopReason, TextPart, ToolCall, ToolChoice, ToolResult, json_text
from ._assembly import Assembly
from ._base import NewReading, WireProvider
from ._names import WireFormat
from ._payload import Path
from ._pieces import Pieces, merge, number_of
from ._reading import Reading, rest
from ._writing import Wire, Writing, result_parts, result_text, sent_arguments

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
        self.stop(payload.get("finish_reason"), reading, "finish_reason")
        said = payload.get("message")
        if type(said) is str and "role" not in payload:  # all that there is of an error
            self.refused(said, reading, ("message",))
            reading.extra["error"] = payload
            return [reading]
        reading.keep(payload, _RESPONSE)
        reading.usage = payload.get("meta")
        key = "message" if "role" in payload else "text"  # in a history it has the other name
        reading.text(reading.as_text(payload.get(key), (key,)))
        self._calls(payload, (), reading)
        if key == "text":  # ToolCallParser has them there too
            self._calls(reading.as_object(said, ("message",)), ("message",), reading)
        for number, item in enumerate(reading.as_list(payload.get("actions"), ("actions",))):
            at: Path = ("actions", number)
            call = reading.as_object(item, at)
            if call:
                name, given = call.get("tool_name"), call.get("tool_input")
                reading.call(name, given, at, name_key="tool_name", key="tool_input", extra=rest(call, _ACTION))
        return [reading]

    def _calls(self, holder: dict[str, Any], path: Path, reading: Reading) -> None:
        for number, item in enumerate(reading.as_list(holder.get("tool_calls"), (*path, "tool_calls"))):
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
            self._all_calls(into.as_list(event.get("tool_calls"), ("tool_calls",)), into)
        elif kind == "citation-generation":
            merge(payload, "citations", into.as_list(event.get("citations"), ("citations",)))
        elif kind == "stream-start":
            payload["generation_id"] = event.get("generation_id")
        elif kind == "stream-end":
            response = into.as_object(event.get("response"), ("response",))
            self._all_calls(into.as_list(response.get("tool_calls"), ("response", "tool_calls")), into)
            known = {"text", "tool_calls"} & payload.keys()  # which the events have given already
            payload.update({key: value for key, value in response.items() if key not in known})
            payload["finish_reason"] = event.get("finish_reason") or response.get("finish_reason")
            into.stop(payload["finish_reason"])
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

    def _all_calls(self, calls: list[Any], into: Assembly) -> None:
        """The calls once more, whole: this is the sign that they are complete."""
        into.end_calls()
        for number in range(len(into.calls), len(calls)):  # a server that does not send them in pieces
            call = into.as_object(calls[number], ("tool_calls", number))
            listed = into.payload.setdefault("tool_calls", [])
            listed.append(call)
            into.whole(call, ("tool_calls", len(listed) - 1), name=call.get("name"))

    # -- result

    def write_results(self, results: list[tuple[ToolResult, ToolCall | None]], out: Writing) -> Wire:
        written = []
        for number, (result, call) in enumerate(results):
            if call is None:
                raise ConversionError("a result repeats its call; give the calls too", "conversion.missing_name")
            repeated = {"name": self.name(call.name), "parameters": sent_arguments(call)}
            written.append({"call": repeated, "outputs": _outputs(result, f"$[{number}].content", out)})
        return out.as_object({"tool_results": written})

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
        return [{"error": result.error_message or (content if isinstance(content, str) else json_text(content))}]
    if isinstance(content, list) and content and all(isinstance(one, dict) for one in content):
        return content
    return [content if isinstance(content, dict) else {"output": content}]


WIRE = CohereV1
