"""The bytes of a provider's stream, cut anywhere, as its events: server-sent events, JSON values, AWS's messages.

Why not a library: the core has no dependencies, and of those for server-sent events httpx-sse and requests-sse come
with an HTTP client, sseclient-py pulls from an iterator and finds no end of an event whose CR LF is cut in two, and
those that are fed (assel, axio-sse) need a newer Python than ours; none reads the other framings or says what it skips.

A framing reports, it does not judge: what is no event is a `Broken` in its place among the events, and reading goes on.
"""

from __future__ import annotations

import re
import struct
from base64 import b64decode
from binascii import Error as Base64Error
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final

from ..errors import Fault, LimitError, ParseError, TruncatedError
from ..values.json import loads
from ._payload import parse_error

__all__ = ["AwsFrames", "Broken", "Frames", "read_event"]

_BOM: Final = b"\xef\xbb\xbf"
_TEXT: Any = re.compile(rb"[^ \t\r\n]").search
_ITEM: Any = re.compile(rb"[^ \t\r\n,]").search
_BRACKET: Any = re.compile(rb'["{}\[\]]').search
_IN_STRING: Any = re.compile(rb'["\\\n]').search
_FIELD_NAME: Any = re.compile(rb"[A-Za-z][A-Za-z0-9_-]*").fullmatch
# Members by which data says itself what it is. ("object" is OpenAI's.)
_KINDS: Final = frozenset(("type", "event_type", "object", "error"))
_WORDS: Final = (b"data:", b"event:", b"id:", b"retry:", b"[DONE]")

_QUOTE, _COMMA, _OPEN, _SHUT, _BACKSLASH = b'",[]\\'
_CLOSER: Final = {ord("{"): ord("}"), ord("["): ord("]")}
_PRELUDE: Final = 12  # bytes: length of the message, length of its headers, checksum of both


@dataclass(frozen=True, slots=True)
class Broken:
    """Stands among the events for data that is none. Positions of its error are those in ``error.raw``, that data."""

    error: ParseError


def read_event(text: str) -> Any:
    """The JSON value of an event; raises `Fault`."""
    return loads(text)


def _event(raw: bytes) -> Any:
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


def _truncated(raw: bytes) -> Broken:
    text = raw.decode(errors="replace")
    return Broken(
        parse_error("the stream ends inside an event", "provider.truncated_event", text, len(text), kind=TruncatedError)
    )


def _last(raw: bytes) -> Any:
    """The event that the stream ends with. Numbers and the like do not show whether they are complete."""
    event = _event(raw)
    if type(event) is not Broken:
        return event if type(event) in (dict, list) else _truncated(raw)
    try:
        read_event(raw.decode())
    except Fault as fault:
        if fault.end or any(word.startswith(raw) for word in _WORDS):
            return _truncated(raw)
    except UnicodeDecodeError as error:
        if error.reason == "unexpected end of data":
            return _truncated(raw)
    return event


class _Full(Exception):
    """An event is longer than the limit."""


class _Base:
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
        except _Full:
            self._failure = LimitError(f"an event of the stream is longer than {self.limit:,} bytes", "event")
            if not out:
                raise self._failure from None
        return out

    def _read(self, data: bytes, out: list[Any]) -> None:
        raise NotImplementedError

    def _end(self, out: list[Any]) -> None:
        raise NotImplementedError


