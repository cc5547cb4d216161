"""What `adapt` does to one schema by itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

TYPES: Final = {"string", "integer", "number", "boolean", "object", "array", "null"}
_KINDS: Final = {bool: "boolean", str: "string", int: "integer", float: "number", type(None): "null"}


class NotStrictError(Exception):
    """The schema cannot be closed: the message says why, ``path`` where."""

    def __init__(self, path: str, why: str) -> None:
        super().__init__(why)
        self.path = path


def kind(value: Any) -> str:
    """The JSON type of a value that is no container, else nothing."""
    return _KINDS.get(type(value), "")


def type_list(type_: Any) -> list[str]:
    """The types that a ``type`` keyword names; none if any is unknown."""
    names = [type_] if isinstance(type_, str) else type_
    if not isinstance(names, (list, tuple)):
        return []
    lower = [name.lower() if isinstance(name, str) else "" for name in names]  # Google writes "STRING"
    return list(dict.fromkeys(lower)) if all(name in TYPES for name in lower) else []


# Keywords that mean something for one type of value only.
_FOR: Final = {
    **dict.fromkeys(("properties", "required", "additionalProperties"), ("object",)),
    **dict.fromkeys(("items", "prefixItems", "minItems", "maxItems", "uniqueItems"), ("array",)),
    **dict.fromkeys(("pattern", "minLength", "maxLength", "format"), ("string",)),
    **dict.fromkeys(("minimum", "maximum", "multipleOf"), ("integer", "number")),
}


def fitting(shared: dict[str, Any], type_: str) -> dict[str, Any]:
    """Of the keywords beside a list of types, those that can mean something for ``type_``."""
    kept = {}
    for key, value in shared.items():
        if key == "enum" and isinstance(value, list):
            value = [one for one in value if kind(one) in (type_, "integer" if type_ == "number" else "")]
            if not value:
                continue
        if type_ in _FOR.get(key, (type_,)):
            kept[key] = value
    return kept


def without_null(node: dict[str, Any]) -> dict[str, Any]:
    """``anyOf`` with null as ``nullable``; a single branch that is left takes the place of the union."""
    branches = node["anyOf"]
    rest = [branch for branch in branches if str(branch.get("type")).lower() != "null"]
    if len(rest) == len(branches):
        return node
    if not rest:
        return {**{key: value for key, value in node.items() if key != "anyOf"}, "type": "null"}
    outer = {key: value for key, value in node.items() if key != "anyOf"}
    if len(rest) == 1:
        return {**rest[0], **outer, "nullable": True}
    return {**outer, "anyOf": rest, "nullable": True}


def closed(node: dict[str, Any], path: str, optional: bool) -> dict[str, Any]:
    """An object with nothing but its own members, all of them given: those that were optional may be null.

    With ``optional`` these may stay away instead.
    """
    types = type_list(node.get("type"))
    if "object" not in types and not isinstance(node.get("properties"), dict):
        return node
    extra = node.get("additionalProperties")
    if isinstance(extra, Mapping) or extra is True or ("properties" not in node and extra is not False):
        raise NotStrictError(path, "an object with any members cannot be held to")
    if optional:
        return {**node, "additionalProperties": False}
    required = strings(node.get("required"))
    properties = {
        name: value if name in required else or_null(value) for name, value in mapping(node.get("properties")).items()
    }
    return {**node, "properties": properties, "required": list(properties), "additionalProperties": False}


def or_null(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema, with null allowed as well."""
    types = type_list(schema.get("type"))
    if "null" in types:
        return schema
    if "anyOf" in schema:
        if any("null" in type_list(branch.get("type")) for branch in schema["anyOf"]):
            return schema
        return {**schema, "anyOf": [*schema["anyOf"], {"type": "null"}]}
    if types and not {"enum", "const", "properties", "items", "$ref"} & set(schema):
        return {**schema, "type": [*types, "null"]}
    outer = {"description": schema["description"]} if "description" in schema else {}
    inner = {key: value for key, value in schema.items() if key != "description"}
    return {"anyOf": [inner, {"type": "null"}], **outer}


def mapping(value: Any) -> Mapping[str, Any]:
    """``value``, or nothing if it is no object."""
    return value if isinstance(value, Mapping) else {}


def strings(value: Any) -> list[str]:
    """The strings of a list, or none."""
    return [item for item in value if isinstance(item, str)] if isinstance(value, (list, tuple)) else []
