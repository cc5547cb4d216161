"""A Python function as a tool."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from ..errors import DefinitionError
from .annotations import Schemas, described, hints, with_default
from .docstrings import read_docstring
from .tool import Tool

_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


def read_function(
    function: Callable[..., Any], name: str | None = None, description: str | None = None, strict: bool | None = None
) -> Tool:
    """`Tool.from_function`."""
    if not callable(function):
        raise TypeError(f"function: expected a function, got {type(function).__name__}")
    inner: Any = function
    while isinstance(inner, functools.partial):
        inner = inner.func
    inner = inspect.unwrap(inner)
    named = name or getattr(inner, "__name__", None) or type(inner).__name__
    annotated = inner if inspect.isroutine(inner) else inner.__call__
    try:
        signature = inspect.signature(function)
    except (ValueError, TypeError) as error:
        raise DefinitionError(f"{named}: no signature can be read ({error})", "definition.invalid_function") from None
    types = hints(annotated, named)
    about, parameters = read_docstring(inner.__doc__ if inspect.isroutine(inner) else inspect.getdoc(inner))
    schemas = Schemas()
    properties: dict[str, Any] = {}
    required: list[str] = []
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    for parameter in signature.parameters.values():
        annotation = types.get(parameter.name, inspect.Parameter.empty)
        where = f"{named}({parameter.name})"
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            schema["additionalProperties"] = schemas.of(annotation, where) or True
            continue
        if parameter.kind not in _NAMED:
            raise DefinitionError(
                f"{where}: a model gives arguments by name, and this one is positional only",
                "definition.invalid_function",
            )
        found = described(schemas.of(annotation, where), parameters.get(parameter.name, ""))
        if parameter.default is inspect.Parameter.empty:
            required.append(parameter.name)
        else:
            found = with_default(found, parameter.default)
        properties[parameter.name] = found
    if required:
        schema["required"] = required
    if schemas.defs:
        schema["$defs"] = schemas.defs
    return Tool(named, about if description is None else description, schema, strict)
