"""Edits of a text, and where things stood before them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from typing import NamedTuple

from ..types import Repair

__all__ = ["Edit", "Edited", "Unmendable"]


class Unmendable(Exception):
    """There is no mend, or more than one."""


class Edit(NamedTuple):
    """``text[start:end]`` becomes ``after``; ``code`` says why."""

    start: int
    end: int
    after: str
    code: str


class Edited:
    """A text with edits made; raises `Unmendable` if they overlap."""

    def __init__(self, text: str, edits: Iterable[Edit]) -> None:
        self.before = text
        # What is put in at one place stays in the order in which it was found.
        self.edits = sorted(edits, key=lambda edit: (edit.start, edit.end))
        pieces: list[str] = []
        self._starts: list[int] = []  # of what follows each edit: in the edited text,
        self._origins: list[int] = []  # and in the text before
        at = size = 0
        for edit in self.edits:
            if edit.start < at:
                raise Unmendable
            pieces += (text[at : edit.start], edit.after)
            size += edit.start - at + len(edit.after)
            at = edit.end
            self._starts.append(size)
            self._origins.append(at)
        pieces.append(text[at:])
        self.text = "".join(pieces)

    def kept(self, a: int, b: int) -> str | None:
        """What ``text[a:b]`` was before; None if it is in the midst of what was put in."""
        for at in (a, b):
            n = bisect_right(self._starts, at)
            if n < len(self.edits) and at > self._starts[n] - len(self.edits[n].after):
                return None
        return self.before[self.origin(a) : self.origin(b)]

    def origin(self, at: int) -> int:
        """Where the character ``at`` of the edited text stood; of what was put in, where that was done."""
        n = bisect_right(self._starts, at)
        if n < len(self.edits) and at > self._starts[n] - len(self.edits[n].after):
            return self.edits[n].start
        return at if not n else self._origins[n - 1] + at - self._starts[n - 1]

    def repairs(self, base: int) -> list[Repair]:
        """The edits as `Repair`s; ``base`` is where the text stands."""
        text = self.before
        return [Repair(e.code, (base + e.start, base + e.end), text[e.start : e.end], e.after) for e in self.edits]
