"""``toolglot convert``: definitions, choices, results, responses and histories from one API to another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import typer

import toolglot

from ..definition.reading import read_tools as definitions
from ..errors import ConversionError
from ..history import HistoryRepair
from ..types import Loss, ToolChoice
from . import data
from .common import (
    Format,
    Json,
    Source,
    Strict,
    Target,
    examples,
    refused,
    tell,
    tell_losses,
    usage_problems,
    write_json,
)
from .escape import line
from .inputs import (
    UsageProblem,
    chunks,
    json_value,
    payload_of,
    provider_named,
    read_json,
    read_tools,
    recorded,
    source_name,
)
from .parse import response_reader
from .values import history_source, read_message, read_results

EXITS = "0 if it was written, 1 if --strict forbids a loss or the target cannot take it, 2 if the command is wrong."

app = typer.Typer(
    help="Write what one API has as another API has it; what is lost is said on standard error.",
    no_args_is_help=True,
    rich_markup_mode=None,
    epilog=examples(
        "toolglot convert tools examples/mcp_tools.json --to anthropic",
        "toolglot convert choice required --to google",
        "toolglot convert response examples/response.json --to openai",
        exits=EXITS,
    ),
)


def _give(
    kind: str, target: str, write: Callable[[], Any], strict: bool, json: bool, lost: tuple[Loss, ...] = ()
) -> None:
    """Write what ``write`` makes for ``target``, and on standard error what was lost; ``lost`` was so while reading."""
    error: ConversionError | None = None
    written: Any = None
    losses = list(lost)
    repairs: tuple[HistoryRepair, ...] = ()
    try:
        written = write()
        losses += written.losses
        repairs = getattr(written, "repairs", ())
    except ConversionError as caught:
        error = caught
    except TypeError as caught:  # a tool that is no definition, a choice that is none
        raise UsageProblem(str(caught)) from None
    failed = error is not None or (strict and bool(losses))
    if json:
        said: dict[str, Any] = {"type": kind, "provider": target, kind: None if failed else written}
        said["losses"] = [data.loss_data(loss) for loss in losses]
        if repairs:
            said["repairs"] = [data.history_repair_data(one) for one in repairs]
        if error is not None:
            said["error"] = data.error_data(error)
        write_json(said, 2)
    elif not failed:
        write_json(written, indent=2)
    if not json:
        tell_losses(losses)
        for one in repairs:
            typer.echo(f"mended: {line(one.path)}: {line(one.detail)} ({one.code})", err=True)
        if error is not None:
            raise refused(error)
    raise typer.Exit(1 if failed else 0)


@app.command(
    short_help="Tool definitions: the members of a request.",
    epilog=examples(
        "toolglot convert tools examples/mcp_tools.json --to anthropic",
        "toolglot convert tools examples/tools.json --to google --tool-choice required",
        exits=EXITS,
    ),
)
def tools(
    to: Target,
    file: Annotated[
        str | None, typer.Argument(help="Tool definitions of any API's shape, JSON; - or nothing is standard input.")
    ] = None,
    tool_choice: Annotated[
        str | None, typer.Option(help="auto, none, required, or the name of the tool that has to be called.")
    ] = None,
    strict: Strict = False,
    json: Json = False,
) -> None:
    """Write tool definitions as an API takes them: the members of a request."""
    with usage_problems():
        wanted = toolglot.get_provider(provider_named(to))
        choice = None if tool_choice is None else ToolChoice.from_any(tool_choice)
        found = read_tools(file)
        names = _names(found)
        for name in () if choice is None else choice.names:
            if name not in names:
                raise UsageProblem(
                    f"--tool-choice names {name!r:.80}, which is not among the tools: {', '.join(names)}"
                )
        _give("request", wanted.provider.value, lambda: wanted.request(found, choice), strict, json)


def _names(tools: list[Any]) -> list[str]:
    try:
        return [tool.name for tool in definitions(tools)]
    except TypeError as error:
        raise UsageProblem(str(error)) from None


@app.command(
    short_help="A tool choice: the members of a request.",
    epilog=examples(
        "toolglot convert choice required --to anthropic",
        "toolglot convert choice get_weather --to google",
        """toolglot convert choice '{"type": "any", "disable_parallel_tool_use": true}' --to openai""",
        exits=EXITS,
    ),
)
def choice(
    choice: Annotated[
        str, typer.Argument(help="auto, none, required, a tool's name, or any API's own, as JSON; - reads it.")
    ],
    to: Target,
    strict: Strict = False,
    json: Json = False,
) -> None:
    """Write a tool choice as an API takes it: the members of a request."""
    with usage_problems():
        wanted = toolglot.get_provider(provider_named(to))
        text = "".join(chunks("-")).strip() if choice == "-" else choice
        value = json_value(text, "the choice") if text[:1] in ("{", "[", '"') else text
        _give("choice", wanted.provider.value, lambda: wanted.tool_choice(value), strict, json)


@app.command(
    short_help="Tool results, for behind the assistant's message.",
    epilog=examples(
        """echo '{"tool_call_id": "call_1", "content": "4 C"}' | toolglot convert results --to openai""",
        """echo '{"role": "tool", "tool_call_id": "c1", "content": "4 C"}' | toolglot convert results --to anthropic""",
        exits=EXITS,
    ),
)
def results(
    to: Target,
    file: Annotated[
        str | None,
        typer.Argument(
            help="Results, JSON: objects with tool_call_id, content, tool_name, is_error, or an API's messages that "
            "hold them; - or nothing is standard input."
        ),
    ] = None,
    source: Source = None,
    calls: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="The calls that they answer: an API's response, or `parse --json`."),
    ] = None,
    strict: Strict = False,
    json: Json = False,
) -> None:
    """Write tool results as an API takes them, behind the assistant's message."""
    with usage_problems():
        if calls == "-" and file in (None, "-"):
            raise UsageProblem("the results and the calls cannot both be standard input")
        wanted = toolglot.get_provider(provider_named(to))
        owner = None if source is None else provider_named(source)
        found, message = read_results(read_json(file), source_name(file), owner)
        if calls is not None:
            message = read_message(read_json(calls), source_name(calls))
        _give("results", wanted.provider.value, lambda: wanted.results(found, message), strict, json)


