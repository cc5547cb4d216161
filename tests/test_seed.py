"""The documentation of llm-beacon as tests: each example and row of its tables, on Toolglot and on llm-beacon.

The tables are run twice. Running them on `beacon`, the program behind the document, proves that they say what the
document says; running them on Toolglot proves that we keep the contract. `DIFFERENCES` holds the rows in which we
decided otherwise, with both answers.
"""

from __future__ import annotations

import json
from typing import Any

import beacon
import pytest

import toolglot

MARK = "¦"  # stands in front of the character that an error's position points to

BROKEN = (toolglot.ParseError, beacon.errors.MalformedOutputError)

Call = tuple[str, dict[str, Any]]

SEARCH: Call = ("search", {"query": "rust async", "limit": 5})
SEARCH_JSON = '{"query": "rust async", "limit": 5}'
F: Call = ("f", {"k": 1})
F_JSON = '{"name": "f", "arguments": {"k": 1}}'
G: Call = ("g", {})

# A row: its id, a text, the format, the calls.
CALLS: list[tuple[str, str, str, list[Call]]] = [
    # The examples at the top, and the samples of "Try it".
    ("example_python", 'Call: search(query="rust async", limit=5)', "python", [SEARCH]),
    ("example_bracket", '[TOOL_CALL]name=search;args={"q":"rust"}[/TOOL_CALL]', "bracket", [("search", {"q": "rust"})]),
    ("try_python", 'I will look that up. search(query="rust async", limit=5)', "python", [SEARCH]),
    (
        "try_hermes",
        f'Let me search.\n<tool_call>\n{{"name": "search", "arguments": {SEARCH_JSON}}}\n</tool_call>',
        "hermes",
        [SEARCH],
    ),
    ("try_mistral", f'[TOOL_CALLS] [{{"name": "search", "arguments": {SEARCH_JSON}}}]', "mistral", [SEARCH]),
    ("try_llama", f'<|python_tag|>{{"name": "search", "parameters": {SEARCH_JSON}}}', "llama", [SEARCH]),
    (
        "try_openai",
        json.dumps({"tool_calls": [{"type": "function", "function": {"name": "search", "arguments": SEARCH_JSON}}]}),
        "json",
        [SEARCH],
    ),
    (
        "try_xml",
        (
            '<invoke name="search"><parameter name="query">rust async</parameter>'
            '<parameter name="limit">5</parameter></invoke>'
        ),
        "xml_invoke",
        [SEARCH],
    ),
    # "Formats and detection order".
    ("hermes", f"<tool_call>{F_JSON}</tool_call>", "hermes", [F]),
    ("bracket_args", '[TOOL_CALL]name=f;args={"k": 1}[/TOOL_CALL]', "bracket", [F]),
    ("bracket_json", f"[TOOL_CALL]{F_JSON}[/TOOL_CALL]", "bracket", [F]),
    ("mistral_array", f"[TOOL_CALLS] [{F_JSON}]", "mistral", [F]),
    ("mistral_args", '[TOOL_CALLS]f[ARGS]{"k": 1}', "mistral", [F]),
    ("llama_json", '<|python_tag|>{"name": "f", "parameters": {"k": 1}}', "llama", [F]),
    ("llama_call", "<|python_tag|>tool.call(k=1)", "llama", [("tool.call", {"k": 1})]),
    (
        "xml_invoke",
        '<invoke name="f"><parameter name="k">v</parameter></invoke>',
        "xml_invoke",
        [("f", {"k": "v"})],
    ),
    ("json_bare", f"Here it is: {F_JSON}", "json", [F]),
    ("json_fenced", f"Here it is:\n```json\n{F_JSON}\n```\n", "json", [F]),
    ("json_fenced_without_language", f"```\n{F_JSON}\n```", "json", [F]),
    ("python", 'search(query="rust", limit=5)', "python", [("search", {"query": "rust", "limit": 5})]),
    # "The first tier that finds anything wins."
    ("tagged_before_json", f'{F_JSON} <invoke name="g"></invoke>', "xml_invoke", [G]),
    ("tagged_before_python", f"f(k=1) <tool_call>{F_JSON}</tool_call>", "hermes", [F]),
    ("json_before_python", f"g() {F_JSON}", "json", [F]),
    ("json_data_leaves_python", '{"name": "Alice"} g()', "python", [G]),
    # "JSON shapes": every arguments key, every key that may stand beside it, every wrapper.
    ("key_arguments", '{"name": "f", "arguments": {"k": 1}}', "json", [F]),
    ("key_parameters", '{"name": "f", "parameters": {"k": 1}}', "json", [F]),
    ("key_input", '{"name": "f", "input": {"k": 1}}', "json", [F]),
    ("key_args", '{"name": "f", "args": {"k": 1}}', "json", [F]),
    ("beside_id", '{"id": "1", "name": "f", "arguments": {"k": 1}}', "json", [F]),
    ("beside_type", '{"type": "function", "name": "f", "arguments": {"k": 1}}', "json", [F]),
    ("beside_call_id", '{"call_id": "1", "name": "f", "arguments": {"k": 1}}', "json", [F]),
    ("beside_index", '{"index": 0, "name": "f", "arguments": {"k": 1}}', "json", [F]),
    ("anthropic", '{"type": "tool_use", "id": "t", "name": "f", "input": {"k": 1}}', "json", [F]),
    (
        "openai_item",
        '{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{\\"k\\": 1}"}}',
        "json",
        [F],
    ),
    (
        "openai_message",
        (
            '{"role": "assistant", "content": null, "tool_calls": [{"id": "c", "type": "function",'
            ' "function": {"name": "f", "arguments": "{\\"k\\": 1}"}}]}'
        ),
        "json",
        [F],
    ),
    (
        "openai_function_call",
        '{"role": "assistant", "function_call": {"name": "f", "arguments": "{\\"k\\": 1}"}}',
        "json",
        [F],
    ),
    ("array", f'[{F_JSON}, {{"type": "tool_use", "name": "g", "input": {{}}}}]', "json", [F, G]),
    ("arguments_as_string", '{"name": "f", "arguments": " {\\"k\\": 1} "}', "json", [F]),
    # "Python call syntax": every kind of literal, and what starts a call.
    ("string_double", 'f(a="it\'s")', "python", [("f", {"a": "it's"})]),
    ("string_single", "f(a='say \"hi\"')", "python", [("f", {"a": 'say "hi"'})]),
    ("string_escapes", r'f(a="1\n2\t3\\4\"5\u00e96")', "python", [("f", {"a": '1\n2\t3\\4"5é6'})]),
    ("integer", "f(a=-12)", "python", [("f", {"a": -12})]),
    ("integer_exact", f"f(a={2**80})", "python", [("f", {"a": 2**80})]),
    ("float", "f(a=-1.5e3)", "python", [("f", {"a": -1500.0})]),
    ("words_python", "f(a=True, b=False, c=None)", "python", [("f", {"a": True, "b": False, "c": None})]),
    ("words_json", "f(a=true, b=false, c=null)", "python", [("f", {"a": True, "b": False, "c": None})]),
    ("list", "f(a=[1, 'x', [], ])", "python", [("f", {"a": [1, "x", []]})]),
    ("tuple", "f(a=(1, (2,), ()))", "python", [("f", {"a": [1, [2], []]})]),
    ("dict", "f(a={'x': 1, \"y\": {}})", "python", [("f", {"a": {"x": 1, "y": {}}})]),
    ("empty_parentheses", "g()", "python", [G]),
    ("empty_parentheses_with_space", "g( )", "python", [G]),
    ("dotted_name", "a.b_1(k=1)", "python", [("a.b_1", {"k": 1})]),
    ("positional_is_prose", "Use f(x), f('x'), f(*x) and f(x == 1), then g().", "python", [G]),
    # The note on `<parameter>` values.
    (
        "xml_json_values",
        (
            '<invoke name="f"><parameter name="n">5</parameter><parameter name="b">true</parameter>'
            '<parameter name="z">null</parameter><parameter name="s">"5"</parameter>'
            '<parameter name="l">[1, {"x": 2}]</parameter></invoke>'
        ),
        "xml_invoke",
        [("f", {"n": 5, "b": True, "z": None, "s": "5", "l": [1, {"x": 2}]})],
    ),
    (
        "xml_else_strings",
        (
            '<invoke name="f"><parameter name="a">True</parameter><parameter name="b">007</parameter>'
            '<parameter name="c">[1,]</parameter><parameter name="d"></parameter></invoke>'
        ),
        "xml_invoke",
        [("f", {"a": "True", "b": "007", "c": "[1,]", "d": ""})],
    ),
    (
        "xml_entities",
        '<invoke name="f"><parameter name="k">&lt;b&gt; &quot;&apos; &amp;amp;</parameter></invoke>',
        "xml_invoke",
        [("f", {"k": "<b> \"' &amp;"})],
    ),
    # "Exactly one, or all."
    ("parallel", f"<tool_call>{F_JSON}</tool_call>\n<tool_call>{F_JSON}</tool_call>", "hermes", [F, F]),
]

