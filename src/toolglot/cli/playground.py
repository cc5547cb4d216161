"""``toolglot playground``: the page on this machine, or as a folder for a web server."""

from __future__ import annotations

import sys
import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from ..playground.build import BuildProblem, build, precompile
from ..playground.server import Playground
from .escape import line

PORT = 8747


def playground(
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes one that is free.")] = PORT,
    browser: Annotated[bool, typer.Option("--browser", help="Open the page in the default browser.")] = False,
    folder: Annotated[
        str | None,
        typer.Option("--build", metavar="DIR", help="Write the page as a folder that any web server can serve."),
    ] = None,
    pyodide: Annotated[
        str | None,
        typer.Option(metavar="FOLDER", help="With --build: the folder of npm's package pyodide."),
    ] = None,
) -> None:
    """Show what Toolglot makes of a text, in a page: paste an output, and look."""
    try:
        if folder is not None:
            _build(folder, pyodide)
        elif pyodide is not None:
            raise BuildProblem("--pyodide is for --build; without it the Python of this machine answers the page")
        else:
            _serve(port, browser)
    except BuildProblem as problem:
        sys.stderr.write(f"toolglot: {line(str(problem))}\n")
        raise typer.Exit(2) from None


def _build(folder: str, pyodide: str | None) -> None:
    if pyodide is None:
        raise BuildProblem("--build needs --pyodide FOLDER: `npm install pyodide` makes it, under node_modules/pyodide")
    names = build(Path(folder), Path(pyodide))
    why = precompile(Path(folder))
    if why:
        sys.stderr.write(f"toolglot: the page works, but starts more slowly: it compiles its Python. {line(why)}\n")
    typer.echo(f"{len(names)} files in {line(folder)}: `python -m http.server --directory` shows them.")


def _serve(port: int, browser: bool) -> None:
    try:
        server = Playground(port)
    except OSError as error:
        raise BuildProblem(f"port {port} cannot be used: {error.strerror}; name another with --port") from None
    with server:
        typer.echo(f"The playground is at {server.url} (Ctrl+C ends it).")
        sys.stdout.flush()
        if browser:
            webbrowser.open(server.url)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            typer.echo()
