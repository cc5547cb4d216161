"""``toolglot parse`` and ``toolglot detect``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Annotated, Any, cast

import typer

import toolglot

from ..errors import LimitError, ParseError, ToolglotError
from ..types import Message, ToolChoice
from . import data
from .common import (
    Coerce,
    Color,
    File,
    FinishReason,
    Format,
    GenerationPrompt,
    Ids,
    Json,
    Model,
    OnError,
    Provider,
    Tools,
    Validate,
    tell,
    usage_problems,
    write_json,
)
from .common import ToolChoice as Choice
from .escape import line
from .hints import elsewhere, unread, untyped
from .inputs import UsageProblem, chunks, deltas, payload_of, provider_named, read_tools, recorded
from .show import Screen


def parse(
    file: File = None,
    format: Format = None,
    provider: Provider = None,
    model: Model = None,
    tools: Tools = None,
    tool_choice: Choice = None,
    generation_prompt: GenerationPrompt = None,
    finish_reason: FinishReason = None,
    on_error: Annotated[
        OnError,
        typer.Option(
            help="raise stops at the first error, collect reads on, repair also mends what has one reading only."
        ),
    ] = OnError.RAISE,
    ids: Annotated[Ids, typer.Option(help="The model's ids only, or make up those that lack.")] = Ids.GIVEN,
    validate: Validate = False,
    coerce: Coerce = False,
    stream: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Feed N characters at a time and show the events."),
    ] = None,
    json: Json = False,
    color: Color = True,
) -> None:
    """Read one output of a model, or an API's response: its calls, text, reasoning and errors."""
    with usage_problems():
        of_text = [format, model, tool_choice, generation_prompt, finish_reason, stream]
        if provider is not None and any(option is not None for option in of_text):
            raise UsageProblem(
                "--provider reads a response; format, model, stream and the like are of a model's own text"
            )
        options = read_options(
            file, format, model, tools, tool_choice, generation_prompt, finish_reason, validate, coerce
        )
        options |= {"on_error": on_error.value, "ids": ids.value}
        screen = None if json else Screen(color)
        if stream is None:
            parser(options)  # what is wrong with the options shows before anything is read
            whole: Callable[[str], Message] = partial(toolglot.parse, **options)
            if provider is not None:
                whole = response_reader(provider_named(provider), options)
            text = "".join(chunks(file))
            if all(option is None for option in (provider, *of_text)):
                found = payload_of(text)
                whole = whole if found is None else response_reader(found, options)
            message, errors = read_whole(whole, text)
        else:
            message, errors = _streamed(parser(options), deltas(chunks(file), stream), screen)
    if screen is None:
        write_json(data.message_data(message, errors), indent=2 if stream is None else None)
    else:
        if stream is not None:
            screen.say()
        screen.message(message, errors)
        told = untyped(message) if tools is None else ""
        if format is None and tools is None and not errors:
            told = told or unread(message)
        if not told and not message.tool_calls and not errors and provider is None:
            told = elsewhere(message, options, stream is not None)
        if told:
            screen.flush()
            tell(told)
    raise typer.Exit(1 if errors else 0)


def read_options(
    file: str | None,
    format: str | None,
    model: str | None,
    tools: str | None,
    tool_choice: str | None,
    generation_prompt: str | None,
    finish_reason: str | None,
    validate: bool,
    coerce: bool,
) -> dict[str, Any]:
    """The options of `toolglot.parse` that a command was given."""
    if tools == "-" and file in (None, "-"):
        raise UsageProblem("the text and the tools cannot both be standard input")
    for wanted, name in ((validate, "--validate"), (coerce, "--coerce")):
        if wanted and tools is None:
            raise UsageProblem(f"{name} needs the tools' schemas: --tools FILE")
    if format is None and model is not None and toolglot.format_for_model(model) is None:
        tell(f"no format is known for the model {line(model)!r}: it is detected")
    return {
        "format": format,
        "model": model,
        "tools": None if tools is None else read_tools(tools),
        "tool_choice": None if tool_choice is None else ToolChoice.from_any(tool_choice),
        "generation_prompt": generation_prompt,
        "finish_reason": finish_reason,
        "validate": validate,
        "coerce": coerce,
    }


def parser(options: dict[str, Any]) -> toolglot.StreamParser:
    """A parser with these options; what is wrong with them is the caller's."""
    try:
        return toolglot.StreamParser(**options)
    except (TypeError, ImportError) as error:  # a tool that is no definition; an extra that is missing
        raise UsageProblem(str(error)) from None


def response_reader(provider: str, options: dict[str, Any]) -> Callable[[str], Message]:
    """What reads a response of ``provider``, or a recorded stream, with those of the options that are for one."""
    kept = {key: options[key] for key in ("tools", "on_error", "ids", "validate", "coerce") if key in options}

    def read(text: str) -> Message:
        if not recorded(text):
            return toolglot.parse_response(text, provider, **kept)
        wire = toolglot.get_provider(provider)
        stream = wire.stream(**kept)
        if wire.binary:  # as text it was recorded by somebody else
            for event in recorded(text, len(text)):
                stream.feed(event)
        else:
            stream.feed_bytes(text.encode("utf-8", "replace"))
        stream.close()
        return stream.message

    return read


def read_whole(read: Callable[[str], Message], text: str) -> tuple[Message, list[ToolglotError]]:
    """The message in ``text`` and all its errors, whether they were raised or not."""
    try:
        message = read(text)
    except (ParseError, LimitError) as error:
        return _found(error, getattr(error, "message", None))
    return message, list(message.errors)


def _streamed(
    parser: toolglot.StreamParser, pieces: Iterator[str], screen: Screen | None
) -> tuple[Message, list[ToolglotError]]:
    try:
        for piece in pieces:
            _show_events(parser.feed(piece), screen)
        _show_events(parser.close(), screen)
    except (ParseError, LimitError) as error:
        return _found(error, parser.message)
    return parser.message, list(parser.message.errors)


def _show_events(events: list[toolglot.Event], screen: Screen | None) -> None:
    for event in events:
        if screen is None:
            write_json(data.event_data(event))
        else:
            screen.event(event)
    if events and screen is not None:
        screen.flush()


def _found(error: ToolglotError, message: Message | None) -> tuple[Message, list[ToolglotError]]:
    """What was read before ``error``, and every error once."""
    message = Message() if message is None else message
    errors = cast("list[ToolglotError]", list(message.errors))
    return message, errors if error in errors else [*errors, error]


def detect(file: File = None, json: Json = False) -> None:
    """Name the format that an output is written in, or the provider whose response it is."""
    with usage_problems():
        text = "".join(chunks(file))
        provider = payload_of(text)
    found = provider or toolglot.detect_format(text)
    if json:
        kind = "format" if provider is None else "provider"
        write_json({"type": kind, kind: found})
    elif found is None:
        tell("no format that can be told from this text; `toolglot explain` says why, `toolglot formats` lists all")
    else:
        typer.echo(found)
