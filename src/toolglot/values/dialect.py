"""How the dialects of literals differ: JSON, Python's literals and Gemma's. Data only; `literal` reads by it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["FUNCTION_GEMMA", "GEMMA", "JSON", "LFM", "PYTHON", "PYTHONIC", "Dialect", "Quote"]


@dataclass(frozen=True)
class Quote:
    """One way to quote a string.

    ``token`` opens and closes it. ``plain`` matches a run that stands for itself; it stops at the token's first
    character, at a backslash where ``escapes`` is not empty, and at what may not stand there (but for surrogates,
    which would make it slower; the reader looks for them where text is not ASCII). ``escapes`` maps
    the one-character escapes. ``numeric`` allows Python's ``\\x``, ``\\U`` and octal escapes beside ``\\u``;
    ``pairs`` joins two ``\\u`` escapes of a surrogate pair. ``verbatim``: a plain run is JSON string text as is.
    ``follow``: where strings are not escaped, the token closes one only if, behind white space, one of these comes.
    """

    token: str
    plain: re.Pattern[str]
    escapes: Mapping[str, str]
    numeric: bool = False
    pairs: bool = True
    verbatim: bool = False
    follow: str = ""


@dataclass(frozen=True)
class Dialect:
    """What a reader of literals accepts.

    ``prefix`` is the family of its error codes. ``quotes`` are tried in order, by first character. ``words`` map
    a literal to its value and JSON text. ``brackets`` map an opening bracket to its closer. ``bare`` allows
    unquoted object keys, ``trailing`` a comma before the closer.
    """

    prefix: str
    white: re.Pattern[str]
    quotes: Mapping[str, tuple[Quote, ...]]
    words: Mapping[str, tuple[object, str]]
    brackets: Mapping[str, str]
    bare: bool = False
    trailing: bool = False


_JSON_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_PYTHON_ESCAPES = {
    "'": "'",
    '"': '"',
    "\\": "\\",
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
}
_JSON_WHITE = re.compile(r"[ \t\n\r]*")
_JSON_WORDS: dict[str, tuple[object, str]] = {"true": (True, "true"), "false": (False, "false"), "null": (None, "null")}
_PYTHON_WORDS: dict[str, tuple[object, str]] = {
    **_JSON_WORDS,
    "True": (True, "true"),
    "False": (False, "false"),
    "None": (None, "null"),
}


def _python_quotes(newlines: bool, follow: str = "") -> dict[str, tuple[Quote, ...]]:
    """Both quotes of Python, each tripled and single; ``newlines`` is the pythonic tolerance for models."""
    quotes: dict[str, tuple[Quote, ...]] = {}
    for quote in "'\"":
        tripled = re.compile(rf"[^{quote}\\]*")
        single = tripled if newlines else re.compile(rf"[^{quote}\\\n\r]*")
        quotes[quote] = (
            Quote(quote * 3, tripled, _PYTHON_ESCAPES, True, newlines),
            Quote(quote, single, _PYTHON_ESCAPES, True, newlines, follow=follow),
        )
    return quotes


def _gemma(token: str) -> Dialect:
    """Bare keys, and strings between two ``token``s without any escape; JSON strings are read too."""
    strings = Quote(token, re.compile(rf"[^{re.escape(token[0])}]*"), {}, follow=",}]")
    json = Quote('"', re.compile(r'[^"\\]*'), _JSON_ESCAPES)
    words = {**_JSON_WORDS, "None": _PYTHON_WORDS["None"]}
    quotes = {token[0]: (strings,), '"': (json,)}
    return Dialect("tool_call.", _JSON_WHITE, quotes, words, {"{": "}", "[": "]"}, bare=True)


JSON = Dialect(
    "json.",
    _JSON_WHITE,
    {'"': (Quote('"', re.compile(r'[^"\\\x00-\x1f]*'), _JSON_ESCAPES, verbatim=True),)},
    _JSON_WORDS,
    {"{": "}", "[": "]"},
)
_PYTHON_WHITE = re.compile(r"[ \t\n\r\f]*")
_PYTHON_BRACKETS = {"{": "}", "[": "]", "(": ")"}
PYTHON = Dialect("tool_call.", _PYTHON_WHITE, _python_quotes(False), _PYTHON_WORDS, _PYTHON_BRACKETS, trailing=True)
PYTHONIC = Dialect("tool_call.", _PYTHON_WHITE, _python_quotes(True), _PYTHON_WORDS, _PYTHON_BRACKETS, trailing=True)
# LFM2's template puts strings between quotes as they are, so an apostrophe may stand in one.
LFM = Dialect("tool_call.", _PYTHON_WHITE, _python_quotes(True, ",)]}"), _PYTHON_WORDS, _PYTHON_BRACKETS, trailing=True)
GEMMA = _gemma('<|"|>')
FUNCTION_GEMMA = _gemma("<escape>")
