"""Conversations: the one that is written for every API, how a turn is told as JSON, and the cases of each wire format.

``tests/histories/<wire format>.json`` holds what is true of one, written by hand from the API's specification:

    source           where the facts come from
    provider         who is asked, if that is not the wire format's own
    detect           whose detection says that messages are, which look like another's
    results          the texts of the conversation's results as they are read, if they are not as they were
    written, losses  `CONVERSATION` as the API has it, and the codes and paths of what it cannot carry
    history, turns   a history of the API's own with whatever it has, and what is read of it, as `told` tells it
    read_losses      the codes and paths of what is not read
    faults           each with a ``name``, ``messages`` (or a request), ``tools``, and ``problems``: code, path, and a
                     word that the detail has; ``repaired`` and ``repairs`` are what becomes of it with repair=True. A
                     fault of a dialect names its ``provider``.
"""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toolglot import (
    CallPart,
    FilePart,
    ImagePart,
    Message,
    OpaquePart,
    ReasoningPart,
    SystemMessage,
    TextPart,
    ToolCall,
    ToolResult,
    Turn,
    UserMessage,
    WireProvider,
    get_provider,
)
from toolglot.providers._names import DEFAULT, WireFormat

FOLDER = Path(__file__).parent / "histories"
PNG = base64.b64decode("iVBORw0KGgo=")
TOOLS = ["get_weather", "get_time", "take_picture"]

# Ten turns of the conversation: parallel calls, an error, an image, reasoning, no ids that anyone else made.
CONVERSATION: list[Turn] = [
    SystemMessage("Be brief."),
    UserMessage([TextPart("Weather and time here?"), ImagePart(PNG)]),
    Message(
        content="I look.",
        reasoning="Two lookups.",
        tool_calls=[
            ToolCall("get_weather", {"city": "Oslo", "days": 2}, "call_1"),
            ToolCall("get_time", {}, "call_2"),
        ],
    ),
    # In another order than the calls.
    ToolResult.failure("call_2", "clock offline"),
    ToolResult("call_1", {"temp_c": 4}),
    Message(tool_calls=[ToolCall("take_picture", {"zoom": 1.5}, "call_3")]),
    ToolResult("call_3", [TextPart("A harbour."), ImagePart(PNG)]),
    Message(content="4 degrees, and this is how it looks."),
    UserMessage("And now?"),
    Message(tool_calls=[ToolCall("get_weather", {"city": "Oslo"}, "call_4")]),
    ToolResult("call_4", "5 C"),
]


@dataclass(frozen=True)
class Case:
    """The cases of one wire format."""

    wire: str
    data: dict[str, Any]

    @property
    def parser(self) -> WireProvider:
        """Who is asked."""
        return get_provider(self.data.get("provider", DEFAULT[WireFormat(self.wire)]))

    def __str__(self) -> str:
        return self.wire


_KEYS = {
    "source",
    "provider",
    "detect",
    "results",
    "written",
    "losses",
    "history",
    "turns",
    "problems",
    "read_losses",
    "faults",
}
_FAULT = {"name", "provider", "messages", "tools", "problems", "repaired", "repairs"}


def cases() -> list[Case]:
    """The cases of every wire format, checked for keys that nobody reads."""
    found = []
    for path in sorted(FOLDER.glob("*.json")):
        data = json.loads(path.read_text("utf-8"))
        assert set(data) <= _KEYS, f"{path}: {set(data) - _KEYS}"
        for fault in data["faults"]:
            assert set(fault) <= _FAULT, f"{path}: {set(fault) - _FAULT}"
        assert data["source"], path
        found.append(Case(path.stem, data))
    return found


def told(turn: Turn) -> dict[str, Any]:
    """A turn as JSON, without what only its provider can read beside it."""
    if isinstance(turn, SystemMessage):
        return {"system": _content(turn.content)}
    if isinstance(turn, UserMessage):
        return {"user": _content(turn.content)}
    if isinstance(turn, ToolResult):
        named = {"name": turn.tool_name} if turn.tool_name is not None else {}
        return {
            "result": _content(turn.content),
            "id": turn.tool_call_id,
            **named,
            **({"error": True} if turn.is_error else {}),
        }
    broken = {"broken": [error.code for error in turn.errors]} if turn.errors else {}
    return {"assistant": [_part(part) for part in turn.parts], **broken}


def _content(content: Any) -> Any:
    if isinstance(content, list) and any(not isinstance(part, (dict, str, int)) for part in content):
        return [_part(part) for part in content]
    return content


def _part(part: Any) -> dict[str, Any]:
    if isinstance(part, TextPart):
        return {"text": part.text}
    if isinstance(part, ReasoningPart):
        return {"reasoning": part.text}
    if isinstance(part, OpaquePart):
        return {"opaque": part.data}
    if isinstance(part, CallPart):
        call = part.call
        if call.kind == "custom":
            return {"custom": call.name, "input": call.input, "id": call.id}
        return {"server" if call.kind == "server" else "call": call.name, "arguments": call.arguments, "id": call.id}
    what = "image" if isinstance(part, ImagePart) else "file"
    named = {"name": part.name} if isinstance(part, FilePart) and part.name else {}
    if isinstance(part, FilePart) and part.id is not None:
        return {"file_id": part.id}
    if part.url is not None:
        return {f"{what}_url": part.url, **named}
    return {what: base64.b64encode(part.data or b"").decode(), "media_type": part.media_type, **named}


def text_of(content: Any) -> str:
    """The text in the content of a result."""
    if isinstance(content, str):
        return content
    if isinstance(content, list) and content and not isinstance(content[0], (dict, str, int)):
        return "".join(part.text for part in content if isinstance(part, TextPart))
    return json.dumps(content)


def answers(turns: list[Turn]) -> list[tuple[str, dict[str, Any], str | None]]:
    """Each call of a history with the text of its result, paired by ids within a turn, or else in their order."""
    found: list[tuple[str, dict[str, Any], str | None]] = []
    for number, turn in enumerate(turns):
        if not isinstance(turn, Message):
            continue
        calls = [part.call for part in turn.parts if isinstance(part, CallPart)] or turn.tool_calls
        behind = []
        for other in turns[number + 1 :]:
            if isinstance(other, Message):
                break
            behind += [other] if isinstance(other, ToolResult) else []
        for place, call in enumerate(call for call in calls if call.kind != "server"):
            own = [one for one in behind if one.tool_call_id == call.id and call.id is not None]
            own = behind[place : place + 1] if call.id is None else own
            found.append((call.name, call.arguments, text_of(own[0].content) if own else None))
    return found
