"""From a declaration to operations: once a format, backwards, so that each operation knows what follows it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from ..definition import ToolSet
from ..errors import DefinitionError
from ..format import Format, fields
from ..pattern import (
    Arguments,
    Call,
    CallObject,
    Each,
    Either,
    Elements,
    FreeText,
    Hole,
    Lit,
    Maybe,
    Node,
    Section,
    Tag,
    TypedElements,
    Value,
    Ws,
)
from ..values.bare import read_python
from . import ops
from .bytool import for_tools
from .cdataop import CdataOp
from .elementsop import ElementsOp
from .freetext import REST, FreeTextOp, Say
from .machine import Machine
from .ops import LOOK, NAME, TO_TEXT, WS, Attributes, Begin, End, Op, Switch, UnitBegin, UnitEnd, partial
from .quick import Quick, QuickSection, quick_call, quick_section
from .typedop import TypedElementsOp
from .valueops import ArgumentsOp, CallObjectOp, ValueOp


@dataclass
class Entry:
    """One way in which a format's markup can begin in text."""

    fmt: Format
    texts: tuple[str, ...]
    op: Op  # behind the opener
    begin: Begin  # of the (first) call
    begins: bool  # whether the opener belongs to the call; else it is a section's
    bare: bool = False  # only where the tool is declared
    weak: bool = False  # what does not fit behind the opener is text
    lits: tuple[str, ...] = ()
    closers: tuple[str, ...] = ()  # of the call, that begin as what is in it does
    ws: bool = False
    after_name: tuple[str, ...] = ()
    in_name: tuple[str, ...] = ()  # of what ends the name, what begins with a character of names,
    white_stops: tuple[str, ...] = ()  # and what begins with white space
    gap: str = ""  # what the template writes behind the name
    name_end: tuple[str, ...] = ()  # the literal that ends the name,
    behind: tuple[str, ...] = ()  # and what has to stand behind that
    canonical: str = ""
    quick: Quick | None = None  # of a call
    quick_section: QuickSection | None = None
    each: bool = False  # whether its arguments are bare values
    rank: int = 0  # a format's first way of writing goes before the others' second ways
    line: bool = False  # only at a line start

    def test(self, m: Machine, j: int, gap: bool = True) -> bool | None:
        """Whether what stands behind the opener, at ``buf[j]``, is this format's. None: more text decides.

        ``gap``: behind a name stands what the template writes there, which tells it from formats that read the same.
        """
        buf = m.buf
        size = len(buf)
        pos = j
        if self.ws:
            pos = WS.match(buf, j).end()  # type: ignore[union-attr]
            if pos - j > LOOK:
                return False
        if self.lits:
            if self.closers and m.stands(self.closers, pos):
                return False
            if self.closers and not m.final and partial(self.closers, buf, pos):
                return None
            if m.stands(self.lits, pos):
                return self.declared(m, j) if self.bare else True
            if pos == size or partial(self.lits, buf, pos):
                return None
        if self.after_name:
            end = NAME.match(buf, pos).end()  # type: ignore[union-attr]
            for stop in self.in_name:
                at = buf.find(stop, pos, end + len(stop) - 1)
                end = end if at < 0 else at
            if end == size and size - pos <= m.limits.name:
                return None
            if end == pos or end - pos > m.limits.name:
                return False
            if gap and self.gap and not buf.startswith(self.gap, end):
                return False
            if self.white_stops:
                if m.stands(self.white_stops, end):
                    return self.behind_name(m, end)
                if partial(self.white_stops, buf, end):
                    return None
            then = WS.match(buf, end).end()  # type: ignore[union-attr]
            if then - end > LOOK:
                return False
            if m.stands(self.after_name, then):
                return self.behind_name(m, then)
            return None if then == size or partial(self.after_name, buf, then) else False
        if not self.lits:
            return self.declared(m, j) if self.bare else True
        return False

    def behind_name(self, m: Machine, pos: int) -> bool | None:
        """Whether what stands behind the literal at ``pos``, which ends the name, is this format's."""
        buf = m.buf
        for text in self.name_end if self.behind else ():
            if buf.startswith(text, pos):
                end = WS.match(buf, pos + len(text)).end()  # type: ignore[union-attr]
                if end - pos > LOOK:
                    return False
                if m.stands(self.behind, end):
                    return True
                return None if end == len(buf) or partial(self.behind, buf, end) else False
        return True

    def declared(self, m: Machine, j: int) -> bool | None:
        """A call without its section counts only where its tool is declared."""
        if m.tools is None:
            return False
        buf = m.buf
        op = self.op
        if isinstance(op, Attributes):
            attribute = next(a for a, f in op.attributes.items() if f == "name")
            pos = j
            size = min(len(buf), j + m.limits.name)
            while True:
                match = op.PAIR.match(buf, pos, size)
                if match is None or match.end() == size:
                    short = not m.final and len(buf) - j < m.limits.name
                    return None if short and (match is not None or ">" not in buf[pos:]) else False
                if match.group(1) == attribute:
                    return match.group(match.lastindex or 2) in m.tools.names
                pos = match.end()
        assert isinstance(op, ops.Hole)
        match = m.find(op.regex.search, j, j + m.limits.name)  # a longer name is none
        if match is None:
            return None if not m.final and len(buf) - j < m.limits.name else False
        return buf[j : match.start()].strip() in m.tools.names


