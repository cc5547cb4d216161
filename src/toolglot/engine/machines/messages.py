"""What families share that write messages: a header with its parts in free order, then a body up to a closing token.

A family says which tokens there are and, by `MessagesProgram.route`, what a message with some header is.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ...errors import ConversionError, Fault
from ...format import Format
from ...pattern import Call, Lit, Node
from ...types import ToolCall
from ..compile import Compiler, Program
from ..machine import Machine
from ..ops import TO_TEXT, Begin, End, Op, begins, partial
from ..ops import Lit as LitOp
from ..output import NEVER
from ..valueops import ahead

if TYPE_CHECKING:
    from ..plan import Plan

START = "<|start|>assistant"
CHANNEL = "<|channel|>"
MESSAGE = "<|message|>"
CONSTRAIN = "<|constrain|>"
_TOKEN = re.compile(r"<\|(?:start|channel|constrain)\|>|[ \t\r\n]+|to=([^\s<]*)|([\w.\-/]+)")


class Head:
    """What a header says."""

    __slots__ = ("channel", "recipient", "recipient_at")

    def __init__(self) -> None:
        self.channel = ""
        self.recipient: str | None = None
        self.recipient_at = 0


class Header(Op):
    """A message's header, up to ``<|message|>``."""

    def __init__(self, program: MessagesProgram) -> None:
        self.program = program

    def run(self, m: Machine) -> Op | None:
        program = self.program
        buf = m.buf
        pos = m.pos
        skip = len("<|start|>") if buf.startswith("<|start|>", pos) else 0
        # A header is no longer than this, however the text is cut.
        size = min(len(buf), pos + 4 * m.limits.name)
        match = m.find(program.stop.search, max(pos + skip, m.scan - m.base), size)
        if match is None or match.group() != MESSAGE:
            at = junk(m, pos, size if match is None else match.start())
            fits = match is None and (at is None or begins(program.in_header, buf[at:size]))
            if fits and not m.final and size - pos < 4 * m.limits.name:
                m.scan = m.base + max(pos + skip, len(buf) - len(START))
                return None
            m.scan = NEVER
            return self.broken(m, match, at, size, fits)
        m.scan = NEVER
        at = junk(m, pos, match.start())
        if at is not None:
            return self.broken(m, match, at, size, False)
        head = read_head(buf, pos, match.start())
        m.fmt = program.fmt.id
        m.resume = program.begin
        return program.route(m, head, match.end())

    def broken(self, m: Machine, match: re.Match[str] | None, at: int | None, size: int, fits: bool) -> Op | None:
        """There is no such header. ``fits``: what stands before ``size`` could be the beginning of one."""
        m.fmt = self.program.fmt.id
        m.resume = self.program.begin
        start = m.pos
        end = size if match is None else match.start()
        m.begin(start)
        if fits and size - start >= 4 * m.limits.name:
            m.pos = size
            return m.fail(Fault("tool_call.invalid_name", m.base + start, "the header of a message has no end"))
        if fits and m.final:
            return m.truncated("the header of a message")
        m.pos = at if at is not None else end
        return m.expected(repr(MESSAGE))

    def first(self) -> tuple[str, ...] | None:
        return self.program.starters


def junk(m: Machine, pos: int, end: int) -> int | None:
    """Where something stands that has no place in a header."""
    while pos < end:
        match = _TOKEN.match(m.buf, pos, end)
        if match is None or m.is_data(pos, match.group()):
            return pos
        pos = match.end()
    return None


def read_head(buf: str, pos: int, end: int) -> Head:
    """The parts of the header ``buf[pos:end]``."""
    head = Head()
    last = ""
    for token in _TOKEN.finditer(buf, pos, end):
        text = token.group()
        if token.lastindex == 1 and token.group(1):
            head.recipient, head.recipient_at = token.group(1), token.start(1)
        elif token.lastindex == 2:
            if last == CHANNEL:
                head.channel = text
            last = ""
        elif text[0] == "<":
            last = text
    return head


class Body(Op):
    """The text of a message that is no call; ``m.st`` says whether it is reasoning."""

    def __init__(self, program: MessagesProgram) -> None:
        self.program = program

    def run(self, m: Machine) -> Op | None:
        pos = m.pos
        end, closer, waiting = self.program.body_end(m, max(pos, m.scan - m.base))
        if m.st:
            m.reasoning(pos, end)
        else:
            m.content(pos, end)
        m.pos = end
        m.scan = NEVER
        if waiting:
            return None
        if closer in self.program.closers:
            m.sep(end, end + len(closer))
            m.pos = end + len(closer)
        m.st = None
        m.after_markup = True
        return TO_TEXT


class Start(Op):
    """The start of the output: the prompt ends with ``<|start|>assistant``, so the rest of a header may come first.

    ``sure``: the format is given, so it is one; else it has to be a whole header.
    """

    def __init__(self, programs: list[MessagesProgram], plan: Plan, sure: bool) -> None:
        self.programs = programs
        self.plan = plan
        self.sure = sure
        self.starts = tuple({text for program in programs for text in program.starts})

    def run(self, m: Machine) -> Op | None:
        if m.buf.startswith(self.starts, m.pos):
            for program in self.programs:
                verdict = self.sure or program.test(m, m.pos)
                if verdict is None:
                    return None
                if verdict:
                    m.settled = True
                    if m.tracker is not None:
                        m.tracker.tagged(m)
                    return program.op
        elif not m.final and partial(self.starts, m.buf, m.pos):
            return None
        return self.plan.text


