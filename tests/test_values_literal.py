"""The resumable reader of literals: its dialects, its errors, and that no cut of the text matters."""

from __future__ import annotations

import json
import math
import sys
import time
from typing import Any

import beacon
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolglot.errors import CODES, Fault
from toolglot.values.literal import (
    FUNCTION_GEMMA,
    GEMMA,
    JSON,
    PYTHON,
    PYTHONIC,
    Dialect,
    LiteralReader,
    scan_arguments,
)

Outcome = tuple[Any, ...]


def read(dialect: Dialect, text: str, cuts: list[int] | None = None, origin: int = 0, **options: Any) -> Outcome:
    """Everything that a reader says about ``text``, cut at ``cuts``; what it leaves is offered again."""
    reader = LiteralReader(dialect, origin, json_out=True, **options)
    bounds = [*sorted(set(cuts or [])), len(text)]
    written = ""
    rest, at, start = "", 0, 0
    try:
        for bound in bounds:
            final = bound == len(text)
            rest += text[start:bound]
            start = bound
            used = reader.feed("~~" + rest, 2, final) - 2
            written += reader.take()
            at += used
            rest = rest[used:]
            if reader.done:
                break
            assert len(rest) < 16
    except Fault as fault:
        return fault.code, fault.at - origin, fault.end, fault.text, shifted(reader.members, -origin)
    if not reader.done:
        return ("waits",)
    return "value", reader.value, at, written + reader.take(), shifted(reader.members, -origin), reader.member


def shifted(members: list[tuple[str, int, int]], by: int) -> list[tuple[str, int, int]]:
    return [(key, start + by, end + by) for key, start, end in members]