# Texts without a call, of which the document says so or gives the reason.
NO_CALLS: list[tuple[str, str]] = [
    ("prose", "There is no call here."),
    ("empty", ""),
    ("data", '{"name": "Alice", "age": 3}'),
    ("other_key", '{"name": "f", "arguments": {}, "comment": "x"}'),
    ("name_alone", '{"name": "f"}'),
    ("arguments_alone", '{"arguments": {"k": 1}}'),
    ("array_with_data", f'[{F_JSON}, {{"name": "Alice", "age": 3}}]'),
    ("broken_data", '{"age": }'),
    ("positional", "f(x)"),
    ("space_before_parentheses", "f (k=1)"),
]

# A row: its id, a text with a mark at the position of the error, the code.
ERRORS: list[tuple[str, str, str]] = [
    ("unrecognized_hermes", '<tool_call>¦{"a": 1}</tool_call>', "tool_call.unrecognized"),
    ("unrecognized_bracket", "[TOOL_CALL]¦name=f[/TOOL_CALL]", "tool_call.unrecognized"),
    ("unrecognized_mistral", "[TOOL_CALLS] ¦[]", "tool_call.unrecognized"),
    ("unrecognized_llama", "<|python_tag|>¦x = 5", "tool_call.unrecognized"),
    ("unrecognized_xml", '<invoke name="f">¦<parameter>5</parameter></invoke>', "tool_call.unrecognized"),
    ("unrecognized_message", 'x ¦{"tool_calls": [1]}', "tool_call.unrecognized"),
    ("invalid_name_empty", '<tool_call>¦{"name": "", "arguments": {}}</tool_call>', "tool_call.invalid_name"),
    ("invalid_name_number", '¦{"name": 1, "arguments": {}}', "tool_call.invalid_name"),
    ("invalid_name_xml", '¦<invoke name=""></invoke>', "tool_call.invalid_name"),
    ("arguments_array", '<tool_call>¦{"name": "f", "arguments": [1]}</tool_call>', "tool_call.invalid_arguments"),
    ("arguments_null", '¦{"name": "f", "arguments": null}', "tool_call.invalid_arguments"),
    ("arguments_bracket", "[TOOL_CALL]name=f;args=¦[1][/TOOL_CALL]", "tool_call.invalid_arguments"),
    ("arguments_mistral", "[TOOL_CALLS]f[ARGS]¦[1]", "tool_call.invalid_arguments"),
    ("ambiguous", '¦{"name": "f", "arguments": {}, "input": {}}', "tool_call.ambiguous_arguments"),
    ("positional", "f(q=1, ¦2)", "tool_call.positional_argument"),
    ("positional_name", "f(q=1, ¦x)", "tool_call.positional_argument"),
    ("duplicate_argument", "f(q=1, ¦q=2)", "tool_call.duplicate_argument"),
    (
        "duplicate_parameter",
        '<invoke name="f"><parameter name="k">1</parameter>¦<parameter name="k">2</parameter></invoke>',
        "tool_call.duplicate_argument",
    ),
    # "json.*": malformed JSON, here the value of the argument "a".
    *(
        (f"json_{code}", f'<tool_call>\n{{"name": "é", "arguments": {{"a": {value}}}}}\n</tool_call>', f"json.{code}")
        for code, value in [
            ("expected_value", "¦}"),
            ("expected_key", "{¦x: 1}"),
            ("expected_colon", '{"x" ¦1}'),
            ("expected_comma", "[1 ¦2]"),
            ("trailing_comma", "[1,¦]"),
            ("control_character", '"a¦\tb"'),
            ("invalid_escape", '"¦\\x"'),
            ("invalid_unicode_escape", '"¦\\u12"'),
            ("lone_surrogate", '"¦\\ud83d"'),
            ("invalid_literal", "¦tru"),
            ("invalid_number", "¦01"),
            ("number_out_of_range", "¦1e400"),
            ("duplicate_key", '{"x": 1, ¦"x": 2}'),
        ]
    ),
    ("json_trailing_characters", f"<tool_call>{F_JSON} ¦x</tool_call>", "json.trailing_characters"),
    ("json_unexpected_end", '<tool_call>{"name": "f"¦', "json.unexpected_end"),
    ("json_unexpected_end_of_bare_json", '{"name": "f", "arguments": {¦', "json.unexpected_end"),
    ("json_unterminated_string", '<tool_call>{"name": ¦"f', "json.unterminated_string"),
    (
        "json_too_deep",
        '<tool_call>{"name": "f", "arguments": ' + '{"a":' * 511 + '¦{"a":' + "}" * 513 + "</tool_call>",
        "json.too_deep",
    ),
    # "Other tool_call.*": malformed literals of the call syntax.
    ("python_expected_value", "f(a=¦bad)", "tool_call.expected_value"),
    ("python_expected_key", "f(a={¦1: 2})", "tool_call.expected_key"),
    ("python_expected_colon", "f(a={'x' ¦1})", "tool_call.expected_colon"),
    ("python_expected_comma", "f(a=1 ¦b=2)", "tool_call.expected_comma"),
    ("python_expected_comma_in_list", "f(a=[1 ¦2])", "tool_call.expected_comma"),
    ("python_duplicate_key", "f(a={'x': 1, ¦'x': 2})", "tool_call.duplicate_key"),
    ("python_invalid_escape", "f(a='¦\\q')", "tool_call.invalid_escape"),
    ("python_unterminated_string", "f(a=¦'x)", "tool_call.unterminated_string"),
    ("python_unexpected_end", "f(a=¦", "tool_call.unexpected_end"),
    ("python_number", "f(a=¦01)", "json.invalid_number"),
    ("xml_unexpected_end", '<invoke name="f"><parameter name="k">1</parameter>¦', "tool_call.unexpected_end"),
    ("try_broken", '<tool_call>{"name": "search", "arguments": {"query": ¦rust}}</tool_call>', "json.expected_value"),
]

