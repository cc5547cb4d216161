"""Whether arguments fit a tool: enough of JSON Schema to refuse a reading, never to make one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ..schema.walk import resolve
from ..values.bare import named_types

__all__ = ["fits", "settled"]

_KINDS: Final = {
    dict: ("object",),
    list: ("array",),
    str: ("string",),
    bool: ("boolean",),
    int: ("integer", "number"),
    float: ("number",),
    type(None): ("null",),
}
_BUDGET: Final = 100_000


class _Spent(Exception):
    """More was looked at than a schema is worth."""


def fits(value: Any, schema: Any, *, declared: bool = False) -> bool:
    """Whether ``value`` fits ``schema``, as far as types, members, items and enumerated values say.

    ``declared``: an object's members have to be declared, where its schema declares any. Keywords that are not known
    refuse nothing.
    """
    try:
        return _Fit(schema if isinstance(schema, Mapping) else {}, declared).fits(value, schema, 0)
    except _Spent:
        return False


class _Fit:
    def __init__(self, root: Mapping[str, Any], declared: bool) -> None:
        self.root = root
        self.declared = declared
        self.left = _BUDGET

    def fits(self, value: Any, schema: Any, level: int) -> bool:
        self.left -= 1
        if self.left < 0 or level > 100:
            raise _Spent
        if not isinstance(schema, Mapping):
            return True
        reference = schema.get("$ref")
        if isinstance(reference, str) and not self.fits(value, resolve(reference, self.root), level + 1):
            return False
        types = named_types(schema.get("type"))
        kinds = _KINDS[type(value)]
        if types is not None and types.isdisjoint(kinds):
            if not (type(value) is float and value.is_integer() and "integer" in types):
                return False
        enum = schema.get("enum")
        if isinstance(enum, (list, tuple)) and not any(_same(value, item) for item in enum):
            return False
        if "const" in schema and not _same(value, schema["const"]):
            return False
        for part in schema.get("allOf") or ():
            if not self.fits(value, part, level + 1):
                return False
        for keyword in ("anyOf", "oneOf"):
            parts = schema.get(keyword)
            if isinstance(parts, (list, tuple)) and parts:
                if not any(self.fits(value, part, level + 1) for part in parts):
                    return False
        if type(value) is dict:
            return self.members(value, schema, level)
        items = schema.get("items")
        if type(value) is list and isinstance(items, Mapping):
            return all(self.fits(item, items, level + 1) for item in value)
        return True

    def members(self, value: dict[str, Any], schema: Mapping[str, Any], level: int) -> bool:
        properties = schema.get("properties")
        properties = properties if isinstance(properties, Mapping) else {}
        required = schema.get("required")
        if isinstance(required, (list, tuple)) and any(key not in value for key in required):
            return False
        more = schema.get("additionalProperties", True)
        closed = more is False or (self.declared and bool(properties) and "additionalProperties" not in schema)
        others = not closed or bool(schema.get("patternProperties"))
        for key, item in value.items():
            if key not in properties and not others:
                return False
            if not self.fits(item, properties.get(key, more), level + 1):
                return False
        return True


def _same(one: Any, other: Any) -> bool:
    return bool(one == other) and isinstance(one, bool) == isinstance(other, bool)


def settled(value: Any, schema: Any) -> bool:
    """Whether a bracket of ``value`` that was put in at the end can only have stood there.

    Where an object stands in an object, or a list in a list, what follows its first member may be the outer one's;
    a key tells if the inner schema declares it and no outer one does.
    """
    root = schema if isinstance(schema, Mapping) else {}
    todo: list[tuple[Any, Any, frozenset[str], bool]] = [(value, root, frozenset(), True)]
    while todo:
        node, schema, outer, first = todo.pop()
        schema = schema if isinstance(schema, Mapping) else {}
        if isinstance(schema.get("$ref"), str):
            schema = resolve(schema["$ref"], root)
            schema = schema if isinstance(schema, Mapping) else {}
        properties = schema.get("properties")
        properties = properties if isinstance(properties, Mapping) else {}
        if type(node) is dict:
            for key in list(node)[1:]:
                if not first and (key not in properties or key in outer):
                    return False
            known = outer | frozenset(map(str, properties))
            todo += [(item, properties.get(key), known, False) for key, item in node.items()]
        elif type(node) is list:
            if len(node) > 1 and any(type(item) is list for item in node):
                return False
            todo += [(item, schema.get("items"), outer, False) for item in node]
    return True
