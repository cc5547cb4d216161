"""Finding the first of many literals in a text, at C speed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any

Search = Callable[..., Any]


class Searcher:
    """Finds the first of many literals.

    Literals are grouped by their first character, which each group's expression looks for at the speed of memchr.
    Of a text that holds literals of one group only, that group's expression is all that is needed. What is not ASCII
    is not looked for in a text that is; a group only where what all its literals have stands in the text. Expressions
    are made when they are first needed.
    """

    def __init__(self, literals: list[str]) -> None:
        self.literals = literals
        by_first: dict[str, list[str]] = {}
        for text in literals:
            by_first.setdefault(text[0], []).append(text)
        groups = [_Group(texts) for _, texts in sorted(by_first.items())]
        self.groups = [(group.key, group) for group in groups]
        self.ascii_groups = [(key, group) for key, group in self.groups if key.isascii()]

    @cached_property
    def all(self) -> Search:
        """Finds any of them."""
        return _compile(self.literals)

    @cached_property
    def ascii(self) -> Search:
        """Finds any of them in a text that is ASCII."""
        return _compile([text for text in self.literals if text.isascii()])

    def first(self, text: str) -> tuple[Search, Any]:
        """A search function for this text, and the first literal in it."""
        ascii = text.isascii()
        if len(text) > 4096:  # to look through all of a long text costs more than it saves
            search = self.ascii if ascii else self.all
            return search, search(text, 0)
        search = _nothing
        first = None
        for key, group in self.ascii_groups if ascii else self.groups:
            if key in text:
                match = group.search(text)
                if match is not None:
                    if first is None:
                        search = group.search
                        first = match
                    else:
                        search = self.ascii if ascii else self.all
                        if match.start() < first.start():
                            first = match
        return search, first


class _Group:
    """Literals that begin alike."""

    def __init__(self, literals: list[str]) -> None:
        self.literals = literals
        # What stands in each of them, the rarest that is found without effort.
        start = literals[0]
        while not all(text.startswith(start) for text in literals):
            start = start[:-1]
        signs = ("<", "[") if len(start) == 1 else ()
        self.key = next((sign for sign in signs if all(sign in text for text in literals)), start)

    @cached_property
    def search(self) -> Search:
        """Finds any of them."""
        return _compile(self.literals)


def _compile(literals: list[str]) -> Search:
    return re.compile(_trie(literals)).search if literals else _nothing


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
