"""Texts to test with: what the golden folders hold, taken apart, and the pieces that trip parsers up."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import toolglot

GOLDEN = Path(__file__).parent / "formats"

# A piece of markup: a tag, a bracketed word, a word with bars or colons in front of what it opens.
_MARKUP = re.compile(r"\]?<[^<>\n]{0,40}>?|\[/?[A-Z_]+\]|[A-Za-z_]{0,12}[\[({]|[\])}]+|```\w*|[^\w\s\"']{2,}")

# The calls of these tools are what golden texts are made of; see `tools_of` for others.
TOOLS: list[dict[str, Any]] = [
    {"name": "get_weather", "parameters": {"properties": {"city": {"type": "string"}, "days": {"type": "integer"}}}},
    {"name": "ping", "parameters": {"properties": {}}},
    {
        "name": "create_event",
        "parameters": {
            "properties": {
                "title": {"type": "string"},
                "when": {"type": "object"},
                "urgent": {"type": "boolean"},
                "note": {"type": ["string", "null"]},
            }
        },
    },
    {"name": "write_file", "parameters": {"properties": {"path": {"type": "string"}, "text": {"type": "string"}}}},
]


def format_ids() -> list[str]:
    """The ids of all registered formats."""
    return sorted(str(getattr(item, "id", item)) for item in toolglot.formats())


def golden_texts() -> dict[str, list[str]]:
    """The texts of every golden folder, by format id."""
    found: dict[str, list[str]] = {}
    for path in sorted(GOLDEN.glob("*/*.txt")):
        found.setdefault(path.parent.name, []).append(path.read_bytes().decode("utf-8", "surrogatepass"))
    return found


def markup(texts: list[str], most: int = 60) -> list[str]:
    """The pieces of markup in ``texts``, the commonest first."""
    count: dict[str, int] = {}
    for text in texts:
        for piece in _MARKUP.findall(text):
            count[piece] = count.get(piece, 0) + 1
    return sorted(count, key=lambda piece: (-count[piece], piece))[:most]


# Openers of the seven formats of llm-beacon and of those that share one with them.
OPENERS: tuple[str, ...] = (
    "<tool_call>",
    '<tool_call>{"name": "f", "arguments": {',
    "<tool_call>\n<function=f>\n<parameter=a>\n",
    "<tool_call>f<arg_key>a</arg_key><arg_value>",
    "[TOOL_CALL]name=f;args={",
    "[TOOL_CALLS] [",
    "[TOOL_CALLS]f[ARGS]",
    "<|python_tag|>",
    "<function_calls>",
    '<invoke name="f"><parameter name="k">',
    "<think>",
    "</think>",
    '{"name": "f", "arguments": {',
    "f(a=",
    "[f(a=",
    "```json\n",
)

CLOSERS = '</tool_call>[/TOOL_CALL]</invoke></parameter>\n</function></arg_value></think>}]"'

PIECES: tuple[str, ...] = (
    *OPENERS,
    "</tool_call>",
    "[/TOOL_CALL]",
    "</parameter>",
    "</invoke>",
    "</function>",
    '{"name": "get_weather", "arguments": {"city": "Paris", "days": 2}}',
    '"arguments": {}',
    '{"city": "Rome"}',
    '"a": 1',
    "get_weather(city='Paris', days=2)",
    "f()",
    "f(x)",
    "null",
    "-0.0",
    "1e5",
    "tru",
    '"\\u00e9\\n"',
    '"\\ud83d\\ude00"',
    '"\\ud83d"',
    "'it''s'",
    "\\",
    '"',
    "'",
    "{",
    "}",
    "[",
    "]",
    "(",
    ")",
    "<",
    ">",
    ",",
    ":",
    "=",
    ";",
    " ",
    "\n",
    "\n\n",
    "\t",
    "Some prose, ",
    "a < b && c[0] > 1 ",
    "café 日本 😀",
    "\x00",
    "\u2028",
    "\ud800",
    "<|im_end|>",
    "</s>",
    "<|eot_id|>",
)


def json_type(value: Any) -> str:
    """The name that JSON Schema has for the type of ``value``."""
    names = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object"}
    return names.get(type(value), "null")


def tools_of(calls: list[toolglot.ToolCall]) -> list[dict[str, Any]]:
    """Tools that declare exactly the arguments that ``calls`` have, all the way down."""
    properties: dict[str, dict[str, Any]] = {}
    for call in calls:
        declared = properties.setdefault(call.name, {})
        for key, value in call.arguments.items():
            schema = schema_of(value)
            known = declared.setdefault(key, schema)
            if schema != known:
                known = known if "anyOf" in known else {"anyOf": [known]}
                declared[key] = known
                if schema not in known["anyOf"]:
                    known["anyOf"].append(schema)
    return [
        {"name": name, "parameters": {"type": "object", "properties": declared}}
        for name, declared in properties.items()
    ]


def schema_of(value: Any) -> dict[str, Any]:
    """The schema that fits ``value`` and nothing else."""
    schema: dict[str, Any] = {"type": json_type(value)}
    if isinstance(value, dict):
        schema["properties"] = {key: schema_of(item) for key, item in value.items()}
    elif isinstance(value, list) and value:
        schemas = [schema_of(item) for item in value]
        schema["items"] = schemas[0] if all(s == schemas[0] for s in schemas) else {"anyOf": schemas}
    return schema


def openers_of(format: str | None) -> list[str]:
    """What a text of ``format`` may begin with, shortest first: golden texts cut off at several places."""
    texts = golden_texts().get(format, []) if format else []
    cuts = {text[: len(text) * part // 8] for text in texts[:6] for part in (1, 2, 4, 7)}
    return sorted(cuts - {""}, key=len) or list(OPENERS)