@dataclass
class Code:
    """What a format compiles to."""

    entries: list[Entry] = field(default_factory=list)
    start: tuple[Op, Begin, str] | None = None  # a list at the start of the text, and what may stand before it


class Program:
    """A format that can be run. It is compiled when one of its openers is met: in detection most never are."""

    machine: Any = None
    # Whether complete calls have the fast way: it is tested to agree with the operations for the package's own formats.
    fast = True

    def __init__(self, fmt: Format, source: Format | None = None) -> None:
        self.fmt = fmt
        self.source = source  # the declaration that is compiled: none where a machine does all

    @cached_property
    def openers(self) -> tuple[str, ...]:
        """The literals that its calls or sections begin with."""
        return () if self.source is None else tuple(dict.fromkeys(_openers(self.source)))

    @cached_property
    def before_object(self) -> frozenset[str]:
        """The openers that are text where no JSON object follows."""
        if self.source is None:
            return frozenset()
        firsts = [option[0].items[:2] for option in options(self.source) if isinstance(option[0], Call)]
        return frozenset(
            text
            for opener, *rest in firsts
            if isinstance(opener, Lit) and opener.weak and rest and isinstance(rest[0], CallObject)
            for text in opener.texts
        )

    @cached_property
    def code(self) -> Code:
        """The operations."""
        code = Code() if self.source is None else Compiler(self.source).code()
        if not self.fast:
            for entry in code.entries:
                entry.quick = entry.quick_section = None
                entry.each = False
        return code


