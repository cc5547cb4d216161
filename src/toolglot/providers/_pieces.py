"""Values that grow while a stream comes: strings in pieces, and objects and lists that hold them."""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from contextlib import suppress
from math import isfinite, isnan
from typing import Any, Final

from ..errors import Fault, LimitError
from ..values.json import loads

__all__ = [
    "Balance",
    "Pieces",
    "hashable",
    "joined",
    "merge",
    "more_bytes",
    "number_of",
    "parse_member",
    "settle",
    "shown",
]

# Deeper than any piece: a caller's values may be nested as deep as they like, and are taken as they are there.
_DEEP: Final = 600


class Pieces(list[str]):
    """A string of the payload that still grows."""

    __slots__ = ()


def joined(value: Any, left_out: frozenset[int] = frozenset()) -> Any:
    """A copy of ``value`` with its pieces joined, without the objects whose identities are ``left_out``."""
    found = [value]
    level: list[Any] = [found]
    for _ in range(_DEEP):
        below: list[Any] = []
        for node in level:
            for key, item in node.items() if type(node) is dict else enumerate(node):
                kind = type(item)
                if kind is Pieces:
                    node[key] = "".join(item)
                elif kind is dict:
                    node[key] = {name: one for name, one in item.items() if id(one) not in left_out}
                    below.append(node[key])
                elif kind is list:
                    node[key] = [one for one in item if id(one) not in left_out]
                    below.append(node[key])
                elif kind is bytearray:
                    node[key] = bytes(item)
        if not below:
            break
        level = below
    return found[0]


def hashable(key: Any) -> Any:
    """What an API names something by, as a key; what cannot be one is None."""
    return key if type(key) in _KEYS and not (type(key) is float and isnan(key)) else None


def number_of(index: Any) -> int | None:
    """An index, which some APIs give as a float; None if there is none."""
    if type(index) is float:
        return int(index) if isfinite(index) else None
    return index if type(index) is int else None


def shown(value: Any) -> str:
    """``value`` in a message, not long."""
    if type(value) is str:
        return repr(value[:80])
    if type(value) is int and value.bit_length() > 256:
        return "a huge number"
    return repr(value) if type(value) in _PLAIN else f"a {type(value).__name__}"


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
    elif key == "encrypted_content" and type(value) is str:
        if type(known) is not Pieces:
            into[key] = Pieces()
        into[key].append(value)
    else:
        into[key] = _growing(value)


_TEXTS: Final = frozenset(("text", "summary", "data", "transcript"))


def _growing(value: Any) -> Any:
    if type(value) is not dict:
        return value
    return {key: _grows(key, item) for key, item in value.items()}


def _grows(key: str, value: Any) -> Any:
    if type(value) is list:
        return list(value)
    return Pieces([value]) if key in _TEXTS and type(value) is str else value


def _merge_object(known: dict[str, Any], value: dict[str, Any]) -> None:
    for key, item in value.items():
        if type(item) is str and type(known.get(key)) is Pieces:
            known[key].append(item)
        elif type(item) is list and type(known.get(key)) is list:
            known[key] += item
        elif item is not None:
            known[key] = _grows(key, item)


def more_bytes(held: dict[str, Any], key: str, value: Any) -> bool:
    """Set a member, or add more of it: bytes, or their base64 (which padding may have ended). False: it is neither."""
    known = held.setdefault(key, value)
    if known is value:
        return True
    if isinstance(known, (bytes, bytearray)) and type(value) is bytes:
        held[key] = known if type(known) is bytearray else bytearray(known)
        held[key] += value
        return True
    pieces = Pieces([known]) if type(known) is str else known
    if type(pieces) is not Pieces or type(value) is not str:
        return False
    try:
        last = b64encode(b64decode(pieces[-1][-4:]) + b64decode(value)).decode("ascii")
    except ValueError:
        return False
    pieces[-1:] = pieces[-1][:-4], last
    held[key] = pieces
    return True


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
    """Join the pieces in ``value``, in place. Raises `LimitError` if it is deeper than JSON text may be."""
    level = [value]
    for _ in range(_DEEP):
        below: list[Any] = []
        for node in level:
            for key, item in node.items() if type(node) is dict else enumerate(node):
                kind = type(item)
                if kind is Pieces:
                    node[key] = "".join(item)
                elif kind is dict or kind is list:
                    below.append(item)
        if not below:
            return
        level = below
    raise LimitError("values are nested too deeply", "depth")
