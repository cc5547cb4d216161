"""Providers: every recorded payload, whole and in every form; detection; hostile shapes."""

from __future__ import annotations

import copy
import json
import pickle
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import payloads
import toolglot
from payloads import Payload
from toolglot import (
    ConversionError,
    DefinitionError,
    LimitError,
    Message,
    OpaquePart,
    ParseError,
    Provider,
    Tool,
    ToolCall,
    ToolCallParser,
    ToolChoice,
    ToolglotError,
    ToolResult,
    WireFormat,
    WireProvider,
    detect_provider,
    get_provider,
    parse_response,
    parse_responses,
    providers,
    try_get_provider,
)
from toolglot.providers._names import DEFAULT

CASES = payloads.cases()
RESPONSES = [case for case in CASES if case.is_response]
WIRES = sorted({provider.wire_format for provider in providers()})
SOURCE = Path(toolglot.__file__).parent / "providers"


def label(case: Payload) -> str:
    return f"{case.wire}/{case.name}"


def provider_of(case: Payload) -> WireProvider:
    return get_provider(case.data.get("provider", DEFAULT[WireFormat(case.wire)]))


def seen(message: Message, expected: dict[str, Any], text: str | None) -> dict[str, Any]:
    """What is in ``message``, as far as ``expected`` and the rules of a case ask for it."""
    found: dict[str, Any] = {"stop_reason": message.stop_reason}
    for key in ("content", "reasoning", "usage"):
        if getattr(message, key) is not None:
            found[key] = getattr(message, key)
    for key, calls in (("calls", message.tool_calls), ("server_calls", message.server_calls)):
        for number, call in enumerate(calls):
            one: dict[str, Any] = {"name": call.name, "arguments": call.arguments, "id": call.id}
            if call.kind == "custom":
                one |= {"kind": "custom", "input": call.input}
            if call.raw_arguments is not None:
                one["raw_arguments"] = call.raw_arguments
            if call.extra:
                one["extra"] = call.extra
            if key == "calls" and call.index != number:
                one["index"] = call.index
            found.setdefault(key, []).append(one)
    for number, error in enumerate(message.errors):
        one = {"code": error.code, "path": error.path}
        if error.call_index is not None:
            one["call_index"] = error.call_index
        wanted = expected.get("errors", [])[number : number + 1]
        if wanted and "at" in wanted[0]:
            at = wanted[0]["at"]
            one["at"] = text[error.position : error.position + len(at)] if text and error.position is not None else at
        found.setdefault("errors", []).append(one)
    if message.losses:
        found["losses"] = [[loss.code, loss.path] for loss in message.losses]
    if "extra" in expected:
        found["extra"] = message.extra
    return found


@pytest.mark.parametrize("case", RESPONSES, ids=label)
def test_response(case: Payload) -> None:
    parser = provider_of(case)
    text = case.text
    several = case.data.get("messages")
    if several:
        messages = parser.parse_all(text, on_error="collect")
        assert [seen(message, one, text) for message, one in zip(messages, several, strict=True)] == several
    if "message" in case.data:
        expected = case.data["message"]
        message = parser.parse(text, on_error="collect")
        assert seen(message, expected, text) == expected
        assert message.provider == parser.provider.value
        # The same as bytes and as JSON values; positions are then those inside the string that is wrong.
        assert parser.parse(text.encode(), on_error="collect") == message
        value = parser.parse(json.loads(text), on_error="collect")
        assert seen(value, expected, None) == expected
        assert value.parts == message.parts
        assert pickle.loads(pickle.dumps(message)) == message
        if expected.get("errors"):
            with pytest.raises(ParseError) as info:
                parser.parse(text)
            assert info.value == message.errors[0]
            assert seen(info.value.message or Message(), expected, text) == expected
        else:
            assert parser.parse(text) == message


@pytest.mark.parametrize("case", RESPONSES, ids=label)
def test_detection(case: Payload) -> None:
    expected = Provider(case.data.get("detect", DEFAULT[WireFormat(case.wire)]))
    assert detect_provider(case.text) == expected
    assert detect_provider(case.text.encode()) == expected
    assert detect_provider(json.loads(case.text)) == expected
    parser = provider_of(case)
    assert parser.can_parse(case.text) == (expected is not Provider.AUTO)
    if expected is not Provider.AUTO:
        found = parse_responses(case.text, on_error="collect")
        named = get_provider(expected).parse_all(case.text, on_error="collect")
        assert found == named
        assert parser.has_tool_calls(case.text) == bool(
            named[0].tool_calls or any(error.call_index is not None for error in named[0].errors)
        )


