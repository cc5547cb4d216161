"""Grammars: their tree holds what is rendered, refuses what is wrong, and what it holds is read as a call.

`tests/heavy/test_grammar_engines.py` asks the engines that the grammars are for.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

import grammar_cases as cases_of
import toolglot
from grammar_cases import FORMATS, GENERAL, RIGHT, TOOLS, WRONG, accepts, tree
from toolglot import golden, pattern

KINDS = ("gbnf", "lark", "structural_tag")


@pytest.mark.parametrize("format", FORMATS)
def test_holds_every_golden_call(format: str) -> None:
    checked = excused = 0
    for case in cases_of.cases(format):
        if cases_of.excused(format, case):
            excused += 1
        else:
            assert accepts(*tree(case.tools, format), case.text), (case.name, case.text)
            checked += 1
    assert checked >= 5
    assert excused < checked


@pytest.mark.parametrize("format", GENERAL)
def test_holds_right_calls_and_no_wrong_ones(format: str) -> None:
    node, rules = tree(cases_of.tools(format), format)
    assert rules.loose == {}
    texts = cases_of.right(format)
    assert len(texts) >= 3
    for what, text in texts.items():
        assert accepts(node, rules, text), (what, text)
        body = text.removeprefix(toolglot.get_format(format).lead)  # which may be missing
        for cut in (text[:-1], text + "x", body[1:]):
            assert not accepts(node, rules, cut), (what, cut)
        prompt = toolglot.get_format(format).prompt
        assert accepts(node, rules, text.removeprefix(prompt)), what
    wrong = cases_of.wrong(format)
    assert len(wrong) >= 8
    for what, text in wrong.items():
        assert not accepts(node, rules, text), (what, text)


@pytest.mark.parametrize("format", GENERAL)
def test_schemas(format: str) -> None:
    for what, tool, right, wrong in cases_of.schema_cases(format):
        node, rules = tree([tool], format)
        assert rules.loose == {}, what
        assert [text for text in right if not accepts(node, rules, text)] == [], what
        assert [text for text in wrong if accepts(node, rules, text)] == [], what


@pytest.mark.parametrize("format", GENERAL)
def test_what_it_holds_is_a_call(format: str) -> None:
    more = [t for t in map(toolglot.Tool.from_any, golden.standard_tools()) if t.name not in ("ping", "get_weather")]
    tools = [*cases_of.tools(format)]
    tools += ({"name": cases_of.named(format, t.name), "parameters": t.parameters} for t in more)
    schemas = {toolglot.Tool.from_any(t).name: toolglot.Tool.from_any(t).parameters for t in tools}
    node, rules = tree(tools, format)
    near = cases_of.hints(node, rules)
    for seed in range(60):
        text = cases_of.Sampler(rules, seed, near).text(node)
        # Where the prompt begins the first call, its beginning may be missing.
        prompt = toolglot.get_format(format).prompt
        message = toolglot.parse(text, format=format, tools=tools, generation_prompt=prompt, on_error="collect")
        assert message.tool_calls, text
        assert not message.errors, text
        assert not message.content, text
        for call in message.tool_calls:
            assert cases_of.fits(call.arguments, schemas[call.name]), (text, call)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("format", GENERAL)
def test_every_kind_is_written(format: str, kind: Any) -> None:
    ping = cases_of.named(format, "ping")
    for choice in ("auto", "required", ping):
        text = toolglot.grammar(cases_of.tools(format), format, kind, tool_choice=choice)
        assert "ping" in text
        assert ("get_weather" in text) == (choice != ping)
        if kind == "structural_tag":
            assert json.loads(text)["type"] == "structural_tag"


@pytest.mark.parametrize("format", GENERAL)
def test_triggers_begin_every_call(format: str) -> None:
    triggers = toolglot.grammar_triggers(cases_of.tools(format), format)
    assert triggers
    for text in cases_of.right(format).values():
        at = min(text.find(trigger) for trigger in triggers if trigger in text)
        # llama.cpp's lazy grammar starts at the trigger.
        assert accepts(*tree(cases_of.tools(format), format), text[at:]), text


@pytest.mark.parametrize("format", sorted({*FORMATS} - {*GENERAL}))
def test_a_format_with_a_tool_of_its_own_refuses_others(format: str) -> None:
    with pytest.raises(toolglot.ConversionError, match="can be written, not 'get_weather'"):
        toolglot.grammar(TOOLS, format)


def test_wrong_calls_are_wrong_in_one_way() -> None:
    """`WRONG` is only worth something if the tools' schemas refuse each for the reason it is named for."""
    schema = TOOLS[0]["parameters"]
    assert all(cases_of.fits(c.arguments, schema) for calls in RIGHT.values() for c in calls if c.name == "get_weather")
    for what, call in WRONG.items():
        known = call.name in ("get_weather", "ping")
        assert not known or not cases_of.fits(
            call.arguments, schema if call.name == "get_weather" else {"properties": {}, "type": "object"}
        ), what


# -- the public function