class Frames(_Base):
    r"""Events of a stream of text. The first byte that is no white space says which of three it is.

    - ``{``: JSON values, one a line or, as APIs write errors, over many. A value is given when it is complete.
    - ``[``: one JSON array, whose items are the events (Gemini without ``alt=sse``).
    - else server-sent events as in the HTML standard, each given as its data. Beyond the standard: ``[DONE]`` sets
      ``done``; blank data is no event; lines that are none of a stream's (Gemini's errors, which are bare JSON amid
      the events; a proxy's HTML) are one event up to the next field or blank line; the end completes an event whose
      data is complete. An event's name is in its data at nearly all APIs; where it is not, it becomes the data's
      ``type``, and the data of an event ``error`` that holds no ``error`` becomes that.

    ``limit`` is the bytes of one event: of its lines of data, or of its JSON. No single line may be longer.

    >>> frames = Frames(1000)
    >>> frames.feed(b'event: ping\ndata: {"n": 1}\n\nda'), frames.feed(b"ta: [DONE]\n"), frames.done
    ([{'type': 'ping', 'n': 1}], [], True)
    """

    def __init__(self, limit: int) -> None:
        super().__init__(limit)
        self._kind = ""  # "sse", "lines", "array"
        self._begun = False  # a byte order mark can no longer follow
        self._part = bytearray()  # the line or value that is not complete
        # Server-sent events:
        self._cr = False  # the last byte was CR: LF belongs to it
        self._data: list[bytes] = []
        self._name: bytes | None = None
        self._stray: list[bytes] = []  # lines that are no fields
        self._held = 0  # bytes of both
        # JSON values:
        self._inside = False  # the array
        self._state = ""  # "" between values, "value" within one, "junk" in what cannot be one
        self._closers = bytearray()
        self._string = False
        self._escape = False

    def _read(self, data: bytes, out: list[Any]) -> None:
        if not self._kind:
            data = self._sniff(data)
        if self._kind == "sse":
            self._read_lines(data, out)
        elif data:
            self._read_values(data, out)

    def _sniff(self, data: bytes) -> bytes:
        """Find out what stream it is; what is to be read then. Only white space is held back."""
        head = self._part
        if not self._begun:
            head += data
            if len(head) < 3 and _BOM.startswith(head):
                return b""
            self._begun = True
            data = bytes(head)
            head.clear()
            if data.startswith(_BOM):
                data = data[3:]
        found = _TEXT(data)
        # Lines of white space are nothing in any framing; blanks in front of a field's name are to the standard.
        text = len(data) if found is None else found.start()
        start = max(data.rfind(b"\n", 0, text), data.rfind(b"\r", 0, text)) + 1
        if start:
            head.clear()
        if found is None:
            head += data[start:]
            if len(head) > self.limit:
                raise _Full
            return b""
        byte = data[text]
        self._kind = "lines" if byte == ord("{") else "array" if byte == _OPEN else "sse"
        data = bytes(head) + data[start:]
        head.clear()
        return data

    def _end(self, out: list[Any]) -> None:
        if self._kind == "sse":
            self._end_lines(out)
        elif self._state:
            raw = bytes(self._part)
            out.append(_truncated(raw) if self._state == "value" else _last(raw.rstrip()))
        elif not self._begun and self._part:
            out.append(_truncated(bytes(self._part)))

    # -- server-sent events

    def _read_lines(self, data: bytes, out: list[Any]) -> None:
        if not data:
            return
        if self._cr and data[0] == 10:
            data = data[1:]
            self._cr = False
            if not data:
                return
        last = data[-1]
        self._cr = last == 13
        lines = data.splitlines()
        part = self._part
        tight = self._held + len(part) + len(data) > self.limit
        if part:
            if len(part) + len(lines[0]) > self.limit:
                raise _Full
            part += lines[0]
            if last in (10, 13) or len(lines) > 1:
                lines[0] = bytes(part)
                part.clear()
            else:
                return
        rest = b"" if last in (10, 13) else lines.pop()
        held = self._held
        pending = self._data
        for line in lines:
            if not line:
                if pending or self._stray:
                    self._dispatch(out)
                    held = 0
                self._name = None
                continue
            if tight and len(line) > self.limit:
                raise _Full
            if line[:6] == b"data: ":
                value = line[6:]
            elif line[:7] == b"event: " and not self._stray:
                self._name = line[7:]
                continue
            elif line[0] == 58:  # a comment
                continue
            else:
                name, colon, value = line.partition(b":")
                if value[:1] == b" ":
                    value = value[1:]
                if name == b"event":
                    self._end_stray(out)
                    self._name = value
                    continue
                if name == b"error" and colon:  # llama.cpp before 2025-09
                    self._dispatch(out)
                    held = 0
                    self._name = b"error "
                elif name != b"data":
                    if name in (b"id", b"retry") or (colon and _FIELD_NAME(name)):
                        continue
                    if pending:
                        self._dispatch(out)
                        held = 0
                    self._stray.append(line)
                    held += len(line) + 1
                    if tight and held > self.limit:
                        raise _Full
                    continue
            if self._stray:
                self._end_stray(out)
                held = 0
            if value == b"[DONE]":  # no line of any JSON
                self._dispatch(out)
                held = 0
                self.done = True
                continue
            pending.append(value)
            held += len(line) + 1
            if tight and held > self.limit:
                raise _Full
        self._held = held
        if rest:
            if len(rest) > self.limit:
                raise _Full
            part += rest

    def _dispatch(self, out: list[Any]) -> None:
        if self._stray:
            self._end_stray(out)
        data, name = self._data, self._name
        if data:
            raw = data[0] if len(data) == 1 else b"\n".join(data)
            event = _event(raw)
            if type(event) is not Broken:
                out.append(event if name is None else _named(name, event))
            elif len(data) > 1 and all(line[:1] == b"{" for line in data):
                # Servers that leave the blank line out, or break off to say an error. A value that goes over several
                # lines does not look so.
                out.extend(_named(name, _event(line)) for line in data)
            elif raw.strip() or name == b"error":
                out.append(event)
            data.clear()
        self._name = None
        self._held = 0

    def _end_stray(self, out: list[Any]) -> None:
        raw = b"\n".join(self._stray)
        self._stray.clear()
        self._held = 0
        if raw.strip():
            out.append(_event(raw))

    def _end_lines(self, out: list[Any]) -> None:
        if self._part:
            self._read_lines(b"\n", out)
        # What has no blank line behind it.
        raw = (self._data or self._stray or [b""])[-1]
        before = len(out)
        self._dispatch(out)
        if len(out) > before:
            event = out[-1]
            if type(event) is Broken and event.error.raw is not None:
                raw = event.error.raw.encode()
            if type(event) is not dict:
                out[-1] = _last(raw)

    # -- JSON values

    def _read_values(self, data: bytes, out: list[Any]) -> None:
        array = self._kind == "array"
        size = len(data)
        separator = b"\n," if array else b"\n"
        ahead = -1  # where the next separator is
        tried = False  # whether a value has been looked for between here and there
        part = self._part
        pos = 0
        while pos < size:
            if not self._state:
                found = _ITEM(data, pos) if self._inside else _TEXT(data, pos)
                if found is None:
                    return
                pos = found.start()
                byte = data[pos]
                if array and not self._inside and byte == _OPEN:
                    self._inside = True
                    pos += 1
                    continue
                if self._inside and byte == _SHUT:
                    self._inside = False
                    pos += 1
                    continue
                if ahead < pos:
                    ahead = data.find(separator, pos)
                    tried = ahead < 0
                    if tried:
                        ahead = size
                if not tried and byte in _CLOSER:
                    # Nearly always one value goes up to the separator, and no look at its brackets is needed. It is
                    # tried once for each separator, lest many values in front of one cost their square.
                    tried = True
                    raw = data[pos:ahead].rstrip()
                    if len(raw) <= self.limit:
                        event = _event(raw)
                        if type(event) is not Broken:
                            out.append(event)
                            pos = ahead
                            continue
                self._state = "value" if byte in _CLOSER else "junk"
            start = pos
            if self._state == "value":
                pos = self._scan(data, pos)
                if self._state == "value":
                    if len(part) + pos - start > self.limit:
                        raise _Full
                    part += data[start:pos]
                    if not self._closers:
                        self._complete(bytes(part), out)
                    continue
            # Up to the next separator, which may be cut in two.
            if array and part[-1:] == b"\n" and start == pos and data[pos] == _COMMA:
                end = pos
                del part[-1]
            else:
                end = data.find(separator, pos)
            pos = size if end < 0 else end
            part += data[start:pos]
            if len(part) - (end < 0 and array and part[-1:] == b"\n") > self.limit:
                raise _Full
            if end >= 0:
                self._complete(bytes(part), out)

    def _complete(self, raw: bytes, out: list[Any]) -> None:
        out.append(_event(raw.rstrip()))
        self._part.clear()
        self._closers.clear()
        self._state = ""
        self._string = self._escape = False

    def _scan(self, data: bytes, pos: int) -> int:
        """Go on in a value, from bracket to bracket; where it ends, or ``data`` does, or it turns out to be junk."""
        size = len(data)
        closers = self._closers
        string = self._string
        if self._escape:
            pos += 1
            self._escape = False
        while True:
            if string:
                found = _IN_STRING(data, pos)
                if found is None:
                    break
                pos = found.end()
                byte = data[pos - 1]
                if byte == _QUOTE:
                    string = False
                elif byte == _BACKSLASH:
                    if pos == size:
                        self._escape = True
                        break
                    pos += 1
                else:  # no string of JSON goes over the end of a line
                    self._state = "junk"
                    return pos - 1
            else:
                found = _BRACKET(data, pos)
                if found is None:
                    break
                pos = found.end()
                byte = data[pos - 1]
                if byte == _QUOTE:
                    string = True
                elif byte in _CLOSER:
                    closers.append(_CLOSER[byte])
                elif closers.pop() != byte:
                    self._state = "junk"
                    return pos
                elif not closers:
                    self._string = False
                    return pos
        self._string = string
        return size


