"""The command line on what APIs send and take: responses that are detected, definitions that are converted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("typer")

import toolglot
from payloads import Payload, cases
from test_cli import EXAMPLES, TOOLS, WITH_TOOLS, problem, run, run_json

RESPONSE = str(EXAMPLES / "response.json")


def test_response_is_detected() -> None:
    text = run("parse", RESPONSE).output
    assert "reasoning\n  Two cities: one call each.\n" in text
    assert 'call 1  get_weather  id toolu_01B\n  {\n    "city": "Rome",\n    "days": 1\n  }\n' in text
    assert text.endswith("\n2 calls (anthropic)\n")
    found = run_json("parse", RESPONSE)
    assert (found["provider"], found["format"], found["stop_reason"]) == ("anthropic", None, "tool_calls")
    assert [(call["id"], call["name"]) for call in found["tool_calls"]] == [
        ("toolu_01A", "get_weather"),
        ("toolu_01B", "get_weather"),
    ]
    assert run("detect", RESPONSE).output == "anthropic\n"
    assert run_json("detect", RESPONSE) == {"type": "provider", "provider": "anthropic"}


@pytest.mark.parametrize("provider", toolglot.providers(), ids=str)
def test_every_provider_can_be_named(provider: toolglot.Provider) -> None:
    parser = toolglot.get_provider(provider)
    call = toolglot.ToolCall("search", {"query": "a"}, "call_1")
    sent = json.dumps(parser.assistant(toolglot.Message(tool_calls=[call])))
    found = run_json("parse", "--provider", provider.value, "--ids", "synthesize", *WITH_TOOLS, input=sent)
    assert found["provider"] == provider.value
    assert [(call["name"], call["arguments"]) for call in found["tool_calls"]] == [("search", {"query": "a"})]
    assert found["tool_calls"][0]["id"]


def test_error_in_a_response() -> None:
    function = {"name": "f", "arguments": '{"a": }'}
    text = json.dumps({"choices": [{"message": {"tool_calls": [{"id": "c", "function": function}]}}]})
    shown = run("parse", input=text)
    assert shown.exit_code == 1
    path = "$.choices[0].message.tool_calls[0].function.arguments"
    column = text.index(r"\": }") + len(r"\": }")
    assert f"error  json.expected_value  line 1, column {column}  {path}\n" in shown.output
    (error,) = run_json("parse", input=text, status=1)["errors"]
    assert (error["code"], error["path"], error["column"]) == ("json.expected_value", path, column)


def test_what_else_a_response_has() -> None:
    content = [
        {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "x"}},
        {"type": "text", "text": "So."},
        3,
    ]
    text = json.dumps({"content": content, "stop_reason": "end_turn"})
    shown = run("parse", input=text).output
    assert 'call of the server  web_search  id s\n  {\n    "query": "x"\n  }\n' in shown
    assert "lost  loss.unread at $.content[2]: expected an object, found a number\n" in shown
    assert shown.endswith("\nno tool call (anthropic)\n")
    found = run_json("parse", input=text)
    assert (found["tool_calls"], found["server_calls"][0]["name"]) == ([], "web_search")
    assert found["losses"] == [
        {"code": "loss.unread", "path": "$.content[2]", "detail": "expected an object, found a number"}
    ]


def test_text_that_is_no_response() -> None:
    """JSON that no API sends, and JSON with an option for text, is a model's own text."""
    call = '{"name": "search", "arguments": {"query": "a"}}'
    assert run_json("parse", input=call)["tool_calls"][0]["format"] == "json"
    listed = '{"tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}]}'
    assert run_json("parse", input=listed)["provider"] == "openai"
    for options in (("--format", "json"), ("--finish-reason", "stop"), ("--stream", "5", "--no-color")):
        found = run("parse", *options, "--json", input=listed).stdout.splitlines()
        message = json.loads(found[-1] if "--stream" in options else "\n".join(found))
        assert (message["provider"], message["format"]) == (None, "json")
    assert run_json("parse", input="{broken")["provider"] is None


def test_provider_and_the_options_of_text() -> None:
    assert "--provider reads a response" in problem("parse", "--provider", "openai", "--format", "hermes", RESPONSE)
    said = problem("parse", "--provider", "nobody", RESPONSE)
    assert "no provider is called 'nobody'; there are openai, " in said
    shown = run("parse", "--provider", "openai", input="<html>")
    assert (shown.exit_code, "error  json.expected_value  line 1, column 1" in shown.output) == (1, True)


