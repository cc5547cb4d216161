"""The values of a conversation, whoever's: its turns, and what is found wrong with them.

A history is a list of `Turn`: `SystemMessage`, `UserMessage`, `Message` (the assistant's) and `ToolResult` (one
result of a call of the message before it).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from .types import FilePart, ImagePart, Loss, Message, OpaquePart, TextPart, ToolResult

UserPart: TypeAlias = TextPart | ImagePart | FilePart | OpaquePart


@dataclass(slots=True)
class SystemMessage:
    """What the model is told about its task: text, or a list of parts.

    ``extra`` is what a provider's message said besides, under its wire format's name; there stands the role, where an
    API has several (OpenAI's ``developer``).
    """

    content: str | list[UserPart]
    extra: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)


@dataclass(slots=True)
class UserMessage:
    """What the user said: text, or a list of parts. ``extra`` is what a provider's message said besides."""

    content: str | list[UserPart]
    extra: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)


Turn: TypeAlias = SystemMessage | UserMessage | Message | ToolResult


class Turns(list[Turn]):
    """What was read of a provider's history: a list of turns, equal to the plain one; ``losses`` say what was not."""

    losses: tuple[Loss, ...]

    def __init__(self, turns: Iterable[Turn] = (), losses: tuple[Loss, ...] = ()) -> None:
        super().__init__(turns)
        self.losses = losses


@dataclass(slots=True, frozen=True)
class Problem:
    """Something in a history that the API would refuse.

    ``code`` is stable (``history.orphan_call``), ``path`` a JSON path into the caller's own messages, ``detail`` says
    what is wrong in words, and ``rule`` is what the API itself says of it, None where its words are not known.
    """

    code: str
    path: str
    detail: str
    rule: str | None = None


@dataclass(slots=True, frozen=True)
class HistoryRepair:
    """One change that a repair made to a history: the ``code`` of the problem that it mends, where, and what it did."""

    code: str
    path: str
    detail: str
