"""The page's files, and the static folder: page, package and Pyodide, to be put on any web server."""

from __future__ import annotations

import io
import subprocess
import zipfile
from importlib.resources import as_file, files
from pathlib import Path
from shutil import copyfile, copymode, which
from typing import Final

CONTENT_POLICY: Final = (
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; style-src 'self'; "
    "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'"
)
"""What the page may do: nothing but load its own files, and run WebAssembly."""

PAGE_FILES: Final[dict[str, str]] = {
    "index.html": "text/html; charset=utf-8",
    "style.css": "text/css; charset=utf-8",
    "app.js": "text/javascript; charset=utf-8",
    "backend.js": "text/javascript; charset=utf-8",
    "dom.js": "text/javascript; charset=utf-8",
    "link.js": "text/javascript; charset=utf-8",
    "views.js": "text/javascript; charset=utf-8",
    "worker.js": "text/javascript; charset=utf-8",
}
"""The files of the page, with their media types."""

# Of npm's package `pyodide`: what a page loads.
PYODIDE_FILES: Final = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")

PACKAGE: Final = "toolglot.zip"
_BACKEND: Final = 'data-backend="{}"'
# What only an installation has a use for.
_LEFT_OUT: Final = ("playground/page/", "playground/server.py", "playground/build.py", "playground/compile.mjs")


class BuildProblem(Exception):
    """The folder cannot be made."""


def page_file(name: str, backend: str) -> bytes:
    """A file of the page. ``backend`` is what answers it: ``local``, or ``pyodide``."""
    data = (files(__package__) / "page" / name).read_bytes()
    if name == "index.html":
        data = data.replace(_BACKEND.format("local").encode(), _BACKEND.format(backend).encode())
    return data


def package_zip() -> bytes:
    """This package as a zip archive; the same bytes for the same files."""
    root = Path(__file__).parents[1]
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(root.rglob("*")):
            name = path.relative_to(root).as_posix()
            if path.is_file() and "__pycache__" not in path.parts and not name.startswith(_LEFT_OUT):
                archive.writestr(zipfile.ZipInfo(f"{root.name}/{name}"), path.read_bytes(), zipfile.ZIP_DEFLATED)
    return made.getvalue()


def build(target: Path, pyodide: Path) -> list[str]:
    """Write the static folder; the names of its files. What it had under these names is replaced.

    ``pyodide`` is the folder of npm's package of that name.
    """
    missing = [name for name in PYODIDE_FILES if not (pyodide / name).is_file()]
    if missing:
        raise BuildProblem(f"{pyodide} is not the folder of npm's package `pyodide`: it has no {missing[0]}")
    try:
        (target / "pyodide").mkdir(parents=True, exist_ok=True)
        for name in PAGE_FILES:
            (target / name).write_bytes(page_file(name, "pyodide"))
        (target / PACKAGE).write_bytes(package_zip())
        for name in PYODIDE_FILES:
            copyfile(pyodide / name, target / "pyodide" / name)
    except OSError as error:
        raise BuildProblem(f"cannot write {error.filename or target}: {error.strerror or error}") from None
    return [*PAGE_FILES, PACKAGE, *(f"pyodide/{name}" for name in PYODIDE_FILES)]


def precompile(target: Path) -> str:
    """Compile the Python of a static folder, which then starts in half the time; why not, if that cannot be done here.

    Only the Python that will run it can: Node runs it.
    """
    node = which("node")
    if node is None:
        return "Node is not installed"
    with as_file(files(__package__) / "compile.mjs") as script:
        try:
            # No shell, and what is run is in this package and in the folder that the caller named.
            subprocess.run([node, str(script), str(target)], check=True, capture_output=True, timeout=600)  # noqa: S603
        except (OSError, subprocess.SubprocessError) as error:
            return f"Node could not run it: {error}"
    for name in (PACKAGE, "pyodide/python_stdlib.zip"):
        copymode(target / "index.html", target / name)  # Pyodide gives its files to everyone
    return ""
