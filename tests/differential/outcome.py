"""What each of the two programs says of a text, in the same terms."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import beacon

import toolglot

SEED_FORMATS = frozenset({"hermes", "bracket", "mistral", "llama", "xml_invoke", "json", "python"})

# What the seed calls these; of a call the two functions say so themselves.
_SEED_NAMES = {"mistral_v3": "mistral", "mistral_v11": "mistral", "mistral_v13": "mistral", "llama3_json": "llama"}


@dataclass(frozen=True)
class Outcome:
    """The calls that were found, or the code and position of the error. ``format``: of an error, where known."""

    calls: tuple[dict[str, Any], ...] | None = None
    code: str | None = None
    position: int | None = None
    format: str | None = None

    def __eq__(self, other: object) -> bool:
        # `repr` tells 1 from 1.0 and True, and keeps the order of arguments. A format of an error is no outcome.
        if not isinstance(other, Outcome):
            return NotImplemented
        return (repr(self.calls), self.code, self.position) == (repr(other.calls), other.code, other.position)

    __hash__ = None  # type: ignore[assignment]

    def moved(self, by: int) -> Outcome:
        """The same with its position shifted."""
        return replace(self, position=None if self.position is None else self.position + by)

    def said(self) -> Any:
        """As plain data, for `kinds.json` and for people."""
        return [self.code, self.position] if self.calls is None else list(self.calls)

    def shape(self) -> Any:
        """Without what a rewritten text may change: the arguments, and the characters of a name."""
        if self.calls is None:
            return self.code, self.position
        return [(len(call["name"]), call["format"]) for call in self.calls]


NOT_FOUND = Outcome(code="tool_call.not_found")


@lru_cache(maxsize=8192)
def theirs(text: str) -> Outcome:
    """What beacon says. It may crash, and leaves integers that are too long to the interpreter."""
    try:
        return Outcome(tuple(beacon.parse_tool_calls(text, include_format=True)))
    except beacon.errors.MalformedOutputError as error:
        return Outcome(code=error.code, position=error.position)
    except ValueError as error:
        if "integer string conversion" not in str(error):
            raise
        return Outcome(code="beacon.int_digits")
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        return Outcome(code="beacon.panic")


@lru_cache(maxsize=8192)
def ours(text: str) -> Outcome:
    """What Toolglot says."""
    try:
        return Outcome(tuple(toolglot.parse_tool_calls(text, include_format=True)))
    except toolglot.ParseError as error:
        format = _SEED_NAMES.get(error.format or "", error.format)
        return Outcome(code=error.code, position=error.position, format=format)
