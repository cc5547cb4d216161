"""Mends of what stands in a call: its JSON, or its arguments in Python's or Gemma's notation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ..repair.arguments import decoded
from ..repair.edits import Edit, Unmendable
from ..repair.json_text import mend_json
from ..repair.literal_text import mend_gemma, mend_python
from ..values.json import quote, scan
from . import shapes
from .ops import Switch
from .shapes import SEED
from .valueops import ArgumentsOp

if TYPE_CHECKING:
    from .mend import Region

__all__ = ["damaged", "encoded", "json_at", "literals", "renamed"]

_BRACKET = re.compile(r"[{\[]")
# The quote tokens of Gemma's notations.
MARKS = {"gemma": '<|"|>', "function_gemma": "<escape>"}


def json_at(region: Region) -> int | None:
    """Where the JSON stands in which the call is broken."""
    if region.json_at is not None:
        return region.json_at
    at = region.fault.at - region.span[0]
    if region.fault.code == "tool_call.unrecognized":
        return at if region.text.startswith(('"', "{"), at) else None
    if region.fault.code.startswith("json.") or region.fault.code == "tool_call.invalid_arguments":
        # The value was read, and what is wrong stands in it or behind it.
        span = region.m.raw_span
        start = region.m.read_at
        if start is None and span is not None:
            start = span[0]
        if start is not None and start >= region.span[0]:
            return start - region.span[0]
        first = _BRACKET.search(region.text)
        return None if first is None else first.start()
    return None


def _mends(
    region: Region, text: str, pos: int, stops: tuple[str, ...], *, extra: bool
) -> Iterator[tuple[list[Edit], int]]:
    m = region.m
    closed = m.ended_itself or not region.open
    return mend_json(
        text,
        pos,
        stops=stops,
        closed=closed,
        quotes=m.tools is not None,
        extra=extra,
        within=region.begin is not None,
        depth=m.limits.depth,
    )


def damaged(region: Region, pos: int, *, extra: bool) -> Iterator[list[Edit]]:
    """Damage in a call's JSON. ``extra``: brackets too many, which the format itself may have behind the JSON."""
    for edits, _ in _mends(region, region.text, pos, region.stops, extra=extra):
        if edits and extra == any(edit.code == "repair.extra_bracket" for edit in edits):
            yield edits


def encoded(region: Region, pos: int) -> Iterator[list[Edit]]:
    """JSON that was encoded once more than the format has it, or that is damaged inside the string that holds it."""
    text = region.text
    if text.startswith('"', pos):
        found = scan(text, pos, region.m.limits.depth)
        literal = None if found is None else (found[0], pos, found[1])
    else:
        parsed = shapes.members(text, pos, region.m.limits.depth) if text.startswith("{", pos) else None
        strings = [] if parsed is None else [one for one in parsed[0].values() if _holds_json(one[0])]
        literal = strings[0] if len(strings) == 1 else None
    at = region.fault.at - region.span[0]
    if literal is None or not (literal[1] <= at < literal[2]):
        return
    inner, a, b = literal
    for one in decoded(inner, region.m.limits.depth, quotes=region.m.tools is not None):
        yield [Edit(a, b, one, "repair.double_encoded")]


# Other words for what a call object says.
_NAME_KEYS = ("tool_name", "tool", "function", "action", "recipient_name")
_ARGUMENT_KEYS = ("params", "kwargs", "action_input", "tool_input", "args", "arguments", "parameters", "input")


def renamed(region: Region, pos: int) -> Iterator[list[Edit]]:
    """A call object that calls its members by other words, with a declared tool's name under one of them."""
    text, tools = region.text, region.m.tools
    parsed = shapes.members(text, pos, region.m.limits.depth) if text.startswith("{", pos) else None
    if parsed is None or tools is None or "name" in parsed[0]:
        return
    names = [key for key in _NAME_KEYS if key in parsed[0]]
    arguments = [key for key in _ARGUMENT_KEYS if key in parsed[0]]
    if len(names) != 1 or len(arguments) != 1 or parsed[0][names[0]][0] not in tools.names:
        return
    edits = []
    for key, known in ((names[0], "name"), (arguments[0], "arguments")):
        # The key stands before its value, behind nothing but a colon and white space.
        at = text.rfind(f'"{key}"', pos, parsed[0][key][1])
        if key not in (known, *SEED.arguments):
            edits.append(Edit(at, at + len(key) + 2, quote(known), "repair.call_key"))
    yield edits


def literals(region: Region) -> Iterator[list[Edit]]:
    """Damage in Python's notation, or in Gemma's."""
    m = region.m
    op = region.m.resume
    for _ in range(16):
        if op is None or isinstance(op, ArgumentsOp):
            break
        op = op.default if isinstance(op, Switch) else op.next
    closed = m.ended_itself or not region.open
    try:
        if isinstance(op, ArgumentsOp) and op.codec in MARKS:
            at = region.text.find("{")
            edits = mend_gemma(region.text, at, MARKS[op.codec], region.stops, closed) if at >= 0 else []
        elif isinstance(op, ArgumentsOp) and not op.python:
            return
        else:
            edits = mend_python(region.text, region.stops, closed, region.begin is not None)
    except Unmendable:
        return
    if edits:
        yield edits


def _holds_json(value: Any) -> bool:
    return isinstance(value, str) and value.lstrip()[:1] in ("{", '"', "`") and bool(value.strip())
