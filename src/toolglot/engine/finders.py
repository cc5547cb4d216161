"""Finders look for calls without markup in text that arrives in pieces: one for JSON, two for call syntax."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

from ..definition import ToolSet
from ..errors import Fault
from ..values.dialect import JSON, PYTHON, PYTHONIC
from ..values.gather import gather
from ..values.json import scan
from ..values.literal import LiteralReader
from ..values.simple import scan_arguments
from . import shapes
from .machine import Found, Machine
from .ops import DOTTED, LOOK, PAREN, PAREN_PART, WS, partial
from .valueops import absolute

if TYPE_CHECKING:
    from .entries import Untagged

_JSON_START = re.compile(r"```|[{\[]")
_FENCE = re.compile(r"```[\w+-]{0,20}[ \t]{0,64}\r?\n[ \t\r\n]{0,64}")
_FENCE_PART = re.compile(r"`{1,2}\Z|```[\w+-]{0,20}[ \t]{0,64}\r?(?:\n[ \t\r\n]{0,64})?\Z")
_SEPARATOR = re.compile(r"[ \t\r\n]*;?[ \t\r\n]*")
_AFTER = {"{": '"}', "[": '{"[]-0123456789tfn'}
_WRAPPERS = frozenset(("function", "tool_calls", "function_call"))
_REVERSED = re.compile(r"[A-Za-z0-9_.]*")

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
        self.again = ("", 0)  # behind a broken candidate: the text to read on in, and where that stands
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
            if self.begun():
                new = self.read(m, buf, base, pos, final)
                if new < 0:  # broken: read on from the fault
                    buf, base = self.again
                    pos = max(-1 - new, self.start + 1) - base
                    continue
                pos = new
                if self.begun():
                    self.alive = self.outer
                    break
                continue
            if self.finished:
                pos = len(buf)
            else:
                pos = self.candidate(m, buf, base, pos, final)
                if self.begun():
                    continue
                if pos < 0:
                    pos = -1 - pos
                elif pos < len(buf) and not self.over_already():
                    continue
            self.alive = base + pos if pos < len(buf) else None
            break
        if 0 < pos <= len(buf):
            self.last = buf[pos - 1]
        self.tail = buf[pos:]

    def over_already(self) -> bool:
        """Whether nothing more is looked for."""
        return self.finished

    def begun(self) -> bool:
        """Whether a candidate is being read."""
        return self.reader is not None

    def read(self, m: Machine, buf: str, base: int, pos: int, final: bool) -> int:
        """Read on in the candidate. Returns where to go on; ``-1 - position`` after a fault."""
        reader = self.reader
        assert reader is not None
        try:
            end = reader.feed(buf, pos, final)
        except Fault as fault:
            m.stumble()
            self.reader = None
            now = base + len(buf)
            if self.start < base:  # it began in an earlier piece
                self.text.append(buf[pos:])
                buf, base = "".join(self.text), self.start
            self.again = (buf, base)
            begun = self.start
            known = buf[begun - base : None if fault.end else fault.at - base]  # what comes later must not count
            if self.broken(reader, known, fault):
                self.results.append((self.start, -1, absolute(m, fault), self.outer))
                return self.skip(buf, begun - base, now, fault)
            return -1 - (now if fault.end else fault.at)
        gather(self.text, buf[pos:end])
        if reader.done:
            self.reader = None
            if self.skipping:
                self.skipping = False
                self.results[-1] = (*self.results[-1][:1], base + end, *self.results[-1][2:])
                return end
            self.complete(m, "".join(self.text), reader, base + end)
        return end

    def skip(self, text: str, pos: int, now: int, fault: Fault) -> int:
        """Where to go on behind the broken call at ``text[pos]``, as ``-1 - position``; ``now`` is the text's end."""
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


@cache
def _listed(names: tuple[str, ...]) -> Any:
    """What the beginning of a list of calls looks like."""
    keys = "|".join(map(re.escape, (*names, "function", "tool_calls", "function_call")))
    return re.compile(rf'\[[ \t\r\n]*\{{.*"(?:{keys})"[ \t\r\n]*:', re.DOTALL).match


