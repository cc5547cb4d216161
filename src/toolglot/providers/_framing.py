"""What the framings of a stream have in common: an event's JSON, what stands for one that is broken, and the limit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from ..errors import Fault, LimitError, ParseError, TruncatedError
from ..values.json import loads
from ._payload import parse_error

__all__ = ["Broken", "Framing", "Full", "last_event", "read_event", "to_event", "truncated"]

# What a line may be the beginning of, of an event of which there is nothing else.
_WORDS: Final = (b"data:", b"event:", b"id:", b"retry:", b"[DONE]")


@dataclass(frozen=True, slots=True)
class Broken:
    """Stands among the events for data that is none. Positions of its error are those in ``error.raw``, that data."""

    error: ParseError


def read_event(text: str) -> Any:
    """The JSON value of an event; raises `Fault`."""
    return loads(text)


def to_event(raw: bytes) -> Any:
    """The JSON value of an event's bytes, or a `Broken`."""
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        at = error.start
        text = raw.decode(errors="replace")
        # Where that byte is in the text: one character for each before it that is right.
        position = len(raw[:at].decode())
        message = f"byte {at} of an event is not UTF-8"
        return Broken(parse_error(message, "provider.invalid_encoding", text, position, expected="UTF-8"))
    try:
        return read_event(text)
    except Fault as fault:
        message = f"an event is not JSON: {fault.text}"
        return Broken(parse_error(message, "provider.invalid_event", text, fault.at, expected=fault.expected))


def truncated(raw: bytes) -> Broken:
    """What stands for an event that the end cuts."""
    text = raw.decode(errors="replace")
    return Broken(
        parse_error("the stream ends inside an event", "provider.truncated_event", text, len(text), kind=TruncatedError)
    )


def last_event(raw: bytes) -> Any:
    """The event that the stream ends with. Numbers and the like do not show whether they are complete."""
    event = to_event(raw)
    if type(event) is not Broken:
        return event if type(event) in (dict, list) else truncated(raw)
    try:
        read_event(raw.decode())
    except Fault as fault:
        if fault.end or any(word.startswith(raw) for word in _WORDS):
            return truncated(raw)
    except UnicodeDecodeError as error:
        if error.reason == "unexpected end of data":
            return truncated(raw)
    return event


class Full(Exception):
    """An event is longer than the limit."""


class Framing:
    """What the framings have in common: once a limit is passed nothing more is read, but what came before is given."""

    done = False

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._closed = False
        self._failure: LimitError | None = None

    def feed(self, data: bytes | bytearray | memoryview) -> list[Any]:
        """The events that ``data`` completes: JSON values, or a `Broken` where there is none.

        Raises `LimitError` for an event longer than the limit, once all events before it have been given, and
        then ever again. Raises `RuntimeError` after `close`.
        """
        if type(data) is not bytes:
            if not isinstance(data, (bytes, bytearray, memoryview)):
                raise TypeError(f"data: expected bytes, got {type(data).__name__}")
            data = bytes(data)
        if self._closed:
            raise RuntimeError("feed after close")
        if self._failure is not None:
            raise self._failure
        return self._run(data)

    def close(self) -> list[Any]:
        """What the end completes, or a `Broken` with a `TruncatedError` if it cuts an event; `feed` must not follow."""
        if self._failure is not None:
            raise self._failure
        if self._closed:
            return []
        self._closed = True
        return self._run(None)

    def _run(self, data: bytes | None) -> list[Any]:
        out: list[Any] = []
        try:
            if data is None:
                self._end(out)
            else:
                self._read(data, out)
        except Full:
            self._failure = LimitError(f"an event of the stream is longer than {self.limit:,} bytes", "event")
            if not out:
                raise self._failure from None
        return out

    def _read(self, data: bytes, out: list[Any]) -> None:
        raise NotImplementedError

    def _end(self, out: list[Any]) -> None:
        raise NotImplementedError
