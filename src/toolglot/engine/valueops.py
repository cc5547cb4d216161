"""The operations that read what a call says: JSON call objects, arguments in one notation, bare values."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from ..errors import Fault
from ..pattern import CallObject, Escapes
from ..values.bare import decode_entities, read_text
from ..values.dialect import FUNCTION_GEMMA, GEMMA, JSON, LFM, PYTHON, PYTHONIC
from ..values.gather import gather
from ..values.json import loads, quote, scan
from ..values.literal import LiteralReader
from ..values.simple import scan_arguments
from . import shapes
from .freetext import unescape
from .machine import Found, Machine
from .ops import LOOK, WS, Attributes, Lit, Op, Switch, partial, put_argument
from .output import NEVER

DIALECTS = {"json": JSON, "python": PYTHON, "pythonic": PYTHONIC, "gemma": GEMMA, "function_gemma": FUNCTION_GEMMA}
DIALECTS |= {"lfm": LFM, "python_dict": PYTHONIC}
_STRING = frozenset(("string",))


class Reading:
    """A value that is being read piece by piece."""

    __slots__ = ("args_from", "judged", "over", "reader", "sent", "start")

    def __init__(self, reader: LiteralReader, start: int) -> None:
        self.reader = reader
        self.start = start  # absolute
        self.args_from: int | None = None
        self.judged = -1  # the member that was looked at last
        self.sent = start
        self.over = False  # the arguments are complete


def absolute(m: Machine, fault: Fault) -> Fault:
    """The fault as the call's: what ends with the text is truncated."""
    if fault.end and m.cut:
        return Fault("tool_call.truncated", fault.at, fault.text, fault.expected, True)
    return fault


