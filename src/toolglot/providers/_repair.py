"""Repairs of a history: what may be added, moved or left out so that the API takes it. Each is asked for by name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from ..history import SystemMessage, Turn, UserMessage
from ..types import CallPart, Message, ToolCall, ToolResult
from ._check import objects
from ._turns import SOURCE
from ._write_turns import calls_of, owners
from ._writing import Writing, behind_calls, message_parts, pair

if TYPE_CHECKING:
    from ._base import WireProvider

__all__ = ["REPAIRS", "mend", "repair_names", "stub_tools"]

# The name of a repair is that of the problem, `history.<name>`; it is made where the provider has a rule of that name.
REPAIRS: Final[dict[str, str]] = {
    "text_before_results": "results are put first in their message",
    "results_mixed": "results get a message of their own",
    "results_not_adjacent": "results are put directly behind their call, in the calls' order",
    "results_split": "the results of a turn are put into one message",
    "text_after_calls": "calls are put last in their message",
    "duplicate_result": "results of a call after its first are left out",
    "orphan_result": "a result that answers no call is left out",
    "orphan_call": "a call without a result gets one, an error that says that the tool was not run",
    "user_after_tool": "the assistant says a word between a result and the user",
    "signature_missing": "a call of another provider gets the signature that stands for none",
    "tools_missing": "the request gets a definition, without a schema, of each tool that the history names",
}
_BRIDGE: Final = "OK."
_NOT_RUN: Final = "the tool was not run"
_NOT_READ: Final = "the call could not be read"


def repair_names(repair: bool | Collection[str]) -> frozenset[str]:
    """The repairs that may be made; `ValueError` for a name that is none."""
    if isinstance(repair, bool):
        return frozenset(REPAIRS) if repair else frozenset()
    names = [repair] if isinstance(repair, str) else list(repair)
    for name in names:
        if name not in REPAIRS:
            raise ValueError(f"repair: {name!r:.80} is none; expected some of {', '.join(REPAIRS)}")
    return frozenset(names)


def mend(provider: WireProvider, turns: list[Turn], where: list[str], out: Writing) -> tuple[list[Turn], list[str]]:
    """The history with what was asked for; and where each of its turns stood, an added one where it belongs."""
    wanted = [name for name in REPAIRS if name in (out.repair or ()) and f"history.{name}" in provider.rules]
    paired = list(zip(turns, where, strict=True))
    for name in wanted:
        step = _STEPS.get(name)
        if step is not None:
            paired = step(paired, out, provider)
    return [turn for turn, _ in paired], [at for _, at in paired]


Paired = list[tuple[Turn, str]]


def _groups(paired: Paired, provider: WireProvider) -> tuple[list[int | None], dict[int, list[int]]]:
    """As `owners`, and what each message owns. A call that could not be read has its result as well, where both go
    back to their API.
    """
    owner = owners([turn for turn, _ in paired])
    groups: dict[int, list[int]] = {}
    broken: dict[str | None, int] = {}
    for number, (turn, _) in enumerate(paired):
        if isinstance(turn, ToolResult):
            found = owner[number] = max(owner[number], broken.get(turn.tool_call_id), key=_later)
            if found is not None:
                groups.setdefault(found, []).append(number)
        elif isinstance(turn, Message) and turn.errors:
            broken.update((id, number) for id in _own_strings(turn, provider))
    return owner, groups


def _later(number: int | None) -> int:
    return -1 if number is None else number


def _goes_back(turn: Message, provider: WireProvider) -> bool:
    """Whether a message was read from this API, to which it goes back with what could not be read."""
    source = turn.extra.get(SOURCE)
    return isinstance(source, dict) and bool(source["provider"] == provider.provider.value)


def _own_strings(turn: Message, provider: WireProvider) -> set[str]:
    """The strings in a message that goes back to its API: one may be the id of a call that could not be read."""
    if not _goes_back(turn, provider):
        return set()
    source = turn.extra[SOURCE]
    found = (value for item in source.get("items", ()) for _, node in objects(item, 0) for value in node.values())
    return {value for value in found if type(value) is str}


def _adjacent(paired: Paired, out: Writing, provider: WireProvider) -> Paired:
    owner, groups = _groups(paired, provider)
    made: Paired = []
    for number, one in enumerate(paired):
        if owner[number] is not None:
            continue
        made.append(one)
        results = groups.get(number, [])
        if results and results != list(range(number + 1, number + 1 + len(results))):
            places = {call.id: place for place, call in enumerate(calls_of(one[0]))}
            for at, result in enumerate(results):
                if result != number + 1 + at:
                    out.mended("history.results_not_adjacent", paired[result][1], "now directly behind its call")
            results = sorted(results, key=lambda result: places.get(_id(paired[result][0]), len(places)))
        made += [paired[result] for result in results]
    return made


def _id(turn: Turn) -> str | None:
    return turn.tool_call_id if isinstance(turn, ToolResult) else None


def _anew(turn: Turn) -> Turn:
    """The turn as one that was not read: it is written in the API's order."""
    return replace(turn, extra={key: value for key, value in turn.extra.items() if key != SOURCE})


