"""Input that was made to hurt: always a result or a `ToolglotError`. `test_linear.py` tests how long it takes."""

from __future__ import annotations

import pickle
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import toolglot
from effort import full_or
from texts import CLOSERS, OPENERS, format_ids, golden_texts, markup, openers_of

MEGABYTE = 1_000_000
FORMATS: list[str | None] = [None, *format_ids()]
GOLDEN_TEXTS = golden_texts()

# What a value may be opened by, before a hostile value.
CONTEXTS = [
    "",
    "<tool_call>",
    '<tool_call>{"name": "f", "arguments": {"a": ',
    "<tool_call>\n<function=f>\n<parameter=a>\n",
    "<tool_call>f<arg_key>a</arg_key><arg_value>",
    "[TOOL_CALL]name=f;args=",
    "[TOOL_CALLS]f[ARGS]",
    "<|python_tag|>f(a=",
    '<invoke name="f"><parameter name="a">',
    '{"name": "f", "arguments": {"a": ',
    "f(a=",
    "<think>",
]


class Text(str):
    """A `str` subclass with a mind of its own."""

    __slots__ = ()

    def __getitem__(self, key: Any) -> str:
        raise AssertionError("the parser relied on the subclass")

    def __len__(self) -> int:
        raise AssertionError("the parser relied on the subclass")

    def find(self, *args: Any) -> int:
        raise AssertionError("the parser relied on the subclass")


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Stop what takes far too long, so that quadratic work is a red test and no endless one."""
    if not hasattr(signal, "SIGALRM"):
        yield
        return

    def stop(*_: object) -> None:
        raise AssertionError(f"not done after {seconds} seconds")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def harmless(text: str, format: str | None = None, **options: Any) -> toolglot.Message | None:
    """Parse in every way of handling errors; only a `ToolglotError` may come out, and it must be usable."""
    found = None
    for on_error in ("raise", "collect", "repair"):
        try:
            with within(20):
                found = toolglot.parse(text, format=format, on_error=on_error, **options)
        except toolglot.ToolglotError as error:
            usable(error)
            found = getattr(error, "message", None) or found
    if found is not None:
        for broken in found.errors:
            usable(broken)
    return found


def usable(error: toolglot.ToolglotError) -> None:
    """An error can be shown, told to the model, and sent to another process."""
    assert error.code in toolglot.errors.CODES
    assert str(error)
    assert pickle.loads(pickle.dumps(error)).args == error.args
    if isinstance(error, toolglot.ParseError):
        assert isinstance(error.context(), str)
        assert len(error.feedback()) < 2_000


def fed(pieces: list[str], format: str | None) -> None:
    """Feed ``pieces``; errors stay data."""
    parser = toolglot.StreamParser(format=format, on_error="collect")
    try:
        for piece in pieces:
            parser.feed(piece)
        parser.close()
    except toolglot.ToolglotError as error:
        usable(error)


@pytest.mark.parametrize("bracket", [*"[{(<", "[[{", '{"a":', '{"a":[', "f(a=", "<a>", "(("])
@pytest.mark.parametrize("context", CONTEXTS)
def test_open_brackets(context: str, bracket: str) -> None:
    text = context + bracket * 100_000
    harmless(text)
    for parse in (toolglot.parse_tool_call, toolglot.parse_tool_calls):
        try:
            parse(text)
        except toolglot.ToolglotError as error:
            usable(error)


@pytest.mark.parametrize("format", FORMATS, ids=str)
def test_open_brackets_by_format(format: str | None) -> None:
    for opener in ("", *openers_of(format)[: 4 if format is None else 1]):
        for bracket in ("[", "{", "(", "<", '{"a":', "f(a="):
            harmless(opener + bracket * full_or(100_000, 25_000), format)


@pytest.mark.parametrize("format", FORMATS, ids=str)
def test_megabyte_of_openers(format: str | None) -> None:
    found = openers_of(format)
    # Detection gets the whole megabyte; a format by name a part, as there are many.
    size = MEGABYTE if format is None else MEGABYTE // full_or(5, 20)
    for opener in found[:: max(1, len(found) // 2)]:
        text = opener * (size // len(opener))
        try:
            with within(20):
                toolglot.parse(text, format=format, on_error="collect")
        except toolglot.ToolglotError as error:
            usable(error)
        with within(30):
            fed([text[i : i + 4096] for i in range(0, len(text), 4096)], format)
        harmless(text[: MEGABYTE // 20], format, finish_reason="length")


@pytest.mark.parametrize("format", FORMATS, ids=str)
def test_markup_alone(format: str | None) -> None:
    texts = GOLDEN_TEXTS.get(format, []) if format else [text for each in GOLDEN_TEXTS.values() for text in each]
    for piece in [*markup(texts), *OPENERS]:
        for text in (piece, piece * 2, f"{piece}\n{piece}", f"{piece}{{", f"{piece} x", f'{piece}"', f"x{piece}x"):
            harmless(text, format)


# Numbers.


def digits_in(kind: str, digits: str) -> str:
    """A call with the number ``digits`` as its argument."""
    return {
        "json": f'{{"name": "f", "arguments": {{"a": {digits}}}}}',
        "hermes": f'<tool_call>{{"name": "f", "arguments": {{"a": {digits}}}}}</tool_call>',
        "mistral": f'[TOOL_CALLS]f[ARGS]{{"a": {digits}}}',
        "string": f'{{"name": "f", "arguments": "{{\\"a\\": {digits}}}"}}',
        "python": f"f(a={digits})",
        "xml_invoke": f'<invoke name="f"><parameter name="a">{digits}</parameter></invoke>',
    }[kind]


@pytest.mark.parametrize("sign", ["", "-"])
@pytest.mark.parametrize("kind", ["json", "hermes", "mistral", "string", "python", "xml_invoke"])
def test_4300_digits(kind: str, sign: str) -> None:
    call = toolglot.parse_tool_call(digits_in(kind, sign + "9" * 4300))
    assert call["arguments"] == {"a": int(sign + "9" * 4300)}


@pytest.mark.parametrize("sign", ["", "-"])
@pytest.mark.parametrize("kind", ["json", "hermes", "mistral", "python"])
def test_4301_digits(kind: str, sign: str) -> None:
    text = digits_in(kind, sign + "9" * 4301)
    with pytest.raises(toolglot.ParseError) as caught:
        toolglot.parse_tool_call(text)
    assert caught.value.code == "json.number_too_long"
    assert caught.value.position == text.index(sign + "9")
    usable(caught.value)


def test_4301_digits_in_strings() -> None:
    with pytest.raises(toolglot.ParseError) as caught:
        toolglot.parse_tool_call(digits_in("string", "9" * 4301))
    assert caught.value.code == "tool_call.invalid_arguments"
    # What is no JSON value is a string.
    call = toolglot.parse_tool_call(digits_in("xml_invoke", "9" * 4301))
    assert call["arguments"] == {"a": "9" * 4301}


@pytest.fixture
def low_digit_limit() -> Iterator[None]:
    """The interpreter's own limit set as low as it goes."""
    if not hasattr(sys, "set_int_max_str_digits"):
        pytest.skip("this interpreter has no limit")
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(640)
    yield
    sys.set_int_max_str_digits(before)


