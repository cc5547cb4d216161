"""What ``on_error="repair"`` does with a broken call, before it becomes an error.

A mend is a list of edits of the broken region's text. The format then reads the edited text, strictly, by the
operations that read the sound one; what it makes of it counts if it is calls and nothing but calls, of declared tools
and with arguments that fit them. So no mend knows how a format is read, and none can make a call that the format
would not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from ..errors import Fault, LimitError, ParseError, TruncatedError
from ..repair.arguments import allowed
from ..repair.edits import Edit, Edited, Unmendable
from ..schema.coerce import holds_json
from ..types import Repair, Span, TextPart, ToolCall, json_text
from ..values.json import quote, scan
from .machine import Found, Machine, Undo
from .mendtags import closed, drifted, missing, respelled
from .mendvalues import damaged, encoded, json_at, literals, renamed
from .output import Held
from .untagged import Tracker

if TYPE_CHECKING:
    from ..schema.check import Checks
    from .ops import Begin
    from .plan import Plan

_OF_TAGS = frozenset(("repair.missing_tag", "repair.missing_opener", "repair.tag_drift"))
# How many tags of one call may be missing or misspelled.
_TAGS = 5
_READS = 24  # of one region, whatever is tried
_WORD = r"[\w:.|\uff5c\u2581-]{1,64}"
_TAG_IN = re.compile(rf"<[ \t]{{0,8}}(?:/[ \t]{{0,8}}{_WORD}|{_WORD}(?:\s{{1,8}}{_WORD})?\s{{0,8}}[=>])")


# Mends that say where something ends.
_ENDS = frozenset(("repair.inner_quote", "repair.missing_bracket", "repair.single_quotes"))


class Region:
    """A broken call: its text and what is known of it."""

    __slots__ = ("alone", "begin", "fault", "json_at", "m", "open", "reads", "span", "text")

    def __init__(self, m: Machine, fault: Fault, span: Span, held: Held | None) -> None:
        self.m = m
        self.fault = fault
        self.reads = 0
        self.span = span
        self.text = m.region(*span) if held is None else held[0][span[0] - held[1] : span[1] - held[1]]
        # Without a closer it goes on to the end of the output: it may have been cut off.
        self.open = m.open_end or fault.end
        begin: Begin | None = m.resume
        # One call, from its opener on; else what may be a list of calls, or a message of a hand-written machine.
        self.alone = alone = held is None and m.unit is None and span[0] == m.call_start
        alone = alone and (m.own_opener or span[0] == fault.at)  # or behind another call of its section
        self.begin = begin if alone and begin is not None and begin.next is not None else None
        at = m.value_at
        self.json_at = None if at is None or not span[0] <= at < span[1] else at - span[0]

    @property
    def closers(self) -> tuple[str, ...]:
        """The literals that close the call or what it stands in."""
        begin: Begin | None = self.m.resume
        return () if begin is None else tuple(text for text in (*begin.closers, *begin.section_closers) if text)

    @property
    def stops(self) -> tuple[str, ...]:
        """Literals behind which no more of the call comes."""
        ends = self.m.plan.ends
        return self.closers if ends is None else self.closers + ends.texts

    def read(self, text: str, plan: Plan | None = None) -> tuple[list[ToolCall], ParseError | None, int]:
        """What ``text`` is, read strictly: its calls and where they end, or an error.

        Raises `Unmendable` if there is anything else. ``plan``: in what to read it, if not in the region's format.
        """
        m = self.m
        self.reads += 1
        if self.reads > _READS:
            raise Unmendable
        sub = Machine(plan or m.plan)
        sub.tools = m.tools
        sub.limits = m.limits
        sub.fmt = m.fmt
        sub.final = True
        sub.cut = not self.open or m.cut  # whatever closes the call has to be there, if something closed it
        try:
            if self.begin is None or plan is not None:
                untagged = sub.plan.untagged
                if untagged and untagged[0].eager:
                    sub.tracker = Tracker(untagged)
                sub.run_whole(text)
            else:
                # From the call on, and then what may stand behind it: further calls of its list, the turn's end.
                sub.buf = text
                sub.after_markup = False
                sub.op = self.begin
                sub.close()
        except LimitError:
            raise Unmendable from None
        if sub.errors:
            error = sub.errors[0]
            start = 0 if error.span is None else error.span[0]
            if not isinstance(error, TruncatedError) or not sub.calls or text[start:].strip(" \t\r\n") or sub.said:
                return [], error, 0
            # What closes the section around the call stands behind the region.
            return sub.calls, None, len(text)
        texts = [part.span for part in sub.parts if isinstance(part, TextPart) and not part.text.isspace()]
        if not sub.calls or sub.thought or len(texts) > 1:
            raise Unmendable
        end = len(text) if not texts or texts[0] is None else texts[0][0]
        if sub.calls[-1].span is None or end < sub.calls[-1].span[1]:
            raise Unmendable
        return sub.calls, None, end


class Mended:
    """A reading of a region: its calls, what was edited, and where in the edited text the calls end."""

    __slots__ = ("calls", "edited", "end", "repairs")

    def __init__(self, edited: Edited, calls: list[ToolCall], end: int, repairs: list[Repair]) -> None:
        self.edited = edited
        self.calls = calls
        self.end = end
        self.repairs = repairs


class Mender:
    """Mends what a machine would report as an error. Without state: one for all.

    ``everything`` gives the plan of all formats that can be detected, ``bodies`` those of calls without markup.
    """

    def __init__(self, everything: Callable[[], Plan], bodies: Callable[[], list[Plan]]) -> None:
        self.everything = everything
        self.bodies = bodies

    def mend(self, m: Machine, fault: Fault, span: Span, held: Held | None) -> bool:
        """Mend the call at ``span``, which is broken by ``fault``. Whether its calls were made instead."""
        if m.plain is not None or span[0] < 0 or (m.cut and (m.open_end or fault.end)):
            # Edits would move what the caller said of the tokens; the prompt's text is not ours; it was cut off.
            return False
        region = Region(m, fault, span, held)
        for readings in self.rungs(region):
            found = list(self.sound(region, readings))
            if len(found) > 1:
                return False  # it would have to be guessed which is meant
            if found:
                make(region, found[0], held)
                return True
        found = list(self.other(region))
        if found:
            make(region, found[0], held)
        return bool(found)

    def checks(self, m: Machine, call: ToolCall) -> Checks | None:
        """What decodes strings of a complete call, if one may hold the array or object that its tool wants."""
        if m.tools is None or not holds_json(call.arguments):
            return None
        from ..schema.check import Checks

        return Checks.of(m.tools, False, "decode")

    def opened(self, m: Machine, undo: Undo, found: Found, span: Span) -> bool:
        """Whether a complete call whose opener is missing may be made: then it is said."""
        tool = None if m.tools is None else m.tools.get(found.name)
        begin: Begin = m.resume
        edit = Edit(0, 0, undo.opener, "repair.missing_opener")
        text = m.region(*span)
        if tool is None or not text.endswith(begin.closers) or marked(m, found):
            return False
        if found.kind == "function" and not allowed(found.arguments, tool.parameters, [edit]):
            return False
        m.undo = None
        m.settled = True
        if m.tracker is not None:
            m.tracker.tagged(m)
        m.sep_at(undo.at - len(undo.lead), undo.at)
        m.repairs.append(Repair(edit.code, (undo.at, undo.at), "", edit.after))
        return True

    def rungs(self, region: Region) -> Iterator[Iterable[list[Edit]]]:
        """Ways to mend it, the likeliest first; each gives one list of edits for each reading that it sees."""
        pos = json_at(region)
        if pos is not None:
            yield damaged(region, pos, extra=False)
            yield damaged(region, pos, extra=True)
            yield encoded(region, pos)
            yield renamed(region, pos)
        else:
            yield drifted(region)
            yield closed(region)
            yield respelled(region)
            yield literals(region)
        yield iter([[]])

    def sound(self, region: Region, readings: Iterable[list[Edit]]) -> Iterator[Mended]:
        """The readings that are calls, and nothing but calls, that may be made."""
        try:
            for edits in readings:
                try:
                    mended = self.settle(region, edits)
                except Unmendable:
                    continue
                if mended.repairs and self.allowed(region, mended.edited, mended.calls):
                    yield mended
        except Unmendable:
            return

    def settle(self, region: Region, edits: list[Edit]) -> Mended:
        """Read with these edits, and with tags put in or put right where the format misses them."""
        for _ in range(_TAGS):
            edited = Edited(region.text, edits)
            calls, error, end = region.read(edited.text)
            if error is None:
                rest = edited.text[end:]
                if rest:
                    self.check_rest(region, edited, end, rest)
                return Mended(edited, calls, end, edited.repairs(region.span[0]))
            edits = [*edits, missing(region, edited, error)]
        raise Unmendable

    @staticmethod
    def check_rest(region: Region, edited: Edited, end: int, rest: str) -> None:
        """What stands behind a call is text, if it cannot be more of the call (whose closer was put in, maybe)."""
        last = max((edit for edit in edited.edits if edit.code in _OF_TAGS), default=None)
        at_tag = last is None or (
            edited.text[:end].rstrip(" \t\r\n").endswith(last.after)
            and not region.text[last.end : edited.origin(end)].strip(" \t\r\n")
        )
        if not at_tag or rest.lstrip()[0] in "{}[]\"',:<`" or any(closer in rest for closer in region.closers):
            raise Unmendable

    def other(self, region: Region) -> Iterator[Mended]:
        """Calls of another format where calls of this one should be."""
        m = region.m
        if m.tools is None or not region.alone or (region.open and not m.ended_itself):
            return
        if not m.plan.detect:
            yield from self.read_as(region, region.text, 0, self.everything())
        a = m.body_at - region.span[0]
        body = region.text[a:]
        for text in region.closers:
            body = body.removesuffix(text)
        if a > 0 and body.strip():
            for plan in self.bodies():
                yield from self.read_as(region, body.strip(), len(region.text), plan)

    def read_as(self, region: Region, text: str, end: int, plan: Plan) -> Iterator[Mended]:
        """The calls that ``text`` is in other formats. ``end``: of the region, where the text is its body."""
        try:
            calls, error, stop = region.read(text, plan)
        except Unmendable:
            return
        if end and stop < len(text):
            return
        edited = Edited(region.text, [])
        tags = any(_TAG_IN.search(call.arguments_json) for call in calls)  # may be this format's, read as data
        if error is None and not tags and self.allowed(region, edited, calls):
            after = "\n".join(json_text({"name": c.name, "arguments": c.arguments}) for c in calls)
            repair = Repair("repair.wrong_dialect", region.span, region.text, after)
            if end:
                for call in calls:
                    call.span = None
            yield Mended(edited, calls, end or stop, [repair])

    def allowed(self, region: Region, edited: Edited, calls: list[ToolCall]) -> bool:
        """Whether what was read may be made."""
        m = region.m
        if in_string(region, edited):
            return False
        for call in calls:
            if not call.name or len(call.name) > m.limits.name:
                return False
            tool = None if m.tools is None else m.tools.get(call.name)
            if m.tools is not None and tool is None:
                return False
            if call.kind == "function":
                schema = None if tool is None else tool.parameters
                if not allowed(call.arguments, schema, edited.edits) or markup(m, edited, call):
                    return False
        return True


def make(region: Region, mended: Mended, held: Held | None) -> None:
    """Give out the calls, and what stands behind them as text."""
    m = region.m
    m.stumble()  # each costs what the failed fast way reads of the whole text
    edited = mended.edited
    start = region.span[0]
    end = start + edited.origin(mended.end)
    m.repairs += mended.repairs
    at = start
    for i, call in enumerate(mended.calls):
        if i:
            m.index += 1
            m.check_index(at)
            m.started = False
        last = i == len(mended.calls) - 1
        stop = end if last or call.span is None else start + edited.origin(call.span[1])
        found = Found(call.name, call.arguments, _own(edited, call), call.arguments_json)
        found.id = call.id
        found.kind = call.kind
        found.input = call.input
        found.extra = call.extra
        found.span = (at, stop)
        m.finish(found, (at, stop), held)
        at = stop
    m.started = False
    if end < region.span[1]:
        m.put(0, end, region.text[end - start :])


def marked(m: Machine, found: Found) -> bool:
    """Whether a value without quotes holds markup: more may be damaged than the opener, and the value end before."""
    raw, json = found.raw, found.json
    if json is None or raw == json or not (_TAG_IN.search(json) or any(one in json for one in m.plan.call_literals)):
        return False
    return scan(raw, 0, m.limits.depth) is None if raw else True


def in_string(region: Region, edited: Edited) -> bool:
    """Whether brackets were put in between a string and what closes the call: that may stand in the string."""
    text = region.text
    for edit in edited.edits:
        if edit.code == "repair.missing_bracket" and text[: edit.start].rstrip(" \t\r\n")[-1:] in ('"', "'"):
            rest = text[edit.end :].lstrip(" \t\r\n")
            if rest.startswith(region.stops) if rest else not region.open:
                return True
    return False


def markup(m: Machine, edited: Edited, call: ToolCall) -> bool:
    """Whether a string that was given its end holds what begins a call: the region may have ended in a string."""
    codes = {edit.code for edit in edited.edits}
    text = call.arguments_json
    if not codes.isdisjoint(_OF_TAGS):
        # A tag that was put in may leave the true one, or what stands around it, in a value.
        begin: Begin | None = m.resume
        tags = {edit.after for edit in edited.edits} - {""}
        tags |= set(() if begin is None else (*begin.closers, *begin.section_closers, *(begin.first() or ())))
        if any(len(tag) > 2 and quote(tag)[1:-1] in text for tag in tags) or _TAG_IN.search(text):
            return True
    return not _ENDS.isdisjoint(codes) and any(literal in text for literal in m.plan.call_literals)


def _own(edited: Edited, call: ToolCall) -> str | None:
    """The model's own characters of a call's arguments."""
    raw = call.raw_arguments
    if raw is None or call.span is None:
        return None
    a = edited.text.find(raw, *call.span)
    return None if a < 0 else edited.kept(a, a + len(raw))