class MessagesProgram(Program):
    """A compiled family of messages."""

    starters: tuple[str, ...] = (START, CHANNEL)
    closers: tuple[str, ...] = ()
    starts: tuple[str, ...] = (" to=",)
    # For grammars: what may stand before the first call (the prompt ends behind the role), what stands between two,
    # behind the last and behind the others, between two arguments; the pattern of a message's body.
    leads: tuple[str, ...] = (START,)
    between = START
    call_ends: tuple[str, str]
    gap = ""
    sort_keys = False
    inside: tuple[Node, ...]

    def __init__(self, fmt: Format, source: Format | None = None) -> None:
        super().__init__(fmt, source)
        self.machine = self
        self.in_header = (MESSAGE, *self.closers, *self.starters, CONSTRAIN)
        self.stop = re.compile("|".join(map(re.escape, (MESSAGE, *self.closers, "<|start|>"))))
        self.body_texts = (*self.closers, START)
        self.body_stop = re.compile("|".join(map(re.escape, self.body_texts)))
        self.op = Header(self)
        self.body = Body(self)
        self.begin = Begin(fmt.id, self.closers)
        self.begin.resume = TO_TEXT
        self.end = End()
        self.end.next = TO_TEXT
        self.closer = LitOp(self.closers, ("<|start|>",), end_ok=True)
        self.closer.ws = True
        self.closer.next = self.end

    def call_body(self) -> Op:
        """The operations of what the pattern has between ``<|message|>`` and the closer."""
        call = self.fmt.nodes()[0]
        assert isinstance(call, Call)
        at = next(i for i, node in enumerate(call.items) if isinstance(node, Lit) and node.texts[0].endswith(MESSAGE))
        self.inside = items = call.items[at + 1 : -1]
        compiler = Compiler(self.fmt)
        compiler.end = self.end
        op = compiler.sequence(items, self.closer, call=True)
        for link in compiler.links:
            link.link()
        for value in compiler.values:
            value.link(self.closers)
        return op

    def route(self, m: Machine, head: Head, end: int) -> Op | None:
        """How to go on behind a header that ends at ``buf[end]``."""
        raise NotImplementedError

    def text(self, m: Machine, end: int, reasoning: bool) -> Op:
        """A message that is no call."""
        m.sep(m.pos, end)
        m.pos = end
        m.st = reasoning
        return self.body

    def test(self, m: Machine, i: int) -> bool | None:
        """Whether the message at ``buf[i]`` is this family's and no other's. None: more text decides."""
        buf = m.buf
        size = len(buf)
        skip = len("<|start|>") if buf.startswith("<|start|>", i) else 0
        match = m.find(self.stop.search, i + skip, i + 4 * m.limits.name)
        if match is None and not m.final and size - i < 4 * m.limits.name:
            at = junk(m, i, size)
            if at is None or partial(self.in_header, buf, at):
                return None
        if match is None or match.group() != MESSAGE or junk(m, i, match.start()) is not None:
            return False
        return self.claims(m, i, match.start(), match.end())

    def claims(self, m: Machine, i: int, end: int, body: int) -> bool | None:
        """Whether the header ``buf[i:end]`` and what begins at ``buf[body]`` tell this family from others."""
        return True

    @staticmethod
    def start_op(plan: Plan, programs: list[MessagesProgram], *, sure: bool) -> Op:
        """Where a run starts that looks for these families."""
        return Start(programs, plan, sure)

    def body_end(self, m: Machine, scan: int) -> tuple[int, str, bool]:
        """How far a body reaches, the token that ends it, and whether more text decides."""
        buf = m.buf
        for match in self.body_stop.finditer(buf, scan):
            verdict = self.ends(m, match)
            if verdict is not False:
                return match.start(), match.group(), verdict is None
        end = len(buf)
        if not m.final:
            end = buf.rfind("<", max(m.pos, end - len(START)))
            if end < 0 or not partial(self.body_texts, buf, end):
                end = len(buf)
        return end, "", not m.final

    def ends(self, m: Machine, match: re.Match[str]) -> bool | None:
        """Whether a token ends a body: a closer does where a header or the end follows. None: more text decides."""
        if m.is_data(match.start(), match.group()):
            return False
        if match.group() not in self.closers:
            return True
        return ahead(m, (*self.starters, *self.closers), m.buf, match.end())

    def recipient(self, name: str) -> None:
        """Refuse a tool's name that no header can hold."""
        if not re.fullmatch(r"[^\s<]+", name):
            raise ConversionError(f"{self.fmt.id}: the tool name {name!r} cannot be a recipient")

    def render(self, calls: list[ToolCall], content: str | None, reasoning: str | None) -> list[tuple[str, bool]]:
        """The messages as the template writes them: segments, each with whether it is control text."""
        raise NotImplementedError
