"""Puts bytecode into the archives that a page loads, so that it need not compile them at each start.

Bytecode is that of one Python: this runs in Pyodide itself, under Node (`compile.mjs`).
"""

from __future__ import annotations

import compileall
from pathlib import Path
from py_compile import PycInvalidationMode
from tempfile import TemporaryDirectory
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo


def compile_archive(path: Path, *, imported: bool) -> None:
    """Compile what is in a zip archive. ``imported``: Python imports from the archive itself, where bytecode stands
    in place of the source; else it is unpacked, and has both.
    """
    with TemporaryDirectory() as folder:
        with ZipFile(path) as archive:
            archive.extractall(folder)
        compileall.compile_dir(
            folder, quiet=2, legacy=imported, stripdir=folder, invalidation_mode=PycInvalidationMode.UNCHECKED_HASH
        )
        made = path.with_suffix(".new")
        with ZipFile(made, "w", ZIP_DEFLATED) as archive:
            for file in sorted(Path(folder).rglob("*")):
                if file.is_file() and not (imported and file.with_suffix(".pyc").exists() and file.suffix == ".py"):
                    name = file.relative_to(folder).as_posix()
                    archive.writestr(ZipInfo(name), file.read_bytes(), ZIP_DEFLATED)
    made.replace(path)
