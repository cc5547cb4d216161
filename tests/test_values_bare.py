"""Bare text, typed by the tool's schema."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolglot.values.bare import decode_entities, read_python, read_text, schema_types

DEFINITIONS = {
    "$defs": {
        "Name": {"type": "string"},
        "Loop": {"$ref": "#/$defs/Loop"},
        "Ping": {"$ref": "#/$defs/Pong"},
        "Pong": {"anyOf": [{"$ref": "#/$defs/Ping"}, {"type": "null"}]},
        "a/b~c": {"type": "integer"},
        "List": [{"type": "boolean"}],
    },
    "definitions": {"Age": {"type": ["integer", "null"]}},
}


@pytest.mark.parametrize(
    ("schema", "types"),
    [
        ({}, None),
        ({"description": "x"}, None),
        ({"type": "string"}, "string"),
        ({"type": "STRING"}, "string"),
        ({"type": ["string", "null"]}, "string null"),
        ({"type": "str"}, "string"),
        ({"type": "text"}, "string"),
        ({"type": "int"}, "integer"),
        ({"type": "float"}, "number"),
        ({"type": "double"}, "number"),
        ({"type": "bool"}, "boolean"),
        ({"type": "dict"}, "object"),
        ({"type": "map"}, "object"),
        ({"type": "list"}, "array"),
        ({"type": "tuple"}, "array"),
        ({"type": "date"}, None),
        ({"type": ["string", "date"]}, None),
        ({"type": 5}, None),
        ({"type": []}, None),
        ({"type": [5]}, None),
        ({"enum": ["a", 1, None]}, "string integer null"),
        ({"enum": [True, 1.5, {}, []]}, "boolean number object array"),
        ({"enum": []}, None),
        ({"const": False}, "boolean"),
        ({"type": "string", "enum": [1]}, "string"),
        ({"properties": {}}, "object"),
        ({"items": {}}, "array"),
        ({"anyOf": [{"type": "string"}, {"type": "integer"}]}, "string integer"),
        ({"oneOf": [{"type": "string"}, {}]}, None),
        ({"anyOf": []}, None),
        ({"anyOf": [{"type": "string"}, {"oneOf": [{"type": "null"}, {"const": 1}]}]}, "string null integer"),
        ({"allOf": [{"type": ["string", "null"]}, {"type": "string"}]}, "string"),
        ({"allOf": [{"description": "x"}, {"type": "number"}]}, "number"),
        ({"allOf": [{"type": "number"}, {"type": "integer"}]}, "integer"),
        ({"allOf": [{"type": "string"}, {"type": "array"}]}, "string"),
        ({"type": "string", "anyOf": [{"maxLength": 3}, {"pattern": "x"}]}, "string"),
        ({"$ref": "#/$defs/Name"}, "string"),
        ({"$ref": "#/definitions/Age"}, "integer null"),
        ({"$ref": "#/$defs/a~1b~0c"}, "integer"),
        ({"$ref": "#/$defs/List/0"}, "boolean"),
        ({"$ref": "#/$defs/List/9"}, None),
        ({"$ref": "#/$defs/Missing/deeper"}, None),
        ({"$ref": "#/$defs/Loop"}, None),
        ({"$ref": "#/$defs/Ping"}, None),
        ({"$ref": "https://example.com/x.json"}, None),
        ({"$ref": "#/$defs/Name", "description": "x"}, "string"),
        ({"allOf": [{"$ref": "#/$defs/Name"}], "default": "x"}, "string"),
        ({"anyOf": [{"$ref": "#/$defs/Name"}, {"type": "null"}]}, "string null"),
        (True, None),
    ],
)
def test_schema_types(schema: Any, types: str | None) -> None:
    assert schema_types(schema, DEFINITIONS) == (None if types is None else frozenset(types.split()))


@pytest.mark.parametrize(
    ("raw", "types", "value", "text"),
    [
        # A string is the exact string.
        ("007", "string", "007", None),
        ("null", "string", "null", None),
        (" x ", "string", " x ", None),
        ('"q"', "string", '"q"', None),
        ("", "string", "", None),
        # Without a schema strict JSON decides.
        ("null", None, None, "null"),
        ("None", None, "None", None),
        ("true", None, True, "true"),
        ("True", None, "True", None),
        ("007", None, "007", None),
        ("7", None, 7, "7"),
        (" 1.50\n", None, 1.5, "1.50"),
        ("-0", None, 0, "-0"),
        ('"q"', None, "q", '"q"'),
        ('"q', None, '"q', None),
        ("[1,2.0]", None, [1, 2.0], "[1, 2.0]"),
        ('{"a":1e3}', None, {"a": 1000.0}, '{"a": 1e3}'),
        ('{"a":1,"a":2}', None, '{"a":1,"a":2}', None),
        ("{'a':1}", None, "{'a':1}", None),
        ("{} x", None, "{} x", None),
        ("Paris", None, "Paris", None),
        ("", None, "", None),
        ("NaN", None, "NaN", None),
        ("1e400", None, "1e400", None),
        ("9" * 4300, None, int("9" * 4300), "9" * 4300),
        ("9" * 4301, None, "9" * 4301, None),
        ("[" * 600 + "]" * 600, None, "[" * 600 + "]" * 600, None),
        ("١", None, "١", None),
        ("\u00a01", None, "\u00a01", None),
        # With a schema that has no string, any JSON counts.
        ("5", "integer", 5, "5"),
        (" 5 ", "integer", 5, "5"),
        ("five", "integer", "five", None),
        ("5.5", "integer", 5.5, "5.5"),
        ("[1]", "object", [1], "[1]"),
        ("null", "integer", None, "null"),
        ('"q"', "integer", '"q"', None),
        ("True", "boolean", True, "true"),
        ("False", "boolean", False, "false"),
        ("true", "boolean", True, "true"),
        ("True", "integer", "True", None),
        ("TRUE", "boolean", "TRUE", None),
        ("None", "integer null", None, "null"),
        ("None", "integer", "None", None),
        # With a string among others, JSON counts only if its own type is named.
        ("5", "string integer", 5, "5"),
        ("5", "string null", "5", None),
        ("5", "string number", 5, "5"),
        ("5.0", "string integer", 5.0, "5.0"),
        ("5.5", "string integer", "5.5", None),
        ("null", "string null", None, "null"),
        ("None", "string null", None, "null"),
        ("null", "string integer", "null", None),
        ("true", "string integer", "true", None),
        ("True", "string boolean", True, "true"),
        ('{"a": 1}', "string object", {"a": 1}, '{"a": 1}'),
        ('{"a": 1}', "string array", '{"a": 1}', None),
        ('"q"', "string null", '"q"', None),
        ("say", "string object", "say", None),
    ],
)
def test_read_text(raw: str, types: str | None, value: Any, text: str | None) -> None:
    found = read_text(raw, None if types is None else frozenset(types.split()))
    assert repr(found[0]) == repr(value)
    assert found[1] == (json.dumps(value, ensure_ascii=False) if text is None else text)


@given(
    st.text(st.sampled_from(list('{}[]",:0123456789.eE-+ \nnulltrefasTNoFx\\é')), max_size=8),
    st.none() | st.frozensets(st.sampled_from(["string", "integer", "number", "boolean", "null", "object", "array"])),
)
@settings(max_examples=1000, deadline=None)
def test_the_json_text_is_the_value(raw: str, types: frozenset[str] | None) -> None:
    value, text = read_text(raw, types)
    assert repr(json.loads(text)) == repr(value)
    if types == frozenset({"string"}):
        assert value == raw


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("plain", "plain"),
        ("a &lt; b &gt; c &amp; d &quot;e&quot; &apos;f&apos;", "a < b > c & d \"e\" 'f'"),
        ("&#65;&#x42;&#x1F600;&#x1f600;", "AB😀😀"),
        ("&amp;lt;", "&lt;"),
        ("&nbsp; &Lt; & &; &# &#; &#x; &lt &#xg;", "&nbsp; &Lt; & &; &# &#; &#x; &lt &#xg;"),
        ("&#0;&#x1;&#xD800;&#xFFFE;&#x110000;&#9999999;", "&#0;&#x1;&#xD800;&#xFFFE;&#x110000;&#9999999;"),
        ("&#9;&#10;&#13;", "\t\n\r"),
        ("&#000000000065;&#x000041;", "A" + "A"),
    ],
)
def test_decode_entities(raw: str, expected: str) -> None:
    assert decode_entities(raw) == expected


@pytest.mark.parametrize(
    ("raw", "types", "value"),
    [
        ("{'a': [1, None, True]}", "object", {"a": [1, None, True]}),
        ("{'a': 1}", None, {"a": 1}),
        ("['it\\'s']\n", "array", ["it's"]),
        ('{"a": null}', "object", {"a": None}),
        ("{'a': 1}", "string", "{'a': 1}"),
        ("{'a': 1}", "string null", "{'a': 1}"),
        ("{'a': 1}", "array", "{'a': 1}"),
        ("{'a': f()}", "object", "{'a': f()}"),
        ("{'a': 1} x", "object", "{'a': 1} x"),
        ("{'a': 1", "object", "{'a': 1"),
        ("True", "boolean", True),
        ("None", None, "None"),
    ],
)
def test_read_python(raw: str, types: str | None, value: Any) -> None:
    found, text = read_python(raw, None if types is None else frozenset(types.split()))
    assert found == value
    assert json.loads(text) == value


def test_time_is_linear() -> None:
    start = time.process_time()
    for raw in ("&" * 1_000_000, "&#" * 500_000, "&#" + "0" * 1_000_000, " " * 1_000_000 + "x", "9" * 1_000_000):
        decode_entities(raw)
        read_text(raw, None)
    assert time.process_time() - start < 3
