"""`Writing`: what is lost while something is written for a provider; and results and messages taken apart for it."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

from ..errors import ConversionError
from ..history import HistoryRepair, SystemMessage
from ..types import (
    CallPart,
    FilePart,
    ImagePart,
    Loss,
    Message,
    OpaquePart,
    Part,
    ReasoningPart,
    TextPart,
    ToolCall,
    ToolResult,
    json_text,
)

__all__ = [
    "WireList",
    "WireObject",
    "Writing",
    "behind_calls",
    "data_url",
    "media_type",
    "message_parts",
    "pair",
    "pop_beside",
    "result_parts",
    "result_text",
    "says_error",
    "sent_arguments",
    "sent_text",
]


class WireObject(dict[str, Any]):
    """An object of a provider's API, equal to the plain dict; ``losses`` say what it could not carry, ``repairs`` what
    was done to a history where that was asked for.
    """

    losses: tuple[Loss, ...] = ()
    repairs: tuple[HistoryRepair, ...] = ()


class WireList(list[Any]):
    """A list of a provider's API, equal to the plain list; ``losses`` say what it could not carry."""

    losses: tuple[Loss, ...] = ()


Wire: TypeAlias = WireObject | WireList


class Writing:
    """Collects losses; ``strict`` makes any of them an error.

    ``repair`` are the repairs that may be made to a history, and ``repairs`` those that were; it is None where what is
    written is no history.
    """

    __slots__ = ("losses", "repair", "repairs", "strict")

    def __init__(self, strict: bool = False, repair: frozenset[str] | None = None) -> None:
        self.losses: list[Loss] = []
        self.strict = strict
        self.repair = repair
        self.repairs: list[HistoryRepair] = []

    def lost(self, code: str, path: str, detail: str) -> None:
        """Note a loss; ``path`` is that of what was to be written."""
        self.losses.append(Loss(code, path, detail))

    def mended(self, code: str, path: str, detail: str) -> None:
        """Note a repair."""
        self.repairs.append(HistoryRepair(code, path, detail))

    def check(self) -> tuple[Loss, ...]:
        """All losses; raises `ConversionError` if there must be none."""
        if self.losses and self.strict:
            said = "; ".join(f"{loss.path}: {loss.detail} ({loss.code})" for loss in self.losses[:5])
            raise ConversionError(said, "conversion.lossy", tuple(self.losses))
        return tuple(self.losses)

    def as_object(self, value: dict[str, Any]) -> WireObject:
        """``value``, with the losses."""
        made = WireObject(value)
        made.losses = self.check()
        made.repairs = tuple(self.repairs)
        return made

    def as_list(self, value: Iterable[Any]) -> WireList:
        """``value``, with the losses."""
        made = WireList(value)
        made.losses = self.check()
        return made


def message_parts(message: Message) -> list[Part]:
    """The parts of a message; of one that was made by hand, its reasoning, content and calls."""
    if message.parts:
        return message.parts
    parts: list[Part] = []
    if message.reasoning is not None:
        parts.append(ReasoningPart(message.reasoning))
    if message.content is not None:
        parts.append(TextPart(message.content))
    parts += [CallPart(call) for call in message.tool_calls]
    return parts


def pair(
    results: ToolResult | Sequence[ToolResult], calls: Sequence[ToolCall] | None, out: Writing
) -> list[tuple[ToolResult, ToolCall | None]]:
    """Each result with its call: in the calls' order if they are given, else as they come.

    A result without an id belongs to the first call of its tool that has no other; or, without a name as well, to
    the first call that has none then.
    """
    found = [results] if isinstance(results, ToolResult) else list(results)
    for result in found:
        if not isinstance(result, ToolResult):
            raise TypeError(f"results: expected ToolResult, got {type(result).__name__}")
    if calls is None:
        return [(result, None) for result in found]
    left = list(enumerate(found))
    pairs: list[tuple[ToolResult, ToolCall | None]] = []
    by_id: dict[str, list[int]] = {}
    for number, result in reversed(left):
        if result.tool_call_id is not None:
            by_id.setdefault(result.tool_call_id, []).append(number)
    taken: set[int] = set()
    waiting: list[int] = []
    chosen: dict[int, int] = {}
    for place, call in enumerate(calls):
        answers = by_id.get(call.id) if call.id is not None else None
        if answers:  # calls of the same id take theirs in turn
            chosen[place] = answers.pop()
            taken.add(chosen[place])
        else:
            waiting.append(place)
    # Those that say the name of their tool first, in their order; then the others.
    loose: dict[str | None, list[int]] = {}
    for number, result in reversed(left):
        if number not in taken and result.tool_call_id is None:
            loose.setdefault(result.tool_name, []).append(number)
    for named in (True, False):
        for place in waiting:
            numbers = loose.get(calls[place].name if named else None)
            if place not in chosen and numbers:
                chosen[place] = numbers.pop()
                taken.add(chosen[place])
    for place in waiting:
        if place not in chosen:
            call = calls[place]
            out.lost("loss.result_missing", f"$.calls[{place}]", f"{call.name!r} ({call.id}) has no result")
    pairs += [(found[chosen[place]], call) for place, call in enumerate(calls) if place in chosen]
    for number, result in left:
        if number not in taken:
            out.lost("loss.result_unmatched", f"$[{number}]", f"no call has the id {result.tool_call_id!r}")
            pairs.append((result, None))
    return pairs


