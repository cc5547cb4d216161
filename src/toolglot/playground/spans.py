"""What each stretch of a text is: runs that tile it, for colouring."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from ..errors import ParseError, ToolglotError
from ..types import CallPart, Message, ReasoningPart, TextPart, ToolCall

Run: TypeAlias = tuple[int, int, str, int | None]
"""Start, end (code points), what it is, and the number of the call that it belongs to."""

KINDS = ("content", "reasoning", "call", "name", "arguments", "markup", "error", "at")
"""What a run may be; ``at`` is the place that an error points to, empty at the end of a text."""


def runs(text: str, message: Message, errors: Iterable[ToolglotError]) -> list[Run]:
    """The runs of ``text``, in order, without gaps: what nothing was found in is content.

    >>> from toolglot import parse
    >>> text = 'Hi <tool_call>{"name": "f", "arguments": {}}</tool_call>'
    >>> [(kind, text[start:end]) for start, end, kind, _ in runs(text, parse(text), [])][:4]
    [('content', 'Hi '), ('call', '<tool_call>{"name": "'), ('name', 'f'), ('call', '", "arguments": ')]
    """
    found: list[Run] = [(start, end, "markup", None) for start, end in message.separators]
    for part in message.parts:
        if part.span is None:
            continue
        if isinstance(part, CallPart):
            found += _call(text, part.call, *part.span)
        elif isinstance(part, TextPart | ReasoningPart):
            found.append((*part.span, "content" if isinstance(part, TextPart) else "reasoning", None))
    for error in errors:
        if isinstance(error, ParseError) and error.span is not None:
            found += _error(error, *error.span)
    return list(_tiled(sorted(found, key=lambda run: run[:2]), len(text)))


def _tiled(found: list[Run], length: int) -> Iterator[Run]:
    at = 0
    for start, end, kind, call in found:
        start, end = max(start, at), min(end, length)
        if start > end or (start == end and kind != "at"):
            continue
        if start > at:
            yield at, start, "content", None
        yield start, end, kind, call
        at = end
    if at < length:
        yield at, length, "content", None


def _call(text: str, call: ToolCall, start: int, end: int) -> Iterator[Run]:
    """A call's own runs: its markup, its name, its arguments."""
    raw = call.raw_arguments or call.input or ""
    first = last = end
    name = _find_name(text, call.name, start, end)
    if raw:
        first = text.find(raw, max(name, start), end)
        if first < 0:  # the name comes last
            first = text.find(raw, start, end)
            name = _find_name(text, call.name, first + len(raw), end) if first >= 0 else name
        first, last = (first, first + len(raw)) if first >= 0 else (end, end)
    marks = [(first, last, "arguments")] if first < last else []
    length = len(call.name)
    if name < 0 and "/" in call.name:  # a server's tool, which some families write apart
        length = len(call.name.rpartition("/")[2])
        name = _find_name(text, call.name[-length:], start, first) if length else -1
    if name >= 0 and not first < name + length <= last:
        marks.append((name, name + length, "name"))
    at = start
    for begin, stop, kind in sorted(marks):
        if begin > at:
            yield at, begin, "call", call.index
        yield begin, stop, kind, call.index
        at = stop
    if at < end:
        yield at, end, "call", call.index


def _find_name(text: str, name: str, start: int, end: int) -> int:
    """Where a call's name stands: its first occurrence as a whole word, -1 if there is none. One that looks like a key
    (``"name":``) or an attribute (``name=``) only counts if there is no other.
    """
    doubtful = -1
    at = start - 1
    for _ in range(8):  # the name is one of the first words of a call: a text of nothing but such words costs no more
        at = text.find(name, at + 1, end)
        if at < 0:
            break
        before, after = text[at - 1 : at] if at > start else "", text[at + len(name) : at + len(name) + 2]
        if before.isalnum() or before == "_" or after[:1].isalnum() or after[:1] == "_":
            continue
        if after[:1] != "=" and after not in ('":', "':"):
            return at
        if doubtful < 0:
            doubtful = at
    return doubtful


def _error(error: ParseError, start: int, end: int) -> Iterator[Run]:
    at = error.position
    if at is None or not start <= at <= end:
        yield start, end, "error", error.call_index
        return
    yield start, at, "error", error.call_index
    yield at, min(at + 1, end), "at", error.call_index
    yield at + 1, end, "error", error.call_index
