"""Control tokens: in text that is said to hold none, their literals are data, however the text comes.

A tokenizer gives ``<|call|>`` as one token with ``special=True`` if the model wrote the token, and as several with
``special=False`` if it (or a tool's result) wrote these characters.
"""

from __future__ import annotations

import random
import re
import time
from typing import Any

import pytest

import toolglot
from compare import plain
from texts import TOOLS, format_ids, golden_texts
from toolglot.registry import REGISTRY

Pieces = list[tuple[str, "bool | None"]]
GOLDEN = golden_texts()
FORMATS = {id: toolglot.get_format(id).special for id in format_ids() if toolglot.get_format(id).special}


def whole(pieces: Pieces, format: str | None, **options: Any) -> toolglot.Message:
    return toolglot.parse(pieces, format=format, on_error="collect", **options)


def streamed(pieces: Pieces, format: str | None, **options: Any) -> toolglot.Message:
    finish_reason = options.pop("finish_reason", None)
    parser = toolglot.StreamParser(format=format, on_error="collect", **options)
    for piece in pieces:
        parser.feed(*piece)
    parser.close(finish_reason)
    return parser.message


def characters(pieces: Pieces) -> Pieces:
    return [(char, special) for text, special in pieces for char in text]


def read(pieces: Pieces, format: str | None, **options: Any) -> toolglot.Message:
    """What is read, whole, as the pieces come, and by characters: the same."""
    message = whole(pieces, format, **options)
    assert plain(message) == plain(whole(characters(pieces), format, **options))
    assert plain(message) == plain(streamed(pieces, format, **options))
    assert plain(message) == plain(streamed(characters(pieces), format, **options))
    return message


def as_tokens(text: str, format: str) -> Pieces:
    """As a tokenizer gives it: each control token on its own, all else in short pieces."""
    tokens = sorted(FORMATS[format], key=len, reverse=True)
    pieces: Pieces = []
    for i, part in enumerate(re.split("(" + "|".join(map(re.escape, tokens)) + ")", text)):
        if i % 2:
            pieces.append((part, True))
        else:
            pieces += [(part[at : at + 4], False) for at in range(0, len(part), 4)]
    return pieces


@pytest.mark.parametrize("format", FORMATS)
def test_tokens_are_markup(format: str) -> None:
    for text in GOLDEN[format]:
        expected = plain(toolglot.parse(text, format=format, tools=TOOLS, on_error="collect"))
        for pieces in ([(text, None)], [(text, True)], as_tokens(text, format)):
            assert plain(read(pieces, format, tools=TOOLS)) == expected, text


@pytest.mark.parametrize("format", FORMATS)
def test_text_is_no_markup(format: str) -> None:
    """Where a call begins with a control token there is none, and nothing that looks like one is taken away."""
    calls = [toolglot.ToolCall("ping"), toolglot.ToolCall("get_weather", {"city": "Paris"})]
    calls = calls[: toolglot.get_format(format).max_calls]
    written = toolglot.render(calls, format)
    literals = REGISTRY.plan((format,)).call_literals
    marked = all(any(token in literal for token in FORMATS[format]) for literal in literals)
    for text in (f"x{written}", f"x {written}{written} y"):
        for size in (1, 3, len(text)):
            pieces: Pieces = [(text[at : at + size], False) for at in range(0, len(text), size)]
            message = read(pieces, format, generation_prompt="")
            if marked and any(token in written.lstrip()[:40] for token in FORMATS[format]):
                assert (message.content, message.tool_calls, message.errors) == (text, [], [])


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("where", ["ends", "begins"])
def test_half_a_token_is_none(format: str, where: str) -> None:
    """A literal that only touches text without tokens is none either."""
    for token in FORMATS[format]:
        head, tail = token[:2], token[2:]
        pieces: Pieces = [("a", None), (head, where == "ends"), (tail, where == "begins"), ("b", None)]
        message = read(pieces, format, generation_prompt="")
        assert message.content == f"a{token}b"


HOSTILE = ["</s>", "[TOOL_CALLS]", "<|end|>", "<|call|>", "<|start|>assistant", "<|sep|>", "<tool_call|>"]


@pytest.mark.parametrize("format", FORMATS)
def test_values_hold_tokens(format: str) -> None:
    """Written in segments, a value may hold the format's own tokens: it comes back as it was."""
    tokens = [token for token in (*FORMATS[format], *HOSTILE) if token not in ('<|"|>', "<escape>")]
    if format in ("llama3_json", "pythonic"):
        tokens = [token for token in tokens if not token.startswith("<|python")]
    calls = [
        toolglot.ToolCall("write_file", {"path": "p", "text": f"a{token}b\n{token}"}, "call12345") for token in tokens
    ]
    for call in calls:
        segments = toolglot.render_segments([call], format, check=False)
        message = read(list(segments), format, tools=TOOLS)
        assert [(c.name, c.arguments) for c in message.tool_calls] == [(call.name, call.arguments)], segments
        assert message.errors == []


