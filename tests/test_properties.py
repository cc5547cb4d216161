"""Properties that hold for every text, every way of cutting it, and every format."""

from __future__ import annotations

import json
import pickle
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeAlias

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

import toolglot
from compare import plain
from differential import generate
from effort import examples
from texts import CLOSERS, PIECES, TOOLS, format_ids, golden_texts, markup

Options: TypeAlias = "dict[str, Any]"

GOLDEN_TEXTS = golden_texts()
ALL_TEXTS = [text for texts in GOLDEN_TEXTS.values() for text in texts]
FORMATS: list[str | None] = [None, *format_ids()]

# Texts.


def slices(texts: list[str]) -> st.SearchStrategy[str]:
    """A golden text, or a piece of one."""

    def cut(text: str, start: float, end: float) -> str:
        return text[int(start * len(text)) : len(text) - int(end * len(text))]

    part = st.sampled_from([0.0, 0.0, 0.0, 0.1, 0.25, 0.5, 0.6, 0.9])
    return st.builds(cut, st.sampled_from(texts), part, part)


def texts_of(format: str | None) -> st.SearchStrategy[str]:
    """Texts made of what trips up the parser of ``format``."""
    own = ALL_TEXTS if format is None else GOLDEN_TEXTS.get(format) or ALL_TEXTS
    pieces = st.one_of(
        slices(own),
        st.sampled_from([*markup(own, 200 if format is None else 60), CLOSERS]),
        st.sampled_from(PIECES),
        st.text(st.characters(exclude_categories=[]), max_size=6),
        st.text("<>[](){}|/\"'\\:,=_-. \nab1", max_size=12),
    )
    return st.lists(pieces, min_size=1, max_size=8).map("".join)


OPTIONS: st.SearchStrategy[Options] = st.fixed_dictionaries(
    {
        "tools": st.sampled_from([None, None, TOOLS]),
        "finish_reason": st.sampled_from([None, None, "stop", "length"]),
        "generation_prompt": st.sampled_from([None, None, "", "<think>\n"]),
        "ids": st.sampled_from(["given", "given", "synthesize"]),
    }
)


@dataclass(frozen=True)
class Cut:
    """A text, and where it is cut into deltas; everywhere if ``places`` is None."""

    text: str
    places: tuple[int, ...] | None

    @property
    def pieces(self) -> list[str]:
        if self.places is None:
            return list(self.text)
        return [self.text[a:b] for a, b in pairwise([0, *self.places, len(self.text)])]


@st.composite
def cut_texts(draw: st.DrawFn, format: str | None) -> Cut:
    """A text in pieces, empty ones among them."""
    text = draw(texts_of(format))
    if draw(st.booleans()):
        return Cut(text, None)
    return Cut(text, tuple(sorted(draw(st.lists(st.integers(0, len(text)), max_size=12)))))


def parsed(text: str, format: str | None, on_error: Any, options: Options) -> Any:
    """The message, or the error that was raised."""
    try:
        return toolglot.parse(text, format=format, on_error=on_error, **options)
    except toolglot.ToolglotError as error:
        return error


def streamed(pieces: list[str], format: str | None, on_error: Any, options: Options) -> tuple[list[Any], Any]:
    """All events, and the message or the error that was raised."""
    options = dict(options)
    finish_reason = options.pop("finish_reason")
    parser = toolglot.StreamParser(format=format, on_error=on_error, **options)
    events: list[Any] = []
    try:
        for piece in pieces:
            events += parser.feed(piece)
        events += parser.close(finish_reason)
    except toolglot.ToolglotError as error:
        return events, error
    broken = [event.error for event in events if isinstance(event, toolglot.ErrorEvent)]
    if on_error == "raise" and broken:  # found by `close`, after which nothing is left to raise
        return events, broken[0]
    return events, parser.message


