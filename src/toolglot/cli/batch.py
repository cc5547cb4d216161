"""``toolglot batch``: files of outputs in, one file of calls out."""

from __future__ import annotations

import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from ..errors import BatchError, ToolglotError
from .escape import json_text, line
from .inputs import UsageProblem, provider_named, read_tools

if TYPE_CHECKING:
    from .. import batch as batches

_STOPPED = 130  # what a shell says of a command that Ctrl-C ended
_MOST = 3  # formats that have an error
_LISTED = 5  # files that were left out


def _column(what: str) -> Any:
    return typer.Option(metavar="COLUMN", help=what)


def batch(
    inputs: Annotated[
        list[str],
        typer.Argument(
            metavar="IN...",
            help="JSON lines (.jsonl, .jsonl.gz) or Parquet: files, folders of them, or - for standard input.",
        ),
    ],
    output: Annotated[str, typer.Argument(metavar="OUT", help="A file: .jsonl, .jsonl.gz or .parquet.")],
    text_column: Annotated[str, _column("Where the model's output stands.")] = "text",
    response_column: Annotated[str | None, _column("Where an API's response stands, which is read instead.")] = None,
    model_column: Annotated[str | None, _column("Where the row's model stands.")] = None,
    tools_column: Annotated[str | None, _column("Where the row's tools stand.")] = None,
    generation_prompt_column: Annotated[str | None, _column("Where the end of the row's prompt stands.")] = None,
    finish_reason_column: Annotated[str | None, _column("Where it stands why the model stopped.")] = None,
    keep: Annotated[list[str] | None, _column("A column to carry along; may be given several times.")] = None,
    format: Annotated[str | None, typer.Option(help="The format of all rows; else it is detected.")] = None,
    model: Annotated[str | None, typer.Option(help="The model of rows that name none.")] = None,
    tools: Annotated[str | None, typer.Option(metavar="FILE", help="The tools of rows that have none.")] = None,
    tool_choice: Annotated[str | None, typer.Option(help="auto, none, required, or the name of a tool.")] = None,
    generation_prompt: Annotated[
        str | None, typer.Option(metavar="TEXT", help="The end of the prompt of rows that have none.")
    ] = None,
    provider: Annotated[str, typer.Option(help="Whose responses they are; auto looks at each.")] = "auto",
    text_format: Annotated[
        str | None, typer.Option(help="The format of calls in the text of responses; auto detects it.")
    ] = None,
    repair: Annotated[bool, typer.Option("--repair", help="Mend what has one reading only.")] = False,
    synthesize_ids: Annotated[bool, typer.Option("--synthesize-ids", help="Make up ids where there are none.")] = False,
    validate: Annotated[bool, typer.Option("--validate", help="Check arguments against the tools.")] = False,
    coerce: Annotated[bool, typer.Option("--coerce", help="Read values as the types that the tools declare.")] = False,
    processes: Annotated[int | None, typer.Option(min=1, metavar="N", help="Else one a core; one if small.")] = None,
    piece_bytes: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="How much a process reads at a time; else 256 KiB or more.")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Begin anew, whatever is there.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Write the summary as JSON.")] = False,
) -> None:
    """Read a file of outputs, or many: a row of calls, text and errors for each row, in order.

    If it is stopped, the same command goes on where it was. What is in OUT's rows: docs/batch.md.
    """
    from .. import batch as batches  # not for `toolglot parse` to wait for

    options: dict[str, Any] = {
        "text_column": text_column,
        "response_column": response_column,
        "model_column": model_column,
        "tools_column": tools_column,
        "generation_prompt_column": generation_prompt_column,
        "finish_reason_column": finish_reason_column,
        "keep": tuple(keep or ()),
        "format": format,
        "model": model,
        "tool_choice": tool_choice,
        "generation_prompt": generation_prompt,
        "text_format": text_format,
        "on_error": "repair" if repair else "collect",
        "ids": "synthesize" if synthesize_ids else "given",
        "validate": validate,
        "coerce": coerce,
    }
    if tools == "-":
        raise UsageProblem("--tools names a file; standard input is for rows")
    options["tools"] = None if tools is None else read_tools(tools)
    options["provider"] = provider if provider == "auto" else provider_named(provider)
    try:
        _check(options)
        with _broken_pipes_are_errors(), _progress() as told:
            summary = batches.run(
                inputs,
                output,
                processes=processes,
                overwrite=overwrite,
                progress=told,
                piece_bytes=piece_bytes,
                **options,
            )
    except KeyboardInterrupt:
        sys.stderr.write("toolglot: stopped; the same command goes on from here\n")
        raise typer.Exit(_STOPPED) from None
    except BatchError as error:
        if error.code == "batch.crash":
            sys.stderr.write("".join(traceback.format_exception(error)))
        sys.stderr.write(f"toolglot: {line(str(error))} ({error.code})\n")
        raise typer.Exit(2) from None
    except ModuleNotFoundError as error:
        if error.name == "jsonschema_rs":
            raise UsageProblem(str(error)) from None
        if error.name != "pyarrow":
            raise
        raise UsageProblem("Parquet needs the package pyarrow: pip install pyarrow") from None
    _warn(summary)
    if json:
        sys.stdout.write(json_text(summary.to_dict(), indent=2, ascii_only=True) + "\n")
    else:
        _show(summary)