class CallObjectOp(Op):
    """A JSON object that is a call (or, with ``many``, a list of them)."""

    def __init__(self, spec: CallObject) -> None:
        self.spec = spec
        self.closers: tuple[str, ...] = ()
        blank = r"[ \t\r\n]*"
        name = "|".join(map(re.escape, spec.name))
        arguments = "|".join(map(re.escape, spec.arguments))
        # The usual case in one match: the name, then the arguments, and nothing else.
        self.head = re.compile(
            rf'\{{{blank}"(?:{name})"{blank}:{blank}"([^"\\\x00-\x1f\ud800-\udfff]+)"{blank},{blank}"(?:{arguments})"'
            rf"{blank}:{blank}(?=\{{)"
        ).match
        self.tail = re.compile(blank + r"\}").match

    def run(self, m: Machine) -> Op | None:
        buf = m.buf
        pos = m.pos
        st = m.st
        if st is None:
            if self.ws:
                pos = WS.match(buf, pos).end()  # type: ignore[union-attr]
            head = self.head(buf, pos)
            if head is not None and not head.group(1).isspace():
                args_at = head.end()
                result = None if m.wary else scan(buf, args_at, m.limits.depth - 1)
                if result is not None:
                    tail = self.tail(buf, result[1])
                    if tail is not None:
                        m.name = head.group(1)
                        m.name_at = m.base + head.start(1) - 1
                        m.args = result[0]
                        m.raw_span = (args_at + m.base, result[1] + m.base)
                        m.read_at = pos + m.base
                        if m.live:
                            m.start_call()
                            m.delta(buf[args_at : result[1]])
                        m.pos = tail.end()
                        return self.next
            if pos == len(buf):
                if not m.final:
                    m.pos = pos
                    return None
            elif self.closers and buf.startswith(self.closers, pos):
                return m.fail(
                    Fault("json.unexpected_end", m.base + pos, "there is no call between the tags", "a JSON value")
                )
            elif self.closers and not m.final and partial(self.closers, buf, pos):
                return None
            elif buf[pos] in "{[":
                shape: Any = None if m.wary else shapes.read(buf, pos, m.base, self.spec, m.limits.depth)
                if shape is not None:
                    m.pos = shape[1]
                    return self.take(m, shape[0], m.base + pos, buf[pos])
            st = m.st = Reading(LiteralReader(JSON, m.base + pos, depth=m.limits.depth), m.base + pos)
        reader: LiteralReader = st.reader
        try:
            end = reader.feed(buf, pos, m.final)
        except Fault as fault:
            self.note_name(m, reader)
            m.id = m.id or self.read_text(m, reader, self.spec.id) or None
            m.value_at = st.start
            m.value_keys = self.spec.arguments
            return m.fail(absolute(m, fault))
        m.pos = end
        if m.live:
            self.stream(m, st, buf, pos, end)
        if not reader.done:
            return None
        m.st = None
        raw = m.region(st.start, m.base + end)
        shape = (None, 0)
        if raw[:1] in ("{", "["):
            shape = shapes.read(raw, 0, st.start, self.spec, m.limits.depth)
        assert shape is not None, "the reader and the scanner disagree"
        return self.take(m, shape[0], st.start, raw[0])

    def take(self, m: Machine, shape: Any, at: int, head: str) -> Op | None:
        """Note the calls of a complete value."""
        m.read_at = at
        m.name = shape[0].name if isinstance(shape, list) else None
        if shape is None or (head == "[" and not self.spec.many):
            if m.fault is None:
                m.fault = Fault("tool_call.unrecognized", at, "tagged content is not a recognized tool call")
        elif isinstance(shape, Fault):
            m.fault = m.fault or shape
        else:
            m.founds = shape
            if len(shape) == 1:
                m.id = m.id or shape[0].id
        return self.next

    def stream(self, m: Machine, st: Reading, buf: str, pos: int, end: int) -> None:
        """Give out the arguments as they come, once the name is known."""
        reader = st.reader
        now = m.base + end
        if st.args_from is None:
            current = reader.member
            spec = self.spec
            if current is None or current[1] == st.judged:
                return
            st.judged = current[1]
            if m.region(current[1], current[1] + 1) != "{":
                return
            named = spec.keyed and not reader.members
            if not (named or current[0] in spec.arguments) or not self.note_name(m, reader):
                return
            m.id = m.id or self.read_text(m, reader, spec.id) or None
            m.start_call()
            st.args_from = st.sent = current[1]
        elif st.over:
            return
        elif reader.member is None or reader.member[1] != st.args_from:
            st.over = True
            now = next(b for _, a, b in reversed(reader.members) if a == st.args_from)
        if now > st.sent:
            m.delta(m.region(st.sent, now))
            st.sent = now

    def note_name(self, m: Machine, reader: LiteralReader) -> bool:
        """Note the tool's name if it was read."""
        name = self.read_text(m, reader, self.spec.name)
        if name is None and self.spec.keyed:
            first = reader.members[0] if reader.members else reader.member
            if first is not None and first[0] not in self.spec.arguments and m.region(first[1], first[1] + 1) == "{":
                name = first[0]
        if name is None:
            return False
        m.name = name
        return True

    def read_text(self, m: Machine, reader: LiteralReader, keys: tuple[str, ...]) -> str | None:
        """The string under one of these keys, if it was read."""
        for key, a, b in reader.members:
            if key in keys:
                result = scan(m.region(a, b), 0)
                if result is not None and isinstance(result[0], str):
                    text: str = result[0]
                    return text
        return None

    def first(self) -> tuple[str, ...] | None:
        return ("{", "[") if self.spec.many else ("{",)


