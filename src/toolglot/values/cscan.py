"""The standard library's C scanner, made stricter: no duplicate keys, no infinities, no NaN."""

from __future__ import annotations

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
