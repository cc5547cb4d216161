"""What ``on_error="repair"`` does with a broken call, before it becomes an error.

A mend is a list of edits of the broken region's text. The format then reads the edited text, strictly, by the
operations that read the sound one; what it makes of it counts if it is calls and nothing but calls, of declared tools
and with arguments that fit them. So no mend knows how a format is read, and none can make a call that the format
would not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from ..errors import Fault, LimitError, ParseError, TruncatedError
from ..repair.arguments import allowed, decoded
from ..repair.edits import Edit, Edited, Unmendable
from ..repair.json_text import mend_json
from ..types import Repair, Span, TextPart, ToolCall, json_text
from ..values.json import quote, scan
from . import shapes
from .machine import Found, Held, Machine
from .untagged import Tracker

if TYPE_CHECKING:
    from .ops import Begin
    from .plan import Plan

_BRACKET = re.compile(r"[{\[]")
_OF_TAGS = frozenset(("repair.missing_tag", "repair.tag_drift"))
# How many tags of one call may be missing or misspelled.
_TAGS = 5
_READS = 24  # of one region, whatever is tried
_MISSING = frozenset(
    (
        "tool_call.expected_markup",
        "tool_call.unexpected_end",
        "tool_call.truncated",
        "tool_call.unrecognized",
        "json.trailing_characters",
    )
)
_ODD_TAG = re.compile(r"[ \t\r\n]{0,64}(<[ \t]{0,8}/?[ \t]{0,8}[\w:.|-]{1,64}[ \t\r\n]{0,8}>?)")
_TAG_IN = re.compile(r"</?[\w:.|-]{1,64}[=>]")


# Mends that say where something ends.
_ENDS = frozenset(("repair.inner_quote", "repair.missing_bracket", "repair.single_quotes"))


class Region:
    """A broken call: its text and what is known of it."""

    __slots__ = ("begin", "fault", "json_at", "m", "open", "reads", "span", "text")

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
        alone = held is None and m.own_opener and m.unit is None and span[0] == m.call_start
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

    ``everything`` gives the plan of all formats that can be detected.
    """

    def __init__(self, everything: Callable[[], Plan]) -> None:
        self.everything = everything

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

    def rungs(self, region: Region) -> Iterator[Iterable[list[Edit]]]:
        """Ways to mend it, the likeliest first; each gives one list of edits for each reading that it sees."""
        pos = _json_at(region)
        if pos is not None:
            yield _json(region, pos, extra=False)
            yield _json(region, pos, extra=True)
            yield _encoded(region, pos)
        else:
            yield _drifted(region)
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
            edits = [*edits, _tag(region, edited, error)]
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
        if m.plan.detect or m.tools is None or region.begin is None or (region.open and not m.ended_itself):
            return
        try:
            calls, error, end = region.read(region.text, self.everything())
        except Unmendable:
            return
        edited = Edited(region.text, [])
        tags = any(_TAG_IN.search(call.arguments_json) for call in calls)  # may be this format's, read as data
        if error is None and not tags and self.allowed(region, edited, calls):
            after = "\n".join(json_text({"name": c.name, "arguments": c.arguments}) for c in calls)
            repair = Repair("repair.wrong_dialect", region.span, region.text, after)
            yield Mended(edited, calls, end, [repair])

    def allowed(self, region: Region, edited: Edited, calls: list[ToolCall]) -> bool:
        """Whether what was read may be made."""
        m = region.m
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


def _tag(region: Region, edited: Edited, error: ParseError) -> Edit:
    """The tag that the format misses in the edited text: put in, or put right where it is spelled in another way."""
    expected, at = error.expected, error.position
    if error.code not in _MISSING or expected is None or at is None or len(expected) < 5 or expected[0] not in "'\"":
        raise Unmendable
    tag = expected[1:-1]
    if "\\" in tag or tag[0] not in "<[":
        raise Unmendable
    text = edited.text
    if isinstance(error, TruncatedError):
        if region.open and not region.m.ended_itself:
            raise Unmendable  # it may have been cut off
        at = len(text.rstrip(" \t\r\n"))
    found = _ODD_TAG.match(text, at)
    closes = tag in region.closers
    if found is not None and _squeezed(found[1]) == _squeezed(tag) and (closes or found[1].endswith(">")):
        return Edit(edited.origin(found.start(1)), edited.origin(found.end(1)), tag, "repair.tag_drift")
    if not closes:
        raise Unmendable  # what it was to open or close would begin or end where it is put
    at = edited.origin(at)
    return Edit(at, at, tag, "repair.missing_tag")