@pytest.mark.parametrize("provider", toolglot.providers(), ids=str)
def test_convert(provider: toolglot.Provider) -> None:
    """To every provider: what `request` gives, losses included; and read again it says the same."""
    tools = json.loads(Path(TOOLS).read_text("utf-8"))
    expected = toolglot.get_provider(provider).request(tools, "auto")
    result = run("convert", "tools", TOOLS, "--to", provider.value, "--tool-choice", "auto")
    assert (result.exit_code, json.loads(result.stdout)) == (0, expected)
    losses = [f"lost: {loss.path}: {loss.detail} ({loss.code})" for loss in expected.losses]
    assert result.stderr.splitlines() == losses
    found = run_json("convert", "tools", TOOLS, "--to", provider.value, "--tool-choice", "auto")
    assert found["provider"] == provider.value
    assert found["request"] == expected
    assert [(loss["code"], loss["path"]) for loss in found["losses"]] == [
        (loss.code, loss.path) for loss in expected.losses
    ]
    again = run_json("convert", "tools", "--to", "openai", input=result.stdout)["request"]["tools"]
    names = [(new["function"]["name"], old["function"]["name"]) for new, old in zip(again, tools, strict=True)]
    # A name with a slash is another one at most APIs: `Loss`, above.
    assert all(new == old for new, old in names if "/" not in old)


def test_convert_strict() -> None:
    tool = json.dumps({"name": "a b", "parameters": {"type": "object", "properties": {}}})
    lost = "lost: $[0].name: 'a b' is called "
    result = run("convert", "tools", "--to", "anthropic", input=tool)
    assert (result.exit_code, result.stderr[: len(lost)]) == (0, lost)
    result = run("convert", "tools", "--to", "anthropic", "--strict", input=tool)
    assert (result.exit_code, result.stdout, result.stderr[: len(lost)]) == (1, "", lost)
    found = run_json("convert", "tools", "--to", "anthropic", "--strict", input=tool, status=1)
    assert (found["request"], found["losses"][0]["code"]) == (None, "loss.name")


def test_what_cannot_be_converted() -> None:
    assert "no provider is called 'x'" in problem("convert", "tools", TOOLS, "--to", "x")
    assert "no provider is called 'auto'" in problem("convert", "tools", TOOLS, "--to", "auto")
    assert "names 'nothing', which is not among the tools: get_weather, " in problem(
        "convert", "tools", TOOLS, "--to", "openai", "--tool-choice", "nothing"
    )
    for text, said in (("[3]", "got int"), ("[{}]", "has no name"), ("3", "got int"), ("{", "is not JSON")):
        result = run("convert", "tools", "--to", "google", input=text)
        assert (result.exit_code, result.stdout) == (2, "")
        assert said in result.stderr


STREAMS = [case for case in cases() if case.name == "stream"]


@pytest.mark.parametrize("case", STREAMS, ids=lambda case: case.wire)
def test_a_stream_that_was_recorded(case: Payload) -> None:
    """What an API sent, saved to a file: server-sent events or JSON a line are read as the stream."""
    events = case.data["stream"]
    provider = toolglot.Provider(toolglot.detect_provider(events[0]))
    stream = toolglot.get_provider(provider).stream(on_error="collect")
    for event in events:
        stream.feed(event)
    stream.close()
    expected = [(call.name, call.arguments, call.id) for call in stream.message.tool_calls]
    assert expected
    sse = "".join(f"data: {json.dumps(event)}\n\n" for event in events)
    lines = "".join(json.dumps(event) + "\n" for event in events)
    for text in (sse, f": hello\n\n{sse}data: [DONE]\n\n", lines):
        found = run_json("parse", input=text)
        assert [(call["name"], call["arguments"], call["id"]) for call in found["tool_calls"]] == expected
        assert found["provider"] == provider.value
        assert run_json("parse", "--provider", provider.value, input=text) == found
    assert run("detect", input=sse).stdout == f"{provider.value}\n"


def test_recorded_streams_are_streams_of_all_apis() -> None:
    assert len(STREAMS) >= 8


