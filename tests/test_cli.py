"""The command line: what a person sees, what a program gets, and the exit status."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from functools import cache
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import pytest

pytest.importorskip("typer")

from rich.cells import cell_len
from typer import testing

import toolglot
from toolglot.cli.app import app
from toolglot.cli.catalogue import SAMPLES
from toolglot.cli.data import error_data, event_data
from toolglot.cli.escape import json_text, line, plain
from toolglot.cli.inputs import deltas
from toolglot.cli.show import Screen, fit
from toolglot.codes import HINTS, hint
from toolglot.errors import CODES, LimitError, ParseError

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples"
TOOLS = str(EXAMPLES / "tools.json")
WITH_TOOLS = ("--tools", TOOLS)

# Example file: options that it needs, format found, tools called. Where no option is needed the format is detected.
EXPECTED: dict[str, tuple[tuple[str, ...], str, list[str]]] = {
    "bfcl_json": (("--format", "bfcl_json"), "bfcl_json", ["get_weather", "ping"]),
    "bracket": ((), "bracket", ["search"]),
    "cline_xml": (("--format", "cline_xml", *WITH_TOOLS), "cline_xml", ["write_file"]),
    "cohere_action": ((), "cohere_action", ["get_weather", "search"]),
    "dsml_v32": ((), "dsml_v32", ["search", "create_event"]),
    "dsml_v4": ((), "dsml_v4", ["search", "create_event"]),
    "dsml_v41": ((), "dsml_v41", ["search", "create_event"]),
    "gemma4": ((), "gemma4", ["create_event"]),
    "gemma_tool_code": (("--format", "gemma_tool_code"), "gemma_tool_code", ["get_weather", "search"]),
    "glm45": ((), "glm45", ["get_weather", "get_weather"]),
    "glm47": ((), "glm47", ["ping", "write_file"]),
    "granite3": ((), "granite3", ["get_weather", "search"]),
    "harmony": ((), "harmony", ["get_weather"]),
    "hermes": ((), "hermes", ["get_weather", "get_weather"]),
    "json": ((), "json", ["get_weather"]),
    "kimi_k3": ((), "kimi_k3", ["get_weather", "get_weather"]),
    "langchain_xml": (("--format", "langchain_xml"), "langchain_xml", ["search"]),
    "lfm2": ((), "lfm2", ["get_weather", "search"]),
    "llama": ((), "llama3_json", ["search"]),
    "llama3_json": (("--format", "llama3_json"), "llama3_json", ["create_event"]),
    "mcp_xml": ((), "mcp_xml", ["weather/get_weather"]),
    "minicpm4": ((), "minicpm4", ["get_weather", "create_event"]),
    "minimax_m3": ((), "minimax_m3", ["create_event", "get_weather"]),
    "mistral_v11": ((), "mistral_v11", ["get_weather", "get_weather"]),
    "mistral_v13": ((), "mistral_v13", ["write_file"]),
    "mistral_v3": ((), "mistral_v3", ["get_weather", "search"]),
    "nexusraven": (("--format", "nexusraven"), "nexusraven", ["get_weather", "search"]),
    "olmo3": ((), "olmo3", ["get_weather", "search"]),
    "python": (WITH_TOOLS, "python", ["search"]),
    "pythonic": (("--format", "pythonic"), "pythonic", ["get_weather", "create_event"]),
    "qwen3_coder": (WITH_TOOLS, "qwen3_coder", ["write_file", "create_event"]),
    "react": (("--format", "react"), "react", ["get_weather"]),
    "react_json": (("--format", "react_json"), "react_json", ["search"]),
    "smolagents_code": (("--format", "smolagents_code"), "smolagents_code", ["python_interpreter"]),
    "smolagents_tool": (("--format", "smolagents_tool"), "smolagents_tool", ["get_weather"]),
    "xml_invoke": ((), "xml_invoke", ["search", "create_event"]),
}
BROKEN = EXAMPLES / "broken.txt"

# Else the command would be made anew for each call, which takes longer than the call.
testing._get_command = cache(testing._get_command)  # type: ignore[attr-defined]
runner = testing.CliRunner()


def run(*args: str, input: str | bytes | None = None, env: dict[str, str] | None = None) -> Any:
    env = {"NO_COLOR": None, "FORCE_COLOR": None, **(env or {})}  # type: ignore[dict-item]
    return runner.invoke(app, list(args), input=input, env=env, prog_name="toolglot")


def run_json(*args: str, input: str | bytes | None = None, status: int = 0) -> Any:
    result = run(*args, "--json", input=input)
    assert result.exit_code == status, result.output
    return json.loads(result.stdout)


def process(*args: str, input: bytes = b"", **env: str) -> subprocess.CompletedProcess[bytes]:
    """The command as a process of its own, in pipes."""
    return subprocess.run(
        [sys.executable, "-m", "toolglot", *args],
        input=input,
        capture_output=True,
        check=False,
        cwd=ROOT,
        env={**{k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR")}, **env},
        timeout=60,
    )


# -- the examples


def test_every_example_is_expected() -> None:
    assert {path.stem for path in EXAMPLES.glob("*.txt")} == {*EXPECTED, BROKEN.stem}


def test_every_example_is_described() -> None:
    readme = (EXAMPLES / "README.md").read_text("utf-8")
    assert sorted(re.findall(r"^\| `([a-z0-9_]+\.\w+)`", readme, re.MULTILINE)) == sorted(
        path.name for path in EXAMPLES.iterdir() if path.suffix in (".txt", ".json")
    )


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_example(name: str) -> None:
    options, format, names = EXPECTED[name]
    found = run_json("parse", str(EXAMPLES / f"{name}.txt"), *options)
    assert [call["name"] for call in found["tool_calls"]] == names
    assert {call["format"] for call in found["tool_calls"]} == {format}
    assert found["errors"] == []


@pytest.mark.parametrize("size", ["1", "7", "100000"])
@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_example_streamed(name: str, size: str) -> None:
    options, _, _ = EXPECTED[name]
    file = str(EXAMPLES / f"{name}.txt")
    result = run("parse", file, *options, "--stream", size, "--json")
    assert result.exit_code == 0, result.output
    *events, message = [json.loads(row) for row in result.stdout.splitlines()]
    assert message == run_json("parse", file, *options)
    calls = [event["call"] for event in events if event["type"] == "tool_call_end"]
    assert calls == message["tool_calls"]
    for index, call in enumerate(calls):
        joined = "".join(e["arguments"] for e in events if e["type"] == "tool_call_delta" and e["index"] == index)
        assert json.loads(joined) == call["arguments"]


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_example_with_tools_and_format(name: str) -> None:
    """Naming the format and declaring the tools changes no call, but for values that need a schema."""
    options, format, _ = EXPECTED[name]
    file = str(EXAMPLES / f"{name}.txt")
    found = run_json("parse", file, "--format", name, *WITH_TOOLS)
    if name == "llama":
        assert format == "llama3_json"  # what `ToolCall.format` says of it
    assert found == {**run_json("parse", file, *options), "format": found["format"]}


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_example_for_a_person(name: str) -> None:
    options, format, names = EXPECTED[name]
    result = run("parse", str(EXAMPLES / f"{name}.txt"), *options)
    assert result.exit_code == 0
    shown = re.findall(r"^call (\d+)  (\S+)(?:  id \S+)?  (\S+)$", result.stdout, re.MULTILINE)
    assert shown == [(str(i), call, format) for i, call in enumerate(names)]
    assert "\x1b" not in result.stdout


# -- what a person sees


def test_call_text_and_reasoning() -> None:
    result = run("parse", str(EXAMPLES / "hermes.txt"))
    assert result.exit_code == 0
    assert result.stdout.startswith("reasoning\n  The user wants the weather")
    assert "\ntext\n  I'll look up both cities.\n" in result.stdout
    assert '\ncall 1  get_weather  hermes\n  {\n    "city": "Rome",\n    "days": 1\n  }\n' in result.stdout
    assert result.stdout.endswith("\n2 calls (hermes)\n")


def test_error_has_a_caret() -> None:
    result = run("parse", str(BROKEN))
    assert result.exit_code == 1
    rows = result.stdout.splitlines()
    at = next(i for i, row in enumerate(rows) if row.startswith("error  json.trailing_comma  line 6, column "))
    assert rows[at + 1].startswith("  ")
    caret = next(row for row in rows[at:] if row.strip() == "^")
    shown = rows[rows.index(caret) - 1]
    assert shown[caret.index("^")] in ",}"
    assert any(row.startswith("  to do: ") for row in rows[at:])
    # The call before the broken one was made.
    assert "call 0  get_weather  hermes" in rows
    assert rows[-1] == "1 call (hermes), 1 error"


def test_caret_under_wide_characters() -> None:
    result = run("parse", input='<tool_call>{"name": "天気", "arguments": {"都市": "東京",}}</tool_call>')
    assert result.exit_code == 1
    rows = result.stdout.splitlines()
    caret = next(row for row in rows if row.strip() == "^")
    shown = rows[rows.index(caret) - 1]
    # Six wide characters stand before the caret, and each takes two columns of a terminal.
    assert shown[caret.index("^") - 6] in ",}"


def test_no_call() -> None:
    result = run("parse", input="Just prose.")
    assert (result.exit_code, result.stdout) == (0, "text\n  Just prose.\n\nno tool call\n")


def test_empty_input() -> None:
    assert run("parse", input="").stdout == "no tool call\n"
    assert run_json("parse", input="")["tool_calls"] == []


def test_events_for_a_person() -> None:
    result = run("parse", str(EXAMPLES / "hermes.txt"), "--stream", "8")
    assert result.exit_code == 0
    rows = result.stdout.splitlines()
    assert "call 0      begins: get_weather" in rows
    assert "call 1      is complete" in rows
    assert rows[-1] == "2 calls (hermes)"
    assert result.stdout.endswith(run("parse", str(EXAMPLES / "hermes.txt")).stdout)


def test_streamed_error() -> None:
    result = run("parse", str(BROKEN), "--stream", "3")
    assert result.exit_code == 1
    assert "\nerror       json.trailing_comma: " in result.stdout
    assert "\nerror  json.trailing_comma  line 6, column " in result.stdout


# -- what a program gets


def test_json_error() -> None:
    found = run_json("parse", str(BROKEN), status=1)
    assert [call["arguments"] for call in found["tool_calls"]] == [{"city": "Paris", "days": 2}]
    (error,) = found["errors"]
    text = BROKEN.read_text("utf-8")
    assert error["code"] == "json.trailing_comma"
    assert (error["line"], error["call_index"], error["format"]) == (6, 1, "hermes")
    assert text[slice(*error["span"])] == error["raw"]
    assert error["position"] == sum(map(len, text.splitlines(keepends=True)[:5])) + error["column"] - 1
    assert error["feedback"].endswith("Write the whole call again.")


def test_collect_goes_on() -> None:
    text = BROKEN.read_text("utf-8") + '\n<tool_call>\n{"name": "ping", "arguments": {}}\n</tool_call>'
    found = run_json("parse", "--on-error", "collect", input=text, status=1)
    assert [call["name"] for call in found["tool_calls"]] == ["get_weather", "ping"]
    assert [call["index"] for call in found["tool_calls"]] == [0, 2]
    assert len(found["errors"]) == 1


def test_repair_mends_and_says_so() -> None:
    text = BROKEN.read_text("utf-8") + '\n<tool_call>\n{"name": "ping", "arguments": {}}\n</tool_call>'
    found = run_json("parse", "--on-error", "repair", input=text)
    assert [call["name"] for call in found["tool_calls"]] == ["get_weather", "get_weather", "ping"]
    assert (found["errors"], [repair["code"] for repair in found["repairs"]]) == ([], ["repair.trailing_comma"])
    assert "repair.trailing_comma" in run("parse", str(BROKEN), "--on-error", "repair").output


def test_finish_reason_is_any_apis_word() -> None:
    text = '<tool_call>{"name": "f", "arguments": {}}'
    for word in ("max_tokens", "MAX_TOKENS", "length"):
        found = run_json("parse", "--finish-reason", word, input=text, status=1)
        assert found["errors"][0]["code"] == "tool_call.truncated"
    assert "'tired' is not known" in problem("parse", "--finish-reason", "tired", input="")


def test_finish_reason_length() -> None:
    text = '<tool_call>{"name": "ping", "arguments": {}}'
    found = run_json("parse", "--finish-reason", "length", input=text, status=1)
    assert found["tool_calls"] == []
    assert [error["code"] for error in found["errors"]] == ["tool_call.truncated"]


def test_ids() -> None:
    file = str(EXAMPLES / "hermes.txt")
    assert {call["id"] for call in run_json("parse", file)["tool_calls"]} == {None}
    calls = run_json("parse", file, "--ids", "synthesize")["tool_calls"]
    assert all(call["id"] and call["id_synthesized"] for call in calls)
    for size in ("1", "100000"):
        rows = run("parse", file, "--ids", "synthesize", "--json", "--stream", size).stdout.splitlines()
        assert all(call["id"] and call.get("id_synthesized") for call in json.loads(rows[-1])["tool_calls"])


def test_generation_prompt() -> None:
    text = 'I call it.</think><tool_call>{"name": "ping", "arguments": {}}</tool_call>'
    found = run_json("parse", "--generation-prompt", "<|im_start|>assistant\n<think>\n", input=text)
    assert found["reasoning"] == "I call it."
    assert [call["name"] for call in found["tool_calls"]] == ["ping"]


def test_tools_type_the_arguments() -> None:
    file = str(EXAMPLES / "qwen3_coder.txt")
    typed = run_json("parse", file, *WITH_TOOLS)["tool_calls"][1]["arguments"]
    assert typed["urgent"] is False
    untyped = run_json("parse", file)["tool_calls"][1]["arguments"]
    assert untyped["urgent"] == "False"


def test_unknown_tool() -> None:
    text = '<tool_call>{"name": "get_wether", "arguments": {}}</tool_call>'
    (error,) = run_json("parse", *WITH_TOOLS, input=text, status=1)["errors"]
    assert error["code"] == "tool_call.unknown_tool"
    assert "get_weather" in error["message"] + str(error["expected"])


def test_model_names_the_format() -> None:
    found = run_json("parse", str(EXAMPLES / "hermes.txt"), "--model", "Qwen3-8B")
    assert found["format"] == "hermes"


def test_json_keeps_numbers_exact() -> None:
    text = '<tool_call>{"name": "f", "arguments": {"n": 123456789012345678901234567890, "x": 1.0}}</tool_call>'
    result = run("parse", "--json", input=text)
    assert '"n": 123456789012345678901234567890' in result.stdout
    assert '"x": 1.0' in result.stdout


def test_every_event_has_a_form() -> None:
    call = toolglot.ToolCall("f", {"a": 1}, id="x", id_synthesized=True)
    error = ParseError("broken", "json.expected_value", raw="x", position=0, span=(0, 1), line=1, column=1)
    events = [
        toolglot.TextDelta("a", (0, 1)),
        toolglot.ReasoningDelta("a"),
        toolglot.ReasoningReclassified((0, 1)),
        toolglot.ToolCallStart(0, None, "f"),
        toolglot.ToolCallDelta(0, "{}"),
        toolglot.ToolCallEnd(0, call),
        toolglot.ErrorEvent(error),
    ]
    types = [json.loads(json_text(event_data(event)))["type"] for event in events]
    assert types == [
        "text_delta",
        "reasoning_delta",
        "reasoning_reclassified",
        "tool_call_start",
        "tool_call_delta",
        "tool_call_end",
        "error",
    ]
    custom = toolglot.ToolCall("f", kind="custom", input="free text")
    assert event_data(toolglot.ToolCallEnd(0, custom))["call"]["input"] == "free text"
    assert error_data(LimitError("too many", "calls", 7)) == {
        "code": "tool_call.limit",
        "message": "too many",
        "position": 7,
        "limit": "calls",
    }


def test_limit_is_broken_text() -> None:
    text = "<tool_call>" + json.dumps({"name": "x" * 100_000, "arguments": {}}) + "</tool_call>"
    assert run("parse", input=text).exit_code == 1
    assert run_json("parse", input=text, status=1)["tool_calls"] == []


# -- wrong usage


def problem(*args: str, input: str | bytes | None = None) -> str:
    result = run(*args, input=input)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return str(result.stderr)


def test_missing_file() -> None:
    assert problem("parse", "no/such/file") == "toolglot: cannot read no/such/file: No such file or directory\n"


def test_directory() -> None:
    assert "Is a directory" in problem("parse", str(EXAMPLES))


def test_not_utf8(tmp_path: Path) -> None:
    file = tmp_path / "latin1.txt"
    file.write_bytes("a café".encode("latin-1") + b" b")
    assert problem("parse", str(file)).endswith("latin1.txt is not UTF-8: invalid continuation byte at byte 5\n")
    assert problem("parse", "--json", str(file))
    assert "unexpected end of data at byte 2" in problem("parse", "-", input=b"ab\xe2\x82")


@pytest.mark.parametrize("size", [65_535, 65_536, 65_537])
def test_not_utf8_beyond_the_first_chunk(size: int) -> None:
    # The two bytes of the last character may be cut by a chunk's end.
    assert run("parse", input=b"a" * (size - 1) + "é".encode()).exit_code == 0
    assert f"at byte {size + 1}" in problem("parse", input=b"a" * (size - 1) + "é".encode() + b"\xff")


def test_unknown_format() -> None:
    said = problem("parse", "--format", "hermez", input="x")
    assert "hermez" in said
    assert "hermes" in said.replace("hermez", "")
    assert "definition.unknown_format" in said
    assert "definition.unknown_format" in problem("formats", "hermez")


def test_bad_tools(tmp_path: Path) -> None:
    file = tmp_path / "tools.json"
    for text, said in [
        ("{", "is not JSON"),
        ("3", "expected a list of tool definitions, got int"),
        ("[" * 100_000, "nesting is deeper than 512 levels"),
        ("[3]", "expected a Tool, a name or a definition object, got int"),
        ('[{"type": "function", "function": {}}]', "definition.invalid_tool"),
    ]:
        file.write_text(text, "utf-8")
        assert said in problem("parse", "--tools", str(file), input="x")
    assert "cannot read" in problem("parse", "--tools", str(tmp_path / "none"), input="x")


def test_tools_in_other_shapes(tmp_path: Path) -> None:
    tools = json.loads(Path(TOOLS).read_text("utf-8"))
    file = tmp_path / "tools.json"
    for value in ({"tools": tools}, [tool["function"] for tool in tools]):
        file.write_text(json.dumps(value), "utf-8")
        found = run_json("parse", str(EXAMPLES / "python.txt"), "--tools", str(file))
        assert [call["name"] for call in found["tool_calls"]] == ["search"]


def test_one_standard_input() -> None:
    assert "cannot both be standard input" in problem("parse", "--tools", "-", input="[]")


@pytest.mark.parametrize(
    "args",
    [
        ("parse", "--stream", "0"),
        ("parse", "--stream", "x"),
        ("parse", "--on-error", "ignore"),
        ("parse", "--ids", "none"),
        ("parse", "--finish-reason", "tired"),
        ("parse", "a", "b"),
        ("parse", "--no-such-option"),
        ("no-such-command",),
    ],
)
def test_wrong_options(args: tuple[str, ...]) -> None:
    assert "Usage: " in problem(*args, input="")


# -- the other commands


def test_detect() -> None:
    assert run("detect", str(EXAMPLES / "hermes.txt")).stdout == "hermes\n"
    assert run("detect", "-", input="prose").stdout == ""
    assert run("detect", input="prose").exit_code == 0
    assert run_json("detect", input="prose") == {"type": "format", "format": None}
    assert run_json("detect", str(EXAMPLES / "harmony.txt")) == {"type": "format", "format": "harmony"}


@pytest.mark.parametrize("name", sorted(name for name, (options, _, _) in EXPECTED.items() if not options))
def test_detect_example(name: str) -> None:
    _, format, _ = EXPECTED[name]
    assert run("detect", str(EXAMPLES / f"{name}.txt")).stdout == f"{format}\n"


def test_formats() -> None:
    rows = run("formats").stdout.splitlines()
    found = run_json("formats")
    ids = [fact["id"] for fact in found]
    assert [row.split()[0] for row in rows[1:]] == ids
    assert ids == [fmt.id for fmt in toolglot.formats()]
    assert set(EXPECTED) <= set(ids)  # not every format has an example


@pytest.mark.parametrize("width", [80, 120])
def test_formats_on_a_terminal(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """No line is wider than the terminal, each format begins a line, and nothing is lost between the lines."""
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setattr(Screen, "width", width)
    rows = run("formats").stdout.splitlines()
    assert max(map(cell_len, rows)) <= width
    formats = toolglot.formats()
    begins = [i for i, row in enumerate(rows) if row[:1].strip()]
    assert [rows[i].split()[0] for i in begins[1:]] == [fmt.id for fmt in formats]
    at = rows[0].index("families")
    for fmt, begin, end in zip(formats, begins[1:], [*begins[2:], len(rows)], strict=True):
        assert " ".join(row[at:] for row in rows[begin:end] if row[at:]) == ", ".join(fmt.families)


def test_fit() -> None:
    assert fit([10, 20, 30], [5, 5, 5], 60) == [10, 20, 30]
    assert fit([10, 20, 30], [5, 5, 5], 40) == [10, 15, 15]
    assert fit([10, 20, 30], [5, 5, 18], 40) == [10, 12, 18]  # words stay whole
    assert fit([10, 20, 30], [5, 5, 28], 30) == [10, 10, 10]  # where there is room for them
    assert fit([4, 100], [4, 9], 3) == [4, 8]  # no narrower than that


def test_one_format() -> None:
    for fact in run_json("formats"):
        found = run_json("formats", fact["id"])
        assert found["id"] == fact["id"]
        calls = [(call["name"], call["arguments"]) for call in found["calls"]]
        samples = [[(call.name, call.arguments) for call in sample][: len(calls)] for sample in SAMPLES]
        assert calls in samples
        assert calls != []
        assert found["rendered"] == found["sample"]
        assert run("formats", fact["id"]).exit_code == 0


def test_one_format_by_another_name() -> None:
    assert run_json("formats", "hermes_json")["id"] == "hermes"
    assert run_json("formats", "vllm:qwen3_xml")["id"] == "qwen3_coder"


@pytest.mark.parametrize("name", ["hermes", "bracket", "mistral", "llama", "xml_invoke", "json", "python"])
def test_seed_id(name: str) -> None:
    """Each id of llm-beacon's names a format, and reads what that library means by it."""
    assert run("formats", name).exit_code == 0
    for file in [path for path in EXPECTED if path == name or (name == "mistral" and path.startswith("mistral_"))]:
        _, format, names = EXPECTED[file]
        found = run_json("parse", str(EXAMPLES / f"{file}.txt"), "--format", name)
        assert [(call["name"], call["format"]) for call in found["tool_calls"]] == [(n, format) for n in names]
        assert found["errors"] == []


