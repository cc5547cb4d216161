"""`Tool`: a tool's definition, read from every provider's shape."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from .errors import DefinitionError

_SCHEMA_KEYS = ("parameters", "input_schema", "inputSchema", "parametersJsonSchema", "parameters_json_schema")


@dataclass(slots=True)
class Tool:
    """A tool that a model may call. ``parameters`` is a JSON Schema of an object."""

    name: str
    description: str = ""
    parameters: dict[str, Any] = field(default_factory=lambda: {"type": "object", "properties": {}})
    strict: bool | None = None
    extra: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def from_any(cls, tool: Any) -> Tool:
        """Read a `Tool`, a bare name, or the definition shape of OpenAI, Anthropic, Gemini, Bedrock, Cohere or MCP.

        Raises `DefinitionError` for a mapping without a name, `TypeError` for anything else.
        """
        if isinstance(tool, cls):
            return tool
        if isinstance(tool, str):
            return cls(tool)
        if not isinstance(tool, Mapping):
            raise TypeError(f"tools: expected a Tool, a name or a definition object, got {type(tool).__name__}")
        inner = tool.get("function") or tool.get("toolSpec") or tool
        if not isinstance(inner, Mapping) or not isinstance(inner.get("name"), str) or not inner["name"]:
            raise DefinitionError(f"tools: a definition has no name: {tool!r:.200}", "definition.invalid_tool")
        schema: Any = next((inner[k] for k in _SCHEMA_KEYS if inner.get(k)), None)
        if isinstance(schema, Mapping) and isinstance(schema.get("json"), Mapping):
            schema = schema["json"]  # Bedrock: {"inputSchema": {"json": {...}}}
        if schema is None:
            schema = {"type": "object", "properties": {}}
        if not isinstance(schema, Mapping):
            raise DefinitionError(
                f"tools: the parameters of {inner['name']!r} are {type(schema).__name__}, expected a JSON Schema",
                "definition.invalid_tool",
            )
        strict = inner.get("strict", tool.get("strict"))
        return cls(inner["name"], inner.get("description") or "", dict(schema), strict)


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
        if isinstance(tools, (Mapping, Tool)):
            tools = [tools]
        if isinstance(tools, (str, bytes)) or not isinstance(tools, Iterable):
            raise TypeError(f"tools: expected a list of tool definitions, got {type(tools).__name__}")
        flat: list[Tool] = []
        for tool in tools:
            declarations = (
                tool.get("functionDeclarations", tool.get("function_declarations"))
                if isinstance(tool, Mapping)
                else None
            )
            flat.extend(Tool.from_any(t) for t in (declarations or (tool,)))
        return cls(flat)

    def get(self, name: str) -> Tool | None:
        """The tool called ``name``."""
        return self._tools.get(name)

    def types(self, name: str, key: str) -> frozenset[str] | None:
        """The JSON types that argument ``key`` of tool ``name`` may have; None if nothing is known."""
        try:
            return self._types[name, key]
        except KeyError:
            from .values.bare import schema_types

            tool = self._tools.get(name)
            types = None
            if tool is not None:
                properties = tool.parameters.get("properties")
                schema = properties.get(key) if isinstance(properties, Mapping) else None
                if isinstance(schema, Mapping):
                    types = schema_types(schema, tool.parameters)
            self._types[name, key] = types
            return types

    def schema(self, name: str) -> Mapping[str, Any] | None:
        """The parameters schema of tool ``name``."""
        tool = self._tools.get(name)
        return None if tool is None else tool.parameters

    def nearest(self, name: str) -> list[str]:
        """Declared names that look like ``name``, the most similar first."""
        return get_close_matches(name[:200], sorted(self.names), n=3, cutoff=0.5)
