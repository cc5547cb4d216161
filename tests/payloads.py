"""The recorded payloads: what an API's JSON means, and what has to be written for it, from its specification.

A case is ``tests/providers/<wire format>/<case>.json``:

    tags, source     what the case is about, and where the fact comes from
    provider         whose dialect; else the wire format's own provider
    payload, text    a response, as JSON or as text
    message          what is in it; or ``messages``, where there are several choices
    detect           what detection says, where that is not the provider
    assistant        the message written back, as the API wants it in a history
    tools, choice    a request's tools and choice, and ``request``, its members
    results, calls   results of tools, and ``written``, what goes back
    losses           codes and paths of what could not be written
    stream           the events of a stream; with ``payload``, those of the same answer, which gives the same message

In a stream's message the path of an error is that in the response which the events make.

In a message everything that is not said is empty; ``at`` of an error is the text from its position on.
"""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toolglot import FilePart, ImagePart, TextPart, ToolCall, ToolResult

FOLDER = Path(__file__).parent / "providers"

_KEYS = {"tags", "source", "provider", "payload", "text", "message", "messages", "detect", "assistant", "tools"}
_KEYS |= {"choice", "request", "results", "calls", "written", "losses", "stream"}


@dataclass(frozen=True)
class Payload:
    """One case; ``data`` is the whole file."""

    wire: str
    name: str
    data: dict[str, Any]

    @property
    def text(self) -> str:
        """The response as text."""
        return self.data["text"] if "text" in self.data else json.dumps(self.data["payload"])

    @property
    def is_response(self) -> bool:
        """Whether there is something to parse."""
        return "text" in self.data or "payload" in self.data


def cases() -> list[Payload]:
    """Every case, checked for keys that nobody reads."""
    found = []
    for path in sorted(FOLDER.glob("*/*.json")):
        data = json.loads(path.read_text("utf-8"))
        assert set(data) <= _KEYS, f"{path}: {set(data) - _KEYS}"
        assert data["tags"] and data["source"], path
        found.append(Payload(path.parent.name, path.stem, data))
    return found


def result(data: dict[str, Any]) -> ToolResult:
    """A result of a case."""
    content = data["content"]
    if isinstance(content, list) and content and isinstance(content[0], dict):
        content = [_part(part) for part in content]
    return ToolResult(data["tool_call_id"], content, data.get("tool_name"), data.get("is_error", False))


def _part(data: dict[str, Any]) -> TextPart | ImagePart | FilePart:
    if "text" in data:
        return TextPart(data["text"])
    if "image" in data:
        return ImagePart(base64.b64decode(data["image"]), data["media_type"])
    if "file_id" in data:
        return FilePart(id=data["file_id"])
    return FilePart(base64.b64decode(data["file"]), data["media_type"], data.get("name"))


def call(data: dict[str, Any]) -> ToolCall:
    """A call of a case."""
    return ToolCall(
        data["name"],
        data.get("arguments", {}),
        data.get("id"),
        kind=data.get("kind", "function"),
        input=data.get("input"),
        extra=data.get("extra", {}),
    )