def test_version() -> None:
    result = run("--version")
    assert result.exit_code == 0
    assert result.stdout == f"toolglot {toolglot.__version__}\n"
    assert re.fullmatch(r"\d+\.\d+\.\d+\S*", toolglot.__version__)


def test_help_lists_the_commands() -> None:
    result = run("--help")
    assert result.exit_code == 0
    for command in ("parse", "detect", "formats"):
        assert command in result.stdout
        assert run(command, "--help").exit_code == 0


# -- pipes, colour, hostile text


def test_pipe() -> None:
    text = (EXAMPLES / "hermes.txt").read_bytes()
    whole = process("parse", input=text)
    assert (whole.returncode, whole.stderr) == (0, b"")
    assert b"\x1b" not in whole.stdout
    assert whole.stdout == process("parse", "-", input=text).stdout == process("parse", "examples/hermes.txt").stdout


def test_pipe_does_not_wrap() -> None:
    word = "x" * 5_000
    text = f'{word} {word}\t.<tool_call>{{"name": "f", "arguments": {{"a": "{word} {word}"}}}}</tool_call>'
    shown = process("parse", input=text.encode(), COLUMNS="40").stdout.decode()
    assert f"\n  {word} {word}\t.\n" in shown
    assert f'\n    "a": "{word} {word}"\n' in shown


