"""The second seed document as tests: .NET's ToolCallParser, its examples and what its program does, on Toolglot.

`difference` marks a test of what we decided otherwise; each has a row of that name in
docs/coming-from-toolcallparser.md, and no row is without its test.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import pytest

from toolglot import (
    DefinitionError,
    Message,
    ParseError,
    Provider,
    ToolCall,
    ToolCallParser,
    ToolResult,
    WireFormat,
    detect_provider,
    get_provider,
    parse_response,
    parse_responses,
    providers,
    try_get_provider,
)

PAGE = Path(__file__).parent.parent / "docs" / "coming-from-toolcallparser.md"
DIFFERENCES: list[str] = []

Test = TypeVar("Test", bound=Callable[..., None])


def difference(row: str) -> Callable[[Test], Test]:
    """Marks the test of a row of the page."""
    DIFFERENCES.append(row)
    return lambda test: test


def collected(response: Any, provider: str = "auto", **options: Any) -> Message:
    return parse_response(response, provider, on_error="collect", **options)


def openai(*calls: Any, **message: Any) -> dict[str, Any]:
    """A Chat Completions response with these ``tool_calls``."""
    return {"choices": [{"message": {"tool_calls": list(calls), **message}}]}


def function(arguments: Any = "{}", name: Any = "f", id: Any = "c1") -> dict[str, Any]:
    """A call as Chat Completions has it."""
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


# -- the document's seven examples: five responses, two ways of sending results


class Example(NamedTuple):
    provider: str
    id: str | None
    arguments: dict[str, Any]
    text: str
    content: str | None = None


EXAMPLES = {
    "quick start": Example(
        "openai",
        "call_abc123",
        {"location": "Tokyo", "unit": "celsius"},
        r"""
{
  "choices": [{
    "message": {
      "tool_calls": [{
        "id": "call_abc123",
        "type": "function",
        "function": {
          "name": "get_weather",
          "arguments": "{\"location\":\"Tokyo\",\"unit\":\"celsius\"}"
        }
      }]
    }
  }]
}
""",
    ),
    "openai": Example(
        "openai",
        "call_abc123",
        {"location": "Tokyo"},
        r"""
{
  "choices": [{
    "message": {
      "tool_calls": [{
        "id": "call_abc123",
        "type": "function",
        "function": {
          "name": "get_weather",
          "arguments": "{\"location\":\"Tokyo\"}"
        }
      }]
    }
  }]
}
""",
    ),
    "anthropic": Example(
        "anthropic",
        "toolu_01XYZ",
        {"location": "Paris"},
        """
{
  "content": [
    {"type": "text", "text": "I'll check the weather."},
    {
      "type": "tool_use",
      "id": "toolu_01XYZ",
      "name": "get_weather",
      "input": {"location": "Paris"}
    }
  ],
  "stop_reason": "tool_use"
}
""",
        "I'll check the weather.",
    ),
    "gemini": Example(
        "google",
        None,
        {"location": "London"},
        """
{
  "candidates": [{
    "content": {
      "parts": [{
        "functionCall": {
          "name": "get_weather",
          "args": {"location": "London"}
        }
      }]
    }
  }]
}
""",
    ),
    "bedrock": Example(
        "bedrock",
        "tooluse_abc",
        {"location": "NYC"},
        """
{
  "output": {
    "message": {
      "content": [{
        "toolUse": {
          "toolUseId": "tooluse_abc",
          "name": "get_weather",
          "input": {"location": "NYC"}
        }
      }]
    }
  },
  "stopReason": "tool_use"
}
""",
    ),
}


@pytest.mark.parametrize("example", EXAMPLES.values(), ids=EXAMPLES)
def test_example(example: Example) -> None:
    assert detect_provider(example.text) is Provider(example.provider)
    for provider in ("auto", example.provider):
        message = parse_response(example.text, provider)
        (call,) = message.tool_calls
        assert (call.name, call.id, call.arguments) == ("get_weather", example.id, example.arguments)
        assert json.loads(call.arguments_json) == example.arguments
        assert (message.provider, message.content) == (example.provider, example.content)
        assert message.stop_reason == "tool_calls"
        assert not message.losses
    assert get_provider(example.provider).has_tool_calls(example.text)


def test_example_working_with_arguments() -> None:
    @dataclass
    class WeatherArgs:
        location: str
        unit: str = "celsius"

    call = parse_response(EXAMPLES["quick start"].text).tool_calls[0]
    assert call.get_argument("location", str) == "Tokyo"
    assert call.get_arguments(WeatherArgs) == WeatherArgs("Tokyo", "celsius")
    assert call.has_argument("unit")
    call = parse_response(EXAMPLES["openai"].text).tool_calls[0]
    assert call.get_arguments(WeatherArgs) == WeatherArgs("Tokyo")
    assert not call.has_argument("unit")


RESULTS = [
    ToolResult.success("call_abc123", "Temperature: 22°C", "get_weather"),
    ToolResult.failure("call_def456", "Location not found", "get_weather"),
]


def test_example_formatting_results() -> None:
    assert get_provider("openai").results(RESULTS) == [
        {"role": "tool", "tool_call_id": "call_abc123", "content": "Temperature: 22°C"},
        {"role": "tool", "tool_call_id": "call_def456", "content": "Error: Location not found"},
    ]
    assert get_provider("anthropic").results(RESULTS) == {
        "role": "user",
        "content": [
            {
                "type": "tool_result",
                "tool_use_id": "call_abc123",
                "content": "Temperature: 22°C",
                "is_error": False,
            },
            {
                "type": "tool_result",
                "tool_use_id": "call_def456",
                "content": "Error: Location not found",
                "is_error": True,
            },
        ],
    }
    assert [result.is_success for result in RESULTS] == [True, False]
    assert (RESULTS[1].content, RESULTS[1].error_message) == ("Error: Location not found", "Location not found")


def test_example_formatting_results_for_interactions() -> None:
    """The id that parsing kept is the one that goes back, with the members in the document's order."""
    response = {"steps": [{"type": "function_call", "id": "g1", "name": "get_weather", "arguments": {}}]}
    (call,) = parse_response(response).tool_calls
    written = get_provider("google_interactions").results(ToolResult(call.id, {"t": 22}), [call])
    assert written == [
        {"type": "function_result", "call_id": "g1", "name": "get_weather", "result": {"t": 22}, "is_error": False}
    ]
    assert list(written[0]) == ["type", "call_id", "name", "result", "is_error"]


