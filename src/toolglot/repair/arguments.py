"""Mends of arguments that are one JSON text: what APIs send, and what a string in a call holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from ..errors import Fault
from ..schema.coerce import coerce, holds_json
from ..types import Repair
from ..values.json import loads
from .edits import Edit, Edited, Unmendable
from .fit import fits, settled
from .json_text import mend_json

__all__ = ["allowed", "decoded", "mend_arguments"]

# Mends that could be something else in other arguments: only what the tool declares may be in these.
_DOUBTFUL: Final = frozenset(
    (
        "repair.inner_quote",
        "repair.missing_bracket",
        "repair.double_encoded",
        "repair.single_quotes",
        "repair.missing_opener",
    )
)
# What a call object says beside its arguments. One of these in arguments whose bracket is missing is likely its own.
_OWN: Final = frozenset(
    ("id", "type", "index", "name", "tool_name", "tool_call_id", "call_id", "arguments", "parameters")
)


def allowed(arguments: dict[str, Any], schema: Mapping[str, Any] | None, edits: list[Edit]) -> bool:
    """Whether mended arguments may be run: they fit the tool, if it is known, and nothing else can have been meant."""
    if schema is not None and holds_json(arguments):
        arguments = coerce(arguments, schema, decode=True)[0]  # as will be done with the call
    codes = {edit.code for edit in edits}
    doubtful = not codes.isdisjoint(_DOUBTFUL)
    if schema is not None and not fits(arguments, schema, declared=doubtful):
        return False
    last = _last(arguments) if doubtful else None
    if isinstance(last, str) and last.count('"') % 2 == 1:
        return False  # it has a quote too many, so that it may go on
    if "repair.missing_bracket" in codes:
        declared = () if schema is None else (schema.get("properties") or ())
        if any(key in _OWN and key not in declared for key in list(arguments)[1:]):
            return False
        if schema is None and any(isinstance(value, dict) for value in list(arguments.values())[1:]):
            return False  # where keys are the names of tools, it may be another call's
        return settled(arguments, schema)
    return True


def _last(value: Any) -> Any:
    """The last value in ``value`` that holds no others."""
    while isinstance(value, (dict, list)) and value:
        value = value[-1] if isinstance(value, list) else list(value.values())[-1]
    return value


def decoded(text: str, depth: int, *, quotes: bool) -> Iterator[str]:
    """The JSON objects that a string may hold which was encoded twice, or whose JSON is damaged."""
    for _ in range(2):
        try:
            value = loads(text, depth)
        except Fault:
            for edits, end in mend_json(text, 0, quotes=quotes, extra=True, depth=depth):
                if not text[end:].strip():
                    yield Edited(text, edits).text.strip()
            return
        if isinstance(value, dict):
            yield text.strip()
        if not isinstance(value, str):
            return
        text = value


def mend_arguments(
    text: str, schema: Mapping[str, Any] | None, depth: int = 512
) -> tuple[dict[str, Any], str, list[Repair]] | None:
    """The arguments that ``text`` was to be, their JSON and the mends; None if it cannot be mended.

    Nothing is closed at the end of the text: where that is missing, it may have been cut off.
    """
    for readings in _ways(text, schema, depth):
        found: list[tuple[dict[str, Any], Edited]] = []
        try:
            for edits in readings:
                edited = Edited(text, edits)
                try:
                    value = loads(edited.text, depth)
                except Fault:
                    continue
                if isinstance(value, dict) and allowed(value, schema, edited.edits):
                    found.append((value, edited))
        except Unmendable:
            continue
        if len(found) > 1:
            return None
        if found:
            value, edited = found[0]
            return value, edited.text.strip(), edited.repairs(0)
    return None


def _ways(text: str, schema: Mapping[str, Any] | None, depth: int) -> Iterator[Iterator[list[Edit]]]:
    quotes = schema is not None
    for extra in (False, True):
        found = mend_json(text, 0, quotes=quotes, extra=extra, depth=depth)
        yield (edits for edits, end in found if edits and not text[end:].strip())
    start, end = len(text) - len(text.lstrip()), len(text.rstrip())
    if text.startswith('"', start):
        try:
            inner = loads(text, depth)
        except Fault:
            return
        objects = decoded(inner, depth, quotes=quotes)
        yield ([Edit(start, end, one, "repair.double_encoded")] for one in objects)
