"""What a program gets: messages, events and errors as plain JSON values."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from ..codes import CodeInfo
from ..errors import LimitError, ParseError, ToolglotError
from ..events import (
    ErrorEvent,
    Event,
    ReasoningDelta,
    ReasoningReclassified,
    TextDelta,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
)
from ..explanation import Explanation
from ..history import HistoryRepair, Problem
from ..types import Loss, Message, Repair, ToolCall


def call_data(call: ToolCall) -> dict[str, Any]:
    """A call with everything that is known about it."""
    data: dict[str, Any] = {
        "index": call.index,
        "id": call.id,
        "name": call.name,
        "arguments": call.arguments,
        "format": call.format,
        "span": call.span,
    }
    if call.id_synthesized:
        data["id_synthesized"] = True
    if call.kind != "function":
        data["kind"] = call.kind
        data["input"] = call.input
    return data


def error_data(error: ToolglotError) -> dict[str, Any]:
    """An error: its code and message, and where it stands if it is about a text."""
    data: dict[str, Any] = {"code": error.code, "message": str(error)}
    if isinstance(error, ParseError):
        data |= {
            "message": error.text,
            "position": error.position,
            "line": error.line,
            "column": error.column,
            "expected": error.expected,
            "call_index": error.call_index,
            "name": error.name,
            "format": error.format,
            "path": error.path,
            "span": error.span,
            "raw": error.raw,
            "context": error.context() or None,
            "nearest": list(error.nearest),
            "signature": error.signature,
            "violations": [asdict(violation) for violation in error.violations],
            "partial_arguments": error.partial_arguments,
            "feedback": error.feedback(),
        }
    elif isinstance(error, LimitError):
        data |= {"position": error.position, "limit": error.limit}
    return data


def repair_data(repair: Repair) -> dict[str, Any]:
    """One mend."""
    return {"code": repair.code, "span": repair.span, "before": repair.before, "after": repair.after}


def loss_data(loss: Loss) -> dict[str, Any]:
    """One loss."""
    return {"code": loss.code, "path": loss.path, "detail": loss.detail}


def history_repair_data(repair: HistoryRepair) -> dict[str, Any]:
    """One mend of a history."""
    return {"code": repair.code, "path": repair.path, "detail": repair.detail}


def problem_data(problem: Problem) -> dict[str, Any]:
    """One thing that an API would refuse."""
    return {"code": problem.code, "path": problem.path, "detail": problem.detail, "rule": problem.rule}


def message_data(message: Message, errors: Iterable[ToolglotError]) -> dict[str, Any]:
    """The whole answer to one output. ``errors`` are the message's own and the one that was raised."""
    return {
        "type": "message",
        "format": message.format,
        "provider": message.provider,
        "content": message.content,
        "reasoning": message.reasoning,
        "tool_calls": [call_data(call) for call in message.tool_calls],
        "server_calls": [call_data(call) for call in message.server_calls],
        "errors": [error_data(error) for error in errors],
        "repairs": [repair_data(repair) for repair in message.repairs],
        "losses": [loss_data(loss) for loss in message.losses],
        "notes": list(message.notes),
        "stop_reason": message.stop_reason,
    }


def code_data(info: CodeInfo) -> dict[str, Any]:
    """A code explained."""
    return {"type": "code", **asdict(info)}


def explanation_data(found: Explanation) -> dict[str, Any]:
    """Why a text was read as it was."""
    repaired = found.repaired
    return {
        "type": "explanation",
        "message": message_data(found.message, found.message.errors),
        "feedback": found.message.feedback(),
        "repaired": None if repaired is None else message_data(repaired, repaired.errors),
        "candidates": [asdict(candidate) for candidate in found.candidates],
        "more_places": found.more_places,
        "too_long": found.too_long,
        "readings": [
            {"formats": list(reading.formats), "message": message_data(reading.message, reading.message.errors)}
            for reading in found.readings
        ],
    }


def event_data(event: Event) -> dict[str, Any]:
    """One event; ``type`` says which."""
    data: dict[str, Any]
    if isinstance(event, TextDelta):
        data = {"type": "text_delta", "text": event.text}
    elif isinstance(event, ReasoningDelta):
        data = {"type": "reasoning_delta", "text": event.text}
    elif isinstance(event, ReasoningReclassified):
        data = {"type": "reasoning_reclassified"}
    elif isinstance(event, ToolCallStart):
        data = {"type": "tool_call_start", "index": event.index, "id": event.id, "name": event.name}
    elif isinstance(event, ToolCallDelta):
        data = {"type": "tool_call_delta", "index": event.index, "arguments": event.arguments}
    elif isinstance(event, ToolCallEnd):
        data = {"type": "tool_call_end", "index": event.index, "call": call_data(event.call)}
    elif isinstance(event, ErrorEvent):
        data = {"type": "error", "error": error_data(event.error)}
    data["span"] = event.span
    return data