@pytest.mark.usefixtures("low_digit_limit")
@pytest.mark.parametrize("kind", ["json", "hermes", "mistral", "string", "python", "xml_invoke"])
def test_the_interpreters_own_limit(kind: str) -> None:
    harmless(digits_in(kind, "9" * 1000))
    harmless(digits_in(kind, "9" * 5000))


# Characters.


@pytest.mark.parametrize("odd", ["\ud800", "\udc00\ud800", "\x00", "\ufeff", "\u2028", "\r", "\x1b[0m", "\U0010ffff"])
@pytest.mark.parametrize("context", CONTEXTS)
def test_odd_characters(context: str, odd: str) -> None:
    for text in (odd + context, context + odd, f'{context}"{odd}"', f"{context}{odd}{CLOSERS}", f"{odd}f(a='{odd}')"):
        harmless(text)
        fed(list(text), None)


@pytest.mark.parametrize("odd", ["\ud800", "\x00", "a\x00\ud800b"])
def test_odd_characters_are_content(odd: str) -> None:
    assert toolglot.parse(odd).content == odd
    around = toolglot.parse(f'{odd}<tool_call>{{"name": "f", "arguments": {{}}}}</tool_call>')
    assert around.content == odd
    assert [call.name for call in around.tool_calls] == ["f"]


def test_raw_lone_surrogate_in_json() -> None:
    """A surrogate that stands in the text itself is no character of JSON text, and never another exception."""
    harmless('<tool_call>{"name": "f", "arguments": {"a": "\ud800"}}</tool_call>')


# Types.


@pytest.mark.parametrize(
    "value", [None, 1, b"x", bytearray(b"x"), 1.5, {"a": 1}, object()], ids=lambda v: type(v).__name__
)
def test_not_a_string(value: Any) -> None:
    calls: list[Callable[[Any], Any]] = [
        toolglot.parse_tool_call,
        toolglot.parse_tool_calls,
        toolglot.parse,
        toolglot.detect_format,
        toolglot.StreamParser().feed,
    ]
    for call in calls:
        with pytest.raises(TypeError, match="str") as caught:
            call(value)
        assert type(value).__name__ in str(caught.value)


@pytest.mark.parametrize("value", [["x"], [("x",)], [(1, True)], [("x", True, 1)], [None]], ids=str)
def test_not_a_list_of_pairs(value: Any) -> None:
    with pytest.raises(TypeError, match="str"):
        toolglot.parse(value)


@pytest.mark.parametrize("text", ["f(k=1)", '<tool_call>{"name": "f", "arguments": {"k": "v"}}</tool_call>', "plain"])
def test_str_subclass(text: str) -> None:
    assert harmless(Text(text)) == harmless(text)
    parser = toolglot.StreamParser()
    parser.feed(Text(text))
    parser.close()
    assert parser.message == toolglot.parse(text)
    content = toolglot.parse(Text("plain")).content
    assert type(content) is str


def test_feed_after_close() -> None:
    parser = toolglot.StreamParser()
    parser.feed("x")
    parser.close()
    with pytest.raises(RuntimeError, match="close"):
        parser.feed("y")


def test_wrong_options() -> None:
    for options in ({"on_error": "ignore"}, {"ids": "some"}, {"format": 5}, {"format": "no such format"}):
        wrong: Any = options
        for use in (
            lambda wrong=wrong: toolglot.parse("x", **wrong),
            lambda wrong=wrong: toolglot.StreamParser(**wrong),
        ):
            with pytest.raises((TypeError, ValueError)):
                use()