def outcome(dialect: Dialect, text: str, **options: Any) -> tuple[Any, ...]:
    """The value and where it ends, or the code and position of the fault; the same one character at a time."""
    whole = read(dialect, text, **options)
    assert whole == read(dialect, text, list(range(len(text))), **options)
    assert whole == read(dialect, text, [len(text) // 2], origin=1000, **options)
    if whole[0] == "value":
        assert same(json.loads(whole[3], parse_constant=pytest.fail), whole[1])
        return whole[1], whole[2]
    assert whole[0] in CODES
    return whole[:2]


def theirs_of(error: beacon.BeaconError, origin: int) -> tuple[str, int]:
    """The code and the position that beacon gives."""
    position: int = error.position  # type: ignore[attr-defined]
    return error.code, position - origin


def same(one: Any, other: Any) -> bool:
    """Equal with equal types: ``1`` is neither ``True`` nor ``1.0`` here."""
    return repr(one) == repr(other)


# ---- JSON ------------------------------------------------------------------------------------------------------

JSON_CASES = [
    # Text, then the code and the position of what is wrong with it.
    ("", "json.unexpected_end", 0),
    ("{", "json.unexpected_end", 1),
    ('{"a"', "json.unexpected_end", 4),
    ('{"a":', "json.unexpected_end", 5),
    ('{"a":1', "json.unexpected_end", 6),
    ('{"a":1,', "json.unexpected_end", 7),
    ('{"a":1,}', "json.trailing_comma", 7),
    ('{"a":[1,]}', "json.trailing_comma", 8),
    ('{"a":[1,}', "json.expected_value", 8),
    ('{"a":1,]', "json.expected_key", 7),
    ("{,}", "json.expected_key", 1),
    ("{1:2}", "json.expected_key", 1),
    ("{a:1}", "json.expected_key", 1),
    ("{'a':1}", "json.expected_key", 1),
    ('{"a" 1}', "json.expected_colon", 5),
    ('{"a"::1}', "json.expected_value", 5),
    ('{"a":}', "json.expected_value", 5),
    ('{"a":1 2}', "json.expected_comma", 7),
    ('{"a":1]', "json.expected_comma", 6),
    ('{"a":[1}}', "json.expected_comma", 7),
    ('{"a":[,1]}', "json.expected_value", 6),
    ('{"a":tru}', "json.invalid_literal", 5),
    ('{"a":truex}', "json.expected_comma", 9),
    ('{"a":tr', "json.unexpected_end", 7),
    ('{"a":True}', "json.expected_value", 5),
    ('{"a":NaN}', "json.expected_value", 5),
    ('{"a":-Infinity}', "json.invalid_number", 5),
    ('{"a":-}', "json.invalid_number", 5),
    ('{"a":-', "json.unexpected_end", 6),
    ('{"a":01}', "json.invalid_number", 5),
    ('{"a":01', "json.invalid_number", 5),
    ('{"a":1.}', "json.invalid_number", 5),
    ('{"a":1.', "json.unexpected_end", 7),
    ('{"a":1.e', "json.invalid_number", 5),
    ('{"a":1e+}', "json.invalid_number", 5),
    ('{"a":1e+', "json.unexpected_end", 8),
    ('{"a":1-2}', "json.expected_comma", 6),
    ('{"a":1e5.', "json.expected_comma", 8),
    ('{"a":+1}', "json.expected_value", 5),
    ('{"a":1e400}', "json.number_out_of_range", 5),
    ('{"a":-1e400', "json.number_out_of_range", 5),
    ('{"a":"b', "json.unterminated_string", 5),
    ('{"a":"b\\', "json.unterminated_string", 7),
    ('{"a":"b\\u12', "json.unterminated_string", 7),
    ('{"a":"b\\u1g', "json.invalid_unicode_escape", 7),
    ('{"a":"b\\u12"}', "json.invalid_unicode_escape", 7),
    ('{"a":"\\u+123"}', "json.invalid_unicode_escape", 6),
    ('{"a":"\\x41"}', "json.invalid_escape", 6),
    ('{"a":"\\ud800"}', "json.lone_surrogate", 6),
    ('{"a":"\\ud800', "json.lone_surrogate", 6),
    ('{"a":"\\ud800\\', "json.lone_surrogate", 6),
    ('{"a":"\\ud800\\u', "json.unterminated_string", 12),
    ('{"a":"\\ud800\\uzzzz"}', "json.invalid_unicode_escape", 12),
    ('{"a":"\\ud800\\u0041"}', "json.lone_surrogate", 6),
    ('{"a":"\\udc00"}', "json.lone_surrogate", 6),
    ('{"\\ud800":1}', "json.lone_surrogate", 2),
    ('{"a":"\n"}', "json.control_character", 6),
    ('{"\n":1}', "json.control_character", 2),
    ('{"a":1,"a":2}', "json.duplicate_key", 7),
    ('{"a":1,"a" 2}', "json.duplicate_key", 7),
    ('{"a":1,"\\u0061"', "json.duplicate_key", 7),
    ('{"a":1,"b":{"c":1,"c":2}}', "json.duplicate_key", 18),
    ('{"a":\u00a01}', "json.expected_value", 5),
    ('{"a":1 \x00}', "json.expected_comma", 7),
    ('{"a":' + "[" * 600, "json.too_deep", 516),
]


@pytest.mark.parametrize(("text", "code", "at"), JSON_CASES)
def test_json_faults(text: str, code: str, at: int) -> None:
    assert outcome(JSON, text) == (code, at)


@pytest.mark.parametrize(
    ("text", "code", "at"), [case for case in JSON_CASES if case[0] and case[1] != "json.too_deep"]
)
def test_json_faults_are_those_of_beacon(text: str, code: str, at: int) -> None:
    opener = '<tool_call>{"name":"f","arguments":'
    with pytest.raises(beacon.BeaconError) as info:
        beacon.parse_tool_calls(f"{opener}{text}</tool_call>")
    assert theirs_of(info.value, len(opener)) == (code, at)


def test_raw_surrogates() -> None:
    assert outcome(JSON, '{"a":"x\ud800"}') == ("json.lone_surrogate", 7)
    assert outcome(PYTHON, "'x\udfff'") == ("json.lone_surrogate", 2)
    assert outcome(GEMMA, '{a:<|"|>x\udfff<|"|>}') == ("json.lone_surrogate", 9)
    assert outcome(GEMMA, "{a\udfff:1}") == ("json.lone_surrogate", 2)


def test_messages_say_what_was_found_and_wanted() -> None:
    with pytest.raises(Fault) as info:
        LiteralReader(JSON, 0).feed('{"a":1 2}', 0, True)
    assert info.value.text == "expected ',' or '}' after object value, found '2'"
    assert info.value.expected == "',' or '}'"
    assert not info.value.end
    with pytest.raises(Fault) as info:
        LiteralReader(PYTHON, 0, arguments=True).feed("a=1", 0, True)
    assert info.value.text == "expected ',' or ')' after argument, found end of input"
    assert info.value.end


@pytest.mark.parametrize("sign", ["", "-"])
def test_long_numbers(sign: str) -> None:
    limit = sys.get_int_max_str_digits()
    exact = int(sign + "9" * 4300)
    for setting in (640, 0, 4300):
        sys.set_int_max_str_digits(setting)
        try:
            assert LiteralReader(JSON, 0).feed(sign + "9" * 4300 + " ", 0, True) == 4300 + len(sign)
            reader = LiteralReader(JSON, 0)
            reader.feed(f"[{sign}{'9' * 4300}]", 0, True)
            assert reader.value == [exact]
            fault = read(JSON, f"[{sign}{'9' * 4301}]", [1000, 2000])
            assert fault[:2] == ("json.number_too_long", 1)
        finally:
            sys.set_int_max_str_digits(limit)
    assert outcome(JSON, f"[{sign}1.{'9' * 5000}]") == ([float(sign + "2")], 5004 + len(sign))


def test_a_number_at_the_top() -> None:
    assert outcome(JSON, "12") == (12, 2)
    assert outcome(JSON, "12,") == (12, 2)
    assert outcome(JSON, "1.50 ") == (1.5, 4)
    assert outcome(JSON, "1-2") == ("json.trailing_characters", 1)
    assert LiteralReader(JSON, 0).feed("1", 0) == 1
    assert read(JSON, "-0")[3] == "-0"


def test_depth() -> None:
    assert outcome(JSON, "[" * 512 + "]" * 512)[1] == 1024
    assert outcome(JSON, "[" * 513) == ("json.too_deep", 512)
    assert outcome(PYTHON, "(" * 513) == ("json.too_deep", 512)
    assert outcome(GEMMA, "{a:" * 513) == ("json.too_deep", 512 * 3)
    assert outcome(PYTHON, "a=" + "[" * 513, arguments=True) == ("json.too_deep", 2 + 511)
    assert outcome(JSON, "[[[]]]", depth=2) == ("json.too_deep", 2)


def test_members() -> None:
    reader = LiteralReader(JSON, 100)
    assert reader.feed('{"a": [1, {"x": 2}], "b":', 0) == 25
    assert reader.members == [("a", 106, 119)]
    assert reader.member is None
    assert reader.feed("   t", 0) == 3
    assert reader.member == ("b", 128)
    assert reader.feed('true, "c": "x', 0) == 13
    assert reader.member == ("c", 139)
    reader.feed('y", "d":1 }', 0)
    assert reader.members[1:] == [("b", 128, 132), ("c", 139, 143), ("d", 149, 150)]
    assert reader.member is None
    assert reader.done


def test_members_of_arguments() -> None:
    reader = LiteralReader(PYTHON, 2, arguments=True)
    reader.feed("city='Paris', days = 2 )", 0)
    assert reader.members == [("city", 7, 14), ("days", 23, 24)]


def test_strings_come_out_piecewise() -> None:
    rest, taken = "", []
    reader = LiteralReader(JSON, 0, json_out=True)
    for piece in ['{"te', 'xt":"Hel', "lo \\", 'n\\"', " wor", 'ld" , "n":1.', '50,"u":"\\u00e', '9"}']:
        rest += piece
        rest = rest[reader.feed(rest, 0) :]
        taken.append(reader.take())
    assert taken == ["{", '"text": "Hel', "lo ", '\\n\\"', " wor", 'ld", "n": ', '1.50, "u": "', 'é"}']


# ---- Python ----------------------------------------------------------------------------------------------------

CALLS = [
    # What follows `f(`: the arguments, or a code and a position. All as beacon has it.
    (")", {}),
    ("a=1)", {"a": 1}),
    ("a=1,)", {"a": 1}),
    ("a = 1 , b = 2 )", {"a": 1, "b": 2}),
    ("a= 1\n,\n b =2)", {"a": 1, "b": 2}),
    ("a=\x0c1)", {"a": 1}),
    ("class=1, from='x', _=None)", {"class": 1, "from": "x", "_": None}),
    ("a={'k':1,'j':2,}, b={})", {"a": {"k": 1, "j": 2}, "b": {}}),
    ("a=(1), b=(), c=(1,), d=[1,2,])", {"a": [1], "b": [], "c": [1], "d": [1, 2]}),
    ("a=[(1,2),{'a':()}])", {"a": [[1, 2], {"a": []}]}),
    (
        "a=True, b=true, c=False, d=false, e=None, f=null)",
        {"a": True, "b": True, "c": False, "d": False, "e": None, "f": None},
    ),
    ("a=-1, b=-0, c=1e5, d=1.5E+3, e=1e-400)", {"a": -1, "b": 0, "c": 1e5, "d": 1500.0, "e": 0.0}),
    ("a='x\\ny\\'\\\"\\\\\\x41\\u0042\\0')", {"a": "x\ny'\"\\AB\0"}),
    ("a='x\ty\x00', b=\"it's\")", {"a": "x\ty\0", "b": "it's"}),
    ("a='')", {"a": ""}),
    ("a=,)", ("tool_call.expected_value", 2)),
    ("a=)", ("tool_call.expected_value", 2)),
    ("a=1, 2)", ("tool_call.positional_argument", 5)),
    ("a=1, b)", ("tool_call.positional_argument", 5)),
    ("a=1, b", ("tool_call.positional_argument", 5)),
    ("a=1, b==2)", ("tool_call.positional_argument", 5)),
    ("a=1, b.c=3)", ("tool_call.positional_argument", 5)),
    ("a=1, é=2)", ("tool_call.positional_argument", 5)),
    ("a=1,,b=2)", ("tool_call.positional_argument", 4)),
    ("a=1,\n", ("tool_call.positional_argument", 5)),
    ("a=1 b=2)", ("tool_call.expected_comma", 4)),
    ("a=1", ("tool_call.expected_comma", 3)),
    ("a=1}", ("tool_call.expected_comma", 3)),
    ("a=1_000)", ("tool_call.expected_comma", 3)),
    ("a=1, b =", ("tool_call.unexpected_end", 8)),
    ("a='x', a='y')", ("tool_call.duplicate_argument", 7)),
    ("a=1, a=", ("tool_call.duplicate_argument", 5)),
    ('a={"k":1,"k":2})', ("tool_call.duplicate_key", 9)),
    ("a={'k':1, 'k' 2})", ("tool_call.duplicate_key", 10)),
    ("a={'k' 1})", ("tool_call.expected_colon", 7)),
    ("a={'k'", ("tool_call.expected_colon", 6)),
    ("a={k:1})", ("tool_call.expected_key", 3)),
    ("a={True:1})", ("tool_call.expected_key", 3)),
    ("a={,})", ("tool_call.expected_key", 3)),
    ("a={", ("tool_call.expected_key", 3)),
    ("a={'k':1,", ("tool_call.expected_key", 9)),
    ("a={'k':})", ("tool_call.expected_value", 7)),
    ("a={'k':", ("tool_call.unexpected_end", 7)),
    ("a=[,])", ("tool_call.expected_value", 3)),
    ("a=[1,,2])", ("tool_call.expected_value", 5)),
    ("a=[1 2])", ("tool_call.expected_comma", 5)),
    ("a=[1)", ("tool_call.expected_comma", 4)),
    ("a=(1]", ("tool_call.expected_comma", 4)),
    ("a=[", ("tool_call.unexpected_end", 3)),
    ("a=[1", ("tool_call.expected_comma", 4)),
    ("a=[1,", ("tool_call.unexpected_end", 5)),
    ("a=TRUE)", ("tool_call.expected_value", 2)),
    ("a=Truex)", ("tool_call.expected_value", 2)),
    ("a=tru", ("tool_call.expected_value", 2)),
    ("a=Trueé)", ("tool_call.expected_comma", 6)),
    ("a=foo())", ("tool_call.expected_value", 2)),
    ("a=+1)", ("tool_call.expected_value", 2)),
    ("a=.5)", ("tool_call.expected_value", 2)),
    ("a=NaN)", ("tool_call.expected_value", 2)),
    ("a=r'x')", ("tool_call.expected_value", 2)),
    ("a=\u00a01)", ("tool_call.expected_value", 2)),
    ("a=-x)", ("json.invalid_number", 2)),
    ("a=01)", ("json.invalid_number", 2)),
    ("a=1.)", ("json.invalid_number", 2)),
    ("a=1.", ("json.unexpected_end", 4)),
    ("a=-", ("json.unexpected_end", 3)),
    ("a=1e400)", ("json.number_out_of_range", 2)),
    ("a='x\ny')", ("tool_call.unterminated_string", 2)),
    ("a='x\ry')", ("tool_call.unterminated_string", 2)),
    ("a='x", ("tool_call.unterminated_string", 2)),
    ("a='x\\", ("tool_call.unterminated_string", 2)),
    ("a='x\\u00", ("tool_call.invalid_escape", 4)),
    ("a='x\\x4g')", ("tool_call.invalid_escape", 4)),
    ("a='\\q')", ("tool_call.invalid_escape", 3)),
    ("a='\\\n')", ("tool_call.invalid_escape", 3)),
    ("a='\\ud83d')", ("tool_call.invalid_escape", 3)),
    ("a='\\ud83d\\ude00')", ("tool_call.invalid_escape", 3)),
    ("a='x' 'y')", ("tool_call.expected_comma", 6)),
    ("a='x'%1)", ("tool_call.expected_comma", 5)),
]


@pytest.mark.parametrize(("text", "expected"), CALLS)
def test_calls(text: str, expected: Any) -> None:
    found = outcome(PYTHON, text, arguments=True)
    assert found == (expected if isinstance(expected, tuple) else (expected, len(text)))
    try:
        theirs = beacon.parse_tool_calls("f(" + text)[0]["arguments"]
    except beacon.BeaconError as error:
        theirs = theirs_of(error, 2)
    assert same(theirs, expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # Beyond beacon: what Python's own `repr` and people write.
        (r"'\a\b\f\v\r\t'", "\a\b\f\v\r\t"),
        (r"'\U0001F600\xe9'", "😀é"),
        (r"'\101\7\0018'", "A\x07\x018"),
        ("'''it's\n\"fine\"'''", 'it\'s\n"fine"'),
        ('"""a""b"""', 'a""b'),
        ("''''x'''", "'x"),
        ("''", ""),
        ("''''''", ""),
    ],
)
def test_python_strings(text: str, expected: str) -> None:
    assert outcome(PYTHON, text) == (expected, len(text))
    assert outcome(PYTHON, f"[{text}]") == ([expected], len(text) + 2)


@pytest.mark.parametrize(
    ("text", "code", "at"),
    [
        (r"'\U00110000'", "tool_call.invalid_escape", 1),
        (r"'\U0000d800'", "tool_call.invalid_escape", 1),
        (r"'\N{DASH}'", "tool_call.invalid_escape", 1),
        ("'''a''", "tool_call.unterminated_string", 0),
        ("'''a", "tool_call.unterminated_string", 0),
        ("''''x'''''", None, 8),
    ],
)
def test_python_string_faults(text: str, code: str | None, at: int) -> None:
    assert outcome(PYTHON, text) == ((code, at) if code else ("'x", at))


def test_pythonic_strings_hold_newlines() -> None:
    assert outcome(PYTHONIC, "'x\ny\r'") == ("x\ny\r", 6)
    assert outcome(PYTHONIC, "'''x\ny'''") == ("x\ny", 9)
    assert outcome(PYTHONIC, r"'\ud83d\ude00'") == ("😀", 14)
    assert outcome(PYTHONIC, r"'\ud83d'") == ("tool_call.invalid_escape", 1)


# ---- Gemma -----------------------------------------------------------------------------------------------------

Q = '<|"|>'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{}", {}),
        ("{city:Q Paris Q,days:2}", {"city": " Paris ", "days": 2}),
        (
            "{note:null,title:QSyncQ,urgent:true,when:{day:3,slots:[QamQ,QpmQ]}}",
            {"note": None, "title": "Sync", "urgent": True, "when": {"day": 3, "slots": ["am", "pm"]}},
        ),
        ("{ a : None ,\n b c : [ 1.5 , -2 ] }", {"a": None, "b c": [1.5, -2]}),
        ('{QkQ:1,"j\\n":"x\\ty",<b:QQ}', {"k": 1, "j\n": "x\ty", "<b": ""}),
        ('{text:Qsay "hi"\n\\n <|Q}', {"text": 'say "hi"\n\\n <|'}),
        ("{a:<|x}", ("tool_call.expected_value", 3)),
        ("{a:Paris}", ("tool_call.expected_value", 3)),
        ("{a:truex}", ("tool_call.expected_value", 3)),
        ("{a:True}", ("tool_call.expected_value", 3)),
        ("{a:1,}", ("tool_call.expected_key", 5)),
        ("{a:[1,]}", ("tool_call.expected_value", 6)),
        ("{:1}", ("tool_call.expected_key", 1)),
        ("{,a:1}", ("tool_call.expected_key", 1)),
        ("{a}", ("tool_call.expected_colon", 2)),
        ("{a,b:1}", ("tool_call.expected_colon", 2)),
        ("{a", ("tool_call.expected_colon", 2)),
        ("{a:1,a :2}", ("tool_call.duplicate_key", 5)),
        ("{a:1 b:2}", ("tool_call.expected_comma", 5)),
        ("{a:Qx", ("tool_call.unterminated_string", 3)),
        ("{a:Qx<|", ("tool_call.unterminated_string", 3)),
        ("{a:<|", ("tool_call.unexpected_end", 5)),
        ("{a:", ("tool_call.unexpected_end", 3)),
        ("{a:1", ("tool_call.expected_comma", 4)),
        ("{", ("tool_call.expected_key", 1)),
        ('{a:"\\x"}', ("tool_call.invalid_escape", 4)),
        ('{a:"\\ud800"}', ("tool_call.invalid_escape", 4)),
        ("{a:1.}", ("json.invalid_number", 3)),
    ],
)
def test_gemma(text: str, expected: Any) -> None:
    for dialect, token in ((GEMMA, Q), (FUNCTION_GEMMA, "<escape>")):
        if dialect is FUNCTION_GEMMA and "<|" in text:
            continue
        spelled = text.replace("Q", token)
        found = outcome(dialect, spelled)
        if isinstance(expected, tuple):
            assert found[0] == expected[0]
            if "Q" not in text:
                assert found == expected
        else:
            assert found == (expected, len(spelled))


