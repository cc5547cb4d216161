"""A plan: what a machine looks for in text, made once for a format or for all that can be detected."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ..format import Format
from ..pattern import CallObject
from .compile import Entry, Program
from .machine import NEVER, Found, Machine
from .ops import Op, partial
from .quick import Plain
from .shapes import SEED
from .text import WAIT, AfterReasoning, ReasoningOp, Recover, StartList, Text
from .untagged import look


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
        self.entries = sorted(entries, key=lambda e: (not e.lits, rank(e)))
        self.quick = self.entries[0].quick
        self.quick_section = self.entries[0].quick_section
        self.reported = self.entries[0].begin.fmt
        real = [e for e in entries if not e.bare]
        self.fallback = min(real, key=rank) if real else None
        if len(entries) == 1 and self.fallback is not None and not _needs_look(entries[0]):
            entries[0].sure = True
            self.only: Entry | None = entries[0]
        else:
            self.only = None

    def decide(self, m: Machine, pos: int, i: int, j: int) -> Op | None:
        """Go into the format that stands at ``buf[i]``; None: it is text; `WAIT`: more text decides."""
        if m.fast and self.take(m, pos, i, j):
            return self.plan.text
        entry = self.only
        if entry is None:
            for candidate in self.entries:
                verdict = candidate.test(m, j)
                if verdict:
                    entry = candidate
                    break
                if verdict is None:
                    if not m.final:
                        return WAIT
                    entry = entry or candidate  # the text ends before it is told
            if entry is None or (entry.bare and verdict is None):
                entry = entry or self.fallback
                if entry is None or (entry.bare and not verdict):
                    return None
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
            verdict = entry.test(m, j)
            if verdict is not False:
                return verdict
        return False


def _needs_look(entry: Entry) -> bool:
    from .ops import Attributes

    return isinstance(entry.op, Attributes)


class MachineEntry(CallEntry):
    """A literal that opens the text of a hand-written machine."""

    quick = quick_section = None

    def __init__(self, plan: Plan, program: Program) -> None:
        self.plan = plan
        self.program = program

    def decide(self, m: Machine, pos: int, i: int, j: int) -> Op | None:
        verdict = self.program.machine.test(m, i)
        if verdict is None:
            return WAIT
        if not verdict:
            return None
        if i > pos:
            self.plan.text.before(m, pos, i, self.program.fmt.before)
        m.settled = True
        if m.tracker is not None:
            m.tracker.tagged(m)
        m.ends_to = -1
        m.scan = NEVER
        m.pos = i
        op: Op = self.program.machine.op
        return op

    def test(self, m: Machine, j: int) -> bool | None:
        return False


class OpenEntry:
    """A literal that opens reasoning."""

    def __init__(self, plan: Plan, op: ReasoningOp) -> None:
        self.plan = plan
        self.op = op

    def decide(self, m: Machine, pos: int, i: int, j: int) -> Op | None:
        """Reasoning opens at a line start or behind markup; in the middle of a line the literal is text."""
        buf = m.buf
        k = i
        while k > 0 and buf[k - 1] in " \t":
            k -= 1
        before = buf[k - 1] if k else m.prev
        blank = m.after_markup and not buf[pos:i].strip(" \t\r\n")
        if not blank and before not in ("", "\n") and m.base + i >= 0:
            m.literal_opens += 1
            return None
        m.ends_to = -1
        self.plan.text.before(m, pos, i, (self.plan.lead,))
        if m.tracker is not None:
            m.tracker.drop(m)
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
        m.sep(k, j)
        m.pos = j
        m.scan = NEVER
        m.ws_to = NEVER
        m.after_markup = True
        return self.d.after_op


class WrapEntry:
    """Markup around content that is dropped."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan

    def decide(self, m: Machine, pos: int, i: int, j: int) -> Op | None:
        """Drop it."""
        m.ends_to = -1
        self.plan.text.before(m, pos, i, ())
        m.sep(i, j)
        m.pos = j
        m.scan = NEVER
        m.ws_to = NEVER
        m.after_markup = True
        return self.plan.text


class EndEntry:
    """A token that ends the turn: no content where nothing but such tokens follow."""

    def __init__(self, plan: Plan, texts: tuple[str, ...]) -> None:
        self.plan = plan
        self.texts = texts
        self.run = re.compile(rf"(?:{'|'.join(map(re.escape, texts))}|[ \t\r\n])*").match

    def decide(self, m: Machine, pos: int, i: int, j: int) -> Op | None:
        """Wait for the end of the text."""
        buf = m.buf
        match = self.run(buf, max(i, m.ends_to - m.base) if m.ends_to >= 0 else i)
        assert match is not None
        end = match.end()
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


