"""Bounds hold for a whole text as for a stream: the same calls, errors and positions on either side of each bound."""

from __future__ import annotations

import random
from typing import Any

import pytest

import toolglot
from compare import plain
from texts import format_ids, golden_texts

# JSON and Python inside each kind of markup: the format, the text with a place for a value, and how many levels of
# the value that the depth counts stand around that place.
NESTED: dict[str, tuple[str | None, str, int]] = {
    "call_object": ("hermes", '<tool_call>{"name": "f", "arguments": {"a": %s}}</tool_call>', 2),
    "arguments_first": ("hermes", '<tool_call>{"arguments": {"a": %s}, "name": "f"}</tool_call>', 2),
    "list": ("hermes", '<tool_call>[{"name": "f", "arguments": {"a": %s}}]</tool_call>', 3),
    "tool_calls": (
        "hermes",
        '<tool_call>{"tool_calls": [{"function": {"name": "f", "arguments": {"a": %s}}}]}</tool_call>',
        5,
    ),
    "untagged": ("json", '{"name": "f", "arguments": {"a": %s}}', 2),
    "detected": (None, '<tool_call>{"name": "f", "arguments": {"a": %s}}</tool_call>', 2),
    "arguments": ("mistral", '[TOOL_CALLS]f[ARGS]{"a": %s}', 1),
    "section": ("mistral", '[TOOL_CALLS][{"name": "f", "arguments": {"a": %s}}]', 2),
    "call_syntax": ("python", "f(a=%s)", 1),
    "list_of_calls": ("pythonic", "[f(a=%s)]", 1),
    "gemma": ("gemma4", "<|tool_call>call:f{a:%s}<tool_call|>", 1),
    "message": ("harmony", '<|channel|>commentary to=functions.f <|constrain|>json<|message|>{"a": %s}<|call|>', 1),
}


def read(text: str, step: int, **options: Any) -> toolglot.Message:
    """What is read, whole (no step) or in pieces of ``step`` characters."""
    if not step:
        return toolglot.parse(text, on_error="collect", **options)
    parser = toolglot.StreamParser(on_error="collect", **options)
    for at in range(0, len(text), step):
        parser.feed(text[at : at + step])
    parser.close()
    return parser.message


@pytest.mark.parametrize("depth", [3, 5, 40, 512, 1000])
@pytest.mark.parametrize("name", NESTED)
def test_depth(name: str, depth: int) -> None:
    """As many levels as the limit says are read, one more is an error at the bracket that is too much."""
    format, text, around = NESTED[name]
    limits = None if depth == 512 else toolglot.Limits(depth=depth)
    for leaf in ("1", '"é"', '"' + "x" * 1200 + '"'):
        for more in (0, 1):
            levels = depth - around + more
            nested = text % ("[" * levels + leaf + "]" * levels) if levels > 0 else text % leaf
            for step in (0, 1, 700):
                message = read(nested, step, format=format, limits=limits)
                if more and levels > 0:
                    assert [error.code for error in message.errors] == ["json.too_deep"], (leaf, step)
                    assert message.errors[0].position == text.index("%s") + levels - 1
                    assert message.tool_calls == []
                elif levels >= 0:
                    assert message.errors == [], (leaf, step)
                    assert [call.name for call in message.tool_calls] == ["f"]


@pytest.mark.parametrize("step", [0, 1])
def test_depth_of_a_string_of_arguments(step: int) -> None:
    text = '{"name": "f", "arguments": "{\\"a\\": [[1]]}"}'
    assert read(text, step, format="json", limits=toolglot.Limits(depth=3)).tool_calls[0].arguments == {"a": [[1]]}
    [error] = read(text, step, format="json", limits=toolglot.Limits(depth=2)).errors
    assert error.code == "tool_call.invalid_arguments"