def test_verbatim_line_ends() -> None:
    found = json.loads(process("parse", "--json", input=b"a\r\nb\rc\n").stdout)
    assert found["content"] == "a\r\nb\rc\n"


def test_color() -> None:
    args = ("parse", str(BROKEN))
    forced = process(*args, FORCE_COLOR="1", TERM="xterm-256color").stdout.decode()
    assert "\x1b[" in forced
    bare = process(*args).stdout.decode()
    assert re.sub(r"\x1b\[[0-9;]*m", "", forced) == bare
    assert process(*args, "--no-color", FORCE_COLOR="1", TERM="xterm-256color").stdout.decode() == bare
    assert process(*args, FORCE_COLOR="1", NO_COLOR="1", TERM="xterm-256color").stdout.decode() == bare
    assert b"\x1b" not in process(*args, "--json", FORCE_COLOR="1", TERM="xterm-256color").stdout


HOSTILE = "\x1b[2J\x1b]0;title\x07 \x9b31m \u202e\u2066 [bold red]x[/] :bomb: \x00 \r \x7f \u2028"


@pytest.mark.parametrize("extra", [(), ("--stream", "3"), ("--json",), ("--json", "--stream", "3")])
@pytest.mark.parametrize(
    "text",
    [
        HOSTILE,
        "<think>" + HOSTILE + "</think>x",
        "<tool_call>" + json.dumps({"name": "f", "arguments": {HOSTILE: HOSTILE}}) + "</tool_call>",
        "<tool_call>" + json.dumps({"name": HOSTILE, "arguments": {}}) + "</tool_call>",
        '<tool_call>{"name": "f", "arguments": {"a": ' + HOSTILE,
        '<tool_call>{"name": "f", "arguments": {"' + HOSTILE + '": 1}}</tool_call>',
    ],
)
def test_hostile_text(text: str, extra: tuple[str, ...]) -> None:
    for env in ({}, {"FORCE_COLOR": "1", "TERM": "xterm-256color"}):
        result = run("parse", *extra, input=text, env=env)
        assert result.exit_code in (0, 1)
        assert result.exception is None or isinstance(result.exception, SystemExit)
        shown = re.sub(r"\x1b\[[0-9;]*m", "", result.stdout) if env and "--json" not in extra else result.stdout
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u202e\u2066]", shown)
        if "bold red" in text and result.exit_code == 0:
            assert "[bold red]x[/]" in shown
            assert ":bomb:" in shown
    if "--json" in extra:
        assert all(
            isinstance(json.loads(row), dict)
            for row in ([result.stdout] if len(extra) == 1 else result.stdout.splitlines())
        )


