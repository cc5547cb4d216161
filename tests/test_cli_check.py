"""``toolglot check-history`` and ``toolglot check-format``."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("typer")

import toolglot
from test_cli import HOSTILE, TOOLS, problem, process, run, run_json
from turns import FOLDER as HISTORIES

# -- histories

FAULTS = [
    (path.stem, fault)
    for path in sorted(HISTORIES.glob("*.json"))
    for fault in json.loads(path.read_text("utf-8"))["faults"]
]


def provider_of(wire: str, data: dict[str, Any]) -> str:
    by_wire = {provider.wire_format.value: provider.value for provider in reversed(toolglot.providers())}
    return data.get("provider") or by_wire[wire]


@pytest.mark.parametrize(
    ("wire", "fault"), FAULTS, ids=lambda value: value if isinstance(value, str) else value["name"]
)
def test_recorded_faults(wire: str, fault: dict[str, Any], tmp_path: Path) -> None:
    """Each rule of each API, broken once, is said."""
    owner = provider_of(wire, fault)
    options: tuple[str, ...] = ()
    if fault.get("tools"):
        file = tmp_path / "tools.json"
        file.write_text(json.dumps(fault["tools"]), "utf-8")
        options = ("--tools", str(file))
    expected = toolglot.check_messages(fault["messages"], owner, tools=fault.get("tools") or None)
    text = json.dumps(fault["messages"])
    status = 1 if expected else 0
    found = run_json("check-history", "--provider", owner, *options, input=text, status=status)
    assert found["provider"] == owner
    assert found["problems"] == [
        {"code": one.code, "path": one.path, "detail": one.detail, "rule": one.rule} for one in expected
    ]


def test_what_a_person_sees() -> None:
    text = '[{"role": "tool", "tool_call_id": "c1", "content": "x"}]'
    (found,) = toolglot.check_messages(json.loads(text), "openai")
    shown = run("check-history", "--provider", "openai", input=text)
    assert shown.exit_code == 1
    assert shown.stdout.splitlines() == [
        "problem  history.orphan_result  $[0]",
        f"  {found.detail}",
        f"  the API says: {found.rule}",
        "",
        "1 problem (openai)",
    ]


def test_nothing_is_refused() -> None:
    text = '[{"role": "user", "content": "Hi"}]'
    shown = run("check-history", input=text)  # whose it is shows
    assert (shown.exit_code, shown.stdout) == (0, "nothing that the API would refuse (openai)\n")


def test_what_is_not_known_is_not_passed_over() -> None:
    text = '[{"role": "user", "content": "Hi"}, {"role": "critic", "content": "x"}]'
    shown = run("check-history", "--provider", "groq", input=text)
    assert "not checked  $[1]: it is not known as a message of groq\n" in shown.stdout
    assert shown.stdout.endswith("\nnothing that the API would refuse, 1 not checked (groq)\n")
    found = run_json("check-history", "--provider", "groq", input=text)
    assert [(loss["code"], loss["path"]) for loss in found["losses"]] == [("loss.unread", "$[1]")]


def test_wrong_histories() -> None:
    assert "expected a list of messages" in problem("check-history", "--provider", "openai", input='{"a": 1}')
    assert "it does not show whose messages" in problem("check-history", input="[3]")
    assert "is not JSON" in problem("check-history", input="{")
    assert "no provider is called 'x'" in problem("check-history", "--provider", "x", input="[]")
    assert "cannot both be" in problem("check-history", "--tools", "-", input="[]")
    assert "cannot read" in problem("check-history", "no/such")
    shown = run("check-history", "--provider", "openai", "--tools", TOOLS, input=json.dumps([{HOSTILE: HOSTILE}]))
    assert not any(char in shown.output for char in "\x1b\x9b\x07\r\x00\u202e\u2066")


# -- formats

HEAD = "from toolglot import Format, register_format\nfrom toolglot.pattern import *\n"
ANGLES = """FORMAT = Format(
    call("<<call ", name(), ">>", ws(), arguments("json"), ws(), "<</call>>"), before=("\\n",), between="\\n",
    title="between angles", source="these tests")
