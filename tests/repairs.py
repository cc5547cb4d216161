"""Damaged outputs and what `on_error="repair"` makes of them: the golden table of tests/test_repair.py.

python tests/repairs.py    print it: each output's error with its caret, what the model is told, and the repaired call
                           with its repairs or why it stays broken; fails if one is not as it is declared here
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
    """``calls`` and ``codes`` of the repairs; ``broken`` says why it stays an error.

    ``error`` is the code in strict modes, None if it is text (or a call) there.
    """

    title: str
    text: str
    error: str | None
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
        "the section's opener missing",
        KIMI.removeprefix("<|tool_calls_section_begin|>") + '{"city": "Paris"}<|tool_call_end|>',
        None,
        PARIS,
        ["repair.missing_opener"],
        options=WITH_TOOLS,
    ),
    Case(
        "the call's opener missing",
        "On it.\nget_weather\n<arg_key>city</arg_key>\n<arg_value>Paris</arg_value>\n</tool_call>",
        None,
        PARIS,
        ["repair.missing_opener"],
        options={"format": "glm45", "generation_prompt": "", **WITH_TOOLS},
    ),
    Case(
        "an opener missing, and no tools",
        'On it.\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call>',
        None,
        broken="it is text, as long as no declared tool says that a call was meant",
        options={"format": "hermes"},
    ),
    Case(
        "the call's opener missing in its section",
        KIMI.replace("<|tool_call_begin|>", "") + '{"city": "Paris"}<|tool_call_end|><|tool_calls_section_end|>',
        "tool_call.expected_markup",
        PARIS,
        ["repair.missing_opener"],
        options=WITH_TOOLS,
    ),
    Case(
        "a string where an object is wanted",
        hermes('{"title": "x", "when": "{\\"day\\": 3}"}', "create_event"),
        None,
        [("create_event", {"title": "x", "when": {"day": 3}})],
        ["coerce.string_to_object"],
        options=WITH_TOOLS,
    ),
    Case(
        "other words in the call object",
        '<tool_call>\n{"tool": "get_weather", "params": {"city": "Paris"}}\n</tool_call>',
        "tool_call.unrecognized",
        PARIS,
        ["repair.call_key"] * 2,
        options=WITH_TOOLS,
    ),
    Case(
        "Python: a closing bracket missing",
        "[get_weather(city='Paris']",
        "tool_call.expected_comma",
        PARIS,
        ["repair.missing_bracket"],
        options={"format": "pythonic", **WITH_TOOLS},
    ),
    Case(
        "Python: quoted names, colons, a comma missing, a comment",
        "[get_weather('city': 'Paris' days=2) # now\n]",
        "tool_call.positional_argument",
        [("get_weather", {"city": "Paris", "days": 2})],
        ["repair.quoted_name", "repair.sign", "repair.missing_comma", "repair.comment"],
        options={"format": "pythonic", **WITH_TOOLS},
    ),
    Case(
        "Python: an apostrophe in a string",
        "[write_file(path='a', text='it's here')]",
        "tool_call.expected_comma",
        broken="where the string ends is a guess",
        options={"format": "pythonic", **WITH_TOOLS},
        partial={"path": "a", "text": "it"},
    ),
    Case(
        "Gemma: single quotes, Python's word, a comma too many",
        "<|tool_call>call:create_event{title:'x',when:{},urgent:True,}<tool_call|>",
        "tool_call.expected_value",
        [("create_event", {"title": "x", "when": {}, "urgent": True})],
        ["repair.single_quotes", "repair.python_literal", "repair.trailing_comma"],
        options=WITH_TOOLS,
    ),
    Case(
        "Gemma: a string without its quote token",
        '<|tool_call>call:get_weather{city:<|"|>Paris,days:2}<tool_call|>',
        "tool_call.unterminated_string",
        broken="the string may go on to the end",
        options=WITH_TOOLS,
        partial={},
    ),
    Case(
        "attributes in another spelling",
        '<tool_call>\n<function name="get_weather">\n<parameter name="city">\nParis\n</parameter>\n</function>\n'
        "</tool_call>",
        "tool_call.expected_markup",
        PARIS,
        ["repair.tag_drift"] * 2,
        options={"format": "qwen3_coder", **WITH_TOOLS},
    ),
    Case(
        "a call's closer missing before its section's",
        '<function_calls>\n<invoke name="get_weather">\n<parameter name="city">Paris</parameter>\n</function_calls>',
        "tool_call.unexpected_end",
        PARIS,
        ["repair.missing_tag"],
        options={"format": "xml_invoke", **WITH_TOOLS},
    ),
    Case(
        "a call in Python's notation between tags for JSON",
        '<tool_call>get_weather(city="Paris")</tool_call>',
        "json.expected_value",
        PARIS,
        ["repair.wrong_dialect"],
        options={"format": "hermes", **WITH_TOOLS},
    ),
    Case(
        "a value's closer missing",
        "<tool_call>get_weather\n<arg_key>days</arg_key>\n<arg_value>2</tool_call>",
        "tool_call.unexpected_end",
        broken="not at a line start the call's closer may be the value's text",
        options={"format": "glm45", **WITH_TOOLS},
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
        "the call's opener missing at the very start",
        "call:ping{}",
        None,
        broken="and its closer, which is longer than the text",
        options={"format": "functiongemma", **WITH_TOOLS},
    ),
    Case(
        "the call's opener missing, and a value's closer misspelled",
        "get_weather\n<arg_key>city</arg_key>\n<arg_value>Paris</arg[value>\n</tool_call>\n<tool_call>ping\n</tool_call>",
        None,
        [("ping", {})],
        broken="the value would go on to the next call's closer, which is no text of its own",
        options={"format": "glm45", "generation_prompt": "", **WITH_TOOLS},
    ),
    Case(
        "a section's opener, and behind it a tag that is misspelled",
        '<cofl:tool_calls><cofltool_call id="0" name="ping"></cofl:tool_call></cofl:tool_calls>',
        "tool_call.expected_markup",
        broken="no call begins as the format has it",
        options={"format": "cohere_cofl", **WITH_TOOLS},
    ),
    Case(
        "a bracket too many behind the call object",
        hermes('{"city": "Paris"}}'),
        "json.trailing_characters",
        PARIS,
        ["repair.extra_bracket"],
        options={"format": "hermes", **WITH_TOOLS},
    ),
    Case(
        "the other kind of bracket too many",
        hermes('{"city": "Paris"]}'),
        "json.expected_comma",
        broken="the one that it closes may be missing",
        partial={"city": "Paris"},
    ),
    Case(
        "a member in what looks like a comment",
        hermes('{"city": "Paris" # "days": 2}'),
        "json.expected_comma",
        broken="the sign may be the mistake",
        partial={"city": "Paris"},
    ),
    Case(
        "two strings side by side between single quotes",
        hermes("{'path': 'a.txt', 'text': 'x' 'y'}", "write_file"),
        "json.expected_key",
        broken="Python reads one string without the quotes between them",
        partial={},
        options=WITH_TOOLS,
    ),
    Case(
        "a slash with a backslash between single quotes",
        hermes(r"{'city': 'a\/b'}"),
        "json.expected_key",
        broken="in JSON the backslash is none of the text, in Python it is",
        partial={},
    ),
    Case(
        "signs between two strings",
        hermes('{"title": "x", "when": {"slots": ["am"/,"pm"]}}', "create_event"),
        "json.expected_comma",
        broken="it may be one string or two",
        partial={"title": "x"},
        options=WITH_TOOLS,
    ),
    Case(
        "a comma inside the quotes where one is missing behind them",
        hermes('{"city": "Paris," "days": 2}'),
        "json.expected_comma",
        broken="it may be that comma that stands in the wrong place",
        partial={"city": "Paris,"},
        options=WITH_TOOLS,
    ),
    Case(
        "brackets missing between a string and the closer",
        '<tool_call>{"name": "write_file", "arguments": {"path": "a", "text": "x"</tool_call>y"}}</tool_call>',
        "json.expected_comma",
        broken="the closer may stand in the string",
        partial={"path": "a", "text": "x"},
        options=WITH_TOOLS,
    ),
    Case(
        "Python: the same",
        "<|tool_call_start|>write_file(path='a', text=''<|tool_call_end|>y')<|tool_call_end|>",
        "tool_call.expected_comma",
        broken="the closer may stand in the string",
        partial={"path": "a", "text": ""},
        options={"format": "minicpm4", **WITH_TOOLS},
    ),
    Case(
        "a call that another one's opener interrupts",
        "<tool_call>\n<function=ping>\n<tool_call>\n<function=ping>\n</function>\n</tool_call>",
        "tool_call.expected_markup",
        [("ping", {})],
        broken="more of it may follow",
        options={"format": "qwen3_coder", **WITH_TOOLS},
    ),
    Case(
        "Python: a number that was cut off",
        "[get_weather(city='Paris', days=1",
        "tool_call.truncated",
        broken="more of it was to come",
        partial={"city": "Paris"},
        options={"format": "pythonic", "finish_reason": "length", **WITH_TOOLS},
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


def wrong(case: Case) -> list[str]:
    """In what a case is not as it is declared."""
    strict = toolglot.parse(case.text, on_error="collect", **case.options)
    message = toolglot.parse(case.text, on_error="repair", **case.options)
    stays = [case.error] if case.broken and case.error is not None else []
    expected: list[tuple[str, Any, Any]] = [
        ("strict error", [error.code for error in strict.errors], [] if case.error is None else [case.error]),
        ("strict repairs", strict.repairs, []),
        ("calls", [(call.name, call.arguments) for call in message.tool_calls], case.calls),
        ("repairs", [repair.code for repair in message.repairs], case.codes),
        ("errors", [error.code for error in message.errors], stays),
        ("certain", [error.partial_arguments for error in message.errors], [case.partial] * len(stays)),
    ]
    there = [one for one in message.repairs if one.span and case.text[slice(*one.span)] == one.before]
    expected.append(("repairs that say what stands there", there, message.repairs))
    return [f"{case.title}: {what}: {one!r}, not {other!r}" for what, one, other in expected if one != other]


def shown(case: Case) -> str:
    """A case as it is printed."""
    options = {key: value for key, value in case.options.items() if key != "tools"}
    said = ", ".join(
        [*(f"{key}={value!r}" for key, value in options.items()), *(["tools"] * ("tools" in case.options))]
    )
    lines = [f"== {case.title}" + (f" ({said})" if said else "")]
    strict = toolglot.parse(case.text, on_error="collect", **case.options)
    for error in strict.errors:
        lines += [f"{error.code}: {error}", *("    " + line for line in error.context().split("\n"))]
        lines += ["  told", *("    " + line for line in error.feedback().split("\n"))]
    if not strict.errors:
        lines.append("no error: " + ("a call" if strict.tool_calls else "text"))
        lines += ["    " + line for line in case.text.split("\n")]
    message = toolglot.parse(case.text, on_error="repair", **case.options)
    for call in message.tool_calls:
        lines.append(f"  call    {call.name} {call.arguments_json}")
    for repair in message.repairs:
        at = "" if repair.span is None else f" {repair.span[0]}-{repair.span[1]}"
        lines.append(f"  repair  {repair.code}{at}: {repair.before!r} -> {repair.after!r}")
    if case.broken:
        certain = [error.partial_arguments for error in message.errors]
        lines.append(f"  broken  {case.broken}" + "".join(f"; certain: {one}" for one in certain))
    return "\n".join(lines)


def main() -> int:
    """Print all; 1 if a case is not as it is declared."""
    found = [line for case in CASES for line in wrong(case)]
    sys.stdout.write("\n\n".join(map(shown, CASES)) + "\n")
    for line in found:
        sys.stderr.write(line + "\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