class ArgumentsOp(Op):
    """All arguments in a notation that ends by itself."""

    def __init__(self, codec: str, escapes: Escapes = ()) -> None:
        self.codec = codec
        self.escapes = escapes  # then the arguments are known when all of them are there
        self.dialect = DIALECTS[codec]
        self.python = codec in ("python", "pythonic", "lfm")

    def run(self, m: Machine) -> Op | None:
        buf = m.buf
        pos = m.pos
        st = m.st
        if st is None:
            if self.ws or not self.python:  # else what stands behind the parenthesis is theirs
                pos = WS.match(buf, pos).end()  # type: ignore[union-attr]
                m.pos = pos
                if pos == len(buf) and not m.final:
                    return None  # more white space may come, which is no part of the arguments
            if (m.final or m.live) and not m.wary:
                whole = self.whole(m, buf, pos)
                if whole:
                    return self.next
            reader = LiteralReader(
                self.dialect,
                m.base + pos,
                depth=m.limits.depth,
                json_out=self.codec != "json",
                arguments=self.python,
            )
            st = m.st = Reading(reader, m.base + pos)
        reader = st.reader
        if m.plain is not None:
            reader.is_data = m.is_data_at
        try:
            end = reader.feed(buf, pos, m.final)
        except Fault as fault:
            if self.codec == "json":
                m.value_at = st.start
                m.value_keys = None
            elif isinstance(reader.value, dict):
                m.args = reader.certain(m.base + len(buf))
            return m.fail(absolute(m, fault))
        m.pos = end
        now = m.base + end
        if self.codec == "json":
            if m.live and now > st.sent and not self.escapes:
                if st.args_from is None and m.region(st.sent, now).strip():
                    st.args_from = st.sent
                    if m.region(st.sent, now).lstrip()[0] == "{":
                        m.start_call()
                m.delta(m.region(st.sent, now))
                st.sent = now
        else:
            piece = reader.take()
            if piece:
                if m.json is None:
                    m.json = []
                gather(m.json, piece)
                if m.live:
                    if not m.started:
                        m.start_call()
                    m.delta(piece)
        if not reader.done:
            return None
        m.st = None
        start = st.start
        if self.codec == "json":
            text = m.region(start, now)
            self.take_json(m, reader.value, text, 0, len(text), start)
        else:
            m.args = reader.value
            m.raw_span = (start, now - 1 if self.python else now)
            if not isinstance(m.args, dict):
                m.args = {}
                m.fault = m.fault or Fault(
                    "tool_call.invalid_arguments", start, "tool call arguments must be an object"
                )
        return self.next

    def whole(self, m: Machine, buf: str, pos: int) -> bool:
        """Read arguments that are all there, the fast way."""
        if self.codec == "json":
            result = scan(buf, pos, m.limits.depth)
            if result is None:
                return False
            m.pos = result[1]
            if m.live and buf[pos] == "{" and not self.escapes:
                m.start_call()
                m.delta(buf[pos : result[1]])
            self.take_json(m, result[0], buf, pos, result[1], m.base)
            return True
        if self.python:
            simple = scan_arguments(buf, pos, depth=m.limits.depth) if self.codec != "lfm" else None
            if simple is None:
                return False
            m.args, json, end = simple
            m.json = [json]
            if m.live:
                m.start_call()
                m.delta(json)
            m.raw_span = (m.base + pos, m.base + end - 1)
            m.pos = end
            return True
        return False

    def take_json(self, m: Machine, value: Any, text: str, a: int, b: int, base: int) -> None:
        """Note JSON arguments, decoding a JSON string once."""
        if isinstance(value, dict):
            m.raw_span = (base + a, base + b)
            if self.escapes:
                m.json = [unescape(text[a:b], self.escapes)]
                value = loads(m.json[0], m.limits.depth)
            m.args = value
            return
        decoded = shapes.decode_arguments(value, text, a, b, base, base + a, m.limits.depth)
        if isinstance(decoded, Fault):
            m.fault = m.fault or decoded
            return
        found = Found(m.name or "", *decoded)
        found.id = m.id
        found.name_at = m.name_at
        m.founds = [found]

    def first(self) -> tuple[str, ...] | None:
        return ("{",) if not self.python else None