# A row: its id, a text, what beacon says, what we say, and why. What is said: calls, or a code and a position.
Said = list[Call] | tuple[str, int | None]
DIFFERENCES: list[tuple[str, str, Said, Said, str]] = [
    (
        "closer_in_string",
        '<tool_call>{"name": "f", "arguments": {"k": "a</tool_call>b"}}</tool_call>',
        ("json.unterminated_string", 44),
        [("f", {"k": "a</tool_call>b"})],
        "a closing tag inside a JSON string is text",
    ),
    (
        "closer_in_string_bracket",
        '[TOOL_CALL]name=f;args={"k": "[/TOOL_CALL]"}[/TOOL_CALL]',
        ("json.unterminated_string", 29),
        [("f", {"k": "[/TOOL_CALL]"})],
        "a closing tag inside a JSON string is text",
    ),
    (
        "second_mistral_call",
        '[TOOL_CALLS]f[ARGS]{"k": 1}[TOOL_CALLS]g[ARGS]{}',
        [F],
        [F, G],
        "a second [TOOL_CALLS] call is a call",
    ),
    (
        "call_in_reasoning",
        '<think><tool_call>{"name": "g", "arguments": {}}</tool_call></think>Hello.',
        [G],
        ("tool_call.not_found", None),
        "what stands in closed reasoning is reasoning",
    ),
    (
        "position_in_arguments_string",
        '{"name": "f", "arguments": "{\\"k\\": }"}',
        ("tool_call.invalid_arguments", 0),
        ("tool_call.invalid_arguments", 36),
        "positions point into the caller's text, inside an arguments string too",
    ),
    (
        "xml_white_space",
        '<invoke name="f"><parameter name="k"> x </parameter></invoke>',
        [("f", {"k": "x"})],
        [("f", {"k": " x "})],
        "a string is verbatim",
    ),
    (
        "xml_numeric_reference",
        '<invoke name="f"><parameter name="k">&#60;&#x3e;</parameter></invoke>',
        [("f", {"k": "&#60;&#x3e;"})],
        [("f", {"k": "<>"})],
        "numeric character references are entities",
    ),
]


