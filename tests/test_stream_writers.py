"""Streams that are written: our own readers read them back, whatever was written and however it was cut."""

from __future__ import annotations

import asyncio
import itertools
import json
import random
from collections.abc import AsyncIterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import payloads
from test_providers import provider_of
from texts import golden_texts
from toolglot import (
    CallPart,
    ConversionError,
    ErrorEvent,
    LimitError,
    Message,
    OpaquePart,
    ParseError,
    ReasoningDelta,
    ReasoningPart,
    ReasoningReclassified,
    StreamParser,
    TextDelta,
    TextPart,
    ToolCall,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    TruncatedError,
    WireProvider,
    get_provider,
    stream,
)

# Who has no place for reasoning, who has one, and the two others.
TARGETS = ("openai", "deepseek", "anthropic", "openai_responses")
EAGER = (False, True)
CALL = ToolCall("get_weather", {"city": "Oslo", "days": [1, 2.5, None, {"a": "}"}]}, "call_1")


def events_of(message: Message, cut: random.Random | None = None) -> list[Any]:
    """The events of a message that was made of parts; ``cut`` cuts them."""
    events: list[Any] = []
    calls = 0
    for part in message.parts:
        if isinstance(part, (TextPart, ReasoningPart)):
            delta = TextDelta if isinstance(part, TextPart) else ReasoningDelta
            events += [delta(piece) for piece in pieces(part.text, cut)]
        elif isinstance(part, CallPart):
            events.append(ToolCallStart(calls, part.call.id, part.call.name))
            events += [ToolCallDelta(calls, piece) for piece in pieces(part.call.arguments_json, cut)]
            events.append(ToolCallEnd(calls, part.call))
            calls += 1
    return events


def pieces(text: str, cut: random.Random | None) -> list[str]:
    if cut is None or len(text) < 2:
        return [text]
    at = [0, *sorted(cut.sample(range(1, len(text)), min(len(text) - 1, cut.randrange(4)))), len(text)]
    return [text[a:b] for a, b in itertools.pairwise(at)]


def made_of(*parts: Any, **members: Any) -> Message:
    """A message as a parser gives it."""
    parts = tuple(CallPart(part) if isinstance(part, ToolCall) else part for part in parts)
    message = Message(**members)
    message.parts = list(parts)
    message.tool_calls = [part.call for part in parts if isinstance(part, CallPart)]
    for kind, name in ((TextPart, "content"), (ReasoningPart, "reasoning")):
        joined = "".join(part.text for part in parts if isinstance(part, kind))
        setattr(message, name, joined if joined.strip() else None)
    return message


def read(provider: WireProvider, written: list[Any], cut: random.Random | None = None) -> Message:
    """What was written, read by the API's own reader: the objects, or their bytes."""
    reader = provider.stream(on_error="collect")
    if cut is None:
        for event in written:
            reader.feed(json.loads(json.dumps(event)))
    else:
        for piece in pieces(b"".join(provider.sse(written)).decode("latin-1"), cut):
            reader.feed_bytes(piece.encode("latin-1"))
    reader.close()
    assert reader.message.losses == []
    return reader.message


def same(found: Message, message: Message, provider: WireProvider, whole: bool = False) -> None:
    """``found`` says what ``message`` says, as far as the API can."""
    assert found.errors == []
    assert len(found.tool_calls) == len(message.tool_calls)
    for made, call in zip(found.tool_calls, message.tool_calls, strict=True):
        assert made.name == call.name
        if made.kind == call.kind:
            assert (made.arguments, made.input) == (call.arguments, call.input)
        else:
            assert (made.kind, made.arguments) == ("function", {"input": call.input})
        assert made.id
        if call.id and provider.call_ids is not None and sum(one.id == call.id for one in message.tool_calls) == 1:
            assert made.id == provider.call_ids.fit(call.id)
    assert len({call.id for call in found.tool_calls}) == len(found.tool_calls)
    assert found.content == message.content
    assert found.reasoning == (None if provider.provider == "openai" else message.reasoning)


def stop_of(message: Message) -> tuple[str, ...]:
    """How the answer may be said to have stopped."""
    if message.stop_reason == "content_filter":
        return ("content_filter",)
    calls = "tool_calls" if message.tool_calls else "stop"
    return ("length", calls) if message.stop_reason == "length" else (calls,)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
ids = st.none() | st.sampled_from(["call_1", "a|b", "x" * 80, "é"])
calls = st.builds(
    ToolCall,
    st.sampled_from(["f", "get_weather", "files/read"]),
    st.dictionaries(st.text(max_size=4), values, max_size=3),
    ids,
) | st.builds(lambda text, id: ToolCall("sql", id=id, kind="custom", input=text), st.text(max_size=8), ids)
said = st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from("\n \u2028\x85"), min_size=1, max_size=12)
parts = st.builds(TextPart, said) | st.builds(ReasoningPart, said) | calls
# Of parts of one kind that follow each other an API may make one.
messages = st.lists(parts, max_size=6).map(lambda found: made_of(*alternating(found)))
reasons = st.sampled_from([None, "stop", "tool_calls", "length", "content_filter", "other"])