def test_example_provider_helpers() -> None:
    assert Provider.OPENAI_COMPATIBLE.is_openai_compatible
    assert not Provider.OPENAI_COMPATIBLE.is_anthropic_compatible
    assert Provider.ANTHROPIC.is_anthropic_compatible
    assert (Provider.ANTHROPIC.documentation_url or "").startswith("https://")
    assert Provider.OPENAI_COMPATIBLE.documentation_url is None
    for name in ("openai", "anthropic", "google", "bedrock", "cohere", "xai", "deepseek", "azure_openai"):
        assert get_provider(name).provider is Provider(name)


def test_example_custom_parser() -> None:
    """A class of one's own with the same few methods stands beside the others."""

    class Custom:
        provider = Provider.OPENAI_COMPATIBLE

        def parse(self, response: Any) -> Message:
            return Message(tool_calls=[ToolCall(response["do"])])

        def can_parse(self, response: Any) -> bool:
            return isinstance(response, dict) and "do" in response

        def has_tool_calls(self, response: Any) -> bool:
            return self.can_parse(response)

        def results(self, results: Any, calls: Any = None) -> Any:
            return [results.content]

    parsers: list[ToolCallParser] = [get_provider("openai"), Custom()]
    assert all(isinstance(parser, ToolCallParser) for parser in parsers)
    response: Any = {"do": "f"}
    assert [parser.can_parse(response) for parser in parsers] == [False, True]
    assert parsers[1].parse(response).tool_calls == [ToolCall("f")]


# -- the wire surfaces that its program is tested with, through detection


class Surface(NamedTuple):
    provider: Provider
    id: str | None  # None: the surface has none, one is made
    payload: dict[str, Any]


