"""Strict JSON at full speed: `scan`, `loads`, `canonical`, `quote`."""

from __future__ import annotations

import json
import sys
import time
from types import FrameType
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from toolglot.errors import Fault
from toolglot.values import cscan
from toolglot.values.json import canonical, loads, quote, scan
from toolglot.values.literal import JSON, LiteralReader

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4))
TOKENS = st.lists(
    st.sampled_from(
        list('{}[],:"\\ \n\té-.019eEu\ud800\x00')
        + ["true", "null", "NaN", '"a"', "\\ud83d", "\\ude00", "\\uD800", "\\\\", "1e999", "-Infinity", '"a":1', "1.50"]
    ),
    max_size=12,
).map("".join)
VALID = [
    "{}",
    "[]",
    '""',
    '{"a": [1, 2.50, {"b": null}], "c": true}',
    '"\\ud83d\\ude00"',
    '"\\\\ud800"',
    '["\\\\\\\\ud83d", "\\uD83D\\uDE00"]',
    '{"a":{"a":1},"b":{"a":1}}',
    "[" * 512 + "]" * 512,
    '{"a":' * 511 + "{}" + "}" * 511,
    '["' + "[" * 2000 + '"]',
    json.dumps({f"k{i}": [{"x": "]{"}] for i in range(600)}),
    '{"n": ' + "9" * 4300 + "}",
    '{"n": -' + "9" * 4300 + "}",
    '{"n": "' + "9" * 9000 + '"}',
    '{"n": 1.' + "9" * 9000 + "}",
    "[" + "1234567890, " * 3000 + "1]",
]
INVALID = [
    "",
    "x",
    "1",
    "true",
    "NaN",
    " {}",
    "{",
    '{"a":1,}',
    "[1,]",
    "{'a':1}",
    "[NaN]",
    "[Infinity]",
    "[-Infinity]",
    "[1e400]",
    "[-1e400]",
    "[01]",
    '["\n"]',
    '["\ud800"]',
    '["é\udfff"]',
    '["\ud83d\ude00"]',
    '["\\ud800"]',
    '["\\udc00\\ud800"]',
    '["\\ud83d\\\\ude00"]',
    '["\\\\\\ud800"]',
    '["\\uD800x"]',
    '{"\\udfff":1}',
    '{"a":1,"a":1}',
    '{"a":1,"\\u0061":1}',
    '[{"x":{"a":1,"a":1}}]',
    "[" * 513 + "]" * 513,
    '{"a":' * 513 + "1" + "}" * 513,
    '{"}":' * 600 + "1" + "}" * 600,
    '["{}",' * 600 + "1" + "]" * 600,
    '[["]","\\"]\\""],' * 1 + "[" * 600 + "]" * 601,
    '["\\n\\" [ \\n\\" ",' + "[" * 600 + "]" * 601,
    "[" * 100_000,
    '{"n": ' + "9" * 4301 + "}",
    '{"n": -' + "9" * 4301 + "}",
    "[" + "1, " * 5000 + "9" * 4301 + "]",
    "[" + "9" * 100_000 + "]",
]


def reader(text: str, pos: int = 0) -> tuple[Any, int] | None:
    one = LiteralReader(JSON, 0)
    if text[pos : pos + 1] not in ("{", "[", '"'):
        return None
    try:
        end = one.feed(text, pos, True)
    except Fault:
        return None
    return one.value, end


@pytest.mark.parametrize("text", VALID, ids=lambda text: text[:20])
def test_scan_valid(text: str) -> None:
    result = scan(f"~{text}]tail", 1)
    assert result == reader(f"~{text}]tail", 1) == (json.loads(text), 1 + len(text))
    assert loads(f" \t\r\n{text}\n ") == json.loads(text)


@pytest.mark.parametrize("text", INVALID, ids=lambda text: text[:20])
def test_scan_invalid(text: str) -> None:
    assert scan(f"~{text}", 1) is None
    assert reader(text) is None


def test_scan_stops_behind_the_value() -> None:
    assert scan('{"a":1}}', 0) == ({"a": 1}, 7)
    assert scan("[1] \ud800 \\ud800", 0) == ([1], 3)
    assert scan('"x"', 0) == ("x", 3)
    assert scan("[1]", 3) is None


