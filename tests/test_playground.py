"""The playground without a browser: what Python answers, the server on this machine, the static folder.

The page itself is driven by tests/browser.
"""

from __future__ import annotations

import json
import random
import re
import socket
import struct
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Iterator
from http.client import HTTPConnection, RemoteDisconnected
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("typer")

from typer.testing import CliRunner

import toolglot
from toolglot import golden
from toolglot.cli.app import app
from toolglot.playground import api, reading
from toolglot.playground.api import TASKS, answer
from toolglot.playground.build import CONTENT_POLICY, PACKAGE, PAGE_FILES, PYODIDE_FILES, page_file
from toolglot.playground.bytecode import compile_archive
from toolglot.playground.reading import MAX_TEXT
from toolglot.playground.samples import SAMPLES, TOOLS
from toolglot.playground.server import Playground
from toolglot.playground.spans import KINDS, runs

PAGE = Path(api.__file__).parent / "page"


def ask(do: str, **fields: Any) -> dict[str, Any]:
    answered: dict[str, Any] = json.loads(answer(json.dumps({"do": do, **fields})))
    return answered


def good(do: str, **fields: Any) -> dict[str, Any]:
    answered = ask(do, **fields)
    assert answered["ok"], answered
    return answered


def where(do: str, **fields: Any) -> str:
    answered = ask(do, **fields)
    assert not answered["ok"]
    return str(answered["problem"]["where"])


def hermes(name: str, arguments: str) -> str:
    return f'<tool_call>{{"name": "{name}", "arguments": {arguments}}}</tool_call>'


# -- samples

# What each tab holds: the format that is found, the tools called, the codes of errors.
FOUND = {
    "python": ("python", ["search"], []),
    "hermes": ("hermes", ["search", "get_weather"], []),
    "mistral": ("mistral_v13", ["search", "get_weather"], []),
    "llama": ("llama3_json", ["search"], []),
    "openai": ("json", ["search"], []),
    "xml": ("xml_invoke", ["search"], []),
    "broken": ("hermes", ["get_weather"], ["json.trailing_comma"]),
}


def test_about() -> None:
    facts = good("about")
    assert facts["version"] == toolglot.__version__
    assert [one["id"] for one in facts["formats"]] == [fmt.id for fmt in toolglot.formats()]
    assert [one["id"] for one in facts["samples"]] == list(FOUND)
    assert [one["title"] for one in facts["samples"]] == [
        "Python call", "Hermes / Qwen", "Mistral", "Llama 3", "OpenAI JSON", "XML invoke", "Broken",
    ]  # fmt: skip
    assert [one["id"] for one in facts["providers"]] == [str(one) for one in toolglot.providers()]


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.id)
def test_sample(sample: Any) -> None:
    found = good("parse", text=sample.text, format=sample.format, on_error="collect")
    calls = [call["name"] for call in found["calls"]]
    assert (found["format"], calls, [error["code"] for error in found["errors"]]) == FOUND[sample.id]
    assert {call["name"] for call in found["calls"]} <= {str(tool["name"]) for tool in TOOLS}


@pytest.mark.parametrize("format", [fmt.id for fmt in toolglot.formats()])
def test_every_format_has_a_sample(format: str) -> None:
    sample = good("sample", format=format)
    text, tools = sample["text"], json.dumps(TOOLS) if sample["tools"] else None
    found = good("parse", text=text, format=format, prompt=sample["prompt"], tools=tools)
    assert found["calls"]
    assert found["errors"] == []
    kinds = {run[2] for run in found["runs"]}
    assert "arguments" in kinds
    # (A program's format has no name in the text; a server's tool stands apart from the server.)
    assert ("name" in kinds) == (found["calls"][0]["name"].rpartition("/")[2] in text)


def test_responses_are_whole_ones_only_where_the_api_can_be_written() -> None:
    for provider in good("about")["providers"]:
        made = ask("convert", text=SAMPLES[1].text, what="response", target=provider["id"])
        assert made["ok"] == provider["responses"], provider


