"""Definitions as elements, and JSON with HTML's escapes."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any

_ESCAPES = {"&": "&amp;", ">": "&gt;", "<": "&lt;", "'": "&#39;", '"': "&#34;"}


def html(function: dict[str, Any]) -> str:
    """Functionary v3.1: all that is given is escaped, since its template adds it to a text that is marked as safe."""
    function = {"name": function["name"], "description": "", **function}
    name, about = function["name"], function["description"]
    text = json.dumps(function, ensure_ascii=False)
    return f"Use the function '{_escape(name)}' to '{_escape(about)}'\n{_escape(text)}"


def _escape(text: str) -> str:
    for plain, escaped in _ESCAPES.items():
        text = text.replace(plain, escaped)
    return text


def xml(function: dict[str, Any]) -> str:
    """Qwen3-Coder: an element for each member of a definition and of its parameters."""
    return _function(function, ("type", "properties"), "")


def xml_nemotron(function: dict[str, Any]) -> str:
    """Nemotron 3: the same, an enum and the list of what is required standing elsewhere."""
    required = function["parameters"].get("required")
    last = "" if required is None else f"\n<required>{json.dumps(required, ensure_ascii=False)}</required>"
    return _function(function, ("type", "properties", "required"), last, enum=True)


def _function(function: dict[str, Any], handled: Collection[str], last: str, *, enum: bool = False) -> str:
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
            text += f"\n<enum>{json.dumps(fields['enum'], ensure_ascii=False)}</enum>"
        text += _others(fields, ("name", "type", "description", "enum")[: 4 if enum else 3]) + "\n</parameter>"
    text += _others(parameters, handled) + last + "\n</parameters>"
    return text + _others(function, ("type", "name", "description", "parameters")) + "\n</function>"


def _others(fields: dict[str, Any], handled: Collection[str]) -> str:
    """What has no element of its own; a scalar as Python writes it."""
    text = ""
    for key, value in fields.items():
        if key not in handled:
            inner = json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list | tuple) else str(value)
            text += f"\n<{key}>{inner}</{key}>"
    return text
