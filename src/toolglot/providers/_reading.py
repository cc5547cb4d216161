"""`Reading`: one message while it is read from a payload. Every wire format fills in the same one."""

from __future__ import annotations

from collections.abc import Mapping
from os import urandom
from typing import TYPE_CHECKING, Any, Final

from ..definition import Tool, ToolSet
from ..errors import Fault, LimitError, ParseError, TruncatedError
from ..schema.coerce import holds_json
from ..schema.names import Names
from ..schema.strict import drop_forced_nulls
from ..types import (
    CallKind,
    CallPart,
    Limits,
    Loss,
    Message,
    OpaquePart,
    Part,
    ReasoningPart,
    Repair,
    StopReason,
    TextPart,
    ToolCall,
)
from ..values.json import loads
from ..values.literal import complete_members
from ._payload import Path, error_at, json_path, sdk_object

if TYPE_CHECKING:
    from ._checked import Asked

__all__ = ["Reading", "id_text", "rest", "with_inner"]

_NAMES: Final = {
    dict: "an object",
    list: "a list",
    str: "a string",
    bool: "a boolean",
    int: "a number",
    float: "a number",
    type(None): "null",
}
_LIMITS: Final = Limits()
_MAX_CALLS: Final = _LIMITS.calls
_MAX_NAME: Final = _LIMITS.name
_MAX_LOSSES: Final = 1000
_NONE: Final[frozenset[int]] = frozenset()
_NOTHING: Final[Mapping[int, Any]] = {}
# Members of a call that hold its name and arguments, but not its id.
_ENVELOPES: Final = (("function",), ("custom",))


def id_text(id: Any) -> str | None:
    """A call's id as text, which some servers give as a number; one that cannot be written is none."""
    if type(id) is int:
        return str(id) if id.bit_length() < 4096 else None
    return id if type(id) is str and id else None


def rest(item: dict[str, Any], known: frozenset[str]) -> dict[str, Any] | None:
    """What ``item`` holds besides ``known`` members and nulls: its provider wants it back."""
    if known.issuperset(item):  # as nearly always
        return None
    found = None
    for key, value in item.items():
        if key not in known and value is not None:
            if found is None:
                found = {}
            found[key] = value
    return found


def with_inner(extra: dict[str, Any] | None, key: str, inner: dict[str, Any], known: frozenset[str]) -> Any:
    """``extra`` with what a call's member ``key``, the object ``inner``, has besides ``known``: a signature, maybe."""
    found = rest(inner, known)
    return extra if found is None else {**(extra or {}), key: found}


