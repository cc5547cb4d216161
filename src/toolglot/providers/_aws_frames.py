"""Bedrock's binary event stream."""

from __future__ import annotations

import struct
from base64 import b64decode
from binascii import Error as Base64Error
from importlib import import_module
from typing import Any, Final

from ..errors import ParseError, TruncatedError
from ._framing import Broken, Framing, Full, to_event

__all__ = ["AwsFrames"]

_PRELUDE: Final = 12  # bytes: length of the message, length of its headers, checksum of both


class AwsFrames(Framing):
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
                        raise Full
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
        payload = to_event(message.payload) if message.payload else {}
        if type(payload) is Broken:
            return payload
        if type(payload) is dict:
            payload.pop("p", None)  # padding, which hides the length
        if kind == "exception":
            return {headers.get(":exception-type", "exception"): payload}
        name = headers[":event-type"]
        if name == "chunk" and type(payload) is dict and type(payload.get("bytes")) is str:
            try:
                return to_event(b64decode(payload["bytes"], validate=True))
            except Base64Error as error:
                raise self._error(f"its bytes are not Base64: {error}") from None
        return {name: payload}
