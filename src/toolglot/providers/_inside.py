"""``text_format``: calls that a model wrote as text in a provider's content, beside those that the provider has.

Content is read in runs: what stands between two calls of the provider's is one text. A run without any markup stays as
it is. Calls are numbered as they stand, of both kinds together.
"""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import Any, Final, TypeGuard

from ..api import StreamParser, parse
from ..errors import ParseError, TruncatedError
from ..events import ErrorEvent, Event, TextDelta, ToolCallDelta, ToolCallEnd, ToolCallStart
from ..types import CallPart, Message, Part, ReasoningPart, TextPart

__all__ = ["Inside", "read_inside"]

_CALLS: Final = (ToolCallStart, ToolCallDelta, ToolCallEnd)


def _options(text_format: str, ids: str, tools: Any, on_error: str, validate: bool, coerce: bool) -> dict[str, Any]:
    options: dict[str, Any] = {
        "tools": tools,
        "ids": ids,
        "on_error": "repair" if on_error == "repair" else "collect",
        "validate": validate,
        "coerce": coerce,
    }
    return {"format": None if text_format == "auto" else text_format, **options}


def read_inside(
    message: Message,
    text_format: str,
    ids: str,
    tools: Any,
    on_error: str,
    validate: bool = False,
    coerce: bool = False,
) -> Message:
    """``message`` with what its content holds in the text format (``"auto"``: in whatever format)."""
    options = _options(text_format, ids, tools, on_error, validate, coerce)
    runs = _runs(message.parts)
    own = [part.call.index for part in message.parts if _is_own(part)]  # the provider's calls
    # Broken calls have no part: they come with the next that has one, or at the end.
    left = sorted({error.call_index for error in message.errors if error.call_index is not None}.union(own))
    numbers: dict[int, int] = {}
    parsed: list[Message] = []
    following = 0
    # Where the limit cut off a call of the provider's, it did not cut the text before it.
    behind = [error for error in message.errors if isinstance(error, TruncatedError) and error.call_index is not None]
    cuts = message.stop_reason == "length" and not behind
    for number, run in enumerate(runs):
        cut = cuts and number == len(runs) - 1
        found = parse(run, finish_reason="length" if cut else None, **options)
        parsed.append(_numbered(found, following))
        following += _attempts(found)
        upto = own[number] if number < len(own) else max(left, default=-1)
        while left and left[0] <= upto:
            numbers[left.pop(0)] = following
            following += 1
    return _combined(message, parsed, numbers)


def _is_own(part: Part) -> TypeGuard[CallPart]:
    """Whether a part is a call that ends a run."""
    return isinstance(part, CallPart) and part.call.kind != "server"


def _runs(parts: list[Part]) -> list[str]:
    """The texts between the calls."""
    runs: list[list[str]] = [[]]
    for part in parts:
        if isinstance(part, TextPart):
            runs[-1].append(part.text)
        elif _is_own(part):
            runs.append([])
    return ["".join(run) for run in runs]


def _attempts(found: Message) -> int:
    """How many calls were attempted."""
    tried = [call.index for call in found.tool_calls]
    tried += [error.call_index for error in found.errors if error.call_index is not None]
    return max(tried, default=-1) + 1


def _combined(message: Message, parsed: list[Message], numbers: dict[int, int]) -> Message:
    """``message`` with what was found in each run of its content; ``numbers`` are those of the provider's calls."""
    parts: list[Part] = []
    runs = _runs(message.parts)
    read = [_is_read(found, run) for found, run in zip(parsed, runs, strict=False)]
    run = 0
    given = False  # what was found in this run stands in `parts`
    for part in message.parts:
        found = parsed[run]
        if isinstance(part, TextPart) and read[run]:
            if not given:
                given = True
                parts += _beside(found.parts, part)
        elif _is_own(part):
            parts.append(replace(part, call=replace(part.call, index=numbers[part.call.index])))
            run += 1
            given = False
        else:
            parts.append(part)
    errors = [_renumbered(error, numbers) for error in message.errors]
    errors += [error for found in parsed for error in found.errors]
    content = "".join(part.text for part in parts if isinstance(part, TextPart))
    reasoning = "".join(part.text for part in parts if isinstance(part, ReasoningPart))
    calls = [part.call for part in parts if _is_own(part)]
    formats = [found.format for found in parsed if found.format is not None]
    stop = message.stop_reason
    return replace(
        message,
        content=content if content.strip() else None,
        reasoning=reasoning if reasoning.strip() else None,
        tool_calls=calls,
        errors=sorted(errors, key=lambda error: (error.call_index is None, error.call_index or 0)),
        parts=parts,
        format=formats[0] if formats else None,
        stop_reason="tool_calls" if calls and stop in ("stop", None) else stop,
        notes=[note for found in parsed for note in found.notes],
        repairs=message.repairs + [repair for found in parsed for repair in found.repairs],
    )