# ---- properties ------------------------------------------------------------------------------------------------

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4))
SOUP = st.lists(
    st.sampled_from(
        list("{}[](),:='\"\\ \n\té<|>-.0123eExuU\ud800")
        + [
            "true",
            "None",
            "null",
            "ab",
            "\\n",
            "\\u00e9",
            "\\ud83d",
            "\\ude00",
            '"a"',
            "'''",
            Q,
            '"""',
            "1.5",
            "a=",
            "a:",
        ]
    ),
    max_size=14,
).map("".join)
CUTS = st.lists(st.integers(0, 60), max_size=8)
DIALECTS = st.sampled_from([JSON, PYTHON, PYTHONIC, GEMMA, FUNCTION_GEMMA])


def cut(text: str, cuts: list[int]) -> list[int]:
    return [at for at in cuts if at < len(text)]


@given(DIALECTS, st.sampled_from(["", "{", "[", '{"a":', "{a:", "['", '["', '["\\ud83d', "1"]), SOUP, CUTS)
@settings(max_examples=1500, deadline=None)
def test_cuts_do_not_matter(dialect: Dialect, start: str, soup: str, cuts: list[int]) -> None:
    text = start + soup
    whole, pieces = read(dialect, text, origin=7), read(dialect, text, cut(text, cuts), origin=7)
    assert whole == pieces
    assert whole == read(dialect, text, list(range(len(text))), origin=7)


