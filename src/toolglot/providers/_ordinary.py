"""What the ordinary responses of all wire formats are read with, at once: straight to the message.

A `WireProvider` reads a response twice over in its code. ``read`` knows all that may stand there, leaves nothing
unsaid and can tell where it stood. ``read_ordinary`` knows what nearly always stands there: a whole response with
text and complete calls. At the first thing that is otherwise it gives up, by `Unusual` or a `KeyError`, and ``read``
begins anew. Where it does not give up its message is the same; ``tests/test_ordinary.py`` compares the two.
"""

from __future__ import annotations

from typing import Any, Final

from ..types import CallPart, Limits, Message, Part, ReasoningPart, StopReason, TextPart, ToolCall
from ..values.json import loads
from ._reading import rest, with_inner

__all__ = ["Unusual", "call_part", "enveloped_part", "keep", "only", "ordinary_message", "text_of"]

_MAX_CALLS: Final = Limits().calls
_MAX_NAME: Final = Limits().name


class Unusual(Exception):
    """Something that only ``read`` reads."""


def only(items: Any) -> dict[str, Any]:
    """The object that is all of a list."""
    if type(items) is list and len(items) == 1 and type(items[0]) is dict:
        return items[0]
    raise Unusual


def text_of(said: dict[str, Any], key: str) -> str:
    """The text that the member ``key`` is, an empty one where it is null or missing."""
    text = said.get(key)
    if type(text) is str:
        return text
    if text is not None:
        raise Unusual
    return ""


def keep(item: dict[str, Any], known: frozenset[str], extra: dict[str, Any]) -> None:
    """Put what ``item`` holds besides ``known`` members and nulls into ``extra``."""
    for key, value in item.items():
        if key not in known and value is not None:
            extra[key] = value  # noqa: PERF403


def call_part(
    wire: str, index: int, id: Any, name: Any, arguments: Any, extra: dict[str, Any] | None = None
) -> CallPart:
    """A call; its arguments are an object or the JSON text of one. It has an id, or none at all."""
    raw = text = None
    if type(arguments) is str:
        raw = arguments
        arguments = loads(raw)
        text = raw.strip()
    if type(arguments) is not dict or type(name) is not str or not 0 < len(name) <= _MAX_NAME or index >= _MAX_CALLS:
        raise Unusual
    if not id if type(id) is str else id is not None:
        raise Unusual
    own = {wire: extra} if extra else {}
    return CallPart(ToolCall(name, arguments, id, False, index, None, raw, None, "function", None, own, text), None, {})


def enveloped_part(wire: str, index: int, item: Any, known: frozenset[str], inner: frozenset[str]) -> CallPart:
    """A call as OpenAI has it: name and arguments in the member ``function``. The sets say what of both is not kept."""
    if type(item) is not dict:
        raise Unusual
    function, id = item["function"], item.get("id")
    if type(function) is not dict or item.get("type", "function") != "function" or "custom" in item:
        raise Unusual
    name, arguments = function["name"], function["arguments"]
    plain = len(function) == 2 and len(item) == 3 and id and "type" in item  # there is no other member
    extra = None if plain else with_inner(rest(item, known), "function", function, inner)
    return call_part(wire, index, id, name, arguments, extra)


def ordinary_message(
    provider: str, wire: str, parts: list[Part], stop: StopReason | None, usage: Any, extra: dict[str, Any]
) -> Message:
    """The message of ``parts``; ``stop`` is what its reason to stop means."""
    if stop in ("length", "error"):
        raise Unusual
    calls: list[ToolCall] = []
    text = thought = ""
    for part in parts:
        kind = type(part)
        if kind is CallPart:
            calls.append(part.call)  # type: ignore[union-attr]
        elif kind is TextPart:
            text += part.text  # type: ignore[union-attr]
        elif kind is ReasoningPart:
            thought += part.text  # type: ignore[union-attr]
    # The reason lies both ways: what counts is whether there are calls.
    if calls:
        stop = "tool_calls" if stop in ("stop", None) else stop
    elif stop == "tool_calls":
        stop = "stop"
    return Message(
        text if text and not text.isspace() else None,
        thought if thought and not thought.isspace() else None,
        calls,
        [],  # errors
        [],  # repairs
        None,  # format
        provider,
        stop,
        usage,
        {wire: extra} if extra else {},
        parts,
        [],  # separators
        [],  # notes
        [],  # losses
    )
