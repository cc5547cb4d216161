"""A history as a provider wants it: what came from it as it was, the rest grouped, ordered and with ids that fit."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from ..errors import ConversionError
from ..history import HistoryRepair, SystemMessage, Turn, UserMessage, UserPart
from ..schema.names import NameRule
from ..types import CallPart, ImagePart, Message, OpaquePart, ReasoningPart, TextPart, ToolCall, ToolResult
from ._told import fit_part, fit_result, told_to, whole_items
from ._turns import SOURCE, reread, turn_list
from ._writing import Writing, behind_calls, message_parts, pair, says_error

if TYPE_CHECKING:
    from ._base import WireProvider

__all__ = ["calls_of", "owners", "write_turns"]

_ANY: Final = NameRule(r"\x00-\U0010ffff", 1_000_000)
# What is said of a part of a message that was left out.
_PARTS: Final = ("loss.part", "loss.reasoning")
_NUMBERED: Final = re.compile(r"\$\[(\d+)\](.*)", re.DOTALL).fullmatch


def calls_of(turn: Turn) -> list[ToolCall]:
    """The calls of a turn that the caller has to answer."""
    if not isinstance(turn, Message):
        return []
    return [part.call for part in message_parts(turn) if isinstance(part, CallPart) and part.call.kind != "server"]


def owners(turns: Sequence[Turn]) -> list[int | None]:
    """For each turn that is a result the number of the message whose call it answers; else None.

    Ids may come again in later turns: the message is the nearest before the result.
    """
    found: list[int | None] = []
    latest: dict[str, int] = {}
    last: int | None = None
    for number, turn in enumerate(turns):
        owner = None
        if isinstance(turn, ToolResult):
            owner = last if turn.tool_call_id is None else latest.get(turn.tool_call_id)
        elif isinstance(turn, Message):
            for error in turn.errors:  # the result of a call that could not be read is not that of an earlier one
                if error.id is not None:
                    latest.pop(error.id, None)
            calls = calls_of(turn)
            last = number if calls else last
            latest.update((call.id, number) for call in calls if call.id is not None)
        found.append(owner)
    return found


def write_turns(
    provider: WireProvider, history: Sequence[Turn], out: Writing, where: list[str] | None = None
) -> dict[str, Any]:
    """The members of a request that hold ``history``; ``where`` says of each turn where the caller had it."""
    from ._repair import mend, stub_tools

    turns = turn_list(history)
    places = [f"$[{number}]" for number in range(len(turns))] if where is None else where
    if out.repair:
        turns, places = mend(provider, turns, places, out)
    written = _Writer(provider, turns, places, out, where is None).write()
    return {**written, **stub_tools(provider, turns, out)} if out.repair else written


class _Writer:
    """One history while it is written."""

    def __init__(self, provider: WireProvider, turns: list[Turn], where: list[str], out: Writing, exact: bool) -> None:
        self.provider = provider
        self.turns = turns
        self.where = where
        self.out = out
        self.exact = exact  # `where` are paths to the turns themselves, so there is something below them
        self.items: list[tuple[Any, bool]] = []  # a message, and whether it is as it was
        self.owner = owners(turns)
        self.groups: dict[int, list[int]] = {}
        for number, owner in enumerate(self.owner):
            if owner is not None:
                self.groups.setdefault(owner, []).append(number)
        self.kept = self._unchanged()
        self.moved = self._regrouped()
        self.ids = self._ids()

    def write(self) -> dict[str, Any]:
        """The members of the request."""
        system: list[int] = []
        alone: list[int] = []
        first: list[int] = []  # system messages that may not stand where they do
        begun = False
        head = 0
        for number, turn in enumerate(self.turns):
            anew = not self.kept[number]
            if alone and not (anew and isinstance(turn, ToolResult)):
                self._results(None, alone)
                alone = []
            if isinstance(turn, SystemMessage):
                if self._apart(number, turn):
                    system.append(number)
                    if begun and anew:
                        self.out.lost("loss.moved", self.where[number], "now part of the one system prompt")
                    continue
                if anew and not self.provider.system_fits(self.items[-1][0] if self.items else None):
                    first.append(number)
                    self.out.lost("loss.moved", self.where[number], "now at the beginning")
                    continue
            elif not begun:
                head = len(self.items)
            begun = begun or not isinstance(turn, SystemMessage)
            if not anew:
                source = turn.extra[SOURCE]
                if source["place"] == 0:
                    self.items += [(item, True) for item in source["items"]]
            elif not isinstance(turn, ToolResult):
                self._turn(number, turn)
            elif self.owner[number] is None:
                alone.append(number)
            if number in self.moved:
                self._results(number, self.groups[number])
            elif anew and number not in self.groups and number != len(self.turns) - 1:
                for call in calls_of(turn):
                    self.out.lost("loss.result_missing", self.where[number], f"{call.name!r} ({call.id}) has no result")
        if alone:
            self._results(None, alone)
        if first:
            items, self.items = self.items, []
            for number in first:
                self._turn(number, self.turns[number])
            self.items = [*items[:head], *self.items, *items[head:]]
        return self.provider.write_request(self._joined(), self._system(system))

    def _apart(self, number: int, turn: SystemMessage) -> bool:
        """Whether a system message goes into the request's own member."""
        provider = self.provider
        source = turn.extra.get(SOURCE)
        stood = isinstance(source, dict) and "system" in source
        if self.kept[number] or provider.system_inside:
            return stood and source["provider"] == provider.provider.value  # type: ignore[index]
        return provider.system_member is not None

    # -- what goes back as it was

    def _unchanged(self) -> list[bool]:
        """For each turn whether it came from this provider, and still says what it said then."""
        kept = [False] * len(self.turns)
        for number, turn in enumerate(self.turns):
            source = turn.extra.get(SOURCE)
            if isinstance(source, dict) and source["place"] == 0 and source["provider"] == self.provider.provider.value:
                unit = self.turns[number : number + source["count"]]
                read = reread(self.provider, source)
                if len(unit) == len(read) and all(map(_same, unit, read)):
                    kept[number : number + len(unit)] = [True] * len(unit)
        return kept

    def _regrouped(self) -> set[int]:
        """The messages whose results are written anew: all of them, behind the message."""
        moved: set[int] = set()
        left = list(self.groups)
        while left:
            owner = left.pop()
            results = self.groups.get(owner, [])
            if owner in moved or not results:
                continue
            if self.kept[owner] and all(self.kept[number] for number in results):
                continue
            moved.add(owner)
            changed = [number for result in results for number in self._change(result)]
            rule = self.provider.call_ids
            if rule and not all(call.id is not None and rule.takes(call.id) for call in calls_of(self.turns[owner])):
                changed += self._change(owner)  # it gets other ids, as its results do
            for number in changed:
                left.append(number)
                left += [other for other in (self.owner[number],) if other is not None]
        return moved

    def _change(self, number: int) -> range:
        """A turn is not as it was, nor are those that came in the same message: their numbers, if that is news."""
        if not self.kept[number]:
            return range(0)
        source = self.turns[number].extra[SOURCE]
        start = number - source["place"]
        unit = range(start, start + source["count"])
        self.kept[start : unit.stop] = [False] * len(unit)
        return unit

    # -- ids

    def _ids(self) -> dict[int, list[str]]:
        """The ids of the calls of each message that is written anew: such as the API takes, and no two the same."""
        rule = self.provider.call_ids or _ANY
        calls = {number: made for number, turn in enumerate(self.turns) if (made := calls_of(turn))}
        used = {call.id for number, made in calls.items() if self.kept[number] for call in made}
        again: dict[str, int] = {}
        ids: dict[int, list[str]] = {}
        counted = 0
        for number, made in calls.items():
            for place, call in enumerate(() if self.kept[number] else made):
                wanted = call.id or f"call_{counted + place}"
                id = rule.fit(wanted)
                while id in used:
                    again[wanted] = again.get(wanted, 1) + 1
                    id = rule.fit(f"{wanted}_{again[wanted]}")
                used.add(id)
                ids.setdefault(number, []).append(id)
            counted += len(made)
        return ids

    # -- what is written anew

    def _turn(self, number: int, turn: Turn) -> None:
        """A turn that is no result."""
        provider = self.provider
        self._foreign(number, turn)
        if isinstance(turn, Message):
            for error in turn.errors:
                self.out.lost("loss.unread", self.where[number], f"what is broken is left out: {error.text}")
            for call in calls_of(turn):
                if call.kind == "custom" and not provider.custom_calls:
                    detail = f"the input of {call.name!r:.80} is free text; now an argument called input"
                    self.out.lost("loss.tool_kind", self.where[number], detail)
                if (name := provider.name(call.name)) != call.name:
                    self.out.lost("loss.name", self.where[number], f"{call.name!r:.80} is called {name!r} there")
            if not provider.interleaves and any(isinstance(part, TextPart) for part in behind_calls(turn)):
                self.out.lost("loss.moved", self.where[number], "a text that stood behind a call, now before it")
            message = _renamed(turn, self.ids.get(number, []))
            parts = 0 if provider.own(turn.extra) else len(message.parts)
            self._put([number], lambda out: provider._assistant(message, out), parts)
        elif isinstance(turn, SystemMessage):
            told = self._told(number, turn)
            if told.content or not turn.content:
                self._put([number], lambda out: [provider.write_system_message(told, out)], _count(told.content))
        elif isinstance(turn, UserMessage):
            content = turn.content if isinstance(turn.content, str) else self._parts(number, turn.content)
            whole = whole_items(content, provider.wire)
            if whole:
                self.items += [(item, False) for item in whole]
            elif content or not turn.content:
                own = provider.own(turn.extra)
                self._put([number], lambda out: provider.write_user(content, own, out), _count(content))

    def _told(self, number: int, turn: SystemMessage) -> SystemMessage:
        """A system prompt without what only another provider can read."""
        if isinstance(turn.content, str):
            return turn
        return replace(turn, content=[part for _, part in self._parts(number, turn.content)])

    def _parts(self, number: int, parts: Sequence[UserPart]) -> list[tuple[str, UserPart]]:
        """The parts that can be written here, each with its path."""
        kept: list[tuple[str, UserPart]] = []
        for place, part in enumerate(parts):
            path = f"$.content[{place}]"
            fitting = fit_part(part, self.provider.wire)
            if fitting is None:
                self.out.lost("loss.part", self._at([number], path), "something that only another provider can read")
            else:
                kept.append((path, fitting))
        return kept

    def _results(self, owner: int | None, numbers: list[int]) -> None:
        """Results of one message, or of none, in the calls' order."""
        calls = [] if owner is None else [replace(call) for call in calls_of(self.turns[owner])]
        names: dict[str | None, str] = {call.id: call.name for call in calls if call.id is not None}
        given: list[ToolResult] = []
        for place, number in enumerate(numbers):
            turn = self.turns[number]
            assert isinstance(turn, ToolResult)
            self._foreign(number, turn)
            given.append(self._result(number, turn))
            given[-1].tool_name = turn.tool_name or names.get(turn.tool_call_id)
            if owner is not None and number != owner + 1 + place:
                self.out.lost("loss.moved", self.where[number], "now directly behind its call")
        found = Writing()
        pairs = pair(given, calls, found)
        for loss in found.losses:
            missing = loss.code == "loss.result_missing" and owner is not None
            self.out.lost(loss.code, self.where[owner] if missing else self._at(numbers, loss.path), loss.detail)  # type: ignore[index]
        ids = [call.id for call in calls] if owner is None or self.kept[owner] else self.ids[owner]
        named = {id(call): replace(call, id=made) for call, made in zip(calls, ids, strict=True)}
        order = {id(result): number for result, number in zip(given, numbers, strict=True)}
        written = []
        for result, call in pairs:
            try:
                if call is None:  # it may lack what the API calls a result by
                    self.provider.write_results([(result, None)], Writing(repair=self.out.repair))
                written.append((result, None if call is None else named[id(call)]))
            except ConversionError as error:
                self.out.lost("loss.part", self.where[order[id(result)]], f"the result is left out: {error}")
        if written:
            self._put([order[id(one)] for one, _ in written], lambda out: self.provider.write_results(written, out))

    def _result(self, number: int, result: ToolResult) -> ToolResult:
        """The result without what cannot be written here."""
        out = Writing()
        made = fit_result(self.provider, result, "$", out)
        for loss in out.losses:
            self.out.lost(loss.code, self._at([number], loss.path), loss.detail)
        if made.is_error and not self.provider.error_flag and not says_error(made.content):
            self.out.lost("loss.error_flag", self.where[number], "that it is an error, which its text does not say")
        return made

    def _foreign(self, number: int, turn: Turn) -> None:
        """Note what the turn brought along for another provider."""
        content: Any = message_parts(turn) if isinstance(turn, Message) else turn.content
        holders: list[Any] = [turn]
        for part in content if isinstance(content, list) else ():
            if isinstance(part, CallPart):
                holders += [part.call] if part.call.kind != "server" else []
            elif not isinstance(part, (OpaquePart, ReasoningPart)):  # of those nothing is left
                holders.append(part)
            if isinstance(part, ImagePart) and part.detail is not None and not self.provider.image_detail:
                self.out.lost("loss.extra", self.where[number], f"the image's detail, {part.detail!r:.40}")
        for holder in holders:
            for wire, key in told_to(getattr(holder, "extra", None) or {}, self.provider.wire):
                self.out.lost("loss.extra", self.where[number], f"{key!r:.80}, for {wire} only")

    def _put(self, numbers: list[int], write: Callable[[Writing], Any], parts: int = 0) -> None:
        """Messages made of these turns; what is lost is said of the turn that it stood in.

        ``parts`` is of how many parts: if each is lost, nothing is written.
        """
        out = Writing(repair=self.out.repair)
        written = write(out)
        if parts and len({loss.path for loss in out.losses if loss.code in _PARTS}) >= parts:
            written = []
        for loss in out.losses:
            self.out.lost(loss.code, self._at(numbers, loss.path), loss.detail)
        for made in out.repairs:
            self.out.repairs.append(HistoryRepair(made.code, self._at(numbers, made.path), made.detail))
        self.items += [(item, False) for item in ([written] if isinstance(written, dict) else written)]

    def _at(self, numbers: list[int], path: str) -> str:
        """A path that is relative to the turns, or to one of them, as the caller's."""
        found = _NUMBERED(path)
        place, tail = (int(found[1]), found[2]) if found else (0, path[1:])
        return self.where[numbers[place]] + (tail if self.exact else "")

    # -- the whole

    def _joined(self) -> list[Any]:
        """The messages, those of one role joined where the API wants it so."""
        if not self.provider.joins:
            return [item for item, _ in self.items]
        made: list[Any] = []
        for role, run in groupby(self.items, lambda pair: pair[0].get("role") if isinstance(pair[0], dict) else None):
            items = [*run]
            joins = self.provider.joins
            wanted = joins if isinstance(joins, bool) else isinstance(role, str) and role in joins
            if len(items) > 1 and role is not None and wanted and not all(same for _, same in items):
                made.append(self.provider.join([item for item, _ in items]))
            else:
                made += [item for item, _ in items]
        return made

    def _system(self, numbers: list[int]) -> Any:
        """The system prompt; None if there is none."""
        if len(numbers) == 1 and self.kept[numbers[0]]:
            return self.turns[numbers[0]].extra[SOURCE]["system"]
        turns = []
        for number in numbers:
            turn = self.turns[number]
            assert isinstance(turn, SystemMessage)
            self._foreign(number, turn)
            turns.append(self._told(number, turn))
        out = Writing(repair=self.out.repair)
        value = self.provider.write_system(turns, out) if turns else None
        for loss in out.losses:
            self.out.lost(loss.code, self._at(numbers, loss.path), loss.detail)
        return value


def _same(turn: Turn, read: Turn) -> bool:
    """Whether a turn still says what was read, also where equality does not look."""
    if turn != read or turn.extra != read.extra:
        return False
    return all(call.extra == other.extra for call, other in zip(calls_of(turn), calls_of(read), strict=True))


def _renamed(message: Message, ids: list[str]) -> Message:
    """The message with other ids for its calls."""
    given = iter(ids)
    parts = [
        CallPart(replace(part.call, id=next(given)), part.span, part.extra)
        if isinstance(part, CallPart) and part.call.kind != "server"
        else part
        for part in message_parts(message)
    ]
    return replace(message, parts=parts)


def _count(content: str | Sequence[Any]) -> int:
    """How many parts a content has that may be lost: a text is none."""
    return 0 if isinstance(content, str) else len(content)
