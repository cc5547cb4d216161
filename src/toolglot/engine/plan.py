"""A plan: what a machine looks for in text, made once for a format or for all that can be detected."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from ..format import Format
from .compile import Entry, Program
from .entries import (
    CallEntry,
    CloseEntry,
    Delimiters,
    EndEntry,
    FinalEntry,
    MachineEntry,
    OpenEntry,
    Untagged,
    WrapEntry,
)
from .machine import Machine
from .ops import Op, partial
from .reasoning import AfterReasoning, Presumed, ReasoningOp
from .search import Searcher
from .text import Recover, StartList, Text
from .untagged import look


class Plan:
    """What to look for, and what to do where it is found."""

    def __init__(
        self,
        programs: Iterable[Program],
        *,
        format_id: str | None = None,
        untagged: tuple[Untagged, ...] = (),
        probe: bool = False,
        rest: bool = False,
    ) -> None:
        self.format_id = format_id
        self.untagged = untagged
        self.look = look
        programs = list(programs)
        formats: list[Format] = [p.fmt for p in programs]
        self.formats = formats
        by_text: dict[str, list[Entry]] = {}
        for program in [] if rest else programs:
            for entry in program.entries:
                for text in entry.texts:
                    by_text.setdefault(text, []).append(entry)
        self.entries: dict[str, Any] = {text: CallEntry(self, text, entries) for text, entries in by_text.items()}
        self.call_literals = tuple(by_text)
        # A text without "<", "[" and these characters can hold no call.
        self.odd = tuple({text[0] for text in by_text if "<" not in text and "[" not in text})
        specials = sorted({text for fmt in formats for text in fmt.special}, key=len, reverse=True)
        self.special = re.compile("|".join(map(re.escape, specials))) if specials else None
        self.text = Text(self)
        self.recover = Recover(self)
        self.lead = ""
        self.ends: EndEntry | None = None
        self.start: Op = self.text
        self._presumed: Op | None = None
        if rest:
            self._ends(formats)
        elif not probe:
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
        befores |= {r.inner[1] for fmt in formats for r in fmt.reasonings()}
        self.before_chars = frozenset("".join(befores))
        self.before_size = max(map(len, befores), default=0)
        self.probe = self if probe or rest else Plan(programs, format_id=format_id, probe=True)
        # What stands behind a stop sequence holds no calls.
        self.rest: Op = self.text
        if not rest and any(program.stops or program.fmt.finals for program in programs):
            self.rest = Plan(programs, format_id=format_id, rest=True).text

    def _around(self, programs: list[Program], formats: list[Format]) -> None:
        merged: dict[tuple[str, str], Delimiters] = {}
        for fmt, r in ((each, r) for each in formats for r in each.reasonings()):
            if r.lead:
                self.lead = r.lead
            known = merged.get((r.open, r.close))
            if known is None:
                known = merged[r.open, r.close] = Delimiters(r.open, r.close, ("", ""), "", False, self.text)
            known.inner = (known.inner[0] or r.inner[0], known.inner[1] or r.inner[1])
            known.after = max(known.after, r.after, key=len)
            known.calls = known.calls or fmt.calls_in_reasoning
        # A closer that closes other things too does not tell of reasoning that was never opened.
        others = {text for fmt in formats for text in (*fmt.wrappers, *fmt.turn_ends)}
        self.reasonings: dict[str, ReasoningOp] = {}
        for d in merged.values():
            d.after_op = AfterReasoning(self, d.after)
            op = ReasoningOp(self, d)
            self.reasonings[d.open] = op
            self.entries[d.open] = OpenEntry(self, op)
            if d.close not in others:
                self.entries.setdefault(d.close, CloseEntry(self, d))
        self._ends(formats)
        for fmt in formats:
            for text in fmt.finals:
                self.entries.setdefault(text, FinalEntry(self))
        for program in programs:
            if program.machine is not None:
                for text in program.machine.openers:
                    entry = self.entries.setdefault(text, MachineEntry(self))
                    entry.add(program)
            if program.start is not None and len(programs) == 1:
                first, begin, wrapper = program.start
                self.start = StartList(self, first, begin, wrapper)
        machines = sorted((p for p in programs if p.machine is not None), key=lambda p: p.fmt.rank)
        if machines:
            self.start = machines[0].machine.start_op(self, machines, sure=len(programs) == 1)

    def presumed(self) -> Op:
        """Where to start if the first format's prompt opens reasoning by default and it is not known what it did."""
        if self._presumed is None:
            fmt = self.formats[0]
            assert fmt.reasoning is not None
            op = self.reasonings[fmt.reasoning.open]
            markup = (fmt.reasoning.open, *fmt.wrappers)
            if not op.d.calls:
                markup += self.call_literals
            self._presumed = Presumed(self, op, markup)
        return self._presumed

    def _ends(self, formats: list[Format]) -> None:
        for fmt in formats:
            for text in fmt.wrappers:
                self.entries.setdefault(text, WrapEntry(self))
        ends = tuple({text for fmt in formats for text in fmt.turn_ends if text not in self.entries})
        if ends:
            entry = self.ends = EndEntry(self, ends)
            for text in ends:
                self.entries[text] = entry

    def at_end(self, m: Machine, pos: int) -> bool | None:
        """Whether nothing but tokens that end the turn stands from ``buf[pos]`` on. None: more text decides."""
        if self.ends is None:
            return False
        buf = m.buf
        if not m.final and partial(self.ends.texts, buf, pos):
            return None
        if not buf.startswith(self.ends.texts, pos):
            return False
        end = self.ends.reach(m, pos)
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
