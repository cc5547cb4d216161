"""The operations that a pattern compiles to. Shared and immutable; the state of a run is in `Machine`.

``run(m)`` reads ``m.buf`` from ``m.pos`` on and returns the operation that follows, or None: more text is needed
(never when ``m.final``). ``first()`` gives the literals that it can begin with, None if it can begin with anything.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, ClassVar

from .. import pattern
from ..errors import DefinitionError, Fault
from ..values.json import quote
from .machine import Found, Machine
from .output import NEVER

WS = re.compile(r"[ \t\r\n]*")
NAME = re.compile(r"[\w.:/\-]*")
# Before a parenthesis: what models write for a tool's name, and llm-beacon's dotted names.
IDENTIFIER = re.compile(r"[^\W\d][\w.\-]*")
DOTTED = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*")
# What tells a call from prose in call syntax: its parentheses are empty or start with a keyword. Bounded, so that
# what is still open is decided at the same place however the text was cut.
# What begins a value, and so no name where a value may follow the name.
_NO_NAME = ("[", "{", "(", '"')
PAREN = re.compile(r"[ \t\r\n\f]{0,1024}(?:\)|[A-Za-z_][A-Za-z0-9_]{0,511}[ \t\r\n\f]{0,1024}=(?!=))")
PAREN_PART = re.compile(r"[ \t\r\n\f]{0,1024}(?:[A-Za-z_][A-Za-z0-9_]{0,511}[ \t\r\n\f]{0,1024}=?)?\Z")
TARGET = re.compile(r"[^\W\d]\w*[ \t]*=[ \t]*(?!=)")
# Longer white space than this before what decides between formats decides for none of them.
LOOK = 1024


class Op:
    """One step."""

    ws: bool = False
    next: Op | None = None

    def run(self, m: Machine) -> Op | None:
        """Do the step."""
        raise NotImplementedError

    def first(self) -> tuple[str, ...] | None:
        """What the text can begin with here."""
        return None


def partial(texts: Sequence[str], buf: str, pos: int) -> bool:
    """Whether ``buf[pos:]`` is the beginning of one of ``texts``."""
    size = len(buf) - pos
    for text in texts:  # noqa: SIM110 (a generator costs more than the few texts)
        if size < len(text) and text.startswith(buf[pos:]):
            return True
    return False


def begins(texts: Sequence[str], piece: str) -> bool:
    """Whether ``piece`` is the beginning of one of ``texts``."""
    return any(len(piece) < len(text) and text.startswith(piece) for text in texts)


class Lit(Op):
    """A literal in one of its spellings."""

    def __init__(self, texts: tuple[str, ...], implied_by: tuple[str, ...] = (), *, end_ok: bool = False) -> None:
        self.canonical = texts[0]
        self.texts = tuple(sorted(texts, key=len, reverse=True))
        self.shown = repr(texts[0].strip("\n") or texts[0])
        self.implied_by = implied_by
        self.end_ok = end_ok  # may be missing at the very end
        self.code = "tool_call.expected_markup"
        self.all = self.texts + implied_by
        self.head = False  # before the arguments of a call: what does not fit is no call
        self.weak = False  # as an opener: what does not fit behind it is text
        self.stop = False  # a stop sequence
        self.line = False
        self.nested = any(b != a and b.startswith(a) for a in texts for b in texts)

    def run(self, m: Machine) -> Op | None:
        buf = m.buf
        start = pos = m.pos
        if self.ws:
            pos = m.white_to(pos)
        if buf.startswith(self.texts, pos) and (text := m.standing(self.texts, pos)):
            if self.nested and not m.final and partial(self.texts, buf, pos):
                return None
            end = pos + len(text)
            if m.call_start is None:
                m.sep(start, end)
            m.pos = end
            return self.next
        if self.implied_by and m.stands(self.implied_by, pos):
            m.pos = pos
            return self.next
        if not m.final and partial(self.all, buf, pos):
            if m.call_start is None:
                m.sep(start, pos)
            m.pos = pos
            return None
        if self.end_ok and not m.cut and pos < len(buf):
            ends = m.plan.at_end(m, pos)  # the turn may end where the text does
            if ends is None:
                return None
            if ends:
                if m.call_start is None:
                    m.sep(start, pos)
                m.pos = pos
                return self.next
        if m.final and pos == len(buf) and self.end_ok and not m.cut:
            if m.call_start is None:
                m.sep(start, pos)
            m.pos = pos
            return self.next
        m.pos = pos
        if m.call_start is None:
            m.sep(start, pos)
        ended = m.final and partial(self.all, buf, pos)
        if self.head and not ended and pos < len(buf):
            return m.unrecognized(self.shown)
        return m.expected(self.shown, self.code, ended=ended)

    def first(self) -> tuple[str, ...] | None:
        return self.all


class Begin(Op):
    """A call begins here. It knows where to go on when the call is broken."""

    def __init__(self, fmt: str, closers: tuple[str, ...]) -> None:
        self.fmt = fmt
        self.closers = closers  # of the call itself
        self.section_closers: tuple[str, ...] = ()
        self.siblings: tuple[str, ...] = ()  # what the next call of the section begins with
        self.resume: Op | None = None  # behind the call
        self.late_ids = False  # the family writes ids, and they may stand behind the arguments

    def run(self, m: Machine) -> Op | None:
        if self.ws:
            pos = WS.match(m.buf, m.pos).end()  # type: ignore[union-attr]
            if pos > m.pos:
                m.sep(m.pos, pos)
                m.pos = pos
        if m.pos == len(m.buf) and not m.final:
            return None
        m.fmt = self.fmt
        m.resume = self
        m.begin(m.pos)
        return self.next

    def first(self) -> tuple[str, ...] | None:
        return self.next.first() if self.next else None


class End(Op):
    """The call is complete."""

    def run(self, m: Machine) -> Op | None:
        start = m.call_start
        assert start is not None
        start = max(start, 0)  # the prompt may have begun the call
        end = m.base + m.pos
        span = (start, end)
        if m.fault is not None:
            if m.undo is None:
                m.report(m.fault, span)
        elif m.founds is not None:
            founds = m.founds
            if len(founds) == 1 and m.id is not None:
                founds[0].id = m.id  # it may stand outside the object
            for i, found in enumerate(founds):
                if i:
                    m.index += 1
                # The first call carries the opening tag, the last the closing one, so that spans tile the text.
                a = start if i == 0 else founds[i - 1].span[1]  # type: ignore[index]
                b = end if i == len(founds) - 1 else found.span[1]  # type: ignore[index]
                m.finish(found, (a, b))
                m.started = False
                if m.undo is not None:
                    break
        else:
            name = m.name
            found = Found("" if name is None else name, {} if m.args is None else m.args)
            found.id = m.id
            found.name_at = m.name_at
            raw_span = m.raw_span
            json = m.json
            if raw_span is not None:
                found.raw = m.region(raw_span[0], raw_span[1])
                found.json = found.raw if json is None else "".join(json)
            elif json is not None:  # bare values
                found.json = "".join(json) + "}"
                found.raw = m.region(m.args_from, m.args_to)
                if m.started:
                    m.delta("}")
            else:
                found.json = "{}"
            m.finish(found, span)
        if m.undo is not None:
            return m.give_up(m.undo)
        m.call_start = None
        if m.unit is None:
            m.kept = None
        m.fault = None
        m.after_markup = True
        return self.next

    def first(self) -> tuple[str, ...] | None:
        return None if self.next is None else self.next.first()


class Hole(Op):
    """Text up to the next literal."""

    def __init__(self, node: pattern.Hole) -> None:
        self.node = node
        self.field = node.field
        self.gap = ""
        self.dotted = False  # a name in call syntax as llm-beacon has it
        self.head = False
        self.stops: tuple[str, ...] = ()
        self.closers: tuple[str, ...] = ()  # of the call: the hole cannot reach beyond

    def link(self) -> None:
        """Learn what ends the hole from what follows it."""
        assert self.next is not None
        self.stops = self.next.first() or ()
        if not self.stops:
            raise DefinitionError(f"the hole {self.field!r} needs a literal behind it that ends it")
        texts = sorted({*self.stops, *self.closers}, key=len, reverse=True)
        self.regex = re.compile("|".join(map(re.escape, texts)))
        self.longest = len(texts[0])
        self.around = tuple(text for text in texts if any(other in text[1:] for other in texts))
        self.dotted = self.dotted and self.stops == ("(",)
        self.names = DOTTED if self.dotted else IDENTIFIER
        self.identifier = self.field == "name" and self.stops == ("(",)  # call syntax

    def run(self, m: Machine) -> Op | None:
        buf = m.buf
        start = m.pos
        limit = m.limits.name
        stop = start + limit + LOOK + self.longest  # of what begins in time, all is before it
        match = m.find(self.regex.search, max(start, m.scan - m.base), stop)
        if match is not None and self.around and not m.final:
            # It may stand in one that began before it.
            for at in range(max(start, len(buf) - self.longest + 1), match.start()):
                if partial(self.around, buf, at):
                    m.scan = m.base + at
                    return None
        end = len(buf) if match is None else match.start()
        if end >= stop if match is None else end - start > limit + LOOK:
            text = f"the {self.field} is too long or has no end"
            return m.fail(Fault("tool_call.invalid_name", m.base + start, text))
        if match is None:
            if m.final:
                if m.cut or not self.head:
                    return m.truncated(f"the {self.field}")
                return m.unrecognized(repr(self.stops[0]), ended=True)
            m.scan = m.base + max(start, len(buf) - self.longest + 1)
            return None
        if match.group() not in self.stops:
            m.scan = NEVER
            m.pos = end
            return m.unrecognized(repr(self.stops[0])) if self.head else m.expected(repr(self.stops[0]))
        if self.dotted and not m.final and PAREN_PART.match(buf, end + 1):
            m.scan = m.base + end
            return None
        text = buf[start:end].strip()
        m.pos = end
        m.scan = NEVER
        if self.field in ("name", "tool"):
            if self.node.counter:
                m.id = text or None
            text = self.node.name_in(text)
            method = self.node.method
            if method and m.tools is not None and text.endswith(method) and text not in m.tools.names:
                known = text.removesuffix(method)
                text = known if known in m.tools.names else text
            if self.node.assigned and (target := TARGET.match(text)) is not None:
                text = text[target.end() :]
                start = buf.index(text, start + target.end()) if text else end
            if self.identifier and self.names.fullmatch(buf[start:end].lstrip() if self.dotted else text) is None:
                return m.unrecognized("a call's name")
            if self.dotted and PAREN.match(buf, end + 1) is None:
                ended = PAREN_PART.match(buf, end + 1) is not None
                return m.truncated("a call's parentheses") if ended else m.unrecognized("')' or name=")
            if text[:1] in _NO_NAME and "{" in self.stops:
                return m.unrecognized("a tool's name")  # a list of calls, say, which this format does not write
            m.name = text
            m.name_at = m.base + start
            if not text or "\n" in text or len(text) > limit:
                what = "is empty" if not text else "is too long or has a line break"
                return m.fail(Fault("tool_call.invalid_name", m.base + start, f"the tool name {what}", "a tool name"))
            if m.server:
                m.name = f"{m.server}/{text}"
            return self.next
        return set_field(m, self.field, text, m.base + start) or self.next

    def first(self) -> tuple[str, ...] | None:
        return None


def set_field(m: Machine, field: str, text: str, at: int) -> Op | None:
    """Note what a hole or an attribute said. Returns the way to an error."""
    if field == "name":
        at += len(text) - len(text.lstrip())
        text = text.strip()
        if not text or len(text) > m.limits.name:
            at = at if m.call_start is None else max(m.call_start, 0)
            return m.fail(Fault("tool_call.invalid_name", at, "the tool name is empty or too long", "a tool name"))
        m.name = text
        m.name_at = at
    elif field == "key":
        m.key = text
        m.key_at = at
        m.typed = None
        if m.args is not None and text in m.args and m.fault is None:
            m.fault = Fault("tool_call.duplicate_argument", at, f"duplicate argument {text[:80]!r}")
    elif field == "id":
        m.id = m.id or text or None  # the first counts: a stream has given it out
    elif field == "server":
        m.server = text
        if text and m.name is not None:
            m.name = f"{text}/{m.name}"
    elif field in ("type", "string"):
        m.typed = text if field == "type" else ("string" if text == "true" else "json" if text == "false" else None)
    return None


class Attributes(Op):
    """The attributes of an opening tag, up to its end."""

    PAIR: ClassVar[re.Pattern[str]] = re.compile(
        r"""[ \t\r\n]*([\w.:\-]+)[ \t\r\n]*=[ \t\r\n]*(?:"([^"]*)"|'([^']*)'|([^\s"'<>/|]+))"""
    )

    def __init__(self, opener: str, attributes: dict[str, str], end: str, escape: bool, quoted: bool) -> None:
        self.opener = opener
        self.attributes = attributes
        self.end = end
        self.escape = escape
        self.quoted = quoted
        self.closed: Op | None = None  # where a self-closing tag goes on
        self.required = [a for a, f in attributes.items() if f in ("name", "key")]

    def run(self, m: Machine) -> Op | None:
        buf = m.buf
        start = pos = m.pos
        # A tag is no longer than this, however the text is cut.
        stop = start + 4 * m.limits.name
        size = min(len(buf), stop)
        seen: dict[str, tuple[str, int]] = {}
        while True:
            match = self.PAIR.match(buf, pos, size)
            if match is None or match.start(1) == start:
                break
            group = match.lastindex or 2
            if match.end() == size and group == 4 and (size == stop or not m.final):
                break  # an unquoted value may go on
            if group != 4 or not self.quoted:
                seen.setdefault(match.group(1), (match.group(group), match.start(group)))
            pos = match.end()
        after = WS.match(buf, pos, size).end()  # type: ignore[union-attr]
        closed = self.closed is not None and buf.startswith("/", after, size)
        end = after + 1 if closed else after
        if end + len(self.end) > size or not m.stands((self.end,), end):
            # Attributes stand behind white space: what follows the tag's name at once is another word.
            begun = after > start and self._open(buf, after, size)
            if after == size or begins((self.end,), buf[end:size]) or begun:
                if size == stop:
                    m.pos = after
                    text = f"the tag {self.opener!r} has no end"
                    return m.fail(Fault("tool_call.invalid_name", m.base + start, text))
                return m.truncated(f"{self.opener!r}") if m.final else None
            m.pos = after
            return m.expected(repr(self.end))
        m.pos = end + len(self.end)
        for attribute, field in self.attributes.items():
            if attribute in seen:
                text, at = seen[attribute]
                if self.escape and "&" in text:
                    text = text.replace("&quot;", '"').replace("&amp;", "&")
                if field == "key":
                    at = start - len(self.opener)
                failed = set_field(m, field, text, m.base + at)
                if failed is not None:
                    return failed
        for attribute in self.required:
            if attribute not in seen:
                field = self.attributes[attribute]
                code = "tool_call.invalid_name" if field == "name" else "tool_call.unrecognized"
                at = m.call_start if field == "name" and m.call_start is not None else m.base + start - len(self.opener)
                return m.fail(Fault(code, at, f"{self.opener} needs a {attribute} attribute", f'{attribute}="..."'))
        return self.closed if closed else self.next

    @staticmethod
    def _open(buf: str, pos: int, size: int) -> bool:
        """Whether what stands in ``buf[pos:size]`` may grow into an attribute."""
        match = re.compile(r"""[\w.:\-]*[ \t\r\n]*(?:=[ \t\r\n]*(?:"[^"]*|'[^']*|[^\s"'<>/|]*)?)?""").match(
            buf, pos, size
        )
        return match is not None and match.end() == size

    def first(self) -> tuple[str, ...] | None:
        return (" ", "\n", "\t", "\r", self.end[0])


