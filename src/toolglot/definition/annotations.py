"""Python types to JSON Schema, without any dependency. Models of pydantic and msgspec write their own."""

from __future__ import annotations

import dataclasses
import datetime as dt
import decimal
import enum
import inspect
import json
import pathlib
import sys
import types
import typing
import uuid
from collections import abc
from typing import Any, get_args, get_origin

from ..errors import DefinitionError

__all__ = ["Schemas", "hints"]

_SIMPLE: dict[Any, dict[str, Any]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    None: {"type": "null"},
    type(None): {"type": "null"},
    Any: {},
    object: {},
    bytes: {"type": "string", "contentEncoding": "base64"},
    dt.datetime: {"type": "string", "format": "date-time"},
    dt.date: {"type": "string", "format": "date"},
    dt.time: {"type": "string", "format": "time"},
    dt.timedelta: {"type": "string", "format": "duration"},
    decimal.Decimal: {"type": "string"},
    uuid.UUID: {"type": "string", "format": "uuid"},
    pathlib.Path: {"type": "string", "format": "path"},
    dict: {"type": "object"},
    list: {"type": "array", "items": {}},
    tuple: {"type": "array", "items": {}},
    set: {"type": "array", "items": {}, "uniqueItems": True},
    frozenset: {"type": "array", "items": {}, "uniqueItems": True},
}
_SETS = (set, frozenset, abc.Set, abc.MutableSet)
_LISTS = (list, abc.Sequence, abc.MutableSequence, abc.Iterable, abc.Collection)
_DICTS = (dict, abc.Mapping, abc.MutableMapping)
# What `annotated_types`, pydantic's `Field` and `msgspec.Meta` call a bound, and its keyword.
_BOUNDS = {
    "ge": "minimum",
    "gt": "exclusiveMinimum",
    "le": "maximum",
    "lt": "exclusiveMaximum",
    "multiple_of": "multipleOf",
    "pattern": "pattern",
}
_SIZES = {"min_length": ("minLength", "minItems"), "max_length": ("maxLength", "maxItems")}


def hints(owner: Any, what: str) -> dict[str, Any]:
    """The annotations of a function or class, names resolved."""
    try:
        return typing.get_type_hints(owner, include_extras=True)
    except (NameError, TypeError, AttributeError) as error:
        raise DefinitionError(
            f"{what}: an annotation cannot be resolved ({error})", "definition.invalid_function"
        ) from None


def plain_value(value: Any) -> bool:
    """Whether ``value`` can stand in a schema as it is."""
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return False
    return True


