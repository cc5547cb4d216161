"""The texts that the page begins with."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from ..api import get_format
from ..errors import ConversionError
from ..rendering import render
from ..types import ToolCall

_SEARCH = {
    "name": "search",
    "description": "Search the web.",
    "parameters": {
        "type": "object",
        "properties": {"query": {"type": "string"}, "limit": {"type": "integer", "minimum": 1, "maximum": 50}},
        "required": ["query"],
        "additionalProperties": False,
    },
}
_WEATHER = {
    "name": "get_weather",
    "description": "The weather forecast for a city.",
    "parameters": {
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer", "minimum": 1}},
        "required": ["city"],
    },
}
_EVENT = {
    "name": "create_event",
    "description": "Put an event into the calendar.",
    "parameters": {
        "type": "object",
        "properties": {
            "title": {"type": "string"},
            "when": {
                "type": "object",
                "properties": {"day": {"type": "integer"}, "slots": {"type": "array", "items": {"type": "string"}}},
            },
        },
        "required": ["title", "when"],
    },
}
_SERVED = {**_WEATHER, "name": "home/get_weather"}
_PYTHON = {
    "name": "python_interpreter",
    "description": "Run Python code.",
    "parameters": {"type": "object", "properties": {"code": {"type": "string"}}, "required": ["code"]},
}

TOOLS: list[dict[str, Any]] = [_SEARCH, _WEATHER, _EVENT, _SERVED, _PYTHON]
"""Definitions of every tool that a sample calls."""


class Sample(NamedTuple):
    """One text: ``id`` and ``title`` of its tab. ``format`` is None where it is detected."""

    id: str
    title: str
    text: str
    format: str | None = None


_OPENAI = {
    "tool_calls": [
        {
            "id": "call_1",
            "type": "function",
            "function": {"name": "search", "arguments": json.dumps({"query": "rust async", "limit": 5})},
        }
    ]
}

SAMPLES: list[Sample] = [
    Sample("python", "Python call", 'I will look that up. search(query="rust async", limit=5)'),
    Sample(
        "hermes",
        "Hermes / Qwen",
        "<think>\nThe user asks about two things: one call for each.\n</think>\n\nI will look that up.\n"
        '<tool_call>\n{"name": "search", "arguments": {"query": "rust async", "limit": 5}}\n</tool_call>\n'
        '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Zürich ☀️", "days": 2}}\n</tool_call>',
    ),
    Sample(
        "mistral",
        "Mistral",
        'I will look that up.[TOOL_CALLS]search[ARGS]{"query": "rust async", "limit": 5}'
        '[TOOL_CALLS]get_weather[ARGS]{"city": "Zürich", "days": 2}</s>',
    ),
    Sample(
        "llama",
        "Llama 3",
        '<|python_tag|>{"name": "search", "parameters": {"query": "rust async", "limit": 5}}<|eom_id|>',
    ),
    Sample("openai", "OpenAI JSON", json.dumps(_OPENAI, indent=2)),
    Sample(
        "xml",
        "XML invoke",
        'I will look that up.\n<invoke name="search">\n<parameter name="query">rust &amp; async</parameter>\n'
        '<parameter name="limit">5</parameter>\n</invoke>',
    ),
    Sample(
        "broken",
        "Broken",
        'I will look that up.\n<tool_call>\n{"name": "search", "arguments": {"query": "rust async", "limit": 5,}}\n'
        "</tool_call>\n"
        '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Zürich"}}\n</tool_call>',
    ),
]

# What a format is asked to write, the first that it can: several calls and text before them, or less.
_CALLS = [
    [
        ToolCall("get_weather", {"city": "Zürich", "days": 2}, id="0a1b2c3d4"),
        ToolCall("create_event", {"title": "Sync", "when": {"day": 3, "slots": ["am", "pm"]}}, id="1a1b2c3d4"),
    ],
    [ToolCall("home/get_weather", {"city": "Zürich", "days": 2}, id="0a1b2c3d4")],
    [ToolCall("python_interpreter", {"code": "print('Zürich')"}, id="0a1b2c3d4")],
]


def sample_of(format: str) -> str:
    """A text in ``format``, as its own chat template writes it; empty if it has no way to write the samples."""
    fmt = get_format(format)
    for calls in _CALLS:
        for content in ("I will look that up.", None):
            try:
                return render(calls[: fmt.max_calls], fmt.id, content=content)
            except ConversionError:
                continue
    return ""
