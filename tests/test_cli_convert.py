"""``toolglot convert``: what it writes is what the Python functions write, losses and errors included."""

from __future__ import annotations

import json
from typing import Any

import pytest

pytest.importorskip("typer")

import toolglot
from payloads import cases as payload_cases
from payloads import result as payload_result
from test_cli import EXAMPLES, HOSTILE, problem, run, run_json
from toolglot.cli.data import call_data
from turns import FOLDER as HISTORIES

WRITTEN = [each for each in toolglot.providers() if toolglot.get_provider(each).writer_module]
ASKED = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}]
CALL = {"id": "call_1", "type": "function", "function": {"name": "ping", "arguments": "{}"}}
CALLED = {"role": "assistant", "content": None, "tool_calls": [CALL]}
RESULT = {"role": "tool", "tool_call_id": "call_1", "content": "pong"}


def said(losses: Any) -> list[tuple[str, str]]:
    return [(loss["code"], loss["path"]) if isinstance(loss, dict) else (loss.code, loss.path) for loss in losses]


# -- choices


@pytest.mark.parametrize("provider", toolglot.providers(), ids=str)
@pytest.mark.parametrize("choice", ["auto", "none", "required", "get_weather", '{"type": "any"}', '["a", "b"]'])
def test_choice(provider: toolglot.Provider, choice: str) -> None:
    value = json.loads(choice) if choice[0] in "{[" else choice
    expected = toolglot.get_provider(provider).tool_choice(value)
    result = run("convert", "choice", choice, "--to", provider.value)
    assert (result.exit_code, json.loads(result.stdout)) == (0, expected)
    assert result.stderr.count("lost: ") == len(expected.losses)
    strict = run("convert", "choice", choice, "--to", provider.value, "--strict")
    assert (strict.exit_code, strict.stdout == "") == ((1, True) if expected.losses else (0, False))
    assert run_json("convert", "choice", "-", "--to", provider.value, input=choice + "\n") == {
        "type": "choice",
        "provider": provider.value,
        "choice": expected,
        "losses": [{"code": loss.code, "path": loss.path, "detail": loss.detail} for loss in expected.losses],
    }


def test_wrong_choices() -> None:
    assert "the choice is not JSON" in problem("convert", "choice", "{", "--to", "openai")
    assert "expected 'auto', 'none'" in problem("convert", "choice", '{"x": 1}', "--to", "openai")
    assert "no provider is called 'nobody'" in problem("convert", "choice", "auto", "--to", "nobody")
    assert "Usage: " in problem("convert", "choice", "auto")


# -- results

RESULTS = [case for case in payload_cases() if "results" in case.data]
PLAIN = [
    case
    for case in RESULTS
    if "provider" not in case.data and not any(isinstance(item["content"], list) for item in case.data["results"])
]


@pytest.mark.parametrize("case", PLAIN, ids=lambda case: f"{case.wire}/{case.name}")
def test_results(case: Any, tmp_path: Any) -> None:
    """The recorded cases of every API, by the command line."""
    provider = toolglot.providers()[[p.wire_format.value for p in toolglot.providers()].index(case.wire)]
    calls = [
        toolglot.ToolCall(**{k: v for k, v in call.items() if k != "extra"}) for call in case.data.get("calls", [])
    ]
    results = [payload_result(item) for item in case.data["results"]]
    expected = toolglot.get_provider(provider).results(results, calls or None)
    options: tuple[str, ...] = ()
    if calls:
        file = tmp_path / "calls.json"
        file.write_text(json.dumps([call_data(call) for call in calls]), "utf-8")
        options = ("--calls", str(file))
    found = run_json("convert", "results", "--to", provider.value, *options, input=json.dumps(case.data["results"]))
    assert found["results"] == expected
    assert said(found["losses"]) == said(expected.losses)


def test_some_results_are_tested() -> None:
    assert len({case.wire for case in PLAIN}) >= 5