def _check(options: dict[str, Any]) -> None:
    from .. import batch as batches

    try:
        batches.Options(**options)
    except ToolglotError:
        raise
    except (TypeError, ValueError) as error:  # options that do not go together
        raise UsageProblem(str(error)) from None


def _warn(summary: batches.Summary) -> None:
    if summary.left_out:
        more = len(summary.left_out) - _LISTED
        names = ", ".join(summary.left_out[:_LISTED]) + (f" and {more:,} more" if more > 0 else "")
        sys.stderr.write(f"toolglot: not read: {line(names)}\n")
    for name in summary.unseen:
        sys.stderr.write(f"toolglot: no row has a column {line(name)!r}\n")


def _show(summary: batches.Summary) -> None:
    """The table of formats, and that of errors."""
    console = Console(highlight=False, soft_wrap=True)
    formats = Table(box=None, pad_edge=False)
    formats.add_column("format")
    for head in ("rows", "calls", "rows with errors", "repairs"):
        formats.add_column(head, justify="right")
    errors = Table(box=None, pad_edge=False)
    errors.add_column("error")
    errors.add_column("count", justify="right")
    errors.add_column("most in")
    total = summary.counts.total()
    tallies = summary.counts.to_dict()
    for name, tally in tallies.items():
        _row(formats, name or "none", tally)
    _row(formats, "all", total.to_dict())
    for code, count in total.to_dict()["errors"].items():
        most = sorted((-tally["errors"].get(code, 0), name or "none") for name, tally in tallies.items())
        errors.add_row(code, f"{count:,}", ", ".join(f"{name} {-n:,}" for n, name in most[:_MOST] if n))
    console.print(formats)
    if total.errors:
        console.print()
        console.print(errors)
    rate = f"{summary.rows_per_second:,.0f} rows/s, processes: {summary.processes}"
    console.print(f"\n{total.rows:,} rows in {summary.seconds:,.1f} s ({rate}): {line(summary.output)}", markup=False)


def _row(table: Table, name: str, tally: dict[str, Any]) -> None:
    table.add_row(line(name), *(f"{tally[key]:,}" for key in ("rows", "calls", "rows_with_errors", "repairs")))


@contextmanager
def _broken_pipes_are_errors() -> Iterator[None]:
    """That of a process that was killed shall not end the command without a word, as that of a reader of ours does."""
    if not hasattr(signal, "SIGPIPE"):
        yield
        return
    before = signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGPIPE, before)


@contextmanager
def _progress() -> Iterator[Callable[[batches.Progress], None] | None]:
    """A bar on standard error, if that is a terminal."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    bar = Progress(
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}%"),
        TextColumn("{task.fields[rows]:,} rows, {task.fields[rate]:,.0f}/s, with errors: {task.fields[bad]:,}"),
        TimeRemainingColumn(),
        console=console,
        transient=True,
    )
    with bar:
        task = bar.add_task("", total=None, rows=0, rate=0.0, bad=0)

        def told(now: batches.Progress) -> None:
            seconds = bar.tasks[0].elapsed or 0.0
            bar.update(
                task,
                total=now.total,
                completed=now.done,
                rows=now.rows,
                bad=now.rows_with_errors,
                rate=(now.rows - now.resumed_rows) / seconds if seconds else 0.0,
            )

        yield told
