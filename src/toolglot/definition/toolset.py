"""`ToolSet`: the tools of one parse, looked up by name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from typing import Any

from .tool import Tool


class ToolSet:
    """The declared tools of one parse, indexed. Internal."""

    __slots__ = ("_tools", "_types", "names")

    def __init__(self, tools: Iterable[Tool]) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self.names = frozenset(self._tools)
        self._types: dict[tuple[str, str], frozenset[str] | None] = {}

    @classmethod
    def of(cls, tools: Any) -> ToolSet | None:
        """From whatever the caller gave; None stays None."""
        if tools is None or isinstance(tools, ToolSet):
            return tools
        if isinstance(tools, (str, bytes)):
            raise TypeError(f"tools: expected a list of tool definitions, got {type(tools).__name__}")
        from .reading import read_tools

        return cls(read_tools(tools))

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def get(self, name: str) -> Tool | None:
        """The tool called ``name``."""
        return self._tools.get(name)

    def types(self, name: str, key: str) -> frozenset[str] | None:
        """The JSON types that argument ``key`` of tool ``name`` may have; None if nothing is known."""
        try:
            return self._types[name, key]
        except KeyError:
            from ..values.bare import schema_types

            tool = self._tools.get(name)
            types = None
            if tool is not None:
                properties = tool.parameters.get("properties")
                schema = properties.get(key) if isinstance(properties, Mapping) else None
                if isinstance(schema, Mapping):
                    types = schema_types(schema, tool.parameters)
            self._types[name, key] = types
            return types

    def parameters(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Every tool's name and the names of its parameters."""
        found = []
        for name, tool in self._tools.items():
            properties = tool.parameters.get("properties")
            found.append((name, tuple(map(str, properties)) if isinstance(properties, Mapping) else ()))
        return tuple(found)

    def schema(self, name: str) -> Mapping[str, Any] | None:
        """The parameters schema of tool ``name``."""
        tool = self._tools.get(name)
        return None if tool is None else tool.parameters

    def nearest(self, name: str) -> list[str]:
        """Declared names that look like ``name``, the most similar first."""
        return get_close_matches(name[:200], sorted(self.names), n=3, cutoff=0.5)
