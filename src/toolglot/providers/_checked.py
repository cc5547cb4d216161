"""``validate=True`` and ``coerce=True`` for calls of a payload: what came of each, and where what is wrong stands."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..definition import Tool, ToolSet
from ..engine.shapes import inner_position
from ..errors import ParseError
from ..schema.check import MOST_PLACES, Checks, Places, headline, to_repair, to_violation, wanted
from ..schema.coerce import Change
from ..schema.explain import Flaw
from ..schema.strict import drop_forced_nulls
from ..types import CallPart, Repair, Span, ToolCall
from ..values.locate import locate
from ._payload import Path, error_at

if TYPE_CHECKING:
    from ._reading import Reading

__all__ = ["Asked", "asking"]


def asking(
    new: Callable[..., Reading], tools: ToolSet | None, validate: bool, coerce: bool, mends: bool
) -> Callable[[], Reading]:
    """What makes readings that ask this of every call, from what makes them."""
    checks = Checks.of(tools, validate, wanted(coerce, mends, tools))
    assert checks is not None
    return lambda: new(asked=Asked(checks))


class Asked:
    """What is asked of the calls of one message, and what came of it. All readings of a stream share one."""

    __slots__ = ("_changes", "_checks", "_repairs", "refused")

    def __init__(self, checks: Checks) -> None:
        self._checks = checks
        self._changes: list[Change] = []
        self._repairs: dict[int, list[Repair]] = {}  # by the calls' ordinals
        self.refused = -1  # how many parts stood before the last call if that does not fit its schema

    @classmethod
    def of(cls, tools: ToolSet | None, validate: bool, coerce: bool, mends: bool) -> Asked:
        """For one message."""
        checks = Checks.of(tools, validate, wanted(coerce, mends, tools))
        assert checks is not None
        return cls(checks)

    def coerced(self, tool: Tool, arguments: dict[str, Any]) -> dict[str, Any]:
        """The arguments of the next call as its tool declares them; they themselves if nothing is changed."""
        made, self._changes = self._checks.coerced(tool.name, arguments)
        if tool.strict:
            freed: dict[str, Any] = drop_forced_nulls(made, tool.parameters)
            made = made if freed == made else freed
        return made

    def judge(self, reading: Reading, text: str | None, written: dict[str, Any], path: Path, marks: Any) -> None:
        """Look at the call that was read last, whose arguments were ``written`` at ``path``: it may be none."""
        part = reading.parts[-1]
        assert isinstance(part, CallPart)
        call = part.call
        flaws, more = self._checks.flaws(call.name, call.arguments)
        self.refused = -1
        self._repairs.pop(call.index, None)
        if not flaws and not self._changes:
            return
        where = Where(text, path, call.raw_arguments, written, marks)
        if flaws:
            reading.parts.pop()
            self.refused = len(reading.parts)
            reading.add_error(where.error(flaws, more, call))
        else:
            self._repairs[call.index] = where.repairs(self._changes)

    def all_repairs(self) -> list[Repair]:
        """What was read as something else in the calls that were made."""
        return [one for index in sorted(self._repairs) for one in self._repairs[index]]


class Where:
    """The arguments at ``path`` of a payload, whose text is ``text`` if it was text; ``raw`` if they are a string."""

    def __init__(
        self, text: str | None, path: Path, raw: str | None, arguments: dict[str, Any], marks: dict[Any, Any] | None
    ) -> None:
        self._text = text
        self._path = path
        self._raw = raw
        self._marks = {} if marks is None else marks
        self._places = Places(raw, raw, arguments)
        self._literal = None if text is None or raw is None else locate(text, path, self._marks)

    def _span(self, path: Path) -> Span | None:
        """Where an argument stands: in the payload's text, else in the string that holds the arguments."""
        inner = self._places.of(path)
        text = self._text
        if text is None:
            return inner
        if inner is None:
            path = (*self._path, *path)
            found = locate(text, path, self._marks)
            while found is None:  # something is missing: what it is missing from
                path = path[:-1]
                found = locate(text, path, self._marks)
            return found
        if self._literal is None:
            return None
        start, end = self._literal
        literal = text[start:end]
        return start + inner_position(literal, inner[0]), start + inner_position(literal, inner[1])

    def repairs(self, changes: list[Change]) -> list[Repair]:
        """What was read as something else."""
        source = self._raw if self._text is None else self._text
        return [
            to_repair(change, self._span(change.path) if number < MOST_PLACES else None, source)
            for number, change in enumerate(changes)
        ]

    def error(self, flaws: list[Flaw], more: int, call: ToolCall) -> ParseError:
        """What is wrong with a call, ``more`` of which is not told."""
        first = flaws[0]
        inner = self._places.of(first.path)
        error = error_at(
            headline(first.message, len(flaws), more),
            "schema.violation",
            self._text,
            self._path if self._raw is not None else (*self._path, *first.path),
            self._raw,
            None if inner is None else inner[0],
            self._marks,
            expected=first.expected,
            call_index=call.index,
            name=call.name,
        )
        error.id = None if call.id_synthesized else call.id
        error.call, error.partial_arguments = call, call.arguments
        error.violations = tuple(to_violation(flaw, self._span(flaw.path)) for flaw in flaws)
        error.more_violations = more
        return error
