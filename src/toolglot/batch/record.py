"""A message as the row that is written: plain JSON values under the names of `COLUMNS`."""

from __future__ import annotations

from typing import Any

from ..errors import BatchError, LimitError, ParseError, ToolglotError
from ..types import Message, ToolCall

Record = dict[str, Any]


def record_of(message: Message) -> Record:
    """The row of a message."""
    return {
        "format": message.format,
        "provider": message.provider,
        "content": message.content,
        "reasoning": message.reasoning,
        "tool_calls": [_call(call) for call in message.tool_calls],
        "server_calls": [] if message.provider is None else [_call(call) for call in message.server_calls],
        "errors": [_error(error) for error in message.errors],
        "repairs": [
            {"code": one.code, "span": one.span, "before": one.before, "after": one.after} for one in message.repairs
        ],
        "losses": [{"code": one.code, "path": one.path, "detail": one.detail} for one in message.losses],
        "notes": message.notes,
        "stop_reason": message.stop_reason,
    }


def broken(error: ToolglotError) -> Record:
    """The row of what could not be read."""
    record = record_of(Message())
    record["errors"] = [_error(error)]
    return record


def lone_surrogate() -> BatchError:
    """What to say of a row whose result cannot be written."""
    return BatchError("half of a surrogate pair stands alone in what was read", "batch.invalid_encoding")


def _call(call: ToolCall) -> Record:
    return {
        "index": call.index,
        "id": call.id,
        "name": call.name,
        # Text, so that one schema fits every tool and numbers stay as they were written.
        "arguments": call.arguments_json,
        "format": call.format,
        "span": call.span,
        "kind": call.kind,
        "input": call.input,
        "id_synthesized": call.id_synthesized,
    }


def _error(error: ToolglotError) -> Record:
    if isinstance(error, ParseError):
        return {
            "code": error.code,
            "message": error.text,
            "position": error.position,
            "line": error.line,
            "column": error.column,
            "span": error.span,
            "raw": error.raw,
            "expected": error.expected,
            "call_index": error.call_index,
            "name": error.name,
            "format": error.format,
            "path": error.path,
        }
    position = error.position if isinstance(error, (BatchError, LimitError)) else None
    return {**_NOWHERE, "code": error.code, "message": str(error), "position": position}


_NOWHERE: Record = dict.fromkeys(
    ("code", "message", "position", "line", "column", "span", "raw", "expected", "call_index", "name", "format", "path")
)