def alternating(found: list[Any]) -> list[Any]:
    return [one for one, before in zip(found, [None, *found], strict=False) if type(one) is not type(before)] + [
        one for one in found[-1:] if isinstance(one, ToolCall)
    ]


@pytest.mark.parametrize("name", TARGETS)
@settings(max_examples=150, deadline=None)
@given(message=messages, reason=reasons, eager=st.booleans(), seed=st.integers(0, 2**32))
def test_what_is_written_is_read_back(name: str, message: Message, reason: Any, eager: bool, seed: int) -> None:
    provider = get_provider(name)
    message.stop_reason = reason
    cut = random.Random(seed)
    events = events_of(message, cut)
    written = list(provider.write_stream(events, model="m", eager=eager, finish_reason=reason))
    for found in (
        read(provider, written),
        read(provider, written, cut),
        read(provider, list(provider.write_stream(message, model="m"))),
        provider.parse(json.loads(json.dumps(provider.response(message, model="m")))),
    ):
        same(found, message, provider)
        assert found.stop_reason in stop_of(message)
        if name in ("anthropic", "openai_responses"):  # these have an order
            kinds = [type(part) for part in message.parts if isinstance(part, CallPart) or part.text.strip()]
            assert [type(part) for part in found.parts if isinstance(part, CallPart) or part.text.strip()] == kinds


def called(name: str, written: list[Any]) -> list[tuple[str, str]]:
    """Name and arguments of every call that a client sees in what was written, complete or not."""
    found: dict[Any, list[str]] = {}
    for event in written:
        kind = event.get("type")
        if name == "openai":
            for choice in event.get("choices", ()):
                for call in choice["delta"].get("tool_calls", ()):
                    entry = found.setdefault(call["index"], ["", ""])
                    entry[0] += call["function"].get("name", "")
                    entry[1] += call["function"]["arguments"]
        elif kind == "content_block_start" and event["content_block"]["type"] == "tool_use":
            found[event["index"]] = [event["content_block"]["name"], ""]
        elif kind == "content_block_delta" and event["delta"]["type"] == "input_json_delta":
            found[event["index"]][1] += event["delta"]["partial_json"]
        elif kind == "response.output_item.added" and event["item"]["type"] == "function_call":
            found[event["output_index"]] = [event["item"]["name"], ""]
        elif kind == "response.function_call_arguments.delta":
            found[event["output_index"]][1] += event["delta"]
    return [(one, arguments) for one, arguments in found.values()]


GOLDEN = [
    (id, text)
    for id in ("hermes", "qwen3_coder", "mistral_v13", "harmony", "glm47", "kimi_k2", "pythonic", "dsml_v32")
    for text in [text for text in golden_texts()[id] if len(text) < 400][:4]
]


@pytest.mark.parametrize("name", ["openai", "anthropic", "openai_responses"])
@pytest.mark.parametrize(("format", "text"), GOLDEN, ids=[f"{id}-{n}" for n, (id, _) in enumerate(GOLDEN)])
def test_never_part_of_a_call(format: str, text: str, name: str) -> None:
    """For every prefix: a client sees the calls that were made, whole, and of others nothing; or, if it is eager, what
    is not whole, in a stream that ends in an error.
    """
    provider = get_provider(name)
    for size in range(len(text) + 1):
        parser = StreamParser(format=format, on_error="collect")
        events = [event for at in range(0, size, 6) for event in parser.feed(text[at : min(at + 6, size)])]
        events += parser.close("stop" if size == len(text) else "length")
        message = parser.message
        expected = [(call.name, call.arguments_json) for call in message.tool_calls]
        for eager in EAGER:
            writer = provider.stream_writer(model="m", eager=eager)
            written = [one for event in events for one in writer.feed(event)]
            written += writer.close(message.stop_reason)
            seen = called(name, written)
            found = read(provider, written)
            if not eager:
                assert seen == expected
            elif seen != expected:
                assert "error" in str(written[-1])
                assert seen[: len(expected)] == expected
                (part,) = seen[len(expected) :]
                with pytest.raises(ValueError, match=r"Expecting|Unterminated|Invalid|Extra"):
                    json.loads(part[1])
            assert [(call.name, call.arguments) for call in found.tool_calls] == [
                (call.name, call.arguments) for call in message.tool_calls
            ]


