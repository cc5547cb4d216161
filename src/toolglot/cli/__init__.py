"""The command line. `main` is the script's entry; everything that needs typer or rich is imported inside it."""

from __future__ import annotations

import os
import signal
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
            "It and all else of Toolglot's extra `cli`:  pip install typer rich\n"
        )
        raise SystemExit(2) from None
    # What was closed before the start (`>&-`) is None: it is read as empty, and written to nowhere.
    sys.stdin = sys.stdin or open(os.devnull, encoding="utf-8")  # noqa: SIM115 (open until the end)
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    try:
        from .app import app
    except KeyboardInterrupt:  # Ctrl-C before the command has begun
        raise SystemExit(130) from None

    # A reader that goes away (`| head`) ends the command as it ends any other: silently, by the signal, which a shell
    # shows as 141. Status 1 is for texts that are broken.
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    try:
        try:
            app(prog_name="toolglot")
        finally:
            sys.stdout.flush()
    except OSError as error:  # of reading there is nothing left here: the output cannot be written, as on a full disk
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or the end of Python would try it again
        sys.stderr.write(f"toolglot: cannot write: {error.strerror or error}\n")
        raise SystemExit(2) from None