def test_a_stream_that_was_cut_off() -> None:
    chunk = {"choices": [{"index": 0, "delta": {"tool_calls": [
        {"index": 0, "id": "c", "function": {"name": "get_weather", "arguments": '{"city": "Oslo", "days": "2"'}}
    ]}}]}  # fmt: skip
    sse = f"data: {json.dumps(chunk)}\n\n"
    shown = run("parse", input=sse)
    with pytest.raises(toolglot.TruncatedError) as info:
        list(toolglot.iter_events([chunk]))
    assert (shown.exit_code, f"error  {info.value.code}" in shown.stdout) == (1, True)
    explained = run("explain", input=sse)
    assert (explained.exit_code, "the model is told" in explained.stdout) == (1, True)
    rest = {"tool_calls": [{"index": 0, "function": {"arguments": "}"}}]}
    last = {"choices": [{"index": 0, "delta": rest, "finish_reason": "tool_calls"}]}
    whole = f"{sse}data: {json.dumps(last)}\n\n"
    found = run_json("parse", "--coerce", "--validate", *WITH_TOOLS, input=whole)
    assert found["tool_calls"][0]["arguments"] == {"city": "Oslo", "days": 2}
    assert [repair["code"] for repair in found["repairs"]] == ["coerce.string_to_integer"]
    (call,) = toolglot.parse_response(run("convert", "response", "--to", "anthropic", input=whole).stdout).tool_calls
    assert call.name == "get_weather"


@pytest.mark.parametrize(
    "text", ["data: three things", "event: party\nhere", ": a remark", '{"a": 1}\n{"b": 2}', "id: 7"]
)
def test_text_that_is_no_stream(text: str) -> None:
    found = run_json("parse", input=text)
    assert (found["provider"], found["content"]) == (None, text)


@pytest.mark.parametrize("command", ["parse", "explain", "detect"])
def test_what_is_no_response(command: str) -> None:
    """Definitions and conversations look like OpenAI's, and nobody called what they name."""
    assert "this is a list of tool definitions: `toolglot convert tools`" in problem(command, TOOLS)
    assert "this is a conversation: `toolglot check-history`" in problem(command, str(EXAMPLES / "history.json"))


def test_validate_and_coerce() -> None:
    """Of texts, streams and responses alike: what the Python functions do."""
    tools = json.loads(Path(TOOLS).read_text("utf-8"))
    pytest.importorskip("jsonschema_rs")
    arguments: dict[str, object]
    for arguments in ({"city": "Oslo", "days": "2"}, {"city": 3}):
        call = {"name": "get_weather", "arguments": arguments}
        text = f"<tool_call>{json.dumps(call)}</tool_call>"
        content = [{"type": "tool_use", "id": "t", "name": "get_weather", "input": arguments}]
        response = json.dumps({"role": "assistant", "content": content, "stop_reason": "tool_use"})
        ways: list[tuple[str, tuple[str, ...]]] = [(text, ()), (text, ("--stream", "5"))]
        ways += [(response, ()), (response, ("--provider", "anthropic"))]
        for value, extra in ways:
            shown = run("parse", "--validate", *WITH_TOOLS, *extra, "--json", input=value)
            found = json.loads(shown.stdout.splitlines()[-1] if "--stream" in extra else shown.stdout)
            assert (shown.exit_code, found["tool_calls"]) == (1, [])
            assert [error["code"] for error in found["errors"]] == ["schema.violation"]
            parsed = toolglot.parse(text, tools=tools, validate=True, on_error="collect").errors[0]
            assert [one["path"] for one in found["errors"][0]["violations"]] == [one.path for one in parsed.violations]
            both = run("parse", "--validate", "--coerce", *WITH_TOOLS, *extra, "--json", input=value)
            found = json.loads(both.stdout.splitlines()[-1] if "--stream" in extra else both.stdout)
            if arguments == {"city": "Oslo", "days": "2"}:
                assert found["tool_calls"][0]["arguments"] == {"city": "Oslo", "days": 2}
                assert [one["code"] for one in found["repairs"]] == ["coerce.string_to_integer"]
            else:
                assert (both.exit_code, found["tool_calls"]) == (1, [])
    for option in ("--validate", "--coerce"):
        assert f"{option} needs the tools' schemas: --tools FILE" in problem("parse", option, input="x")
    wrong = json.dumps([{"name": "f", "parameters": {"type": "objekt"}}])
    said = problem("parse", "--validate", "--tools", "-", str(EXAMPLES / "hermes.txt"), input=wrong)
    assert "(schema.invalid)" in said