class Reading:
    """What has been read of one message.

    ``wire`` names the wire format: what a part brings along for its own provider stands in ``extra[wire]``. ``cut``
    says that the output was cut off, so that a call that ends too early is a truncated one. ``listed``: the payload
    is a list, which was made the only member of an object.
    """

    __slots__ = (
        "_asked",
        "_attempts",
        "_id",
        "_listed",
        "_marks",
        "_mends",
        "_names",
        "_synthesize",
        "_text",
        "_tools",
        "_unsure",
        "cut",
        "errors",
        "extra",
        "known",
        "known_repairs",
        "losses",
        "made_ids",
        "open",
        "parts",
        "repairs",
        "stop_reason",
        "usage",
        "wire",
    )

    def __init__(
        self,
        wire: str,
        text: str | None,
        synthesize: bool,
        tools: ToolSet | None,
        names: Names | None,
        listed: bool = False,
        marks: dict[Any, Any] | None = None,
        asked: Asked | None = None,
        mends: bool = False,
    ) -> None:
        self.wire = wire
        self.cut = False
        self.errors: list[ParseError] = []
        self.repairs: list[Repair] = []
        self.losses: list[Loss] = []
        self.parts: list[Part] = []
        self.extra: dict[str, Any] = {}
        self.stop_reason: StopReason | None = None
        self.usage: Any = None
        # Of a stream: what came of its calls, and the ids that were made for them, by the calls' ordinals.
        self.known: Mapping[int, CallPart | ParseError] = _NOTHING
        self.made_ids: Mapping[int, str] = _NOTHING
        self.open: frozenset[int] = _NONE  # ordinals of the calls that are not read yet
        self.known_repairs: Mapping[int, list[Repair]] = _NOTHING
        self._attempts = 0
        self._id: Any = None  # what stands for the id of the call that was attempted last
        # The last call, if a cut behind it does not show: its arguments are blank, or its input is free text.
        self._unsure: tuple[int, str, Path] | None = None
        self._listed = listed
        self._marks = marks
        self._mends = mends
        self._text = text
        self._synthesize = synthesize
        self._tools = tools
        self._names = names
        self._asked = asked

    # -- looking at the payload: at a value, or at the member ``key`` of an object at ``path``

    def object_at(self, holder: dict[str, Any], key: str, path: Path) -> dict[str, Any]:
        """The member if it is an object, nothing if it is null; else it is noted and left out."""
        value = holder.get(key)
        return value if type(value) is dict else self.as_object(value, (*path, key))

    def list_at(self, holder: dict[str, Any], key: str, path: Path) -> list[Any]:
        """The same for a list."""
        value = holder.get(key)
        return value if type(value) is list else self.as_list(value, (*path, key))

    def text_at(self, holder: dict[str, Any], key: str, path: Path) -> str:
        """The same for a string."""
        value = holder.get(key)
        return value if type(value) is str else self.as_text(value, (*path, key))

    def as_object(self, value: Any, path: Path) -> dict[str, Any]:
        """``value`` if it is an object (or an SDK's), nothing if it is null; else it is noted and left out."""
        if type(value) is dict:
            return value
        if value is None:
            return {}
        return sdk_object(value) or self._unexpected(value, path, "an object", {})

    def as_list(self, value: Any, path: Path) -> list[Any]:
        """``value`` if it is a list, nothing if it is null; else it is noted and left out."""
        if type(value) is list:
            return value
        if value is None:
            return []
        if isinstance(value, (list, tuple)):
            return list(value)
        self._unexpected(value, path, "a list", None)
        return []

    def choices(self, value: Any, path: Path) -> list[Any]:
        """The list of choices, of which there is a limit as of calls."""
        found = value if type(value) is list else self.as_list(value, path)
        if len(found) > _MAX_CALLS:
            raise LimitError(f"{json_path(path)}: more than {_MAX_CALLS} choices", "calls")
        return found

    def as_text(self, value: Any, path: Path) -> str:
        """``value`` if it is a string, an empty one if it is null; else it is noted and left out."""
        if type(value) is str:
            return value
        return "" if value is None else self._unexpected(value, path, "a string", "")

    def _unexpected(self, value: Any, path: Path, wanted: str, instead: Any) -> Any:
        self.lost(path, f"expected {wanted}, found {_NAMES.get(type(value), type(value).__name__)}")
        return instead

    def lost(self, path: Path, detail: str, code: str = "loss.unread") -> None:
        """Note that what stands at ``path`` was not read."""
        if len(self.losses) < _MAX_LOSSES:
            self.losses.append(Loss(code, json_path(path[1:] if self._listed else path), detail))
        elif len(self.losses) == _MAX_LOSSES:
            self.losses.append(Loss(code, "$", "and more of the kind"))

    def keep(self, item: dict[str, Any], known: frozenset[str]) -> None:
        """Keep what ``item`` holds besides ``known`` members and nulls in the message's extra."""
        extra = self.extra
        for key, value in item.items():
            if key not in known and value is not None:
                extra[key] = value

    # -- what was found, in its order

    def text(self, text: str, extra: Mapping[str, Any] | None = None) -> None:
        """A run of content; ``extra`` is what its provider wants back with it."""
        if text or extra:
            self.parts.append(TextPart(text, None, {self.wire: dict(extra)} if extra else {}))

    def reasoning(self, text: str, extra: Mapping[str, Any] | None = None) -> None:
        """A run of reasoning."""
        if text or extra:
            self.parts.append(ReasoningPart(text, None, {self.wire: dict(extra)} if extra else {}))

    def opaque(self, data: Any) -> None:
        """Something that only the provider can read, kept as it is."""
        self.parts.append(OpaquePart(data, None, {self.wire: {}}))

    def call(
        self,
        name: Any,
        arguments: Any,
        path: Path,
        *,
        name_key: str | int = "name",
        key: str | int = "arguments",
        id: Any = None,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        """A call whose name and arguments stand under ``name_key`` and ``key`` of the object at ``path``.

        ``arguments`` are an object or its JSON text; blank or missing ones are ``{}``, as APIs have it.
        """
        index = self._attempt(id)
        self._unsure = None
        if self.known and self._is_known(index):
            return
        if self._tools is not None or type(name) is not str or not 0 < len(name) <= _MAX_NAME:
            name = self._checked(name, (*path, name_key), index)
            if name is None:
                return
        elif type(arguments) is dict:  # nothing is declared, nothing is to be decoded
            self._made(name, arguments, id, index, "function", None, None, extra, None, path)
            return
        raw = text = None
        if type(arguments) is str:
            raw = arguments
            if not arguments or arguments.isspace():
                arguments = {}
                self._unsure = (index, name, (*path, key))
            else:
                try:
                    arguments = loads(raw)
                except Fault as fault:
                    mended = self._mended(raw, name)
                    if mended is None:
                        self._broken(fault, raw, (*path, key), index, name)
                        return
                    arguments, text = mended
                else:
                    text = raw.strip()
        elif arguments is None:
            arguments = {}
            self._unsure = (index, name, (*path, key))
        if type(arguments) is str and raw is not None and (mended := self._mended(raw, name)) is not None:
            arguments, text = mended
        if type(arguments) is not dict:
            self.error(
                f"tool call arguments must be a JSON object, got {_NAMES.get(type(arguments), 'something else')}",
                "tool_call.invalid_arguments",
                (*path, key),
                value=raw,
                at=None if raw is None else len(raw) - len(raw.lstrip()),
                expected="a JSON object",
                call_index=index,
                name=name,
            )
            return
        tool = None if self._tools is None else self._tools.get(name)
        if self._mends and self._asked is None and tool is not None and holds_json(arguments):
            from ._checked import Asked

            self._asked = Asked.of(self._tools, False, False, True)
        if self._asked is not None and tool is not None and tool.kind == "function":
            written = arguments
            arguments = self._asked.coerced(tool, written)
            if arguments is not written:
                text = None
            self._made(tool.name, arguments, id, index, "function", raw, None, extra, text, path)
            self._asked.judge(self, self._text, written, (*path, key)[self._listed :], self._marks)
            return
        if tool is not None and tool.kind == "custom" and type(arguments.get("input")) is str:
            # This API has no tools of free text, so it was declared as a function with one string.
            self._made(name, {}, id, index, "custom", None, arguments["input"], extra, None, path)
            return
        if tool is not None and tool.strict:
            freed = drop_forced_nulls(arguments, tool.parameters)
            if freed != arguments:
                arguments, text = freed, None
        self._made(name, arguments, id, index, "function", raw, None, extra, text, path)

    def _mended(self, raw: str, name: str) -> tuple[dict[str, Any], str] | None:
        """The arguments that a broken ``raw`` was to be, and their JSON, if mends are wanted and there is one."""
        if not self._mends:
            return None
        from ..repair.arguments import mend_arguments

        tool = None if self._tools is None else self._tools.get(name)
        found = mend_arguments(raw, None if tool is None else tool.parameters)
        if found is None:
            return None
        self.repairs += found[2]
        return found[:2]

    def enveloped_call(
        self, item: dict[str, Any], path: Path, known: frozenset[str], inner: frozenset[str], *, id: Any
    ) -> None:
        """A call as OpenAI has it: name and arguments in the member ``function`` of the ``item`` at ``path``.

        ``known`` and ``inner`` are the members of the item and of its function that are not kept.
        """
        at = (*path, "function")
        function = item.get("function")
        if type(function) is not dict:
            function = self.as_object(function, at)
        extra = with_inner(rest(item, known), "function", function, inner)
        self.call(function.get("name"), function.get("arguments"), at, id=id, extra=extra)

    def custom(
        self, name: Any, input: Any, path: Path, *, id: Any = None, extra: Mapping[str, Any] | None = None
    ) -> None:
        """A call whose input is free text."""
        index = self._attempt(id)
        self._unsure = None
        if self.known and self._is_known(index):
            return
        name = self._checked(name, (*path, "name"), index)
        if name is not None:
            self._unsure = (index, name, (*path, "input"))
            self._made(name, {}, id, index, "custom", None, self.as_text(input, (*path, "input")), extra, None, path)

    def server_call(self, name: Any, arguments: Any, id: Any, item: Mapping[str, Any]) -> None:
        """A call that the provider runs itself; ``item`` is all of it, to be sent back as it is."""
        if type(arguments) is str:
            try:
                arguments = loads(arguments)
            except Fault:
                arguments = None  # not ours to run: `item` has it
        call = ToolCall(
            name if type(name) is str else "",
            arguments if type(arguments) is dict else {},
            id if type(id) is str else None,
            kind="server",
        )
        self.parts.append(CallPart(call, None, {self.wire: {"item": dict(item)}}))

    def _attempt(self, id: Any) -> int:
        """The ordinal of the next call."""
        self._id = id
        index = self._attempts
        while index in self.open:
            index += 1
        if index >= _MAX_CALLS:
            raise LimitError(f"more than {_MAX_CALLS} calls", "calls")
        self._attempts = index + 1
        return index

    def _checked(self, name: Any, path: Path, index: int) -> str | None:
        """The caller's name of a tool that the provider calls ``name``; None if there is none."""
        if type(name) is not str or not name or len(name) > _MAX_NAME:
            if type(name) is not str:
                what = "is missing" if name is None else f"is {_NAMES.get(type(name), 'no string')}"
            else:
                what = "is empty" if not name else "is longer than the limit"
            self.error(f"the tool name {what}", "tool_call.invalid_name", path, call_index=index)
            return None
        tools = self._tools
        if tools is None:
            return name
        if self._names is not None:
            name = self._names.back(name)
        if name not in tools.names:
            near = tools.nearest(name)
            known = ", ".join(map(repr, near)) if near else "one of the declared tools"
            text = f"no tool {name[:80]!r} is declared"
            self.error(text, "tool_call.unknown_tool", path, expected=known, call_index=index, name=name)
            return None
        return str(name)

    def _made(
        self,
        name: str,
        arguments: dict[str, Any],
        id: Any,
        index: int,
        kind: CallKind,
        raw: str | None,
        input: str | None,
        extra: Mapping[str, Any] | None,
        text: str | None,
        path: Path,
    ) -> None:
        synthesized = False
        if type(id) is not str or not id:
            if type(id) is not int and id not in (None, ""):
                at = path[:-1] if path[-1:] in _ENVELOPES else path
                self.lost(at, f"expected a string for the id, found {_NAMES.get(type(id), type(id).__name__)}")
            id = id_text(id)
            if id is None and self._synthesize:
                synthesized = True
                id = self.made_ids.get(index) or "call_" + urandom(12).hex()
        own = {self.wire: dict(extra)} if extra else {}
        call = ToolCall(name, arguments, id, synthesized, index, None, raw, None, kind, input, own, text)
        self.parts.append(CallPart(call, None, {}))

    # -- what went wrong

    def _broken(self, fault: Fault, raw: str, path: Path, index: int, name: str) -> None:
        self._describe(fault, raw, path, index, name)
        start = len(raw) - len(raw.lstrip(" \t\r\n"))
        if raw.startswith("{", start):
            self.errors[-1].partial_arguments = complete_members(raw, start, None)

    def _describe(self, fault: Fault, raw: str, path: Path, index: int, name: str) -> None:
        details: dict[str, Any] = {"call_index": index, "name": name, "expected": fault.expected}
        if self.cut and (fault.end or fault.code == "json.unterminated_string"):
            self.error(
                "the output was cut off inside the arguments",
                "tool_call.truncated",
                path,
                value=raw,
                at=fault.at,
                kind=TruncatedError,
                **details,
            )
        else:
            self.error(fault.text, fault.code, path, value=raw, at=fault.at, **details)

    def error(
        self, message: str, code: str, path: Path, *, value: Any = None, at: int | None = None, **details: Any
    ) -> None:
        """Note an error at ``path``, ``at`` an index into the string ``value`` that stands there."""
        path = path[1:] if self._listed else path
        if details.get("call_index") is not None and type(self._id) in (str, int):
            details["id"] = id_text(self._id) or None
        self.add_error(error_at(message, code, self._text, path, value, at, self._marks, **details))

    def add_error(self, error: ParseError) -> None:
        """Note an error, and tell it of the tools."""
        if self._tools is not None:
            self._tools.explain(error, self._names)
        self.errors.append(error)

    def sure(self) -> None:
        """The API says that the last call is whole, whatever comes behind it."""
        self._unsure = None

    def truncated_call(self, name: Any, path: Path, id: Any = None) -> None:
        """A call that the output's end cut off, though nothing in it is broken."""
        index = self._attempt(id)
        if not (self.known and self._is_known(index)):
            name = name if type(name) is str else None
            if name is not None and self._names is not None:
                name = self._names.back(name)
            self._truncated("the output was cut off inside the call", path, index, name)

    def _truncated(self, message: str, path: Path, index: int, name: str | None) -> None:
        self.error(message, "tool_call.truncated", path, kind=TruncatedError, call_index=index, name=name)

    def unreadable_call(self, message: str, path: Path, id: Any = None) -> None:
        """A call that the provider itself could not read."""
        index = self._attempt(id)
        if not (self.known and self._is_known(index)):
            self.error(message[:500], "tool_call.unrecognized", path, call_index=index)

    # -- calls of a stream

    def _is_known(self, index: int) -> bool:
        """Take what is known of a call, if it is."""
        found = self.known.get(index)
        if isinstance(found, CallPart):
            self.parts.append(found)
            self.repairs += self.known_repairs.get(index, ())
        elif found is not None:
            self.errors.append(found)
        return found is not None

    def tool_called(self, name: str) -> tuple[str | None, Tool | None]:
        """The caller's name of the tool that the provider calls ``name``, None if it is not one; and the tool."""
        if len(name) > _MAX_NAME:
            return None, None
        if self._tools is None:
            return name, None
        if self._names is not None:
            name = self._names.back(name)
        return (name, self._tools.get(name)) if name in self._tools.names else (None, None)

    def at_call(self, index: int, cut: bool) -> None:
        """Begin anew: the next call is the one with this ordinal."""
        self._attempts = index
        self.cut = cut
        self.parts = []
        self.errors = []
        self.repairs = []

    # -- the end

    def check_last_call(self) -> None:
        """If the output was cut off behind a call that does not show it, it is not whole."""
        if not self.cut or self._unsure is None:
            return
        index, name, path = self._unsure
        asked, errors = self._asked, self.errors
        if asked is not None and errors and asked.refused == len(self.parts) and errors[-1].call_index == index:
            errors.pop()  # what is missing was cut off
        elif self.parts and type(self.parts[-1]) is CallPart:
            call = self.parts.pop().call  # type: ignore[union-attr]
            self._id = None if call.id_synthesized else call.id
        else:
            return
        self._truncated("the output was cut off inside the call", path, index, name)

    def message(self, provider: str) -> Message:
        """The message."""
        if self.cut:
            self.check_last_call()
        content: list[str] = []
        reasoning: list[str] = []
        calls: list[ToolCall] = []
        for part in self.parts:
            kind = type(part)
            if kind is CallPart:
                if part.call.kind != "server":  # type: ignore[union-attr]
                    calls.append(part.call)  # type: ignore[union-attr]
            elif kind is TextPart:
                content.append(part.text)  # type: ignore[union-attr]
            elif kind is ReasoningPart:
                reasoning.append(part.text)  # type: ignore[union-attr]
        text = "".join(content) if content else ""
        thought = "".join(reasoning) if reasoning else ""
        stop = self.stop_reason
        # The reason lies both ways: what counts is whether there are calls.
        if calls:
            stop = "tool_calls" if stop in ("stop", None) else stop
        elif stop == "tool_calls" and not self.errors:
            stop = "stop"
        # By position, in the order of the fields: names would nearly double what it costs.
        return Message(
            text if text and not text.isspace() else None,
            thought if thought and not thought.isspace() else None,
            calls,
            self.errors,
            self.repairs if self._asked is None else self.repairs + self._asked.all_repairs(),
            None,  # format
            provider,
            stop,
            self.usage,
            {self.wire: self.extra} if self.extra else {},
            self.parts,
            [],  # separators
            [],  # notes
            self.losses,
        )
