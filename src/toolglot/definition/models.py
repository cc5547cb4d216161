"""A class whose instances are the arguments, as a tool."""

from __future__ import annotations

import inspect
from typing import Any

from ..errors import DefinitionError
from .annotations import Schemas, described, is_structure
from .docstrings import read_docstring
from .tool import Tool

is_model = is_structure


def read_model(
    model: type, name: str | None = None, description: str | None = None, strict: bool | None = None
) -> Tool:
    """`Tool.from_model`."""
    if not is_structure(model):
        raise DefinitionError(
            f"{model!r:.100}: expected a pydantic model, dataclass, TypedDict, NamedTuple or msgspec Struct",
            "definition.invalid_tool",
        )
    schemas = Schemas()
    reference = schemas.of(model, model.__name__)
    own = reference["$ref"].rpartition("/")[2]
    schema: dict[str, Any] = schemas.defs[own]
    about, members = read_docstring(_own_doc(model))
    properties = schema.get("properties", {})
    for key, text in members.items():
        if key in properties:
            properties[key] = described(properties[key], text)
    if not _recurs(schema, schemas.defs, reference["$ref"]):
        del schemas.defs[own]
    if schemas.defs:
        schema = {**schema, "$defs": schemas.defs}
    said = schema.get("description") or about
    schema = {key: value for key, value in schema.items() if key not in ("title", "description")}
    return Tool(name or model.__name__, said if description is None else description, schema, strict)


def _own_doc(model: type) -> str | None:
    """The class's docstring; a dataclass or named tuple without one has its signature, which says nothing."""
    doc = model.__dict__.get("__doc__")
    if doc and doc.startswith(f"{model.__name__}("):
        return None
    if model.__module__ != "builtins" and doc == getattr(model.__base__, "__doc__", None):
        return None
    return inspect.cleandoc(doc) if doc else None


def _recurs(schema: Any, defs: dict[str, Any], reference: str) -> bool:
    """Whether anything refers to ``reference``."""
    todo = [schema, *defs.values()]
    while todo:
        node = todo.pop()
        if isinstance(node, dict):
            if node.get("$ref") == reference:
                return True
            todo.extend(node.values())
        elif isinstance(node, list):
            todo.extend(node)
    return False
