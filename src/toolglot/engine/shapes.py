"""The JSON shapes that are tool calls: llm-beacon's table, for tagged and untagged text alike.

A value is a call only if it has a call's shape; ``{"name": "Alice", "age": 3}`` is data. Shapes are read from the
text rather than from the decoded value, so that every call keeps the model's own characters and their place.
"""

from __future__ import annotations

import re
import sys
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Any

from ..errors import Fault
from ..pattern import CallObject
from ..values.json import loads, scan
from ..values.literal import MAX_DEPTH
from .machine import Found

_KEY = re.compile(r'[ \t\r\n]*"([^"\\\x00-\x1f\ud800-\udfff]*)"[ \t\r\n]*:[ \t\r\n]*')
_ESCAPED_KEY = re.compile(r'[ \t\r\n]*"')
_COLON = re.compile(r"[ \t\r\n]*:[ \t\r\n]*")
_SCALAR = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?|true|false|null")
_AFTER = re.compile(r"[ \t\r\n]*([,\]}])")
_WS = re.compile(r"[ \t\r\n]*")

SEED = CallObject()
_BESIDE = frozenset(("type", "index"))
_ITEM = frozenset(("function", "type", "index"))

_KNOWN = sys.maxsize  # as a depth: of what was measured when what it stands in was read

# One member of an object: its value and where the value stands.
Member = tuple[Any, int, int]


def members(text: str, pos: int, depth: int = _KNOWN) -> tuple[dict[str, Member], int] | None:
    """The members of the valid JSON object at ``pos`` and the index behind it; None if it is not one.

    ``depth``: how many levels their values may have.
    """
    found: dict[str, Member] = {}
    pos += 1
    if text.startswith("}", _WS.match(text, pos).end()):  # type: ignore[union-attr]
        return found, _WS.match(text, pos).end() + 1  # type: ignore[union-attr]
    while True:
        match = _KEY.match(text, pos)
        if match is not None:
            key = match.group(1)
            start = match.end()
        else:
            match = _ESCAPED_KEY.match(text, pos)
            if match is None:
                return None
            try:
                key, end = scanstring(text, match.end(), True)
            except ValueError:
                return None
            if scan(text, match.end() - 1) is None:
                return None  # a lone surrogate
            if key in found:
                return None
            key = "\\" + key  # a key with an escape is none of a call's
            match = _COLON.match(text, end)
            if match is None:
                return None
            start = match.end()
        value: Any
        head = text[start : start + 1]
        if head in '{["' and head:
            result = scan(text, start, depth)
            if result is None:
                return None
            value, end = result
        else:
            match = _SCALAR.match(text, start)
            if match is None:
                return None
            end = match.end()
            try:
                value = loads(match.group())
            except Fault:
                return None
        if key in found:
            return None
        found[key] = (value, start, end)
        match = _AFTER.match(text, end)
        if match is None:
            return None
        pos = match.end()
        stop = match.group(1)
        if stop == "}":
            return found, pos
        if stop != ",":
            return None


def items(text: str, pos: int) -> tuple[list[tuple[int, int]], int]:
    """Where the elements of the valid JSON array at ``pos`` stand, objects only, and the index behind it.

    An element that is no object is given as an empty span.
    """
    spans: list[tuple[int, int]] = []
    pos = _WS.match(text, pos + 1).end()  # type: ignore[union-attr]
    if text.startswith("]", pos):
        return spans, pos + 1
    while True:
        pos = _WS.match(text, pos).end()  # type: ignore[union-attr]
        if text[pos] in '{["':
            result = scan(text, pos, _KNOWN)
            assert result is not None
            end = result[1]
        else:
            end = _SCALAR.match(text, pos).end()  # type: ignore[union-attr]
        spans.append((pos, end) if text[pos] == "{" else (pos, pos))
        match = _AFTER.match(text, end)
        assert match is not None
        pos = match.end()
        if match.group(1) == "]":
            return spans, pos


Shape = list[Found] | Fault | None


def read(text: str, pos: int, base: int, keys: CallObject = SEED, depth: int = MAX_DEPTH) -> tuple[Shape, int] | None:
    """The calls in the JSON object or array at ``text[pos]``, and the index behind it.

    ``base`` is the absolute position of ``text[0]``, ``depth`` the number of levels that it may have. None: it is not
    (yet) valid JSON. A shape of None: no call. A `Fault`: it has a call's shape, but a name or arguments that cannot
    be.
    """
    if text[pos] == "{":
        parsed = members(text, pos, depth - 1)
        if parsed is None or not depth:
            return None
        return _object(text, pos, parsed[0], parsed[1], base, keys, depth), parsed[1]
    result = scan(text, pos, depth)
    if result is None:
        return None
    if not isinstance(result[0], list) or not result[0]:
        return None if not isinstance(result[0], list) else (None, result[1])
    return _list(text, pos, base, keys, depth), result[1]


def _list(text: str, pos: int, base: int, keys: CallObject, depth: int) -> Shape:
    calls: list[Found] = []
    for start, end in items(text, pos)[0]:
        if start == end:
            return None
        parsed = members(text, start)
        assert parsed is not None
        one = _object(text, start, parsed[0], end, base, keys, depth)
        if one is None:
            return None
        if isinstance(one, Fault):
            return one
        calls.extend(one)
    return calls


