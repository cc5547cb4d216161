"""What a caller hands over (text, bytes, JSON values, an SDK's objects) as JSON values; and where something stands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from ..engine.shapes import inner_position
from ..errors import Fault, ParseError
from ..schema.walk import json_path
from ..values.json import loads
from ..values.locate import locate
from ._xai import completion

__all__ = ["Path", "json_path", "load", "locate", "of_xai", "plain", "sdk_object", "unwrapped"]

Path: TypeAlias = tuple[str | int, ...]

_ENVELOPE: Final = frozenset(("data", "event", "id", "retry"))
_UNKNOWN: Final = frozenset(("event_type", "is_unknown", "raw", "type"))
_JSON: Final = (dict, list, str, int, float, bool, type(None))


def load(response: Any) -> tuple[Any, str | None]:
    """The payload as JSON values, and its text if it was text. Blank text is None.

    Raises `ParseError` for text that is not JSON, `TypeError` for what is no payload at all.
    """
    kind = type(response)
    if kind is dict:
        return response, None
    if kind is bytes or (kind is not str and isinstance(response, (bytes, bytearray, memoryview))):
        try:
            response = str(response, "utf-8")
            if response[:1] == "\ufeff":
                response = response[1:]
        except UnicodeDecodeError as error:
            raise ParseError(
                f"byte {error.start} is not UTF-8", "provider.invalid_encoding", position=error.start, expected="UTF-8"
            ) from None
    if isinstance(response, str):
        try:
            return loads(response), response
        except Fault as fault:
            if not response or response.isspace():
                return None, response
            raise parse_error(fault.text, fault.code, response, fault.at, expected=fault.expected) from None
    return plain(response), None


def plain(value: Any) -> Any:
    """A JSON value as it is, an SDK's object as JSON values."""
    if type(value) is tuple and len(value) == 2 and of_xai(value[1]):
        value = value[1]  # its SDK streams what came so far with each chunk
    if isinstance(value, (list, tuple)):
        return [item if type(item) in _JSON else plain(item) for item in value]
    if type(value) in _JSON:
        return value
    found = sdk_object(value)
    if found is None:
        raise TypeError(
            f"response: expected JSON text, bytes, JSON values or an SDK's object, got {type(value).__name__}"
        )
    return found


def of_xai(value: Any) -> bool:
    """Whether it is an object of xAI's SDK, or begins with one."""
    one = value[0] if isinstance(value, (list, tuple)) and value else value
    return type(one).__module__.startswith("xai_sdk.")


def sdk_object(value: Any) -> dict[str, Any] | None:
    """The JSON object that an SDK's object stands for, names as on the wire and unset members left out; else None."""
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, type):
        return None
    if type(value).__module__.startswith("xai_sdk."):
        return completion(value)
    if type(value).__module__.startswith(("google.genai", "mcp_types", "mcp.")):
        # Bytes become base64; what the wire does not have is None, and what it has may be a default.
        options: dict[str, Any] = {"mode": "json", "by_alias": True, "exclude_none": True, "warnings": False}
    else:
        options = {"mode": "json", "by_alias": True, "exclude_unset": True, "warnings": False}
    if type(value).__module__.startswith("cohere.") and callable(getattr(value, "dict", None)):
        return dict(value.dict(warnings=False))  # its objects hold whatever came; the other methods warn of that
    for name in ("model_dump", "to_dict", "dict"):
        dump = getattr(value, name, None)
        if callable(dump):
            found = dump(**options) if name == "model_dump" else dump()
            return dict(found) if isinstance(found, Mapping) else None
    return None


def unwrapped(event: dict[str, Any]) -> dict[str, Any]:
    """An event out of what an SDK puts around it: the parts of a server-sent event, mistralai's and google-genai's
    mark for what they do not know, boto3's chunk of InvokeModelWithResponseStream.
    """
    if type(event.get("data")) is dict and event.keys() <= _ENVELOPE:
        event = event["data"]
    if type(event.get("raw")) is dict and event.keys() <= _UNKNOWN:
        event = event["raw"]
    if type(event.get("chunk")) is dict and type(event["chunk"].get("bytes")) is bytes:
        inner, _ = load(event["chunk"]["bytes"])
        return inner if type(inner) is dict else event
    return event


def parse_error(
    message: str,
    code: str,
    text: str | None,
    at: int | None,
    *,
    kind: type[ParseError] = ParseError,
    **details: Any,
) -> ParseError:
    """An error at ``at`` in ``text``, with line and column."""
    if text is None or at is None:
        return kind(message, code, **details)
    line = text.count("\n", 0, at) + 1
    column = at - text.rfind("\n", 0, at)
    details.setdefault("raw", text)
    details.setdefault("span", (0, len(text)))
    return kind(message, code, position=at, line=line, column=column, **details)


def error_at(
    message: str,
    code: str,
    text: str | None,
    path: Path,
    value: Any,
    at: int | None = None,
    marks: dict[Any, Any] | None = None,
    **details: Any,
) -> ParseError:
    """An error in ``value``, which stands at ``path`` of the payload; ``at`` is an index into it if it is a string.

    Positions are those of the payload's text if it was text, else of the string.
    """
    details["path"] = json_path(path)
    if text is None:
        return parse_error(message, code, value if isinstance(value, str) else None, at, **details)
    marks = {} if marks is None else marks
    found = locate(text, path, marks)
    while found is None:  # something is missing: what it is missing from
        path = path[:-1]
        found = locate(text, path, marks)
    start, end = found
    literal = text[start:end]
    if at is not None and literal[:1] == '"':
        start += inner_position(literal, at)
    return parse_error(message, code, text, start, raw=literal, span=found, **details)
