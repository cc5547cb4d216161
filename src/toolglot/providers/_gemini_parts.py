"""Contents of Gemini's and the parts in them; and what it refuses of a history."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from ..history import Turns, UserPart
from ..schema.subset import Subset, words
from ..types import (
    CallPart,
    FilePart,
    ImagePart,
    Message,
    OpaquePart,
    Part,
    StopReason,
    TextPart,
    ToolCall,
    ToolResult,
    json_text,
)
from ._history import Report
from ._ordinary import Unusual, call_of
from ._reading import rest
from ._turns import SOURCE, TurnReader, from_base64, shortest
from ._write_turns import calls_of
from ._writing import Writing, base64_text, result_parts, result_text

__all__ = [
    "JSON_SCHEMA", "NO_SIGNATURE", "OPENAPI", "RULES", "SNAKES", "STOP_REASONS", "camel", "check", "known_camel",
    "ordinary_parts", "read_content", "read_system", "response", "user_part",
]  # fmt: skip

# What stands in for a signature where the model's call came from elsewhere; documented by Google.
NO_SIGNATURE: Final = "skip_thought_signature_validator"
_BLOCKED: Final = ("SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY", "LANGUAGE")
_FAILED: Final = (
    "MALFORMED_FUNCTION_CALL",
    "UNEXPECTED_TOOL_CALL",
    "TOO_MANY_TOOL_CALLS",
    "MISSING_THOUGHT_SIGNATURE",
    "MALFORMED_RESPONSE",
)
STOP_REASONS: Final[dict[str, StopReason]] = {
    "STOP": "stop",
    "MAX_TOKENS": "length",
    **dict.fromkeys(_BLOCKED, "content_filter"),
    **dict.fromkeys(_FAILED, "error"),
}
_COUNT: Final = (
    "Please ensure that the number of function response parts is equal to the number of function call parts of the "
    "function call turn."
)
_AFTER: Final = "Please ensure that function response turn comes immediately after a function call turn."
RULES: Final[dict[str, str | None]] = {
    "history.unknown_role": None,
    "history.orphan_call": _COUNT,
    "history.results_split": _COUNT,
    "history.duplicate_result": _COUNT,
    "history.orphan_result": _AFTER,
    "history.results_not_adjacent": _AFTER,
    "history.results_mixed": "Requests ending with a model turn are not supported.",
    "history.result_order": None,
    "history.missing_name": "function_response.name: Name cannot be empty.",
    "history.illegal_name": "Invalid function name. Must start with a letter or an underscore. Must be alphameric "
    "(a-z, A-Z, 0-9), underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 64.",
    "history.arguments_not_object": None,
    "history.result_not_object": "Unknown name \"response\" at 'contents[N].parts[0].function_response': Proto field "
    "is not repeating, cannot start list.",
    "history.turn_order": "Please ensure that function call turn comes immediately after a user turn or after a "
    "function response turn.",
    "history.signature_missing": "Function call is missing a thought_signature in functionCall parts. … function call "
    "default_api:NAME , position 2",
    "history.empty_message": "* GenerateContentRequest.contents[1].parts: contents.parts must not be empty.",
}
_CONTENT: Final = words("role parts")
_PART: Final = words("text inlineData fileData")
_RESPONSE: Final = words("name response parts")
_RESULT: Final = words("functionResponse")
_SNAKE: Final = {
    "function_call": "functionCall",
    "thought_signature": "thoughtSignature",
    "finish_reason": "finishReason",
    "finish_message": "finishMessage",
    "usage_metadata": "usageMetadata",
    "prompt_feedback": "promptFeedback",
    "tool_call": "toolCall",
    "partial_args": "partialArgs",
    "will_continue": "willContinue",
    "json_path": "jsonPath",
    **{f"{kind}_value": f"{kind}Value" for kind in ("string", "number", "bool", "null")},
    "response_id": "responseId",
}
SNAKES: Final = frozenset(_SNAKE)
_UNDERSCORE: Final = re.compile("_([a-z])").sub
JSON_SCHEMA: Final = Subset(references="alone", bare_arrays=False, root_unions=False)
# `parameters`, the older member: a part of OpenAPI 3.0.
OPENAPI: Final = Subset(
    words(
        "type format title description nullable default enum items minItems maxItems properties required "
        "propertyOrdering minProperties maxProperties minimum maximum minLength maxLength pattern anyOf"
    ),
    references="inline",
    type_lists=False,
    nullable=True,
    string_enums=True,
    untyped=False,
    bare_arrays=False,
    root_unions=False,
    upper=True,
    formats=words("date-time enum int32 int64 float double"),
)


def camel(node: dict[str, Any]) -> dict[str, Any]:
    """Members as the wire has them; the SDK's own dump, and REST, also know them in snake_case."""
    if not any("_" in key for key in node):
        return node
    return {_UNDERSCORE(lambda found: found[1].upper(), key): value for key, value in node.items()}