@pytest.mark.parametrize("eager", EAGER)
@pytest.mark.parametrize("name", TARGETS)
@pytest.mark.parametrize(
    "case", [case for case in payloads.cases() if "stream" in case.data], ids=lambda case: f"{case.wire}-{case.name}"
)
def test_gateway(case: Any, name: str, eager: bool) -> None:
    """Any API's stream as any other's: the same calls, none that is broken."""
    reader = provider_of(case).stream(on_error="collect")
    events = [event for one in case.data["stream"] for event in reader.feed(one)] + reader.close()
    message = reader.message
    provider = get_provider(name)
    writer = provider.stream_writer(model="m", eager=eager)
    written = [one for event in events for one in writer.feed(event)]
    written += writer.close(message.stop_reason, usage=message.usage)
    found = read(provider, written)
    if message.stop_reason == "error" and not message.errors:
        assert [error.code for error in found.errors] == ["provider.error_response"]
    elif not message.errors:
        same(found, message, provider)
    elif not eager:
        assert [call.name for call in found.tool_calls] == [call.name for call in message.tool_calls]
    made = [(call.name, call.arguments_json if call.kind != "custom" else None) for call in message.tool_calls]
    for call in found.tool_calls:
        assert (call.name, None) in made or (call.name, call.arguments_json) in made


@pytest.mark.parametrize("eager", EAGER)
@pytest.mark.parametrize("end", ["all", "broken", "open", "failed"])
@pytest.mark.parametrize("name", TARGETS)
def test_calls_are_written_in_the_order_in_which_they_began(name: str, end: str, eager: bool) -> None:
    """Streams of Responses may end them in any order; a first one that never ends holds none back for good."""
    provider = get_provider(name)
    writer = provider.stream_writer(model="m", eager=eager)
    events: list[Any] = [ToolCallStart(number, f"c{number}", "f") for number in range(4)]
    ends = [ToolCallEnd(number, ToolCall("f", {"a": number}, f"c{number}", index=number)) for number in range(4)]
    events += [ends[3], ends[1], ends[2]]
    if end == "all":
        events.append(ends[0])
    elif end == "broken":
        events.append(ErrorEvent(ParseError("no", "json.expected_key", call_index=0)))
    written = [one for event in events for one in writer.feed(event)]
    written += writer.fail("gone") if end == "failed" else writer.close("stop")
    found = read(provider, written)
    assert [call.arguments["a"] for call in found.tool_calls] == [0, 1, 2, 3][end != "all" :]
    assert bool(found.errors) == (end in ("broken", "failed"))


# -- how a stream ends

WHOLE = '<tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>'
BROKEN = WHOLE + '<tool_call>{"name": "g", "arguments": {1}}</tool_call> B'
CUT = WHOLE + '<tool_call>{"name": "g", "arguments": {"b": '


def run(name: str, text: str, reason: str | None = None, **options: Any) -> tuple[list[Any], Message]:
    provider = get_provider(name)
    parsed = StreamParser(format="hermes", on_error="collect")
    events = [event for c in text for event in parsed.feed(c)] + parsed.close(reason)
    written = list(provider.write_stream(events, model="m", finish_reason=reason, **options))
    return written, read(provider, written)


@pytest.mark.parametrize("name", TARGETS)
def test_a_broken_call_ends_in_the_error_of_the_api(name: str) -> None:
    written, message = run(name, BROKEN, "stop")
    assert [call.name for call in message.tool_calls] == ["f"]
    assert [error.code for error in message.errors] == ["provider.error_response"]
    assert message.stop_reason == "error"
    assert "json.expected_key" in json.dumps(written[-1])
    assert message.content == " B"  # what stands behind it is written as well
    last = written[-1]
    if name == "anthropic":
        assert (last["type"], last["error"]["type"]) == ("error", "api_error")
    elif name == "openai_responses":
        assert (last["type"], last["response"]["error"]["code"]) == ("response.failed", "server_error")
        assert [item["type"] for item in last["response"]["output"]] == ["function_call", "message"]
    else:
        assert last["error"]["code"] == "json.expected_key"


@pytest.mark.parametrize("name", TARGETS)
def test_an_eager_stream_ends_where_the_call_breaks(name: str) -> None:
    written, message = run(name, CUT + "} </tool_call> B", "stop", eager=True)
    assert [call.name for call in message.tool_calls] == ["f"]
    assert (message.content, message.stop_reason) == (None, "error")
    assert "json.expected_value" in json.dumps(written[-1])
    # Of a call that was not begun nothing was seen: the stream goes on, and ends as one that is not eager.
    written, message = run(name, BROKEN, "stop", eager=True)
    assert [call.name for call in message.tool_calls] == ["f"]
    assert (message.content, message.stop_reason) == (" B", "error")