# -- what is asked for


def test_detection_is_that_of_the_library() -> None:
    function = {"name": "f", "arguments": '{"n": 12345678901234567890}'}
    calls = [{"id": "c", "type": "function", "function": function}]
    openai = {"choices": [{"message": {"content": None, "tool_calls": calls}}]}
    found = good("parse", text=json.dumps(openai))
    assert (found["how"], found["format"], found["runs"]) == ("response", "openai", [])
    # A page's numbers are floats: arguments are text.
    assert found["calls"][0]["arguments"] == '{\n  "n": 12345678901234567890\n}'
    assert good("parse", text=json.dumps(openai), format="response")["calls"] == found["calls"]
    assert good("parse", text='{"name": "Alice", "age": 3}')["how"] == "text"
    # Prose with parentheses is none of the calls that `parse` finds, but the two functions of plain dicts do.
    assert good("parse", text="f(a=1)")["format"] == toolglot.detect_format("f(a=1)") == "python"
    assert good("parse", text="nothing")["format"] is None


def test_options() -> None:
    broken = SAMPLES[6].text
    assert [error["code"] for error in good("parse", text=broken, on_error="raise")["errors"]] == [
        "json.trailing_comma"
    ]
    twice = broken + hermes("f", "1")
    raised = good("parse", text=twice, on_error="raise")
    assert (raised["error_count"], raised["feedback"].count("Your call")) == (1, 1)
    # What is broken is so in the text, whether it was raised or not.
    assert raised["runs"] == good("parse", text=twice, on_error="collect")["runs"]
    repaired = good("parse", text=broken, on_error="repair")
    assert [call["name"] for call in repaired["calls"]] == ["search", "get_weather"]
    assert repaired["repairs"][0]["before"] == ","
    cut = '<tool_call>{"name": "f", "arguments": {}}'
    assert good("parse", text=cut)["errors"] == []
    assert [error["code"] for error in good("parse", text=cut, cut=True)["errors"]] == ["tool_call.truncated"]
    tools = json.dumps([{"name": "searches"}])
    assert "unknown_tool" in good("parse", text=hermes("search", "{}"), tools=tools)["errors"][0]["code"]
    assert "'searches'" in good("parse", text=hermes("search", "{}"), tools=tools)["feedback"]


@pytest.mark.skipif(find_spec("jsonschema_rs") is None, reason="the extra `validate` is not installed")
def test_validation() -> None:
    assert good("about")["no_validation"] == ""
    wrong = {"text": hermes("search", '{"query": 1, "limt": 2}'), "tools": json.dumps(TOOLS)}
    assert good("parse", **wrong)["errors"] == []
    (error,) = good("parse", **wrong, validate=True)["errors"]
    assert error["code"] == "schema.violation"
    assert [line.partition(":")[0] for line in error["violations"]] == ["$.query", "$.limt"]
    assert where(
        "parse", text="", tools=json.dumps([{"name": "f", "parameters": {"type": "objct"}}]), validate=True
    ) == ("tools")


def test_validation_that_is_not_there_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "find_spec", lambda name: None)
    assert "pip install" in good("about")["no_validation"]
    monkeypatch.setattr(reading.sys, "platform", "emscripten")
    assert "toolglot playground" in good("about")["no_validation"]
    found = good("parse", text=hermes("search", '{"query": 1}'), tools=json.dumps(TOOLS), validate=True)
    assert (len(found["calls"]), found["errors"]) == (1, [])
    assert any("not validated" in note for note in found["notes"])


def test_explain() -> None:
    lines = good("explain", text='Use {"city": "Oslo"} or ping().')["lines"]
    assert lines[0].startswith('line 1, column 5: {"city"')
    assert "not in the shape of a call" in lines[0]
    assert any(line.startswith("read as") for line in good("explain", text="Action: f\nAction Input: {}")["lines"])
    assert good("explain", text="prose")["lines"] == []
    assert good("explain", text="{" * 30_000)["lines"] == []


