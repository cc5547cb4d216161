"""`Writers`: what of `WireProvider` answers in the API's place. A wire format names its `StreamWriter`'s module."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, cast

from ..errors import ConversionError, LimitError, ParseError
from ..events import ErrorEvent, Event
from ..types import Message
from ._writing import WireObject

if TYPE_CHECKING:
    from ._base import WireProvider
    from ._write_stream import StreamWriter

__all__ = ["Writers"]

Later: TypeAlias = "str | Callable[[], str | None] | None"


class Writers:
    """What of `WireProvider` speaks its API: a server that has a model's events answers as the provider would.

    The options are the same everywhere. ``model`` is what the answer calls the model; ``id`` and ``created`` are made
    if they are not given; ``usage`` is what it cost, as any API has it; ``extra`` are more members of each chunk (Chat
    Completions) or of the response. ``eager=False`` writes a call when it is verified, ``True`` as it comes.
    ``strict=True`` makes a loss a `ConversionError`.
    """

    # The module of the `StreamWriter`; None: the API is only read.
    writer_module: ClassVar[str | None] = None

    def _writer(self) -> type[StreamWriter]:
        if self.writer_module is None:
            raise ConversionError(f"the streams of {cast('WireProvider', self).provider} are read and not written")
        found: type[StreamWriter] = import_module(f".{self.writer_module}", __package__).WRITER
        return found

    def stream_writer(
        self,
        *,
        model: str,
        id: str | None = None,
        eager: bool = False,
        usage: Any = None,
        created: int | None = None,
        extra: Mapping[str, Any] | None = None,
        strict: bool = False,
    ) -> StreamWriter:
        """What writes events as this API's stream, one at a time."""
        made = self._writer()
        wire = cast("WireProvider", self)
        return made(wire, model=model, id=id, eager=eager, usage=usage, created=created, extra=extra, strict=strict)

    def write_stream(
        self, source: Iterable[Event] | Message, *, finish_reason: Later = None, usage: Any = None, **options: Any
    ) -> Iterator[WireObject]:
        """A message, or events as they come, as this API streams them; the options are those of `stream_writer`.

        ``finish_reason`` and ``usage`` may be functions, which are asked when the events have ended. A `ParseError` or
        `LimitError` that the events raise ends the stream as an `ErrorEvent` does.

        >>> from toolglot import Message, get_provider
        >>> chunks = get_provider("openai").write_stream(Message("Hi."), model="m")
        >>> [chunk["choices"][0]["delta"] for chunk in chunks]
        [{'role': 'assistant', 'content': None}, {'content': 'Hi.'}, {}]
        """
        writer = self.stream_writer(usage=None if callable(usage) else usage, **options)
        if isinstance(source, Message):
            return iter(writer.write(source, _asked(finish_reason), usage=_asked(usage)))
        if not isinstance(source, Iterable):
            raise TypeError(f"source: expected a Message or an iterable of events, got {type(source).__name__}")
        return _write(writer, source, finish_reason, usage)

    async def awrite_stream(
        self, source: AsyncIterable[Event], *, finish_reason: Later = None, usage: Any = None, **options: Any
    ) -> AsyncIterator[WireObject]:
        """`write_stream` over an asynchronous iterable of events."""
        writer = self.stream_writer(usage=None if callable(usage) else usage, **options)
        if not isinstance(source, AsyncIterable):
            raise TypeError(f"source: expected an asynchronous iterable of events, got {type(source).__name__}")
        rest: list[WireObject] = []
        try:
            async for event in source:
                for written in writer.feed(event):
                    yield written
        except (ParseError, LimitError) as error:
            rest = _raised(writer, error)
        for written in rest or _close(writer, finish_reason, usage):
            yield written

    def response(
        self, message: Message, *, finish_reason: str | None = None, usage: Any = None, **options: Any
    ) -> WireObject:
        """A message as this API answers when it does not stream; ``"error" in`` it if a call was broken.

        >>> from toolglot import Message, get_provider
        >>> get_provider("anthropic").response(Message("Hi."), model="m")["content"]
        [{'type': 'text', 'text': 'Hi.'}]
        """
        writer = self.stream_writer(**options)
        writer.write(message, finish_reason, usage=usage)
        return writer.response

    def sse(self, events: Iterable[Mapping[str, Any]], *, done: bool = True) -> Iterator[bytes]:
        """What was written as the bytes of the response's body, an event each: server-sent events, and what the API
        sends behind the last of them. ``done=False`` leaves that out: more events follow.
        """
        writer = self._writer()
        return _frames(writer, events, done)

    async def asse(self, events: AsyncIterable[Mapping[str, Any]], *, done: bool = True) -> AsyncIterator[bytes]:
        """`sse` over an asynchronous iterable."""
        writer = self._writer()
        async for event in events:
            yield writer.sse(event)
        if done and writer.sse_end:
            yield writer.sse_end


def _frames(writer: type[StreamWriter], events: Iterable[Mapping[str, Any]], done: bool) -> Iterator[bytes]:
    for event in events:
        yield writer.sse(event)
    if done and writer.sse_end:
        yield writer.sse_end


def _write(writer: StreamWriter, source: Iterable[Event], finish_reason: Any, usage: Any) -> Iterator[WireObject]:
    rest: list[WireObject] = []
    try:
        for event in source:
            yield from writer.feed(event)
    except (ParseError, LimitError) as error:
        rest = _raised(writer, error)
    yield from rest or _close(writer, finish_reason, usage)


def _raised(writer: StreamWriter, error: ParseError | LimitError) -> list[WireObject]:
    """The events ended in an error: what that writes, the end included if there is anything."""
    if isinstance(error, LimitError):
        return writer.fail(error)
    told = writer.feed(ErrorEvent(error))
    return [*told, *writer.close()] if told else []


def _close(writer: StreamWriter, finish_reason: Any, usage: Any) -> list[WireObject]:
    return writer.close(_asked(finish_reason), usage=_asked(usage))


def _asked(value: Any) -> Any:
    return value() if callable(value) else value
