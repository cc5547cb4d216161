"""The options of `parse` and `StreamParser`: what they accept, what they refuse, and what they lead to."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from typing import Any

import pytest

import toolglot
from compare import plain
from toolglot.registry import MAX_PLANS, REGISTRY

CALL = '<tool_call>{"name":"f","arguments":{}}</tool_call>'
CUT = '<tool_call>{"name":"f","arguments":{}}'


class Text(str):
    """A `str` subclass with a mind of its own."""

    __slots__ = ()

    def __len__(self) -> int:
        return 1

    def __getitem__(self, key: Any) -> str:
        return "?"

    def lower(self) -> str:
        return "stop"


def read(text: str, **options: Any) -> toolglot.Message:
    """What is read, whole, by characters, and with the reason given at the end: the same."""
    whole = toolglot.parse(text, on_error="collect", **options)
    finish_reason = options.pop("finish_reason", None)
    for early, late in ((finish_reason, None), (None, finish_reason), ("stop", finish_reason)):
        parser = toolglot.StreamParser(on_error="collect", finish_reason=early, **options)
        for char in text:
            parser.feed(char)
        parser.close(late)
        if late or early == finish_reason:
            assert plain(parser.message) == plain(whole)
    return whole


CUTS = {
    "length": ["length", "max_tokens", "MAX_TOKENS", "model_length", "max_output_tokens", "ERROR_LIMIT"],
    "content_filter": ["content_filter", "SAFETY", "refusal", "guardrail_intervened", "RECITATION"],
    "error": ["error", "abort", "ERROR", "insufficient_system_resource"],
}


@pytest.mark.parametrize(("meaning", "word"), [(m, word) for m, words in CUTS.items() for word in words])
def test_an_output_that_was_stopped_is_cut(meaning: str, word: str) -> None:
    message = read(CUT, finish_reason=word)
    assert message.tool_calls == []
    assert [type(error) for error in message.errors] == [toolglot.TruncatedError]
    assert [error.code for error in message.errors] == ["tool_call.truncated"]
    assert message.stop_reason == meaning
    # What was closed before stands.
    message = read(CALL, finish_reason=word)
    assert [call.name for call in message.tool_calls] == ["f"]
    assert message.stop_reason == meaning


@pytest.mark.parametrize("word", [None, "stop", "end_turn", "STOP", "tool_calls", "tool_use", "eos", "function_call"])
def test_an_output_that_ended_is_not(word: str | None) -> None:
    assert [call.name for call in read(CUT, finish_reason=word).tool_calls] == ["f"]
    assert read(CALL, finish_reason=word).stop_reason == "tool_calls"  # what the text says counts
    assert read("Hello", finish_reason=word).stop_reason == "stop"


def test_another_reason() -> None:
    assert read(CUT, finish_reason="pause_turn").stop_reason == "other"


@pytest.mark.parametrize("word", ["nonsense", "", "len gth"])
def test_an_unknown_reason_is_refused(word: str) -> None:
    uses = (
        lambda: toolglot.parse("x", finish_reason=word),
        lambda: toolglot.StreamParser(finish_reason=word),
        lambda: toolglot.StreamParser().close(word),
    )
    for use in uses:
        with pytest.raises(ValueError, match=r"finish_reason.*'length'.*'content_filter'"):
            use()


def test_a_reason_is_a_text() -> None:
    wrong: Any = 4
    with pytest.raises(TypeError, match="finish_reason"):
        toolglot.parse("x", finish_reason=wrong)
    assert toolglot.parse("x", finish_reason=Text("LENGTH")).stop_reason == "length"


def test_a_refused_reason_leaves_the_parser_open() -> None:
    parser = toolglot.StreamParser()
    parser.feed("x")
    with pytest.raises(ValueError, match="finish_reason"):
        parser.close("nonsense")
    parser.close("stop")
    assert parser.message.content == "x"


@pytest.mark.parametrize("text", [CALL + "<tool_call>{x}</tool_call>" + CALL + " y", "<tool_call>[]", CALL + CUT[:-1]])
@pytest.mark.parametrize("finish_reason", [None, "length"])
def test_the_raised_errors_message(text: str, finish_reason: str | None) -> None:
    """What was found is the same, whole and fed at once, also why the model stopped."""
    with pytest.raises(toolglot.ParseError) as whole:
        toolglot.parse(text, finish_reason=finish_reason)
    parser = toolglot.StreamParser()
    parser.feed(text)
    try:
        [error] = [event.error for event in parser.close(finish_reason) if isinstance(event, toolglot.ErrorEvent)]
    except toolglot.ParseError as raised:
        error = raised
    assert plain(error) == plain(whole.value)
    assert plain(error.message) == plain(whole.value.message)
    assert error.message is not None
    assert error.message.stop_reason is not None


@pytest.mark.parametrize("name", ["format", "model", "generation_prompt"])
def test_a_text_of_any_class_is_an_option(name: str) -> None:
    value = {"format": "hermes", "model": "Qwen/Qwen3-8B", "generation_prompt": "<think>\n"}[name]
    options: dict[str, Any] = {name: value}
    expected = read("a</think>b" + CALL, **options)
    options = {name: Text(value)}
    assert plain(read("a</think>b" + CALL, **options)) == plain(expected)
    wrong: Any = {name: 4}
    with pytest.raises(TypeError, match=name):
        toolglot.parse("x", **wrong)


@pytest.mark.parametrize("tools", ["foo", b"foo", 4, object()], ids=lambda value: type(value).__name__)
def test_tools_are_a_list(tools: Any) -> None:
    with pytest.raises(TypeError, match=r"tools: expected .*" + type(tools).__name__):
        toolglot.parse("x", tools=tools)


def test_the_tool_that_has_to_be_called_is_declared() -> None:
    for choice in ("ping_", {"type": "function", "function": {"name": "ping_"}}):
        with pytest.raises(toolglot.DefinitionError, match=r"tool_choice.*'ping_'.*'ping'") as caught:
            toolglot.parse("x", tools=["ping", "pong"], tool_choice=choice)
        assert caught.value.code == "definition.invalid_tool"
    toolglot.parse("{}", tools=["ping"], tool_choice="ping")
    toolglot.parse("{}", tool_choice="ping_")  # no tools, nothing to compare with


@pytest.mark.parametrize("name", ["HERMES", "Hermes", "hermse", "Qwen3_Coder"])
def test_the_nearest_format(name: str) -> None:
    with pytest.raises(toolglot.DefinitionError, match=r"did you mean '(hermes|qwen3_coder)'"):
        toolglot.get_format(name)


@pytest.mark.parametrize("name", ["nope", "", "zzz"])
def test_nothing_is_near(name: str) -> None:
    with pytest.raises(toolglot.DefinitionError) as caught:
        toolglot.get_format(name)
    assert "did you mean" not in str(caught.value)
    assert "formats()" in str(caught.value)


def test_formats_are_hashable() -> None:
    formats = toolglot.formats()
    assert len(set(formats)) == len(formats)
    assert toolglot.get_format("hermes") in set(formats)


def test_what_is_no_iterable_is_named() -> None:
    wrong: Any = None
    with pytest.raises(TypeError, match=r"chunks.*NoneType"):
        list(toolglot.stream(wrong))
    with pytest.raises(TypeError, match=r"str.*int"):
        list(toolglot.stream(iter([4])))  # type: ignore[list-item]
    with pytest.raises(TypeError, match=r"calls.*NoneType"):
        toolglot.render(wrong, "hermes")
    with pytest.raises(TypeError, match=r"calls.*list.*ToolCall"):
        toolglot.render(toolglot.ToolCall("f"), "hermes")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"results.*list.*ToolResult"):
        toolglot.render_results(toolglot.ToolResult("1", "x"), "hermes")  # type: ignore[arg-type]


def test_chunks_that_are_not_asynchronous_are_named() -> None:
    code = (
        "import asyncio, toolglot\n"
        "async def run():\n"
        "    async for event in toolglot.astream(['x']): pass\n"
        "try: asyncio.run(run())\n"
        "except TypeError as error: print(error)\n"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert "chunks" in result.stdout


def test_a_prompt_that_opens_reasoning_for_some_models() -> None:
    """GLM-Z1's prompt ends in ``<think>``, that of the other models of its format behind the role."""
    thinking = toolglot.parse("\nHm.", model="GLM-Z1-9B-0414")
    assert (thinking.content, thinking.reasoning) == (None, "Hm.")
    assert thinking.notes == ["reasoning.unclosed"]
    answer = toolglot.parse("\nHello.", model="GLM-4-9B-0414")
    assert (answer.content, answer.reasoning) == ("Hello.", None)
    call = toolglot.parse("ping\n{}", model="GLM-4-9B-0414")
    assert [made.name for made in call.tool_calls] == ["ping"]


