"""What teaches: help, its examples, the shell's completion; and that every command handles what none can do."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("typer")

import toolglot
from test_cli import EXAMPLES, ROOT, problem, process, run
from toolglot.cli import complete

COMMANDS = (
    ["parse"],
    ["explain"],
    ["detect"],
    ["render"],
    ["grammar"],
    ["convert"],
    ["convert", "tools"],
    ["convert", "choice"],
    ["convert", "results"],
    ["convert", "response"],
    ["convert", "messages"],
    ["check-history"],
    ["formats"],
    ["check-format"],
)
READS_A_FILE = [
    ["parse"],
    ["explain"],
    ["detect"],
    ["render", "--format", "hermes"],
    ["grammar", "--format", "hermes"],
    *(["convert", kind, "--to", "openai"] for kind in ("tools", "results", "response", "messages")),
    ["check-history", "--provider", "openai"],
]


def help_of(command: list[str]) -> str:
    result = run(*command, "--help", env={"COLUMNS": "80"})
    assert result.exit_code == 0
    return str(result.stdout)


EXAMPLES_IN_HELP = [
    pytest.param(line.strip(), id=line.strip()[:80])
    for command in ([], *COMMANDS)
    for line in help_of(command).partition("Examples:\n")[2].partition("\n\n")[0].splitlines()
]


@pytest.mark.parametrize("command", [[], *COMMANDS], ids=" ".join)
def test_help_teaches(command: list[str]) -> None:
    shown = help_of(command)
    assert shown.isascii()
    assert "\x1b" not in shown
    assert shown.startswith("Usage: toolglot " if not command else f"Usage: toolglot {' '.join(command)} ")
    assert re.search(r"^  Examples:\n    (?:\S.* \| )?toolglot ", shown, re.MULTILINE)
    assert re.search(r"^  Exit status: 0.* 2 ", shown.replace("\n  ", " ").replace(" Exit", "\n  Exit"), re.MULTILINE)


def test_every_command_is_listed() -> None:
    listed = dict(re.findall(r"^  ([a-z][a-z-]+)  +(\S.*)", help_of([]).partition("Commands:\n")[2], re.MULTILINE))
    for command in COMMANDS:
        if len(command) == 1:
            assert not listed[command[0]].endswith("...")  # what it does fits


@pytest.mark.parametrize("example", EXAMPLES_IN_HELP)
@pytest.mark.skipif(os.name != "posix", reason="the examples are for a POSIX shell")
def test_examples_of_the_help_run(example: str) -> None:
    command = re.sub(r"\btoolglot (?=[a-z-])", f"{sys.executable} -m toolglot ", example)
    assert command != example
    result = subprocess.run(
        ["/bin/sh", "-c", command], stdin=subprocess.DEVNULL, capture_output=True, check=False, cwd=ROOT, timeout=60
    )
    # Examples of what is broken end with 1, and no example is wrong usage.
    assert result.returncode == (1 if re.search(r"explain \S*broken|check-history", example) else 0), result.stderr
    assert result.stdout
    assert b"Traceback" not in result.stderr


# -- completion


def completed(words: str) -> list[str]:
    """What bash would offer behind ``words``."""
    count = len(words.split(" ")) - 1
    result = process(_TOOLGLOT_COMPLETE="complete_bash", COMP_WORDS=words, COMP_CWORD=str(count))
    return result.stdout.decode().splitlines()


def test_completion() -> None:
    assert completed("toolglot check-") == ["check-history", "check-format"]
    assert completed("toolglot parse --format herm") == ["hermes"]
    assert completed("toolglot formats mistral_v1") == ["mistral_v11", "mistral_v13"]
    assert "google_interactions" in completed("toolglot convert tools --to goo")
    assert completed("toolglot explain json.trail") == ["json.trailing_comma", "json.trailing_characters"]
    assert "gpt-oss-20b" in completed("toolglot parse --model gpt")
    assert completed("toolglot convert ") == ["tools", "choice", "results", "response", "messages"]


def test_completion_can_be_shown() -> None:
    shown = process("--show-completion", "bash").stdout.decode()
    shown = shown or process("--show-completion").stdout.decode()
    assert "_TOOLGLOT_COMPLETE" in shown or "shell" in process("--show-completion").stderr.decode().lower()


def test_what_is_completed_is_known() -> None:
    for name in complete.format_ids(""):
        assert toolglot.get_format(name)
    for name in complete.provider_names(""):
        assert toolglot.get_provider(name)
    for name in complete.codes(""):
        assert toolglot.code_info(name) is not None
    names = complete.model_names("")
    assert len(names) > 50
    for name in names:
        assert toolglot.format_for_model(name) is not None
        assert re.fullmatch(r"[A-Za-z0-9._+-]+", name)
    assert complete.model_names("qwen3-c") == ["Qwen3-Coder"]


# -- what every command has to do


@pytest.mark.parametrize("command", READS_A_FILE, ids=" ".join)
def test_files_that_cannot_be_read(command: list[str], tmp_path: Path) -> None:
    assert "cannot read no/such: No such file or directory" in problem(*command, "no/such")
    assert "Is a directory" in problem(*command, str(tmp_path))
    latin = tmp_path / "latin1"
    latin.write_bytes("café".encode("latin-1"))
    assert "latin1 is not UTF-8" in problem(*command, str(latin))
    assert "\x1b" not in problem(*command, "\x1b[31m")
    assert "at byte 1" in problem(*command, "-", input=b"a\xff")


@pytest.mark.parametrize("command", READS_A_FILE[3:5] + READS_A_FILE[5:7] + READS_A_FILE[8:], ids=" ".join)
@pytest.mark.parametrize("text", ["", "{", "\x00", "nul", "[" * 100_000, '{"a": 1}\n{"a": 2}', "1" * 5_000])
def test_text_that_is_not_json(command: list[str], text: str) -> None:
    said = problem(*command, input=text)
    assert re.match("toolglot: standard input(?: is not JSON|: |  ?is nested too deeply)", said) or "expected" in said
    assert said.count("\n") == 1
    assert len(said) < 400


@pytest.mark.parametrize("command", READS_A_FILE, ids=" ".join)
def test_a_byte_order_mark_is_no_text(command: list[str]) -> None:
    text = (EXAMPLES / "response.json").read_bytes()
    plain = run(*command, input=text)
    marked = run(*command, input=b"\xef\xbb\xbf" + text)
    volatile = re.compile(r'"(?:id|created)": [^,]*,')
    assert marked.exit_code == plain.exit_code
    assert volatile.sub("", marked.stdout) == volatile.sub("", plain.stdout)


@pytest.mark.parametrize(
    "command",
    [["explain", "json.too_deep"], ["formats", "hermes"], ["convert", "choice", "auto", "--to", "openai"]],
    ids=" ".join,
)
def test_narrow_encoding(command: list[str]) -> None:
    shown = process(*command, PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert (shown.returncode, shown.stderr) == (0, b"")
    assert shown.stdout.isascii()


@pytest.mark.parametrize(
    "command",
    [["explain", "examples/broken.txt"], ["explain", "json.too_deep"], ["check-format", "bracket"]],
    ids=" ".join,
)
def test_color(command: list[str]) -> None:
    colored = {"FORCE_COLOR": "1", "TERM": "xterm-256color"}
    forced = process(*command, **colored).stdout.decode()
    bare = process(*command).stdout.decode()
    assert "\x1b[" in forced
    assert re.sub(r"\x1b\[[0-9;]*m", "", forced) == bare
    assert process(*command, **colored, NO_COLOR="1").stdout.decode() == bare
    assert process(*command, "--no-color", **colored).stdout.decode() == bare
