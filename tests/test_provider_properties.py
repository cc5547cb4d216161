"""Payloads of every wire format, mutated, given to everything that takes one: an answer, or an error of ours."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import payloads
from effort import examples
from toolglot import (
    Message,
    ParseError,
    Provider,
    Tool,
    ToolCall,
    ToolChoice,
    ToolglotError,
    ToolResult,
    WireProvider,
    detect_provider,
    get_provider,
    parse_response,
    parse_responses,
    providers,
    tools,
)

CASES = payloads.cases()
PARSERS = [get_provider(provider) for provider in providers()]
RESPONSES = [json.loads(case.text) for case in CASES if case.is_response]
# What goes out is read as well: a history, a request that someone else wrote.
WRITTEN = [case.data[key] for case in CASES for key in ("assistant", "written") if key in case.data]
DEFINITIONS = [case.data[key] for case in CASES for key in ("tools", "request") if key in case.data]
DECLARED = [Tool("get_weather", strict=True), Tool("run_sql", kind="custom"), "get_time"]

VALUES: list[Any] = [
    None,
    True,
    0,
    -1,
    1.5,
    10**400,
    "",
    " ",
    "x",
    "{",
    "{}",
    "[1]",
    '{"a": 1, "a": 2}',
    "\ud800",
    "\0",
]
VALUES += ["tool_use", "function_call", "STOP", "tool_calls", [], {}, [[]], [None], {"x": []}, {"": None}, {"type": {}}]
VALUES += [{"name": 3}, {"function": []}, [{"text": 1}], {"parts": {}}, {"type": "text", "text": {}}]
# What an SDK's object or a careless caller may leave in a dict.
OBJECTS: list[Any] = [object(), b"x", (1,), {1}, int, SimpleNamespace(type="text"), {1: 2}]


def places(node: Any) -> Iterator[tuple[Any, Any]]:
    """Every container with every key."""
    for key in list(node) if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ():
        yield node, key
        yield from places(node[key])


@st.composite
def mutated(draw: st.DrawFn, valid: list[Any], values: list[Any]) -> Any:
    """A valid value in which one to four things are replaced, missing, doubled, or from another value."""
    payload = copy.deepcopy(draw(st.sampled_from(valid)))
    if draw(st.integers(0, 9)) == 0:  # a list of payloads
        payload = [payload, copy.deepcopy(draw(st.sampled_from(valid)))]
    for _ in range(draw(st.integers(1, 4))):
        found = list(places(payload))
        if not found:
            break
        node, key = draw(st.sampled_from(found))
        kind = draw(st.sampled_from(["replace", "replace", "remove", "wrap", "string", "double", "graft", "rename"]))
        if kind == "remove":
            del node[key]
        elif kind == "wrap":
            node[key] = [node[key]]
        elif kind == "string":
            node[key] = json.dumps(node[key], default=repr)
        elif kind == "double" and isinstance(node, list):
            node.append(copy.deepcopy(node[key]))
        elif kind == "graft":
            others = list(places(draw(st.sampled_from(valid))))
            if others:
                other, name = draw(st.sampled_from(others))
                node[key] = copy.deepcopy(other[name])
        elif kind == "rename" and isinstance(node, dict):
            node[draw(st.sampled_from([str(key).upper(), "content", "tool_calls", "parts", "name", "error"]))] = (
                node.pop(key)
            )
        else:
            node[key] = copy.deepcopy(draw(st.sampled_from(values)))
    return payload


def only_our_errors(call: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """What ``call`` gives; None if it refuses in the way that it should."""
    try:
        return call(*args, **options)
    except ToolglotError as error:
        assert error.code
        str(error)
    except TypeError as error:  # what is no JSON in a list that is the payload
        assert str(error).startswith("response: expected JSON"), repr(error)
    return None


def check_message(message: Message) -> None:
    assert all(type(call) is ToolCall and type(call.name) is str for call in message.tool_calls)
    assert all(type(call.arguments) is dict and type(call.id) in (str, type(None)) for call in message.tool_calls)
    assert type(message.content) in (str, type(None))
    for error in message.errors:
        assert isinstance(error, ParseError)
        assert error.path is not None
        error.context()
        error.feedback()
    for loss in message.losses:
        assert loss.path.startswith("$")


def check_reading(parser: WireProvider, response: Any) -> list[Message]:
    """Every verb of a parser on one payload."""
    assert type(parser.can_parse(response)) is bool
    only_our_errors(parser.has_tool_calls, response)
    only_our_errors(parser.parse, response)
    for declared in (None, DECLARED):
        for ids in ("given", "synthesize"):
            messages = only_our_errors(parser.parse_all, response, on_error="collect", ids=ids, tools=declared)
            for message in messages or []:
                check_message(message)
    return messages or []


def check_response(response: Any) -> list[Message]:
    """Everything that takes a response."""
    provider = detect_provider(response)
    assert type(provider) is Provider
    for read in (parse_response, parse_responses):
        only_our_errors(read, response)
        only_our_errors(read, response, on_error="repair", ids="synthesize", tools=DECLARED)
    return [message for parser in PARSERS for message in check_reading(parser, response)]


def check_writing(message: Message) -> None:
    """Whatever was read goes to everyone."""
    results = [ToolResult(call.id, "x", call.name) for call in message.tool_calls]
    for parser in PARSERS:
        only_our_errors(parser.assistant, message)
        only_our_errors(parser.assistant, message, strict=True)
        only_our_errors(parser.results, results, message)
        only_our_errors(parser.results, results)


@examples(150)
@given(mutated(RESPONSES + WRITTEN, VALUES), st.data())
def test_responses(payload: Any, data: st.DataObject) -> None:
    text = json.dumps(payload)
    messages = check_response(payload)
    if messages:
        check_writing(data.draw(st.sampled_from(messages)))
    check_response(text)
    cut = data.draw(st.integers(0, len(text)))
    check_response(text[:cut])
    check_response(text[:cut].encode() + b"\xff" + text[cut:].encode())


@examples(100)
@given(mutated(RESPONSES + WRITTEN, VALUES + OBJECTS))
def test_what_is_no_json_in_a_dict(payload: Any) -> None:
    check_response(payload)


def as_object(value: Any) -> Any:
    """The same as an SDK's objects have it."""
    if isinstance(value, dict):
        return SimpleNamespace(**{str(key): as_object(item) for key, item in value.items()})
    return [as_object(item) for item in value] if isinstance(value, list) else value


