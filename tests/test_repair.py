"""Mends: what is mended and what is not, whole and streamed, and that no mend makes a call which was not meant."""

from __future__ import annotations

import json
import pickle
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

import repairs
import toolglot
from repair_sweep import CUT_EXEMPT, GOLDEN, MIXED, check_cuts, check_damage, check_mixed, same, sound, streamed, tiles
from repairs import CASES, PARIS, TOOLS, Case, hermes, shown, wrong
from toolglot import golden
from toolglot.engine.unopened import GUESSES
from toolglot.errors import REPAIRS
from toolglot.registry import REGISTRY
from toolglot.repair.edits import Edit, Edited, Unmendable
from toolglot.repair.fit import fits, settled
from toolglot.repair.json_text import mend_json


def ended(events: list[toolglot.Event]) -> list[toolglot.ToolCall]:
    return [event.call for event in events if isinstance(event, toolglot.ToolCallEnd)]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.title)
def test_table(case: Case) -> None:
    assert wrong(case) == []
    message = toolglot.parse(case.text, on_error="repair", **case.options)
    for call in message.tool_calls:
        assert call.raw_arguments is None or call.raw_arguments in case.text
        assert json.loads(call.arguments_json) == call.arguments
    for size in (1, 3, 1000):
        also, events = streamed(case.text, size, on_error="repair", **case.options)
        assert also == message
        assert ended(events) == message.tool_calls  # and none before its mend is decided
    assert shown(case).startswith(f"== {case.title}")


def test_every_code_is_in_the_table() -> None:
    """Of the package's answers there is a test below; the others are shown."""
    codes = {code for case in CASES for code in case.codes if code.startswith("repair.")}
    mends = [code for code in REPAIRS if code.startswith("repair.")]
    assert sorted({*codes, "repair.escaped_quote"}) == sorted(mends)
    assert len(CASES) >= 20


def test_escaped_single_quote() -> None:
    message = toolglot.parse(hermes(r'{"city": "L\'Aquila"}'), on_error="repair")
    assert [call.arguments for call in message.tool_calls] == [{"city": "L'Aquila"}]
    assert message.repairs == [toolglot.Repair("repair.escaped_quote", (60, 62), r"\'", "'")]


@pytest.mark.parametrize(
    "arguments",
    [
        '{"city": }',
        '{"city": "Paris", , "days": 2}',
        '{"city": "Paris", "city": "Rome",}',
        '{"city" "Paris"}',
        '{"days": 01}',
        '{"days": 1 000}',
        '{"days": NaN}',
        '{"days": .5}',
        '{"city": Paris}',
        '{"city": "Paris}',
        r'{"city": "\d"}',
        r'{"city": "\ud800",}',
        '{"city": ["a" "b"]}',
        "{'city': 'L'Aquila'}",
        "{'city': '\\d'}",
        "",
        "[1,]",
        '{"city": "a" /* never closed',
    ],
)
def test_more_than_one_reading_stays_broken(arguments: str) -> None:
    message = toolglot.parse(hermes(arguments), on_error="repair")
    assert message.tool_calls == []
    assert message.repairs == []
    assert message.errors == toolglot.parse(hermes(arguments), on_error="collect").errors


def test_the_tool_decides() -> None:
    text = hermes('{"city": "Paris", "days": "2",}')
    assert toolglot.parse(text, on_error="repair").tool_calls
    assert toolglot.parse(text, on_error="repair", tools=TOOLS).tool_calls == []  # days is an integer
    unknown = hermes("{'city': 'Paris'}", "get_whether")
    message = toolglot.parse(unknown, on_error="repair", tools=TOOLS)
    assert message.tool_calls == []
    assert len(message.errors) == 1


def test_strict_modes_do_not_mend() -> None:
    text = hermes('{"city": "Paris",}')
    with pytest.raises(toolglot.ParseError):
        toolglot.parse(text)
    assert toolglot.parse(text, on_error="collect").tool_calls == []


def test_sound_calls_around_a_mended_one() -> None:
    ping = hermes("{}", "ping")
    text = "\n".join(["One.", ping, hermes("{'city': 'Paris'}"), ping, "End."])
    message = toolglot.parse(text, on_error="repair")
    assert [(call.name, call.index) for call in message.tool_calls] == [("ping", 0), ("get_weather", 1), ("ping", 2)]
    assert message.content is not None
    assert [part.span for part in message.parts if part.span] == sorted(
        part.span for part in message.parts if part.span
    )
    assert streamed(text, 7, on_error="repair")[0] == message


