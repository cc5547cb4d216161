"""Operations of prompt formats: free text as a call's input, literals that say something, stop sequences."""

from __future__ import annotations

import re

from ..pattern import Escapes
from .machine import Found, Machine
from .ops import Op, set_field
from .output import NEVER


def unescape(text: str, escapes: Escapes) -> str:
    """``text`` as it was before its markup was replaced."""
    for plain, escaped in escapes:
        text = text.replace(escaped, plain)
    return text


class Say(Op):
    """What the literal before it says: the tool's name, an argument's key, a type."""

    def __init__(self, says: tuple[tuple[str, str], ...]) -> None:
        self.says = says

    def run(self, m: Machine) -> Op | None:
        for field, text in self.says:
            if field == "name":
                m.args_from = m.base + m.pos
            failed = set_field(m, field, text, m.base + m.pos)
            if failed is not None:
                return failed
        return self.next

    def first(self) -> tuple[str, ...] | None:
        return None if self.next is None else self.next.first()


class FreeTextOp(Op):
    """Free text up to its closer: the input of a custom call."""

    def __init__(self, line: bool, escapes: Escapes, closers: tuple[str, ...], stop: bool) -> None:
        self.line = line  # the closer counts only at the start of a line
        self.escapes = escapes
        self.closers = closers
        self.longest = max(map(len, closers))
        self.search = re.compile("|".join(map(re.escape, closers))).search
        self.stop = stop  # the closer may be missing at the end of the text

    def run(self, m: Machine) -> Op | None:
        buf = m.buf
        pos = m.pos
        size = len(buf)
        if m.st is None:
            m.st = m.scan = m.base + pos
        begun: int = m.st
        start = max(pos, m.scan - m.base)
        while True:
            match = self.search(buf, start)
            i = -1 if match is None else match.start()
            if i < 0 or not self.line or m.base + i == begun or buf[i - 1] == "\n":
                break
            start = i + 1
        if i >= 0:
            return self.finish(m, begun, i)
        if m.final:
            if m.cut or not self.stop or not m.region(begun, m.base + size).strip():
                return m.truncated("the input")
            return self.finish(m, begun, size)
        start = max(start, size - self.longest + 1)
        m.scan = m.base + start
        m.pos = max(pos, start - 1)  # the character before says whether a line begins
        return None

    def finish(self, m: Machine, begun: int, i: int) -> Op | None:
        """The closer stands at ``buf[i]``, or the text ends there."""
        raw = m.region(begun, m.base + i)
        m.pos = i
        m.st = None
        m.scan = NEVER
        found = Found(m.name or "", {}, raw, "{}")
        found.kind = "custom"
        found.input = unescape(raw.strip(), self.escapes)
        found.id = m.id
        found.name_at = m.name_at
        m.founds = [found]
        return self.next


class Rest(Op):
    """Behind a stop sequence: what the model wrote on, as no client would have let it, is content."""

    def run(self, m: Machine) -> Op | None:
        m.section_at = None
        m.search = None
        return m.plan.rest


REST = Rest()
