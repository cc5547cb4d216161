"""Values as the formats spell them."""

from __future__ import annotations

from typing import Any

from ..errors import ConversionError, UnsafeValueError
from ..pattern import Value
from ..types import json_text

MAX_DEPTH = 512
_BOUND = 10**4300  # JSON is read up to that many digits


def check_value(value: Any, what: str) -> None:
    """Refuse what is no JSON value: `TypeError` for another type, `ConversionError` for what JSON cannot say.

    Depth first, so that a value that holds itself is found to be too deep.
    """
    stack: list[tuple[Any, int]] = [(value, 1)]
    while stack:
        value, depth = stack.pop()
        if isinstance(value, dict):
            for key in value:
                if not isinstance(key, str):
                    raise TypeError(f"{what} holds the key {key!r:.80}: expected str, got {type(key).__name__}")
            inner = list(value.values())
        elif isinstance(value, list | tuple):
            inner = list(value)
        elif value is None or isinstance(value, str):
            continue
        elif isinstance(value, int):
            if not -_BOUND < value < _BOUND:
                raise ConversionError(f"{what} holds an integer of more than 4,300 digits")
            continue
        elif isinstance(value, float):
            if value - value != 0.0:
                raise ConversionError(f"{what} holds {value!r}, which is no JSON number")
            continue
        else:
            raise TypeError(f"{what} holds a {type(value).__name__}: expected a JSON value")
        if depth > MAX_DEPTH:
            raise ConversionError(f"{what} is nested deeper than {MAX_DEPTH} levels, or holds itself")
        stack.extend((item, depth + 1) for item in inner)


def json_type(value: Any) -> str:
    """What JSON Schema calls the type of a JSON value."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "integer" if isinstance(value, int) else "number"
    return "string" if isinstance(value, str) else "object" if isinstance(value, dict) else "array"


def scalar_text(value: Any, python_scalars: bool) -> str:
    """A bare value: a string as it is, everything else as JSON (``True`` and ``None`` where the template does)."""
    if isinstance(value, str):
        return value
    if python_scalars and (value is None or isinstance(value, bool)):
        return str(value)
    return json_text(value)


def python_text(value: Any, json_containers: bool = False) -> str:
    """A Python literal. ``json_containers``: mappings as JSON, as LFM2's template writes them."""
    if json_containers and isinstance(value, dict):
        return json_text(value)
    if isinstance(value, dict):
        items = ", ".join(f"{python_text(k)}: {python_text(v)}" for k, v in value.items())
        return "{" + items + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(python_text(v) for v in value) + "]"
    if isinstance(value, float) and value - value != 0.0:
        raise ConversionError(f"{value!r} cannot be written")
    return repr(value)


def cdata_text(value: str) -> str:
    """A string in CDATA; where it holds the end of a section it goes on in another one."""
    return "<![CDATA[" + value.replace("]]>", "]]]]><![CDATA[>") + "]]>"


def value_text(node: Value, value: Any) -> str:
    """A bare value as its node says."""
    if node.python_containers and isinstance(value, dict | list):
        return python_text(value)
    if node.cdata and isinstance(value, str) and any(c in value for c in "<&\n"):
        return cdata_text(value)
    return scalar_text(value, node.python_scalars)


def gemma_text(value: Any, quote: str, fmt: str, sort: bool = True) -> str:
    """Gemma's notation: bare keys, sorted regardless of case, strings between quote tokens."""
    if isinstance(value, str):
        if quote in value:
            raise UnsafeValueError(f"{fmt}: a string that holds {quote} cannot be written")
        return quote + value + quote
    if isinstance(value, dict):
        items = sorted(value.items(), key=lambda item: item[0].lower()) if sort else value.items()
        for key in value:
            if not key or key != key.strip() or any(c in key for c in ':{},[]"') or quote in key:
                raise UnsafeValueError(f"{fmt}: {key!r} cannot be written as a key")
        return "{" + ",".join(f"{key}:{gemma_text(v, quote, fmt, sort)}" for key, v in items) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(gemma_text(v, quote, fmt, sort) for v in value) + "]"
    return json_text(value)
