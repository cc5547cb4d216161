"""What raises each code of a batch, for the table of codes: how it is shown, and a function that does it."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from .options import Options
from .parts import PartsFolder
from .rows import RowReader
from .running import _died, run
from .sources import Piece
from .work import Done, _failed, _Row, read_line, rows_of_piece

_PIECE: Final = Piece(0, "lines", b"", "", "outputs.jsonl", 0, 1, 1, 0)


def _invalid_line() -> None:
    error = read_line("[1, 2]")
    assert isinstance(error, Exception)
    raise error


def _text(row: dict[str, Any], **options: Any) -> None:
    RowReader(Options(**options))._text(row)


def _invalid_encoding() -> None:
    _text({"text": "half \ud83d"})


def _missing_text() -> None:
    _text({"text": None})


def _invalid_text() -> None:
    _text({"text": 5})


def _invalid_option() -> None:
    _text({"text": "", "tools": 5}, tools_column="tools")


def _line_too_long() -> None:
    [error] = rows_of_piece(_PIECE._replace(kind="long"), Options())
    assert isinstance(error, Exception)
    raise error


def _run(**options: Any) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        file = folder / "in.jsonl"
        file.write_text('{"text": "prose"}\n', "utf-8")
        (folder / "out.jsonl").touch()
        given = {"inputs": file, "output": folder / "new.jsonl", "processes": 1, **options}
        given["inputs"] = folder / given["inputs"]
        given["output"] = folder / given["output"]
        run(**given)


def _input() -> None:
    _run(inputs="none.jsonl")


def _columns() -> None:
    _run(text_column="txt")


def _output() -> None:
    _run(output="out.jsonl")


def _changed() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = PartsFolder(Path(name) / "out.jsonl")
        try:
            folder.open({"options": {"on_error": "collect"}}, 1, overwrite=False)
            (folder.path / "part-000000").touch()
            folder.note(Done(0, "", 0, "", 0, {}, []))
            folder.close()
            folder.open({"options": {"on_error": "repair"}}, 1, overwrite=False)
        finally:
            folder.close()


def _worker() -> None:
    raise _died([_PIECE])


def _crash() -> None:
    _failed(_Row(_PIECE), None, ZeroDivisionError("division by zero"), None)


EXAMPLES: Final[dict[str, tuple[str, Callable[[], object]]]] = {
    "batch.invalid_line": ("a line of the input: [1, 2]", _invalid_line),
    "batch.invalid_encoding": ('a row: {"text": "half \\\\ud83d"}', _invalid_encoding),
    "batch.line_too_long": ("a line of 200 MiB", _line_too_long),
    "batch.missing_text": ('a row: {"text": null}', _missing_text),
    "batch.invalid_text": ('a row: {"text": 5}', _invalid_text),
    "batch.invalid_option": ('a row: {"text": "...", "tools": 5}, with tools_column="tools"', _invalid_option),
    "batch.input": ("a file that is not there", _input),
    "batch.columns": ('text_column="txt" where the column is called text', _columns),
    "batch.output": ("an output that is there already, without overwrite=True", _output),
    "batch.changed": ("another on_error than that of the run that was stopped", _changed),
    "batch.worker": ("a process that was killed", _worker),
    "batch.crash": ("an exception that is none of Toolglot's own", _crash),
}
