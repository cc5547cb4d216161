"""Beam: Harmony's messages; that of a call holds parameter elements. Source: the engines' parsers.

The text begins behind the prompt's ``<|start|>assistant``, so the first message is written without it.
"""

from __future__ import annotations

from ...errors import ConversionError
from ...format import Format
from ...pattern import Each
from ...types import ToolCall
from ..compile import Program
from ..machine import Machine
from ..ops import Op
from ..write import scalar_text
from .messages import START, Head, MessagesProgram


class BeamProgram(MessagesProgram):
    """The compiled format."""

    closers = ("<|end|>", "<|call|>", "<|return|>")
    call_ends = ("<|call|>", "<|end|>")
    gap = "\n"
    sort_keys = True

    def __init__(self, fmt: Format) -> None:
        super().__init__(fmt)
        self.parameters = self.call_body()
        each = self.inside[0]
        assert isinstance(each, Each)
        self.inside = (Each(each.items[:-1]),)

    def claims(self, m: Machine, i: int, end: int, body: int) -> bool | None:
        return m.buf.find("<|constrain|>xml", i, end) >= 0

    def route(self, m: Machine, head: Head, end: int) -> Op | None:
        if head.recipient is None or head.recipient in ("assistant", "user", "all"):
            return self.text(m, end, head.channel == "analysis")
        m.begin(m.pos)
        m.pos = end
        m.name = head.recipient
        m.name_at = m.base + head.recipient_at
        return self.parameters

    def call_texts(self, name: str) -> tuple[str, tuple[str, ...]]:
        """For grammars: what begins a call of this tool, and the headers of its message."""
        opener = f" to={name}<|channel|>"
        return opener, (f"{opener}analysis <|constrain|>xml<|message|>",)

    def render(self, calls: list[ToolCall], content: str | None, reasoning: str | None) -> list[tuple[str, bool]]:
        out: list[tuple[str, bool]] = []
        if reasoning:
            out += [("<|channel|>analysis<|message|>", True), (reasoning, False), ("<|end|>", True)]
        if content:
            channel, end = ("commentary", "<|end|>") if calls else ("final", "<|return|>")
            out += [(f"{START * bool(out)}<|channel|>{channel}<|message|>", True), (content, False), (end, True)]
        for i, call in enumerate(calls):
            if call.kind == "custom":
                raise ConversionError("beam: a free-text call cannot be written")
            self.recipient(call.name)
            out += [(f"{START * bool(out)} to={call.name}<|channel|>analysis <|constrain|>xml<|message|>", True)]
            for n, key in enumerate(sorted(call.arguments)):
                if '"' in key:
                    raise ConversionError(f"beam: {key!r} cannot be written as an attribute")
                out += [("\n" * bool(n) + '<rfl:parameter name="', True), (key, False), ('">\n', True)]
                out += [(scalar_text(call.arguments[key], False), False), ("\n</rfl:parameter>", True)]
            out += [("<|call|>" if i == len(calls) - 1 else "<|end|>", True)]
        return out


def beam(fmt: Format) -> Program:
    """Compile the format."""
    return BeamProgram(fmt)
