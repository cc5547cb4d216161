"""Where a value stands in the text that it was read from."""

from __future__ import annotations

import re
from json import dumps
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Any, Final

from .cscan import scan_once

__all__ = ["Keys", "locate", "near"]

Keys = tuple[str | int, ...]

_WHITE: Any = re.compile(r"[ \t\n\r]*").match
_WORDS: Final = {None: ("null", "None"), True: ("true", "True"), False: ("false", "False")}


def _skip(text: str, pos: int) -> int:
    end: int = _WHITE(text, pos).end()
    return end


def locate(text: str, path: Keys, marks: dict[Any, Any] | None = None) -> tuple[int, int] | None:
    """Where the value at ``path`` stands in JSON ``text``, which is valid; None if there is no such value.

    ``marks`` is what earlier calls found out about the same text, so that many of them are as quick as one.
    """
    marks = {} if marks is None else marks
    known = len(path)
    while known and path[:known] not in marks:
        known -= 1
    pos = marks[path[:known]] if known else _skip(text, 0)
    for depth in range(known, len(path)):
        key = path[depth]
        opener = text[pos]
        if opener != ("{" if isinstance(key, str) else "["):
            return None
        pos = _skip(text, pos + 1)
        number = 0
        last = marks.get((path[:depth], "last")) if isinstance(key, int) else None
        if last is not None and last[0] <= key:
            number, pos = last
        while text[pos] not in "}]":
            if opener == "{":
                name, pos = scanstring(text, pos + 1, True)
                pos = _skip(text, _skip(text, pos) + 1)
            else:
                name, number = number, number + 1
            if name == key:
                marks[path[: depth + 1]] = pos
                if opener == "[":
                    marks[path[:depth], "last"] = (name, pos)
                break
            pos = _skip(text, scan_once(text, pos)[1])
            if text[pos] == ",":
                pos = _skip(text, pos + 1)
        else:
            return None
    return pos, scan_once(text, pos)[1]


def near(text: str, arguments: dict[str, Any], name: str) -> tuple[int, int] | None:
    """Where the argument ``name`` stands in ``text``, in which ``arguments`` are written in some notation.

    Keys stand in the order of ``arguments``, each before its value, so that each is looked for behind the one before.
    None where a value is not written as it is (its quotes and escapes are not known here).
    """
    pos = 0
    for key, value in arguments.items():
        at = _standing(text, key, pos, _KEY_FROM, _KEY_TO)
        if at < 0:
            return None
        found = _written(text, value, pos, at + len(key), text[at - 2 : at] == '="')
        if found is None or key == name:
            return found
        pos = found[1]
    return None


# So many places are looked at for one key or value: between the two there is markup only.
_TRIES: Final = 64
# What a key and a value stand between, in tags, Python, Gemma's notation and their like: so neither is taken for a part
# of a word, of a closing tag or of a longer value.
_KEY_FROM: Final = frozenset(" \t\r\n<=\"'>({[,:|")
_KEY_TO: Final = frozenset(" \t\r\n=\"'>:<|")
_FROM: Final = frozenset(" \t\r\n>\"'=:|([,")
_TO: Final = frozenset(" \t\r\n<\"',)]}|")


def _standing(text: str, part: str, pos: int, before: frozenset[str], after: frozenset[str]) -> int:
    """Where ``part`` stands in ``text`` from ``pos`` on, between two of these characters; -1 if it does not."""
    at = text.find(part, pos)
    for _ in range(_TRIES):
        end = at + len(part)
        if at < 0 or ((at == 0 or text[at - 1] in before) and (end == len(text) or text[end] in after)):
            return at
        at = text.find(part, at + 1)
    return -1


def _written(text: str, value: Any, start: int, pos: int, attributes: bool) -> tuple[int, int] | None:
    """The first way to write ``value`` that stands in ``text`` from ``pos`` on, where its key ends.

    It stands in no tag that opens behind ``start``, and is no attribute where the key is one (``attributes``).
    """
    if isinstance(value, str):
        ways: tuple[str, ...] = (value, dumps(value, ensure_ascii=False)[1:-1], repr(value)[1:-1]) if value else ()
    elif value is None or isinstance(value, bool):
        ways = _WORDS[value]
    elif isinstance(value, int):
        ways = (str(value),) if abs(value) < 1 << 64 else ()
    elif isinstance(value, float):
        ways = (repr(value),)
    else:
        ways = (dumps(value, ensure_ascii=False), dumps(value, ensure_ascii=False, separators=(",", ":")), repr(value))
    for way in dict.fromkeys(ways):
        at = _standing(text, way, pos, _FROM, _TO)
        opened, mark = text.rfind("<", start, pos) > text.rfind(">", start, pos), pos
        for _ in range(_TRIES):
            if at < 0:
                break
            last = text.rfind("<", mark, at), text.rfind(">", mark, at)
            opened, mark = last[0] > last[1] if last != (-1, -1) else opened, at
            if not opened and not (attributes and text[at - 2 : at] == '="'):
                return at, at + len(way)
            at = _standing(text, way, at + 1, _FROM, _TO)
    return None
