"""Strict mode: a schema that a provider can hold a model to, and the nulls that it forces, taken out again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..types import Loss
from .adapt import Adapted, adapt
from .pieces import NotStrictError, strings
from .subset import Subset
from .walk import resolve

__all__ = ["adapt_strict", "allows_null", "drop_forced_nulls", "followed", "required_of"]


def adapt_strict(schema: Mapping[str, Any], closed: Subset, plain: Subset, path: str = "$") -> tuple[Adapted, bool]:
    """``schema`` within ``closed``, or, if it cannot be closed, within ``plain``; and which it was."""
    try:
        return adapt(schema, closed, path), True
    except NotStrictError as error:
        adapted = adapt(schema, plain, path)
        loss = Loss("loss.strict", error.path, f"not sent as strict: {error}")
        return Adapted(adapted.schema, (loss, *adapted.losses)), False


def drop_forced_nulls(value: Any, schema: Any) -> Any:
    """``value`` without the nulls of optional members that may not be null by ``schema``, the one that was adapted.

    Strict mode makes every member required; a model that wants to leave one out has to write null. Nothing need be
    remembered: the caller's schema says which were optional. What has no such null is returned as it is.
    """
    return _drop(value, schema, schema if isinstance(schema, Mapping) else {}, 0)


def _drop(value: Any, schema: Any, root: Mapping[str, Any], depth: int) -> Any:
    if depth > 100:
        return value
    if isinstance(value, list):
        items = followed(schema, root).get("items")
        return [_drop(item, items, root, depth + 1) for item in value] if isinstance(items, Mapping) else value
    if not isinstance(value, dict):
        return value
    required = required_of(schema, root)
    schema = _branch(value, followed(schema, root), root)
    properties = schema.get("properties")
    if not isinstance(properties, Mapping):
        return value
    required |= required_of(schema, root)
    return {
        key: _drop(item, properties.get(key), root, depth + 1)
        for key, item in value.items()
        if item is not None or key in required or key not in properties or allows_null(properties[key], root)
    }


def followed(schema: Any, root: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a schema's references lead to; an empty one if that is no schema."""
    for _ in range(20):
        if not isinstance(schema, Mapping) or not isinstance(schema.get("$ref"), str):
            break
        schema = resolve(schema["$ref"], root)
    return schema if isinstance(schema, Mapping) else {}


def _branch(value: dict[str, Any], schema: Mapping[str, Any], root: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema that ``value`` was written for: of a union, the only branch whose members are these."""
    if "properties" in schema:
        return schema
    branches = schema.get("anyOf") or schema.get("oneOf") or ()
    if not isinstance(branches, (list, tuple)):
        return schema
    fitting = [
        branch
        for branch in (followed(branch, root) for branch in branches)
        if isinstance(branch.get("properties"), Mapping) and set(branch["properties"]) == set(value)
    ]
    return fitting[0] if len(fitting) == 1 else schema


def required_of(schema: Any, root: Mapping[str, Any]) -> set[str]:
    """The members that a schema demands, by itself, by what it refers to or by a part that always counts."""
    found: set[str] = set()
    seen: set[int] = set()
    todo = [schema]
    while todo:
        node = todo.pop()
        if isinstance(node, Mapping) and id(node) not in seen:
            seen.add(id(node))
            found.update(strings(node.get("required")))
            parts = node.get("allOf")
            todo += parts if isinstance(parts, (list, tuple)) else ()
            if isinstance(node.get("$ref"), str):
                todo.append(resolve(node["$ref"], root))
    return found


def allows_null(schema: Any, root: Mapping[str, Any], seen: set[int] | None = None) -> bool:
    """Whether null fits a schema, as far as that is easy to see. ``seen``: those that do not allow it by themselves."""
    seen = set() if seen is None else seen
    schema = followed(schema, root)
    if id(schema) in seen:
        return False
    seen.add(id(schema))
    types = schema.get("type")
    if types is not None:
        names = [types] if isinstance(types, str) else strings(types)
        return schema.get("nullable") is True or any(name.lower() == "null" for name in names)
    if "const" in schema:
        return schema["const"] is None
    if isinstance(schema.get("enum"), (list, tuple)):
        return None in schema["enum"]
    for keyword in ("anyOf", "oneOf"):
        if isinstance(schema.get(keyword), (list, tuple)):
            return any(allows_null(branch, root, seen) for branch in schema[keyword])
    return "properties" not in schema and "items" not in schema  # nothing is said
