"""The operations of reasoning: its text, its closer, and calls in a block that is never closed."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ..errors import ParseError
from ..events import ToolCallDelta, ToolCallStart
from ..types import CallPart, TextPart
from ..values.gather import gather
from .machine import Machine
from .ops import WS, Op, partial
from .output import NEVER, Stop

if TYPE_CHECKING:
    from .entries import Delimiters
    from .plan import Plan


class ReasoningOp(Op):
    """Reasoning, up to its closer."""

    def __init__(self, plan: Plan, delimiters: Delimiters) -> None:
        self.plan = plan
        self.d = delimiters
        texts = [delimiters.close, *plan.call_literals]
        self.texts = tuple(texts)
        self.longest = max(map(len, texts))
        self.heads = frozenset(t[0] for t in texts)

    @cached_property
    def search(self) -> Callable[[str, int], re.Match[str] | None]:
        """Finds the closer or a call's opener. Made when such a block is met: most never are."""
        return re.compile("|".join(re.escape(t) for t in sorted(self.texts, key=len, reverse=True))).search

    def run(self, m: Machine) -> Op | None:
        st = m.st
        if st is None:
            st = m.st = _Open(m.base + m.pos)
        if st is not _ADOPTED and st.child is not None and not self.probing(m, st):
            return None
        if m.st is _ADOPTED:
            m.st = None
            return self.plan.text
        buf = m.buf
        pos = m.pos
        size = len(buf)
        if st.inner:  # the white space that the template writes behind the opener
            white = self.d.inner[0]
            if not m.final and partial((white,), buf, pos):
                return None
            st.inner = False
            if white and buf.startswith(white, pos):
                m.sep(pos, pos + len(white))
                pos = m.pos = pos + len(white)
        scan = max(pos, m.scan - m.base)
        close = self.d.close
        while True:
            match = self.search(buf, scan)
            if match is None:
                break
            i = match.start()
            if not m.final and i > (t := self.unfinished(m, max(pos, scan), i)):
                return self.hold(m, pos, t)  # a longer literal may begin before this one
            literal = match.group()
            if m.plain is not None and m.is_data(i, literal):
                literal = m.standing(self.plan.shorter.get(literal, ()), i)
                if literal not in self.texts:
                    scan = i + 1
                    continue
            if literal == close:
                self.give(m, pos, i, closing=True)
                m.st = None
                m.past(i, i + len(close))
                return self.d.after_op
            if st.opener is None:
                st.opener = m.base + i
                st.where = m.where(st.opener)
            if self.d.calls and not m.probe:
                # A closer anywhere behind makes all of it reasoning; each part is searched for it once.
                found = m.find_text(close, max(i, st.searched - m.base))
                st.searched = max(st.searched, m.base + len(buf) - len(close) + 1)
                if found >= 0:
                    st.searched = m.base + found
                    scan = found
                    continue
                verdict = self.plan.entries[literal].test(m, i + len(literal))
                if verdict is None and not m.final:
                    return self.hold(m, pos, i)
                if verdict:
                    bad = self.start_probe(m, st, pos, i)
                    if bad is None:
                        return self if m.st is _ADOPTED else None
                    scan = max(bad, i + 1)
                    continue
            scan = i + 1
        if m.final:
            self.give(m, pos, size, closing=False)
            m.pos = size
            return self.unclosed(m, st)
        return self.hold(m, pos, self.unfinished(m, max(pos, scan), size))

    def unfinished(self, m: Machine, start: int, end: int) -> int:
        """Where in ``buf[start:end]`` a literal begins that the text so far ends in; ``end`` if nowhere."""
        buf = m.buf
        for t in range(max(start, len(buf) - self.longest + 1), end):
            if buf[t] in self.heads and partial(self.texts, buf, t):
                return t
        return end

    def hold(self, m: Machine, pos: int, i: int) -> Op | None:
        """Give out reasoning, but for white space that may belong to the closer."""
        m.scan = m.base + i
        buf = m.buf
        j = i
        size = max(len(self.d.inner[1]), self.plan.before_size)
        while j > pos and i - j < size and buf[j - 1] == "\n":
            j -= 1
        if j > pos:
            m.reasoning(pos, j)
            m.pos = j
        return None

    def give(self, m: Machine, pos: int, i: int, *, closing: bool) -> None:
        """The reasoning up to ``i``; before a closer the template's white space is no part of it."""
        j = i
        white = self.d.inner[1]
        if closing and white and m.buf.endswith(white, pos, i):
            j -= len(white)
        m.reasoning(pos, j)
        m.sep(j, i)

    def unclosed(self, m: Machine, st: _Open) -> Op:
        """The text ends in the block."""
        m.st = None
        m.note("reasoning.unclosed")
        if st.opener is not None:
            m.call_start = None
            at = st.opener
            line, column = st.where
            error = ParseError(
                "the reasoning was never closed, so the call in it is not run",
                "reasoning.unclosed",
                position=at,
                line=line,
                column=column,
                expected=repr(self.d.close),
            )
            m.add_error(error, None)
        return self.plan.text

    # -- calls from an open block ----------------------------------------------------------------------------

    def start_probe(self, m: Machine, st: _Open, pos: int, i: int) -> int | None:
        """A call may stand at ``buf[i]``: read it beside, and hold the text with it until more is known.

        Returns the index from which to search on if it is none; None if the probe goes on or its calls count.
        """
        buf = m.buf
        j = i
        size = max(len(self.d.inner[1]), self.plan.before_size)
        while j > pos and i - j < size and buf[j - 1] == "\n":
            j -= 1
        child = Machine(self.plan.probe)
        child.probe = True
        if m.live:
            child.give_events()
        child.tools = m.tools
        child.limits = m.limits
        child.ids = m.ids
        child.index = m.index
        child.plain = m.plain
        child.wary = m.wary
        m.stumble()
        # The same text, so that nothing is copied for a probe that fails at once.
        child.buf, child.base, child.pos = buf, m.base, i
        child.lines, child.line_start = m.lines, m.line_start
        child.mark = m.mark
        child.final, child.cut = m.final, m.cut
        try:
            child.advance()
            child.flush()
        except Stop:
            assert child.bad is not None
            m.mark = child.mark  # lines are counted once
            return child.bad - m.base
        if m.final and (m.cut or not child.calls):
            return len(buf)
        m.reasoning(pos, j)
        st.child = child
        st.held_from = m.rereads = m.base + j
        st.opened_at = m.base + i
        st.lines = (m.lines, m.line_start)
        if m.final:
            self.adopt(m, st)
            m.pos = len(buf)
            return None
        newlines = buf.count("\n", -m.base if m.base < 0 else 0, j)
        if newlines:
            st.lines = (m.lines + newlines, m.base + buf.rfind("\n", 0, j) + 1)
        st.held = [buf[j:]]
        st.tail = buf[i:][-len(self.d.close) + 1 :]
        m.pos = len(buf)
        return None

    def probing(self, m: Machine, st: _Open) -> bool:
        """Feed the probe. True: it is over, go on reading at ``m.pos``."""
        piece = m.buf[m.pos :]
        m.pos = len(m.buf)
        close = self.d.close
        window = st.tail + piece
        found = window.find(close)
        while found >= 0 and m.is_data_at(m.base + len(m.buf) - len(window) + found, close):
            found = window.find(close, found + 1)
        child = st.child
        child.plain = m.plain
        gather(st.held, piece)
        if found >= 0:
            return self.release(m, st, m.base + len(m.buf) - len(window) + found)
        st.tail = window[-len(close) + 1 :]
        try:
            if piece:
                child.feed(piece)
                child.events.clear()  # nobody waits for them, and a long argument has many
            if m.final:
                child.cut = m.cut
                child.close()
        except Stop:
            return self.release(m, st, child.bad)
        if not m.final:
            return False
        if m.cut or not child.calls:
            return self.release(m, st, m.base + len(m.buf))
        self.adopt(m, st)
        return True

    def adopt(self, m: Machine, st: _Open) -> None:
        """The text ends with nothing but calls behind the open reasoning: they count."""
        child = st.child
        m.sep_at(st.held_from, st.opened_at)
        m.flush()
        m.separators.extend(child.separators)
        held = ("".join(st.held), st.held_from, *st.lines) if st.held else (m.buf, m.base, m.lines, m.line_start)
        for part in child.parts:
            span = part.span or (0, 0)
            if not isinstance(part, CallPart):  # white space that no markup has: all else ends the probe
                m.put(0, span[0], part.text if isinstance(part, TextPart) else "")
                continue
            call = part.call
            if m.live:
                m.events.append(ToolCallStart(call.index, call.id, call.name, (span[0], span[0])))
                m.events.append(ToolCallDelta(call.index, call.arguments_json, span))
            m.made(call, span, held)
        m.note("reasoning.unclosed")
        m.index = child.index
        m.st = _ADOPTED
        m.after_markup = True

    def release(self, m: Machine, st: _Open, upto: int) -> bool:
        """The held text is reasoning up to ``upto``; what follows is read again from there."""
        text = "".join(st.held)
        start = st.held_from
        head = text[: upto - start]
        # Line breaks at its end may be the closer's, or stand before the next call.
        size = max(len(self.d.inner[1]), self.plan.before_size)
        head = head[: len(head.rstrip("\n")) if len(head) - len(head.rstrip("\n")) <= size else len(head) - size]
        m.put(1, start, head)
        m.base = start + len(head)
        m.buf = text[len(head) :]
        m.pos = 0
        m.scan = upto
        lines, line_start = st.lines
        newlines = head.count("\n", -start if start < 0 else 0)
        if newlines:
            line_start = start + head.rfind("\n") + 1
        m.lines, m.line_start = lines + newlines, line_start
        m.mark = None
        st.child = None
        st.held = []
        m.rereads = None
        return True


