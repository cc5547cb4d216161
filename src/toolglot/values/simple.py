"""The fast path of call syntax: plain keyword arguments, one regular expression match each."""

from __future__ import annotations

import re
from json.encoder import encode_basestring as quote
from typing import Any, Final

from .cscan import Reject, half_pair, scan_once

# A failed match gives back at most what it took, once, and then the reader takes over: no backtracking to fear.
# Where a first argument's white space or name is longer than this, the operations see no call.
# The last group that matched is the value, and says what kind of one.
_ARGUMENT: Any = re.compile(
    r"[ \t\n\r\f]{0,1024}([A-Za-z_][A-Za-z0-9_]{0,511})[ \t\n\r\f]{0,1024}=[ \t\n\r\f]*(?:(?:"
    r"'([^'\\\n\r]*(?:\\[nrt'\"\\][^'\\\n\r]*)*)'|"
    r'"([^"\\\n\r]*(?:\\[nrt\'"\\][^"\\\n\r]*)*)"|'
    r"(True|true|False|false|None|null)|"
    r"(-?(?:0|[1-9][0-9]{0,17})\.[0-9]{1,30})|"
    r"(-?(?:0|[1-9][0-9]{0,17}))"
    r")[ \t\n\r\f]*[,)]|([\[{(]))"
).match
_SINGLE, _DOUBLE, _WORD, _FLOAT, _INTEGER, _OPENER = range(2, 8)
_AFTER: Any = re.compile(r"[ \t\n\r\f]*[,)]").match
_WHITE: Any = re.compile(r"[ \t\n\r\f]*").match
_KEY: Any = re.compile(r"""(?:'([^'\\\n\r]*)'|"([^"\\\n\r]*)")[ \t\n\r\f]*:[ \t\n\r\f]*""").match
_SCALAR: Any = re.compile(
    r"'([^'\\\n\r]*(?:\\[nrt'\"\\][^'\\\n\r]*)*)'|"
    r'"([^"\\\n\r]*(?:\\[nrt\'"\\][^"\\\n\r]*)*)"|'
    r"(-?(?:0|[1-9][0-9]{0,17}))(\.[0-9]{1,30})?(?![0-9.eE_xXjJ])|"
    r"(True|true|False|false|None|null)(?![A-Za-z0-9_])"
).match
_CONTAINERS: Final = 16  # what is nested deeper is the reader's
_CLOSERS: Final = {"[": "]", "(": ")", "{": "}"}
_END: Any = re.compile(r"[ \t\n\r\f]{0,1024}\)").match
_WORDS: Final[dict[str, tuple[Any, str]]] = {
    "True": (True, "true"),
    "true": (True, "true"),
    "False": (False, "false"),
    "false": (False, "false"),
    "None": (None, "null"),
    "null": (None, "null"),
}


def scan_arguments(
    text: str, pos: int, write: bool = True, depth: int = _CONTAINERS + 1
) -> tuple[dict[str, Any], str, int] | None:
    """The keyword arguments from behind a call's ``(`` to its ``)``, if all are plain scalars.

    Gives the arguments, their JSON text (empty unless ``write``) and the index behind the ``)``. ``None`` says
    nothing: ask the reader. ``depth``: how many levels they may have, themselves included.
    """
    arguments: dict[str, Any] = {}
    written: list[str] = []
    count = 0
    start = pos
    while True:
        match = _ARGUMENT(text, pos)
        if match is None:
            match = _END(text, pos)  # there is no argument, or a comma behind the last
            if match is None:
                return None
            pos = match.end()
            break
        pos = match.end()
        kind = match.lastindex
        name, found = match.group(1, kind)
        if kind <= _DOUBLE:
            if "\\" in found:
                if "\0" in found:
                    return None
                found = _unescape(found)
            arguments[name] = found
            if write:
                written.append(f'"{name}": {quote(found)}')
        elif kind == _OPENER:
            pos -= 1
            nested = None if write else _as_json(text, pos)
            if nested is None:
                nested = _container(text, pos, min(depth - 1, _CONTAINERS), write)
            if nested is None:
                return None
            arguments[name], json, pos = nested
            if write:
                written.append(f'"{name}": {json}')
            if text[pos : pos + 1] in (",", ")"):
                pos += 1
            else:
                match = _AFTER(text, pos)
                if match is None:
                    return None
                pos = match.end()
        elif kind == _WORD:
            arguments[name], json = _WORDS[found]
            if write:
                written.append(f'"{name}": {json}')
        else:
            arguments[name] = float(found) if kind == _FLOAT else int(found)
            if write:
                written.append(f'"{name}": {found}')
        count += 1
        if text[pos - 1] == ")":
            break
    if len(arguments) != count:
        return None  # the same name twice
    if not text.isascii() and half_pair(text, start, pos):
        return None
    return arguments, "{" + ", ".join(written) + "}" if write else "", pos


def _as_json(text: str, pos: int) -> tuple[Any, str, int] | None:
    """The short list or dict at ``pos``, if it is JSON once its single quotes are double ones; for the C scanner."""
    piece = text[pos : pos + 512]
    try:
        value, end = scan_once(piece.replace("'", '"'), 0)
    except (Reject, ValueError, StopIteration, RecursionError):
        return None
    piece = piece[:end]
    if "\\" in piece or ('"' in piece and "'" in piece) or piece.count("[") + piece.count("{") > _CONTAINERS:
        return None
    return value, "", pos + end


def _container(text: str, pos: int, depth: int, write: bool) -> tuple[Any, str, int] | None:
    """The list, tuple or dict at ``pos``, its JSON text if ``write``, the index behind it; None: ask the reader."""
    if depth <= 0:
        return None
    opener = text[pos]
    closer = _CLOSERS[opener]
    pos = _WHITE(text, pos + 1).end()
    items: list[Any] = []
    mapping: dict[str, Any] = {}
    jsons: list[str] = []
    while not text.startswith(closer, pos):
        if opener == "{":
            match = _KEY(text, pos)
            if match is None:
                return None
            key = match[1] if match[2] is None else match[2]
            if key in mapping:
                return None
            pos = match.end()
        if text[pos : pos + 1] in _CLOSERS:
            nested = _container(text, pos, depth - 1, write)
            if nested is None:
                return None
            value, json, pos = nested
        else:
            match = _SCALAR(text, pos)
            if match is None:
                return None
            single, double, number, fraction, word = match.groups()
            if double is not None or single is not None:
                value = single if double is None else double
                if "\\" in value:
                    if "\0" in value:
                        return None
                    value = _unescape(value)
                json = quote(value) if write else ""
            elif word is not None:
                value, json = _WORDS[word]
            elif fraction is None:
                value, json = int(number), number
            else:
                json = number + fraction
                value = float(json)
            pos = match.end()
        if opener == "{":
            mapping[key] = value
            if write:
                jsons.append(f"{quote(key)}: {json}")
        else:
            items.append(value)
            if write:
                jsons.append(json)
        pos = _WHITE(text, pos).end()
        if text.startswith(",", pos):
            pos = _WHITE(text, pos + 1).end()
        elif not text.startswith(closer, pos):
            return None
    if opener == "{":
        return mapping, "{" + ", ".join(jsons) + "}", pos + 1
    return items, "[" + ", ".join(jsons) + "]", pos + 1


def _unescape(string: str) -> str:
    """``string``, which holds no NUL, with the six escapes that `_ARGUMENT` lets pass."""
    string = string.replace("\\\\", "\0").replace("\\n", "\n").replace("\\t", "\t").replace("\\r", "\r")
    return string.replace("\\'", "'").replace('\\"', '"').replace("\0", "\\")
