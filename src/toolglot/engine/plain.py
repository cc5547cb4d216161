"""The fast way through a whole output for the first seed's functions: names and arguments, nothing else.

It answers only where every call is plain (see `quick`); for all else, and for every error, the machine is asked.
"""

from __future__ import annotations

import re
from typing import Any

from ..values.json import is_plain, scan_plain
from ..values.simple import scan_arguments
from .entries import CallEntry
from .machine import Machine
from .plan import Plan
from .shapes import SEED, may_hold_call

Calls = list[tuple[str, str, dict[str, Any]]]
# A parenthesis that begins as a call's does.
_CALL: Any = re.compile(r"\((?=[ \t\r\n]*(?:\)|[A-Za-z_][A-Za-z0-9_]*[ \t\r\n]*=(?!=)))").search
_ITEM = frozenset(("function", *SEED.id, "type", "index"))
_KNOWN = frozenset(("name", "arguments", *SEED.id, "type", "index"))


def plain_calls(plan: Plan, text: str) -> Calls | None:
    """Format, name and arguments of each call, in order; None: ask the machine."""
    match = None
    if "<" in text or "[" in text:
        search, match = plan.searcher.first(text)
    else:
        for opener in plan.odd_ascii if text.isascii() else plan.odd:
            if opener in text:
                search, match = plan.searcher.first(text)
                break
        if "{" not in text and "(" not in text and match is None:
            return []
    if match is None:
        if "{" in text and may_hold_call(text):
            return _json(text)
        return _python(text) if "(" in text else []
    calls: Calls = []
    entries = plan.entries
    size = len(text)
    m: Machine | None = None
    while match is not None:
        entry = entries[match.group()]
        if entry.__class__ is not CallEntry:
            return None
        # The likeliest format first; the machine that the others' tests need is made only for them.
        if entry.quick is not None:
            one = entry.quick.read(text, match.start(), match.end(), None, False)
            if one is not None:
                calls.append((entry.reported, one[0][0], one[0][1]))
                if one[1] == size:
                    break
                match = search(text, one[1])
                continue
        elif entry.quick_section is not None:
            some = entry.quick_section.read(text, match.end(), None, False)
            if some is not None:
                for call in some[0]:
                    calls.append((entry.reported, call[0], call[1]))
                if some[1] == size:
                    break
                match = search(text, some[1])
                continue
        if m is None:
            m = Machine(plan)
            m.buf = text
            m.final = True
        result = entry.read(m, match.start(), match.end(), False)
        if result is None:
            return None
        for call in result[1]:
            calls.append((result[0].begin.fmt, call[0], call[1]))
        match = search(text, result[2])
    return calls


def _json(text: str) -> Calls | None:
    if not is_plain(text):
        return None
    calls: Calls = []
    pos = 0
    size = len(text)
    while pos < size:
        i = text.find("{", pos)
        if text.find("[", pos, i if i >= 0 else size) >= 0:
            return None  # lists are the machine's
        if i < 0:
            break
        if text[i + 1 : i + 2] not in ('"', "}") or (i > pos and "```" in text[pos:i]):
            return None
        result = scan_plain(text, i)
        if result is None:
            return None
        value, pos = result
        call = _shape(value)
        if call is None:
            return None
        calls.append(("json", *call))
    return calls or _python(text)


def _shape(value: dict[str, Any]) -> tuple[str, dict[str, Any]] | None:
    if "function" in value:
        inner = value["function"]
        if inner.__class__ is not dict or not _ITEM.issuperset(value):
            return None
        value = inner
    name = value.get("name")
    arguments = value.get("arguments")
    if not name or name.__class__ is not str or arguments is None:
        return None
    if len(value) > 2:
        for key in value:
            if key not in _KNOWN:
                return None
    if arguments.__class__ is str:
        result = scan_plain(arguments, 0)
        if result is None or result[1] != len(arguments):
            return None
        arguments = result[0]
    return (name, arguments) if arguments.__class__ is dict else None


def _python(text: str) -> Calls | None:
    calls: Calls = []
    size = len(text)
    match = _CALL(text, 0)
    while match is not None:
        i = match.start()
        low = i - 130 if i > 130 else 0
        blank = text.rfind(" ", low, i)
        line = text.rfind("\n", low if blank < 0 else blank, i)
        start = line if line >= 0 else blank
        name = text[start + 1 if start >= 0 else low : i]
        if not name.isidentifier() or not name.isascii() or len(name) > 128:
            return None
        simple = scan_arguments(text, i + 1, False)
        if simple is None:
            return None
        calls.append(("python", name, simple[0]))
        if simple[2] == size:
            break
        match = _CALL(text, simple[2])
    return calls