class Compiler:
    """Compiles one declaration."""

    def __init__(self, fmt: Format) -> None:
        self.fmt = fmt
        self.links: list[Any] = []
        self.values: list[ValueOp] = []
        self.begins: list[Begin] = []

    def sequence(self, items: tuple[Node, ...], nxt: Op, *, end_ok: bool = False, call: bool = False) -> Op:
        """Compile ``items`` so that they go on with ``nxt``."""
        # In a call, a closer may be missing at the end of the text only behind a value that ends by itself.
        whole = max((i for i, n in enumerate(items) if isinstance(n, CallObject | Arguments)), default=len(items))
        args = min([i for i, n in enumerate(items) if isinstance(n, Either) and _free(n)], default=whole)
        op = nxt
        gap = ""
        for i in range(len(items) - 1, -1, -1):
            node = items[i]
            if isinstance(node, Ws):
                gap = node.canonical
                op.ws = True if op is not TO_TEXT and not isinstance(op, End) else op.ws
            else:
                before = next((n for n in reversed(items[:i]) if not isinstance(n, Ws)), None)
                code = "tool_call.expected_markup"
                if isinstance(before, CallObject) or (isinstance(before, Arguments) and before.codec == "json"):
                    code = "json.trailing_characters"
                op = self.one(node, op, end_ok or (call and i > whole), code)
                if isinstance(op, ops.Hole):
                    op.gap = gap
                    op.dotted = any(isinstance(n, Arguments) and n.codec == "python" for n in items[i:])
                if isinstance(op, ValueOp) and op.implied and not op.frame:
                    # Where the closer is missing, what the template writes behind it is not the value's.
                    op.tail = next((n.canonical for n in items[i + 2 : i + 3] if isinstance(n, Ws)), "")
                if call and i < args < len(items) and isinstance(op, ops.Hole | ops.Lit):
                    op.head = True
                if not (isinstance(node, Maybe) and not node.write):  # what is only read leaves what is written
                    gap = ""
        return op

    def one(self, node: Node, nxt: Op, end_ok: bool, code: str = "tool_call.expected_markup") -> Op:
        op: Op
        if isinstance(node, Lit):
            op = ops.Lit(node.texts, node.implied_by, end_ok=end_ok or node.stop)
            op.code = code
            op.weak = node.weak
            op.stop = node.stop
            op.line = node.line
            if node.says:
                say = Say(node.says)
                say.next = nxt
                nxt = say
        elif isinstance(node, Hole):
            op = ops.Hole(node)
            op.closers = self.closers
            self.links.append(op)
        elif isinstance(node, Tag):
            attributes = Attributes(node.open[0], dict(node.attributes), node.end, node.escape, node.quoted)
            attributes.next = nxt
            if any(f == "name" for _, f in node.attributes):
                attributes.closed = self.end
            op = ops.Lit(node.open)
            op.next = attributes
            return op
        elif isinstance(node, Value):
            if not isinstance(nxt, ops.Lit):
                raise DefinitionError(f"format {self.fmt.id!r}: value() needs a literal behind it that closes it")
            kind = CdataOp if node.cdata else ValueOp
            op = kind(node.frame, node.implied, node.entities, nxt.texts)
            if node.python_containers:
                op.read = read_python
            op.after = nxt.next
            op.stop = nxt.stop
            self.values.append(op)
        elif isinstance(node, FreeText):
            if not isinstance(nxt, ops.Lit):
                raise DefinitionError(f"format {self.fmt.id!r}: free_text() needs a literal behind it that closes it")
            op = FreeTextOp(node.line, node.escapes, nxt.texts, nxt.stop)
        elif isinstance(node, CallObject):
            op = CallObjectOp(node)
            op.closers = self.closers
        elif isinstance(node, Arguments):
            op = ArgumentsOp(node.codec, node.escapes)
        elif isinstance(node, Elements):
            op = ElementsOp(node.namespace)
        elif isinstance(node, TypedElements):
            op = TypedElementsOp(node)
        elif isinstance(node, Each):
            op = self.each(node, nxt)
            return op
        elif isinstance(node, Maybe):
            switch = Switch()
            body = self.sequence(node.items, nxt)
            switch.branches.append((self.literals(body), body))
            switch.default = nxt
            self.links.append(switch)
            return switch
        elif isinstance(node, Either):
            switch = Switch()
            for option in reversed(node.options):
                body = self.sequence(option, nxt)
                texts = body.first()
                if texts:
                    switch.branches.append((texts, body))
                if switch.default is None or texts is None or switch.default.first() is not None:
                    switch.default = body  # what cannot be told from its beginning, else the first
            self.links.append(switch)
            return switch
        elif isinstance(node, Call):
            return self.call(node, nxt)
        else:
            raise DefinitionError(f"format {self.fmt.id!r}: a section can only stand at the top")
        op.next = nxt
        return op

    def literals(self, op: Op) -> tuple[str, ...]:
        texts = op.first()
        if not texts:
            raise DefinitionError(
                f"format {self.fmt.id!r}: an optional or repeated part has to begin with a literal that tells it apart"
            )
        return texts

    def each(self, node: Each, nxt: Op) -> Switch:
        switch = Switch()
        body = self.sequence(node.items, switch)
        switch.branches.append((self.literals(body), body))
        switch.default = nxt
        self.links.append(switch)
        return switch

    end: End
    rank: int = 0
    closers: tuple[str, ...] = ()
    outer: tuple[str, ...] = ()  # what closes the section around the call

    def call(self, node: Call, nxt: Op) -> Begin:
        end = self.end = End()
        end.next = nxt
        last = node.items[-1]
        closers = tuple(t for t in last.texts if len(t) > 2) if isinstance(last, Lit) else ()
        self.closers = closers or self.outer
        begin = Begin(self.fmt.reported or self.fmt.id, closers)
        begin.late_ids = _late_id(node.items)
        if isinstance(last, Lit) and last.stop:
            end.next = nxt = REST
        begin.resume = nxt
        begin.next = self.sequence(node.items, end, call=True)
        self.begins.append(begin)
        return begin

    def code(self) -> Code:
        """All ways in."""
        program = Code()
        if self.fmt.start and self.fmt.unit:
            self.start(program, self.fmt.nodes()[0])
        for n, option in enumerate(options(self.fmt)):
            self.rank = self.fmt.rank + 100 * n
            self.option(program, option)
        for link in self.links:
            link.link()
        outer = tuple(t for b in self.begins for t in (*b.section_closers, *b.siblings))
        outer += tuple(t for e in program.entries for t in e.texts)
        for value in self.values:
            value.link(outer)
        for entry in program.entries:
            self.look(entry)
        return program

    def option(self, program: Code, option: tuple[Node, ...]) -> None:
        node = option[0]
        if isinstance(node, Section):
            if len(option) > 1:
                raise DefinitionError(f"format {self.fmt.id!r}: put what follows a section into its closer")
            self.section(program, node)
        else:
            start = self.sequence(option, TO_TEXT)
            self.enter(program, start, self.begins[-1])
            if len(option) == 1 and isinstance(node, Call):
                self.fast(program.entries[-1], quick_call(self.fmt, node))

    def bare_fast(self, entry: Entry, node: Section) -> None:
        """The fast way of a call without its section; what closes the section is left to the operations."""
        calls = [n for n in node.items if isinstance(n, Call)]
        for item in node.items:
            if isinstance(item, Either):
                calls += [n for option in item.options for n in option if isinstance(n, Call)]
        for call in calls:
            first = call.items[0]
            texts = first.texts if isinstance(first, Lit) else first.open if isinstance(first, Tag) else ()
            if set(texts) == set(entry.texts) and not entry.bare:
                closers = next((n.texts for n in node.close if isinstance(n, Lit)), ())
                self.fast(entry, quick_call(self.fmt, call, not_before=closers))

    @staticmethod
    def fast(entry: Entry, quick: Quick | None) -> None:
        """Note the fast way of an entry."""
        entry.quick = quick
        entry.each = quick is not None and quick.each is not None

    def start(self, program: Code, node: Node) -> None:
        """A list of calls at the start of the text, behind an opener that may be missing."""
        assert isinstance(node, Section)
        wrapper = node.open[0]
        assert isinstance(wrapper, Maybe)
        opener = wrapper.items[0]
        assert isinstance(opener, Lit)
        unit = UnitBegin()
        end = UnitEnd()
        end.next = self.sequence(node.close[1:], TO_TEXT)
        node = replace(node, close=node.close[:1])
        start, begin = self.loop(replace(node, open=(*wrapper.items, *node.open[1:])), bare=False, end=end)
        inner, _ = self.loop(replace(node, open=node.open[1:]), bare=False, end=end)
        switch = Switch()
        switch.branches.append((opener.texts, start))
        switch.default = inner
        self.links.append(switch)
        unit.next = switch
        program.start = (unit, begin, opener.texts[0])

    def section(self, program: Code, node: Section) -> None:
        start, begin = self.loop(node, bare=False)
        self.enter(program, start, begin)
        entry = program.entries[-1]
        entry.quick_section = quick_section(self.fmt, node)
        entry.each = entry.quick_section is not None and entry.quick_section.call.each is not None
        if node.bare != "no":
            start, begin = self.loop(node, bare=True)
            for one in [op for _, op in start.branches] if isinstance(start, Switch) else [start]:
                self.enter(program, one, begin, bare=node.bare == "declared")
                self.bare_fast(program.entries[-1], node)

    def loop(self, node: Section, *, bare: bool, end: Op = TO_TEXT) -> tuple[Op, Begin]:
        fmt = self.fmt
        close = self.sequence(node.close, end, end_ok=not fmt.unit) if node.close else end
        first = node.close[0] if node.close else None
        closers = next((n.texts for n in reversed(node.close) if isinstance(n, Lit) and len(n.texts[0]) > 2), ())
        more = Switch()
        unmarked = False
        known = len(self.begins)
        self.outer = closers
        item = self.sequence(node.items, more)
        self.outer = ()
        begins = self.begins[known:]
        begin = begins[-1]
        for one in begins:
            one.section_closers = closers
        if node.separator is not None:
            separator = ops.Lit(tuple(t.strip() for t in node.separator.texts))
            python = any(isinstance(n, Arguments) for c in node.items if isinstance(c, Call) for n in c.items)
            separator.next = ops.AfterComma(item, close, python)
            separator.ws = item.ws = True
            more.branches.append((separator.texts, separator))
            more.default = close
            if isinstance(close, ops.Lit):
                close.ws = True
                more.inside = not bare
                close.code = "tool_call.expected_comma" if python else "json.expected_comma"
        elif _unmarked(item) and isinstance(close, ops.Lit):
            # A call that begins with its name: whatever is not the closer.
            unmarked = True
            more.branches.append((close.texts, close))
            more.default = item
            more.at_end = close
            close.ws = True
            more.inside = True
            if isinstance(item, Switch):
                item.inside = True
            for one in begins:
                one.ws = True
        else:
            texts = self.literals(item)
            for one in begins:  # a brace is no sign of a further call: a broken one may hold many
                one.siblings = tuple(text for text in texts if len(text) > 1)
            if not bare:  # else a further call is one in text, and begins like the first
                more.branches.append((texts, item))
            more.default = close
            more.stray = node.stray
        if bare:
            if isinstance(close, ops.Lit):
                more.branches.append((close.texts, close))
            more.default = TO_TEXT
        elif first is not None and node.stray and isinstance(close, ops.Lit):
            more.branches.append((close.texts, close))
        self.links.append(more)
        if bare:
            return item, begin
        # Where the section belongs to its call, one without a call is a broken call.
        inner: Op = item if node.separator is not None or unmarked or fmt.per_call else more
        first_item = node.items[0]
        if node.separator is not None and isinstance(first_item, Maybe) and not first_item.write:
            # What may stand before a further call does not stand before the first: the opener has just been read.
            known = len(self.begins)
            inner = self.sequence(node.items[1:], more)
            for one in self.begins[known:]:
                one.section_closers = closers
        if isinstance(node.open[-1], Lit) and node.open[-1].texts[0].endswith("[") and not fmt.unit:
            inner = ops.FirstItem(item)
        start = self.sequence(node.open, inner)
        if not isinstance(start, ops.Lit):
            raise DefinitionError(f"format {fmt.id!r}: a section has to begin with a literal")
        opener: Op | None = start
        for _ in (n for n in node.open[1:] if isinstance(n, Lit)):
            opener = opener.next if opener else None
            if isinstance(opener, ops.Lit):
                opener.head = True
        return start, begin

    def enter(self, program: Code, start: Op, begin: Begin, *, bare: bool = False) -> None:
        op: Op | None = start
        begins = isinstance(op, Begin)
        if begins:
            op = start.next
        if not isinstance(op, ops.Lit) or op.next is None:
            raise DefinitionError(f"format {self.fmt.id!r}: the pattern has to begin with a literal")
        if bare and not _names(op.next):
            raise DefinitionError(f"format {self.fmt.id!r}: bare='declared' needs the name right behind the opener")
        program.entries.append(
            Entry(
                self.fmt,
                op.texts,
                op.next,
                begin,
                begins,
                bare,
                op.weak,
                rank=self.rank,
                canonical=op.canonical,
                line=op.line,
            )
        )

    def look(self, entry: Entry) -> None:
        """What has to stand behind the opener."""
        op: Op = entry.op
        entry.ws = op.ws or isinstance(op, Switch)
        while isinstance(op, Begin | ops.FirstItem):
            entry.ws = True
            assert op.next is not None
            op = op.next
        first = op.first()
        if isinstance(op, Attributes):
            entry.ws = False
        if first is not None:
            # A section without a call is no sign of its format.
            entry.lits = tuple(text for text in first if text not in entry.begin.section_closers) or first
            entry.closers = tuple(text for text in entry.begin.closers if text.startswith(entry.lits))
        elif isinstance(op, ops.Hole) and op.field in ("name", "label") and not entry.bare:
            entry.after_name = op.stops
            entry.in_name = tuple(text for text in op.stops if NAME.match(text[0])[0])  # type: ignore[index]
            entry.white_stops = tuple(text for text in op.stops if text[0].isspace())
            entry.gap = op.gap
            entry.ws = entry.ws or not entry.weak  # a weak opener and a blank is text
            # Behind a weak opener the name's end says enough: a cut there is in a call.
            if isinstance(op.next, ops.Lit) and op.next.next is not None and not entry.weak:
                entry.name_end = op.next.texts
                behind = op.next.next
                free = isinstance(behind, Switch) and isinstance(behind.default, FreeTextOp)
                entry.behind = () if free else behind.first() or ()


