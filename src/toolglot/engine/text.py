"""The operations of the text around the calls: content, reasoning, and what follows a broken call."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ..errors import Fault, ParseError
from .machine import NEVER, Machine, Stop
from .ops import WS, Begin, Op, partial

if TYPE_CHECKING:
    from .plan import Delimiters, Plan


class Wait(Op):
    """Says that more text decides."""


WAIT = Wait()


class Text(Op):
    """Content, up to the next markup."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan

    def run(self, m: Machine) -> Op | None:
        plan = self.plan
        buf = m.buf
        pos = m.pos
        size = len(buf)
        search = m.search or plan.search
        op: Op | None
        scan = max(pos, m.scan - m.base)
        if m.after_markup and m.ends_to < 0 and not m.final:
            # White space behind markup is a separator if markup follows, else content: wait for what follows.
            white = WS.match(buf, max(pos, m.ws_to - m.base)).end()  # type: ignore[union-attr]
            if white == size:
                m.ws_to = m.base + white
                return None
        while True:
            match = search(buf, scan)
            if match is None:
                break
            i = match.start()
            literal = match.group()
            if m.masked and m.is_masked(i):
                scan = i + 1
                continue
            longer = plan.longer.get(literal)
            if longer is not None and not m.final and partial(longer, buf, i):
                return self.hold(m, pos, i)
            tracker = m.tracker
            if tracker is not None and tracker.eager:
                # With an untagged format, markup inside a call is data.
                if i > pos:
                    m.content(pos, i)
                    m.after_markup = tracker.blank()
                    m.pos = pos = i
                if tracker.inside():
                    scan = i + 1
                    continue
            op = plan.entries[literal].decide(m, pos, i, i + len(literal))
            if op is None:
                for shorter in plan.shorter.get(literal, ()):
                    op = plan.entries[shorter].decide(m, pos, i, i + len(shorter))
                    if op is not None:
                        break
            if op is None:
                scan = i + 1
                continue
            if op is WAIT:
                return self.hold(m, pos, i)
            m.scan = NEVER
            return op
        if m.final:
            self.before(m, pos, size, ())
            m.pos = size
            m.done = True
            if m.tracker is not None:
                m.tracker.finish(m)
            return None
        return self.hold(m, pos, plan.hold(buf, scan, size))

    def hold(self, m: Machine, pos: int, i: int) -> Op | None:
        """Give out the text before ``i`` and wait; what may be a separator before markup is held as well."""
        m.scan = m.base + i
        plan = self.plan
        buf = m.buf
        if m.after_markup and WS.match(buf, pos).end() >= i:  # type: ignore[union-attr]
            return None
        j = i
        white = plan.before_chars
        if white:
            stop = max(pos, i - plan.before_size)
            while j > stop and buf[j - 1] in white:
                j -= 1
        if j > pos:
            m.after_markup = False
            m.content(pos, j)
            m.pos = j
            if m.tracker is not None and m.tracker.eager:
                m.after_markup = m.tracker.blank()
        return None

    def before(self, m: Machine, pos: int, i: int, separators: tuple[str, ...]) -> None:
        """The text before markup that stands at ``i``: content, less what the template writes between."""
        if i == pos:
            return
        buf = m.buf
        if m.after_markup and WS.match(buf, pos).end() >= i:  # type: ignore[union-attr]
            if m.parts or m.separators or m.base + pos > 0:
                m.sep(pos, i)
                return
            separators = (*separators, self.plan.lead)
        j = i
        for separator in separators:
            if separator and buf.endswith(separator, pos, i):
                j = i - len(separator)
                break
        m.content(pos, j)
        m.sep(j, i)

    def first(self) -> tuple[str, ...] | None:
        return None


class StartList(Op):
    """The start of an output that may be a Python list of calls."""

    def __init__(self, plan: Plan, op: Op, begin: Begin, wrapper: str) -> None:
        self.plan = plan
        self.op = op
        self.begin = begin
        blank = r"[ \t\r\n]*"
        head = rf"(?:{re.escape(wrapper)}{blank})?" if wrapper else ""
        self.wrapper = wrapper
        self.whole = re.compile(rf"{blank}{head}\[{blank}[A-Za-z_][A-Za-z0-9_.]*\(").match
        self.part = re.compile(rf"{blank}{head}(?:\[{blank}(?:[A-Za-z_][A-Za-z0-9_.]*)?)?\Z").match

    def run(self, m: Machine) -> Op | None:
        buf = m.buf
        pos = m.pos
        if not self.whole(buf, pos):
            if not m.final and len(buf) - pos < m.limits.name:
                white = WS.match(buf, pos).end()  # type: ignore[union-attr]
                if self.part(buf, pos) or partial((self.wrapper,), buf, white):
                    return None
            return self.plan.text
        white = WS.match(buf, pos).end()  # type: ignore[union-attr]
        m.sep(pos, white)
        m.pos = white
        m.resume = self.begin
        m.fmt = self.begin.fmt
        if m.tracker is not None:
            m.tracker.tagged(m)
        return self.op

    def first(self) -> tuple[str, ...] | None:
        return None