def test_run_many() -> None:
    for sample in (SAMPLES[0], SAMPLES[6]):  # also where each run raises
        found = good("run_many", text=sample.text, times=25, on_error="raise")
        assert found["runs"] == 25
        assert found["us_each"] == pytest.approx(found["ms"] * 1000 / 25)


def test_run_many_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api, "MAX_SECONDS", 0.0001)
    assert good("run_many", text=SAMPLES[1].text, times=10_000)["runs"] < 10_000


def test_events_are_those_of_the_stream() -> None:
    text = SAMPLES[6].text
    for size in (1, 7, 1000):
        found = good("events", text=text, size=size, on_error="collect")
        assert found["deltas"] == -(-len(text) // size)
        parser = toolglot.StreamParser(on_error="collect")
        expected = []
        for number, start in enumerate(range(0, len(text), size), 1):
            expected += [(number, event.span) for event in parser.feed(text[start : start + size])]
        expected += [(found["deltas"] + 1, event.span) for event in parser.close()]
        assert [(event["delta"], tuple(event["span"])) for event in found["events"]] == expected
    assert good("events", text=text, size=4, on_error="raise")["raised"].startswith("trailing comma")
    assert good("events", text="x" * 100_000, size=1)["size"] == 100


def test_render() -> None:
    rendered = good("render", text=SAMPLES[1].text, target="mistral_v13")
    assert rendered["left_out"] == []
    back = toolglot.parse(rendered["rendered"], format="mistral_v13")
    assert [call.name for call in back.tool_calls] == ["search", "get_weather"]
    alone = good("render", text=SAMPLES[1].text, target="llama3_json")
    assert [line.partition(":")[0] for line in alone["left_out"]] == ["reasoning", "content"]
    assert where("render", text="prose", target="hermes") == "text"
    assert where("render", text=SAMPLES[1].text, target="hermess") == "target"
    assert where("render", text=hermes("f", '{"a": "<|\\"|>, b"}'), target="gemma4") == "target"


def test_convert() -> None:
    made = good("convert", text=SAMPLES[1].text, target="anthropic")
    uses = [block for block in json.loads(made["converted"])["content"] if block["type"] == "tool_use"]
    assert [block["name"] for block in uses] == ["search", "get_weather"]
    tools = good("convert", text="", what="tools", target="google", tools=json.dumps(TOOLS))
    assert [loss["code"] for loss in tools["losses"]] != []
    assert "functionDeclarations" in tools["converted"]
    whole = json.loads(good("convert", text=SAMPLES[1].text, what="response", target="openai")["converted"])
    assert toolglot.parse_response(whole).tool_calls[0].arguments == {"query": "rust async", "limit": 5}
    assert where("convert", text="", what="tools", target="openai") == "tools"
    assert where("convert", text="", target="nobody") == "target"


# -- bad requests


@pytest.mark.parametrize(
    ("request_", "field"),
    [
        ("", "request"),
        ("[" * 100_000, "request"),
        ("[]", "request"),
        ("x" * 4_000_001, "request"),
        ("{}", "do"),
        ('{"do": []}', "do"),
        ('{"do": "answer"}', "do"),
        ('{"do": "parse"}', "text"),
        ('{"do": "parse", "text": 1}', "text"),
        (json.dumps({"do": "parse", "text": "x" * (MAX_TEXT + 1)}), "text"),
        ('{"do": "parse", "text": "", "format": "no such"}', "format"),
        ('{"do": "parse", "text": "", "format": 1}', "format"),
        ('{"do": "parse", "text": "", "on_error": "ignore"}', "on_error"),
        ('{"do": "parse", "text": "", "tools": "{"}', "tools"),
        ('{"do": "parse", "text": "", "tools": "1"}', "tools"),
        ('{"do": "parse", "text": "", "tools": "[1]"}', "tools"),
        ('{"do": "parse", "text": "", "tools": [1]}', "tools"),
        (json.dumps({"do": "parse", "text": "", "tools": "[" * 50_000}), "tools"),
        ('{"do": "run_many", "text": "", "times": 0}', "times"),
        ('{"do": "run_many", "text": "", "times": true}', "times"),
        ('{"do": "run_many", "text": "", "times": 1000000}', "times"),
        ('{"do": "events", "text": "", "size": "1"}', "size"),
        ('{"do": "sample", "format": "no such"}', "format"),
        ('{"do": "convert", "text": "", "what": "all", "target": "openai"}', "what"),
    ],
)
def test_bad_request(request_: str, field: str) -> None:
    answered = json.loads(answer(request_))
    assert not answered["ok"]
    assert answered["problem"]["where"] == field
    assert 0 < len(answered["problem"]["message"]) < 400


HOSTILE = [
    "\x00" * 100,
    "\ud800 and \udfff " + hermes("f", '{"a": "\\ud800"}'),
    "\U0001f600" + hermes("\U0001f600", '{"\U0001f600": "\U0001f600"}'),
    hermes("f", '{"a": ' + "[" * 600 + "]" * 600 + "}"),
    hermes("f", '{"a": ' + "[" * 505 + "]" * 505 + "}"),
    hermes("name", '{"name": "name"}'),
    "<tool_call>" * 10_000,
    "f(" * 20_000,
    '{"a":' * 20_000,
    hermes("f", "{}") * 3_000,
    hermes("f", '{"a": ' + "9" * 4300 + "}"),
    "\r\n".join(["<think>", hermes("f", "{}"), "</think>"]),
]


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: ascii(text[:20]))
def test_hostile_text_is_answered(text: str) -> None:
    for do in TASKS:
        answered = answer(
            json.dumps({"do": do, "text": text, "format": None, "times": 1, "size": 1000, "target": "hermes"})
        )
        assert answered.isascii()
        assert isinstance(json.loads(answered)["ok"], bool)


