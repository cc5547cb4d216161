"""Finding the first of many literals in a text, at C speed."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any


class Searcher:
    """Finds the first of many literals.

    Literals are grouped by how they begin; a group that a text cannot hold (a few characters that all its members
    share are looked for at the speed of memchr) is left out of the expression that is used for this text.
    """

    def __init__(self, literals: list[str]) -> None:
        groups: dict[str, list[str]] = {}
        for text in literals:
            groups.setdefault(text[:1] if text[0] == "<" else text[:2], []).append(text)
        self.groups = sorted(groups.items())
        self.cache: dict[tuple[bool, ...], Any] = {}
        self.all = self._compile(literals)
        # The usual case in two looks: every literal has an angle bracket at its start or a square one in it.
        self.brackets = all(text[0] == "<" or "[" in text for text in literals)
        self.angles = self._compile([text for text in literals if text[0] == "<"])
        self.squares = self._compile([text for text in literals if "<" not in text])

    @staticmethod
    def _compile(literals: list[str]) -> Any:
        if not literals:
            return _nothing
        return re.compile(_trie(literals)).search

    def of(self, text: str) -> Any:
        """A search function for this text."""
        if len(text) > 4096:  # looking through a long text for each group costs more than it saves
            return self.all
        if self.brackets:
            if "[" not in text:
                return self.angles if "<" in text else _nothing
            if "<" not in text:
                return self.squares
        present = tuple([head in text for head, _ in self.groups])
        found = self.cache.get(present)
        if found is None:
            literals = [t for (_, texts), there in zip(self.groups, present, strict=True) if there for t in texts]
            found = self.cache[present] = self._compile(literals)
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