_OSLO = {"city": "Oslo"}
_OSLO_TEXT = '{"city": "Oslo"}'

SURFACES = {
    "Chat Completions": Surface(Provider.OPENAI, "c1", openai(function(_OSLO_TEXT, "weather"))),
    "Chat Completions, a complete delta": Surface(
        Provider.OPENAI, "c2", {"choices": [{"delta": {"tool_calls": [function(_OSLO_TEXT, "weather", "c2")]}}]}
    ),
    "Responses": Surface(
        Provider.OPENAI_RESPONSES,
        "c3",
        {
            "id": "resp_1",
            "output": [
                {"id": "fc_1", "call_id": "c3", "type": "function_call", "name": "weather", "arguments": _OSLO_TEXT}
            ],
        },
    ),
    "Messages": Surface(
        Provider.ANTHROPIC,
        "toolu_1",
        {
            "content": [
                {"type": "text", "text": "One moment."},
                {"type": "tool_use", "id": "toolu_1", "name": "weather", "input": _OSLO},
            ],
            "stop_reason": "tool_use",
        },
    ),
    "generateContent": Surface(
        Provider.GOOGLE,
        None,
        {"candidates": [{"content": {"parts": [{"functionCall": {"name": "weather", "args": _OSLO}}]}}]},
    ),
    "Interactions": Surface(
        Provider.GOOGLE_INTERACTIONS,
        "g1",
        {
            "name": "interactions/1",
            "steps": [
                {"type": "thought", "text": "The weather, then."},
                {"type": "function_call", "id": "g1", "name": "weather", "arguments": _OSLO},
            ],
        },
    ),
    "Converse": Surface(
        Provider.BEDROCK,
        "tooluse_1",
        {
            "output": {
                "message": {
                    "role": "assistant",
                    "content": [{"toolUse": {"toolUseId": "tooluse_1", "name": "weather", "input": _OSLO}}],
                }
            },
            "stopReason": "tool_use",
        },
    ),
    "Cohere v2": Surface(
        Provider.COHERE,
        "c4",
        {"finish_reason": "TOOL_CALL", "message": {"tool_calls": [function(_OSLO_TEXT, "weather", "c4")]}},
    ),
    "Cohere v2, a plan": Surface(
        Provider.COHERE,
        "c5",
        {"tool_plan": "I will look.", "message": {"tool_calls": [function(_OSLO_TEXT, "weather", "c5")]}},
    ),
    "Cohere v1": Surface(
        Provider.COHERE_V1, None, {"message": {"tool_calls": [{"name": "weather", "parameters": _OSLO}]}}
    ),
    "Cohere v1, actions": Surface(
        Provider.COHERE_V1, None, {"actions": [{"tool_name": "weather", "tool_input": _OSLO}]}
    ),
}


@pytest.mark.parametrize("surface", SURFACES.values(), ids=SURFACES)
def test_surface(surface: Surface) -> None:
    text = json.dumps(surface.payload)
    assert detect_provider(text) is surface.provider
    assert get_provider(surface.provider).has_tool_calls(text)
    message = parse_response(text, ids="synthesize")
    (call,) = message.tool_calls
    assert (call.name, call.arguments) == ("weather", _OSLO)
    assert call.id
    assert call.id.strip()
    assert call.id_synthesized == (surface.id is None)
    if surface.id is not None:
        assert call.id == surface.id
    assert not message.errors
    # As they come the ids are the surface's own.
    assert parse_response(text).tool_calls[0].id == surface.id


@pytest.mark.parametrize("surface", [one for one in SURFACES.values() if one.id], ids=lambda one: one.id)
def test_the_parsed_id_goes_back(surface: Surface) -> None:
    (call,) = parse_response(surface.payload).tool_calls
    written = get_provider(surface.provider).results(ToolResult.success(call.id, "cold", call.name))
    assert json.dumps(surface.id) in json.dumps(written)


# -- shapes of another kind than where they stand: every verb of every parser