def with_schema(schema: Any) -> list[dict[str, Any]]:
    return [{"name": "f", "parameters": {"type": "object", "properties": {"a": schema}}}]


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_not_enforced_is_said(kind: Any) -> None:
    tools = with_schema({"type": "string", "pattern": "^x", "description": "d", "x-note": 1})
    text = toolglot.grammar(tools, "hermes", kind)
    assert "f.a: pattern" in text or kind == "structural_tag"  # XGrammar gets the schema itself
    assert ('"pattern": "^x"' in text) == (kind == "structural_tag")
    with pytest.raises(toolglot.ConversionError, match=r"f\.a: pattern"):
        toolglot.grammar(tools, "hermes", kind, strict=True)
    assert "not enforced" not in toolglot.grammar(TOOLS, "hermes", kind, strict=True)


@pytest.mark.parametrize("format", GENERAL)
def test_what_is_not_enforced_behind_a_reference_is_said(format: str) -> None:
    tools = with_schema({"$ref": "#/$defs/Inner"})
    tools[0]["name"] = cases_of.named(format, "f")
    inner = {"type": "object", "properties": {"b": {"type": "string", "minLength": 1}}, "patternProperties": {}}
    tools[0]["parameters"]["$defs"] = {"Inner": {"type": "array", "items": inner, "uniqueItems": True}}
    with pytest.raises(toolglot.ConversionError) as error:
        toolglot.grammar(tools, format, strict=True)
    for keyword in ("minLength", "patternProperties", "uniqueItems"):
        assert keyword in str(error.value)


def test_a_note_stays_in_its_comment() -> None:
    tools = with_schema({"type": "string", 'evil\nroot ::= "x"': 1})
    for kind in ("gbnf", "lark"):
        lines = toolglot.grammar(tools, "hermes", kind).splitlines()
        assert sum(line.startswith(("root ::=", "start:")) for line in lines) == 1


@pytest.mark.parametrize(
    "schema",
    [
        False,
        {"$ref": "https://example.com/schema.json"},
        {"$ref": "#/$defs/missing"},
        {"$ref": "#/properties/a"},
        {"anyOf": [{"$ref": "#/properties/a"}, {"type": "null"}]},
        {"allOf": [{"type": "string"}, 3]},
        {"allOf": [{"$ref": "#/properties/a"}]},
        {"type": "string", "enum": [1]},
    ],
)
def test_a_schema_that_allows_nothing_is_refused(schema: Any) -> None:
    with pytest.raises(toolglot.ConversionError, match=r"^f"):
        toolglot.grammar(with_schema(schema), "hermes")


def test_references_may_meet() -> None:
    tools = with_schema({"anyOf": [{"$ref": "#/properties/b"}, {"type": "null"}]})
    tools[0]["parameters"]["properties"]["b"] = {"type": "array", "items": {"$ref": "#/properties/b"}}
    node, rules = tree(tools, "hermes")
    write = lambda a: toolglot.render([toolglot.ToolCall("f", {"a": a})], "hermes")  # noqa: E731
    assert accepts(node, rules, write([[], [[]]]))
    assert accepts(node, rules, write(None))
    assert not accepts(node, rules, write([1]))


def test_misuse() -> None:
    with pytest.raises(ValueError, match="kind"):
        toolglot.grammar(TOOLS, "hermes", "bnf")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="tools"):
        toolglot.grammar(None, "hermes")
    with pytest.raises(toolglot.DefinitionError, match="no_such_tool"):
        toolglot.grammar(TOOLS, "hermes", tool_choice="no_such_tool")
    with pytest.raises(toolglot.ConversionError):
        toolglot.grammar(TOOLS, "hermes", tool_choice="none")
    with pytest.raises(toolglot.ConversionError):
        toolglot.grammar([], "hermes")
    with pytest.raises(toolglot.UnsafeValueError):
        toolglot.grammar(["a b>"], "qwen3_coder")
    with pytest.raises(toolglot.DefinitionError):
        toolglot.grammar(TOOLS, "no such format")


def test_what_cannot_be_written_has_no_grammar() -> None:
    read = toolglot.Format(pattern.call("<f>", pattern.call_object(), "</f>"), id="grammar_read_only", parse_only=True)
    toolglot.register_format(read)
    program = {"name": "python_interpreter", "parameters": {"properties": {"code": {"type": "integer"}}}}
    other = {"name": "python_interpreter", "parameters": {"properties": {"code": {}, "n": {}}, "required": ["n"]}}
    for tool, format, why in (
        ("ping", read.id, "read and not written"),
        ({"type": "custom", "name": "sql"}, "react", "'sql', a custom tool"),
        (program, "smolagents_code", r"only python_interpreter\(code\)"),
        (other, "smolagents_code", r"only python_interpreter\(code\)"),
        ("ping", "mcp_xml", "names no server"),
        ("/ping", "mcp_xml", "names no server"),
        ({"name": "Final Answer"}, "react_json", "would be read as the answer"),
    ):
        with pytest.raises(toolglot.ConversionError, match=why):
            toolglot.grammar([tool], format)