@pytest.mark.parametrize("case", [case for case in RESPONSES if "assistant" in case.data], ids=label)
def test_written_back(case: Payload) -> None:
    parser = provider_of(case)
    message = parser.parse(case.text)
    written = parser.assistant(message, strict=True)
    assert written == case.data["assistant"]
    # What was written is read again as the same message.
    again = parser.parse(written)
    assert again.tool_calls == message.tool_calls
    assert (again.content, again.reasoning) == (message.content, message.reasoning)
    assert [call.extra for call in again.tool_calls] == [call.extra for call in message.tool_calls]


@pytest.mark.parametrize("case", [case for case in CASES if "request" in case.data], ids=label)
def test_request(case: Payload) -> None:
    parser = provider_of(case)
    choice = case.data.get("choice")
    choice = None if choice is None else ToolChoice(**{**choice, "names": tuple(choice.get("names", ()))})
    before = copy.deepcopy(case.data["tools"])
    request = parser.request(case.data["tools"], choice)
    assert request == case.data["request"]
    assert [[loss.code, loss.path] for loss in request.losses] == case.data.get("losses", [])
    assert case.data["tools"] == before
    if request.losses:
        with pytest.raises(ConversionError) as info:
            parser.request(case.data["tools"], choice, strict=True)
        assert (info.value.code, info.value.losses) == ("conversion.lossy", request.losses)
    if request:  # "none" may be said by sending no tools
        assert parser.tools(case.data["tools"], strict=False).keys() <= request.keys() | {"tools"}


@pytest.mark.parametrize("case", [case for case in CASES if "results" in case.data], ids=label)
def test_results(case: Payload) -> None:
    parser = provider_of(case)
    results = [payloads.result(one) for one in case.data["results"]]
    calls = [payloads.call(one) for one in case.data["calls"]] if "calls" in case.data else None
    written = parser.results(results, calls)
    assert written == case.data["written"]
    assert [[loss.code, loss.path] for loss in written.losses] == case.data.get("losses", [])


# -- every wire format alike


@pytest.mark.parametrize("wire", WIRES)
def test_every_wire_format_has_its_cases(wire: WireFormat) -> None:
    names = {case.name for case in CASES if case.wire == wire}
    assert {"calls", "request", "results", "wrong_arguments", "wrong_shapes"} <= names
    tags = {tag for case in CASES if case.wire == wire for tag in case.data["tags"]}
    assert {"definition", "choice", "response", "result", "error", "ids"} <= tags


def test_every_folder_has_a_wire_format() -> None:
    assert {case.wire for case in CASES} == {str(wire) for wire in WIRES}


@pytest.mark.parametrize("wire", WIRES)
def test_sections_are_in_order(wire: WireFormat) -> None:
    text = (SOURCE / f"{wire}.py").read_text("utf-8")
    sections = ("definition", "choice", "response", "stream", "result", "history")
    places = [
        text.index(f"    # -- {section}\n") for section in sections if section != "history" or "-- history" in text
    ]
    assert places == sorted(places)


@pytest.mark.parametrize("provider", providers())
def test_one_call_through(provider: Provider) -> None:
    """A call of anyone's is written for everyone, answered, and keeps its arguments and its id's pair."""
    parser = get_provider(provider)
    call = ToolCall("get_weather", {"city": "Oslo", "n": [1, None]}, "call_abc")
    written = parser.assistant(Message(content="On it.", tool_calls=[call]))
    again = parser.parse(json.dumps(written))
    assert (again.content, again.tool_calls[0].name) == ("On it.", "get_weather")
    assert again.tool_calls[0].arguments == call.arguments
    results = parser.results(ToolResult.success("call_abc", "4 C"), [call])
    assert "4 C" in json.dumps(results)
    if again.tool_calls[0].id is not None:
        assert json.dumps(again.tool_calls[0].id) in json.dumps(results)
    assert isinstance(parser, ToolCallParser)


