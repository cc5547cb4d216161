"""xAI's SDK speaks protobuf: its responses as Chat Completions, which xAI's REST API speaks."""

from __future__ import annotations

from base64 import b64encode
from typing import Any, Final

__all__ = ["completion"]

_REASONS: Final = {
    "REASON_STOP": "stop",
    "REASON_TOOL_CALLS": "tool_calls",
    "REASON_MAX_LEN": "length",
    "REASON_MAX_CONTEXT": "length",
}
# What is here in another shape, and what the caller had asked for.
_REQUESTED: Final = frozenset({"outputs", "settings", "debug_output"})
# Calls of xAI's own tools stand in the same list, and differ by their type only.
_CLIENT: Final = "TOOL_CALL_TYPE_CLIENT_SIDE_TOOL"


def completion(response: Any) -> dict[str, Any] | None:
    """A response of the SDK as a chat completion, a chunk of its stream as one of those; None if it is something else.

    Where xAI ran tools of its own, all that the model said until the end is one message.
    """
    proto: Any = getattr(response, "proto", None)
    if "outputs" not in getattr(getattr(proto, "DESCRIPTOR", None), "fields_by_name", ()):
        return None
    whole = _plain(proto)
    outputs = whole.get("outputs", [])  # an empty list is not sent
    index = getattr(response, "_index", None)
    chunk = proto.DESCRIPTOR.name == "GetChatCompletionChunk"
    body = "delta" if chunk else "message"
    said = [
        output
        for output in outputs
        if output.get(body, {}).get("role", "ROLE_ASSISTANT") == "ROLE_ASSISTANT"
        and index in (None, output.get("index", 0))  # zero is not sent
    ]
    kept = {key: value for key, value in whole.items() if key not in _REQUESTED}
    if not chunk:
        return {**kept, "choices": [_choice(said, body)]}
    kept["object"] = "xai.outputs" if index is None else "chat.completion.chunk"
    return {**kept, "choices": [{"index": index or 0, **_choice([one], body)} for one in said]}


def _choice(outputs: list[dict[str, Any]], body: str) -> dict[str, Any]:
    messages = [output.get(body, {}) for output in outputs]
    message: dict[str, Any] = {"role": "assistant"}
    for key in ("content", "reasoning_content"):
        message[key] = "".join(one.get(key, "") for one in messages)
    encrypted = [one["encrypted_content"] for one in messages if "encrypted_content" in one]
    if encrypted:
        message["encrypted_content"] = encrypted[-1]
    message["tool_calls"] = [
        {**call, "type": "function" if call.get("type", _CLIENT) == _CLIENT else call["type"]}
        for one in messages
        for call in one.get("tool_calls", ())
    ]
    cited = [citation for one in messages for citation in one.get("citations", ())]
    if cited:
        message["citations"] = cited
    reason = outputs[-1].get("finish_reason") if outputs else None
    chances = {"logprobs": outputs[-1]["logprobs"]} if outputs and "logprobs" in outputs[-1] else {}
    return {body: message, "finish_reason": _REASONS.get(reason, reason) if reason else None, **chances}


def _plain(message: Any) -> dict[str, Any]:
    """A protobuf message as JSON values, without the help of protobuf: enums by their names."""
    return {field.name: _value(field, value) for field, value in message.ListFields()}


def _value(field: Any, value: Any) -> Any:
    if hasattr(value, "ListFields"):
        return _plain(value)
    if isinstance(value, bytes):
        return b64encode(value).decode("ascii")
    if isinstance(value, (str, bool, float)):
        return value
    if isinstance(value, int):
        named = field.enum_type.values_by_number.get(value) if field.enum_type is not None else None
        return value if named is None else named.name
    if hasattr(value, "items"):
        return {str(key): _value(field, item) for key, item in value.items()}
    return [_value(field, item) for item in value]