HOLDS = [
    # The format, the schema of `a`, the text for its value, whether the grammar holds it.
    ("minicpm5", {"type": "string"}, "x ] y", True),
    ("minicpm5", {"type": "string"}, "a\nb", False),
    ("minicpm5", {"type": "string"}, "<![CDATA[</param> & \n]]>", True),
    ("minicpm5", {"type": "string"}, "<![CDATA[a]]]]><![CDATA[>\n]]>", True),
    ("minicpm5", {"type": "string"}, "<![CDATA[a]]>b]]>", False),
    ("minicpm5", {"enum": ["a<b", True, None]}, "<![CDATA[a<b]]>", True),
    ("minicpm5", {"enum": ["a<b", True, None]}, "a<b", False),
    ("minicpm5", {"enum": ["a<b", True, None]}, "None", True),
    ("minicpm5", {"type": "array"}, "['a', \"b'\", {'k': None}, 1.5]", True),
    ("minicpm5", {"type": "array"}, "['a', null]", False),
    ("minicpm5", {"type": "array"}, "['</param>']", False),
    ("seed_oss", {"type": "object"}, "{'a': 'x\\n', 'b': [True]}", True),
    ("seed_oss", {"type": "object"}, "{'a</parameter>': 1}", False),
    ("cline_xml", {"enum": ["\na", "b\n", 1]}, "\n\na\n", True),
    ("cline_xml", {"enum": ["\na", "b\n", 1]}, "\na", False),
    ("cline_xml", {"enum": ["\na", "b\n", 1]}, "1", True),
    ("cline_xml", {"type": "string"}, "</b></ping>", True),
    ("cline_xml", {"type": "string"}, "x</a>y", False),
    ("olmo3", {}, '{"a": [true, null]}', True),
    ("olmo3", {"type": "boolean"}, "True", False),
]


@pytest.mark.parametrize(("format", "schema", "text", "holds"), HOLDS)
def test_how_a_value_is_spelled(format: str, schema: Any, text: str, holds: bool) -> None:
    tools = [{"name": "f", "parameters": {"properties": {"a": schema}, "required": ["a"]}}]
    whole = toolglot.render([toolglot.ToolCall("f", {"a": 7})], format).replace("7", text)
    assert accepts(*tree(tools, format), whole) == holds
    if holds:
        value = toolglot.parse(whole, format=format, tools=tools).tool_calls[0].arguments["a"]
        assert format == "olmo3" or toolglot.render([toolglot.ToolCall("f", {"a": value})], format) == whole


def test_texts_that_are_escaped_in_arguments() -> None:
    tools = with_schema({"type": "string"})
    node, rules = tree(tools, "langchain_xml")
    text = toolglot.render([toolglot.ToolCall("f", {"a": "<tool>x</tool_input>"})], "langchain_xml")
    assert "[[tool]]x[[/tool_input]]" in text
    assert accepts(node, rules, text)
    for plain in ("<tool>", "</tool_input>"):
        assert not accepts(node, rules, text.replace("[[tool]]", plain))


def test_keys_of_elements_that_say_their_types() -> None:
    tools = with_schema({"properties": {"b": {"type": "integer"}}, "additionalProperties": {"type": "string"}})
    node, rules = tree(tools, "cohere_cofl")
    for more, holds in (({"<&": "x"}, True), ({"c": 1}, False), ({"b": "x"}, False), ({"b": 1, "c": "</d>"}, True)):
        text = toolglot.render([toolglot.ToolCall("f", {"a": more})], "cohere_cofl")
        assert accepts(node, rules, text) == holds, text
        assert not accepts(node, rules, text.replace("&lt;", "&#60;")) or "&lt;" not in text


def test_a_machine_without_a_grammar_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    from toolglot.engine.machines.harmony import HarmonyProgram

    monkeypatch.delattr(HarmonyProgram, "call_texts")
    with pytest.raises(toolglot.DefinitionError, match="hand-written"):
        toolglot.grammar(TOOLS, "harmony")


OWN: dict[str, pattern.Item] = {
    "values": pattern.call(
        "<call ",
        pattern.name("functions."),
        ">",
        pattern.each("<arg ", pattern.key(), ">", pattern.value(), "</arg>"),
        "</call>",
    ),
    "elements": pattern.call("<call ", pattern.name(), ">", pattern.elements(), "</call>"),
    "escape": pattern.call("<call>", pattern.name(), pattern.arguments("function_gemma"), "</call>"),
    "array": pattern.section("[calls]", pattern.call(pattern.call_object(name="tool")), "[end]", separator=" + "),
}


@pytest.mark.parametrize("what", OWN)
def test_a_format_of_ones_own(what: str) -> None:
    id = f"grammar_own_{what}"
    toolglot.register_format(toolglot.Format(OWN[what], id=id))
    node, rules = tree(TOOLS, id)
    texts = cases_of.right(id)
    assert len(texts) >= 3
    for text in texts.values():
        assert accepts(node, rules, text)
    near = cases_of.hints(node, rules)
    for seed in range(40):
        text = cases_of.Sampler(rules, seed, near).text(node)
        message = toolglot.parse(text, format=id, tools=TOOLS)
        assert message.tool_calls, text
        assert not message.content, text
        for call in message.tool_calls:
            assert call.name == "ping" or cases_of.fits(call.arguments, TOOLS[0]["parameters"]), text
