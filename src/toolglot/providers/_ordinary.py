"""What the ordinary responses of all wire formats are read with, at once: straight to the message.

A `WireProvider` reads a response twice over in its code. ``read`` knows all that may stand there, leaves nothing
unsaid and can tell where it stood. ``read_ordinary`` knows what nearly always stands there: a whole response with
text and complete calls. At the first thing that is otherwise it gives up, by `Unusual` or a `KeyError`, and ``read``
begins anew. Where it does not give up its message is the same; ``tests/test_ordinary.py`` compares the two.
"""

from __future__ import annotations

from typing import Any, Final

from ..types import CallPart, Limits, Message, Part, StopReason, ToolCall
from ..values.json import loads
from ._reading import rest, with_inner

__all__ = ["Unusual", "call_of", "enveloped", "keep", "only", "ordinary_message", "text_of"]

_new: Final = object.__new__  # and a value for each slot: a quarter less than what the constructor takes
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


def call_of(wire: str, index: int, id: Any, name: Any, arguments: Any, extra: dict[str, Any] | None = None) -> ToolCall:
    """A call; its arguments are an object or the JSON text of one. It has an id, or none at all."""
    raw = text = None
    if type(arguments) is str:
        raw = arguments
        arguments = loads(raw)
        text = raw.strip()
    if (
        type(arguments) is dict
        and type(name) is str
        and 0 < len(name) <= _MAX_NAME
        and (id is None or (type(id) is str and id))
    ):
        call = _new(ToolCall)
        call.name = name
        call.arguments = arguments
        call.id = id
        call.id_synthesized = False
        call.index = index
        call.format = None
        call.raw_arguments = raw
        call.span = None
        call.kind = "function"
        call.input = None
        call.extra = {wire: extra} if extra else {}
        call._json = text
        return call
    raise Unusual


def enveloped(wire: str, items: Any, known: frozenset[str], inner: frozenset[str], parts: list[Part]) -> list[ToolCall]:
    """Calls as OpenAI has them: name and arguments in the member ``function``. They are added to ``parts``.

    The sets say what of an item and of its function is not kept. There may be no ``items`` at all.
    """
    calls: list[ToolCall] = []
    if type(items) is not list:
        if items is not None:
            raise Unusual
        return calls
    for item in items:
        if type(item) is not dict:
            raise Unusual
        function, id, kind = item["function"], item.get("id"), item.get("type")
        members = 1 + (id is not None) + (kind is not None)
        if type(function) is not dict or (kind != "function" and kind is not None) or "custom" in item:
            raise Unusual
        beside = None
        if len(item) != members or not (len(function) == 2 or inner.issuperset(function)):
            if kind is None and "type" in item:
                raise Unusual
            beside = with_inner(rest(item, known), "function", function, inner)
        call = call_of(wire, len(calls), id, function["name"], function["arguments"], beside)
        calls.append(call)
        parts.append(CallPart(call, None, {}))
    return calls


def ordinary_message(
    provider: str,
    wire: str,
    parts: list[Part],
    calls: list[ToolCall],
    text: str,
    thought: str,
    stop: StopReason | None,
    usage: Any,
    extra: dict[str, Any],
) -> Message:
    """The message of ``parts``, which are ``calls``, ``text`` and ``thought``; ``stop``: what its reason means."""
    if stop in ("length", "error") or len(calls) > _MAX_CALLS:
        raise Unusual
    # The reason lies both ways: what counts is whether there are calls.
    if calls:
        stop = "tool_calls" if stop in ("stop", None) else stop
    elif stop == "tool_calls":
        stop = "stop"
    message = _new(Message)
    message.content = text if text and not text.isspace() else None
    message.reasoning = thought if thought and not thought.isspace() else None
    message.tool_calls = calls
    message.errors = []
    message.repairs = []
    message.format = None
    message.provider = provider
    message.stop_reason = stop
    message.usage = usage
    message.extra = {wire: extra} if extra else {}
    message.parts = parts
    message.separators = []
    message.notes = []
    message.losses = []
    return message
