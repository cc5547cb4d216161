"""Streams that no API sends: odd members, odd orders, traps. Anthropic, Bedrock, Gemini, Cohere, Ollama, Mistral.

Whatever comes, nothing but a `ToolglotError` is raised, the events tell what the message says, no call is made that
the stream does not hold, and the caller's events stay as they were.
"""

from __future__ import annotations

import copy
import gc
import json
import math
import random
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import payloads
import wires
from effort import full_or
from payloads import Payload
from test_providers import label, provider_of
from test_streams import coherent
from toolglot import (
    LimitError,
    Limits,
    Message,
    Provider,
    ReasoningDelta,
    ReasoningPart,
    TextDelta,
    TextPart,
    ToolCallEnd,
    ToolglotError,
    WireProvider,
    get_provider,
    iter_events,
)
from toolglot.providers._json_path import Unreadable, put_at
from toolglot.providers._pieces import joined
from toolglot.providers.cohere_v1 import CohereV1

WIRES = (
    "anthropic",
    "bedrock",
    "cohere",
    "cohere_v1",
    "gemini",
    "gemini_interactions",
    "mistral_conversations",
    "ollama",
)
STREAMS = [case for case in payloads.cases() if case.wire in WIRES and "stream" in case.data]
DEEP: list[Any] = []
for _ in range(5000):
    DEEP = [DEEP]
VALUES: list[Any] = [
    *(None, [], {}, "", 0, -1, 1.5, True, "x", "x" * 100_000, [None], [[]], [{}], ["x"], {"a": 1}, {"type": "x"}),
    *({"text": "x"}, [{"text": "x"}], {"text": {"a": 1}}, {"id": "x", "name": "f"}),
]
# What JSON text cannot be, but a dict can.
EXTREMES: list[Any] = [math.nan, math.inf, 10**5000, DEEP]


class Without:
    """A message without its texts."""

    def __init__(self, message: Message) -> None:
        self.tool_calls, self.errors, self.parts = message.tool_calls, message.errors, ()


def run(provider: WireProvider, events: list[Any], **options: Any) -> tuple[list[Any], Message]:
    stream = provider.stream(on_error="collect", **options)
    told = [one for event in events for one in stream.feed(event)]
    return told + stream.close(), stream.message


def check(provider: WireProvider, events: list[Any]) -> None:
    try:
        told, message = run(provider, events)
    except ToolglotError:
        return
    for delta, part in ((TextDelta, TextPart), (ReasoningDelta, ReasoningPart)):
        said = "".join(event.text for event in told if type(event) is delta)
        found = "".join(one.text for one in message.parts if type(one) is part)
        # Blocks that are mixed up stand one after the other in the message.
        assert sorted(said.replace("\n", "")) == sorted(found.replace("\n", ""))
    others = [event for event in told if type(event) not in (TextDelta, ReasoningDelta)]
    coherent(others, Without(message))  # type: ignore[arg-type]


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    items = value.items() if type(value) is dict else enumerate(value) if type(value) is list else ()
    for key, item in items:
        yield (*path, key)
        yield from places(item, (*path, key))


def put(event: Any, path: tuple[Any, ...], value: Any) -> Any:
    event = node = copy.deepcopy(event)
    for key in path[:-1]:
        node = node[key]
    node[path[-1]] = value
    return event


@pytest.mark.parametrize("case", STREAMS, ids=label)
def test_any_member_may_be_anything(case: Payload) -> None:
    events = case.data["stream"]
    provider = provider_of(case)
    source = random.Random(case.name)
    for number, event in enumerate(events):
        for path in places(event):
            for value in (*source.sample(VALUES, 6), source.choice(EXTREMES)):
                odd = [*events[:number], put(event, path, value), *events[number + 1 :]]
                as_given = None if value in EXTREMES[2:] else repr(odd)
                check(provider, odd)
                assert as_given is None or repr(odd) == as_given


@pytest.mark.parametrize("case", STREAMS, ids=label)
def test_events_may_be_missing_doubled_or_elsewhere(case: Payload) -> None:
    events = case.data["stream"]
    provider = provider_of(case)
    for number, event in enumerate(events):
        others = [*events[:number], *events[number + 1 :]]
        check(provider, others)
        check(provider, [*events[:number], event, *events[number:]])
        for place in range(len(events)):
            check(provider, [*others[:place], event, *others[place:]])
    check(provider, events * 2)
    check(provider, [event for event in events for _ in range(2)])
    check(provider, events[::-1])