class JsonFinder(Finder):
    """JSON values that have a call's shape, bare or fenced."""

    def candidate(self, m: Machine, buf: str, base: int, pos: int, final: bool) -> int:
        size = len(buf)
        start = self.spec.start
        self.tools = m.tools
        if self.spec.single and m.calls:
            self.finished = True
            return size
        while pos < size:
            if start:
                # At the start of the output; behind a call "; " and the next one.
                skip = _SEPARATOR if self.results or self.any else WS
                i = skip.match(buf, pos).end()  # type: ignore[union-attr]
                if i == size:
                    return size if final else -1 - pos
                for text in () if self.any else self.spec.before:
                    if not final and partial((text,), buf, i):
                        return -1 - pos
                    if buf.startswith(text, i):
                        after = i + len(text)
                        i = WS.match(buf, after).end()  # type: ignore[union-attr]
                        if i - after > LOOK:
                            return self.over(size)
                        if i == size and not final:
                            return -1 - pos
                        break
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
            shape = None if m.wary else shapes.read(buf, i, base, self.spec.keys, m.limits.depth)
            if shape is None:
                self.reader = LiteralReader(JSON, base + i, depth=m.limits.depth)
                self.text = []
                return i
            self.note(m, shape[0], base + shape[1], buf[i : shape[1]])
            pos = shape[1]
            if self.finished:
                return size
        return size

    any = False  # a call was found at the start already

    def over(self, size: int) -> int:
        """No call stands at the start of the text."""
        self.finished = True
        if self.bare:  # something follows what would have been the arguments
            self.results.clear()
        return size

    def broken(self, reader: LiteralReader, text: str, fault: Fault) -> bool:
        if self.spec.start:
            self.finished = True
        if self.spec.declared and self.tools is None:
            return False  # as a complete one
        names = self.spec.keys.name
        if not shapes.may_hold_call(text) and not any(f'"{name}"' in text for name in names):
            return False
        items = reader.value if text.startswith("[") else [reader.value]
        if not all(isinstance(item, dict) for item in items):
            return False  # a list of calls holds nothing else
        keys = {key for item in items for key in item}
        if reader.last_key is not None:
            keys.add(reader.last_key)
        spec = self.spec.keys
        if _WRAPPERS.isdisjoint(keys) and spec.wrapper not in keys:
            known = {*spec.name, *spec.arguments, *spec.id, "type", "index"}
            loose = any(item.get("type") == "tool_use" for item in items)
            if keys.isdisjoint(spec.name) or not (loose or keys <= known):
                return False
            if self.tools is not None:
                for key, a, b in reader.members:
                    if key in spec.name:
                        return text[a - self.start + 1 : b - self.start - 1] in self.tools.names
        return True

    tools: ToolSet | None = None

    def complete(self, m: Machine, text: str, reader: LiteralReader, end: int) -> None:
        shape = shapes.read(text, 0, self.start, self.spec.keys, m.limits.depth)
        assert shape is not None, "the reader and the scanner disagree"
        self.note(m, shape[0], end, text)

    bare = False  # the arguments of the tool that was asked for, nothing else

    def note(self, m: Machine, shape: Any, end: int, text: str) -> None:
        """Note what a complete value is. A call of an undeclared tool is data."""
        tools = m.tools
        if shape is None and self.spec.named is not None and text.startswith("{") and not self.any:
            value = scan(text, 0, m.limits.depth)
            assert value is not None
            call = Found(self.spec.named, value[0], text, text)
            call.name_at = self.start
            call.span = (self.start, end)
            shape = [call]
            self.bare = True
        if (
            shape is None
            or (self.spec.declared and tools is None)
            or (tools is not None and isinstance(shape, list) and any(f.name not in tools.names for f in shape))
        ):
            if self.spec.start:
                self.finished = True
            return
        self.any = True
        self.results.append((self.start, end, shape, self.outer))
        if self.spec.single:
            self.finished = True


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
                or (before and (before.isalnum() or before in "_."))
                or not DOTTED.fullmatch(name)
                or (m.tools is not None and name not in m.tools.names)
            ):
                continue
            after = PAREN.match(buf, pos)
            if not final and (after is None or (after.end() == size and buf[-1] == "=")) and PAREN_PART.match(buf, pos):
                return -1 - (i - word)
            if after is None:
                continue
            self.name = name
            self.start = self.outer = base + i - word
            simple = scan_arguments(buf, pos, depth=m.limits.depth)
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

    def skip(self, text: str, pos: int, now: int, fault: Fault) -> int:
        """The broken call reaches to the parenthesis that closes it."""
        if fault.end:
            return -1 - now
        skipper = Skipper()
        end = skipper.feed(text, pos + len(self.name), False)
        if skipper.done:
            start, _, shape, outer = self.results[-1]
            end += self.start - pos
            self.results[-1] = (start, end, shape, outer)
            return -1 - end
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


