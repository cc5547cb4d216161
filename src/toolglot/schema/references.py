"""What the references of a schema lead to: by pointer, by anchor, by the name of a schema inside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import quote, unquote, urljoin

from .walk import BRANCHES, MAPS, SINGLE

__all__ = ["DRAFT", "References", "pointer", "unknown_keywords"]

DRAFT: Final = "https://json-schema.org/draft/2020-12/schema"
_REFERENCES: Final = ("$ref", "$dynamicRef", "$recursiveRef")
_CONDITIONS: Final = frozenset({"if", "then", "else"})
_SINCE_2019: Final = frozenset(
    {"dependentRequired", "dependentSchemas", "minContains", "maxContains"}
    | {"unevaluatedProperties", "unevaluatedItems", "$recursiveRef"}
)
_SINCE_2020: Final = frozenset({"prefixItems", "$dynamicRef"})
# What the drafts before do not have, and what later ones no longer have. (All know `dependencies`, the validator says.)
_UNKNOWN: Final = {
    "draft-04": _SINCE_2020 | _SINCE_2019 | _CONDITIONS | {"const", "contains", "propertyNames"},
    "draft-06": _SINCE_2020 | _SINCE_2019 | _CONDITIONS,
    "draft-07": _SINCE_2020 | _SINCE_2019,
    "2019-09": _SINCE_2020,
}
_NEWEST: Final = frozenset({"$recursiveRef", "additionalItems"})


def unknown_keywords(draft: str) -> frozenset[str]:
    """The keywords that say nothing in a schema of this ``$schema``."""
    return next((unknown for name, unknown in _UNKNOWN.items() if name in draft), _NEWEST)


def pointer(at: str, *keys: str | int) -> str:
    """A pointer that goes on from ``at``, as it stands in a URI."""
    for key in keys:
        text = str(key).replace("~", "~0").replace("/", "~1")
        at += "/" + quote(text, safe="~!$&'()*+,;=:@")
    return at


class References:
    """Those of one schema. Pointers are from its root, and as they stand in a URI (``#/properties/a``)."""

    __slots__ = ("_anchors", "_base", "_bases", "_drafts", "_dynamic", "_resources")

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._resources: dict[str, tuple[str, Any]] = {}
        self._anchors: dict[tuple[str, str], tuple[str, Any]] = {}
        self._dynamic: dict[str, list[tuple[str, Any]]] = {}
        self._bases: dict[int, str] = {}  # of the schemas in one that has a name of its own
        self._drafts: dict[int, str] = {}  # of those in one that says another than the root
        first = root.get("$schema")
        draft = first if isinstance(first, str) else DRAFT
        todo: list[tuple[str, Any, str, str]] = [("#", root, "", draft)]
        self._resources[""] = ("#", root)
        while todo:
            at, node, base, draft = todo.pop()
            if not isinstance(node, Mapping):
                continue
            name = node.get("$id")
            if isinstance(name, str):
                absolute, _, anchor = urljoin(base, name).partition("#")
                if absolute and absolute != base:
                    base = absolute
                    self._resources.setdefault(base, (at, node))
                    other = node.get("$schema")
                    draft = other if isinstance(other, str) else draft
                if anchor:
                    self._anchors.setdefault((base, anchor), (at, node))
            self._bases[id(node)] = base
            self._drafts[id(node)] = draft
            for key in ("$anchor", "$dynamicAnchor"):
                name = node.get(key)
                if isinstance(name, str):
                    self._anchors.setdefault((base, name), (at, node))
                    if key == "$dynamicAnchor":
                        self._dynamic.setdefault(name, []).append((at, node))
            if node.get("$recursiveAnchor") is True:
                self._dynamic.setdefault("", []).append((at, node))
            todo += [(pointer(at, *keys), inner, base, draft) for keys, inner in _inner(node)]
        self._base = self._bases[id(root)]
        self._resources.setdefault(self._base, ("#", root))

    def draft(self, node: Mapping[str, Any], otherwise: str) -> str:
        """The ``$schema`` that counts for a schema."""
        return self._drafts.get(id(node), otherwise)

    def targets(self, node: Mapping[str, Any]) -> list[tuple[str, Any]]:
        """What a schema's references may lead to, with pointers: several only where a dynamic one may.

        What leads nowhere or out of the schema is left out.
        """
        found: list[tuple[str, Any]] = []
        for key in _REFERENCES:
            reference = node.get(key)
            if isinstance(reference, str):
                one = self._target(self._bases.get(id(node), self._base), reference)
                some = self._dynamic.get(unquote(reference.rpartition("#")[2]), []) if key != "$ref" else []
                if one is not None and all(one[1] is not other for _, other in some):
                    some = [one, *some]
                found += some
        return found

    def _target(self, base: str, reference: str) -> tuple[str, Any] | None:
        resource, _, fragment = reference.partition("#")
        found = self._resources.get(urljoin(base, resource) if resource else base)
        if found is None or not fragment:
            return found
        if not fragment.startswith("/"):
            return self._anchors.get((urljoin(base, resource) if resource else base, unquote(fragment)))
        at, target = found
        for step in fragment[1:].split("/"):
            step = unquote(step).replace("~1", "/").replace("~0", "~")
            if isinstance(target, Mapping):
                target = target.get(step)
            elif isinstance(target, list) and step.isdecimal() and int(step[:9]) < len(target):
                target = target[int(step[:9])]
            else:
                return None
            at = pointer(at, step)
        return at, target


def _inner(node: Mapping[str, Any]) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """The schemas right in a schema, each with the keys that lead there."""
    for key in (*MAPS, "dependencies"):
        part = node.get(key)
        if isinstance(part, Mapping):
            yield from (((key, name), inner) for name, inner in part.items())
    for key in (*BRANCHES, *SINGLE):
        part = node.get(key)
        if isinstance(part, list):
            yield from (((key, number), inner) for number, inner in enumerate(part))
        elif part is not None:
            yield (key,), part
