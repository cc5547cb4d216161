"""What others make of the streams that go wrong, beside what we make of them.

``python tests/compare_streams.py`` prints two tables: chunks of Chat Completions through the OpenAI SDK's own
accumulator (``client.chat.completions.stream``), LangChain's (`AIMessageChunk`) and LiteLLM's (`stream_chunk_builder`);
blocks of Anthropic's through its SDK's (``client.messages.stream``). The SDKs get them as bytes from a server on this
machine. What is not installed is left out, with a note; the extra `sdk` has the SDKs.
"""

from __future__ import annotations

import json
import logging
import os
import textwrap
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import wires
from loopback import loopback
from toolglot import get_provider

Event = dict[str, Any]
# What an accumulator may raise that is no error of its SDK's own.
FAILURES = (ArithmeticError, AssertionError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)

# -- the streams


def _chat(*fragments: Event, reason: str = "tool_calls") -> list[Event]:
    """A chunk for each fragment of a call, and one with the end."""

    def chunk(delta: Event, reason: str | None = None) -> Event:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        return {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}

    said = chunk({"role": "assistant", "content": None})
    return [said, *(chunk({"tool_calls": [fragment]}) for fragment in fragments), chunk({}, reason)]


def _part(index: int | None = 0, id: str | None = None, name: str | None = None, arguments: str | None = None) -> Event:
    """A fragment of a call, as OpenAI has it; what is None is not there."""
    function = {"name": name, "arguments": arguments}
    members = {"index": index, "id": id, "type": id and "function"}
    return {
        **{key: value for key, value in members.items() if value is not None},
        "function": {key: value for key, value in function.items() if value is not None},
    }


CHAT: dict[str, list[Event]] = {
    "same index, different ids": _chat(_part(0, "c1", "f", '{"a":1}'), _part(0, "c2", "g", '{"b":2}')),
    "name resent": _chat(_part(0, "c1", "f", ""), _part(0, None, "f", '{"a":'), _part(0, None, "f", "1}")),
    "id resent": _chat(_part(0, "c1", "f", ""), _part(0, "c1", None, '{"a":'), _part(0, "c1", None, "1}")),
    "empty arguments": _chat(_part(0, "c1", "f", "")),
    'truncated {"a":"hel': _chat(_part(0, "c1", "f", ""), _part(0, arguments='{"a":"hel'), reason="length"),
    "truncated, and not said to be": _chat(_part(0, "c1", "f", ""), _part(0, arguments='{"a":"hel')),
    "no object: [1]": _chat(_part(0, "c1", "f", ""), _part(0, arguments="[1]")),
    "index 1 before index 0": _chat(_part(1, "c2", "g", '{"b":2}'), _part(0, "c1", "f", '{"a":1}')),
    "index missing": _chat(
        _part(None, "c1", "f", '{"a":'), _part(None, arguments="1}"), _part(None, "c2", "g", '{"b":2}')
    ),
}


def _blocks(*events: Event, reason: str = "tool_use") -> list[Event]:
    message = {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": [], "stop_reason": None}
    usage = {"input_tokens": 1, "output_tokens": 1}
    return [
        {"type": "message_start", "message": {**message, "stop_sequence": None, "usage": usage}},
        *events,
        {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}, "usage": usage},
        {"type": "message_stop"},
    ]


def _block(index: int | None, id: str, name: str, *pieces: str) -> list[Event]:
    at = {} if index is None else {"index": index}
    block = {"type": "tool_use", "id": id, "name": name, "input": {}}
    return [
        {"type": "content_block_start", **at, "content_block": block},
        *(
            {"type": "content_block_delta", **at, "delta": {"type": "input_json_delta", "partial_json": piece}}
            for piece in pieces
        ),
        {"type": "content_block_stop", **at},
    ]


# Names and ids are only in a block's start: they cannot be sent again.
BLOCKS: dict[str, list[Event]] = {
    "same index, different ids": _blocks(*_block(0, "c1", "f", '{"a":1}'), *_block(0, "c2", "g", '{"b":2}')),
    "empty arguments": _blocks(*_block(0, "c1", "f")),
    'truncated {"a":"hel': _blocks(*_block(0, "c1", "f", '{"a":', '"hel'), reason="max_tokens"),
    "truncated, and not said to be": _blocks(*_block(0, "c1", "f", '{"a":', '"hel')),
    "no object: [1]": _blocks(*_block(0, "c1", "f", "[1]")),
    "index 1 before index 0": _blocks(*_block(1, "c2", "g", '{"b":2}'), *_block(0, "c1", "f", '{"a":1}')),
    "index missing": _blocks(*_block(None, "c1", "f", '{"a":', "1}")),
}

# -- who reads them


def _shown(calls: list[tuple[Any, Any, Any]]) -> str:
    """Calls as ``id name arguments``; arguments that an accumulator leaves as text are in backticks."""
    return (
        "; ".join(
            f"{id} {name} {f'`{arguments}`' if isinstance(arguments, str) else json.dumps(arguments)}"
            for id, name, arguments in calls
        )
        or "no call"
    )


def _raised(error: BaseException) -> str:
    return f"raises {type(error).__name__}: {str(error)[:90]}"


