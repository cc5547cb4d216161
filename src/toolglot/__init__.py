"""Toolglot: the translation layer for LLM tool calling.

Text that a model wrote becomes exact calls, whole or token by token, and calls become text again.
"""

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
    render,
    render_segments,
    stream,
)
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
from .format import Format, Reasoning
from .types import (
    CallPart,
    Limits,
    Message,
    OpaquePart,
    Part,
    ReasoningPart,
    Repair,
    TextPart,
    ToolCall,
    ToolChoice,
    ToolResult,
)

__version__ = "0.1.0"

__all__ = [
    "CallPart",
    "ConversionError",
    "DefinitionError",
    "ErrorEvent",
    "Event",
    "Format",
    "LimitError",
    "Limits",
    "Message",
    "NoToolCallFoundError",
    "OpaquePart",
    "ParseError",
    "Part",
    "Reasoning",
    "ReasoningDelta",
    "ReasoningPart",
    "ReasoningReclassified",
    "Repair",
    "StreamParser",
    "TextDelta",
    "TextPart",
    "Tool",
    "ToolCall",
    "ToolCallDelta",
    "ToolCallEnd",
    "ToolCallStart",
    "ToolChoice",
    "ToolResult",
    "ToolglotError",
    "TruncatedError",
    "UnsafeValueError",
    "astream",
    "detect_format",
    "formats",
    "get_format",
    "parse",
    "parse_tool_call",
    "parse_tool_calls",
    "register_format",
    "render",
    "render_segments",
    "stream",
]
