"""Histories from one provider to another, and what is wrong with one."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from .errors import ConversionError
from .history import Problem
from .providers._api import get_provider
from .providers._check import check_turns
from .providers._detect_history import detect_history
from .providers._names import Provider
from .providers._payload import json_path
from .providers._repair import repair_names
from .providers._turns import SOURCE, json_values
from .providers._write_turns import write_turns
from .providers._writing import WireObject, Writing

__all__ = ["check_messages", "convert_messages"]


def convert_messages(
    messages: Any,
    source: str | Provider = Provider.AUTO,
    target: str | Provider = "",
    *,
    strict: bool = False,
    repair: bool | Collection[str] = (),
) -> WireObject:
    """The members of a request to ``target`` that hold the history ``messages``, which is ``source``'s.

    ``messages`` is a list of messages, or the request that they stand in: JSON text, bytes, JSON values or an SDK's
    objects. ``source="auto"`` looks at the messages; `ConversionError` if nothing shows whose they are. What could not
    be read or written is in ``losses``, with the path of the message; ``strict=True`` makes that a `ConversionError`.
    ``repair`` names repairs, or True means all of them: each that was made is in ``repairs``.

    >>> asked = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}]
    >>> convert_messages(asked, "openai", "anthropic")
    {'system': 'Be brief.', 'messages': [{'role': 'user', 'content': 'Hi'}]}
    """
    if not target:
        raise TypeError("convert_messages: target is missing")
    writer = get_provider(target)
    names = repair_names(repair)
    value = json_values(messages)
    if source == "auto":
        source = detect_history(value)
        if source is Provider.AUTO:
            raise ConversionError("it does not show whose messages these are; say source=...")
    turns = get_provider(source).history(value)
    out = Writing(strict, names)
    out.losses += turns.losses
    where = [json_path(turn.extra[SOURCE]["path"]) for turn in turns]
    return out.as_object(write_turns(writer, turns, out, where))


def check_messages(messages: Any, provider: str | Provider, *, tools: Any = None) -> list[Problem]:
    """What the API of ``provider`` would refuse of its own ``messages``, a list of them or a request, before it does.

    ``tools`` are those of the request, in any shape; of a whole request (one with a model) they are known. Without
    either it is not checked whether there are any. The API's own words for a problem are its ``rule``.

    >>> call = {"id": "c1", "type": "function", "function": {"name": "ping", "arguments": "{}"}}
    >>> messages = [{"role": "assistant", "content": None, "tool_calls": [call]}, {"role": "user", "content": "And?"}]
    >>> [(problem.code, problem.path) for problem in check_messages(messages, "openai")]
    [('history.orphan_call', '$[0].tool_calls[0]')]
    """
    parser = get_provider(provider)
    value = json_values(messages)
    has_tools = None if tools is None else bool(tools)
    if tools is None and isinstance(value, dict):
        declared = parser.declared(value)
        if declared is not None or "model" in value or "modelId" in value:
            has_tools = bool(declared)
    return check_turns(parser, parser.history(value), has_tools)
