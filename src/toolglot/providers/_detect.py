"""Whose shape a payload has. Total: whatever it is given, it answers with a `Provider`."""

from __future__ import annotations

from typing import Any, Final

from ..errors import ParseError
from ._names import Provider
from ._payload import load, of_xai, unwrapped

__all__ = ["are_definitions", "by_others", "detect_provider", "detect_value", "is_definition"]

# Before Python 3.12 it takes long to look up a member of an enum.
_ANTHROPIC: Final = Provider.ANTHROPIC
_AUTO: Final = Provider.AUTO
_BEDROCK: Final = Provider.BEDROCK
_COHERE: Final = Provider.COHERE
_COHERE_V1: Final = Provider.COHERE_V1
_GOOGLE: Final = Provider.GOOGLE
_GOOGLE_INTERACTIONS: Final = Provider.GOOGLE_INTERACTIONS
_MCP: Final = Provider.MCP
_MISTRAL: Final = Provider.MISTRAL
_MISTRAL_CONVERSATIONS: Final = Provider.MISTRAL_CONVERSATIONS
_OLLAMA: Final = Provider.OLLAMA
_OPENAI: Final = Provider.OPENAI
_OPENAI_RESPONSES: Final = Provider.OPENAI_RESPONSES
_XAI: Final = Provider.XAI
# The value of `type` in a stream's event, or in an item that stands alone.
_TYPES: Final = {
    **dict.fromkeys(
        (
            "message_start",
            "content_block_start",
            "content_block_delta",
            "content_block_stop",
            "message_delta",
            "message_stop",
            "ping",
            "tool_use",
            "server_tool_use",
            "tool_result",
        ),
        Provider.ANTHROPIC,
    ),
    **dict.fromkeys(
        (
            "message-start",
            "content-start",
            "content-delta",
            "content-end",
            "tool-plan-delta",
            "tool-call-start",
            "tool-call-delta",
            "tool-call-end",
            "citation-start",
            "citation-end",
            "message-end",
        ),
        Provider.COHERE,
    ),
    **dict.fromkeys(("custom_tool_call", "function_call_output", "custom_tool_call_output"), Provider.OPENAI_RESPONSES),
    "function_result": Provider.GOOGLE_INTERACTIONS,
}
# Who speaks in a conversation besides the model.
_OTHERS: Final = frozenset(("system", "developer", "user", "tool", "function", "USER", "SYSTEM", "TOOL"))
_CALLED: Final = frozenset(("arguments", "input"))
# Whose SDK it is, by the package.
_SDKS: Final = {
    "groq": Provider.GROQ,
    "mcp": Provider.MCP,
    "mcp_types": Provider.MCP,
    "mistralai": Provider.MISTRAL,
    "together": Provider.TOGETHER,
    "xai_sdk": Provider.XAI,
}
# Entries and events: "message.output", "message.output.delta".
_CONVERSATIONS: Final = (
    "conversation.response.",
    "message.output",
    "function.call",
    "function.result",
    "tool.execution",
    "agent.handoff",
)
_COHERE_V1_EVENTS: Final = frozenset(
    ("stream-start", "text-generation", "tool-calls-chunk", "tool-calls-generation", "stream-end")
)
_BEDROCK_EVENTS: Final = frozenset(
    ("messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop", "toolUse")
)

# What tells before all else; and what tells before a `message` does.
_FIRST: Final = frozenset(("type", "event_type", "output", "Error"))
_TELLING: Final = frozenset(
    (
        *("type", "event_type", "object", "output", "Error", "choices", "candidates"),
        *("stopReason", "steps", "content", "stop_reason", "functionCall", "parts", "jsonrpc", "method"),
        *("promptFeedback", "usageMetadata"),
    )
)


