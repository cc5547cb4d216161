"""A JSON Schema in the few shapes that a grammar can say."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from ...errors import ConversionError
from ...schema.walk import resolve
from ...values.bare import json_type, named_types


@dataclass(frozen=True, slots=True)
class Anything:
    """Any JSON value."""


@dataclass(frozen=True, slots=True)
class Scalar:
    """A string, integer, number, boolean or null."""

    type: str


@dataclass(frozen=True, slots=True, eq=False)
class Const:
    """Exactly this value."""

    value: Any


@dataclass(frozen=True, slots=True, eq=False)
class Array:
    """A list."""

    items: Shape
    least: int = 0
    most: int | None = None
    schema: Mapping[str, Any] | bool = True


@dataclass(frozen=True, slots=True, eq=False)
class Object:
    """An object: its members in order with whether each is required, and what further members are (None: no such)."""

    members: tuple[tuple[str, Shape, bool], ...] = ()
    extra: Shape | None = None
    schema: Mapping[str, Any] | bool = True


@dataclass(frozen=True, slots=True)
class Link:
    """What a ``$ref`` points to."""

    pointer: str
    schemas: Schemas

    def target(self) -> Shape:
        """The shape; a chain of references that leads nowhere is refused."""
        return self.schemas.at(self.pointer)


@dataclass(frozen=True, slots=True, eq=False)
class Union:
    """One of several."""

    options: tuple[Shape, ...]


Shape: TypeAlias = Anything | Scalar | Const | Array | Object | Link | Union

ANYTHING = Anything()
FREE = Object((), ANYTHING, {"type": "object"})
LIST = Array(ANYTHING, schema={"type": "array"})
_EVERY: tuple[Shape, ...] = (*map(Scalar, ("string", "number", "boolean", "null")), LIST, FREE)
_MOST = 64  # items that a grammar counts
_DEEP = 32  # references that one allOf may follow

# What says nothing about a value, or is read here.
_NOTES = {"title", "description", "default", "examples", "example", "deprecated", "readOnly", "writeOnly", "strict"}
_READ = {"type", "enum", "const", "anyOf", "oneOf", "allOf", "properties", "required", "additionalProperties", "items"}
_READ |= {"minItems", "maxItems", "nullable", "$defs", "definitions", "$schema", "$id", "$comment", "$anchor", "id"}


class Schemas:
    """The schemas of one tool. ``note`` is told the places and keywords that a grammar does not hold."""

    def __init__(self, root: Mapping[str, Any], where: str, note: Callable[[str, str], None]) -> None:
        self.root = root
        self.where = where
        self.note = note
        self._at: dict[str, Shape] = {}
        self._open: list[str] = []

    def __hash__(self) -> int:
        return id(self)

    def parameters(self) -> Object:
        """The shape of a call's arguments."""
        shape = self.read({"type": "object", **self.root} if "$ref" not in self.root else self.root, "")
        while isinstance(shape, Link):
            shape = shape.target()
        if not isinstance(shape, Object):
            raise ConversionError(f"{self.where}: the parameters have to be one object for a grammar")
        return shape

    def at(self, pointer: str) -> Shape:
        """The shape behind a reference."""
        if pointer in self._open:
            raise ConversionError(f"{self.where}: $ref {pointer!r} leads back to itself")
        if pointer not in self._at:
            target = resolve(pointer, self.root)
            if not isinstance(target, Mapping | bool):
                raise ConversionError(f"{self.where}: $ref {pointer!r} points to no schema in the tool's own")
            self._open.append(pointer)
            shape = self.read(target, f".{pointer.rpartition('/')[2]}")
            self._at[pointer] = self._led(shape)
            self._open.pop()
        return self._at[pointer]

    def _led(self, shape: Shape) -> Shape:
        """The shape with the references followed that stand for all of it: none may lead back."""
        if isinstance(shape, Link):
            return shape.target()
        return Union(tuple(map(self._led, shape.options))) if isinstance(shape, Union) else shape

    def read(self, schema: Any, path: str) -> Shape:
        """The shape of a schema; ``path`` is for notes."""
        if schema is True or schema == {}:
            return ANYTHING
        if not isinstance(schema, Mapping):
            raise ConversionError(f"{self.where}{path}: no value is allowed by {schema!r:.80}")
        reference = schema.get("$ref")
        if isinstance(reference, str):
            for keyword in schema.keys() - _NOTES - {"$ref", "$defs", "definitions"}:
                self.note(self.where + path, f"{keyword} beside $ref")
            return Link(reference, self)
        schema = self._merged(schema, path)
        for keyword in schema:
            if keyword not in _NOTES and keyword not in _READ and not keyword.startswith("x-"):
                self.note(self.where + path, keyword)
        shape = self._options(schema, path)
        return Union((shape, Scalar("null"))) if schema.get("nullable") is True else shape

    def _merged(self, schema: Mapping[str, Any], path: str, depth: int = 0) -> Mapping[str, Any]:
        """The parts of ``allOf`` in one."""
        parts = schema.get("allOf")
        if not isinstance(parts, list):
            return schema
        merged = {k: v for k, v in schema.items() if k != "allOf"}
        for part in parts:
            while isinstance(part, Mapping) and isinstance(part.get("$ref"), str) and depth < _DEEP:
                part = resolve(part["$ref"], self.root)
                depth += 1
            if not isinstance(part, Mapping) or depth == _DEEP:
                raise ConversionError(f"{self.where}{path}: a part of allOf is no schema, or leads back to itself")
            merged = self._both(merged, self._merged(part, path, depth), path)
        return merged

    def _both(self, one: Mapping[str, Any], other: Mapping[str, Any], path: str) -> dict[str, Any]:
        both = dict(one)
        for keyword, value in other.items():
            known = both.get(keyword)
            if keyword in ("properties", "$defs", "definitions") and isinstance(known, Mapping):
                both[keyword] = {**known, **value}
            elif keyword == "required" and isinstance(known, list):
                both[keyword] = [*known, *(v for v in value if v not in known)]
            elif keyword in both and known != value and keyword not in _NOTES:
                self.note(self.where + path, f"a second {keyword}")
            else:
                both[keyword] = value
        return both

    def _options(self, schema: Mapping[str, Any], path: str) -> Shape:
        types = named_types(schema.get("type"))
        if "const" in schema:
            return Const(schema["const"])
        values = schema.get("enum")
        if isinstance(values, list) and values:
            fitting = [v for v in values if types is None or _fits(v, types)]
            if not fitting:
                raise ConversionError(f"{self.where}{path}: no value of enum has the type {schema.get('type')!r}")
            return Union(tuple(map(Const, fitting)))
        for keyword in ("anyOf", "oneOf"):
            parts = schema.get(keyword)
            if isinstance(parts, list) and parts:
                rest = {k: v for k, v in schema.items() if k not in ("anyOf", "oneOf", "nullable", *_NOTES)}
                rest.pop("$defs", None)
                shapes = []
                for part in parts:
                    if rest and isinstance(part, Mapping) and "$ref" not in part:
                        part = self._both(rest, part, path)
                    shapes.append(self.read(part, path))
                return Union(tuple(shapes))
        if types is None:
            if "properties" in schema or "additionalProperties" in schema:
                types = frozenset(("object",))
            elif "items" in schema:
                types = frozenset(("array",))
            else:
                return ANYTHING
        shapes = [self._typed(schema, t, path) for t in sorted(types, key=_ORDER.index)]
        return shapes[0] if len(shapes) == 1 else Union(tuple(shapes))

    def _typed(self, schema: Mapping[str, Any], type_: str, path: str) -> Shape:
        if type_ == "object":
            return self._object(schema, path)
        if type_ != "array":
            return Scalar(type_)
        least, most = schema.get("minItems", 0), schema.get("maxItems")
        for keyword, count in (("minItems", least), ("maxItems", most)):
            if count is not None and (not isinstance(count, int) or count > _MOST):
                self.note(self.where + path, keyword)
        least = least if isinstance(least, int) and least <= _MOST else 0
        most = most if isinstance(most, int) and most <= _MOST else None
        items = schema.get("items", True)
        if isinstance(items, list):
            self.note(self.where + path, "items as a list")
            items = True
        return Array(self.read(items, path + "[]"), least, most, self._whole(schema))

    def _object(self, schema: Mapping[str, Any], path: str) -> Object:
        properties = schema.get("properties")
        properties = properties if isinstance(properties, Mapping) else None
        required = schema.get("required")
        required = [k for k in required if isinstance(k, str)] if isinstance(required, list) else []
        members = {k: (k, self.read(v, f"{path}.{k}"), k in required) for k, v in (properties or {}).items()}
        for key in required:
            members.setdefault(key, (key, ANYTHING, True))
        more = schema.get("additionalProperties", properties is None)
        extra = None if more is False else self.read(more, f"{path}.*")
        return Object(tuple(members.values()), extra, self._whole(schema))

    def _whole(self, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        """The schema with the definitions that its references may point to."""
        return {**{k: self.root[k] for k in ("$defs", "definitions") if k in self.root}, **schema}


_ORDER = ("string", "integer", "number", "boolean", "object", "array", "null")


def _fits(value: Any, types: frozenset[str]) -> bool:
    kind = json_type(value)
    return kind in types or (kind == "integer" and "number" in types)


def options(shape: Shape) -> list[Shape]:
    """The alternatives of a shape, without unions and links."""
    if isinstance(shape, Link):
        return options(shape.target())
    if isinstance(shape, Union):
        return [option for part in shape.options for option in options(part)]
    return [shape]


def kinds(shape: Shape) -> list[tuple[str, Shape]]:
    """The alternatives of a shape with their JSON types; what may be anything is one of each."""
    parts = [one for part in options(shape) for one in (_EVERY if isinstance(part, Anything) else (part,))]
    return [(_kind(part), part) for part in parts]


def _kind(shape: Shape) -> str:
    if isinstance(shape, Scalar):
        return shape.type
    if isinstance(shape, Const):
        return json_type(shape.value)
    return "array" if isinstance(shape, Array) else "object"


def not_null(shape: Shape) -> tuple[Shape | None, bool]:
    """A shape without null, None where nothing is left; and whether it allowed null."""
    parts = options(shape)
    rest = [p for p in parts if not (isinstance(p, Scalar) and p.type == "null") and not _is_none(p)]
    if len(rest) == len(parts):
        return shape, False
    return (None if not rest else rest[0] if len(rest) == 1 else Union(tuple(rest))), True


def _is_none(shape: Shape) -> bool:
    return isinstance(shape, Const) and shape.value is None
