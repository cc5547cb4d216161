"""JSON, strictly, at the speed of the standard library's scanner.

`scan` is the fast path: it runs the C scanner and then asks, at C speed, whether the text could hold anything
that the C scanner lets pass and that is an error here. Only if it could, `LiteralReader` is asked as well.
"""

from __future__ import annotations

import re
from json import JSONDecodeError
from typing import Any, Final

from ..errors import Fault
from .cscan import PIECE, Reject, half_pair, scan_once, scan_whole
from .literal import JSON, MAX_DEPTH, MAX_DIGITS, LiteralReader, found, quote

__all__ = ["canonical", "is_plain", "loads", "quote", "scan", "scan_plain"]

_WHITE: Any = re.compile(r"[ \t\n\r]*").match
_FEW: Final = 128  # characters in which there are few objects
_DIGITS: Final = "0123456789"
_DIGIT_SET: Final = frozenset(_DIGITS)
_DIGIT_RUN: Any = re.compile(r"[0-9]*").match
_NO_STRUCTURE: Final = bytes(byte for byte in range(256) if byte not in b'[]{}"')
_SURROGATE_ESCAPE: Any = re.compile(r"\\u[dD]").search
_ODD_ESCAPE: Any = re.compile(r"\\u(?:[dD]|003)").search  # of a surrogate or, may be, a colon
# An escape that is no surrogate, or a pair of surrogates; group 1 is half a pair.
_ESCAPE = re.compile(r"\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]..|u([dD][89a-fA-F])|.)")


def scan(text: str, pos: int, depth: int = MAX_DEPTH) -> tuple[Any, int] | None:
    """The object, array or string that starts at ``pos`` and the index behind it; ``None`` if none is valid.

    ``depth``: how many levels it may have.
    """
    value: Any
    end: int
    try:
        value, end = scan_once(text, pos)
    except (Reject, JSONDecodeError, StopIteration):
        return None
    except (ValueError, RecursionError):
        # A limit of the interpreter, not ours: on the digits of an integer, or on what is left of the stack.
        return _slow(text, pos, depth)
    if not isinstance(value, (dict, list, str)):
        return None
    if end - pos > MAX_DIGITS and _long_digits(text, pos, end):
        return _slow(text, pos, depth)
    if end - pos > 2 * depth:
        if depth and _ascii_strings(value):
            return value, end  # neither deep nor with a surrogate: cheaper to see here than in the text
        if _deep(value, text, pos, end, depth):
            return None
    if text.find("\\", pos, end) >= 0 and text.rfind("\\u", pos, end) >= 0 and _half_escape(text, pos, end):
        return None
    if not text.isascii() and half_pair(text, pos, end):
        return None
    return value, end


def scan_plain(text: str, pos: int) -> tuple[Any, int] | None:
    """`scan` where `is_plain` of the text is known; None also where it is not decided at once."""
    try:
        value, end = scan_once(text, pos)
    except (Reject, StopIteration, ValueError, RecursionError):
        return None
    return scan(text, pos) if end - pos > MAX_DEPTH else (value, end)


def is_plain(text: str) -> bool:
    """Whether there is no surrogate in ``text``, neither raw nor as an escape."""
    return "\\u" not in text and (text.isascii() or not half_pair(text, 0, len(text)))


def _ascii_strings(value: Any) -> bool:
    """Whether ``value`` is a small object of nothing but ASCII strings."""
    return (
        type(value) is dict
        and len(value) <= 16
        and all(type(item) is str and item.isascii() and key.isascii() for key, item in value.items())
    )


def _slow(text: str, pos: int, depth: int) -> tuple[Any, int] | None:
    """`scan` by the reader, which has no limits but ours."""
    if text[pos : pos + 1] not in ("{", "[", '"'):
        return None
    reader = LiteralReader(JSON, pos, depth=depth)
    try:
        end = reader.feed(text, pos, True)
    except Fault:
        return None
    return reader.value, end


def _long_digits(text: str, pos: int, end: int) -> bool:
    """Whether there may be an integer that is too long: its digits would cover every 4,301st character."""
    step = MAX_DIGITS + 1
    sample = text[pos:end:step]
    if _DIGIT_SET.isdisjoint(sample):
        return False
    for index, char in enumerate(sample):
        if char in _DIGIT_SET:
            at = pos + index * step
            before = text[max(pos, at - MAX_DIGITS) : at]
            digits = len(before) - len(before.rstrip(_DIGITS)) + _DIGIT_RUN(text, at, at + step).end() - at
            if digits > MAX_DIGITS:
                return True
    return False