def test_text_behind_a_call_without_its_closer() -> None:
    text = hermes('{"city": "Paris"}').replace("</tool_call>", "") + "Done."
    message = toolglot.parse(text, on_error="repair")
    assert [call.name for call in message.tool_calls] == ["get_weather"]
    assert message.content == "Done."  # the line break stands before the closer
    assert "".join(text[slice(*part.span)] for part in message.parts if part.span) == text
    assert streamed(text, 3, on_error="repair")[0] == message


def test_a_mend_is_no_deduction_from_control_tokens() -> None:
    """Where the caller says which text holds no control tokens, nothing is moved."""
    text = [("<|tool_call>", True), ("call:ping{a:", False), ("}", False), ("<tool_call|>", True)]
    message = toolglot.parse(text, format="gemma4", on_error="repair")
    assert message.repairs == []


# -- no call that was not meant


@pytest.mark.parametrize("folder", golden.folders())
def test_no_mended_call_differs_from_the_sound_one(folder: str) -> None:
    """Sound cases, damaged: what is mended is a call of the sound text, or one that "collect" finds too.

    `.ci/full` runs tests/repair_sweep.py, which damages and cuts all of them in every place.
    """
    assert check_damage(folder, 5)[1] == []


@pytest.mark.parametrize("folder", golden.folders())
def test_a_cut_output_gives_only_calls_of_the_whole(folder: str) -> None:
    assert check_cuts(folder, 4)[1] == []


@pytest.mark.parametrize("format", MIXED)
def test_markup_in_any_order(format: str | None) -> None:
    assert check_mixed(format, 30) == []


def test_white_space_before_what_is_no_call_is_text() -> None:
    """It waits with the sign of a call, also where a call may be found without any markup."""
    for text in ("\n<|tool_call_begin|></minimax:tool_call>", "a\n\nget_weather\n<arg_key>", "\n\ncall:x{ b"):
        message = toolglot.parse(text, tools=TOOLS, on_error="repair")
        assert message.content == text
        assert streamed(text, 1, tools=TOOLS, on_error="repair")[0] == message


def test_no_format_is_exempt_without_a_reason() -> None:
    assert set(CUT_EXEMPT) <= set(golden.folders())
    assert all(CUT_EXEMPT.values())


# Cases of text that is no call because its opener is missing.
UNOPENED = ("minimax_m2/bare_invoke_is_text", "plamo3/without_section", "solar_open/without_section")


@pytest.mark.parametrize("case", GOLDEN, ids=str)
def test_sound_text_is_read_as_ever(case: golden.GoldenCase) -> None:
    options = {**case.options, "format": case.format}
    strict = toolglot.parse(case.text, on_error="collect", **options)
    if not strict.errors:
        mended = toolglot.parse(case.text, on_error="repair", **options)
        if str(case) in UNOPENED:
            assert {repair.code for repair in mended.repairs} == {"repair.missing_opener"}
            assert not strict.tool_calls and mended.tool_calls
        else:
            assert mended == strict


# -- what is certain of a broken call


@pytest.mark.parametrize(
    ("text", "options", "certain"),
    [
        ('<tool_call>{"name": "f", "arguments": {"a": 1, "b": {"c": 2', {}, {"a": 1}),
        ('<tool_call>{"name": "f", "arguments": {"a": 12', {}, {}),
        ('<tool_call>{"name": "f", "arg', {}, None),
        ('[TOOL_CALLS]f[ARGS]{"a": "x", "b": "y', {}, {"a": "x"}),
        ("<tool_call><function=f>\n<parameter=a>\nx\n</parameter>\n<parameter=b>\ny", {}, {"a": "x"}),
        ("<tool_call><function=get_weather>\n<parameter=city>\nPa", {"tools": TOOLS}, None),
        ('<|python_tag|>f.call(a=1, b="x', {}, {"a": 1}),
        ('{"name": "f", "parameters": {"a": 1, "b": ', {"format": "llama3_json"}, {"a": 1}),
    ],
)
def test_partial_arguments(text: str, options: dict[str, Any], certain: dict[str, Any] | None) -> None:
    for mode in ("collect", "repair"):
        message = toolglot.parse(text, finish_reason="length", on_error=mode, **options)
        assert message.tool_calls == []
        [error] = message.errors
        assert error.partial_arguments == certain
        also, _ = streamed(text, 1, finish_reason="length", on_error=mode, **options)
        assert also.errors[0].partial_arguments == certain
        assert pickle.loads(pickle.dumps(error)).partial_arguments == certain