@given(st.sampled_from(["", "a=", "a=1,", "a='x", "a=[", "a={'k':"]), SOUP, CUTS)
@settings(max_examples=700, deadline=None)
def test_cuts_do_not_matter_to_arguments(start: str, soup: str, cuts: list[int]) -> None:
    text = start + soup
    for dialect in (PYTHON, PYTHONIC):
        whole = read(dialect, text, arguments=True)
        assert whole == read(dialect, text, cut(text, cuts), arguments=True)
        fast = scan_arguments(text, 0)
        if fast is not None:
            assert whole[0] == "value"
            assert same((whole[1], whole[3], whole[2]), fast)


@given(VALUES, st.booleans(), st.sampled_from([None, 1]), CUTS)
@settings(deadline=None)
def test_json_values(value: Any, ascii_only: bool, indent: int | None, cuts: list[int]) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    result = read(JSON, text, cut(text, cuts))
    assert same(result[1], value)
    if "e" not in text and "." not in text:
        assert result[3] == json.dumps(value, ensure_ascii=False)


@given(VALUES, CUTS)
@settings(deadline=None)
def test_python_reprs(value: Any, cuts: list[int]) -> None:
    text = repr(value)
    for dialect in (PYTHON, PYTHONIC):
        result = read(dialect, text, cut(text, cuts))
        assert same(result[1], value)
    call = f"a={text}, b={text})"
    result = read(PYTHON, call, cut(call, cuts), arguments=True)
    assert same(result[1], {"a": value, "b": value})