@pytest.mark.parametrize("reason", [None, "length"])
@pytest.mark.parametrize("name", TARGETS)
def test_a_call_that_is_cut_off_is_a_limit(name: str, reason: str | None) -> None:
    written, message = run(name, CUT, reason)
    assert [call.name for call in message.tool_calls] == ["f"]
    assert message.errors == []
    # Anthropic's limit would make the whole call that stands last look cut off.
    assert message.stop_reason == ("tool_calls" if name == "anthropic" else "length")
    losses = [loss.code for event in written for loss in event.losses if loss.code != "loss.reasoning"]
    assert losses == (["loss.stop_reason"] if name == "anthropic" else [])
    _, message = run(name, "Hm. " + CUT[len(WHOLE) :], reason)
    assert (message.content, message.tool_calls, message.stop_reason) == ("Hm. ", [], "length")


@pytest.mark.parametrize("name", TARGETS)
def test_a_call_that_the_model_ended_itself_is_broken(name: str) -> None:
    _, message = run(name, CUT, "stop")
    assert [call.name for call in message.tool_calls] == ["f"]
    assert message.stop_reason == "error"


@pytest.mark.parametrize("name", TARGETS)
def test_a_call_that_is_cut_off_while_it_is_written(name: str) -> None:
    written, message = run(name, CUT, "length", eager=True)
    assert [call.name for call in message.tool_calls] == ["f"]
    assert message.stop_reason == "error"
    assert "error" in json.dumps(written[-1])


@pytest.mark.parametrize("eager", EAGER)
@pytest.mark.parametrize("name", TARGETS)
def test_events_that_end_inside_a_call(name: str, eager: bool) -> None:
    """The source went away without an error: what was begun was not made."""
    events = [TextDelta("A"), ToolCallStart(0, None, "f"), ToolCallDelta(0, '{"a": {}}')]
    provider = get_provider(name)
    message = read(provider, list(provider.write_stream(events, model="m", eager=eager)))
    assert (message.content, message.tool_calls) == ("A", [])
    assert message.stop_reason == ("error" if eager else "length")


@pytest.mark.parametrize("name", TARGETS)
def test_an_error_of_the_upstream_is_one_here(name: str) -> None:
    chunks = [{"choices": [{"index": 0, "delta": {"content": "A"}}]}, {"error": {"message": "Overloaded"}}]
    provider = get_provider(name)
    reader = get_provider("openai").stream()

    def events() -> Any:
        for chunk in [*chunks, *chunks]:  # the second time raises
            yield from reader.feed(chunk)

    message = read(provider, list(provider.write_stream(events(), model="m")))
    assert (message.content, message.stop_reason) == ("A", "error")
    assert "Overloaded" in message.errors[0].text
    # A connection that was lost is no limit.
    lost = TruncatedError("the stream ended", "provider.stream_incomplete")
    message = read(provider, list(provider.write_stream([TextDelta("A"), ErrorEvent(lost)], model="m")))
    assert message.stop_reason == "error"


@pytest.mark.parametrize("name", TARGETS)
def test_errors_that_the_source_raises(name: str) -> None:
    provider = get_provider(name)
    written = list(provider.write_stream(stream([BROKEN, "more"], format="hermes"), model="m"))
    message = read(provider, written)
    assert [call.name for call in message.tool_calls] == ["f"]
    assert "json.expected_key" in json.dumps(written[-1])

    def limited() -> Any:
        yield TextDelta("A")
        raise LimitError("too much", "calls")

    message = read(provider, list(provider.write_stream(limited(), model="m")))
    assert (message.content, message.stop_reason) == ("A", "error")

    def untold() -> Any:
        yield TextDelta("A")
        raise ParseError("no", "json.expected_value")

    message = read(provider, list(provider.write_stream(untold(), model="m")))
    assert (message.content, message.stop_reason) == ("A", "error")


@pytest.mark.parametrize("name", TARGETS)
def test_nothing_and_blank(name: str) -> None:
    provider = get_provider(name)
    for events in ([], [TextDelta("")], [TextDelta("\n"), TextDelta(" \n"), ReasoningDelta("\n")]):
        written = list(provider.write_stream(events, model="m", finish_reason="stop"))
        assert "\\n" not in json.dumps(written)
        message = read(provider, written)
        assert (message.content, message.reasoning, message.tool_calls) == (None, None, [])
        assert message.stop_reason == "stop"
    # Blank that is a part of more is kept.
    events = [TextDelta("\n"), TextDelta(" A"), ToolCallEnd(0, CALL), TextDelta(" "), ToolCallEnd(1, CALL)]
    message = read(provider, list(provider.write_stream([*events, TextDelta("\n")], model="m")))
    assert message.content == "\n A \n"


@pytest.mark.parametrize("name", TARGETS)
def test_the_reason_lies(name: str) -> None:
    provider = get_provider(name)
    for reason, calls, expected in (
        ("stop", [CALL], "tool_calls"),
        ("tool_calls", [], "stop"),
        ("end_turn", [CALL], "tool_calls"),
        ("other", [], "stop"),
        ("error", [CALL], "error"),
        ("MAX_TOKENS", [], "length"),
        ("content_filter", [CALL], "content_filter"),
    ):
        events = [ToolCallEnd(0, call) for call in calls]
        written = list(provider.write_stream(events, model="m", finish_reason=reason))
        assert read(provider, written).stop_reason == expected