def options(fmt: Format) -> list[tuple[Node, ...]]:
    """The ways in which a format's markup is written."""
    if fmt.tier != "tagged":
        return []
    nodes = fmt.nodes()
    options = nodes[0].options if len(nodes) == 1 and isinstance(nodes[0], Either) else (nodes,)
    return [tuple(n for n in option if not isinstance(n, Ws)) for option in options]


def _openers(fmt: Format) -> Iterator[str]:
    """The texts of the entries that the compiler would make."""
    for option in options(fmt):
        node = option[0]
        if not isinstance(node, Section):
            yield from first_literals(option)
            continue
        yield from first_literals(node.open)
        if node.bare != "no":
            yield from first_literals(node.items)


def first_literals(items: tuple[Node, ...]) -> tuple[str, ...]:
    """The literals that ``items`` begin with."""
    node = next(node for node in items if not isinstance(node, Ws))
    if isinstance(node, Lit):
        return node.texts
    if isinstance(node, Tag):
        return node.open
    if isinstance(node, Either):
        return tuple(text for option in node.options for text in first_literals(option))
    return first_literals(node.items) if isinstance(node, Call | Maybe | Each) else ()


def _names(op: Op) -> bool:
    """Whether the tool's name is read here."""
    if isinstance(op, Attributes):
        return "name" in op.attributes.values()
    return isinstance(op, ops.Hole) and op.field == "name"


