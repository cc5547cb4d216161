"""`Output`: how an API writes what a `StreamWriter` decides. A wire format fills it in."""

from __future__ import annotations

from collections.abc import Mapping
from json import dumps
from os import urandom
from time import time
from typing import TYPE_CHECKING, Any, ClassVar

from ..types import Part, StopReason, ToolCall, json_text
from ._usage import as_usage
from ._writing import WireObject, Writing

if TYPE_CHECKING:
    from ._base import WireProvider

__all__ = ["Output", "custom_arguments"]


class Output:
    """One answer while it is written: ``put`` writes an object, ``out`` collects the losses."""

    id_prefix: ClassVar[str]
    call_prefix: ClassVar[str] = "call_"
    # What stands behind the last event, and whether an event has its name beside it.
    sse_end: ClassVar[bytes] = b""
    sse_names: ClassVar[bool] = True

    def __init__(
        self,
        wire: WireProvider,
        model: str,
        id: str | None,
        usage: Any,
        created: int | None,
        extra: Mapping[str, Any] | None,
        strict: bool,
    ) -> None:
        self.id = self.id_prefix + urandom(12).hex() if id is None else id
        self.model = model
        self.created = int(time()) if created is None else created
        self.usage = as_usage(usage)
        self.extra = dict(extra or {})
        self.wire = wire
        self.out = Writing(strict)
        # Calls written so far; whether the last of them is free text, and whether it is the last thing written.
        self.calls = 0
        self.last_custom = False
        self.last_is_call = False
        self._written: list[WireObject] = []
        self._told = 0  # losses that an object has
        self._lost: set[str] = set()

    def put(self, event: dict[str, Any]) -> None:
        """Write an object."""
        made = WireObject(event)
        if len(self.out.losses) > self._told:
            made.losses = tuple(self.out.losses[self._told :])
            self._told = len(self.out.losses)
        self._written.append(made)

    def lost_once(self, code: str, path: str, detail: str) -> None:
        """Note a loss that one answer may have many times."""
        if detail not in self._lost:
            self._lost.add(detail)
            self.out.lost(code, path, detail)

    # -- what a wire format gives

    def begin(self) -> None:
        """Write what comes before everything."""

    def text(self, text: str) -> None:
        """Write more text; the first of a run may begin something."""
        raise NotImplementedError

    def reasoning(self, text: str) -> None:
        """Write more reasoning, in the same way."""
        raise NotImplementedError

    def refusal(self, text: str) -> bool:
        """Write the words of a refusal, if the API has a place for them; else they are text."""
        return False

    def shut(self, status: str) -> None:
        """End the run of text or reasoning: something else follows, or (``incomplete``) it was cut off."""

    def call(self, call: ToolCall, id: str) -> None:
        """Write a call that is verified."""
        raise NotImplementedError

    def call_begin(self, id: str, name: str) -> None:
        """Begin a call that is not verified."""
        raise NotImplementedError

    def call_piece(self, text: str) -> None:
        """Write more of its arguments."""
        raise NotImplementedError

    def call_end(self, call: ToolCall) -> None:
        """It is verified."""
        raise NotImplementedError

    def native(self, part: Part, own: dict[str, Any]) -> dict[str, Any] | None:
        """A part that came from this API as the API had it, if there is more to it than can be said otherwise."""
        return None

    def as_it_is(self, native: dict[str, Any]) -> None:
        """Write what `native` gave."""
        raise NotImplementedError

    def in_doubt(self) -> bool:
        """Whether a client that is told of the limit has to take the last call for cut off."""
        return self.last_custom and self.last_is_call

    def finish(self, stop: StopReason) -> None:
        """Write the end."""
        raise NotImplementedError

    def broken(self, message: str, code: str | None) -> None:
        """Write the API's error, behind which nothing comes."""
        raise NotImplementedError

    def body(self) -> dict[str, Any]:
        """What was written as a whole response."""
        raise NotImplementedError

    # -- bytes

    @classmethod
    def sse(cls, event: Mapping[str, Any]) -> bytes:
        """An object as a server-sent event. Half of a surrogate pair, which has no bytes, becomes U+FFFD."""
        if not isinstance(event, Mapping):
            raise TypeError(f"events: expected objects as they were written, got {type(event).__name__}")
        data = dumps(event, ensure_ascii=False, separators=(",", ":"))
        if not data.isascii():
            # Some clients take these for the ends of lines.
            for character in "\x85\u2028\u2029":
                data = data.replace(character, f"\\u{ord(character):04x}")
        try:
            encoded = data.encode()
        except UnicodeEncodeError:
            encoded = data.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()
        name = event.get("type") if cls.sse_names else None
        head = b"event: %s\n" % str(name).encode() if name else b""
        return b"%sdata: %s\n\n" % (head, encoded)


def custom_arguments(call: ToolCall) -> str:
    """The arguments of a call; free text becomes a string called input."""
    return json_text({"input": call.input or ""}) if call.kind == "custom" else call.arguments_json
