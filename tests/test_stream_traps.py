"""Streams of OpenAI's APIs and their dialects that were made to hurt: linear time, bounded, no exception but ours."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

import pytest

from test_hostile import within
from toolglot import LimitError, Limits, Message, ProviderStream, ToolCallDelta, ToolCallEnd, get_provider

MANY = 100_000


def fed(events: Any, provider: str = "openai", limits: Limits | None = None) -> tuple[list[Any], Message]:
    stream: ProviderStream = get_provider(provider).stream(on_error="collect", limits=limits)
    told: list[Any] = []
    with within(40):
        for event in events:
            told += stream.feed(event)
        told += stream.close()
        return told, stream.message


def chunk(delta: dict[str, Any], reason: str | None = None, **more: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": reason, **more}]}


def piece(index: Any, arguments: Any, **more: Any) -> dict[str, Any]:
    return chunk({"tool_calls": [{"index": index, "function": {"arguments": arguments}, **more}]})


def begin(index: int, arguments: Any = "") -> dict[str, Any]:
    call = {"index": index, "id": f"c{index}", "function": {"name": "f", "arguments": arguments}}
    return chunk({"tool_calls": [call]})


END = chunk({}, "tool_calls")


def test_characters() -> None:
    told, message = fed(chain([begin(0, '{"a": "')], (piece(0, "x") for _ in range(MANY)), [piece(0, '"}'), END]))
    assert message.tool_calls[0].arguments == {"a": "x" * MANY}
    assert len(told) == MANY + 4  # with its start and its end


@pytest.mark.parametrize("white", [" ", "\n\t"])
def test_white_space(white: str) -> None:
    """White space is held back, as it may be the last; that of 100,000 pieces as well."""
    whites = [piece(0, white)] * MANY
    told, message = fed([begin(0), *whites, piece(0, "{"), *whites, piece(0, "}"), *whites, END])
    assert message.tool_calls[0].arguments == {}
    deltas = [event.arguments for event in told if type(event) is ToolCallDelta]
    assert deltas == ["{", white * MANY + "}"]
    assert message.tool_calls[0].arguments_json == "".join(deltas)
    told, message = fed([begin(0), *whites, END])
    assert [event.arguments for event in told if type(event) is ToolCallDelta] == ["{}"]
    assert message.tool_calls[0].raw_arguments == white * MANY


def test_alternating() -> None:
    events = chain(
        [begin(0, '{"a": "'), begin(1, '{"a": "')],
        (piece(number % 2, str(number % 2)) for number in range(MANY)),
        [piece(0, '"}'), piece(1, '"}'), END],
    )
    _, message = fed(events)
    assert [call.arguments["a"] for call in message.tool_calls] == ["0" * (MANY // 2), "1" * (MANY // 2)]


def test_texts() -> None:
    pieces: Iterator[dict[str, Any]] = (chunk({"content": "x", "reasoning": "y", "refusal": "z"}) for _ in range(MANY))
    _, message = fed(chain(pieces, [chunk({}, "stop")]))
    assert (message.content, message.reasoning) == ("x" * MANY, "y" * MANY)
    assert message.extra["openai_chat"]["refusal"] == "z" * MANY


@pytest.mark.parametrize("step", [0, 1])
def test_what_is_kept(step: int) -> None:
    """Details of one index, each with an index of its own, and probabilities."""
    events = (
        chunk(
            {"reasoning_details": [{"type": "reasoning.text", "index": step * number, "text": "x"}]},
            logprobs={"content": [{"token": "x"}]},
        )
        for number in range(MANY)
    )
    _, message = fed(chain(events, [chunk({}, "stop")]))
    details = message.extra["openai_chat"]["message"]["reasoning_details"]
    assert "".join(one["text"] for one in details) == "x" * MANY
    assert len(details) == (MANY if step else 1)
    assert len(message.extra["openai_chat"]["choice"]["logprobs"]["content"]) == MANY


def test_many_of_everything() -> None:
    """Choices, renamings of a call with a long name, wrong shapes, unknown kinds: counted or noted, and bounded."""
    name = "n" * 1_000_000
    renamed = [{"index": 0, "id": "c", "function": {"name": "m" * (1 + number % 2)}} for number in range(MANY)]
    events: Iterator[Any] = chain(
        ({"choices": [{"index": number, "delta": {"content": "x"}}]} for number in range(MANY)),
        [chunk({"tool_calls": [{"index": 0, "id": "c", "function": {"name": name}}]})],
        (chunk({"tool_calls": [one]}) for one in renamed),
        (chunk({"content": number}) for number in range(MANY)),
        ({"object": f"kind {number}"} for number in range(MANY)),
        [END],
        (chunk({"content": "late"}) for _ in range(MANY)),
    )
    _, message = fed(events)
    assert message.content == "x"
    assert [error.code for error in message.errors] == ["tool_call.invalid_name", "provider.event_after_end"]
    assert 1_000 < len(message.losses) < 1_010


@pytest.mark.parametrize("provider", ["openai", "mistral"])
def test_limits(provider: str) -> None:
    with pytest.raises(LimitError, match="calls"):
        fed((begin(number, "{}") for number in range(MANY)), provider)
    with pytest.raises(LimitError, match="arguments"):
        fed(chain([begin(0, "{")], (piece(0, "x" * 100) for _ in range(MANY))), provider, Limits(arguments=1_000))


def test_nesting() -> None:
    """A caller's values are nested as deep as they like; text has a limit."""
    deep: Any = "x"
    for _ in range(MANY):
        deep = {"a": deep}
    _, message = fed([chunk({"content": "x", "beside": deep}, other=deep), chunk({}, "stop")])
    assert message.content == "x"
    assert message.extra["openai_chat"]["message"]["beside"] is not None
    _, message = fed([begin(0, deep), piece(0, deep), piece(0, {"b": deep}), END])
    assert [error.code for error in message.errors] == ["tool_call.unrecognized"]
    while type(deep) is dict:  # freed from the outside in, as else freeing it is as deep as that
        deep = deep.pop("a")
    _, message = fed(["[" * 500 + "]" * 500, chunk({}, "stop")])
    assert [loss.code for loss in message.losses] == ["loss.unread"]


