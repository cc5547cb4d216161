"""JSON values in bytes that are cut anywhere: lines of them, values side by side or over many lines, or one array."""

from __future__ import annotations

import re
from typing import Any, Final

from ._framing import Broken, Full, last_event, to_event, truncated

__all__ = ["JsonValues"]

_TEXT: Any = re.compile(rb"[^ \t\r\n]").search
_ITEM: Any = re.compile(rb"[^ \t\r\n,]").search
_BRACKET: Any = re.compile(rb'["{}\[\]]').search
_IN_STRING: Any = re.compile(rb'["\\\n]').search
_QUOTE, _COMMA, _OPEN, _SHUT, _BACKSLASH = b'",[]\\'
_CLOSER: Final = {ord("{"): ord("}"), ord("["): ord("]")}


class JsonValues:
    """The values of a stream; if it is an ``array``, its items. Each is given when its last bracket is read.

    What begins with no bracket, or has the wrong one, goes on to the end of the line, or of the item's line.
    """

    def __init__(self, limit: int, array: bool) -> None:
        self.limit = limit
        self._array = array
        self._inside = False  # the array
        self._state = ""  # "" between values, "value" within one, "junk" in what cannot be one
        self._part = bytearray()  # of a value, what was fed before
        self._closers = bytearray()
        self._string = False
        self._escape = False

    def end(self, out: list[Any]) -> None:
        """The stream ends here."""
        if self._state:
            raw = bytes(self._part)
            out.append(truncated(raw) if self._state == "value" else last_event(raw.rstrip()))

    def read(self, data: bytes, out: list[Any]) -> None:
        """Add the values that ``data`` completes; raises `Full`."""
        array = self._array
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
                        event = to_event(raw)
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
                        raise Full
                    part += data[start:pos]
                    if not self._closers:
                        self._complete(bytes(part), out)
                    continue
            # Up to the next separator, which may be cut in two.
            if array and part[-1:] == b"\n" and start == pos and data[pos] == _COMMA:
                end = pos
            else:
                end = data.find(separator, pos)
            pos = size if end < 0 else end
            part += data[start:pos]
            if len(part) - (array and part[-1:] == b"\n") > self.limit:
                raise Full
            if end >= 0:
                self._complete(bytes(part), out)

    def _complete(self, raw: bytes, out: list[Any]) -> None:
        out.append(to_event(raw.rstrip()))
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
