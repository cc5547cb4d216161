"""Toolglot: the translation layer for LLM tool calling.

Text that a model wrote becomes exact calls, whole or token by token, and calls become text again.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .api import (
        StreamParser,
        astream,
        detect_format,
        formats,
        get_format,
        parse,
        parse_tool_call,
        parse_tool_calls,
        register_format,
        stream,
    )
    from .codes import CodeInfo, code_info
    from .convert import check_messages, convert_messages
    from .definition import Tool
    from .errors import (
        ConversionError,
        DefinitionError,
        LimitError,
        NoToolCallFoundError,
        ParseError,
        ToolglotError,
        TruncatedError,
        UnsafeValueError,
    )
    from .events import (
        ErrorEvent,
        Event,
        ReasoningDelta,
        ReasoningReclassified,
        TextDelta,
        ToolCallDelta,
        ToolCallEnd,
        ToolCallStart,
    )
    from .explanation import Candidate, Explanation, OtherReading, explain, explain_response
    from .feedback import as_result
    from .format import Format, Reasoning, Results, Tools
    from .grammars import grammar, grammar_triggers
    from .history import HistoryRepair, Problem, SystemMessage, Turn, UserMessage, UserPart
    from .models import ModelInfo, format_for_model, format_for_template, model_info
    from .providers._api import (
        detect_provider,
        get_provider,
        parse_response,
        parse_responses,
        providers,
        try_get_provider,
    )
    from .providers._base import ToolCallParser, WireProvider
    from .providers._names import Provider, WireFormat
    from .providers._stream import ProviderStream, aevents, iter_events
    from .providers._write_stream import StreamWriter
    from .rendering import render, render_results, render_segments, render_tools
    from .response_template import format_from_response_template
    from .types import (
        CallPart,
        FilePart,
        ImagePart,
        Limits,
        Loss,
        Message,
        OpaquePart,
        Part,
        ReasoningPart,
        Repair,
        ResultPart,
        TextPart,
        ToolCall,
        ToolChoice,
        ToolResult,
        Violation,
    )
    from .validation import validate_call

__version__ = "0.1.0"

__all__ = [
    "CallPart",
    "Candidate",
    "CodeInfo",
    "ConversionError",
    "DefinitionError",
    "ErrorEvent",
    "Event",
    "Explanation",
    "FilePart",
    "Format",
    "HistoryRepair",
    "ImagePart",
    "LimitError",
    "Limits",
    "Loss",
    "Message",
    "ModelInfo",
    "NoToolCallFoundError",
    "OpaquePart",
    "OtherReading",
    "ParseError",
    "Part",
    "Problem",
    "Provider",
    "ProviderStream",
    "Reasoning",
    "ReasoningDelta",
    "ReasoningPart",
    "ReasoningReclassified",
    "Repair",
    "ResultPart",
    "Results",
    "StreamParser",
    "StreamWriter",
    "SystemMessage",
    "TextDelta",
    "TextPart",
    "Tool",
    "ToolCall",
    "ToolCallDelta",
    "ToolCallEnd",
    "ToolCallParser",
    "ToolCallStart",
    "ToolChoice",
    "ToolResult",
    "ToolglotError",
    "Tools",
    "TruncatedError",
    "Turn",
    "UnsafeValueError",
    "UserMessage",
    "UserPart",
    "Violation",
    "WireFormat",
    "WireProvider",
    "aevents",
    "as_result",
    "astream",
    "check_messages",
    "code_info",
    "convert_messages",
    "detect_format",
    "detect_provider",
    "explain",
    "explain_response",
    "format_for_model",
    "format_for_template",
    "format_from_response_template",
    "formats",
    "get_format",
    "get_provider",
    "grammar",
    "grammar_triggers",
    "iter_events",
    "model_info",
    "parse",
    "parse_response",
    "parse_responses",
    "parse_tool_call",
    "parse_tool_calls",
    "providers",
    "register_format",
    "render",
    "render_results",
    "render_segments",
    "render_tools",
    "stream",
    "try_get_provider",
    "validate_call",
]

# Where each name lives. A module is loaded when one of its names is first used, so that importing costs next to
# nothing.
_HOMES: dict[str, tuple[str, ...]] = {
    "api": (
        "StreamParser",
        "astream",
        "detect_format",
        "formats",
        "get_format",
        "parse",
        "parse_tool_call",
        "parse_tool_calls",
        "register_format",
        "stream",
    ),
    "codes": ("CodeInfo", "code_info"),
    "convert": ("check_messages", "convert_messages"),
    "definition": ("Tool",),
    "errors": (
        "ConversionError",
        "DefinitionError",
        "LimitError",
        "NoToolCallFoundError",
        "ParseError",
        "ToolglotError",
        "TruncatedError",
        "UnsafeValueError",
    ),
    "events": (
        "ErrorEvent",
        "Event",
        "ReasoningDelta",
        "ReasoningReclassified",
        "TextDelta",
        "ToolCallDelta",
        "ToolCallEnd",
        "ToolCallStart",
    ),
    "explanation": ("Candidate", "Explanation", "OtherReading", "explain", "explain_response"),
    "feedback": ("as_result",),
    "format": (
        "Format",
        "Reasoning",
        "Results",
        "Tools",
    ),
    "grammars": ("grammar", "grammar_triggers"),
    "history": ("HistoryRepair", "Problem", "SystemMessage", "Turn", "UserMessage", "UserPart"),
    "models": ("ModelInfo", "format_for_model", "format_for_template", "model_info"),
    "rendering": ("render", "render_results", "render_segments", "render_tools"),
    "response_template": ("format_from_response_template",),
    "providers._api": (
        "detect_provider",
        "get_provider",
        "parse_response",
        "parse_responses",
        "providers",
        "try_get_provider",
    ),
    "providers._base": ("ToolCallParser", "WireProvider"),
    "providers._names": ("Provider", "WireFormat"),
    "providers._stream": ("ProviderStream", "aevents", "iter_events"),
    "providers._write_stream": ("StreamWriter",),
    "types": (
        "CallPart",
        "FilePart",
        "ImagePart",
        "Limits",
        "Loss",
        "Message",
        "OpaquePart",
        "Part",
        "ReasoningPart",
        "Repair",
        "ResultPart",
        "TextPart",
        "ToolCall",
        "ToolChoice",
        "ToolResult",
        "Violation",
    ),
    "validation": ("validate_call",),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    home = _HOME.get(name)
    if home is None:
        if name in _HOMES or name in ("batch", "pattern", "tools"):
            return import_module(f".{name}", __name__)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{home}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
