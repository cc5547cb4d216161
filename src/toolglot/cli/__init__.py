"""The command line. `main` is the script's entry; everything that needs typer or rich is imported inside it."""

from __future__ import annotations

import sys


def main() -> None:
    """Run ``toolglot``. Without typer and rich, say what to install and exit with status 2."""
    try:
        import rich  # noqa: F401
        import typer  # noqa: F401
    except ModuleNotFoundError as error:
        if error.name not in ("rich", "typer"):
            raise
        sys.stderr.write(
            f"toolglot: the command line needs the package {error.name}, which is not installed.\n"
            "Install it with the extra `cli`:  pip install 'toolglot[cli]'\n"
        )
        raise SystemExit(2) from None
    from .app import app

    app(prog_name="toolglot")
