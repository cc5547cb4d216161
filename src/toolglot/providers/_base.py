"""`WireProvider`: what every wire format does alike. A format's file fills in five sections."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, Protocol, runtime_checkable

from ..definition import Tool, ToolSet
from ..errors import ConversionError, Fault
from ..schema.adapt import adapt
from ..schema.names import NameRule, Names
from ..schema.strict import adapt_strict
from ..schema.subset import Subset
from ..types import CallPart, Limits, Loss, Message, OpaquePart, Part, StopReason, ToolCall, ToolChoice, ToolResult
from ._history import Histories
from ._names import Provider, WireFormat
from ._ordinary import Unusual
from ._payload import Path, load
from ._pieces import shown
from ._reading import Reading
from ._told import fit_result
from ._writers import Writers
from ._writing import Wire, WireObject, Writing, message_parts, pair

if TYPE_CHECKING:
    from ._assembly import Assembly
    from ._stream import ProviderStream

__all__ = ["BODIES", "ToolCallParser", "WireProvider"]

OnError = Literal["raise", "collect", "repair"]
Ids = Literal["given", "synthesize"]
NewReading = Callable[[], Reading]
_ON_ERROR: Final = ("raise", "collect", "repair")
_IDS: Final = ("given", "synthesize")
_ERROR: Final = {"error"}
# What a reader may leave in a part's extra beside the API's own members.
_STRUCTURED: Final = {"item": dict, "part": dict, "step": dict, "entry": dict, "key": str}
_SAYS: Final = ("message", "Message", "code", "type", "status")
_SILENT: Final = frozenset({"error", "type", "object", "jsonrpc"})
# Where a response has what the model said.
BODIES: Final = frozenset({"choices", "output", "candidates", "content", "steps", "outputs", "message"})


@runtime_checkable
class ToolCallParser(Protocol):
    """What `get_provider` gives, and what a parser of one's own has to have to stand beside it."""

    @property
    def provider(self) -> Provider:
        """Whose payloads it reads."""
        ...

    def parse(self, response: Any) -> Message:
        """Everything about a response."""
        ...

    def can_parse(self, response: Any) -> bool:
        """Whether it is a response of this kind."""
        ...

    def has_tool_calls(self, response: Any) -> bool:
        """Whether there is a call in it."""
        ...

    def results(self, results: ToolResult | Sequence[ToolResult], calls: Sequence[ToolCall] | None = None) -> Any:
        """The results as the provider wants them."""
        ...


