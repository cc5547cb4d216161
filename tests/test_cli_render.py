"""``toolglot render`` and ``toolglot grammar``: what they write is what the Python functions write, and reads back."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("typer")

import toolglot
from test_cli import EXAMPLES, EXPECTED, HOSTILE, ROOT, TOOLS, WITH_TOOLS, problem, process, run, run_json
from toolglot.cli.catalogue import SAMPLES

TOOL_LIST = json.loads(Path(TOOLS).read_text("utf-8"))
FORMATS = [fmt for fmt in toolglot.formats() if not fmt.parse_only]
CALLS = [{"name": "get_weather", "arguments": {"city": "Zürich", "days": 2}, "id": "0a1b2c3d4"}]


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_parse_then_render_then_parse(name: str) -> None:
    """The calls, text and reasoning of each example survive the way through JSON and back into its format."""
    options, _, _ = EXPECTED[name]
    first = run("parse", str(EXAMPLES / f"{name}.txt"), *options, "--json").stdout
    id = json.loads(first)["format"] if name != "llama" else "llama"
    text = run("render", "--format", id, *WITH_TOOLS, input=first)
    message = json.loads(first)
    assert (text.exit_code, text.stderr) == (0, "")
    again = run_json("parse", "--format", id, *WITH_TOOLS, "--generation-prompt", "", input=text.stdout_bytes)
    assert [(call["name"], call["arguments"]) for call in again["tool_calls"]] == [
        (call["name"], call["arguments"]) for call in message["tool_calls"]
    ]
    assert (again["content"], again["reasoning"]) == (message["content"], message["reasoning"])


@pytest.mark.parametrize("fmt", FORMATS, ids=lambda fmt: fmt.id)
def test_every_format(fmt: toolglot.Format) -> None:
    """Byte for byte what `render` gives, or its error."""
    for sample in SAMPLES:
        calls = sample[: fmt.max_calls]
        text = json.dumps([call.to_dict() for call in calls])
        result = run("render", "--format", fmt.id, input=text)
        try:
            expected = toolglot.render(calls, fmt.id)
        except toolglot.ConversionError as error:
            assert (result.exit_code, result.stdout) == (1, "")
            assert f"({error.code})" in result.stderr
            continue
        assert (result.exit_code, result.stdout_bytes) == (0, expected.encode())
        found = run_json("render", "--format", fmt.id, input=text)
        segments = toolglot.render_segments(calls, fmt.id)
        assert found == {
            "type": "text",
            "format": fmt.id,
            "text": expected,
            "segments": [{"text": piece, "control": control} for piece, control in segments],
        }


def test_shapes_of_calls() -> None:
    """One call, a list, a message of parse, an API's message: all are the same calls."""
    openai = {"role": "assistant", "content": "On it.", "tool_calls": [
        {"id": "c", "type": "function", "function": {"name": "ping", "arguments": "{}"}}
    ]}  # fmt: skip
    message = json.loads(run("parse", "--json", input=json.dumps(openai)).stdout)
    expected = toolglot.render([toolglot.ToolCall("ping")], "hermes", content="On it.")
    for value in (openai, message):
        assert run("render", "--format", "hermes", input=json.dumps(value)).stdout == expected
    for one in ({"name": "ping"}, [{"name": "ping", "arguments": {}}]):
        assert run("render", "--format", "hermes", "--content", "On it.", input=json.dumps(one)).stdout == expected
    shown = run("render", "--format", "hermes", "--content", "B", "--reasoning", "R", input=json.dumps(message)).stdout
    assert shown == toolglot.render([toolglot.ToolCall("ping")], "hermes", content="B", reasoning="R")


def test_broken_calls_are_not_written_in_silence() -> None:
    function = {"name": "f", "arguments": "{"}
    text = json.dumps({"choices": [{"message": {"tool_calls": [{"id": "c", "function": function}]}}]})
    assert "1 broken call is not written" in run("render", "--format", "hermes", input=text).stderr
    message = run("parse", str(EXAMPLES / "broken.txt"), "--json").stdout
    assert "1 broken call is not written" in run("render", "--format", "hermes", input=message).stderr


