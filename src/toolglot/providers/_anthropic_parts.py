"""Blocks of Anthropic's messages as parts; and what it refuses of a history."""

from __future__ import annotations

from typing import Any, Final

from ..history import UserPart
from ..schema.subset import words
from ..types import FilePart, ImagePart, OpaquePart, TextPart
from ._turns import from_base64
from ._writing import Writing, base64_text, media_type

__all__ = ["PART", "RULES", "read_part", "user_part"]

_IMAGES: Final = words("image/png image/jpeg image/gif image/webp")
# The members of a block that `read_part` reads.
PART: Final = words("type text source title")
_UNANSWERED: Final = "messages.N: tool_use ids were found without tool_result blocks immediately after: toolu_…"
_FIRST: Final = (
    "Did not find 1 tool_result block(s) at the beginning of this message. Messages following tool_use blocks must "
    "begin with a matching number of tool_result blocks."
)
RULES: Final[dict[str, str | None]] = {
    "history.unknown_role": None,
    "history.orphan_call": _UNANSWERED,
    "history.results_not_adjacent": _UNANSWERED,
    "history.results_split": _FIRST,
    "history.text_before_results": _FIRST,
    "history.text_after_calls": _UNANSWERED,
    "history.orphan_result": "messages.8.content.0: unexpected tool_use_id found in tool_result blocks: toolu_… Each "
    "tool_result block must have a corresponding tool_use block in the previous message.",
    "history.duplicate_id": "messages.1.content.1: `tool_use` ids must be unique",
    "history.duplicate_result": None,
    "history.missing_id": None,
    "history.illegal_id": "messages.1.content.1.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
    "history.illegal_name": "tools.134.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'",
    "history.arguments_not_object": "messages.1.content.0.tool_use.input: Input should be a valid dictionary",
    "history.tools_missing": "Requests which include tool_use or tool_result blocks must define tools",
    "history.empty_text": "messages: text content blocks must be non-empty",
    "history.empty_message": None,
    "history.unsigned_reasoning": "messages.1.content.0.thinking.signature: Field required",
    "history.reasoning_order": "messages.5.content.0: If an assistant message contains any thinking blocks, the "
    "first block must be `thinking` or `redacted_thinking`. Found `text`.",
    "history.server_result_missing": "web_search tool use with id srvtoolu_… was found without a corresponding "
    "web_search_tool_result block",
}


def user_part(part: UserPart, path: str, out: Writing, own: dict[str, Any]) -> dict[str, Any] | None:
    """A part of a result or of a user's message as a block; None if there is none for it."""
    if isinstance(part, OpaquePart):
        return part.data  # type: ignore[no-any-return]
    if isinstance(part, TextPart):
        return {"type": "text", "text": part.text, **own} if part.text else None
    kind = "image" if isinstance(part, ImagePart) else "document"
    named = media_type(part)
    titled = {"title": part.name} if isinstance(part, FilePart) and part.name else {}
    source: dict[str, Any]
    if isinstance(part, FilePart) and part.id is not None:
        source = {"type": "file", "file_id": part.id}
    elif part.url is not None:
        source = {"type": "url", "url": part.url}
    elif part.data is None:
        out.lost("loss.part", path, "there is nothing in it")
        return None
    elif named in _IMAGES if kind == "image" else named == "application/pdf":
        source = {"type": "base64", "media_type": named, "data": base64_text(part.data)}
    elif kind == "document" and named == "text/plain":
        source = {"type": "text", "media_type": "text/plain", "data": part.data.decode("utf-8", "replace")}
    else:
        out.lost("loss.part", path, f"Anthropic takes nothing of the type {part.media_type!r:.80}")
        return None
    return {"type": kind, "source": source, **titled, **own}


def read_part(block: dict[str, Any]) -> TextPart | ImagePart | FilePart | None:
    """A block as a part; None if it is of another kind."""
    kind, source = block.get("type"), block.get("source")
    if kind == "text" and isinstance(block.get("text"), str):
        return TextPart(block["text"])
    if kind not in ("image", "document") or not isinstance(source, dict):
        return None
    title = block.get("title")
    made = ImagePart() if kind == "image" else FilePart(name=title if isinstance(title, str) else None)
    how, told = source.get("type"), source.get("media_type")
    if isinstance(told, str):
        made.media_type = told
    if how == "base64":
        made.data = from_base64(source.get("data"))
    elif how == "text" and isinstance(source.get("data"), str):
        made.data = source["data"].encode("utf-8", "surrogatepass")
    elif how == "url" and isinstance(source.get("url"), str):
        made.url = source["url"]
    elif how == "file" and isinstance(made, FilePart) and isinstance(source.get("file_id"), str):
        made.id = source["file_id"]
        return made
    return made if made.data is not None or made.url is not None else None