def test_keys_that_are_none() -> None:
    """Whatever stands for an index or an id, calls are kept apart by what is left."""
    odd: Any
    for odd in ([], {}, float("nan"), float("inf"), -1, True, "0", 10**400, b"x", None):
        call = {"index": odd, "id": "a", "function": {"name": "f", "arguments": "{"}}
        other = {"index": odd, "id": "b", "function": {"name": "f", "arguments": '{"b": 1}'}}
        first = chunk({"tool_calls": [call]})
        rest = chunk({"tool_calls": [{"index": odd, "id": "a", "function": {"arguments": "}"}}]})
        _, message = fed([first, chunk({"tool_calls": [other]}), rest, END])
        assert [(call.id, call.arguments) for call in message.tool_calls] == [("a", {}), ("b", {"b": 1})]
    for odd in ([], {}, float("nan"), 1.5, "", None):
        call = {"index": 0, "id": odd, "function": {"name": "f", "arguments": "{"}}
        _, message = fed([chunk({"tool_calls": [call]}), piece(0, "}", id=odd), END])
        assert [call.arguments for call in message.tool_calls] == [{}]


# -- Responses


def test_items() -> None:
    added = {"type": "response.output_item.added", "output_index": 0}
    item = {"type": "function_call", "id": "fc", "call_id": "c", "name": "f", "arguments": ""}
    delta = {"type": "response.function_call_arguments.delta", "item_id": "fc", "output_index": 0}
    done = {**delta, "type": "response.function_call_arguments.done", "arguments": '{"a": "' + "x" * MANY + '"}'}
    text = {"item_id": "m", "output_index": 1, "content_index": 0}
    said = [{"type": "response.output_text.done", **text, "text": "t"}] * MANY  # not what was streamed
    events: Iterator[Any] = chain(
        [{**added, "item": item}, {**delta, "delta": '{"a": "'}],
        ({**delta, "delta": "x"} for _ in range(MANY)),
        [{**delta, "delta": '"}'}, done, done],
        ({"type": "response.output_text.delta", **text, "delta": "y"} for _ in range(MANY)),
        said,
        ({**done, "arguments": ""} for _ in range(MANY)),
        [{"type": "response.completed", "response": {"status": "completed", "output": []}}],
    )
    told, message = fed(events, "openai_responses")
    assert message.tool_calls[0].arguments == {"a": "x" * MANY}
    assert message.content == "y" * MANY
    assert sum(type(event) is ToolCallEnd for event in told) == 1


def test_many_items() -> None:
    """Items without ids, streamed, and again in the response at the end; and parts of one item."""
    one = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "x"}]}
    many = MANY // 4
    events = chain(
        ({"type": "response.output_item.done", "output_index": number, "item": one} for number in range(many)),
        [{"type": "response.completed", "response": {"status": "completed", "output": [one] * (2 * many)}}],
    )
    _, message = fed(events, "openai_responses")
    assert message.content == "x" * (2 * many)
    part = {"type": "response.output_text.delta", "item_id": "m", "output_index": 0, "delta": "x"}
    end = {"type": "response.completed", "response": {"status": "completed"}}
    _, message = fed(chain(({**part, "content_index": number} for number in range(many)), [end]), "openai_responses")
    assert message.content == "x" * many


# -- what only some options show


def test_an_id_that_comes_too_late() -> None:
    """An id that was made up has been given out: it stays."""
    stream = get_provider("openai").stream(on_error="collect", ids="synthesize")
    told: list[Any] = stream.feed(chunk({"tool_calls": [{"index": 0, "function": {"name": "f", "arguments": "{"}}]}))
    told += stream.feed(piece(0, "}", id="late")) + stream.feed(END) + stream.close()
    (call,) = stream.message.tool_calls
    assert (call.id, call.id_synthesized) == (told[0].id, True)
    assert ["late" in loss.detail for loss in stream.message.losses] == [True]


def test_done_as_text() -> None:
    """Who takes the lines of server-sent events apart has this one, which is no JSON."""
    stream = get_provider("openai").stream()
    assert [type(event) for event in stream.feed(begin(0, "{}"))][-1] is ToolCallDelta
    assert [type(event) for event in stream.feed(" [DONE]\n")] == [ToolCallEnd]
    assert stream.close() == []


def test_a_message_in_the_midst() -> None:
    """Calls that are complete before an earlier one are theirs already, under their own ordinals."""
    stream = get_provider("openai_responses").stream()
    for number in range(2):
        item = {"type": "function_call", "id": f"fc_{number}", "call_id": f"c{number}", "name": "f", "arguments": ""}
        stream.feed({"type": "response.output_item.added", "output_index": number, "item": item})
    done = {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "f", "arguments": "{}"}
    end: Any = stream.feed({"type": "response.output_item.done", "output_index": 1, "item": done})[-1]
    assert (end.index, end.call.id) == (1, "c1")
    assert [call.index for call in stream.message.tool_calls] == [1]
    assert stream.message.tool_calls[0] is end.call