"""


def check(path: Path, text: str, *args: str) -> subprocess.CompletedProcess[bytes]:
    """In a process of its own: a format that is checked is registered."""
    path.write_text(text, "utf-8")
    return process("check-format", str(path), *args)


def case(folder: Path, name: str, text: str, calls: list[dict[str, Any]], **more: Any) -> None:
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.txt").write_text(text, "utf-8")
    sheet = {"tags": ["single"], "source": "these tests", "detect": True, "render": True, "content": None}
    sheet |= {"reasoning": None, "calls": calls, "errors": [], **more}
    (folder / f"{name}.json").write_text(json.dumps(sheet), "utf-8")


PING = '<<call ping>>{"a": 1}<</call>>'


@pytest.mark.parametrize("head", [HEAD, "from ..format import Format\nfrom ..pattern import *\n"])
def test_own_format(tmp_path: Path, head: str) -> None:
    done = check(tmp_path / "angles.py", head + ANGLES)
    assert (done.returncode, done.stderr) == (0, b"")
    rows = done.stdout.decode().splitlines()
    assert rows[0].split() == ["format", "angles"]
    assert [row.split() for row in rows[1:7]] == [
        [check, "right"] for check in ("declaration", "render", "parse", "stream", "detect", "neighbours")
    ]
    assert "  write golden cases (--cases FOLDER): " in done.stdout.decode()
    assert rows[-1] == "nothing is wrong"


def test_own_format_with_cases(tmp_path: Path) -> None:
    """The folder beside the file, a folder that is named, and the one in it with the format's id."""
    case(tmp_path / "angles", "single", PING, [{"name": "ping", "arguments": {"a": 1}}])
    case(tmp_path / "angles", "wrong", PING, [{"name": "ping", "arguments": {"a": 2}}])
    for args in ((), ("--cases", str(tmp_path)), ("--cases", str(tmp_path / "angles"))):
        done = check(tmp_path / "angles.py", HEAD + ANGLES, *args)
        assert done.returncode == 1
        shown = done.stdout.decode()
        assert "golden cases, parse       1 of 2\n" in shown
        assert "  angles/wrong, parse: calls: expected [('ping', " in shown
        assert "no golden case has the tag hostile or truncated or malformed" in shown
        assert shown.endswith("to be mended\n")
    found = json.loads(check(tmp_path / "angles.py", HEAD + ANGLES, "--json").stdout)
    assert (found["id"], found["checks"]["golden cases, parse"], len(found["wrong"])) == ("angles", "1 of 2", 2)
    (tmp_path / "angles" / "lonely.txt").write_text("x", "utf-8")
    done = check(tmp_path / "angles.py", HEAD + ANGLES)
    assert (done.returncode, b"lonely.txt has no lonely.json beside it" in done.stdout) == (1, True)


