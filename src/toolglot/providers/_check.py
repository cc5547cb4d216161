"""What an API would refuse of a history. Which rules it has is data, in ``rules`` of its wire format."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from ..history import Problem, Turn, Turns, UserMessage
from ..types import CallPart, Message, ReasoningPart, TextPart, ToolCall, ToolResult
from ._payload import Path, json_path
from ._turns import SOURCE
from ._write_turns import calls_of
from ._writing import message_parts

if TYPE_CHECKING:
    from ._base import WireProvider

__all__ = ["check_turns", "objects"]

_DEEP: Final = 6  # an id or a name stands no deeper in a message
_THEIRS: Final = frozenset(
    ("arguments", "input", "args", "parameters", "json", "response", "result", "output", "outputs", "data")
)


def check_turns(provider: WireProvider, turns: Turns, has_tools: bool | None) -> list[Problem]:
    """The problems of a history that was read from the provider's own messages.

    ``has_tools`` says whether the request declares any; None if that is not known.
    """
    checker = _Checker(provider, turns)
    for check in (checker.roles, checker.pairing, checker.calls, checker.parts, checker.texts):
        check()
    if has_tools is False:
        checker.tools()
    provider.check(turns, checker.report)
    return checker.sorted()


class _Checker:
    def __init__(self, provider: WireProvider, turns: Turns) -> None:
        self.provider = provider
        self.turns = turns
        self.found: list[tuple[int, Problem]] = []
        self._index: dict[Path, dict[str, list[Path]]] = {}  # of a message: where each string stands

    def sorted(self) -> list[Problem]:
        """The problems in the order of the messages."""
        return [problem for _, problem in sorted(self.found, key=lambda one: one[0])]

    def report(
        self, code: str, number: int, detail: str, what: str | None = None, nth: int = 0, path: str | None = None
    ) -> None:
        """Note a problem of turn ``number``, if the API has the rule.

        ``what`` is an id, a name or a text that stands in the part that is wrong (the ``nth`` there), so that the path
        leads to it.
        """
        if code in self.provider.rules:
            at = path if path is not None else self.path(number, what, nth)
            self.found.append((number, Problem(code, at, detail, self.provider.rules[code])))

    def path(self, number: int, what: str | None = None, nth: int = 0) -> str:
        """Where a turn stands, or the object in it that has ``what`` for a member."""
        found = None if what is None else self._find(number, what, nth)
        return json_path(self.unit(number) if found is None else found)

    def _find(self, number: int, what: str, nth: int) -> Path | None:
        places = self._strings(number).get(what, [])
        return places[nth] if nth < len(places) else None

    def _strings(self, number: int) -> dict[str, list[Path]]:
        """The strings in a turn's message, and where each stands."""
        index = self._index.get(self.unit(number))
        if index is None:
            index = self._index[self.unit(number)] = {}
            for at, item in self.items(number):
                for tail, node in objects(item, 0):
                    for value in node.values():
                        if type(value) is str:
                            index.setdefault(value, []).append((*at, *tail))
        return index

    def items(self, number: int) -> Iterator[tuple[Path, Any]]:
        """The messages, or the items, that a turn was read from, each with its place."""
        at = self.unit(number)
        first = at[-1] if at else 0
        for place, item in enumerate(self.turns[number].extra[SOURCE].get("items", [])):
            yield ((*at[:-1], first + place) if isinstance(first, int) else at), item

    def unit(self, number: int) -> Path:
        """The message that a turn stood in."""
        path: Path = self.turns[number].extra[SOURCE]["path"]
        return path

    # -- calls and results

    def pairing(self) -> None:
        """Every call has its result where the API wants it, every result its call."""
        anywhere = "history.results_not_adjacent" not in self.provider.rules  # below its call, however far
        asked = _Asked(-1, [])
        every = [asked]
        latest: dict[str | None, _Asked] = {}  # who asked last by an id
        for number, turn in enumerate(self.turns):
            if isinstance(turn, Message):
                calls = calls_of(turn)
                if anywhere and not calls and not turn.errors:
                    continue
                asked = _Asked(number, calls)
                every.append(asked)
                if anywhere:
                    latest.update((id, asked) for id in asked.ids)
                    for id in self._strings(number) if turn.errors else ():  # one may be that of a broken call
                        latest.setdefault(id, asked)
            elif isinstance(turn, ToolResult):
                self._result(number, turn, latest.get(turn.tool_call_id, asked))
            else:
                if asked.between is None:
                    asked.between = number
                if isinstance(turn, UserMessage) and number and isinstance(self.turns[number - 1], ToolResult):
                    self.report("history.user_after_tool", number, "it stands directly behind a result")
        for asked in every:
            self._unanswered(asked)

    def _result(self, number: int, turn: ToolResult, asked: _Asked) -> None:
        id = turn.tool_call_id
        place = asked.take(id, turn.tool_name)
        if place is None:
            if id in asked.ids:
                self.report("history.duplicate_result", number, f"the call {id!r:.80} has a result already", id)
            elif turn.extra[SOURCE].get("stored"):
                pass  # its call may be there
            elif id is not None and asked.number >= 0 and self._is_broken(asked.number, id):
                asked.told.add(id)
            else:
                said = "there is no call" if id is None else f"no call has the id {id!r:.80}"
                self.report("history.orphan_result", number, f"{said} in the message before", id)
            return
        about = f"the result of {id!r:.80}"
        between = asked.between
        if between is not None and self.unit(between) == self.unit(number):
            self.report("history.text_before_results", number, f"{about} does not stand first in its message", id)
        elif between is not None:
            self.report("history.results_not_adjacent", number, f"{self.path(between)} stands before {about}", id)
        elif asked.first is not None and self.unit(asked.first) != self.unit(number):
            self.report("history.results_split", number, f"{about} stands in a message of its own", id)
        if place < asked.last:
            self.report("history.result_order", number, f"{about} comes after that of a later call", id)
        asked.last = max(asked.last, place)
        asked.first = number if asked.first is None else asked.first

    def _is_broken(self, number: int, id: str) -> bool:
        """Whether ``id`` is that of a call which could not be read: its arguments are the problem, not the result."""
        turn = self.turns[number]
        return isinstance(turn, Message) and bool(turn.errors) and self._find(number, id, 0) is not None

    def _unanswered(self, asked: _Asked) -> None:
        left = {id(call) for call in asked.left()}
        before: dict[str, int] = {}
        for call in asked.calls if left else ():
            given = call.id is not None and not call.id_synthesized
            what, nth = (call.id, 0) if given else (call.name, before.get(call.name, 0))
            before[call.name] = before.get(call.name, 0) + 1
            if id(call) in left:
                detail = f"the call {f'{call.id!r:.80} ' if given else ''}of {call.name!r:.80} has no result"
                self.report("history.orphan_call", asked.number, detail, what, nth)
        turn = self.turns[asked.number] if asked.number >= 0 else None
        for error in turn.errors if isinstance(turn, Message) else ():
            if error.call_index is not None and error.id is not None and error.id not in asked.told | asked.ids:
                detail = f"the call {error.id!r:.80}, which cannot be read, has no result"
                self.report("history.orphan_call", asked.number, detail, error.id)

    def calls(self) -> None:
        """Ids and names are such as the API takes."""
        seen: set[str] = set()
        for number, turn in enumerate(self.turns):
            here: dict[str, int] = {}
            seen = seen if self.provider.unique_ids else set()
            for call in calls_of(turn):
                id = call.id
                if id is None and self.provider.wants_id(call):
                    self.report("history.missing_id", number, f"the call of {call.name!r:.80} has no id", call.name)
                elif id is not None:
                    nth = here.get(id, 0)
                    if id in seen:
                        self.report("history.duplicate_id", number, f"another call has the id {id!r:.80}", id, nth)
                    seen.add(id)
                    here[id] = nth + 1
                    self._id(number, id)
                if not self.provider.tool_names.takes(call.name):
                    self.report("history.illegal_name", number, f"{call.name!r:.100} is no legal name", call.name)
                if call.raw_arguments is not None and not call.raw_arguments.strip():
                    detail = f"the arguments of {call.name!r:.80} ({id}) are empty"
                    self.report("history.empty_arguments", number, detail, id or call.name)
            if isinstance(turn, ToolResult) and turn.tool_call_id is not None:
                self._id(number, turn.tool_call_id)
            elif isinstance(turn, ToolResult) and self.provider.wants_id(turn):
                self.report("history.missing_id", number, "the result has no id")

    def _id(self, number: int, id: str) -> None:
        rule = self.provider.call_ids
        if rule is not None and not rule.takes(id):
            self.report("history.illegal_id", number, f"{id!r:.100} is no legal id", id)

    # -- messages

    def roles(self) -> None:
        """Every message is of somebody whom the API knows."""
        known = self.provider.roles
        if known is None:
            return
        before: Path | None = None
        for number in range(len(self.turns)):
            before, last = self.unit(number), before
            for path, item in self.items(number) if before != last else ():
                role = item.get("role") if isinstance(item, dict) else None
                if (role is None or isinstance(role, str)) and role in known:
                    continue
                said = "it has no role" if role is None else f"the API has no role {role!r:.80}"
                self.report("history.unknown_role", number, said, path=json_path(path))

    def parts(self) -> None:
        """What the assistant says is whole, and in the API's order."""
        for number, turn in enumerate(self.turns):
            if not isinstance(turn, Message):
                continue
            for error in turn.errors:
                named = error.code == "tool_call.invalid_name"
                code = "history.illegal_name" if named else "history.arguments_not_object"
                if error.call_index is not None:
                    self.report(code, number, error.text, path=error.path)
            called: ToolCall | None = None
            begun = False
            for part in message_parts(turn):
                if isinstance(part, ReasoningPart) and begun:
                    self.report("history.reasoning_order", number, "reasoning stands behind something else")
                begun = begun or not isinstance(part, ReasoningPart)
                if isinstance(part, CallPart) and part.call.kind != "server":
                    called = part.call
                elif called is not None:
                    detail = f"something stands behind the call {called.id!r:.80}"
                    text = part.text if isinstance(part, TextPart) else None
                    self.report("history.text_after_calls", number, detail, text)

    def texts(self) -> None:
        """No text and no message is empty."""
        last: Path | None = None
        for number, turn in enumerate(self.turns):
            if self.unit(number) == last:
                continue
            last = self.unit(number)
            for at, item in self.items(number):
                for tail, node in objects(item, 0):
                    if tail and node.get("text") == "":
                        self.report("history.empty_text", number, "an empty text", path=json_path((*at, *tail)))
            if _says_nothing(turn):
                self.report("history.empty_message", number, "there is nothing in it")

    def tools(self) -> None:
        """Calls and results come with the tools' definitions."""
        for number, turn in enumerate(self.turns):
            if calls_of(turn) or isinstance(turn, ToolResult):
                detail = "there are calls in the history, and no tools in the request"
                self.report("history.tools_missing", number, detail)
                return


