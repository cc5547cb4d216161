"""Values that come by their JSON paths, as Vertex streams arguments: `put_at`."""

from __future__ import annotations

import re
from functools import lru_cache
from math import isfinite
from typing import Any, Final

from ..errors import Fault
from ..types import Limits
from ..values.json import loads
from ._pieces import Pieces

__all__ = ["Unreadable", "put_at"]

# A step of a path of RFC 9535 that names one value: .name, ['name'], ["name"] or [0].
_STEP: Any = re.compile(
    r"""\.([A-Za-z_\u0080-\U0010ffff][\w\u0080-\U0010ffff]*) | \[([0-9]{1,9})\]
    | \['((?:[^'\\]|\\.)*)'\] | \["((?:[^"\\]|\\.)*)"\]""",
    re.VERBOSE | re.DOTALL,
)
_NAME, _NUMBER = 1, 2  # groups of it; the others are names in quotes
_QUOTE: Final = re.compile(r"""\\(.)|["]""", re.DOTALL)
_VALUES: Final = ("stringValue", "numberValue", "boolValue", "nullValue")


class Unreadable(ValueError):
    """What is wrong with a piece."""


def put_at(arguments: dict[str, Any], piece: dict[str, Any], limits: Limits) -> int:
    """Put a ``PartialArg`` in its place in ``arguments``: a string goes on, anything else is whole.

    Returns how many characters it brought. Raises `Unreadable` for a path that names no one place.
    """
    path = piece.get("jsonPath")
    if not isinstance(path, str):
        raise Unreadable("a piece of the arguments has no jsonPath")
    steps = _steps(path, limits.depth, 64 * limits.name)
    key: str | None
    for key in _VALUES:
        if piece.get(key) is not None:
            break
    else:  # null in JSON; in an SDK's dump all are there
        key = "nullValue" if "nullValue" in piece and _VALUES[0] not in piece else None
    node: Any = arguments
    last = len(steps) - 1
    for number, step in enumerate(steps):
        if isinstance(step, int) != isinstance(node, list):
            raise Unreadable(f"{path[:80]}: an earlier piece has another kind of value there")
        if isinstance(step, int) and step > len(node):
            raise Unreadable(f"{path[:80]}: the items before it have not come")
        present = step < len(node) if isinstance(step, int) else step in node
        if number == last:
            return _put(node, step, present, key, piece, path)
        if not present:
            _set(node, step, [] if isinstance(steps[number + 1], int) else {})
        node = node[step]
        if not isinstance(node, (dict, list)) or isinstance(node, Pieces):
            raise Unreadable(f"{path[:80]}: an earlier piece has another kind of value there")
    raise Unreadable(f"{path[:80]} names no argument")


def _put(node: Any, step: Any, present: bool, key: str | None, piece: dict[str, Any], path: str) -> int:
    if key is None:
        return 1  # a piece that only says that more comes
    if key == "stringValue":
        text = piece[key]
        if not isinstance(text, str):
            raise Unreadable(f"{path[:80]}: stringValue is no string")
        if not present:
            _set(node, step, Pieces())
        if not isinstance(node[step], Pieces):
            raise Unreadable(f"{path[:80]}: an earlier piece has another kind of value there")
        node[step].append(text)
        return len(text) or 1
    if present:
        raise Unreadable(f"{path[:80]} comes twice")
    _set(node, step, _value(key, piece[key], path))
    return 1


def _value(key: str, value: Any, path: str) -> Any:
    if key == "nullValue":
        return None
    if key == "boolValue" and type(value) is bool:
        return value
    if key == "numberValue" and type(value) is int:
        return value
    if key == "numberValue" and type(value) is float and isfinite(value):
        # The SDK's objects have floats where the wire, and the same call whole, have whole numbers.
        return int(value) if value.is_integer() and abs(value) < 2**53 else value
    raise Unreadable(f"{path[:80]}: {key} is none")


def _set(node: Any, step: Any, value: Any) -> None:
    if isinstance(step, int):
        node.append(value)
    else:
        node[step] = value


def _json_quote(found: re.Match[str]) -> str:
    return "'" if found[1] == "'" else found[0] if found[1] else '\\"'


def _unquoted(name: str, path: str) -> str:
    """A quoted name: escapes are JSON's, and either quotation mark may be escaped."""
    if "\\" not in name:
        return name
    try:
        text: str = loads('"' + _QUOTE.sub(_json_quote, name) + '"')
    except Fault:
        raise Unreadable(f"{path[:80]!r} is no path to one value") from None
    return text


@lru_cache(64)  # a string's pieces have one path
def _steps(path: str, depth: int, longest: int) -> tuple[str | int, ...]:
    if not path.startswith("$") or len(path) > longest:
        raise Unreadable(f"{path[:80]!r} is no path")
    steps: list[str | int] = []
    at = 1
    while at < len(path):
        match = _STEP.match(path, at)
        if match is None or len(steps) >= depth:
            raise Unreadable(f"{path[:80]!r} is no path to one value")
        kind = match.lastindex
        text = match[kind]
        steps.append(text if kind == _NAME else int(text) if kind == _NUMBER else _unquoted(text, path))
        at = match.end()
    return tuple(steps)
