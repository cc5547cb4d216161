"""In what a value does not fit a schema: every violation, in bounded time.

The validator's own list of errors takes time that grows exponentially with the depth of a value of a recursive union,
and quadratically with the size of one that is wrong in many places. So the validator only says yes or no here, of one
schema or keyword at a time, and this walks down where it says no.
"""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any, Final, NamedTuple

from ..values.bare import json_type, schema_types
from .declared import Declared, items_of
from .references import pointer
from .strict import followed
from .validate import Compiled
from .words import BOUNDS, A, either, listed, place, shown

__all__ = ["Flaw", "explain"]

MOST: Final = 32  # violations of one call that are told; the rest is only counted,
COUNTED: Final = 1000  # up to here
_STEPS: Final = 2000  # schemas that are looked into
_DEPTH: Final = 100  # how many of them inside one another


class Flaw(NamedTuple):
    """One violation: where in the arguments, by which keyword, and in words."""

    path: tuple[str | int, ...]
    keyword: str
    message: str
    expected: str | None = None
    nearest: tuple[str, ...] = ()


def explain(compiled: Compiled, value: Any) -> tuple[list[Flaw], int]:
    """In what ``value``, which does not fit, does not: at least one violation, at most `MOST`, and how many more.

    More than `COUNTED` are not looked for, nor those in more parts than are worth it.
    """
    walk = _Walk(compiled)
    try:
        walk.visit("#", compiled.root, value, ())
    except UnicodeEncodeError:
        path = _half(value, ())
        walk.add(() if path is None else path, "unicode", "holds half of a surrogate pair, which is no text")
    return walk.flaws, len(walk.others)


def _half(value: Any, path: tuple[str | int, ...]) -> tuple[str | int, ...] | None:
    """Where the first half of a surrogate pair stands, in a name or a value; None if there is none."""
    if isinstance(value, str):
        return path if any("\ud800" <= char <= "\udfff" for char in value) else None
    if len(path) < _DEPTH and isinstance(value, (dict, list)):
        for key, one in value.items() if isinstance(value, dict) else enumerate(value):
            found = _half(key, (*path, key)) or _half(one, (*path, key))
            if found is not None:
                return found
    return None