# -- what of it can be said


def test_ids_are_such_as_the_api_takes() -> None:
    events = [ToolCallEnd(n, ToolCall("f", {}, id)) for n, id in enumerate([None, "a|b", "a|b", "x" * 90, "call_1"])]
    for name in TARGETS:
        provider = get_provider(name)
        made = [call.id for call in read(provider, list(provider.write_stream(events, model="m"))).tool_calls]
        assert len(set(made)) == 5
        assert all(provider.call_ids.takes(id) for id in made)  # type: ignore[union-attr, arg-type]
        assert made[4] == "call_1"
        assert made[0].startswith("toolu_" if name == "anthropic" else "call_")  # type: ignore[union-attr]


def test_the_same_id_in_every_object() -> None:
    chunks = list(get_provider("openai").write_stream(Message("A", tool_calls=[CALL]), model="m", id="c", created=7))
    assert {(chunk["id"], chunk["created"], chunk["model"]) for chunk in chunks} == {("c", 7, "m")}
    events = list(get_provider("openai_responses").write_stream(Message("A", tool_calls=[CALL]), model="m", id="r"))
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    assert {event["response"]["id"] for event in events if "response" in event} == {"r"}
    about = [event for event in events if "output_index" in event]
    for index in (0, 1):
        found = {event.get("item_id") or event["item"]["id"] for event in about if event["output_index"] == index}
        assert len(found) == 1


def test_names_are_the_clients_own() -> None:
    for name in TARGETS:
        provider = get_provider(name)
        written = list(provider.write_stream([ToolCallEnd(0, ToolCall("files/read é"))], model="m"))
        assert read(provider, written).tool_calls[0].name == "files/read é"


def test_reasoning() -> None:
    message = Message("A", reasoning="Hm.")
    losses = {
        "openai": ["loss.reasoning"],
        "vllm": [],
        "groq": [],
        "anthropic": ["loss.reasoning"],  # it has no signature
        "openai_responses": [],
    }
    for name, expected in losses.items():
        written = list(get_provider(name).write_stream(message, model="m"))
        assert [loss.code for event in written for loss in event.losses] == expected
    deltas = [chunk["choices"][0]["delta"] for chunk in get_provider("groq").write_stream(message, model="m")]
    assert {"reasoning": "Hm."} in deltas
    deltas = [chunk["choices"][0]["delta"] for chunk in get_provider("deepseek").write_stream(message, model="m")]
    assert {"reasoning_content": "Hm."} in deltas
    with pytest.raises(ConversionError) as info:
        list(get_provider("openai").write_stream(message, model="m", strict=True))
    assert info.value.code == "conversion.lossy"


def test_text_that_turns_out_to_be_reasoning_is_a_loss() -> None:
    writer = get_provider("anthropic").stream_writer(model="m")
    writer.feed(TextDelta("Hm."))
    writer.feed(ReasoningReclassified((0, 3)))
    writer.feed(TextDelta("A"))
    writer.close("stop")
    assert [loss.code for loss in writer.losses] == ["loss.reasoning"]
    assert writer.response["content"] == [{"type": "text", "text": "Hm.A"}]
    # What was held back is no text, and nothing is lost.
    writer = get_provider("anthropic").stream_writer(model="m")
    writer.feed(TextDelta("\n"))
    writer.feed(ReasoningReclassified((0, 1)))
    writer.feed(TextDelta("A"))
    writer.close("stop")
    assert (writer.losses, writer.response["content"]) == ((), [{"type": "text", "text": "A"}])


def test_calls_of_free_text() -> None:
    call = ToolCall("sql", id="c", kind="custom", input="select 1")
    events = [ToolCallStart(0, "c", "sql"), ToolCallDelta(0, "{}"), ToolCallEnd(0, call)]
    for name, kind in (("openai", "custom"), ("vllm", "function"), ("anthropic", "function")):
        for eager in EAGER:
            provider = get_provider(name)
            written = list(provider.write_stream(events, model="m", eager=eager))
            (found,) = read(provider, written).tool_calls
            assert found.kind == kind
            assert [loss.code for event in written for loss in event.losses] == (
                [] if kind == "custom" else ["loss.tool_kind"]
            )
            # With the tools it is what it was.
            tools = [{"type": "custom", "name": "sql"}]
            reader = provider.stream(tools=tools)
            for event in written:
                reader.feed(event)
            reader.close()
            assert reader.message.tool_calls == [call]
    # A limit behind one would put it in doubt.
    for name in TARGETS:
        provider = get_provider(name)
        assert (
            len(read(provider, list(provider.write_stream(events, model="m", finish_reason="length"))).tool_calls) == 1
        )