class _Open:
    """An open block of reasoning."""

    __slots__ = (
        "child",
        "held",
        "held_from",
        "inner",
        "lines",
        "opened_at",
        "opener",
        "searched",
        "start",
        "tail",
        "where",
    )

    def __init__(self, start: int) -> None:
        self.start = start
        self.inner = True
        self.opener: int | None = None
        self.child: Any = None
        self.held: list[str] = []
        self.held_from = 0
        self.tail = ""
        self.lines = (0, 0)
        self.where = (0, 0)
        self.opened_at = 0
        self.searched = start


_ADOPTED = _Open(0)


class Presumed(Op):
    """The start of an output whose prompt is not known, of a family whose prompt opens reasoning by default.

    It is reasoning, unless it begins with the opener itself or with ``markup`` that cannot stand in reasoning.
    """

    def __init__(self, plan: Plan, op: ReasoningOp, markup: tuple[str, ...]) -> None:
        self.plan = plan
        self.op = op
        self.markup = markup

    def run(self, m: Machine) -> Op | None:
        buf = m.buf
        white = WS.match(buf, max(m.pos, m.ws_to - m.base)).end()  # type: ignore[union-attr]
        if not m.final and (white == len(buf) or partial(self.markup, buf, white)):
            m.ws_to = m.base + white
            return None
        m.ws_to = NEVER
        if white == len(buf) or m.stands(self.markup, white):
            return self.plan.start
        return self.op


class AfterReasoning(Op):
    """The white space that the template writes behind a closed block; at most ``size`` line breaks."""

    def __init__(self, plan: Plan, after: str) -> None:
        self.plan = plan
        self.after = after

    def run(self, m: Machine) -> Op | None:
        buf = m.buf
        pos = m.pos
        end = pos
        for char in self.after:
            if end == len(buf):
                if not m.final:
                    return None
                break
            if buf[end] != char:
                break
            end += 1
        m.sep(pos, end)
        m.pos = end
        return self.plan.text
