"""Definitions of every API's shape to `Tool`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..errors import DefinitionError
from .tool import Tool, no_parameters

# Where a schema may stand, and whose shape that is. The first that holds one counts.
_SCHEMA_KEYS = {
    "parametersJsonSchema": "gemini",
    "parameters_json_schema": "gemini",
    "input_schema": "anthropic",
    "inputSchema": "mcp",
    "parameters": "",
}
_KNOWN = {
    *_SCHEMA_KEYS,
    "custom",
    "description",
    "function",
    "name",
    "parameter_definitions",
    "strict",
    "toolSpec",
    "type",
}
# What Google runs, in its Interactions.
_GOOGLE = {"code_execution", "computer_use", "google_maps", "google_search", "mcp_server", "retrieval", "url_context"}
# Cohere v1 names types as Python does.
_PYTHON_TYPES = {
    "str": "string",
    "int": "integer",
    "float": "number",
    "bool": "boolean",
    "list": "array",
    "dict": "object",
}


def read_tools(tools: Any) -> list[Tool]:
    """Every tool in ``tools``: one of anything that `read_tool` reads, a list of them, or an API's own container.

    Containers are ``{"tools": [...]}`` (a request's member, or MCP's answer), Bedrock's ``toolConfig`` and Gemini's
    ``functionDeclarations``.
    """
    flat: list[Tool] = []
    _collect(tools, flat)
    return flat


def _collect(tools: Any, flat: list[Tool]) -> None:
    if isinstance(tools, Mapping):
        for key in ("tools", "functionDeclarations", "function_declarations", "toolConfig"):
            inner = tools.get(key)
            if isinstance(inner, list) or (key == "toolConfig" and isinstance(inner, Mapping)):
                start = len(flat)
                _collect(inner, flat)
                # Of OpenAI's Responses: it has the functions of one server.
                if tools.get("type") == "namespace" and isinstance(tools.get("name"), str):
                    space = {key: tools[key] for key in ("name", "description") if key in tools}
                    for tool in flat[start:]:
                        tool.extra.setdefault("openai_responses", {})["namespace"] = space
                return
        if "cachePoint" in tools and len(tools) == 1:
            return  # Bedrock's mark between tools
        flat.append(read_tool(tools))
    elif isinstance(tools, (Tool, str, type)) or not isinstance(tools, Iterable):
        flat.append(read_tool(tools))
    else:
        for tool in tools:
            _collect(tool, flat)


def read_tool(tool: Any) -> Tool:
    """One tool."""
    if isinstance(tool, Tool):
        parameters: Any = tool.parameters
        if not isinstance(parameters, Mapping | None):
            given = type(parameters).__name__
            raise DefinitionError(
                f"tools: the parameters of {tool.name!r:.80} are {given}, expected a JSON Schema",
                "definition.invalid_tool",
            )
        return tool
    if isinstance(tool, str):
        return Tool(tool)
    if isinstance(tool, type):
        from .models import is_model  # what reads annotations is dear to import

        if is_model(tool):
            return Tool.from_model(tool)
    if not isinstance(tool, Mapping):
        dump = getattr(tool, "model_dump", None)
        if dump is not None and not isinstance(tool, type):  # a definition as an SDK's object, MCP's for one
            return read_tool(dump(by_alias=True, exclude_none=True))
        if callable(tool) and not isinstance(tool, type):
            return Tool.from_function(tool)
        raise TypeError(f"tools: expected a Tool, a name or a definition object, got {type(tool).__name__}")
    kind = tool.get("type")
    for key in ("function", "toolSpec", "custom"):
        inner = tool.get(key)
        if isinstance(inner, Mapping):
            break
    else:
        inner = tool
    name = inner.get("name")
    if not isinstance(name, str) or not name:
        if isinstance(kind, str) and kind not in ("function", "custom"):
            return _server_tool(kind, kind, tool)
        if len(tool) == 1 and inner is tool and isinstance(next(iter(tool.values())), Mapping):
            (own,) = tool  # Gemini's {"googleSearch": {}}, Bedrock's {"systemTool": {"name": ...}}
            return Tool(str(own), extra={"bedrock" if own == "systemTool" else "gemini": dict(tool)}, kind="server")
        raise DefinitionError(f"tools: a definition has no name: {tool!r:.200}", "definition.invalid_tool")
    description = inner.get("description")
    strict = inner.get("strict", tool.get("strict"))
    if not isinstance(description, str | None) or not isinstance(strict, bool | None):
        raise DefinitionError(
            f"tools: the description or strict of {name!r:.80} is of the wrong type", "definition.invalid_tool"
        )
    wire, schema = _schema(name, inner)
    if wire == "":
        if inner is not tool:
            wire = "openai_chat"
        else:
            wire = "openai_responses" if kind in ("function", "custom") else "gemini"
    if isinstance(kind, str) and kind not in ("function", "custom", "object") and schema is None:
        return _server_tool(name, kind, tool)
    rest = {key: value for key, value in (*tool.items(), *inner.items()) if key not in _KNOWN and value is not inner}
    custom = kind == "custom" and schema is None  # Anthropic says so too, but with a schema
    extra = {wire: rest} if rest else {}
    parameters = schema or no_parameters()
    return Tool(name, description or "", parameters, strict, extra, "custom" if custom else "function")


def _server_tool(name: str, kind: str, tool: Mapping[str, Any]) -> Tool:
    """A tool that the provider runs: only its own API can read the definition, so it is kept as it is."""
    # Anthropic's types end with a date, OpenAI's do not; both have `type` at the top.
    wire = "anthropic" if kind[-8:].isdecimal() and "_preview" not in kind else "openai_responses"
    wire = "gemini_interactions" if kind in _GOOGLE else wire
    return Tool(name, extra={wire: dict(tool)}, kind="server")


def _schema(name: str, inner: Mapping[str, Any]) -> tuple[str, dict[str, Any] | None]:
    """Whose key held the parameters, and their schema; no schema where there is none."""
    for key, wire in _SCHEMA_KEYS.items():
        schema = inner.get(key)
        if schema is None:
            continue
        if key == "inputSchema" and isinstance(schema, Mapping) and isinstance(schema.get("json"), Mapping):
            wire, schema = "bedrock", schema["json"]
        if not isinstance(schema, Mapping):
            raise DefinitionError(
                f"tools: the parameters of {name!r:.80} are {type(schema).__name__}, expected a JSON Schema",
                "definition.invalid_tool",
            )
        return wire, dict(schema) if schema else None
    if isinstance(inner.get("parameter_definitions"), Mapping):
        return "cohere_v1", _cohere_schema(inner["parameter_definitions"])
    return "", None


def _cohere_schema(definitions: Mapping[str, Any]) -> dict[str, Any]:
    properties: dict[str, Any] = {}
    required = []
    for name, definition in definitions.items():
        if not isinstance(definition, Mapping):
            continue
        type_, _, item = str(definition.get("type", "")).partition("[")
        schema: dict[str, Any] = {}
        if type_.lower() in _PYTHON_TYPES:
            schema["type"] = _PYTHON_TYPES[type_.lower()]
        if schema.get("type") == "array" and item.rstrip("]").lower() in _PYTHON_TYPES:
            schema["items"] = {"type": _PYTHON_TYPES[item.rstrip("]").lower()]}
        if definition.get("description"):
            schema["description"] = definition["description"]
        properties[name] = schema
        if definition.get("required") is True:
            required.append(name)
    schema = {"type": "object", "properties": properties}
    return {**schema, "required": required} if required else schema