def test_random_requests_are_answered() -> None:
    random_ = random.Random(7)
    values: list[Any] = [None, True, 0, -1, 1.5, "", "hermes", "[]", [], {}, ["x"], {"text": "x"}, "\ud800"]
    for _ in range(2_000):
        fields = {name: random_.choice(values) for name in ("text", "format", "tools", "on_error", "size", "times")}
        fields |= {name: random_.choice(values) for name in ("target", "what", "validate", "cut", "prompt")}
        assert isinstance(ask(random_.choice([*TASKS, "x"]), **fields)["ok"], bool)


# -- runs


@pytest.mark.parametrize("format", golden.folders())
def test_runs_tile_the_text(format: str) -> None:
    for case in golden.load_folder(golden.FOLDER / format):
        message = toolglot.parse(case.text, format=case.format, **{**case.options, "on_error": "collect"})
        found = runs(case.text, message, list(message.errors))
        at = 0
        for start, end, kind, _ in found:
            assert start == at, case
            assert end > start or kind == "at", case
            assert kind in KINDS
            at = end
        assert at == len(case.text), case
        # What stands in a run of content, of a name, of arguments is that of the message.
        said = "".join(case.text[start:end] for start, end, kind, _ in found if kind == "content")
        assert said == "".join(part.text for part in message.parts if isinstance(part, toolglot.TextPart)), case
        names = {call: case.text[start:end] for start, end, kind, call in found if kind == "name"}
        raws = {call: case.text[start:end] for start, end, kind, call in found if kind == "arguments"}
        for call in message.tool_calls:
            assert names.get(call.index, call.name) in (call.name, call.name.rpartition("/")[2]), case
            raw = call.raw_arguments or call.input
            assert raws.get(call.index, raw) == raw, case


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (hermes("name", '{"name": "name"}'), (21, 25)),
        ('<tool_call>{"arguments": {"name": "f"}, "name": "f"}</tool_call>', (49, 50)),
        ('<invoke name="name"><parameter name="a">1</parameter></invoke>', (14, 18)),
        ("<tool_call>\n<function=function>\n</function>\n</tool_call>", (22, 30)),
        ('\U0001f600<tool_call>{"name": "f", "arguments": {}}</tool_call>', (22, 23)),
    ],
)
def test_where_a_name_stands(text: str, name: tuple[int, int]) -> None:
    found = good("parse", text=text)["runs"]
    assert [(start, end) for start, end, kind, _ in found if kind == "name"] == [name]


