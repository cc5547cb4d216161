"""Streams as their bytes: how each wire format's events travel."""

from __future__ import annotations

import base64
import json
import struct
import zlib
from typing import Any


def encoded(wire: str, events: list[dict[str, Any]]) -> bytes:
    """The body of a response that holds ``events``."""
    if wire == "ollama":
        return b"".join(json.dumps(event, ensure_ascii=False).encode() + b"\n" for event in events)
    if wire == "bedrock":
        return b"".join(_frame(event) for event in events)
    out = b""
    for event in events:
        name = event.get("type") or event.get("event_type")
        named = isinstance(name, str) and wire not in ("openai_chat", "gemini", "mistral")
        out += f"event: {name}\n".encode() if named else b""
        out += b"data: " + json.dumps(event, ensure_ascii=False).encode() + b"\n\n"
    return out + (b"data: [DONE]\n\n" if wire in ("openai_chat", "mistral", "gemini_interactions") else b"")


def _frame(event: dict[str, Any]) -> bytes:
    """An event of ConverseStream in Amazon's binary encoding."""
    ((name, value),) = event.items()
    failed = name.endswith("Exception")
    headers = {
        ":exception-type" if failed else ":event-type": name,
        ":content-type": "application/json",
        ":message-type": "exception" if failed else "event",
    }
    return frame(headers, json.dumps(value, ensure_ascii=False).encode())


def frame(headers: dict[str, str], payload: bytes) -> bytes:
    """One message of an event stream: prelude, headers, payload, each half with its checksum."""
    block = b"".join(
        struct.pack("!B", len(name)) + name.encode() + b"\x07" + struct.pack("!H", len(value)) + value.encode()
        for name, value in headers.items()
    )
    prelude = struct.pack("!II", 12 + len(block) + len(payload) + 4, len(block))
    body = prelude + struct.pack("!I", zlib.crc32(prelude)) + block + payload
    return body + struct.pack("!I", zlib.crc32(body))


def invoke_model(events: list[dict[str, Any]]) -> bytes:
    """The events of InvokeModelWithResponseStream: each is base64 in a ``chunk``."""
    pieces = [json.dumps({"bytes": base64.b64encode(json.dumps(event).encode()).decode()}).encode() for event in events]
    return b"".join(
        frame({":event-type": "chunk", ":content-type": "application/json", ":message-type": "event"}, piece)
        for piece in pieces
    )
