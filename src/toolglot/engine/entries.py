"""What a literal in text leads to: calls of one or several formats, reasoning, wrappers, the end of the turn."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from ..pattern import CallObject
from .compile import Entry, Program
from .machine import Found, Machine
from .ops import WS, Attributes, Op, partial
from .output import NEVER
from .quick import Plain
from .shapes import SEED
from .text import WAIT

if TYPE_CHECKING:
    from .plan import Plan
    from .reasoning import ReasoningOp


@dataclass(frozen=True)
class Untagged:
    """How calls without markup are looked for."""

    tier: str  # json or python
    format_id: str
    eager: bool = False
    start: bool = False
    declared: bool = False  # only where all its tools are declared
    named: str | None = None  # the tool that has to be called: its bare arguments count as well
    keys: CallObject = SEED
    dialect: str = "python"
    single: bool = False  # the first call is the only one
    before: tuple[str, ...] = ()  # what the template writes before a call


@dataclass
class Delimiters:
    """The delimiters of reasoning in a plan."""

    open: str
    close: str
    inner: tuple[str, str]
    after: str
    calls: bool
    after_op: Op


class CallEntry:
    """A literal that opens calls of one or several formats."""

    def __init__(self, plan: Plan, text: str, entries: list[Entry]) -> None:
        def rank(entry: Entry) -> int:
            return entry.rank + (0 if text == entry.canonical else 50)

        self.plan = plan
        self.entries = sorted(entries, key=lambda e: (not e.lits, not e.behind, rank(e)))
        self.quick = self.entries[0].quick
        self.quick_section = self.entries[0].quick_section
        self.reported = self.entries[0].begin.fmt
        real = [e for e in entries if not e.bare and not e.weak]
        # A tag's name has to end: what goes on is another word.
        real = [e for e in real if not isinstance(e.op, Attributes)]
        # An opener that is a word, or that another format's bare call has, is markup only where what follows fits (or
        # where it stands, if it counts only at a line start).
        self.word = text[0].isalnum() and not all(e.line for e in entries)
        if self.word or any(e.bare for e in entries):
            real = []
        self.fallback = min(real, key=rank) if real else None
        if len(entries) == 1 and self.fallback is not None and not _needs_look(entries[0]):
            self.only: Entry | None = entries[0]
        else:
            self.only = None

    def decide(self, m: Machine, pos: int, i: int, j: int) -> Op | None:
        """Go into the format that stands at ``buf[i]``; None: it is text; `WAIT`: more text decides."""
        if m.fast and self.take(m, pos, i, j):
            return self.plan.text
        entry = self.only
        if entry is not None and entry.line and not line_start(m, i):
            return None
        if entry is None:
            unsure: Entry | None = None
            open = calls = 0
            for candidate in self.entries:
                if candidate.line and not line_start(m, i):
                    continue
                verdict = candidate.test(m, j)
                if verdict:
                    entry = candidate
                    break
                if verdict is None:
                    if not m.final:
                        return WAIT
                    open += 1
                    calls += candidate.begins
                    # The text ends before it is told; a bare call or half a tag's name is none then.
                    sure = not (candidate.bare or candidate.weak or isinstance(candidate.op, Attributes))
                    if unsure is None and sure and (m.cut or not self.word):
                        unsure = candidate
            else:
                # A section that opens at the very end is no find: the other tiers go on.
                alone = open and not calls and self.plan.untagged and not m.cut
                entry = None if alone else unsure or self.fallback
                if entry is None:
                    return None
        assert entry is not None
        m.ends_to = -1
        plan = self.plan
        if i > pos:
            plan.text.before(m, pos, i, entry.fmt.before)
        if m.tracker is not None:
            m.tracker.tagged(m)
        m.after_markup = True
        m.fmt = entry.begin.fmt
        m.resume = entry.begin
        m.ws_to = NEVER
        m.scan = NEVER
        if entry.begins:
            m.begin(i)
            m.body_at = m.base + j
        else:
            m.section_at = m.base + i
            m.settled = True
            if m.live:
                m.keep(i)
            m.sep(i, j)
        m.pos = j
        return entry.op

    def read(self, m: Machine, i: int, j: int, write: bool) -> tuple[Entry, list[Plain], int] | None:
        """The complete calls whose opener stands at ``buf[i:j]``, the fast way; None: ask the operations."""
        text = m.buf
        tools = m.tools
        for entry in self.entries:
            if entry.quick is not None:
                one = entry.quick.read(text, i, j, tools, write)
                if one is not None:
                    return entry, [one[0]], one[1]
            elif entry.quick_section is not None:
                some = entry.quick_section.read(text, j, tools, write)
                if some is not None:
                    return entry, some[0], some[1]
            if entry.test(m, j) is not False:
                return None  # it is this format's, but not plain
        return None

    def take(self, m: Machine, pos: int, i: int, j: int) -> bool:
        """Take calls the fast way, if they are plain."""
        tools = m.tools
        buf = m.buf
        result = self.read(m, i, j, True)
        if result is None:
            return False
        entry, calls, end = result
        if tools is not None:
            for call in calls:
                if call[0] not in tools.names:
                    return False
        m.ends_to = -1
        if i > pos:
            self.plan.text.before(m, pos, i, entry.fmt.before)
        if m.tracker is not None:
            m.tracker.tagged(m)
        m.after_markup = True
        m.fmt = entry.begin.fmt
        m.scan = m.ws_to = NEVER
        at = i
        for name, arguments, a, b, json, start, stop in calls:
            m.index += 1
            m.check_index(start)
            if at < start:
                m.sep(at, start)
            at = stop
            raw: str | None = None
            if b > a or json is None or not entry.each:
                raw = buf[a:b]
            found = Found(name, arguments, raw, raw if json is None else json)
            m.finish(found, (start, stop))
        if at < end:
            m.sep(at, end)
        m.pos = end
        return True

    def test(self, m: Machine, j: int) -> bool | None:
        """Whether a call begins behind the literal that ends at ``j``."""
        for entry in self.entries:
            verdict = entry.test(m, j, False)  # whose call it is does not matter here
            if verdict is not False:
                return verdict
        return False


def _needs_look(entry: Entry) -> bool:
    return isinstance(entry.op, Attributes)


class MachineEntry(CallEntry):
    """A literal that opens the text of one or several hand-written machines."""

    quick = quick_section = None

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.programs: list[Program] = []

    def add(self, program: Program) -> None:
        """One more; the lowest rank is asked first."""
        self.programs = sorted([*self.programs, program], key=lambda p: p.fmt.rank)

    def decide(self, m: Machine, pos: int, i: int, j: int) -> Op | None:
        # The last one takes what none of the others says is its own.
        program = self.programs[-1]
        for other in self.programs[:-1]:
            verdict = other.machine.test(m, i)
            if verdict is None:
                return WAIT
            if verdict:
                program = other
                break
        if i > pos:
            self.plan.text.before(m, pos, i, program.fmt.before)
        m.settled = True
        if m.tracker is not None:
            m.tracker.tagged(m)
        m.ends_to = -1
        m.scan = NEVER
        m.pos = i
        op: Op = program.machine.op
        return op

    def test(self, m: Machine, j: int) -> bool | None:
        return False


def line_start(m: Machine, i: int) -> bool:
    """Whether nothing but blanks stands before ``buf[i]`` in its line."""
    buf = m.buf
    k = i
    while k > 0 and buf[k - 1] in " \t":
        k -= 1
    return (buf[k - 1] if k else m.prev) in ("", "\n")


class OpenEntry:
    """A literal that opens reasoning."""

    def __init__(self, plan: Plan, op: ReasoningOp) -> None:
        self.plan = plan
        self.op = op
        self.control = not plan.detect and any(op.d.open in fmt.special for fmt in plan.formats)

    def decide(self, m: Machine, pos: int, i: int, j: int) -> Op | None:
        """Reasoning opens at the start of the output, of a line or behind markup; elsewhere the literal is text.

        A control token of the format that is read opens it anywhere.
        """
        blank = m.after_markup and m.white_to(pos) >= i
        if not blank and not self.control and not line_start(m, i) and m.base + i > 0:
            m.literal_opens += 1
            return None
        m.ends_to = -1
        self.plan.text.before(m, pos, i, (self.plan.lead,))
        if m.tracker is not None:
            m.tracker.drop(m)
        m.thought_at = m.base + i
        m.sep(i, j)
        m.pos = j
        m.scan = NEVER
        m.st = None
        return self.op


class CloseEntry:
    """A literal that closes reasoning, met outside of it."""

    def __init__(self, plan: Plan, delimiters: Delimiters) -> None:
        self.plan = plan
        self.d = delimiters

    def decide(self, m: Machine, pos: int, i: int, j: int) -> Op | None:
        """Reasoning that was never opened: the text before it is reasoning."""
        if m.literal_opens:
            m.literal_opens -= 1
            return None
        m.ends_to = -1
        white = self.d.inner[1]
        k = i - len(white) if white and m.buf.endswith(white, pos, i) else i
        m.content(pos, k)
        if m.tracker is not None:
            m.tracker.drop(m)
        m.reclassify(m.base + k)
        m.past(k, j)
        return self.d.after_op


class WrapEntry:
    """Markup around content that is dropped."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan

    def decide(self, m: Machine, pos: int, i: int, j: int) -> Op | None:
        """Drop it."""
        m.ends_to = -1
        self.plan.text.before(m, pos, i, ())
        m.past(i, j)
        return self.plan.text


