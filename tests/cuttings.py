"""One stream of every provider, cut in two at every offset of its bytes: always one and the same message.

``python tests/cuttings.py`` prints how many cuttings that was, a provider a line, and fails if one gave another message
or if a provider that streams has no recorded stream. `test_cuttings.py` tries some of them. Bedrock's need botocore.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import wires
from toolglot import Message, WireProvider, get_provider, providers

STREAMS = Path(__file__).parent / "sdk" / "streams"
# The recorded stream of each provider that is not called so; those that speak Chat Completions have OpenAI's.
NAMES = {"google": "gemini", "google_interactions": "interactions"}
MODEL = "anthropic.claude-v1"  # of InvokeModel


def streams() -> Iterator[tuple[str, WireProvider, bytes, Any]]:
    """``(name, provider, body, answer whole)`` of every provider."""
    for provider in providers():
        parser = get_provider(provider)
        if parser.wire == "mcp":  # it has no streams
            continue
        name = NAMES.get(provider.value, parser.wire.value)
        recorded = json.loads((STREAMS / f"{name}.json").read_text("utf-8"))
        yield provider.value, parser, wires.encoded(parser.wire.value, recorded["events"]), recorded["whole"]
    recorded = json.loads((STREAMS / "anthropic.json").read_text("utf-8"))
    parser = get_provider("bedrock").for_invoke_model(MODEL)  # type: ignore[attr-defined]
    yield "bedrock, InvokeModel", parser, wires.invoke_model(recorded["events"]), recorded["whole"]


def read(parser: WireProvider, *pieces: bytes) -> Message:
    """The message of a body in pieces."""
    stream = parser.stream(on_error="collect")
    for piece in pieces:
        stream.feed_bytes(piece)
    stream.close()
    return stream.message


def same(found: Message, expected: Message) -> bool:
    """Whether all is the same; calls are equal whatever their extra is."""
    extras = [[(call.extra, call.index) for call in message.tool_calls] for message in (found, expected)]
    return found == expected and extras[0] == extras[1]


def wrong(parser: WireProvider, body: bytes, whole: Any, step: int = 1) -> Iterator[str]:
    """What is not as it should be: in the cuttings at every ``step``-th offset, and in single bytes."""
    expected = parser.parse(whole)
    if len(expected.tool_calls) < 2:
        yield "the recorded stream has too few calls"
    if not same(read(parser, body), expected):
        yield "the stream is not the answer whole"
    if not same(read(parser, *(body[at : at + 1] for at in range(len(body)))), expected):
        yield "another message, in single bytes"
    for at in range(1, len(body), step):
        if not same(read(parser, body[:at], body[at:]), expected):
            yield f"another message, cut at {at}: {body[max(0, at - 20) : at]!r} | {body[at : at + 20]!r}"


def main() -> int:
    """Print the counts; 1 if anything was wrong."""
    failed = total = 0
    for name, parser, body, whole in streams():
        found = list(wrong(parser, body, whole))
        failed += len(found)
        total += len(body) - 1
        verdict = f"{len(found)} WRONG" if found else "one message"
        print(f"{name:<24}{len(body) - 1:>6} cuttings  {verdict}", flush=True)
        for line in found[:5]:
            print(f"    {line}")
    print(f"{'all':<24}{total:>6} cuttings  {f'{failed} WRONG' if failed else 'one message each'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
