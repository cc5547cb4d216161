"""The standard library's C scanner, made stricter: no duplicate keys, no infinities, no NaN."""

from __future__ import annotations

from collections.abc import Iterable
from json import JSONDecoder
from sys import getsizeof
from typing import Any, Final, NoReturn

PIECE: Final = 1 << 14  # of a long text, what is looked at in one go
_LATIN: Final = getsizeof("\xe9") - 1  # what a string takes besides its characters


class Reject(Exception):
    """The text is not strict JSON."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = {}
    for key, value in pairs:  # faster than `dict(pairs)`: objects are small
        result[key] = value  # noqa: PERF403
    if len(result) != len(pairs):
        raise Reject
    return result


def _float(token: str) -> float:
    number = float(token)
    if number - number != 0.0:
        raise Reject
    return number


def _constant(token: str) -> NoReturn:
    raise Reject


scan_once: Any = JSONDecoder(object_pairs_hook=_object, parse_float=_float, parse_constant=_constant).scan_once  # type: ignore[attr-defined]


def _counting() -> tuple[list[dict[str, Any]], Any]:
    """A list, and a scanner that lets duplicate keys pass but adds the objects that it reads to the list."""
    objects: list[dict[str, Any]] = []
    keep = objects.append

    def note(value: dict[str, Any]) -> dict[str, Any]:
        keep(value)
        return value

    decoder: Any = JSONDecoder(object_hook=note, parse_float=_float, parse_constant=_constant)
    return objects, decoder.scan_once


_IDLE: Final = [_counting()]  # whoever scans takes one out, so that no two threads share one


def scan_whole(text: str, escapes: bool) -> tuple[Any, int]:
    """`scan_once` from the start of a text, faster if there are several objects in it. No colon is an escape there.

    In JSON each member has a colon, and other colons stand in strings. So if there are no more colons than members,
    none is missing: no key came twice. Raises `Reject` also where that is not seen.
    """
    try:
        counting = _IDLE.pop()
    except IndexError:
        counting = _counting()
    objects, scan = counting
    try:
        result: tuple[Any, int] = scan(text, 0)
        colons = text.count(":") - sum(map(len, objects))
        if not colons:
            return result
        if escapes and '\\\\"' not in text and colons == text.count('\\":'):
            return result  # a colon behind an escaped quote stands in a string, which is JSON then
        if not escapes and type(result[0]) is dict:  # a time among the outermost members
            left = colons
            for item in result[0].values():
                if type(item) is str and ":" in item:
                    left -= item.count(":")
                    if not left:
                        return result
        # Inner objects come first. With escapes it is they that hold the colons, JSON in a string; else times and URLs.
        if colons != _in_strings(objects if escapes else reversed(objects), colons):
            raise Reject
        return result
    finally:
        objects.clear()
        _IDLE.append(counting)


def _in_strings(objects: Iterable[dict[str, Any]], enough: int) -> int:
    """How many colons there are in the strings that are members of ``objects``, up to ``enough``."""
    colons = 0
    for value in objects:
        for item in value.values():
            if type(item) is str and ":" in item:
                colons += item.count(":")
                if colons >= enough:
                    return colons
    return colons


def half_pair(text: str, pos: int, end: int) -> bool:
    """Whether there is a raw surrogate. Encoders look for them fastest."""
    try:
        if end - pos < 512:
            text[pos:end].encode()
        elif getsizeof(text) - len(text) > _LATIN:  # more than one byte a character
            # The codec nearest to how the string is stored. Pieces bound the memory.
            codec = "utf-32-le" if getsizeof(text) > 4 * len(text) else "utf-16-le"
            for start in range(pos, end, PIECE):
                text[start : min(end, start + PIECE)].encode(codec)
    except UnicodeEncodeError:
        return True
    return False
