"""Parts of messages as OpenAI's Chat Completions has them, and others after it; and what it refuses of a history."""

from __future__ import annotations

from typing import Any, Final

from ..schema.subset import words
from ..types import FilePart, ImagePart, OpaquePart, TextPart
from ._turns import from_base64, from_data_url, image_at
from ._writing import base64_text, data_url

__all__ = ["DEEPSEEK", "OPENROUTER", "PART", "RULES", "VLLM", "media_part", "read_part", "user_part"]

# The members of a part that `read_part` reads.
PART: Final = words("type text image_url file input_audio")
_SOUND: Final = {"audio/wav": "wav", "audio/mp3": "mp3", "audio/mpeg": "mp3"}

_UNANSWERED: Final = (
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The "
    "following tool_call_ids did not have response messages: call_…"
)
RULES: Final[dict[str, str | None]] = {
    "history.unknown_role": None,
    "history.orphan_call": _UNANSWERED,
    "history.results_not_adjacent": _UNANSWERED,
    "history.orphan_result": "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'",
    "history.duplicate_id": None,
    "history.duplicate_result": None,
    "history.missing_id": None,
    "history.illegal_id": "Invalid 'messages[36].tool_calls[0].id': string too long. Expected … maximum length 40",
    "history.illegal_name": "Invalid 'tools[5].function.name': string too long. Expected a string with maximum length "
    "64, but got a string with length 65 instead.",
}
DEEPSEEK: Final = {
    "history.orphan_call": f"{_UNANSWERED} (insufficient tool messages following tool_calls message)",
    "history.reasoning_missing": "The reasoning_content in the thinking mode must be passed back to the API.",
}
OPENROUTER: Final = {"history.tools_missing": None}
VLLM: Final = {"history.empty_arguments": None, "history.arguments_not_object": None}


def media_part(part: ImagePart | FilePart) -> dict[str, Any] | None:
    """An image or file as a part of a user's message; None if it cannot be one."""
    if isinstance(part, ImagePart):
        url = data_url(part)
        detail = {"detail": part.detail} if part.detail else {}
        return None if url is None else {"type": "image_url", "image_url": {"url": url, **detail}}
    if part.id is not None:
        return {"type": "file", "file": {"file_id": part.id}}
    if part.data is None:
        return None
    if part.media_type in _SOUND:
        sound = {"data": base64_text(part.data), "format": _SOUND[part.media_type]}
        return {"type": "input_audio", "input_audio": sound}
    data = f"data:{part.media_type};base64,{base64_text(part.data)}"
    return {"type": "file", "file": {"file_data": data, "filename": part.name or "file"}}


def user_part(part: Any, own: dict[str, Any]) -> Any:
    """A part of a user's message; ``own`` is what goes beside it. None if it cannot be one."""
    if isinstance(part, OpaquePart):
        return part.data
    made = {"type": "text", "text": part.text} if isinstance(part, TextPart) else media_part(part)
    return None if made is None else {**made, **own}


def read_part(part: dict[str, Any]) -> TextPart | ImagePart | FilePart | None:
    """A part of a message; None if it is of another kind."""
    kind = part.get("type")
    inner = part.get(kind) if isinstance(kind, str) else None
    if kind == "text" and isinstance(inner, str):
        return TextPart(inner)
    if not isinstance(inner, dict):
        return None
    if kind == "image_url":
        image = image_at(inner.get("url"))
        if image is not None and isinstance(inner.get("detail"), str):
            image.detail = inner["detail"]
        return image
    if kind == "file" and isinstance(inner.get("file_id"), str):
        return FilePart(id=inner["file_id"])
    if kind == "file" and (held := from_data_url(inner.get("file_data"))) is not None:
        name = inner.get("filename")
        return FilePart(*held, name if isinstance(name, str) else None)
    if kind == "input_audio" and inner.get("format") in ("wav", "mp3"):
        data = from_base64(inner.get("data"))
        return None if data is None else FilePart(data, f"audio/{inner['format']}")
    return None