def check_message(text: str, message: toolglot.Message) -> None:
    """What every message keeps of its text."""
    regions: list[tuple[int, int]] = list(message.separators)
    for part in message.parts:
        assert part.span is not None
        regions.append(part.span)
        piece = text[slice(*part.span)]
        if isinstance(part, (toolglot.TextPart, toolglot.ReasoningPart)):
            assert part.text == piece
        elif isinstance(part, toolglot.CallPart):
            assert part.call.span == part.span
    for error in message.errors:
        check_position(text, error)
        if error.code == "reasoning.unclosed" and error.span is None:
            continue  # what it is about is reasoning, which has its own span
        assert error.span is not None
        regions.append(error.span)
        assert error.raw == text[slice(*error.span)]
    at = 0
    for start, end in sorted(regions):
        assert start == at, f"nothing accounts for {text[at:start]!r}" if start > at else f"two regions claim {at}"
        assert end >= start
        at = end
    assert at == len(text), f"nothing accounts for {text[at:]!r}"
    content = "".join(part.text for part in message.parts if isinstance(part, toolglot.TextPart))
    assert message.content == (content if content.strip() else None)
    assert message.tool_calls == [part.call for part in message.parts if isinstance(part, toolglot.CallPart)]
    for call in message.tool_calls:
        assert plain(json.loads(call.arguments_json)) == plain(call.arguments)
    indexes = [call.index for call in message.tool_calls]
    assert indexes == sorted(set(indexes))


def check_position(text: str, error: toolglot.ParseError) -> None:
    """A position lies in the caller's own text, and line and column say the same."""
    assert error.code in toolglot.errors.CODES
    assert error.position is not None
    assert 0 <= error.position <= len(text)
    assert error.line == text.count("\n", 0, error.position) + 1
    assert error.column == error.position - text.rfind("\n", 0, error.position)


def check_raised(text: str, error: toolglot.ParseError) -> None:
    """An error of the seed's functions: it has a position, can be shown, and can be sent to another process."""
    if isinstance(error, toolglot.NoToolCallFoundError):
        assert (error.code, error.position) == ("tool_call.not_found", None)
    else:
        check_position(text, error)
        assert isinstance(error.context(), str)
        assert isinstance(error.feedback(), str)
    assert plain(pickle.loads(pickle.dumps(error))) == plain(error)


def check_events(text: str, events: list[Any], message: toolglot.Message) -> None:
    """What the events said is what the message says."""
    moved = [event.span for event in events if isinstance(event, toolglot.ReasoningReclassified)]
    content: list[str] = []
    marks = {i for span in message.separators for i in range(*span)}
    reasoning = [(span[0], "".join(text[i] for i in range(*span) if i not in marks)) for span in moved]
    for event in events:
        if isinstance(event, toolglot.TextDelta):
            assert event.span is not None
            assert event.text == text[slice(*event.span)]
            if not any(start <= event.span[0] and event.span[1] <= end for start, end in moved):
                content.append(event.text)
        elif isinstance(event, toolglot.ReasoningDelta):
            assert event.span is not None
            reasoning.append((event.span[0], event.text))
    joined = "".join(content)
    assert message.content == (joined if joined.strip() else None)
    parts = [part.text for part in message.parts if isinstance(part, toolglot.ReasoningPart)]
    assert "".join(piece for _, piece in sorted(reasoning)) == "".join(parts)
    assert plain([event.call for event in events if isinstance(event, toolglot.ToolCallEnd)]) == plain(
        message.tool_calls
    )
    assert [event.error for event in events if isinstance(event, toolglot.ErrorEvent)] == message.errors
    started: dict[int, tuple[str | None, str]] = {}
    deltas: dict[int, str] = {}
    for event in events:
        if isinstance(event, toolglot.ToolCallStart):
            assert event.index not in started
            started[event.index], deltas[event.index] = (event.id, event.name), ""
        elif isinstance(event, toolglot.ToolCallDelta):
            deltas[event.index] += event.arguments
        elif isinstance(event, toolglot.ToolCallEnd):
            assert event.index == event.call.index
            start_id, start_name = started[event.index]
            assert start_name == event.call.name
            # A JSON call may say its id behind its arguments, where one has been made already.
            made = start_id is not None and start_id.startswith("call_") and not event.call.id_synthesized
            assert start_id in (None, event.call.id) or made
            # Deltas of a broken call were given out before it was mended.
            assert deltas[event.index] == event.call.arguments_json or message.repairs