def test_a_token_in_pieces() -> None:
    pieces: Pieces = [
        ("<|tool", False),
        ("_call>", False),
        ("call:f{x:1}", False),
        ("<tool_", False),
        ("call|>", False),
    ]
    assert read(pieces, "gemma4").content == "".join(text for text, _ in pieces)


def test_a_quote_token_in_a_value() -> None:
    pieces: Pieces = [
        ("<|tool_call>", True),
        ("call:f{a:", False),
        ('<|"|>', True),
        ('x<|"|>,b:<|"|>y', False),
        ('<|"|>', True),
        ("}", False),
        ("<tool_call|>", True),
    ]
    assert [call.arguments for call in read(pieces, "gemma4").tool_calls] == [{"a": 'x<|"|>,b:<|"|>y'}]


@pytest.mark.parametrize(
    "pieces",
    [
        # A closer of reasoning, a token that ends the turn, tokens of a Harmony header and body.
        ("[THINK]", "a[/THINK]b", "[/THINK]", "c"),
        ("[TOOL_CALLS]", "f", "[ARGS]", "{}", "</s>"),
        ("<|channel|>", "analysis", "<|message|>", "a<|end|><|start|>assistant<|call|>", "<|end|>"),
        ("<|open|>", "tools", "<|sep|>", "<|open|>", 'call tool="f" index="1"', "<|sep|>", "<|sep|>"),
    ],
    ids=["reasoning", "end", "harmony", "kimi"],
)
@pytest.mark.parametrize("format", [None, "mistral_v13", "harmony", "kimi_k3"], ids=str)
def test_any_marks(format: str | None, pieces: tuple[str, ...]) -> None:
    for n in range(2 ** len(pieces)):
        read([(text, bool(n >> i & 1)) for i, text in enumerate(pieces)], format)


def test_reasoning_is_closed_by_the_token() -> None:
    message = read([("[THINK]", True), ("a[/THINK]b", False), ("[/THINK]", True), ("c", False)], "mistral_v13")
    assert (message.reasoning, message.content) == ("a[/THINK]b", "c")


def test_a_turn_is_ended_by_the_token() -> None:
    assert read([("a", False), ("</s>", False)], "mistral_v13").content == "a</s>"
    assert read([("a", False), ("</s>", False), ("</s>", True)], "mistral_v13").content == "a</s>"


@pytest.mark.parametrize("format", [None, *FORMATS], ids=str)
def test_random_marks(format: str | None) -> None:
    texts = GOLDEN[format] if format else [text for found in GOLDEN.values() for text in found[:3]]
    rng = random.Random(format)
    for _ in range(60):
        text = rng.choice(texts)[:1500]
        if rng.random() < 0.5:
            at, other = rng.randrange(len(text) + 1), rng.choice(texts)
            text = text[:at] + other[rng.randrange(len(other) + 1) :][:500]
        places = sorted(rng.randrange(len(text) + 1) for _ in range(rng.choice((1, 2, 4, 16))))
        pieces: Pieces = [
            (text[a:b], rng.choice((True, False, None)))
            for a, b in zip([0, *places], [*places, len(text)], strict=True)
        ]
        read(
            pieces,
            format,
            tools=rng.choice((None, TOOLS)),
            generation_prompt=rng.choice((None, "", "<think>")),
            finish_reason=rng.choice((None, "length")),
        )


@pytest.mark.parametrize("special", [2, 0, 1, "yes"])
def test_special_is_a_bool_or_none(special: Any) -> None:
    with pytest.raises(TypeError, match="special"):
        toolglot.parse([("x", special)])
    with pytest.raises(TypeError, match="special"):
        toolglot.StreamParser().feed("x", special)


@pytest.mark.parametrize("format", ["mistral_v13", "harmony", "gemma4", "kimi_k3", "minimax_m3", "dsml_v4"])
@pytest.mark.parametrize("feed", [whole, streamed])
def test_many_literals_are_linear(format: str, feed: Any) -> None:
    """Twice as many literals that are none, and as many marked pieces, take twice as long."""
    unit: Pieces = [(" ".join(FORMATS[format]), False), ("x", None)]

    def seconds(count: int) -> float:
        times = []
        for _ in range(3):
            start = time.process_time()
            feed(unit * count, format)
            times.append(time.process_time() - start)
        return min(times)

    seconds(100)
    assert min(seconds(4000) / seconds(1000) for _ in range(3)) < 8
