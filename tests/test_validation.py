"""``validate=True``, ``coerce=True`` and `validate_call`: what fits a tool's schema, whole and streamed."""

from __future__ import annotations

import itertools
import json
import pickle
import sys
import time
from typing import Any

import jsonschema
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import toolglot
from compare import plain
from effort import examples
from toolglot import (
    ConversionError,
    DefinitionError,
    ErrorEvent,
    Message,
    ParseError,
    StreamParser,
    Tool,
    ToolCall,
    ToolCallEnd,
    TruncatedError,
    get_provider,
    iter_events,
    parse,
    parse_response,
    parse_responses,
    render,
    validate_call,
)
from toolglot.errors import REPAIRS
from toolglot.schema import validate as compiling

WEATHER = Tool(
    "weather",
    parameters={
        "type": "object",
        "properties": {
            "city": {"type": "string", "minLength": 2},
            "days": {"type": "integer", "minimum": 1},
            "unit": {"enum": ["celsius", "fahrenheit"]},
            "detailed": {"type": "boolean"},
            "hours": {"type": "array", "items": {"type": "integer"}},
            "where": {"type": "object", "properties": {"lat": {"type": "number"}}},
        },
        "required": ["city"],
        "additionalProperties": False,
    },
)
PING = Tool("ping")
SHELL = Tool("shell", kind="custom")
TOOLS = [WEATHER, PING, SHELL]


def hermes(name: str, arguments: str) -> str:
    return f'<tool_call>\n{{"name": "{name}", "arguments": {arguments}}}\n</tool_call>'


def made(arguments: Any, name: str = "weather") -> ToolCall:
    text = json.dumps(arguments)
    return ToolCall(name, arguments, raw_arguments=text, _json=text)


def broken(schema: dict[str, Any], arguments: dict[str, Any]) -> ParseError:
    with pytest.raises(ParseError) as info:
        validate_call(made(arguments, "f"), [Tool("f", parameters=schema)])
    return info.value


def said(schema: dict[str, Any], arguments: dict[str, Any]) -> list[tuple[str, str]]:
    return [(one.path, one.keyword) for one in broken(schema, arguments).violations]


# What is wrong, by the specification: one keyword each.
NODE = {"$ref": "#/$defs/node"}
TREE = {
    "$defs": {
        "node": {
            "anyOf": [
                {"type": "object", "properties": {"op": {"const": "add"}, "of": {"type": "array", "items": NODE}}},
                {"type": "object", "properties": {"op": {"const": "neg"}, "of": NODE}},
                {"type": "integer"},
            ]
        }
    },
    "properties": {"e": NODE},
}
CASES: list[tuple[dict[str, Any], dict[str, Any], list[tuple[str, str]]]] = [
    ({"properties": {"a": {"type": "integer"}}}, {"a": "1"}, [("$.a", "type")]),
    ({"properties": {"a": {"type": "integer"}}}, {"a": 1.5}, [("$.a", "type")]),
    ({"properties": {"a": {"type": ["string", "null"]}}}, {"a": True}, [("$.a", "type")]),
    ({"properties": {"a": {"enum": [1, "x"]}}}, {"a": True}, [("$.a", "enum")]),
    ({"properties": {"a": {"const": {"b": 1}}}}, {"a": {"b": 2}}, [("$.a", "const")]),
    (
        {"properties": {"a": {"minimum": 3}, "b": {"maximum": 3}}},
        {"a": 2, "b": 4},
        [("$.a", "minimum"), ("$.b", "maximum")],
    ),
    ({"properties": {"a": {"exclusiveMinimum": 3}}}, {"a": 3}, [("$.a", "exclusiveMinimum")]),
    ({"properties": {"a": {"exclusiveMaximum": 3}}}, {"a": 3}, [("$.a", "exclusiveMaximum")]),
    ({"properties": {"a": {"multipleOf": 3}}}, {"a": 10**30 + 1}, [("$.a", "multipleOf")]),
    ({"properties": {"a": {"minLength": 2}}}, {"a": "\U0001f600"}, [("$.a", "minLength")]),
    ({"properties": {"a": {"maxLength": 1}}}, {"a": "ab"}, [("$.a", "maxLength")]),
    ({"properties": {"a": {"pattern": "^[a-z]+$"}}}, {"a": "A"}, [("$.a", "pattern")]),
    ({"properties": {"a": {"minItems": 1}}}, {"a": []}, [("$.a", "minItems")]),
    ({"properties": {"a": {"maxItems": 1}}}, {"a": [1, 2]}, [("$.a", "maxItems")]),
    ({"properties": {"a": {"uniqueItems": True}}}, {"a": [1, 1.0]}, [("$.a", "uniqueItems")]),
    ({"minProperties": 1}, {}, [("$", "minProperties")]),
    ({"maxProperties": 0}, {"a": 1}, [("$", "maxProperties")]),
    ({"required": ["a", "b"]}, {"b": 1}, [("$", "required")]),
    ({"dependentRequired": {"a": ["b"]}}, {"a": 1}, [("$", "dependentRequired")]),
    ({"properties": {"a": False}}, {"a": 1}, [("$.a", "false")]),
    (
        {"additionalProperties": False},
        {"a": 1, "b": 2},
        [("$.a", "additionalProperties"), ("$.b", "additionalProperties")],
    ),
    ({"additionalProperties": {"type": "string"}}, {"a": 1}, [("$.a", "type")]),
    (
        {"patternProperties": {"^x": {"type": "string"}}, "additionalProperties": False},
        {"x1": 1, "y": 1},
        [
            ("$.x1", "type"),
            ("$.y", "additionalProperties"),
        ],
    ),
    ({"propertyNames": {"maxLength": 1}}, {"ab": 1}, [("$.ab", "propertyNames")]),
    (
        {"properties": {"a": {"items": {"type": "string"}}}},
        {"a": ["x", 1, 1]},
        [("$.a[1]", "type"), ("$.a[2]", "type")],
    ),
    (
        {"properties": {"a": {"prefixItems": [{"type": "string"}], "items": False}}},
        {"a": [1, 2]},
        [
            ("$.a[0]", "type"),
            ("$.a[1]", "items"),
        ],
    ),
    ({"properties": {"a": {"contains": {"type": "string"}}}}, {"a": [1]}, [("$.a", "contains")]),
    (
        {"properties": {"a": {"contains": {"type": "string"}, "maxContains": 1}}},
        {"a": ["x", "y"]},
        [("$.a", "maxContains")],
    ),
    ({"allOf": [{"required": ["a"]}, {"required": ["b"]}]}, {}, [("$", "required"), ("$", "required")]),
    ({"properties": {"a": {"anyOf": [{"type": "string"}, {"type": "null"}]}}}, {"a": 1}, [("$.a", "anyOf")]),
    (
        {"properties": {"a": {"anyOf": [{"type": "string", "maxLength": 1}, {"type": "null"}]}}},
        {"a": "xy"},
        [
            ("$.a", "maxLength"),
        ],
    ),
    ({"properties": {"a": {"oneOf": [{"minimum": 1}, {"maximum": 9}]}}}, {"a": 5}, [("$.a", "oneOf")]),
    ({"not": {"required": ["a"]}}, {"a": 1}, [("$", "not")]),
    ({"if": {"required": ["a"]}, "then": {"required": ["b"]}}, {"a": 1}, [("$", "required")]),
    ({"if": {"required": ["a"]}, "else": {"required": ["b"]}}, {}, [("$", "required")]),
    ({"dependentSchemas": {"a": {"required": ["b"]}}}, {"a": 1}, [("$", "required")]),
    (
        {"allOf": [{"properties": {"a": True}}], "unevaluatedProperties": False},
        {"a": 1, "b": 1},
        [
            ("$.b", "unevaluatedProperties"),
        ],
    ),
    ({"$defs": {"x": {"type": "string"}}, "properties": {"a": {"$ref": "#/$defs/x"}}}, {"a": 1}, [("$.a", "type")]),
    (
        {"$defs": {"a/b %~": {"type": "string"}}, "properties": {"a": {"$ref": "#/$defs/a~1b%20%25~0"}}},
        {"a": 1},
        [
            ("$.a", "type"),
        ],
    ),
    (
        {"$defs": {"x": {"$anchor": "x", "type": "string"}}, "properties": {"a": {"$ref": "#x"}}},
        {"a": 1},
        [
            ("$.a", "type"),
        ],
    ),
    (TREE, {"e": {"op": "add", "of": [1, {"op": "neg", "of": "x"}]}}, [("$.e.of[1].of", "anyOf")]),
    (TREE, {"e": {"op": "mul", "of": [1]}}, [("$.e.op", "anyOf")]),
    # Draft 7's own words, and that nothing counts beside a reference there.
    (
        {
            "$schema": "http://json-schema.org/draft-07/schema#",
            "properties": {"a": {"items": [{"type": "string"}], "additionalItems": False}},
        },
        {"a": [1, 2]},
        [
            ("$.a[0]", "type"),
            ("$.a[1]", "additionalItems"),
        ],
    ),
    (
        {"$schema": "http://json-schema.org/draft-07/schema#", "dependencies": {"a": ["b"], "c": {"required": ["d"]}}},
        {"a": 1, "c": 1},
        [("$", "dependencies"), ("$", "required")],
    ),
    (
        {
            "$schema": "http://json-schema.org/draft-07/schema#",
            "definitions": {"x": {"type": "string"}},
            "properties": {"a": {"$ref": "#/definitions/x", "enum": [1]}},
        },
        {"a": 2},
        [("$.a", "type")],
    ),
    # What no part declares is told beside what else is wrong; what a part may declare is not.
    (
        {"properties": {"a": {"type": "string"}}, "unevaluatedProperties": False},
        {"a": 1, "b": 1},
        [("$.a", "type"), ("$.b", "unevaluatedProperties")],
    ),
    (
        {"allOf": [{"patternProperties": {"^x": True}}], "unevaluatedProperties": False},
        {"x1": 1, "y": 1},
        [("$.y", "unevaluatedProperties")],
    ),
    (
        {"dependentSchemas": {"a": {"properties": {"b": True}}, "c": {}}, "unevaluatedProperties": False},
        {"b": 1, "c": 1},
        [("$.c", "unevaluatedProperties")],
    ),
    (
        {
            "$defs": {"x": {"$anchor": "x", "properties": {"b": True}}},
            "$ref": "#x",
            "unevaluatedProperties": {"type": "string"},
        },
        {"b": 1, "c": 1, "d": "s"},
        [("$.c", "type")],
    ),
    (
        {
            "anyOf": [{"properties": {"a": True}, "required": ["a"]}, {"properties": {"b": True}, "required": ["c"]}],
            "unevaluatedProperties": False,
        },
        {"a": 1, "b": 1},
        [("$", "unevaluatedProperties")],
    ),
    (
        {"properties": {"a": {"prefixItems": [{"type": "string"}], "unevaluatedItems": False}}},
        {"a": [1, 2]},
        [("$.a[0]", "type"), ("$.a[1]", "unevaluatedItems")],
    ),
    (
        {"properties": {"a": {"contains": {"type": "string"}, "unevaluatedItems": False}}},
        {"a": ["x", 2]},
        [("$.a", "unevaluatedItems")],
    ),
    # As Gemini's API has them.
    ({"properties": {"a": {"type": ["STRING", "NULL"]}}}, {"a": 1}, [("$.a", "type")]),
    # As Python writes lists.
    (
        {"properties": {"a": {"type": ("string", "null")}}, "required": ("b",)},
        {"a": 1},
        [("$", "required"), ("$.a", "type")],
    ),
    ({"type": "OBJECT", "properties": {"a": {"type": "STRING", "nullable": True}}}, {"a": 1}, [("$.a", "type")]),
]