def _is_read(found: Message, run: str) -> bool:
    """Whether something else stands in a run than its text: a call, or a turn's end that is left out."""
    if found.tool_calls or found.errors or found.reasoning is not None:
        return True
    return "".join(part.text for part in found.parts if isinstance(part, TextPart)) != run


def _beside(parts: list[Part], first: TextPart) -> list[Part]:
    """What was found in a run: what the provider sent beside its first text goes with its first text."""
    for place, part in enumerate(parts):
        if isinstance(part, TextPart):
            return [*parts[:place], replace(part, extra=first.extra), *parts[place + 1 :]]
    return parts


def _numbered(found: Message, first: int) -> Message:
    """What was found in a run, its calls numbered from ``first`` on."""
    parts: list[Part] = [
        replace(part, call=replace(part.call, index=part.call.index + first)) if isinstance(part, CallPart) else part
        for part in found.parts
    ]
    return replace(found, parts=parts, errors=[_renumbered(error, first) for error in found.errors])


def _renumbered(error: ParseError, numbers: int | dict[int, int]) -> ParseError:
    """A copy of an error for the call's number among all: from a first one on, or as they are told."""
    made = copy(error)
    if made.call_index is not None:
        made.call_index = numbers[made.call_index] if isinstance(numbers, dict) else numbers + made.call_index
        if made.call is not None:
            made.call = replace(made.call, index=made.call_index)
    return made


class Inside:
    """The same for the events of a provider's stream."""

    def __init__(self, text_format: str, ids: str, tools: Any, on_error: str, validate: bool, coerce: bool) -> None:
        self._options = _options(text_format, ids, tools, on_error, validate, coerce)
        self._parser = StreamParser(**self._options)
        self._first = self._following = 0  # the numbers of the run's first call, and of the next
        self._numbers: dict[int, int] = {}
        # The runs so far, and which call of the provider's ended each.
        self._parsed: list[tuple[Message, int | None]] = []
        self._closed = False

    def translate(self, events: list[Event]) -> list[Event]:
        """The provider's events with what its content holds, all calls numbered as they come."""
        found: list[Event] = []
        for event in events:
            if type(event) is TextDelta:
                found += self._of_text(self._parser.feed(event.text))
            elif isinstance(event, _CALLS):
                found += self._at_call(event.index)
                found.append(_moved(event, self._numbers[event.index]))
            elif isinstance(event, ErrorEvent) and event.error.call_index is not None:
                found += self._at_call(event.error.call_index)
                found.append(ErrorEvent(_renumbered(event.error, self._numbers), event.span))
            else:
                found.append(event)
        return found

    def close(self, finish_reason: str | None) -> list[Event]:
        """The end; the events that this decides."""
        self._closed = True
        return self._end_run(finish_reason, None)

    def _at_call(self, index: int) -> list[Event]:
        """A call of the provider's, which ends the run of content if it begins here."""
        if index in self._numbers:
            return []
        found = self._end_run(None, index)
        self._numbers[index] = self._following
        self._first = self._following = self._following + 1
        self._parser = StreamParser(**self._options)
        return found

    def _end_run(self, finish_reason: str | None, index: int | None) -> list[Event]:
        found = self._of_text(self._parser.close(finish_reason))
        self._parsed.append((_numbered(self._parser.message, self._first), index))
        return found

    def _of_text(self, events: list[Event]) -> list[Event]:
        found: list[Event] = []
        for event in events:
            index = None
            if isinstance(event, _CALLS):
                index = event.index + self._first
                event = _moved(event, index)
            elif isinstance(event, ErrorEvent) and event.error.call_index is not None:
                event = ErrorEvent(_renumbered(event.error, self._first), event.span)
                index = event.error.call_index
            if index is not None:
                self._following = max(self._following, index + 1)
            found.append(event)
        return found

    def message(self, message: Message) -> Message:
        """The message of the stream so far, ``message`` being the provider's own."""
        made = {part.call.index for part in message.parts if _is_own(part)}
        runs = list(self._parsed)
        if not self._closed:
            runs.append((_numbered(self._parser.message, self._first), None))
        parsed: list[Message] = []
        goes_on = False
        for found, index in runs:
            if goes_on:  # the call before was broken, so that nothing stands between the texts
                parsed[-1] = _joined(parsed[-1], found)
            else:
                parsed.append(found)
            goes_on = index not in made
        return _combined(message, parsed, self._numbers)


def _joined(one: Message, other: Message) -> Message:
    texts = [text for text in (one.reasoning, other.reasoning) if text is not None]
    return replace(
        one,
        reasoning="".join(texts) if texts else None,
        tool_calls=one.tool_calls + other.tool_calls,
        errors=one.errors + other.errors,
        parts=one.parts + other.parts,
        notes=one.notes + other.notes,
        repairs=one.repairs + other.repairs,
        format=one.format or other.format,
    )


def _moved(event: Any, index: int) -> Event:
    """An event of a call that has another number among all."""
    if isinstance(event, ToolCallEnd):
        return replace(event, index=index, call=replace(event.call, index=index))
    moved: Event = replace(event, index=index)
    return moved