def _free(node: Either) -> bool:
    """Whether it may be free text: the input of a call, as JSON or not."""
    return any(isinstance(item, FreeText) for option in node.options for item in option)


def _unmarked(op: Op | None) -> bool:
    """Whether a call's beginning is no literal, but its name."""
    while isinstance(op, Begin | Switch):
        op = op.next if isinstance(op, Begin) else op.default
    return op is not None and op.first() is None


def _in_order(items: tuple[Node, ...]) -> Iterator[str]:
    """What of a call the elements of a pattern give, in order."""
    for item in items:
        if isinstance(item, CallObject):
            yield from item.order
        elif isinstance(item, Each | Maybe):
            yield from _in_order(item.items)
        elif isinstance(item, Either):
            for option in item.options:
                yield from _in_order(option)
        else:
            yield from fields(item)


def _late_id(items: tuple[Node, ...]) -> bool:
    """Whether a call's id may stand behind its arguments."""
    order = list(_in_order(items))
    begin = next((i for i, field in enumerate(order) if field in ("arguments", "value")), len(order))
    return "id" in order[begin:]


def compile_format(fmt: Format, tools: ToolSet | None = None) -> Program:
    """The program of a format (for these tools, if it is read by them); raises `DefinitionError`, as ``code`` does."""
    if not re.fullmatch(r"[a-z][a-z0-9_]*", fmt.id):
        raise DefinitionError(f"format id {fmt.id!r}: expected lower-case letters, digits and '_'")
    if fmt.machine is not None:
        from .machines import MACHINES

        if fmt.machine not in MACHINES:
            raise DefinitionError(f"format {fmt.id!r}: machine {fmt.machine!r}: expected one of {', '.join(MACHINES)}")
        return MACHINES[fmt.machine](fmt)
    if fmt.by_tool:
        return Program(fmt, for_tools(fmt, tools))
    return Program(fmt, fmt)
