"""A tool on one line: ``get_weather(city: string, days?: integer)``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ..schema.strict import followed
from ..schema.walk import resolve
from ..types import json_text
from .tool import Tool

__all__ = ["SIGNATURE_LENGTH", "signature"]

# The most characters. Required parameters come first; those that do not fit are left out.
SIGNATURE_LENGTH: Final = 300

_DEPTH: Final = 3
_CHOICES: Final = 6
_WORD: Final = 40


def signature(tool: Tool, name: str | None = None) -> str:
    """``tool`` under its own or another name: its parameters, those that may be left out with a question mark.

    >>> signature(Tool("f", parameters={"properties": {"a": {"enum": ["x", "y"]}, "b": {}}, "required": ["b"]}))
    'f(b: any, a?: "x"|"y")'
    """
    head = (name or tool.name)[:80]
    if tool.kind == "custom":
        return f"{head}(free text)"
    schema = followed(tool.parameters, tool.parameters)
    properties = schema.get("properties")
    listed = schema.get("required")
    required = [name for name in listed if isinstance(name, str)] if isinstance(listed, (list, tuple)) else []
    pieces: list[str] = []
    size = len(head) + 2
    if isinstance(properties, Mapping):
        wanted = frozenset(required)
        for key in sorted(properties, key=lambda key: key not in wanted):
            mark = "" if key in wanted else "?"
            piece = f"{str(key)[:80]}{mark}: {_type(properties[key], tool.parameters, _DEPTH)}"
            size += len(piece) + 2
            if size + 3 > SIGNATURE_LENGTH:
                pieces.append("...")
                break
            pieces.append(piece)
    elif any(key in schema for key in ("allOf", "anyOf", "oneOf", "$ref")):
        pieces.append("...")  # there are some, in parts that are not looked into
    return f"{head}({', '.join(pieces)})"


def _type(schema: Any, root: Mapping[str, Any], depth: int) -> str:
    """What a value is, in few words."""
    if not isinstance(schema, Mapping) or depth <= 0:
        return "any"
    if isinstance(schema.get("$ref"), str):
        return _type(resolve(schema["$ref"], root), root, depth - 1)
    if "const" in schema:
        return _value(schema["const"])
    if isinstance(schema.get("enum"), (list, tuple)):
        return _union([_value(value) for value in schema["enum"][:_CHOICES]], len(schema["enum"])) or "nothing"
    for key in ("anyOf", "oneOf"):
        if isinstance(schema.get(key), (list, tuple)):
            return _union([_type(one, root, depth - 1) for one in schema[key][:_CHOICES]], len(schema[key]))
    parts = schema.get("allOf")
    if "type" not in schema and isinstance(parts, (list, tuple)) and len(parts) == 1:
        return _type(parts[0], root, depth - 1)
    kind = schema.get("type")
    kinds = [kind] if isinstance(kind, str) else kind if isinstance(kind, (list, tuple)) else ()
    names = [_named(_lower(str(one)[:_WORD]), schema, root, depth) for one in kinds[:_CHOICES]]
    if schema.get("nullable") is True and names:
        names.append("null")
    return _union(names, len(kinds)) or "any"


def _lower(kind: str) -> str:
    """A type as JSON Schema has it: Google writes ``STRING``."""
    return kind.lower() if kind.isupper() else kind


def _named(kind: str, schema: Mapping[str, Any], root: Mapping[str, Any], depth: int) -> str:
    if kind == "array":
        return f"array of {_type(schema['items'], root, depth - 1)}" if "items" in schema else "array"
    properties = schema.get("properties")
    if kind == "object" and isinstance(properties, Mapping) and properties and depth > 1:
        listed = schema.get("required")
        wanted = listed if isinstance(listed, (list, tuple)) else ()
        inner = [
            f"{str(key)[:_WORD]}{'' if key in wanted else '?'}: {_type(properties[key], root, depth - 1)}"
            for key in list(properties)[:_CHOICES]
        ]
        return "{" + ", ".join(inner + ["..."] * (len(properties) > _CHOICES)) + "}"
    return kind


def _union(choices: list[str], size: int) -> str:
    return "|".join(dict.fromkeys(choices)) + ("|..." if size > len(choices) else "")


def _value(value: Any) -> str:
    try:
        text = json_text(value)
    except (TypeError, ValueError, RecursionError):
        return "any"
    return text if len(text) <= _WORD else text[: _WORD - 3] + "..."
