"""Definitions in Gemma's notation: bare keys, texts between quote tokens, keys sorted, types in upper case."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

QUOTE = '<|"|>'
# Where an object has no properties, the template takes the schema's other members for them.
_STANDARD = ("description", "type", "properties", "required", "nullable")


def declaration(function: dict[str, Any]) -> str:
    """A function as Gemma 4's template declares it."""
    text = f"declaration:{function['name']}{{description:{_quoted(function.get('description', ''))}"
    schema = function["parameters"]
    if schema:
        text += ",parameters:{"
        if schema.get("properties"):
            text += "properties:{" + _properties(schema["properties"]) + "},"
        if schema.get("required"):
            text += _required(schema["required"]) + ","
        if schema.get("type"):
            text += f"type:{_quoted(_upper(schema['type']))}}}"
    if "response" in function:
        response = function["response"]
        text += ",response:{"
        if response.get("description"):
            text += f"description:{_quoted(response['description'])},"
        if _upper(response.get("type", "")) == "OBJECT":
            text += f"type:{_quoted('OBJECT')}}}"
    return (text + "}").strip()


def _properties(properties: dict[str, Any], but: Collection[str] = ()) -> str:
    return ",".join(f"{key}:{{{_schema(spec)}}}" for key, spec in _sorted(properties) if key not in but)


def _schema(schema: Any) -> str:
    spec: dict[str, Any] = schema if isinstance(schema, dict) else {}
    get = spec.get
    kind = _upper(get("type") or "")
    parts = []
    if get("description"):
        parts.append(f"description:{_quoted(spec['description'])}")
    if kind == "STRING" and get("enum"):
        parts.append(f"enum:{_argument(spec['enum'])}")
    if kind == "ARRAY" and isinstance(get("items"), dict) and spec["items"]:
        parts.append(f"items:{{{_items(spec['items'])}}}")
    if get("nullable"):
        parts.append("nullable:true")
    if kind == "OBJECT":
        inner = get("properties")
        named = _properties(inner) if isinstance(inner, dict) else _properties(spec, _STANDARD)
        parts.append("properties:{" + named + "}")
        if get("required"):
            parts.append(_required(spec["required"]))
    parts.append(f"type:{_quoted(kind)}")
    return ",".join(parts)


def _items(items: dict[str, Any]) -> str:
    parts = []
    for key, value in _sorted(items):
        if value is None:
            continue
        if key == "properties":
            parts.append("properties:{" + (_properties(value) if isinstance(value, dict) else "") + "}")
        elif key == "required":
            parts.append(_required(value))
        elif key == "type":
            parts.append(f"type:{_argument(_upper(value) if isinstance(value, str) else [v.upper() for v in value])}")
        else:
            parts.append(f"{key}:{_argument(value)}")
    return ",".join(parts)


def _argument(value: Any) -> str:
    """A value; unlike in a call its keys stand between quote tokens."""
    if isinstance(value, str):
        return _quoted(value)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "{" + ",".join(f"{_quoted(key)}:{_argument(inner)}" for key, inner in _sorted(value)) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(map(_argument, value)) + "]"
    return str(value)


def _required(names: Iterable[str]) -> str:
    return "required:[" + ",".join(map(_quoted, names)) + "]"


def _quoted(text: object) -> str:
    return f"{QUOTE}{text}{QUOTE}"


def _upper(kind: object) -> str:
    return str(kind).upper()


def _sorted(value: dict[str, Any]) -> list[tuple[str, Any]]:
    return sorted(value.items(), key=lambda item: item[0].lower())