def said(parse: Any, text: str) -> Said:
    """What a parser says of ``text``, in the terms of `DIFFERENCES`."""
    try:
        return [(call["name"], call["arguments"]) for call in parse(text)]
    except BROKEN as error:
        return error.code, error.position


def typed(value: Any) -> str:
    """``value`` as text that tells 1 from 1.0 and True."""
    return repr(value)


parsers = pytest.mark.parametrize("parser", [toolglot, beacon], ids=["toolglot", "beacon"])


@parsers
@pytest.mark.parametrize(("text", "format", "calls"), [row[1:] for row in CALLS], ids=[row[0] for row in CALLS])
def test_calls(parser: Any, text: str, format: str, calls: list[Call]) -> None:
    found = parser.parse_tool_calls(text, include_format=True)
    expected = [{"name": name, "arguments": arguments, "format": format} for name, arguments in calls]
    assert typed(found) == typed(expected)
    plain = [{"name": name, "arguments": arguments} for name, arguments in calls]
    assert typed(parser.parse_tool_calls(text)) == typed(plain)
    if len(calls) == 1:
        assert typed(parser.parse_tool_call(text)) == typed(plain[0])


@parsers
@pytest.mark.parametrize("text", [row[1] for row in NO_CALLS], ids=[row[0] for row in NO_CALLS])
def test_not_found(parser: Any, text: str) -> None:
    for parse in (parser.parse_tool_call, parser.parse_tool_calls):
        with pytest.raises(parser.NoToolCallFoundError) as caught:
            parse(text)
        assert caught.value.code == "tool_call.not_found"
        assert isinstance(caught.value, ValueError)


