"""Calls without markup: JSON shapes and call syntax in the text. Whole and streamed by the same finders.

A finder is fed the text between markup. ``hold`` is the absolute position from which text may still turn out to be
a call (or has): the tracker gives out what stands before it and keeps the rest. In detection nothing is decided
before the end of the text, since a tagged call further on wins; with an explicit format (``eager``) each call is
given out when it is complete.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ..definition import ToolSet
from ..errors import Fault
from ..values.dialect import JSON, PYTHON, PYTHONIC
from ..values.literal import LiteralReader
from ..types import TextPart
from ..values.simple import scan_arguments
from . import shapes
from .machine import Found, Machine
from .ops import LOOK, WS
from .valueops import absolute

if TYPE_CHECKING:
    from .plan import Untagged

_JSON_START = re.compile(r"```|[{\[]")
_FENCE = re.compile(r"```[\w+-]{0,20}[ \t]*\r?\n[ \t\r\n]{0,64}")
_FENCE_PART = re.compile(r"`{1,2}\Z|```[\w+-]{0,20}[ \t]*\r?(?:\n[ \t\r\n]{0,64})?\Z")
_FENCE_END = re.compile(r"[ \t\r\n]{0,64}```")
_FENCE_END_PART = re.compile(r"[ \t\r\n]{0,64}`{0,2}\Z")
_SEPARATOR = re.compile(r"[ \t\r\n]*;?[ \t\r\n]*")
_AFTER = {"{": '"}', "[": '{"[]-0123456789tfn'}
_WRAPPERS = frozenset(("function", "tool_calls", "function_call"))
_LISTED = re.compile(r'\[[ \t\r\n]*\{.*"(?:name|function|tool_calls|function_call)"[ \t\r\n]*:', re.S)
_PAREN = re.compile(r"[ \t\r\n]*(?:\)|[A-Za-z_][A-Za-z0-9_]*[ \t\r\n]*=(?!=))")
_PAREN_PART = re.compile(r"[ \t\r\n]*(?:[A-Za-z_][A-Za-z0-9_]*[ \t\r\n]*=?)?\Z")
_REVERSED = re.compile(r"[A-Za-z0-9_.]*")
_DOTTED = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*\Z")

Result = tuple[int, int, "list[Found] | Fault", int]  # start, end (-1: broken), calls, start with the fence


class Finder:
    """Looks for candidates of one tier in text that arrives in pieces."""

    def __init__(self, spec: Untagged) -> None:
        self.spec = spec
        self.tail = ""
        self.last = ""  # the character before the tail
        self.results: list[Result] = []
        self.alive: int | None = None  # where a candidate, or what may become one, stands
        self.reader: LiteralReader | None = None
        self.start = 0  # of the candidate
        self.outer = 0  # with its fence
        self.text: list[str] = []  # the candidate's text so far
        self.finished = False  # only at the start of the text, and that is over
        self.skipping = False  # the reader looks for the end of a broken call

    @property
    def hold(self) -> int | None:
        """From where text has to be withheld."""
        return self.results[0][3] if self.results else self.alive

    def feed(self, m: Machine, piece: str, at: int, final: bool) -> None:
        """More text, which stands at ``at``."""
        buf = self.tail + piece if self.tail else piece
        base = at - len(self.tail)
        pos = 0
        while True:
            if self.reader is not None:
                new = self.read(m, buf, base, pos, final)
                if new < 0:  # broken: read on from the fault, in the candidate's own text
                    buf = "".join(self.text)
                    base = self.start
                    pos = max(-1 - new - base, 1)
                    continue
                pos = new
                if self.reader is not None:
                    self.alive = self.outer
                    break
                continue
            if self.finished:
                pos = len(buf)
            else:
                pos = self.candidate(m, buf, base, pos, final)
                if self.reader is not None:
                    continue
                if pos < 0:
                    pos = -1 - pos
                elif not self.finished and pos < len(buf):
                    continue
            self.alive = base + pos if pos < len(buf) else None
            break
        if 0 < pos <= len(buf):
            self.last = buf[pos - 1]
        self.tail = buf[pos:]

    def read(self, m: Machine, buf: str, base: int, pos: int, final: bool) -> int:
        """Read on in the candidate. Returns where to go on; ``-1 - position`` after a fault."""
        reader = self.reader
        assert reader is not None
        try:
            end = reader.feed(buf, pos, final)
        except Fault as fault:
            self.reader = None
            self.text.append(buf[pos:])
            text = "".join(self.text)
            self.text = [text]
            known = text if fault.end else text[: fault.at - self.start]  # what comes later must not count
            if self.broken(reader, known, fault):
                self.results.append((self.start, -1, absolute(m, fault), self.outer))
                return self.skip(text, base + len(buf), fault)
            return -1 - (base + len(buf) if fault.end else fault.at)
        self.text.append(buf[pos:end])
        if reader.done:
            self.reader = None
            if self.skipping:
                self.skipping = False
                self.results[-1] = (*self.results[-1][:1], base + end, *self.results[-1][2:])
                return end
            self.complete(m, "".join(self.text), reader, base + end)
        return end

    def skip(self, text: str, now: int, fault: Fault) -> int:
        """Where to go on behind a broken call, as ``-1 - position``."""
        return -1 - (now if fault.end else fault.at)

    def candidate(self, m: Machine, buf: str, base: int, pos: int, final: bool) -> int:
        """Find the next candidate from ``pos``.

        Returns where to go on (with ``reader`` set if a candidate has begun), or ``-1 - i``: wait from ``i``.
        """
        raise NotImplementedError

    def broken(self, reader: LiteralReader, text: str, fault: Fault) -> bool:
        """Whether a broken candidate is a broken call rather than prose."""
        raise NotImplementedError

    def complete(self, m: Machine, text: str, reader: LiteralReader, end: int) -> None:
        """A candidate's value is complete."""
        raise NotImplementedError