class WireProvider(Histories, Writers):
    """A provider's tool calling: definitions, choices, responses, results, histories; and answers in its place. Made by
    `get_provider`.

    Everything that is written is a plain dict or list with an attribute ``losses``, what it could not carry;
    ``strict=True`` makes a loss a `ConversionError`.
    """

    wire: ClassVar[WireFormat]
    # What tools and calls may be called. None: anything.
    tool_names: ClassVar[NameRule] = NameRule()
    call_ids: ClassVar[NameRule | None] = None
    # Which choices the API has a word for, and whether a choice can be limited to several tools.
    modes: ClassVar[frozenset[str]] = frozenset({"auto", "none", "required", "named"})
    limits_choice: ClassVar[bool] = True
    # What the reasons to stop mean; others are "other".
    stop_reasons: ClassVar[Mapping[str, StopReason]] = {}
    # What the API's own end of a stream is, in words.
    stream_ends_with: ClassVar[str] = "the API's last event"
    binary = False  # whether its stream travels in Amazon's binary messages
    # Whether each call of a stream has an end of its own: then one without it is open, even if others follow.
    ends_calls: ClassVar[bool] = False
    # A call's arguments are an object even where the output was cut off inside them.
    cut_objects: ClassVar[bool] = False
    # How a payload that is a list is read: as this member of an object.
    list_member: ClassVar[str] = "content"

    def __init__(self, provider: Provider) -> None:
        self.provider = provider
        self._name = provider.value
        self._wire = self.wire.value

    def __repr__(self) -> str:
        return f"get_provider({self.provider.value!r})"

    # -- definition

    def tools(self, tools: Any, *, strict: bool = False) -> WireObject:
        """The members of a request that declare ``tools``, which are anything that `Tool.from_any` reads."""
        out = Writing(strict)
        return out.as_object(self._tools(_read_tools(tools), out))

    def _tools(self, tools: list[Tool], out: Writing) -> dict[str, Any]:
        names = Names(self.tool_names, [tool.name for tool in tools])
        written = []
        for number, tool in enumerate(tools):
            path = f"$[{number}]"
            name = names.forth(tool.name)
            if tool.kind == "server":
                own = tool.extra.get(self.wire)
                if own is None:
                    out.lost("loss.tool_kind", path, f"{tool.name!r} is run by another provider; left out")
                else:
                    written.append(dict(own))
                continue
            if name != tool.name:
                out.lost("loss.name", path + ".name", f"{tool.name[:80]!r} is called {name!r} there")
            for wire, extra in tool.extra.items():
                foreign = set(extra) - ({"format"} if tool.kind == "custom" else set()) if wire != self.wire else ()
                for key in sorted(foreign):
                    out.lost("loss.tool_extra", f"{path}.extra.{wire}.{key}", f"for {wire} only")
            written.append(self.write_tool(tool, name, path, out))
        return self.write_tools(written) if written else {}

    def write_tool(self, tool: Tool, name: str, path: str, out: Writing) -> dict[str, Any]:
        """One definition; ``name`` is the legal one."""
        raise NotImplementedError

    def write_tools(self, tools: list[dict[str, Any]]) -> dict[str, Any]:
        """The member of the request that holds the definitions, of which there is at least one."""
        return {"tools": tools}

    def own(self, extra: Mapping[str, Any]) -> dict[str, Any]:
        """What of an ``extra`` belongs to this wire format."""
        found = extra.get(self.wire)
        return dict(found) if isinstance(found, Mapping) else {}

    def schema(
        self, tool: Tool, path: str, out: Writing, subset: Subset, closed: Subset | None
    ) -> tuple[dict[str, Any], bool]:
        """The tool's parameters as this API takes them, and whether they are strict."""
        if tool.kind == "custom":
            out.lost("loss.tool_kind", path, "free text; now a function with a string called input")
        path += ".parameters"
        if tool.strict and closed is not None:
            adapted, strict = adapt_strict(tool.parameters, closed, subset, path)
        else:
            adapted, strict = adapt(tool.parameters, subset, path), False
            if tool.strict:
                out.lost("loss.strict", path, f"{self.provider} has no strict mode")
        out.losses += adapted.losses
        return adapted.schema, strict

    # -- choice

    def tool_choice(self, choice: Any, *, strict: bool = False) -> WireObject:
        """The members of a request that say ``choice``, which is anything that `ToolChoice.from_any` reads."""
        out = Writing(strict)
        read = ToolChoice.from_any(choice)
        return out.as_object(self._choice(read, [Tool(name) for name in read.names], out))

    def _choice(self, choice: ToolChoice, tools: list[Tool], out: Writing) -> dict[str, Any]:
        limited = len(choice.names) > 1 or (choice.names and choice.mode != "named")
        if limited and not self.limits_choice:
            detail = "the choice cannot be limited to these tools; leave the others out, as request() does"
            out.lost("loss.tool_choice", "$.names", detail)
        if limited and not self.limits_choice:
            choice = ToolChoice("required" if choice.mode == "named" else choice.mode, (), choice.parallel)
        if choice.mode not in self.modes:
            detail = f"{self.provider} has no word for {choice.mode!r}"
            out.lost("loss.tool_choice", "$.mode", detail)
            choice = ToolChoice("auto", (), choice.parallel)
        names = Names(self.tool_names, [tool.name for tool in tools])
        named = [replace(tool, name=names.forth(tool.name)) for tool in tools if tool.name in choice.names]
        return self.write_choice(choice, named, out)

    def write_choice(self, choice: ToolChoice, named: list[Tool], out: Writing) -> dict[str, Any]:
        """The members of the request; ``choice.mode`` is one of ``modes``, the names of ``named`` are legal."""
        raise NotImplementedError

    def request(self, tools: Any, tool_choice: Any = None, *, strict: bool = False) -> WireObject:
        """The members of a request for tools and choice together.

        What the API has no word for is said by the tools that are sent: none of them for ``"none"``, only some for a
        choice that is limited.
        """
        out = Writing(strict)
        read = _read_tools(tools)
        choice = None if tool_choice is None else ToolChoice.from_any(tool_choice)
        if choice is not None:
            unknown = [name for name in choice.names if name not in {tool.name for tool in read}]
            if unknown:
                raise ConversionError(f"tool_choice names {unknown[0]!r}, which is not among the tools")
            if choice.mode == "none" and "none" not in self.modes:
                return out.as_object({})
            limited = len(choice.names) > 1 or (choice.names and choice.mode != "named")
            if (limited and not self.limits_choice) or (choice.names and "named" not in self.modes):
                read = [tool for tool in read if tool.name in choice.names]
                choice = ToolChoice("required" if choice.mode == "named" else choice.mode, (), choice.parallel)
        members = self._tools(read, out)
        if choice is not None and members:  # a choice without tools is refused
            members = _joined(members, self._choice(choice, read, out))
        return out.as_object(members)

    # -- response

    def parse(
        self,
        response: Any,
        *,
        on_error: OnError = "raise",
        ids: Ids = "given",
        tools: Any = None,
        text_format: str | None = None,
        validate: bool = False,
        coerce: bool = False,
    ) -> Message:
        """The message in ``response``: the first choice, if there are several.

        With ``tools``, those of the request, names and optional arguments are as the caller declared them.
        ``text_format``, ``validate`` and ``coerce``: as for `parse_response`.
        """
        payload, text = load(response)
        if tools is None and text_format is None and not validate and not coerce:
            found = self.ordinary(payload, on_error, ids)
            if found is not None:
                return found
        return self.read_first(payload, text, on_error, ids, tools, text_format, validate, coerce)

    def parse_all(
        self,
        response: Any,
        *,
        on_error: OnError = "raise",
        ids: Ids = "given",
        tools: Any = None,
        text_format: str | None = None,
        validate: bool = False,
        coerce: bool = False,
    ) -> list[Message]:
        """Every choice in ``response``."""
        found = self.read_all(*load(response), on_error, ids, tools, text_format, validate, coerce)
        return [checked(one, on_error) for one in found]

    def read_all(
        self,
        payload: Any,
        text: str | None,
        on_error: str,
        ids: str,
        tools: Any,
        text_format: str | None,
        validate: bool,
        coerce: bool,
    ) -> list[Message]:
        """Every choice of what `load` gave, with its errors."""
        if tools is None and text_format is None and not validate and not coerce:
            found = self.ordinary(payload, on_error, ids)
            if found is not None:
                return [found]
        return self._thoroughly(payload, text, on_error, ids, tools, text_format, validate, coerce)

    def read_first(
        self,
        payload: Any,
        text: str | None,
        on_error: str,
        ids: str,
        tools: Any,
        text_format: str | None,
        validate: bool,
        coerce: bool,
    ) -> Message:
        """The first choice of what `load` gave, with the others counted; its error is raised if errors are.

        For what `ordinary` does not read.
        """
        found, *others = self._thoroughly(payload, text, on_error, ids, tools, text_format, validate, coerce)
        if others:
            found.losses.append(Loss("loss.choice", "$", f"{len(others)} more; parse_responses reads them"))
        return checked(found, on_error)

    def _thoroughly(
        self,
        payload: Any,
        text: str | None,
        on_error: str,
        ids: str,
        tools: Any,
        text_format: str | None,
        validate: bool,
        coerce: bool,
    ) -> list[Message]:
        if on_error not in _ON_ERROR:
            raise ValueError(f"on_error: expected 'raise', 'collect' or 'repair', got {on_error!r}")
        if ids not in _IDS:
            raise ValueError(f"ids: expected 'given' or 'synthesize', got {ids!r}")
        declared = names = None
        if tools is not None:
            declared = ToolSet.of(tools)
            names = Names(self.tool_names, sorted(declared.names)) if declared is not None else None
        answers = _answers(payload)
        listed = type(payload) is list
        mends = on_error == "repair"
        new: NewReading = partial(
            Reading, self._wire, text, ids == "synthesize", declared, names, listed, {}, mends=mends
        )
        if validate or coerce:
            from ._checked import asking

            new = asking(new, declared, validate, coerce, mends)
        readings = (self.read(payload, new) or [new()]) if answers else self._odd(payload, new)
        messages = [reading.message(self._name) for reading in readings]
        first = messages[0]
        said = first.content or first.reasoning or first.tool_calls or first.errors or first.losses
        if payload and answers and not said and not self.can_parse(payload):
            first.losses.append(Loss("loss.unread", "$", f"this has not the shape of a response of {self._name}"))
        if text_format is not None:
            from ._inside import read_inside

            messages = [
                read_inside(message, text_format, ids, tools, on_error, validate, coerce) for message in messages
            ]
        return messages

    def ordinary(self, payload: Any, on_error: str, ids: str) -> Message | None:
        """The message in a response that is as nearly all are."""
        if on_error in _ON_ERROR and ids in _IDS and type(payload) is dict and payload.get("error") is None:
            if type(payload.get("message")) is str:
                return None
            try:
                found = self.read_ordinary(payload)
            except (Unusual, KeyError, Fault):
                return None
            if ids == "given" or all(call.id for call in found.tool_calls):
                return found
        return None

    def _odd(self, payload: Any, new: NewReading) -> list[Reading]:
        """What may be no response: an error, with or without what was said until then; a list; another value."""
        if type(payload) is list:
            from ._detect import are_definitions

            alone = payload[0] if len(payload) == 1 else None
            if type(alone) is dict and alone.keys() == _ERROR and alone["error"]:  # where a list of chunks was to come
                reading = new()
                self.refused(alone["error"], reading, (self.list_member, 0, "error"))
                return [reading]
            if are_definitions(payload):
                reading = new()
                reading.lost((), "definitions; Tool.from_any reads them")
                return [reading]
            payload = self.from_list(payload)
        if type(payload) is not dict:
            reading = new()
            if payload is not None:
                reading.lost((), "expected an object")
            return [reading]
        if "error" in payload and payload["error"] is not None and not isinstance(payload["error"], bool):
            # What was said until then is read as well.
            body = any(type(payload[key]) in (dict, list) and payload[key] for key in BODIES & payload.keys())
            readings = (self.read(payload, new) if body else None) or [new()]
            if not body:
                readings[0].keep(payload, _SILENT)  # the request's id
            if payload["error"] or not body:
                self.refused(payload["error"], readings[0])
            return readings
        if type(payload.get("message")) is str and payload.get("object") == "error":  # Mistral's, vLLM's
            reading = new()
            self.refused(payload["message"], reading, ("message",))
            reading.extra["error"] = payload
            return [reading]
        return self.read(payload, new) or [new()]

    def refused(self, error: Any, reading: Reading, path: Path = ("error",)) -> None:
        """An error instead of a response, or at the end of one: its text, or an object that says more."""
        inner = reading.as_object(error, path) if not isinstance(error, str) else {"message": error}
        reading.stop_reason = "error"
        reading.extra["error"] = error
        reading.error(self.error_text(inner), "provider.error_response", path)
        reading.errors.insert(0, reading.errors.pop())  # it is what is raised

    def error_text(self, error: dict[str, Any]) -> str:
        """What an error of the provider's is about."""
        said = next((error[key] for key in _SAYS if error.get(key) and isinstance(error[key], (str, int))), "")
        text = said[:450] if isinstance(said, str) else shown(said)
        return f"the provider answered with an error: {text or 'no more is said'}"

    def from_list(self, items: list[Any]) -> dict[str, Any]:
        """A payload that is a list, as the object that it is a part of."""
        return {self.list_member: items}

    def read(self, payload: dict[str, Any], new: NewReading) -> list[Reading]:
        """One `Reading` a choice."""
        raise NotImplementedError

    def read_ordinary(self, payload: dict[str, Any]) -> Message:
        """The message that `read` would give, if ``payload`` is as nearly all are; see `_ordinary`."""
        raise Unusual

    def stop(self, holder: dict[str, Any], key: str, path: Path, reading: Reading) -> None:
        """Note the reason to stop, the member ``key`` of what stands at ``path``, and whether it cut the output off."""
        raw = holder.get(key)
        if type(raw) is str:
            reading.extra["stop_reason"] = raw
            reading.stop_reason = stop = self.stop_reasons.get(raw, "other")
            reading.cut = stop == "length"
        elif raw is not None:
            reading.as_text(raw, (*path, key))

    def can_parse(self, response: Any) -> bool:
        """Whether ``response`` has the shape of this wire format. Never raises on a shape."""
        from ._detect import detect_provider

        return detect_provider(response).wire_format is self.wire

    def has_tool_calls(self, response: Any) -> bool:
        """Whether the model called a tool that the caller has to answer, broken calls included."""
        message = self.parse(response, on_error="collect")
        return bool(message.tool_calls) or any(error.call_index is not None for error in message.errors)

    # -- stream

    def stream(
        self,
        *,
        on_error: OnError = "raise",
        ids: Ids = "given",
        tools: Any = None,
        text_format: str | None = None,
        validate: bool = False,
        coerce: bool = False,
        limits: Limits | None = None,
    ) -> ProviderStream:
        """A reader of this API's stream. The options are those of `parse`."""
        from ._stream import ProviderStream

        if type(self).stream_event is WireProvider.stream_event:
            raise ConversionError(f"{self.provider} has no streams")
        return ProviderStream(
            self,
            on_error=on_error,
            ids=ids,
            tools=tools,
            text_format=text_format,
            validate=validate,
            coerce=coerce,
            limits=limits,
        )

    def stream_event(self, event: dict[str, Any], into: Assembly) -> None:
        """Put what an event brings in its place in ``into.payload``, which `read` can read at any time."""
        raise NotImplementedError

    def stream_close(self, into: Assembly) -> None:
        """Nothing more comes: decide what only a later event could have changed."""

    def read_item(self, item: dict[str, Any], path: Path, reading: Reading) -> None:
        """Read the object of one call, as `read` does when it comes to it."""
        raise NotImplementedError

    def frames(self, limit: int) -> Any:
        """What cuts the bytes of the response's body into events, each of at most ``limit`` bytes."""
        from ._frames import AwsFrames, Frames

        return AwsFrames(limit) if self.binary else Frames(limit)

    # -- result

    def results(
        self,
        results: ToolResult | Sequence[ToolResult],
        calls: Sequence[ToolCall] | Message | None = None,
        *,
        strict: bool = False,
    ) -> Wire:
        """The results as the API wants them, to be put behind the assistant's message.

        With ``calls`` they are in the calls' order and complete, and go back with what the provider sent beside the
        calls; a message stands for its calls.
        """
        out = Writing(strict)
        if isinstance(calls, Message):
            calls = calls.tool_calls
        pairs = pair(results, calls, out)
        fitting = [(fit_result(self, one, f"$[{place}]", out), call) for place, (one, call) in enumerate(pairs)]
        return self.write_results(fitting, out)

    def write_results(self, results: list[tuple[ToolResult, ToolCall | None]], out: Writing) -> Wire:
        """Each result, with its call if that is known."""
        raise NotImplementedError

    def assistant(self, message: Message, *, strict: bool = False) -> Wire:
        """The assistant's own message again, as the API wants it in a history: what it sent beside text and calls
        included.
        """
        out = Writing(strict)
        for number, error in enumerate(message.errors):
            if error.call_index is not None:
                out.lost("loss.part", f"$.errors[{number}]", "a broken call: send back what the provider sent")
        return self._assistant(message, out)

    def _assistant(self, message: Message, out: Writing) -> Wire:
        parts = []
        for number, part in enumerate(message_parts(message)):
            path, own = f"$.parts[{number}]", self.own(part.extra)
            if isinstance(part, OpaquePart) and (self.wire not in part.extra or not isinstance(part.data, dict)):
                out.lost("loss.part", path, "something that only another provider can read")
            elif isinstance(part, CallPart) and part.call.kind == "server" and not isinstance(own.get("item"), dict):
                out.lost("loss.part", path, "a call that another provider ran")
            else:
                parts.append((path, self._as_read(part, own, path, out)))
        return self.write_assistant(message, parts, out)

    def _as_read(self, part: Part, own: dict[str, Any], path: str, out: Writing) -> Part:
        """``part`` without what of its ``own`` extra no reader left there: whoever wrote it by hand, or a pickle."""
        forged = [key for key, kind in _STRUCTURED.items() if key in own and not isinstance(own[key], kind)]
        for key in forged:
            out.lost("loss.extra", f"{path}.extra.{self.wire}.{key}", "not as the API sends it")
            del own[key]
        return replace(part, extra={**part.extra, self.wire: own}) if forged else part

    def write_assistant(self, message: Message, parts: list[tuple[str, Any]], out: Writing) -> Wire:
        """The message; each of ``parts`` can be written here, and comes with its path."""
        raise NotImplementedError

    def call_id(self, id: str | None, what: str) -> str:
        """An id that the API takes, the same for a call and its result."""
        if not id:
            raise ConversionError(f"{what} has no id, which {self.provider} needs", "conversion.missing_id")
        return id if self.call_ids is None else self.call_ids.fit(id)

    def result_id(self, result: ToolResult, call: ToolCall | None) -> str:
        """The id of the call that a result answers."""
        id = call.id if call is not None else result.tool_call_id
        return self.call_id(id, f"the result of {(call.name if call is not None else result.tool_name)!r}")

    def enveloped(self, key: str, body: dict[str, Any], extra: dict[str, Any]) -> dict[str, Any]:
        """``{key: body}`` with a call's ``extra``, each at its place; the inverse of `with_inner`."""
        inner = extra.pop(key, None)
        return {key: {**body, **inner} if isinstance(inner, dict) else body, **extra}

    def name(self, name: str) -> str:
        """What the tool is called there."""
        return self.tool_names.fit(name)


def _read_tools(tools: Any) -> list[Tool]:
    from ..definition.reading import read_tools

    return [] if tools is None else read_tools(tools)


def _joined(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """Both members of a request; objects of the same name (Bedrock's ``toolConfig``) become one."""
    joined = dict(one)
    for key, value in other.items():
        known = joined.get(key)
        joined[key] = {**known, **value} if isinstance(known, dict) and isinstance(value, dict) else value
    return joined


def _answers(payload: Any) -> bool:
    """Whether it is what a model said, and no error instead."""
    return type(payload) is dict and payload.get("error") is None and type(payload.get("message")) is not str


def checked(message: Message, on_error: str) -> Message:
    """``message``, unless it has errors and they are to be raised."""
    if message.errors and on_error == "raise":
        error = message.errors[0]
        error.message = message
        raise error
    return message
