"""The standard library's C scanner, made stricter: no duplicate keys, no infinities, no NaN."""

from __future__ import annotations

from json import JSONDecoder
from typing import Any, NoReturn


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
