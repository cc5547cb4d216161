"""Values that grow while a stream comes: strings in pieces, and objects and lists that hold them."""

from __future__ import annotations

import re
from contextlib import suppress
from math import isfinite
from typing import Any, Final

from ..errors import Fault
from ..values.json import loads

__all__ = ["Balance", "Pieces", "hashable", "joined", "merge", "number_of", "parse_member", "settle", "shown"]


class Pieces(list[str]):
    """A string of the payload that still grows."""

    __slots__ = ()


def joined(value: Any, left_out: frozenset[int] = frozenset()) -> Any:
    """A copy of ``value`` with its pieces joined, without the objects whose identities are ``left_out``."""
    kind = type(value)
    if kind is Pieces:
        return "".join(value)
    if kind is dict:  # loops: a comprehension would be a second frame a level, and values nest as deep as 512
        whole = {}
        for key, item in value.items():
            if id(item) not in left_out:
                whole[key] = joined(item, left_out)
        return whole
    if kind is list:
        items = []
        for item in value:
            if id(item) not in left_out:
                items.append(joined(item, left_out))  # noqa: PERF401
        return items
    return bytes(value) if kind is bytearray else value


def hashable(key: Any) -> Any:
    """What an API names something by, as a key; what cannot be one is None."""
    return key if type(key) in _KEYS else None


def number_of(index: Any) -> int | None:
    """An index, which some APIs give as a float; None if there is none."""
    if type(index) is float:
        return int(index) if isfinite(index) else None
    return index if type(index) is int else None


def shown(value: Any) -> str:
    """``value`` in a message, not long."""
    if type(value) is int and value.bit_length() > 256:
        return "a huge number"
    return f"{value!r:.80}" if type(value) in _PLAIN else f"a {type(value).__name__}"


_KEYS: Final = frozenset((int, str, float))
_PLAIN: Final = frozenset((int, str, float, bool, type(None)))


def merge(into: dict[str, Any], key: str, value: Any) -> None:
    """Add what a delta says of a member that is kept as it is: objects and lists grow, and so do texts in them."""
    known = into.get(key)
    if type(known) is list and type(value) is list:
        for item in value:
            last = known[-1] if known else None
            number = item.get("index") if type(item) is dict else None
            if type(last) is dict and number is not None and last.get("index") == number:
                _merge_object(last, item)
            else:
                known.append(_growing(item))
    elif type(known) is dict and type(value) is dict:
        _merge_object(known, value)
    elif type(value) is list:
        into[key] = []
        merge(into, key, value)
    else:
        into[key] = _growing(value)


_TEXTS: Final = frozenset(("text", "summary", "data", "transcript"))


def _growing(value: Any) -> Any:
    if type(value) is not dict:
        return value
    return {key: Pieces([item]) if key in _TEXTS and type(item) is str else item for key, item in value.items()}


def _merge_object(known: dict[str, Any], value: dict[str, Any]) -> None:
    for key, item in value.items():
        if type(item) is str and type(known.get(key)) is Pieces:
            known[key].append(item)
        elif item is not None:
            known[key] = Pieces([item]) if key in _TEXTS and type(item) is str else item


def parse_member(item: dict[str, Any], key: str) -> None:
    """JSON that came in pieces as what it says, if it is whole."""
    if type(item.get(key)) is Pieces:
        with suppress(Fault):
            item[key] = loads("".join(item[key]))


class Balance:
    """Whether pieces of JSON text make a whole object so far; each character is looked at once."""

    __slots__ = ("begun", "depth", "escaped", "quoted")

    def __init__(self) -> None:
        self.begun = self.quoted = self.escaped = False
        self.depth = 0

    @property
    def whole(self) -> bool:
        """The object that began has ended."""
        return self.begun and self.depth <= 0 and not self.quoted

    def feed(self, piece: str) -> None:
        """More of the text."""
        at = 0
        if self.escaped and piece:
            at, self.escaped = 1, False
        size = len(piece)
        while at < size:
            match = (_IN_STRING if self.quoted else _OUTSIDE)(piece, at)
            if match is None:
                return
            at = match.end()
            found = match.group()
            if found == '"':
                self.quoted = not self.quoted
            elif found == "\\":
                self.escaped = at >= size
                at += 1
            elif found in "{[":
                self.begun = True
                self.depth += 1
            else:
                self.depth -= 1


_IN_STRING: Final = re.compile(r'["\\]').search
_OUTSIDE: Final = re.compile(r'["{}\[\]]').search


def settle(value: Any) -> None:
    """Join the pieces in ``value``, in place."""
    for key, item in value.items() if type(value) is dict else enumerate(value):
        kind = type(item)
        if kind is Pieces:
            value[key] = "".join(item)
        elif kind is dict or kind is list:
            settle(item)
