"""Transformers' response templates as formats. The templates are written after its documentation (5.24)."""

from __future__ import annotations

from typing import Any

import pytest

import toolglot
from toolglot import DefinitionError, format_from_response_template

NAMED = {"type": "function", "function": {"name": "{name}", "arguments": "{content}"}}
WHOLE = {"type": "function", "function": "{content}"}
THINK = {"open": "<think>", "close": "</think>", "content": "text"}


def template(calls: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {
        "defaults": {"role": "assistant"},
        "start_anchor": "<assistant>",
        "fields": {"thinking": THINK, "content": {"close": "<end>"}, **fields, "tool_calls": calls},
    }


def read(spec: dict[str, Any], text: str, **options: Any) -> toolglot.Message:
    """The message, the same whole and one character at a time."""
    toolglot.register_format(format_from_response_template(spec, "from_template"))
    message = toolglot.parse(text, format="from_template", on_error="collect", **options)
    parser = toolglot.StreamParser(format="from_template", on_error="collect", **options)
    for character in text:
        parser.feed(character)
    parser.close()
    assert parser.message == message
    return message


def calls_of(message: toolglot.Message) -> list[tuple[str, dict[str, Any]]]:
    assert not message.errors
    return [(call.name, call.arguments) for call in message.tool_calls]


OBJECT = {"open": "<call>", "close": "</call>", "repeats": True, "content": "json", "transform": WHOLE}
LIST = {
    "open": ["<calls>", "<CALLS>"],
    "close": "</calls>",
    "content": "json",
    "transform_each": True,
    "transform": {"type": "function", "function": {"name": "{tool}", "arguments": "{input}"}},
}
KEYS = {**OBJECT, "transform": {"function": {"name": "{content.fn}", "arguments": "{content.args}"}}}
NAME = {**OBJECT, "open_pattern": r"<call\s+name=(?P<name>[^>]+)>", "transform": NAMED}
del NAME["open"]
TAGS = {
    **NAME,
    "open_pattern": r"<call>\s*<fn=(?P<name>\w+)>",
    "content": "xml-inline",
    "content_args": {"tag_pattern": r"<arg=(?P<key>\w+)>\n?(?P<value>.*?)\n?</arg>"},
}
GEMMA = {
    **NAME,
    "open_pattern": r"<call>do:(?P<name>\w+)",
    "content_args": {"unquoted_keys": True, "string_delims": [['<|"|>', '<|"|>']]},
}
PYTHON = {
    "open": "<calls>",
    "close": "</calls>",
    "content": "python-call-list",
    "transform_each": True,
    "transform": {"type": "function", "function": {"name": "{name}", "arguments": "{arguments}"}},
}


@pytest.mark.parametrize(
    ("field", "text"),
    [
        (OBJECT, '<call>\n{"name": "f", "arguments": {"a": 1}}\n</call>\n<call>{"name": "g", "arguments": {}}</call>'),
        (LIST, '<CALLS>[\n{"tool": "f", "id": 1, "input": {"a": 1}}, {"tool": "g", "input": {}}]\n</calls>'),
        (KEYS, '<call>{"fn": "f", "args": {"a": 1}}</call><call>{"args": {}, "fn": "g"}</call>'),
        (NAME, '<call name=f>{"a": 1}</call><call  name=g>{}</call>'),
        (TAGS, "<call>\n<fn=f>\n<arg=a>\n1\n</arg>\n</fn>\n</call>\n<call><fn=g></fn></call>"),
        (GEMMA, "<call>do:f{a:1}</call><call>do:g{}</call>"),
        (PYTHON, "<calls>[f(a=1), g()]</calls>"),
    ],
    ids=["object", "list", "keys", "name", "tags", "gemma", "python"],
)
def test_calls(field: dict[str, Any], text: str) -> None:
    message = read(template(field), f"<think>\nWhy?\n</think>\n{text}<end>")
    assert calls_of(message) == [("f", {"a": 1}), ("g", {})]
    assert (message.content, message.reasoning) == (None, "Why?")


def test_values_are_typed_by_the_schema() -> None:
    tools = [{"name": "f", "parameters": {"properties": {"a": {"type": "string"}}}}]
    text = "<call><fn=f><arg=a>007</arg></fn></call>"
    assert calls_of(read(template(TAGS), text, tools=tools)) == [("f", {"a": "007"})]


def test_content_with_delimiters() -> None:
    spec = template(OBJECT, content={"open": "<say>\n", "close_pattern": r"\n?</say>"})
    assert read(spec, "<say>\nHello.\n</say>").content == "Hello."


def test_the_prompt_may_have_opened_the_reasoning() -> None:
    spec = template(OBJECT, thinking={"open_pattern": r"(?:^|<think>\s*)", "close": "</think>"})
    message = read(spec, "Why?\n</think>\nHello.")
    assert (message.content, message.reasoning) == ("\nHello.", "Why?")


def test_it_is_as_strict_as_any_format() -> None:
    message = read(template(OBJECT), '<call>{"name": "f", "arguments": {"a": 1,}}</call>')
    assert [error.code for error in message.errors] == ["json.trailing_comma"]
    assert message.tool_calls == []


def test_it_is_not_written() -> None:
    toolglot.register_format(format_from_response_template(template(OBJECT), "from_template"))
    with pytest.raises(toolglot.ConversionError, match="not written"):
        toolglot.render([toolglot.ToolCall("f")], "from_template")


@pytest.mark.parametrize(
    ("spec", "part"),
    [
        ({"type": "object", "properties": {}}, "older response_schema"),
        ({"start_anchor": "x", "fields": {"content": {}}}, "fields.tool_calls is missing"),
        ({**template(OBJECT), "version": 2}, "version 2"),
        (template({**OBJECT, "colour": 1}), r"fields\.tool_calls: expected"),
        (template(OBJECT, usage={"open": "<usage>", "close": "</usage>"}), r"fields\.usage"),
        (template(OBJECT, content={"content": "json"}), r"fields\.content: content"),
        (template(OBJECT, thinking={"open": ["<a>", "<b>"], "close": "</a>"}), r"fields\.thinking\.open"),
        (
            template({**NAME, "open_pattern": r"<call (?P<name>\w+).*?>"}),
            r"fields\.tool_calls\.open_pattern: '\.\*\?>'",
        ),
        (template({**NAME, "open_pattern": r"(?:<call>)?(?P<name>\w+):"}), r"open_pattern: '\(\?:<call>"),
        (template({**NAME, "open_pattern": r"(?P<name>\w+):"}), r"tool_calls\.open: it has to begin with a literal"),
        (template({**NAME, "close": " "}), r"tool_calls\.close: white space"),
        (template({**NAME, "content": "kv-lines"}), r"tool_calls\.content: 'kv-lines'"),
        (template({**GEMMA, "content_args": {"string_delims": [["<<", ">>"]]}}), r"content_args\.string_delims"),
        (template({**TAGS, "content_args": {"tag_pattern": "<a>(?P<value>.*?)</a>"}}), r"tag_pattern: it needs"),
        (template({**NAME, "transform": {"function": {"name": "f", "arguments": "{content}"}}}), r"function\.name"),
        (
            template({**NAME, "transform": {"function": {"name": "{content}", "arguments": "{name}"}}}),
            "the group 'name'",
        ),
    ],
)
def test_what_cannot_be_said_is_named(spec: dict[str, Any], part: str) -> None:
    with pytest.raises(DefinitionError, match=part):
        format_from_response_template(spec)
