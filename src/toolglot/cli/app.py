"""The commands. Exit status: 0 calls or none, 1 the text is broken, 2 the command cannot be carried out."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import Enum
from functools import partial
from typing import Annotated, Any, cast

import typer

import toolglot

from ..errors import ConversionError, DefinitionError, LimitError, ParseError, ToolglotError
from ..finish import read_finish_reason
from ..types import Message, ToolChoice
from . import data
from .batch import batch
from .catalogue import check_formats, show_format, show_formats
from .escape import json_text, line
from .hints import unread, untyped
from .inputs import UsageProblem, case_folder, chunks, deltas, payload_of, provider_named, read_tools
from .show import Screen

app = typer.Typer(
    help="Reads the tool calls that language models write, and what goes to and from their APIs.",
    no_args_is_help=True,
    add_completion=False,
    # Help and usage errors are plain text: the same in a terminal, a pipe and the documentation.
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


class OnError(str, Enum):
    """What to do with a broken call."""

    RAISE = "raise"
    COLLECT = "collect"
    REPAIR = "repair"


class Ids(str, Enum):
    """Where ids come from."""

    GIVEN = "given"
    SYNTHESIZE = "synthesize"


File = Annotated[str | None, typer.Argument(help="The model's output; - or nothing is standard input.")]
Json = Annotated[bool, typer.Option("--json", help="Write JSON for a program.")]
Color = Annotated[bool, typer.Option("--color/--no-color", help="Colour on a terminal (NO_COLOR also turns it off).")]


@contextmanager
def usage_problems() -> Iterator[None]:
    """Turn what the caller got wrong into a message and exit status 2."""
    try:
        yield
    except (UsageProblem, DefinitionError) as error:
        code = f" ({error.code})" if isinstance(error, DefinitionError) else ""
        sys.stderr.write(f"toolglot: {line(str(error))}{code}\n")
        raise typer.Exit(2) from None


def write_json(value: Any, indent: int | None = None) -> None:
    """Write ``value`` to standard output, in ASCII if that is all that it can take."""
    ascii_only = (sys.stdout.encoding or "").lower().replace("-", "") != "utf8"
    sys.stdout.write(json_text(value, indent=indent, ascii_only=ascii_only) + "\n")
    sys.stdout.flush()


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"toolglot {toolglot.__version__}")
        raise typer.Exit


def _reason(word: str | None) -> str | None:
    try:
        return read_finish_reason(word)
    except ValueError as error:
        raise typer.BadParameter(line(str(error))) from None


@app.callback()
def _top(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Reads the tool calls that language models write, and what goes to and from their APIs."""
    for stream in (sys.stdout, sys.stderr):
        # A character that the terminal's encoding lacks is shown as an escape, not as a traceback.
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


app.command()(usage_problems()(batch))


@app.command()
def parse(
    file: File = None,
    format: Annotated[str | None, typer.Option(help="The format's id or name; else it is detected.")] = None,
    provider: Annotated[
        str | None,
        typer.Option(help="Whose API's response it is; else JSON of an API's shape is found by itself."),
    ] = None,
    model: Annotated[str | None, typer.Option(help="The model's id, which tells the format.")] = None,
    tools: Annotated[str | None, typer.Option(metavar="FILE", help="Tool definitions, a JSON list.")] = None,
    tool_choice: Annotated[
        str | None,
        typer.Option(help="auto, none, required, or the name of the tool that had to be called."),
    ] = None,
    generation_prompt: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="The end of the prompt, which may have opened reasoning."),
    ] = None,
    finish_reason: Annotated[
        str | None,
        typer.Option(
            metavar="WORD",
            callback=_reason,
            help="Why the model stopped, as its API says it; after length it was cut off.",
        ),
    ] = None,
    on_error: Annotated[
        OnError,
        typer.Option(help="raise stops at the first error, collect goes on; repair is collect until mending is built."),
    ] = OnError.RAISE,
    ids: Annotated[Ids, typer.Option(help="The model's ids only, or make up those that lack.")] = Ids.GIVEN,
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
            raise UsageProblem("--provider reads a response; format, model and the like are of a model's own text")
        if tools == "-" and file in (None, "-"):
            raise UsageProblem("the text and the tools cannot both be standard input")
        options: dict[str, Any] = {
            "format": format,
            "model": model,
            "tools": None if tools is None else read_tools(tools),
            "tool_choice": None if tool_choice is None else ToolChoice.from_any(tool_choice),
            "generation_prompt": generation_prompt,
            "finish_reason": finish_reason,
            "on_error": on_error.value,
            "ids": ids.value,
        }
        if format is None and model is not None and toolglot.format_for_model(model) is None:
            sys.stderr.write(f"toolglot: no format is known for the model {line(model)!r}: it is detected\n")
        screen = None if json else Screen(color)
        if stream is None:
            _parser(options)  # what is wrong with the options shows before anything is read
            whole: Callable[[str], Message] = partial(toolglot.parse, **options)
            if provider is not None:
                whole = _response(provider_named(provider), options)
            text = "".join(chunks(file))
            if all(option is None for option in (provider, *of_text)):
                found = payload_of(text)
                whole = whole if found is None else _response(found, options)
            message, errors = _whole(whole, text)
        else:
            message, errors = _streamed(_parser(options), deltas(chunks(file), stream), screen)
    if screen is None:
        write_json(data.message_data(message, errors), indent=2 if stream is None else None)
    else:
        if stream is not None:
            screen.say()
        screen.message(message, errors)
        told = untyped(message) if tools is None else ""
        if format is None and tools is None and not errors:
            told = told or unread(message)
        if told:
            screen.flush()
            sys.stderr.write(f"toolglot: {line(told)}\n")
    raise typer.Exit(1 if errors else 0)