class _Walk:
    def __init__(self, compiled: Compiled) -> None:
        self._compiled = compiled
        self._root = compiled.root
        self._left: float = _STEPS
        self.flaws: list[Flaw] = []
        self.others: set[tuple[tuple[str | int, ...], str, str]] = set()  # that are not told
        self._depth = 0
        self._seen: set[tuple[str, tuple[str | int, ...]]] = set()
        self._declared: dict[int, Declared] = {}

    def full(self) -> bool:
        """Whether no more is looked for."""
        return len(self.others) >= COUNTED or self._left <= 0

    @property
    def _told(self) -> int:
        return len(self.flaws) + len(self.others)

    @property
    def _counting(self) -> bool:
        """Whether what is found is only counted: no need to say what is near to it."""
        return len(self.flaws) >= MOST

    def add(
        self, path: tuple[str | int, ...], keyword: str, said: str, expected: str | None = None, *near: str
    ) -> None:
        if self._counting:
            if not any((one.path, one.keyword) == (path, keyword) and one.message.endswith(said) for one in self.flaws):
                self.others.add((path, keyword, said))
            return
        flaw = Flaw(path, keyword, f"{place(path)} {said}", expected, near)
        if flaw not in self.flaws:
            self.flaws.append(flaw)

    def visit(self, at: str, schema: Any, value: Any, path: tuple[str | int, ...]) -> None:
        """Say why ``value``, at ``path``, does not fit the schema at the pointer ``at``."""
        if (at, path) in self._seen:
            return  # it is said already
        self._seen.add((at, path))
        self._left -= 1
        self._depth += 1
        before = self._told
        if schema is False:
            self.add(path, "false", "may not be given")
        elif isinstance(schema, Mapping) and not self.full() and self._depth <= _DEPTH:
            node, schema = schema, self._compiled.known(schema)
            self._type(at, schema, value, path)
            if self._told == before:
                self._own(at, schema, value, path)
                if isinstance(value, dict):
                    self._members(at, schema, value, path)
                elif isinstance(value, list):
                    self._items(at, schema, value, path)
                self._parts(at, node, schema, value, path)
                self._unevaluated(at, node, schema, value, path, self._told > before)
        if self._told == before and not (self.full() and self.flaws):
            self.add(path, "schema", "must fit the schema", self._wanted(schema))
        self._depth -= 1

    def fails(self, at: str, value: Any) -> bool:
        """Whether ``value`` does not fit the schema at a pointer."""
        return not self._compiled.sub(at)(value)

    def inner(self, at: str, schema: Any, value: Any, path: tuple[str | int, ...]) -> None:
        """A schema that the value has to fit as well."""
        if not self.full() and schema is not True and self.fails(at, value):
            self.visit(at, schema, value, path)

    # -- what holds no schemas

    def _broken(self, at: str, schema: Mapping[str, Any], key: str, value: Any) -> bool:
        return key in schema and not self._compiled.keyword(at, key, schema[key])(value)

    def _type(self, at: str, schema: Mapping[str, Any], value: Any, path: tuple[str | int, ...]) -> None:
        if self._broken(at, schema, "type", value):
            wanted = either(schema["type"] if isinstance(schema["type"], list) else [schema["type"]])
            found = A[json_type(value)]
            self.add(path, "type", f"must be {wanted}, not {found}", wanted)

    def _own(self, at: str, schema: Mapping[str, Any], value: Any, path: tuple[str | int, ...]) -> None:
        if self._broken(at, schema, "enum", value):
            wanted = f"one of {listed(schema['enum'])}"
            near: list[str] = []
            if isinstance(value, str) and not self._counting:
                texts = [one for one in schema["enum"][:1000] if isinstance(one, str) and len(one) <= 100]
                near = get_close_matches(value[:100], texts, n=3, cutoff=0.6)
            self.add(path, "enum", f"must be {wanted}, not {shown(value)}", wanted, *near)
        if self._broken(at, schema, "const", value):
            self.add(path, "const", f"must be {shown(schema['const'])}, not {shown(value)}", shown(schema["const"]))
        for key, words in BOUNDS.items():
            if self._broken(at, schema, key, value):
                wanted = words.format(shown(schema[key]))
                self.add(path, key, f"must be {wanted}", wanted)
        if self._broken(at, schema, "uniqueItems", value):
            self.add(path, "uniqueItems", "has the same item twice", "different items")

    # -- members and items

    def _members(self, at: str, schema: Mapping[str, Any], value: dict[str, Any], path: tuple[str | int, ...]) -> None:
        properties = schema.get("properties")
        properties = properties if isinstance(properties, dict) else {}
        required = schema.get("required")
        for key in required if isinstance(required, list) else ():
            if key not in value:
                wanted = self._wanted(properties.get(key))
                self.add(path, "required", f"must have {key!r:.90}", wanted)
        for keyword in ("dependentRequired", "dependencies"):
            wants = schema.get(keyword)
            for key, needed in wants.items() if isinstance(wants, dict) else ():
                for one in needed if key in value and isinstance(needed, list) else ():
                    if one not in value:
                        self.add(path, keyword, f"must have {one!r:.90}, as {key!r:.90} is there")
        patterns = schema.get("patternProperties")
        patterns = patterns if isinstance(patterns, dict) else {}
        others = schema.get("additionalProperties")
        names = schema.get("propertyNames")
        for key, item in value.items():
            if self.full():
                return
            below = (*path, key)
            known = False
            if key in properties:
                known = True
                self.inner(pointer(at, "properties", key), properties[key], item, below)
            if patterns:
                for pattern, one in patterns.items():
                    # A name that matches is the only one that a schema of nothing refuses.
                    self._left -= 0.1
                    if self.full():
                        return
                    here = pointer(at, "patternProperties", pattern)
                    if not self._compiled.keyword(here, "patternProperties", {pattern: False})({key: None}):
                        known = True
                        self.inner(here, one, item, below)
            if names is not None and self.fails(pointer(at, "propertyNames"), key):
                self.add(below, "propertyNames", "is no name that is allowed", self._wanted(names))
            if not known and others is False:
                self._unknown(below, "additionalProperties", properties, value)
            elif not known and isinstance(others, Mapping):
                self.inner(pointer(at, "additionalProperties"), others, item, below)

    def _unknown(
        self, path: tuple[str | int, ...], keyword: str, properties: Mapping[str, Any], value: Mapping[str, Any]
    ) -> None:
        if self._counting:
            self.add(path, keyword, "is not declared")
            return
        key = str(path[-1])
        free = sorted(name for name in properties if name not in value)[:1000]
        near = get_close_matches(key[:100], [name for name in free if len(name) <= 100], n=3, cutoff=0.5)
        known = near or sorted(properties)[:8]
        expected = " or ".join(f"{name!r:.90}" for name in known) if near else "one of " + ", ".join(map(repr, known))
        self.add(path, keyword, "is not declared", expected if known else "no arguments", *near)

    def _items(self, at: str, schema: Mapping[str, Any], value: list[Any], path: tuple[str | int, ...]) -> None:
        items = schema.get("items")
        # A list under `items` is draft 7's name for the first ones.
        listed = isinstance(items, list)
        key = "items" if listed else "prefixItems"
        first = schema.get(key)
        first = first if isinstance(first, list) else []
        rest = "additionalItems" if listed else "items"
        others = schema.get(rest)
        whole = None if others is None else self._compiled.sub(pointer(at, rest))
        for number, item in enumerate(value):
            if self.full():
                return
            if number < len(first):
                self.inner(pointer(at, key, number), first[number], item, (*path, number))
            elif whole is not None and not whole(item):
                if others is False:
                    self.add((*path, number), rest, f"is one item too many: there are {len(first)}", None)
                else:
                    self.visit(pointer(at, rest), others, item, (*path, number))
        contains = schema.get("contains")
        if contains is not None:
            fits = self._compiled.sub(pointer(at, "contains"))
            count = sum(map(fits, value))
            least, most = schema.get("minContains", 1), schema.get("maxContains")
            if count < least:
                self.add(path, "contains", f"must hold at least {least} that fit, and holds {count}", None)
            elif most is not None and count > most:
                self.add(path, "maxContains", f"may hold at most {most} that fit, and holds {count}", None)

    # -- schemas for the same value

    def _parts(
        self, at: str, node: Mapping[str, Any], schema: Mapping[str, Any], value: Any, path: tuple[str | int, ...]
    ) -> None:
        targets = self._compiled.references.targets(node)
        for there, target in targets if len(targets) == 1 else ():  # else which is meant is not known here
            self.inner(there, target, value, path)
        for number, part in enumerate(items_of(schema.get("allOf"))):
            self.inner(pointer(at, "allOf", number), part, value, path)
        for keyword in ("anyOf", "oneOf"):
            parts = items_of(schema.get(keyword))
            if parts and not self.full():
                self._union(at, keyword, parts, value, path)
        if "not" in schema and not self.fails(pointer(at, "not"), value):
            self.add(path, "not", "must not fit what the schema excludes")
        if "if" in schema:
            then = "else" if self.fails(pointer(at, "if"), value) else "then"
            if then in schema:
                self.inner(pointer(at, then), schema[then], value, path)
        for keyword in ("dependentSchemas", "dependencies"):
            wants = schema.get(keyword)
            if isinstance(value, dict) and isinstance(wants, dict):
                for key, part in wants.items():
                    if key in value and not isinstance(part, list):
                        self.inner(pointer(at, keyword, key), part, value, path)

    def _union(self, at: str, keyword: str, parts: list[Any], value: Any, path: tuple[str | int, ...]) -> None:
        fitting = [number for number in range(len(parts)) if not self.fails(pointer(at, keyword, number), value)]
        if fitting:
            if keyword == "oneOf" and len(fitting) > 1:
                self.add(path, keyword, f"must fit one of {len(parts)} schemas, and fits {len(fitting)}", None)
            return
        typed = [(number, part) for number, part in enumerate(parts) if self._is_typed(part, value)]
        tag = None
        if isinstance(value, dict):
            tag, typed = self._tagged(typed, value)
        if len(typed) == 1:
            number, part = typed[0]
            self.visit(pointer(at, keyword, number), part, value, path)
        elif tag is not None:
            key, tags = tag
            wanted = f"one of {listed(tags)}"
            self.add((*path, key), keyword, f"must be {wanted}, not {shown(value[key])}", wanted)
        elif typed:
            self.add(path, keyword, f"must fit one of {len(parts)} schemas")
        else:
            wanted = " or ".join(dict.fromkeys(filter(None, map(self._wanted, parts[:8]))))
            said = f"must be {wanted}, not {A[json_type(value)]}" if wanted else f"must fit one of {len(parts)} schemas"
            self.add(path, keyword, said, wanted or None)

    def _is_typed(self, part: Any, value: Any) -> bool:
        """Whether a branch of a union is one for values of this type."""
        if not isinstance(part, Mapping):
            return part is True
        types = schema_types(part, self._root)
        kind = json_type(value)
        return types is None or kind in types or (kind == "integer" and "number" in types)

    def _tagged(
        self, parts: list[tuple[int, Any]], value: dict[str, Any]
    ) -> tuple[tuple[str, list[Any]] | None, list[tuple[int, Any]]]:
        """The branches whose tags (members that are constants) are the value's; else a member that tells, its tags."""
        fitting = []
        wrong: dict[str, list[Any]] = {}
        for number, part in parts:
            properties = followed(part, self._root).get("properties")
            fits = True
            for key, one in properties.items() if isinstance(properties, Mapping) else ():
                if isinstance(one, Mapping) and key in value:
                    tags = [one["const"]] if "const" in one else one.get("enum")
                    if isinstance(tags, list) and len(tags) <= 100 and value[key] not in tags:
                        fits = False
                        wrong.setdefault(key, []).extend(tags)
            if fits:
                fitting.append((number, part))
        if fitting or not wrong:
            return None, fitting
        return next(iter(wrong.items())), []

    def _unevaluated(
        self,
        at: str,
        node: Mapping[str, Any],
        schema: Mapping[str, Any],
        value: Any,
        path: tuple[str | int, ...],
        told: bool,
    ) -> None:
        """Members and items that no part of the schema looks at. ``told``: there is something else wrong."""
        named = isinstance(value, dict)
        keyword = "unevaluatedProperties" if named else "unevaluatedItems"
        rest = schema.get(keyword)
        if not isinstance(value, (dict, list)) or rest is None or rest is True or self.full():
            return
        declared = self._declared.get(id(node))
        if declared is None:
            declared = self._declared[id(node)] = Declared(self._compiled, node)
        before = self._told
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            if self.full() or declared.may_have(key):
                continue
            if rest is not False:
                self.inner(pointer(at, keyword), rest, item, (*path, key))
            elif isinstance(value, dict):
                self._unknown((*path, key), keyword, declared.names, value)
            else:
                self.add((*path, key), keyword, "is not declared", None)
        if not told and self._told == before and self.fails(at, value):
            self.add(path, keyword, f"has {'members' if named else 'items'} that are not declared")

    def _wanted(self, schema: Any) -> str | None:
        """What a schema wants, in a few words; None if that is not said."""
        schema = followed(schema, self._root)
        if "const" in schema:
            return shown(schema["const"])
        if isinstance(schema.get("enum"), list) and schema["enum"]:
            return f"one of {listed(schema['enum'])}"
        types = schema_types(schema, self._root)
        return None if types is None else either(sorted(types))