@pytest.mark.parametrize(
    ("text", "status", "words"),
    [
        # What stands in the file cannot be run, or declares nothing.
        ("x = (", 2, "own.py, line 1: SyntaxError: '(' was never closed"),
        ("import no_such_module", 2, "own.py, line 1: ModuleNotFoundError: No module named 'no_such_module'"),
        ("\n\n1 / 0", 2, "own.py, line 3: ZeroDivisionError: division by zero"),
        ("x = 3", 2, "declares no format: it needs FORMAT = Format(...)"),
        (HEAD + "a = Format(call('<a>', call_object()))\nb = Format(call('<b>', call_object()))", 2, "call the one"),
        # The declaration is wrong: the message names the part.
        (HEAD + "FORMAT = Format(call('<a>', arguments('json')))", 2, "line 3: format '?': pattern[0] call: nothing"),
        (HEAD + "FORMAT = Format(call('<a>', nam()))", 2, "line 3: NameError: name 'nam' is not defined"),
        (HEAD + "FORMAT = Format(call('<a>', call_object()), id='hermes')", 1, "'hermes' is the id of a format that"),
        (HEAD + "FORMAT = Format(call('<a>', call_object()), aliases=('hermes_json',))", 1, "taken by 'hermes'"),
        # It declares something else than was meant.
        (HEAD + "FORMAT = Format(call('<tool_call>', call_object(), '</tool_call>'))", 0, "the same calls, by hermes"),
        (
            HEAD + "FORMAT = Format(call('<tool_call>', name(), arguments('json')), parse_only=True)",
            0,
            "it is only read",
        ),
        (HEAD + "FORMAT = Format(call('<a>', call_object(), '</a>'), detect=False)", 0, "it has to be named"),
        (HEAD + "register_format(Format(call('<a>', call_object(), '</a>'), id='mine'))", 0, "mine"),
    ],
)
def test_what_a_newcomer_must_mend(tmp_path: Path, text: str, status: int, words: str) -> None:
    done = check(tmp_path / "own.py", text)
    assert (done.returncode, b"Traceback" in done.stderr) == (status, False)
    assert words in (done.stdout + done.stderr).decode()


def test_a_format_that_takes_what_others_write(tmp_path: Path) -> None:
    text = (
        HEAD + "FORMAT = Format(call('[TOOL_CALL]name=', name(), ';args=', arguments('json'), '[/TOOL_CALL]'), rank=1)"
    )
    done = check(tmp_path / "own.py", text)
    assert done.returncode == 1
    assert b"neighbours: without a format's name it takes calls of bracket" in done.stdout


@pytest.mark.parametrize("name", ["bracket", "vllm:qwen3_xml", "src/toolglot/formats/xml_invoke.py"])
def test_a_format_of_ours(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path(__file__).parent.parent)
    found = run_json("check-format", name)
    assert (found["wrong"], found["advised"]) == ([], [])
    passed, _, of = found["checks"]["golden cases, parse"].partition(" of ")
    assert passed == of != "0"
    assert run("check-format", name).stdout.endswith("\nnothing is wrong\n")


def test_wrong_use(tmp_path: Path) -> None:
    assert "definition.unknown_format" in problem("check-format", "no-such")
    assert "there is no such file" in problem("check-format", "no-such.py")
    assert "is no Python file" in problem("check-format", TOOLS)
    assert "no/such is not a folder" in problem("check-format", "hermes", "--cases", "no/such")
    assert "Usage: " in problem("check-format")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("class Own(Exception): pass\nraise Own('x')", "line 2: Own: x"),
        ("import sys\nsys.exit(0)", "line 2: SystemExit: 0"),
        ("def f(): f()\nf()", "RecursionError"),
        ("\0", "SyntaxError"),
    ],
)
def test_a_file_may_raise_anything(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "own.py").write_text(text, "utf-8")
    result = run("check-format", str(tmp_path / "own.py"))
    assert result.exit_code == 2
    assert said in result.stderr


def test_what_a_file_prints_is_no_part_of_the_report(tmp_path: Path) -> None:
    text = (Path(__file__).parent.parent / "examples" / "angles.py").read_text("utf-8")
    (tmp_path / "printed.py").write_text(text.replace("angles", "printed") + "\nprint('hello')\n", "utf-8")
    result = run("check-format", str(tmp_path / "printed.py"), "--json")
    assert json.loads(result.stdout)["id"] == "printed"
    assert result.stderr == "hello\n"


def test_a_role_that_the_api_does_not_have() -> None:
    """It is a problem, and not said a second time as not checked."""
    history = json.dumps([{"role": "user", "content": "Hi"}, {"role": "tool", "tool_call_id": "a", "content": "1"}])
    result = run("check-history", "--provider", "anthropic", "--json", input=history)
    found = json.loads(result.stdout)
    assert result.exit_code == 1
    assert [(one["code"], one["path"]) for one in found["problems"]] == [("history.unknown_role", "$[1]")]
    assert found["losses"] == []