def detect_provider(response: Any) -> Provider:
    """Who sent ``response``, by its shape: JSON text, bytes, JSON values, an SDK's object, or an event of a stream.

    The shape of OpenAI's Chat Completions, which many speak, is ``openai``. `Provider.AUTO` means that nobody has
    such a shape, or that it is no JSON. Never raises.

    >>> detect_provider({"candidates": []})
    <Provider.GOOGLE: 'google'>
    """
    try:
        value, _ = load(response)
    except (ParseError, TypeError, ValueError, RecursionError):
        return _AUTO
    if type(response) is tuple and of_xai(response[-1:]):  # what its SDK streams
        return _XAI
    return detect_value(value, type(response))


def detect_value(value: Any, kind: type) -> Provider:
    """The same for a payload that was loaded from an object of the class ``kind``."""
    if type(value) is dict:
        found = _detect(value)
        # Only an SDK's object says more than a shape that many share.
        if kind is dict or kind is str or (found is not _OPENAI and found is not _AUTO):
            return found
        return _SDKS.get(kind.__module__.partition(".")[0], found)
    if type(value) is list:
        if are_definitions(value) or any(type(item) is dict and by_others(item) for item in value):
            return _AUTO  # tools that are declared, or a conversation: nobody's response
        for item in value:
            found = _detect(item) if type(item) is dict else _AUTO
            if found is not _AUTO:
                return found
    return _AUTO


def are_definitions(items: list[Any]) -> bool:
    """Whether a list declares tools and calls none."""
    return bool(items) and all(type(item) is dict and is_definition(item) for item in items)


def by_others(item: dict[str, Any]) -> bool:
    """Whether this is a message of a conversation that is not the model's."""
    role = item.get("role")
    return type(role) is str and role in _OTHERS


def is_definition(item: dict[str, Any]) -> bool:
    """Whether this declares or chooses a tool and does not call one: a call has arguments, or an id at least."""
    inner = next((item[key] for key in ("function", "custom") if type(item.get(key)) is dict), item)
    if "name" not in inner or not _CALLED.isdisjoint(inner) or "id" in item:
        return False
    if inner is not item or "input_schema" in item or "inputSchema" in item:
        return True
    schema = item.get("parameters")  # Cohere's first API calls with arguments of that name
    if type(schema) is not dict:
        return False
    return schema.get("type") == "object" or type(schema.get("properties")) is dict or item.get("type") == "function"


def _detect(value: dict[str, Any]) -> Provider:
    if "data" in value or "raw" in value or "chunk" in value:
        try:
            value = unwrapped(value)
        except ParseError:
            return _AUTO
    if "message" in value and _TELLING.isdisjoint(value):
        return _message(value)
    if not _FIRST.isdisjoint(value):
        found = _first(value)
        if found is not None:
            return found
    get = value.get
    what = get("object")
    if what == "response":
        return _OPENAI_RESPONSES
    if "choices" in value or what == "chat.completion.chunk":
        return _MISTRAL if _thinks(value.get("choices")) else _OPENAI
    if "candidates" in value:
        return _GOOGLE
    if "stopReason" in value and "model" in value and "role" in value:
        return _MCP  # a sampled message
    if "stopReason" in value or (len(value) == 1 and not _BEDROCK_EVENTS.isdisjoint(value)):
        return _BEDROCK
    if type(get("steps")) is list and ("status" in value or "id" in value or _step(value["steps"])):
        return _GOOGLE_INTERACTIONS
    if what == "conversation.response":
        return _MISTRAL_CONVERSATIONS
    content = get("content")
    if type(content) is list:
        if get("type") == "message" or "stop_reason" in value:
            return _ANTHROPIC
        for block in content:
            if type(block) is dict:
                found = _block(block)
                if found is not None:
                    return found
        if "isError" in value or "structuredContent" in value:
            return _MCP
        if get("role") == "assistant" and "tool_calls" not in value and "function_call" not in value:
            typed = any(type(block) is dict and "type" in block for block in content)
            return _ANTHROPIC if typed or not content else _BEDROCK
    elif "stop_reason" in value:
        return _ANTHROPIC
    elif type(content) is dict and "parts" in content:
        return _GOOGLE
    if "functionCall" in value or type(get("parts")) is list:
        return _GOOGLE
    if "jsonrpc" in value or get("method") == "tools/call":
        return _MCP
    if "promptFeedback" in value or "usageMetadata" in value:
        return _GOOGLE
    return _message(value)


