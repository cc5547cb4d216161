"""`toolglot.tools`: the table of its names, row by row. What a real SDK gives is read in tests/sdk."""

from __future__ import annotations

import dataclasses
import json
from collections import UserDict
from types import SimpleNamespace as Object
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import toolglot
from toolglot import tools
from toolglot.tools import ToolCall

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
EMPTY = {"type": "object", "properties": {}}
# One tool as Anthropic has it, one as OpenAI, one with nothing but a name.
TOOLS: list[dict[str, Any]] = [
    {"name": "get_weather", "description": "The weather.", "input_schema": SCHEMA},
    {"name": "search", "description": "Find it.", "parameters": SCHEMA},
    {"name": "ping"},
]
CONVERTERS = ["openai", "groq", "mistral", "ollama", "anthropic", "bedrock", "gemini"]


def of_openai(arguments: Any, id: str | None = "call_1", name: str = "get_weather") -> Object:
    function = Object(name=name, arguments=arguments)
    return Object(content=None, tool_calls=[Object(id=id, type="function", function=function)])


def of_gemini(*calls: Any) -> Object:
    parts = [Object(text="Hm.", function_call=None), *(Object(text=None, function_call=call) for call in calls)]
    return Object(candidates=[Object(content=Object(parts=parts))])


# -- ToolCall and _normalize_tool


def test_tool_call_is_a_dataclass_of_three_fields() -> None:
    assert [field.name for field in dataclasses.fields(ToolCall)] == ["id", "name", "arguments"]
    assert ToolCall("a", "f", {}) == ToolCall(id="a", name="f", arguments={})
    assert ToolCall(None, "f", {}).id is None
    assert ToolCall is not toolglot.ToolCall
    call = ToolCall("a", "f", {})
    call.name = "g"  # not frozen
    assert call.name == "g"


def test_normalize_tool_with_input_schema() -> None:
    expected = {"name": "get_weather", "description": "The weather.", "schema": SCHEMA}
    assert tools._normalize_tool(TOOLS[0]) == expected


def test_normalize_tool_with_parameters() -> None:
    assert tools._normalize_tool(TOOLS[1]) == {"name": "search", "description": "Find it.", "schema": SCHEMA}


def test_normalize_tool_with_a_name_only() -> None:
    assert tools._normalize_tool({"name": "ping"}) == {"name": "ping", "description": "", "schema": EMPTY}


def test_normalize_tool_takes_input_schema_before_parameters() -> None:
    both = {"name": "f", "input_schema": SCHEMA, "parameters": {"type": "object"}}
    assert tools._normalize_tool(both)["schema"] is SCHEMA
    assert tools._normalize_tool({**both, "input_schema": {}})["schema"] == {"type": "object"}
    assert tools._normalize_tool({"name": "f", "input_schema": None, "parameters": {}})["schema"] == EMPTY


@pytest.mark.parametrize("tool", [{}, {"name": ""}, {"name": None}, {"description": "x"}], ids=repr)
def test_normalize_tool_needs_a_name(tool: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"^Each tool must have a 'name'\.$"):
        tools._normalize_tool(tool)


@pytest.mark.parametrize("provider", CONVERTERS)
def test_a_missing_name_passes_through_every_converter(provider: str) -> None:
    with pytest.raises(ValueError, match=r"^Each tool must have a 'name'\.$"):
        getattr(tools, f"to_{provider}_tools")([TOOLS[0], {"parameters": SCHEMA}])


# -- input converters


def test_to_openai_tools() -> None:
    assert tools.to_openai_tools(TOOLS) == [
        {
            "type": "function",
            "function": {"name": "get_weather", "description": "The weather.", "parameters": SCHEMA},
        },
        {"type": "function", "function": {"name": "search", "description": "Find it.", "parameters": SCHEMA}},
        {"type": "function", "function": {"name": "ping", "description": "", "parameters": EMPTY}},
    ]


def test_to_groq_tools_is_to_openai_tools() -> None:
    assert tools.to_groq_tools is tools.to_openai_tools


def test_to_mistral_tools_is_to_openai_tools() -> None:
    assert tools.to_mistral_tools is tools.to_openai_tools


def test_to_ollama_tools_is_to_openai_tools() -> None:
    assert tools.to_ollama_tools is tools.to_openai_tools