def _drifted(region: Region) -> Iterator[list[Edit]]:
    """Closers that are spelled in another way, where values are bare text and would go on beyond them."""
    tags = {_squeezed(tag): tag for tag in region.closers if tag[0] == "<"}
    edits = [
        Edit(match.start(1), match.end(1), tags[_squeezed(match[1])], "repair.tag_drift")
        for match in _ODD_TAG.finditer(region.text)
        if match[1] not in region.closers and _squeezed(match[1]) in tags
    ]
    if len(edits) == 1:
        yield edits


def _squeezed(tag: str) -> str:
    return "".join(tag.split()).lower().removesuffix(">")


def _own(edited: Edited, call: ToolCall) -> str | None:
    """The model's own characters of a call's arguments."""
    raw = call.raw_arguments
    if raw is None or call.span is None:
        return None
    a = edited.text.find(raw, *call.span)
    return None if a < 0 else edited.kept(a, a + len(raw))


def _json_at(region: Region) -> int | None:
    """Where the JSON stands in which the call is broken."""
    if region.json_at is not None:
        return region.json_at
    at = region.fault.at - region.span[0]
    if region.fault.code == "tool_call.unrecognized":
        return at if region.text.startswith('"', at) else None
    if region.fault.code.startswith("json.") or region.fault.code == "tool_call.invalid_arguments":
        # The value was read, and what is wrong stands in it or behind it.
        span = region.m.raw_span
        if span is not None and span[0] >= region.span[0]:
            return span[0] - region.span[0]
        first = _BRACKET.search(region.text)
        return None if first is None else first.start()
    return None


def _mends(
    region: Region, text: str, pos: int, stops: tuple[str, ...], *, extra: bool
) -> Iterator[tuple[list[Edit], int]]:
    m = region.m
    closed = m.ended_itself or not region.open
    return mend_json(
        text,
        pos,
        stops=stops,
        closed=closed,
        quotes=m.tools is not None,
        extra=extra,
        within=region.begin is not None,
        depth=m.limits.depth,
    )


def _json(region: Region, pos: int, *, extra: bool) -> Iterator[list[Edit]]:
    """Damage in a call's JSON. ``extra``: brackets too many, which the format itself may have behind the JSON."""
    for edits, _ in _mends(region, region.text, pos, region.stops, extra=extra):
        if edits and extra == any(edit.code == "repair.extra_bracket" for edit in edits):
            yield edits


def _encoded(region: Region, pos: int) -> Iterator[list[Edit]]:
    """JSON that was encoded once more than the format has it, or that is damaged inside the string that holds it."""
    text = region.text
    if text.startswith('"', pos):
        found = scan(text, pos, region.m.limits.depth)
        literal = None if found is None else (found[0], pos, found[1])
    else:
        parsed = shapes.members(text, pos, region.m.limits.depth) if text.startswith("{", pos) else None
        strings = [] if parsed is None else [one for one in parsed[0].values() if _holds_json(one[0])]
        literal = strings[0] if len(strings) == 1 else None
    at = region.fault.at - region.span[0]
    if literal is None or not (literal[1] <= at < literal[2]):
        return
    inner, a, b = literal
    for one in decoded(inner, region.m.limits.depth, quotes=region.m.tools is not None):
        yield [Edit(a, b, one, "repair.double_encoded")]


def _holds_json(value: Any) -> bool:
    return isinstance(value, str) and value.lstrip()[:1] in ("{", '"', "`") and bool(value.strip())