SHAPES = {
    "a list": '[{"name": "weather"}]',
    "a string": '"weather"',
    "a number": "7",
    "output: a list": '{"output": [{"type": "function_call", "name": "weather"}]}',
    "output.message: a list": '{"output": {"message": [1]}}',
    "message: a string": '{"message": "cold"}',
    "candidate: a string": '{"candidates": ["cold"]}',
    "candidate.content: a string": '{"candidates": [{"content": "cold"}]}',
    "content.parts: an object": '{"content": {"parts": {"functionCall": {}}}}',
    "choice: a string": '{"choices": ["cold"]}',
    "choice.message: a string": '{"choices": [{"message": "cold"}]}',
    "choice.delta: a string": '{"choices": [{"delta": "cold"}]}',
    "content block: a string": '{"content": ["cold"], "stop_reason": "end_turn"}',
    "action: a string": '{"actions": ["cold"]}',
    "call: a string": '{"tool_calls": ["cold"]}',
    "output item: a string": '{"output": ["cold"]}',
}
# Scalars of another kind: for these its program raises InvalidOperationException.
SCALARS = {
    "finish_reason: a number": '{"finish_reason": 3}',
    "stopReason: an object": '{"stopReason": {}}',
    "block type: a number": '{"content": [{"type": 3}]}',
    "arguments: an object": json.dumps(openai(function({"k": 1}))),
    "id: a number": json.dumps(openai(function(id=3))),
}


@pytest.mark.parametrize("shape", (SHAPES | SCALARS).values(), ids=SHAPES | SCALARS)
def test_shape_mismatch(shape: str) -> None:
    """Detection and every parser answer; the same for the text as for its value."""
    value = json.loads(shape)
    assert detect_provider(shape) is detect_provider(value)
    parse_response(shape, on_error="collect")
    for provider in providers():
        parser = get_provider(provider)
        for response in [shape] if isinstance(value, str) else [shape, value]:  # a string would be text again
            assert parser.can_parse(response) in (True, False)
            message = parser.parse(response, on_error="collect")
            attempted = bool(message.tool_calls) or any(error.call_index is not None for error in message.errors)
            assert parser.has_tool_calls(response) == attempted


def test_one_of_the_shapes_has_a_call() -> None:
    """It stands where its API has it, but for its id: ToolCallParser reads it too. All others say what was not read."""
    for name, shape in SHAPES.items():
        message = parse_response(shape)
        if name == "output: a list":
            assert (message.tool_calls, message.losses) == ([ToolCall("weather")], [])
        else:
            assert message.tool_calls == []
            assert [loss.code for loss in message.losses] == ["loss.unread"], name


def test_the_sets_are_complete() -> None:
    assert (len(EXAMPLES) + 2, len(SURFACES), len(SHAPES)) == (7, 11, 16)


# -- what we decided otherwise


@difference("Names of providers")
def test_names_of_providers() -> None:
    assert detect_provider(SURFACES["Responses"].payload) is Provider.OPENAI_RESPONSES
    assert detect_provider(SURFACES["Interactions"].payload) is Provider.GOOGLE_INTERACTIONS
    assert detect_provider(SURFACES["Cohere v1"].payload) is Provider.COHERE_V1
    # Mistral has deviations of its own, and is compatible all the same.
    assert Provider.MISTRAL.wire_format is WireFormat.MISTRAL
    assert Provider.MISTRAL.is_openai_compatible
    assert {Provider.OLLAMA, Provider.VLLM, Provider.TGI} <= set(providers())


@difference("`auto`, and names that nobody has")
def test_no_such_provider() -> None:
    for name in ("auto", "nobody"):
        with pytest.raises(DefinitionError) as info:
            get_provider(name)
        assert info.value.code == "definition.unknown_provider"
        assert try_get_provider(name) is None


@difference("Answers without calls")
def test_answers_without_calls() -> None:
    assert detect_provider({"candidates": [{"content": {"parts": [{"text": "Hi."}]}}]}) is Provider.GOOGLE
    answer: dict[str, Any] = {"output": {"message": {"content": [{"text": "Hi."}]}}, "stopReason": "end_turn"}
    assert detect_provider(answer) is Provider.BEDROCK
    assert parse_response(answer).content == "Hi."
    assert detect_provider({"content": [{"type": "text", "text": "Hi."}], "type": "message"}) is Provider.ANTHROPIC