def test_the_place_of_an_error_is_a_run_of_its_own() -> None:
    text = "\U0001f600" + hermes("f", '{"a": 1,}')
    (error,) = good("parse", text=text)["errors"]
    (at,) = [run for run in good("parse", text=text)["runs"] if run[2] == "at"]
    assert at[:2] == [error["position"], error["position"] + 1]
    assert text[at[0]] == "}"
    cut = '<tool_call>{"name": "f", "arguments": {"a": '
    assert good("parse", text=cut)["runs"][-1] == [len(cut), len(cut), "at", 0]


# -- the page's files


def test_page_makes_no_html_of_a_text_and_names_no_address() -> None:
    assert sorted(path.name for path in PAGE.iterdir()) == sorted(PAGE_FILES)
    for name in PAGE_FILES:
        text = (PAGE / name).read_text("utf-8")
        for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function(", "srcdoc"):
            assert word not in text, (name, word)
        assert "//" not in re.sub(r"(^|\s)//\s.*", "", text, flags=re.MULTILINE), name
        assert not re.search(r"\sstyle=|\son\w+=|javascript:", text), name


def test_policy_in_the_page_is_the_one_of_the_server() -> None:
    page = (PAGE / "index.html").read_text("utf-8")
    assert f'<meta http-equiv="Content-Security-Policy" content="{CONTENT_POLICY}">' in page
    assert "unsafe-inline" not in CONTENT_POLICY
    assert "'unsafe-eval'" not in CONTENT_POLICY


def test_backend_is_named_in_the_page() -> None:
    assert b'data-backend="local"' in page_file("index.html", "local")
    assert b'data-backend="pyodide"' in page_file("index.html", "pyodide")


# -- the server


@pytest.fixture(scope="module")
def server() -> Iterator[Playground]:
    with Playground() as made:
        thread = threading.Thread(target=made.serve_forever, daemon=True)
        thread.start()
        yield made
        made.shutdown()
        thread.join()


def sent(
    server: Playground, method: str, path: str, body: bytes | None = None, **headers: str
) -> tuple[int, dict[str, str], bytes]:
    connection = HTTPConnection(*server.server_address[:2], timeout=30)  # type: ignore[misc]
    try:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, body=body, headers=named)
        response = connection.getresponse()
        return response.status, {name.lower(): value for name, value in response.getheaders()}, response.read()
    finally:
        connection.close()


JSON = {"Content_Type": "application/json"}


def test_server_is_for_this_machine_only(server: Playground) -> None:
    assert server.server_address[0] == "127.0.0.1"


@pytest.mark.parametrize("name", PAGE_FILES)
def test_server_gives_the_page(server: Playground, name: str) -> None:
    status, headers, body = sent(server, "GET", f"/{name}")
    assert (status, headers["content-type"], body) == (200, PAGE_FILES[name], (PAGE / name).read_bytes())
    assert headers["content-security-policy"].startswith(CONTENT_POLICY)
    assert headers["x-content-type-options"] == "nosniff"
    assert not [header for header in headers if header.startswith("access-control")]


def test_server_answers(server: Playground) -> None:
    status, headers, body = sent(server, "POST", "/api", b'{"do": "parse", "text": "hi"}', **JSON)
    assert (status, headers["content-type"]) == (200, "application/json")
    assert json.loads(body)["content"] == "hi"
    # One connection for several requests, as a browser has it.
    connection = HTTPConnection(*server.server_address[:2], timeout=30)  # type: ignore[misc]
    for text in ("one", "two"):
        request = json.dumps({"do": "parse", "text": text})
        connection.request("POST", "/api", request, {"Content-Type": "application/json"})
        assert json.loads(connection.getresponse().read())["content"] == text
    connection.close()