@pytest.mark.parametrize("wire", WIRES)
def test_streams_that_are_mixed_up(wire: str) -> None:
    cases = [case for case in STREAMS if case.wire == wire]
    provider = provider_of(cases[0])
    every = [event for case in cases for event in case.data["stream"]]
    values = [value for event in every for path in places(event) for value in [_at(event, path)]]
    source = random.Random(wire)
    for _ in range(400):
        if source.random() < 0.5:
            events = [source.choice(every) for _ in range(source.randrange(1, 14))]
        else:
            events = source.sample(found := source.choice(cases).data["stream"], len(found))
        for _ in range(source.randrange(4)):
            number = source.randrange(len(events))
            inside = list(places(events[number]))
            value = copy.deepcopy(source.choice(values) if source.random() < 0.7 else source.choice(VALUES))
            if inside:
                events[number] = put(events[number], source.choice(inside), value)
        as_given = repr(events)
        check(provider, events)
        assert repr(events) == as_given


def _at(value: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        value = value[key]
    return value


@pytest.mark.parametrize("case", [case for case in STREAMS if "payload" in case.data], ids=label)
def test_a_broken_stream_makes_no_other_call(case: Payload) -> None:
    """If a delta is left out, what is left of its call is an error or the same call, never another that is JSON."""
    events = case.data["stream"]
    made = run(provider_of(case), events)[1].tool_calls
    for number in range(len(events)):
        _, message = run(provider_of(case), [*events[:number], *events[number + 1 :]])
        for call in message.tool_calls:
            # Calls without their deltas have none or the start's arguments; all others were in the stream.
            assert any(call.name == one.name and set(call.arguments) <= set(one.arguments) for one in made) or not made


@pytest.mark.parametrize("case", STREAMS, ids=label)
def test_whose_stream_it_is(case: Payload) -> None:
    events = case.data["stream"]
    assert list(iter_events(events, on_error="collect")) == run(provider_of(case), events)[0]


# -- places of partial arguments


@pytest.mark.parametrize(
    ("path", "keys"),
    [
        ("$.a", ["a"]),
        ("$.a.b", ["a", "b"]),
        ("$['a'][\"b\"]", ["a", "b"]),
        ("$['it\\'s']", ["it's"]),
        ('$["a\\"b"]', ['a"b']),
        ("$['a\"b']", ['a"b']),
        ("$['\\u00e9\\n\\\\']", ["é\n\\"]),
        ("$.schlüssel", ["schlüssel"]),
        ("$.😀", ["😀"]),
        ("$['']", [""]),
        ("$['a.b[0]']", ["a.b[0]"]),
    ],
)
def test_a_path_of_rfc_9535(path: str, keys: list[str]) -> None:
    found: dict[str, Any] = {}
    put_at(found, {"jsonPath": path, "numberValue": 1}, Limits())
    expected: Any = 1
    for key in reversed(keys):
        expected = {key: expected}
    assert joined(found) == expected


@pytest.mark.parametrize(
    "path",
    [
        *("", "$", "a", "$.", "$..a", "$.a.", "$[*]", "$.*", "$[0]", "$.a[-1]", "$.a[1]", "$.a[0:1]", "$.a[?@.b]"),
        *(
            "$['a'",
            "$['a]",
            "$[a]",
            "$.1",
            "$.a b",
            "$['\\q']",
            "$['\\ud800']",
            "$['a','b']",
            "$.a[9999999999]",
            "$ .a",
        ),
        *("$.t.x", "$.t[0]", "$.o", "$.l.x", "$.n", "$.n.x", "$" + ".a" * 600, "$." + "a" * 100_000),
        *(None, 5, ["$.a"]),
    ],
)
def test_a_path_that_names_no_place(path: Any) -> None:
    arguments: dict[str, Any] = {}
    for known, value in (("$.t", {"stringValue": "x"}), ("$.o.a", {"numberValue": 1}), ("$.l[0]", {"boolValue": True})):
        put_at(arguments, {"jsonPath": known, **value}, Limits())
    put_at(arguments, {"jsonPath": "$.n", "nullValue": "NULL_VALUE"}, Limits())
    as_it_was = joined(arguments)
    with pytest.raises(Unreadable) as info:
        put_at(arguments, {"jsonPath": path, "numberValue": 1}, Limits())
    assert len(str(info.value)) < 200
    assert {key: joined(arguments)[key] for key in as_it_was} == as_it_was


@pytest.mark.parametrize(
    "value",
    [
        *({"stringValue": 5}, {"numberValue": "5"}, {"numberValue": math.nan}, {"numberValue": math.inf}),
        *({"numberValue": True}, {"boolValue": "true"}, {"boolValue": 1}, {"stringValue": ["x"]}),
    ],
)
def test_a_value_of_the_wrong_kind(value: dict[str, Any]) -> None:
    with pytest.raises(Unreadable):
        put_at({}, {"jsonPath": "$.a", **value}, Limits())


def test_numbers_of_the_sdk_are_those_of_the_wire() -> None:
    found: dict[str, Any] = {}
    for key, number in (("a", 50.0), ("b", 0.5), ("c", -3.0), ("d", 1e300), ("e", 7)):
        put_at(found, {"jsonPath": f"$.{key}", "numberValue": number}, Limits())
    assert json.dumps(found) == '{"a": 50, "b": 0.5, "c": -3, "d": 1e+300, "e": 7}'


def test_partial_arguments_leave_the_callers_own_alone() -> None:
    def part(**call: Any) -> dict[str, Any]:
        return {"candidates": [{"content": {"parts": [{"functionCall": call}]}, "finishReason": "STOP"}]}

    piece = {"jsonPath": "$.a.b", "numberValue": 1}
    events = [part(name="f", args={"a": {}, "l": []}, willContinue=True), part(partialArgs=[piece], willContinue=True)]
    events.append(part(partialArgs=[{"jsonPath": "$.l[0]", "numberValue": 2}]))
    as_given = copy.deepcopy(events)
    assert run(get_provider("google"), events)[1].tool_calls[0].arguments == {"a": {"b": 1}, "l": [2]}
    assert events == as_given


# -- bounds


def _block(number: int, **block: Any) -> dict[str, Any]:
    return {"type": "content_block_start", "index": number, "content_block": block}


def _delta(kind: str, number: int = 0, **delta: Any) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": number, "delta": {"type": kind, **delta}}


TOOL = {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}}
STOP = [{"type": "message_delta", "delta": {"stop_reason": "tool_use"}}, {"type": "message_stop"}]


