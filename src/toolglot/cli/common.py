"""What the commands share: arguments and options, what is wrong usage, how JSON and text are written.

Exit status of every command: 0 it was done, 1 what was read is broken or cannot be carried over, 2 the command cannot
be carried out as it was given. A reader that goes away ends it by a signal.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from enum import Enum
from typing import Annotated, Any

import typer

import toolglot

from ..errors import DefinitionError, ToolglotError
from ..finish import read_finish_reason
from ..types import Loss
from . import complete, data
from .escape import json_text, line, plain
from .inputs import UsageProblem


class OnError(str, Enum):
    """What to do with a broken call."""

    RAISE = "raise"
    COLLECT = "collect"
    REPAIR = "repair"


class Ids(str, Enum):
    """Where ids come from."""

    GIVEN = "given"
    SYNTHESIZE = "synthesize"


def _reason(word: str | None) -> str | None:
    try:
        return read_finish_reason(word)
    except ValueError as error:
        raise typer.BadParameter(line(str(error))) from None


File = Annotated[
    str | None,
    typer.Argument(
        help="A model's output, an API's response, or a recorded stream of one; - or nothing is standard input."
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Write JSON for a program.")]
Color = Annotated[bool, typer.Option("--color/--no-color", help="Colour on a terminal (NO_COLOR also turns it off).")]
Strict = Annotated[bool, typer.Option("--strict", help="Write nothing if something would be lost, and exit with 1.")]
Format = Annotated[
    str | None,
    typer.Option(help="The format's id or name; else it is detected.", autocompletion=complete.format_ids),
]
Target = Annotated[
    str,
    typer.Option("--to", metavar="PROVIDER", help="Whose API it is for.", autocompletion=complete.provider_names),
]
Source = Annotated[
    str | None,
    typer.Option(
        "--from",
        metavar="PROVIDER",
        help="Whose it is; else its shape shows it.",
        autocompletion=complete.provider_names,
    ),
]
Provider = Annotated[
    str | None,
    typer.Option(
        help="Whose API's response it is; else JSON of an API's shape is found by itself.",
        autocompletion=complete.provider_names,
    ),
]
Model = Annotated[
    str | None,
    typer.Option(help="The model's id, which tells the format.", autocompletion=complete.model_names),
]
Tools = Annotated[str | None, typer.Option(metavar="FILE", help="Tool definitions of any API's shape, a JSON list.")]
ToolChoice = Annotated[
    str | None, typer.Option(help="auto, none, required, or the name of the tool that had to be called.")
]
GenerationPrompt = Annotated[
    str | None, typer.Option(metavar="TEXT", help="The end of the prompt, which may have opened reasoning.")
]
FinishReason = Annotated[
    str | None,
    typer.Option(
        metavar="WORD", callback=_reason, help="Why the model stopped, as its API says it; after length it was cut off."
    ),
]
Validate = Annotated[
    bool, typer.Option("--validate", help="A call that does not fit its tool's JSON Schema is an error; needs --tools.")
]
Coerce = Annotated[
    bool,
    typer.Option("--coerce", help="Read what is written as another type as the schema's, and say so; needs --tools."),
]


@contextmanager
def usage_problems() -> Iterator[None]:
    """Turn what the caller got wrong into a message and exit status 2."""
    try:
        yield
    except (UsageProblem, DefinitionError) as error:
        code = f" ({error.code})" if isinstance(error, DefinitionError) else ""
        sys.stderr.write(f"toolglot: {line(str(error))}{code}\n")
        raise typer.Exit(2) from None


def tell(text: str) -> None:
    """A remark, on standard error."""
    sys.stderr.write(f"toolglot: {line(text)}\n")


def refused(error: ToolglotError, said: dict[str, Any] | None = None) -> typer.Exit:
    """Say why what was read cannot be carried over; to be raised. A program gets it in the JSON that it asked for."""
    if said is None:
        tell(f"{error} ({error.code})")
    else:
        write_json({**said, "error": data.error_data(error)}, indent=2)
    return typer.Exit(1)


def write_json(value: Any, indent: int | None = None) -> None:
    """Write ``value`` to standard output, in ASCII if that is all that it can take."""
    ascii_only = (sys.stdout.encoding or "").lower().replace("-", "") != "utf8"
    sys.stdout.write(json_text(value, indent=indent, ascii_only=ascii_only) + "\n")
    sys.stdout.flush()


def write_text(text: str) -> None:
    """Write ``text`` exactly, as UTF-8, into a file or a pipe; on a terminal nothing in it may act."""
    if sys.stdout.isatty():
        sys.stdout.write(plain(text) + "\n")
        sys.stdout.flush()
        return
    try:
        data = text.encode()
    except UnicodeEncodeError:
        raise UsageProblem("the text holds half of a surrogate pair, which UTF-8 cannot write; --json can") from None
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def tell_losses(losses: Iterable[Loss]) -> None:
    """What was lost, on standard error, one line each."""
    for loss in losses:
        sys.stderr.write(f"lost: {line(loss.path)}: {line(loss.detail)} ({loss.code})\n")


def show_version(wanted: bool) -> None:
    """What ``--version`` does."""
    if wanted:
        typer.echo(f"toolglot {toolglot.__version__}")
        raise typer.Exit


def examples(*commands: str, exits: str = "") -> str:
    """The end of a command's help: what to type, and what its exit status says. The tests run each."""
    status = exits or "0 if it was done, 1 if what was read is broken, 2 if the command is wrong."
    return "\b\nExamples:\n" + "\n".join(f"  {command}" for command in commands) + f"\n\nExit status: {status}"