@parsers
@pytest.mark.parametrize(("marked", "code"), [row[1:] for row in ERRORS], ids=[row[0] for row in ERRORS])
def test_errors(parser: Any, marked: str, code: str) -> None:
    before, _, after = marked.partition(MARK)
    line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
    for parse in (parser.parse_tool_call, parser.parse_tool_calls):
        with pytest.raises(BROKEN) as caught:
            parse(before + after)
        error: Any = caught.value
        assert (error.code, error.position, error.line, error.column) == (code, len(before), line, column)


@parsers
def test_mixed_formats_in_text_order(parser: Any) -> None:
    text = (
        f'<invoke name="a"></invoke> then <tool_call>{F_JSON}</tool_call> and [TOOL_CALL]name=b;args={{}}[/TOOL_CALL],'
        " last [TOOL_CALLS]c[ARGS]{}"
    )
    found = [(call["name"], call["format"]) for call in parser.parse_tool_calls(text, include_format=True)]
    assert found == [("a", "xml_invoke"), ("f", "hermes"), ("b", "bracket"), ("c", "mistral")]


@parsers
@pytest.mark.parametrize(
    "text",
    [
        f"<tool_call>{F_JSON}</tool_call><tool_call>{F_JSON}</tool_call>",
        f"[{F_JSON}, {F_JSON}]",
        "f(k=1) and f(k=2)",
    ],
    ids=["tagged", "json", "python"],
)
def test_exactly_one(parser: Any, text: str) -> None:
    with pytest.raises(BROKEN) as caught:
        parser.parse_tool_call(text)
    error: Any = caught.value
    assert error.code == "tool_call.multiple"
    assert len(parser.parse_tool_calls(text)) == 2


@pytest.mark.parametrize(
    ("text", "theirs", "ours", "why"), [row[1:] for row in DIFFERENCES], ids=[row[0] for row in DIFFERENCES]
)
def test_differences(text: str, theirs: Said, ours: Said, why: str) -> None:
    assert said(beacon.parse_tool_calls, text) == theirs
    assert said(toolglot.parse_tool_calls, text) == ours, why


def test_error_classes() -> None:
    with pytest.raises(toolglot.ParseError) as caught:
        toolglot.parse_tool_calls("<tool_call>{}</tool_call>")
    assert not isinstance(caught.value, toolglot.NoToolCallFoundError)
    assert issubclass(toolglot.NoToolCallFoundError, toolglot.ParseError)
    assert issubclass(toolglot.ParseError, ValueError)