def test_results_of_an_api() -> None:
    """As another API has them, with the calls before them or without; whose they are shows."""
    for messages in ([CALLED, RESULT], [RESULT], RESULT):
        text = json.dumps(messages)
        (block,) = json.loads(run("convert", "results", "--to", "anthropic", input=text).stdout)["content"]
        assert block == {"type": "tool_result", "tool_use_id": "call_1", "content": "pong", "is_error": False}
    # Gemini wants the tool's name, which the calls have.
    refused = run("convert", "results", "--to", "google", input=json.dumps([RESULT]))
    assert (refused.exit_code, refused.stdout, "conversion.missing_name" in refused.stderr) == (1, "", True)
    (part,) = json.loads(run("convert", "results", "--to", "google", input=json.dumps([CALLED, RESULT])).stdout)[
        "parts"
    ]
    assert part["functionResponse"]["name"] == "ping"
    found = run_json("convert", "results", "--to", "google", input=json.dumps([RESULT]), status=1)
    assert (found["results"], found["error"]["code"]) == (None, "conversion.missing_name")


def test_result_of_mcp() -> None:
    text = json.dumps({"jsonrpc": "2.0", "id": 7, "result": {"content": [{"type": "text", "text": "4 C"}]}})
    (written,) = json.loads(run("convert", "results", "--from", "mcp", "--to", "openai", input=text).stdout)
    assert (written["role"], written["content"]) == ("tool", "4 C")


def test_calls_of_a_response(tmp_path: Any) -> None:
    results = tmp_path / "results.json"
    results.write_text(json.dumps({"tool_call_id": "toolu_01B", "content": {"c": 4}}), "utf-8")
    options = ("--to", "google", "--calls", str(EXAMPLES / "response.json"))
    result = run("convert", "results", str(results), *options)
    assert json.loads(result.stdout)["parts"][0]["functionResponse"]["name"] == "get_weather"
    assert "toolu_01A) has no result (loss.result_missing)" in result.stderr
    strict = run("convert", "results", str(results), *options, "--strict")
    assert (strict.exit_code, strict.stdout) == (1, "")
    assert "cannot both be standard input" in problem(
        "convert", "results", "--to", "google", "--calls", "-", input="[]"
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "is not JSON"),
        ("3", "expected a list of messages or a request, got int"),
        ("[3]", "it does not show"),
        ('[{"role": "user", "content": "Hi"}]', "these are no results"),
        ('{"content": "x", "is_error": 1}', "[0].is_error: expected true or false, got int"),
        ('{"content": "x", "tool_call_id": 1}', "[0]: tool_call_id: expected a text or null, got int"),
        ('[{"content": "x"}, {"tool_call_id": "a"}]', "it does not show whose"),
    ],
)
def test_wrong_results(text: str, words: str) -> None:
    assert words in problem("convert", "results", "--to", "openai", input=text)


# -- responses


@pytest.mark.parametrize("provider", WRITTEN, ids=str)
def test_response(provider: toolglot.Provider) -> None:
    """The calls, text and reasoning of one API's response are read again from the other's."""
    source = (EXAMPLES / "response.json").read_bytes()
    before = toolglot.parse_response(source)
    result = run("convert", "response", str(EXAMPLES / "response.json"), "--to", provider.value)
    assert result.exit_code == 0
    after = toolglot.parse_response(result.stdout, provider)
    assert (after.tool_calls, after.content) == (before.tool_calls, before.content)
    assert json.loads(result.stdout)["model"] == json.loads(source)["model"]
    assert after.reasoning == before.reasoning or "(loss.reasoning)" in result.stderr
    found = run_json("convert", "response", str(EXAMPLES / "response.json"), "--to", provider.value)
    assert found["response"]["model"] == json.loads(source)["model"]
    assert len(found["losses"]) == result.stderr.count("lost: ")


def test_text_as_a_response() -> None:
    """What a server does that has a model's text and speaks an API."""
    text = (EXAMPLES / "hermes.txt").read_text("utf-8")
    result = run("convert", "response", str(EXAMPLES / "hermes.txt"), "--to", "openai", "--model", "m")
    found = toolglot.parse_response(result.stdout)
    assert [(c.name, c.arguments) for c in found.tool_calls] == [
        (c.name, c.arguments) for c in toolglot.parse(text).tool_calls
    ]
    assert all(call.id for call in found.tool_calls)
    assert json.loads(result.stdout)["model"] == "m"
    named = run("convert", "response", "--format", "react", "--to", "openai", str(EXAMPLES / "react.txt"))
    assert toolglot.parse_response(named.stdout).tool_calls[0].name == "get_weather"


