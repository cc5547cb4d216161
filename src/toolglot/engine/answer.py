"""Tags around the final answer, of formats that write them; where the format is not named they are text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .machine import Machine
from .ops import Op, partial
from .text import WAIT

if TYPE_CHECKING:
    from .plan import Plan


class AnswerOpen:
    """The opening tag. It counts where nothing stands before it but markup."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan

    def decide(self, m: Machine, pos: int, i: int, j: int) -> Op | None:
        """Drop it, or leave it as text."""
        if m.base + i and not (m.after_markup and m.white_to(pos) >= i):
            return None
        m.ends_to = -1
        m.answered = True
        self.plan.text.before(m, pos, i, ())
        m.past(i, j)
        return self.plan.text


class AnswerClose:
    """The closing tag. It counts behind the opening one, at the end of the output or before a call."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan

    def decide(self, m: Machine, pos: int, i: int, j: int) -> Op | None:
        """Drop it, leave it as text, or wait for the end of the output."""
        if not m.answered:
            return None
        buf = m.buf
        ends = self.plan.ends
        end = m.white_to(j) if ends is None else ends.reach(m, j)
        if end < len(buf):
            follow = (*self.plan.call_literals, *(() if ends is None else ends.texts))
            if m.stands(self.plan.call_literals, end):
                return self.drop(m, pos, i, j)
            return WAIT if not m.final and partial(follow, buf, end) else None
        if not m.final:
            return WAIT
        return self.drop(m, pos, i, j)

    def drop(self, m: Machine, pos: int, i: int, j: int) -> Op:
        """Go on behind it."""
        m.ends_to = -1
        self.plan.text.before(m, pos, i, ())
        m.past(i, j)
        return self.plan.text