@pytest.mark.parametrize("folder", golden.folders())
def test_a_call_that_another_interrupts(folder: str) -> None:
    """What is made of it hangs neither on the pieces that it comes in nor on how the output ends."""
    for case in [case for case in GOLDEN if case.format == folder and sound(case)][:4]:
        options = {**case.options, "format": folder, "on_error": "repair"}
        options.pop("finish_reason", None)
        for cut in (1, 2, 3, 8):
            text = case.text.rstrip()[:-cut] + case.text
            for reason in (None, "stop", "length"):
                message = toolglot.parse(text, finish_reason=reason, **options)
                assert same(streamed(text, 3, finish_reason=reason, **options)[0], message), text
                assert tiles(message, text), text


@pytest.mark.parametrize("mode", ["collect", "repair"])
def test_an_opener_in_which_another_stands(mode: str) -> None:
    """What begins inside another literal is not decided before that one is whole: `call:` in `<|tool_call:start|>`."""
    literals = {text for fmt in toolglot.formats() for text in REGISTRY.program(fmt.id).openers}
    assert "<|tool_call:start|>" in literals
    options: dict[str, Any] = {"tools": TOOLS, "on_error": mode}
    for text in sorted(literals):
        for whole in (text, f"x {text}", text + text):
            message = toolglot.parse(whole, **options)
            assert same(streamed(whole, 1, **options)[0], message), whole


@pytest.mark.parametrize("mode", ["collect", "repair"])
@pytest.mark.parametrize("call", ['{"name": "ping", "arguments": x', '{"name": "ping", "arguments": {}}', "[ping()]"])
@pytest.mark.parametrize(
    "thought", ["<think>", "<think></think>", "<think>\n\n</think>", "<think>x</think>", "<think>x"]
)
def test_what_stands_before_reasoning_is_text(call: str, thought: str, mode: str) -> None:
    """In detection a call without markup stands behind all reasoning, be that empty."""
    options: dict[str, Any] = {"tools": TOOLS, "on_error": mode, "generation_prompt": ""}
    for text in (f"{call}\n{thought}", f"{call}\n{thought}\n{call}", f"{thought}\n{call}\n{thought}"):
        message = toolglot.parse(text, **options)
        for size in (1, 5, 100):
            assert same(streamed(text, size, **options)[0], message), text
        assert tiles(message, text)


@pytest.mark.parametrize("white", ["\u00a0", "\n\u2003", " \u2003\r\n", "\x0b"])
def test_unicode_white_space_behind_calls_in_reasoning_that_stays_open(white: str) -> None:
    """It was a ValueError."""
    section = "<|tool_calls_section_begin|><|tool_call_begin|>functions.ping:0<|tool_call_argument_begin|>{}"
    text = f"<think>x{section}<|tool_call_end|><|tool_calls_section_end|>{white}"
    options: dict[str, Any] = {"format": "kimi_k2", "on_error": "collect"}
    message = toolglot.parse(text, **options)
    assert [call.name for call in message.tool_calls] == ["ping"]
    assert tiles(message, text)
    for size in (1, 5, 1000):
        assert same(streamed(text, size, **options)[0], message)


# -- providers


def payload(arguments: str, finish_reason: str = "tool_calls") -> dict[str, Any]:
    call = {"id": "a", "type": "function", "function": {"name": "get_weather", "arguments": arguments}}
    return {
        "choices": [{"message": {"role": "assistant", "tool_calls": [call]}, "finish_reason": finish_reason}],
    }


def chunks(arguments: str, finish_reason: str = "tool_calls") -> Iterator[dict[str, Any]]:
    head = {"index": 0, "id": "a", "type": "function", "function": {"name": "get_weather", "arguments": ""}}
    deltas: list[dict[str, Any]] = [{"tool_calls": [head]}]
    deltas += [{"tool_calls": [{"index": 0, "function": {"arguments": char}}]} for char in arguments]
    for delta in deltas:
        yield {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta}]}
    last = {"index": 0, "delta": {}, "finish_reason": finish_reason}
    yield {"object": "chat.completion.chunk", "choices": [last]}