def result_parts(result: ToolResult) -> list[Any] | None:
    """The parts of a result, `TextPart`, `ImagePart` and `FilePart`; None if it is text or a JSON value.

    An `OpaquePart` is among them only where the wire format has ``opaque_results``.
    """
    content = result.content
    if isinstance(content, (TextPart, ImagePart, FilePart)):
        return [content]
    if isinstance(content, (list, tuple)) and content:
        parts = [part for part in content if isinstance(part, (TextPart, ImagePart, FilePart, OpaquePart))]
        if len(parts) == len(content):
            return parts
        if parts:
            raise TypeError("content: a list of parts must hold nothing but TextPart, ImagePart and FilePart")
    return None


def result_text(result: ToolResult) -> str:
    """A result that has no parts as text."""
    content = result.content
    if isinstance(content, str):
        return content
    if content is None:
        return ""
    try:
        return json_text(content)
    except (TypeError, ValueError, RecursionError) as error:
        raise ConversionError(f"the content of a result cannot be written as JSON: {error}") from None


def says_error(content: Any) -> bool:
    """Whether the content of a result says by itself that it is an error."""
    if isinstance(content, dict):
        return "error" in content
    if isinstance(content, list):
        content = next((part.text for part in content if hasattr(part, "text")), "")
    return isinstance(content, str) and content.lstrip()[:5].lower() == "error"


def pop_beside(own: dict[str, Any]) -> dict[str, Any]:
    """What the message said besides in which a result came, taken out of what the result has of its own."""
    return own.pop("message") if isinstance(own.get("message"), dict) else {}


def behind_calls(message: Message) -> list[Part]:
    """What stands behind a call that the caller has to answer, other than such calls."""
    behind: list[Part] = []
    called = False
    for part in message_parts(message):
        if isinstance(part, CallPart) and part.call.kind != "server":
            called = True
        elif called and not (isinstance(part, TextPart) and not part.text):
            behind.append(part)
    return behind


def numbered(path: str, content: Sequence[Any]) -> list[tuple[str, Any]]:
    """The parts of a content, each with its path."""
    return [(f"{path}.content[{place}]", part) for place, part in enumerate(content)]


def system_text(turns: Sequence[SystemMessage], out: Writing) -> str | None:
    """System prompts as one text, for APIs where it is no more; None if there is none."""
    texts = []
    for number, turn in enumerate(turns):
        said = [TextPart(turn.content)] if isinstance(turn.content, str) else turn.content
        for path, part in numbered(f"$[{number}]", said):
            if not isinstance(part, TextPart):
                out.lost("loss.part", path, "the system prompt is text")
        texts.append("".join(part.text for part in said if isinstance(part, TextPart)))
    return "\n\n".join(filter(None, texts)) or None


def sent_arguments(call: ToolCall) -> dict[str, Any]:
    """A call's arguments for an API without tools of free text: such a tool was declared with one string."""
    return {"input": call.input or ""} if call.kind == "custom" else call.arguments


def sent_text(call: ToolCall) -> str:
    """The same as JSON text."""
    return json_text(sent_arguments(call)) if call.kind == "custom" else call.arguments_json


def base64_text(data: bytes) -> str:
    """Bytes as base64."""
    return b64encode(data).decode("ascii")


def media_type(part: ImagePart | FilePart) -> str:
    """The type of an image or file as it is registered, whatever it was called."""
    name = part.media_type.partition(";")[0].strip().lower()
    return "image/jpeg" if name == "image/jpg" else name


def data_url(part: ImagePart | FilePart) -> str | None:
    """The address of an image or file: its own, or one that holds the bytes."""
    if part.url is not None or part.data is None:
        return part.url
    return f"data:{part.media_type};base64,{base64_text(part.data)}"
