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
from ._turns import SOURCE, reread, turn_list, unread
from ._writing import Writing, behind_calls, message_parts, pair, says_error

if TYPE_CHECKING:
    from ._base import WireProvider

__all__ = ["calls_of", "fit_result", "owners", "write_turns"]

_ANY: Final = NameRule(r"\x00-\U0010ffff", 1_000_000)
# What a response says about itself: no history needs it.
_ABOUT: Final = frozenset(("id", "model", "stop_reason", "stop_sequence", "stop_details", "usage", "created_at"))
_GONE: Final = ("loss.part", "loss.reasoning")
_NUMBERED: Final = re.compile(r"\$\[(\d+)\](.*)", re.DOTALL).fullmatch


def calls_of(turn: Turn) -> list[ToolCall]:
    """The calls of a turn that the caller has to answer."""
    if not isinstance(turn, Message):
        return []
    return [part.call for part in message_parts(turn) if isinstance(part, CallPart) and part.call.kind != "server"]


def fit_result(provider: WireProvider, result: ToolResult, path: str, out: Writing) -> ToolResult:
    """A copy of ``result`` without the opaque parts that cannot be written here."""
    content = result.content
    if not isinstance(content, list) or not any(isinstance(part, OpaquePart) for part in content):
        return replace(result)
    kept = []
    for place, part in enumerate(content):
        if isinstance(part, OpaquePart) and not (provider.opaque_results and provider.wire in part.extra):
            out.lost("loss.part", f"{path}.content[{place}]", "something that only another can read")
        else:
            kept.append(part)
    return replace(result, content=kept or "")


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
        elif calls := calls_of(turn):
            last = number
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
        apart = self.provider.system_member is not None
        system: list[int] = []
        alone: list[int] = []
        begun = False
        for number, turn in enumerate(self.turns):
            anew = not self.kept[number]
            if alone and not (anew and isinstance(turn, ToolResult)):
                self._results(None, alone)
                alone = []
            if isinstance(turn, SystemMessage) and apart and (anew or "system" in turn.extra[SOURCE]):
                system.append(number)
                if begun and anew:
                    self.out.lost("loss.moved", self.where[number], "now part of the one system prompt")
                continue
            begun = True
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
        return self.provider.write_request(self._joined(), self._system(system))

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
            needs = () if provider.own(turn.extra) else message.parts
            self._put([number], lambda out: provider._assistant(message, out), needs)
        elif isinstance(turn, SystemMessage):
            system = self._fitting(number, turn)
            if system.content or not turn.content:
                self._put([number], lambda out: [provider.write_system([system], out)], system.content)
        elif isinstance(turn, UserMessage) and unread(turn, provider.wire):
            self.items += [(item, False) for item in turn.extra[SOURCE]["items"]]
        elif isinstance(turn, UserMessage):
            content = turn.content if isinstance(turn.content, str) else self._parts(number, turn.content)
            if content or not turn.content:
                self._put([number], lambda out: provider.write_user(content, provider.own(turn.extra), out), content)

    def _parts(self, number: int, parts: Sequence[UserPart]) -> list[tuple[str, UserPart]]:
        """The parts that can be written here, each with its path."""
        wire = self.provider.wire
        kept: list[tuple[str, UserPart]] = []
        for place, part in enumerate(parts):
            path = f"$.content[{place}]"
            if isinstance(part, OpaquePart) and wire not in part.extra:
                self.out.lost("loss.part", self._at([number], path), "something that only another provider can read")
            else:
                kept.append((path, part))
        return kept

    def _fitting(self, number: int, turn: SystemMessage) -> SystemMessage:
        """The turn without the parts that cannot be written here."""
        if isinstance(turn.content, str):
            return turn
        return replace(turn, content=[part for _, part in self._parts(number, turn.content)])

    def _results(self, owner: int | None, numbers: list[int]) -> None:
        """Results of one message, or of none, in the calls' order."""
        given: list[ToolResult] = []
        for place, number in enumerate(numbers):
            turn = self.turns[number]
            assert isinstance(turn, ToolResult)
            self._foreign(number, turn)
            given.append(self._result(number, turn))
            if owner is not None and number != owner + 1 + place:
                self.out.lost("loss.moved", self.where[number], "now directly behind its call")
        calls = [] if owner is None else [replace(call) for call in calls_of(self.turns[owner])]
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
            for wire, extra in (getattr(holder, "extra", None) or {}).items():
                if wire in (SOURCE, self.provider.wire) or not isinstance(extra, dict):
                    continue
                beside = extra.get("message")
                told = {**extra, **beside} if isinstance(beside, dict) else extra
                for key in sorted(told.keys() - _forms(wire) - {"message"}):
                    self.out.lost("loss.extra", self.where[number], f"{key!r:.80}, for {wire} only")

    def _put(self, numbers: list[int], write: Callable[[Writing], Any], parts: Sequence[Any] = ()) -> None:
        """Messages made of these turns; what is lost is said of the turn that it stood in. Of a message none of whose
        parts can be written nothing is left.
        """
        out = Writing(repair=self.out.repair)
        written = write(out)
        for loss in out.losses:
            self.out.lost(loss.code, self._at(numbers, loss.path), loss.detail)
        for made in out.repairs:
            self.out.repairs.append(HistoryRepair(made.code, self._at(numbers, made.path), made.detail))
        if len({loss.path for loss in out.losses if loss.code in _GONE}) < len(parts) or not parts:
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
            if len(items) > 1 and role is not None and not all(same for _, same in items):
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
            turns.append(self._fitting(number, turn))
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


def _forms(wire: str) -> frozenset[str]:
    """What in an extra of a wire format is no content."""
    from ._api import try_get_provider
    from ._names import DEFAULT

    provider = try_get_provider(DEFAULT.get(wire, wire))  # type: ignore[call-overload]
    return _ABOUT if provider is None else _ABOUT | provider.forms
