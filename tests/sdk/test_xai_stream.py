"""xAI: what its SDK streams, over gRPC from a server on loopback, is read; the same as what it has put together."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest

from test_stream_properties import consistent
from toolglot import Message, Provider, ToolCallEnd, aevents, detect_provider, get_provider, iter_events, parse_response

xai_sdk = pytest.importorskip("xai_sdk")
grpc = pytest.importorskip("grpc")
pytestmark = pytest.mark.sdk

CLIENT = "TOOL_CALL_TYPE_CLIENT_SIDE_TOOL"


def call(id: str, name: str, arguments: str, type: str = CLIENT) -> dict[str, Any]:
    return {"id": id, "type": type, "function": {"name": name, "arguments": arguments}}


def delta(index: int = 0, reason: str = "REASON_INVALID", role: str = "ROLE_ASSISTANT", **said: Any) -> dict[str, Any]:
    return {"index": index, "finish_reason": reason, "delta": {"role": role, **said}}


@contextmanager
def streaming(chunks: list[list[dict[str, Any]]], **options: Any) -> Iterator[Any]:
    """A chat whose server streams chunks of these outputs."""
    from xai_sdk.chat import user
    from xai_sdk.proto import chat_pb2, chat_pb2_grpc

    class Chat(chat_pb2_grpc.ChatServicer):
        def GetCompletionChunk(self, request: Any, context: Any) -> Iterator[Any]:  # noqa: N802
            for number, outputs in enumerate(chunks):
                usage = {"prompt_tokens": 1, "completion_tokens": number}
                yield chat_pb2.GetChatCompletionChunk(id="r", model="m", outputs=outputs, usage=usage)

    server = grpc.server(ThreadPoolExecutor(1))
    chat_pb2_grpc.add_ChatServicer_to_server(Chat(), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    client = xai_sdk.Client(api_key="key", api_host=f"127.0.0.1:{port}", use_insecure_channel=True)
    try:
        yield client.chat.create(model="m", messages=[user("Weather?")], **options)
    finally:
        client.close()
        server.stop(None).wait()


def read(pairs: list[Any]) -> tuple[list[Any], Message]:
    stream = get_provider("xai").stream(on_error="collect")
    told = [event for pair in pairs for event in stream.feed(pair)]
    told += stream.close()
    consistent(told, stream.message)
    return told, stream.message


PLAIN = [
    [delta(reasoning_content="Let me ")],
    [delta(reasoning_content="see.")],
    [
        delta(content="On "),
    ],
    [delta(content="it.")],
    [delta(encrypted_content="AA")],
    [delta(tool_calls=[call("c1", "get_weather", '{"city": "Oslo"}'), call("c2", "now", "{}")])],
    [delta(reason="REASON_TOOL_CALLS")],
]


def test_pairs() -> None:
    """`feed` takes the pair that the SDK gives, or its chunk; and it is the same as the SDK's own response."""
    with streaming(PLAIN) as chat:
        pairs = list(chat.stream())
    assert detect_provider(pairs[0]) is Provider.XAI
    assert detect_provider(pairs[0][1]) is Provider.XAI
    told, message = read(pairs)
    assert (told, message) == read([chunk for _, chunk in pairs])
    assert list(iter_events(pairs)) == told
    assert (message.provider, message.stop_reason) == ("xai", "tool_calls")
    assert (message.content, message.reasoning) == ("On it.", "Let me see.")
    assert message.usage == {"prompt_tokens": 1, "completion_tokens": 6}
    assert [one.to_dict() for one in message.tool_calls] == [
        {"id": "c1", "name": "get_weather", "arguments": {"city": "Oslo"}},
        {"id": "c2", "name": "now", "arguments": {}},
    ]
    assert message == parse_response(pairs[-1][0])


def test_asynchronous() -> None:
    with streaming(PLAIN) as chat:
        pairs = list(chat.stream())

    async def stream() -> AsyncIterator[Any]:
        for pair in pairs:
            yield pair

    async def run() -> list[Any]:
        return [event async for event in aevents(stream())]

    assert asyncio.run(run()) == list(iter_events(pairs))


def test_calls_that_xai_ran() -> None:
    """What the model said in several turns is one message; the server's calls are kept; each turn ends by itself."""
    web = call("s1", "web_search", '{"query": "x"}', "TOOL_CALL_TYPE_WEB_SEARCH_TOOL")
    chunks = [
        [delta(content="Let me look. ")],
        [delta(tool_calls=[web])],
        [delta(reason="REASON_TOOL_CALLS")],
        [delta(1, role="ROLE_TOOL", content="4 C", tool_calls=[web])],
        [delta(2, content="And ")],
        [delta(2, content="now.", tool_calls=[call("c1", "get_weather", '{"city": "Oslo"}')])],
        [delta(2, reason="REASON_TOOL_CALLS")],
    ]
    from xai_sdk.tools import web_search

    with streaming(chunks, tools=[web_search()]) as chat:
        pairs = list(chat.stream())
    told, message = read(pairs)
    assert message.content == "Let me look. And now."
    assert [event.call.id for event in told if type(event) is ToolCallEnd] == ["c1"]
    assert [(one.name, one.id) for one in message.server_calls] == [("web_search", "s1")]
    assert message.errors == []
    whole = parse_response(pairs[-1][0])
    assert (message.content, message.tool_calls, message.server_calls) == (
        whole.content,
        whole.tool_calls,
        whole.server_calls,
    )


def test_cut_off() -> None:
    with streaming(PLAIN[:-1]) as chat:
        _, message = read(list(chat.stream()))
    assert [error.code for error in message.errors] == ["provider.stream_incomplete"]
    assert [one.id for one in message.tool_calls] == ["c1", "c2"]  # they were whole
    with streaming([*PLAIN[:-1], [delta(reason="REASON_MAX_LEN")]]) as chat:
        _, message = read(list(chat.stream()))
    assert (message.stop_reason, [one.id for one in message.tool_calls]) == ("length", ["c1", "c2"])


def test_several_choices() -> None:
    """The first gives events; those of the others are the caller's to feed by themselves."""
    chunks = [[delta(0, content="A"), delta(1, content="B")], [delta(n, "REASON_STOP") for n in range(2)]]
    with streaming(chunks) as chat, pytest.warns(PendingDeprecationWarning):
        pairs = list(chat.stream_batch(2))
    _, message = read(pairs)
    assert (message.content, message.stop_reason) == ("A", "stop")
    assert [loss.code for loss in message.losses] == ["loss.choice"]
    _, message = read([chunks[1] for _, chunks in pairs])
    assert message.content == "B"