def _parser(options: dict[str, Any]) -> toolglot.StreamParser:
    try:
        return toolglot.StreamParser(**options)
    except TypeError as error:  # a tool that is no definition
        raise UsageProblem(str(error)) from None


def _response(provider: str, options: dict[str, Any]) -> Callable[[str], Message]:
    kept = {key: options[key] for key in ("tools", "on_error", "ids")}
    return lambda text: toolglot.parse_response(text, provider, **kept)


def _whole(read: Callable[[str], Message], text: str) -> tuple[Message, list[ToolglotError]]:
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


@app.command()
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
        sys.stderr.write("toolglot: no format that can be told from this text; `toolglot formats` lists the others\n")
    else:
        typer.echo(found)


@app.command()
def convert(
    to: Annotated[str, typer.Option(metavar="PROVIDER", help="Whose API they are for.")],
    file: Annotated[
        str | None, typer.Argument(help="Tool definitions of any API's shape, JSON; - or nothing is standard input.")
    ] = None,
    tool_choice: Annotated[
        str | None, typer.Option(help="auto, none, required, or the name of the tool that has to be called.")
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Write nothing if something would be lost.")] = False,
    json: Json = False,
) -> None:
    """Write tool definitions as an API takes them: the members of a request, and on standard error what is lost."""
    with usage_problems():
        wanted = toolglot.get_provider(provider_named(to))
        choice = None if tool_choice is None else ToolChoice.from_any(tool_choice)
        try:
            request = wanted.request(read_tools(file), choice)
        except TypeError as error:  # a tool that is no definition
            raise UsageProblem(str(error)) from None
        except ConversionError as error:  # a choice of a tool that is not there
            raise UsageProblem(str(error)) from None
    failed = strict and bool(request.losses)
    if json:
        losses = [data.loss_data(loss) for loss in request.losses]
        shown = None if failed else request
        write_json({"type": "request", "provider": wanted.provider.value, "request": shown, "losses": losses}, 2)
    else:
        if not failed:
            write_json(request, indent=2)
        for loss in request.losses:
            sys.stderr.write(f"lost: {line(loss.path)}: {line(loss.detail)} ({loss.code})\n")
    raise typer.Exit(1 if failed else 0)


@app.command()
def formats(
    name: Annotated[str | None, typer.Argument(metavar="[ID]", help="One format, by id or any of its names.")] = None,
    check: Annotated[bool, typer.Option("--check", help="Run the golden cases and show what passes.")] = False,
    cases: Annotated[
        str | None, typer.Option(metavar="FOLDER", help="Where the golden cases are; else the source tree's own.")
    ] = None,
    json: Json = False,
    color: Color = True,
) -> None:
    """List the formats, or show one: its names, its models, and a sample."""
    failed = False
    with usage_problems():
        screen = None if json else Screen(color)
        result: Any
        if check:
            ids = () if name is None else (toolglot.get_format(name).id,)
            result = check_formats(case_folder(cases), ids, screen)
            failed = bool(result["wrong"])
        else:
            result = show_formats(screen) if name is None else show_format(name, screen)
    if screen is None:
        write_json(result, indent=2)
    raise typer.Exit(1 if failed else 0)
