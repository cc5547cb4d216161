"""``toolglot explain`` and `toolglot.explain`: codes, broken texts, and why what looks like a call is none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("typer")

import toolglot
from test_cli import BROKEN, EXAMPLES, HOSTILE, TOOLS, WITH_TOOLS, problem, run, run_json
from toolglot.cli.data import code_data, explanation_data
from toolglot.errors import CODES, LOSSES, PROBLEMS, REPAIRS
from toolglot.explanation import MAX_CANDIDATES, MAX_TEXT

WEATHER = [{"name": "get_weather", "parameters": {"properties": {"city": {"type": "string"}}, "required": ["city"]}}]


def as_json(value: Any) -> Any:
    return json.loads(json.dumps(value))


# -- a code


@pytest.mark.parametrize("code", [*CODES, *LOSSES, *PROBLEMS, *REPAIRS])
def test_every_code(code: str) -> None:
    shown = run("explain", code)
    assert shown.exit_code == 0
    assert shown.stdout.splitlines()[0] == f"code      {code}"
    info = toolglot.code_info(code)
    assert info is not None
    assert f"means     {info.meaning}\n" in shown.stdout
    assert "\x1b" not in shown.stdout
    assert run_json("explain", code) == as_json(code_data(info))


def test_a_code_with_all_that_is_known() -> None:
    rows = run("explain", "json.trailing_comma").stdout.splitlines()
    assert 'example   <tool_call>{"name": "f", "arguments": {"a": 1,}}</tool_call>' in rows
    assert "          Your call of the tool 'f' was not run: trailing comma before '}'." in rows
    assert "repaired  repair.trailing_comma" in rows
    assert "repaired  no: it stays an error" in run("explain", "json.lone_surrogate").stdout
    assert len(run("explain", "json.number_too_long").stdout) < 2_000  # its example is long


def test_a_code_that_there_is_not(tmp_path: Path) -> None:
    said = problem("explain", "json.trailing_coma")
    assert "no code is called 'json.trailing_coma', and there is no such file; did you mean json.trailing_comma" in said
    assert "docs/errors.md" in problem("explain", "loss.zzzzzzzzzzzz")
    assert "cannot read no.such_family" in problem("explain", "no.such_family")
    assert "is a code, and the options are for texts" in problem("explain", "json.too_deep", "--format", "hermes")


def test_a_file_with_the_name_of_no_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "json.txt").write_text("prose", "utf-8")
    assert run("explain", "json.txt").stdout.startswith("Nothing in it looks like a call.")


# -- a text that is broken


def test_broken_text() -> None:
    shown = run("explain", str(BROKEN))
    assert shown.exit_code == 1
    error = toolglot.parse(BROKEN.read_text("utf-8"), on_error="collect").errors[0]
    rows = shown.stdout.splitlines()
    assert rows[0] == f"error  json.trailing_comma  line 6, column {error.column}"
    assert "^" in rows[3]
    for row in error.feedback().splitlines():
        assert f"  {row}" in rows
    after = rows[rows.index("with --on-error repair") :]
    assert "call 1  get_weather  hermes" in after
    assert "call 0  get_weather  hermes" not in after  # it was sound before
    assert any(row.startswith("repair  repair.trailing_comma at ") and row.endswith('"," left out') for row in after)
    assert rows[-1] == "1 call (hermes), 1 error"


def test_broken_text_that_stays_broken() -> None:
    shown = run("explain", input='<tool_call>{"name": "f", "arguments": {"a": }}</tool_call>')
    assert shown.exit_code == 1
    assert "--on-error repair mends nothing of it" in shown.stdout


def test_several_violations_are_all_said(tmp_path: Path) -> None:
    pytest.importorskip("jsonschema_rs")
    tools = tmp_path / "tools.json"
    tools.write_text(json.dumps(WEATHER), "utf-8")
    text = '<tool_call>{"name": "get_weather", "arguments": {"citty": "Oslo", "city": 1}}</tool_call>'
    options = ("--tools", str(tools), "--validate")
    assert run("parse", *options, input=text.replace('"city": 1', '"city": "x"')).exit_code == 0  # others are allowed
    for command in ("parse", "explain"):
        shown = run(command, *options, input=text)
        assert shown.exit_code == 1
        assert "error  schema.violation" in shown.stdout
    strict = [{**WEATHER[0], "parameters": {**WEATHER[0]["parameters"], "additionalProperties": False}}]  # type: ignore[dict-item]
    tools.write_text(json.dumps(strict), "utf-8")
    shown = run("parse", *options, input=text.replace(', "city": 1', ""))
    assert "  the arguments must have 'city' (and 1 more)\n" in shown.stdout
    assert "  also: $.citty: 'citty' is not declared; there is city\n" in shown.stdout


@pytest.mark.parametrize(
    ("text", "options"),
    [
        (BROKEN.read_text("utf-8"), {}),
        ('Use {"city": "Oslo"} or search(query="rust").', {}),
        ('<think>{"name": "f", "arguments": {}}</think>', {}),
        ("<tool_call>", {"finish_reason": "length"}),
        ('f(a="b")', {"format": "hermes"}),
        ("", {}),
    ],
)
def test_json_is_what_the_function_gives(text: str, options: dict[str, str]) -> None:
    expected = toolglot.explain(text, **options)  # type: ignore[arg-type]
    args = [word for key, value in options.items() for word in (f"--{key.replace('_', '-')}", value)]
    found = run_json("explain", *args, input=text, status=1 if expected.message.errors else 0)
    assert found == as_json(explanation_data(expected))
    assert found["message"] == {
        **run_json("parse", "--on-error", "collect", *args, input=text, status=1 if expected.message.errors else 0)
    }


# -- what looks like a call and is none

CALL = '{"name": "get_weather", "arguments": {"city": "Oslo"}}'
CASES: dict[str, tuple[str, dict[str, Any], str, int, str]] = {
    # What it shows: text, options, kind, where, and words that the reason has.
    "json that is data": ('It is {"city": "Oslo"}.', {}, "json", 6, "it has 'city', where a call has a name"),
    "a list that is data": ('[{"city": 1}, {"city": 2}]', {}, "json", 0, "it is a list"),
    "a dictionary of Python's": ("{'name': 'f', 'arguments': {}}", {}, "json", 0, "a double-quoted object key"),
    "a name that is none": ('{"name": "", "arguments": {}} {"a": 1}', {}, "json", 30, "it has 'a'"),
    "an undeclared tool": (CALL.replace("get_", "got_"), {"tools": WEATHER}, "json", 0, "there is get_weather"),
    "json in reasoning": (f"<think>{CALL}</think>No.", {}, "json", 7, "it stands in the reasoning"),
    "json beside a tag": (f"<tool_call>{CALL}</tool_call>\n{CALL}", {}, "json", 78, "calls with markup"),
    "json where a format is named": (f"a {CALL}", {"format": "glm47"}, "json", 2, "only glm47 was looked for"),
    "json where a model is named": (f"a {CALL}", {"model": "GLM-4.7"}, "json", 2, "only glm47 was looked for"),
    "call syntax without tools": ("f(a=1)", {}, "call syntax", 0, "only with tools that declare 'f'"),
    "call syntax of another tool": ("f(a=1)", {"tools": WEATHER}, "call syntax", 0, "no tool 'f' is declared"),
    "positional arguments": (
        "I get_weather('Oslo')",
        {"tools": WEATHER},
        "call syntax",
        2,
        "positional arguments are not supported",
    ),
    "call syntax in reasoning": ("<think>f(a=1)</think>", {}, "call syntax", 7, "it stands in the reasoning"),
    "markup in reasoning": (
        f"<think>\n<tool_call>{CALL}</tool_call></think>No.",
        {},
        "markup",
        8,
        "it stands in the reasoning",
    ),
    "markup of another format": (f"[TOOL_CALLS]{CALL}", {"format": "glm47"}, "markup", 0, "only glm47 was looked for"),
    "a word that opens a call": ("Use functools here.", {}, "markup", 4, "what stands behind it is none"),
}


@pytest.mark.parametrize("case", CASES)
def test_candidate(case: str) -> None:
    text, options, kind, at, words = CASES[case]
    found = toolglot.explain(text, **options)
    candidate = next(one for one in found.candidates if one.span[0] == at)
    assert candidate.kind == kind
    assert words in candidate.reason
    assert text[slice(*candidate.span)].startswith(candidate.text)
    before = text[:at].rsplit("\n", 1)[-1]
    assert (candidate.line, candidate.column) == (text.count("\n", 0, at) + 1, len(before) + 1)
    # What is a candidate was not read.
    for one in (*found.message.tool_calls, *found.message.errors):
        assert one.span is not None
        assert one.span[1] <= at or one.span[0] >= candidate.span[1]


@pytest.mark.parametrize("text", ["", "Just prose.", "print(1) and f(x), [1] {x}", "a < b and (c)"])
def test_prose_has_no_candidate(text: str) -> None:
    assert toolglot.explain(text).candidates == []


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.txt")), ids=lambda path: path.stem)
def test_an_example_that_is_not_read_has_a_reading(path: Path) -> None:
    """Whatever an example needs to be read, a format or the tools, is what explaining it says."""
    text = path.read_text("utf-8")
    if path != BROKEN and not toolglot.parse(text).tool_calls:
        found = toolglot.explain(text, tools=json.loads(Path(TOOLS).read_text("utf-8")))
        formats = [id for reading in found.readings for id in reading.formats]
        assert path.stem in formats or found.message.tool_calls, formats


def test_readings_are_what_the_format_reads() -> None:
    text = (EXAMPLES / "react.txt").read_text("utf-8")
    found = toolglot.explain(text)
    assert found.readings
    for reading in found.readings:
        for id in reading.formats:
            assert toolglot.parse(text, format=id, on_error="collect").tool_calls == reading.message.tool_calls
    shown = run("explain", str(EXAMPLES / "react.txt"))
    assert "\nwould be read\n" in shown.stdout
    assert "  --format react  get_weather\n" in shown.stdout


def test_a_format_that_was_named_wrong() -> None:
    shown = run("explain", str(EXAMPLES / "hermes.txt"), "--format", "mistral_v13")
    assert "  without a format (hermes)  get_weather, get_weather\n" in shown.stdout
    assert "it is a call of hermes, glm45, " in shown.stdout
    assert "and only mistral_v13 was looked for" in shown.stdout


def test_calls_that_a_server_left_in_the_text() -> None:
    response = json.dumps({"choices": [{"message": {"content": f"<tool_call>{CALL}</tool_call>"}}]})
    found = run_json("explain", input=response)
    assert found == as_json(explanation_data(toolglot.explain_response(response)))
    assert found["readings"][0]["message"]["tool_calls"][0]["name"] == "get_weather"
    assert "  as the model's own text (text_format='auto')  get_weather\n" in run("explain", input=response).stdout


def test_a_broken_response() -> None:
    function = {"name": "f", "arguments": '{"a": 1,}'}
    text = json.dumps({"choices": [{"message": {"tool_calls": [{"id": "c", "function": function}]}}]})
    shown = run("explain", input=text)
    assert shown.exit_code == 1
    assert "error  json.trailing_comma" in shown.stdout
    assert "repair  repair.trailing_comma" in shown.stdout
    lost = run("explain", input='{"content": [{"type": "text", "text": "So."}, 3], "stop_reason": "x"}')
    assert "lost  loss.unread at $.content[1]: expected an object, found a number\n" in lost.stdout
    cut = run("explain", "--finish-reason", "length", input='<tool_call>{"name": "f"')
    assert "--on-error repair mends nothing of it: what was cut off never becomes a call.\n" in cut.stdout
    assert "--provider reads a response" in problem("explain", "--provider", "openai", "--format", "json", input=text)


def test_nothing_is_wrong() -> None:
    shown = run("explain", str(EXAMPLES / "hermes.txt"))
    assert (shown.exit_code, shown.stdout.splitlines()[0]) == (
        0,
        "Nothing is wrong; `toolglot parse` shows what is in it.",
    )
    assert run("explain", input=" ").stdout == "It is empty.\n\nno tool call\n"


def test_a_limit_that_stops_the_reading() -> None:
    text = '<tool_call>{"name": "f", "arguments": {}}</tool_call>' * 10_001
    shown = run("explain", input=text)
    assert (shown.exit_code, shown.stdout.splitlines()[0][:23]) == (1, "error  tool_call.limit ")
    assert run_json("explain", input=text, status=1)["message"]["errors"][0]["code"] == "tool_call.limit"


def test_many_candidates_are_bounded() -> None:
    text = '{"a": 1} ' * 3_000
    found = toolglot.explain(text)
    assert len(found.candidates) == MAX_CANDIDATES
    assert found.more_places == 3_000 - MAX_CANDIDATES
    assert f"{3_000 - MAX_CANDIDATES} places behind these were not looked at" in run("explain", input=text).stdout
    # What is looked at to the end of the text every time is looked at so many times and no more.
    for text in ('f(a="' * 20_000, '{"a":[' * 20_000, "[TOOL_CALL]" * 3_000, "<think>" + '{"' * 20_000):
        assert len(toolglot.explain(text).candidates) <= MAX_CANDIDATES


@pytest.mark.parametrize("text", [HOSTILE, "{'" + HOSTILE, f"{HOSTILE}(", '{"' + HOSTILE.replace("\x1b", "") + '": 1}'])
def test_hostile_text(text: str) -> None:
    for args in ((), ("--json",), WITH_TOOLS):
        shown = run("explain", *args, input=text)
        assert shown.exit_code in (0, 1)
        assert not any(char in shown.output for char in "\x1b\x9b\x07\r\x00\u202e\u2066")


def test_wrong_use() -> None:
    with pytest.raises(TypeError, match="text: expected str, got bytes"):
        toolglot.explain(b"x")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="code: expected str"):
        toolglot.code_info(3)  # type: ignore[arg-type]
    assert "cannot read no/such" in problem("explain", "no/such")
    assert "definition.unknown_format" in problem("explain", "--format", "hermez", input="x")
    assert "--validate needs the tools' schemas" in problem("explain", "--validate", input="x")
    assert "is not UTF-8" in problem("explain", input=b"\xff")


@pytest.mark.parametrize("text", ["no JSON", '{"choices": [], "choices": []}', '{"choices": "\\ud800"}'])
def test_a_response_whose_json_is_broken(text: str) -> None:
    """It is an error that no model made, so none is told of it."""
    result = run("explain", "--provider", "openai", input=text)
    assert result.exit_code == 1
    assert "error  json." in result.stdout
    assert "It is no response: its JSON is broken" in result.stdout
    assert "the model is told" not in result.stdout
    said = json.loads(run("explain", "--provider", "openai", "--json", input=text).stdout)
    assert said["message"]["errors"][0]["code"].startswith("json.")


def test_a_long_text_is_not_read_in_all_formats() -> None:
    text = 'search(query="rust") ' + "x" * MAX_TEXT
    found = toolglot.explain(text)
    assert (found.readings, found.too_long) == ([], True)
    assert "longer than 131,072 characters" in run("explain", input=text).stdout
    short = toolglot.explain(text[:MAX_TEXT])
    assert (bool(short.readings), short.too_long) == (True, False)


def test_markup_that_formats_share() -> None:
    """It is the call of the format that reads it, also where the section has an opener of its own."""
    text = '[TOOL_CALLS][{"name": "f", "arguments": {}}]'
    (candidate,) = toolglot.explain(text, format="llama3_json").candidates
    assert candidate.formats == ("mistral_v3",)
    assert candidate.reason == "it is a call of mistral_v3, and only llama3_json was looked for"
