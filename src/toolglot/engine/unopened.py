"""Calls whose opener is missing: a section's around a complete call, or the call's own.

In strict modes they are text. ``on_error="repair"`` makes them calls where the tool is declared, its own closer stands
behind the call and the arguments fit; all else is text again, as if nothing had been looked for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from ..format import Format
from ..pattern import Call, CallObject, Either, Hole, Lit, Maybe, Node, Section, Tag, Ws
from .compile import Code, Compiler, Entry, Program, first_literals, options
from .entries import line_start
from .machine import Machine, Undo
from .ops import Op
from .output import NEVER
from .text import WAIT

if TYPE_CHECKING:
    from .plan import Plan

__all__ = ["GUESSES", "UnopenedEntry", "name_at", "signs"]

# So many signs that lead to no call are looked behind in one output: each costs what is read of it.
GUESSES: Final = 16
_NAME: Any = re.compile(r"[\w.:/\-]{1,256}[ \t\r\n]{0,64}\Z")


@dataclass
class Way:
    """One way into a format behind an opener that is missing."""

    entry: Entry  # the way in with the opener
    op: Op  # reads from the sign on, or from the name before it
    opener: str
    named: bool


def signs(fmt: Format) -> Iterator[tuple[str, bool]]:
    """The literals that show that an opener is missing, and whether the tool's name stands before them."""
    for option in options(fmt):
        sign = _sign(option)
        if sign is not None:
            yield from ((text, sign[2]) for text in sign[1])


def _sign(option: tuple[Node, ...]) -> tuple[str, tuple[str, ...], bool] | None:
    """The opener of a way of writing, what shows that it is missing, and whether the name stands before that."""
    node = option[0]
    if isinstance(node, Section):
        opener = node.open[0]
        marked = node.bare == "no" and node.separator is None and all(_closed(call) for call in _calls(node.items))
        if not marked or not isinstance(opener, Lit):
            return None
        return opener.texts[0], tuple(text for text in first_literals(node.items) if _tells(text)), False
    # What is read only stands where the model slipped twice.
    items = (
        tuple(n for n in node.items if not (isinstance(n, Ws) or (isinstance(n, Maybe) and not n.write)))
        if isinstance(node, Call)
        else ()
    )
    if len(items) < 3 or not isinstance(items[0], Lit) or items[0].weak or not _closed(node):
        return None
    first, second = items[0].texts[0], items[1]
    if isinstance(second, CallObject):
        return None if second.keyed else (first, (f'{{"{second.name[0]}"',), False)
    named = isinstance(second, Hole) and second.field == "name"
    if not named and not isinstance(second, Lit | Tag):
        return None
    texts = first_literals(items[2:] if named else items[1:])
    return first, tuple(text for text in texts if _tells(text)), named


def _calls(items: tuple[Node, ...]) -> Iterator[Node]:
    for item in items:
        if isinstance(item, Either):
            for option in item.options:
                yield from _calls(option)
        elif not isinstance(item, Ws):
            yield item


def _closed(node: Node) -> bool:
    """Whether it is a call with a closer of its own, which no stop sequence swallows."""
    last = node.items[-1] if isinstance(node, Call) else None
    return isinstance(last, Lit) and len(last.texts[0]) > 2 and not last.stop


def _tells(text: str) -> bool:
    """Whether a literal is rare enough in text."""
    return len(text) > 4 and (not text[0].isalnum() or text.endswith(":"))


class _Compiler(Compiler):
    """Compiles the ways in behind a missing opener as well."""

    def __init__(self, fmt: Format) -> None:
        super().__init__(fmt)
        self.ways: list[tuple[tuple[str, ...], Way]] = []

    def option(self, program: Code, option: tuple[Node, ...]) -> None:
        super().option(program, option)
        sign = _sign(option)
        if sign is not None:
            opener, texts, named = sign
            entry = program.entries[-1]
            node = option[0]
            op = self.loop(node, bare=True)[0] if isinstance(node, Section) else entry.op
            self.ways.append((texts, Way(entry, op, opener, named)))


class UnopenedEntry:
    """A sign that an opener is missing."""

    quick = quick_section = None

    def __init__(self, plan: Plan, text: str, programs: list[Program]) -> None:
        self.plan = plan
        self.text = text
        self.programs = programs

    @cached_property
    def ways(self) -> list[Way]:
        """The likeliest first. Compiled when the sign is met."""
        found: list[Way] = []
        for program in self.programs:
            assert program.source is not None
            compiler = _Compiler(program.source)
            compiler.code()
            found += [way for texts, way in compiler.ways if self.text in texts]
        return sorted(found, key=lambda way: way.entry.rank)

    def decide(self, m: Machine, pos: int, i: int, j: int) -> Op | None:
        """Read on as behind the opener; None: it is text; `WAIT`: more text decides."""
        at = m.base + i
        off = m.mender is None or m.tools is None or m.plain is not None
        if off or at < 0 or at <= m.tried or m.guesses >= GUESSES:
            return None
        for way in self.ways:
            start: int | None = i
            if way.named:
                start = name_at(m, pos, i, whole=True)
                if start is None:
                    continue
            assert start is not None
            verdict = way.entry.test(m, start)
            if verdict is None and not m.final:
                return WAIT
            if verdict:
                return self.begin(m, way, pos, start, i)
        return None

    def begin(self, m: Machine, way: Way, pos: int, start: int, i: int) -> Op:
        """Go on behind the opener that is missing before ``buf[start]``."""
        buf = m.buf
        j = start
        if m.after_markup and m.white_to(pos) >= start:
            j = pos
        else:
            for separator in way.entry.fmt.before:
                if separator and buf.endswith(separator, pos, start):
                    j = start - len(separator)
                    break
        m.content(pos, j)
        before = buf[:j].rstrip(" \t")[-1:] or m.prev
        line, column = m.where(m.base + j)
        begun = m.base + j - column + 1
        m.undo = Undo(way.opener, m.base + start, m.base + i, buf[j:start], before, line - 1, begun, m.index)
        m.ends_to = -1
        m.fmt = way.entry.begin.fmt
        m.resume = way.entry.begin
        m.scan = m.ws_to = NEVER
        m.pos = start
        m.after_markup = True
        if way.entry.begins:
            m.begin(start)
        return way.op

    def test(self, m: Machine, j: int) -> bool | None:
        return False


def name_at(m: Machine, pos: int, i: int, *, whole: bool = False) -> int | None:
    """Where the name of a declared tool, or its beginning, stands alone in a line before ``buf[i]``.

    ``whole``: all of it.
    """
    assert m.tools is not None
    at = max(pos, i - 320)
    tail = m.buf[at:i]
    match = _NAME.search(tail)
    if match is None:
        return None
    start = at + int(match.start())
    word = match.group()
    name = word.rstrip(" \t\r\n")
    names = m.tools.names
    fits = name in names if whole or len(name) < len(word) else any(known.startswith(name) for known in names)
    return start if fits and line_start(m, start) else None