def check(text: str, pieces: list[str], format: str | None, options: Options) -> None:
    """Whole equals streamed, nothing is lost, and all of it can be sent to another process."""
    for on_error in ("collect", "repair"):
        whole = parsed(text, format, on_error, options)
        events, stream = streamed(pieces, format, on_error, options)
        assert plain(stream) == plain(whole)
        assert pickle.loads(pickle.dumps(events)) == events
        assert plain(pickle.loads(pickle.dumps(whole))) == plain(whole)
        if isinstance(whole, toolglot.Message):
            check_message(text, whole)
            check_events(text, events, whole)

    collected = parsed(text, format, "collect", options)
    whole = parsed(text, format, "raise", options)
    events, stream = streamed(pieces, format, "raise", options)
    if isinstance(whole, toolglot.ParseError):
        assert plain(stream) == plain(whole)
        assert isinstance(collected, toolglot.Message)
        assert plain(whole) == plain(collected.errors[0])
        assert whole.message is not None
        assert plain(whole.message.tool_calls) == plain(collected.tool_calls)
        errors = [event.error for event in events if isinstance(event, toolglot.ErrorEvent)]
        assert plain(errors) == [plain(whole)]
        assert isinstance(events[-1], toolglot.ErrorEvent)
        restored = pickle.loads(pickle.dumps(whole))
        assert plain(restored) == plain(whole)
        assert plain(restored.message) == plain(whole.message)
    else:
        assert plain(whole) == plain(stream) == plain(collected)


@pytest.mark.parametrize("format", FORMATS, ids=str)
def test_any_cutting(format: str | None) -> None:
    @examples(400 if format is None else 80)
    @given(cut_texts(format), OPTIONS)
    def run(cut: Cut, options: Options) -> None:
        check(cut.text, cut.pieces, format, options)

    run()


@pytest.mark.parametrize("format", FORMATS, ids=str)
def test_seed_functions_raise_only_parse_errors(format: str | None) -> None:
    @examples(200 if format is None else 30)
    @given(texts_of(format))
    def run(text: str) -> None:
        try:
            calls = toolglot.parse_tool_calls(text, include_format=True)
        except toolglot.ParseError as error:
            check_raised(text, error)
        except toolglot.LimitError:
            pass
        else:
            assert calls
            assert all(list(call) == ["name", "arguments", "format"] for call in calls)

    run()


def check_seed_function(text: str) -> None:
    """`parse_tool_calls` says what `parse` says of tagged calls and JSON; call syntax it alone looks for."""
    message = toolglot.parse(text, on_error="collect")
    if not message.errors and not message.tool_calls:
        return
    try:
        calls = toolglot.parse_tool_calls(text)
    except toolglot.ParseError as error:
        assert [(error.code, error.position)] == [(first.code, first.position) for first in message.errors[:1]]
    else:
        assert not message.errors
        expected = [{"name": call.name, "arguments": call.arguments} for call in message.tool_calls]
        assert plain(calls) == plain(expected)


def test_seed_function_agrees_with_parse_on_what_models_write() -> None:
    for text in generate.texts(11, 5000):
        check_seed_function(text)


@examples(300)
@given(texts_of(None))
def test_seed_function_agrees_with_parse(text: str) -> None:
    check_seed_function(text)


@examples(300)
@given(st.text(st.characters(exclude_characters="<[{(`|]")))
@example("\ud800")
@example(" \n")
@example("x\n\n")
def test_text_without_markup_is_content(text: str) -> None:
    message = toolglot.parse(text)
    # `:` and `>` alone open nothing, but a model's prose may be a format's word (`Action:`).
    assume(not message.errors and not message.tool_calls)
    assert message.content == (text if text.strip() else None)
    assert message.reasoning is None
