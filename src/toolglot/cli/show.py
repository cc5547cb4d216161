"""What a person sees. Model text is only ever put into `rich.text.Text`, escaped: it is neither markup nor control."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator
from itertools import zip_longest
from typing import Any

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from ..codes import hint
from ..errors import LimitError, ParseError, ToolglotError
from ..events import (
    ErrorEvent,
    Event,
    ReasoningDelta,
    ReasoningReclassified,
    TextDelta,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
)
from ..types import CallPart, Message, ReasoningPart, Repair, TextPart, ToolCall
from .escape import line, plain


def fit(widths: list[int], words: list[int], room: int) -> list[int]:
    """The widths of columns that have no more than ``room`` together: the widest give way, by words if they can."""
    found = widths
    for least in (words, [8] * len(words)):
        for most in range(max(widths), 7, -1):
            found = [max(min(width, most), min(width, word)) for width, word in zip(widths, least, strict=True)]
            if sum(found) <= room:
                return found
    return found


class Screen:
    """Standard output for a person: styled on a terminal, plain in a pipe; text is never wrapped or cut."""

    def __init__(self, color: bool = True) -> None:
        # NO_COLOR asks for no colour; bold and dim are escape sequences as well, so none at all are written then.
        color = color and not os.environ.get("NO_COLOR")
        self._console = Console(
            file=sys.stdout,
            color_system="auto" if color else None,
            no_color=not color,
            highlight=False,
            markup=False,
            emoji=False,
            soft_wrap=True,
        )

    def say(self, *pieces: str | tuple[str, str], indent: int = 0) -> None:
        """Write one line, or several: plain pieces and ``(text, style)`` pairs, already escaped."""
        text = Text.assemble(*pieces, no_wrap=True, overflow="ignore", tab_size=8)
        if indent:
            margin = " " * indent
            text = Text("\n").join(Text(margin) + row if row else row for row in text.split("\n", allow_blank=True))
        if self._console.color_system is None:
            self._console.file.write(text.plain + "\n")  # rich would turn tabs into spaces
        else:
            self._console.print(text, soft_wrap=True)

    def flush(self) -> None:
        """Let the reader of a pipe have what was written."""
        self._console.file.flush()

    @property
    def width(self) -> int | None:
        """How wide the terminal is; None in a pipe, where nothing is wrapped."""
        return self._console.width if self._console.file.isatty() else None

    def rows(self, rows: Iterable[tuple[str, ...]], styles: tuple[str, ...], *, wrap: bool = False) -> None:
        """A table without a frame: columns as wide as they need to be, the last one free.

        ``wrap``: on a terminal that is too narrow for them the widest columns give way, and their cells have several
        lines.
        """
        cells = [tuple(map(line, row)) for row in rows]
        widths = [max(map(cell_len, column)) for column in zip(*cells, strict=True)]
        if wrap and self.width is not None:
            words = [
                max(cell_len(word) for cell in column for word in cell.split(" "))
                for column in zip(*cells, strict=True)
            ]
            widths = fit(widths, words, self.width - 2 * (len(widths) - 1))
        for row in cells:
            columns = [self._lines(cell, width) for cell, width in zip(row, widths, strict=True)]
            for parts in zip_longest(*columns, fillvalue=""):
                last = max((i for i, part in enumerate(parts) if part), default=0)
                pieces = []
                for i, part in enumerate(parts[: last + 1]):
                    pad = "" if i == last else " " * (widths[i] - cell_len(part) + 2)
                    pieces.append((part + pad, styles[i]))
                self.say(*pieces)

    def _lines(self, cell: str, width: int) -> list[str]:
        """``cell`` in lines of at most ``width``, between words where that is possible."""
        if cell_len(cell) <= width:
            return [cell]
        return [row.plain.rstrip() for row in Text(cell).wrap(self._console, width)]

    # -- a message

    def message(self, message: Message, errors: list[ToolglotError]) -> None:
        """The parts in their order, errors in their place, and a line that sums up."""
        for item in _in_order(message, errors):
            if isinstance(item, TextPart):
                self._block("text", item.text)
            elif isinstance(item, ReasoningPart):
                self._block("reasoning", item.text, "dim")
            elif isinstance(item, CallPart):
                self.call(item.call)
            elif isinstance(item, ToolglotError):
                self.error(item)
        self.repairs(message)
        self.remarks(message)
        self.summary(message, errors)

    def call(self, call: ToolCall) -> None:
        """A call: number, name, format, id; below it the arguments."""
        title = "call of the server" if call.kind == "server" else f"call {call.index}"
        pieces: list[str | tuple[str, str]] = [(title, "bold green"), "  ", (line(call.name), "bold")]
        if call.id is not None:
            pieces.append((f"  id {line(call.id)}{' (made up)' if call.id_synthesized else ''}", "dim"))
        if call.format:
            pieces.append((f"  {line(call.format)}", "dim"))
        self.say(*pieces)
        if call.input is not None:
            body = call.input
        else:
            body = json.dumps(call.arguments, ensure_ascii=False, indent=2)
        self.say(plain(body), indent=2)
        self.say()

    def error(self, error: ToolglotError) -> None:
        """An error: code and place, what it means, the line with a caret, what was expected, what to do."""
        where = ""
        if isinstance(error, ParseError):
            what, expected = error.text, error.expected
            if error.line is not None:
                where = f"  line {error.line}, column {error.column}"
            elif error.position is not None:
                where = f"  position {error.position}"
            if error.path is not None:
                where += f"  {line(error.path)}"
        else:
            what, expected = str(error), None
            if isinstance(error, LimitError) and error.position is not None:
                where = f"  position {error.position}"
        self.say(("error", "bold red"), "  ", (line(error.code), "bold"), where)
        self.say(plain(what), indent=2)
        if isinstance(error, ParseError):
            self._context(error)
        if expected:
            self.say(("expected: ", "bold"), plain(expected), indent=2)
        for violation in getattr(error, "violations", ())[1:]:  # the first one is the error's own
            near = f"; there is {', '.join(violation.nearest)}" if violation.nearest else ""
            self.say(("also: ", "bold"), f"{line(violation.path)}: {line(violation.message)}{line(near)}", indent=2)
        advice = hint(error.code)
        if advice:
            self.say(("to do: ", "bold"), advice, indent=2)
        self.say()

    def _context(self, error: ParseError) -> None:
        shown, _, below = error.context().rpartition("\n")
        if not shown:
            return
        # The caret counts characters; on a terminal some are two columns wide, or none.
        caret = " " * cell_len(shown[: len(below) - 1]) + "^"
        self.say(plain(shown), "\n", (caret, "bold red"), indent=4)

    def remarks(self, message: Message) -> None:
        """What was not read, and what is worth a note."""
        for loss in message.losses:
            self.say(("lost", "bold yellow"), f"  {line(loss.code)} at {line(loss.path)}: {line(loss.detail)}\n")
        for note in message.notes:
            self.say(("note", "bold yellow"), f"  {line(note)}\n")

    def repairs(self, message: Message) -> None:
        """What was mended, one line each."""
        for repair in message.repairs:
            self._repair(repair)
        if message.repairs:
            self.say()

    def _repair(self, repair: Repair) -> None:
        where = "" if repair.span is None else f" at {repair.span[0]} to {repair.span[1]}"
        if not repair.after:
            change = f"{_quoted(repair.before)} left out"
        elif not repair.before:
            change = f"{_quoted(repair.after)} put in"
        else:
            change = f"{_quoted(repair.before)} read as {_quoted(repair.after)}"
        self.say(("repair", "bold yellow"), f"  {line(repair.code)}{where}: {change}")

    def _block(self, title: str, text: str, style: str = "") -> None:
        if text.strip():
            self.say((title, "bold cyan"))
            self.say((plain(text.strip("\n")), style), indent=2)
            self.say()

    def summary(self, message: Message, errors: list[ToolglotError]) -> None:
        """A line that sums up."""
        calls, wrong = len(message.tool_calls), len(errors)
        pieces = [f"{calls} call{'' if calls == 1 else 's'}" if calls else "no tool call"]
        source = message.format or message.provider
        if source:
            pieces[0] += f" ({line(source)})"
        if wrong:
            pieces.append(f"{wrong} error{'' if wrong == 1 else 's'}")
        if message.repairs:
            pieces.append(f"{len(message.repairs)} repaired")
        self.say((", ".join(pieces), "bold red" if wrong else "bold green" if calls else "bold"))

    # -- an event

    def event(self, event: Event) -> None:
        """One line an event."""
        if isinstance(event, TextDelta):
            self._event("text", _quoted(event.text))
        elif isinstance(event, ReasoningDelta):
            self._event("reasoning", _quoted(event.text))
        elif isinstance(event, ReasoningReclassified):
            self._event("reclassify", "characters {} to {} were reasoning".format(*event.span))
        elif isinstance(event, ToolCallStart):
            self._event(f"call {event.index}", f"begins: {line(event.name)}")
        elif isinstance(event, ToolCallDelta):
            self._event(f"call {event.index}", line(event.arguments))
        elif isinstance(event, ToolCallEnd):
            self._event(f"call {event.index}", "is complete", "bold green")
        elif isinstance(event, ErrorEvent):
            self._event("error", f"{line(event.error.code)}: {line(str(event.error))}", "bold red")

    def _event(self, title: str, body: str, style: str = "") -> None:
        self.say((f"{title:<10}", "bold cyan"), "  ", (body, style))


def _quoted(text: str) -> str:
    return line(json.dumps(text, ensure_ascii=False))


def _in_order(message: Message, errors: list[ToolglotError]) -> Iterator[Any]:
    """Parts and errors in the order of the text; an error without a place comes last."""
    waiting = list(errors)
    for part in message.parts:
        if part.span is not None:
            for error in list(waiting):
                at = error.span[0] if isinstance(error, ParseError) and error.span else None
                if at is not None and at < part.span[0]:
                    waiting.remove(error)
                    yield error
        yield part
    yield from waiting
