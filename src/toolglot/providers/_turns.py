"""`TurnReader`: a history while it is read. Every wire format fills in the same one."""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from ..history import SystemMessage, Turn, Turns, UserMessage, UserPart
from ..types import FilePart, ImagePart, Loss, Message, OpaquePart, TextPart, ToolResult
from ._payload import Path, json_path, load, sdk_object
from ._reading import Reading, rest

if TYPE_CHECKING:
    from ._base import WireProvider

__all__ = [
    "SOURCE",
    "WHOLE",
    "Alone",
    "TurnReader",
    "from_base64",
    "from_data_url",
    "image_at",
    "json_values",
    "read_turns",
    "reread",
    "shortest",
    "turn_list",
]

# Where a turn's `extra` holds what it was read from: whose it is, where it stood, the messages themselves ("items") or
# the request's system prompt ("system"), and which it is of how many turns.
SOURCE: Final = "source"
# What says, in an `OpaquePart`, that it is no part of a message, but one by itself.
WHOLE: Final = "whole"
_PLAIN: Final = (str, int, float, bool, type(None), bytes)
_DEEP: Final = 100  # what lies deeper than this in a message is left as it is
_DATA: Final = re.compile(r"data:([^;,]*)[^,]*;base64,(.*)", re.DOTALL).fullmatch

ReadPart = Callable[[dict[str, Any]], TextPart | ImagePart | FilePart | None]


class Alone(str):
    """A text that stands where a request else has a list of messages."""

    __slots__ = ()


class TurnReader:
    """What has been read of a history."""

    __slots__ = ("_at", "_items", "_provider", "_start", "losses", "stored", "turns")

    def __init__(self, provider: WireProvider) -> None:
        self.losses: list[Loss] = []
        self.turns: list[Turn] = []
        # Whether what was said before is kept by the provider: then calls may be there.
        self.stored = False
        self._provider = provider
        self._at: Path = ()
        self._items: list[Any] = []
        self._start = 0

    # -- one message or run of items

    def begin(self, items: list[Any], at: Path) -> None:
        """From here on what stands at ``at`` is read: one message, or the first of several items."""
        self._items, self._at, self._start = items, at, len(self.turns)

    def end(self, kind: str, value: Any) -> None:
        """All of it was read: its turns know where they come from."""
        if kind == "items" and len(self.turns) == self._start:
            for item in value:
                self.unknown(item)
        count = len(self.turns) - self._start
        for place, turn in enumerate(self.turns[self._start :]):
            turn.extra[SOURCE] = {
                "provider": self._provider.provider.value,
                "path": self._at,
                kind: value,
                "place": place,
                "count": count,
                **({"stored": True} if self.stored else {}),
            }

    # -- what a wire format calls

    def system(self, content: str | list[UserPart], extra: Mapping[str, Any] | None = None) -> None:
        """A system message; ``extra`` is what it says besides."""
        self._add(SystemMessage(content, self._own(extra)))

    def user(self, content: str | list[UserPart], extra: Mapping[str, Any] | None = None) -> None:
        """A user's message."""
        self._add(UserMessage(content, self._own(extra)))

    def result(
        self,
        id: Any,
        content: Any,
        name: Any = None,
        *,
        is_error: bool = False,
        extra: Mapping[str, Any] | None = None,
        beside: Mapping[str, Any] | None = None,
    ) -> None:
        """The result of one call. Where a message holds several, ``beside`` is what the message says besides: it is
        kept with the first of them, as ``message``.
        """
        if beside and len(self.turns) == self._start:
            extra = {**(extra or {}), "message": dict(beside)}
        id = id if type(id) is str and id else None
        name = name if type(name) is str and name else None
        self._add(ToolResult(id, content, name, is_error, extra=self._own(extra)))

    def assistant(self, payload: dict[str, Any], at: Path = (), extra: Mapping[str, Any] | None = None) -> None:
        """An assistant's turn, as the section ``response`` reads ``payload``; in it the message, or the list of items
        that were put together, stands at ``at``. ``extra`` is what it says besides.
        """
        provider = self._provider
        readings = provider.read(payload, partial(Reading, provider.wire.value, None, False, None, None))
        if not readings:
            return
        message = readings[0].message(provider.provider.value)
        held: Any = payload
        for key in at:
            held = held[key]
        inner, listed = json_path(at), isinstance(held, list)
        for loss in message.losses:
            self.losses.append(Loss(loss.code, self._outer(loss.path, inner, listed), loss.detail))
        message.losses = []
        for error in message.errors:
            was = error.path or "$"
            error.path = self._outer(was, inner, listed)
            error.args = (str(error).replace(f"({was}", f"({error.path}"),)
            self.losses.append(Loss("loss.unread", error.path, f"a call that is broken: {error.text}"))
        for wire, own in self._own(extra).items():
            message.extra[wire] = {**own, **message.extra.get(wire, {})}
        self._add(message)

    def unknown(self, item: Any) -> None:
        """Something that is none of these; kept whole."""
        self.user([OpaquePart(item, None, {self._provider.wire.value: {WHOLE: True}})])

    def opaque(self, data: Any) -> OpaquePart:
        """A part that only this provider can read."""
        return OpaquePart(data, None, {self._provider.wire.value: {}})

    def content(self, value: Any, at: Path, read: ReadPart, known: frozenset[str]) -> str | list[UserPart]:
        """The content of a message: text, or a list of parts, which ``read`` reads one by one.

        ``known`` are the members that it reads: what stands beside them is kept in the part's ``extra``. What it reads
        as None is kept as an `OpaquePart`.
        """
        if type(value) is str:
            return value
        if value is None:
            return ""
        if type(value) is not list:
            self.lost(at, "expected a string or a list")
            return ""
        return [self.part(item, read, known) for item in value]

    def part(self, item: Any, read: ReadPart, known: frozenset[str]) -> UserPart:
        """One part of a content. ``read`` may itself put into ``extra`` what stands deeper in the item."""
        made = read(item) if type(item) is dict else None
        if made is None:
            return self.opaque(item)
        made.extra = self._own({**made.extra, **(rest(item, known) or {})})
        if isinstance(made, FilePart) and made.id is not None:
            made.extra.setdefault(self._provider.wire.value, {})  # who has a file of this id
        return made

    def lost(self, at: Path, detail: str) -> None:
        """Note that what stands at ``at`` of the message was not read."""
        self.losses.append(Loss("loss.unread", json_path((*self._at, *at)), detail))

    # -- the rest

    def _add(self, turn: Turn) -> None:
        self.turns.append(turn)

    def _own(self, extra: Mapping[str, Any] | None) -> dict[str, Any]:
        return {self._provider.wire.value: dict(extra)} if extra else {}

    def _outer(self, path: str, inner: str, listed: bool) -> str:
        """A path in the payload of `assistant` as one in the history."""
        tail = path[len(inner) :] if path.startswith(inner) else ""
        at = self._at
        found = re.match(r"\[(\d+)\]", tail) if listed else None
        if found is not None:  # a run of items, of which the first stands at `at`
            first = at[-1]
            at = (*at[:-1], (first if isinstance(first, int) else 0) + int(found[1]))
            tail = tail[found.end() :]
        return json_path(at) + tail