def _named(name: bytes | None, event: Any) -> Any:
    """The event with its name, where its data does not say what it is."""
    if name is None or type(event) is Broken:
        return event
    if name == b"error ":  # the field's name: llama.cpp's data is what is in ``error`` elsewhere
        return event if type(event) is dict and "error" in event else {"error": event}
    if name == b"error":
        if type(event) is dict and ("error" in event or "error" in (event.get("type"), event.get("event_type"))):
            return event
        return {"type": "error", "error": event}
    if type(event) is dict and name and name != b"message" and _KINDS.isdisjoint(event):
        return {"type": name.decode(errors="replace"), **event}
    return event


class AwsFrames(_Base):
    """Events of Bedrock's binary stream (``application/vnd.amazon.eventstream``), decoded by botocore.

    An event is given as boto3 gives it, ``{"contentBlockDelta": {...}}``; one of InvokeModel as the model's own event,
    which is what is in its ``chunk``; an exception as ``{"throttlingException": {"message": ...}}``. A message whose
    checksum is wrong is a `Broken`; where it is that of its length, no message after it can be found.

    Raises `ModuleNotFoundError` if botocore is not installed.
    """

    def __init__(self, limit: int) -> None:
        super().__init__(limit)
        try:
            botocore: Any = import_module("botocore.eventstream")
        except ModuleNotFoundError as error:
            raise ModuleNotFoundError(
                "Bedrock's event stream needs botocore, which is Toolglot's extra `bedrock`:  pip install botocore",
                name=error.name,
            ) from None
        self._new = botocore.EventStreamBuffer
        self._error = botocore.ParserError
        self._buffer = self._new()
        self._part = bytearray()
        self._size = 0  # bytes of this message, once its prelude has been read
        self._offset = 0  # where in the stream it starts
        self._lost = False

    def _read(self, data: bytes, out: list[Any]) -> None:
        # botocore's buffer copies all that it holds at every step, so it is given a prelude and a message at a time.
        pos, end = 0, len(data)
        part = self._part
        while pos < end and not self._lost:
            wanted = (self._size or _PRELUDE) - len(part)
            part += data[pos : pos + wanted]
            pos += wanted
            if pos > end:
                return
            try:
                if not self._size:
                    self._decode(bytes(part))
                    self._size = int.from_bytes(part[:4], "big")
                    if self._size > self.limit:
                        raise _Full
                    if self._size > _PRELUDE:
                        continue
                    raise self._error("it is shorter than a message can be")
                message = self._decode(bytes(part[_PRELUDE:]))
                out.append(self._message(message))
            except (self._error, struct.error, LookupError, UnicodeDecodeError) as error:
                self._lost = self._size <= _PRELUDE
                self._buffer = self._new()
                what = f"the message at byte {self._offset} of the stream is no event: {error}"
                out.append(Broken(ParseError(what, "provider.invalid_event", raw=part.decode("latin-1"))))
            self._offset += self._size
            self._size = 0
            part.clear()

    def _decode(self, data: bytes) -> Any:
        self._buffer.add_data(data)
        return next(self._buffer, None)

    def _end(self, out: list[Any]) -> None:
        if self._part:
            raw = self._part.decode("latin-1")
            message = f"the stream ends inside the message at its byte {self._offset}"
            out.append(Broken(TruncatedError(message, "provider.truncated_event", raw=raw)))

    def _message(self, message: Any) -> Any:
        headers = message.headers
        kind = headers.get(":message-type")
        if kind == "error":
            return {headers.get(":error-code", "error"): {"message": headers.get(":error-message")}}
        payload = _event(message.payload) if message.payload else {}
        if type(payload) is Broken:
            return payload
        if type(payload) is dict:
            payload.pop("p", None)  # padding, which hides the length
        if kind == "exception":
            return {headers.get(":exception-type", "exception"): payload}
        name = headers[":event-type"]
        if name == "chunk" and type(payload) is dict and type(payload.get("bytes")) is str:
            try:
                return _event(b64decode(payload["bytes"], validate=True))
            except Base64Error as error:
                raise self._error(f"its bytes are not Base64: {error}") from None
        return {name: payload}