@pytest.mark.parametrize("provider", providers())
def test_foreign_names_and_ids_fit(provider: Provider) -> None:
    parser = get_provider(provider)
    tool = Tool("files/read it", "Reads.", {"type": "object", "properties": {"p": {"type": "string"}}})
    call = ToolCall(tool.name, {"p": "x"}, "call|" + "x" * 100)
    request = parser.request(tool)
    assert [loss.code for loss in request.losses] == ["loss.name"]
    written = parser.assistant(Message(tool_calls=[call]))
    message = parser.parse(json.dumps(written), tools=[tool])
    assert message.tool_calls[0].name == tool.name
    made = message.tool_calls[0].id
    assert made is None or (
        (made != call.id) == (parser.call_ids is not None)
        and json.dumps(made) in json.dumps(parser.results(ToolResult(call.id, ""), [call]))
    )
    with pytest.raises(ParseError) as info:
        parser.parse(written, tools=["other"])
    assert info.value.code == "tool_call.unknown_tool"


@pytest.mark.parametrize("provider", providers())
def test_a_tool_of_free_text(provider: Provider) -> None:
    """Where the API has none it is a function with one string, and its call is one of free text again."""
    parser = get_provider(provider)
    tool = Tool("run_sql", "Runs it.", kind="custom")
    written = json.dumps(parser.request(tool, "run_sql"))
    assert "run_sql" in written
    assert '"custom"' in written or '"input": {"type": "str' in written  # Cohere's first version says "str"
    call = ToolCall("run_sql", id="call_1", kind="custom", input='select "a"')
    again = parser.parse(parser.assistant(Message(tool_calls=[call])), tools=[tool]).tool_calls[0]
    assert (again.kind, again.input, again.arguments) == ("custom", call.input, {})


@pytest.mark.parametrize("provider", providers())
def test_nothing_of_one_provider_goes_to_another(provider: Provider) -> None:
    """Whatever was read from anyone: what it brought along for its own provider stays away from the others."""
    parser = get_provider(provider)
    for case in RESPONSES:
        other = provider_of(case)
        if other.wire is parser.wire:
            continue
        for message in other.parse_all(case.text, on_error="collect", ids="synthesize"):
            text = json.dumps(parser.assistant(message))
            for secret in ("signature", "encrypted", "srvtoolu_", "reasoning_details", "toolType", "c2ln"):
                assert secret not in text.replace("skip_thought_signature_validator", "").replace(
                    "thoughtSignature", ""
                )


# -- names


def test_providers() -> None:
    assert Provider.AUTO not in providers()
    assert all(get_provider(provider).provider is provider for provider in providers())
    assert get_provider("gemini") is get_provider(Provider.GOOGLE)
    assert try_get_provider("auto") is None
    assert try_get_provider("nobody") is None
    for name in ("auto", "nobody", ""):
        with pytest.raises(DefinitionError) as info:
            get_provider(name)
        assert info.value.code == "definition.unknown_provider"
    for provider in Provider:
        url = provider.documentation_url
        nobody = (Provider.AUTO, Provider.OPENAI_COMPATIBLE, Provider.ANTHROPIC_COMPATIBLE)
        assert (url is None) == (provider in nobody)
        assert url is None or url.startswith("https://")
    compatible = {provider.value for provider in Provider if provider.is_openai_compatible}
    assert {"openai", "azure_openai", "mistral", "xai", "deepseek", "openai_compatible"} <= compatible
    assert not compatible & {"auto", "anthropic", "google", "bedrock", "cohere", "openai_responses"}
    assert {p.value for p in Provider if p.is_anthropic_compatible} == {"anthropic", "anthropic_compatible"}
    assert (str(Provider.XAI), f"{WireFormat.GEMINI}") == ("xai", "gemini")


# -- detection and hostile shapes

CALLS = [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}]
# Tools declared as OpenAI, Anthropic and MCP have them, and a choice.
DEFINITIONS: list[list[dict[str, Any]]] = [
    [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}],
    [{"type": "function", "function": {"name": "f", "description": "F."}}],
    [{"type": "function", "function": {"name": "f"}}],
    [{"type": "custom", "custom": {"name": "f"}}],
    [{"type": "function", "name": "f", "parameters": {"type": "object"}}],
    [{"name": "f", "input_schema": {"type": "object"}}],
    [{"name": "f", "inputSchema": {"type": "object"}}],
]


