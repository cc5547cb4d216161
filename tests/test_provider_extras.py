"""What a response says beside text and calls: kept, written back where it belongs, and nothing dropped unsaid."""

from __future__ import annotations

import copy
import dataclasses
import json
from collections.abc import Iterator
from typing import Any

import pytest

import payloads
from payloads import Payload
from toolglot import (
    Message,
    ParseError,
    ToolCall,
    WireFormat,
    get_provider,
    parse_response,
    parse_responses,
)
from toolglot.providers._names import DEFAULT
from toolglot.providers._payload import json_path

# What is read must be read whole: a call that is broken is an error, and its other members are not looked at.
WHOLE = [case for case in payloads.cases() if case.is_response and "message" in case.data]
WHOLE = [case for case in WHOLE if not {"errors", "losses"} & case.data["message"].keys()]
MARK = "ZQX"
ODD: list[Any] = [{MARK: 1}, [MARK], MARK, 98765432]
# Members that say nothing, or only what the place already says; a request's own members in the answer to it.
SAYS_NOTHING = {"role", "object", "created", "created_at", "jsonrpc", "index", "type", "done", "thought"}
ECHOED = {"parallel_tool_calls", "tool_choice", "tools", "chat_history"}


def places(node: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a payload."""
    for key in list(node) if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ():
        yield (*path, key)
        yield from places(node[key], (*path, key))


def at(node: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        node = node[key]
    return node


def whole(value: Any) -> Any:
    """A dataclass as a dict, also what its repr leaves out."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {one.name: whole(getattr(value, one.name)) for one in dataclasses.fields(value)}
    return [whole(item) for item in value] if isinstance(value, list) else value


def leaves_a_trace(message: Message, path: tuple[Any, ...]) -> bool:
    """Whether what stands at ``path`` is in the message, or is said not to be."""
    seen = repr([whole(message.parts), message.extra, message.usage])
    if MARK in seen or "98765432" in seen:
        return True
    place = json_path(path)
    said = [loss.path for loss in message.losses] + [error.path or "" for error in message.errors]
    return any(one.startswith(place) or place.startswith((one + ".", one + "[")) for one in said)


def label(case: Payload) -> str:
    return f"{case.wire}/{case.name}"


@pytest.mark.parametrize("case", WHOLE, ids=label)
def test_nothing_is_dropped_unsaid(case: Payload) -> None:
    """Whatever has another type, and whatever is new, is kept or noted."""
    parser = get_provider(case.data.get("provider", DEFAULT[WireFormat(case.wire)]))
    payload = json.loads(case.text)
    dropped = []
    for path in list(places(payload)):
        if path[-1] in SAYS_NOTHING or ECHOED & set(path) or (case.wire, json_path(path)) == ("mcp", "$.id"):
            continue
        for odd in ODD:
            changed = copy.deepcopy(payload)
            if type(at(changed, path)) is type(odd):
                continue
            at(changed, path[:-1])[path[-1]] = odd
            if not leaves_a_trace(parser.parse(changed, on_error="collect"), path):
                dropped.append((json_path(path), odd))
    assert dropped == []


# Objects in which only what is known is looked at: requests and what repeats them.
CLOSED = {
    ("gemini_interactions", "$"),  # with the request's own settings
    ("openai_responses", "$"),
    ("mcp", "$"),  # JSON-RPC's
    ("bedrock", "$.output"),
    ("cohere_v1", "$.message"),
}


@pytest.mark.parametrize("case", WHOLE, ids=label)
def test_what_is_new_is_kept(case: Payload) -> None:
    parser = get_provider(case.data.get("provider", DEFAULT[WireFormat(case.wire)]))
    payload = json.loads(case.text)
    dropped = []
    for path in [(), *places(payload)]:
        if not isinstance(at(payload, path), dict) or (case.wire, json_path(path)) in CLOSED or ECHOED & set(path):
            continue
        changed = copy.deepcopy(payload)
        at(changed, path)["new"] = {MARK: 1}
        if not leaves_a_trace(parser.parse(changed, on_error="collect"), (*path, "new")):
            dropped.append(json_path(path))
    assert dropped == []


@pytest.mark.parametrize("provider", ["openai", "mistral", "cohere", "ollama", "google"])
def test_what_stands_inside_a_calls_envelope_goes_back(provider: str) -> None:
    """LiteLLM keeps a signature in ``function``; some proxies of Gemini in ``functionCall``."""
    parser = get_provider(provider)
    written = json.loads(json.dumps(parser.assistant(Message(tool_calls=[ToolCall("f", {"a": 1}, "aB3dE6gH9")]))))
    holder = next(at(written, path) for path in places(written) if path[-1] in ("function", "functionCall"))
    holder["provider_specific_fields"] = {"thought_signature": "c2ln"}
    message = parser.parse(written)
    assert message.tool_calls[0].arguments == {"a": 1}
    assert parser.assistant(message) == written


def test_a_legacy_call_keeps_what_is_beside() -> None:
    written = {
        "role": "assistant",
        "content": None,
        "function_call": {"name": "f", "arguments": "{}", "thought_signature": "c2ln"},
    }
    parser = get_provider("openai")
    assert parser.assistant(parser.parse(written)) == written


def test_a_part_of_an_unknown_kind_goes_back_in_its_place() -> None:
    parts = [
        {"type": "output_text", "text": "4 ", "annotations": []},
        {"type": "output_audio", "transcript": "four"},
        {"type": "output_text", "text": "C", "annotations": []},
    ]
    item = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": parts}
    payload = {"object": "response", "status": "completed", "output": [item]}
    parser = get_provider("openai_responses")
    message = parser.parse(payload)
    assert message.content == "4 C"
    assert parser.assistant(message) == [item]
    assert parser.assistant(message) == [item]  # and nothing was changed by writing it
    del item["id"]
    assert [type(part).__name__ for part in parser.parse(payload).parts] == ["TextPart", "OpaquePart", "TextPart"]


def test_images_of_ollama() -> None:
    parser = get_provider("ollama")
    written = {"role": "assistant", "content": "Here.", "images": ["iVBORw0KGgo="]}
    message = parser.parse({"model": "m", "done": True, "message": written})
    assert parser.assistant(message) == written


@pytest.mark.parametrize("id", [1.5, True, [], {}, ["a"], {"a": 1}])
def test_an_id_that_is_none_is_noted(id: Any) -> None:
    payload: Any = {
        "choices": [{"message": {"tool_calls": [{"id": id, "function": {"name": "f", "arguments": "{}"}}]}}]
    }
    message = parse_response(payload)
    assert [call.id for call in message.tool_calls] == [None]
    assert [loss.path for loss in message.losses] == ["$.choices[0].message.tool_calls[0]"]
    payload = {"content": [{"type": "tool_use", "id": id, "name": "f", "input": {}}]}
    assert [loss.path for loss in parse_response(payload).losses] == ["$.content[0]"]


@pytest.mark.parametrize(
    ("payload", "path", "said"),
    [
        ({"error": {}}, "$.error", "no more is said"),
        ({"error": ""}, "$.error", "no more is said"),
        ({"error": 500}, "$.error", "no more is said"),
        ({"error": {"code": 500}}, "$.error", "500"),
        ({"error": {"Message": "Denied"}}, "$.error", "Denied"),
        ({"error": {"message": ["x"], "status": "UNAVAILABLE"}}, "$.error", "UNAVAILABLE"),
        ([{"error": {"message": "Denied"}}], "$[0].error", "Denied"),
        ({"object": "error", "message": "Denied"}, "$.message", "Denied"),
        ({"Error": {"Code": "AccessDenied", "Message": "Denied"}}, "$.Error", "Denied"),
    ],
)
def test_errors_of_every_shape(payload: Any, path: str, said: str) -> None:
    for response in (payload, json.dumps(payload)):
        with pytest.raises(ParseError) as info:
            parse_response(response)
        assert (info.value.code, info.value.path) == ("provider.error_response", path)
        assert f"an error: {said}" in str(info.value)
        message = info.value.message
        assert message is not None
        assert message.stop_reason == "error"


def test_no_error_beside_an_answer() -> None:
    """An empty one is what some servers write for none."""
    errors: list[Any] = ["", {}, None, False]
    for error in errors:
        message = parse_response({"error": error, "choices": [{"message": {"content": "x"}, "finish_reason": "stop"}]})
        assert (message.content, message.stop_reason, message.errors) == ("x", "stop", [])


def test_many_errors_and_many_choices_are_linear() -> None:
    """An error's place is looked for from the last one on; what a response says beside is kept once."""
    broken = {"id": "a", "function": {"name": "f", "arguments": "{"}}
    text = json.dumps({"choices": [{"message": {"tool_calls": [broken] * 9000}}]})
    message = parse_response(text, on_error="collect")
    places_of = [error.position or 0 for error in message.errors]
    assert places_of == sorted(set(places_of))
    assert [text[at - 1 : at + 2] for at in places_of[-2:]] == ['{"}', '{"}']
    beside: dict[str, Any] = {f"k{number}": number for number in range(20_000)}
    messages = parse_responses({**beside, "id": "x", "choices": [{"message": {"content": "x"}}] * 5000})
    assert [len(one.extra["openai_chat"]) for one in messages[:2]] == [20_001, 1]
    chunk = {"candidates": [{"content": {"parts": [{"text": "a"}]}}]}
    assert parse_response([chunk] * 50_000).content == "a" * 50_000