@pytest.mark.parametrize("path", ["/api", "/../server.py", "/%2e%2e/server.py", "//index.html/..", "/page/index.html"])
def test_server_has_nothing_else(server: Playground, path: str) -> None:
    assert sent(server, "GET", path)[0] == 404


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "evil.example:{port}", "localhost.evil:{port}"]
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_server_refuses_other_hosts(server: Playground, method: str, host: str) -> None:
    host = host.format(port=server.server_address[1])
    assert sent(server, method, "/", b"{}", Host=host, **JSON)[0] == 421


def test_server_knows_its_names(server: Playground) -> None:
    port = server.server_address[1]
    for host in (f"127.0.0.1:{port}", f"localhost:{port}", f"LOCALHOST:{port}"):
        assert sent(server, "GET", "/", Host=host)[0] == 200


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({**JSON, "Origin": "http://evil.example"}, 403),
        ({**JSON, "Origin": "null"}, 403),
        ({"Content_Type": "text/plain"}, 415),
        ({"Content_Type": "application/x-www-form-urlencoded"}, 415),
        ({}, 415),
        ({**JSON, "Content_Length": "-1"}, 411),
        ({**JSON, "Content_Length": "x"}, 411),
        ({**JSON, "Content_Length": "99999999"}, 413),
        ({**JSON, "Content_Length": "9" * 5000}, 413),
        ({**JSON, "Transfer_Encoding": "chunked"}, 411),
        ({**JSON, "Transfer_Encoding": "chunked", "Content_Length": "15"}, 411),
    ],
)
def test_server_refuses(server: Playground, headers: dict[str, str], status: int) -> None:
    assert sent(server, "POST", "/api", b'{"do": "about"}', **headers)[0] == status


def test_server_refuses_what_is_no_utf8(server: Playground) -> None:
    assert sent(server, "POST", "/api", b"\xff", **JSON)[0] == 400


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "HEAD"])
def test_server_knows_no_other_method(server: Playground, method: str) -> None:
    assert sent(server, method, "/api")[0] == 501


def test_server_goes_on_when_a_client_leaves(server: Playground) -> None:
    for said in (b"POST /api HTTP/1.1\r\n", b"\x00\xff\r\n\r\n", b"GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n"):
        with socket.create_connection(server.server_address[:2]) as client:  # type: ignore[arg-type]
            client.sendall(said)
    assert sent(server, "GET", "/")[0] == 200


@pytest.mark.parametrize(
    "said",
    [
        b"POST /api",
        b"POST /api HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{",
    ],
    ids=["request line", "body"],
)
def test_client_that_breaks_off_is_no_news(said: bytes, server: Playground, capfd: pytest.CaptureFixture[str]) -> None:
    before = threading.active_count()
    client = socket.create_connection(server.server_address[:2])  # type: ignore[arg-type]
    client.sendall(said.replace(b"{host}", server.hosts[0].encode()))
    until = time.monotonic() + 10
    while threading.active_count() == before and time.monotonic() < until:
        time.sleep(0.01)
    # A reset: whoever reads gets an error, not the end.
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    client.close()
    while threading.active_count() > before and time.monotonic() < until:
        time.sleep(0.01)
    assert sent(server, "GET", "/")[0] == 200
    assert capfd.readouterr() == ("", "")


