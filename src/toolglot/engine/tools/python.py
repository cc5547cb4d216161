"""Definitions as signatures of Python functions."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

_SEED = {"string": "str", "number": "int", "integer": "int", "boolean": "bool", "array": "list"}
_TYPES = {"string": "str", "number": "float", "integer": "int", "boolean": "bool"}


def seed(function: dict[str, Any]) -> str:
    """Seed-OSS: a signature, and a docstring whose arguments say whether they are required."""
    parameters, returns = function["parameters"], function.get("returns")
    properties, required = parameters.get("properties") or {}, parameters.get("required") or ()
    signature = ",".join(f"{name}: {_seed_type(spec)}" for name, spec in properties.items())
    about = function.get("description", "").strip()
    arguments = "".join(
        _seed_line(name, spec, " [必填]" if name in required else " [选填]") for name, spec in properties.items()
    )
    returned = (returns.get("properties") if isinstance(returns, dict) else None) or {}
    values = "".join(_seed_line(name, spec, "") for name, spec in returned.items())
    text = f'Function:\ndef {function["name"]}({signature}):\n    """\n    {about}\n\n'
    text += ("    Args:" + arguments if arguments else "") + "\n"
    text += ("    Returns:" + values if values else "") + "\n"
    return text + '    """'


def _seed_line(name: str, spec: dict[str, Any], need: str) -> str:
    return f"\n    - {name} ({_seed_type(spec)}){need}: {spec.get('description') or ''}"


def _seed_type(spec: dict[str, Any]) -> str:
    kind = spec.get("type")
    return _SEED.get(kind, "Any") if isinstance(kind, str) else "Any"


def command_r(function: dict[str, Any]) -> str:
    """Command R: a function in a fence, optional arguments being ``None``."""
    required = function["parameters"].get("required") or ()
    properties = function["parameters"].get("properties") or {}
    types = {name: _command_r_type(spec) for name, spec in properties.items()}
    optional = {name: text if name in required else f"Optional[{text}]" for name, text in types.items()}
    signature = ", ".join(f"{n}: {text}" + ("" if n in required else " = None") for n, text in optional.items())
    text = f'```python\ndef {function["name"]}({signature}) -> List[Dict]:\n    """{function.get("description", "")}'
    if properties:
        lines = (f"{name} ({optional[name]}): " + _needed(spec, name) for name, spec in properties.items())
        text += "\n\n    Args:\n        " + "\n        ".join(lines)
    return text + '\n    """\n    pass\n```'


def _needed(spec: dict[str, Any], name: str) -> str:
    about = spec.get("description")
    if not isinstance(about, str):
        raise ValueError(f"the parameter {name!r:.80} has no description")
    return about


def _command_r_type(spec: Any) -> str:
    def of_object(spec: dict[str, Any]) -> str:
        if "additionalProperties" not in spec:
            raise ValueError("an object has no additionalProperties")
        return "Dict[str, " + _command_r_type(spec["additionalProperties"]) + "]"

    return _type(spec, "List", of_object)


def hermes(function: dict[str, Any]) -> str:
    """Hermes 2 and 3: JSON whose description is a signature and a docstring, none of it escaped."""
    parameters = function["parameters"]
    properties = parameters.get("properties") or {}
    types = {name: _hermes_type(spec) for name, spec in properties.items()}
    about = function["name"] + "(" + ", ".join(f"{name}: {text}" for name, text in types.items()) + ")"
    returned = function.get("return")
    if returned is not None:
        about += " -> " + _hermes_type(returned)
    about += f" - {function.get('description', '')}\n\n"
    if properties:
        about += "    Args:\n"
        about += "".join(
            f"        {name}({types[name]}): {spec.get('description', '').strip()}" for name, spec in properties.items()
        )
    if isinstance(returned, dict) and "description" in returned:
        about += "\n    Returns:\n        " + returned["description"]
    schema = json.dumps(parameters, ensure_ascii=False) if properties else "{}"
    head = f'{{"type": "function", "function": {{"name": "{function["name"]}", "description": "'
    return f'{head}{about}", "parameters": {schema}}}'


def _hermes_type(spec: Any) -> str:
    def of_object(spec: dict[str, Any]) -> str:
        inner = spec.get("additionalProperties")
        return "dict" if inner is None else f"dict[str, {_hermes_type(inner)}]"

    return _type(spec, "list", of_object)


def _type(spec: Any, list_name: str, of_object: Callable[[dict[str, Any]], str]) -> str:
    """A type's name. Both templates miss the items of an array and take them for a union of nothing."""
    kind = spec.get("type") if isinstance(spec, dict) else None
    if isinstance(kind, str):
        if kind == "array":
            return list_name + "[Union[]]"
        if kind == "object":
            return of_object(spec)
        if kind not in _TYPES:  # the templates take its letters for a union's types, without end
            raise ValueError(f"the type {kind!r:.80} is unknown")
        return _TYPES[kind]
    if isinstance(kind, list | tuple):
        return "Union[" + ",".join(_type({"type": each}, list_name, of_object) for each in kind) + "]"
    return "Union[]"
