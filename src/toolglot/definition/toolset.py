"""`ToolSet`: the tools of one parse, looked up by name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Final

from ..errors import DefinitionError
from .tool import Tool

if TYPE_CHECKING:
    from ..errors import ParseError
    from ..schema.names import Names

# How many declared names are shown where none is like the one that was written.
_SHOWN: Final = 8
# So many comparisons of names are made in one parse, but one search at least: each takes up to 50 microseconds.
_COMPARED: Final = 50_000


class ToolSet:
    """The declared tools of one parse, indexed. Internal."""

    __slots__ = ("_compared", "_nearest", "_signatures", "_sorted", "_tools", "_types", "names")

    def __init__(self, tools: Iterable[Tool]) -> None:
        declared = list(tools)
        self._tools = {tool.name: tool for tool in declared}
        if len(self._tools) < len(declared):
            self._check_twice(declared)
        self.names = frozenset(self._tools)
        self._types: dict[tuple[str, str], frozenset[str] | None] = {}
        self._sorted = sorted(self.names)
        self._compared = 0
        self._nearest: dict[str, list[str]] = {}  # of names in broken calls, of which there is a limit
        self._signatures: dict[tuple[str, str], str] = {}

    @classmethod
    def of(cls, tools: Any) -> ToolSet | None:
        """From whatever the caller gave; None stays None."""
        if tools is None or isinstance(tools, ToolSet):
            return tools
        if isinstance(tools, (str, bytes)):
            raise TypeError(f"tools: expected a list of tool definitions, got {type(tools).__name__}")
        from .reading import read_tools

        return cls(read_tools(tools))

    def _check_twice(self, declared: list[Tool]) -> None:
        """Nobody could say which of two parameters a call is to fit. In OpenAI's namespaces names may come again."""
        for tool in declared:
            other = self._tools[tool.name]
            spaces = ("namespace" in one.extra.get("openai_responses", {}) for one in (tool, other))
            if other.parameters != tool.parameters and not all(spaces):
                raise DefinitionError(
                    f"tools: {tool.name!r:.80} is declared twice, with different parameters; a name may be used once",
                    "definition.invalid_tool",
                )

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
        """Declared names that look like ``name``, the most similar first; none where too many were looked for."""
        found = self._nearest.get(name)
        if found is None:
            if self._compared and self._compared + len(self._sorted) > _COMPARED:
                return []
            self._compared += len(self._sorted)
            found = self._nearest[name] = get_close_matches(name[:200], self._sorted, n=3, cutoff=0.5)
        return found

    def explain(self, error: ParseError, names: Names | None = None) -> None:
        """Tell an error of the tools: the signature of the one that was called, else names that are declared.

        ``names`` are those that the provider, and so the model, has for them.
        """
        name = error.name
        if name not in self.names and error.call_index is not None:
            near = self.nearest(name) if name is not None else []
            chosen = near or self._sorted[:_SHOWN]
            error.nearest = tuple(chosen if names is None else map(names.forth, chosen))
            name = chosen[0] if near or len(chosen) == 1 else None
        tool = None if name is None else self._tools.get(name)
        if tool is None:
            return
        shown = tool.name if names is None else names.forth(tool.name)
        if tool.name == error.name != shown:
            error.called = shown
        known = self._signatures.get((tool.name, shown))
        if known is None:
            from .signature import signature

            known = self._signatures[tool.name, shown] = signature(tool, shown)
        error.signature = known