def test_to_anthropic_tools() -> None:
    assert tools.to_anthropic_tools(TOOLS) == [
        {"name": "get_weather", "description": "The weather.", "input_schema": SCHEMA},
        {"name": "search", "description": "Find it.", "input_schema": SCHEMA},
        {"name": "ping", "description": "", "input_schema": EMPTY},
    ]


def test_to_bedrock_tools() -> None:
    assert tools.to_bedrock_tools(TOOLS) == {
        "tools": [
            {
                "toolSpec": {
                    "name": "get_weather",
                    "description": "The weather.",
                    "inputSchema": {"json": SCHEMA},
                }
            },
            {"toolSpec": {"name": "search", "description": "Find it.", "inputSchema": {"json": SCHEMA}}},
            {"toolSpec": {"name": "ping", "description": "", "inputSchema": {"json": EMPTY}}},
        ]
    }


def test_to_gemini_tools() -> None:
    assert tools.to_gemini_tools(TOOLS) == [
        {
            "function_declarations": [
                {"name": "get_weather", "description": "The weather.", "parameters": SCHEMA},
                {"name": "search", "description": "Find it.", "parameters": SCHEMA},
                {"name": "ping", "description": "", "parameters": EMPTY},
            ]
        }
    ]


@pytest.mark.parametrize("provider", CONVERTERS)
def test_no_tools_are_none(provider: str) -> None:
    convert = getattr(tools, f"to_{provider}_tools")
    assert convert(None) is None
    assert convert([]) is None


# -- response parsers


def test_parse_openai_tool_calls() -> None:
    message = of_openai('{"city": "Oslo"}')
    message.tool_calls.append(Object(id=None, function=Object(name="ping", arguments="{}")))
    assert tools.parse_openai_tool_calls(message) == [
        ToolCall("call_1", "get_weather", {"city": "Oslo"}),
        ToolCall(None, "ping", {}),
    ]


@pytest.mark.parametrize(
    "raw",
    ['{"city": "Os', "", "Oslo", None, {"city": "Oslo"}, "[" * 100_000, "9" * 5000],
    ids=lambda raw: repr(raw)[:20],
)
def test_parse_openai_tool_calls_falls_back_to_raw(raw: Any) -> None:
    """A JSONDecodeError and a TypeError, as that table has it; what else `json.loads` may say is no reason to raise."""
    assert tools.parse_openai_tool_calls(of_openai(raw)) == [ToolCall("call_1", "get_weather", {"_raw": raw})]


def test_parse_openai_tool_calls_gives_what_json_loads_gives() -> None:
    (call,) = tools.parse_openai_tool_calls(of_openai('{"a": 1, "a": [NaN]}'))
    assert repr(call.arguments) == "{'a': [nan]}"
    assert tools.parse_openai_tool_calls(of_openai("[1]")) == [ToolCall("call_1", "get_weather", [1])]  # type: ignore[arg-type]


def test_parse_anthropic_tool_calls() -> None:
    given = {"city": "Oslo"}
    blocks = [
        Object(type="text", text="Let me look."),
        Object(type="tool_use", id="toolu_1", name="get_weather", input=given),
        Object(type="server_tool_use", id="srvtoolu_1", name="web_search", input={}),
        Object(type="tool_use", id="toolu_2", name="ping", input={}),
    ]
    calls = tools.parse_anthropic_tool_calls(blocks)
    assert calls == [ToolCall("toolu_1", "get_weather", given), ToolCall("toolu_2", "ping", {})]
    assert calls[0].arguments is given


def test_parse_gemini_tool_calls() -> None:
    given = UserDict({"city": "Oslo"})  # a mapping, as protocol buffers have it
    response = of_gemini(Object(id="f1", name="get_weather", args=given), Object(name="ping", args=None))
    response.candidates.append(Object(content=None))
    response.candidates += of_gemini(Object(name="search", args={"q": 1})).candidates
    calls = tools.parse_gemini_tool_calls(response)
    assert calls == [
        ToolCall(None, "get_weather", {"city": "Oslo"}),
        ToolCall(None, "ping", {}),
        ToolCall(None, "search", {"q": 1}),
    ]
    assert type(calls[0].arguments) is dict