@pytest.mark.parametrize(
    ("arguments", "codes"),
    [
        ("{'city': 'Paris'}", ["repair.single_quotes"] * 2),
        ('{"city": "Paris",}', ["repair.trailing_comma"]),
        ('"{\\"city\\": \\"Paris\\"}"', ["repair.double_encoded"]),
        ('```json\n{"city": "Paris"}\n```', ["repair.code_fence"] * 2),
        ('{"city": "Paris"}}', ["repair.extra_bracket"]),
        ('{"city": "Paris"', None),
        ('{"city": "Pa', None),
        ('{"city": }', None),
    ],
)
@pytest.mark.parametrize("tools", [None, TOOLS], ids=["", "tools"])
def test_payloads(arguments: str, codes: list[str] | None, tools: Any) -> None:
    options = {"on_error": "repair", "tools": tools}
    message = toolglot.parse_response(payload(arguments), "openai", **options)
    if codes is None:
        assert message.tool_calls == [] == message.repairs
        strict = toolglot.parse_response(payload(arguments), "openai", on_error="collect", tools=tools)
        assert message.errors == strict.errors
    else:
        assert [call.arguments for call in message.tool_calls] == [{"city": "Paris"}]
        assert message.tool_calls[0].raw_arguments == arguments
        assert [repair.code for repair in message.repairs] == codes
        assert all(arguments[slice(*repair.span)] == repair.before for repair in message.repairs)
    stream = toolglot.get_provider("openai").stream(**options)
    events = [event for chunk in chunks(arguments) for event in stream.feed(chunk)] + stream.close()
    assert stream.message.tool_calls == message.tool_calls == ended(events)
    assert stream.message.repairs == message.repairs
    assert [error.code for error in stream.message.errors] == [error.code for error in message.errors]


def test_text_in_a_payload() -> None:
    response = {"choices": [{"message": {"content": hermes('{"city": "Paris",}')}, "finish_reason": "stop"}]}
    message = toolglot.parse_response(response, "openai", on_error="repair", text_format="hermes")
    assert [call.arguments for call in message.tool_calls] == [{"city": "Paris"}]
    assert [repair.code for repair in message.repairs] == ["repair.trailing_comma"]


def test_payload_has_partial_arguments() -> None:
    message = toolglot.parse_response(payload('{"city": "Paris", "days": 1', "length"), "openai", on_error="collect")
    assert message.errors[0].partial_arguments == {"city": "Paris"}


# -- calls whose opener is missing


def test_what_is_no_call_behind_a_missing_opener_is_text() -> None:
    """Whatever is wrong with it: no tools, another tool, arguments that do not fit, no closer, broken, cut off."""
    sound = KIMI_INNER + '{"city": "Paris"}<|tool_call_end|>'
    assert toolglot.parse(sound, on_error="repair", tools=TOOLS).tool_calls
    for text, tools in (
        (sound, None),
        (sound.replace("get_weather", "get_whether"), TOOLS),
        (sound.replace('"Paris"', "1"), TOOLS),
        (sound.replace("city", "place"), TOOLS),
        (sound.replace("<|tool_call_end|>", ""), TOOLS),
        (sound.replace("}", ",}"), TOOLS),
        (sound[:-20], TOOLS),
    ):
        text = f"As in {text} or so."
        for options in ({}, {"format": "kimi_k2"}):
            for parsed in (
                toolglot.parse(text, on_error="repair", tools=tools, **options),
                streamed(text, 1, on_error="repair", tools=tools, **options)[0],
            ):
                assert (parsed.content, parsed.tool_calls, parsed.errors, parsed.repairs) == (text, [], [], [])
    message = toolglot.parse(f"As in {sound[:-20]} or {sound}", on_error="repair", tools=TOOLS)
    assert [call.arguments for call in message.tool_calls] == [{"city": "Paris"}]
    assert message.content == f"As in {sound[:-20]} or "


def test_an_unopened_call_is_given_out_when_it_is_one() -> None:
    """Streamed, nothing of it comes before that is known."""
    text = "On it.\nget_weather\n<arg_key>city</arg_key>\n<arg_value>Paris</arg_value>\n</tool_call>\nDone."
    options = {"format": "glm45", "generation_prompt": "", "tools": TOOLS, "on_error": "repair"}
    message, events = streamed(text, 1, **options)
    assert [type(event).__name__ for event in events if not isinstance(event, toolglot.TextDelta)] == [
        "ToolCallStart",
        "ToolCallDelta",
        "ToolCallEnd",
    ]
    assert "".join(event.text for event in events if isinstance(event, toolglot.TextDelta)) == "On it.\nDone."
    assert message == toolglot.parse(text, **options)