def test_a_call_too_many_ends_the_stream() -> None:
    stream = get_provider("anthropic").stream(limits=Limits(calls=1))
    stream.feed(_block(0, **TOOL))
    stream.feed({"type": "content_block_stop", "index": 0})
    for _ in range(2):
        with pytest.raises(LimitError, match="more than 1 calls"):
            stream.feed(_block(1, **{**TOOL, "id": "toolu_2"}))
        assert [call.id for call in stream.message.tool_calls] == ["toolu_1"]
    with pytest.raises(LimitError, match="more than 1 calls"):
        stream.close()
    assert [call.id for call in stream.message.tool_calls] == ["toolu_1"]


@pytest.mark.parametrize("size", [9, 10])
def test_arguments_that_are_too_long_are_no_call(size: int) -> None:
    text = json.dumps({"a": "x" * (size - 9)})
    assert len(text) == size
    events = [_block(0, **TOOL), _delta("input_json_delta", partial_json=text), *STOP]
    stream = get_provider("anthropic").stream(limits=Limits(arguments=9))
    if size == 9:
        assert [type(one) for event in events for one in stream.feed(event)][-1] is ToolCallEnd
        return
    stream.feed(events[0])
    for event in events[1:]:
        with pytest.raises(LimitError, match="arguments of more than 9"):
            stream.feed(event)
    with pytest.raises(LimitError, match="arguments of more than 9"):
        stream.close()
    assert stream.message.tool_calls == []


def test_partial_arguments_are_bounded() -> None:
    def part(**call: Any) -> dict[str, Any]:
        return {"candidates": [{"content": {"parts": [{"functionCall": call}]}}]}

    stream = get_provider("google").stream(limits=Limits(arguments=100, depth=3))
    stream.feed(part(name="f", willContinue=True))
    pieces = [{"jsonPath": f"$.a{number}.b"} for number in range(101)]  # they only make objects
    stream.feed(part(partialArgs=pieces[:100], willContinue=True))
    with pytest.raises(LimitError, match="arguments of more than 100"):
        stream.feed(part(partialArgs=pieces[100:], willContinue=True))
    stream = get_provider("google").stream(on_error="collect", limits=Limits(depth=3))
    stream.feed(part(name="f", willContinue=True))
    stream.feed(part(partialArgs=[{"jsonPath": "$.a.b.c.d", "numberValue": 1}]))
    assert [error.code for error in stream.message.errors] == ["tool_call.unrecognized"]