def _first(value: dict[str, Any]) -> Provider | None:
    """What says what the whole is; None if nothing of `_FIRST` does."""
    get = value.get
    kind = get("type")
    if type(kind) is str:
        if kind == "message" and "stop_reason" in value:
            return _ANTHROPIC
        if kind.startswith("response."):
            return _OPENAI_RESPONSES
        if kind.startswith(_CONVERSATIONS):
            return _MISTRAL_CONVERSATIONS
        found = _TYPES.get(kind)
        if found is not None:
            return found
        if kind == "function_call":
            return _GOOGLE_INTERACTIONS if type(get("arguments")) is dict else _OPENAI_RESPONSES
        if kind == "error" and type(get("error")) is dict:
            return _ANTHROPIC
    event = get("event_type")
    if type(event) is str:
        if event.startswith(("step.", "interaction.")):
            return _GOOGLE_INTERACTIONS
        if event in _COHERE_V1_EVENTS:
            return _COHERE_V1
    output = get("output")
    if get("object") == "response" or type(output) is list:
        return _OPENAI_RESPONSES
    if type(output) is dict:
        return _BEDROCK if "message" in output else _AUTO
    if type(get("Error")) is dict and "Code" in value["Error"]:
        return _BEDROCK  # what boto3 raises
    return None


def _message(value: dict[str, Any]) -> Provider:
    """Shapes with a ``message``, and bare messages."""
    get = value.get
    message = get("message")
    finish = get("finish_reason")
    if type(message) is dict:
        if type(finish) is str and finish.isupper():
            return _COHERE
        if "done" in value or "created_at" in value:
            return _OLLAMA
        content = message.get("content")
        if type(content) is list and any(type(block) is dict and "toolUse" in block for block in content):
            return _BEDROCK
        if "tool_plan" in message or "tool_plan" in value:
            return _COHERE
        if _bare_call(message.get("tool_calls")):
            return _COHERE_V1
        if "tool_calls" in message or "function_call" in message:
            return _OPENAI
    if "tool_plan" in value or finish == "TOOL_CALL":
        return _COHERE
    if ("generation_id" in value and "text" in value) or get("role") == "CHATBOT":
        return _COHERE_V1
    actions = get("actions")
    if type(actions) is list and actions and type(actions[0]) is dict and "tool_name" in actions[0]:
        return _COHERE_V1
    if _bare_call(get("tool_calls")):
        return _COHERE_V1
    if "tool_calls" in value or "function_call" in value:
        return _OPENAI
    if type(get("function")) is dict and "name" in value["function"] and not is_definition(value):
        return _OPENAI
    return _AUTO


def _thinks(choices: Any) -> bool:
    """Whether a message has thoughts as a list of chunks, as Mistral alone has them."""
    for choice in choices if type(choices) is list else ():
        message = choice.get("message") if type(choice) is dict else None
        content = message.get("content") if type(message) is dict else None
        if type(content) is list:
            return any(
                type(chunk) is dict and chunk.get("type") == "thinking" and type(chunk.get("thinking")) is list
                for chunk in content
            )
    return False


def _block(block: dict[str, Any]) -> Provider | None:
    """Whose content block it is."""
    if "toolUse" in block:
        return _BEDROCK
    found = _TYPES.get(block["type"]) if type(block.get("type")) is str else None
    return found if found is _ANTHROPIC else None


def _bare_call(calls: Any) -> bool:
    """Whether it is a list of calls without the envelope that OpenAI has around them."""
    return (
        type(calls) is list
        and bool(calls)
        and type(calls[0]) is dict
        and "function" not in calls[0]
        and "name" in calls[0]
    )


def _step(steps: list[Any]) -> bool:
    return any(type(step) is dict and step.get("type") == "function_call" for step in steps)