@difference("A step or an item by itself")
def test_a_step_by_itself() -> None:
    item = {"type": "function_call", "name": "f", "id": "c1"}
    assert detect_provider({**item, "arguments": {}}) is Provider.GOOGLE_INTERACTIONS
    assert detect_provider({**item, "arguments": "{}"}) is Provider.OPENAI_RESPONSES


@difference("Calls of Ollama")
def test_calls_of_ollama() -> None:
    call = {"function": {"name": "f", "arguments": {"k": 1}}}
    response = {"model": "m", "created_at": "t", "message": {"role": "assistant", "tool_calls": [call]}, "done": True}
    assert detect_provider(response) is Provider.OLLAMA
    assert parse_response(response).tool_calls == [ToolCall("f", {"k": 1})]


@difference("Text that is not JSON")
def test_text_that_is_not_json() -> None:
    assert detect_provider("{") is Provider.AUTO
    with pytest.raises(ParseError) as info:
        parse_response("{")
    assert (info.value.code, info.value.position) == ("json.unexpected_end", 1)
    assert parse_response(" ").tool_calls == []


@difference("Ids that are missing")
def test_ids_that_are_missing() -> None:
    call = {"toolUse": {"name": "f", "input": {}}}
    assert parse_response(call).tool_calls[0].id is None
    made = parse_response(call, ids="synthesize").tool_calls[0]
    assert made.id_synthesized
    assert re.fullmatch("call_[0-9a-f]{24}", made.id or "")
    legacy = {"choices": [{"message": {"function_call": {"name": "f", "arguments": "{}"}}}]}
    assert parse_response(legacy).tool_calls == [ToolCall("f")]


@difference("Gemini's own ids")
def test_geminis_own_ids() -> None:
    assert parse_response({"functionCall": {"id": "g1", "name": "f"}}).tool_calls[0].id == "g1"


@difference("Arguments that cannot be read")
def test_arguments_that_cannot_be_read() -> None:
    message = collected(openai(function('{"k": ')))
    assert message.tool_calls == []
    assert [(error.code, error.path) for error in message.errors] == [
        ("json.unexpected_end", "$.choices[0].message.tool_calls[0].function.arguments")
    ]


@difference("Arguments as an object, in Chat Completions")
def test_object_arguments() -> None:
    assert parse_response(openai(function({"k": 1}))).tool_calls == [ToolCall("f", {"k": 1}, "c1")]


@difference("Empty and null arguments")
def test_empty_arguments() -> None:
    payloads = [openai(function("")), {"content": [{"type": "tool_use", "id": "c1", "name": "f", "input": None}]}]
    for payload in payloads:
        (call,) = parse_response(payload).tool_calls
        assert (call.arguments, call.arguments_json) == ({}, "{}")


@difference("Arguments as text")
def test_arguments_as_text() -> None:
    spaced = '{"b":  1,"a":2}'
    assert parse_response(openai(function(spaced))).tool_calls[0].arguments_json == spaced
    text = f'{{"content": [{{"type": "tool_use", "id": "c1", "name": "f", "input": {spaced}}}]}}'
    assert parse_response(text).tool_calls[0].arguments_json == '{"b": 1, "a": 2}'


@difference("Calls without a name")
def test_calls_without_a_name() -> None:
    for payload in (
        openai(function(name=None)),
        {"functionCall": {"args": {}}},
        {"steps": [{"type": "function_call"}]},
    ):
        message = collected(payload)
        assert message.tool_calls == []
        assert [error.code for error in message.errors] == ["tool_call.invalid_name"]


@difference("Calls without an id, in Chat Completions and Messages")
def test_calls_without_an_id() -> None:
    assert parse_response(openai({"function": {"name": "f", "arguments": "{}"}})).tool_calls == [ToolCall("f")]
    assert parse_response({"content": [{"type": "tool_use", "name": "f", "input": {}}]}).tool_calls == [ToolCall("f")]


