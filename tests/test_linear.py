"""Time grows as the text does: whatever the text, whole and fed one character at a time."""

from __future__ import annotations

import gc
import json
import time
import tracemalloc
from collections.abc import Callable, Iterator

import pytest

import toolglot
from effort import full_or
from texts import CLOSERS, OPENERS, format_ids, openers_of

# A shape makes a text of about the asked length.
Shape = Callable[[int], str]


def repeated(piece: str, before: str = "", after: str = "") -> Shape:
    """``piece`` over and over."""
    return lambda size: before + piece * max(1, (size - len(before)) // len(piece)) + after


SHAPES: dict[str, Shape] = {
    "openers": repeated("<tool_call>"),
    "openers_of_all_kinds": repeated("".join(OPENERS)),
    "openers_in_open_reasoning": repeated("<tool_call>x ", "<think>"),
    "calls_in_open_reasoning": repeated('<tool_call>{"name": "f", "arguments": {}}</tool_call> x ', "<think>"),
    "reasoning_closers": repeated("x</think>"),
    "white_space_after_opener": repeated(" ", "<tool_call>"),
    "newlines_after_opener": repeated("\n", "<tool_call>\n<function=f>"),
    "white_space_in_call": repeated(" ", '<tool_call>{"name": "f", "arguments": {}}'),
    "white_space_in_section": repeated(" ", "<tool_call>\n<function=f>\n</function>", "x"),
    "white_space_in_elements": repeated(" \n", '<function_calls>\n<invoke name="f">\n</invoke>', "x"),
    "nested_openers": repeated("<tool_call>{"),
    "string_of_closers": repeated("</tool_call>", '<tool_call>{"name": "f", "arguments": {"a": "'),
    "value_of_closers": repeated("</parameter>", "<tool_call>\n<function=f>\n<parameter=a>\n"),
    "value_of_newline_closers": repeated("\n</parameter>x", "<tool_call>\n<function=f>\n<parameter=a>\n"),
    "invoke_of_closers": repeated("</parameter> ", '<invoke name="f"><parameter name="a">'),
    "arg_values": repeated("</arg_value>", "<tool_call>f<arg_key>a</arg_key><arg_value>"),
    "calls_in_calls": repeated("f(a="),
    "calls_in_lists": repeated("[f(a="),
    "brackets": repeated("["),
    "brackets_in_json": repeated('{"a":'),
    "names_in_json": repeated('{"name":'),
    "call_keys_in_prose": repeated('{"name": x '),
    "broken_json": repeated('{"a": bad} "name" '),
    "bracketed": repeated("[TOOL_CALLS]f[ARGS]"),
    "fences": repeated("```json\n{\n```\n"),
    "quotes": repeated('"'),
    "backslashes": repeated("\\", 'f(a="'),
    "escaped_string": repeated('\\"', '{"name": "f", "arguments": "'),
    "digits": repeated("9", "f(a="),
    "identifier": repeated("a"),
    "dotted": repeated("a."),
    "partial_openers": repeated("<tool_cal"),
    "angle_brackets": repeated("<"),
    "many_calls": repeated("f(a=1) "),
    "many_arguments": lambda size: "f(" + ", ".join(f"a{i}=1" for i in range(size // 8)) + ")",
    "many_keys": lambda size: (
        '{"name": "f", "arguments": {' + ", ".join(f'"a{i}": 1' for i in range(size // 11)) + "}}"
    ),
    "lines": repeated("x\n", "", "f(a=bad)"),
}
# Names and undecided text are bounded by default; calls would be too.
CLOSERS_OF_CALLS = CLOSERS.replace("</think>", "")  # that one has a shape of its own
MANY_CALLS = toolglot.Limits(calls=10**9)


def whole(text: str, format: str | None) -> None:
    try:
        toolglot.parse(text, format=format, on_error="collect", limits=MANY_CALLS)
    except toolglot.ToolglotError:
        pass


def seed(text: str, format: str | None) -> None:
    del format
    try:
        toolglot.parse_tool_calls(text)
    except toolglot.ToolglotError:
        pass


def characters(text: str, format: str | None) -> None:
    parser = toolglot.StreamParser(format=format, on_error="collect", limits=MANY_CALLS)
    try:
        for character in text:
            parser.feed(character)
        parser.close()
    except toolglot.ToolglotError:
        pass


@pytest.fixture(autouse=True, scope="module")
def _nothing_old_is_collected() -> Iterator[None]:
    """What the tests before have left would be gone through before every measurement."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


def seconds(work: Callable[[str, str | None], None], text: str, format: str | None) -> float:
    gc.collect()
    gc.disable()
    try:
        start = time.process_time()
        work(text, format)
        return time.process_time() - start
    finally:
        gc.enable()


# Where a share s of the time is quadratic at the length that is begun with, twice the text takes 2 + 2s times the time,
# and a character of sixteen times the text 1 + 15s times as long as one before. A twentieth gives 2.1 and 1.75, a tenth
# 2.2 and 2.5. Linear work comes to 1.4 where tables outgrow the caches, else to 1.1.
DOUBLED = 2.1
SIXTEENFOLD = 1.75


def grows(work: Callable[[str, str | None], None], shape: Shape, size: int, format: str | None) -> float:
    """How many times longer a character of sixteen times the text takes; not asked if twice the text looks good.

    What is not linear is so every time; what another process does to a measurement is not there the next time.
    """
    ratio = 1e9
    for _ in range(3):
        ratio = min(ratio, grows_once(work, shape, size, format))
        if ratio <= SIXTEENFOLD:
            break
    return ratio


def grows_once(work: Callable[[str, str | None], None], shape: Shape, size: int, format: str | None) -> float:
    """One measurement of `grows`.

    The text is no longer than it has to be for the clock: quadratic work may be quadratic memory as well.
    """
    while seconds(work, shape(size), format) < 0.01:
        if size >= 250_000:
            return 0.0  # too fast to be anything but linear
        size *= 2
    ratio = least(work, shape(2 * size), format, 1) / least(work, shape(size), format, 2)
    if ratio <= DOUBLED:
        return ratio / 2
    ratio = least(work, shape(4 * size), format) / least(work, shape(size), format) / 4
    if ratio > 2:  # half quadratic: sixteen times the text could take minutes
        return ratio
    return sixteenfold(work, shape, size, format)


def sixteenfold(work: Callable[[str, str | None], None], shape: Shape, size: int, format: str | None) -> float:
    """How many times longer a character of sixteen times the text takes: of what was measured, the least."""
    once = shape(size)
    text = shape(16 * size)
    best = 1e9
    for _ in range(4):
        # What else runs can only lengthen a measurement: a short text is measured more often than it may be disturbed.
        best = min(best, seconds(work, text, format) / 16 / least(work, once, format, 5))
        if best <= SIXTEENFOLD or best > 2 * SIXTEENFOLD:  # no noise makes that a 1
            break
    return best


def least(work: Callable[[str, str | None], None], text: str, format: str | None, times: int = 3) -> float:
    """The shortest of a few measurements."""
    return min(seconds(work, text, format) for _ in range(times))


@pytest.mark.parametrize(
    ("measure", "share"), [(sixteenfold, 0.0), (sixteenfold, 0.1), (grows, 0.0), (grows, 0.5), (grows, 1.0)]
)
def test_a_quadratic_part_is_found(measure: Callable[..., float], share: float) -> None:
    """The measure itself, on a worker that is quadratic to a share of its time where the measurement begins."""
    begin = 16_000

    def work(text: str, format: str | None) -> None:
        del format
        size = len(text)
        for _ in range(int(2 * size * (1 - share + share * size / begin))):
            pass

    while seconds(work, " " * begin, None) < 0.01:
        begin *= 2
    # Another process may disturb a measurement either way.
    found = [measure(work, repeated(" "), begin, None) for _ in range(3)]
    assert max(found) > SIXTEENFOLD if share else min(found) <= SIXTEENFOLD


@pytest.mark.parametrize("name", [name for name in SHAPES if name != "many_keys"])
@pytest.mark.parametrize("work", [whole, seed, characters])
def test_linear(work: Callable[[str, str | None], None], name: str) -> None:
    if (work, name) == (seed, "many_calls"):
        # More than 10,000 calls are over the limit: that is said, after both ways of reading them.
        assert sixteenfold(work, SHAPES[name], 4_000, None) <= SIXTEENFOLD
    else:
        assert grows(work, SHAPES[name], 16_000, None) <= SIXTEENFOLD


def decoded(text: str, format: str | None) -> None:
    """What the standard library does with the same text."""
    del format
    json.loads(text)


@pytest.mark.parametrize("work", [whole, seed])
def test_many_keys(work: Callable[[str, str | None], None]) -> None:
    """A dict of hundreds of thousands of keys misses the caches: `json.loads` of it grows more than we do."""
    shape = SHAPES["many_keys"]
    ratio = 1e9
    # A twentieth of quadratic work, which is what the other tests find, gives 1.4 of the 1.9 that `json.loads` grows.
    # Alone the measure is 0.9 to 1; beside another busy process 1.26 has been seen.
    for _ in range(6):
        ratio = min(ratio, sixteenfold(work, shape, 128_000, None) / sixteenfold(decoded, shape, 128_000, None))
        if ratio <= 1.35:
            break
    assert ratio <= 1.35


def test_many_keys_by_character() -> None:
    assert grows(characters, SHAPES["many_keys"], 16_000, None) <= SIXTEENFOLD


# What a text of a format may go on with, over and over.
ENDLESS: tuple[str, ...] = (" ", '{"a":', CLOSERS_OF_CALLS, "\n", "<think>x ", "<|im_end|></s>", "```x ", "f(a=1), ")


@pytest.mark.parametrize("work", [whole, characters])
@pytest.mark.parametrize("format", format_ids())
def test_linear_by_format(format: str, work: Callable[[str, str | None], None]) -> None:
    """A few of all pairs of an opener and what goes on; other ones for each format, so that all get their turn."""
    found = openers_of(format)
    turn = format_ids().index(format) + (work is whole)
    assert grows(work, repeated(found[turn % len(found)]), 8_000, format) <= SIXTEENFOLD
    for n in full_or(range(4), (turn % 4,)):
        shape = repeated(ENDLESS[(turn + 2 * n) % len(ENDLESS)], found[(turn + n * len(found) // 4) % len(found)])
        assert grows(work, shape, 8_000, format) <= SIXTEENFOLD, repr(shape(200))


CALL = '{"name": "f", "arguments": {}}'
HERMES = f"<tool_call>{CALL}</tool_call>"
TOOLS_F = [{"name": "f", "parameters": {"properties": {"a": {"type": "string"}}}}]


def then(before: str, first: str, second: str) -> Shape:
    """A run of one thing, then a run of another."""
    return lambda size: before + repeated(first)(size // 2) + repeated(second)(size // 2)


# What was quadratic once, or nearly: the format, whether tools are declared, the text.
CLASSES: dict[str, tuple[str, bool, Shape]] = {
    "string_in_second_bare_call": ("json", False, repeated("a b ", CALL + '; {"name": "f", "arguments": {"a": "')),
    "fences_behind_bare_call": ("json", False, repeated("```", CALL + '\n{"name": "f", "argument')),
    "white_space_in_fence": ("json", False, repeated(" ", "```x")),
    "string_of_arguments": ("hermes", False, repeated("x", '<tool_call>{"name": "f", "arguments": "')),
    "keys_beside_arguments": (
        "hermes",
        False,
        lambda size: (
            '<tool_call>{"name": "f", "arguments": {"a": "b, c"}' + "".join(f', "k{i}": 1' for i in range(size // 11))
        ),
    ),
    "calls_in_list": ("pythonic", True, repeated("f(a=1), ", "[")),
    "white_space_before_first_item": ("openpangu", False, repeated("\n", "<|tool_call_start|>[")),
    "turn_ends_before_text": ("hermes", False, lambda size: repeated("<|im_end|> ")(size) + "x"),
    "turn_ends_behind_open_call": ("hermes", False, repeated("<|im_end|>", f"<tool_call>{CALL}")),
    "reasoning_openers_behind_white_space": ("hermes", False, then(HERMES, " ", "x <think>")),
    "white_space_behind_implied_closer": (
        "qwen3_coder",
        False,
        repeated(" ", "<tool_call>\n<function=f>\n<parameter=a>\nx\n</function>"),
    ),
    "openers_of_declared_calls": ("qwen3_coder", True, repeated("<function=x ")),
    "markup_that_is_no_call": ("nexusraven", False, repeated("<<function>>.f(a=1)<<function>")),
}


def work_with(tools: object, step: int) -> Callable[[str, str | None], None]:
    """Whole (no step) or in pieces of ``step`` characters."""

    def work(text: str, format: str | None) -> None:
        try:
            if not step:
                toolglot.parse(text, format=format, tools=tools, on_error="collect", limits=ROOM)
                return
            parser = toolglot.StreamParser(format=format, tools=tools, on_error="collect", limits=ROOM)
            for at in range(0, len(text), step):
                parser.feed(text[at : at + step])
            parser.close()
        except toolglot.LimitError:
            pytest.fail("a limit hides what this text costs")
        except toolglot.ToolglotError:
            pass

    return work


# Undecided text is bounded by default, and quadratic up to there is too much.
ROOM = toolglot.Limits(calls=10**9, buffer=10**9)


@pytest.mark.parametrize("step", [0, 4])
@pytest.mark.parametrize("name", CLASSES)
def test_linear_by_class(name: str, step: int) -> None:
    format, declared, shape = CLASSES[name]
    assert grows(work_with(TOOLS_F if declared else None, step), shape, 16_000, format) <= SIXTEENFOLD


@pytest.mark.parametrize(
    ("format", "declared", "before"),
    [
        ("hermes", False, '<tool_call>{"name": "f", "arguments": {"a": "'),
        ("hermes", False, ""),
        ("qwen3_coder", True, "<tool_call>\n<function=f>\n<parameter=a>\n"),
        ("glm45", True, "<think>\n<tool_call>f\n<arg_key>a</arg_key>\n<arg_value>"),
        ("gemma4", False, '<|tool_call>call:f{a:<|"|>'),
        ("json", False, '{"name": "f", "arguments": {"a": "'),
        ("minimax_m3", True, ']<]minimax[>[<tool_call>\n]<]minimax[>[<invoke name="f">]<]minimax[>[<a>'),
    ],
)
def test_memory_of_a_long_value(format: str, declared: bool, before: str) -> None:
    """A stream keeps the text it may need, not an object for each of its pieces."""
    size = 240_000  # StringIO joins its pieces at each 100,000 in some versions
    parser = toolglot.StreamParser(format=format, tools=TOOLS_F if declared else None, on_error="collect")
    parser.feed(before)
    tracemalloc.start()
    try:
        for n in range(0, size, 2):
            parser.feed("abcdefgh"[n % 8 : n % 8 + 2])
        used = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert used < 16 * size  # a piece of two characters takes 59 bytes, the event that tells of it more


def gateway(text: str, format: str | None) -> None:
    """Arguments that come from one API a character at a time, and go on to another."""
    assert format is not None
    reader = toolglot.get_provider("openai").stream(on_error="collect")
    writer = toolglot.get_provider(format).stream_writer(model="m", eager=True)
    function: dict[str, str] = {"name": "f", "arguments": ""}
    for character in text:
        function["arguments"] = character
        call = {"index": 0, "id": "c", "type": "function", "function": dict(function)}
        for event in reader.feed({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]}):
            writer.feed(event)
    writer.close()


@pytest.mark.parametrize("provider", ["openai", "anthropic", "openai_responses"])
@pytest.mark.parametrize(
    "shape",
    [repeated(" ", '{"a": {}'), repeated("}", '{"a": '), repeated("{} ", "{"), repeated("x", '{"a": "')],
    ids=["white space", "braces", "objects", "text"],
)
def test_linear_gateway(shape: Shape, provider: str) -> None:
    assert grows(gateway, shape, 4_000, provider) <= 2.2
