"""`ProviderStream`: a provider's stream as events, the same as those of text."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

from ..definition import ToolSet
from ..errors import DefinitionError, LimitError, ParseError
from ..events import ErrorEvent, Event, ToolCallDelta, ToolCallEnd, ToolCallStart
from ..schema.names import Names
from ..types import CallPart, Limits, Loss, Message
from ._assembly import Assembly
from ._base import BODIES
from ._framing import Broken
from ._names import Provider
from ._payload import load, unwrapped
from ._pieces import joined
from ._reading import Reading

if TYPE_CHECKING:
    from ._base import Ids, OnError, WireProvider
    from ._checked import Asked
    from ._inside import Inside

__all__ = ["ProviderStream", "aevents", "iter_events"]

_DONE: Final[dict[str, Any]] = {}  # the last of server-sent events, which is no JSON


class ProviderStream:
    """The events of a provider's stream. Made by ``get_provider(name).stream()``.

    ``feed`` takes the API's events one at a time (JSON text, dicts or the SDK's objects), ``feed_bytes`` the bytes of
    the response's body, cut anywhere; both give what that decides. A `ToolCallEnd` comes when the API has said that
    the call is complete. ``close`` is for the end: what is open then is a `TruncatedError`, and so is a stream that
    the API has not ended itself. With ``on_error="raise"`` an error is given as an `ErrorEvent` first and raised by
    the next call.

    >>> from toolglot import get_provider
    >>> stream = get_provider("ollama").stream()
    >>> for event in stream.feed('{"message": {"content": "Hi."}, "done": true, "done_reason": "stop"}'):
    ...     print(event)
    TextDelta(text='Hi.', span=None)
    >>> stream.close()
    []
    """

    def __init__(
        self,
        wire: WireProvider,
        *,
        on_error: OnError = "raise",
        ids: Ids = "given",
        tools: Any = None,
        text_format: str | None = None,
        validate: bool = False,
        coerce: bool = False,
        limits: Limits | None = None,
    ) -> None:
        if on_error not in ("raise", "collect", "repair"):
            raise ValueError(f"on_error: expected 'raise', 'collect' or 'repair', got {on_error!r}")
        if ids not in ("given", "synthesize"):
            raise ValueError(f"ids: expected 'given' or 'synthesize', got {ids!r}")
        if limits is not None and not isinstance(limits, Limits):
            raise TypeError(f"limits: expected Limits or None, got {type(limits).__name__}")
        self._wire = wire
        self._raise = on_error == "raise"
        self._mends = on_error == "repair"
        self._synthesize = ids == "synthesize"
        self._tools = None if tools is None else ToolSet.of(tools)
        self._names = None if self._tools is None else Names(wire.tool_names, sorted(self._tools.names))
        self._asked: Asked | None = None
        if validate or coerce or (self._mends and self._tools is not None):
            from ._checked import Asked

            self._asked = Asked.of(self._tools, validate, coerce, self._mends)
        self._limits = limits or Limits()
        self._into = Assembly(wire, self._reading(), self._synthesize, self._limits)
        self._closed = False
        self._error: ParseError | None = None
        self._limit: LimitError | None = None
        self._message: Message | None = None
        self._frames: Any = None
        self._inside: Inside | None = None
        if text_format is not None:
            from ._inside import Inside

            self._inside = Inside(text_format, ids, tools, on_error, validate, coerce)

    @property
    def provider(self) -> Provider:
        """Whose stream it is."""
        return self._wire.provider

    def _reading(self) -> Reading:
        return Reading(
            self._wire.wire.value,
            None,
            self._synthesize,
            self._tools,
            self._names,
            asked=self._asked,
            mends=self._mends,
        )

    def feed(self, event: Any) -> list[Event]:
        """The API's next event: JSON text or bytes, a dict, or an SDK's object."""
        if self._closed:
            raise RuntimeError("feed: the stream is closed")
        if self._error is not None:
            raise self._raised()
        if self._limit is not None:
            raise self._limit
        if type(event) is not dict:
            event = _DONE if type(event) is str and event.strip() == "[DONE]" else load(event)[0]
            if type(event) is not dict:
                return self._odd(event)
        if "data" in event or "raw" in event or "chunk" in event:
            event = unwrapped(event)
        into = self._into
        try:
            error = event.get("error")
            if event is _DONE:
                self._wire.stream_close(into)
                into.finish()
            elif error and not isinstance(error, bool):
                if any(type(event[key]) in (dict, list) for key in BODIES & event.keys()):  # what was said until then
                    into.cut = True
                    self._wire.stream_event({key: event[key] for key in event if key != "error"}, into)
                into.refused(error)
            elif event.get("object") == "error" and type(event.get("message")) is str:  # Mistral's, vLLM's
                into.refused(event)
            else:
                self._wire.stream_event(event, into)
        except LimitError as error:
            into.events = []  # what was found is in the message
            self._limit = error
            raise
        except RecursionError:
            into.events = []
            self._limit = _too_deep()
            raise self._limit from None
        found = into.events
        if not found:
            return []  # not the assembly's own list, which goes on
        into.events = []
        if self._inside is not None:
            return self._stop(self._inside.translate(found))
        return self._stop(found) if into.errors or into.known else found

    def _odd(self, event: Any) -> list[Event]:
        """What is no event: several of them, or nothing."""
        if type(event) is list:
            found: list[Event] = []
            for item in event:
                if type(item) is not list:  # nobody sends lists of lists
                    found += self.feed(item)
                else:
                    self._into.lost((), "expected an event, found a list")
                if self._error is not None:
                    break
            return found
        if event is not None:
            self._into.lost((), f"expected an event, found {type(event).__name__}")
        return []

    def feed_bytes(self, data: bytes) -> list[Event]:
        """The next bytes of the response's body: server-sent events, JSON a line, or a JSON array of events.

        Bedrock's binary event stream is decoded by botocore, which has to be installed (``toolglot[bedrock]``).
        """
        if self._closed:
            raise RuntimeError("feed_bytes: the stream is closed")
        if self._frames is None:
            self._frames = self._wire.frames(4 * self._limits.arguments)
        return self._framed(self._frames.feed(data))

    def _framed(self, items: list[Any]) -> list[Event]:
        found: list[Event] = []
        for item in items:
            if type(item) is Broken:
                self._into.errors.append(item.error)
                found += self._stop([ErrorEvent(item.error)])
            else:
                found += self.feed(item)
            if self._error is not None:
                break
        return found

    def _stop(self, found: list[Event]) -> list[Event]:
        """Note the first error, if errors are raised: what comes behind it is not given out."""
        if self._raise:
            for i, event in enumerate(found):
                if type(event) is ErrorEvent:
                    self._error = event.error
                    return found[: i + 1]
        return found

    def close(self) -> list[Event]:
        """Nothing more comes; the events that this decides."""
        if self._closed:
            raise RuntimeError("close: the stream is closed already")
        into = self._into
        if self._limit is not None:
            self._closed = True
            raise self._limit
        try:
            return self._close(into)
        except RecursionError:
            raise _too_deep() from None

    def _close(self, into: Assembly) -> list[Event]:
        found: list[Event] = []
        if self._error is None and self._frames is not None:
            found = self._framed(self._frames.close())
            if self._frames.done:
                self._wire.stream_close(into)
                into.finish()
        raised = self._error
        into.close()
        self._tell_the_rest(self._put_together())
        self._closed = True
        if raised is not None and not found:
            raise self._raised()
        rest, into.events = into.events, []
        if self._inside is not None:
            rest = self._inside.translate(rest) + self._inside.close("length" if into.cut else None)
        found += rest
        found = self._stop(found)
        if self._error is not None:
            self._raised()  # nothing will raise it: it gets its message here
        return found

    def _tell_the_rest(self, message: Message) -> None:
        """What only the whole response shows: errors and calls that no event was about."""
        into = self._into
        told = {id(error) for error in into.errors} | {id(found) for found in into.known.values()}
        for error in message.errors:
            if id(error) not in told:
                into.events.append(ErrorEvent(error))
        made = {id(found.call) for found in into.known.values() if isinstance(found, CallPart)}
        for call in message.tool_calls:
            if id(call) not in made:
                into.events += [
                    ToolCallStart(call.index, call.id, call.name),
                    ToolCallDelta(call.index, call.arguments_json),
                    ToolCallEnd(call.index, call),
                ]

    def _raised(self) -> ParseError:
        error = self._error
        assert error is not None
        error.message = self.message
        return error

    @property
    def message(self) -> Message:
        """Everything found so far: of calls, those that are complete."""
        if self._message is not None:
            return self._message
        try:
            message = self._put_together()
        except RecursionError:
            raise _too_deep() from None
        if self._inside is not None:
            message = self._inside.message(message)
        if self._closed:
            self._message = message
        return message

    def _put_together(self) -> Message:
        into = self._into
        still_open = frozenset(slot.index for slot in into.calls if not slot.ended)

        def new() -> Reading:
            reading = self._reading()
            reading.known = into.known
            reading.made_ids = into.made_ids
            reading.open = still_open
            reading.known_repairs = into.repairs
            return reading

        readings = self._wire.read(into.so_far(), new) or [new()]
        message = readings[0].message(self._wire.provider.value)
        others = len(readings) - 1 + len(into.choices)
        if others:
            message.losses.append(Loss("loss.choice", "$", f"{others} more; parse_responses reads them"))
        message.losses += into.losses
        refused = into.state.get("error")
        if refused is None:
            message.errors += into.errors
        else:
            message.errors[:0] = into.errors  # it is why the others are
            message.stop_reason = "error"
            message.extra.setdefault(self._wire.wire.value, {})["error"] = joined(refused)
        return message


def _too_deep() -> LimitError:
    return LimitError("values are nested too deeply", "depth")


class _Detecting:
    """A stream of whoever its first events tell."""

    def __init__(self, provider: str | Provider, options: dict[str, Any]) -> None:
        self._options = options
        self._waiting: list[Any] = []
        self.stream: ProviderStream | None = None
        if provider != "auto":
            self._open(provider)

    def _open(self, provider: str | Provider) -> ProviderStream:
        from ._api import get_provider

        self.stream = get_provider(provider).stream(**self._options)
        return self.stream

    def feed(self, item: Any) -> list[Event]:
        from ._detect import detect_provider

        if isinstance(item, (bytes, bytearray)):
            if self.stream is None:
                raise DefinitionError(
                    "bytes do not tell whose stream they are: name the provider", "definition.unknown_provider"
                )
            return self.stream.feed_bytes(bytes(item))
        if self.stream is not None:
            return self.stream.feed(item)
        self._waiting.append(item)
        found = detect_provider(item)
        if found is Provider.AUTO:
            if len(self._waiting) < 16:
                return []
            raise DefinitionError(
                "the stream's first events have no provider's shape: name the provider", "definition.unknown_provider"
            )
        stream = self._open(found)
        waiting, self._waiting = self._waiting, []
        return [event for one in waiting for event in stream.feed(one)]

    def close(self) -> list[Event]:
        if self.stream is None:
            if self._waiting:
                raise DefinitionError(
                    "the stream's events have no provider's shape: name the provider", "definition.unknown_provider"
                )
            return []
        return self.stream.close()

    def check(self) -> None:
        """Raise the error that the last events told of."""
        if self.stream is not None and self.stream._error is not None:
            raise self.stream._raised()


def iter_events(stream: Iterable[Any], provider: str | Provider = Provider.AUTO, **options: Any) -> Iterator[Event]:
    """The events of a provider's stream that an iterable gives: the API's events, the SDK's objects, or bytes.

    ``provider="auto"`` looks at the shape of the first events; for bytes it has to be named. The options are those of
    ``get_provider(name).stream()``. With ``on_error="raise"`` the first error is raised behind its `ErrorEvent`, with
    what was found in ``error.message``.

    >>> chunks = [{"candidates": [{"content": {"parts": [{"text": "Hi."}]}, "finishReason": "STOP"}]}]
    >>> [event.text for event in iter_events(chunks)]
    ['Hi.']
    """
    if not isinstance(stream, Iterable):
        raise TypeError(f"stream: expected an iterable of events or bytes, got {type(stream).__name__}")
    reader = _Detecting(provider, options)
    for item in stream:
        yield from reader.feed(item)
    yield from reader.close()
    reader.check()


async def aevents(
    stream: AsyncIterable[Any], provider: str | Provider = Provider.AUTO, **options: Any
) -> AsyncIterator[Event]:
    """`iter_events` over an asynchronous iterable."""
    if not isinstance(stream, AsyncIterable):
        raise TypeError(f"stream: expected an asynchronous iterable of events or bytes, got {type(stream).__name__}")
    reader = _Detecting(provider, options)
    async for item in stream:
        for event in reader.feed(item):
            yield event
    for event in reader.close():
        yield event
    reader.check()
