"""``toolglot formats``."""

from __future__ import annotations

from typing import Annotated, Any

import typer

import toolglot

from . import complete
from .catalogue import check_formats, show_format, show_formats
from .common import Color, Json, usage_problems, write_json
from .inputs import case_folder
from .show import Screen


def formats(
    name: Annotated[
        str | None,
        typer.Argument(metavar="ID", help="One format, by id or any of its names.", autocompletion=complete.format_ids),
    ] = None,
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
