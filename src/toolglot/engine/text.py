"""The operations of the text around the calls: content, reasoning, and what follows a broken call."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ..errors import Fault
from .machine import Machine
from .ops import WS, Begin, Op, partial
from .output import NEVER

if TYPE_CHECKING:
    from .plan import Plan


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
        search = m.search or (plan.searcher.ascii if buf.isascii() else plan.searcher.all)
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
            if m.plain is not None and m.is_data(i, literal):
                literal = m.standing(plan.shorter.get(literal, ()), i)
                if not literal:
                    scan = i + 1
                    continue
            longer = plan.longer.get(literal)
            if longer is not None and not m.final and partial(longer, buf, i):
                return self.hold(m, pos, i)
            if not m.final and (around := plan.around[literal]):
                begun = [
                    at for at, text in ((i - n, text) for n, text in around) if at >= scan and partial((text,), buf, at)
                ]
                if begun:
                    return self.hold(m, pos, min(begun))
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
                    if m.is_data(i, shorter):
                        continue
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
        return self.hold(m, pos, plan.hold(buf, pos, size))  # from pos: a literal may stand in another

    def hold(self, m: Machine, pos: int, i: int) -> Op | None:
        """Give out the text before ``i`` and wait; what may be a separator before markup is held as well."""
        m.scan = m.base + i
        plan = self.plan
        buf = m.buf
        if m.after_markup and m.white_to(pos) >= i:
            return None
        j = i
        if plan.named and m.mender is not None and m.tools is not None:
            from .unopened import name_at

            start = name_at(m, pos, i)
            if start is not None:
                if m.after_markup and m.white_to(pos) >= start:
                    return None
                j = start
        white = plan.before_chars
        if white:
            stop = max(pos, j - plan.before_size)
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
        if m.after_markup and m.white_to(pos) >= i:
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
        if not self.whole(buf, pos, pos + m.limits.name):
            if not m.final and len(buf) - pos < m.limits.name:
                white = WS.match(buf, pos).end()  # type: ignore[union-attr]
                if self.part(buf, pos) or partial((self.wrapper,), buf, white):
                    return None
            return self.plan.text
        white = WS.match(buf, pos).end()  # type: ignore[union-attr]
        if m.plain is not None and buf.startswith(self.wrapper, white) and m.is_data(white, self.wrapper):
            return self.plan.text
        m.sep(pos, white)
        m.pos = white
        m.resume = self.begin
        m.fmt = self.begin.fmt
        if m.tracker is not None:
            m.tracker.tagged(m)
        return self.op

    def first(self) -> tuple[str, ...] | None:
        return None


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
            known = self.cache[begin] = (re.compile(pattern), texts, openers)
        regex, texts, openers = known
        buf = m.buf
        pos = m.pos
        if m.own_opener and m.base + pos == m.call_start:
            # Not in the broken call's own opener, which may hold another format's.
            closers = () if begin is None else (*begin.closers, *begin.section_closers)
            closed = m.stands(closers, pos)
            if not closed and not m.final and partial(closers, buf, pos):
                return None
            pos += next((len(t) for t in openers if buf.startswith(t, pos)), 0 if closed else 1)
            pos = min(pos, len(buf))
        match = m.find(regex.search, pos)
        if match is None:
            if not m.final:
                m.pos = max(pos, len(buf) - (len(texts[0]) if texts else 1) + 1)
                return None
            m.pos = len(buf)
            m.open_end = True
            if m.cut and m.fault is not None:
                m.fault.end = True  # broken, and cut off as well
            return self.over(m, self.plan.text)
        text = match.group()
        if not m.final:
            # It may grow into a longer one, or stand in one that began before it.
            for at in range(max(pos, len(buf) - len(texts[0]) + 1), match.start() + 1):
                if partial(texts, buf, at):
                    m.pos = at
                    return None
        if begin is not None and text in begin.closers:
            m.pos = match.end()
            return self.over(m, begin.resume)
        m.pos = match.start()
        if begin is not None and text in begin.section_closers:
            if m.base + m.pos == m.call_start:  # nothing but the closer stands where the call should
                m.pos = match.end()
                self.over(m, None)
            else:
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
        m.open_end = False
        m.kept = None
        m.fault = None
        m.after_markup = True
        m.scan = NEVER
        m.ws_to = NEVER
        return op
