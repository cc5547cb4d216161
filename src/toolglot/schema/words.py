"""Words about schemas and values: what a sentence about a violation is made of."""

from __future__ import annotations

from math import isfinite
from typing import Any, Final

from ..types import json_text
from ..values.bare import json_type
from .walk import member

__all__ = ["A", "BOUNDS", "either", "listed", "place", "shown"]

A: Final = {
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "a boolean",
    "object": "an object",
    "array": "an array",
    "null": "null",
}
BOUNDS: Final = {
    "minimum": "at least {}",
    "maximum": "at most {}",
    "exclusiveMinimum": "more than {}",
    "exclusiveMaximum": "less than {}",
    "multipleOf": "a multiple of {}",
    "minLength": "at least {} characters long",
    "maxLength": "at most {} characters long",
    "minItems": "an array of at least {} items",
    "maxItems": "an array of at most {} items",
    "minProperties": "an object of at least {} members",
    "maxProperties": "an object of at most {} members",
    "pattern": "a string that matches the pattern {}",
}


def shown(value: Any, most: int = 80) -> str:
    """A value as JSON, shortened."""
    if isinstance(value, str):
        value = value[: most + 1]
    elif isinstance(value, (dict, list)):
        return A[json_type(value)]
    elif isinstance(value, int) and abs(value) >= 1 << 64:
        return "a long integer"
    elif isinstance(value, float) and not isfinite(value):
        return str(value)
    text = json_text(value)
    return text if len(text) <= most else text[: most - 3] + "..."


def place(path: tuple[str | int, ...]) -> str:
    """What a sentence about the value at ``path`` begins with."""
    if not path:
        return "the arguments"
    text = "$"
    for key in path:
        text = member(text, key if isinstance(key, int) else key[:80])
    return repr(text.removeprefix("$").removeprefix("."))


def listed(values: list[Any]) -> str:
    """Alternatives, a few of them."""
    some = ", ".join(shown(value, 40) for value in values[:8])
    return some + (f" and {len(values) - 8} more" if len(values) > 8 else "")


def either(types: list[Any]) -> str:
    """The names of types, as a sentence has them."""
    return " or ".join(A.get(str(type_), str(type_)[:40]) for type_ in types)