def test_eager_calls_that_come_side_by_side() -> None:
    """An upstream may mix the pieces of several calls and text; the first of them is written as it comes."""
    other = ToolCall("g", {"b": [2, 3]})
    events = [
        ToolCallStart(0, "call_1", "get_weather"),
        ToolCallDelta(0, CALL.arguments_json[:9]),
        ToolCallStart(1, None, "g"),
        ToolCallDelta(1, '{"b": [2'),
        TextDelta("A"),
        ToolCallDelta(0, CALL.arguments_json[9:]),
        ToolCallDelta(1, ", 3]}"),
        ToolCallEnd(1, other),
        ToolCallStart(2, None, "h"),
        ToolCallEnd(0, CALL),
        ToolCallDelta(2, "{}"),
        ToolCallEnd(2, ToolCall("h")),
    ]
    for name in TARGETS:
        provider = get_provider(name)
        message = read(provider, list(provider.write_stream(events, model="m", eager=True)))
        assert [call.name for call in message.tool_calls] == ["get_weather", "g", "h"]
        assert message.tool_calls[:2] == [CALL, ToolCall("g", {"b": [2, 3]}, message.tool_calls[1].id)]
        assert message.content == "A"


def test_a_call_that_breaks_before_it_is_begun_holds_nothing_back() -> None:
    broken = ErrorEvent(ParseError("no", "json.expected_value", call_index=0))
    events = [ToolCallStart(0, None, "f"), TextDelta("A"), broken, TextDelta("B")]
    for name in TARGETS:
        provider = get_provider(name)
        message = read(provider, list(provider.write_stream(events, model="m", eager=True)))
        assert (message.content, message.tool_calls, message.stop_reason) == ("AB", [], "error")


@pytest.mark.parametrize("name", TARGETS)
def test_reasoning_that_was_not_closed(name: str) -> None:
    """A call in it is not run: an error, or the limit if that cut it off."""
    assert run(name, "<think>Hm. " + WHOLE, "length")[1].stop_reason == "length"
    assert run(name, "<think>Hm. " + WHOLE + " x", "stop")[1].stop_reason == "error"


def test_eager_fragments_come_when_they_come() -> None:
    writer = get_provider("anthropic").stream_writer(model="m", eager=True)
    writer.feed(ToolCallStart(0, None, "f"))
    told = [
        [event["delta"]["partial_json"] for event in writer.feed(ToolCallDelta(0, piece)) if "delta" in event]
        for piece in ("{", '"a"', ": {", "}", "}")
    ]
    assert told == [[], ['{"a"'], [": {"], [], ["}"]]  # one brace is always held back
    last = writer.feed(ToolCallEnd(0, ToolCall("f", {"a": {}})))
    assert [event.get("delta") for event in last] == [{"type": "input_json_delta", "partial_json": "}"}, None]


def test_a_call_that_is_not_the_one_that_was_written() -> None:
    events = [ToolCallStart(0, None, "f"), ToolCallDelta(0, '{"a": 1'), ToolCallEnd(0, ToolCall("f", {"a": 2}))]
    for name in TARGETS:
        provider = get_provider(name)
        message = read(provider, list(provider.write_stream(events, model="m", eager=True)))
        assert (message.tool_calls, message.stop_reason) == ([], "error")


USAGES: dict[str, Any] = {
    "openai": {
        "prompt_tokens": 10,
        "completion_tokens": 5,
        "total_tokens": 15,
        "prompt_tokens_details": {"cached_tokens": 4},
        "completion_tokens_details": {"reasoning_tokens": 2},
    },
    "openai_responses": {
        "input_tokens": 10,
        "input_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 0},
        "output_tokens": 5,
        "output_tokens_details": {"reasoning_tokens": 2},
        "total_tokens": 15,
    },
    "anthropic": {"input_tokens": 6, "cache_read_input_tokens": 4, "output_tokens": 5},
}


