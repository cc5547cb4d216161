"""Every golden case: parsed whole, streamed in several cuts, detected, rendered, and cut off at every place."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

import toolglot
from toolglot import golden
from toolglot.errors import CODES
from toolglot.events import (
    ErrorEvent,
    Event,
    ReasoningReclassified,
    TextDelta,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
)
from toolglot.golden import GoldenCase, exact

CASES = golden.load()
# A longer text is cut off at this many places, evenly spread.
PREFIXES = 400


def each(cases: Iterable[GoldenCase]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("case", list(cases), ids=str)


# What is compared.


def full_call(call: toolglot.ToolCall) -> dict[str, Any]:
    return {
        "name": call.name,
        "arguments": exact(call.arguments),
        "order": list(call.arguments),
        "json": call.arguments_json,
        "id": call.id,
        "synthesized": call.id_synthesized,
        "index": call.index,
        "format": call.format,
        "raw": call.raw_arguments,
        "span": call.span,
        "kind": call.kind,
        "input": call.input,
        "extra": call.extra,
    }


def full_error(error: toolglot.ParseError) -> dict[str, Any]:
    return {
        "class": type(error).__name__,
        "code": error.code,
        "text": error.text,
        "position": error.position,
        "line": error.line,
        "column": error.column,
        "expected": error.expected,
        "index": error.call_index,
        "name": error.name,
        "format": error.format,
        "raw": error.raw,
        "span": error.span,
    }


def full(message: toolglot.Message) -> dict[str, Any]:
    """Everything that a message says."""
    return {
        "content": message.content,
        "reasoning": message.reasoning,
        "calls": [full_call(call) for call in message.tool_calls],
        "errors": [full_error(error) for error in message.errors],
        "parts": message.parts,
        "separators": message.separators,
        "repairs": message.repairs,
        "notes": message.notes,
        "format": message.format,
    }


def expect(case: GoldenCase, message: toolglot.Message) -> None:
    """``message`` is what the case says."""
    expected = case.expected
    found = [{"name": call.name, "arguments": exact(call.arguments)} for call in message.tool_calls]
    wanted = [{"name": call["name"], "arguments": exact(call["arguments"])} for call in expected["calls"]]
    assert found == wanted, message.errors
    for call, want in zip(message.tool_calls, expected["calls"], strict=True):
        for key in ("id", "raw_arguments", "input"):
            if key in want:
                assert getattr(call, key) == want[key], key
        assert call.kind == want.get("kind", "function")
        # No id is made up unless asked for.
        assert not call.id_synthesized
    errors = [(error.code, error.position) for error in message.errors]
    assert len(errors) == len(expected["errors"]), errors
    for error, want in zip(message.errors, expected["errors"], strict=True):
        codes = want["code"] if isinstance(want["code"], list) else [want["code"]]
        assert error.code in codes
        if "position" in want:
            assert error.position == want["position"], repr(case.text[error.position or 0 :][:20])
        if error.code == "tool_call.truncated":
            assert isinstance(error, toolglot.TruncatedError)
    assert message.content == expected["content"]
    assert message.reasoning == expected["reasoning"]
    if "notes" in expected:
        assert message.notes == expected["notes"]


# How it is fed.


def parse(case: GoldenCase, format: str | None, text: str | None = None, **options: Any) -> toolglot.Message:
    given = {**case.options, "on_error": "collect", **options}
    return toolglot.parse(case.text if text is None else text, format=format, **given)


def stream(case: GoldenCase, format: str | None, pieces: Iterable[str]) -> tuple[list[Event], toolglot.Message]:
    given = {**case.options, "on_error": "collect"}
    finish_reason = given.pop("finish_reason", None)
    parser = toolglot.StreamParser(format=format, **given)
    events = [event for piece in pieces for event in parser.feed(piece)]
    events += parser.close(finish_reason=finish_reason)
    return events, parser.message


def cuts(case: GoldenCase) -> dict[str, list[str]]:
    """Ways of cutting the text into deltas."""
    text = case.text
    ways = {"whole": [text], "by character": list(text)}
    for seed in range(3):
        rng = random.Random(f"{case} {seed}")
        at, pieces = 0, []
        while at < len(text):
            size = rng.choice((1, 1, 2, 3, 5, 8, 21))
            pieces.append(text[at : at + size])
            at += size
        ways[f"seed {seed}"] = pieces
    # An empty delta says nothing.
    ways["with empty deltas"] = ["", *(part for piece in ways["seed 0"] for part in (piece, ""))]
    return ways


def check_events(events: list[Event], message: toolglot.Message) -> None:
    """The events say what the message says."""
    hidden = [event.span for event in events if isinstance(event, ReasoningReclassified)]
    shown = ""
    for event in events:
        if isinstance(event, TextDelta):
            assert event.text
            if event.span is None or not any(a <= event.span[0] and event.span[1] <= b for a, b in hidden):
                shown += event.text
    assert (shown if shown.strip() else None) == message.content
    started: dict[int, ToolCallStart] = {}
    deltas: dict[int, str] = {}
    ended = []
    for event in events:
        match event:
            case ToolCallStart():
                assert event.index not in started
                started[event.index] = event
            case ToolCallDelta():
                assert event.index in started
                deltas[event.index] = deltas.get(event.index, "") + event.arguments
            case ToolCallEnd():
                call = event.call
                start = started[event.index]
                assert (event.index, start.name) == (call.index, call.name)
                assert start.id in (None, call.id)
                if call.kind == "function":
                    assert deltas.get(event.index, "") == call.arguments_json
                    assert exact(json.loads(call.arguments_json)) == exact(call.arguments)
                ended.append(call)
    assert [full_call(call) for call in ended] == [full_call(call) for call in message.tool_calls]
    errors = [event.error for event in events if isinstance(event, ErrorEvent)]
    assert [full_error(error) for error in errors] == [full_error(error) for error in message.errors]


def check_spans(text: str, message: toolglot.Message) -> None:
    """Parts, separators and errors tile the text: no gap, no overlap."""
    spans: list[tuple[tuple[int, int], str]] = []
    for part in message.parts:
        assert part.span is not None
        spans.append((part.span, type(part).__name__))
    spans += [(span, "separator") for span in message.separators]
    for error in message.errors:
        # A remark about a block that stands elsewhere (reasoning.unclosed) takes no text.
        if error.span is not None and error.span[0] < error.span[1]:
            assert error.raw == text[error.span[0] : error.span[1]]
            spans.append((error.span, "error"))
    at = 0
    for (start, end), kind in sorted(spans):
        assert start == at, f"{kind} {start, end} after {at}: {text[min(at, start) : max(at, start)]!r}"
        assert end > start, f"empty {kind} at {start}"
        at = end
    assert at == len(text), f"nothing says what {text[at:]!r} is"


# The tests.


@each(CASES)
def test_whole(case: GoldenCase) -> None:
    expect(case, parse(case, case.format))


@each(CASES)
def test_streamed(case: GoldenCase) -> None:
    whole = full(parse(case, case.format))
    for way, pieces in cuts(case).items():
        events, message = stream(case, case.format, pieces)
        assert full(message) == whole, way
        check_events(events, message)


@each(case for case in CASES if case.detected)
def test_detected(case: GoldenCase) -> None:
    message = parse(case, None)
    expect(case, message)
    for call in message.tool_calls:
        assert call.format in case.detected
    check_spans(case.text, message)
    for way, pieces in cuts(case).items():
        events, streamed = stream(case, None, pieces)
        assert full(streamed) == full(message), way
        check_events(events, streamed)


@each(CASES)
def test_spans(case: GoldenCase) -> None:
    check_spans(case.text, parse(case, case.format))


@each(case for case in CASES if case.render)
def test_rendered(case: GoldenCase) -> None:
    message = parse(case, case.format)
    expect(case, message)
    text = toolglot.render(message.tool_calls, case.format, content=message.content, reasoning=message.reasoning)
    assert text == case.text


@each(case for case in CASES if case.round_trip)
def test_round_trip(case: GoldenCase) -> None:
    calls = parse(case, case.format).tool_calls
    assert calls
    try:
        text = toolglot.render(calls, case.format)
    except toolglot.ConversionError:
        return
    given = {"tools": case.options.get("tools"), "generation_prompt": ""}
    again = toolglot.parse(text, format=case.format, on_error="collect", **given)
    assert not again.errors, text
    assert [(call.name, exact(call.arguments), call.kind, call.input) for call in again.tool_calls] == [
        (call.name, exact(call.arguments), call.kind, call.input) for call in calls
    ]


@each(CASES)
def test_cut_off_anywhere(case: GoldenCase) -> None:
    """A cut output has the calls that were complete and no other; a call that was open is an error."""
    if toolglot.get_format(case.format).prefix_ambiguous:
        return
    calls = [(call.name, exact(call.arguments), call.id) for call in parse(case, case.format).tool_calls]
    options = {key: value for key, value in case.options.items() if key != "finish_reason"}
    step = max(1, len(case.text) // PREFIXES)
    for end in range(0, len(case.text), step):
        prefix = case.text[:end]
        parser = toolglot.StreamParser(format=case.format, on_error="collect", **options)
        events = parser.feed(prefix)
        open_calls = {event.index for event in events if isinstance(event, ToolCallStart)}
        open_calls -= {event.index for event in events if isinstance(event, ToolCallEnd)}
        open_calls -= {event.error.call_index for event in events if isinstance(event, ErrorEvent)}
        parser.close(finish_reason="length")
        message = parser.message
        found = [(call.name, exact(call.arguments), call.id) for call in message.tool_calls]
        assert found == calls[: len(found)], prefix
        if open_calls:
            assert any(isinstance(error, toolglot.TruncatedError) for error in message.errors), prefix
        check_spans(prefix, message)


def test_known_codes() -> None:
    for case in CASES:
        for error in case.expected["errors"]:
            codes = error["code"] if isinstance(error["code"], list) else [error["code"]]
            assert set(codes) <= CODES.keys(), str(case)


def test_every_format_has_a_folder_and_every_folder_a_format() -> None:
    assert golden.folders() == sorted(fmt.id for fmt in toolglot.formats())


def test_every_folder_has_the_usual_cases() -> None:
    for name in golden.folders():
        tags = {tag for case in CASES if case.format == name for tag in case.tags}
        assert {"single", "hostile", "truncated", "malformed"} <= tags, name


def test_a_text_without_its_sheet_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "single.txt").write_text("x", "utf-8")
    with pytest.raises(ValueError, match=r"single\.txt has no single\.json"):
        golden.load_folder(tmp_path)
    (tmp_path / "single.txt").rename(tmp_path / "single.json")
    with pytest.raises(ValueError, match=r"single\.json has no single\.txt"):
        golden.load_folder(tmp_path)