def test_bare_arguments_are_one_tools() -> None:
    """Of several named tools it would have to be guessed whose arguments they are."""
    for choice in ("a", ["a"], {"type": "function", "function": {"name": "a"}}):
        assert [call.name for call in read('{"x": 1}', tools=["a", "b"], tool_choice=choice).tool_calls] == ["a"]
    for choice in (["a", "b"], toolglot.ToolChoice("required", ("b", "a"))):
        message = read('{"x": 1}', tools=["a", "b"], tool_choice=choice)
        assert (message.tool_calls, message.content) == ([], '{"x": 1}')
        message = read('{"name": "b", "arguments": {}}', format="hermes", tools=["a", "b"], tool_choice=choice)
        assert [call.name for call in message.tool_calls] == ["b"]


def test_plans_do_not_pile_up() -> None:
    """A server that has many users' tools called by name keeps no plan for each."""
    for n in range(2 * MAX_PLANS):
        toolglot.parse("x", tool_choice=f"tool_{n}")
    assert len(REGISTRY._plans) <= MAX_PLANS


CALLS = [toolglot.ToolCall("f", {"a": 1})]
RESULTS = [toolglot.ToolResult("1", "x", "f")]
NAMED: dict[str, Any] = {
    "get_format": toolglot.get_format,
    "render": lambda name: toolglot.render(CALLS, name),
    "render_segments": lambda name: toolglot.render_segments(CALLS, name),
    "render_results": lambda name: toolglot.render_results(RESULTS, name),
    "render_tools": lambda name: toolglot.render_tools(["f"], name),
    "grammar": lambda name: toolglot.grammar(["f"], name),
    "grammar_triggers": lambda name: toolglot.grammar_triggers(["f"], name),
}