@pytest.mark.parametrize(
    ("text", "sound"),
    [
        (r'{"a": "%s \n"}', True),
        (r'{"a": "%s \ud83d\ude00"}', True),
        (r'{"a": "%s \ud83d"}', False),
        (r'{"a": "%s", "\ud83d": 1}', False),
        (r'{"a": "%s", "b": ["\ud83d"]}', False),
        (r'{"a": "%s", "b": {"\ud83d": "\n"}}', False),
        (r'["%s", "\ud83d"]', False),
        (r'"%s \ud83d"', False),
        (r'{"a": "%s \\ud83d"}', True),
    ],
)
def test_half_a_pair_in_a_long_text(text: str, sound: bool) -> None:
    text = text % ("x" * 20_000)
    assert (scan(text, 0) is not None) is sound
    if sound:
        assert scan(text, 0) == (json.loads(text), len(text))


def test_limits_of_the_interpreter_do_not_matter() -> None:
    limit = sys.get_int_max_str_digits()
    exact = int("9" * 4300)
    for setting in (640, 0, 100_000):
        sys.set_int_max_str_digits(setting)
        try:
            assert scan("[" + "9" * 4300 + "]", 0) == ([exact], 4302)
            assert scan("[" + "9" * 4301 + "]", 0) is None
        finally:
            sys.set_int_max_str_digits(limit)

    def deep(frames: int) -> Any:
        return deep(frames - 1) if frames else scan("[" * 500 + "]" * 500, 0)

    assert deep(sys.getrecursionlimit() - 300) is not None


LOADS = [
    ("", "json.unexpected_end", 0),
    ("  ", "json.unexpected_end", 2),
    (" x", "json.expected_value", 1),
    (' {"a":1} x', "json.trailing_characters", 9),
    ("{}}", "json.trailing_characters", 2),
    ("1 2", "json.trailing_characters", 2),
    ("1-2", "json.trailing_characters", 1),
    (' {"a":1,"a":2}', "json.duplicate_key", 8),
    ("[1e400]", "json.number_out_of_range", 1),
    ("[" + "9" * 4301, "json.number_too_long", 1),
    ("[" * 600, "json.too_deep", 512),
]


@pytest.mark.parametrize(("text", "code", "at"), LOADS, ids=lambda part: str(part)[:20])
def test_loads_faults(text: str, code: str, at: int) -> None:
    with pytest.raises(Fault) as info:
        loads(text)
    assert (info.value.code, info.value.at) == (code, at)


def test_loads_scalars() -> None:
    assert [loads(text) for text in ("1", " -1.5 ", "true", "null", '"x"')] == [1, -1.5, True, None, "x"]


CANONICAL = [
    ('{"a":1.50,"b":[1e5,-0,2.0],"c":{},"d":[]}', '{"a": 1.50, "b": [1e5, -0, 2.0], "c": {}, "d": []}'),
    (' { "a" :\n1 ,\t"b" : [ ] }\r\n', '{"a": 1, "b": []}'),
    ('{"a,b:c {":"x, y: z"}', '{"a,b:c {": "x, y: z"}'),
    ('["\\u00e9\\ud83d\\ude00\\/\\u0041"]', '["é😀/A"]'),
    (
        '["\\\\", "\\"", "\\\\\\"", "\\\\u00e9", "\\n\\u0000\\u001f"]',
        '["\\\\", "\\"", "\\\\\\"", "\\\\u00e9", "\\n\\u0000\\u001f"]',
    ),
    ('"  x  "', '"  x  "'),
    (" 1.0 ", "1.0"),
    ("null", "null"),
    ('["\u2028\u00a0\x7f"]', '["\u2028\u00a0\x7f"]'),
]


@pytest.mark.parametrize(("text", "expected"), CANONICAL)
def test_canonical(text: str, expected: str) -> None:
    assert canonical(text) == expected
    assert canonical(expected) == expected
    one = LiteralReader(JSON, 0, json_out=True)
    one.feed(text, 0, True)
    assert one.take() == expected


@given(VALUES, st.booleans(), st.sampled_from([None, 2]), st.sampled_from([(",", ":"), (" ,\n", " :\t")]))
@settings(deadline=None)
def test_canonical_is_what_dumps_writes(value: Any, ascii_only: bool, indent: int | None, separators: Any) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent, separators=separators)
    assert canonical(text) == json.dumps(value, ensure_ascii=False)
    assert repr(loads(text)) == repr(value)


@given(TEXTS)
def test_quote(text: str) -> None:
    assert quote(text) == json.dumps(text, ensure_ascii=False)


