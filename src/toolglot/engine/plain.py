"""The fast way through a whole output for llm-beacon's functions: names and arguments, nothing else.

It answers only where every call is plain (see `quick`); for all else, and for every error, the machine is asked.
"""

from __future__ import annotations

import re
from typing import Any

from ..values.json import is_plain, scan_plain
from ..values.simple import scan_arguments
from .entries import CallEntry
from .machine import Machine
from .ops import PAREN
from .plan import Plan
from .shapes import SEED, may_hold_call

# What llm-beacon's functions give: of each call its name and arguments, and, if asked for, its format.
Calls = list[dict[str, Any]]
_CALL: Any = re.compile(rf"\((?={PAREN.pattern})").search
_ITEM = frozenset(("function", *SEED.id, "type", "index"))
_KNOWN = frozenset(("name", "arguments", *SEED.id, "type", "index"))


def plain_calls(plan: Plan, text: str, formats: dict[str, str] | None = None) -> Calls | None:
    """The calls, in order; None: ask the machine. With ``formats``, which may rename some, each says its format."""
    match = None
    if "<" in text or "[" in text:
        search, match = plan.searcher.first(text)
    elif "{" not in text and "(" not in text:
        for opener in plan.bare_ascii if text.isascii() else plan.bare:
            if opener in text:
                search, match = plan.searcher.first(text)
                break
        if match is None:
            return []
    else:
        for opener in plan.odd_ascii if text.isascii() else plan.odd:
            if opener in text:
                search, match = plan.searcher.first(text)
                break
    if match is None:
        if "{" in text and may_hold_call(text):
            return _json(text, formats)
        return _python(text, formats) if "(" in text else []
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
                calls.append({"name": one[0][0], "arguments": one[0][1]})
                if formats is not None:
                    calls[-1]["format"] = formats.get(entry.reported, entry.reported)
                if one[1] == size:
                    break
                match = search(text, one[1])
                continue
        elif entry.quick_section is not None:
            some = entry.quick_section.read(text, match.end(), None, False)
            if some is not None:
                for call in some[0]:
                    calls.append({"name": call[0], "arguments": call[1]})
                    if formats is not None:
                        calls[-1]["format"] = formats.get(entry.reported, entry.reported)
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
            calls.append({"name": call[0], "arguments": call[1]})
            if formats is not None:
                calls[-1]["format"] = formats.get(result[0].begin.fmt, result[0].begin.fmt)
        match = search(text, result[2])
    return calls


def _json(text: str, formats: dict[str, str] | None) -> Calls | None:
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
        if formats is not None:
            call["format"] = "json"
        calls.append(call)
    return calls or _python(text, formats)


def _shape(value: dict[str, Any]) -> dict[str, Any] | None:
    if "function" in value:
        inner = value["function"]
        if inner.__class__ is not dict or not _ITEM.issuperset(value):
            return None
        value = inner
    name = value.get("name")
    arguments = value.get("arguments")
    if name.__class__ is not str or not name.strip() or len(name) > 512 or arguments is None:
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
    return {"name": name, "arguments": arguments} if arguments.__class__ is dict else None


def _python(text: str, formats: dict[str, str] | None) -> Calls | None:
    calls: Calls = []
    size = len(text)
    i = text.find("(")
    while i >= 0:
        name = text[i - 130 : i] if i > 130 else text[:i]
        name = name[name.rfind(" ") + 1 :]
        if "\n" in name:
            name = name[name.rfind("\n") + 1 :]
        simple = None
        if name.isidentifier() and name.isascii() and len(name) <= 128:
            simple = scan_arguments(text, i + 1, False)
        if simple is None:
            # Is it a call that is not plain, which the machine reads, or none at all?
            match = _CALL(text, i)
            if match is None:
                break
            if match.start() == i:
                return None
            i = match.start()
            continue
        calls.append({"name": name, "arguments": simple[0]})
        if formats is not None:
            calls[-1]["format"] = "python"
        if simple[2] == size:
            break
        i = text.find("(", simple[2])
    return calls