class FinalEntry:
    """What begins the final answer: it and all behind it is content."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan

    def decide(self, m: Machine, pos: int, i: int, j: int) -> Op | None:
        """Go on without looking for calls."""
        if not line_start(m, i):
            return None
        m.ends_to = -1
        if m.after_markup and not m.buf[pos:i].strip(" \t\r\n"):
            self.plan.text.before(m, pos, i, ())
            pos = i
        m.after_markup = False
        m.content(pos, j)
        m.pos = j
        m.search = None
        m.scan = NEVER
        return self.plan.rest


class EndEntry:
    """A token that ends the turn: no content where nothing but such tokens follow."""

    def __init__(self, plan: Plan, texts: tuple[str, ...]) -> None:
        self.plan = plan
        self.texts = texts

    @cached_property
    def _run(self) -> Callable[[str, int], re.Match[str] | None]:
        """Matches what may end the output. Made when such a token is met."""
        return re.compile(rf"(?:{'|'.join(map(re.escape, self.texts))}|[ \t\r\n])*").match

    def run(self, m: Machine, pos: int) -> int:
        """The end of the run of such tokens and white space that starts at ``buf[pos]``."""
        if m.plain is None:
            match = self._run(m.buf, pos)
            assert match is not None
            return match.end()
        while True:
            pos = WS.match(m.buf, pos).end()  # type: ignore[union-attr]
            text = m.standing(self.texts, pos)
            if not text:
                return pos
            pos += len(text)

    def reach(self, m: Machine, i: int) -> int:
        """How far such tokens and white space reach from ``buf[i]`` on. What was looked at is not looked at again."""
        at = m.base + i
        begun, known = m.ended
        end = self.run(m, known - m.base if begun <= at < known else i)
        m.ended = (at, m.base + end)
        return end

    def decide(self, m: Machine, pos: int, i: int, j: int) -> Op | None:
        """Wait for the end of the text."""
        buf = m.buf
        end = self.reach(m, i)
        if end == len(buf):
            if m.final:
                self.plan.text.before(m, pos, i, ())
                m.sep(i, end)
                m.pos = end
                m.ends_to = -1
                return self.plan.text
            m.ends_to = m.base + end
            return WAIT
        if not m.final and partial(self.texts, buf, end):
            m.ends_to = m.base + end
            return WAIT
        m.ends_to = -1
        return None
