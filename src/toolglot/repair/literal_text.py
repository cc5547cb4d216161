"""Mends calls in Python's notation, and arguments in Gemma's: brackets, commas, signs and quotes, in one pass.

Nothing that stands between quotes is changed, and where a string ends is never chosen: a quote behind which no string
can end makes the text one that is not mended.
"""

from __future__ import annotations

import re
from typing import Any, Final

from ..values.json import quote
from .edits import Edit, Unmendable

__all__ = ["mend_gemma", "mend_python"]

_MAX_EDITS: Final = 1_000
_WHITE: Any = re.compile(r"[ \t\r\n\f]*").match
_WORD: Any = re.compile(r"[^\W\d][\w.\-]*").match
_NUMBER: Any = re.compile(r"[+-]?(?:\d[\w.]*|\.\d\w*)(?:(?<=[eE])[+-]\d+)?").match
_STRING: Any = re.compile(r"""("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')""", re.DOTALL).match
_CALL: Any = re.compile(r"[^\W\d][\w.\-]*[ \t]*\(").search
_NAMED: Any = re.compile(r"[^\W\d]\w*[ \t\r\n]*=(?!=)").match
_CLOSER: Final = {"(": ")", "[": "]", "{": "}"}
_OPENING: Final = frozenset("=:,([{")
_PYTHON: Final = frozenset(("True", "False", "None", "true", "false", "null"))
_GEMMA: Final = {"True": "true", "False": "false", "None": "null"}


def mend_python(text: str, stops: tuple[str, ...], closed: bool, within: bool) -> list[Edit]:
    """The edits that make the calls in ``text`` sound. ``stops``, ``closed``, ``within``: as for `mend_json`. Linear.

    Raises `Unmendable` where something has two readings.
    """
    first = _CALL(text)
    if first is None:
        raise Unmendable
    start = first.start()
    head = text[:start].rstrip(" \t\r\n")
    scan = _Scan(text, stops, closed)
    if head.endswith("["):  # a list of calls
        scan.stack.append("[")
    else:
        scan.within = within
    scan.run(start)
    return scan.edits


def mend_gemma(text: str, pos: int, mark: str, stops: tuple[str, ...], closed: bool) -> list[Edit]:
    """The same for the arguments at ``text[pos]``, whose strings stand between ``mark``s."""
    scan = _Scan(text, stops, closed, mark)
    scan.run(pos)
    return scan.edits