class _Asked:
    """The calls of the last message of the assistant, and how far they have been answered."""

    def __init__(self, number: int, calls: list[ToolCall]) -> None:
        self.number = number  # of the message
        self.calls = calls
        self.ids = {call.id for call in calls if call.id is not None}
        self.told: set[str] = set()  # ids of calls that cannot be read and have a result all the same
        self.between: int | None = None  # the first turn behind it that is no result
        self.first: int | None = None  # its first result
        self.last = -1  # the latest call that has its result
        self._taken: set[int] = set()
        # The places of calls by id, by name, and all of them; those that were taken are skipped when they come up.
        # By name and of all those without an id come first: a result of the others says theirs.
        self._by: dict[tuple[str, str | None], list[int]] = {}
        for place in reversed(range(len(calls))):
            self._by.setdefault(("id", calls[place].id), []).append(place)
        for place in sorted(range(len(calls)), key=lambda place: (calls[place].id is None, -place)):
            for key in (("name", calls[place].name), ("", None)):
                self._by.setdefault(key, []).append(place)

    def take(self, id: str | None, name: str | None) -> int | None:
        """The place of the call that a result answers: by its id; without one the next of that name, or the next."""
        key = ("id", id) if id is not None else ("name", name) if name is not None else ("", None)
        places = self._by.get(key, [])
        while places:
            place = places.pop()
            if place not in self._taken:
                self._taken.add(place)
                return place
        return None

    def left(self) -> list[ToolCall]:
        """The calls without a result."""
        return [call for place, call in enumerate(self.calls) if place not in self._taken]


def objects(node: Any, depth: int) -> Iterator[tuple[Path, dict[str, Any]]]:
    """The objects in a message, each before those in it; not what a caller wrote, arguments and results."""
    if depth > _DEEP:
        return
    if isinstance(node, dict):
        yield (), node
    members: Any = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, value in members:
        if isinstance(value, (dict, list)) and key not in _THEIRS:
            for tail, inner in objects(value, depth + 1):
                yield (key, *tail), inner


def _says_nothing(turn: Turn) -> bool:
    if isinstance(turn, Message):
        return not message_parts(turn) and not turn.errors
    return not isinstance(turn, ToolResult) and not turn.content