class JsonFinder(Finder):
    """JSON values that have a call's shape, bare or fenced."""

    def candidate(self, m: Machine, buf: str, base: int, pos: int, final: bool) -> int:
        size = len(buf)
        start = self.spec.start
        self.tools = m.tools
        while pos < size:
            if start:
                # At the start of the output; behind a call "; " and the next one.
                skip = _SEPARATOR if self.results or self.any else WS
                i = skip.match(buf, pos).end()  # type: ignore[union-attr]
                if i == size:
                    return size if final else -1 - pos
                match = _JSON_START.match(buf, i)
                if match is None:
                    if not final and _FENCE_PART.match(buf, i):
                        return -1 - pos
                    return self.over(size)
            else:
                match = _JSON_START.search(buf, pos)
                if match is None:
                    ticks = 0 if final else min(size - pos, len(buf) - len(buf.rstrip("`")))
                    return -1 - (size - ticks) if ticks else size
            i = outer = match.start()
            if match.group() == "```":
                fence = _FENCE.match(buf, i)
                if fence is None or (fence.end() == size and not final):
                    if not final and _FENCE_PART.match(buf, i):
                        return -1 - i
                    if start:
                        return self.over(size)
                    pos = i + 3
                    continue
                i = fence.end()
                if i == size or buf[i] not in "{[":
                    if start:
                        return self.over(size)
                    pos = i
                    continue
            after = WS.match(buf, i + 1).end()  # type: ignore[union-attr]
            if after == size and not final and after - i <= LOOK:
                return -1 - outer
            if after == size or after - i > LOOK or buf[after] not in _AFTER[buf[i]]:
                if start:
                    return self.over(size)
                pos = i + 1
                continue
            self.start = base + i
            self.outer = base + outer
            shape = shapes.read(buf, i, base, self.spec.keys)
            if shape is None:
                self.reader = LiteralReader(JSON, base + i, depth=m.limits.depth)
                self.text = []
                return i
            self.note(m, shape[0], base + shape[1])
            pos = shape[1]
            if self.finished:
                return size
        return size

    any = False  # a call was found at the start already

    def over(self, size: int) -> int:
        """No call stands at the start of the text."""
        self.finished = True
        return size

    def broken(self, reader: LiteralReader, text: str, fault: Fault) -> bool:
        if self.spec.start:
            self.finished = True
        if text.startswith("["):
            return _LISTED.match(text[:4096]) is not None
        keys = [key for key, _, _ in reader.members]
        if reader.member is not None:
            keys.append(reader.member[0])
        if _WRAPPERS.isdisjoint(keys):
            spec = self.spec.keys
            known = {*spec.name, *spec.arguments, *spec.id, "type", "index"}
            if not any(key in spec.name for key in keys) or any(key not in known for key in keys):
                return False
            if self.tools is not None:
                for key, a, b in reader.members:
                    if key in spec.name:
                        return text[a - self.start + 1 : b - self.start - 1] in self.tools.names
        return True

    tools: ToolSet | None = None

    def complete(self, m: Machine, text: str, reader: LiteralReader, end: int) -> None:
        shape = shapes.read(text, 0, self.start, self.spec.keys)
        assert shape is not None, "the reader and the scanner disagree"
        self.note(m, shape[0], end)

    def note(self, m: Machine, shape: Any, end: int) -> None:
        """Note what a complete value is. A call of an undeclared tool is data."""
        tools = m.tools
        if shape is None or (self.spec.declared and tools is None) or (
            tools is not None and isinstance(shape, list) and any(f.name not in tools.names for f in shape)
        ):
            if self.spec.start:
                self.finished = True
            return
        self.any = True
        self.results.append((self.start, end, shape, self.outer))