@pytest.mark.parametrize(("schema", "arguments", "wrong"), CASES)
def test_what_is_wrong(schema: dict[str, Any], arguments: dict[str, Any], wrong: list[tuple[str, str]]) -> None:
    assert said(schema, arguments) == wrong


@pytest.mark.parametrize(
    ("schema", "arguments"),
    [
        ({"properties": {"a": {"type": "integer"}}}, {"a": 2.0}),
        ({"properties": {"a": {"type": "integer"}}}, {"a": 10**400}),
        ({"properties": {"a": {"format": "email"}}}, {"a": "no address"}),  # formats are off
        ({"properties": {"a": {"type": "STRING", "nullable": True}}}, {"a": None}),
        ({"properties": {"a": {"enum": ["x"], "type": "string", "nullable": True}}}, {"a": None}),
        ({"properties": {"type": {"type": "string"}, "enum": {"type": "integer"}}}, {"type": "STRING", "enum": 1}),
        ({}, {"anything": [None]}),
        (TREE, {"e": {"op": "add", "of": [1, {"op": "neg", "of": 2}]}}),
    ],
)
def test_what_fits(schema: dict[str, Any], arguments: dict[str, Any]) -> None:
    call = made(arguments, "f")
    assert validate_call(call, [Tool("f", parameters=schema)]) is call


def test_the_sentences() -> None:
    error = broken(WEATHER.parameters, {"citty": "Rome", "unit": "celcius", "hours": [1, "2"], "days": 0})
    assert str(error) == "the arguments must have 'city' (and 4 more) (line 1, column 1)"
    assert (error.expected, error.call_index, error.name) == ("a string", 0, "f")
    assert [(one.message, one.expected, one.nearest) for one in error.violations[1:]] == [
        ("'citty' is not declared", "'city'", ("city",)),
        (
            '\'unit\' must be one of "celsius", "fahrenheit", not "celcius"',
            'one of "celsius", "fahrenheit"',
            ("celsius",),
        ),
        ("'hours[1]' must be an integer, not a string", "an integer", ()),
        ("'days' must be at least 1", "at least 1", ()),
    ]
    assert [pickle.loads(pickle.dumps(error)).violations, error.call is not None] == [error.violations, True]


def test_sentences_are_short() -> None:
    long = "x" * 100_000
    schema = {
        "properties": {"a": {"enum": [f"{n}{long}" for n in range(2000)]}, "b": {"const": long}},
        "required": [long],
    }
    error = broken(schema | {"additionalProperties": False}, {"a": long, "b": "y", long + "y": 1})
    assert len(error.violations) == 4
    for one in error.violations:
        assert len(one.message) < 1000
        assert len(one.expected or "") < 1000


@pytest.mark.parametrize(("wrong", "listed", "more"), [(32, 32, 0), (33, 32, 1), (500, 32, 468), (3000, 32, 1000)])
def test_how_many_more_there_are_is_said(wrong: int, listed: int, more: int) -> None:
    schema = {"properties": {"x": {"items": {"type": "string"}}}}
    for arguments, tool in (
        ({"x": [1] * wrong}, Tool("f", parameters=schema)),
        ({f"k{n}": 1 for n in range(wrong)}, Tool("f", parameters={"additionalProperties": False})),
    ):
        with pytest.raises(ParseError) as info:
            validate_call(made(arguments, "f"), [tool])
        error = info.value
        assert (len(error.violations), error.more_violations) == (listed, more)
        least = "at least " if more else ""
        assert str(error).partition(" (line")[0].endswith(f"(and {least}{listed + more - 1} more)")
        assert error.facts()["more_violations"] == listed - 4 + more
        assert f"\n- and {listed - 4 + more} more\n" in error.feedback()
        (whole,) = parse(hermes("f", json.dumps(arguments)), tools=[tool], validate=True, on_error="collect").errors
        response = {
            "message": {"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": arguments}}]}
        }
        (sent,) = parse_response(response, "ollama", tools=[tool], validate=True, on_error="collect").errors
        assert whole.more_violations == sent.more_violations == more
        assert pickle.loads(pickle.dumps(whole)).more_violations == more