def _object(
    text: str, start: int, found: dict[str, Member], end: int, base: int, keys: CallObject, depth: int
) -> Shape:
    listed = found.get("tool_calls")
    if listed is not None and isinstance(listed[0], list) and listed[0]:
        calls: list[Found] = []
        for i, (a, b) in enumerate(items(text, listed[1])[0]):
            inner = members(text, a) if a != b else None
            one = None if inner is None else _object(text, a, inner[0], b, base, keys, depth)
            if one is None:
                return Fault("tool_call.unrecognized", base + start, f'item {i} of "tool_calls" is not a tool call')
            if isinstance(one, Fault):
                return one
            calls.extend(one)
        return calls
    for wrapper in ("function_call", "function", keys.wrapper):
        wrapped = None if wrapper is None else found.get(wrapper)
        if wrapped is not None and isinstance(wrapped[0], dict):
            if wrapper == "function" and any(k not in _ITEM and k not in keys.id for k in found):
                return None  # not an item of tool_calls, but data
            inner = members(text, wrapped[1])
            assert inner is not None
            one = _plain(text, start, inner[0], end, base, keys, depth, loose=False)
            if one is None and wrapper != "function":
                what = f'the value of "{wrapper}" is not a tool call'
                return Fault("tool_call.unrecognized", base + start, what)
            if isinstance(one, list):
                outer_id = _text(found, keys.id)
                if outer_id is not None:
                    one[0].id = outer_id
            return one
    kind = found.get("type")
    loose = kind is not None and kind[0] == "tool_use"
    plain = _plain(text, start, found, end, base, keys, depth, loose=loose)
    return _keyed(text, start, found, end, base, depth) if plain is None and keys.keyed and found else plain


def _keyed(text: str, start: int, found: dict[str, Member], end: int, base: int, depth: int) -> Shape:
    """An object whose keys are the names of tools and whose values are their arguments."""
    calls: list[Found] = []
    at = base + start
    for key, (value, a, b) in found.items():
        decoded = decode_arguments(value, text, a, b, base, base + a, depth)
        if isinstance(decoded, Fault):
            return decoded
        call = Found(key.removeprefix("\\"), *decoded)
        call.span = (at, base + b)
        at = base + b
        calls.append(call)
    calls[-1].span = (calls[-1].span[0], base + end)  # type: ignore[index]
    return calls


def _text(found: dict[str, Member], keys: tuple[str, ...]) -> str | None:
    """The first string under one of these keys."""
    for key, (value, _, _) in found.items():
        if key in keys and isinstance(value, str):
            return value
    return None


def _plain(
    text: str, start: int, found: dict[str, Member], end: int, base: int, keys: CallObject, depth: int, *, loose: bool
) -> Shape:
    name_key = next((k for k in keys.name if k in found), None)
    given = [k for k in keys.arguments if k in found]
    if name_key is None or not given:
        return None
    if not loose and not keys.loose:
        for key in found:
            if key != name_key and key not in given and key not in keys.id and key not in _BESIDE:
                return None
    at = base + start
    if len(given) > 1:
        return Fault(
            "tool_call.ambiguous_arguments", at, f"tool call has more than one arguments key: {', '.join(given)}"
        )
    name, name_at, _ = found[name_key]
    if not isinstance(name, str) or not name.strip():
        return Fault("tool_call.invalid_name", at, "tool call name must be a non-empty string", "a tool name")
    if name in keys.answers:
        return None
    value, a, b = found[given[0]]
    if keys.text and isinstance(value, str) and not _holds_object(value):
        call = Found(name, {}, text[a:b], "{}")
        call.kind = "custom"
        call.input = value
        call.id = _text(found, keys.id)
        call.name_at = base + name_at
        call.span = (at, base + end)
        return [call]
    decoded = decode_arguments(value, text, a, b, base, at, depth)
    if isinstance(decoded, Fault):
        decoded.name, decoded.id = name, _text(found, keys.id)
        return decoded
    arguments, raw, json = decoded
    call = Found(name, arguments, raw, json)
    call.id = _text(found, keys.id)
    call.name_at = base + name_at
    call.span = (at, base + end)
    return [call]


def _holds_object(text: str) -> bool:
    """Whether a string holds a JSON object."""
    result = scan(text, pos) if text.startswith("{", pos := _WS.match(text, 0).end()) else None  # type: ignore[union-attr]
    return result is not None and not text[result[1] :].strip(" \t\r\n")


KINDS = {list: "array", str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null"}


def decode_arguments(
    value: Any, text: str, a: int, b: int, base: int, at: int, depth: int
) -> tuple[dict[str, Any], str, str] | Fault:
    """The arguments, the model's own characters and JSON text; a JSON string is decoded once.

    ``at`` is where an error that has no better place is reported.
    """
    if isinstance(value, dict):
        raw = text[a:b]
        return value, raw, raw
    if isinstance(value, str):
        try:
            inner = loads(value, depth)
        except Fault as fault:
            where = base + a + inner_position(text[a:b], fault.at)
            return Fault(
                "tool_call.invalid_arguments",
                where,
                f"tool call arguments string is not valid JSON ({fault.text})",
                fault.expected,
            )
        if isinstance(inner, dict):
            return inner, text[a:b], value.strip()
        value = inner
    return Fault(
        "tool_call.invalid_arguments",
        at,
        f"tool call arguments must be a JSON object, got {KINDS[type(value)]}",
        "a JSON object",
    )


def inner_position(literal: str, index: int) -> int:
    """Where character ``index`` of a decoded string stands in its JSON literal."""
    pos = 1
    for _ in range(index):
        if pos >= len(literal) - 1:
            break
        if literal[pos] != "\\":
            pos += 1
        elif literal[pos + 1] != "u":
            pos += 2
        elif literal[pos + 2 : pos + 4].lower() in ("d8", "d9", "da", "db"):
            pos += 12  # a pair of escapes is one character
        else:
            pos += 6
    return pos


def may_hold_call(text: str) -> bool:
    """Whether JSON in ``text`` can have a call's shape: one of its keys has to stand there, spelled plainly."""
    return '"name"' in text or "_call" in text or '"function"' in text