def _unit(turn: Turn) -> object:
    source = turn.extra.get(SOURCE)
    return source["path"] if isinstance(source, dict) else None


def _split(paired: Paired, out: Writing, provider: WireProvider) -> Paired:
    _, groups = _groups(paired, provider)
    made = list(paired)
    for results in groups.values():
        units = {_unit(paired[number][0]) for number in results}
        if len(units) > 1 and None not in units:
            for number in results:
                made[number] = (_anew(paired[number][0]), paired[number][1])
            out.mended("history.results_split", paired[results[0]][1], f"{len(results)} results, now in one message")
    return made


def _results_first(paired: Paired, out: Writing, _: WireProvider) -> Paired:
    made: Paired = []
    for unit, run in groupby(paired, lambda one: _unit(one[0])):
        turns = list(run)
        results = [one for one in turns if isinstance(one[0], ToolResult)]
        others = [one for one in turns if not isinstance(one[0], ToolResult)]
        if unit is not None and [*results, *others] != turns:
            out.mended("history.text_before_results", turns[0][1], "the results now stand first")
            turns = [*results, *others]
        made += turns
    return made


def _results_alone(paired: Paired, out: Writing, _: WireProvider) -> Paired:
    made: Paired = []
    for unit, run in groupby(paired, lambda one: _unit(one[0])):
        turns = list(run)
        results = [one for one in turns if isinstance(one[0], ToolResult)]
        others = [one for one in turns if not isinstance(one[0], ToolResult)]
        if unit is not None and results and others:
            out.mended("history.results_mixed", turns[0][1], "the results now have a message of their own")
            turns = [(_anew(turn), at) for turn, at in (*results, *others)]
        made += turns
    return made


def _calls_last(paired: Paired, out: Writing, _: WireProvider) -> Paired:
    made: Paired = []
    for turn, at in paired:
        if isinstance(turn, Message) and behind_calls(turn):
            out.mended("history.text_after_calls", at, "the calls now stand last")
            parts = message_parts(turn)
            calls = [part for part in parts if isinstance(part, CallPart) and part.call.kind != "server"]
            others = [part for part in parts if not isinstance(part, CallPart) or part.call.kind == "server"]
            turn = replace(turn, parts=[*others, *calls], extra=_anew(turn).extra)
        made.append((turn, at))
    return made


def _once(paired: Paired, out: Writing, provider: WireProvider) -> Paired:
    owner, groups = _groups(paired, provider)
    left = Counter((number, call.id) for number in groups for call in calls_of(paired[number][0]))
    made: Paired = []
    for number, (turn, at) in enumerate(paired):
        found, id = owner[number], _id(turn)
        if found is not None and id is not None:
            if not left.setdefault((found, id), 1):  # that of a call which could not be read
                out.mended("history.duplicate_result", at, f"left out: {id!r:.80} has a result already")
                continue
            left[found, id] -= 1
        made.append((turn, at))
    return made


