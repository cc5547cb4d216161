"""Bare text as a value: the tool's schema says what it means."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from ..errors import Fault
from ..schema.walk import resolve
from .dialect import PYTHON
from .json import canonical, quote, scan
from .literal import LiteralReader
from .scalars import read_number

__all__ = ["decode_entities", "json_type", "named_types", "read_python", "read_text", "schema_types"]

_STRING: Final = frozenset({"string"})
_OF_MEMBERS: Final = frozenset({"object"})
_OF_ITEMS: Final = frozenset({"array"})
_TYPES: Final = frozenset({"string", "integer", "number", "boolean", "object", "array", "null"})
_ALIASES: Final = {
    "str": "string",
    "text": "string",
    "int": "integer",
    "float": "number",
    "double": "number",
    "bool": "boolean",
    "dict": "object",
    "map": "object",
    "list": "array",
    "tuple": "array",
}
_WORDS: Final[dict[str, Any]] = {"null": None, "true": True, "false": False}
_SCANNED: Final = frozenset('{["')
_NUMBER: Any = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?").fullmatch
_ENTITY = re.compile(r"&(?:(lt|gt|amp|quot|apos)|#0*([1-9][0-9]{0,6})|#x0*([1-9A-Fa-f][0-9A-Fa-f]{0,5}));")
_ENTITIES: Final = {"lt": "<", "gt": ">", "amp": "&", "quot": '"', "apos": "'"}


def schema_types(schema: Mapping[str, Any], root: Mapping[str, Any]) -> frozenset[str] | None:
    """The JSON types that ``schema`` allows, ``None`` if it does not say; ``$ref`` is looked up in ``root``."""
    return _types(schema, root, {})


def _types(schema: Any, root: Mapping[str, Any], known: dict[int, frozenset[str] | None]) -> frozenset[str] | None:
    """``known`` is what was found out about schemas, by their identity: nothing about those that are looked into."""
    if not isinstance(schema, Mapping):
        return None
    if id(schema) in known:
        return known[id(schema)]
    known[id(schema)] = None
    # Every keyword narrows what the others allow.
    types = named_types(schema.get("type"))
    if types is None:
        types = _of_values(schema)
    if isinstance(schema.get("$ref"), str):
        types = _both(types, _types(resolve(schema["$ref"], root), root, known))
    parts = schema.get("allOf")
    if isinstance(parts, (list, tuple)):
        for part in parts:
            types = _both(types, _types(part, root, known))
    for keyword in ("anyOf", "oneOf"):
        parts = schema.get(keyword)
        if isinstance(parts, (list, tuple)) and parts:
            types = _both(types, _either([_types(part, root, known) for part in parts]))
    if types is None:
        types = _OF_MEMBERS if "properties" in schema else _OF_ITEMS if "items" in schema else None
    known[id(schema)] = types
    return types


def named_types(type_: Any) -> frozenset[str] | None:
    """The types of a ``type`` keyword; one that is unknown makes all of it unknown."""
    names = [type_] if isinstance(type_, str) else type_
    if not isinstance(names, (list, tuple)) or not names:
        return None
    types = set()
    for name in names:
        if not isinstance(name, str):
            return None
        name = name.lower()  # Google writes "STRING"
        name = _ALIASES.get(name, name)
        if name not in _TYPES:
            return None
        types.add(name)
    return frozenset(types)


def _of_values(schema: Mapping[str, Any]) -> frozenset[str] | None:
    """The types of the values that ``const`` and ``enum`` list."""
    if "const" in schema:
        return frozenset({json_type(schema["const"])})
    values = schema.get("enum")
    if isinstance(values, (list, tuple)) and values:
        return frozenset(json_type(value) for value in values)
    return None


def json_type(value: Any) -> str:
    """The name that JSON Schema has for the type of ``value``."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, float):
        return "number"
    if isinstance(value, str):
        return "string"
    return "object" if isinstance(value, Mapping) else "array"


def _both(one: frozenset[str] | None, other: frozenset[str] | None) -> frozenset[str] | None:
    if one is None or other is None:
        return one if other is None else other
    both = one & other
    if "integer" in one | other and "number" in one | other:
        both |= {"integer"}  # an integer is a number
    return both or one  # a schema that allows nothing says nothing


def _either(choices: list[frozenset[str] | None]) -> frozenset[str] | None:
    types: frozenset[str] = frozenset()
    for choice in choices:
        if choice is None:
            return None
        types |= choice
    return types


def read_text(raw: str, types: frozenset[str] | None) -> tuple[Any, str]:
    """The value that ``raw`` stands for where ``types`` are allowed, and its JSON text."""
    if types == _STRING:
        return raw, quote(raw)
    if types is not None:
        if raw == "None" and "null" in types:
            return None, "null"
        if raw in ("True", "False") and "boolean" in types:
            return raw == "True", raw.lower()
    elif raw.isdigit() and raw.isascii() and len(raw) < 19 and raw[0] != "0":
        return int(raw), raw  # by far the most that is no string
    text = raw.strip(" \t\n\r")
    read = _strict(text, types is None)
    if read is None or (types is not None and "string" in types and not _counts(read[0], types)):
        return raw, quote(raw)
    return read


def read_python(raw: str, types: frozenset[str] | None) -> tuple[Any, str]:
    """As `read_text`; a list or dict may also be Python's literal for it."""
    value, json = read_text(raw, types)
    text = raw.strip(" \t\n\r")
    if not isinstance(value, str) or text[:1] not in ("{", "[") or types == _STRING:
        return value, json
    reader = LiteralReader(PYTHON, 0, json_out=True)
    try:
        end = reader.feed(text, 0, True)
    except Fault:
        return value, json
    if not reader.done or end != len(text) or not (types is None or _counts(reader.value, types)):
        return value, json
    return reader.value, reader.take()


def _strict(text: str, strings: bool) -> tuple[Any, str] | None:
    """The value and canonical text of a strict JSON text, ``None`` if it is none; JSON strings if ``strings``."""
    char = text[:1]
    if char in _SCANNED:
        result = scan(text, 0) if strings or char != '"' else None
        return (result[0], canonical(text)) if result is not None and result[1] == len(text) else None
    if text in _WORDS:
        return _WORDS[text], text
    if _NUMBER(text) is None:
        return None
    try:
        return read_number(text, True)[0], text
    except Fault:  # too long or out of range
        return None


def _counts(value: Any, types: frozenset[str]) -> bool:
    """Whether the type of ``value`` is one of ``types``."""
    type_ = json_type(value)
    if type_ == "integer" or (type_ == "number" and value.is_integer()):
        return "integer" in types or "number" in types
    return type_ in types


def decode_entities(raw: str) -> str:
    """``raw`` with XML's five entities and its character references decoded; everything else stays."""
    return _ENTITY.sub(_entity, raw) if "&" in raw else raw


def _entity(match: re.Match[str]) -> str:
    name, decimal, hexadecimal = match.groups()
    if name is not None:
        return _ENTITIES[name]
    code = int(decimal) if decimal is not None else int(hexadecimal, 16)
    # The characters that XML 1.0 allows.
    if code in (0x9, 0xA, 0xD) or 0x20 <= code < 0xD800 or 0xE000 <= code < 0xFFFE or 0x10000 <= code < 0x110000:
        return chr(code)
    return match[0]
