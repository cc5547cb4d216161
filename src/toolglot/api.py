"""Text to calls, and back: the functions of the public surface."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator, Sequence
from contextlib import suppress
from copy import deepcopy
from typing import TYPE_CHECKING, Any, Literal

from .definition import ToolSet
from .engine.machine import Machine
from .engine.mend import Mender
from .engine.output import NEVER
from .engine.plain import plain_calls
from .engine.untagged import Tracker
from .errors import DefinitionError, LimitError, NoToolCallFoundError, ParseError
from .events import ErrorEvent, Event
from .finish import read_finish_reason
from .format import Format
from .registry import REGISTRY, SEED_IDS
from .types import Limits, Message, StopReason, ToolChoice

if TYPE_CHECKING:
    from .schema.check import Checks

OnError = Literal["raise", "collect", "repair"]
Ids = Literal["given", "synthesize"]
LIMITS = Limits()
MENDER = Mender(lambda: REGISTRY.plan(None), lambda: [REGISTRY.plan((id,)) for id in ("json", "python")])
Segments = Sequence[tuple[str, "bool | None"]]


def parse_tool_call(text: str) -> dict[str, Any]:
    """The one tool call in ``text``, as ``{"name": ..., "arguments": ...}``.

    Raises `NoToolCallFoundError` if there is none and `ParseError` (``tool_call.multiple``) if there are several.

    >>> parse_tool_call('Call: search(query="rust async", limit=5)')
    {'name': 'search', 'arguments': {'query': 'rust async', 'limit': 5}}
    """
    calls = parse_tool_calls(text)
    if len(calls) > 1:
        raise ParseError(f"expected exactly one tool call, found {len(calls)}", "tool_call.multiple")
    return calls[0]


def parse_tool_calls(text: str, *, include_format: bool = False) -> list[dict[str, Any]]:
    """Every tool call in ``text``, in text order; with ``include_format`` each says how it was written.

    Tagged formats are tried first, then JSON, then call syntax; the first tier that finds anything wins. Raises
    `NoToolCallFoundError` if no tier finds a call, `ParseError` for the first call that is broken.

    >>> parse_tool_calls('[TOOL_CALL]name=search;args={"q":"rust"}[/TOOL_CALL]', include_format=True)
    [{'name': 'search', 'arguments': {'q': 'rust'}, 'format': 'bracket'}]
    """
    if text.__class__ is not str:
        text = _text(text)
    plan = REGISTRY.detection or REGISTRY.plan(None, python=True)
    plain = plain_calls(plan, text, SEED_IDS if include_format else None)
    if plain is not None and len(plain) <= LIMITS.calls:
        if not plain:
            raise NoToolCallFoundError
        return plain
    machine = Machine(plan)
    machine.run_whole(text)
    if machine.errors:
        error = machine.errors[0]
        error.message = machine.message()
        raise error
    if not machine.calls:
        raise NoToolCallFoundError
    if include_format:
        return [
            {"name": call.name, "arguments": call.arguments, "format": SEED_IDS.get(call.format or "", call.format)}
            for call in machine.calls
        ]
    return [{"name": call.name, "arguments": call.arguments} for call in machine.calls]


def _text(text: Any) -> str:
    if not isinstance(text, str):
        raise TypeError(f"text: expected str, got {type(text).__name__}")
    return str.__str__(text)


def _text_or_none(name: str, value: Any) -> str | None:
    """An option that is a plain text, whatever class of text was given."""
    if value is None or value.__class__ is str:
        text: str | None = value
        return text
    if not isinstance(value, str):
        raise TypeError(f"{name}: expected str or None, got {type(value).__name__}")
    return str.__str__(value)


class _Options:
    """Options of `parse` and `StreamParser`, checked."""

    __slots__ = ("checks", "choice", "cut", "ids", "limits", "on_error", "plan", "presumed", "prompt", "tools")

    def __init__(
        self,
        format: str | None,
        model: str | None,
        tools: Any,
        tool_choice: Any,
        generation_prompt: str | None,
        on_error: str,
        ids: str,
        validate: bool,
        coerce: bool,
        limits: Limits | None,
    ) -> None:
        if on_error not in ("raise", "collect", "repair"):
            raise ValueError(f"on_error: expected 'raise', 'collect' or 'repair', got {on_error!r}")
        if ids not in ("given", "synthesize"):
            raise ValueError(f"ids: expected 'given' or 'synthesize', got {ids!r}")
        if limits is not None and not isinstance(limits, Limits):
            raise TypeError(f"limits: expected Limits or None, got {type(limits).__name__}")
        format = _text_or_none("format", format)
        model = _text_or_none("model", model)
        generation_prompt = _text_or_none("generation_prompt", generation_prompt)
        self.tools = ToolSet.of(tools)
        self.checks: Checks | None = None
        if validate or coerce:
            from .schema.check import Checks, wanted

            self.checks = Checks.of(self.tools, validate, wanted(coerce, on_error == "repair", self.tools))
        self.choice = None if tool_choice is None else ToolChoice.from_any(tool_choice)
        if self.choice is not None and self.tools is not None:
            for tool in self.choice.names:
                if tool not in self.tools.names:
                    near = self.tools.nearest(tool) or sorted(self.tools.names)[:8]
                    names = ", ".join(map(repr, near)) or "none at all"
                    raise DefinitionError(
                        f"tool_choice: no tool {tool[:80]!r} is declared; declared are {names}",
                        "definition.invalid_tool",
                    )
        self.on_error = on_error
        self.ids = ids
        self.limits = limits
        self.prompt = generation_prompt
        chosen: tuple[str, ...] | None = None
        if format is not None:
            chosen = REGISTRY.resolve(format)
        elif model is not None:
            known = REGISTRY.for_model(model)
            chosen = None if known is None else (known,)
        required = None
        if self.choice is not None and self.choice.mode in ("required", "named"):
            # Bare arguments are the call of one tool; of several it would have to be guessed whose they are.
            required = self.choice.names[0] if len(self.choice.names) == 1 else ""
        self.plan = REGISTRY.plan(chosen, python=self.tools is not None, required=required, tools=self.tools)
        self.presumed = False
        if generation_prompt is None and chosen is not None:
            fmt = REGISTRY.get(chosen[0])
            self.presumed = fmt.reasoning is not None and fmt.reasoning.opened_for(model)
            self.prompt = None if self.presumed else fmt.prompt

    def machine(self, live: bool) -> Machine:
        """A machine that has read the prompt."""
        mends = self.on_error == "repair"
        machine = Machine(self.plan.mending if mends and self.tools is not None else self.plan)
        machine.tools = self.tools
        if self.checks is not None:
            machine.checks = self.checks
        if self.limits is not None:
            machine.limits = self.limits
        machine.ids = self.ids
        if live:
            machine.give_events()
        if self.prompt:
            read_prompt(machine, self.prompt)
        elif self.presumed:
            machine.op = machine.plan.presumed()
        specs = self.plan.untagged
        if specs and (live or specs[0].eager or machine.base or machine.buf):
            machine.tracker = Tracker(self.plan.untagged)
        if mends:
            machine.mender = MENDER
        return machine

    def read(self, text: str | Segments, reason: StopReason | None) -> Message:
        """One complete output; its errors are in the message."""
        machine = self.machine(False)
        if text.__class__ is str:
            whole: str = text
        elif isinstance(text, str):
            whole = _text(text)
        elif isinstance(text, (list, tuple)):
            whole = _feed_segments(machine, text)
        else:
            raise TypeError(f"text: expected str or a list of (text, special) pairs, got {type(text).__name__}")
        machine.stopped(reason)
        machine.final = True
        try:
            if machine.buf or machine.base:
                machine.give_events()
                machine.final = False
                machine.feed(whole)
                machine.close()
            else:
                machine.run_whole(whole)
        except LimitError as error:
            error.message = machine.message()
            raise
        return machine.message()


def read_prompt(machine: Machine, prompt: str) -> None:
    """Put the machine into the state in which the tail of the prompt leaves it."""
    live = machine.live
    machine.give_events()
    machine.base = -len(prompt)
    machine.scan = machine.base
    machine.line_start = machine.base
    machine.feed(prompt)
    machine.live = live
    machine.events.clear()
    machine.parts.clear()
    machine.pieces.clear()
    machine.run_kind = -1
    machine.calls.clear()
    machine.errors.clear()
    machine.repairs = []
    machine.separators.clear()
    machine.blank.clear()
    machine.said = machine.thought = False
    machine.index = -1 if machine.call_start is None else 0
    machine.lines = 0
    machine.literal_opens = 0
    # What the prompt left undecided is its own text unless it is markup, or an operation waits for more of its own.
    if machine.op is machine.plan.text:
        held = machine.buf[max(machine.pos, machine.scan - machine.base) :]
        if not held.strip():
            held = ""
        machine.prev = prompt[: len(prompt) - len(held)][-1:]
        machine.buf = held
        machine.base = machine.line_start = -len(held)
        if not held:
            machine.op = machine.plan.start
        machine.pos = 0
        machine.scan = NEVER
        machine.ws_to = NEVER
        machine.ends_to = -1
        machine.after_markup = True
    machine.line_start = machine.base + (machine.buf.rfind("\n") + 1 if machine.base < 0 else 0)
    if machine.base < 0:
        machine.line_start = 0


def _feed_segments(machine: Machine, segments: Any) -> str:
    """The text of ``(text, special)`` pairs; what holds no control tokens is noted."""
    pieces: list[str] = []
    at = 0
    for item in segments:
        if not isinstance(item, tuple) or len(item) != 2:
            raise TypeError(f"text: expected str or (text, special) pairs, got {type(item).__name__}")
        piece = _text(item[0])
        mark(machine, at, piece, item[1])
        pieces.append(piece)
        at += len(piece)
    return "".join(pieces)


def mark(machine: Machine, at: int, text: str, special: bool | None) -> None:
    """Note it if the text at ``at`` is said to hold no control tokens."""
    if special is False:
        if text and machine.plan.special is not None:
            machine.no_tokens(at, at + len(text))
    elif special is not None and special is not True:
        raise TypeError(f"special: expected True, False or None, got {special!r:.80}")


def parse(
    text: str | Segments,
    *,
    format: str | None = None,
    model: str | None = None,
    tools: Any = None,
    tool_choice: Any = None,
    generation_prompt: str | None = None,
    finish_reason: str | None = None,
    on_error: OnError = "raise",
    ids: Ids = "given",
    validate: bool = False,
    coerce: bool = False,
    limits: Limits | None = None,
) -> Message:
    """Everything about one complete output: content, reasoning, calls, errors.

    ``format`` is a name that `get_format` knows; without it (and without ``model``) the format is detected.
    ``tools`` in any shape that `Tool.from_any` reads give names and schemas. ``generation_prompt`` is the tail of
    the prompt (an open ``<think>``, or ``""`` if it opened nothing); without it, reasoning is open at the start where
    the model's, else the format's, prompt opens it by default (`Reasoning`). ``finish_reason`` is
    why the model stopped, in any API's word: behind ``"length"``, ``"content_filter"`` or ``"error"`` the output was
    cut off, so nothing may be missing from a call; a word that is not known is a `ValueError`. ``text`` may be a list
    of ``(text, special)`` pairs. With ``on_error="raise"`` the first
    error is raised when the text has been read, with what was found in ``error.message``; with ``"collect"`` all are
    in ``Message.errors``; with ``"repair"`` a broken call that has one reading only is mended, and ``Message.repairs``
    says how. With ``validate`` a call whose arguments do not fit its tool's JSON Schema is an error
    (``schema.violation``), not a call; it needs the extra ``validate``. With ``coerce`` what is written as another type
    than the schema's is read as the schema's where that can mean one thing only, each change being a `Repair` in
    ``Message.repairs``. Both need ``tools``.

    >>> message = parse('On it.\\n<tool_call>\\n{"name": "ping", "arguments": {}}\\n</tool_call>')
    >>> message.content, message.tool_calls[0].name, message.format
    ('On it.', 'ping', 'hermes')
    """
    options = _Options(format, model, tools, tool_choice, generation_prompt, on_error, ids, validate, coerce, limits)
    message = options.read(text, read_finish_reason(finish_reason))
    if message.errors and on_error == "raise":
        error = message.errors[0]
        error.message = message
        raise error
    return message


class StreamParser:
    """The same as `parse` for text that arrives in pieces.

    ``feed`` gives the events that can be given without later text changing them; ``close`` the rest. ``message``
    is what was found so far. With ``on_error="raise"`` an error is given as an `ErrorEvent` first and raised by the
    next call.

    >>> parser = StreamParser(format="hermes")
    >>> events = parser.feed("Hi <tool") + parser.feed('_call>{"name": "ping", "arguments": {}}</tool_call>')
    >>> [type(event).__name__ for event in events + parser.close()]
    ['TextDelta', 'ToolCallStart', 'ToolCallDelta', 'ToolCallEnd']
    """

    __slots__ = ("_closed", "_error", "_finish_reason", "_length", "_machine", "_on_error", "_options", "_text")

    def __init__(
        self,
        *,
        format: str | None = None,
        model: str | None = None,
        tools: Any = None,
        tool_choice: Any = None,
        generation_prompt: str | None = None,
        finish_reason: str | None = None,
        on_error: OnError = "raise",
        ids: Ids = "given",
        validate: bool = False,
        coerce: bool = False,
        limits: Limits | None = None,
    ) -> None:
        options = _Options(
            format, model, tools, tool_choice, generation_prompt, on_error, ids, validate, coerce, limits
        )
        self._options = options
        self._machine = options.machine(True)
        self._on_error = on_error
        self._finish_reason = read_finish_reason(finish_reason)
        self._closed = False
        self._error: ParseError | None = None
        self._length = 0

    def feed(self, text: str, special: bool | None = None) -> list[Event]:
        """More text. ``special`` says whether it is control tokens (True), is not (False), or unknown (None)."""
        if self._closed:
            raise RuntimeError("feed: the parser is closed")
        if self._error is not None:
            raise self._raised()
        machine = self._machine
        if text.__class__ is not str:
            text = _text(text)
        if special is not None:
            mark(machine, self._length, text, special)
        self._length += len(text)
        machine.feed(text)
        events = machine.events
        if not events:
            return []  # not the machine's own list, which goes on
        machine.events = []
        if machine.errors and self._on_error == "raise":
            events = self._stop(events)
        return events

    def _stop(self, events: list[Event]) -> list[Event]:
        """Note the first error: what comes behind it is not given out."""
        self._error = self._machine.errors[0]
        for i, event in enumerate(events):
            if isinstance(event, ErrorEvent):
                return events[: i + 1]
        return events

    def close(self, finish_reason: str | None = None) -> list[Event]:
        """No more text; the events that this decides. ``finish_reason`` is as for `parse`."""
        if self._closed:
            raise RuntimeError("close: the parser is closed already")
        machine = self._machine
        machine.stopped(read_finish_reason(finish_reason) or self._finish_reason)
        self._closed = True
        if self._error is not None:
            with suppress(LimitError):
                machine.close()  # so that the error's message is that of the whole text
            raise self._raised()
        machine.close()
        events = machine.events
        machine.events = []
        if machine.errors and self._on_error == "raise":
            events = self._stop(events)
            self._raised()  # nothing will raise it: it gets its message here
        return events

    def _raised(self) -> ParseError:
        error = self._error
        assert error is not None
        error.message = self._machine.message()
        return error

    def __copy__(self) -> StreamParser:
        return deepcopy(self)  # two parsers never share what they have read

    @property
    def message(self) -> Message:
        """Everything found so far."""
        return self._machine.message()


def stream(chunks: Iterable[str], **options: Any) -> Iterator[Event]:
    """The events of text that an iterable gives; the options are those of `StreamParser`.

    With ``on_error="raise"`` the first error is raised behind its `ErrorEvent`, at the next piece or at the end; what
    was found until then is in ``error.message``.

    >>> [event.text for event in stream(["Hel", "lo"])]
    ['Hel', 'lo']
    """
    parser = StreamParser(**options)  # what is wrong with the options shows at once
    if not isinstance(chunks, Iterable):
        raise TypeError(f"chunks: expected an iterable of str, got {type(chunks).__name__}")
    return _stream(parser, chunks)


def _stream(parser: StreamParser, chunks: Iterable[str]) -> Iterator[Event]:
    for chunk in chunks:
        yield from parser.feed(chunk)
    yield from parser.close()
    if parser._error is not None:
        raise parser._raised()


def astream(chunks: AsyncIterable[str], **options: Any) -> AsyncIterator[Event]:
    """`stream` over an asynchronous iterable, with the same options; errors are raised in the same way.

    >>> import asyncio
    >>> from toolglot import ToolCallEnd
    >>> async def tokens():
    ...     for token in ["[TOOL_CALLS]ping", "[ARGS]", "{}"]:
    ...         yield token
    >>> async def names():
    ...     return [event.call.name async for event in astream(tokens()) if isinstance(event, ToolCallEnd)]
    >>> asyncio.run(names())
    ['ping']
    """
    parser = StreamParser(**options)
    if not isinstance(chunks, AsyncIterable):
        raise TypeError(f"chunks: expected an asynchronous iterable of str, got {type(chunks).__name__}")
    return _astream(parser, chunks)


async def _astream(parser: StreamParser, chunks: AsyncIterable[str]) -> AsyncIterator[Event]:
    async for chunk in chunks:
        for event in parser.feed(chunk):
            yield event
    for event in parser.close():
        yield event
    if parser._error is not None:
        raise parser._raised()


def formats() -> list[Format]:
    """All formats, by id."""
    return list(REGISTRY)


def get_format(name: str) -> Format:
    """The format with this id, llm-beacon id, alias or parser name (``engine:name`` where engines disagree).

    >>> get_format("vllm:qwen3_xml").id
    'qwen3_coder'
    """
    if not isinstance(name, str):
        raise TypeError(f"name: expected str, got {type(name).__name__}")
    return REGISTRY.get(REGISTRY.resolve(name)[-1])


def detect_format(text: str) -> str | None:
    """The id of the format of the first call (or broken call) in ``text``; None if there is none.

    >>> detect_format('<tool_call>ping</tool_call>')
    'glm47'
    """
    text = _text(text)
    machine = Machine(REGISTRY.plan(None, python=True))
    machine.run_whole(text)
    first = min(
        [(call.span or (0, 0), call.format) for call in machine.calls]
        + [(error.span, error.format) for error in machine.errors if error.span is not None],
        default=(None, None),
    )
    return first[1]


def register_format(fmt: Format) -> None:
    """Add a format of your own (see `toolglot.pattern`); from then on it is detected, parsed and rendered."""
    if not isinstance(fmt, Format):
        raise TypeError(f"fmt: expected Format, got {type(fmt).__name__}")
    REGISTRY.add(fmt)
