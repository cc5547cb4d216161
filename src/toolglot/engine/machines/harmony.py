"""Harmony (gpt-oss): messages whose headers may name role, recipient, channel and content type in free order.

A message with a recipient is a call, whatever its channel; ``analysis`` is reasoning, all else is content. Source:
the Harmony response format and the template of gpt-oss.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ...errors import ConversionError
from ...format import Format
from ...types import ToolCall
from ..compile import Program
from ..machine import NEVER, Found, Machine
from ..ops import TO_TEXT, WS, Begin, End, Lit, Op, partial
from ..valueops import ArgumentsOp, ahead

if TYPE_CHECKING:
    from ..plan import Plan

MESSAGE = "<|message|>"
CLOSERS = ("<|end|>", "<|call|>", "<|return|>")
HEADERS = ("<|start|>assistant", "<|channel|>")
_TOKEN = re.compile(r"<\|(?:start|channel|constrain)\|>|[ \t\r\n]+|to=([^\s<]*)|([\w.\-/]+)")
_STOP = re.compile("|".join(map(re.escape, (MESSAGE, *CLOSERS, "<|start|>"))))
_BODY_TEXTS = (*CLOSERS, "<|start|>assistant")
_BODY_END = re.compile("|".join(map(re.escape, _BODY_TEXTS)))
_LONGEST = len("<|start|>assistant")


class Header(Op):
    """A message's header, up to ``<|message|>``."""

    def __init__(self, program: HarmonyProgram) -> None:
        self.program = program

    def run(self, m: Machine) -> Op | None:
        buf = m.buf
        pos = m.pos
        skip = len("<|start|>") if buf.startswith("<|start|>", pos) else 0
        match = m.find(_STOP.search, max(pos + skip, m.scan - m.base))
        if match is None or match.group() != MESSAGE:
            at = self.junk(m, pos, len(buf) if match is None else match.start())
            waiting = match is None and not m.final and len(buf) - pos < 4 * m.limits.name
            if waiting and (at is None or partial((MESSAGE, *CLOSERS, *HEADERS, "<|constrain|>"), buf, at)):
                m.scan = m.base + max(pos + skip, len(buf) - _LONGEST)
                return None
            m.scan = NEVER
            return self.broken(m, match, at)
        m.scan = NEVER
        at = self.junk(m, pos, match.start())
        if at is not None:
            return self.broken(m, match, at)
        channel, recipient, recipient_at = "", None, 0
        last = ""
        for token in _TOKEN.finditer(buf, pos, match.start()):
            text = token.group()
            if token.lastindex == 1 and token.group(1):
                recipient, recipient_at = token.group(1), token.start(1)
            elif token.lastindex == 2:
                if last == "<|channel|>":
                    channel = text
                last = ""
            elif text[0] == "<":
                last = text
        m.fmt = self.program.fmt.id
        m.resume = self.program.begin
        if recipient is None or recipient in ("assistant", "user", "all"):
            m.sep(pos, match.end())
            m.pos = match.end()
            m.st = channel
            return self.program.body
        m.begin(pos)
        m.pos = match.end()
        declared = m.tools is not None and recipient in m.tools.names
        name = recipient
        if recipient.startswith("functions.") and not declared:
            name = recipient[len("functions.") :]
            declared = True
        m.name = name
        m.name_at = m.base + recipient_at
        return self.program.arguments if declared else self.program.either

    @staticmethod
    def junk(m: Machine, pos: int, end: int) -> int | None:
        """Where something stands that has no place in a header."""
        while pos < end:
            match = _TOKEN.match(m.buf, pos, end)
            if match is None or m.is_data(pos, match.group()):
                return pos
            pos = match.end()
        return None

    def broken(self, m: Machine, match: re.Match[str] | None, at: int | None) -> Op | None:
        """There is no such header."""
        m.fmt = self.program.fmt.id
        m.resume = self.program.begin
        start = m.pos
        end = len(m.buf) if match is None else match.start()
        m.begin(start)
        if m.final and match is None and (at is None or partial((MESSAGE, "<|constrain|>", *HEADERS), m.buf, at)):
            return m.truncated("the header of a message")
        m.pos = at if at is not None else end
        return m.expected(repr(MESSAGE))

    def first(self) -> tuple[str, ...] | None:
        return HEADERS


class Body(Op):
    """The text of a message without a recipient; ``m.st`` is its channel."""

    def run(self, m: Machine) -> Op | None:
        pos = m.pos
        match, waiting, end = body_end(m, max(pos, m.scan - m.base))
        if m.st == "analysis":
            m.reasoning(pos, end)
        else:
            m.content(pos, end)
        m.pos = end
        m.scan = NEVER
        if waiting or (match is None and not m.final):
            return None
        if match is not None and match.group() in CLOSERS:
            m.sep(end, match.end())
            m.pos = match.end()
        m.st = None
        m.after_markup = True
        return TO_TEXT