class PythonFinder(Finder):
    """Call syntax: ``name(key=value, ...)``."""

    name = ""

    def candidate(self, m: Machine, buf: str, base: int, pos: int, final: bool) -> int:
        size = len(buf)
        while True:
            i = buf.find("(", pos)
            if i < 0:
                if final:
                    return size
                rest = buf[max(pos, size - m.limits.name) :]
                word = _REVERSED.match(rest[::-1]).end()  # type: ignore[union-attr]
                return -1 - (size - word) if word else size
            word = 0
            low = max(pos, i - m.limits.name)
            if i > low:
                word = _REVERSED.match(buf[low:i][::-1]).end()  # type: ignore[union-attr]
            name = buf[i - word : i]
            before = buf[i - word - 1] if i - word > 0 else self.last
            pos = i + 1
            if (
                not word
                or before
                and (before.isalnum() or before in "_.")
                or not _DOTTED.match(name)
                or (m.tools is not None and name not in m.tools.names)
            ):
                continue
            after = _PAREN.match(buf, pos)
            if not final and (after is None or after.end() == size and buf[-1] == "="):
                if _PAREN_PART.match(buf, pos) and size - i <= LOOK:
                    return -1 - (i - word)
            if after is None:
                continue
            self.name = name
            self.start = self.outer = base + i - word
            simple = scan_arguments(buf, pos)
            if simple is not None:
                arguments, json, pos = simple
                self.found(arguments, buf[i + 1 : pos - 1], json, base + pos)
                continue
            self.text = [buf[i - word : pos]]
            self.reader = LiteralReader(
                DIALECTS[self.spec.dialect], base + pos, depth=m.limits.depth, json_out=True, arguments=True
            )
            return pos

    def found(self, arguments: dict[str, Any], raw: str, json: str, end: int) -> None:
        """A complete call."""
        call = Found(self.name, arguments, raw, json)
        call.name_at = self.start
        call.span = (self.start, end)
        self.results.append((self.start, end, [call], self.start))

    def broken(self, reader: LiteralReader, text: str, fault: Fault) -> bool:
        return True

    def skip(self, text: str, now: int, fault: Fault) -> int:
        """The broken call reaches to the parenthesis that closes it."""
        if fault.end:
            return -1 - now
        skipper = Skipper()
        end = skipper.feed(text, len(self.name), False)
        if skipper.done:
            start, _, shape, outer = self.results[-1]
            self.results[-1] = (start, self.start + end, shape, outer)
            return -1 - (self.start + end)
        self.reader = skipper
        self.skipping = True
        return now

    def complete(self, m: Machine, text: str, reader: LiteralReader, end: int) -> None:
        self.found(reader.value, text[len(self.name) + 1 : -1], reader.take(), end)