class Plan:
    """What to look for, and what to do where it is found."""

    def __init__(
        self,
        programs: Iterable[Program],
        *,
        format_id: str | None = None,
        untagged: tuple[Untagged, ...] = (),
        probe: bool = False,
    ) -> None:
        self.format_id = format_id
        self.untagged = untagged
        self.look = look
        programs = list(programs)
        formats: list[Format] = [p.fmt for p in programs]
        self.formats = formats
        by_text: dict[str, list[Entry]] = {}
        for program in programs:
            for entry in program.entries:
                for text in entry.texts:
                    by_text.setdefault(text, []).append(entry)
        self.entries: dict[str, Any] = {text: CallEntry(self, text, entries) for text, entries in by_text.items()}
        self.call_literals = tuple(by_text)
        # A text without any of these characters can hold no call.
        self.plain = all(any(c in text for c in "<[") for text in by_text)
        specials = sorted({text for fmt in formats for text in fmt.special}, key=len, reverse=True)
        self.special = re.compile("|".join(map(re.escape, specials))) if specials else None
        self.text = Text(self)
        self.recover = Recover(self)
        self.lead = ""
        self.ends: EndEntry | None = None
        self.start: Op = self.text
        if not probe:
            self._around(programs, formats)
        literals = sorted(self.entries, key=len, reverse=True)
        self.searcher = Searcher(literals)
        self.search = self.searcher.all
        self.longer = {
            a: tuple(b for b in literals if b != a and b.startswith(a))
            for a in literals
            if any(b != a and b.startswith(a) for b in literals)
        }
        self.shorter = {
            a: tuple(b for b in literals if b != a and a.startswith(b))
            for a in literals
            if any(b != a and a.startswith(b) for b in literals)
        }
        for text in self.shorter:
            entry = self.entries[text]
            if isinstance(entry, CallEntry):
                entry.only = entry.fallback = None
        self.prefixes = frozenset(text[:n] for text in literals for n in range(1, len(text)))
        self.longest = max(map(len, literals), default=1)
        self.heads = re.compile("[" + re.escape("".join(sorted({t[0] for t in literals}))) + "]") if literals else None
        befores = {text for fmt in formats for text in fmt.before} | {self.lead}
        befores |= {fmt.reasoning.inner[1] for fmt in formats if fmt.reasoning is not None}
        self.before_chars = frozenset("".join(befores))
        self.before_size = max(map(len, befores), default=0)
        self.probe = self if probe else Plan(programs, format_id=format_id, probe=True)

    def _around(self, programs: list[Program], formats: list[Format]) -> None:
        merged: dict[tuple[str, str], Delimiters] = {}
        for fmt in formats:
            r = fmt.reasoning
            if r is None:
                continue
            if r.lead:
                self.lead = r.lead
            known = merged.get((r.open, r.close))
            if known is None:
                known = merged[r.open, r.close] = Delimiters(r.open, r.close, ("", ""), "", False, self.text)
            known.inner = (known.inner[0] or r.inner[0], known.inner[1] or r.inner[1])
            known.after = max(known.after, r.after, key=len)
            known.calls = known.calls or fmt.calls_in_reasoning
        self.reasonings: dict[str, ReasoningOp] = {}
        for d in merged.values():
            d.after_op = AfterReasoning(self, d.after)
            op = ReasoningOp(self, d)
            self.reasonings[d.open] = op
            self.entries[d.open] = OpenEntry(self, op)
            self.entries.setdefault(d.close, CloseEntry(self, d))
        for fmt in formats:
            for text in fmt.wrappers:
                self.entries.setdefault(text, WrapEntry(self))
        ends = tuple({text for fmt in formats for text in fmt.turn_ends if text not in self.entries})
        if ends:
            entry = self.ends = EndEntry(self, ends)
            for text in ends:
                self.entries[text] = entry
        for program in programs:
            if program.machine is not None:
                for text in program.machine.openers:
                    self.entries[text] = MachineEntry(self, program)
                if len(programs) == 1:
                    self.start = program.machine.start_op(self)
            if program.start is not None and len(programs) == 1:
                first, begin, wrapper = program.start
                self.start = StartList(self, first, begin, wrapper)

    def at_end(self, m: Machine, pos: int) -> bool | None:
        """Whether nothing but tokens that end the turn stands from ``buf[pos]`` on. None: more text decides."""
        if self.ends is None:
            return False
        buf = m.buf
        if not m.final and partial(self.ends.texts, buf, pos):
            return None
        if not buf.startswith(self.ends.texts, pos):
            return False
        match = self.ends.run(buf, pos)
        assert match is not None
        end = match.end()
        if end == len(buf):
            return True if m.final else None
        return None if not m.final and partial(self.ends.texts, buf, end) else False

    def hold(self, buf: str, scan: int, size: int) -> int:
        """From where ``buf`` could be the beginning of a literal."""
        if self.heads is None:
            return size
        match = self.heads.search(buf, max(scan, size - self.longest + 1))
        while match is not None:
            i = match.start()
            if buf[i:] in self.prefixes:
                return i
            match = self.heads.search(buf, i + 1)
        return size


class Searcher:
    """Finds the first of many literals.

    Literals are grouped by how they begin; a group that a text cannot hold (a few characters that all its members
    share are looked for at the speed of memchr) is left out of the expression that is used for this text.
    """

    def __init__(self, literals: list[str]) -> None:
        groups: dict[str, list[str]] = {}
        for text in literals:
            groups.setdefault(text[:1] if text[0] == "<" else text[:2], []).append(text)
        self.groups = sorted(groups.items())
        self.cache: dict[tuple[bool, ...], Any] = {}
        self.all = self._compile(literals)
        # The usual case in two looks: every literal has an angle bracket at its start or a square one in it.
        self.brackets = all(text[0] == "<" or "[" in text for text in literals)
        self.angles = self._compile([text for text in literals if text[0] == "<"])
        self.squares = self._compile([text for text in literals if "<" not in text])

    @staticmethod
    def _compile(literals: list[str]) -> Any:
        if not literals:
            return _nothing
        return re.compile(_trie(literals)).search

    def of(self, text: str) -> Any:
        """A search function for this text."""
        if self.brackets:
            if "[" not in text:
                return self.angles if "<" in text else _nothing
            if "<" not in text:
                return self.squares
        present = tuple([head in text for head, _ in self.groups])
        found = self.cache.get(present)
        if found is None:
            literals = [t for (_, texts), there in zip(self.groups, present, strict=True) if there for t in texts]
            found = self.cache[present] = self._compile(literals)
        return found


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
