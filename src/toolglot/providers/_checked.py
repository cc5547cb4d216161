"""Where in a payload the arguments of a call do not fit the tool's schema."""

from __future__ import annotations

from typing import Any

from ..engine.shapes import inner_position
from ..errors import ParseError
from ..schema.check import MOST_PLACES, Places, to_repair, to_violation
from ..schema.coerce import Change
from ..schema.explain import Flaw
from ..types import Repair, Span, ToolCall
from ..values.locate import locate
from ._payload import Path, error_at

__all__ = ["Where"]


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

    def error(self, flaws: list[Flaw], call: ToolCall) -> ParseError:
        """What is wrong with a call."""
        first = flaws[0]
        inner = self._places.of(first.path)
        error = error_at(
            first.message + (f" (and {len(flaws) - 1} more)" if len(flaws) > 1 else ""),
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
        error.call = call
        error.violations = tuple(to_violation(flaw, self._span(flaw.path)) for flaw in flaws)
        return error