def test_values_as_deep_as_json_may_be() -> None:
    """A value of the greatest depth is no harder in a stream than whole; a deeper one is a limit."""
    deep = json.loads('{"a":' * 505 + "1" + "}" * 505)
    for block in ({**TOOL, "input": deep}, {"type": "x", "data": deep}):
        text = json.dumps(_block(0, **block))
        _, message = run(get_provider("anthropic"), [text, *STOP])
        assert message.errors == []
        assert len(message.parts) == 1
    stream = get_provider("anthropic").stream()
    stream.feed(_block(0, **{**TOOL, "input": {"a": DEEP}}))
    with pytest.raises(LimitError, match="nested too deeply"):
        stream.feed(STOP[0])
    with pytest.raises(LimitError, match="nested too deeply"):
        stream.close()


def test_lists_of_events() -> None:
    _, message = run(get_provider("anthropic"), ["[" * 400 + "]" * 400, [_block(0, **TOOL), STOP]])
    assert [loss.code for loss in message.losses] == ["loss.unread"] * 2
    stream = get_provider("anthropic").stream()
    told = stream.feed([_block(0, **TOOL), {"type": "error", "error": {"message": "no"}}, _block(1, **TOOL)])
    assert [type(event).__name__ for event in told] == ["ToolCallStart", "ErrorEvent"]


@pytest.mark.parametrize("ids", ["given", "synthesize"])
@pytest.mark.parametrize("id", [0, 7, "", None])
def test_the_id_of_the_start_is_that_of_the_call(id: Any, ids: str) -> None:
    told, message = run(get_provider("anthropic"), [_block(0, **{**TOOL, "id": id}), *STOP], ids=ids)
    coherent(told, message)
    assert told[0].id == message.tool_calls[0].id
    if type(id) is int:
        assert told[0].id == str(id)
    else:
        assert (told[0].id is None) == (ids == "given")


def test_what_is_of_the_wrong_kind_is_said() -> None:
    events = [_block(0, type="text", text=""), _delta("text_delta", text=5), _delta("thinking_delta", thinking="x")]
    _, message = run(get_provider("anthropic"), [*events, *STOP])
    assert [loss.path for loss in message.losses] == ["$.delta.text", "$.delta"]


def test_a_call_that_was_answered_in_its_own_stream() -> None:
    steps = [
        {"type": "function_call", "id": "g1", "name": "f", "arguments": {}},
        {"type": "function_result", "call_id": "g1"},
    ]
    events: list[Any] = [{"event_type": "step.start", "index": n, "step": step} for n, step in enumerate(steps)]
    events.append({"event_type": "interaction.completed", "interaction": {"status": "completed"}})
    told, message = run(get_provider("google_interactions"), events)
    coherent(told, message)
    assert [loss.path for loss in message.losses] == ["$.steps[1]"]


def test_chunks_of_invoke_model() -> None:
    case = next(case for case in STREAMS if case.wire == "anthropic" and case.name == "stream_all")
    expected = run(get_provider("anthropic"), case.data["stream"])
    boto3 = [{"chunk": {"bytes": json.dumps(event).encode()}} for event in case.data["stream"]]
    assert run(get_provider("anthropic"), boto3) == expected
    assert wires.invoke_model(case.data["stream"])  # the same as bytes: tests/test_frames.py


# -- time


def _candidate(**part: Any) -> dict[str, Any]:
    return {"candidates": [{"content": {"parts": [part]}}]}


def _piece(path: str, **value: Any) -> dict[str, Any]:
    return _candidate(functionCall={"partialArgs": [{"jsonPath": path, **value}], "willContinue": True})


def _converse(number: int, **delta: Any) -> dict[str, Any]:
    return {"contentBlockDelta": {"contentBlockIndex": number, "delta": delta}}