def body_end(m: Machine, pos: int) -> tuple[re.Match[str] | None, bool, int]:
    """The token that ends a body, whether more text decides on it, and up to where the body is sure."""
    buf = m.buf
    match = _BODY_END.search(buf, pos)
    while match is not None:
        verdict = ends(m, match)
        if verdict is not False:
            return match, verdict is None, match.start()
        match = _BODY_END.search(buf, match.start() + 1)
    end = len(buf)
    if not m.final:
        end = buf.rfind("<", max(m.pos, end - _LONGEST))
        if end < 0 or not partial(_BODY_TEXTS, buf, end):
            end = len(buf)
    return None, False, end


def ends(m: Machine, match: re.Match[str]) -> bool | None:
    """Whether a token ends a body: a closer does where a header or the end follows. None: more text decides."""
    if m.is_data(match.start(), match.group()):
        return False
    if match.group() not in CLOSERS:
        return True
    return ahead(m, (*HEADERS, *CLOSERS), m.buf, match.end())


class EitherBody(Op):
    """The body of a call of a tool that may take free text."""

    def __init__(self, program: HarmonyProgram) -> None:
        self.program = program

    def run(self, m: Machine) -> Op | None:
        pos = WS.match(m.buf, m.pos).end()  # type: ignore[union-attr]
        if pos == len(m.buf) and not m.final:
            return None
        return self.program.arguments if m.buf.startswith("{", pos) else self.program.custom


class CustomBody(Op):
    """Free text, up to the message's closer."""

    next: Op

    def run(self, m: Machine) -> Op | None:
        buf = m.buf
        pos = m.pos
        pieces: list[str] = m.st if m.st is not None else []
        m.st = pieces
        match, waiting, end = body_end(m, pos)
        pieces.append(buf[pos:end])
        m.pos = end
        if waiting or (match is None and not m.final):
            return None
        m.st = None
        text = "".join(pieces)
        found = Found(m.name or "", {}, None, "{}")
        found.kind = "custom"
        found.input = text
        found.name_at = m.name_at
        m.founds = [found]
        return self.next


class HarmonyProgram(Program):
    """The compiled format."""

    openers = HEADERS

    def __init__(self, fmt: Format) -> None:
        super().__init__(fmt)
        self.machine = self
        self.op = Header(self)
        self.body = Body()
        self.begin = Begin(fmt.id, CLOSERS)
        self.begin.resume = TO_TEXT
        end = End()
        end.next = TO_TEXT
        closer = Lit(CLOSERS, ("<|start|>",), end_ok=True)
        closer.ws = True
        closer.next = end
        self.arguments = ArgumentsOp("json")
        self.arguments.next = closer
        self.custom = CustomBody()
        self.custom.next = closer
        self.either = EitherBody(self)

    def test(self, m: Machine, i: int) -> bool | None:
        """Whether a header stands at ``buf[i]``."""
        return True

    def start_op(self, plan: Plan) -> Op:
        """Where a run starts: the prompt ends with ``<|start|>assistant``, so a recipient may come first."""
        return Start(self, plan)

    def render(self, calls: list[ToolCall], content: str | None, reasoning: str | None) -> list[tuple[str, bool]]:
        """The messages as the template writes them: segments, each with whether it is control text."""
        out: list[tuple[str, bool]] = []
        if reasoning:
            out += [("<|start|>assistant<|channel|>analysis<|message|>", True), (reasoning, False), ("<|end|>", True)]
        if content:
            channel = "commentary" if calls else "final"
            end = "<|end|>" if calls else "<|return|>"
            out += [(f"<|start|>assistant<|channel|>{channel}<|message|>", True), (content, False), (end, True)]
        for call in calls:
            if not re.fullmatch(r"[^\s<]+", call.name):
                raise ConversionError(f"harmony: the tool name {call.name!r} cannot be a recipient")
            prefix, kind, text = "functions.", "json", call.arguments_json
            if call.kind == "custom":
                prefix, kind, text = "", "code", call.input or ""
            out += [
                (f"<|start|>assistant to={prefix}{call.name}<|channel|>commentary {kind}<|message|>", True),
                (text, False),
                ("<|call|>", True),
            ]
        return out


class Start(Op):
    """The start of the output."""

    def __init__(self, program: HarmonyProgram, plan: Plan) -> None:
        self.program = program
        self.plan = plan

    def run(self, m: Machine) -> Op | None:
        if not m.final and partial((" to=",), m.buf, m.pos):
            return None
        if m.buf.startswith(" to=", m.pos):
            return self.program.op
        return self.plan.text


def harmony(fmt: Format) -> Program:
    """Compile the format."""
    return HarmonyProgram(fmt)
