"""The values that every part of Toolglot exchanges.

All are slotted dataclasses: cheap to create, picklable, compared by value. Spans are half-open
``(start, end)`` pairs of code points, counted from the first character of the caller's own text.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from .errors import ParseError

Span: TypeAlias = tuple[int, int]
CallKind: TypeAlias = Literal["function", "custom", "server"]
StopReason: TypeAlias = Literal["stop", "tool_calls", "length", "content_filter", "error", "other"]

_MISSING: Any = object()


def json_text(value: Any, indent: int | None = None, *, compact: bool = False, sort_keys: bool = False) -> str:
    """``value`` as JSON text: ``", "`` and ``": "``, no ASCII escaping; NaN and infinities raise `ValueError`."""
    separators = (",", ":") if compact else None
    return json.dumps(
        value, ensure_ascii=False, allow_nan=False, indent=indent, separators=separators, sort_keys=sort_keys
    )


@dataclass(slots=True)
class ToolCall:
    """One call that a model made. Equal to another if name, arguments, id, kind and input are.

    ``index`` is the ordinal among attempted calls, so a broken call keeps its number. ``format`` is the
    catalogue id of the text format. ``raw_arguments`` holds the model's own characters. ``kind`` is
    ``"custom"`` for a free-text call, whose text is ``input`` and whose ``arguments`` are ``{}``.
    ``extra`` is what a provider sent beside the call and wants back.
    """

    name: str
    arguments: dict[str, Any] = field(default_factory=dict)
    id: str | None = None
    id_synthesized: bool = field(default=False, compare=False)
    index: int = field(default=0, compare=False)
    format: str | None = field(default=None, compare=False)
    raw_arguments: str | None = field(default=None, compare=False, repr=False)
    span: Span | None = field(default=None, compare=False)
    kind: CallKind = "function"
    input: str | None = None
    extra: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)
    _json: str | None = field(default=None, compare=False, repr=False)

    @property
    def arguments_json(self) -> str:
        """The arguments as JSON object text: the model's own characters where they are one, else canonical."""
        if self._json is None:
            try:
                self._json = json_text(self.arguments)
            except (ValueError, RecursionError) as error:
                from .errors import ConversionError

                raise ConversionError(f"the arguments of {self.name!r} cannot be written as JSON: {error}") from None
        return self._json

    def get_argument(self, name: str, type: type | None = None, default: Any = None) -> Any:
        """The argument called ``name``, or ``default`` if it is absent.

        With ``type`` the value must be an instance of it (``int`` is accepted for ``float``, ``bool`` never
        for a number), else `TypeError`. No conversion takes place.
        """
        value = self.arguments.get(name, _MISSING)
        if value is _MISSING:
            return default
        if type is None:
            return value
        if isinstance(value, bool) and type in (int, float):
            ok = False
        elif type is float and isinstance(value, int):
            return float(value)
        else:
            ok = isinstance(value, type)
        if not ok:
            raise TypeError(
                f"argument {name!r} of {self.name!r} is {value.__class__.__name__}, expected {type.__name__}"
            )
        return value

    def get_arguments(self, type: Any) -> Any:
        """All arguments as ``type``: ``type(**arguments)``, or ``type.model_validate(arguments)`` where it exists."""
        validate = getattr(type, "model_validate", None)
        return validate(self.arguments) if validate is not None else type(**self.arguments)

    def has_argument(self, name: str) -> bool:
        """Whether the model gave an argument called ``name``, ``null`` included."""
        return name in self.arguments

    def to_dict(self) -> dict[str, Any]:
        """``{"id": ..., "name": ..., "arguments": ...}``."""
        return {"id": self.id, "name": self.name, "arguments": self.arguments}


@dataclass(slots=True)
class ToolResult:
    """What a tool gave back: ``content`` is text, a JSON value, or a list of parts (`TextPart`, `ImagePart`,
    `FilePart`). ``extra`` is what stood beside it in a history and goes back with it.
    """

    tool_call_id: str | None
    content: Any
    tool_name: str | None = None
    is_error: bool = False
    error_message: str | None = None
    extra: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)

    @property
    def is_success(self) -> bool:
        """The opposite of ``is_error``."""
        return not self.is_error

    @classmethod
    def success(cls, id: str | None, content: Any, tool_name: str | None = None) -> ToolResult:
        """A result of a call that went well."""
        return cls(id, content, tool_name)

    @classmethod
    def failure(cls, id: str | None, message: str, tool_name: str | None = None) -> ToolResult:
        """A result of a call that failed; its content is ``"Error: " + message``."""
        return cls(id, "Error: " + message, tool_name, True, message)


