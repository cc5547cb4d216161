"""The bytes of a provider's stream, cut anywhere, as its events: server-sent events, JSON values, AWS's messages.

Why not a library: the core has no dependencies, and of those for server-sent events httpx-sse and requests-sse come
with an HTTP client, sseclient-py pulls from an iterator and finds no end of an event whose CR LF is cut in two, and
those that are fed (assel, axio-sse) need a newer Python than ours; none reads the other framings or says what it skips.

A framing reports, it does not judge: what is no event is a `Broken` in its place among the events, and reading goes on.
"""

from __future__ import annotations

import re
from typing import Any, Final

from ._aws_frames import AwsFrames
from ._framing import Broken, Framing, Full, last_event, read_event, to_event, truncated
from ._json_values import JsonValues

__all__ = ["AwsFrames", "Broken", "Frames", "read_event"]

_BOM: Final = b"\xef\xbb\xbf"
_TEXT: Any = re.compile(rb"[^ \t\r\n]").search
_FIELD_NAME: Any = re.compile(rb"[A-Za-z][A-Za-z0-9_-]*").fullmatch
# Members by which data says itself what it is. ("object" is OpenAI's.)
_KINDS: Final = frozenset(("type", "event_type", "object", "error"))


class Frames(Framing):
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
        self._known = False  # what it is
        self._values: JsonValues | None = None
        self._begun = False  # a byte order mark can no longer follow
        self._part = bytearray()  # the line that is not complete
        self._cr = False  # the last byte was CR: LF belongs to it
        self._data: list[bytes] = []
        self._name: bytes | None = None
        self._stray: list[bytes] = []  # lines that are no fields
        self._held = 0  # bytes of both

    def _read(self, data: bytes, out: list[Any]) -> None:
        if not self._known:
            data = self._sniff(data)
        if not data:
            return
        if self._values is None:
            self._read_lines(data, out)
        else:
            self._values.read(data, out)

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
                raise Full
            return b""
        byte = data[text]
        self._known = True
        if byte in b"{[":
            self._values = JsonValues(self.limit, array=byte == ord("["))
        data = bytes(head) + data[start:]
        head.clear()
        return data

    def _end(self, out: list[Any]) -> None:
        if self._values is not None:
            self._values.end(out)
        elif self._known:
            self._end_lines(out)
        elif not self._begun and self._part:
            out.append(truncated(bytes(self._part)))

    def _read_lines(self, data: bytes, out: list[Any]) -> None:
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
                raise Full
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
                raise Full
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
                        raise Full
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
                raise Full
        self._held = held
        if rest:
            if len(rest) > self.limit:
                raise Full
            part += rest

    def _dispatch(self, out: list[Any]) -> None:
        if self._stray:
            self._end_stray(out)
        data, name = self._data, self._name
        if data:
            raw = data[0] if len(data) == 1 else b"\n".join(data)
            event = to_event(raw)
            if type(event) is not Broken:
                out.append(event if name is None else _named(name, event))
            elif len(data) > 1 and all(line[:1] == b"{" for line in data):
                # Servers that leave the blank line out, or break off to say an error. A value that goes over several
                # lines does not look so.
                out.extend(_named(name, to_event(line)) for line in data)
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
            out.append(to_event(raw))

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
                out[-1] = last_event(raw)


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