def test_unknown_tool_has_the_nearest_names() -> None:
    with pytest.raises(ParseError) as info:
        validate_call(ToolCall("wether"), TOOLS)
    assert (info.value.code, info.value.expected) == ("tool_call.unknown_tool", "'weather'")
    message = parse(hermes("wether", "{}"), tools=TOOLS, validate=True, on_error="collect")
    assert [(error.code, error.expected) for error in message.errors] == [("tool_call.unknown_tool", "'weather'")]


# -- in texts


def test_a_call_that_does_not_fit_is_an_error_in_its_place() -> None:
    text = "A\n" + "\n".join([hermes("ping", "{}"), hermes("weather", '{"city": 5}'), hermes("ping", "{}")]) + "\nB"
    with pytest.raises(ParseError) as info:
        parse(text, tools=TOOLS, validate=True)
    message = info.value.message
    assert message is not None
    assert [(call.name, call.index) for call in message.tool_calls] == [("ping", 0), ("ping", 2)]
    (error,) = message.errors
    assert (error.code, error.call_index, error.name, error.format) == ("schema.violation", 1, "weather", "hermes")
    at = text.index("5")
    assert (error.position, error.violations[0].span) == (at, (at, at + 1))
    assert error.raw == hermes("weather", '{"city": 5}')
    assert error.context() == '{"name": "weather", "arguments": {"city": 5}}\n' + " " * 42 + "^"
    assert error.call is not None
    assert (error.call.arguments, error.call.index) == ({"city": 5}, 1)
    covered = sorted([part.span for part in message.parts if part.span] + message.separators + [error.span or (0, 0)])
    assert [a for a, _ in covered[1:]] + [len(text)] == [b for _, b in covered]


def test_off_by_default() -> None:
    message = parse(hermes("weather", '{"city": 5, "days": "2"}'), tools=TOOLS)
    assert message.tool_calls[0].arguments == {"city": 5, "days": "2"}
    assert message.repairs == []


@pytest.mark.parametrize(
    ("text", "format", "value"),
    [
        ("Hm.\n" + hermes("weather", r'{"city": "Oslo", "where": {"lat": "n\u00f6"}}'), "hermes", r'"n\u00f6"'),
        (hermes("weather", json.dumps('{"city": "Oslo", "where": {"lat": "no"}}')), "hermes", r"\"no\""),
        ("[weather(city='Oslo', where={'lat': 'no'})]", "pythonic", "{'lat': 'no'}"),
        ('<|tool_call>call:weather{city:<|"|>O<|"|>}<tool_call|>', "gemma4", "O"),
        (
            (
                "<tool_call>\n<function=weather>\n<parameter=city>\nOslo\n</parameter>\n<parameter=days>\ntwo days\n"
                "</parameter>\n</function>\n</tool_call>"
            ),
            "qwen3_coder",
            "two days",
        ),
        ('{"name": "weather", "parameters": {"city": "Oslo", "days": 0}}', "llama3_json", "0"),
    ],
)
def test_spans_in_the_models_text(text: str, format: str, value: str) -> None:
    (error,) = parse(text, format=format, tools=TOOLS, validate=True, on_error="collect").errors
    (violation,) = error.violations
    assert violation.span is not None
    assert text[slice(*violation.span)] == value
    assert error.position == violation.span[0]


STRICT = {"type": "object", "properties": {"note": {"type": "string", "maxLength": 3}}}


# Formats that are not written, or not for a tool like this one.
UNWRITTEN = {"mcp_xml", "smolagents_code"}


@pytest.mark.parametrize("format", [fmt.id for fmt in toolglot.formats()])
def test_every_format_is_checked(format: str) -> None:
    """What a family's template writes is read back, checked, and found in the text."""
    tools = [Tool("f", parameters=STRICT)]
    try:
        text = toolglot.render([ToolCall("f", {"note": "a long note"}, "a1b2c3d4e")], format, tools=tools)
    except toolglot.ConversionError:
        assert format in UNWRITTEN
        return
    options = {"format": format, "tools": tools, "on_error": "collect"}
    if [call.arguments for call in parse(text, **options).tool_calls] != [{"note": "a long note"}]:  # type: ignore[arg-type]
        assert format in UNWRITTEN
        return
    whole = parse(text, validate=True, **options)  # type: ignore[arg-type]
    assert whole.tool_calls == []
    assert [error.code for error in whole.errors] == ["schema.violation"]
    (violation,) = whole.errors[0].violations
    assert (violation.path, violation.keyword) == ("$.note", "maxLength")
    assert violation.span is not None
    assert "a long note" in text[slice(*violation.span)]
    assert text[slice(*violation.span)].strip("\"'") == "a long note"
    streamed, events = stream(list(text), validate=True, **options)
    assert plain(streamed) == plain(whole)
    assert not any(isinstance(event, ToolCallEnd) for event in events)


def stream(pieces: list[str], **options: Any) -> tuple[Message, list[Any]]:
    parser = StreamParser(**options)
    events = [event for piece in pieces for event in parser.feed(piece)] + parser.close()
    return parser.message, events


SOUND = ['{"city": "Oslo"}', '{"city": "Oslo", "days": 2}', '{"city": "Oslo", "hours": [1, 2], "detailed": true}']
LOOSE = [
    '{"city": "Oslo", "days": "2"}',
    '{"city": "Oslo", "unit": null, "hours": "[1, \\"2\\"]"}',
    '{"city": "Oslo", "detailed": "true", "where": "{\\"lat\\": \\"1.5\\"}"}',
]
WRONG = ['{"city": 5}', "{}", '{"city": "Oslo", "hours": ["x", 2], "dayz": 1}', '{"days": "two"}']
BODIES = st.lists(st.sampled_from(SOUND + LOOSE + WRONG), min_size=1, max_size=4)


def _texts(bodies: list[str], format: str) -> str:
    if format == "hermes":
        return "Hi.\n" + "\n".join(hermes("weather", body) for body in bodies) + "\nBye."
    calls = [ToolCall("weather", json.loads(body)) for body in bodies]
    if format == "json":
        return json.dumps([{"name": call.name, "arguments": call.arguments} for call in calls])
    return toolglot.render(calls, format, check=False)


@examples(60)
@given(
    BODIES,
    st.sampled_from(["hermes", "json", "pythonic", "qwen3_coder", "glm45", "mistral_v13", "minimax_m2", "kimi_k2"]),
    st.lists(st.integers(1, 40), min_size=1, max_size=6),
    st.booleans(),
    st.booleans(),
)
def test_whole_is_streamed(bodies: list[str], format: str, sizes: list[int], validate: bool, coerce: bool) -> None:
    assume(validate or coerce)
    text = _texts(bodies, format)
    options = {"format": format, "tools": TOOLS, "on_error": "collect", "validate": validate, "coerce": coerce}
    whole = parse(text, **options)  # type: ignore[arg-type]
    pieces = []
    while text:
        size = sizes[len(pieces) % len(sizes)]
        pieces.append(text[:size])
        text = text[size:]
    streamed, events = stream(pieces, **options)
    assert plain(streamed) == plain(whole)
    ended = [event.call for event in events if isinstance(event, ToolCallEnd)]
    assert plain(ended) == plain(whole.tool_calls)
    assert [event.error for event in events if isinstance(event, ErrorEvent)] == whole.errors
    if format == "hermes" and validate:
        right = [body in SOUND or (coerce and body in LOOSE) for body in bodies]
        assert [call.index for call in whole.tool_calls] == [index for index, ok in enumerate(right) if ok]
        assert [error.call_index for error in whole.errors] == [index for index, ok in enumerate(right) if not ok]


WORDS = ["y", "arg", "key", "name", "value", "parameter", "string", "true", "2", "a b", "it's", "\u00e9", "\\", "w"]