_WORDS: dict[str, Literal["auto", "none", "required"]] = {
    "auto": "auto",
    "validated": "auto",  # Gemini: a free choice, its calls checked against the schema
    "none": "none",
    "required": "required",
    "any": "required",
}


@dataclass(slots=True)
class ToolChoice:
    """Whether and which tools the model has to call.

    ``mode`` is ``"auto"``, ``"none"``, ``"required"`` or ``"named"``. ``names`` limits the choice to these tools;
    ``"named"`` means that one of them has to be called. ``parallel`` says whether several calls are welcome.
    """

    mode: Literal["auto", "none", "required", "named"] = "auto"
    names: tuple[str, ...] = ()
    parallel: bool | None = None

    @classmethod
    def from_any(cls, choice: Any) -> ToolChoice:
        """Read ``"auto"``, ``"none"``, ``"required"``, a tool's name, a list of names, or any API's object."""
        if isinstance(choice, cls):
            return choice
        if choice is None:
            return cls()
        if isinstance(choice, str):
            word = _WORDS.get(choice if choice.islower() else choice.lower() if choice.isupper() else "")
            return cls(word) if word is not None else cls("named", (choice,))
        if isinstance(choice, (list, tuple)) and choice and all(isinstance(name, str) for name in choice):
            return cls("named", tuple(choice))
        if isinstance(choice, dict):
            read = cls._from_object(choice)
            if read is not None:
                return read
        raise TypeError(
            f"tool_choice: expected 'auto', 'none', 'required', a tool name or a choice object, got {choice!r:.200}"
        )

    @classmethod
    def _from_object(cls, choice: dict[str, Any]) -> ToolChoice | None:
        for key in ("tool_choice", "toolChoice", "toolConfig", "functionCallingConfig", "allowed_tools", "tool"):
            if isinstance(choice.get(key), (dict, str)) and choice.get("type") in (None, key):
                inner = cls.from_any(choice[key])
                if isinstance(choice.get("parallel_tool_calls"), bool):
                    inner.parallel = choice["parallel_tool_calls"]
                return inner
        kind = choice.get("type", choice.get("mode"))
        if kind is None and len(choice) == 1 and next(iter(choice)) in ("auto", "any"):  # Bedrock: {"any": {}}
            kind = next(iter(choice))
        parallel = choice.get("disable_parallel_tool_use")
        parallel = not parallel if isinstance(parallel, bool) else None
        inner = choice.get("function", choice.get("custom", choice))
        if isinstance(inner, dict) and isinstance(inner.get("name"), str):
            return cls("named", (inner["name"],), parallel)
        allowed = choice.get("tools", choice.get("allowedFunctionNames", ()))
        names = tuple(map(_tool_name, allowed)) if isinstance(allowed, (list, tuple)) else ()
        said = choice.get("mode", kind)
        word = _WORDS.get(said.lower()) if isinstance(said, str) else None
        if word is None or None in names:
            return None
        mode: Any = "named" if names and word == "required" else word
        return cls(mode, names, parallel)  # type: ignore[arg-type]


def _tool_name(shell: Any) -> str | None:
    """The name in a list of allowed tools: the name itself, or a shell like ``{"function": {"name": ...}}``."""
    while isinstance(shell, dict):
        shell = shell.get("name", shell.get("function", shell.get("custom")))
    return shell if isinstance(shell, str) else None


@dataclass(slots=True)
class Loss:
    """Something that a conversion could not carry: a stable ``code``, where it stood, and what became of it.

    ``path`` is a JSON path into what was converted (``$.properties.when.format``).
    """

    code: str
    path: str
    detail: str


@dataclass(slots=True)
class Repair:
    """One mend that ``on_error="repair"`` made: what stood at ``span`` and what was read instead."""

    code: str
    span: Span
    before: str
    after: str