class Schemas:
    """Reads annotations of one definition; classes that are used stand in ``defs``, so that they may recur."""

    def __init__(self) -> None:
        self.defs: dict[str, Any] = {}
        self._names: dict[type, str] = {}

    def of(self, annotation: Any, where: str) -> dict[str, Any]:
        """The schema of ``annotation``; ``where`` names it in errors."""
        try:
            simple = _SIMPLE.get(annotation)
        except TypeError:  # not hashable
            simple = None
        if simple is not None:
            return dict(simple)
        if annotation is inspect.Parameter.empty:
            return {}
        origin = get_origin(annotation)
        if origin is not None:
            return self._generic(annotation, origin, get_args(annotation), where)
        if isinstance(annotation, type):
            if issubclass(annotation, enum.Enum):
                return self._named(annotation, lambda: _values([member.value for member in annotation]))
            if is_structure(annotation):
                return self._named(annotation, lambda: self.structure(annotation))
            for base, schema in _SIMPLE.items():  # a subclass of str, int, Path, ...
                if isinstance(base, type) and base is not object and issubclass(annotation, base):
                    return dict(schema)
            if annotation in (*_LISTS, *_SETS, *_DICTS):
                return self._generic(annotation, annotation, (), where)
        if isinstance(annotation, typing.TypeVar):
            return self.of(annotation.__bound__ if annotation.__bound__ is not None else Any, where)
        inner = getattr(annotation, "__supertype__", None) or getattr(annotation, "__value__", None)
        if inner is not None:  # NewType; a type alias of Python 3.12
            return self.of(inner, where)
        raise DefinitionError(
            f"{where}: {annotation!r:.100} has no JSON Schema; annotate it with a type that JSON can hold",
            "definition.invalid_function",
        )

    def _generic(self, annotation: Any, origin: Any, args: tuple[Any, ...], where: str) -> dict[str, Any]:
        if origin is typing.Annotated:
            schema = self.of(args[0], where)
            for mark in args[1:]:
                schema = _mark(schema, mark)
            return schema
        if origin is typing.Literal:
            return _values([arg.value if isinstance(arg, enum.Enum) else arg for arg in args])
        if origin in (typing.Union, types.UnionType):
            return _union([self.of(arg, where) for arg in args])
        if origin is tuple:
            if len(args) == 2 and args[1] is Ellipsis:
                return {"type": "array", "items": self.of(args[0], where)}
            args = () if args == ((),) else args
            items = [self.of(arg, where) for arg in args]
            return {"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)}
        if origin in _SETS:
            return {"type": "array", "items": self.of(args[0], where) if args else {}, "uniqueItems": True}
        if origin in _LISTS:
            return {"type": "array", "items": self.of(args[0], where) if args else {}}
        if origin in _DICTS:
            schema = {"type": "object"}
            if len(args) == 2 and args[1] is not Any:
                schema["additionalProperties"] = self.of(args[1], where)
            return schema
        if getattr(origin, "__name__", "") in ("Required", "NotRequired", "ReadOnly", "Final", "ClassVar"):
            return self.of(args[0], where)
        if isinstance(origin, type) and is_structure(origin):
            return self.of(origin if foreign_schema(annotation) is None else annotation, where)
        raise DefinitionError(f"{where}: {annotation!r:.100} has no JSON Schema", "definition.invalid_function")

    def _named(self, cls: type, make: Any) -> dict[str, Any]:
        name = self._names.get(cls)
        if name is None:
            name = cls.__name__
            while name in self.defs:
                name += "_"
            self._names[cls] = name
            self.defs[name] = {}  # taken, while its own members may mention it
            self.defs[name] = make()
        return {"$ref": f"#/$defs/{name}"}

    def structure(self, cls: type) -> dict[str, Any]:
        """The schema of a class with named members."""
        foreign = foreign_schema(cls)
        if foreign is not None:
            defs = foreign.pop("$defs", {})
            for name, schema in defs.items():
                self.defs.setdefault(name, schema)
            own = foreign.get("$ref", "").rpartition("/")[2]  # pydantic's way with a model that mentions itself
            return dict(defs.get(own, foreign))
        properties: dict[str, Any] = {}
        required: list[str] = []
        annotations = hints(cls, cls.__name__)
        if dataclasses.is_dataclass(cls):
            for field in dataclasses.fields(cls):
                if field.init:
                    schema = self.of(annotations[field.name], f"{cls.__name__}.{field.name}")
                    needed = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
                    if field.default is not dataclasses.MISSING:
                        schema = with_default(schema, field.default)
                    if isinstance(field.metadata.get("description"), str):
                        schema = described(schema, field.metadata["description"])
                    properties[field.name] = schema
                    required += [field.name] if needed else []
        else:
            wanted = getattr(cls, "__required_keys__", None)
            defaults = getattr(cls, "_field_defaults", {})
            for name, annotation in annotations.items():
                schema = self.of(annotation, f"{cls.__name__}.{name}")
                properties[name] = with_default(schema, defaults[name]) if name in defaults else schema
                required += [name] if (name in wanted if wanted is not None else name not in defaults) else []
        schema = {"type": "object", "properties": properties}
        return {**schema, "required": required} if required else schema


def is_structure(cls: Any) -> bool:
    """Whether ``cls`` is a class with named members: a model, dataclass, TypedDict, NamedTuple or msgspec Struct."""
    if not isinstance(cls, type):
        return False
    return (
        dataclasses.is_dataclass(cls)
        or typing.is_typeddict(cls)
        or hasattr(cls, "__struct_fields__")
        or hasattr(cls, "model_json_schema")
        or (issubclass(cls, tuple) and hasattr(cls, "_field_defaults"))
    )


def foreign_schema(cls: Any) -> dict[str, Any] | None:
    """The schema that pydantic or msgspec makes of one of its own classes; None of another."""
    try:
        return _foreign_schema(cls)
    except (NameError, TypeError, RuntimeError) as error:  # pydantic's own are RuntimeErrors
        raise DefinitionError(f"{cls!r:.100} has no JSON Schema ({error})", "definition.invalid_function") from None


def _foreign_schema(cls: Any) -> dict[str, Any] | None:
    make = getattr(cls, "model_json_schema", None)
    if make is not None:
        return dict(make())
    if hasattr(cls, "__struct_fields__"):
        # Whoever has such a class has imported msgspec.
        (schema,), defs = sys.modules["msgspec"].json.schema_components([cls], ref_template="#/$defs/{name}")
        if f'"{schema.get("$ref")}"' not in json.dumps(defs):  # only a class that mentions itself stays among them
            schema = defs.pop(schema["$ref"].rpartition("/")[2])
        return {**schema, "$defs": defs} if defs else dict(schema)
    return None


def described(schema: dict[str, Any], text: str) -> dict[str, Any]:
    """``schema`` with a description, unless it has one."""
    return schema if not text or "description" in schema else {**schema, "description": text}


def with_default(schema: dict[str, Any], default: Any) -> dict[str, Any]:
    """``schema`` with a default, if JSON can hold it."""
    if isinstance(default, enum.Enum):
        default = default.value
    return {**schema, "default": default} if plain_value(default) else schema


def _values(values: list[Any]) -> dict[str, Any]:
    names = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null"}
    kinds = list(dict.fromkeys(names.get(type(value), "") for value in values))
    schema: dict[str, Any] = {"enum": values}
    if "" not in kinds and kinds:
        schema = {"type": kinds[0] if len(kinds) == 1 else kinds, **schema}
    return schema


def _union(schemas: list[dict[str, Any]]) -> dict[str, Any]:
    flat: list[dict[str, Any]] = []
    for schema in schemas:
        flat += schema["anyOf"] if set(schema) == {"anyOf"} else [schema]
    return {"anyOf": flat} if {} not in flat else {}


def _mark(schema: dict[str, Any], mark: Any) -> dict[str, Any]:
    """What a piece of metadata in ``Annotated`` says."""
    if isinstance(mark, str):
        return described(schema, mark)
    found: dict[str, Any] = {}
    for piece in (mark, *getattr(mark, "metadata", ())):  # pydantic's Field keeps its bounds in a list
        for name, keyword in _BOUNDS.items():
            if getattr(piece, name, None) is not None:
                found[keyword] = getattr(piece, name)
        for name, keywords in _SIZES.items():
            if getattr(piece, name, None) is not None:
                found[keywords[schema.get("type") == "array"]] = getattr(piece, name)
        extra = getattr(piece, "extra_json_schema", None) or getattr(piece, "json_schema_extra", None)
        if isinstance(extra, dict):
            found |= extra
        for name in ("description", "title", "examples"):
            if getattr(piece, name, None):
                found[name] = getattr(piece, name)
    text = getattr(mark, "documentation", None)  # typing_extensions.Doc
    if isinstance(text, str):
        found["description"] = text
    return {**schema, **{key: value for key, value in found.items() if plain_value(value)}}