class ListFinder(PythonFinder):
    """A list of calls at the start of the output, which is one unit: until its ``]`` none was made."""

    def __init__(self, spec: Untagged) -> None:
        super().__init__(spec)
        self.list_at = -1
        self.calls: list[Found] = []
        self.prose = False
        self.behind = False  # a call was read, and a comma or the end has to follow

    @property
    def hold(self) -> int | None:
        if not self.results and self.list_at >= 0 and not self.finished:
            return self.list_at
        return super().hold

    def candidate(self, m: Machine, buf: str, base: int, pos: int, final: bool) -> int:
        size = len(buf)
        if m.tools is None:
            self.finished = True
            return size
        while True:
            start = pos
            i = WS.match(buf, pos).end()  # type: ignore[union-attr]
            if i == size:
                if self.list_at < 0:
                    return -1 - start
                return self.over(m, base + size, True) if final else size  # it is held with the list
            if self.list_at < 0:
                if buf[i] != "[":
                    return self.over(m, base + i, False)
                after = _ITEM.match(buf, i + 1, i + 1 + LOOK)
                if after is None:
                    if not final and _ITEM_PART.match(buf, i + 1) and size - i <= LOOK:
                        return -1 - start
                    return self.over(m, base + i, False)
                if after.group(1) not in m.tools.names:
                    return self.over(m, base + i, False)
                self.list_at = self.start = self.outer = base + i
                pos = i + 1
                continue
            if self.behind:
                if buf[i] == ",":
                    self.behind = False
                    pos = i + 1
                    continue
                if buf[i] == "]":
                    self.finished = True
                    if not self.prose:
                        self.results.append((self.list_at, base + i + 1, self.calls, self.list_at))
                    return size
                return self.fault(m, base + i, buf[i])
            if buf[i] == "]" and self.calls:
                self.behind = True
                continue
            item = _ITEM.match(buf, i, i + 1 + LOOK)
            if item is None:
                if not final and _ITEM_PART.match(buf, i) and size - i <= LOOK:
                    return -1 - start
                return self.fault(m, base + i, buf[i])
            self.name = item.group(1)
            self.item_at = base + i
            self.prose = self.prose or self.name not in m.tools.names
            pos = item.end()
            simple = scan_arguments(buf, pos, depth=m.limits.depth)
            if simple is not None:
                arguments, json, end = simple
                self.found(arguments, buf[pos : end - 1], json, base + end)
                pos = end
                continue
            self.text = [buf[i:pos]]
            self.start = base + i
            self.reader = LiteralReader(PYTHONIC, base + pos, depth=m.limits.depth, json_out=True, arguments=True)
            return pos

    item_at = 0

    def found(self, arguments: dict[str, Any], raw: str, json: str, end: int) -> None:
        call = Found(self.name, arguments, raw, json)
        call.name_at = self.item_at
        call.span = (self.item_at, end)
        self.calls.append(call)
        self.behind = True

    def fault(self, m: Machine, at: int, char: str) -> int:
        """Something else than a call or a comma."""
        fault = Fault("tool_call.expected_comma", at, f"expected ',' or ']' in a list of calls, found {char!r}")
        return self.over(m, at, False, fault)

    def over(self, m: Machine, at: int, ended: bool, fault: Fault | None = None) -> int:
        """There is no list, or it is broken."""
        self.finished = True
        if self.list_at >= 0 and (not self.prose or ended):
            code = "tool_call.truncated" if m.cut else "tool_call.unexpected_end"
            fault = fault or Fault(code, at, "the text ends inside a list of calls", "']'", True)
            self.results.append((self.list_at, -1, fault, self.list_at))
        return 1 << 60

    def broken(self, reader: LiteralReader, text: str, fault: Fault) -> bool:
        self.finished = True
        self.start = self.outer = self.list_at
        return not self.prose or fault.end

    def skip(self, text: str, pos: int, now: int, fault: Fault) -> int:
        return -1 - now


_ITEM = re.compile(r"[ \t\r\n]*([A-Za-z_][A-Za-z0-9_.]*)\(")
_ITEM_PART = re.compile(r"[ \t\r\n]*(?:[A-Za-z_][A-Za-z0-9_.]*)?\Z")


DIALECTS = {"python": PYTHON, "pythonic": PYTHONIC}
FINDERS: dict[str, type[Finder]] = {"json": JsonFinder, "list": ListFinder, "python": PythonFinder}
