"""Where schemas stand in a schema, and what references point to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

__all__ = ["BRANCHES", "MAPS", "SINGLE", "json_path", "member", "resolve", "walk"]

# Keywords whose value is an object of schemas, a list of schemas, one schema (or a boolean).
MAPS: Final = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
BRANCHES: Final = ("anyOf", "oneOf", "allOf", "prefixItems")
SINGLE: Final = (
    "items",
    "additionalProperties",
    "contains",
    "not",
    "if",
    "then",
    "else",
    "propertyNames",
    "unevaluatedProperties",
    "unevaluatedItems",
    "additionalItems",
)


def member(path: str, key: str | int) -> str:
    """The JSON path of a member of what stands at ``path``."""
    if isinstance(key, int):
        return f"{path}[{key}]"
    return f"{path}.{key}" if key.replace("_", "a").replace("$", "a").isalnum() else f"{path}[{key!r}]"


def json_path(path: Iterable[str | int]) -> str:
    """``("a", 0)`` as ``$.a[0]``."""
    text = "$"
    for key in path:
        text = member(text, key)
    return text


def walk(schema: Any, path: str = "$") -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every schema in ``schema`` with its JSON path, parents first. References are not followed."""
    todo: list[tuple[str, Any]] = [(path, schema)]
    while todo:
        path, node = todo.pop()
        if not isinstance(node, Mapping):
            continue
        yield path, node
        inner: list[tuple[str, Any]] = []
        for key in MAPS:
            if isinstance(node.get(key), Mapping):
                here = member(path, key)
                inner += [(member(here, name), value) for name, value in node[key].items()]
        for key in (*BRANCHES, "items"):
            if isinstance(node.get(key), (list, tuple)):
                here = member(path, key)
                inner += [(member(here, number), value) for number, value in enumerate(node[key])]
        inner += [(member(path, key), node[key]) for key in SINGLE if isinstance(node.get(key), Mapping)]
        todo += reversed(inner)


def resolve(reference: str, root: Mapping[str, Any]) -> Any:
    """What a local reference (``#/$defs/Name``) points to; None if it points nowhere."""
    if not reference.startswith("#"):
        return None
    target: Any = root
    for step in reference[1:].split("/")[1:]:
        step = step.replace("~1", "/").replace("~0", "~")
        if isinstance(target, Mapping):
            target = target.get(step)
        elif isinstance(target, (list, tuple)) and step.isdecimal() and int(step) < len(target):
            target = target[int(step)]
        else:
            return None
    return target
