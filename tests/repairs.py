"""Damaged outputs and what `on_error="repair"` makes of them: the golden table of tests/test_repair.py.

python tests/repairs.py    print it: each output's error with its caret, and the repaired call or why it stays broken
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import toolglot

TOOLS = json.loads((Path(__file__).parent / "formats" / "tools.json").read_text("utf-8"))


@dataclass(frozen=True)
class Case:
    """``calls`` and ``codes`` of the repairs; ``broken`` says why it stays an error, whose code is ``error`` always."""

    title: str
    text: str
    error: str
    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    codes: list[str] = field(default_factory=list)
    broken: str = ""
    partial: dict[str, Any] | None = None
    options: dict[str, Any] = field(default_factory=dict)


def hermes(arguments: str, name: str = "get_weather") -> str:
    return f'<tool_call>\n{{"name": "{name}", "arguments": {arguments}}}\n</tool_call>'


PARIS = [("get_weather", {"city": "Paris"})]
WITH_TOOLS = {"tools": TOOLS}
KIMI = "<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>"

CASES = [
    Case("single quotes", hermes("{'city': 'Paris'}"), "json.expected_key", PARIS, ["repair.single_quotes"] * 2),
    Case(
        "Python's literals",
        hermes('{"title": "x", "when": {}, "urgent": True, "note": None}', "create_event"),
        "json.expected_value",
        [("create_event", {"title": "x", "when": {}, "urgent": True, "note": None})],
        ["repair.python_literal"] * 2,
    ),
    Case("a trailing comma", hermes('{"city": "Paris",}'), "json.trailing_comma", PARIS, ["repair.trailing_comma"]),
    Case(
        "a missing comma",
        hermes('{"city": "Paris" "days": 2}'),
        "json.expected_comma",
        [("get_weather", {"city": "Paris", "days": 2})],
        ["repair.missing_comma"],
    ),
    Case(
        "a line break in a string",
        hermes('{"path": "a.py", "text": "import os\n\nprint(1)\n"}', "write_file"),
        "json.control_character",
        [("write_file", {"path": "a.py", "text": "import os\n\nprint(1)\n"})],
        ["repair.control_character"] * 2,
    ),
    Case(
        "quotes inside a string",
        hermes('{"path": "a.txt", "text": "she said "hi", and left"}', "write_file"),
        "json.expected_comma",
        [("write_file", {"path": "a.txt", "text": 'she said "hi", and left'})],
        ["repair.inner_quote"] * 2,
        options=WITH_TOOLS,
    ),
    Case(
        "quotes inside a string, and no tools",
        hermes('{"path": "a.txt", "text": "she said "hi", and left"}', "write_file"),
        "json.expected_comma",
        broken="without the tool's schema nothing says where the string ends",
        partial={"path": "a.txt", "text": "she said "},
    ),
    Case(
        "quotes inside a string that look like another member",
        hermes('{"path": "a.txt", "text": "see "a", "b" and "c"}', "write_file"),
        "json.expected_comma",
        broken="it could also be a string that ends, and damage behind it",
        partial={"path": "a.txt", "text": "see "},
        options=WITH_TOOLS,
    ),
    Case("keys without quotes", hermes('{city: "Paris"}'), "json.expected_key", PARIS, ["repair.unquoted_key"]),
    Case(
        "comments",
        hermes('{\n  "city": "Paris", // the capital\n  "days": 2 /* today\n and tomorrow */\n}'),
        "json.expected_key",
        [("get_weather", {"city": "Paris", "days": 2})],
        ["repair.comment"] * 2,
    ),
    Case(
        "a code fence in the tags",
        '<tool_call>\n```json\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n```\n</tool_call>',
        "json.expected_value",
        PARIS,
        ["repair.code_fence"] * 2,
    ),
    Case(
        "arguments encoded twice, and damaged inside",
        hermes(json.dumps("{'city': 'Paris'}")),
        "tool_call.invalid_arguments",
        PARIS,
        ["repair.double_encoded"],
    ),
    Case(
        "a bracket missing before the closer",
        '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}\n</tool_call>',
        "json.expected_comma",
        PARIS,
        ["repair.missing_bracket"],
    ),
    Case(
        "a bracket missing where two objects could have ended",
        '<tool_call>{"name": "create_event", "arguments": {"when": {"day": 3, "title": "x"}}</tool_call>',
        "json.expected_comma",
        broken="the title may be the event's or the date's",
        partial={"when": {"day": 3, "title": "x"}},
    ),
    Case(
        "a bracket too many",
        KIMI + '{"city": "Paris"}}<|tool_call_end|><|tool_calls_section_end|>',
        "json.trailing_characters",
        PARIS,
        ["repair.extra_bracket"],
    ),
    Case(
        "the call's own closer missing",
        KIMI + '{"city": "Paris"}<|tool_calls_section_end|>',
        "json.trailing_characters",
        PARIS,
        ["repair.missing_tag"],
    ),
    Case(
        "an opening tag missing",
        "<tool_call>get_weather\n<arg_key>city</arg_key>\nParis</arg_value>\n</tool_call>",
        "tool_call.expected_markup",
        broken="the value may begin with white space",
        options={"format": "glm45", **WITH_TOOLS},
    ),
    Case(
        "tags with blanks and capitals",
        "<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value >Paris</arg_value>\n</Tool_Call>",
        "tool_call.expected_markup",
        PARIS,
        ["repair.tag_drift"] * 2,
        options={"format": "glm45"},
    ),
    Case(
        "another format's call",
        "<tool_call>\n<function=get_weather>\n<parameter=city>\nParis\n</parameter>\n</function>\n</tool_call>",
        "json.expected_value",
        PARIS,
        ["repair.wrong_dialect"],
        options={"format": "hermes", **WITH_TOOLS},
    ),
    Case(
        "bare JSON with a trailing comma",
        '{"name": "get_weather", "parameters": {"city": "Paris",}}',
        "json.trailing_comma",
        PARIS,
        ["repair.trailing_comma"],
        options={"format": "llama3_json"},
    ),
    Case(
        "a call that was cut off",
        '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris", "days": 1',
        "tool_call.truncated",
        broken="more of it was to come",
        partial={"city": "Paris"},
        options={"finish_reason": "length"},
    ),
    Case(
        "a call that may have been cut off",
        '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}',
        "json.unexpected_end",
        broken="nobody says that the model ended here by itself",
        partial={"city": "Paris"},
    ),
    Case(
        "the same, and the model ended by itself",
        '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}',
        "json.unexpected_end",
        PARIS,
        ["repair.missing_bracket"],
        options={"finish_reason": "stop"},
    ),
    Case(
        "a value missing",
        hermes('{"city": "Paris", "days": }'),
        "json.expected_value",
        broken="a value is never made up",
        partial={"city": "Paris"},
        options=WITH_TOOLS,
    ),
    Case(
        "a mend that does not fit the tool",
        hermes('{"city": None}'),
        "json.expected_value",
        broken="a city is a string",
        partial={},
        options=WITH_TOOLS,
    ),
]


def shown(case: Case) -> str:
    """A case as it is printed."""
    options = {key: value for key, value in case.options.items() if key != "tools"}
    said = ", ".join(
        [*(f"{key}={value!r}" for key, value in options.items()), *(["tools"] * ("tools" in case.options))]
    )
    lines = [f"== {case.title}" + (f" ({said})" if said else "")]
    [error] = toolglot.parse(case.text, on_error="collect", **case.options).errors
    lines += [f"{error.code}: {error}", *("    " + line for line in error.context().split("\n"))]
    message = toolglot.parse(case.text, on_error="repair", **case.options)
    for call in message.tool_calls:
        lines.append(f"  call    {call.name} {call.arguments_json}")
    for repair in message.repairs:
        lines.append(
            f"  repair  {repair.code} {repair.span[0]}-{repair.span[1]}: {repair.before!r} -> {repair.after!r}"
        )
    for error in message.errors:
        lines.append(f"  broken  {case.broken}; certain: {error.partial_arguments}")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.stdout.write("\n\n".join(map(shown, CASES)) + "\n")
