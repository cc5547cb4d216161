"""The functions of Zerda's ``llm.tools``, under their own names and with exactly their behaviour.

For a program that was written for that module: change the import and nothing else. It stands alone: its `ToolCall` has
three fields, and arguments that are not JSON become ``{"_raw": ...}``, which nothing else in Toolglot does. New code
has `toolglot.get_provider`, whose errors say what is wrong.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

__all__ = [
    "ToolCall",
    "parse_anthropic_tool_calls",
    "parse_bedrock_tool_calls",
    "parse_gemini_tool_calls",
    "parse_ollama_tool_calls",
    "parse_openai_tool_calls",
    "to_anthropic_tools",
    "to_bedrock_tools",
    "to_gemini_tools",
    "to_groq_tools",
    "to_mistral_tools",
    "to_ollama_tools",
    "to_openai_tools",
    "tool_calls_to_dicts",
]


@dataclass
class ToolCall:
    """One call. ``id`` is None where a response has none: always with Gemini."""

    id: str | None
    name: str
    arguments: dict[str, Any]


def _normalize_tool(tool: dict[str, Any]) -> dict[str, Any]:
    """A tool as name, description and schema; the schema may stand under ``input_schema`` or ``parameters``."""
    name = tool.get("name")
    if not name:
        raise ValueError("Each tool must have a 'name'.")
    description = tool.get("description", "")
    schema = tool.get("input_schema") or tool.get("parameters") or {"type": "object", "properties": {}}
    return {"name": name, "description": description, "schema": schema}


# -- definitions


def to_openai_tools(tools: list[dict[str, Any]] | None) -> list[dict[str, Any]] | None:
    """``tools`` as OpenAI's Chat Completions takes them; None for None or none.

    >>> to_openai_tools([{"name": "ping"}])[0]["function"]["parameters"]
    {'type': 'object', 'properties': {}}
    """
    if not tools:
        return None
    return [{"type": "function", "function": _with_schema(tool, "parameters")} for tool in tools]


to_groq_tools = to_openai_tools
to_mistral_tools = to_openai_tools
to_ollama_tools = to_openai_tools


def to_anthropic_tools(tools: list[dict[str, Any]] | None) -> list[dict[str, Any]] | None:
    """``tools`` as Anthropic takes them."""
    if not tools:
        return None
    return [_with_schema(tool, "input_schema") for tool in tools]


def to_bedrock_tools(tools: list[dict[str, Any]] | None) -> dict[str, Any] | None:
    """``tools`` as Bedrock's ``toolConfig``, to which a ``toolChoice`` may be added."""
    if not tools:
        return None
    specs = [_with_schema(tool, "inputSchema") for tool in tools]
    return {"tools": [{"toolSpec": {**spec, "inputSchema": {"json": spec["inputSchema"]}}} for spec in specs]}


def to_gemini_tools(tools: list[dict[str, Any]] | None) -> list[dict[str, Any]] | None:
    """``tools`` as Gemini's SDK takes them: a list of one element, which has all declarations."""
    if not tools:
        return None
    return [{"function_declarations": [_with_schema(tool, "parameters") for tool in tools]}]


def _with_schema(tool: dict[str, Any], key: str) -> dict[str, Any]:
    known = _normalize_tool(tool)
    return {"name": known["name"], "description": known["description"], key: known["schema"]}


# -- responses


def parse_openai_tool_calls(message: Any) -> list[ToolCall]:
    """The calls in a message of OpenAI's, Groq's or Mistral's SDK; ``{"_raw": ...}`` where arguments are not JSON.

    >>> from types import SimpleNamespace as Object
    >>> call = Object(id="call_1", function=Object(name="ping", arguments='{"n": 1'))
    >>> parse_openai_tool_calls(Object(tool_calls=[call]))
    [ToolCall(id='call_1', name='ping', arguments={'_raw': '{"n": 1'})]
    """
    calls = []
    for call in _items(getattr(message, "tool_calls", None)):
        function: Any = getattr(call, "function", None)
        if hasattr(function, "name"):
            arguments = _decoded(getattr(function, "arguments", None))
            calls.append(ToolCall(getattr(call, "id", None), function.name, arguments))
    return calls


def parse_anthropic_tool_calls(content_blocks: Any) -> list[ToolCall]:
    """The calls among the blocks of a response's ``content``."""
    return [
        ToolCall(getattr(block, "id", None), block.name, getattr(block, "input", {}))
        for block in _items(content_blocks)
        if getattr(block, "type", None) == "tool_use" and hasattr(block, "name")
    ]


def parse_gemini_tool_calls(response: Any) -> list[ToolCall]:
    """The calls of all candidates; none has an id."""
    calls = []
    for candidate in _items(getattr(response, "candidates", None)):
        for part in _items(getattr(getattr(candidate, "content", None), "parts", None)):
            call: Any = getattr(part, "function_call", None)
            if hasattr(call, "name"):
                arguments = getattr(call, "args", None)
                if arguments is None or isinstance(arguments, Mapping):
                    arguments = dict(arguments or {})
                else:
                    arguments = {"_raw": arguments}
                calls.append(ToolCall(None, call.name, arguments))
    return calls


def parse_bedrock_tool_calls(content_blocks: Any) -> list[ToolCall]:
    """The calls among the blocks of a Converse message, which are plain dicts.

    >>> parse_bedrock_tool_calls([{"text": "Hm."}, {"toolUse": {"toolUseId": "t", "name": "ping", "input": {}}}])
    [ToolCall(id='t', name='ping', arguments={})]
    """
    calls = []
    for block in _items(content_blocks):
        use = _get(block, "toolUse")
        name = _get(use, "name")
        if name is not None:
            calls.append(ToolCall(_get(use, "toolUseId"), name, _get(use, "input", {})))
    return calls


def parse_ollama_tool_calls(message: Any) -> list[ToolCall]:
    """The calls in Ollama's ``message``, whose arguments are an object or its JSON text."""
    calls = []
    for call in _items(_get(message, "tool_calls")):
        function = _get(call, "function")
        name = _get(function, "name")
        if name is not None:
            arguments = _get(function, "arguments", {})
            calls.append(
                ToolCall(_get(call, "id"), name, _decoded(arguments) if isinstance(arguments, str) else arguments)
            )
    return calls


def tool_calls_to_dicts(calls: list[ToolCall]) -> list[dict[str, Any]]:
    """``calls`` as plain dicts."""
    return [{"id": call.id, "name": call.name, "arguments": call.arguments} for call in calls]


def _decoded(arguments: Any) -> Any:
    """The value of JSON text; what is none is kept under ``_raw``."""
    try:
        return json.loads(arguments)
    # A JSONDecodeError is a ValueError, as is what the interpreter says of an integer that is too long.
    except (ValueError, TypeError, RecursionError):
        return {"_raw": arguments}


def _items(value: Any) -> Iterable[Any]:
    """What is in a list, of whatever class an SDK makes them; nothing if it is none."""
    return value if isinstance(value, Iterable) and not isinstance(value, (str, bytes, Mapping)) else ()


def _get(value: Any, key: str, default: Any = None) -> Any:
    """A member of a dict, or of an SDK's object that can be asked like one; ``default`` if it is missing or null."""
    get = getattr(value, "get", None)
    found = get(key) if callable(get) and not isinstance(value, type) else None
    return default if found is None else found