class ValueOp(Op):
    """An argument's value as bare text, up to its closer."""

    def __init__(self, frame: str, implied: str, entities: bool, closers: tuple[str, ...]) -> None:
        self.frame = frame
        self.entities = entities
        self.implied = implied != "no"
        self.line = implied == "line"
        self.tail = frame  # what stands before the end and may be no part of the value
        self.closers = closers
        self.closer = closers[0] if len(closers) == 1 else None
        self.read: Callable[[str, frozenset[str] | None], tuple[Any, str]] = read_text
        self.follow: tuple[str, ...] | None = None
        self.ends: tuple[str, ...] = closers
        self.openers: tuple[str, ...] = ()
        self.outer: tuple[str, ...] = ()
        self.after: Op | None = None  # behind the closer
        self.stop = False  # the closer may be missing at the end of the text

    def link(self, outer: tuple[str, ...]) -> None:
        """Learn what may follow the closer. ``outer``: what may follow the call's own closer."""
        assert self.after is not None
        self.follow = self.after.first()
        if isinstance(self.after, Switch) and self.after.default is not None and self.after.default.first() is None:
            self.follow = None  # anything may follow
        if self.implied:
            assert isinstance(self.after, Switch)
            closing = self.after.default
            assert isinstance(closing, Lit)
            self.openers = tuple(text for texts, _ in self.after.branches for text in texts)
            self.ends = self.closers + self.openers + closing.texts
            # Behind a key's opener a whole key has to stand.
            opener = self.after.branches[0][1]
            hole = opener.next
            assert hole is not None
            if isinstance(hole, Attributes):
                attribute = re.escape(hole.required[0])
                self.rest = re.compile(rf' {attribute}="[^\s"<>]{{1,512}}"({re.escape(hole.end)})').match
                self.rest_part = re.compile(r"[^\n<>]{0,600}\Z").match
            else:
                assert isinstance(hole.next, Lit)
                key_ends = "|".join(map(re.escape, hole.next.texts))
                self.rest = re.compile(rf"[^\s<>]{{1,512}}({key_ends})").match
                self.rest_part = re.compile(r"[^\s<>]{0,512}(?:<[^<>]{0,64})?\Z").match
        self.outer = outer
        pattern = "|".join(re.escape(t) for t in sorted(self.ends, key=len, reverse=True))
        self.regex = re.compile(pattern)
        self.heads = "".join(sorted({t[0] for t in self.ends}))
        self.longest = max(map(len, self.ends))

    def run(self, m: Machine) -> Op | None:
        buf = m.buf
        pos = m.pos
        st = m.st
        if st is None:
            # start, pieces, types, whether a part was given out, the last character consumed
            st = m.st = [m.base + pos, [], self.types(m), False, ""]
            m.scan = m.base + pos
        scan_from = max(pos, m.scan - m.base)
        closer = self.closer
        while True:
            if closer is not None and not self.implied:
                i = m.find_text(closer, scan_from)
                if i < 0:
                    break
                end = i + len(closer)
                verdict = self.followed(m, buf, end)
            else:
                match = m.find(self.regex.search, scan_from)
                if match is None:
                    break
                i = match.start()
                end = match.end()
                if match.group() in self.closers:
                    verdict = self.followed(m, buf, end)
                else:
                    verdict = self.implies(m, buf, i, match.group(), pos, st)
                    end = i
            if verdict is None:
                m.scan = m.base + i
                return self.wait(m, st, buf, pos, i)
            if verdict:
                m.scan = NEVER
                m.st = None
                return self.finish(m, st, buf[pos:i], end, m.base + i)
            scan_from = i + 1
        if m.final:
            if self.stop and not m.cut and "".join((*st[1], buf[pos:])).strip():
                m.st = None
                return self.finish(m, st, buf[pos:], len(buf), m.base + len(buf))
            return self.unfinished(m)
        hold = len(buf)
        t = max(pos, scan_from, hold - self.longest + 1)
        while t < hold:
            if buf[t] in self.heads and partial(self.ends, buf, t):
                hold = t
                break
            t += 1
        m.scan = m.base + hold
        return self.wait(m, st, buf, pos, hold)

    def wait(self, m: Machine, st: list[Any], buf: str, pos: int, hold: int) -> Op | None:
        """Consume the value up to ``hold``, but for what its frame may take."""
        if self.tail and hold > pos and buf.endswith(self.tail, pos, hold):
            hold -= len(self.tail)
        if self.frame:
            if not st[1] and pos + len(self.frame) >= hold and m.base + pos == st[0]:
                return None  # the frame behind the opener is not decided yet
        if hold <= pos:
            return None
        piece = buf[pos:hold]
        st[4] = piece[-1]
        m.pos = hold
        pieces = st[1]
        if m.base + pos == st[0] and self.frame and piece.startswith(self.frame):
            piece = piece[len(self.frame) :]
        gather(pieces, piece)
        if m.live and piece and st[2] == _STRING and not self.entities:
            if not st[3]:
                st[3] = True
                put_head(m)
            m.delta(quote(piece)[1:-1])
        return None

    def finish(self, m: Machine, st: list[Any], last: str, end: int, at: int) -> Op | None:
        """The closer was read: type the value."""
        frame = self.frame
        pieces = st[1]
        first = not pieces and at - len(last) == st[0]
        if frame:
            if first and last.startswith(frame):
                last = last[len(frame) :]
            last = last.removesuffix(frame)
        elif self.tail and end == at - m.base:
            last = last.removesuffix(self.tail)
        raw = last if not pieces else "".join((*pieces, last))
        m.pos = end
        m.args_to = at if self.stop else m.base + end
        if st[2] == _STRING and not self.entities:
            if st[3]:
                m.delta(quote(last)[1:-1] + '"')
                assert m.json is not None and m.args is not None
                m.json[-1] += quote(raw)
                m.args[m.key] = raw
            else:
                put_argument(m, m.key, raw, quote(raw))
        else:
            value, json = self.read(raw, st[2])
            if self.entities and isinstance(value, str) and (value == raw):
                value = decode_entities(raw)
                json = quote(value)
            put_argument(m, m.key, value, json)
        return self.after

    def types(self, m: Machine) -> frozenset[str] | None:
        """The JSON types the value may have: the attribute's word, else the schema's."""
        typed = m.typed
        if typed is not None:
            return _STRING if typed == "string" else TYPED
        if m.tools is None or m.name is None:
            return None
        return m.tools.types(m.name, m.key)

    @staticmethod
    def unfinished(m: Machine) -> Op:
        """The text ends in the value."""
        if m.args is not None:
            m.args.pop(m.key, None)  # what is there may be the part of it that was given out
            m.args = m.args or None
        return m.truncated(f"the value of {m.key[:80]!r}")

    def followed(self, m: Machine, buf: str, end: int) -> bool | None:
        """Whether what follows a closer could follow a real one. None: more text decides."""
        if self.follow is None:
            return True
        return ahead(m, self.follow, buf, end)

    def implies(self, m: Machine, buf: str, i: int, text: str, pos: int, st: list[Any]) -> bool | None:
        """Whether the next key's opener or the call's closer, at ``i``, ends the value."""
        if not self.line:
            pass
        elif i > pos:
            if buf[i - 1] != "\n":
                return False
        elif st[4] != "\n":
            return False
        end = i + len(text)
        if text in self.openers:  # a whole tag has to stand there
            rest = self.rest(buf, end)
            if rest is not None:
                return not m.is_data(rest.start(1), rest[1])
            return None if not m.final and self.rest_part(buf, end) else False
        verdict = ahead(m, self.outer, buf, end)
        if verdict is False and m.white_to(end) == len(buf):
            return not m.cut if m.final else None
        return verdict and not (m.cut and m.white_to(end) == len(buf))


TYPED = frozenset(("null", "boolean", "integer", "number", "object", "array"))


def ahead(m: Machine, texts: tuple[str, ...], buf: str, pos: int) -> bool | None:
    """Whether one of ``texts`` stands at ``pos``, behind white space. None: more text decides."""
    start = pos
    pos = m.white_to(pos)
    if pos - start > LOOK:
        return False
    if m.stands(texts, pos):
        return True
    if not m.final and partial(texts, buf, pos):
        return None
    # At the very end what follows is nothing, and the call's own closer is what is missing then.
    return m.final and pos == len(buf)


def put_head(m: Machine) -> None:
    """Begin an argument whose string value comes in pieces."""
    if m.args is None:
        m.args = {}
        m.json = []
    assert m.json is not None
    head = ("{" if not m.json else ", ") + quote(m.key) + ": "
    m.json.append(head)
    m.args[m.key] = ""
    if not m.started:
        m.start_call()
    m.delta(head + '"')
