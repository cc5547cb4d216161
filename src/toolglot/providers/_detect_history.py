"""Whose messages a history holds. Total: whatever it is given, it answers with a `Provider`."""

from __future__ import annotations

from typing import Any, Final

from ..schema.subset import words
from ._names import Provider

__all__ = ["detect_history"]

# Members of a request that one API has.
_REQUESTS: Final = (
    ("contents", Provider.GOOGLE),
    ("chat_history", Provider.COHERE_V1),
    ("systemPrompt", Provider.MCP),
    ("inputs", Provider.MISTRAL_CONVERSATIONS),
    ("toolConfig", Provider.BEDROCK),
    ("modelId", Provider.BEDROCK),
)
# The `type` of an item.
_ITEMS: Final = {
    **dict.fromkeys(
        ("function_call_output", "custom_tool_call", "custom_tool_call_output", "reasoning", "item_reference"),
        Provider.OPENAI_RESPONSES,
    ),
    **dict.fromkeys(("function_result", "user_input", "model_output", "thought"), Provider.GOOGLE_INTERACTIONS),
    **dict.fromkeys(
        ("function.call", "function.result", "message.input", "message.output"), Provider.MISTRAL_CONVERSATIONS
    ),
}
# The `type` of a block of a message's content.
_BLOCKS: Final = {
    **dict.fromkeys(("thinking", "redacted_thinking", "server_tool_use", "image", "document"), Provider.ANTHROPIC),
    **dict.fromkeys(("input_text", "output_text", "input_image", "input_file"), Provider.OPENAI_RESPONSES),
    **dict.fromkeys(("document_url", "reference"), Provider.MISTRAL),
    **dict.fromkeys(("image_url", "input_audio", "file"), Provider.OPENAI),
}
_CONVERSE: Final = words(
    "toolUse toolResult reasoningContent text image document video audio cachePoint guardContent citationsContent "
    "searchResult"
)


def detect_history(value: Any) -> Provider:
    """Whose messages these are, by their shape: a list of messages, or a request, as JSON values.

    What several APIs write alike is ``openai``; `Provider.AUTO` means that nothing shows whose it is.
    """
    if isinstance(value, dict):
        for member, provider in _REQUESTS:
            if member in value:
                return provider
        if value.get("method") == "sampling/createMessage":
            return Provider.MCP
        if "messages" in value:
            found = _items(value["messages"])
            if "system" in value and found in (Provider.OPENAI, Provider.AUTO):
                return Provider.ANTHROPIC
            return found
        if "input" in value:
            found = _items(value["input"])
            interactions = "system_instruction" in value or "generation_config" in value
            plain = Provider.GOOGLE_INTERACTIONS if interactions else Provider.OPENAI_RESPONSES
            return plain if found in (Provider.OPENAI, Provider.AUTO) else found
        return _items([value])
    return _items(value)


def _items(items: Any) -> Provider:
    """The first message that only one API writes decides; else the first that anyone does."""
    shared = Provider.AUTO
    for item in items if isinstance(items, (list, tuple)) else ():
        found = _item(item)
        if found is not Provider.AUTO and found is not Provider.OPENAI:
            return found
        if shared is Provider.AUTO:
            shared = found
    return shared


def _item(item: Any) -> Provider:
    if not isinstance(item, dict):
        return Provider.AUTO
    get = item.get
    kind, role = get("type"), get("role")
    if isinstance(kind, str):
        if kind in _ITEMS:
            return _ITEMS[kind]
        if kind == "function_call":
            return Provider.OPENAI_RESPONSES if "call_id" in item else Provider.GOOGLE_INTERACTIONS
        if kind == "message" and isinstance(role, str):
            return Provider.OPENAI_RESPONSES
    if isinstance(get("parts"), list):
        return Provider.GOOGLE
    if not isinstance(role, str):
        return Provider.AUTO
    if role in ("USER", "CHATBOT", "SYSTEM", "TOOL"):
        return Provider.COHERE_V1
    if "tool_plan" in item:
        return Provider.COHERE
    if role == "tool" and "tool_name" in item:
        return Provider.OLLAMA
    if "thinking" in item or "images" in item:
        return Provider.OLLAMA
    said = _content(get("content"), role)
    if said is not Provider.OPENAI and said is not Provider.AUTO:
        return said
    calls = get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        function = call.get("function") if isinstance(call, dict) else None
        if isinstance(function, dict) and isinstance(function.get("arguments"), dict):
            return Provider.OLLAMA
    return said


def _content(content: Any, role: str) -> Provider:
    shared = Provider.AUTO
    blocks = [content] if isinstance(content, dict) else content if isinstance(content, list) else []
    for block in blocks:
        if not isinstance(block, dict):
            continue
        kind = block.get("type")
        if kind == "tool_result":
            return Provider.MCP if "toolUseId" in block else Provider.ANTHROPIC
        if kind == "tool_use":
            return Provider.MCP if isinstance(content, dict) else Provider.ANTHROPIC
        if kind in ("image", "audio") and "mimeType" in block:
            return Provider.MCP
        if kind == "document" and isinstance(block.get("document"), dict):
            return Provider.COHERE
        if kind == "thinking" and isinstance(block.get("thinking"), list):
            return Provider.MISTRAL
        if isinstance(kind, str) and kind in _BLOCKS:
            shared = _BLOCKS[kind]
            if shared is not Provider.OPENAI:
                return shared
        if kind is None and not _CONVERSE.isdisjoint(block):
            return Provider.BEDROCK
    if isinstance(content, dict) and isinstance(content.get("type"), str):
        return Provider.MCP  # a block alone
    known = role in ("system", "developer", "user", "assistant", "tool", "function", "model")
    return Provider.OPENAI if known else shared