@given(st.dictionaries(st.from_regex("[a-zA-Z_][a-zA-Z0-9_]{0,5}", fullmatch=True), SCALARS, max_size=4), st.booleans())
@settings(deadline=None)
def test_simple_arguments(arguments: dict[str, Any], loose: bool) -> None:
    equals, comma = (" = ", " , ") if loose else ("=", ", ")
    text = comma.join(name + equals + repr(value) for name, value in arguments.items()) + ")"
    reader = read(PYTHON, text, arguments=True)
    assert same(reader[1], arguments)
    fast = scan_arguments("f(" + text, 2)
    if fast is not None:
        assert same(fast, (reader[1], reader[3], reader[2] + 2))


def test_scan_arguments_answers_the_common_cases() -> None:
    text = "f(city='Paris', days=2, x=-1.50, ok=True, y=None)."
    assert scan_arguments(text, 2) == (
        {"city": "Paris", "days": 2, "x": -1.5, "ok": True, "y": None},
        '{"city": "Paris", "days": 2, "x": -1.50, "ok": true, "y": null}',
        len(text) - 1,
    )
    assert scan_arguments("f()", 2) == ({}, "{}", 3)
    for mark in ("'", '"'):
        spelled = mark + r"a\n\\n\t\r\'\"" + mark
        json_text = r'{"a": "a\n\\n\t\r' + "'" + r'\""}'
        assert scan_arguments(f"a={spelled})", 0) == ({"a": "a\n\\n\t\r'\""}, json_text, len(spelled) + 3)
    assert scan_arguments("f(a=[1, ('x', 2.50,)], b={'k': {}})", 2) == (
        {"a": [1, ["x", 2.5]], "b": {"k": {}}},
        '{"a": [1, ["x", 2.50]], "b": {"k": {}}}',
        35,
    )
    assert scan_arguments("f(a=1,)", 2) == ({"a": 1}, '{"a": 1}', 7)
    for other in (
        "a=1, a=2)",
        "a=[01])",
        "a=['x\\x41'])",
        "a=[1 2])",
        "a={1: 2})",
        "a={'x': 1, 'x': 2})",
        "a=[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]])",
        "a='x\\x41')",
        "a='\\\\\0')",
        "a=1",
        "a=1 b=2)",
        "1)",
        ",)",
        "a='''x''')",
        "a=01)",
        "a==1)",
    ):
        assert scan_arguments(other, 0) is None