def test_parse_bedrock_tool_calls() -> None:
    blocks = [
        {"text": "Let me look."},
        {"toolUse": {"toolUseId": "tooluse_1", "name": "get_weather", "input": {"city": "Oslo"}}},
    ]
    assert tools.parse_bedrock_tool_calls(blocks) == [ToolCall("tooluse_1", "get_weather", {"city": "Oslo"})]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ('{"city": "Oslo"}', {"city": "Oslo"}),
        ({"city": "Oslo"}, {"city": "Oslo"}),
        ('{"city": ', {"_raw": '{"city": '}),
        ("", {"_raw": ""}),
    ],
)
def test_parse_ollama_tool_calls(arguments: Any, expected: dict[str, Any]) -> None:
    message = {"role": "assistant", "tool_calls": [{"function": {"name": "get_weather", "arguments": arguments}}]}
    assert tools.parse_ollama_tool_calls(message) == [ToolCall(None, "get_weather", expected)]


def test_parse_ollama_tool_calls_keeps_an_id() -> None:
    message = {"tool_calls": [{"id": "call_1", "function": {"name": "ping", "arguments": {}}}]}
    assert tools.parse_ollama_tool_calls(message) == [ToolCall("call_1", "ping", {})]


PARSERS = [
    tools.parse_openai_tool_calls,
    tools.parse_anthropic_tool_calls,
    tools.parse_gemini_tool_calls,
    tools.parse_bedrock_tool_calls,
    tools.parse_ollama_tool_calls,
]


@pytest.mark.parametrize("parser", PARSERS, ids=lambda parser: parser.__name__)
@pytest.mark.parametrize(
    "response",
    [
        Object(tool_calls=None),
        Object(tool_calls=[]),
        [],
        [Object(type="text", text="Hi.")],
        Object(candidates=None),
        of_gemini(),
        [{"text": "Hi."}],
        {"role": "assistant", "content": "Hi."},
        {"tool_calls": None},
    ],
    ids=lambda response: repr(response)[:40],
)
def test_no_calls_are_an_empty_list(parser: Any, response: Any) -> None:
    assert parser(response) == []


def test_tool_calls_to_dicts() -> None:
    calls = [ToolCall("a", "f", {"x": 1}), ToolCall(None, "g", {})]
    dicts = tools.tool_calls_to_dicts(calls)
    assert dicts == [{"id": "a", "name": "f", "arguments": {"x": 1}}, {"id": None, "name": "g", "arguments": {}}]
    assert [list(one) for one in dicts] == [["id", "name", "arguments"]] * 2
    assert tools.tool_calls_to_dicts([]) == []


def test_every_function_of_the_table_is_public() -> None:
    table = {f"to_{provider}_tools" for provider in CONVERTERS} | {parser.__name__ for parser in PARSERS}
    assert set(tools.__all__) == table | {"ToolCall", "tool_calls_to_dicts"}
    assert toolglot.tools is tools  # type: ignore[attr-defined]


# -- what is no response


KEYS = ["tool_calls", "function", "name", "arguments", "id", "type", "input", "toolUse", "content", "parts"]
KEYS += ["candidates", "function_call", "args"]
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["", "f", "{", "tool_use", "{}"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    max_leaves=20,
)


def as_object(value: Any) -> Any:
    """The same as an SDK's objects would have it."""
    if isinstance(value, dict):
        return Object(**{key: as_object(item) for key, item in value.items()})
    return [as_object(item) for item in value] if isinstance(value, list) else value


@given(VALUES)
def test_what_has_no_calls_is_an_empty_list(value: Any) -> None:
    for response in (value, as_object(value)):
        for parser in PARSERS:
            assert all(type(call) is ToolCall for call in parser(response))


def test_raw_is_nowhere_else() -> None:
    """Arguments that are not JSON are an error in the rest of the library."""
    broken = {"choices": [{"message": {"tool_calls": [{"id": "a", "function": {"name": "f", "arguments": "{"}}]}}]}
    message = toolglot.parse_response(broken, on_error="collect")
    assert (message.tool_calls, [error.code for error in message.errors]) == ([], ["json.unexpected_end"])
    assert "_raw" not in json.dumps(message.extra)