@pytest.mark.parametrize("name", USAGES)
@pytest.mark.parametrize("source", [*USAGES, "gemini", "bedrock", "ollama", "cohere"])
def test_usage(source: str, name: str) -> None:
    """Six tokens that were new, four from a cache, five written, two of them thoughts, where an API counts these."""
    others = {
        "gemini": {
            "promptTokenCount": 10,
            "cachedContentTokenCount": 4,
            "candidatesTokenCount": 3,
            "thoughtsTokenCount": 2,
        },
        "bedrock": {"inputTokens": 6, "cacheReadInputTokens": 4, "outputTokens": 5},
        "ollama": {"prompt_eval_count": 10, "eval_count": 5},
        "cohere": {"billed_units": {"input_tokens": 1}, "tokens": {"input_tokens": 10, "output_tokens": 5}},
    }
    expected = json.loads(json.dumps(USAGES[name]))
    if source in ("ollama", "cohere"):  # no cache
        for key in ("prompt_tokens_details", "cache_read_input_tokens"):
            expected.pop(key, None)
        expected.get("input_tokens_details", {}).update(cached_tokens=0)
        if name == "anthropic":
            expected["input_tokens"] = 10
    if source in ("ollama", "cohere", "bedrock", "anthropic"):  # no thoughts
        expected.pop("completion_tokens_details", None)
        expected.get("output_tokens_details", {}).update(reasoning_tokens=0)
    usage = {**USAGES, **others}[source]
    provider = get_provider(name)
    written = list(provider.write_stream(Message("A"), model="m", usage=usage))
    assert read(provider, written).usage == expected
    if name == "anthropic":  # which says at the beginning what it has read
        for source_of in (Message("A"), [TextDelta("A")], Message("A", usage=usage)):
            told = {} if isinstance(source_of, Message) and source_of.usage else {"usage": usage}
            start = next(provider.write_stream(source_of, model="m", **told))
            assert start["message"]["usage"]["input_tokens"] == expected["input_tokens"]
    later = list(provider.write_stream(iter([TextDelta("A")]), model="m", usage=lambda: usage))
    assert read(provider, later).usage == expected


def test_usage_of_a_chat_is_a_chunk_of_its_own() -> None:
    *_, last, usage = get_provider("openai").write_stream(Message("A"), model="m", usage=USAGES["openai"])
    assert last["choices"][0]["finish_reason"] == "stop"
    assert (usage["choices"], usage["usage"]) == ([], USAGES["openai"])
    with pytest.raises(TypeError):
        get_provider("openai").write_stream(Message("A"), model="m", usage=3)


@pytest.mark.parametrize("name", TARGETS)
def test_usage_that_is_no_number_is_not_counted(name: str) -> None:
    counted = {"inputTokens": float("nan"), "outputTokens": float("inf"), "cacheReadInputTokens": "5"}
    body = get_provider(name).response(Message("A"), model="m", usage=counted)
    assert not any(value for key, value in body["usage"].items() if isinstance(value, (int, float)))
    json.dumps(body, allow_nan=False)


def test_what_came_from_the_api_is_written_as_it_was() -> None:
    payload = {
        "type": "message",
        "role": "assistant",
        "stop_reason": "tool_use",
        "content": [
            {"type": "thinking", "thinking": "", "signature": "s0"},
            {"type": "thinking", "thinking": "Hm.", "signature": "s1"},
            {"type": "redacted_thinking", "data": "x"},
            {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "a"}},
            {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []},
            {"type": "text", "text": "A"},
            {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {"a": 1}},
        ],
    }
    claude = get_provider("anthropic")
    message = claude.parse(payload)
    written = list(claude.write_stream(message, model="m", strict=True))
    assert read(claude, written).parts == message.parts
    assert claude.response(message, model="m")["content"] == payload["content"]
    response = get_provider("openai").response(message, model="m")
    assert {loss.code for loss in response.losses} == {"loss.reasoning", "loss.extra", "loss.part"}

    items = [
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x"},
        {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "a"}},
        {
            "type": "computer_call",
            "id": "cu_1",
            "call_id": "c",
            "action": {"type": "screenshot"},
            "status": "completed",
        },
    ]
    responses = get_provider("openai_responses")
    message = responses.parse({"object": "response", "status": "completed", "output": items})
    assert responses.response(message, model="m")["output"] == items
    assert read_parts(responses, message) == message.parts


def read_parts(provider: WireProvider, message: Message) -> list[Any]:
    reader = provider.stream()
    for event in provider.write_stream(message, model="m"):
        reader.feed(event)
    reader.close()
    return reader.message.parts


def test_a_refusal() -> None:
    chat = get_provider("openai")
    choice = {"message": {"role": "assistant", "content": None, "refusal": "No."}, "finish_reason": "stop"}
    message = chat.parse({"choices": [choice]})
    for found in (
        read(chat, list(chat.write_stream(message, model="m"))),
        chat.parse(chat.response(message, model="m")),
    ):
        assert (found.extra["openai_chat"]["refusal"], found.content) == ("No.", None)
        assert found.stop_reason == "content_filter"
    for name in ("anthropic", "openai_responses"):  # where it is text, also if it is read
        found = read(get_provider(name), list(get_provider(name).write_stream(message, model="m")))
        assert (found.content, found.stop_reason) == ("No.", "content_filter")


