"""Values that are written as another type than the schema's, where that can mean one thing only."""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any, Final, NamedTuple

from ..errors import Fault
from ..values.bare import json_type, schema_types
from ..values.json import loads
from .strict import allows_null, followed, required_of

__all__ = ["Change", "coerce", "holds_json"]

_DEPTH: Final = 100  # deeper values stay as they are
_WHITE: Final = " \t\r\n"
_OPENS: Final = frozenset("{[" + _WHITE)
_PYTHON: Final = {"True": True, "False": False, "None": None}
_NONE: Final[Any] = object()
_CODES: Final = {
    "integer": "coerce.string_to_integer",
    "number": "coerce.string_to_number",
    "boolean": "coerce.string_to_boolean",
    "array": "coerce.string_to_array",
    "object": "coerce.string_to_object",
    "null": "coerce.string_to_null",
}


class Change(NamedTuple):
    """One value that was read as another: where, by which rule, what stood there and what it became.

    ``inside``: it stands in a string that was read as an array or object.
    """

    path: tuple[str | int, ...]
    code: str
    before: Any
    after: Any
    inside: bool = False


def coerce(
    arguments: dict[str, Any], schema: Mapping[str, Any], *, decode: bool = False
) -> tuple[dict[str, Any], list[Change]]:
    """``arguments`` as ``schema`` declares them, and what was changed for that; they themselves stay.

    A string becomes an integer, number, boolean, array, object or null only where the schema allows no string, and only
    if it is the JSON text of such a value (or Python's word for it) and nothing of its digits is lost. A null becomes
    an absence where the member is optional and may not be null. ``decode``: only arrays and objects are read in
    strings, and nothing else is changed.
    """
    work = _Work(schema, decode)
    made = work.value(arguments, schema, (), 0)
    return (made, work.changes) if work.changes else (arguments, [])


def holds_json(arguments: dict[str, Any]) -> bool:
    """Whether a string in ``arguments`` may be the JSON of an array or object; what stands deeper may hold one."""
    for value in arguments.values():
        kind = value.__class__
        if kind is str:
            if value[:1] in _OPENS:
                return True
        elif (kind is dict or kind is list) and value:
            return True
    return False


