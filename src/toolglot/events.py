"""The events that parsing gives out, text and provider streams alike.

`ToolCallEnd` is the only promise that a call was made: a truncated or broken call never gets one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from .errors import ParseError
from .types import Span, ToolCall


@dataclass(slots=True)
class TextDelta:
    """The next piece of content."""

    text: str
    span: Span | None = None


@dataclass(slots=True)
class ReasoningDelta:
    """The next piece of reasoning."""

    text: str
    span: Span | None = None


@dataclass(slots=True)
class ReasoningReclassified:
    """The text at ``span``, given out as content before, turned out to be reasoning."""

    span: Span


@dataclass(slots=True)
class ToolCallStart:
    """A call has begun and its name is known. Provisional.

    ``id`` is None where the text has none so far. With ``ids="synthesize"`` it is the made one, but for families that
    write ids behind the arguments; a model's own id that turns up later replaces it in the call of `ToolCallEnd`.
    """

    index: int
    id: str | None
    name: str
    span: Span | None = None


@dataclass(slots=True)
class ToolCallDelta:
    """The next piece of the call's arguments, JSON text. Provisional; joined they are ``arguments_json``."""

    index: int
    arguments: str
    span: Span | None = None


@dataclass(slots=True)
class ToolCallEnd:
    """The call is complete and verified."""

    index: int
    call: ToolCall
    span: Span | None = None


@dataclass(slots=True)
class ErrorEvent:
    """A call, or a block of reasoning, is broken."""

    error: ParseError
    span: Span | None = None


Event: TypeAlias = (
    TextDelta | ReasoningDelta | ReasoningReclassified | ToolCallStart | ToolCallDelta | ToolCallEnd | ErrorEvent
)