def test_signatures_of_others_are_losses() -> None:
    call = ToolCall("f", extra={"gemini": {"thoughtSignature": "s"}})
    (end,) = get_provider("anthropic").stream_writer(model="m").feed(ToolCallEnd(0, call))[-1:]
    writer = get_provider("anthropic").stream_writer(model="m")
    writer.feed(ToolCallEnd(0, call))
    assert end["type"] == "content_block_stop"
    assert [(loss.code, loss.path) for loss in writer.losses] == [
        ("loss.extra", "$.tool_calls[0].extra.gemini.thoughtSignature")
    ]
    opaque = made_of(OpaquePart({"type": "x"}, None, {"gemini": {}}))
    assert [loss.code for loss in get_provider("anthropic").response(opaque, model="m").losses] == ["loss.part"]


def test_members_of_the_servers_own() -> None:
    for name, where in (("openai", ()), ("anthropic", ("message",)), ("openai_responses", ("response",))):
        provider = get_provider(name)
        first = next(provider.write_stream(Message("A"), model="m", extra={"x_id": 7}))
        for key in where:
            first = first[key]
        assert first["x_id"] == 7
        assert provider.response(Message("A"), model="m", extra={"x_id": 7})["x_id"] == 7


def test_a_whole_response_that_is_broken_is_the_error() -> None:
    message = StreamParser(format="hermes", on_error="collect")
    message.feed(BROKEN)
    message.close("stop")
    for name in TARGETS:
        provider = get_provider(name)
        found = provider.parse(provider.response(message.message, model="m"), on_error="collect")
        assert found.stop_reason == "error"
        assert [error.code for error in found.errors] == ["provider.error_response"]


# -- bytes, and misuse


def test_frames() -> None:
    text = 'a\nb\r"\x85\u2028\u2029é\ud800'
    for name, head, end in (
        ("openai", b'data: {"id"', b"data: [DONE]\n\n"),
        (
            "anthropic",
            b'event: message_start\ndata: {"type"',
            b'event: message_stop\ndata: {"type":"message_stop"}\n\n',
        ),
        ("openai_responses", b'event: response.created\ndata: {"type"', b"}\n\n"),
    ):
        provider = get_provider(name)
        found = list(provider.sse(provider.write_stream(Message(text), model="m")))
        assert found[0].startswith(head)
        assert found[-1].endswith(end)
        for frame in found:
            assert frame.endswith(b"\n\n")
            lines = frame.decode().splitlines()  # which knows all ends of lines
            assert len(lines) == (2 if name == "openai" else 3)
        reader = provider.stream()
        reader.feed_bytes(b"".join(found))
        reader.close()
        assert reader.message.content is not None
        assert reader.message.content.startswith('a\nb\r"\x85\u2028\u2029é')
        pieces = list(provider.sse(provider.write_stream(Message("A"), model="m"), done=False))
        assert b"[DONE]" not in b"".join(pieces)


def test_asynchronous() -> None:
    async def events() -> AsyncIterator[Any]:
        for event in (TextDelta("A"), ToolCallEnd(0, CALL)):
            yield event

    async def failing() -> AsyncIterator[Any]:
        yield TextDelta("A")
        raise ParseError("no", "json.expected_value")

    async def body(source: AsyncIterator[Any], name: str) -> bytes:
        provider = get_provider(name)
        return b"".join([one async for one in provider.asse(provider.awrite_stream(source, model="m"))])

    for name in TARGETS:
        reader = get_provider(name).stream()
        reader.feed_bytes(asyncio.run(body(events(), name)))
        reader.close()
        assert (reader.message.content, reader.message.tool_calls) == ("A", [CALL])
        reader = get_provider(name).stream(on_error="collect")
        reader.feed_bytes(asyncio.run(body(failing(), name)))
        assert reader.message.stop_reason == "error"


def test_misuse() -> None:
    for name in ("mistral", "google", "cohere", "bedrock", "ollama", "mcp"):
        provider = get_provider(name)
        for call in (
            lambda p: p.stream_writer(model="m"),
            lambda p: p.write_stream([], model="m"),
            lambda p: p.response(Message("A"), model="m"),
            lambda p: p.sse([]),
        ):
            with pytest.raises(ConversionError) as info:
                call(provider)
            assert info.value.code == "conversion.unsupported"
    openai = get_provider("openai")
    with pytest.raises(TypeError):
        openai.stream_writer(model=None)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        openai.write_stream(7, model="m")  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        openai.stream_writer(model="m").feed("text")  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        openai.response("text", model="m")  # type: ignore[arg-type]
    for name in ("openai", "openai_responses", "anthropic"):
        for wrong in ("text", [1], [TextDelta("A")]):
            with pytest.raises(TypeError, match="events"):
                list(get_provider(name).sse(wrong))  # type: ignore[arg-type]
    writer = openai.stream_writer(model="m")
    with pytest.raises(RuntimeError):
        _ = writer.response
    with pytest.raises(ValueError, match="finish_reason"):
        writer.close("no such reason")
    writer.close()
    for misuse in (writer.close, lambda: writer.feed(TextDelta("A")), lambda: writer.write(Message())):
        with pytest.raises(RuntimeError):
            misuse()
