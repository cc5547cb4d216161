"""Definitions as elements, and JSON with HTML's escapes."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from typing import Any

_ESCAPES = {"&": "&amp;", ">": "&gt;", "<": "&lt;", "'": "&#39;", '"': "&#34;"}


def html(function: dict[str, Any]) -> str:
    """Functionary v3.1: all that is given is escaped, since its template adds it to a text that is marked as safe."""
    function = {"name": function["name"], "description": "", **function}
    name, about = function["name"], function["description"]
    text = _json(function)
    return f"Use the function '{_escape(name)}' to '{_escape(about)}'\n{_escape(text)}"


def _escape(text: str) -> str:
    for plain, escaped in _ESCAPES.items():
        text = text.replace(plain, escaped)
    return text


def xml(function: dict[str, Any]) -> str:
    """Qwen3-Coder: an element for each member of a definition and of its parameters, scalars as Python writes them."""
    return _function(function, ("type", "properties"), "")


def xml_next(function: dict[str, Any]) -> str:
    """Qwen3-Coder-Next: the same, with scalars as JSON."""
    return _function(function, ("type", "properties"), "", scalar=_json)


def xml_nemotron(function: dict[str, Any]) -> str:
    """Nemotron 3: the same, an enum and the list of what is required standing elsewhere."""
    required = function["parameters"].get("required")
    last = "" if required is None else f"\n<required>{_json(required)}</required>"
    return _function(function, ("type", "properties", "required"), last, enum=True)


def _function(
    function: dict[str, Any],
    handled: Collection[str],
    last: str,
    *,
    enum: bool = False,
    scalar: Callable[[Any], str] = str,
) -> str:
    parameters = function["parameters"]
    text = f"<function>\n<name>{function['name']}</name>"
    if "description" in function:
        text += f"\n<description>{function['description'].strip()}</description>"
    text += "\n<parameters>"
    for name, schema in (parameters.get("properties") or {}).items():
        text += f"\n<parameter>\n<name>{name}</name>"
        fields = schema if isinstance(schema, dict) else {}
        if "type" in fields:
            text += f"\n<type>{fields['type']}</type>"
        if "description" in fields:
            text += f"\n<description>{fields['description'].strip()}</description>"
        if enum and "enum" in fields:
            text += f"\n<enum>{_json(fields['enum'])}</enum>"
        text += _others(fields, ("name", "type", "description", "enum")[: 4 if enum else 3], scalar) + "\n</parameter>"
    text += _others(parameters, handled, scalar) + last + "\n</parameters>"
    return text + _others(function, ("type", "name", "description", "parameters"), scalar) + "\n</function>"


def _others(fields: dict[str, Any], handled: Collection[str], scalar: Callable[[Any], str]) -> str:
    """What has no element of its own."""
    text = ""
    for key, value in fields.items():
        if key not in handled:
            written = _json if isinstance(value, dict | list | tuple) else str if isinstance(value, str) else scalar
            text += f"\n<{key}>{written(value)}</{key}>"
    return text


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
