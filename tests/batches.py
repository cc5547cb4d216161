"""What the tests of batches share: rows, and what raises each code of a batch."""

from __future__ import annotations

import json
import random
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from toolglot import batch, golden
from toolglot.batch.options import Options
from toolglot.batch.rows import RowReader
from toolglot.batch.running import _died
from toolglot.batch.sources import Piece
from toolglot.batch.work import Done, _failed, _Row, read_line, rows_of_piece

# Lines that are no row with a text, and the code of the error in their place.
BAD_LINES: dict[bytes, str] = {
    b"": "batch.invalid_line",
    b"  ": "batch.invalid_line",
    b"[1, 2]": "batch.invalid_line",
    b'"text"': "batch.invalid_line",
    b"null": "batch.invalid_line",
    b'{"text": "cut o': "batch.invalid_line",
    b'{"text": 1' + b"0" * 5000 + b"}": "batch.invalid_line",
    b'{"text": ' + b"[" * 5000 + b"]" * 5000 + b"}": "batch.invalid_line",
    b'{"text": ' + b"[" * 300 + b"]" * 300 + b"}": "batch.invalid_line",
    b'{"text": "\xff"}': "batch.invalid_encoding",
    b'{"text": "half \\ud83d"}': "batch.invalid_encoding",
    b'{"text": null}': "batch.missing_text",
    b'{"text": NaN}': "batch.missing_text",  # as pandas writes null
    b'{"id": 1}': "batch.missing_text",
    b'{"text": 5}': "batch.invalid_text",
    b'{"text": ["a", "b"]}': "batch.invalid_text",
}


def lines(count: int, seed: int = 0, longest: int = 400) -> Iterator[bytes]:
    """Lines of texts of every format, some of them bad."""
    chance = random.Random(seed)
    texts = [case.text for case in golden.load() if len(case.text) < longest]
    bad = [line for line in BAD_LINES if len(line) < 100]
    for number in range(count):
        if chance.random() < 0.02:
            yield chance.choice(bad)
        else:
            yield json.dumps({"id": number, "text": chance.choice(texts)}, ensure_ascii=False).encode()


def write_lines(path: Path, count: int, seed: int = 0, longest: int = 400) -> Path:
    """A file of them."""
    with path.open("wb") as file:
        file.writelines(line + b"\n" for line in lines(count, seed, longest))
    return path


def read(path: Path) -> list[dict[str, Any]]:
    """The rows of an output."""
    return [json.loads(line) for line in path.read_bytes().split(b"\n")[:-1]]


PIECE = Piece(0, "lines", b"", "", "outputs.jsonl", 0, 1, 1, 0)


def _invalid_line() -> None:
    """a line of the input: [1, 2]"""
    error = read_line("[1, 2]")
    assert isinstance(error, Exception)
    raise error


def _text(row: dict[str, Any], **options: Any) -> None:
    RowReader(Options(**options))._text(row)


def _invalid_encoding() -> None:
    r"""a row: {"text": "half \\ud83d"}"""
    _text({"text": "half \ud83d"})


def _missing_text() -> None:
    """a row: {"text": null}"""
    _text({"text": None})


def _invalid_text() -> None:
    """a row: {"text": 5}"""
    _text({"text": 5})


def _invalid_option() -> None:
    """a row: {"text": "...", "tools": 5}, with tools_column="tools" """
    _text({"text": "", "tools": 5}, tools_column="tools")


def _line_too_long() -> None:
    """a line of 200 MiB"""
    [error] = rows_of_piece(PIECE._replace(kind="long"), Options())
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
        batch.run(**given)


def _input() -> None:
    """a file that is not there"""
    _run(inputs="none.jsonl")


def _columns() -> None:
    """text_column="txt" where the column is called text"""
    _run(text_column="txt")


def _output() -> None:
    """an output that is there already, without overwrite=True"""
    _run(output="out.jsonl")


def _changed() -> None:
    """another on_error than that of the run that was stopped"""
    from toolglot.batch.parts import PartsFolder

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
    """a process that was killed"""
    raise _died([PIECE])


def _crash() -> None:
    """an exception that is none of Toolglot's own"""
    _failed(_Row(PIECE), None, ZeroDivisionError("division by zero"), None)


BATCHES: dict[str, Callable[[], object]] = {
    "batch.invalid_line": _invalid_line,
    "batch.invalid_encoding": _invalid_encoding,
    "batch.line_too_long": _line_too_long,
    "batch.missing_text": _missing_text,
    "batch.invalid_text": _invalid_text,
    "batch.invalid_option": _invalid_option,
    "batch.input": _input,
    "batch.columns": _columns,
    "batch.output": _output,
    "batch.changed": _changed,
    "batch.worker": _worker,
    "batch.crash": _crash,
}
