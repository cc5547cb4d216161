"""``text_format``: what a model wrote as text in a provider's content, whole and streamed."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import toolglot
from toolglot import (
    Message,
    ParseError,
    TextDelta,
    ToolCallEnd,
    ToolCallStart,
    get_provider,
    iter_events,
    parse,
    parse_response,
)

HERMES = '<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>'
BROKEN = '<tool_call>\n{"name": "f", "arguments": {"a": }}\n</tool_call>'
FORMATS = Path(__file__).parent / "formats"


def chat(content: str, *calls: tuple[str, str], reason: str = "stop", **beside: Any) -> dict[str, Any]:
    """A Chat Completions response."""
    made = [
        {"id": f"call_{n}", "type": "function", "function": {"name": name, "arguments": arguments}}
        for n, (name, arguments) in enumerate(calls)
    ]
    message = {"role": "assistant", "content": content, **beside, **({"tool_calls": made} if made else {})}
    return {"choices": [{"index": 0, "finish_reason": reason, "message": message}]}


def chunks(response: dict[str, Any], sizes: list[int]) -> list[dict[str, Any]]:
    """The same as chunks whose texts are cut to these sizes, in turn."""
    (choice,) = response["choices"]
    message = choice["message"]
    deltas: list[dict[str, Any]] = [{"role": "assistant"}]
    for key in ("reasoning_content", "content"):
        deltas += [{key: piece} for piece in cut(message.get(key) or "", sizes)]
    for index, call in enumerate(message.get("tool_calls", ())):
        function = {"name": call["function"]["name"], "arguments": ""}
        deltas.append({"tool_calls": [{"index": index, "id": call["id"], "type": "function", "function": function}]})
        for piece in cut(call["function"]["arguments"], sizes):
            deltas.append({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    made = [{"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    return [*made, {"choices": [{"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}]}]


def cut(text: str, sizes: list[int]) -> list[str]:
    pieces: list[str] = []
    while text:
        size = sizes[len(pieces) % len(sizes)]
        pieces.append(text[:size])
        text = text[size:]
    return pieces


def both(response: dict[str, Any], sizes: list[int], text_format: str = "hermes", **options: Any) -> Message:
    """The message whole, which is that of the stream."""
    whole = parse_response(response, on_error="collect", text_format=text_format, **options)
    stream = get_provider("openai").stream(on_error="collect", text_format=text_format, **options)
    events = [event for chunk in chunks(response, sizes) for event in stream.feed(chunk)] + stream.close()
    message = stream.message
    assert message.tool_calls == whole.tool_calls
    assert [call.index for call in message.tool_calls] == [call.index for call in whole.tool_calls]
    assert (message.content, message.reasoning, message.stop_reason) == (
        whole.content,
        whole.reasoning,
        whole.stop_reason,
    )
    assert [(error.code, error.call_index) for error in message.errors] == [
        (error.code, error.call_index) for error in whole.errors
    ]
    assert [type(part) for part in message.parts] == [type(part) for part in whole.parts]
    ended = [event.call for event in events if type(event) is ToolCallEnd]
    assert sorted(ended, key=lambda call: call.index) == message.tool_calls
    assert {event.index for event in events if type(event) is ToolCallEnd} == {call.index for call in ended}
    return whole


@pytest.mark.parametrize("sizes", [[1], [7], [1000]])
def test_a_server_without_a_parser(sizes: list[int]) -> None:
    message = both(chat(f"<think>\nHm.\n</think>\n\nOn it.\n{HERMES}"), sizes)
    assert (message.content, message.reasoning) == ("On it.", "Hm.")
    assert [(call.name, call.arguments, call.id, call.format) for call in message.tool_calls] == [
        ("f", {"a": 1}, None, "hermes")
    ]
    assert (message.provider, message.format, message.stop_reason) == ("openai", "hermes", "tool_calls")


@pytest.mark.parametrize("sizes", [[1], [7], [1000]])
def test_calls_of_both_kinds(sizes: list[int]) -> None:
    message = both(chat(f"A\n{HERMES}", ("g", '{"b": 2}'), ("h", "{}"), reasoning_content="Hm."), sizes)
    assert [(call.index, call.name, call.id) for call in message.tool_calls] == [
        (0, "f", None),
        (1, "g", "call_0"),
        (2, "h", "call_1"),
    ]
    assert (message.content, message.reasoning) == ("A", "Hm.")
    message = parse_response(chat(f"A\n{HERMES}", ("g", '{"b": 2}')), ids="synthesize", text_format="hermes")
    assert message.tool_calls[0].id_synthesized
    assert not message.tool_calls[1].id_synthesized


@pytest.mark.parametrize("sizes", [[1], [7], [1000]])
def test_broken_calls_keep_their_numbers(sizes: list[int]) -> None:
    message = both(chat(f"{BROKEN}\n{HERMES}", ("g", '{"b": }'), ("h", "{}")), sizes)
    assert [(call.index, call.name) for call in message.tool_calls] == [(1, "f"), (3, "h")]
    assert [(error.code, error.call_index) for error in message.errors] == [
        ("json.expected_value", 0),
        ("json.expected_value", 2),
    ]
    with pytest.raises(ParseError) as info:
        parse_response(chat(BROKEN), text_format="hermes")
    assert info.value.code == "json.expected_value"
    with pytest.raises(ParseError):
        list(iter_events(chunks(chat(BROKEN), sizes), text_format="hermes"))


def test_a_content_without_markup_stays_as_it_is() -> None:
    response = chat("Hello.", ("g", "{}"))
    message = parse_response(response, text_format="auto")
    assert message == parse_response(response)
    assert parse_response(chat(""), text_format="auto").content is None


def test_without_it_content_is_content() -> None:
    assert parse_response(chat(HERMES)).content == HERMES


def test_the_end_of_the_output() -> None:
    cut_off = HERMES[:-20]
    message = both(chat(cut_off, reason="length"), [5])
    assert (message.tool_calls, message.errors[0].code) == ([], "tool_call.truncated")


def test_a_call_of_the_provider_that_was_cut_off_is_where_the_limit_was() -> None:
    """The text before it was not cut, so its own call is broken and not truncated."""
    message = both(chat("<tool_call>", ("g", '{"b": '), reason="length"), [4])
    assert [(error.code, error.call_index) for error in message.errors] == [
        ("json.unexpected_end", 0),
        ("tool_call.truncated", 1),
    ]


def test_a_turn_end_is_no_content() -> None:
    """As `parse` leaves it out; and what may be one stays out of the message until that is known, as of the events."""
    text = "x <|im_end|>"
    assert both(chat(text), [3]).content == parse(text, format="hermes").content == "x "
    assert both(chat(text, ("g", "{}")), [3]).content == "x "
    assert both(chat("<|im_end|>"), [1]).content is None
    stream = get_provider("openai").stream(text_format="hermes")
    seen = ""
    for chunk in chunks(chat(f"a <b> <|im_x {HERMES} c<|im_end|>"), [1]):
        seen += "".join(event.text for event in stream.feed(chunk) if type(event) is TextDelta)
        assert (stream.message.content or "").strip() == seen.strip()
    assert seen == "a <b> <|im_x  c"


def test_tools_type_both_kinds() -> None:
    tools = [{"name": "f", "parameters": {"type": "object", "properties": {"a": {"type": "string"}}}}]
    text = "<tool_call>\n<function=f>\n<parameter=a>\n1\n</parameter>\n</function>\n</tool_call>"
    assert both(chat(text), [3], "qwen3_coder", tools=tools).tool_calls[0].arguments == {"a": "1"}
    message = both(chat(text, ("g", "{}")), [3], "qwen3_coder", tools=tools)
    assert [error.code for error in message.errors] == ["tool_call.unknown_tool"]


def test_blocks_of_content() -> None:
    """Anthropic-compatible servers: texts before and behind a call are two runs, texts beside each other one."""
    half = len(HERMES) // 2
    blocks = [
        {"type": "text", "text": HERMES[:half]},
        {"type": "text", "text": HERMES[half:]},
        {"type": "tool_use", "id": "t1", "name": "g", "input": {}},
        {"type": "text", "text": HERMES},
    ]
    message = parse_response({"type": "message", "stop_reason": "tool_use", "content": blocks}, text_format="hermes")
    assert [(call.index, call.name) for call in message.tool_calls] == [(0, "f"), (1, "g"), (2, "f")]


CASES = [
    path
    for path in sorted(FORMATS.glob("*/*.json"))
    if json.loads(path.read_text("utf-8")).get("detect") is True and path.with_suffix(".txt").exists()
]


SAMPLE = random.Random(1).sample(CASES, 150)


@pytest.mark.parametrize("path", SAMPLE, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_golden_texts_as_content(path: Path) -> None:
    """The same calls as of the text itself, whole and streamed."""
    text = path.with_suffix(".txt").read_bytes().decode("utf-8")
    expected = parse(text, on_error="collect")
    message = both(chat(text), [4, 1, 9], "auto")
    assert (message.tool_calls, message.content, message.reasoning) == (
        expected.tool_calls,
        expected.content,
        expected.reasoning,
    )
    assert message.errors == expected.errors


@given(
    st.lists(st.sampled_from([HERMES, BROKEN, "x ", "\n", "<think>y</think>", "<tool_call>"]), max_size=5),
    st.lists(st.sampled_from([("g", "{}"), ("h", '{"b": }'), ("k", "")]), max_size=3),
    st.lists(st.integers(1, 30), min_size=1, max_size=4),
)
def test_whole_and_streamed_agree(texts: list[str], calls: list[tuple[str, str]], sizes: list[int]) -> None:
    both(chat("".join(texts), *calls), sizes)


def test_events_are_those_of_the_message() -> None:
    stream = get_provider("openai").stream(text_format="hermes")
    events = [event for chunk in chunks(chat(f"A {HERMES}", ("g", "{}")), [3]) for event in stream.feed(chunk)]
    events += stream.close()
    assert [event.name for event in events if type(event) is ToolCallStart] == ["f", "g"]
    assert all(event.call.index == event.index for event in events if type(event) is ToolCallEnd)


def test_a_name_that_no_format_has() -> None:
    with pytest.raises(toolglot.DefinitionError):
        parse_response(chat("x"), text_format="no such format")
    with pytest.raises(toolglot.DefinitionError):
        get_provider("openai").stream(text_format="no such format")