@app.command(
    short_help="A response, or a model's text, as another API answers.",
    epilog=examples(
        "toolglot convert response examples/response.json --to openai",
        "toolglot convert response examples/hermes.txt --to anthropic",
        exits=EXITS,
    ),
)
def response(
    to: Target,
    file: Annotated[
        str | None,
        typer.Argument(help="An API's response, or a model's own text; - or nothing is standard input."),
    ] = None,
    source: Source = None,
    format: Format = None,
    model: Annotated[
        str | None, typer.Option(help="What the answer calls the model; else as the response does.")
    ] = None,
    strict: Strict = False,
    json: Json = False,
) -> None:
    """Write a response, or a model's text, as another API answers."""
    with usage_problems():
        wanted = toolglot.get_provider(provider_named(to))
        if wanted.writer_module is None:
            able = {each.wire_format for each in toolglot.providers() if toolglot.get_provider(each).writer_module}
            names = ", ".join(sorted(wire.value for wire in able))
            raise UsageProblem(f"responses of {wanted.provider} are read and not written; written are those of {names}")
        if source is not None and format is not None:
            raise UsageProblem("--from reads a response; --format is of a model's own text")
        owner = None if source is None else provider_named(source)
        text = "".join(chunks(file))
        if owner is None and format is None:
            owner = payload_of(text)
        if owner is None:
            message = toolglot.parse(text, format=format, on_error="collect", ids="synthesize")
        else:
            message = response_reader(owner, {"on_error": "collect", "ids": "synthesize"})(text)
            model = model or _model(text)
        if message.errors:
            if json:
                errors = [data.error_data(error) for error in message.errors]
                write_json(
                    {"type": "response", "provider": wanted.provider.value, "response": None, "errors": errors}, 2
                )
            for error in message.errors if not json else ():
                tell(f"{error} ({error.code})")
            raise typer.Exit(1)
        options: dict[str, Any] = {"model": model or "unknown"}
        lost = tuple(message.losses)
        _give("response", wanted.provider.value, lambda: wanted.response(message, **options), strict, json, lost)


def _model(text: str) -> str | None:
    """What a response, or the first event of a stream, calls its model."""
    events = recorded(text)
    value = events[0] if events else json_value(text, "the response")
    value = value["message"] if isinstance(value, dict) and value.get("type") == "message_start" else value
    found = [value.get(key) for key in ("model", "modelVersion")] if isinstance(value, dict) else []
    return next((name for name in found if isinstance(name, str)), None)


@app.command(
    short_help="A conversation: the members of a request.",
    epilog=examples(
        """echo '[{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}]' """
        "| toolglot convert messages --from openai --to google",
        exits=EXITS,
    ),
)
def messages(
    to: Target,
    file: Annotated[
        str | None,
        typer.Argument(help="A list of messages or a whole request, JSON; - or nothing is standard input."),
    ] = None,
    source: Source = None,
    repair: Annotated[
        bool, typer.Option("--repair", help="Mend what the API would refuse; each mend is said on standard error.")
    ] = False,
    strict: Strict = False,
    json: Json = False,
) -> None:
    """Write a conversation as another API takes it: the members of a request."""
    with usage_problems():
        wanted = provider_named(to)
        value = read_json(file)
        owner = history_source(value, source_name(file), source)
        _give("messages", wanted, lambda: toolglot.convert_messages(value, owner, wanted, repair=repair), strict, json)