@pytest.mark.parametrize("provider", ["auto", *providers()], ids=str)
@pytest.mark.parametrize("value", DEFINITIONS, ids=str)
def test_definitions_are_no_calls(value: list[dict[str, Any]], provider: str) -> None:
    message = parse_response(value, provider)
    assert message.tool_calls == []
    assert [loss.detail for loss in message.losses] == ["definitions; Tool.from_any reads them"]


@pytest.mark.parametrize(
    ("response", "provider"),
    [
        ('{"choices": []}', "openai"),
        ({"object": "chat.completion.chunk", "choices": []}, "openai"),
        ({"message": {"tool_calls": []}}, "openai"),
        ({"type": "response.output_item.added", "item": {}}, "openai_responses"),
        ({"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}, "openai_responses"),
        ({"type": "function_call", "id": "c", "name": "f", "arguments": {}}, "google_interactions"),
        ({"type": "content_block_start", "index": 0}, "anthropic"),
        ({"stop_reason": None}, "anthropic"),
        ({"content": [{"type": "tool_use"}]}, "anthropic"),
        ([{"type": "text", "text": "x"}, {"type": "tool_use", "id": "a", "name": "f", "input": {}}], "anthropic"),
        ({"candidates": [{"content": {"parts": [{"text": "Hi"}]}}]}, "google"),
        ({"functionCall": {"name": "f"}}, "google"),
        ({"steps": [{"type": "function_call", "name": "f"}]}, "google_interactions"),
        ({"event_type": "step.delta", "index": 0}, "google_interactions"),
        ({"output": {"message": {"content": []}}, "stopReason": "end_turn"}, "bedrock"),
        ({"contentBlockDelta": {}}, "bedrock"),
        ({"finish_reason": "TOOL_CALL", "message": {}}, "cohere"),
        ({"type": "tool-call-start", "index": 0}, "cohere"),
        ({"tool_calls": [{"name": "f", "parameters": {}}]}, "cohere_v1"),
        ({"message": {"content": ""}, "done": True}, "ollama"),
        ({"object": "conversation.response", "outputs": []}, "mistral_conversations"),
        ({"content": [{"type": "text", "text": "x"}], "isError": False}, "mcp"),
        ({"jsonrpc": "2.0", "id": 1}, "mcp"),
        ({"method": "tools/call", "params": {}}, "mcp"),
        ({"role": "assistant", "content": {"type": "text"}, "model": "m", "stopReason": "endTurn"}, "mcp"),
        ({"role": "assistant", "content": [{"text": "x"}]}, "bedrock"),
        ({"role": "assistant", "content": [{"text": "x"}, {"toolUse": {}}]}, "bedrock"),
        ({"role": "assistant", "content": [{"type": "text", "text": "x"}]}, "anthropic"),
        ({"role": "assistant", "content": [{"type": "text"}], "tool_calls": [{"function": {"name": "f"}}]}, "openai"),
        ({"role": "assistant", "content": [], "tool_plan": "x", "tool_calls": []}, "cohere"),
        ({"role": "CHATBOT", "message": "x"}, "cohere_v1"),
        ({"text": "x", "generation_id": "g", "tool_calls": []}, "cohere_v1"),
        ({"message": {"tool_calls": [{"name": "f", "parameters": {}}]}}, "cohere_v1"),
        ({"actions": [{"tool_name": "f", "tool_input": {}}]}, "cohere_v1"),
        ([{"type": "function_result", "call_id": "g", "result": "x"}], "google_interactions"),
        ({}, "auto"),
        ([], "auto"),
        ("", "auto"),
        (" \n", "auto"),
        ("{", "auto"),
        (b"\xff{}", "auto"),
        (None, "auto"),
        (3, "auto"),
        (object(), "auto"),
        ({"output": "text"}, "auto"),
        ({"message": "hi"}, "auto"),
        ({"type": ["response.x"], "event_type": {}, "object": [], "content": 3}, "auto"),
        # A call has arguments, or an id at least: what has neither declares or chooses a tool.
        ([{"id": "c", "type": "function", "function": {"name": "f"}}], "openai"),
        ([{"function": {"name": "f", "arguments": "{}"}}, {"function": {"name": "g"}}], "openai"),
        *((value, "auto") for value in DEFINITIONS),
        *((value[0], "auto") for value in DEFINITIONS),
        # A conversation is nobody's response.
        ([{"role": "user", "content": "Hi"}, {"role": "assistant", "tool_calls": CALLS}], "auto"),
        ([{"role": "assistant", "tool_calls": CALLS}, {"role": "tool", "tool_call_id": "c", "content": "1"}], "auto"),
        ([{"role": "user", "parts": [{"text": "Hi"}]}, {"role": "model", "parts": [{"functionCall": {}}]}], "auto"),
        ([{"role": "USER", "message": "Hi"}, {"role": "CHATBOT", "tool_calls": [{"name": "f"}]}], "auto"),
    ],
)
def test_detect(response: Any, provider: str) -> None:
    assert detect_provider(response) is Provider(provider)


def test_what_is_no_payload() -> None:
    for parse in (parse_response, get_provider("openai").parse):
        with pytest.raises(TypeError, match="expected JSON text"):
            parse(object())
        with pytest.raises(ParseError) as info:
            parse('{"choices": [}')
        assert (info.value.code, info.value.position) == ("json.expected_value", 13)
        with pytest.raises(ParseError) as info:
            parse(b'{"choices\xff": []}')
        assert (info.value.code, info.value.position) == ("provider.invalid_encoding", 9)
        for blank in ("", " \n", b""):
            message = parse(blank)
            assert (message.tool_calls, message.content, message.losses) == ([], None, [])


def test_nobodys_shape_is_said() -> None:
    message = parse_response({"answer": 42})
    assert (message.provider, message.tool_calls) == ("auto", [])
    assert [loss.code for loss in message.losses] == ["loss.unread"]


def test_positions_are_those_of_the_payload() -> None:
    call = '{"function": {"name": "f", "arguments": "{\\n\\"k\\": \\u00e9}"}}'
    text = f'{{"choices":\n [{{"message": {{"tool_calls": [{call}]}}}}]}}'
    with pytest.raises(ParseError) as info:
        parse_response(text)
    error = info.value
    assert (error.code, error.position, error.line) == ("json.expected_value", text.index("\\u00e9"), 2)
    assert error.column == text.index("\\u00e9") - text.index("\n")
    assert error.path == "$.choices[0].message.tool_calls[0].function.arguments"
    assert error.context().splitlines()[0].endswith('"{\\n\\"k\\": \\u00e9}"')
    assert "'f'" in error.feedback()
    with pytest.raises(ParseError) as info:
        parse_response(json.loads(text))
    assert (info.value.position, info.value.line, info.value.raw) == (7, 2, '{\n"k": é}')


def test_ids_can_be_made_up() -> None:
    response = {
        "candidates": [{"content": {"parts": [{"functionCall": {"name": "f"}}, {"functionCall": {"name": "f"}}]}}]
    }
    calls = parse_response(response, ids="synthesize").tool_calls
    assert all(call.id_synthesized and call.id and call.id.startswith("call_") for call in calls)
    assert calls[0].id != calls[1].id
    assert [call.id for call in parse_response(response).tool_calls] == [None, None]
    # Gemini never sees an id that it did not give.
    assert "call_" not in json.dumps(get_provider("google").assistant(Message(tool_calls=calls, provider="google")))


def test_nulls_that_strict_mode_forced_come_out() -> None:
    schema = {
        "type": "object",
        "properties": {"city": {"type": "string"}, "unit": {"type": "string"}},
        "required": ["city"],
    }
    tool = Tool("f", parameters=schema, strict=True)
    arguments = '{"city": "Oslo", "unit": null}'
    response = {
        "choices": [{"message": {"tool_calls": [{"id": "a", "function": {"name": "f", "arguments": arguments}}]}}]
    }
    call = parse_response(response, tools=[tool]).tool_calls[0]
    assert (call.arguments, call.arguments_json) == ({"city": "Oslo"}, '{"city": "Oslo"}')
    assert call.raw_arguments == arguments
    assert parse_response(response).tool_calls[0].arguments_json == arguments


def test_a_result_without_its_call() -> None:
    with pytest.raises(ConversionError) as info:
        get_provider("openai").results(ToolResult(None, "x"))
    assert info.value.code == "conversion.missing_id"
    with pytest.raises(ConversionError) as info:
        get_provider("google").results(ToolResult("a", "x"))
    assert info.value.code == "conversion.missing_name"


def test_calls_without_their_envelope() -> None:
    """Such a call's arguments are not lost, whatever they are called."""
    for key in ("arguments", "parameters"):
        payload = {"message": {"tool_calls": [{"name": "f", key: {"k": 1}}]}}
        calls = get_provider("openai").parse(payload).tool_calls
        assert [(call.name, call.arguments) for call in calls] == [("f", {"k": 1})]
    with pytest.raises(ParseError) as info:
        get_provider("openai").parse({"tool_calls": [{"name": "f", "parameters": [1]}]})
    assert info.value.path == "$.tool_calls[0].parameters"


def test_results_and_calls_that_do_not_match() -> None:
    calls = [ToolCall("f", id="a"), ToolCall("g", id="b"), ToolCall("f", id="c")]
    results = [ToolResult("z", "Z"), ToolResult(None, "2", "f"), ToolResult("a", "1")]
    written = get_provider("openai").results(results, calls)
    assert [message["tool_call_id"] for message in written] == ["a", "c", "z"]
    assert [loss.code for loss in written.losses] == ["loss.result_missing", "loss.result_unmatched"]


def test_opaque_parts_go_to_nobody_else() -> None:
    message = Message(parts=[OpaquePart({"type": "x"}, None, {"anthropic": {}})])
    assert get_provider("anthropic").assistant(message) == {"role": "assistant", "content": [{"type": "x"}]}
    assert [loss.code for loss in get_provider("openai").assistant(message).losses] == ["loss.part"]


def test_choices_that_the_api_cannot_say() -> None:
    choice = get_provider("anthropic").tool_choice(["a", "b"])
    assert choice == {"tool_choice": {"type": "any"}}
    assert [loss.code for loss in choice.losses] == ["loss.tool_choice"]
    with pytest.raises(ConversionError, match="'b'"):
        get_provider("anthropic").request([Tool("a")], ["b"])
    assert get_provider("anthropic").request([], "required") == {}


def test_what_a_definition_says_to_one_api_is_told_to_no_other() -> None:
    tool = {"name": "f", "inputSchema": {"type": "object", "properties": {}}, "annotations": {"readOnlyHint": True}}
    written = get_provider("openai").tools([tool])
    assert "annotations" not in json.dumps(written)
    assert [(loss.code, loss.path) for loss in written.losses] == [("loss.tool_extra", "$[0].extra.mcp.annotations")]
    server = get_provider("openai").tools([{"type": "web_search_20250305", "name": "web_search"}])
    assert server == {}
    assert [loss.code for loss in server.losses] == ["loss.tool_kind"]


def test_gemini_openapi() -> None:
    tool = Tool(
        "f", parameters={"type": "object", "properties": {"a": {"type": ["integer", "null"], "enum": [1, None]}}}
    )
    written = get_provider("google").with_openapi().tools(tool)  # type: ignore[attr-defined]
    assert written["tools"][0]["functionDeclarations"][0]["parameters"] == {
        "type": "OBJECT",
        "properties": {"a": {"type": "INTEGER", "nullable": True, "description": "(one of 1)"}},
    }


# What .NET's ToolCallParser is tested with: shapes of another kind than a parser's own.
SHAPES = [
    "[]", "[1]", '"text"', "3", "null", '{"content": "text"}', '{"content": ["text", 3]}', '{"content": [null]}',
    '{"choices": {}}', '{"choices": [1]}', '{"choices": [{"message": "text"}]}', '{"message": "text"}',
    '{"message": []}', '{"output": []}', '{"output": "text"}', '{"output": {"message": "text"}}', '{"candidates": {}}',
    '{"candidates": [{"content": "text"}]}', '{"candidates": [{"content": {"parts": {}}}]}', '{"parts": "text"}',
    '{"tool_calls": {}}', '{"tool_calls": [null]}', '{"steps": {}}', '{"steps": [3]}', '{"functionCall": []}',
    '{"finish_reason": 3}', '{"stopReason": {}}', '{"stop_reason": []}', '{"toolUse": "text"}', '{"actions": {}}',
    '[{"candidates": []}]',
]  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
def test_shapes_of_another_kind(shape: str) -> None:
    detect_provider(shape)
    parse_responses(shape, on_error="collect")
    for provider in providers():
        parser = get_provider(provider)
        parser.can_parse(shape)
        parser.has_tool_calls(shape)
        for message in parser.parse_all(shape, on_error="collect"):
            assert message.tool_calls == []


ODD = st.sampled_from(
    [None, True, 3, 1.5, "", "x", "{", [], {}, [[]], {"x": []}, [None], {"type": 3}, "\ud800", 10**400]
)


@settings(max_examples=300)
@given(st.sampled_from(RESPONSES), st.data())
def test_mutated_payloads(case: Payload, data: st.DataObject) -> None:
    """Whatever stands wherever: a message, or an error of ours."""
    payload = json.loads(case.text)
    places: list[tuple[Any, Any]] = []

    def look(node: Any) -> None:
        for key in node if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ():
            places.append((node, key))
            look(node[key])

    look(payload)
    for _ in range(data.draw(st.integers(1, 3))):
        node, key = data.draw(st.sampled_from(places))
        if key in node or isinstance(node, list):
            if data.draw(st.booleans()):
                node[key] = data.draw(ODD)
            elif isinstance(node, dict):
                del node[key]
    text = json.dumps(payload)
    detected = detect_provider(payload)
    parsers = [provider_of(case)] + ([get_provider(detected)] if detected in providers() else [])
    for response in (payload, text):
        for parser in parsers:
            try:
                for message in parser.parse_all(response, on_error="collect", ids="synthesize"):
                    parser.assistant(message)
                    parser.results([ToolResult(call.id, "x") for call in message.tool_calls], message)
                    for call in message.tool_calls:
                        assert isinstance(call.name, str)
                        assert isinstance(call.arguments, dict)
                    for error in message.errors:
                        assert error.path is not None
                        error.feedback()
                parser.has_tool_calls(response)
                parser.can_parse(response)
            except ToolglotError as error:
                assert error.code


DEFINITION_KEYS = ["name", "description", "type", "function", "parameters", "input_schema", "inputSchema", "strict"]
DEFINITION_KEYS += ["toolSpec", "custom", "tools", "functionDeclarations", "parameter_definitions", "required", "json"]
DEFINITIONS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["f", "", "function", "object", "a.b", "namespace"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(DEFINITION_KEYS), inner, max_size=5),
    max_leaves=20,
)


@given(DEFINITIONS)
def test_any_definition_is_read_or_refused(definition: Any) -> None:
    """Definitions come from servers that nobody knows: a tool, or an error of ours."""
    for provider in ("openai", "openai_responses", "anthropic", "google"):
        try:
            json.dumps(get_provider(provider).request(definition, "auto"))
        except (DefinitionError, TypeError) as error:
            assert isinstance(error, DefinitionError) or str(error).startswith("tools: expected"), repr(error)


def test_a_million_elements_and_deep_nesting() -> None:
    million = [1] * 1_000_000
    for payload in ({"content": million, "stop_reason": None}, {"output": million}, {"parts": million}, million):
        losses = [loss for message in parse_responses(payload) for loss in message.losses]
        assert 1 <= len(losses) <= 1001
    for payload in ({"choices": million}, {"candidates": million}):
        with pytest.raises(LimitError, match="more than 10000 choices"):
            parse_responses(payload)
    calls = [{"function": {"name": "f"}}] * 10_001
    with pytest.raises(LimitError, match="more than 10000 calls"):
        parse_response({"choices": [{"message": {"tool_calls": calls}}]})
    deep = "[" * 600 + "]" * 600
    with pytest.raises(ParseError) as info:
        parse_response(f'{{"choices": [{{"message": {{"content": {deep}}}}}]}}')
    assert info.value.code == "json.too_deep"