class _Scan:
    def __init__(self, text: str, stops: tuple[str, ...], closed: bool, mark: str = "") -> None:
        self.text = text
        self.stops = stops
        self.closed = closed
        self.mark = mark
        self.within = False
        self.edits: list[Edit] = []
        self.stack: list[str] = []

    def edit(self, start: int, end: int, after: str, code: str) -> None:
        if len(self.edits) >= _MAX_EDITS:
            raise Unmendable
        self.edits.append(Edit(start, end, after, code))

    def white(self, pos: int) -> int:
        """Skip white space and comments."""
        text = self.text
        while True:
            pos = _WHITE(text, pos).end()
            if self.mark or not text.startswith("#", pos):
                return pos
            end = text.find("\n", pos)
            end = len(text) if end < 0 else end
            if any(stop in text[pos:end] for stop in self.stops):
                raise Unmendable
            self.edit(pos, end, "", "repair.comment")
            pos = end

    def run(self, pos: int) -> None:
        """Read calls, or one value, up to where it ends."""
        text = self.text
        stack = self.stack
        value = False  # whether a value stands before
        end = pos  # behind it
        while True:
            pos = self.white(pos)
            if pos == len(text) or self.over(pos):
                if stack and not (self.over(pos) or self.closed):
                    raise Unmendable
                if stack:
                    if not value:
                        raise Unmendable  # what is open may just have begun
                    self.edit(end, end, "".join(_CLOSER[one] for one in reversed(stack)), "repair.missing_bracket")
                return
            char = text[pos]
            if char in ")]}":
                pos = end = self.close(pos, end, value)
                value = True
                if self.mark and not stack:
                    return
            elif char == ",":
                if not value and stack and stack[-1] not in "([":
                    raise Unmendable
                after = self.white(pos + 1)
                if text[after : after + 1] == ",":
                    raise Unmendable  # a value may be missing
                if self.mark and text[after : after + 1] in ("}", "]"):
                    self.edit(pos, pos + 1, "", "repair.trailing_comma")
                    pos = after
                else:
                    value = False
                    pos = after
            elif value and stack:
                # Another one: a comma is missing, where that is a further argument of a call.
                if stack[-1] != "(" or pos == end or _NAMED(text, pos) is None:
                    raise Unmendable
                self.edit(end, end, ",", "repair.missing_comma")
                value = False
            elif char in "([{":
                if value and not stack:
                    raise Unmendable
                stack.append(char)
                pos += 1
                value = False
            elif stack and stack[-1] in "({":
                pos = self.key(pos)
                pos, value = self.scalar(pos)
                end = pos
            else:
                pos, value = self.scalar(pos)
                end = pos

    def over(self, pos: int) -> bool:
        return bool(self.stops) and self.text.startswith((*self.stops, "```"), pos)

    def close(self, pos: int, end: int, value: bool) -> int:
        """A closing bracket stands at ``pos``."""
        stack = self.stack
        char = self.text[pos]
        if not stack:
            raise Unmendable
        if self.within and char == "]" and value and "[" not in stack:
            # It closes the list in which the call stands.
            self.edit(end, end, "".join(_CLOSER[one] for one in reversed(stack)), "repair.missing_bracket")
            stack.clear()
            return pos + 1
        if _CLOSER[stack[-1]] != char:
            if len(stack) < 2 or _CLOSER[stack[-2]] != char or not value:
                raise Unmendable
            self.edit(end, end, _CLOSER[stack.pop()], "repair.missing_bracket")
        stack.pop()
        return pos + 1

    def key(self, pos: int) -> int:
        """Read the name of an argument or member and what stands behind it; returns where the value stands."""
        text = self.text
        call = self.stack[-1] == "("
        found = _STRING(text, pos)
        mark = self.mark
        if mark and text.startswith(mark, pos):
            stop = text.find(mark, pos + len(mark))
            if stop < 0:
                raise Unmendable
            end = stop + len(mark)
        elif found is not None:
            end = found.end()
            if call:
                word = found.group()[1:-1]
                if not word.isidentifier():
                    raise Unmendable
                self.edit(pos, end, word, "repair.quoted_name")
        else:
            named = _WORD(text, pos)
            if named is None:
                raise Unmendable
            end = named.end()
            if not call and not mark:
                self.edit(pos, end, quote(named.group()), "repair.unquoted_key")
        at = self.white(end)
        sign = "=" if call else ":"
        char = text[at : at + 1]
        if char not in ("=", ":") or text.startswith("==", at):
            raise Unmendable
        if char != sign:
            self.edit(at, at + 1, sign, "repair.sign")
        return self.white(at + 1)

    def scalar(self, pos: int) -> tuple[int, bool]:
        """Read a string, number or word; a bracket is left to who asks. Where it ends, and whether it was one."""
        text = self.text
        mark = self.mark
        if mark and text.startswith(mark, pos):
            stop = text.find(mark, pos + len(mark))
            if stop < 0 or not self.ends(stop + len(mark)):
                raise Unmendable
            return stop + len(mark), True
        char = text[pos : pos + 1]
        if char in "([{":
            return pos, False
        if char in "\"'":
            found = None if text.startswith((char * 3), pos) and not mark else _STRING(text, pos)
            if found is None or not self.ends(found.end()):
                raise Unmendable
            if found.group()[1:-1].rstrip(" \t")[-1:] in _OPENING:
                raise Unmendable  # the quote that ends it may be one that begins a string
            if mark and char == "'":
                inner = found.group()[1:-1]
                if "\\" in inner or mark in inner:
                    raise Unmendable
                self.edit(pos, found.end(), f"{mark}{inner}{mark}", "repair.single_quotes")
            return found.end(), True
        found = _NUMBER(text, pos)
        if found is not None:
            return found.end(), True
        found = _WORD(text, pos)
        if found is None:
            raise Unmendable
        word = found.group()
        after = found.end()
        if not mark and _WHITE(text, after).end() < len(text) and text[_WHITE(text, after).end()] == "(":
            if len(self.stack) > 1 or (self.stack and self.stack[-1] != "["):
                raise Unmendable  # a call in a call
            return after, False
        if word not in _PYTHON:
            raise Unmendable
        if mark and word in _GEMMA:
            self.edit(pos, after, _GEMMA[word], "repair.python_literal")
        return after, True

    def ends(self, at: int) -> bool:
        """Whether a string can end before ``at``, by what follows it."""
        text = self.text
        after = _WHITE(text, at).end()
        if text[after : after + 1] in ("", ",", ")", "]", "}", ":", "=", "#") or self.over(after):
            return True
        return after > at and not self.mark and _NAMED(text, after) is not None
