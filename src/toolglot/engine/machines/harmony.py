"""Harmony (gpt-oss): messages whose headers may name role, recipient, channel and content type in free order.

A message with a recipient is a call, whatever its channel; ``analysis`` is reasoning, all else is content. Source:
the Harmony response format and the template of gpt-oss.
"""

from __future__ import annotations

from ...format import Format
from ...types import ToolCall
from ...values.gather import gather
from ..compile import Program
from ..machine import Found, Machine
from ..ops import Op
from .messages import START, Head, MessagesProgram


class EitherBody(Op):
    """The body of a call of a tool that may take free text."""

    def __init__(self, program: HarmonyProgram) -> None:
        self.program = program

    def run(self, m: Machine) -> Op | None:
        pos = m.white_to(m.pos)
        if pos == len(m.buf) and not m.final:
            return None
        return self.program.arguments if m.buf.startswith("{", pos) else self.program.custom


class CustomBody(Op):
    """Free text, up to the message's closer."""

    def __init__(self, program: HarmonyProgram) -> None:
        self.program = program
        self.next: Op = program.closer

    def run(self, m: Machine) -> Op | None:
        pos = m.pos
        pieces: list[str] = m.st if m.st is not None else []
        m.st = pieces
        end, _, waiting = self.program.body_end(m, pos)
        gather(pieces, m.buf[pos:end])
        m.pos = end
        if waiting:
            return None
        m.st = None
        found = Found(m.name or "", {}, None, "{}")
        found.kind = "custom"
        found.input = "".join(pieces)
        found.name_at = m.name_at
        m.founds = [found]
        return self.next


class HarmonyProgram(MessagesProgram):
    """The compiled format."""

    closers = ("<|end|>", "<|call|>", "<|return|>")
    call_ends = ("<|call|>", "<|call|>")

    def __init__(self, fmt: Format) -> None:
        super().__init__(fmt)
        self.arguments = self.call_body()
        self.custom = CustomBody(self)
        self.either = EitherBody(self)

    def route(self, m: Machine, head: Head, end: int) -> Op | None:
        recipient = head.recipient
        if recipient is None or recipient in ("assistant", "user", "all"):
            return self.text(m, end, head.channel == "analysis")
        m.begin(m.pos)
        m.pos = end
        declared = m.tools is not None and recipient in m.tools.names
        name = recipient
        if recipient.startswith("functions.") and not declared:
            name = recipient[len("functions.") :]
            declared = True
        m.name = name
        m.name_at = m.base + head.recipient_at
        return self.arguments if declared else self.either

    leads = (START, "<|channel|>commentary")  # a recipient may stand before or behind the channel

    def call_texts(self, name: str) -> tuple[str, tuple[str, ...]]:
        """For grammars: what begins a call of this tool, and the headers of its message."""
        opener = f" to=functions.{name}"
        headers = (
            "<|channel|>commentary json<|message|>",
            "<|channel|>commentary <|constrain|>json<|message|>",
            " <|constrain|>json<|message|>",
        )
        return " to=functions.", tuple(opener + header for header in headers)

    def render(self, calls: list[ToolCall], content: str | None, reasoning: str | None) -> list[tuple[str, bool]]:
        out: list[tuple[str, bool]] = []
        if reasoning:
            out += [("<|start|>assistant<|channel|>analysis<|message|>", True), (reasoning, False), ("<|end|>", True)]
        if content:
            channel = "commentary" if calls else "final"
            end = "<|end|>" if calls else "<|return|>"
            out += [(f"<|start|>assistant<|channel|>{channel}<|message|>", True), (content, False), (end, True)]
        for call in calls:
            self.recipient(call.name)
            prefix, kind, text = "functions.", "json", call.arguments_json
            if call.kind == "custom":
                prefix, kind, text = "", "code", call.input or ""
            out += [
                (f"<|start|>assistant to={prefix}{call.name}<|channel|>commentary {kind}<|message|>", True),
                (text, False),
                ("<|call|>", True),
            ]
        return out


def harmony(fmt: Format) -> Program:
    """Compile the format."""
    return HarmonyProgram(fmt)