class _Work:
    def __init__(self, root: Mapping[str, Any], decode: bool) -> None:
        self._root = root
        self._decode = decode
        self.changes: list[Change] = []
        self._inside = False
        # By the identity of schemas, so that a large one is looked through once and not for every value.
        self._types: dict[int, frozenset[str] | None] = {}
        self._listed: dict[int, frozenset[Any] | None] = {}
        self._nullable: dict[int, bool] = {}
        self._shapes: dict[tuple[int, str, str], tuple[Mapping[str, Any] | None, frozenset[str]]] = {}

    def value(self, value: Any, schema: Any, path: tuple[str | int, ...], depth: int) -> Any:
        """``value``, at ``path``, as ``schema`` has it."""
        if depth > _DEPTH or not isinstance(schema, Mapping):
            return value
        if isinstance(value, str):
            types = self._types_of(schema)
            if types is None or "string" in types:
                return value
            read = _read(value, types)
            if read is _NONE or not self._is_listed(read, schema):
                return value
            if self._decode and not isinstance(read, (dict, list)):
                return value
            self.changes.append(Change(path, _CODES[_kind(read, types)], value, read, self._inside))
            if isinstance(read, (dict, list)) and not self._inside:
                self._inside = True
                try:
                    return self._within(read, schema, path, depth)
                finally:
                    self._inside = False
            value = read
        return self._within(value, schema, path, depth)

    def _within(self, value: Any, schema: Mapping[str, Any], path: tuple[str | int, ...], depth: int) -> Any:
        if isinstance(value, dict):
            return self._object(value, schema, path, depth)
        if isinstance(value, list):
            return self._array(value, schema, path, depth)
        return value

    def _is_listed(self, value: Any, schema: Mapping[str, Any]) -> bool:
        """Whether ``value`` is one of those that the schema lists, if it lists any."""
        if id(schema) not in self._listed:
            found = followed(schema, self._root)
            allowed = [found["const"]] if "const" in found else found.get("enum")
            some = frozenset(_frozen(one, 0) for one in allowed) if isinstance(allowed, (list, tuple)) else None
            self._listed[id(schema)] = some
        some = self._listed[id(schema)]
        return some is None or _frozen(value, 0) in some

    def _types_of(self, schema: Mapping[str, Any]) -> frozenset[str] | None:
        if id(schema) not in self._types:
            self._types[id(schema)] = schema_types(schema, self._root)
        return self._types[id(schema)]

    def _allows_null(self, schema: Any) -> bool:
        if id(schema) not in self._nullable:
            self._nullable[id(schema)] = allows_null(schema, self._root)
        return self._nullable[id(schema)]

    def _object(
        self, value: dict[str, Any], schema: Mapping[str, Any], path: tuple[str | int, ...], depth: int
    ) -> dict[str, Any]:
        shape, required = self._shape(schema, "properties", value)
        if shape is None:
            return value
        properties = shape.get("properties")
        properties = properties if isinstance(properties, Mapping) else {}
        # A name may be one of a pattern; whether it is cannot be told without the validator.
        others = None if shape.get("patternProperties") else shape.get("additionalProperties")
        made: dict[str, Any] = {}
        changed = False
        for key, item in value.items():
            inner = properties.get(key, None if key in properties else others)
            if (
                item is None
                and not self._decode
                and key in properties
                and key not in required
                and not self._allows_null(inner)
            ):
                self.changes.append(Change((*path, key), "coerce.forced_null", None, _NONE, self._inside))
                changed = True
                continue
            made[key] = self.value(item, inner, (*path, key), depth + 1)
            changed = changed or made[key] is not item
        return made if changed else value

    def _array(self, value: list[Any], schema: Mapping[str, Any], path: tuple[str | int, ...], depth: int) -> list[Any]:
        shape, _ = self._shape(schema, "items", value)
        if shape is None:
            return value
        items = shape.get("items")
        first = items if isinstance(items, (list, tuple)) else shape.get("prefixItems")
        first = first if isinstance(first, (list, tuple)) else ()
        rest = shape.get("additionalItems") if isinstance(items, (list, tuple)) else items
        made = [
            self.value(item, first[number] if number < len(first) else rest, (*path, number), depth + 1)
            for number, item in enumerate(value)
        ]
        return made if any(one is not other for one, other in zip(made, value, strict=True)) else value

    def _shape(self, schema: Any, keyword: str, value: Any) -> tuple[Mapping[str, Any] | None, frozenset[str]]:
        """The one schema in ``schema`` that tells of the members or items of ``value``, and what has to be given.

        None if there is none, or if several might.
        """
        kind = json_type(value)
        key = id(schema), keyword, kind
        if key not in self._shapes:
            self._shapes[key] = None, frozenset()  # while it is looked for: a schema that leads back to itself
            self._shapes[key] = self._look(schema, keyword, kind, value)
        return self._shapes[key]

    def _look(
        self, schema: Any, keyword: str, kind: str, value: Any
    ) -> tuple[Mapping[str, Any] | None, frozenset[str]]:
        found = followed(schema, self._root)
        required = frozenset(required_of(schema, self._root))
        if keyword in found or "additionalProperties" in found or "prefixItems" in found:
            return found, required
        parts = found.get("allOf")
        if isinstance(parts, (list, tuple)):
            shapes = [self._shape(part, keyword, value) for part in parts]
            told = [one for one in shapes if one[0] is not None]
            return (told[0][0], required | told[0][1]) if len(told) == 1 else (None, required)
        for union in ("anyOf", "oneOf"):
            parts = found.get(union)
            if isinstance(parts, (list, tuple)):
                meant = []
                for part in parts:
                    types = self._types_of(part) if isinstance(part, Mapping) else None
                    if types is None or kind in types:
                        meant.append(part)
                if len(meant) == 1:
                    shape, inner = self._shape(meant[0], keyword, value)
                    return shape, required | inner
                return None, required
        return None, required


def _frozen(value: Any, depth: int) -> Any:
    """What is equal for equal JSON values, and for no others; for what is too deep, nothing."""
    if isinstance(value, (dict, list, tuple)):
        if depth > _DEPTH:
            return object()
        if isinstance(value, dict):
            return frozenset((str(key), _frozen(one, depth + 1)) for key, one in value.items())
        return tuple(_frozen(one, depth + 1) for one in value)
    return isinstance(value, bool), value


def _kind(value: Any, types: frozenset[str]) -> str:
    """The type that the schema has for ``value``, which is one of ``types``."""
    kind = json_type(value)
    if kind in types or kind not in ("integer", "number"):
        return kind
    return "number" if kind == "integer" else "integer"


def _read(text: str, types: frozenset[str]) -> Any:
    """The value of one of ``types`` that ``text`` is the JSON of; `_NONE` if it is none."""
    bare = text.strip(_WHITE)
    value: Any
    if bare in _PYTHON:
        value = _PYTHON[bare]
    elif not bare or bare[0] == '"':
        return _NONE
    else:
        try:
            value = loads(bare, _DEPTH)
        except Fault:
            return _NONE
        if ("." in bare or "e" in bare or "E" in bare) and _loses(bare):
            return _NONE
    kind = json_type(value)
    if kind in types or (kind == "integer" and "number" in types):
        return value
    if kind == "number" and "integer" in types and value.is_integer():
        return value
    return _NONE


def _loses(text: str) -> bool:
    """Whether a number in JSON ``text`` has more digits than a float keeps."""
    lost = False

    def check(number: str) -> float:
        nonlocal lost
        value = float(number)
        lost = lost or Decimal(number) != Decimal(repr(value))
        return value

    try:
        json.loads(text, parse_float=check)
    except InvalidOperation:  # an exponent that not even a decimal has
        return True
    return lost
