"""`StreamWriter`: events, or a message, written as an API's own stream.

What is written is decided here: what is held back, what a call has to be before it is written, how a stream ends.
How it is written says an `Output`, one a wire format: `_write_chunks`, `_write_responses`, `_write_messages`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from os import urandom
from typing import TYPE_CHECKING, Any, Final

from ..errors import ParseError, TruncatedError
from ..events import (
    ErrorEvent,
    Event,
    ReasoningDelta,
    ReasoningReclassified,
    TextDelta,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
)
from ..finish import read_finish_reason
from ..schema.names import NameRule
from ..types import (
    Loss,
    Message,
    OpaquePart,
    Part,
    ReasoningPart,
    StopReason,
    TextPart,
    ToolCall,
)
from ._output import Output
from ._usage import as_usage
from ._writing import WireObject, message_parts

if TYPE_CHECKING:
    from ._base import WireProvider

__all__ = ["StreamWriter"]

_ANY_ID: Final = NameRule("!-~", 512)
# Members of an `extra` that are about the answer that they came with, and mean nothing in another.
_FORMS: Final = frozenset(("id", "status", "key", "item", "part", "index", "type", "function_call"))
_WHITE: Final = " \t\n\r"


class _Live:
    """A call that is written while it comes. ``held`` is what of it is not written yet, ``pieces`` what is."""

    __slots__ = ("begun", "held", "id", "index", "name", "pieces")

    def __init__(self, index: int, id: str | None, name: str) -> None:
        self.index = index
        self.id = id
        self.name = name
        self.begun = False
        self.held: list[str] = []
        self.pieces: list[str] = []


class StreamWriter(Output):
    """Writes events as an API streams them. Made by ``get_provider(name).stream_writer(model=...)``.

    ``feed`` takes the events of `StreamParser` or `ProviderStream` one at a time and returns what the API would send
    for each; ``close`` is for the end. ``losses`` are what could not be said so far; each object has those that arose
    with it. ``response`` is in the end what was written, as the body of a whole response.

    >>> from toolglot import TextDelta, get_provider
    >>> writer = get_provider("anthropic").stream_writer(model="m")
    >>> [event["type"] for event in writer.feed(TextDelta("Hi."))]
    ['message_start', 'content_block_start', 'content_block_delta']
    >>> [event["type"] for event in writer.close("stop")]
    ['content_block_stop', 'message_delta', 'message_stop']
    """

    def __init__(
        self,
        wire: WireProvider,
        *,
        model: str,
        id: str | None = None,
        eager: bool = False,
        usage: Any = None,
        created: int | None = None,
        extra: Mapping[str, Any] | None = None,
        strict: bool = False,
    ) -> None:
        if not isinstance(model, str):
            raise TypeError(f"model: expected str, got {type(model).__name__}")
        super().__init__(wire, model, id, usage, created, extra, strict)
        self._eager = eager
        self._begun = self._closed = self._ended = False
        self._open: str | None = None  # the run that is being written: text or reasoning
        self._blank: dict[str, list[str]] = {"text": [], "reasoning": []}
        self._said: set[str] = set()
        self._started: set[int] = set()  # calls that are open
        self._order: deque[int] = deque()  # those that began and are not written, in their order
        self._ready: dict[int, ToolCall | None] = {}  # what came of those that wait for one before them
        self._errors: list[ParseError] = []
        self._live: _Live | None = None
        self._waiting: list[Event] = []
        self._ids: set[str] = set()
        self._again: dict[str, int] = {}

    @property
    def losses(self) -> tuple[Loss, ...]:
        """What could not be said so far."""
        return tuple(self.out.losses)

    @property
    def response(self) -> WireObject:
        """What was written, as the body of a whole response; the API's error if the stream ended in one."""
        if not self._closed:
            raise RuntimeError("response: the stream is not closed")
        made = WireObject(self.body())
        made.losses = self.losses
        return made

    # -- what is written

    def feed(self, event: Event) -> list[WireObject]:
        """What the API sends for an event. Behind an end in an error it is nothing."""
        if self._closed:
            raise RuntimeError("feed: the stream is closed")
        if not self._ended:
            self._start()
            self._take(event)
        return self._give()

    def close(self, finish_reason: str | None = None, *, usage: Any = None) -> list[WireObject]:
        """The end of the stream. ``finish_reason`` is any API's word for why the model stopped; that it made calls is
        known without. ``usage`` is what the answer cost, as any API has it.
        """
        if self._closed:
            raise RuntimeError("close: the stream is closed already")
        reason = read_finish_reason(finish_reason)
        if usage is not None:
            self.usage = as_usage(usage)
        self._closed = True
        if not self._ended:
            self._start()
            self._end(reason)
        return self._give()

    def fail(self, error: Exception | str) -> list[WireObject]:
        """End the stream in the API's error: something outside it went wrong."""
        if self._closed:
            raise RuntimeError("fail: the stream is closed")
        if not self._ended:
            self._start()
            if self._live is None or not self._live.begun:
                self._live = None
                self._go_on()
                self._flush()
            self._break(str(error), getattr(error, "code", None))
        self._closed = True
        return self._give()

    def write(self, message: Message, finish_reason: str | None = None, *, usage: Any = None) -> list[WireObject]:
        """A whole message, and the end of the stream."""
        if not isinstance(message, Message):
            raise TypeError(f"message: expected Message, got {type(message).__name__}")
        if self._closed or self._begun:
            raise RuntimeError("write: the stream has begun")
        if usage is not None or self.usage is None:
            self.usage = as_usage(message.usage if usage is None else usage)
        self._start()
        for number, part in enumerate(message_parts(message)):
            self._part(part, f"$.parts[{number}]")
        for extra in message.extra.values():
            refusal = extra.get("refusal") if isinstance(extra, Mapping) else None
            if isinstance(refusal, str) and not self.refusal(refusal):
                self._shut()
                self._say("text", refusal)
        self._errors += message.errors
        return self.close(finish_reason or message.stop_reason)

    def _give(self) -> list[WireObject]:
        found, self._written = self._written, []
        self.out.check()
        return found

    # -- events

    def _start(self) -> None:
        if not self._begun:
            self._begun = True
            self.begin()

    def _take(self, event: Event) -> None:
        kind = type(event)
        live = self._live
        if live is not None and kind is not ToolCallStart and getattr(event, "index", live.index) != live.index:
            if kind is ToolCallEnd:
                self._waiting.append(event)
        elif live is not None and kind in (TextDelta, ReasoningDelta):
            self._waiting.append(event)
        elif kind is TextDelta:
            self._say("text", event.text)  # type: ignore[union-attr]
        elif kind is ReasoningDelta:
            self._say("reasoning", event.text)  # type: ignore[union-attr]
        elif kind is ToolCallStart:
            alone = not self._started
            self._started.add(event.index)  # type: ignore[union-attr]
            self._order.append(event.index)  # type: ignore[union-attr]
            if self._eager and live is None and alone:
                self._live = _Live(event.index, event.id, event.name)  # type: ignore[union-attr]
        elif kind is ToolCallDelta:
            if live is not None:
                self._fragment(live, event.arguments)  # type: ignore[union-attr]
        elif kind is ToolCallEnd:
            self._over(event.index, event.call)  # type: ignore[union-attr]
        elif kind is ErrorEvent:
            self._broken(event.error)  # type: ignore[union-attr]
        elif kind is ReasoningReclassified:
            self._blank["text"].clear()
            if "text" in self._said:
                self.out.lost("loss.reasoning", "$", "text that was written before it turned out to be reasoning")
        else:
            raise TypeError(f"event: expected one of toolglot's events, got {type(event).__name__}")

    def _say(self, kind: str, text: str) -> None:
        """More of a run. White space that begins one waits for what follows: alone it is no text."""
        if not text:
            return
        if self._open != kind:
            blank = self._blank[kind]
            if text.isspace():
                blank.append(text)
                return
            if blank:
                text = "".join((*blank, text))
                blank.clear()
            self._shut()
            self._open = kind
        self._said.add(kind)
        self.last_is_call = False
        (self.text if kind == "text" else self.reasoning)(text)

    def _shut(self) -> None:
        if self._open is not None:
            self._open = None
            self.shut("completed")

    def _fragment(self, live: _Live, piece: str) -> None:
        """More of a call. Its last brace waits until the call is verified: what a client has of a broken one is never
        whole. Nor is it begun with nothing but ``{``, since a call of free text has ``{}`` for arguments.
        """
        if not piece.strip(_WHITE):
            live.held.append(piece)
            return
        text = "".join((*live.held, piece))
        bare = text.rstrip(_WHITE)
        at = len(bare) - 1 if bare[-1:] == "}" else len(bare)
        if live.begun or bare[:at].strip(_WHITE) not in ("", "{"):
            if not live.begun:
                live.begun = True
                self._shut()
                self.call_begin(self._call_id(live.id), live.name)
            self._piece(live, text[:at])
            text = text[at:]
        live.held = [text]

    def _piece(self, live: _Live, text: str) -> None:
        if text:
            live.pieces.append(text)
            self.call_piece(text)

    def _over(self, index: int, call: ToolCall | None) -> None:
        """A call is verified, or (None) broken: it is written when those that began before it are."""
        if index in self._started:
            self._started.discard(index)
            self._ready[index] = call
        elif call is not None:
            self._made(call)
        while self._order and self._order[0] in self._ready:
            call = self._ready.pop(self._order.popleft())
            if call is not None and not self._ended:
                self._made(call)

    def _flush(self) -> None:
        """Whole calls behind one that never ended."""
        for index in self._order:
            call = self._ready.pop(index, None)
            if call is not None:
                self._made(call)
        self._order.clear()

    def _made(self, call: ToolCall) -> None:
        """A call is verified."""
        live = self._live
        if live is None or not live.begun:
            self._live = None
            self._call(call)
        else:
            told, whole = "".join(live.pieces), call.arguments_json
            if call.kind != "function" or not whole.startswith(told):
                self._break("the call that was made is not the one that was written", "tool_call.unrecognized")
                return
            self._piece(live, whole[len(told) :])
            self.call_end(call)
            self._wrote(call)
            self._live = None
        self._go_on()

    def _go_on(self) -> None:
        """What waited for a call that was written while it came."""
        waiting, self._waiting = self._waiting, []
        for event in waiting:
            self._take(event)

    def _call(self, call: ToolCall, path: str | None = None) -> None:
        self._shut()
        self.call(call, self._call_id(call.id))
        self._wrote(call, path)

    def _wrote(self, call: ToolCall, path: str | None = None) -> None:
        self._extra(call.extra, path or f"$.tool_calls[{self.calls}]")
        self.calls += 1
        self.last_custom = call.kind == "custom"
        self.last_is_call = True

    def _broken(self, error: ParseError) -> None:
        if any(known is error for known in self._errors[-1:]):
            return
        self._errors.append(error)
        live = self._live
        if live is not None and error.call_index in (None, live.index):
            if live.begun:
                self._break(f"the model's call could not be read: {error}", error.code)
                return
            if error.call_index is not None:
                self._live = None
                self._go_on()
        if error.call_index is not None:
            self._over(error.call_index, None)

    def _call_id(self, id: str | None) -> str:
        """An id that the API takes, and that no other call of the answer has."""
        rule = self.wire.call_ids or _ANY_ID
        made = rule.fit(id) if id else self.call_prefix + urandom(12).hex()
        while made in self._ids:
            self._again[id or ""] = again = self._again.get(id or "", 1) + 1
            made = rule.fit(f"{id or self.call_prefix}_{again}")
        self._ids.add(made)
        return made

    def _part(self, part: Part, path: str) -> None:
        own = self.wire.own(part.extra)
        native = self.native(part, own) if self.wire.wire.value in part.extra else None
        self._shut()
        if native is not None:
            self.last_is_call = False
            self.as_it_is(native)
        elif isinstance(part, (TextPart, ReasoningPart)):
            self._say("text" if isinstance(part, TextPart) else "reasoning", part.text)
            self._extra(part.extra, path)
        elif isinstance(part, OpaquePart):
            self.out.lost("loss.part", path, "something that only another provider can read")
        elif part.call.kind == "server":
            self.out.lost("loss.part", path, "a call that another provider ran")
        else:
            self._call(part.call, path)

    def _extra(self, extra: Mapping[str, Any], path: str) -> None:
        for wire, members in extra.items():
            for key in members if isinstance(members, Mapping) else ():
                if key not in _FORMS:
                    self.out.lost("loss.extra", f"{path}.extra.{wire}.{key}", f"for {wire} only")

    # -- the end

    def _end(self, reason: StopReason | None) -> None:
        live, self._live = self._live, None
        if live is not None and live.begun:
            self._break("the output was cut off inside a call", "tool_call.truncated")
            return
        self._go_on()
        self._flush()
        for kind in ("reasoning", "text"):
            blank = "".join(self._blank[kind])
            if blank and kind in self._said:
                self._shut()
                self._open = kind
                self.last_is_call = False
                (self.text if kind == "text" else self.reasoning)(blank)
        hard = next((error for error in self._errors if not _cut(error, reason)), None)
        if hard is not None:
            what = "" if hard.code.startswith("provider.") else "the model's call could not be read: "
            self._break(f"{what}{hard}", hard.code)
            return
        if reason == "error":
            self._break("the model stopped because of an error", None)
            return
        stop: StopReason = reason or ("length" if self._errors or self._started else "stop")
        if stop == "length" and self.in_doubt():
            detail = "the last call is whole, which could not be told from one that was cut off"
            self.out.lost("loss.stop_reason", "$.stop_reason", detail)
            stop = "tool_calls"
        elif stop in ("stop", "tool_calls", "other"):  # the reason lies both ways
            stop = "tool_calls" if self.calls else "stop"
        if self._open is not None:
            self._open = None
            self.shut("incomplete" if stop in ("length", "content_filter") else "completed")
        self._ended = True
        self.finish(stop)

    def _break(self, message: str, code: str | None) -> None:
        """The stream ends in the API's error."""
        self._shut()
        self._live = None
        self._waiting.clear()
        self._ended = True
        self.broken(message, code)


def _cut(error: ParseError, reason: StopReason | None) -> bool:
    """Whether an error only says that the output was cut off by a limit."""
    if error.code.startswith("provider."):
        return False
    if isinstance(error, TruncatedError):
        return reason in (None, "length", "content_filter")
    return error.code == "reasoning.unclosed" and reason == "length"