@pytest.mark.parametrize("format", [format.id for format in toolglot.formats()])
def test_a_span_is_the_value_or_more(format: str) -> None:
    """What is written there instead is what is read there; a word of the markup is never taken for the value."""
    for key, word in itertools.product(("k", "a", "value", "name"), WORDS):
        members = {"s": STRING, key: {"type": "string", "maxLength": 0}}
        try:
            text = render([ToolCall("w", {"s": "s", key: word}, id="call_1")], format)
        except ConversionError:
            continue
        tools = [Tool("w", parameters={"properties": members})]
        for error in parse(text, format=format, tools=tools, validate=True, on_error="collect").errors:
            (violation,) = error.violations
            start, end = violation.span or (0, 0)
            there = text[start:end]
            assert word.strip() in there or json.dumps(word)[1:-1] in there or repr(word)[1:-1] in there
            if there == word:
                other = f"{text[:start]}Z9{text[end:]}"
                (call,) = parse(other, format=format, tools=tools).tool_calls
                assert call.arguments == {"s": "s", key: "Z9"}, (text, start, end)


def test_part_of_a_value_is_no_value() -> None:
    text = r'[w(s="2", a="\x32")]'
    tools = [Tool("w", parameters={"properties": {"s": STRING, "a": INTEGER}})]
    (repair,) = parse(text, format="pythonic", tools=tools, coerce=True).repairs
    assert repair.span is not None
    assert r'a="\x32"' in text[slice(*repair.span)]


def test_half_a_surrogate_pair_is_a_violation() -> None:
    """JSON that was read elsewhere may hold one."""
    schema = {"properties": {"a": {"type": "string", "pattern": "x"}, "b": {"additionalProperties": STRING}}}
    for wrong, path in (({"a": "x\ud800"}, "$.a"), ({"b": {"\udfff": "s"}}, "$.b['\\udfff']")):
        payload = anthropic(wrong)
        message = parse_response(payload, tools=[Tool("weather", parameters=schema)], validate=True, on_error="collect")
        (error,) = message.errors
        assert [(one.path, one.keyword) for one in error.violations] == [(path, "unicode")]
        error.feedback().encode()


def test_a_list_is_one_unit() -> None:
    """What does not fit is one call of the list; what is broken is all of it, and then nothing is checked."""
    sound, wrong = '{"name": "weather", "arguments": {"city": "Oslo"}}', '{"name": "weather", "arguments": {}}'
    for pieces in ([f"[{sound}, {wrong}]"], list(f"[{sound}, {wrong}]")):
        message, _ = stream(pieces, format="xlam_json", tools=TOOLS, validate=True, on_error="collect")
        assert [call.index for call in message.tool_calls] == [0]
        assert [(error.code, error.call_index) for error in message.errors] == [("schema.violation", 1)]
        pieces[-1] = pieces[-1][:-1]
        message, _ = stream(pieces, format="xlam_json", tools=TOOLS, validate=True, on_error="collect")
        assert message.tool_calls == []
        assert "schema.violation" not in [error.code for error in message.errors]


def test_free_text_is_not_checked() -> None:
    text = "<|channel|>commentary to=weather <|message|>ls -l<|call|>"
    assert [call.kind for call in parse(text, format="harmony").tool_calls] == ["custom"]
    call = ToolCall("shell", kind="custom", input="ls -l")
    assert validate_call(call, [SHELL], coerce=True) is call


# -- providers


def openai(arguments: str, reason: str = "tool_calls") -> dict[str, Any]:
    call = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": arguments}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    return {"choices": [{"index": 0, "finish_reason": reason, "message": message}]}


def anthropic(arguments: Any) -> dict[str, Any]:
    use = {"type": "tool_use", "id": "t1", "name": "weather", "input": arguments}
    return {"role": "assistant", "stop_reason": "tool_use", "content": [{"type": "text", "text": "Hi"}, use]}


def test_a_response_as_text() -> None:
    for payload, literal in (
        (json.dumps(anthropic({"city": "Oslo", "days": 0})), "0"),
        (json.dumps(openai('{"city": "Oslo", "days": "two"}')), r"\"two\""),
    ):
        message = parse_response(payload, tools=TOOLS, validate=True, on_error="collect")
        assert message.tool_calls == []
        (error,) = message.errors
        assert (error.code, error.call_index, error.name) == ("schema.violation", 0, "weather")
        (violation,) = error.violations
        assert violation.path == "$.days"
        assert violation.span is not None
        assert payload[slice(*violation.span)] == literal
        assert error.position == violation.span[0]
        assert error.call is not None
        assert error.call.id in ("t1", "c1")


def test_a_response_as_values() -> None:
    message = parse_response(anthropic({"city": "Oslo", "days": 0}), tools=TOOLS, validate=True, on_error="collect")
    (error,) = message.errors
    assert (error.path, error.position, error.violations[0].span) == ("$.content[1].input.days", None, None)
    message = parse_response(openai('{"city": "Oslo", "days": 0}'), tools=TOOLS, validate=True, on_error="collect")
    (error,) = message.errors
    assert (error.path, error.position) == ("$.choices[0].message.tool_calls[0].function.arguments", 25)
    assert error.violations[0].span == (25, 26)
    assert parse_response(anthropic({"city": "Oslo"}), tools=TOOLS, validate=True).tool_calls[0].name == "weather"


def test_every_choice_and_provider() -> None:
    payload = openai("{}")
    payload["choices"] += openai('{"city": "Oslo", "days": "3"}')["choices"]
    one, two = parse_responses(payload, tools=TOOLS, validate=True, coerce=True, on_error="collect")
    assert ([error.code for error in one.errors], one.repairs) == (["schema.violation"], [])
    assert ([call.arguments for call in two.tool_calls], len(two.repairs)) == ([{"city": "Oslo", "days": 3}], 1)
    both = get_provider("openai").parse_all(payload, tools=TOOLS, validate=True, coerce=True, on_error="collect")
    assert plain(both) == plain([one, two])
    with pytest.raises(ParseError, match="must have 'city'"):
        get_provider("openai").parse(payload, tools=TOOLS, validate=True)


