"""The package json-repair, where it is installed, behind a guard.

It always gives an answer: it closes strings that were cut off, makes up values that are missing, keeps the last of two
equal keys and leaves out what it cannot place. So its answer counts only if it says what the text says: every key,
string, number and word stands there, whole and in this order, and nothing else but punctuation does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from ..types import json_text
from ..values.json import quote

__all__ = ["rewrite"]

# It takes time quadratic in some texts, and recurses.
_LONGEST: Final = 4096
_BRACKETS: Final = 64
_PUNCTUATION: Final = frozenset(" \t\r\n,:=;{}[]()\"'`\u201c\u201d\u2018\u2019")
_QUOTES: Final = {'"': '"', "'": "'", "`": "`", "\u201c": "\u201d", "\u2018": "\u2019"}
_NUMBER: Any = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?(?![\w.+-])").match
_WORDS: Any = re.compile(r"(?:true|false|null|True|False|None)(?!\w)").match
_VALUES: Final = {"true": True, "True": True, "false": False, "False": False, "null": None, "None": None}
_BARE: Any = re.compile(r"[^\W\d]\w*(?:[ -]\w+)*").fullmatch
_SPECIAL: Final = ("true", "false", "null", "none", "nil", "nan", "infinity", "undefined")


def rewrite(text: str) -> str | None:
    """The JSON object that ``text`` says, as JSON; None if there is none that says just that, or no json-repair."""
    if len(text) > _LONGEST or text.count("{") + text.count("[") > _BRACKETS or text.rstrip()[-1:] not in ("}", "]"):
        return None
    try:
        from json_repair import loads  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        return None
    try:
        answer = loads(text, skip_json_loads=True)
        if not isinstance(answer, dict) or not says(answer, text):
            return None
        return json_text(answer)
    except (ValueError, RecursionError, TypeError):
        return None


def says(answer: Any, text: str) -> bool:
    """Whether ``text`` holds each key and value of ``answer``, whole and in order, and only punctuation besides."""
    at = 0
    for token in _tokens(answer):
        while (end := _ends(token, text, at)) < 0:
            if at >= len(text) or text[at] not in _PUNCTUATION:
                return False
            at += 1
        at = end
    return all(char in _PUNCTUATION for char in text[at:])


def _tokens(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from _tokens(item)
    elif isinstance(value, list):
        for item in value:
            yield from _tokens(item)
    else:
        yield value


def _ends(token: Any, text: str, at: int) -> int:
    """Where ``token`` ends if it stands at ``text[at]``, else -1."""
    if not isinstance(token, str):
        if text[at - 1 : at] in _QUOTES:
            return -1  # a string, in the text
        match = _WORDS(text, at) if token is None or isinstance(token, bool) else _NUMBER(text, at)
        if match is None:
            return -1
        if token is None or isinstance(token, bool):
            said = _VALUES[match.group()] is token
        else:
            said = type(token)(match.group()) == token and (type(token) is float or match.group().lstrip("-").isdigit())
        return match.end() if said else -1
    close = _QUOTES.get(text[at : at + 1])
    if close is not None:
        # With quotes around it, and none of them inside but escaped: where else it may end is not asked here.
        for form in (token, quote(token)[1:-1]):
            end = at + 1 + len(form)
            plain = close not in form.replace("\\\\", "").replace("\\" + close, "")
            if plain and text.startswith(form, at + 1) and text.startswith(close, end):
                return end + 1
        return -1
    if _BARE(token) is None or not text.startswith(token, at) or any(w.startswith(token.lower()) for w in _SPECIAL):
        return -1
    end = at + len(token)
    return end if text[end:].lstrip()[:1] in (",", ":", "=", "}", "]") else -1
