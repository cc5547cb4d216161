"""Definitions as the TypeScript of Kimi K2.5 and later, whose tokenizer writes it for the template."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

Schema = dict[str, Any]

_LIMITS = {
    "string": ("maxLength", "minLength", "pattern"),
    "number": ("maximum", "minimum"),
    "integer": ("maximum", "minimum"),
    "array": ("maxItems", "minItems"),
}
_UNION = {
    "string": "string",
    "number": "number",
    "integer": "number",
    "boolean": "boolean",
    "null": "null",
    "object": "{}",
    "array": "Array<any>",
}
_PYTHON: dict[str, type | tuple[type, ...]] = {"string": str, "number": (int, float), "integer": int, "boolean": bool}


class _Scope:
    """What one function's schemas refer to."""

    def __init__(self) -> None:
        self.definitions: dict[str, Any] = {}
        self.refers_to_itself = False

    def name(self, reference: str) -> str:
        if reference == "#":
            self.refers_to_itself = True
            return "parameters"
        name = reference.rpartition("/")[2]
        if not reference.startswith("#/$defs/") or name not in self.definitions:
            raise ValueError(f"nothing is there: {reference:.80}")
        return name


def typescript(function: dict[str, Any]) -> str:
    """A function with the interfaces that it needs; required parameters first, each part in alphabetical order."""
    function = _ordered(function)
    scope, root = _Scope(), function["parameters"]
    parameters = _object(root, scope, "")
    interfaces = []
    if scope.refers_to_itself:
        members = ",\n".join(_members(root, scope, "  ", sorted(root.get("properties", {}))))
        interfaces.append("interface parameters {" + (f"\n{members}\n" if members else "") + "}")
        parameters = "parameters"
    for name, schema in list(scope.definitions.items()):
        interfaces.append(f"{_comment(schema.get('description', ''), '')}interface {name} {_type(schema, scope, '')}")
    about = _comment(function.get("description", ""), "")
    return "".join(text + "\n" for text in interfaces) + f"{about}type {function['name']} = (_: {parameters}) => any;\n"


def _ordered(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _ordered(inner) for key, inner in sorted(value.items())}
    return [_ordered(inner) for inner in value] if isinstance(value, list) else value


def _comment(text: str, indent: str) -> str:
    return "\n".join(f"{indent}// {line}" if line else "" for line in text.split("\n")) + "\n" if text else ""


def _docstring(schema: Any, indent: str) -> str:
    """What is said of a value: its description, and limits where its type has such."""
    if not isinstance(schema, dict):
        return ""
    text = _comment(schema.get("description", ""), indent)
    kind = schema.get("type")
    if isinstance(kind, str) and not {"$ref", "anyOf", "enum"} & schema.keys():
        limits = ", ".join(f"{key}: {schema[key]}" for key in _LIMITS.get(kind, ()) if key in schema)
        text += f"{indent}// {limits}\n" if limits else ""
    return text


def _type(schema: Any, scope: _Scope, indent: str) -> str:
    if isinstance(schema, bool):
        return "any" if schema else "null"
    if "$ref" in schema:
        return scope.name(schema["$ref"])
    if "anyOf" in schema:
        return " | ".join(_type(option, scope, indent) for option in schema["anyOf"])
    kind = schema.get("type")
    if "enum" in schema:
        return _enum(schema["enum"], kind)
    if isinstance(kind, list):
        return " | ".join(_UNION[each] for each in kind)
    if kind == "object":
        return _object(schema, scope, indent)
    if kind == "array":
        return _array(schema.get("items"), scope, indent)
    if kind is None and schema:
        raise ValueError(f"a schema without a type: {', '.join(schema):.80}")
    return "number" if kind == "integer" else str(kind or "any")


def _enum(values: Sequence[Any], kind: Any) -> str:
    if isinstance(kind, list):
        if len(kind) > 2 or (len(kind) == 2 and "null" not in kind):
            raise ValueError(f"an enum of the types {kind}")
        kind = next((each for each in kind if each != "null"), "null")
    for value in values:
        if value is not None and not isinstance(value, _PYTHON.get(kind, object)):
            raise ValueError(f"{value!r:.80} in an enum of type {kind}")
    return " | ".join(f'"{value}"' if isinstance(value, str) else str(value) for value in values)


def _array(items: Any, scope: _Scope, indent: str) -> str:
    about = _docstring(items, indent + "  ")
    if about:
        return f"Array<\n{about}{indent}  {_type(items, scope, indent + '  ')}\n{indent}>"
    return f"Array<{_type(items, scope, indent) if items else 'any'}>"


def _object(schema: Schema, scope: _Scope, indent: str) -> str:
    scope.definitions.update(schema.get("$defs") or {})
    properties, required = schema.get("properties", {}), schema.get("required", [])
    order = sorted(properties, key=lambda name: (name not in required, name))
    others = schema.get("additionalProperties")
    members = _members(schema, scope, indent + "  ", order)
    if others is not None:
        kind = ("any" if others else "never") if isinstance(others, bool) else _type(others, scope, indent + "  ")
        members.append(f"{indent}  [k: string]: {kind}")
    return "{\n" + ",\n".join(members) + f"\n{indent}}}" if members else "{}"


def _members(schema: Schema, scope: _Scope, indent: str, order: Sequence[str]) -> list[str]:
    members = []
    for name in order:
        value = schema["properties"][name]
        text = _docstring(value, indent)
        default = value.get("default") if isinstance(value, dict) else None
        if default is not None:
            shown = repr(default) if isinstance(default, int | float) else json.dumps(default, ensure_ascii=False)
            text += f"{indent}// Default: {shown}\n"
        mark = "" if name in schema.get("required", []) else "?"
        members.append(f"{text}{indent}{name}{mark}: {_type(value, scope, indent)}")
    return members
