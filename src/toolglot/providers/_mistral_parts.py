"""Chunks of Mistral's messages; and what it refuses of a history."""

from __future__ import annotations

from typing import Any, Final

from ..history import UserPart
from ..schema.subset import words
from ..types import FilePart, ImagePart, OpaquePart, TextPart
from ._turns import from_data_url, image_at
from ._writing import Writing, base64_text, data_url

__all__ = ["CHUNK", "RULES", "chunk_of", "is_text", "read_chunk"]

_TEXT: Final = words("type text")
# The members of a chunk that `read_chunk` reads.
CHUNK: Final = words("type text image_url file_id document_url document_name")
RULES: Final[dict[str, str | None]] = {
    "history.unknown_role": None,
    "history.orphan_call": "Not the same number of function calls and responses",
    "history.orphan_result": "Unexpected tool call id … in tool results",
    "history.results_not_adjacent": "Unexpected role 'tool' after role 'user'",
    "history.duplicate_id": "Duplicate tool call id … in assistant message",
    "history.duplicate_result": "Duplicate tool call id … in tool results",
    "history.missing_id": "Tool call id has to be defined.",
    "history.illegal_id": "Tool call id was call_… but must be a-z, A-Z, 0-9, with a length of 9.",
    "history.illegal_name": "Function name was … but must be a-z, A-Z, 0-9, or contain underscores and dashes, with a "
    "maximum length of 64.",
    "history.user_after_tool": "Unexpected role 'user' after role 'tool'",
    "history.turn_order": "Unexpected role 'system' after role 'assistant'",
}


def is_text(chunk: Any) -> bool:
    """Whether a chunk is text and nothing else."""
    return (
        isinstance(chunk, dict) and chunk.keys() == _TEXT and chunk["type"] == "text" and isinstance(chunk["text"], str)
    )


def chunk_of(part: UserPart, path: str, out: Writing, own: dict[str, Any]) -> dict[str, Any] | None:
    """A part of a result or of what a user said as a chunk; ``own`` is what goes beside it. None if there is none."""
    if isinstance(part, OpaquePart):
        return part.data  # type: ignore[no-any-return]
    if isinstance(part, TextPart):
        return {"type": "text", "text": part.text, **own}
    if isinstance(part, FilePart) and part.id is not None:
        return {"type": "file", "file_id": part.id, **own}
    url = data_url(part)
    if url is None:
        out.lost("loss.part", path, "there is nothing in it")
        return None
    if isinstance(part, ImagePart):
        detail = {"detail": part.detail} if part.detail else {}
        return {"type": "image_url", "image_url": {"url": url, **detail}, **own}
    if part.media_type.startswith("audio/"):
        return {"type": "input_audio", "input_audio": url if part.data is None else base64_text(part.data), **own}
    return {"type": "document_url", "document_url": url, **({"document_name": part.name} if part.name else {}), **own}


def read_chunk(chunk: dict[str, Any]) -> TextPart | ImagePart | FilePart | None:
    """A chunk as a part; None if it is of another kind. Of sound nobody says of which type it is."""
    kind, name = chunk.get("type"), chunk.get("document_name")
    held = chunk.get(kind) if isinstance(kind, str) else None
    if kind == "text" and isinstance(held, str):
        return TextPart(held)
    if kind == "image_url":
        image = image_at(held.get("url") if isinstance(held, dict) else held)
        if image is not None and isinstance(held, dict) and isinstance(held.get("detail"), str):
            image.detail = held["detail"]
        return image
    if kind == "file" and isinstance(chunk.get("file_id"), str):
        return FilePart(id=chunk["file_id"])
    if kind != "document_url" or not isinstance(held, str):
        return None
    made = FilePart(name=name if isinstance(name, str) else None)
    data = from_data_url(held)
    if data is None:
        made.url = held
    else:
        made.data, made.media_type = data
    return made