def _deep(value: Any, text: str, pos: int, end: int, depth: int) -> bool:
    """Whether ``value``, read from ``text[pos:end]``, is nested deeper than ``depth``.

    Most long texts are one long string.
    """
    if not _levels(value, 64, depth):
        return False
    # A look at every value is dear. Reduce the text to its brackets instead, if no string holds any: then all quotes
    # stand in pairs.
    if text.find("\\", pos, end) < 0:  # in pieces: this is where memory would be most
        pieces = (text[at : min(end, at + PIECE)] for at in range(pos, end, PIECE))
        left = b"".join([piece.encode("utf-8", "replace").translate(None, _NO_STRUCTURE) for piece in pieces])
    else:
        left = text[pos:end].encode("utf-8", "replace")
        left = left.replace(b"\\\\", b"").replace(b'\\"', b"").translate(None, _NO_STRUCTURE)
    left = left.replace(b'""', b"")
    if b'"' not in left:
        for removed in range(0, 16, 2):  # each round takes two levels away at most
            if left.count(b"[") + left.count(b"{") + removed <= depth:
                return False
            left = left.replace(b"{}", b"").replace(b"[]", b"")
    return _levels(value, len(text), depth)


def _levels(value: Any, budget: int, depth: int) -> bool:
    """Whether ``value`` is nested deeper than ``depth``, or, looking at about ``budget`` values only, may be."""
    level: list[Any] = [] if isinstance(value, str) else [value]
    for _ in range(depth):
        if not level:
            return False
        for container in level:
            budget -= len(container)
        if budget < 0:
            return True
        level = [
            item
            for container in level
            for item in (container.values() if type(container) is dict else container)
            if type(item) is dict or type(item) is list
        ]
    return bool(level)


def _half_escape(text: str, pos: int, end: int) -> bool:
    """Whether a ``\\u`` escape of half a surrogate pair stands alone."""
    if not _SURROGATE_ESCAPE(text, pos, end):
        return False
    return any(escape.lastindex for escape in _ESCAPE.finditer(text, pos, end))


def loads(text: str, depth: int = MAX_DEPTH) -> Any:
    """The value of a whole JSON text, which may have ``depth`` levels; raises `Fault`."""
    size = len(text)
    if size <= MAX_DIGITS and (text.isascii() or not half_pair(text, 0, size)):
        escapes = "\\" in text
        if not (escapes and _ODD_ESCAPE(text)) and (size <= 2 * depth or text.count("{") + text.count("[") <= depth):
            # There is nothing that `scan` would look for.
            try:
                value, end = scan_once(text, 0) if size < _FEW else scan_whole(text, escapes)
                if end == size or _WHITE(text, end).end() == size:
                    return value
            except (Reject, ValueError, StopIteration, RecursionError):
                pass
    pos: int = _WHITE(text).end()
    result = scan(text, pos, depth)
    if result is None:
        reader = LiteralReader(JSON, pos, depth=depth)
        end = reader.feed(text, pos, True)
        value = reader.value
    else:
        value, end = result
    end = _WHITE(text, end).end()
    if end != len(text):
        raise Fault("json.trailing_characters", end, f"unexpected {found(text, end)} after JSON value")
    return value


def canonical(text: str) -> str:
    """Valid JSON text with ``", "`` and ``": "``, without ASCII escaping, its numbers as they are written."""
    # Valid JSON has no raw control characters but white space: NUL and SOH can stand for what would confuse `split`.
    escaped = "\\" in text
    if escaped:
        text = text.replace("\\\\", "\0").replace('\\"', "\1")
    pieces = text.split('"')
    # Outside strings, all at once; \2 keeps the places of the strings.
    plain = "".join("\2".join(pieces[::2]).split()).replace(",", ", ").replace(":", ": ")
    pieces[::2] = plain.split("\2")
    if escaped:
        for index in range(1, len(pieces), 2):
            piece = pieces[index]
            if "\\" in piece or "\0" in piece or "\1" in piece:
                piece = piece.replace("\1", '\\"').replace("\0", "\\\\")
                pieces[index] = quote(scan_once(f'"{piece}"', 0)[0])[1:-1]
    return '"'.join(pieces)
