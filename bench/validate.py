"""What ``validate=True`` and ``coerce=True`` cost, once the schemas are compiled; and what of it is the validator.

``python -m bench.validate`` measures this alone.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import toolglot
from toolglot.schema import validate as compiling

from . import messages
from .provider import responses
from .report import Report, Row
from .timing import interleaved
from .whole import each, micro

SECTION = "validate=True, against the same parse without"
_TEXT = {"type": "string"}
TOOLS = [
    toolglot.Tool(
        "search", parameters={"type": "object", "properties": {"query": _TEXT, "limit": {"type": "integer"}}}
    ),
    toolglot.Tool(
        "get_weather",
        parameters={
            "type": "object",
            "properties": {
                "city": {**_TEXT, "minLength": 1},
                "units": {"enum": ["metric", "imperial"]},
                "detailed": {"type": "boolean"},
                "limit": {"type": "integer", "minimum": 1},
            },
            "required": ["city"],
            "additionalProperties": False,
        },
    ),
    toolglot.Tool(
        "create_event",
        parameters={
            "type": "object",
            "properties": {
                "title": _TEXT,
                "when": {
                    "type": "object",
                    "properties": {"day": {"type": "integer"}, "slots": {"type": "array", "items": _TEXT}},
                    "required": ["day"],
                },
                "note": {"type": ["string", "null"]},
                "limit": {"type": "integer"},
            },
            "required": ["title"],
        },
    ),
]


def _add(report: Report, name: str, works: dict[str, Callable[[], object]], count: int) -> None:
    """A row: the least of many times of each, as what disturbs only adds."""
    timing = interleaved(works, rounds=51)
    least = {key: min(times) / count for key, times in timing.rounds.items()}
    detail = ", ".join(f"{key} {micro(value)}" for key, value in least.items())
    report.add(Row(SECTION, name, least["validate"] / least["parse"], "x", 2.0, detail))


def run(report: Report) -> None:
    """Short messages of each format, a response, and what compiling takes."""
    fits = {tool.name: compiling.compile_schema(tool.parameters, tool.name).fits for tool in TOOLS}
    for format, texts in messages.SHORT.items():
        given = partial(toolglot.parse, tools=TOOLS)
        calls = [call for text in texts for call in given(text, validate=True).tool_calls]
        if len(calls) != len(texts):
            raise SystemExit(f"{format}: not every call fits its schema")
        found = [(fits[call.name], call.arguments) for call in calls]
        works = {
            "parse": each(given, texts),
            "validate": each(partial(given, validate=True), texts),
            "coerce": each(partial(given, coerce=True), texts),
            "the validator itself": partial(_check, found),
        }
        _add(report, format, works, len(texts))
    tools = _declared()
    response = responses()["openai"]
    parse = partial(toolglot.parse_response, response, "openai", tools=tools)
    checks = [compiling.compile_schema(tool.parameters, tool.name).fits for tool in tools]
    made = [(checks[[tool.name for tool in tools].index(call.name)], call.arguments) for call in parse().tool_calls]
    works = {
        "parse": parse,
        "validate": partial(parse, validate=True),
        "coerce": partial(parse, coerce=True),
        "the validator itself": partial(_check, made),
    }
    _add(report, "OpenAI's response with two calls", works, 1)
    compiled = interleaved({"compile": _compile}, rounds=21).rounds["compile"]
    report.add(Row(SECTION, "compiling three schemas, once", min(compiled) * 1e6, "us"))


def _declared() -> list[toolglot.Tool]:
    """Tools for the calls of the responses, all arguments being of their type."""
    from .provider import CALLS

    kinds = {str: "string", int: "integer", bool: "boolean", float: "number", dict: "object", list: "array"}
    return [
        toolglot.Tool(
            name,
            parameters={
                "type": "object",
                "properties": {key: {"type": kinds[type(value)]} for key, value in arguments.items()},
                "required": list(arguments),
                "additionalProperties": False,
            },
        )
        for name, arguments in CALLS
    ]


def _check(found: list[tuple[Any, Any]]) -> None:
    for fits, arguments in found:
        fits(arguments)


def _compile() -> None:
    compiling._cache.clear()
    for tool in TOOLS:
        compiling.compile_schema(tool.parameters, tool.name)


if __name__ == "__main__":
    run(Report())