@given(SOUP, st.sampled_from(["{", "[", '{"a":', '{"a":1,', '["x', "[1,"]))
@settings(max_examples=400, deadline=None)
def test_json_agrees_with_beacon(soup: str, start: str) -> None:
    if "\ud800" in soup:
        return
    opener = '<tool_call>{"name":"f","arguments":'
    body = (opener[11:] + start + soup).rstrip(" \t\r\n")  # it strips the body
    ours = read(JSON, body, origin=11)
    try:
        beacon.parse_tool_calls(f"<tool_call>{body}</tool_call>")
        theirs: Any = "value"
    except beacon.BeaconError as error:
        theirs = theirs_of(error, 0) if error.code.startswith("json.") else "value"
    if ours[0] == "value":
        assert theirs == "value" or theirs[0] == "json.trailing_characters"
    else:
        assert (ours[0], ours[1] + 11) == theirs


@given(SOUP.map(lambda text: text.replace("\\", "").replace("'''", "").replace('"""', "")))
@settings(max_examples=400, deadline=None)
def test_calls_agree_with_beacon(soup: str) -> None:
    if "\ud800" in soup or "''" in soup or '""' in soup:
        return
    text = "a=1,b=" + soup
    ours = read(PYTHON, text, arguments=True)
    try:
        theirs: Any = beacon.parse_tool_calls("f(" + text)[0]["arguments"]
    except beacon.BeaconError as error:
        theirs = theirs_of(error, 2)
    if ours[0] == "value":
        assert same(ours[1], theirs) or isinstance(theirs, tuple)
    else:
        assert ours[:2] == theirs