def test_results_and_tools() -> None:
    results = [{"tool_call_id": "c", "content": {"c": 4}, "tool_name": "get_weather"}]
    made = [toolglot.ToolResult("c", {"c": 4}, "get_weather")]
    for fmt in FORMATS:
        expected: Any
        for what, value, write in (
            ("results", results, lambda id: toolglot.render_results(made, id)),
            ("tools", TOOL_LIST, lambda id: toolglot.render_tools(TOOL_LIST, id)),
        ):
            result = run("render", "--what", what, "--format", fmt.id, input=json.dumps(value))
            try:
                expected = (0, write(fmt.id))
            except toolglot.ConversionError:
                expected = (1, "")
            assert (result.exit_code, result.stdout_bytes.decode()) == expected, (fmt.id, what)
    assert "for calls" in problem("render", "--what", "tools", "--format", "hermes", "--content", "x", input="[]")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "is not JSON"),
        ("3", "these are no calls"),
        ("[3]", "these are no calls"),
        ('{"a": 1}', "these are no calls"),
        ('{"name": ""}', "[0].name: a call needs the name of a tool"),
        ('[{"name": "f"}, {"name": "g", "arguments": "x"}]', "[1].arguments: expected an object, got str"),
        ('{"name": "f", "kind": "x"}', "[0].kind: expected function, custom or server"),
        ('{"tool_calls": 3, "errors": []}', "tool_calls: expected a list of calls, got int"),
        ('{"tool_calls": [{"x": 1}], "errors": []}', "a call has no 'x'"),
        ('{"tool_calls": [], "errors": [], "content": 3}', "content: expected a text or null, got int"),
    ],
)
def test_wrong_calls(text: str, words: str) -> None:
    assert words in problem("render", "--format", "hermes", input=text)


def test_wrong_use() -> None:
    assert "Usage: " in problem("render", input="[]")
    assert "definition.unknown_format" in problem("render", "--format", "hermez", input="[]")
    assert "cannot both be" in problem("render", "--format", "hermes", "--tools", "-", input="[]")
    assert "cannot read no/such" in problem("render", "--format", "hermes", "no/such")
    half = json.dumps([{"name": "f", "arguments": {"a": "\ud800"}}])
    assert "is not JSON" in problem("render", "--format", "hermes", input=half)  # no text is half a pair


def test_text_is_exact_in_a_pipe() -> None:
    """UTF-8 whatever the encoding of the terminal is, control characters and line breaks as they are."""
    value = "é 東 \r\n\ttab \x1b[31m \u202e"
    calls = json.dumps([{"name": "f", "arguments": {"a": value}}])
    expected = toolglot.render([toolglot.ToolCall("f", {"a": value})], "qwen3_coder").encode()
    for env in ({}, {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}):
        assert process("render", "--format", "qwen3_coder", input=calls.encode(), **env).stdout == expected


@pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")
def test_text_is_escaped_on_a_terminal() -> None:
    import pty

    outer, inner = pty.openpty()
    calls = json.dumps([{"name": "f", "arguments": {"a": HOSTILE.replace("\x00", "")}}])
    try:
        command = [sys.executable, "-m", "toolglot", "render", "--format", "qwen3_coder"]
        subprocess.run(command, input=calls.encode(), stdout=inner, check=True, cwd=ROOT, timeout=60)
        shown = os.read(outer, 65_536).decode()
    finally:
        os.close(inner)
        os.close(outer)
    assert "<function=f>" in shown
    assert not any(char in shown for char in "\x1b\x9b\x07\u202e\u2066")
    assert r"\x1b[2J" in shown


# -- grammars


@pytest.mark.parametrize("kind", ["gbnf", "lark", "structural_tag"])
@pytest.mark.parametrize("choice", [(), ("--tool-choice", "required"), ("--tool-choice", "ping")])
def test_grammar(kind: Any, choice: tuple[str, ...]) -> None:
    for format in ("hermes", "qwen3_coder", "pythonic"):
        args = ("grammar", TOOLS, "--format", format, "--kind", kind, *choice)
        chosen = choice[1] if choice else None
        try:
            expected = toolglot.grammar(TOOL_LIST, format, kind, tool_choice=chosen)
        except toolglot.ConversionError as error:
            assert (run(*args).exit_code, f"({error.code})" in run(*args).stderr) == (1, True)
            continue
        assert run(*args).stdout_bytes.decode() == expected
        assert run_json(*args) == {
            "type": "grammar",
            "format": format,
            "kind": kind,
            "grammar": expected,
            "triggers": toolglot.grammar_triggers(TOOL_LIST, format),
        }