def test_guesses_are_bounded() -> None:
    guess = KIMI_INNER + "{} "
    text = guess * GUESSES + KIMI_INNER + '{"city": "Paris"}<|tool_call_end|>'
    assert toolglot.parse(text, on_error="repair", tools=TOOLS).tool_calls == []
    assert toolglot.parse(text[len(guess) :], on_error="repair", tools=TOOLS).tool_calls != []


# -- types


def test_only_strings_that_hold_json_are_decoded() -> None:
    schema = {
        "type": "object",
        "properties": {
            "list": {"type": "array"},
            "map": {"type": "object"},
            "number": {"type": "integer"},
            "text": {"type": "string"},
            "any": {},
        },
    }
    tools = [{"name": "f", "parameters": schema}]
    arguments = {"list": "[1, {}]", "map": '{"a": "[1]"}', "number": "2", "text": "[1]", "any": "[1]"}
    text = hermes(json.dumps(arguments), "f")
    message = toolglot.parse(text, tools=tools, on_error="repair")
    decoded = {**arguments, "list": [1, {}], "map": {"a": "[1]"}}
    assert [call.arguments for call in message.tool_calls] == [decoded]
    assert [one.code for one in message.repairs] == ["coerce.string_to_array", "coerce.string_to_object"]
    assert all(text[slice(*one.span)] == one.before for one in message.repairs if one.span)
    assert streamed(text, 3, tools=tools, on_error="repair")[0] == message
    sent = toolglot.parse_response(payload(json.dumps(arguments)).copy(), "openai", on_error="repair")
    assert sent.tool_calls[0].arguments == arguments  # nobody says what was wanted
    response = payload(json.dumps(arguments))
    response["choices"][0]["message"]["tool_calls"][0]["function"]["name"] = "f"
    sent = toolglot.parse_response(response, "openai", on_error="repair", tools=tools)
    assert sent.tool_calls[0].arguments == decoded
    assert [one.code for one in sent.repairs] == [one.code for one in message.repairs]
    for mode in ("raise", "collect"):
        assert toolglot.parse(text, tools=tools, on_error=mode).tool_calls[0].arguments == arguments
    full = toolglot.parse(text, tools=tools, on_error="repair", coerce=True).tool_calls[0].arguments
    assert full == {**decoded, "number": 2}


# -- the pieces


def test_edits_know_where_things_stood() -> None:
    edited = Edited("abcdef", [Edit(1, 2, "XYZ", "x"), Edit(4, 4, "!", "x"), Edit(5, 6, "", "x")])
    assert edited.text == "aXYZcd!e"
    assert [edited.origin(i) for i in range(8)] == [0, 1, 1, 1, 2, 3, 4, 4]
    assert edited.kept(4, 6) == "cd"
    assert edited.kept(2, 6) is None
    with pytest.raises(Unmendable):
        Edited("abc", [Edit(0, 2, "", "x"), Edit(1, 3, "", "x")])


def test_readings_are_bounded() -> None:
    text = '{"a": "' + 'x "y", a: z ' * 1000 + '"}'
    readings = mend_json(text, 0, quotes=True)
    with pytest.raises(Unmendable):
        list(readings)


def test_fit() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/n"}},
        "required": ["a"],
        "$defs": {"n": {"type": "integer"}},
    }
    assert fits({"a": 1}, schema)
    assert fits({"a": 1, "b": 2}, schema)
    assert not fits({"a": 1, "b": 2}, schema, declared=True)
    assert not fits({"a": "1"}, schema)
    assert not fits({}, schema)
    assert not fits({"a": True}, schema)
    assert not fits({"a": 3}, {"properties": {"a": {"enum": [1, 2]}}})
    assert fits({"a": None}, {"properties": {"a": {"anyOf": [{"type": "string"}, {"type": "null"}]}}})
    cyclic = {"$ref": "#"}
    assert not fits({}, cyclic)
    assert settled({"a": {"b": 1}}, None)
    assert not settled({"a": {"b": 1, "c": 2}}, None)
    assert not settled({"a": [[1], [2]]}, None)


# -- cost


