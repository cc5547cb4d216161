"""`Tool`: one definition, whatever it was read from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal


def no_parameters() -> dict[str, Any]:
    """The schema of a tool that takes no arguments."""
    return {"type": "object", "properties": {}}


@dataclass(slots=True)
class Tool:
    """A tool that a model may call. ``parameters`` is a JSON Schema of an object.

    ``strict`` asks the provider to hold the model to the schema. ``kind`` is ``"function"``; ``"custom"`` for a tool
    that takes free text; ``"server"`` for one that the provider runs itself. ``extra`` holds what one API's
    definition says besides, under the name of its wire format: it is written for that API only.
    """

    name: str
    description: str = ""
    parameters: dict[str, Any] = field(default_factory=no_parameters)
    strict: bool | None = None
    extra: dict[str, Any] = field(default_factory=dict)
    kind: Literal["function", "custom", "server"] = "function"
    # The parameters that were found to be a JSON Schema: they are not looked at again before a call is made.
    _sound: Any = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.kind == "custom" and not self.parameters.get("properties"):
            # As which it is declared where an API has no tools of free text.
            self.parameters = {"type": "object", "properties": {"input": {"type": "string"}}, "required": ["input"]}

    @classmethod
    def from_any(cls, tool: Any) -> Tool:
        """Read a `Tool`, a name, a function, a model class, or any provider's definition, MCP's too.

        Raises `DefinitionError` for a definition that is wrong, `TypeError` for what is no definition.

        >>> Tool.from_any({"name": "ping", "input_schema": {"type": "object", "properties": {}}}).name
        'ping'
        """
        from .reading import read_tool

        return read_tool(tool)

    @classmethod
    def from_function(
        cls,
        function: Callable[..., Any],
        *,
        name: str | None = None,
        description: str | None = None,
        strict: bool | None = None,
    ) -> Tool:
        """Read a function: its parameters, their annotations and defaults, its docstring (Google, NumPy or reST).

        >>> def weather(city: str, days: int = 1) -> str:
        ...     \"\"\"The weather.
        ...
        ...     Args:
        ...         city: Where.
        ...     \"\"\"
        >>> Tool.from_function(weather).parameters["properties"]["city"]
        {'type': 'string', 'description': 'Where.'}
        """
        from .functions import read_function

        return read_function(function, name, description, strict)

    @classmethod
    def from_model(
        cls, model: type, *, name: str | None = None, description: str | None = None, strict: bool | None = None
    ) -> Tool:
        """Read a class whose instance is the arguments: pydantic model, dataclass, TypedDict or msgspec Struct."""
        from .models import read_model

        return read_model(model, name, description, strict)
