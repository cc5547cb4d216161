"""What one run has at hand and what it has said: the text that is not yet consumed, parts, separators, events.

Positions that outlive one operation are absolute (code points from the start of the output; negative in the
prompt), because what was consumed is cut off ``buf`` at the next feed: ``base`` is the position of ``buf[0]``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from io import SEEK_END, StringIO
from typing import TYPE_CHECKING, Any

from ..events import Event, ReasoningDelta, ReasoningReclassified, TextDelta
from ..types import Message, Part, ReasoningPart, Repair, Span, StopReason, TextPart, ToolCall
from ..values.gather import gather
from .ranges import Ranges

if TYPE_CHECKING:
    from ..errors import ParseError
    from .plan import Plan

__all__ = ["NEVER", "Held", "Output", "Stop"]

# No position: what is searched from there is searched from where reading stands.
NEVER = -(1 << 60)
_WHITE: Any = re.compile(r"[ \t\r\n]*").match
Held = tuple[str, int, int, int]  # text, where it stands, line breaks before it, where its line starts


class Stop(Exception):
    """Ends a probe: what it reads is not just calls."""


class Output:
    """The text of a run and what was found in it; `Machine` reads it."""

    # Defaults live on the class: creating a machine costs what it sets.
    buf: str = ""
    pos: int = 0
    base: int = 0
    final: bool = False
    stop: StopReason | None = None  # why the model stopped, where the text does not say it
    live: bool = False
    events: list[Event]
    blank: list[tuple[int, str]]
    notes: tuple[str, ...] = ()
    scan: int = NEVER  # how far text was searched for markup (absolute)
    # the text that is said
    run_kind: int = -1
    run_start: int = 0
    run_end: int = 0
    said: bool = False
    thought: bool = False
    thought_at: int = NEVER  # the last tag that opened reasoning
    after_markup: bool = True
    ws_to: int = NEVER
    tracker: Any = None
    white: Span = (NEVER, NEVER)  # white space that was looked at last
    plain: Ranges | None = None  # text that holds no control tokens: literals of them are data there
    rereads: int | None = None  # from where reasoning may be read again
    sep_break: int = -1  # an error stands here: separators around it stay apart
    probe: bool = False
    bad: int | None = None
    # what is kept of consumed text, and lines
    prev: str = ""  # the last character that was cut off and is no blank
    kept: StringIO | None = None
    kept_from: int = 0
    kept_lines: int = 0
    kept_line_start: int = 0
    _kept_skip: int = 0
    lines: int = 0
    line_start: int = 0
    mark: tuple[int, int, int] | None = None  # where `where` has counted to: position, lines, line start

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.calls: list[ToolCall] = []
        self.errors: list[ParseError] = []
        self.repairs: list[Repair] = []
        self.separators: list[Span] = []
        self.parts: list[Part] = []
        self.pieces: list[str] = []

    def give_events(self) -> None:
        """Events are wanted."""
        self.live = True
        self.events = []
        self.blank = []

    def note(self, text: str) -> None:
        """Add a remark."""
        self.notes = (*self.notes, text)

    def white_to(self, pos: int) -> int:
        """Where the white space at ``buf[pos]`` ends. What was looked at before is not looked at again."""
        at = self.base + pos
        begun, known = self.white
        end: int = _WHITE(self.buf, known - self.base if begun <= at < known else pos).end()
        self.white = (at, self.base + end)
        return end

    # -- text --------------------------------------------------------------------------------------------------

    def content(self, i: int, j: int) -> None:
        """``buf[i:j]`` is content."""
        if i < j:
            if self.tracker is not None:
                self.tracker.text(self, self.base + i, self.buf[i:j])
            else:
                self.put(0, self.base + i, self.buf[i:j])

    def reasoning(self, i: int, j: int) -> None:
        """``buf[i:j]`` is reasoning."""
        if i < j:
            self.put(1, self.base + i, self.buf[i:j])

    def put(self, kind: int, at: int, text: str) -> None:
        """Content (0) or reasoning (1) that stands at ``at``."""
        if at < 0:  # the prompt's own text
            text = text[-at:]
            at = 0
            if not text:
                return
        end = at + len(text)
        if self.run_kind == kind and self.run_end == at:
            self.run_end = end
            gather(self.pieces, text)
        else:
            if self.run_kind >= 0:
                self.flush()
            self.run_kind = kind
            self.run_start = at
            self.run_end = end
            self.pieces.append(text)
        if kind == 0:
            if self.said:
                if self.live:
                    self.events.append(TextDelta(text, (at, end)))
            elif text.isspace():
                if self.live:
                    self.blank.append((at, text))
                return
            else:
                self.said = True
                if self.live:
                    for start, blank in self.blank:
                        self.events.append(TextDelta(blank, (start, start + len(blank))))
                    self.blank.clear()
                    self.events.append(TextDelta(text, (at, end)))
            if self.probe and not text.isspace():
                self.bad = at + len(text) - len(text.lstrip())
                raise Stop
        else:
            self.thought = True
            if self.live:
                self.events.append(ReasoningDelta(text, (at, end)))

    def flush(self) -> None:
        """Close the current run of text."""
        if self.run_kind >= 0:
            text = self.pieces[0] if len(self.pieces) == 1 else "".join(self.pieces)
            span = (self.run_start, self.run_end)
            self.parts.append(TextPart(text, span) if self.run_kind == 0 else ReasoningPart(text, span))
            self.pieces.clear()
            self.run_kind = -1

    def reclassify(self, at: int) -> None:
        """A closer stands at ``at`` for reasoning that was never opened: the text before it is reasoning."""
        self.flush()
        start = None
        behind = self.sep_break  # text before an error stays what it is
        for i in range(len(self.parts) - 1, -1, -1):
            part = self.parts[i]
            if not isinstance(part, TextPart) or part.span is None or part.span[0] < behind:
                break
            self.parts[i] = ReasoningPart(part.text, part.span)
            start = part.span[0]
        if start is not None:
            self.thought = True
            if self.live:
                while self.blank and self.blank[-1][0] >= start:
                    self.blank.pop()
                self.events.append(ReasoningReclassified((start, at)))

    # -- literals ----------------------------------------------------------------------------------------------

    def no_tokens(self, a: int, b: int) -> None:
        """The caller says that the text from ``a`` to ``b``, which comes next, holds no control tokens."""
        plain = self.plain
        if plain is None:
            plain = self.plain = Ranges()
        plain.add(a, b)
        oldest = self.base if self.kept is None else min(self.base, self.kept_from)
        plain.forget(oldest if self.rereads is None else min(oldest, self.rereads))

    def is_data(self, i: int, literal: str) -> bool:
        """Whether the literal that stands at ``buf[i]`` is data: a control token in it touches text without any."""
        return self.plain is not None and self.is_data_at(self.base + i, literal)

    def is_data_at(self, at: int, literal: str) -> bool:
        """The same with an absolute position."""
        plain = self.plain
        return plain is not None and any(plain.touch(at + a, at + b) for a, b in self.plan.tokens(literal))

    def stands(self, texts: tuple[str, ...], i: int) -> bool:
        """Whether one of these literals stands at ``buf[i]``, as markup."""
        return self.buf.startswith(texts, i) and (self.plain is None or bool(self.standing(texts, i)))

    def standing(self, texts: tuple[str, ...], i: int) -> str:
        """The first of these literals that stands at ``buf[i]``, as markup; empty if none does."""
        for text in texts:
            if self.buf.startswith(text, i) and not self.is_data(i, text):
                return text
        return ""

    def find(self, search: Callable[..., re.Match[str] | None], i: int, *end: int) -> re.Match[str] | None:
        """The first literal from ``buf[i]`` on that a search for literals finds and that is no data."""
        match = search(self.buf, i, *end)
        if self.plain is not None:
            while match is not None and self.is_data(match.start(), match.group()):
                match = search(self.buf, match.start() + 1, *end)
        return match

    def find_text(self, literal: str, i: int) -> int:
        """The same for one literal: its index, or -1."""
        i = self.buf.find(literal, i)
        if self.plain is not None:
            while i >= 0 and self.is_data(i, literal):
                i = self.buf.find(literal, i + 1)
        return i

    # -- markup ------------------------------------------------------------------------------------------------

    def past(self, i: int, j: int) -> None:
        """``buf[i:j]`` was markup: go on behind it."""
        self.sep(i, j)
        self.pos = j
        self.scan = NEVER
        self.ws_to = NEVER
        self.after_markup = True

    def sep(self, i: int, j: int) -> None:
        """``buf[i:j]`` is markup that belongs to no part."""
        self.sep_at(self.base + i, self.base + j)

    def sep_at(self, a: int, b: int) -> None:
        """The same with absolute positions."""
        a = max(a, 0)
        if a < b:
            seps = self.separators
            if seps and seps[-1][0] == b and b != self.sep_break:
                b = seps.pop()[1]  # what was held comes behind what follows it
            if seps and seps[-1][1] == a and a != self.sep_break:
                seps[-1] = (seps[-1][0], b)
            else:
                seps.append((a, b))

    def cut_separators(self, at: int) -> None:
        """Take back the separators from ``at`` on: they belong to a broken region."""
        seps = self.separators
        while seps and seps[-1][1] > at:
            a, _ = seps.pop()
            if a < at:
                seps.append((a, at))
                break

    # -- what was consumed -------------------------------------------------------------------------------------

    def keep(self, i: int) -> None:
        """Keep the text from ``buf[i]`` on, for an error's ``raw`` and the arguments' own characters."""
        self.kept = StringIO()
        self.kept.write("")
        self.kept_from = self.base + i
        line, column = self.where(self.kept_from)
        self.kept_lines = line - 1
        self.kept_line_start = max(self.kept_from, 0) - column + 1
        # `feed` writes buf[:pos]; what lies before i is not part of it.
        self._kept_skip = i

    def region(self, a: int, b: int) -> str:
        """The text between two absolute positions of the call being read."""
        base = self.base
        if a >= base:
            return self.buf[a - base : b - base]
        kept = self.kept
        assert kept is not None
        start = self._kept_skip + a - self.kept_from
        size = min(b, base) - a
        if 2 * size > base - self.kept_from:
            text = kept.getvalue()[start : start + size]
        else:  # a list of calls asks for each call: read no more than that
            kept.seek(start)
            text = kept.read(size)
            kept.seek(0, SEEK_END)
        return text + self.buf[: b - base] if b > base else text

    def _kept_text(self) -> str:
        assert self.kept is not None
        return self.kept.getvalue()[self._kept_skip :] + self.buf

    def rewind(self) -> None:
        """Have the text of the call being read at hand again, all of it."""
        text = self._kept_text()
        self.buf = text
        self.base = self.kept_from
        self.lines = self.kept_lines
        self.line_start = self.kept_line_start
        self.mark = None

    def where(self, at: int, held: Held | None = None) -> tuple[int, int]:
        """Line and column, from 1, of an absolute position that is not before what is kept."""
        at = max(at, 0)
        if held is not None:
            text, origin, lines, start = held
        elif at >= self.base:
            text, origin, lines, start = self.buf, self.base, self.lines, self.line_start
        else:
            text, origin, lines, start = self._kept_text(), self.kept_from, self.kept_lines, self.kept_line_start
        end = at - origin
        mark = self.mark
        if mark is not None and origin <= mark[0] <= at:
            # Errors come in order: count only what lies behind the last one.
            begin = mark[0] - origin
            _, lines, start = mark
        elif origin < 0:  # the prompt's lines do not count
            begin, lines, start = -origin, 0, 0
        else:
            begin = 0
        newlines = text.count("\n", begin, end)
        if newlines:
            lines += newlines
            start = origin + text.rfind("\n", begin, end) + 1
        self.mark = (at, lines, start)
        return lines + 1, at - max(start, 0) + 1

    # -- the result --------------------------------------------------------------------------------------------

    def message(self) -> Message:
        """What was found so far."""
        parts = self.parts
        if self.run_kind >= 0:
            text = "".join(self.pieces)
            span = (self.run_start, self.run_end)
            parts = [*parts, TextPart(text, span) if self.run_kind == 0 else ReasoningPart(text, span)]
        content = "".join([p.text for p in parts if p.__class__ is TextPart])
        reasoning = "".join([p.text for p in parts if p.__class__ is ReasoningPart])
        stop: Any = None
        if self.final:
            stop = self.stop or ("tool_calls" if self.calls else "stop")
        formats = {call.format for call in self.calls}
        self.separators.sort()
        return Message(
            content if content and not content.isspace() else None,
            reasoning if reasoning and not reasoning.isspace() else None,
            list(self.calls),
            list(self.errors),
            list(self.repairs),
            formats.pop() if len(formats) == 1 else self.plan.format_id,
            None,
            stop,
            None,
            {},
            list(parts),
            list(self.separators),
            list(self.notes),
        )
