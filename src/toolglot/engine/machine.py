"""The machine: one run over one output, whole or in pieces.

A format compiles to operations (`ops`) that are shared and immutable; all state of a run lives here and in `Output`.
An operation reads ``machine.buf`` from ``machine.pos`` on and returns the operation that follows, or None when it needs
more text. Complete parsing is "feed everything, then close", so there is no second parser to disagree with.
"""

from __future__ import annotations

from dataclasses import replace
from os import urandom
from typing import TYPE_CHECKING, Any, NamedTuple

from ..definition import ToolSet
from ..errors import Fault, LimitError, ParseError, TruncatedError
from ..events import ErrorEvent, ToolCallDelta, ToolCallEnd, ToolCallStart
from ..types import CallPart, Limits, Span, StopReason, ToolCall
from ..values.literal import complete_members
from .output import NEVER, Held, Output, Stop

if TYPE_CHECKING:
    from ..schema.check import Checks, Judged
    from .mend import Mender
    from .ops import Op
    from .plan import Plan


DEFAULT_LIMITS = Limits()


class Found:
    """A call as an operation found it, before it is checked."""

    __slots__ = ("arguments", "extra", "id", "input", "json", "kind", "name", "name_at", "raw", "span")

    def __init__(self, name: str, arguments: dict[str, Any], raw: str | None = None, json: str | None = None) -> None:
        self.name = name
        self.arguments = arguments
        self.raw = raw
        self.json = json
        self.id: str | None = None
        self.name_at: int | None = None
        self.span: Span | None = None
        self.kind: Any = "function"
        self.input: str | None = None
        self.extra: dict[str, Any] | None = None


class Undo(NamedTuple):
    """What to go back to if what is read as a call whose opener is missing is none."""

    opener: str
    at: int  # where the call begins,
    sign: int  # and what showed it
    lead: str  # the text before it that is not given out,
    prev: str  # what stands before that,
    lines: int  # how many line breaks,
    line_start: int  # and where its line starts
    last: int  # the number of the call before it