def toolglot(provider: str, events: list[Event]) -> str:
    """Ours."""
    stream = get_provider(provider).stream(on_error="collect")
    stream.feed_bytes(wires.encoded(get_provider(provider).wire.value, events))
    stream.close()
    message = stream.message
    errors = [f"error {error.code}" for error in message.errors]
    calls = [_shown([(call.id, call.name, call.arguments)]) for call in message.tool_calls]
    return "; ".join(calls + errors) or "no call"


def openai(url: str) -> str:
    """The OpenAI SDK's."""
    sdk = import_module("openai")
    with sdk.OpenAI(api_key="none", base_url=url, max_retries=0) as client:
        messages = [{"role": "user", "content": "?"}]
        try:
            with client.chat.completions.stream(model="m", messages=messages) as stream:
                choice = stream.get_final_completion().choices[0]
        except sdk.OpenAIError as error:
            return _raised(error)
    calls = choice.message.tool_calls or []
    return _shown([(call.id, call.function.name, call.function.arguments) for call in calls])


def anthropic(url: str) -> str:
    """Anthropic's SDK's."""
    sdk = import_module("anthropic")
    with sdk.Anthropic(api_key="none", base_url=url, max_retries=0) as client:
        messages = [{"role": "user", "content": "?"}]
        try:
            with client.messages.stream(model="m", max_tokens=9, messages=messages) as stream:
                content = stream.get_final_message().content
        except sdk.AnthropicError as error:
            return _raised(error)
    return _shown([(block.id, block.name, block.input) for block in content if block.type == "tool_use"])


def langchain(events: list[Event]) -> str:
    """LangChain's: chunks of messages are added up."""
    messages = import_module("langchain_core.messages")
    whole = messages.AIMessageChunk(content="")
    for event in events:
        for item in event["choices"][0]["delta"].get("tool_calls", ()):
            function = item["function"]
            chunk = {"name": function.get("name"), "args": function.get("arguments"), "id": item.get("id")}
            chunk |= {"index": item.get("index"), "type": "tool_call_chunk"}
            whole += messages.AIMessageChunk(content="", tool_call_chunks=[chunk])
    made = _shown([(call["id"], call["name"], call["args"]) for call in whole.tool_calls])
    broken = _shown([(call["id"], call["name"], call["args"]) for call in whole.invalid_tool_calls])
    return made if not whole.invalid_tool_calls else f"{made}; invalid: {broken}"


def litellm(events: list[Event]) -> str:
    """LiteLLM's."""
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # else it asks the network for prices
    logging.disable(logging.CRITICAL)
    package = import_module("litellm")
    package.suppress_debug_info = True
    chunk = import_module("litellm.types.utils").ModelResponseStream
    found = package.stream_chunk_builder([chunk(**event) for event in events])
    calls = found.choices[0].message.tool_calls or []
    return _shown([(call.id, call.function.name, call.function.arguments) for call in calls])


def _served(read: Callable[[str], str]) -> Callable[[list[Event]], str]:
    """A reader of a server that answers with the events."""

    def run(events: list[Event]) -> str:
        with loopback() as server:
            wire = "openai_chat" if "choices" in events[0] else "anthropic"
            server.pieces = [wires.encoded(wire, events)]
            return read(server.url)

    return run


def column(read: Callable[[list[Event]], str], cases: Mapping[str, list[Event]]) -> list[str]:
    """What one reader makes of all cases; an error is what it makes of it, too."""
    cells = []
    for events in cases.values():
        try:
            cells.append(read(events))
        except FAILURES as error:
            cells.append(_raised(error))
    return cells


def table(title: str, cases: Mapping[str, list[Event]], columns: Mapping[str, list[str]]) -> None:
    """Print it: a case has a line for each reader."""
    print(f"\n{title}")
    width = max(map(len, columns))
    for number, case in enumerate(cases):
        print(f"\n  {case}")
        for name, cells in columns.items():
            lines = textwrap.wrap(cells[number], 100, break_long_words=False) or [""]
            print(f"    {name:<{width}}  {lines[0]}")
            for line in lines[1:]:
                print(f"    {'':<{width}}  {line}")


def installed(package: str) -> str | None:
    """A package with its version; None, and a note, if it is not installed."""
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        print(f"{package} is not installed: its column is left out")
        return None


def main() -> None:
    """Print both tables."""
    readers: list[tuple[str, Callable[[list[Event]], str], bool]] = [
        ("openai", _served(openai), True),
        ("langchain-core", langchain, True),
        ("litellm", litellm, True),
        ("anthropic", _served(anthropic), False),
    ]
    chat = {"toolglot": column(lambda events: toolglot("openai", events), CHAT)}
    blocks = {"toolglot": column(lambda events: toolglot("anthropic", events), BLOCKS)}
    for package, read, chunks in readers:
        name = installed(package)
        if name is not None:
            (chat if chunks else blocks)[name] = column(read, CHAT if chunks else BLOCKS)
    print("Arguments in backticks are text that nobody has parsed.")
    table("Chunks of Chat Completions", CHAT, chat)
    table("Blocks of Anthropic's", BLOCKS, blocks)


if __name__ == "__main__":
    main()