def chunks(arguments: list[str], reason: str = "tool_calls") -> list[dict[str, Any]]:
    first = {"index": 0, "id": "c1", "type": "function", "function": {"name": "weather", "arguments": ""}}
    deltas: list[dict[str, Any]] = [{"role": "assistant", "tool_calls": [first]}]
    deltas += [{"tool_calls": [{"index": 0, "function": {"arguments": piece}}]} for piece in arguments]
    made = [{"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    return [*made, {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}]


@pytest.mark.parametrize("body", SOUND + LOOSE + WRONG)
@pytest.mark.parametrize("coerce", [False, True])
def test_a_streamed_response(body: str, coerce: bool) -> None:
    options: dict[str, Any] = {"tools": TOOLS, "validate": True, "coerce": coerce, "on_error": "collect"}
    whole = parse_response(openai(body), **options)
    stream = get_provider("openai").stream(**options)
    events = [event for chunk in chunks(list(body)) for event in stream.feed(chunk)] + stream.close()
    message = stream.message
    assert plain([message.tool_calls, message.errors, message.repairs]) == plain(
        [whole.tool_calls, whole.errors, whole.repairs]
    )
    assert [event.call for event in events if isinstance(event, ToolCallEnd)] == whole.tool_calls
    assert "".join(event.arguments for event in events if type(event).__name__ == "ToolCallDelta") == body
    ok = body in SOUND or (coerce and body in LOOSE)
    assert [len(message.tool_calls), len(message.errors)] == ([1, 0] if ok else [0, 1])


def test_raised_behind_its_event() -> None:
    events = iter_events(chunks(["{}"]), "openai", tools=TOOLS, validate=True)
    seen = [type(next(events)).__name__ for _ in range(3)]
    assert seen == ["ToolCallStart", "ToolCallDelta", "ErrorEvent"]
    with pytest.raises(ParseError) as info:
        next(events)
    assert info.value.code == "schema.violation"


def test_what_was_cut_off_is_truncated() -> None:
    """Blank arguments of an output that was cut do not lack anything: the rest of the call is what is missing."""
    for response in (openai("", "length"), openai('{"city": "Os', "length")):
        message = parse_response(response, tools=TOOLS, validate=True, on_error="collect")
        assert [(type(error), error.code) for error in message.errors] == [(TruncatedError, "tool_call.truncated")]
        assert message.tool_calls == []
    stream = get_provider("openai").stream(tools=TOOLS, validate=True, on_error="collect")
    for chunk in chunks([], "length"):
        stream.feed(chunk)
    stream.close()
    assert [error.code for error in stream.message.errors] == ["tool_call.truncated"]


def test_strict_tools_lose_their_forced_nulls_before_they_are_checked() -> None:
    tool = Tool("weather", parameters=WEATHER.parameters, strict=True)
    response = openai('{"city": "Oslo", "days": null}')
    assert parse_response(response, tools=[tool], validate=True).tool_calls[0].arguments == {"city": "Oslo"}
    message = parse_response(response, tools=[tool], coerce=True)
    assert [repair.code for repair in message.repairs] == ["coerce.forced_null"]


def test_server_calls_and_free_text_of_providers() -> None:
    server = {"type": "server_tool_use", "id": "s", "name": "weather", "input": {}}
    message = parse_response({"role": "assistant", "content": [server]}, "anthropic", tools=TOOLS, validate=True)
    assert [call.kind for call in message.server_calls] == ["server"]
    item = {"type": "custom_tool_call", "call_id": "c", "name": "shell", "input": "ls"}
    message = parse_response({"output": [item]}, "openai_responses", tools=TOOLS, validate=True)
    assert [(call.kind, call.input) for call in message.tool_calls] == [("custom", "ls")]


def test_text_in_a_providers_content() -> None:
    content = hermes("weather", '{"city": "Oslo", "days": "2"}') + hermes("weather", "{}")
    response = {
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": content}}]
    }
    options: dict[str, Any] = {"tools": TOOLS, "validate": True, "coerce": True, "on_error": "collect"}
    message = parse_response(response, text_format="hermes", **options)
    assert [call.arguments for call in message.tool_calls] == [{"city": "Oslo", "days": 2}]
    assert [(error.code, error.call_index) for error in message.errors] == [("schema.violation", 1)]
    assert [error.call and error.call.index for error in message.errors] == [1]
    assert [repair.code for repair in message.repairs] == ["coerce.string_to_integer"]


# -- types by schema

INTEGER, NUMBER, BOOLEAN, STRING = ({"type": one} for one in ("integer", "number", "boolean", "string"))
ARRAY = {"type": "array", "items": INTEGER}
OBJECT = {"type": "object", "properties": {"n": INTEGER, "o": STRING}, "required": ["n"]}
OPTIONAL = {"anyOf": [OBJECT, {"type": "null"}]}
DEFS = {"i": INTEGER, "o": {"properties": {"n": INTEGER}}}
LEFT = object()  # as it was


@pytest.mark.parametrize(
    ("schema", "value", "read", "codes"),
    [
        (INTEGER, "2", 2, ["string_to_integer"]),
        (INTEGER, " -2\n", -2, ["string_to_integer"]),
        (INTEGER, "12345678901234567890123", 12345678901234567890123, ["string_to_integer"]),
        (INTEGER, "2.0", 2.0, ["string_to_integer"]),
        (INTEGER, "2.5", LEFT, []),
        (INTEGER, "02", LEFT, []),
        (INTEGER, "+2", LEFT, []),
        (INTEGER, "0x10", LEFT, []),
        (INTEGER, "1_000", LEFT, []),
        (INTEGER, "1,000", LEFT, []),
        (INTEGER, "two", LEFT, []),
        (INTEGER, "", LEFT, []),
        (INTEGER, "true", LEFT, []),
        (INTEGER, '"2"', LEFT, []),
        (INTEGER, "9" * 4301, LEFT, []),
        (INTEGER, 2.5, LEFT, []),
        (NUMBER, "2", 2, ["string_to_number"]),
        (NUMBER, "1.5e3", 1500.0, ["string_to_number"]),
        (NUMBER, "0.1", 0.1, ["string_to_number"]),
        (NUMBER, "0.1000000000000000055", LEFT, []),  # a float would lose digits
        (NUMBER, "12345678901234567890.5", LEFT, []),
        (NUMBER, "1e400", LEFT, []),
        (NUMBER, "1e-400", LEFT, []),  # nor is it nothing
        (NUMBER, "1e-99999999999999999999", LEFT, []),
        (INTEGER, "0e99999999999999999999", LEFT, []),
        (ARRAY, "[1e-99999999999999999999]", LEFT, []),
        (NUMBER, "NaN", LEFT, []),
        (NUMBER, "Infinity", LEFT, []),
        (BOOLEAN, "true", True, ["string_to_boolean"]),
        (BOOLEAN, "False", False, ["string_to_boolean"]),
        (BOOLEAN, "yes", LEFT, []),
        (BOOLEAN, "1", LEFT, []),
        (BOOLEAN, 1, LEFT, []),
        (ARRAY, "[1]", [1], ["string_to_array"]),
        (ARRAY, '["1", 2]', [1, 2], ["string_to_array", "string_to_integer"]),
        (ARRAY, ["1", 2], [1, 2], ["string_to_integer"]),
        (ARRAY, "1", LEFT, []),
        (ARRAY, "1,2", LEFT, []),
        (ARRAY, "[1", LEFT, []),
        (ARRAY, "['1']", LEFT, []),
        ({"type": "array"}, "[0.1000000000000000055]", LEFT, []),
        (OBJECT, '{"n": "1"}', {"n": 1}, ["string_to_object", "string_to_integer"]),
        (OBJECT, {"n": "1", "o": None}, {"n": 1}, ["string_to_integer", "forced_null"]),
        (OBJECT, {"n": None}, LEFT, []),  # it is required
        (OBJECT, {"x": None}, LEFT, []),  # it is not declared
        (OBJECT, '{"n": 1, "n": 2}', LEFT, []),
        (OPTIONAL, '{"n": 1}', {"n": 1}, ["string_to_object"]),
        (OPTIONAL, {"n": "1"}, {"n": 1}, ["string_to_integer"]),
        (OPTIONAL, "null", None, ["string_to_null"]),
        (STRING, "2", LEFT, []),
        (STRING, 2, LEFT, []),
        ({"type": ["string", "integer"]}, "2", LEFT, []),
        ({"anyOf": [STRING, INTEGER]}, "2", LEFT, []),
        ({"type": ["integer", "boolean"]}, "2", 2, ["string_to_integer"]),
        ({"enum": [1, 2]}, "2", 2, ["string_to_integer"]),
        ({"enum": [1, 2]}, "3", LEFT, []),
        ({"enum": [1, "1"]}, "1", LEFT, []),
        ({"enum": [True]}, "1", LEFT, []),
        ({}, "2", LEFT, []),
        ({"$ref": "#/$defs/i"}, "2", 2, ["string_to_integer"]),
        ({"allOf": [{"$ref": "#/$defs/i"}]}, "2", 2, ["string_to_integer"]),
        ({"type": "object", "additionalProperties": INTEGER}, {"k": "1"}, {"k": 1}, ["string_to_integer"]),
        (
            {"prefixItems": [INTEGER], "items": BOOLEAN},
            ["1", "true"],
            [1, True],
            ["string_to_integer", "string_to_boolean"],
        ),
        # A name of a pattern is none of the others.
        ({"patternProperties": {"^s": STRING}, "additionalProperties": INTEGER}, {"s": "7"}, LEFT, []),
        # Wherever it is said that a member is required, its null is no absence.
        ({"properties": {"n": INTEGER}, "allOf": [{"required": ["n"]}]}, {"n": None}, LEFT, []),
        ({"$ref": "#/$defs/o", "required": ["n"]}, {"n": None}, LEFT, []),
        ({"$ref": "#/$defs/o"}, {"n": None}, {}, ["forced_null"]),
        ({"anyOf": [{"$ref": "#/$defs/o", "required": ["n"]}, {"type": "null"}]}, {"n": None}, LEFT, []),
        ({"properties": {"n": {"type": ("integer", "null")}}}, {"n": None}, LEFT, []),
        ({"properties": {"n": {"type": ["INTEGER", "NULL"]}}}, {"n": None}, LEFT, []),
        # Which branch is meant cannot be told.
        ({"anyOf": [OBJECT, {"type": "object", "properties": {"n": STRING}}]}, {"n": "1"}, LEFT, []),
    ],
)
def test_types_by_schema(schema: dict[str, Any], value: Any, read: Any, codes: list[str]) -> None:
    tool = Tool("f", parameters={"properties": {"a": schema}, "required": ["a"], "$defs": DEFS})
    text = json.dumps({"a": value})
    given: dict[str, Any] = json.loads(text)
    message = parse(hermes("f", text), tools=[tool], coerce=True)
    (call,) = message.tool_calls
    assert plain(call.arguments) == plain({"a": value if read is LEFT else read})
    assert [repair.code for repair in message.repairs] == [f"coerce.{code}" for code in codes]
    assert call.raw_arguments == text
    assert plain(json.loads(call.arguments_json)) == plain(call.arguments)
    # Nothing that was given is touched.
    kept = given["a"]
    repairs: list[Any] = []
    again = ToolCall("f", given)
    pytest.importorskip("jsonschema_rs")
    try:
        mended = validate_call(again, [tool], coerce=True, repairs=repairs)
        assert plain(mended.arguments) == plain(call.arguments)
        assert [repair.code for repair in repairs] == [repair.code for repair in message.repairs]
    except ParseError:
        assert not jsonschema.Draft202012Validator(tool.parameters).is_valid(call.arguments)
    assert plain(given) == plain({"a": kept})
    assert again.arguments is given


def test_every_repair_is_made() -> None:
    tables = test_types_by_schema.pytestmark[0].args[1]  # type: ignore[attr-defined]
    made = {f"coerce.{code}" for _, _, _, codes in tables for code in codes}
    assert made == {code for code in REPAIRS if code.startswith("coerce.")}


def test_repairs_have_their_places() -> None:
    text = hermes("weather", r'{"city": "Oslo", "days": "2", "unit": null, "hours": "[1, \"2\"]"}')
    message = parse(text, tools=TOOLS, coerce=True)
    assert [(one.before, one.after, one.span and text[slice(*one.span)]) for one in message.repairs] == [
        ('"2"', "2", '"2"'),
        ("null", "", "null"),
        (r'"[1, \"2\"]"', '[1, "2"]', r'"[1, \"2\"]"'),
        ('"2"', "2", r'"[1, \"2\"]"'),
    ]
    assert message.tool_calls[0].arguments_json == '{"city": "Oslo", "days": 2, "hours": [1, 2]}'
    (repair,) = parse_response(anthropic({"city": "Oslo", "days": "2"}), tools=TOOLS, coerce=True).repairs
    assert (repair.span, repair.before, repair.after) == (None, '"2"', "2")


@examples(100)
@given(
    st.one_of(
        st.text("0123456789.-+eE_ \nx", max_size=30), st.integers().map(str), st.floats(allow_nan=False).map(repr)
    )
)
def test_no_digit_is_lost(text: str) -> None:
    from decimal import Decimal

    tool = Tool("f", parameters={"properties": {"a": NUMBER}})
    (call,) = parse(hermes("f", json.dumps({"a": text})), tools=[tool], coerce=True).tool_calls
    value = call.arguments["a"]
    if not isinstance(value, str):
        assert Decimal(repr(value)) == Decimal(text.strip())


# -- schemas that are wrong


@pytest.mark.parametrize(
    ("schema", "path"),
    [
        ({"properties": {"a": {"type": "integr"}}}, "$.properties.a.type"),
        ({"properties": {"a": {"type": "int"}}}, "$.properties.a.type"),
        ({"properties": {"a b": {"minLength": -1}}}, "$.properties['a b'].minLength"),
        ({"properties": {"a": {"items": {"pattern": "("}}}}, "$.properties.a.items.pattern"),
        ({"properties": {"a": {"pattern": "(a{1000}){1000}"}}}, "$.properties.a.pattern"),
        ({"properties": {"a": {"$ref": "#/$defs/none"}}}, "$.properties.a.$ref"),
        ({"properties": {"a": {"$ref": "http://127.0.0.1:9/x"}}}, "$.properties.a.$ref"),
        ({"properties": {"a": {"$ref": "file:///etc/passwd"}}}, "$.properties.a.$ref"),
        ({"required": "a"}, "$.required"),
        ({"properties": []}, "$.properties"),
        ({"$schema": "http://127.0.0.1:9/own"}, "$"),
        ({"const": object()}, "$"),
        ({"properties": {None: {}}}, "$.properties"),
    ],
)
def test_a_wrong_schema_shows_when_the_tools_are_given(schema: dict[str, Any], path: str) -> None:
    tools = [PING, Tool("bad_one", parameters=schema)]
    uses = (
        lambda: parse("prose", tools=tools, validate=True),
        lambda: StreamParser(tools=tools, validate=True),
        lambda: toolglot.stream([], tools=tools, validate=True),
        lambda: parse_response({"choices": []}, "openai", tools=tools, validate=True),
        lambda: get_provider("openai").stream(tools=tools, validate=True),
        lambda: validate_call(ToolCall("ping"), tools),
    )
    for use in uses:
        with pytest.raises(DefinitionError) as info:
            use()
        assert (info.value.code, info.value.tool, info.value.path) == ("schema.invalid", "bad_one", path)
        assert "bad_one" in str(info.value)
        assert path in str(info.value)
    parse("prose", tools=tools)
    parse("prose", tools=tools, coerce=True)


def test_a_schema_that_is_changed_is_compiled_anew() -> None:
    schema: dict[str, Any] = {"properties": {"a": {"type": "integer"}}}
    tool = Tool("f", parameters=schema)
    text = hermes("f", '{"a": "x"}')
    assert parse(text, tools=[tool], validate=True, on_error="collect").tool_calls == []
    schema["properties"]["a"]["type"] = "string"
    assert len(parse(text, tools=[tool], validate=True).tool_calls) == 1


def test_compiled_once_and_not_without_bound() -> None:
    compiling._cache.clear()
    for number in range(compiling._KEPT + 20):
        for _ in range(3):
            parse("x", tools=[Tool("f", parameters={"minProperties": number})], validate=True)
    assert len(compiling._cache) == compiling._KEPT
    found = compiling.compile_schema({"minProperties": compiling._KEPT + 19}, "f")
    assert compiling.compile_schema({"minProperties": compiling._KEPT + 19}, "g") is found


@pytest.mark.parametrize("parameters", [True, [], "{}"])
def test_parameters_that_are_no_object(parameters: Any) -> None:
    with pytest.raises(DefinitionError, match="parameters of 'f'") as info:
        parse("Hi.", tools=[Tool("f", parameters=parameters)], validate=True)
    assert info.value.code == "definition.invalid_tool"


def test_without_tools_there_is_nothing_to_check() -> None:
    for option in ("validate", "coerce"):
        for use in (parse, parse_response):
            with pytest.raises(TypeError, match=f"{option}=True: needs tools"):
                use("{}", **{option: True})  # type: ignore[operator]


def test_the_package_is_named_if_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jsonschema_rs", None)
    compiling._cache.clear()
    with pytest.raises(ModuleNotFoundError, match=r"extra `validate`:  pip install 'toolglot\[validate\]'"):
        parse("x", tools=["f"], validate=True)
    text = hermes("weather", '{"days": "2"}')
    assert parse(text, tools=TOOLS, coerce=True).tool_calls[0].arguments == {"days": 2}


# -- agreement with the reference implementation

DRAFT_7 = "http://json-schema.org/draft-07/schema#"
AS_THE_REFERENCE: dict[str, tuple[Any, Any]] = {
    "dependentRequired, draft 7": (
        {"$schema": DRAFT_7, "dependentRequired": {"b": ["c"]}, "properties": {"b": {"type": "integer"}}},
        {"b": "x"},
    ),
    "dependentSchemas, draft 7": (
        {"$schema": DRAFT_7, "dependentSchemas": {"b": False}, "required": ["c"]},
        {"b": "x"},
    ),
    "prefixItems, draft 7": (
        {"$schema": DRAFT_7, "properties": {"a": {"prefixItems": [False], "maxItems": 1}}},
        {"a": [1, 2]},
    ),
    "minContains, draft 7": (
        {"$schema": DRAFT_7, "properties": {"a": {"contains": {"const": 1}, "minContains": 2, "maxItems": 1}}},
        {"a": [1, 2]},
    ),
    "unevaluatedProperties, draft 7": (
        {"$schema": DRAFT_7, "unevaluatedProperties": False, "required": ["c"]},
        {"b": 1},
    ),
    "a condition, draft 6": (
        {"$schema": "http://json-schema.org/draft-06/schema#", "if": True, "then": False, "required": ["c"]},
        {"b": 1},
    ),
    "names and what is contained, draft 4": (
        {
            "$schema": "http://json-schema.org/draft-04/schema#",
            "propertyNames": {"maxLength": 0},
            "properties": {"a": {"contains": {"type": "string"}, "const": 1, "type": "array"}},
            "required": ["c"],
        },
        {"a": [1]},
    ),
    "a name": (
        {"$id": "https://x.org/s", "$defs": {"x": {"$id": "x", "type": "integer"}}, "properties": {"a": {"$ref": "x"}}},
        {"a": "s"},
    ),
    "a name and a pointer": (
        {
            "$id": "https://x.org/s",
            "$defs": {"x": {"properties": {"n": {"type": "integer"}}}},
            "properties": {"a": {"$ref": "https://x.org/s#/$defs/x"}},
        },
        {"a": {"n": "s"}},
    ),
    "a name and an anchor": (
        {
            "$defs": {"x": {"$id": "urn:x", "$defs": {"y": {"$anchor": "y", "type": "integer"}}}},
            "properties": {"a": {"$ref": "urn:x#y"}},
        },
        {"a": "s"},
    ),
    "pointers count from the schema that has a name": (
        {
            "$defs": {
                "n": {"type": "integer"},
                "x": {"$id": "urn:x", "$defs": {"n": {"type": "null"}}, "items": {"$ref": "#/$defs/n"}},
            },
            "properties": {"a": {"$ref": "urn:x"}},
        },
        {"a": [1]},
    ),
    "a schema of another draft": (
        {
            "$defs": {"x": {"$id": "urn:x", "$schema": DRAFT_7, "items": [{"type": "integer"}], "minItems": 1}},
            "properties": {"a": {"$ref": "urn:x"}, "b": {"type": "integer"}},
        },
        {"a": ["s"], "b": "s"},
    ),
    "a dynamic reference": (
        {
            "$dynamicAnchor": "n",
            "properties": {"v": {"type": "integer"}, "c": {"items": {"$dynamicRef": "#n"}}},
        },
        {"c": [{"v": "x"}, {"c": [{"v": []}]}]},
    ),
    "into the members": (
        {"properties": {"a": {"type": "integer"}, "b": {"$ref": "#/properties/a"}}},
        {"a": "x", "b": "y"},
    ),
    "a bool is no number": (
        {"properties": {"a": {"const": 1}, "b": {"const": True}, "c": {"const": [1]}, "d": {"enum": [0, None]}}},
        {"a": True, "b": 1, "c": [True], "d": False},
    ),
    "every digit counts": (
        {
            "properties": {
                "a": {"const": 2**70},
                "b": {"const": 2**53 + 1},
                "c": {"minimum": 2**70},
                "d": {"maximum": 10**400},
                "e": {"multipleOf": 3},
            }
        },
        {"a": 2**70 + 1, "b": 2**53, "c": 2**70 - 1, "d": 10**400 + 1, "e": 10**30 + 1},
    ),
}


@pytest.mark.parametrize("name", AS_THE_REFERENCE)
def test_the_same_as_jsonschema(name: str) -> None:
    schema, arguments = AS_THE_REFERENCE[name]
    reference = jsonschema.validators.validator_for(schema, jsonschema.Draft202012Validator)(schema)
    wanted = {
        (toolglot.schema.walk.json_path(error.absolute_path), error.validator)
        for error in reference.iter_errors(arguments)
    }
    assert wanted
    assert set(said(schema, arguments)) == wanted


SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 3), st.sampled_from([0.5, 1.0, -2.0]), st.text("ab1", max_size=3)
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
)
TYPES = st.sampled_from(["string", "integer", "number", "boolean", "object", "array", "null"])