class Skipper(LiteralReader):
    """Finds the bracket that closes what has begun, whatever stands between."""

    BRACKET = re.compile(r"[()\[\]{}]")

    def __init__(self) -> None:
        super().__init__(PYTHON, 0)
        self.depth = 0

    def feed(self, text: str, pos: int, final: bool = False) -> int:
        """Read on; returns the index behind what was consumed."""
        for match in self.BRACKET.finditer(text, pos):
            if match.group() in "([{":
                self.depth += 1
            else:
                self.depth -= 1
                if self.depth <= 0:
                    self.done = True
                    return match.end()
        return len(text)


DIALECTS = {"python": PYTHON, "pythonic": PYTHONIC}
FINDERS = {"json": JsonFinder, "python": PythonFinder}


class Tracker:
    """Holds the text that may be a call without markup."""

    def __init__(self, specs: tuple[Untagged, ...]) -> None:
        self.specs = specs
        self.finders: list[Finder] = [FINDERS[spec.tier](spec) for spec in specs]
        self.eager = specs[0].eager
        self.held: list[tuple[int, str]] = []
        self.end = -1
        self.after = False  # a call was given out, and only white space since
        self.known: tuple[int, int] | None = None

    def text(self, m: Machine, at: int, text: str) -> None:
        """Text between markup."""
        if at < 0:
            text = text[-at:]
            at = 0
        if not text:
            return
        if self.held and at != self.end:
            self.finish(m)
        if not self.held:
            self.known = None
        self.held.append((at, text))
        self.end = at + len(text)
        for finder in self.finders:
            finder.feed(m, text, at, False)
        if self.eager and self.ready():
            self.resolve(m, final=False)
        self.release(m, self.hold())
        if self.held:
            self.lines(m)  # as long as the machine has the text

    def lines(self, m: Machine) -> tuple[int, int]:
        """Line breaks before what is held, and where its line starts."""
        if self.known is None:
            at = self.held[0][0]
            line, column = m.where(at)
            self.known = (line - 1, at - column + 1)
        return self.known

    def blank(self) -> bool:
        """Whether nothing but white space came since the last call."""
        return self.after and not any(text.strip(" \t\r\n;") for _, text in self.held)

    def inside(self) -> bool:
        """Whether the text so far ends inside a candidate."""
        return self.finders[0].reader is not None

    def hold(self) -> int:
        """From where text has to be withheld."""
        holds = [finder.hold for finder in self.finders if finder.hold is not None]
        return min(holds, default=self.end)

    def ready(self) -> bool:
        """Whether a result can be given out before the text is over."""
        finder = self.finders[0]
        if not finder.results or finder.reader is not None:
            return False
        start, end, _, outer = finder.results[-1]
        if end < 0:
            return False  # how far a broken call reaches is known at the end
        if outer != start:
            text = "".join([text for _, text in self.held])
            behind = text[end - self.held[0][0] :]
            return not _FENCE_END_PART.match(behind)
        return True

    def release(self, m: Machine, upto: int, *, final: bool = False) -> None:
        """Give out the held text before ``upto``; white space behind a call waits for what follows it."""
        held = self.held
        if self.after:
            text = "".join([text for at, text in held if at < upto])
            if held and not text[: upto - held[0][0]].strip(" \t\r\n;"):
                if not final:
                    return
                for at, text in held:
                    m.sep_at(at, at + len(text))
                held.clear()
                return
            if held and upto > held[0][0]:
                self.after = m.after_markup = False
        done = 0
        for at, text in held:
            if at >= upto:
                break
            piece = text if at + len(text) <= upto else text[: upto - at]
            newlines = piece.count("\n")
            if newlines and self.known is not None:
                self.known = (self.known[0] + newlines, at + piece.rfind("\n") + 1)
            m.put(0, at, piece)
            if len(piece) < len(text):
                held[done] = (upto, text[len(piece) :])
                break
            done += 1
        del held[:done]

    def tagged(self, m: Machine) -> None:
        """A tagged call was found: in detection what is held is text, and nothing untagged counts any more."""
        if self.eager:
            self.finish(m)
        else:
            self.release(m, self.end)
        m.tracker = None

    def drop(self, m: Machine) -> None:
        """Reasoning begins or ends here: in detection what is held is text; begin anew behind it."""
        if self.eager:
            self.finish(m)
            return
        self.release(m, self.end)
        self.finders = [FINDERS[spec.tier](spec) for spec in self.specs]

    def finish(self, m: Machine) -> None:
        """The text is over: what was found counts, of the first tier that found anything."""
        if not self.held:
            return
        for finder in self.finders:
            finder.feed(m, "", self.end, True)
        self.resolve(m, final=True)
        self.finders = [FINDERS[spec.tier](spec) for spec in self.specs]

    def resolve(self, m: Machine, *, final: bool) -> None:
        """Give out the results of the first finder that has any, and the text around them."""
        finder = next((f for f in self.finders if f.results), None)
        if finder is None:
            self.release(m, self.end, final=True)
            return
        results = finder.results
        finder.results = []
        text = "".join([text for _, text in self.held])
        origin = self.held[0][0]
        at = origin  # how far the text is given out
        m.fmt = finder.spec.format_id
        lines = self.lines(m)
        for n, (start, end, shape, outer) in enumerate(results):
            self.between(m, text[at - origin : outer - origin], at)
            if isinstance(shape, Fault):
                if end < 0:
                    end = results[n + 1][3] if n + 1 < len(results) else self.end
                m.index += 1
                m.name = None
                m.report(shape, (outer, end), True, (text, origin, *lines))
                at = end
                continue
            m.sep_at(outer, start)
            last = start
            for k, found in enumerate(shape):
                # The spans of a list's calls are widened so that together they cover it.
                stop = end if k == len(shape) - 1 or found.span is None else found.span[1]
                m.index += 1
                m.check_index(last)
                m.started = False
                m.finish(found, (last, stop), (text, origin, *lines))
                last = stop
            at = end
            if outer != start:
                fence = _FENCE_END.match(text, end - origin)
                if fence is not None:
                    at = origin + fence.end()
                    m.sep_at(end, at)
        rest = text[at - origin :]
        newlines = text.count("\n", 0, at - origin)
        if newlines:
            self.known = (lines[0] + newlines, origin + text.rfind("\n", 0, at - origin) + 1)
        m.after_markup = self.after = True
        self.held = [(at, rest)] if rest else []
        if final:
            self.held = []
            self.between(m, rest, at)

    def between(self, m: Machine, text: str, at: int) -> None:
        """Text around calls: white space behind a call is a separator."""
        if not text:
            return
        if (m.calls or m.errors) and (self.after or at > self.held[0][0] if self.held else True) and not text.strip(" \t\r\n;"):
            m.sep_at(at, at + len(text))
        else:
            m.put(0, at, text)


def look(m: Machine) -> None:
    """Look for calls without markup in a complete output that has no others. Same as a tracker from the start."""
    specs = m.plan.untagged
    if not any(possible(part.text, specs) for part in m.parts if isinstance(part, TextPart)):
        return
    parts = m.parts
    m.parts = []
    tracker = m.tracker = Tracker(specs)
    for part in parts:
        if isinstance(part, TextPart):
            assert part.span is not None
            tracker.text(m, part.span[0], part.text)
        else:
            tracker.drop(m)
            m.flush()
            m.parts.append(part)
    tracker.finish(m)
    m.tracker = None
    m.flush()


def possible(text: str, specs: tuple[Untagged, ...]) -> bool:
    """Whether a text can hold a call at all."""
    if "{" in text and ('"name"' in text or '"tool_calls"' in text or "\\u" in text):
        return True
    return len(specs) > 1 and "(" in text