@difference("Several choices")
def test_several_choices() -> None:
    choices = openai()["choices"] + openai(function())["choices"]
    message = parse_response({"choices": choices})
    assert message.tool_calls == []
    assert [loss.code for loss in message.losses] == ["loss.choice"]
    assert [len(one.tool_calls) for one in parse_responses({"choices": choices})] == [0, 1]
    # An empty list beside the choices hides nothing.
    assert len(parse_response({"tool_calls": [], **openai(function())}).tool_calls) == 1


@difference("Calls in several places at once")
def test_calls_in_several_places() -> None:
    part = {"functionCall": {"name": "f"}}
    payload = {"candidates": [{"content": {"parts": [part]}}], "parts": [{"functionCall": {"name": "g"}}]}
    assert [call.name for call in parse_response(payload).tool_calls] == ["f"]


@difference("A reason to stop that no call follows")
def test_a_reason_without_calls() -> None:
    for name, payload in (
        ("anthropic", {"stop_reason": "tool_use"}),
        ("bedrock", {"stopReason": "tool_use"}),
        ("cohere", {"finish_reason": "TOOL_CALL"}),
    ):
        assert detect_provider(payload) is Provider(name)
        assert not get_provider(name).has_tool_calls(payload)


@difference("Custom tools")
def test_custom_tools() -> None:
    item = {"type": "custom_tool_call", "call_id": "c1", "name": "f", "input": "select 1"}
    (call,) = parse_response({"output": [item]}).tool_calls
    assert (call.kind, call.input, call.id) == ("custom", "select 1", "c1")


@difference("What results are")
def test_what_results_are() -> None:
    written = get_provider("openai").results(RESULTS)
    assert isinstance(written, list)
    assert written.losses == ()


@difference("Results for Gemini")
def test_results_for_gemini() -> None:
    assert get_provider("google").results(RESULTS) == {
        "role": "user",
        "parts": [
            {"functionResponse": {"name": "get_weather", "response": {"output": "Temperature: 22°C"}}},
            {"functionResponse": {"name": "get_weather", "response": {"error": "Location not found"}}},
        ],
    }


@difference("Results for Interactions")
def test_results_for_interactions() -> None:
    results = [ToolResult("g1", "22", "f"), ToolResult("g2", '{"t": 22}', "f"), ToolResult("g3", {"t": 22}, "f")]
    written = get_provider("google_interactions").results(results)
    assert [one["result"] for one in written] == ["22", '{"t": 22}', {"t": 22}]


@difference("Results for Bedrock")
def test_results_for_bedrock() -> None:
    results = [ToolResult("t1", "{22"), ToolResult("t2", '{"t": 22}'), ToolResult("t3", {"t": 22})]
    written: Any = get_provider("bedrock").results(results)
    assert [one["toolResult"]["content"] for one in written["content"]] == [
        [{"text": "{22"}],
        [{"text": '{"t": 22}'}],
        [{"json": {"t": 22}}],
    ]


@difference("Failures for Cohere")
def test_failures_for_cohere() -> None:
    written = get_provider("cohere").results(RESULTS)
    assert [one["content"] for one in written] == ["Temperature: 22°C", '{"error": "Location not found"}']


@difference("Results for Responses")
def test_results_for_responses() -> None:
    assert get_provider("openai_responses").results(RESULTS[0]) == [
        {"type": "function_call_output", "call_id": "call_abc123", "output": "Temperature: 22°C"}
    ]


@difference("Types of arguments")
def test_types_of_arguments() -> None:
    call = ToolCall("f", {"n": "3", "where": {"city": "Oslo"}, "none": None})
    with pytest.raises(TypeError, match="expected int"):
        call.get_argument("n", int)
    with pytest.raises(TypeError, match="is dict, expected Message"):
        call.get_argument("where", Message)
    assert call.get_argument("none") is None
    assert call.get_argument("N") is None
    assert call.has_argument("none")


def test_every_difference_is_on_the_page() -> None:
    """Each row of the page has its test here, and each such test its row, in the page's order."""
    table = PAGE.read_text("utf-8").partition("<!-- differences -->")[2].partition("<!-- end of differences -->")[0]
    rows = re.findall(r"^\| (.*?) \| .* \| .* \|$", table, re.MULTILINE)
    assert rows[0] == "what"
    assert rows[2:] == DIFFERENCES