def test_deeper_than_the_interpreters_stack() -> None:
    text = '<tool_call>{"name": "f", "arguments": {"a": %s}}</tool_call>' % ("[" * 20_000 + "]" * 20_000)
    limits = toolglot.Limits(depth=10**6)
    for step in (0, 5_000):
        [call] = read(text, step, format="hermes", limits=limits).tool_calls
        levels = 0
        value = call.arguments["a"]
        while value:
            [value] = value
            levels += 1
        assert levels == 20_000 - 1


TEXTS = golden_texts()
LENGTHS = (190, 205, 511, 513, 1024, 1025, 1536, 2047, 2049, 4100)


@pytest.mark.parametrize("format", format_ids())
def test_long_runs(format: str) -> None:
    """Something long in any place, about as long as what is looked at or waited for."""
    chance = random.Random(format)
    texts = [text for text in TEXTS[format] if len(text) < 1500]
    for _ in range(12):
        text = chance.choice(texts)
        at = chance.randrange(len(text) + 1)
        long = text[:at] + chance.choice(' \na"=<') * chance.choice(LENGTHS) + text[at:]
        for named in (format, None):
            whole = plain(read(long, 0, format=named))
            assert plain(read(long, 83, format=named)) == whole, (named, long[: at + 20])


@pytest.mark.parametrize("size", [512, 513, 1500, 2040, 3000])
@pytest.mark.parametrize("format", format_ids())
def test_long_names(format: str, size: int) -> None:
    text = next((text for text in TEXTS[format] if "get_weather" in text and len(text) < 1500), None)
    if text is None:
        return  # a family with one tool of its own
    long = text.replace("get_weather", "g" * size)
    whole = plain(read(long, 0, format=format))
    assert plain(read(long, 1 if size == 2040 else 83, format=format)) == whole


@pytest.mark.parametrize("limits", [{"name": 3}, {"name": 8}, {"calls": 1}, {"depth": 1}], ids=str)
@pytest.mark.parametrize("format", format_ids())
def test_tight_limits(format: str, limits: dict[str, int]) -> None:
    def tried(text: str, step: int) -> Any:
        try:
            return plain(read(text, step, format=format, limits=toolglot.Limits(**limits)))
        except toolglot.LimitError as error:
            return error.limit, error.position

    for text in [text for text in TEXTS[format] if len(text) < 1500][:8]:
        whole = tried(text, 0)
        assert tried(text, 7) == whole, text


@pytest.mark.parametrize("name", ["depth", "calls", "name", "buffer"])
def test_what_is_no_limit(name: str) -> None:
    for wrong in (None, "5", 1.5, True):
        with pytest.raises(TypeError, match=rf"limits: {name}: expected int, got {type(wrong).__name__}"):
            toolglot.Limits(**{name: wrong})  # type: ignore[arg-type]
    for small in (0, -1):
        with pytest.raises(ValueError, match=rf"limits: {name}: expected at least 1, got {small}"):
            toolglot.Limits(**{name: small})


@pytest.mark.parametrize("white", ["\n" * 5, " ", "\n" * 500, " " * 600])
def test_where_something_else_stands(white: str) -> None:
    """An error's position does not depend on how much white space has come when it shows."""
    text = f"<tool_call>{white}functio\nping\n{{}}\n</tool_call>"
    for step in (0, 1, 3):
        [error] = read(text, step, format="step_audio2").errors
        assert error.code == "tool_call.unrecognized"
        assert error.position == len("<tool_call>") + min(len(white), 512)


def test_a_header_with_something_else_in_it() -> None:
    text = "<|start|>assistant to=ping<|" + "<" * 1024 + "channel|>analysis <|constrain|>xml<|message|><|end|>"
    whole = plain(read(text, 0))
    for step in (83, 700):
        assert plain(read(text, step)) == whole


@pytest.mark.parametrize("end", ["{", " {", '\n{"name": "g", "arguments": {}}', "</function_call>{", "x"])
def test_a_section_that_nothing_has_to_close(end: str) -> None:
    text = f'<function_call>{{"name": "f", "arguments": {{}}}}{end}'
    whole = plain(read(text, 0, format="granite_20b_fc"))
    for step in (1, 100):
        assert plain(read(text, step, format="granite_20b_fc")) == whole