class Machine(Output):
    """One run. Not thread-safe; cheap to create."""

    # Defaults live on the class: creating a machine costs what it sets.
    cut: bool = False
    done: bool = False
    tools: ToolSet | None = None
    checks: Checks | None = None  # what is asked of a call by its tool's schema
    limits: Limits = DEFAULT_LIMITS
    ids: str = "given"
    op: Op | None = None
    st: Any = None  # the current operation's own state
    # the call being read
    call_start: int | None = None
    fmt: str | None = None
    index: int = -1
    name: str | None = None
    name_at: int = 0
    server: str = ""  # what stands before "/" in the name
    id: str | None = None
    made_id: str | None = None  # one that was made and given out already
    delta_at: int = 0  # up to where the call's text is covered by events
    key: str = ""
    key_at: int = 0
    typed: str | None = None
    args: dict[str, Any] | None = None
    json: list[str] | None = None
    founds: list[Found] | None = None
    fault: Fault | None = None
    started: bool = False
    raw_span: Span | None = None
    read_at: int | None = None  # where the call's object stands, if all of it was read
    args_from: int = 0
    args_to: int = 0
    resume: Any = None
    own_opener: bool = False
    unit: list[tuple[ToolCall, Span]] | None = None  # calls that count only when their list is closed
    unit_at: int = 0
    unit_prose: bool = False
    body_at: int = 0  # behind the call's opener
    section_at: int | None = None  # the opener of a section that has no call yet
    value_at: int | None = None  # where the value stands in which the call is broken, if that is JSON,
    value_keys: tuple[str, ...] | None = None  # and which of its members are the arguments; None: it is
    # mends
    mender: Mender | None = None
    undo: Undo | None = None  # a call is read whose opener is missing
    tried: int = NEVER  # the last sign of one that was looked behind,
    guesses: int = 0  # and how many
    ended_itself: bool = False  # the caller says that the model ended the output
    open_end: bool = False  # the broken call was not closed: it goes on to the end
    # text
    ends_to: int = -1
    line_free: bool = True
    literal_opens: int = 0
    answered: bool = False  # the opening tag of the final answer was read
    ended: Span = (NEVER, NEVER)  # tokens that end the turn, and white space, that were looked at last
    settled: bool = False  # the text is a tagged family's, whether it holds a call or not
    search: Any = None  # for the text at hand, if all of it is there
    broken: int = 0
    wary: bool = False  # much is broken: no more quick tries, as a failure of the C scanner costs what stands before it
    fast: bool = False  # the whole text is there, and nothing is asked for that the fast way cannot give

    def __init__(self, plan: Plan) -> None:
        super().__init__(plan)
        self.op = plan.start

    # -- feeding -----------------------------------------------------------------------------------------------

    def feed(self, text: str) -> None:
        """More text."""
        pos = self.pos
        if pos:
            buf = self.buf
            if self.kept is not None:
                self.kept.write(buf[:pos])
            newlines = buf.count("\n", -self.base if self.base < 0 else 0, pos)
            if newlines:
                self.lines += newlines
                self.line_start = self.base + buf.rfind("\n", 0, pos) + 1
            self.base += pos
            self.pos = 0
            last = buf[pos - 1]
            if last in " \t":
                last = buf[:pos].rstrip(" \t")[-1:] or self.prev
            self.prev = last
            self.buf = buf[pos:] + text if pos < len(buf) else text
        elif self.buf:
            buf = self.buf
            self.buf = ""  # so that the text has one owner, and is lengthened where it is
            buf += text
            self.buf = buf
        else:
            self.buf = text
        if len(self.buf) - len(text) > self.limits.buffer:
            raise LimitError(
                f"more than {self.limits.buffer} characters are undecided between markup and text",
                "buffer",
                self.base,
            )
        self.advance()

    def advance(self) -> None:
        """Run operations until one needs more text."""
        op = self.op
        while op is not None:
            self.op = op
            op = op.run(self)

    def stopped(self, reason: StopReason | None) -> None:
        """Note why the model stopped. If it was stopped, the output may be cut off anywhere."""
        if reason not in (None, "stop", "tool_calls"):
            self.stop = reason
            self.cut = reason != "other"
        else:
            self.ended_itself = reason is not None

    def close(self) -> None:
        """No more text."""
        self.final = True
        self.advance()
        self.flush()

    def run_whole(self, text: str) -> None:
        """Feed everything, then close; ``final`` is known from the start, so nothing is held back."""
        self.buf = text
        self.search = self.plan.searcher.first(text)[0]
        self.fast = self.limits is DEFAULT_LIMITS and self.plain is None
        tracker = self.tracker
        specs = self.plan.untagged
        if specs and tracker is None and not specs[0].eager:
            self.close()
            if not self.calls and not self.errors and not self.settled:
                self.plan.look(self)
            return
        self.close()

    # -- calls -------------------------------------------------------------------------------------------------

    def begin(self, i: int) -> None:
        """A call starts at ``buf[i]``."""
        at = self.call_start = self.body_at = self.base + i
        self.section_at = None
        self.value_at = self.read_at = None
        self.index += 1
        if self.index >= self.limits.calls:
            self.check_index(at)
        self.name = None
        self.server = ""
        self.id = None
        self.made_id = None
        self.args = None
        self.json = None
        self.founds = None
        self.raw_span = None
        self.fault = None
        self.started = False
        self.own_opener = True
        if self.live and self.unit is None:
            self.keep(i)

    def check_index(self, at: int) -> None:
        """Stop at too many calls."""
        if self.index >= self.limits.calls:
            raise LimitError(f"more than {self.limits.calls} calls in one output", "calls", at)

    def start_call(self) -> None:
        """The name is known and the arguments begin."""
        if not self.started and self.undo is None:
            self.started = True
            tools = self.tools
            if self.live and (tools is None or self.name in tools.names):
                assert self.name is not None
                call_id = self.id
                late = getattr(self.resume, "late_ids", False)
                if call_id is None and self.ids == "synthesize" and not late:
                    call_id = self.made_id = synthesize()
                at = self.base + self.pos
                self.delta_at = max(at, 0)
                span = (max(self.call_start or 0, 0), self.delta_at)
                self.events.append(ToolCallStart(self.index, call_id, self.name, span))
            elif self.live:
                self.started = False

    def delta(self, text: str) -> None:
        """A piece of the arguments' JSON text, for formats that build it."""
        if self.live and self.started:
            start = self.delta_at
            end = self.delta_at = max(self.base + self.pos, start)
            self.events.append(ToolCallDelta(self.index, text, (start, end)))

    def finish(self, found: Found, span: Span, held: Held | None = None) -> None:
        """A complete call: check it and give it out. ``held``: text that holds it, if `region` does not."""
        tools = self.tools
        self.name = found.name
        if self.undo is not None and (self.mender is None or not self.mender.opened(self, self.undo, found, span)):
            return  # and then `undo` is there: it is text
        if not found.name or len(found.name) > self.limits.name:
            what = "is empty" if not found.name else "is longer than the limit"
            self.id = found.id
            self.report(Fault("tool_call.invalid_name", span[0], f"the tool name {what}"), span, True, held)
            return
        if tools is not None and found.name not in tools.names:
            if self.unit is not None:
                self.unit_prose = True  # in untagged text an undeclared name is prose
                return
            near = tools.nearest(found.name)
            known = ", ".join(map(repr, near)) if near else "one of the declared tools"
            at = found.name_at if found.name_at is not None else span[0]
            text = f"no tool {found.name[:80]!r} is declared"
            self.id = found.id
            self.report(Fault("tool_call.unknown_tool", at, text, known), span, True, held)
            return
        call_id = found.id
        synthesized = False
        if call_id is None and self.ids == "synthesize":
            call_id = self.made_id or synthesize()
            synthesized = True
        call = ToolCall(
            found.name,
            found.arguments,
            call_id,
            synthesized,
            self.index,
            self.fmt,
            found.raw,
            span,
            found.kind,
            found.input,
            {} if found.extra is None else found.extra,
            found.json,
        )
        if self.live and not self.started:
            self.events.append(ToolCallStart(self.index, call_id, found.name, (span[0], span[0])))
            self.events.append(ToolCallDelta(self.index, call.arguments_json, span))
        self.made_id = None
        if self.unit is not None:
            self.unit.append((call, span))
            return
        self.made(call, span, held)

    def made(self, call: ToolCall, span: Span, held: Held | None = None) -> None:
        """The call counts, if it fits the tool's schema where that is asked."""
        checks = self.checks
        if checks is None and self.mender is not None:
            checks = self.mender.checks(self, call)
        if checks is not None and call.kind == "function":
            judged = checks.judge(call)
            if judged is not None and not self.judge(call, judged, span, held):
                return
        if self.live:
            self.events.append(ToolCallEnd(call.index, call, span))
        if self.run_kind >= 0:
            self.flush()
        self.calls.append(call)
        self.parts.append(CallPart(call, span))

    def judge(self, call: ToolCall, judged: Judged, span: Span, held: Held | None) -> bool:
        """Note what was mended in a call, or what is wrong with it; whether it counts."""
        text = self.region(*span) if held is None else held[0][span[0] - held[1] : span[1] - held[1]]
        at = span[0] + max(0, text.find(call.raw_arguments or ""))
        if not judged.violations:
            moved = [
                replace(one, span=(one.span[0] + at, one.span[1] + at) if one.span else span) for one in judged.repairs
            ]
            self.repairs += moved
            return True
        found = tuple(
            replace(one, span=(one.span[0] + at, one.span[1] + at) if one.span else span) for one in judged.violations
        )
        first = found[0]
        from ..schema.check import headline

        where = first.span or span
        text = headline(first.message, len(found), judged.more)
        refused = call, judged._replace(violations=found)
        self.report(Fault("schema.violation", where[0], text, first.expected), span, True, held, refused)
        return False

    def begin_unit(self, i: int) -> None:
        """A list of calls begins, which is one unit."""
        self.unit = []
        self.unit_at = self.base + i
        if self.live:
            self.keep(i)

    def end_unit(self) -> None:
        """The list is closed."""
        unit = self.unit
        if self.unit_prose:
            self.put(0, self.drop_unit(), self.region(self.unit_at, self.base + self.pos))
            self.kept = None
            return
        self.unit = None
        for call, span in unit or ():
            self.made(call, span)
        self.kept = None

    def drop_unit(self) -> int:
        """The list is broken: none of its calls was made. Gives where it began."""
        self.unit = None
        self.unit_prose = False
        at = self.unit_at
        self.cut_separators(at)
        return at

    # -- errors ------------------------------------------------------------------------------------------------

    def report(
        self,
        fault: Fault,
        span: Span,
        in_call: bool = True,
        held: Held | None = None,
        refused: tuple[ToolCall, Judged] | None = None,
    ) -> None:
        """An error whose region is known. ``refused``: a complete call, and in what it does not fit the schema."""
        if self.run_kind >= 0:
            self.flush()
        if in_call and self.mender is not None and refused is None and self.mender.mend(self, fault, span, held):
            return
        at = fault.at
        line, column = self.where(at, held)
        raw = self.region(*span) if held is None else held[0][span[0] - held[1] : span[1] - held[1]]
        if span[0] < 0:
            raw = raw[-span[0] :]
            span = (0, span[1])
        cls = TruncatedError if fault.end else ParseError
        error = cls(
            fault.text,
            fault.code,
            position=max(at, 0),
            line=line,
            column=column,
            expected=fault.expected,
            call_index=self.index if in_call else None,
            name=(self.name or fault.name) if in_call else None,
            format=self.fmt,
            raw=raw,
            span=span,
            id=(self.id or fault.id) if in_call else None,
        )
        if refused is not None:
            error.call, judged = refused
            error.violations, error.more_violations = judged.violations, judged.more
            error.id = None if error.call.id_synthesized else error.call.id
            error.call_index, error.name, error.format = error.call.index, error.call.name, error.call.format
            error.partial_arguments = error.call.arguments
        elif in_call:
            error.partial_arguments = self.certain(raw, span, held is not None)
        self.add_error(error, span)

    def certain(self, raw: str, span: Span, untagged: bool) -> dict[str, Any] | None:
        """The arguments of the broken call that are complete; None if none has begun."""
        at = self.value_at
        if at is not None and span[0] <= at < span[1]:
            return complete_members(raw, at - span[0], self.value_keys)
        if untagged:
            return None
        founds = self.founds
        if founds is None:
            return self.args
        return founds[0].arguments if len(founds) == 1 and founds[0].kind == "function" else None

    def stumble(self) -> None:
        """Something that looked like a call was none."""
        self.broken += 1
        if self.broken == 32:
            self.wary = True
            self.fast = False

    def add_error(self, error: ParseError, span: Span | None) -> None:
        """Give out an error."""
        self.stumble()
        if self.tools is not None:
            self.tools.explain(error)
        self.errors.append(error)
        if span is not None:
            self.sep_break = span[1]
        if len(self.errors) > self.limits.calls:
            raise LimitError(f"more than {self.limits.calls} errors in one output", "calls", error.position)
        if self.live:
            self.events.append(ErrorEvent(error, span))
        if self.probe:
            self.bad = span[1] if span else 0
            raise Stop

    def fail(self, fault: Fault, start: int | None = None) -> Op:
        """The call is broken at ``fault.at``: give it up and look for where to go on.

        ``start`` is where the region begins if no call is open.
        """
        if self.undo is not None:
            return self.give_up(self.undo)
        self.st = None
        if self.call_start is None:
            # between the calls of a section: what is wrong begins where it stands
            self.call_start = fault.at if start is None else start
            if self.section_at is not None:
                # nothing but the opener: it belongs to what is broken
                self.call_start = self.section_at
                self.section_at = None
                self.cut_separators(self.call_start)
            self.own_opener = False
            self.index += 1
            self.name = self.id = None
            self.value_at = self.read_at = None
            self.args = None
            self.founds = None
            if self.live and self.unit is None and self.kept is None:
                self.keep(self.call_start - self.base)
        self.fault = fault
        # Search from the fault on, also where that was consumed already: the same however the text was cut.
        at = fault.at - self.base
        if fault.end:
            at = len(self.buf)
        if at < 0:
            self.rewind()
            if self.live:
                self.keep(0)
                self.kept_from = self.base
            at = fault.at - self.base
        self.pos = at
        return self.plan.recover

    def give_up(self, undo: Undo) -> Op:
        """What was read as a call whose opener is missing is none: go back, it is text."""
        start = undo.at - len(undo.lead)
        if undo.at < self.base:
            self.rewind()
        if start < self.base:
            self.buf = undo.lead + self.buf
            self.base = start
            self.prev, self.lines, self.line_start, self.mark = undo.prev, undo.lines, undo.line_start, None
        self.undo = None
        self.tried = undo.sign
        self.guesses += 1
        self.index = undo.last
        self.call_start = self.kept = self.fault = self.st = self.founds = None
        self.started = self.after_markup = False
        self.scan = self.ws_to = NEVER
        self.cut_separators(start)
        self.pos = start - self.base
        return self.plan.text

    def expected(self, what: str, code: str = "tool_call.expected_markup", *, ended: bool = False) -> Op:
        """Something else stands at ``pos`` than the format wants there; ``ended``: only its beginning."""
        at = self.base + self.pos
        if ended or self.pos >= len(self.buf):
            code = "tool_call.truncated" if self.cut else "tool_call.unexpected_end"
            end = self.base + len(self.buf)
            return self.fail(Fault(code, end, f"the text ends where {what} was expected", what, True), at)
        char = self.buf[self.pos]
        shown = repr(char) if char.isprintable() and char != " " else f"U+{ord(char):04X}"
        return self.fail(Fault(code, at, f"expected {what}, found {shown}", what))

    def unrecognized(self, what: str, *, ended: bool = False) -> Op | None:
        """What stands in the markup is no call: ``what`` is missing from it. None: more text shows where it begins."""
        at = self.base + self.pos
        if self.call_start is not None and self.name is None:
            # No more of it than is looked at: there may be a call's opener in every few characters.
            body = self.region(self.body_at, min(self.base + len(self.buf), self.body_at + self.limits.name + 1))
            white = min(len(body) - len(body.lstrip()), self.limits.name)
            if white == len(body) < self.limits.name and not self.final:
                return None
            at = self.body_at + white
        ended = ended or self.pos >= len(self.buf)
        text = f"what stands in the markup is not a tool call: expected {what}"
        return self.fail(Fault("tool_call.unrecognized", at, text, what, ended))

    def truncated(self, what: str) -> Op:
        """The text ends inside ``what``."""
        self.pos = len(self.buf)
        code = "tool_call.truncated" if self.cut else "tool_call.unexpected_end"
        return self.fail(Fault(code, self.base + self.pos, f"the text ends inside {what}", None, True))


def synthesize() -> str:
    """A new call id."""
    return "call_" + urandom(12).hex()