BEGUN = _candidate(functionCall={"name": "f", "willContinue": True})
WHITE = _delta("input_json_delta", partial_json=" ")
THOUGHT = {"type": "message.output.delta", "id": "m", "content": {"type": "thinking", "thinking": [{"text": "x"}]}}
V1 = CohereV1(Provider.COHERE)
STEP = {
    "event_type": "step.start",
    "index": 0,
    "step": {"type": "model_output", "content": [{"type": "text", "text": "x"}]},
}
NOTE = {"event_type": "step.delta", "index": 0, "delta": {"type": "text_annotation_delta", "annotations": [{"a": 1}]}}
TRAPS: dict[str, tuple[Any, Callable[[int], list[Any]]]] = {
    "deltas": ("anthropic", lambda n: [_block(0, **TOOL), *[_delta("input_json_delta", partial_json="x")] * n]),
    "white space": (
        "anthropic",
        lambda n: [_block(0, **TOOL), _delta("input_json_delta", partial_json="{"), *[WHITE] * n],
    ),
    "blocks": ("anthropic", lambda n: [_block(i, type="text", text="x") for i in range(n)]),
    "citations": ("anthropic", lambda n: [_block(0, type="text"), *[_delta("citations_delta", citation={})] * n]),
    "lost": ("anthropic", lambda n: [_delta("text_delta", text=5)] * n),
    "kinds": ("anthropic", lambda n: [{"type": f"x{i}"} for i in range(n)]),
    "bedrock's kinds": ("bedrock", lambda n: [_converse(0, text="x"), _converse(0, image={"a": 1})] * (n // 2)),
    "blobs": ("bedrock", lambda n: [_converse(0, reasoningContent={"redactedContent": b"12345678"})] * n),
    "base64": ("bedrock", lambda n: [_converse(0, reasoningContent={"redactedContent": "AQIDBA=="})] * n),
    "bedrock's citations": ("bedrock", lambda n: [_converse(0, citation={"title": "x"})] * n),
    "texts": ("google", lambda n: [_candidate(text="x"), _candidate(text="x", thought=True)] * (n // 2)),
    "signatures": ("google", lambda n: [_candidate(text="x", thoughtSignature="s")] * n),
    "a string": ("google", lambda n: [BEGUN, *[_piece("$.a", stringValue="x", willContinue=True)] * n]),
    "an array": ("google", lambda n: [BEGUN, *[_piece(f"$.a[{i}]", numberValue=i) for i in range(n)]]),
    "members": ("google", lambda n: [BEGUN, *[_piece(f"$.a{i}.b", numberValue=i) for i in range(n)]]),
    "open calls": (
        "google",
        lambda n: [_candidate(functionCall={"name": "f", "id": f"{i}", "willContinue": True}) for i in range(n // 5)],
    ),
    "resent calls": ("google", lambda n: [_candidate(functionCall={"name": "f", "id": "i"})] * n),
    "cohere's citations": (
        "cohere",
        lambda n: [{"type": "citation-start", "delta": {"message": {"citations": {"text": "x"}}}}] * n,
    ),
    "cohere's parts": (
        "cohere",
        lambda n: [
            {"type": "content-start", "index": i, "delta": {"message": {"content": {"text": "x"}}}} for i in range(n)
        ],
    ),
    "v1's citations": (V1, lambda n: [{"event_type": "citation-generation", "citations": [{"text": "x"}]}] * n),
    "annotations": ("google_interactions", lambda n: [STEP, *[NOTE] * n]),
    "results": (
        "google_interactions",
        lambda n: [
            {
                "event_type": "step.start",
                "index": i,
                "step": {"type": kind, "id": f"{i}", "name": "f", "call_id": f"{i}"},
            }
            for kind in ("function_call", "function_result")
            for i in range(n // 5)
        ],
    ),
    "thoughts": ("mistral_conversations", lambda n: [THOUGHT] * n),
    "ollama's images": ("ollama", lambda n: [{"message": {"images": ["x"]}}] * n),
}


@pytest.mark.parametrize("name", TRAPS)
def test_linear(name: str) -> None:
    whose, make = TRAPS[name]
    provider = get_provider(whose) if isinstance(whose, str) else whose

    def measure(size: int) -> float:
        events = make(size)
        gc.collect()
        gc.disable()  # what it costs depends on all that the other tests have left
        try:
            begun = time.process_time()
            run(provider, events)
            return time.process_time() - begun
        finally:
            gc.enable()

    # Four times as much: linear is 4, quadratic 16. The least of three, as others use the machine too.
    ratios = []
    for _ in range(3):
        size = full_or(10_000, 5_000)
        ratios.append(measure(4 * size) / max(measure(size), 0.005))
        if ratios[-1] < 8:
            return
    pytest.fail(f"four times as many events took {ratios} times as long")
