"""What a schema knows of: the rest is unevaluated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .validate import Compiled

__all__ = ["Declared", "items_of"]


class Declared:
    """The members and items that a schema and its parts for the same value look at, or may look at."""

    def __init__(self, compiled: Compiled, node: Mapping[str, Any]) -> None:
        self._compiled = compiled
        self.names: dict[str, Any] = {}
        self._patterns: dict[str, Any] = {}
        self._first = 0  # items
        self._all = False
        self._all_items = False
        self._seen: set[int] = set()
        self._look(node, True)
        # A name that matches is the only one that a schema of nothing refuses.
        matches_none = compiled.keyword(f"?{id(node)}", "patternProperties", self._patterns) if self._patterns else None
        self._matches_none = matches_none

    def may_have(self, key: str | int) -> bool:
        """Whether a part may look at this member or item."""
        if isinstance(key, int):
            return self._all_items or key < self._first
        if self._all or key in self.names:
            return True
        return self._matches_none is not None and not self._matches_none({key: None})

    def _look(self, node: Any, outer: bool) -> None:
        """Look into a schema."""
        if not isinstance(node, Mapping) or id(node) in self._seen:
            return
        self._seen.add(id(node))
        schema = self._compiled.known(node)
        self.names.update(schema.get("properties") or {})
        self._patterns.update(dict.fromkeys(schema.get("patternProperties") or (), False))
        self._all |= "additionalProperties" in schema or (not outer and "unevaluatedProperties" in schema)
        items = schema.get("items")
        for first in (items, schema.get("prefixItems")):
            self._first = max(self._first, len(items_of(first)))
        self._all_items |= "additionalItems" in schema or "contains" in schema
        self._all_items |= (items is not None and not isinstance(items, list)) or (
            not outer and "unevaluatedItems" in schema
        )
        parts: list[Any] = [schema.get(key) for key in ("if", "then", "else")]
        for key in ("allOf", "anyOf", "oneOf"):
            parts += items_of(schema.get(key))
        for key in ("dependentSchemas", "dependencies"):
            parts += (schema.get(key) or {}).values()
        targets = [target for _, target in self._compiled.references.targets(node)]
        if not targets and any(key in schema for key in ("$ref", "$dynamicRef", "$recursiveRef")):
            self._all = self._all_items = True  # what it leads to is not known here
        for part in (*parts, *targets):
            self._look(part, False)


def items_of(value: Any) -> list[Any]:
    """A list, or none."""
    return value if isinstance(value, list) else []
