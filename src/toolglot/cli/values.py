"""Calls, messages and results from JSON: as Toolglot writes them, or as any API does."""

from __future__ import annotations

from typing import Any

import toolglot

from ..errors import ConversionError, DefinitionError, ParseError
from ..history import Turns
from ..providers._detect import is_definition
from ..providers._detect_history import detect_history
from ..types import Message, ToolCall, ToolResult
from .inputs import UsageProblem, provider_named

_CALL = {"name", "arguments", "id", "kind", "input", "index", "format", "span", "id_synthesized"}
_RESULT = {"tool_call_id", "content", "tool_name", "is_error", "error_message"}


def read_message(value: Any, name: str, source: str | None = None) -> Message:
    """Calls, with what stands around them.

    ``value`` is a call or a list of calls (``name``, ``arguments``, ``id``), a message as ``toolglot parse --json``
    writes it, or what an API's model said: a response, a message, a list of calls. ``name`` is where it comes from.
    """
    if source is None:
        if isinstance(value, dict) and {"tool_calls", "errors"} <= value.keys():
            calls = _calls(value["tool_calls"], f"{name}: tool_calls")
            broken = [ParseError(str(error)) for error in value["errors"]] if isinstance(value["errors"], list) else []
            return Message(_text(value, "content", name), _text(value, "reasoning", name), calls, broken)
        listed = value if isinstance(value, list) else [value]
        if all(isinstance(item, dict) and "name" in item and item.keys() <= _CALL for item in listed):
            return Message(tool_calls=_calls(listed, name))
        if any(isinstance(item, dict) and is_definition(item) for item in listed):
            raise UsageProblem(f"{name}: these are tool definitions, and no calls (`toolglot render --what tools`)")
        found = toolglot.detect_provider(value)
        if toolglot.try_get_provider(found) is None:
            raise UsageProblem(
                f"{name}: these are no calls: a list of objects with name and arguments, a message of "
                "`toolglot parse --json`, or what an API's model said"
            )
        source = found.value
    return toolglot.parse_response(value, provider_named(source), on_error="collect")


def _text(value: dict[str, Any], key: str, name: str) -> str | None:
    found = value.get(key)
    if found is not None and not isinstance(found, str):
        raise UsageProblem(f"{name}: {key}: expected a text or null, got {type(found).__name__}")
    return found


def _calls(value: Any, name: str) -> list[ToolCall]:
    if not isinstance(value, list):
        raise UsageProblem(f"{name}: expected a list of calls, got {type(value).__name__}")
    return [_call(item, f"{name}: [{number}]") for number, item in enumerate(value)]


def _call(value: Any, name: str) -> ToolCall:
    """One call, as `ToolCall.to_dict` and `data.call_data` write it."""
    if not isinstance(value, dict):
        raise UsageProblem(f"{name}: expected a call, got {type(value).__name__}")
    if value.keys() - _CALL:
        raise UsageProblem(f"{name}: a call has no {min(value.keys() - _CALL)!r:.80}")
    arguments = value.get("arguments", {})
    if not isinstance(arguments, dict):
        raise UsageProblem(f"{name}.arguments: expected an object, got {type(arguments).__name__}")
    kind = value.get("kind", "function")
    if kind not in ("function", "custom", "server"):
        raise UsageProblem(f"{name}.kind: expected function, custom or server, got {kind!r:.80}")
    called = _text(value, "name", name)
    if not called:
        raise UsageProblem(f"{name}.name: a call needs the name of a tool")
    return ToolCall(called, arguments, _text(value, "id", name), kind=kind, input=_text(value, "input", name))


def read_results(value: Any, name: str, source: str | None = None) -> tuple[list[ToolResult], Message | None]:
    """Results, and the message whose calls they answer if it stands there too.

    ``value`` is a result or a list of results (``tool_call_id``, ``content``, ``tool_name``, ``is_error``), or the
    messages of a history that hold them, as their API has them.
    """
    listed = value if isinstance(value, list) else [value]
    if source is None and all(
        isinstance(item, dict) and "content" in item and item.keys() <= _RESULT for item in listed
    ):
        return [_result(item, f"{name}: [{number}]") for number, item in enumerate(listed)], None
    if source == "mcp" and not any(isinstance(item, dict) and "role" in item for item in listed):
        mcp: Any = toolglot.get_provider("mcp")
        return [mcp.read_result(item) for item in listed], None
    turns = read_history(value, name, source)
    results = [turn for turn in turns if isinstance(turn, ToolResult)]
    if not results:
        raise UsageProblem(
            f"{name}: these are no results: a list of objects with tool_call_id and content, or the messages of an API "
            "that hold them"
        )
    calls = [turn for turn in turns if isinstance(turn, Message)]
    return results, calls[-1] if calls else None


def _result(value: dict[str, Any], name: str) -> ToolResult:
    error = value.get("is_error", False)
    if not isinstance(error, bool):
        raise UsageProblem(f"{name}.is_error: expected true or false, got {type(error).__name__}")
    return ToolResult(
        _text(value, "tool_call_id", name),
        value["content"],
        _text(value, "tool_name", name),
        error,
        _text(value, "error_message", name),
    )


def history_source(value: Any, name: str, source: str | None, option: str = "--from") -> str:
    """Whose messages these are: the provider that was named, else the one whose shape they have."""
    if not isinstance(value, list | dict):
        raise UsageProblem(f"{name}: expected a list of messages or a request, got {type(value).__name__}")
    if source is not None:
        return provider_named(source)
    found = detect_history(value)
    if toolglot.try_get_provider(found) is None:
        raise UsageProblem(f"{name}: it does not show whose messages these are: say it with {option} PROVIDER")
    return found.value


def _is_request(value: Any) -> bool:
    return isinstance(value, dict) and "role" not in value and "type" not in value


def read_history(value: Any, name: str, source: str | None) -> Turns:
    """The turns of a history: a list of messages, a request, or one message."""
    owner = history_source(value, name, source)
    try:
        return toolglot.get_provider(owner).history(value if isinstance(value, list) or _is_request(value) else [value])
    except (ConversionError, DefinitionError) as error:
        raise UsageProblem(f"{name}: {error}") from None