def test_hostile_names_of_files_and_formats() -> None:
    assert "\x1b" not in problem("parse", "\x1b[31m")
    assert "\x1b" not in problem("parse", "--format", "\x1b[31m", input="x")


def test_narrow_encoding() -> None:
    text = 'Grüße 東京 <tool_call>{"name": "f", "arguments": {"a": "東京"}}</tool_call>'.encode()
    shown = process("parse", input=text, PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert shown.returncode == 0
    assert b"Gr\\xfc\\xdfe" in shown.stdout
    found = process("parse", "--json", input=text, PYTHONIOENCODING="ascii", PYTHONUTF8="0").stdout
    assert json.loads(found)["tool_calls"][0]["arguments"] == {"a": "東京"}


@pytest.mark.skipif(os.name != "posix", reason="a broken pipe is a signal of POSIX")
def test_reader_that_goes_away() -> None:
    command = f"{sys.executable} -m toolglot parse --stream 1 | head -n 1"
    result = subprocess.run(
        command, shell=True, input=b"word " * 20_000, capture_output=True, check=False, cwd=ROOT, timeout=60
    )
    assert result.stderr == b""


@pytest.mark.skipif(os.name != "posix", reason="a broken pipe is a signal of POSIX")
@pytest.mark.parametrize("arguments", [("parse", "--stream", "1"), ("formats",), ("parse", "--json")])
def test_reader_that_goes_away_is_no_broken_text(arguments: tuple[str, ...]) -> None:
    """The command ends by the signal, which a shell shows as status 141, and never with the status of a broken text."""
    command = [sys.executable, "-m", "toolglot", *arguments]
    outer, inner = os.pipe()
    os.close(outer)
    try:
        result = subprocess.run(
            command, input=b"word " * 20_000, stdout=inner, stderr=subprocess.PIPE, check=False, cwd=ROOT, timeout=60
        )
    finally:
        os.close(inner)
    assert result.returncode == -signal.SIGPIPE
    assert result.stderr == b""


@pytest.mark.parametrize("options", [(), ("--stream", "1"), ("--stream", "7")])
def test_a_byte_order_mark_is_no_text(tmp_path: Path, options: tuple[str, ...]) -> None:
    text = '<tool_call>{"name": "ping", "arguments": {}}</tool_call>\ufeffx'
    file = tmp_path / "out.txt"
    file.write_bytes(b"\xef\xbb\xbf" + text.encode())
    for found in (
        run("parse", str(file), "--json", *options).stdout.splitlines(),
        run("parse", "--json", *options, input=file.read_bytes()).stdout.splitlines(),
    ):
        message = json.loads(found[-1] if options else "".join(found))
        assert message["content"] == "\ufeffx"
        assert message["tool_calls"][0]["span"][0] == 0
    tools = tmp_path / "tools.json"
    tools.write_bytes(b"\xef\xbb\xbf" + b'["ping"]')
    assert run("parse", str(file), "--tools", str(tools)).exit_code == 0
    wrong = run("parse", input=b"\xef\xbb\xbfab\xff")
    assert (wrong.exit_code, "at byte 5" in wrong.stderr) == (2, True)


def test_unknown_model() -> None:
    done = run("parse", str(EXAMPLES / "hermes.txt"), "--model", "no-such-model")
    assert done.exit_code == 0
    assert done.stderr == "toolglot: no format is known for the model 'no-such-model': it is detected\n"
    assert run("parse", str(EXAMPLES / "hermes.txt"), "--model", "Qwen3-8B").stderr == ""


def test_values_that_were_guessed() -> None:
    file = str(EXAMPLES / "qwen3_coder.txt")
    assert "qwen3_coder writes values without their types" in run("parse", file).stderr
    assert "--tools" in run("parse", file, "--stream", "9").stderr
    assert run("parse", file, *WITH_TOOLS).stderr == ""
    assert run("parse", file, "--json").stderr == ""  # for a program
    for name in ("hermes", "kimi_k3", "dsml_v4", "mistral_v3"):
        assert run("parse", str(EXAMPLES / f"{name}.txt")).stderr == ""


def test_call_syntax_that_was_not_read() -> None:
    file = str(EXAMPLES / "python.txt")
    options: tuple[str, ...]
    for options in ((), ("--stream", "9")):
        said = run("parse", file, *options)
        assert "no tool call" in said.stdout
        assert "--tools FILE" in said.stderr
    for options in (WITH_TOOLS, ("--format", "python"), ("--json",)):
        assert run("parse", file, *options).stderr == ""
    assert run("parse", input="f(x) is a function").stderr == ""


@pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")
def test_nothing_to_read_on_a_terminal() -> None:
    import pty

    outer, inner = pty.openpty()
    try:
        result = subprocess.run(
            [sys.executable, "-m", "toolglot", "parse"],
            stdin=inner,
            capture_output=True,
            check=False,
            cwd=ROOT,
            timeout=60,
        )
    finally:
        os.close(outer)
        os.close(inner)
    assert result.returncode == 2
    assert b"nothing to read" in result.stderr


def test_events_come_as_the_text_comes() -> None:
    command = [sys.executable, "-m", "toolglot", "parse", "--stream", "1", "--json"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write(b'<tool_call>{"name": "ping", "arguments": {}}</tool_call>')
        child.stdin.flush()
        kinds = []
        while "tool_call_end" not in kinds:
            kinds.append(json.loads(child.stdout.readline())["type"])  # would wait for ever if nothing came
        child.stdin.close()
        rest = [json.loads(row) for row in child.stdout]
    assert kinds[0] == "tool_call_start"
    assert rest[-1]["type"] == "message"


def test_without_the_extra(tmp_path: Path) -> None:
    blocker = "import sys; sys.modules['typer'] = None\nfrom toolglot.cli import main\nmain()"
    result = subprocess.run([sys.executable, "-c", blocker], capture_output=True, check=False, cwd=ROOT, timeout=60)
    assert result.returncode == 2
    assert result.stdout == b""
    assert b"pip install typer rich" in result.stderr
    assert b"Traceback" not in result.stderr


def test_library_does_not_import_the_command_line() -> None:
    code = "import sys, toolglot; print([m for m in ('typer', 'rich', 'click', 'toolglot.cli') if m in sys.modules])"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, cwd=ROOT, timeout=60)
    assert result.stdout.strip() == b"[]"


# -- the pieces


def test_plain() -> None:
    assert plain("a\nb\tc") == "a\nb\tc"
    assert line("a\nb\tc") == r"a\nb\tc"
    assert plain("\x1b[0m\r\x00\x9b\u202e") == r"\x1b[0m\r\x00\x9b\u202e"
    assert plain("👩\u200d💻 é 東") == "👩\u200d💻 é 東"
    assert plain("\U000e0041") == r"\U000e0041"


def test_json_text() -> None:
    value = {"a": HOSTILE, "é": ["\U000e0041", 1.0, None]}
    assert json.loads(json_text(value)) == value
    assert not re.search("[\x7f-\x9f\u2028\u202e]", json_text(value))
    assert json_text(value, ascii_only=True).isascii()


@pytest.mark.parametrize("size", [1, 2, 3, 100])
def test_deltas(size: int) -> None:
    pieces = ["", "abc", "d", "", "efghij", "k"]
    cut = list(deltas(iter(pieces), size))
    assert "".join(cut) == "abcdefghijk"
    assert all(len(piece) == size for piece in cut[:-1])
    assert list(deltas(iter([]), size)) == []


def test_hints() -> None:
    for code in CODES:
        assert hint(code), f"nothing to do about {code}"
    for key in HINTS:
        assert any(code.startswith(key) for code in CODES), f"no code is called {key}"


def test_formats_check() -> None:
    answer = run_json("formats", "hermes", "--check")
    counts = answer["formats"]["hermes"]
    assert answer["wrong"] == []
    assert counts["parse"][0] == counts["parse"][1] > 50
    assert counts["stream"] == counts["parse"]
    table = run("formats", "hermes", "--check").stdout.splitlines()
    assert table[0].split() == ["format", "parse", "stream", "detect", "render", "round", "trip"]


def test_formats_check_says_what_is_wrong(tmp_path: Path) -> None:
    folder = tmp_path / "hermes"
    folder.mkdir()
    (folder / "single.txt").write_text('<tool_call>{"name": "f", "arguments": {}}</tool_call>', "utf-8")
    sheet = {"tags": [], "source": "", "detect": True, "render": False, "content": "x", "reasoning": None}
    (folder / "single.json").write_text(json.dumps({**sheet, "calls": [], "errors": []}), "utf-8")
    done = run("formats", "--check", "--cases", str(tmp_path))
    assert done.exit_code == 1
    assert "hermes/single, parse" in done.stdout
    assert "expected 'x', got None" in done.stdout
    done = run("formats", "--check", "--cases", "no/such")
    assert (done.exit_code, done.stderr) == (2, "toolglot: no/such is not a folder\n")


def test_what_the_options_do_not_say_is_hinted_at() -> None:
    """A model's name may stand for another format than the one that came; a stream may be a provider's."""
    tools = json.dumps([{"name": "find_flights"}, {"name": "book"}])
    text = "[find_flights(a='x'), book(b=1)]"
    with NamedTemporaryFile("w", suffix=".json") as file:
        file.write(tools)
        file.flush()
        result = run("parse", "--model", "meta-llama/Llama-3.2-3B-Instruct", "--tools", file.name, input=text)
        assert result.stderr == "toolglot: without --model there are 2 calls in it (pythonic)\n"
        result = run("parse", "--format", "hermes", "--tools", file.name, input=text)
        assert result.stderr == "toolglot: without --format there are 2 calls in it (pythonic)\n"
        assert run("parse", "--format", "pythonic", "--tools", file.name, input=text).stderr == ""
    many = '<tool_call>{"name": "f", "arguments": {}}</tool_call>' * 10_001
    result = run("parse", "--format", "bracket", "--json", input=many)
    assert result.exit_code == 0
    assert run("parse", "--format", "bracket", input=many).exit_code == 0
    event = 'event: ping\ndata: {"type": "ping"}\n\n'
    result = run("parse", "--stream", "5", input=event * 2)
    assert "this is a recorded stream of anthropic; --stream cuts a model's own text" in result.stderr