def test_responses_that_cannot_be_written() -> None:
    said = problem("convert", "response", str(EXAMPLES / "response.json"), "--to", "google")
    assert "responses of google are read and not written; written are those of anthropic, openai_chat" in said
    broken = run("convert", "response", str(EXAMPLES / "broken.txt"), "--to", "openai")
    assert (broken.exit_code, broken.stdout, "json.trailing_comma" in broken.stderr) == (1, "", True)
    found = run_json("convert", "response", str(EXAMPLES / "broken.txt"), "--to", "openai", status=1)
    assert (found["response"], found["errors"][0]["code"]) == (None, "json.trailing_comma")
    options = ("--from", "openai", "--format", "hermes")
    assert "--from reads a response" in problem("convert", "response", "--to", "openai", *options, input="x")


# -- histories


@pytest.mark.parametrize("target", toolglot.providers(), ids=str)
def test_messages(target: toolglot.Provider) -> None:
    expected = toolglot.convert_messages([*ASKED, CALLED, RESULT], "openai", target)
    result = run("convert", "messages", "--to", target.value, input=json.dumps([*ASKED, CALLED, RESULT]))
    assert (result.exit_code, json.loads(result.stdout)) == (0, expected)
    assert result.stderr.count("lost: ") == len(expected.losses)


@pytest.mark.parametrize("path", sorted(HISTORIES.glob("*.json")), ids=lambda path: path.stem)
def test_recorded_histories(path: Any) -> None:
    """Every API's own history, with whatever it has, to another's."""
    data = json.loads(path.read_text("utf-8"))
    by_wire = {provider.wire_format.value: provider for provider in reversed(toolglot.providers())}
    source = data.get("provider") or by_wire[path.stem].value
    target = "openai" if path.stem != "openai_chat" else "anthropic"
    expected = toolglot.convert_messages(data["history"], source, target)
    found = run_json("convert", "messages", "--from", source, "--to", target, input=json.dumps(data["history"]))
    assert found["messages"] == json.loads(json.dumps(expected))
    assert said(found["losses"]) == said(expected.losses)
    strict = run("convert", "messages", "--from", source, "--to", target, "--strict", input=json.dumps(data["history"]))
    assert strict.exit_code == (1 if expected.losses else 0)
    assert (strict.stdout == "") == bool(expected.losses)


def test_repaired_messages() -> None:
    text = json.dumps([*ASKED, CALLED, {"role": "user", "content": "And?"}])
    expected = toolglot.convert_messages(json.loads(text), "openai", "anthropic", repair=True)
    assert expected.repairs
    result = run("convert", "messages", "--from", "openai", "--to", "anthropic", "--repair", input=text)
    assert json.loads(result.stdout) == expected
    assert result.stderr.count("mended: ") == len(expected.repairs)
    found = run_json("convert", "messages", "--from", "openai", "--to", "anthropic", "--repair", input=text)
    assert [one["code"] for one in found["repairs"]] == [one.code for one in expected.repairs]


def test_wrong_messages() -> None:
    assert "expected a list of messages or a request, got int" in problem(
        "convert", "messages", "--to", "openai", input="3"
    )
    assert "say it with --from PROVIDER" in problem("convert", "messages", "--to", "openai", input="[3]")
    assert "is not JSON" in problem("convert", "messages", "--to", "openai", input="{")
    assert "no provider is called 'x'" in problem("convert", "messages", "--from", "x", "--to", "openai", input="[]")


def test_hostile_values() -> None:
    for args, value in (
        (("choice", "-"), HOSTILE.strip()),
        (("messages",), json.dumps([{"role": HOSTILE, "content": HOSTILE, HOSTILE: HOSTILE}])),
        (("results",), json.dumps({"tool_call_id": HOSTILE, "content": HOSTILE})),
        (("tools",), json.dumps([{"name": HOSTILE, "description": HOSTILE}])),
        (("response",), json.dumps({"content": [{"type": "text", "text": HOSTILE}, HOSTILE], HOSTILE: 1})),
    ):
        for extra in ((), ("--json",)):
            result = run("convert", *args, "--to", "openai", *extra, input=value)
            assert result.exception is None or isinstance(result.exception, SystemExit), args
            assert not any(char in result.output for char in "\x1b\x9b\x07\r\x00\u202e\u2066"), args