@given(
    st.sampled_from(["", "{", "[", '"', '{"a":', '{"a":1,', '["']),
    TOKENS,
    st.sampled_from(["", "}", "]", '"', '"}', '"]']),
)
@settings(max_examples=2000, deadline=None)
@example('["', "\\ud83d\\ude00", '"]')
def test_scan_agrees_with_the_reader(start: str, middle: str, end: str) -> None:
    text = start + middle + end
    assert repr(scan(text, 0)) == repr(reader(text))
    try:
        value = loads(text)
    except Fault as fault:
        assert 0 <= fault.at <= len(text)
    else:
        assert repr(value) == repr(json.loads(text))


class Pairs(list[tuple[str, Any]]):
    """An object that may hold a key twice."""


KEYS = st.sampled_from(["a", "b", "a:", ":", '"', "é"])
MEMBERS = st.recursive(
    st.sampled_from([1, None, "", "x", "10:30:00", ":", '{"a": 1, "b": ":"}', "é:"]),
    lambda inner: st.lists(inner, max_size=3) | st.lists(st.tuples(KEYS, inner), max_size=4).map(Pairs),
    max_leaves=12,
)


def written(value: Any, colon: str, escaped: str) -> str:
    """``value`` as JSON, colons in its strings as ``escaped``."""
    if isinstance(value, Pairs):
        members = [written(key, colon, escaped) + colon + written(item, colon, escaped) for key, item in value]
        return "{" + ",".join(members) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(written(item, colon, escaped) for item in value) + "]"
    return json.dumps(value, ensure_ascii=len(escaped) > 1).replace(":", escaped)


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) != len(pairs):
        raise KeyError
    return dict(pairs)


@given(
    st.lists(st.tuples(KEYS, MEMBERS), min_size=1, max_size=4).map(Pairs),
    st.sampled_from([":", ": ", " :\n"]),
    st.sampled_from([":", "\\u003a", "\\u003A"]),
)
@settings(max_examples=500, deadline=None)
@example(Pairs([("a", 1), ("a", ":")]), ":", "\\u003a")
@example(Pairs([("a", "x:y"), ("a", 1)]), ":", ":")
@example(Pairs([("a", [":"]), ("b", [Pairs([("a", 1), ("a", 2)])])]), ": ", ":")
def test_a_key_that_comes_twice_is_seen_whatever_the_strings_hold(value: Pairs, colon: str, escaped: str) -> None:
    text = written(value, colon, escaped)
    for longer in (text, text + " " * 128, text[:-1] + ',"long":"' + "x" * 128 + '"}'):
        try:
            expected = json.loads(longer, object_pairs_hook=once)
        except KeyError:
            with pytest.raises(Fault) as info:
                loads(longer)
            assert info.value.code == "json.duplicate_key"
        else:
            assert loads(longer) == expected


def test_reading_in_the_midst_of_reading() -> None:
    text = json.dumps({"calls": [{"name": str(number), "at": "10:30"} for number in range(20)]})
    expected = (json.loads(text), len(text))
    inner = []

    def profile(frame: FrameType, event: str, _: object) -> None:  # as another thread that has its turn just then
        if event == "call" and frame.f_code.co_filename == cscan.__file__ and frame.f_code.co_name == "note":
            inner.append(cscan.scan_whole(text, False))

    sys.setprofile(profile)
    try:
        outer = cscan.scan_whole(text, False)
    finally:
        sys.setprofile(None)
    assert outer == expected
    assert inner == [expected] * 21


@given(
    st.lists(
        st.sampled_from(["{}", "[", "]", '"]"', '"["', '"\\""', '"\\\\"', '"\\n"', "1", '{"a":', "}"]), max_size=30
    )
)
@settings(deadline=None)
def test_depth_is_exact_whatever_the_strings_hold(parts: list[str]) -> None:
    padding = '["' + "[{" * 600 + '"],'
    for levels in (505, 510, 511, 512, 513):
        text = "[" + padding + ",".join(parts) + "[" * levels + "]" * levels + "]"
        assert repr(scan(text, 0)) == repr(reader(text))


@pytest.mark.parametrize(
    "text",
    [
        "[" * 1_000_000,
        '{"a":' * 200_000,
        '["' + "\\ud83d\\ude00" * 100_000 + '"]',
        "[" + "9" * 1_000_000 + "]",
        '["' + "9" * 1_000_000 + '"]',
        '["' + '\\"[' * 300_000 + '"]',
        "[" + "[]," * 300_000 + "[]]",
    ],
    ids=lambda text: text[:12],
)
def test_time_is_linear(text: str) -> None:
    start = time.process_time()
    result = scan(text, 0)
    if result is not None:
        canonical(text)
    assert time.process_time() - start < 3