class ReasoningOp(Op):
    """Reasoning, up to its closer."""

    def __init__(self, plan: Plan, delimiters: Delimiters) -> None:
        self.plan = plan
        self.d = delimiters
        texts = [delimiters.close, *plan.call_literals]
        self.search = re.compile("|".join(re.escape(t) for t in sorted(texts, key=len, reverse=True))).search
        self.texts = tuple(texts)
        self.longest = max(map(len, texts))
        self.heads = frozenset(t[0] for t in texts)

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
            literal = match.group()
            if m.masked and m.is_masked(i):
                scan = i + 1
                continue
            if literal == close:
                self.give(m, pos, i, closing=True)
                m.pos = end = i + len(close)
                m.sep(i, end)
                return self.closed(m)
            if st.opener is None:
                st.opener = m.base + i
                st.where = m.where(st.opener)
            if self.d.calls and not m.probe:
                # A closer anywhere behind makes all of it reasoning; each part is searched for it once.
                found = buf.find(close, max(i, st.searched - m.base))
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
        hold = size
        t = max(pos, scan, size - self.longest + 1)
        while t < size:
            if buf[t] in self.heads and partial(self.texts, buf, t):
                hold = t
                break
            t += 1
        return self.hold(m, pos, hold)

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

    def closed(self, m: Machine) -> Op:
        """The block is closed: take the white space that the template writes behind it."""
        m.st = None
        m.scan = NEVER
        m.ws_to = NEVER
        m.after_markup = True
        return self.d.after_op

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
        child.masked = m.masked
        # The same text, so that nothing is copied for a probe that fails at once.
        child.buf, child.base, child.pos = buf, m.base, i
        child.lines, child.line_start = m.lines, m.line_start
        child.final, child.cut = m.final, m.cut
        try:
            child.advance()
            child.flush()
        except Stop:
            assert child.bad is not None
            return child.bad - m.base
        if m.final and (m.cut or not child.calls):
            return len(buf)
        m.reasoning(pos, j)
        st.child = child
        st.held_from = m.base + j
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
        child = st.child
        st.held.append(piece)
        if found >= 0:
            return self.release(m, st, m.base + len(m.buf) - len(window) + found)
        st.tail = window[-len(close) + 1 :]
        try:
            if piece:
                child.feed(piece)
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
        m.calls.extend(child.calls)
        m.parts.extend(child.parts)
        if m.live:
            m.events.extend(child.events)
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


class Recover(Op):
    """Behind a broken call: its own closer, else the next opener, else the end."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.cache: dict[Any, Any] = {}

    def run(self, m: Machine) -> Op | None:
        begin: Begin | None = m.resume
        known = self.cache.get(begin)
        if known is None:
            own = begin.closers + begin.section_closers + begin.siblings if begin is not None else ()
            texts = sorted({*own, *self.plan.call_literals}, key=len, reverse=True)
            pattern = "|".join(map(re.escape, texts)) or "(?!)"
            openers = sorted((begin.first() or ()) if begin is not None else (), key=len, reverse=True)
            known = self.cache[begin] = (re.compile(pattern), max(map(len, texts), default=1), openers)
        regex, longest, openers = known
        buf = m.buf
        pos = m.pos
        if m.own_opener and m.base + pos == m.call_start:
            # Not in the broken call's own opener, which may hold another format's.
            pos += next((len(t) for t in openers if buf.startswith(t, pos)), 1)
            pos = min(pos, len(buf))
        match = regex.search(buf, pos)
        if match is None:
            if not m.final:
                m.pos = max(pos, len(buf) - longest + 1)
                return None
            m.pos = len(buf)
            if m.cut and m.fault is not None:
                m.fault.end = True  # broken, and cut off as well
            return self.over(m, self.plan.text)
        text = match.group()
        if begin is not None and text in begin.closers:
            m.pos = match.end()
            return self.over(m, begin.resume)
        m.pos = match.start()
        if begin is not None and text in begin.section_closers:
            self.over(m, None)
            m.sep(m.pos, match.end())
            m.pos = match.end()
        elif begin is not None and text in begin.siblings:
            return self.over(m, begin.resume)
        else:
            self.over(m, None)
        return self.plan.text

    def over(self, m: Machine, op: Op | None) -> Op | None:
        """The region is known."""
        fault: Fault | None = m.fault
        assert fault is not None and m.call_start is not None
        start = m.call_start
        if m.unit is not None:
            prose = m.unit_prose
            start = m.drop_unit()
            if prose and not fault.end:
                m.put(0, start, m.region(start, m.base + m.pos))
                fault = None
        if fault is not None:
            m.report(fault, (start, m.base + m.pos))
        m.call_start = None
        m.kept = None
        m.fault = None
        m.after_markup = True
        m.scan = NEVER
        m.ws_to = NEVER
        return op