def test_grammars_that_cannot_be() -> None:
    tool = json.dumps([{"name": "f", "parameters": {"properties": {"a": {"type": "integer", "minimum": 1}}}}])
    loose = run("grammar", "--format", "hermes", input=tool)
    assert (loose.exit_code, "# not enforced: f.a: minimum" in loose.stdout) == (0, True)
    strict = run("grammar", "--format", "hermes", "--strict", input=tool)
    assert (strict.exit_code, strict.stdout, "minimum" in strict.stderr) == (1, "", True)
    assert run("grammar", "--format", "hermes", input="[]").exit_code == 1
    assert "definition.invalid_tool" in problem("grammar", "--format", "hermes", "--tool-choice", "g", input=tool)
    assert "Usage: " in problem("grammar", "--format", "hermes", "--kind", "ebnf", input=tool)
    assert "got int" in problem("grammar", "--format", "hermes", input="[3]")


TOO_LONG = "a" * 5_000  # for the name of a file


@pytest.mark.parametrize(
    "command",
    [
        ("parse", TOO_LONG),
        ("explain", TOO_LONG),
        ("check-format", TOO_LONG),
        ("check-format", f"{TOO_LONG}.py"),
        ("check-format", "bracket", "--cases", TOO_LONG),
        ("formats", "--check", "--cases", TOO_LONG),
    ],
    ids=lambda command: command[0],
)
def test_a_name_that_no_file_can_have(command: tuple[str, ...]) -> None:
    result = run(*command)
    assert result.exit_code == 2
    assert result.stderr.startswith("toolglot: ")


def test_a_refusal_is_json_for_a_program() -> None:
    server = '[{"type": "web_search_20250305", "name": "web_search"}]'
    for command, kind in (
        (("render", "--format", "hermes", "--what", "tools"), "text"),
        (("grammar", "--format", "hermes"), "grammar"),
    ):
        result = run(*command, "--json", input=server)
        said = json.loads(result.stdout)
        assert result.exit_code == 1
        assert (said["type"], said[kind], said["error"]["code"]) == (kind, None, "conversion.unsupported")
        assert result.stderr == ""


@pytest.mark.parametrize(
    "text",
    [
        '[{"name": "f", "arguments": {"a": 1e999}}]',
        '[{"name": "f", "arguments": {"a": NaN}}]',
        '[{"name": "f", "arguments": {"a": 1, "a": 2}}]',
        '[{"name": "f", "arguments": {"a": "\\ud800"}}]',
        "[" * 600 + "]" * 600,
        "9" * 4_301,
    ],
    ids=lambda text: text[:60],
)
@pytest.mark.parametrize(
    "command",
    [
        ("render", "--format", "hermes"),
        ("grammar", "--format", "hermes"),
        ("convert", "tools", "--to", "openai"),
        ("convert", "results", "--to", "openai"),
        ("convert", "messages", "--from", "openai", "--to", "groq"),
        ("check-history", "--provider", "openai"),
    ],
    ids=lambda command: " ".join(command[:2]),
)
def test_json_is_read_strictly(command: tuple[str, ...], text: str) -> None:
    """What could not be written as JSON again is said to be none, with its place."""
    result = run(*command, input=text)
    assert result.exit_code == 2
    assert result.stderr.startswith("toolglot: standard input is not JSON: ")
    assert "line 1, column" in result.stderr


@pytest.mark.parametrize("text", ['"text"', "5", "null"])
def test_a_value_that_is_no_history(text: str) -> None:
    for command in (
        ("check-history", "--provider", "openai"),
        ("convert", "messages", "--from", "openai", "--to", "groq"),
    ):
        result = run(*command, input=text)
        assert result.exit_code == 2
        assert "expected a list of messages or a request" in result.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
def test_streams_that_are_closed_or_full() -> None:
    command = f"'{sys.executable}' -m toolglot parse '{EXAMPLES / 'hermes.txt'}'"
    for rest, status, said in (
        (">&-", 0, ""),
        ("--json >&-", 0, ""),
        ("> /dev/full", 2, "toolglot: cannot write: No space left on device\n"),
        ("--json > /dev/full", 2, "toolglot: cannot write: No space left on device\n"),
    ):
        result = subprocess.run(["sh", "-c", f"{command} {rest}"], capture_output=True, text=True, check=False)
        assert (result.returncode, result.stderr) == (status, said), rest
