"""The operation that reads a bare value which may stand in CDATA sections."""

from __future__ import annotations

from .machine import Machine
from .ops import LOOK, WS, Op, partial
from .output import NEVER
from .valueops import _STRING, ValueOp

OPEN, CLOSE = "<![CDATA[", "]]>"


class CdataOp(ValueOp):
    """As `ValueOp`. In CDATA a closer is data; adjacent sections are joined; without a schema it is a string."""

    def run(self, m: Machine) -> Op | None:
        buf = m.buf
        pos = m.pos
        st = m.st
        if st is None:
            start = WS.match(buf, pos).end()  # type: ignore[union-attr]
            if not m.final and start - pos <= LOOK and partial((OPEN,), buf, start):
                return None
            if start - pos > LOOK or not buf.startswith(OPEN, start):
                return super().run(m)
            pos = m.pos = start + len(OPEN)
            # As `ValueOp` has it, and that it is CDATA.
            st = m.st = [m.base + pos, [], self.types(m) or _STRING, False, "", True]
            m.scan = NEVER
        if len(st) == 5:
            return super().run(m)
        scan = max(pos, m.scan - m.base)
        while True:
            i = buf.find(CLOSE, scan)
            if i < 0:
                break
            end = i + len(CLOSE)
            if buf.startswith(OPEN, end):
                self.wait(m, st, buf, pos, i)
                pos = scan = m.pos = end + len(OPEN)
                continue
            after = self.behind(m, buf, end)
            if after is None:
                m.scan = m.base + i
                return self.wait(m, st, buf, pos, i)
            if after:
                m.scan = NEVER
                m.st = None
                return self.finish(m, st, buf[pos:i], after, m.base + i)
            scan = i + 1
        if m.final:
            return self.unfinished(m)
        hold = len(buf)
        while hold > pos and len(buf) - hold < len(CLOSE) - 1 and buf[hold - 1] == "]":
            hold -= 1
        m.scan = m.base + hold
        return self.wait(m, st, buf, pos, hold)

    def behind(self, m: Machine, buf: str, end: int) -> int | None:
        """Where the value's closer ends that stands behind a section; 0: there is none; None: more text decides."""
        after = WS.match(buf, end).end()  # type: ignore[union-attr]
        if after - end > LOOK:
            return 0
        for closer in self.closers:
            if buf.startswith(closer, after):
                verdict = self.followed(m, buf, after + len(closer))
                return None if verdict is None else (after + len(closer)) * verdict
        # Another section may be about to begin.
        if not m.final and (partial(self.closers, buf, after) or partial((OPEN,), buf, end)):
            return None
        return 0
