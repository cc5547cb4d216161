"""The scalar parts of literals: numbers and escape sequences.

Functions of text and position; a `Fault`'s ``at`` is an index into that text.
"""

from __future__ import annotations

import re
from typing import Any, Final

from ..errors import Fault
from .dialect import Quote

MAX_DIGITS: Final = 4300
_CHUNK: Final = 600  # digits that `int` converts whatever `sys.set_int_max_str_digits` says

_PARTS = re.compile(r"(-?(?:0|[1-9][0-9]*))(\.[0-9]*)?([eE][-+]?[0-9]*)?")
_HEX: Any = re.compile(r"[0-9A-Fa-f]*").match
_OCTAL: Any = re.compile(r"[0-7]{1,3}").match


def read_number(token: str, final: bool) -> tuple[int | float, int]:
    """The value of the JSON number that ``token`` begins with, and its length; ``final``: the text ends there."""
    parts = _PARTS.match(token)
    if parts is None:
        fraction, exponent, length = None, None, 1
    else:
        fraction, exponent, length = parts[2], parts[3], parts.end()
    if parts is None or fraction == "." or (exponent and exponent[-1] in "eE+-"):
        # At the end of the text something may be missing, but `1.e` is hopeless.
        if final and length == len(token) and not (fraction == "." and exponent):
            raise Fault("json.unexpected_end", length, "unexpected end of input", "a digit", True)
        raise Fault("json.invalid_number", 0, "invalid number")
    if token[length : length + 1].isdigit():
        raise Fault("json.invalid_number", 0, "invalid number: it begins with 0")
    if length < len(token):
        token = token[:length]
    if not (fraction or exponent):
        return _integer(token), length
    number = float(token)
    if number - number != 0.0:
        raise Fault("json.number_out_of_range", 0, "number is out of range for a 64-bit float")
    return number, length


def _integer(token: str) -> int:
    size = len(token)
    if size <= _CHUNK:
        return int(token)
    sign = 1 if token[0] == "-" else 0
    if size - sign > MAX_DIGITS:
        raise Fault("json.number_too_long", 0, f"integer of {size - sign} digits, more than {MAX_DIGITS}")
    value = 0
    for start in range(sign, size, _CHUNK):
        chunk = token[start : start + _CHUNK]
        value = value * 10 ** len(chunk) + int(chunk)
    return -value if sign else value


def read_escape(text: str, pos: int, kind: Quote, json: bool, final: bool) -> tuple[str, int] | None:
    """What the escape at ``pos`` stands for and the index behind it; ``None`` if more text is needed.

    There is a character behind the backslash. ``json`` chooses JSON's error codes.
    """
    char = text[pos + 1]
    simple = kind.escapes.get(char)
    if simple is not None:
        return simple, pos + 2
    if char == "u":
        code = _hex(text, pos, 4, json, final)
        if code < 0:
            return None
        end = pos + 6
        if not 0xD800 <= code < 0xE000:
            return chr(code), end
        ended = False
        if code < 0xDC00 and kind.pairs:
            if text.startswith("\\u", end):
                low = _hex(text, end, 4, json, final)
                if low < 0:
                    return None
                if 0xDC00 <= low < 0xE000:
                    return chr(0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00)), end + 6
            else:
                ended = len(text) - end < 2 and "\\".startswith(text[end:])
                if ended and not final:
                    return None
        name = "json.lone_surrogate" if json else "tool_call.invalid_escape"
        raise Fault(name, pos, "unpaired surrogate in \\u escape", None, ended)
    if kind.numeric and char in "xU01234567":
        if char in "xU":
            digits = 2 if char == "x" else 8
            code = _hex(text, pos, digits, json, final)
            if code < 0:
                return None
            if code > 0x10FFFF or 0xD800 <= code < 0xE000:
                raise Fault("tool_call.invalid_escape", pos, "invalid escape: no such character")
            return chr(code), pos + 2 + digits
        end = _OCTAL(text, pos + 1).end()
        if end == len(text) and end - pos < 4 and not final:
            return None
        return chr(int(text[pos + 1 : end], 8)), end
    name = "json.invalid_escape" if json else "tool_call.invalid_escape"
    shown = f"'{char}'" if char.isprintable() else f"U+{ord(char):04X}"
    raise Fault(name, pos, f"invalid escape: backslash followed by {shown}", "one of " + " ".join(kind.escapes))


def _hex(text: str, pos: int, digits: int, json: bool, final: bool) -> int:
    """The number behind the two characters at ``pos``; -1 if more text is needed."""
    start = pos + 2
    end: int = _HEX(text, start, start + digits).end()
    if end - start == digits:
        return int(text[start:end], 16)
    ended = end == len(text)
    if ended and not final:
        return -1
    if not json:
        code = "tool_call.invalid_escape"
    elif ended:
        code = "json.unterminated_string"
    else:
        code = "json.invalid_unicode_escape"
    wanted = f"{digits} hexadecimal digits"
    raise Fault(code, pos, f"invalid \\{text[pos + 1]} escape: expected {wanted}", wanted, ended)