@examples(150)
@given(mutated(RESPONSES + WRITTEN, VALUES + OBJECTS))
def test_functions_of_the_third_seed(payload: Any) -> None:
    inner = [node[key] for node, key in places(payload) if key in ("content", "message", "delta", 0)]
    for value in (payload, *inner[:5]):
        for response in (value, as_object(value)):
            for name in ("openai", "anthropic", "gemini", "bedrock", "ollama"):
                assert type(getattr(tools, f"parse_{name}_tool_calls")(response)) is list


@examples(150)
@given(mutated(DEFINITIONS, VALUES), st.data())
def test_definitions_and_choices(payload: Any, data: st.DataObject) -> None:
    """A request's members as someone wrote them. What is no definition at all is the caller's mistake."""
    choice = payload.get("tool_choice", payload.get("toolConfig")) if isinstance(payload, dict) else None
    for value in (payload, payload.get("tools") if isinstance(payload, dict) else None):
        for parser in PARSERS:
            try:
                json.dumps(parser.tools(value))
                json.dumps(parser.request(value, choice))
            except ToolglotError as error:
                assert error.code
            except TypeError as error:
                assert str(error).startswith(("tools: expected", "tool_choice: expected")), repr(error)
    try:
        ToolChoice.from_any(choice)
    except TypeError as error:
        assert str(error).startswith("tool_choice: expected")


@pytest.mark.parametrize("name", [None, 3, [], {}])
def test_a_namespace_without_a_name(name: Any) -> None:
    inner = {"type": "function", "name": "find", "parameters": {"type": "object", "properties": {}}}
    written = get_provider("openai_responses").tools([{"type": "namespace", "name": name, "tools": [inner]}])
    assert [tool["name"] for tool in written["tools"]] == ["find"]
    own = Tool("find", extra={"openai_responses": {"namespace": {"name": name}}})
    assert [tool["name"] for tool in get_provider("openai_responses").tools(own)["tools"]] == ["find"]


def test_every_wire_format_is_mutated() -> None:
    assert {case.wire for case in CASES if case.is_response} == {str(parser.wire) for parser in PARSERS}


@pytest.mark.parametrize("parser", PARSERS, ids=repr)
def test_valid_payloads_of_all_for_all(parser: WireProvider) -> None:
    """Also what is right, but another API's."""
    for payload in RESPONSES + WRITTEN:
        check_reading(parser, payload)