KIMI_INNER = "<|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>"
HOSTILE = {
    "broken calls": lambda n: hermes('{"a": 1,,}') * n,
    "mended calls": lambda n: hermes('{"city": "x",}') * n,
    "inner quotes": lambda n: hermes('{"city": "' + 'x "y" z ' * n + '"}'),
    "ends": lambda n: hermes('{"city": "' + 'x "y", a: z ' * n + '"}'),
    "controls": lambda n: hermes('{"city": "' + "x\n" * n + '"}'),
    "single": lambda n: hermes("{'city': '" + "it's " * n + "'}"),
    "braces": lambda n: "<tool_call>" + '{"a": ' * n + "</tool_call>",
    "comments": lambda n: hermes('{"city": "x" ' + "/* x */ " * n + "}"),
    "extra": lambda n: hermes('{"city": "x"}' + "}" * n),
    "bare": lambda n: '{"name": "get_weather", "arguments": {"city": "x",}} ' * n,
    "open": lambda n: '{"name": "f", "arguments": {' * n,
    "tags": lambda n: '<invoke name="f">' + '<parameter name="a">x</ parameter>' * n + "</ invoke>",
    "openers": lambda n: "<tool_call>" * n,
    "unopened": lambda n: KIMI_INNER * n,
    "unopened, one in another": lambda n: (KIMI_INNER + '{"city": "') * n,
    "unopened, named": lambda n: "get_weather\n<arg_key>city" * n,
    "names": lambda n: "get_weather\n" * n,
    "python, commas": lambda n: "<|python_tag|>get_weather.call(" + "city='x' " * n + ")",
    "python, brackets": lambda n: "<|python_tag|>get_weather.call(city=" + "[(" * n + ")",
    "python, comments": lambda n: "<|python_tag|>get_weather.call(city=" + "# x\n" * n + ")",
    "python, strings": lambda n: "<|python_tag|>get_weather.call(city=" + "'x' " * n + ")",
    "gemma": lambda n: "<|tool_call>call:get_weather{" + "city:'x'," * n + "}<tool_call|>",
    "attributes": lambda n: "<function=get_weather>" + "<parameter  name  =  'city>" * n + "</function>",
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_mends_are_linear(kind: str) -> None:
    def cost(n: int) -> float:
        text = HOSTILE[kind](n)
        best = float("inf")
        for _ in range(3):
            start = time.process_time()
            toolglot.parse(text, on_error="repair", tools=TOOLS)
            best = min(best, time.process_time() - start)
        return best

    small = max(cost(200), 0.002)
    assert cost(1600) < 8 * 4 * small  # eight times the text; its square would be 64


def test_a_sound_text_costs_the_same() -> None:
    """Not a measure of time: nothing of the mends is asked where there is no error."""
    called: list[str] = []
    from toolglot.engine.mend import Mender

    original = Mender.mend

    def counted(self: Mender, *arguments: Any) -> bool:
        called.append("mend")
        return original(self, *arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Mender, "mend", counted)
        toolglot.parse(hermes('{"city": "Paris"}'), on_error="repair")
        assert called == []
        toolglot.parse(hermes('{"city": "Paris",}'), on_error="repair")
        assert called == ["mend"]


def test_the_command_prints_all(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert repairs.main() == 0
    out = capsys.readouterr().out
    assert out.count("\n== ") == len(CASES) - 1
    assert out.count("\n  told\n") == sum(case.error is not None for case in CASES)
    assert out.count("\n  broken  ") == sum(bool(case.broken) for case in CASES)
    # What is declared otherwise is a failure, whatever part of it.
    for change in ({"error": "json.expected_key"}, {"calls": PARIS * 2}, {"codes": []}, {"text": hermes("{}")}):
        monkeypatch.setattr(repairs, "CASES", [replace(CASES[2], **change)])
        assert repairs.main() == 1
        assert CASES[2].title in capsys.readouterr().err


def test_a_mended_call_has_to_fit_its_schema() -> None:
    """`validate` is asked of what was mended as of what was sound; `coerce` works on it."""
    text = hermes('{"city": "Paris", "days": "two",}')
    found = toolglot.parse(text, on_error="repair", tools=TOOLS, validate=True)
    assert found.tool_calls == []
    assert found.errors[0].code in ("schema.violation", "json.trailing_comma")
    sound = toolglot.parse(hermes('{"city": "Paris", "days": 2,}'), on_error="repair", tools=TOOLS, validate=True)
    assert [call.arguments for call in sound.tool_calls] == [{"city": "Paris", "days": 2}]
    for size in (1, 7):
        parser = toolglot.StreamParser(on_error="repair", tools=TOOLS, validate=True)
        for at in range(0, len(text), size):
            parser.feed(text[at : at + size])
        parser.close()
        assert (parser.message.tool_calls, parser.message.errors) == (found.tool_calls, found.errors)
