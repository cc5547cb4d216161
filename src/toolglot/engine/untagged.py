"""Calls without markup: JSON shapes and call syntax in the text. Whole and streamed by the same finders.

A finder is fed the text between markup. ``hold`` is the absolute position from which text may still turn out to be
a call (or has): the tracker gives out what stands before it and keeps the rest. In detection nothing is decided
before the end of the text, since a tagged call further on wins; with an explicit format (``eager``) each call is
given out when it is complete.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..errors import Fault
from ..types import TextPart
from ..values.gather import gather
from .finders import FINDERS, Finder, ListFinder
from .machine import Machine
from .output import NEVER

if TYPE_CHECKING:
    from .entries import Untagged

_SOLID = re.compile(r"[^ \t\r\n;]")
# What closes a fence; with a language behind it, it opens one.
_FENCE_END = re.compile(r"[ \t\r\n]{0,64}```(?![\w+-]{1,20}[ \t]{0,64}\r?\n)")
_FENCE_END_PART = re.compile(r"[ \t\r\n]{0,64}(?:`{0,2}|```(?:[\w+-]{1,20}[ \t]{0,64}\r?)?)\Z")


class Tracker:
    """Holds the text that may be a call without markup."""

    def __init__(self, specs: tuple[Untagged, ...]) -> None:
        self.specs = specs
        self.finders: list[Finder] = [FINDERS[spec.tier](spec) for spec in specs]
        self.eager = specs[0].eager
        self.held: list[str] = []  # without gaps, from `at` to `end`
        self.at = self.end = -1
        self.solid: int | None = None  # what is held is blank before this position; None: all of it
        self.after = False  # a call was given out, and only white space since
        self.before = specs[0].before
        self.led = (-1, -1)
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
            self.known = self.solid = None
            self.at = at
        if self.solid is None and (first := _SOLID.search(text)) is not None:
            self.solid = at + first.start()
        gather(self.held, text)
        self.end = at + len(text)
        for finder in self.finders:
            finder.feed(m, text, at, False)
        if self.eager and self.ready():
            self.resolve(m, final=False)
        upto = self.hold()
        self.release(m, self.lead_in(upto) if self.before else upto)
        if self.held:
            self.lines(m)  # as long as the machine has the text

    def lead_in(self, upto: int) -> int:
        """Where what the template writes before a call begins, if the text before ``upto`` may end in it."""
        if upto == self.led[0]:
            return self.led[1]  # while a candidate is read, the text before it stays the same
        tail = self.behind(upto - max(map(len, self.before)))
        tail = tail[: len(tail) - self.end + upto]
        for i in range(len(tail)):
            if any(before.startswith(tail[i:]) for before in self.before):
                self.led = (upto, upto - len(tail) + i)
                return self.led[1]
        self.led = (upto, upto)
        return upto

    def behind(self, at: int) -> str:
        """What is held from a position on, looking only at that."""
        start = self.end
        n = len(self.held)
        while n and start > at:
            n -= 1
            start -= len(self.held[n])
        return "".join(self.held[n:])[max(0, at - start) :]

    def lines(self, m: Machine) -> tuple[int, int]:
        """Line breaks before what is held, and where its line starts."""
        if self.known is None:
            line, column = m.where(self.at)
            self.known = (line - 1, self.at - column + 1)
        return self.known

    def blank(self) -> bool:
        """Whether nothing but white space came since the last call."""
        return self.after and self.solid is None

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
            return not _FENCE_END_PART.match(self.behind(end))
        return True

    def release(self, m: Machine, upto: int, *, final: bool = False) -> None:
        """Give out the held text before ``upto``; white space behind a call waits for what follows it."""
        held = self.held
        if self.after and held:
            if self.solid is None or self.solid >= upto:
                if not final:
                    return
                m.sep_at(self.at, self.end)
                held.clear()
                return
            if upto > self.at:
                self.after = m.after_markup = False
        done = 0
        for text in held:
            at = self.at
            if at >= upto:
                break
            piece = text if at + len(text) <= upto else text[: upto - at]
            newlines = piece.count("\n")
            if newlines and self.known is not None:
                self.known = (self.known[0] + newlines, at + piece.rfind("\n") + 1)
            m.put(0, at, piece)
            self.at += len(piece)
            if len(piece) < len(text):
                held[done] = text[len(piece) :]
                break
            done += 1
        del held[:done]
        self.skip_blank()

    def skip_blank(self) -> None:
        """What was not blank may have been given out: look for what is not, behind it."""
        if self.solid is None or self.solid >= self.at:
            return
        at = self.at
        for text in self.held:
            first = _SOLID.search(text)
            if first is not None:
                self.solid = at + first.start()
                return
            at += len(text)
        self.solid = None

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
        finder = None
        for candidate in self.finders:
            if candidate.results:
                finder = candidate
                break
            if isinstance(candidate, ListFinder) and candidate.list_at >= 0:
                break  # the list is prose as a whole
        if finder is None:
            self.release(m, self.end, final=True)
            return
        results = finder.results
        finder.results = []
        text = "".join(self.held)
        origin = self.at
        at = origin  # how far the text is given out
        m.fmt = finder.spec.format_id
        lines = self.lines(m)
        for n, (start, end, shape, outer) in enumerate(results):
            fenced = outer != start
            outer = max(outer, at)  # its fence may have closed the call before
            gap = text[at - origin : outer - origin]
            if self.before:
                lead = max((len(b) for b in self.before if gap.endswith(b)), default=0)
                gap = gap[: len(gap) - lead]
                m.sep_at(outer - lead, outer)
            self.between(m, gap, at)
            if isinstance(shape, Fault):
                known = end >= 0
                if not known:
                    end = results[n + 1][3] if n + 1 < len(results) else self.end
                m.index += 1
                m.name = m.id = None
                m.value_at = start if finder.spec.tier == "json" else None
                m.value_keys = finder.spec.keys.arguments
                # What another call or a tag interrupts is over, however the output ends.
                at_end = m.final and n + 1 == len(results) and self.end >= m.base + len(m.buf)
                m.open_end = not known and at_end
                m.report(shape, (outer, end), True, (text, origin, *lines))
                m.open_end = False
                at = end
                if not known:
                    continue
            else:
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
            if fenced:
                fence = _FENCE_END.match(text, end - origin)
                if fence is not None:
                    at = origin + fence.end()
                    m.sep_at(end, at)
        rest = text[at - origin :]
        newlines = text.count("\n", 0, at - origin)
        if newlines:
            self.known = (lines[0] + newlines, origin + text.rfind("\n", 0, at - origin) + 1)
        m.after_markup = self.after = True
        self.held = [rest] if rest and not final else []
        self.at = at
        self.skip_blank()
        if final:
            self.between(m, rest, at)

    def between(self, m: Machine, text: str, at: int) -> None:
        """Text around calls: white space behind a call is a separator."""
        if not text:
            return
        if (m.calls or m.errors) and (self.after or at > self.at if self.held else True) and not text.strip(" \t\r\n;"):
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
    opened = m.thought_at  # in reasoning that has no text, too
    for part in parts:
        if part.span is not None and part.span[0] >= opened > NEVER:
            tracker.drop(m)
            opened = NEVER
        if isinstance(part, TextPart):
            assert part.span is not None
            tracker.text(m, part.span[0], part.text)
        else:
            tracker.drop(m)
            m.flush()
            m.parts.append(part)
    if opened > NEVER:
        tracker.drop(m)
    tracker.finish(m)
    m.tracker = None
    m.flush()


def possible(text: str, specs: tuple[Untagged, ...]) -> bool:
    """Whether a text can hold a call at all."""
    if "{" in text and (
        specs[0].named is not None or '"name"' in text or '"tool_calls"' in text or '"function' in text or "\\u" in text
    ):
        return True
    return len(specs) > 1 and "(" in text
