"""Items of OpenAI's Responses and the parts in them; and what it refuses of a history."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from ..history import Turns, UserPart
from ..schema.subset import words
from ..types import FilePart, ImagePart, Message, OpaquePart, TextPart, ToolResult
from ._history import Report
from ._reading import rest
from ._turns import SOURCE, TurnReader, from_data_url, image_at
from ._writing import Writing, data_url, numbered, result_parts, result_text

__all__ = [
    "CALLS",
    "MESSAGE",
    "OUTPUTS",
    "PART",
    "RULES",
    "check",
    "message",
    "output",
    "read_part",
    "read_turn",
    "runs",
    "say",
]

# What goes beside a part, of its `extra`.
Own = Callable[[dict[str, Any]], dict[str, Any]]

CALLS: Final = ("function_call", "custom_tool_call")
OUTPUTS: Final = ("function_call_output", "custom_tool_call_output")
# What of the other items the client sends; everything else is the model's, or OpenAI's for it.
_SENT: Final = words(
    "computer_call_output local_shell_call_output shell_call_output apply_patch_call_output mcp_approval_response "
    "additional_tools compaction_trigger configuration_update"
) | {*OUTPUTS}
# How the id of an item begins.
_PREFIXES: Final = {"function_call": "fc", "custom_tool_call": "ctc", "reasoning": "rs", "message": "msg"}
MESSAGE: Final = words("type role content")
_RESULT: Final = words("type call_id output name")
# The members of a part that `read_part` reads.
PART: Final = words("type text image_url detail file_id file_data file_url filename")

RULES: Final[dict[str, str | None]] = {
    "history.unknown_role": None,
    "history.orphan_call": "No tool output found for function call call_…",
    "history.orphan_result": "No tool call found for function call output with call_id call_…",
    "history.duplicate_id": None,
    "history.duplicate_result": None,
    "history.missing_id": None,
    # Of a call id, and of an item's own.
    "history.illegal_id": "Invalid 'input[149].call_id': string too long. Expected a string with maximum length 64, "
    "but got a string with length 86 instead. Invalid 'input[1].id': 'item_…'. Expected an ID that begins with 'fc'.",
    "history.illegal_name": None,
    "history.reasoning_alone": "Item 'rs_…' of type 'reasoning' was provided without its required following item",
}


def _by_assistant(item: Any) -> bool:
    """Whether an item is part of what the assistant did."""
    if not isinstance(item, dict):
        return False
    kind, role = item.get("type"), item.get("role")
    if role is not None or kind == "message":
        return role == "assistant" and kind in (None, "message")
    return _is_reference(item) or (isinstance(kind, str) and kind not in _SENT)


def _is_reference(item: dict[str, Any]) -> bool:
    """Whether an item only says the id of another, which OpenAI has."""
    kind = item.get("type")
    return kind == "item_reference" or (kind is None and "role" not in item and isinstance(item.get("id"), str))


def runs(items: list[Any]) -> Iterator[int]:
    """How many items make one turn: those of the assistant that follow each other, or one."""
    count = 0
    for item in items:
        if _by_assistant(item):
            count += 1
            continue
        if count:
            yield count
        count = 0
        yield 1
    if count:
        yield count


def read_turn(items: list[Any], turns: TurnReader) -> None:
    """Read what `runs` put together."""
    item = items[0]
    if _by_assistant(item):
        turns.stored = turns.stored or any(map(_is_reference, items))
        said = [{**one, "type": "message"} if one.get("role") == "assistant" else one for one in items]
        turns.assistant({"output": said}, ("output",))
    elif not isinstance(item, dict):
        turns.unknown(item)
    elif item.get("type") in OUTPUTS:
        content = turns.content(item.get("output"), ("output",), read_part, PART)
        own = rest(item, _RESULT) or {}
        if item["type"] != OUTPUTS[0]:
            own["type"] = item["type"]
        turns.result(item.get("call_id"), content, item.get("name"), extra=own)
    elif item.get("role") in ("user", "system", "developer") and item.get("type") in (None, "message"):
        content = turns.content(item.get("content"), ("content",), read_part, PART)
        own = rest(item, MESSAGE) or {}
        if item["role"] == "user":
            turns.user(content, own)
        else:
            turns.system(content, own if item["role"] == "system" else {**own, "role": "developer"})
    else:
        turns.unknown(item)


def check(turns: Turns, report: Report) -> None:
    """What only this API refuses."""
    for number, turn in enumerate(turns):
        items = [item for item in turn.extra[SOURCE].get("items", []) if isinstance(item, dict)]
        for item in items:
            kind, id = item.get("type"), item.get("id")
            prefix = _PREFIXES.get(kind) if isinstance(kind, str) else None
            if kind in CALLS and isinstance(id, str) and not item.get("call_id"):
                report("history.missing_id", number, f"the call {id!r:.80} has no call_id", id)
            if prefix is not None and isinstance(id, str) and not id.startswith(prefix):
                report("history.illegal_id", number, f"{id!r:.80} is no id of a {kind}: those begin with {prefix}", id)
        # What a reasoning led to stands behind it in the same turn.
        if isinstance(turn, Message) and items and items[-1].get("type") == "reasoning":
            id = items[-1].get("id")
            report("history.reasoning_alone", number, f"what came behind {id!r:.80} is not there", id)


def message(
    role: str, content: str | list[tuple[str, UserPart]], extra: dict[str, Any], out: Writing, own: Own
) -> dict[str, Any]:
    """A message of the user or of the system; its parts come with their paths."""
    said = content if isinstance(content, str) else _parts(content, out, own)
    return {"type": "message", "role": role, "content": said, **extra}


def output(result: ToolResult, path: str, out: Writing, own: Own) -> Any:
    """What a result says, which stands at ``path``."""
    parts = result_parts(result)
    return result_text(result) if parts is None else _parts(numbered(path, parts), out, own)


def say(message: dict[str, Any], items: list[dict[str, Any]]) -> None:
    """Add to what the model said: to the last item, if that is the same."""
    last = items[-1] if items else {}
    content = message.get("content")
    same = last.get("type") == "message" and "id" in last and last["id"] == message.get("id")
    if same and isinstance(content, list) and isinstance(last["content"], list):
        last["content"] += content
    else:
        items.append({**message, "content": list(content) if isinstance(content, list) else content})


def _parts(parts: list[tuple[str, Any]], out: Writing, own: Own) -> list[dict[str, Any]]:
    made = [_part(part, path, out, own(part.extra)) for path, part in parts]
    return [part for part in made if part is not None]


def _part(part: UserPart, path: str, out: Writing, own: dict[str, Any]) -> dict[str, Any] | None:
    """A part of a message or of a result; ``own`` is what goes beside it. None if it cannot be one."""
    if isinstance(part, OpaquePart):
        return part.data  # type: ignore[no-any-return]
    if isinstance(part, TextPart):
        return {"type": "input_text", "text": part.text, **own}
    if isinstance(part, FilePart) and part.id is not None:
        return {"type": "input_file", "file_id": part.id, **own}
    url = data_url(part)
    if url is None:
        out.lost("loss.part", path, "there is nothing in it")
        return None
    if isinstance(part, ImagePart):
        return {"type": "input_image", "image_url": url, "detail": part.detail or "auto", **own}
    if part.data is None:
        return {"type": "input_file", "file_url": url, **own}
    return {"type": "input_file", "file_data": url, "filename": part.name or "file", **own}


def read_part(part: dict[str, Any]) -> TextPart | ImagePart | FilePart | None:
    """A part of a message or of a result; None if it is of another kind."""
    kind, name = part.get("type"), part.get("filename")
    if kind == "input_text" and isinstance(part.get("text"), str):
        return TextPart(part["text"])
    if kind == "input_image":
        image = image_at(part.get("image_url"))
        if image is not None and isinstance(part.get("detail"), str) and part["detail"] != "auto":
            image.detail = part["detail"]
        return image
    if kind != "input_file":
        return None
    if isinstance(part.get("file_id"), str):
        return FilePart(id=part["file_id"])
    made = FilePart(name=name if isinstance(name, str) else None)
    if isinstance(part.get("file_url"), str):
        made.url = part["file_url"]
        return made
    held = from_data_url(part.get("file_data"))
    if held is None:
        return None
    made.data, made.media_type = held
    return made