class Switch(Op):
    """Several ways on; the next characters decide, else ``default``."""

    def __init__(self) -> None:
        self.branches: list[tuple[tuple[str, ...], Op]] = []
        self.default: Op | None = None
        self.at_end: Op | None = None  # where to go instead of the default if the text or the turn ends here
        self.stray: bool = False
        self.inside = False  # in a section, where white space says nothing
        self.ws = True

    def link(self) -> None:
        """Order the literals, the longest first."""
        pairs = [(text, op) for texts, op in self.branches for text in texts]
        pairs.sort(key=lambda pair: -len(pair[0]))
        self.pairs = pairs
        self.texts = tuple(text for text, _ in pairs)
        self.nested = any(b != a and b.startswith(a) for a in self.texts for b in self.texts)
        self.search = re.compile("|".join(map(re.escape, self.texts))).search
        # What the default begins with, where a branch begins with a part of that: `<` of a tag, and `</call>`.
        others = () if self.default is None else self.default.first() or ()
        self.over = tuple(b for b in others if b not in self.texts and b.startswith(self.texts))

    def run(self, m: Machine) -> Op | None:
        buf = m.buf
        pos = m.pos
        if self.ws:
            pos = m.white_to(pos)
        if self.over and not m.final and pos < len(buf) and partial(self.over, buf, pos):
            return None
        if m.stands(self.texts, pos) and not (self.over and m.stands(self.over, pos)):
            if self.nested and not m.final and partial(self.texts, buf, pos):
                return None
            for text, op in self.pairs:
                if buf.startswith(text, pos) and not m.is_data(pos, text):
                    if m.call_start is None:
                        m.sep(m.pos, pos)
                    elif m.args is None:
                        m.args_from = m.base + pos
                    m.pos = pos
                    return op
        if not m.final and (pos == len(buf) or partial(self.texts, buf, pos)):
            if m.call_start is not None:
                if not isinstance(self.default, End):
                    m.pos = pos
            elif isinstance(self.default, Lit) and self.default.ws:
                m.sep(m.pos, pos)  # white space in a section is nothing else, so it need not be kept
                m.pos = pos
            elif self.inside:
                m.sep(m.pos, pos)
                m.pos = pos
            return None
        if self.at_end is not None:
            ends = pos == len(buf) or m.plan.at_end(m, pos)
            if ends is None:
                return None
            if ends:
                return self.at_end
        if self.stray and pos < len(buf):
            return self._stray(m)
        if m.call_start is not None and not isinstance(self.default, End):
            m.pos = pos  # but white space behind a call is not the call's
        return self.default

    def _stray(self, m: Machine) -> Op | None:
        """Text between the calls of a section: content, up to what may come next."""
        buf = m.buf
        match = m.find(self.search, m.pos)
        end = len(buf) if match is None else match.start()
        if match is None:
            if not m.final:
                keep = max(map(len, self.texts)) - 1
                end = max(m.pos, end - keep)
        m.content(m.pos, end)
        m.pos = end
        return self if match is not None or m.final else None

    def first(self) -> tuple[str, ...] | None:
        texts: tuple[str, ...] = (
            self.texts if hasattr(self, "texts") else tuple(text for texts, _ in self.branches for text in texts)
        )
        if self.default is not None:
            more = self.default.first()
            if more is None:
                return texts or None
            texts += more
        return texts


