"""Finding the first of many literals in a text, at C speed."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any


class Searcher:
    """Finds the first of many literals.

    Literals are grouped by their first character, which each group's expression looks for at the speed of memchr.
    Of a text that holds literals of one group only, that group's expression is all that is needed. What is not ASCII
    is not looked for in a text that is; a group that begins with a letter only where the bracket that all its literals
    have stands in the text.
    """

    def __init__(self, literals: list[str]) -> None:
        groups: dict[str, list[str]] = {}
        for text in literals:
            groups.setdefault(text[0], []).append(text)
        self.groups = [
            (char.isascii(), next((c for c in "<[" if all(c in text for text in texts)), ""), self._compile(texts))
            for char, texts in sorted(groups.items())
        ]
        self.all = self._compile(literals)
        self.ascii = self._compile([text for text in literals if text.isascii()])

    @staticmethod
    def _compile(literals: list[str]) -> Any:
        if not literals:
            return _nothing
        return re.compile(_trie(literals)).search

    def of(self, text: str) -> Any:
        """A search function for this text."""
        ascii = text.isascii()
        every = self.ascii if ascii else self.all
        if len(text) > 4096:  # to look through all of a long text costs more than it saves
            return every
        found: Any = _nothing
        for plain, bracket, search in self.groups:
            if (plain or not ascii) and bracket in text and search(text) is not None:
                if found is not _nothing:
                    return every
                found = search
        return found


def _nothing(text: str, pos: int = 0) -> None:
    return None


def _trie(literals: Iterable[str]) -> str:
    """An expression for the longest of several literals, in which no two branches begin alike."""
    branches: dict[str, list[str]] = {}
    end = False
    for text in literals:
        if text:
            branches.setdefault(text[0], []).append(text[1:])
        else:
            end = True
    parts = []
    for char, rests in sorted(branches.items()):
        prefix = char
        while len({r[:1] for r in rests}) == 1 and rests[0]:
            prefix += rests[0][0]
            rests = [r[1:] for r in rests]
        parts.append(re.escape(prefix) + _trie(rests) if any(rests) else re.escape(prefix))
    if not parts:
        return ""
    body = parts[0] if len(parts) == 1 and not end else "(?:" + "|".join(parts) + ")"
    return body + "?" if end else body
