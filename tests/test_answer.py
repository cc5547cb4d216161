"""Tags around the final answer, whole and streamed, and the JSON that is left of a call without its markup."""

from __future__ import annotations

import time

import pytest

import toolglot
from toolglot import StreamParser, parse

CALL = '{"name": "ping", "arguments": {}}'
OPEN, CLOSE = "<answer>\n", "\n</answer>"


@pytest.mark.parametrize(
    ("text", "content"),
    [
        (f"{OPEN}a{CLOSE}", "a"),
        (f"{OPEN}a{CLOSE}\n<|eos|>\n", "a"),
        (f"{OPEN}a{CLOSE}{CLOSE}", f"a{CLOSE}"),
        (f"{OPEN}a{CLOSE} b", f"a{CLOSE} b"),
        (f"{OPEN}a{CLOSE}<|eo", f"a{CLOSE}<|eo"),
        (f"{OPEN}a{CLOSE}<tool_calls>[{CALL}]</tool_calls>", "a"),
        (f"a{CLOSE}", f"a{CLOSE}"),
        (f"a\n{OPEN}b{CLOSE}", f"a\n{OPEN}b{CLOSE}"),
        (f"<think>x</think>{OPEN}a{CLOSE}", "a"),
    ],
)
@pytest.mark.parametrize("size", [1, 2, 5, 100])
def test_answer(text: str, content: str, size: int) -> None:
    parser = StreamParser(format="tool_calls_array")
    for i in range(0, len(text), size):
        parser.feed(text[i : i + size])
    parser.close()
    assert parser.message.content == parse(text, format="tool_calls_array").content == content


def test_answer_tags_are_text_where_no_format_is_named() -> None:
    for text in (f"{OPEN}a{CLOSE}", "<response>a</response>", "<thinking>a</thinking> b"):
        assert parse(text).content == text


def test_broken_json_is_no_broken_call_where_no_call_could_be() -> None:
    """Without tools a whole object in JSON is text, and so is its beginning."""
    for text in (CALL, CALL[:-1], CALL[:20]):
        assert parse(text, format="granite3").content == text
    with pytest.raises(toolglot.ParseError):
        parse(CALL[:-1], format="granite3", tools=["ping"])


@pytest.mark.parametrize("gap", [0, 1, 1024, 1025, 3000])
@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_what_is_left_of_an_opener(gap: int, size: int) -> None:
    text = "function call" + " " * gap + CALL
    whole = parse(text, format="gigachat3", tools=["ping"])
    assert [call.name for call in whole.tool_calls] == (["ping"] if gap <= 1024 else [])
    parser = StreamParser(format="gigachat3", tools=["ping"])
    for i in range(0, len(text), size):
        parser.feed(text[i : i + size])
    parser.close()
    assert parser.message == whole


@pytest.mark.parametrize("format", ["gigachat3", "tool_calls_array"])
def test_linear(format: str) -> None:
    """Waiting for what follows costs the same for each delta."""

    def seconds(n: int) -> float:
        text = f"function call{' ' * n}x" if format == "gigachat3" else f"{OPEN}a{CLOSE}{' ' * n}x"
        begin = time.process_time()
        parser = StreamParser(format=format, tools=["ping"])
        for char in text:
            parser.feed(char)
        parser.close()
        return time.process_time() - begin

    assert min(seconds(16_000) for _ in range(3)) < 8 * min(seconds(4_000) for _ in range(3))
