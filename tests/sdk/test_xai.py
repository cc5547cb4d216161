"""xAI: what its SDK returns, over gRPC from a server on loopback, is read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import Any

import pytest

from loopback import get_weather
from toolglot import Provider, ToolResult, detect_provider, get_provider, parse_response

xai_sdk = pytest.importorskip("xai_sdk")
grpc = pytest.importorskip("grpc")
pytestmark = pytest.mark.sdk

WEB = {"id": "s1", "type": "TOOL_CALL_TYPE_WEB_SEARCH_TOOL", "function": {"name": "web_search", "arguments": "{}"}}
MINE = "TOOL_CALL_TYPE_CLIENT_SIDE_TOOL"
CALLS = [
    {
        "id": "c1",
        "type": "TOOL_CALL_TYPE_CLIENT_SIDE_TOOL",
        "function": {"name": "get_weather", "arguments": '{"city": "Oslo"}'},
    },
    {"id": "c2", "type": "TOOL_CALL_TYPE_CLIENT_SIDE_TOOL", "function": {"name": "g", "arguments": "{}"}},
]


@contextmanager
def serving(outputs: list[dict[str, Any]]) -> Iterator[tuple[Any, list[Any]]]:
    """How a chat is made, and the requests that came to its server, which answers with ``outputs``."""
    from xai_sdk.chat import user
    from xai_sdk.proto import chat_pb2, chat_pb2_grpc

    seen: list[Any] = []

    class Chat(chat_pb2_grpc.ChatServicer):
        def GetCompletion(self, request: Any, context: Any) -> Any:  # noqa: N802
            seen.append(request)
            return chat_pb2.GetChatCompletionResponse(id="r", model="m", outputs=outputs, usage={"prompt_tokens": 1})

    server = grpc.server(ThreadPoolExecutor(1))
    chat_pb2_grpc.add_ChatServicer_to_server(Chat(), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    client = xai_sdk.Client(api_key="key", api_host=f"127.0.0.1:{port}", use_insecure_channel=True)
    try:
        yield partial(client.chat.create, model="m", messages=[user("Weather?")]), seen
    finally:
        client.close()
        server.stop(None).wait()


def test_round() -> None:
    """Definition, call, result: through the SDK to a server and back."""
    from xai_sdk.chat import tool, tool_result

    provider = get_provider("xai")
    assistant = {"role": "ROLE_ASSISTANT", "content": "On it.", "reasoning_content": "Hm.", "tool_calls": CALLS}
    with serving([{"message": assistant, "finish_reason": "REASON_TOOL_CALLS"}]) as (chats, seen):
        request = provider.request(get_weather)
        chat = chats(tools=[tool(**one["function"]) for one in request["tools"]])
        response = chat.sample()
        sent = seen[0].tools[0].function
        assert (sent.name, json.loads(sent.parameters)) == (
            "get_weather",
            request["tools"][0]["function"]["parameters"],
        )
        assert detect_provider(response) is Provider.XAI
        message = parse_response(response)
        assert (message.provider, message.stop_reason) == ("xai", "tool_calls")
        assert (message.content, message.reasoning, message.usage) == ("On it.", "Hm.", {"prompt_tokens": 1})
        assert [call.to_dict() for call in message.tool_calls] == [
            {"id": "c1", "name": "get_weather", "arguments": {"city": "Oslo"}},
            {"id": "c2", "name": "g", "arguments": {}},
        ]
        chat.append(response)
        for result in provider.results(
            [ToolResult(call.id, get_weather("Oslo")) for call in message.tool_calls], message
        ):
            chat.append(tool_result(result["content"], result["tool_call_id"]))
        chat.sample()
        messages = seen[1].messages
        assert [one.tool_call_id for one in messages[2:]] == ["c1", "c2"]
        assert [call.id for call in messages[1].tool_calls] == ["c1", "c2"]


def test_calls_that_xai_ran() -> None:
    """They are in the same list: only those of the client's side are the caller's."""
    outputs = [
        {"message": {"role": "ROLE_ASSISTANT", "content": "Let me look. ", "tool_calls": [WEB]}},
        {"index": 1, "message": {"role": "ROLE_TOOL", "content": "4 C", "tool_calls": [WEB]}},
        {"index": 2, "message": {"role": "ROLE_ASSISTANT", "content": "And now.", "tool_calls": CALLS[:1]}},
    ]
    with serving(outputs) as (chats, _):
        message = parse_response(chats().sample())
    assert message.content == "Let me look. And now."
    assert [call.id for call in message.tool_calls] == ["c1"]
    assert [(call.name, call.id) for call in message.server_calls] == [("web_search", "s1")]
    assert [call["id"] for call in get_provider("xai").assistant(message)["tool_calls"]] == ["c1"]


def test_several_choices() -> None:
    outputs = [{"index": n, "message": {"role": "ROLE_ASSISTANT", "content": str(n)}} for n in range(2)]
    with serving(outputs) as (chats, _), pytest.warns(PendingDeprecationWarning):
        found = chats().sample_batch(2)
    assert [parse_response(one).content for one in found] == ["0", "1"]


def test_broken_arguments() -> None:
    """The SDK's `sample` cannot read them itself, its stream gives them."""
    from xai_sdk.chat import Response
    from xai_sdk.proto import chat_pb2

    calls = [{**CALLS[0], "function": {"name": "f", "arguments": text}} for text in ('{"city": ', "")]
    outputs = [{"message": {"role": "ROLE_ASSISTANT", "tool_calls": calls}}]
    response = Response(chat_pb2.GetChatCompletionResponse(outputs=outputs), 0)
    message = parse_response(response, on_error="collect")
    assert [(error.code, error.path) for error in message.errors] == [
        ("json.unexpected_end", "$.choices[0].message.tool_calls[0].function.arguments")
    ]
    assert [call.arguments for call in message.tool_calls] == [{}]


def test_citations_and_nothing_at_all() -> None:
    from xai_sdk.chat import Response
    from xai_sdk.proto import chat_pb2

    cited = {"id": "1", "end_index": 2, "web_citation": {"url": "https://x"}}
    outputs = [{"message": {"role": "ROLE_ASSISTANT", "content": "Hi", "citations": [cited]}} for _ in range(2)]
    proto = chat_pb2.GetChatCompletionResponse(outputs=outputs, citations=["https://x"], system_fingerprint="fp")
    message = parse_response(Response(proto, None))
    assert message.content == "HiHi"
    assert message.extra["openai_chat"] == {
        "citations": ["https://x"],
        "system_fingerprint": "fp",
        "message": {"citations": [cited, cited]},
    }
    empty = Response(chat_pb2.GetChatCompletionResponse(), None)
    assert detect_provider(empty) is Provider.XAI
    assert parse_response(empty).parts == []