def test_mistake_of_ours_is_shown(
    server: Playground, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(TASKS, "about", lambda asked: {"ratio": 1 / 0})
    with pytest.raises(RemoteDisconnected):
        sent(server, "POST", "/api", b'{"do": "about"}', **JSON)
    assert "ZeroDivisionError" in capfd.readouterr().err


# -- the folder, and the command


@pytest.fixture
def pyodide(tmp_path: Path) -> Path:
    """What stands for the folder of npm's package: its files' names."""
    folder = tmp_path / "npm"
    folder.mkdir()
    for name in PYODIDE_FILES:
        (folder / name).write_text(name)
    return folder


def test_build(tmp_path: Path, pyodide: Path) -> None:
    result = CliRunner().invoke(app, ["playground", "--build", str(tmp_path / "site"), "--pyodide", str(pyodide)])
    assert (result.exit_code, result.stdout.split()[0]) == (0, str(len(PAGE_FILES) + 1 + len(PYODIDE_FILES)))
    assert "starts more slowly" in result.stderr  # there is no Pyodide that could compile
    site = tmp_path / "site"
    made = {path.relative_to(site).as_posix() for path in site.rglob("*") if path.is_file()}
    assert made == {*PAGE_FILES, PACKAGE, *(f"pyodide/{name}" for name in PYODIDE_FILES)}
    assert b'data-backend="pyodide"' in (site / "index.html").read_bytes()
    with zipfile.ZipFile(site / PACKAGE) as archive:
        names = archive.namelist()
        assert "toolglot/playground/api.py" in names
        assert "toolglot/formats/prompts/" + next((PAGE.parents[1] / "formats/prompts").iterdir()).name in names
        assert not [name for name in names if "__pycache__" in name or "playground/page" in name]
        assert archive.testzip() is None
    # Twice is the same, byte for byte.
    before = (site / PACKAGE).read_bytes()
    again = CliRunner().invoke(app, ["playground", "--build", str(site), "--pyodide", str(pyodide)])
    assert (again.exit_code, (site / PACKAGE).read_bytes()) == (0, before)


@pytest.mark.parametrize("imported", [True, False])
def test_archive_with_bytecode(tmp_path: Path, imported: bool) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("package/__init__.py", "from .inner import value")
        archive.writestr("package/inner.py", "value = 42")
        archive.writestr("package/data.txt", "data")
        archive.writestr("package/wrong.py", "def:")
    compile_archive(path, imported=imported)
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        archive.extractall(tmp_path)
    assert {"package/data.txt", "package/wrong.py"} <= set(names)
    assert ("package/inner.py" in names) == (not imported)
    assert len([name for name in names if name.endswith(".pyc")]) == 2
    place = path if imported else tmp_path
    # Bytecode is taken as it is: what stands beside it is not looked at.
    (tmp_path / "package" / "inner.py").write_text("value = 0")
    code = "import sys; sys.path.insert(0, sys.argv[1]); import package; print(package.value)"
    result = subprocess.run([sys.executable, "-c", code, str(place)], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "42"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--build", "{tmp}/site"], "npm install pyodide"),
        (["--build", "{tmp}/site", "--pyodide", "{tmp}"], "it has no pyodide.mjs"),
        (["--build", "{tmp}/npm/pyodide.mjs", "--pyodide", "{tmp}/npm"], "cannot write"),
        (["--pyodide", "{tmp}/npm"], "--pyodide is for --build"),
    ],
)
def test_command_that_cannot_be_carried_out(tmp_path: Path, pyodide: Path, arguments: list[str], said: str) -> None:
    result = CliRunner().invoke(app, ["playground", *(one.format(tmp=tmp_path) for one in arguments)])
    assert result.exit_code == 2
    assert said in result.output


def test_port_that_is_taken(server: Playground) -> None:
    result = CliRunner().invoke(app, ["playground", "--port", str(server.server_address[1])])
    assert result.exit_code == 2
    assert "--port" in result.output


def test_command_serves(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []

    def stop(self: Playground) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Playground, "serve_forever", stop)
    monkeypatch.setattr("toolglot.cli.playground.webbrowser.open", opened.append)
    result = CliRunner().invoke(app, ["playground", "--port", "0", "--browser"])
    assert result.exit_code == 0
    assert opened == re.findall(r"http://127\.0\.0\.1:\d+/", result.output)