@pytest.mark.parametrize("use", NAMED)
def test_a_format_is_a_text(use: str) -> None:
    wrong: Any
    for wrong in (None, 4, b"hermes", ["hermes"], {}):
        with pytest.raises(TypeError, match=rf"(format|name): expected str, got {type(wrong).__name__}"):
            NAMED[use](wrong)
    NAMED[use](Text("hermes"))


def test_options_of_writing() -> None:
    wrong: Any
    for wrong in (4, b"x", ["x"]):
        with pytest.raises(TypeError, match=rf"model: expected str or None, got {type(wrong).__name__}"):
            toolglot.render_results(RESULTS, "hermes", model=wrong)
        with pytest.raises(TypeError, match=rf"model: expected str or None, got {type(wrong).__name__}"):
            toolglot.render_tools(["f"], "hermes", model=wrong)
    for wrong in ("Allow", True, None):
        with pytest.raises(ValueError, match="unsafe: expected 'raise' or 'allow'"):
            toolglot.render_results([], "hermes", unsafe=wrong)
        with pytest.raises(ValueError, match="unsafe: expected 'raise' or 'allow'"):
            toolglot.render_tools(["f"], "hermes", unsafe=wrong)


def test_wrong_options_show_at_once() -> None:
    """Not when the first piece is asked for."""
    uses: tuple[Any, ...] = (toolglot.stream, toolglot.astream)
    for use in uses:
        with pytest.raises(toolglot.DefinitionError, match="nope"):
            use([], format="nope")
        with pytest.raises(TypeError, match="chunks"):
            use(None)


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda parser: pickle.loads(pickle.dumps(parser))])
def test_a_copied_parser_goes_on_by_itself(copied: Any) -> None:
    parser = toolglot.StreamParser(on_error="collect")
    parser.feed("a <think>b</think>" + CALL + "<tool_call>{")
    fork = copied(parser)
    fork.feed('"name":"g","arguments":{}}</tool_call>')
    parser.feed("x}</tool_call>")
    parser.close()
    fork.close()
    assert [call.name for call in fork.message.tool_calls] == ["f", "g"]
    assert [call.name for call in parser.message.tool_calls] == ["f"]
    assert len(parser.message.errors) == 1
    assert fork.message.errors == []


def test_what_was_found_before_a_limit_is_not_lost() -> None:
    text = "One. " + '<tool_call>{"name": "f", "arguments": {}}</tool_call>' * 3
    with pytest.raises(toolglot.LimitError) as caught:
        toolglot.parse(text, limits=toolglot.Limits(calls=2))
    found = caught.value.message
    assert found is not None
    assert (found.content, len(found.tool_calls), caught.value.limit) == ("One. ", 2, "calls")
    parser = toolglot.StreamParser(limits=toolglot.Limits(calls=2))
    with pytest.raises(toolglot.LimitError):
        parser.feed(text)
    assert parser.message.tool_calls == found.tool_calls