@dataclass(slots=True)
class TextPart:
    """A run of content in its place."""

    text: str
    span: Span | None = None
    extra: dict[str, Any] = field(default_factory=dict, repr=False)


@dataclass(slots=True)
class ReasoningPart:
    """A run of reasoning in its place, without its delimiters."""

    text: str
    span: Span | None = None
    extra: dict[str, Any] = field(default_factory=dict, repr=False)


@dataclass(slots=True)
class CallPart:
    """A call in its place."""

    call: ToolCall
    span: Span | None = None
    extra: dict[str, Any] = field(default_factory=dict, repr=False)


@dataclass(slots=True)
class OpaquePart:
    """Something that a provider sent and that only it can read; kept to be sent back."""

    data: Any = None
    span: Span | None = None
    extra: dict[str, Any] = field(default_factory=dict, repr=False)


Part: TypeAlias = TextPart | ReasoningPart | CallPart | OpaquePart


@dataclass(slots=True)
class ImagePart:
    """An image: its bytes, or the address of one. ``detail`` is OpenAI's (``low``, ``high``, ``auto``)."""

    data: bytes | None = field(default=None, repr=False)
    media_type: str = "image/png"
    url: str | None = None
    detail: str | None = None
    extra: dict[str, Any] = field(default_factory=dict, repr=False)


@dataclass(slots=True)
class FilePart:
    """A file: its bytes, an address, or the id under which the provider keeps it."""

    data: bytes | None = field(default=None, repr=False)
    media_type: str = "application/octet-stream"
    name: str | None = None
    url: str | None = None
    id: str | None = None
    extra: dict[str, Any] = field(default_factory=dict, repr=False)


ResultPart: TypeAlias = TextPart | ImagePart | FilePart


@dataclass(slots=True)
class Message:
    """Everything about one output of a model.

    ``parts`` keep the original order. ``separators`` are the spans of markup that belongs to no part (section
    tags, reasoning delimiters, turn ends, white space that the family's template writes): for a text, the spans
    of parts, separators and errors tile it. ``notes`` are remarks that are no errors (``reasoning.unclosed``).

    ``tool_calls`` are those that the caller has to answer; calls that the provider ran itself stand in ``parts``
    only, with the kind ``"server"``. ``extra`` holds what else the provider sent, under its wire format's name:
    what is in a part's or call's ``extra`` belongs with that part and goes back with it. ``losses`` say what of a
    payload was not read.
    """

    content: str | None = None
    reasoning: str | None = None
    tool_calls: list[ToolCall] = field(default_factory=list)
    errors: list[ParseError] = field(default_factory=list)
    repairs: list[Repair] = field(default_factory=list)
    format: str | None = None
    provider: str | None = None
    stop_reason: StopReason | None = None
    usage: Any = None
    extra: dict[str, Any] = field(default_factory=dict)
    parts: list[Part] = field(default_factory=list)
    separators: list[Span] = field(default_factory=list, repr=False)
    notes: list[str] = field(default_factory=list, repr=False)
    losses: list[Loss] = field(default_factory=list)

    @property
    def server_calls(self) -> list[ToolCall]:
        """The calls that the provider made and ran itself, in their order."""
        return [part.call for part in self.parts if isinstance(part, CallPart) and part.call.kind == "server"]


@dataclass(slots=True, frozen=True)
class Limits:
    """Bounds on what hostile text may cost; passing one raises `LimitError`.

    ``depth``: nesting of a value. ``calls``: attempted calls of one output. ``name``: characters of a name, key
    or id; what is not complete is read anew at each feed, so a high limit makes streams of long names slow.
    ``buffer``: characters of text that is undecided between markup and content. ``arguments``: characters of the
    arguments of one call that a provider's stream gives in pieces; one event may have four times as many. Each
    is at least 1.
    """

    depth: int = 512
    calls: int = 10_000
    name: int = 512
    buffer: int = 65_536
    arguments: int = 67_108_864

    def __post_init__(self) -> None:
        for name in ("depth", "calls", "name", "buffer", "arguments"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int):
                raise TypeError(f"limits: {name}: expected int, got {type(value).__name__}")
            if value < 1:
                raise ValueError(f"limits: {name}: expected at least 1, got {value}")