def turn_list(history: Sequence[Turn]) -> list[Turn]:
    """``history`` as a list of turns; `TypeError` if it is none."""
    if not isinstance(history, (list, tuple)):
        raise TypeError(f"history: expected a list of turns, got {type(history).__name__}")
    for turn in history:
        if not isinstance(turn, (SystemMessage, UserMessage, Message, ToolResult)):
            raise TypeError(
                "history: expected SystemMessage, UserMessage, Message or ToolResult, "
                f"got {type(turn).__name__}; get_provider(...).history reads messages"
            )
    return list(history)


def read_turns(provider: WireProvider, payload: Any) -> Turns:
    """The turns of a history: a list of messages, or a request."""
    value = json_values(payload)
    turns = TurnReader(provider)
    at: Path = ()
    items = value
    if type(value) is dict:
        items, at = provider.read_request(value, turns)
    if type(items) is list:
        start = 0
        for count in provider.runs(items):
            run = items[start : start + count]
            turns.begin(run, (*at, start))
            _read(provider, run, turns)
            turns.end("items", run)
            start += count
    else:
        turns.begin([], at)
        turns.lost((), "expected a list of messages")
    return Turns(turns.turns, tuple(turns.losses))


def _read(provider: WireProvider, run: list[Any], turns: TurnReader) -> None:
    if type(run[0]) is Alone:
        turns.user(str(run[0]))
    else:
        provider.read_turn(run, turns)


def reread(provider: WireProvider, source: dict[str, Any]) -> list[Turn]:
    """What is read of the source of a turn."""
    turns = TurnReader(provider)
    turns.stored = source.get("stored", False)
    kind = "system" if "system" in source else "items"
    value = source[kind]
    turns.begin(value if kind == "items" else [], source["path"])
    if kind == "items":
        _read(provider, value, turns)
    else:
        provider.read_system(value, turns)
    turns.end(kind, value)
    return turns.turns


def json_values(payload: Any) -> Any:
    """What `load` gives, with the objects of an SDK that stand inside as JSON values too."""
    return _json(load(payload)[0])


def _json(value: Any, depth: int = 0) -> Any:
    """``value`` with all SDK objects in it as JSON values; the very same one where there are none."""
    kind = type(value)
    if kind in _PLAIN or depth > _DEEP:
        return value
    if kind is dict:
        made = {key: _json(item, depth + 1) for key, item in value.items()}
        return value if all(made[key] is item for key, item in value.items()) else made
    if kind is list:
        items = [_json(item, depth + 1) for item in value]
        return value if all(one is other for one, other in zip(items, value, strict=True)) else items
    if isinstance(value, (list, tuple)):
        return [_json(item, depth + 1) for item in value]
    found = sdk_object(value)
    return value if found is None else _json(found, depth + 1)


def shortest(content: str | list[UserPart]) -> str | list[UserPart]:
    """A content as text, if it is nothing else, for APIs that have no shorter form of that."""
    if len(content) == 1 and isinstance(part := content[0], TextPart) and not part.extra:
        return part.text
    return content


def from_base64(text: Any) -> bytes | None:
    """The bytes that are base64 ``text``; None if it is none."""
    if not isinstance(text, str):
        return None
    try:
        return b64decode(text, validate=True)
    except ValueError:
        return None


def from_data_url(url: Any) -> tuple[bytes, str] | None:
    """The bytes and the type of what a ``data:`` address holds; None if it is none."""
    found = _DATA(url) if isinstance(url, str) else None
    data = None if found is None else from_base64(found[2])
    return None if data is None or found is None else (data, found[1] or "application/octet-stream")


def image_at(url: Any) -> ImagePart | None:
    """The image at an address, which may be a ``data:`` one; None if it is no address."""
    held = from_data_url(url)
    if held is not None:
        return ImagePart(*held)
    return ImagePart(url=url) if isinstance(url, str) else None
