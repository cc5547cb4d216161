"""A plan: what a machine looks for in text, made once for a format or for all that can be detected."""

from __future__ import annotations

import re
from collections.abc import Iterable
from copy import copy
from functools import cached_property
from typing import Any

from ..format import Format
from ..types import Span
from .answer import AnswerClose, AnswerOpen
from .compile import Program
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


class _Entries(dict[str, Any]):
    """What each literal leads to. A call's is made when it is met."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan

    def __missing__(self, text: str) -> CallEntry:
        entries = [e for program in self.plan.by_text[text] for e in program.code.entries if text in e.texts]
        entry = self[text] = CallEntry(self.plan, text, entries)
        if not self.plan.signs.issuperset(self.plan.shorter.get(text, ())):
            entry.only = entry.fallback = None
        return entry


class _Around(dict[str, tuple[tuple[int, str], ...]]):
    """The literals in which another one stands behind their beginning, and where: looked for when that is met."""

    def __init__(self, literals: list[str]) -> None:
        super().__init__()
        self.literals = literals

    def __missing__(self, text: str) -> tuple[tuple[int, str], ...]:
        found = [(at, other) for other in self.literals if (at := other.find(text, 1)) > 0]
        self[text] = known = tuple(found)
        return known


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
        detect: bool = False,
        unopened: bool = False,
    ) -> None:
        self.detect = detect  # for formats that nobody named
        self.format_id = format_id
        self.untagged = untagged
        self.look = look
        programs = list(programs)
        formats: list[Format] = [p.fmt for p in programs]
        self.formats = formats
        by_text: dict[str, list[Program]] = {}
        for program in [] if rest else programs:
            for text in program.openers:
                by_text.setdefault(text, []).append(program)
        self.by_text = by_text
        self.entries: dict[str, Any] = _Entries(self)
        self.call_literals = tuple(by_text)
        # A text without "<", "[" and these openers can hold no call.
        self.odd = tuple(text for text in by_text if "<" not in text and "[" not in text)
        self._tokens: dict[str, tuple[Span, ...]] = {}
        self.odd_ascii = tuple(text for text in self.odd if text.isascii())
        # The same for a text without "{" and "(" as well.
        self.bare = tuple(text for text in self.odd if any(text not in p.before_object for p in by_text[text]))
        self.bare_ascii = tuple(text for text in self.bare if text.isascii())
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
        self.naming: dict[str, dict[str, str]] = {}  # how formats write tags that name something: for mends
        self.signs: set[str] = set()  # of openers that are missing
        self.named = False  # whether a tool's name in text may begin a call whose opener is missing
        if unopened:
            self._unopened(programs)
        literals = sorted({**by_text, **self.entries}, key=len, reverse=True)
        self.searcher = Searcher(literals)
        # What each literal begins, and what it begins with, the longest first.
        self.around = _Around(literals)
        self.longer: dict[str, tuple[str, ...]] = {}
        self.shorter: dict[str, tuple[str, ...]] = {}
        known = set(literals)
        prefixes: set[str] = set()
        for text in literals:
            for n in range(len(text) - 1, 0, -1):
                prefix = text[:n]
                prefixes.add(prefix)
                if prefix in known:
                    self.longer[prefix] = (*self.longer.get(prefix, ()), text)
                    self.shorter[text] = (*self.shorter.get(text, ()), prefix)
        self.prefixes = frozenset(prefixes)
        self.longest = max(map(len, literals), default=1)
        self.heads = re.compile("[" + re.escape("".join(sorted({t[0] for t in literals}))) + "]") if literals else None
        befores = {text for fmt in formats for text in fmt.before} | {self.lead}
        befores |= {r.inner[1] for fmt in formats for r in fmt.reasonings()}
        self.before_chars = frozenset("".join(befores))
        self.before_size = max(map(len, befores), default=0)
        self.programs = programs
        self._inner = probe or rest

    def with_untagged(self, untagged: tuple[Untagged, ...]) -> Plan:
        """The same, and other calls without markup."""
        plan = copy(self)
        plan.untagged = untagged
        plan.__dict__.pop("mending", None)
        return plan

    @cached_property
    def mending(self) -> Plan:
        """The same for ``on_error="repair"`` with tools: calls without their opener are looked for as well."""
        return Plan(
            self.programs,
            format_id=self.format_id,
            untagged=self.untagged,
            detect=self.detect,
            unopened=True,
        )

    def _unopened(self, programs: list[Program]) -> None:
        from .unopened import UnopenedEntry, signs

        found: dict[str, list[Program]] = {}
        for program in programs:
            for text, named in () if program.source is None else signs(program.source):
                if text[0] == "{" and (self.detect or self.untagged):
                    continue  # JSON is looked for as it is
                found.setdefault(text, []).append(program)
                self.named = self.named or named
        for text, some in found.items():
            if text not in self.by_text and text not in self.entries:
                self.signs.add(text)
                self.entries[text] = UnopenedEntry(self, text, some)

    @cached_property
    def probe(self) -> Plan:
        """The plan of what stands in open reasoning: calls and nothing around them."""
        return self if self._inner else Plan(self.programs, format_id=self.format_id, probe=True)

    @cached_property
    def rest(self) -> Op:
        """The text behind a stop sequence, which holds no calls."""
        return Plan(self.programs, format_id=self.format_id, rest=True).text

    @cached_property
    def special(self) -> re.Pattern[str] | None:
        """Finds the control tokens of the tokenizers."""
        specials = sorted({text for fmt in self.formats for text in fmt.special}, key=len, reverse=True)
        return re.compile("|".join(map(re.escape, specials))) if specials else None

    def _add(self, text: str, entry: Any) -> None:
        """What leads nowhere yet leads to ``entry``."""
        if text not in self.by_text:
            self.entries.setdefault(text, entry)

    def _around(self, programs: list[Program], formats: list[Format]) -> None:
        merged: dict[tuple[str, str], Delimiters] = {}
        for fmt, r in ((each, r) for each in formats for r in each.reasonings()):
            if self.detect and not r.detect:
                continue
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
                self._add(d.close, CloseEntry(self, d))
        self._ends(formats)
        for fmt in formats:
            if fmt.answer and not self.detect:
                self._add(fmt.answer[0], AnswerOpen(self))
                self._add(fmt.answer[1], AnswerClose(self))
            for text in fmt.finals:
                self._add(text, FinalEntry(self))
        for program in programs:
            if program.machine is not None:
                for text in program.machine.starters:
                    entry = self.entries.setdefault(text, MachineEntry(self))
                    entry.add(program)
            if len(programs) == 1 and program.code.start is not None:
                first, begin, wrapper = program.code.start
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
                self._add(text, WrapEntry(self))
        taken = {**self.by_text, **self.entries}
        ends = tuple({text for fmt in formats for text in fmt.turn_ends if text not in taken})
        if ends:
            entry = self.ends = EndEntry(self, ends)
            for text in ends:
                self.entries[text] = entry

    def tokens(self, literal: str) -> tuple[Span, ...]:
        """Where the control tokens of the tokenizer stand in a literal."""
        found = self._tokens.get(literal)
        if found is None:
            found = () if self.special is None else tuple(match.span() for match in self.special.finditer(literal))
            self._tokens[literal] = found
        return found

    def at_end(self, m: Machine, pos: int) -> bool | None:
        """Whether nothing but tokens that end the turn stands from ``buf[pos]`` on. None: more text decides."""
        if self.ends is None:
            return False
        buf = m.buf
        if not m.final and partial(self.ends.texts, buf, pos):
            return None
        if not m.stands(self.ends.texts, pos):
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
