"""Muse: messages to ``self`` (reasoning), to the user, and to tools, whose body is a block of invoke elements.

Source: the chat template of Muse Glimmer. A block without its header is read as well.
"""

from __future__ import annotations

from dataclasses import replace

from ...format import Format
from ...pattern import Lit, Section
from ...types import ToolCall
from ..compile import Program
from ..machine import Machine
from ..ops import TO_TEXT, Op, partial
from ..render import Writer, write_calls
from .messages import CHANNEL, MESSAGE, START, Head, MessagesProgram, read_head

BLOCK = "<atem:function_calls>"


class Block(Op):
    """The body of a message to a tool has to be a block, which is read as where it stands without a header."""

    def __init__(self, program: MuseProgram) -> None:
        self.program = program

    def run(self, m: Machine) -> Op | None:
        pos = m.white_to(m.pos)
        found = m.buf.startswith(BLOCK, pos)
        part = partial((BLOCK,), m.buf, pos)
        if not found and part and not m.final:
            return None
        m.sep(m.pos, pos)
        m.pos = pos
        if found:
            m.after_markup = True
            return TO_TEXT
        m.begin(pos)
        return m.expected(repr(BLOCK), ended=part)


class MuseProgram(MessagesProgram):
    """The compiled format."""

    starters = (START,)
    closers = ("<|eom|>", "<|eot|>")
    call_ends = ("<|eot|>", "<|eom|>")
    starts = (" to=", MESSAGE)

    def __init__(self, fmt: Format) -> None:
        super().__init__(fmt, fmt)
        self.block = Block(self)
        section = fmt.nodes()[0]
        assert isinstance(section, Section)
        self.section = section
        self.inside = (*section.open, *section.items, *section.close[:-1])

    def claims(self, m: Machine, i: int, end: int, body: int) -> bool | None:
        if m.buf.find(CHANNEL, i, end) >= 0:
            return False
        recipient = read_head(m.buf, i, end).recipient
        if recipient in ("self", "user", "commentary") or (recipient and m.buf.startswith(BLOCK, body)):
            return True
        return None if recipient and not m.final and partial((BLOCK,), m.buf, body) else False

    def route(self, m: Machine, head: Head, end: int) -> Op | None:
        if head.recipient in (None, "self", "user", "commentary"):
            return self.text(m, end, head.recipient == "self")
        m.sep(m.pos, end)  # the block says the name again
        m.pos = end
        return self.block

    def call_texts(self, name: str) -> tuple[str, tuple[str, ...]]:
        """For grammars: what begins a call of this tool, and the headers of its message."""
        opener = f" to={name}{MESSAGE}"
        return opener, (opener,)

    def render(self, calls: list[ToolCall], content: str | None, reasoning: str | None) -> list[tuple[str, bool]]:
        w = Writer(self.fmt)
        if reasoning:
            w.control(f"{START} to=self{MESSAGE}")
            w.data(reasoning)
            w.control("<|eom|>")
        if content:
            w.control(f"{START} to={'commentary' if calls else 'user'}{MESSAGE}")
            w.data(content)
            w.control("<|eom|>" if calls else "<|eot|>")
        for i, call in enumerate(calls):
            self.recipient(call.name)
            end = Lit(("<|eot|>" if i == len(calls) - 1 else "<|eom|>",))
            w.control(f"{START} to=")
            w.data(call.name)
            w.control(MESSAGE)
            write_calls(w, [replace(self.section, close=(*self.section.close[:-1], end))], [call])
        return w.out


def muse(fmt: Format) -> Program:
    """Compile the format."""
    return MuseProgram(fmt)
