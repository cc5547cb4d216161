"""What is written as streams: the SDKs' own types take every event, and their own helpers read the calls back."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest
from clients import typed

from loopback import Loopback, loopback, unknown
from toolglot import Message, ReasoningDelta, StreamParser, TextDelta, ToolCall, ToolCallEnd, get_provider

openai = pytest.importorskip("openai")
anthropic = pytest.importorskip("anthropic")
# Warnings of an SDK about itself are its own affair.
pytestmark = [pytest.mark.sdk, pytest.mark.filterwarnings("ignore::DeprecationWarning")]

TEXT = (
    "<think>\nTwo calls.\n</think>\n\nI look\u2028é.\n"
    '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Malmö", "n": [1, {"a": "}"}]}}\n</tool_call>\n'
    '<tool_call>\n{"name": "ping", "arguments": {}}\n</tool_call>'
)
CONTENT = "I look\u2028é."
CALLS = [("get_weather", {"city": "Malmö", "n": [1, {"a": "}"}]}), ("ping", {})]
BROKEN = TEXT + '<tool_call>{"name": "f", "arguments": {"a": 1, 2}}</tool_call>'
CUT = TEXT + '<tool_call>{"name": "f", "arguments": {"a": "Os'
USAGE = {"prompt_tokens": 9, "completion_tokens": 7, "total_tokens": 16}
ANSWERS = {"whole": (TEXT, "stop"), "broken": (BROKEN, "stop"), "cut": (CUT, "length"), "empty": ("", "stop")}
ASYNC = pytest.mark.parametrize("asynchronous", [False, True])
EAGER = pytest.mark.parametrize("eager", [False, True])


def events(text: str, reason: str) -> Iterator[Any]:
    """The events of a text that comes five characters at a time."""
    parser = StreamParser(format="hermes", on_error="collect")
    for at in range(0, len(text), 5):
        yield from parser.feed(text[at : at + 5])
    yield from parser.close(reason)


def written(name: str, answer: str = "whole", **options: Any) -> list[Any]:
    text, reason = ANSWERS[answer]
    source = events(text, reason)
    return list(get_provider(name).write_stream(source, model="m", finish_reason=reason, usage=USAGE, **options))


def body(name: str, answer: str = "whole", **options: Any) -> list[bytes]:
    return list(get_provider(name).sse(written(name, answer, **options)))


# -- types

MORE = [
    [TextDelta("A"), ToolCallEnd(0, ToolCall("sql", kind="custom", input="select 1")), ReasoningDelta("Hm.")],
    [ToolCallEnd(0, ToolCall("f", {"a": 1})), TextDelta("A"), ToolCallEnd(1, ToolCall("f", {"a": 1}))],
]
TYPES = {
    "openai": ("openai.types.chat", "ChatCompletionChunk"),
    "openai_responses": ("openai.types.responses", "ResponseStreamEvent"),
    "anthropic": ("anthropic.types", "RawMessageStreamEvent"),
}
WHOLE = {
    "openai": ("openai.types.chat", "ChatCompletion"),
    "openai_responses": ("openai.types.responses", "Response"),
    "anthropic": ("anthropic.types", "Message"),
}


def every(name: str) -> list[Any]:
    """Every kind of event that is written."""
    provider = get_provider(name)
    found = [event for answer in ANSWERS for eager in (False, True) for event in written(name, answer, eager=eager)]
    for more in MORE:
        for reason in ("stop", "length", "content_filter"):
            found += provider.write_stream(more, model="m", finish_reason=reason)
    refusal = Message(stop_reason="content_filter", extra={"openai_chat": {"refusal": "No."}})
    return [*found, *provider.write_stream(refusal, model="m")]


@pytest.mark.parametrize("name", TYPES)
def test_types(name: str) -> None:
    check = typed(*TYPES[name])
    count = 0
    for event in every(name):
        if name == "openai" and "error" in event:
            assert set(event["error"]) == {"message", "type", "param", "code"}
        elif name == "anthropic" and event["type"] == "error":
            typed("anthropic.types", "ErrorResponse")(event)
        elif not (name == "openai" and '"custom"' in json.dumps(event)):  # which its specification lacks
            assert check(event) == event
            assert no_more_than_known(name, event) == []
            count += 1
    assert count > 100


def no_more_than_known(name: str, event: Any) -> list[str]:
    from clients import _adapter

    return unknown(_adapter(*TYPES[name]).validate_python(event))


@pytest.mark.parametrize("name", WHOLE)
def test_whole_responses(name: str) -> None:
    from clients import _adapter

    provider = get_provider(name)
    parser = StreamParser(format="hermes")
    parser.feed(TEXT)
    parser.close("stop")
    custom = Message("A", tool_calls=[ToolCall("sql", kind="custom", input="select 1")])
    for message in (parser.message, custom, Message()):
        made = provider.response(message, model="m", usage=USAGE)
        assert typed(*WHOLE[name])(made) == made
        assert unknown(_adapter(*WHOLE[name]).validate_python(made)) == []


def test_usage_of_an_sdk() -> None:
    from anthropic.types import Usage

    usage = Usage(input_tokens=6, output_tokens=5, cache_read_input_tokens=4)
    *_, chunk = get_provider("openai").write_stream(Message("A"), model="m", usage=usage)
    assert chunk["usage"]["prompt_tokens"] == 10


# -- helpers


def of_chat(message: Any) -> list[tuple[str, Any]]:
    return [(call.function.name, json.loads(call.function.arguments)) for call in message.tool_calls or ()]


class Chat:
    """What `client.chat.completions.create(stream=True)` gave, put together by hand."""

    def __init__(self) -> None:
        self.content = ""
        self.calls: dict[int, list[str]] = {}
        self.finish: str | None = None
        self.usage: Any = None
        self.thoughts = ""

    def take(self, chunk: Any) -> None:
        self.usage = chunk.usage
        for choice in chunk.choices:
            self.content += choice.delta.content or ""
            self.thoughts += getattr(choice.delta, "reasoning_content", None) or ""
            self.finish = choice.finish_reason or self.finish
            for call in choice.delta.tool_calls or ():
                entry = self.calls.setdefault(call.index, ["", "", ""])
                for place, piece in enumerate((call.id, call.function.name, call.function.arguments)):
                    entry[place] += piece or ""

    @property
    def found(self) -> list[tuple[str, Any]]:
        return [(name, json.loads(arguments)) for _, name, arguments in self.calls.values()]


def chat(server: Loopback, asynchronous: bool) -> Chat:
    found = Chat()
    request: Any = {"model": "m", "messages": [{"role": "user", "content": "?"}], "stream": True}

    async def ask() -> None:
        async with openai.AsyncOpenAI(api_key="none", base_url=server.url, max_retries=0) as client:
            async for chunk in await client.chat.completions.create(**request):
                found.take(chunk)

    if asynchronous:
        asyncio.run(ask())
    else:
        with openai.OpenAI(api_key="none", base_url=server.url, max_retries=0) as client:
            for chunk in client.chat.completions.create(**request):
                found.take(chunk)
    return found


def completion(server: Loopback, asynchronous: bool) -> Any:
    """What `client.chat.completions.stream` gives in the end."""
    request: Any = {"model": "m", "messages": [{"role": "user", "content": "?"}]}

    async def ask() -> Any:
        async with (
            openai.AsyncOpenAI(api_key="none", base_url=server.url, max_retries=0) as client,
            client.chat.completions.stream(**request) as stream,
        ):
            return await stream.get_final_completion()

    if asynchronous:
        return asyncio.run(ask())
    with (
        openai.OpenAI(api_key="none", base_url=server.url, max_retries=0) as client,
        client.chat.completions.stream(**request) as stream,
    ):
        return stream.get_final_completion()


@ASYNC
@EAGER
def test_chat(eager: bool, asynchronous: bool) -> None:
    with loopback() as server:
        server.pieces = body("openai", eager=eager)
        found = chat(server, asynchronous)
        assert (found.content, found.found, found.finish) == (CONTENT, CALLS, "tool_calls")
        assert len({id for id, _, _ in found.calls.values()}) == 2
        assert found.usage.total_tokens == 16

        made = completion(server, asynchronous)
        (choice,) = made.choices
        assert (choice.message.content, of_chat(choice.message)) == (CONTENT, CALLS)
        assert (choice.finish_reason, made.usage.prompt_tokens) == ("tool_calls", 9)
        assert [call.id for call in choice.message.tool_calls] == [id for id, _, _ in found.calls.values()]

        server.pieces = body("openai", "cut", eager=eager)
        if eager:
            with pytest.raises(openai.APIError):
                chat(server, asynchronous)
        else:
            found = chat(server, asynchronous)
            assert (found.found, found.finish) == (CALLS, "length")

        server.pieces = body("openai", "broken", eager=eager)
        with pytest.raises(openai.APIError) as info:
            chat(server, asynchronous)
        assert info.value.code == "json.expected_key"

        server.pieces = body("openai", "empty", eager=eager)
        found = chat(server, asynchronous)
        assert (found.content, found.found, found.finish) == ("", [], "stop")

        server.pieces = body("deepseek", eager=eager)
        assert chat(server, asynchronous).thoughts == "Two calls."


def response_events(server: Loopback, asynchronous: bool) -> tuple[list[Any], Any]:
    """The events of `client.responses.stream`, and the response if it gives one."""
    request: Any = {"model": "m", "input": "?"}

    async def ask() -> tuple[list[Any], Any]:
        async with (
            openai.AsyncOpenAI(api_key="none", base_url=server.url, max_retries=0) as client,
            client.responses.stream(**request) as stream,
        ):
            found = [event async for event in stream]
            return found, await stream.get_final_response() if found[-1].type == "response.completed" else None

    if asynchronous:
        return asyncio.run(ask())
    with (
        openai.OpenAI(api_key="none", base_url=server.url, max_retries=0) as client,
        client.responses.stream(**request) as stream,
    ):
        found = list(stream)
        return found, stream.get_final_response() if found[-1].type == "response.completed" else None


def of_response(response: Any) -> list[tuple[str, Any]]:
    return [(item.name, json.loads(item.arguments)) for item in response.output if item.type == "function_call"]


@ASYNC
@EAGER
def test_responses(eager: bool, asynchronous: bool) -> None:
    with loopback() as server:
        server.pieces = body("openai_responses", eager=eager)
        found, response = response_events(server, asynchronous)
        assert (response.output_text, of_response(response)) == (CONTENT, CALLS)
        assert (response.status, response.usage.total_tokens) == ("completed", 16)
        assert response.output[0].summary[0].text == "Two calls."
        # What the helper puts together from the fragments.
        snapshots = {event.output_index: event.snapshot for event in found if event.type.endswith("arguments.delta")}
        assert [json.loads(text) for text in snapshots.values()] == [arguments for _, arguments in CALLS]
        assert [event.text for event in found if event.type == "response.output_text.done"] == [CONTENT]

        server.pieces = body("openai_responses", "cut", eager=eager)
        found, _ = response_events(server, asynchronous)
        assert found[-1].type == ("response.failed" if eager else "response.incomplete")
        assert of_response(found[-1].response) == CALLS
        if not eager:
            assert found[-1].response.incomplete_details.reason == "max_output_tokens"

        server.pieces = body("openai_responses", "broken", eager=eager)
        found, _ = response_events(server, asynchronous)
        assert found[-1].type == "response.failed"
        assert "json.expected_key" in found[-1].response.error.message
        assert of_response(found[-1].response) == CALLS

        server.pieces = body("openai_responses", "empty", eager=eager)
        _, response = response_events(server, asynchronous)
        assert (response.output, response.output_text) == ([], "")


def final_message(server: Loopback, asynchronous: bool) -> Any:
    """What `client.messages.stream` gives in the end."""
    request: Any = {"model": "m", "max_tokens": 100, "messages": [{"role": "user", "content": "?"}]}

    async def ask() -> Any:
        async with (
            anthropic.AsyncAnthropic(api_key="none", base_url=server.url, max_retries=0) as client,
            client.messages.stream(**request) as stream,
        ):
            return await stream.get_final_message()

    if asynchronous:
        return asyncio.run(ask())
    with (
        anthropic.Anthropic(api_key="none", base_url=server.url, max_retries=0) as client,
        client.messages.stream(**request) as stream,
    ):
        return stream.get_final_message()


def of_message(message: Any) -> list[tuple[str, Any]]:
    return [(block.name, block.input) for block in message.content if block.type == "tool_use"]


@ASYNC
@EAGER
def test_messages(eager: bool, asynchronous: bool) -> None:
    with loopback() as server:
        server.pieces = body("anthropic", eager=eager)
        message = final_message(server, asynchronous)
        assert [block.type for block in message.content] == ["thinking", "text", "tool_use", "tool_use"]
        assert (message.content[0].thinking, message.content[1].text) == ("Two calls.", CONTENT)
        assert (of_message(message), message.stop_reason) == (CALLS, "tool_use")
        assert (message.usage.input_tokens, message.usage.output_tokens) == (9, 7)

        server.pieces = body("anthropic", "cut", eager=eager)
        if eager:
            with pytest.raises(anthropic.APIStatusError):
                final_message(server, asynchronous)
        else:
            message = final_message(server, asynchronous)
            assert (of_message(message), message.stop_reason) == (CALLS, "tool_use")

        server.pieces = body("anthropic", "broken", eager=eager)
        with pytest.raises(anthropic.APIStatusError, match=r"json\.expected_key"):
            final_message(server, asynchronous)

        server.pieces = body("anthropic", "empty", eager=eager)
        message = final_message(server, asynchronous)
        assert (message.content, message.stop_reason) == ([], "end_turn")


def test_whole_responses_through_the_clients() -> None:
    """A server that does not stream answers with `response`."""
    parser = StreamParser(format="hermes")
    parser.feed(TEXT)
    parser.close("stop")
    with loopback() as server:
        server.answer = get_provider("openai").response(parser.message, model="m")
        with openai.OpenAI(api_key="none", base_url=server.url, max_retries=0) as client:
            made = client.chat.completions.create(model="m", messages=[])
            assert (made.choices[0].message.content, of_chat(made.choices[0].message)) == (CONTENT, CALLS)
            server.answer = get_provider("openai_responses").response(parser.message, model="m")
            response = client.responses.create(model="m", input="?")
            assert (response.output_text, of_response(response)) == (CONTENT, CALLS)
        server.answer = get_provider("anthropic").response(parser.message, model="m")
        with anthropic.Anthropic(api_key="none", base_url=server.url, max_retries=0) as client:
            message = client.messages.create(model="m", max_tokens=100, messages=[])
            assert (message.content[1].text, of_message(message)) == (CONTENT, CALLS)


def test_free_text_of_a_chat_through_the_client() -> None:
    """The specification has no such chunk; the client hands on what the service sends."""
    provider = get_provider("openai")
    call = ToolCall("sql", id="call_1", kind="custom", input="select 1")
    with loopback() as server:
        server.pieces = list(provider.sse(provider.write_stream([ToolCallEnd(0, call)], model="m")))
        reader = provider.stream()
        with openai.OpenAI(api_key="none", base_url=server.url, max_retries=0) as client:
            for chunk in client.chat.completions.create(model="m", messages=[], stream=True):
                reader.feed(chunk)
        reader.close()
    assert reader.message.tool_calls == [call]