def _no_orphans(paired: Paired, out: Writing, provider: WireProvider) -> Paired:
    owner, groups = _groups(paired, provider)
    loose: Counter[int] = Counter()  # results without an id that are more than the calls
    for number, group in groups.items():
        results = [turn for turn in (paired[result][0] for result in group) if isinstance(turn, ToolResult)]
        if any(result.tool_call_id is None for result in results):
            pairs = pair(results, calls_of(paired[number][0]), Writing())
            loose.update(id(result) for result, call in pairs if call is None and result.tool_call_id is None)
    made: Paired = []
    for number, (turn, at) in enumerate(paired):
        if not isinstance(turn, ToolResult) or _is_stored(turn):
            made.append((turn, at))
        elif owner[number] is None or loose[id(turn)]:
            loose[id(turn)] -= owner[number] is not None
            said = "there is no call" if turn.tool_call_id is None else f"no call has the id {turn.tool_call_id!r:.80}"
            out.mended("history.orphan_result", at, f"left out: {said}")
        else:
            made.append((turn, at))
    return made


def _is_stored(turn: ToolResult) -> bool:
    """Whether the call may be one that the provider has kept."""
    source = turn.extra.get(SOURCE)
    return isinstance(source, dict) and source.get("stored", False)


def _answered(paired: Paired, out: Writing, provider: WireProvider) -> Paired:
    _, groups = _groups(paired, provider)
    made: Paired = []
    waiting: list[tuple[int, Paired]] = []  # behind which turn what is to be put
    for number, (turn, at) in enumerate(paired):
        results = [paired[result][0] for result in groups.get(number, [])]
        missing = _unanswered(calls_of(turn), [result for result in results if isinstance(result, ToolResult)])
        added: Paired = []
        for call in missing:
            added.append((ToolResult.failure(call.id, _NOT_RUN, call.name), at))
            out.mended("history.orphan_call", at, f"{call.name!r:.80} ({call.id}) got an error for a result")
        told = {_id(result) for result in results}
        for error in turn.errors if isinstance(turn, Message) and _goes_back(turn, provider) else ():
            if error.call_index is not None and error.id is not None and error.id not in told:
                told.add(error.id)
                added.append((ToolResult.failure(error.id, _NOT_READ, error.name), at))
                out.mended(
                    "history.orphan_call", at, f"{error.id!r:.80}, which cannot be read, got an error for a result"
                )
        if added:
            last = number
            while last + 1 in groups.get(number, []):
                last += 1
            waiting.append((last, added))
    behind = dict(waiting)
    for number, one in enumerate(paired):
        made.append(one)
        made += behind.get(number, [])
    return made


def _unanswered(calls: Sequence[ToolCall], results: Sequence[ToolResult]) -> list[ToolCall]:
    """The calls without a result."""
    answered = {id(call) for _, call in pair(results, calls, Writing())}
    return [call for call in calls if id(call) not in answered]


def _bridged(paired: Paired, out: Writing, provider: WireProvider) -> Paired:
    """A message of the system that is put elsewhere separates nothing."""
    apart = provider.system_member is not None or not provider.system_fits({"role": "tool"})
    made: Paired = []
    last: Turn | None = None
    for turn, at in paired:
        if isinstance(turn, UserMessage) and isinstance(last, ToolResult):
            made.append((Message(content=_BRIDGE), at))
            out.mended("history.user_after_tool", at, f"the assistant says {_BRIDGE!r} before it")
        made.append((turn, at))
        last = last if apart and isinstance(turn, SystemMessage) else turn
    return made


_STEPS: Final = {
    "results_not_adjacent": _adjacent,
    "results_split": _split,
    "text_before_results": _results_first,
    "results_mixed": _results_alone,
    "text_after_calls": _calls_last,
    "duplicate_result": _once,
    "orphan_result": _no_orphans,
    "orphan_call": _answered,
    "user_after_tool": _bridged,
}


def stub_tools(provider: WireProvider, turns: Sequence[Turn], out: Writing) -> dict[str, Any]:
    """Definitions of the tools that the history names, where the API refuses calls without any."""
    if "tools_missing" not in (out.repair or ()) or "history.tools_missing" not in provider.rules:
        return {}
    from ..definition import Tool

    names = dict.fromkeys(call.name for turn in turns for call in calls_of(turn))
    if not names:
        return {}
    told = ", ".join(map(repr, names))
    out.mended("history.tools_missing", "$", f"tools without a schema: {told:.200}")
    return dict(provider.tools([Tool(name, "", {"type": "object", "properties": {}}) for name in names]))
