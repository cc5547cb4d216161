"""Blocks of Converse's messages as parts; blobs; and what Converse refuses of a history."""

from __future__ import annotations

from base64 import b64decode
from typing import Any, Final

from ..schema.subset import words
from ..types import FilePart, ImagePart, TextPart, json_text
from ._payload import Path
from ._reading import rest
from ._turns import TurnReader, from_base64
from ._writing import base64_text

__all__ = ["DOCUMENTS", "IMAGES", "RULES", "VIDEOS", "blobs", "content_of"]

IMAGES: Final = {f"image/{name}": name for name in ("png", "jpeg", "gif", "webp")}
VIDEOS: Final = {f"video/{name}": name for name in ("mp4", "webm", "mpeg")} | {
    "video/x-matroska": "mkv",
    "video/quicktime": "mov",
    "video/x-flv": "flv",
    "video/x-ms-wmv": "wmv",
    "video/3gpp": "three_gp",
}
DOCUMENTS: Final = {
    "application/pdf": "pdf",
    "text/csv": "csv",
    "text/html": "html",
    "text/plain": "txt",
    "text/markdown": "md",
    "application/msword": "doc",
    "application/vnd.ms-excel": "xls",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
}
_TYPES: Final = {
    "image": {name: kind for kind, name in IMAGES.items()},
    "video": {name: kind for kind, name in VIDEOS.items()} | {"mpg": "video/mpeg"},
    "document": {name: kind for kind, name in DOCUMENTS.items()},
}
_HELD: Final = words("format name source")
_PART: Final = words("text json image video document guardContent")
_UNANSWERED: Final = "Expected toolResult blocks at messages.2.content for the following Ids: tooluse_…"
_TOO_MANY: Final = (
    "The number of toolResult blocks at messages.2.content exceeds the number of toolUse blocks of previous turn."
)
RULES: Final[dict[str, str | None]] = {
    "history.unknown_role": None,
    "history.orphan_call": _UNANSWERED,
    "history.results_not_adjacent": _UNANSWERED,
    "history.results_split": _UNANSWERED,
    "history.orphan_result": _TOO_MANY,
    "history.duplicate_result": _TOO_MANY,
    "history.duplicate_id": None,
    "history.missing_id": None,
    "history.illegal_id": None,
    "history.illegal_name": None,
    "history.arguments_not_object": None,
    "history.tools_missing": "The toolConfig field must be defined when using toolUse and toolResult content blocks.",
    "history.empty_result": "The content field at messages.<n>.content.0.toolResult cannot be empty when status value "
    "is error.",
    "history.empty_text": "The text field in the ContentBlock object at messages.0.content.0 is blank. Add text to the "
    "text field, and try again.",
    "history.empty_message": "The content field in the Message object at messages.0 is empty. Add a ContentBlock "
    "object to the content field and try again.",
}
_TEXT: Final = words("text")


def content_of(blocks: Any, at: Path, turns: TurnReader) -> Any:
    """The content of a message or of a result: a text or a JSON value by itself, else a list of parts."""
    block = blocks[0] if isinstance(blocks, list) and len(blocks) == 1 and isinstance(blocks[0], dict) else {}
    if block.keys() == {"text"} and isinstance(block["text"], str):
        return block["text"]
    if block.keys() == {"json"} and isinstance(block["json"], dict):
        return block["json"]
    return turns.content(blocks, at, _read_part, _PART) or ""


def _read_part(block: dict[str, Any]) -> TextPart | ImagePart | FilePart | None:
    """A block as a part; None if it is of another kind."""
    if isinstance(block.get("text"), str):
        return TextPart(block["text"])
    if "json" in block:
        try:
            return TextPart(json_text(block["json"]))
        except (TypeError, ValueError, RecursionError):
            return None
    guarded = block["guardContent"].get("text") if isinstance(block.get("guardContent"), dict) else None
    if isinstance(guarded, dict) and isinstance(guarded.get("text"), str):
        return TextPart(guarded["text"], extra={"guardContent": rest(guarded, _TEXT) or {}})
    for kind, types in _TYPES.items():
        held = block.get(kind)
        source = held.get("source") if isinstance(held, dict) else None
        if not isinstance(held, dict) or not isinstance(source, dict):
            continue
        data, text = source.get("bytes"), source.get("text")
        data = data if isinstance(data, bytes) else from_base64(data)
        if isinstance(text, str):
            data = text.encode("utf-8", "surrogatepass")
        place = source.get("s3Location")
        url = place.get("uri") if isinstance(place, dict) and place.keys() == {"uri"} else None
        form = held.get("format", "txt" if isinstance(text, str) else None)
        media_type = types.get(form) if isinstance(form, str) else None
        if media_type is None or (data is None and not isinstance(url, str)):
            return None
        extra = rest(held, _HELD) or {}
        if kind == "image":
            return ImagePart(data, media_type, url, extra=extra)
        name = held.get("name")
        return FilePart(data, media_type, name if isinstance(name, str) else None, url, extra=extra)
    return None


def blobs(node: Any, raw: bool, depth: int = 0) -> Any:
    """A block with its blobs as bytes or as base64, however they came: boto3 gives bytes, JSON has base64. It is the
    very same one if there are none.
    """
    if isinstance(node, list):
        items = [blobs(item, raw, depth) for item in node]
        return node if all(one is other for one, other in zip(items, node, strict=True)) else items
    if not isinstance(node, dict) or depth > 10:  # they stand no deeper
        return node
    made = {}
    for key, value in node.items():
        if key in ("input", "json"):  # what a model or a tool says has no blobs
            made[key] = value
            continue
        if key in ("bytes", "redactedContent"):
            if raw and isinstance(value, str):
                try:
                    value = b64decode(value, validate=True)
                except ValueError:
                    pass  # not base64: not ours to mend
            elif not raw and isinstance(value, bytes):
                value = base64_text(value)
        made[key] = blobs(value, raw, depth + 1)
    return node if all(made[key] is value for key, value in node.items()) else made