def known_camel(node: dict[str, Any]) -> dict[str, Any]:
    """The same for what the model says, of which members that are not known are kept as they came."""
    if SNAKES.isdisjoint(node):
        return node
    return {_SNAKE.get(key, key): value for key, value in node.items()}


# -- reading


def ordinary_parts(wire: str, found: list[Any]) -> tuple[list[Part], list[ToolCall], str]:
    """The parts of an ordinary response, and its calls and its text: there is nothing beside them."""
    parts: list[Part] = []
    calls: list[ToolCall] = []
    said = ""
    for part in found:
        if type(part) is not dict or len(part) != 1:
            raise Unusual
        text = part.get("text")
        if text is None:
            use = part["functionCall"]
            id = use.get("id") if type(use) is dict else None
            if type(use) is not dict or len(use) != (3 if id else 2):
                raise Unusual
            call = call_of(wire, len(calls), id, use["name"], use["args"], {"id": id} if id else None)
            calls.append(call)
            parts.append(CallPart(call, None, {}))
        elif type(text) is str and text:
            parts.append(TextPart(text, None, {}))
            said += text
        else:
            raise Unusual
    return parts, calls, said


def read_content(content: Any, turns: TurnReader) -> None:
    """Read one content."""
    role = content.get("role") if isinstance(content, dict) else None
    if role == "model":
        turns.assistant(content, (), rest(content, _CONTENT))
        return
    parts = content.get("parts") if isinstance(content, dict) else None
    if not isinstance(parts, list) or role not in (None, "user", "function", "tool"):
        turns.unknown(content)
        return
    extra = rest(content, _CONTENT)
    said: list[UserPart] = []
    for item in parts:
        part = camel(item) if isinstance(item, dict) else item
        if not isinstance(part, dict) or not isinstance(part.get("functionResponse"), dict):
            said.append(_user_part(part, turns))
            continue
        if said:
            turns.user(shortest(said), extra)
            said = []
        _read_result(camel(part["functionResponse"]), rest(part, _RESULT), extra, turns)
    if said or not parts:
        turns.user(shortest(said), extra)


def _read_result(
    found: dict[str, Any], beside: dict[str, Any] | None, around: dict[str, Any] | None, turns: TurnReader
) -> None:
    """A function's response: ``output`` and ``error`` are understood, any other object is the output itself.

    ``beside`` stands beside it in its part, ``around`` in the content.
    """
    content: Any = found.get("response")
    keys = list(content) if isinstance(content, dict) else []
    if keys in (["output"], ["error"]):
        content = content[keys[0]]
    media = found.get("parts")
    if isinstance(media, list) and media:
        text = content if isinstance(content, str) else "" if content is None else json_text(content)
        made = [_user_part(camel(part) if isinstance(part, dict) else part, turns) for part in media]
        content = [*([TextPart(text)] if text else []), *made]
    elif media is not None and not isinstance(media, list):
        turns.lost(("parts",), "expected a list of a response's parts")
    own = rest(found, _RESPONSE) or {}
    if beside:
        own["part"] = beside
    content = "" if content is None else content
    is_error = keys == ["error"]
    turns.result(found.get("id"), content, found.get("name"), is_error=is_error, extra=own, beside=around)


def read_system(value: Any, turns: TurnReader) -> None:
    """Read the ``systemInstruction``."""
    parts = value.get("parts") if isinstance(value, dict) else value
    if isinstance(parts, (str, dict)):
        parts = [{"text": parts} if isinstance(parts, str) else parts]
    if not isinstance(parts, list):
        turns.lost((), "expected a content")
        parts = []
    turns.system(shortest([_user_part(camel(part) if isinstance(part, dict) else part, turns) for part in parts]))


def _user_part(part: Any, turns: TurnReader) -> UserPart:
    made = turns.part(part, _read_part, _PART)
    if isinstance(made, ImagePart):  # which has no name
        key = "inlineData" if "inlineData" in part else "fileData"
        named = camel(part[key]).get("displayName")
        if named is not None:
            made.extra.setdefault("gemini", {})[key] = {"displayName": named}
    return made