# ---- time ------------------------------------------------------------------------------------------------------


def seconds(dialect: Dialect, text: str, size: int) -> float:
    reader = LiteralReader(dialect, 0, json_out=True)
    start = time.process_time()
    rest = ""
    try:
        for at in range(0, len(text), size):
            rest += text[at : at + size]
            rest = rest[reader.feed(rest, 0, at + size >= len(text)) :]
            if reader.done:
                break
            assert len(rest) < 16
    except Fault:
        pass
    return time.process_time() - start


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        (JSON, '{"text": "' + "x" * 1_000_000 + '"}'),
        (JSON, "[" + "9" * 200_000 + ".5]"),
        (JSON, "[" * 100_000),
        (JSON, " " * 200_000),
        (JSON, '["' + "\\u00e9" * 50_000),
        (PYTHON, "'''" + "''x" * 100_000),
        (PYTHON, "x" * 100_000),
        (GEMMA, "{" + "k" * 200_000 + ":1}"),
        (GEMMA, "{a:" + Q + "<" * 200_000),
    ],
)
def test_one_character_at_a_time_is_linear(dialect: Dialect, text: str) -> None:
    assert seconds(dialect, text, 1) < 10 * len(text) / 1_000_000 + 0.5


def test_whole_is_linear() -> None:
    for text in ("[" * 100_000, '{"a":' * 100_000, "[" + "1," * 500_000, '["' + "\\n" * 200_000 + '"]'):
        assert seconds(JSON, text, len(text)) < 3


def test_no_float_is_lost() -> None:
    result = read(JSON, "[1.50, 1E2, -0.0, 100000000000000000000.0]")
    assert result[3] == "[1.50, 1E2, -0.0, 100000000000000000000.0]"
    assert math.copysign(1, result[1][2]) == -1