class AfterComma(Op):
    """Behind a comma in a list of calls: the next call, not the list's end (which Python allows)."""

    def __init__(self, item: Op, close: Op, python: bool) -> None:
        self.next = item
        self.close = close
        self.python = python

    def run(self, m: Machine) -> Op | None:
        pos = WS.match(m.buf, m.pos).end()  # type: ignore[union-attr]
        m.sep(m.pos, pos)
        m.pos = pos
        if pos == len(m.buf) and not m.final:
            return None
        if m.buf.startswith("]", pos):
            if self.python:
                return self.close
            return m.fail(Fault("json.trailing_comma", m.base + pos, "trailing comma before ']'", "a tool call"))
        return self.next


class FirstItem(Op):
    """The first call of a list: an empty list is no call."""

    def __init__(self, item: Op) -> None:
        self.next = item
        self.ws = True

    def run(self, m: Machine) -> Op | None:
        pos = m.white_to(m.pos)
        if pos == len(m.buf) and not m.final:
            return None
        if m.buf.startswith("]", pos):
            at = m.base + m.pos - 1
            return m.fail(
                Fault("tool_call.unrecognized", at, "an empty list is not a tool call", "a tool call"), at + 1
            )
        return self.next

    def first(self) -> tuple[str, ...] | None:
        assert self.next is not None
        return self.next.first()


class UnitBegin(Op):
    """A list of calls begins that is one unit."""

    def run(self, m: Machine) -> Op | None:
        m.begin_unit(m.pos)
        return self.next

    def first(self) -> tuple[str, ...] | None:
        return None if self.next is None else self.next.first()


class UnitEnd(Op):
    """The list is closed."""

    def run(self, m: Machine) -> Op | None:
        m.end_unit()
        m.after_markup = True
        return self.next


class ToText(Op):
    """Back to the text around the calls."""

    def run(self, m: Machine) -> Op | None:
        m.section_at = None
        if m.unit is None:
            m.kept = None
        return m.plan.text


TO_TEXT = ToText()


def put_argument(m: Machine, key: str, value: Any, json: str) -> None:
    """One more argument of the call, with its JSON text."""
    if m.args is None:
        m.args = {}
        m.json = []
    assert m.json is not None
    head = ("{" if not m.json else ", ") + quote(key) + ": "
    m.args[key] = value
    m.json.append(head + json)
    if m.live:
        if not m.started:
            m.start_call()
        m.delta(head + json)