def _read_part(part: dict[str, Any]) -> TextPart | ImagePart | FilePart | None:
    """A part of a message or of a response; None if it is of another kind."""
    if isinstance(part.get("text"), str) and part.get("thought") is not True:
        return TextPart(part["text"])
    held = part.get("inlineData") or part.get("fileData")
    if not isinstance(held, dict):
        return None
    held = camel(held)
    kind, name = held.get("mimeType"), held.get("displayName")
    is_image = isinstance(kind, str) and kind.startswith("image/")
    made = ImagePart() if is_image else FilePart(name=name if isinstance(name, str) else None)
    if isinstance(kind, str):
        made.media_type = kind
    if isinstance(held.get("fileUri"), str):
        made.url = held["fileUri"]
        return made
    data = held.get("data")
    if isinstance(data, str):  # the SDK has the alphabet of addresses
        made.data = from_base64(data.replace("-", "+").replace("_", "/") + "=" * (-len(data) % 4))
    return None if made.data is None else made


# -- writing


def user_part(part: UserPart, path: str, out: Writing, own: dict[str, Any]) -> dict[str, Any] | None:
    """A part of a message or of a response; ``own`` is what goes beside it. None if it cannot be one."""
    if isinstance(part, OpaquePart):
        return part.data  # type: ignore[no-any-return]
    if isinstance(part, TextPart):
        return {"text": part.text, **own}
    named = {"displayName": part.name} if isinstance(part, FilePart) and part.name else {}
    if part.data is not None:
        key, held = "inlineData", {"mimeType": part.media_type, "data": base64_text(part.data), **named}
    elif part.url is not None:
        key, held = "fileData", {"mimeType": part.media_type, "fileUri": part.url, **named}
    else:
        out.lost("loss.part", path, "there is nothing in it")
        return None
    inner = own.pop(key, None)
    return {key: {**held, **inner} if isinstance(inner, dict) else held, **own}


def response(result: ToolResult) -> dict[str, Any]:
    """The result as an object: ``output`` and ``error`` are understood, any other object is the output itself."""
    parts = result_parts(result)
    content = result.content if parts is None else "".join(part.text for part in parts if isinstance(part, TextPart))
    text = result_text(ToolResult(None, content))  # it has to be JSON in any case
    if result.is_error:
        return {"error": result.error_message or text}
    if not isinstance(content, dict):
        return {"output": text if isinstance(content, (str, tuple)) else content}
    if '"$ref"' in text or '"$defs"' in text:
        return {"output": text}  # these are refused anywhere in a response
    return {"output": content} if {"output", "error"} & set(content) else content


# -- what it refuses


def check(turns: Turns, report: Report) -> None:
    """What only this API refuses."""
    last = max((number for number, turn in enumerate(turns) if _is_user(turn)), default=-1)
    signing = any(_signature(call) not in (None, "", NO_SIGNATURE) for turn in turns for call in calls_of(turn))
    before: Any = None
    responses: dict[Any, Iterator[dict[str, Any]]] = {}
    for number, turn in enumerate(turns):
        source = turn.extra[SOURCE]
        if isinstance(turn, ToolResult):
            found = next(responses.setdefault(source["path"], _responses(source["items"][0])))
            what = turn.tool_call_id or turn.tool_name
            if turn.tool_name is None:
                report("history.missing_name", number, "the result has no name", what)
            if not isinstance(found.get("response", {}), dict):
                report("history.result_not_object", number, f"the response to {what!r:.80} is no object", what)
        calls = calls_of(turn)
        if calls and (before is None or isinstance(before, Message)):
            report("history.turn_order", number, "calls that stand behind neither a user's message nor a result")
        if calls and signing and number > last and not _signature(calls[0]):  # so the model asks for them
            report("history.signature_missing", number, f"the call of {calls[0].name!r:.80} has none", calls[0].name)
        if isinstance(before, ToolResult) and _is_user(turn) and source["path"] == before.extra[SOURCE]["path"]:
            report("history.results_mixed", number, "what stands behind a function's response in the same content")
        if "items" in source:
            before = turn


def _is_user(turn: Any) -> bool:
    return "items" in turn.extra[SOURCE] and not isinstance(turn, (Message, ToolResult))


def _signature(call: Any) -> Any:
    return call.extra.get("gemini", {}).get("thoughtSignature")


def _responses(content: Any) -> Iterator[dict[str, Any]]:
    """The responses in a content, as `read_content` finds them."""
    for item in content["parts"]:
        part = camel(item) if isinstance(item, dict) else {}
        if isinstance(part.get("functionResponse"), dict):
            yield camel(part["functionResponse"])
