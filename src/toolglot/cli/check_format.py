"""``toolglot check-format``: whether a format of one's own, or one of ours, does what it says."""

from __future__ import annotations

from os.path import isdir, isfile  # False for a name that no file can have, where Path.is_file raises
from pathlib import Path
from typing import Annotated

import typer

import toolglot

from ..golden import FOLDER
from . import complete
from .common import Color, Json, usage_problems, write_json
from .escape import line
from .inputs import UsageProblem
from .own_format import Report, check, load
from .show import Screen


def check_format(
    what: Annotated[
        str,
        typer.Argument(
            metavar="FILE|ID",
            help="A Python file that declares a Format, which is run; or the id or name of a format that is known.",
            autocompletion=complete.format_ids,
        ),
    ],
    cases: Annotated[
        str | None,
        typer.Option(metavar="FOLDER", help="Golden cases; else the folder beside the file that is called as it is."),
    ] = None,
    json: Json = False,
    color: Color = True,
) -> None:
    """Check a format: its declaration, sample calls written and read back, streams, detection, golden cases."""
    with usage_problems():
        screen = None if json else Screen(color)
        path = Path(what)
        folder = None if cases is None else Path(cases)
        if cases is not None and not isdir(cases):
            raise UsageProblem(f"{line(cases)} is not a folder")
        if path.suffix == ".py" or isfile(what):
            if not isfile(what):
                raise UsageProblem(f"cannot read {line(what)}: there is no such file")
            fmt = load(path)
            beside = path.with_suffix("")
        else:
            fmt = toolglot.get_format(what)
            beside = FOLDER / fmt.id
        if folder is None:
            folder = beside if beside.is_dir() else FOLDER / fmt.id if (FOLDER / fmt.id).is_dir() else None
        report = check(fmt, folder)
    if screen is None:
        write_json(report.data(), indent=2)
    else:
        _show(screen, report)
    raise typer.Exit(1 if report.wrong else 0)


def _show(screen: Screen, report: Report) -> None:
    screen.rows([("format", report.id), *report.checks.items()], ("bold cyan", ""))
    for title, style, items in (
        ("to be mended", "bold red", report.wrong),
        ("advised", "bold yellow", report.advised),
    ):
        if items:
            screen.say()
            screen.say((title, style))
            for item in items:
                screen.say(line(item), indent=2)
    screen.say()
    told = f"{len(report.wrong)} to be mended" if report.wrong else "nothing is wrong"
    screen.say((told, "bold red" if report.wrong else "bold green"))