def _schemas(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    some = st.lists(inner, min_size=1, max_size=3)
    members = st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
    return st.fixed_dictionaries(
        {},
        optional={
            "properties": members,
            "required": st.lists(st.sampled_from("abc"), unique=True, max_size=2),
            "additionalProperties": st.booleans() | inner,
            "patternProperties": st.dictionaries(st.sampled_from(["^a", "b$"]), inner, max_size=1),
            "propertyNames": inner,
            "dependentRequired": st.just({"a": ["b"]}),
            "items": st.booleans() | inner,
            "prefixItems": some,
            "contains": inner,
            "minContains": st.integers(0, 2),
            "allOf": some,
            "anyOf": some,
            "oneOf": some,
            "not": inner,
            "if": inner,
            "then": inner,
            "else": inner,
            "unevaluatedProperties": st.just(False),
            "$ref": st.sampled_from(["#/$defs/x", "#/$defs/y"]),
            "type": TYPES,
        },
    )


LEAVES = st.fixed_dictionaries(
    {},
    optional={
        "type": TYPES | st.lists(TYPES, min_size=1, max_size=3, unique=True),
        "enum": st.lists(VALUES, min_size=1, max_size=3),
        "const": VALUES,
        "minimum": st.integers(-2, 2),
        "exclusiveMaximum": st.integers(-2, 2),
        "multipleOf": st.sampled_from([1, 2, 0.5]),
        "minLength": st.integers(0, 2),
        "pattern": st.sampled_from(["^a", "b", "1$"]),
        "maxItems": st.integers(0, 2),
        "uniqueItems": st.booleans(),
        "minProperties": st.integers(0, 2),
    },
)
SCHEMAS = st.recursive(LEAVES, _schemas, max_leaves=8)


@examples(120)
@given(SCHEMAS, SCHEMAS, SCHEMAS, st.dictionaries(st.sampled_from("abc"), VALUES, max_size=3))
def test_agrees_with_jsonschema(root: Any, x: Any, y: Any, arguments: dict[str, Any]) -> None:
    schema = {**root, "$defs": {"x": x, "y": y}}
    try:
        reference = list(jsonschema.Draft202012Validator(schema).iter_errors(arguments))
    except RecursionError:
        return  # references that lead in a circle: it does not say
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # a RecursionError that a package of its own meets in Rust
            raise
        return
    tool = Tool("f", parameters=schema)
    call = made(arguments, "f")
    if not reference:
        assert validate_call(call, [tool]) is call
        return
    with pytest.raises(ParseError) as info:
        validate_call(call, [tool])
    places = {toolglot.schema.walk.json_path(path) for path in _paths(reference)}
    for violation in info.value.violations:
        # What is unknown is told at its own place here, and at the object's there.
        inside = violation.path.rpartition(".")[0]
        assert violation.path in places or inside in places, violation
        assert violation.span is not None


def _paths(errors: list[Any]) -> list[tuple[Any, ...]]:
    return [path for error in errors for path in [tuple(error.absolute_path), *_paths(list(error.context or ()))]]


@examples(100)
@given(LEAVES, LEAVES, VALUES, VALUES)
def test_every_keyword_that_fails_is_told(a: Any, b: Any, one: Any, two: Any) -> None:
    """Without unions each violation is one that jsonschema has, and only a wrong type hides others."""
    schema = {"properties": {"a": a, "b": {"items": b}}}
    arguments = {"a": one, "b": [two, two]}
    reference = {
        (toolglot.schema.walk.json_path(error.absolute_path), str(error.validator))
        for error in jsonschema.Draft202012Validator(schema).iter_errors(arguments)
    }
    assume(reference)
    typed = {path for path, keyword in reference if keyword == "type"}
    wanted = {(path, keyword) for path, keyword in reference if path not in typed or keyword == "type"}
    assert set(said(schema, arguments)) == wanted


# -- what must not hang


def _doubling(how: Any) -> dict[str, Any]:
    schema: dict[str, Any] = {"$defs": {"a0": {"$anchor": "b0", "type": "integer"}}}
    for number in range(1, 60):
        schema["$defs"][f"a{number}"] = {"$anchor": f"b{number}", **how(number - 1)}
    return {**schema, "properties": {"x": {"$ref": "#/$defs/a59"}}}


def _nested(depth: int, leaf: Any, **beside: Any) -> Any:
    for _ in range(depth):
        leaf = {"of": leaf, **beside}
    return leaf


UNION = {
    "$defs": {
        "n": {
            "anyOf": [
                {"properties": {"of": {"$ref": "#/$defs/n"}, "z": {"type": "string"}, "k": {"const": "b"}}},
                {"properties": {"of": {"$ref": "#/$defs/n"}, "k": {"const": "c"}}},
                {"type": "integer"},
            ]
        }
    },
    "properties": {"e": {"$ref": "#/$defs/n"}},
}
CIRCLE: dict[str, Any] = {"properties": {}}
CIRCLE["properties"]["a"] = CIRCLE
LONG = "a" * 50_000 + "!"
HOSTILE: dict[str, tuple[Any, Any, str]] = {
    "recursive union, all wrong": (UNION, {"e": _nested(400, "s", k="q")}, "violation"),
    "recursive union, wrong at the bottom": (UNION, {"e": _nested(400, 1, k="b", z=1)}, "violation"),
    "recursive union, right": (UNION, {"e": _nested(400, 1, k="c")}, "fits"),
    "a reference to itself": ({"$defs": {"a": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"}, {"x": 1}, "fits"),
    "a union with itself": ({"anyOf": [{"$ref": "#"}, {"required": ["y"]}]}, {"x": 1}, "fits"),
    "doubling, allOf": (
        _doubling(lambda n: {"allOf": [{"$ref": f"#/$defs/a{n}"}, {"$ref": f"#/$defs/a{n}"}]}),
        {"x": 1},
        "invalid",
    ),
    "doubling, anchors": (
        _doubling(lambda n: {"oneOf": [{"$ref": f"#b{n}"}, {"$ref": f"#b{n}"}]}),
        {"x": 1},
        "invalid",
    ),
    "doubling, names": (
        {
            "$defs": {
                "a0": {"$id": "urn:0:x", "type": "integer"},
                **{
                    f"a{n + 1}": {"$id": f"urn:{n + 1}:x", "allOf": [{"$ref": f"urn:{n}:x"}, {"$ref": f"urn:{n}:x"}]}
                    for n in range(59)
                },
            },
            "properties": {"x": {"$ref": "urn:59:x"}},
        },
        {"x": 1},
        "invalid",
    ),
    "doubling, escaped pointers": (
        _doubling(lambda n: {"allOf": [{"$ref": f"#/%24defs/a{n}"}, {"$ref": f"#/%24defs/a{n}"}]}),
        {"x": 1},
        "invalid",
    ),
    "a union of itself, many times": (
        {"anyOf": [{"$ref": "#"}] * 50 + [{"required": ["y"]}], "unevaluatedProperties": False},
        {"x": 1},
        "violation",
    ),
    "doubling, members": (
        _doubling(
            lambda n: {
                "properties": {"x": {"$ref": f"#/$defs/a{n}"}},
                "allOf": [{"properties": {"x": {"$ref": f"#/$defs/a{n}"}}}],
            }
        ),
        {"x": 1},
        "invalid",
    ),
    "a circle of objects": (CIRCLE, {}, "invalid"),
    "a huge enum of strings": (
        {"properties": {"x": {"enum": [f"v{n}" for n in range(100_000)]}}},
        {"x": "v"},
        "violation",
    ),
    "a huge enum of anything": (
        {"properties": {"x": {"enum": [{"a": n} for n in range(20_000)]}}},
        {"x": 1},
        "invalid",
    ),
    "nested quantifiers": ({"properties": {"x": {"pattern": "^(a+)+$"}}}, {"x": LONG}, "violation"),
    "nested quantifiers in a lookahead": (
        {"properties": {"x": {"pattern": "^(?=(a+)+$)(a|aa)+$b"}}},
        {"x": LONG},
        "violation",
    ),
    "a backreference": ({"properties": {"x": {"pattern": r"^(a|aa)+\1$"}}}, {"x": LONG}, "violation"),
    "a backreference, many": (
        {"properties": {"x": {"items": {"pattern": r"^(a|aa)+\1$"}}}},
        {"x": ["a" * 40 + "!"] * 5000},
        "violation",
    ),
    "many required of many": (
        {"required": [f"a{n}" for n in range(1000)]},
        {f"b{n}": 1 for n in range(50_000)},
        "violation",
    ),
    "many wrong items": (
        {"properties": {"x": {"items": {"type": "string"}}}},
        {"x": list(range(100_000))},
        "violation",
    ),
    "many unknown of many": (
        {"additionalProperties": False, "properties": {f"k{n}": {} for n in range(3000)}},
        {f"b{n}": 1 for n in range(50_000)},
        "violation",
    ),
    "many patterns of many names": (
        {"patternProperties": {f"^a{n}": {"type": "integer"} for n in range(1000)}},
        {**{f"b{n}": 1 for n in range(1000)}, "a1": "s"},
        "violation",
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_nothing_hangs(name: str) -> None:
    schema, arguments, outcome = HOSTILE[name]
    start = time.process_time()
    try:
        validate_call(made(arguments, "f"), [Tool("f", parameters=schema)])
        found = "fits"
    except (ParseError, DefinitionError) as error:
        found = error.code.partition(".")[2]
        if isinstance(error, ParseError):
            assert 1 <= len(error.violations) <= 32
    assert found == outcome
    assert time.process_time() - start < 10  # each takes less than a second; without a bound, minutes


def test_coercion_is_bounded() -> None:
    tool = Tool("f", parameters={"properties": {"x": {"items": INTEGER}}})
    start = time.process_time()
    (call,) = parse(hermes("f", json.dumps({"x": ["1"] * 20_000})), tools=[tool], coerce=True).tool_calls
    assert call.arguments == {"x": [1] * 20_000}
    assert time.process_time() - start < 10
    # Whatever the schema says is looked through once, not for each value or each way that leads to it.
    for schema in (
        {"enum": list(range(50_000))},
        {"anyOf": [{"type": "integer", "minimum": -n} for n in range(20_000)]},
        {"$ref": "#/$defs/a59"},
    ):
        doubling = _doubling(lambda n: {"anyOf": [{"$ref": f"#/$defs/a{n}"}, {"$ref": f"#/$defs/a{n}"}]})
        tool = Tool("f", parameters={**doubling, "properties": {"x": {"items": schema}}})
        start = time.process_time()
        (call,) = parse(hermes("f", json.dumps({"x": ["1", None] * 5_000})), tools=[tool], coerce=True).tool_calls
        assert call.arguments == {"x": [1, None] * 5_000}
        assert time.process_time() - start < 10
    deep: Any = "1"
    for _ in range(300):
        deep = [deep]
    loop = Tool(
        "f",
        parameters={
            "$defs": {"l": {"type": ["array", "integer"], "items": {"$ref": "#/$defs/l"}}},
            "properties": {"x": {"$ref": "#/$defs/l"}},
        },
    )
    (call,) = parse(hermes("f", json.dumps({"x": deep})), tools=[loop], coerce=True).tool_calls
    assert call.arguments == {"x": deep}
