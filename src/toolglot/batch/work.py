"""What a process does: it reads a piece, and writes one part of the output."""

from __future__ import annotations

import base64
import gc
import gzip
import json
import math
import os
import re
import signal
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

from ..errors import BatchError
from ..format import Format
from ..registry import REGISTRY
from .options import Options
from .record import Record, broken, lone_surrogate
from .rows import RowReader
from .sources import MAX_LINE, Piece, digest_of
from .summary import Counts

_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"), check_circular=False).encode
_ESCAPED: Final = json.JSONEncoder(allow_nan=False, separators=(",", ":")).encode
_DEEPEST: Final = 200  # levels of a line
# What some readers of lines take for the end of one; JSON lets it be escaped.
_BREAKS: Final = re.compile("[\x85\u2028\u2029]")


class Done(NamedTuple):
    """A part that is written: what `PartsFolder` notes of it."""

    number: int
    digest: str  # of the piece
    size: int
    check: str  # digest of the part
    rows: int
    counts: dict[str, Any]
    seen: list[str]  # of the columns that may be missing in a line

    def to_line(self) -> str:
        """One line of JSON."""
        return _encode(self._asdict())


@dataclass(frozen=True)
class Job:
    """What is the same for all pieces. ``kind`` is ``"jsonl"``, ``"gzip"`` or ``"parquet"``.

    ``columns`` is the schema of Parquet that is written, ``formats`` are those that the caller has registered.
    """

    options: Options
    kind: str
    folder: Path
    columns: Any = None
    formats: tuple[Format, ...] = ()


def part_name(number: int) -> str:
    """What the file of a part is called."""
    return f"part-{number:06d}"


class Worker:
    """Does one piece after the other."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._reader = RowReader(job.options)
        self._keep = job.options.keep
        self._watched = job.options.other_columns

    def do(self, piece: Piece) -> Done:
        """Read a piece and write its part, whole or not at all."""
        counts = Counts()
        seen: set[str] = set()
        at = _Row(piece)
        with _named(at):
            data = self._part(piece, counts, seen, at)
        path = self._job.folder / part_name(piece.number)
        making = path.with_name(f"{path.name}.{os.getpid()}")
        try:
            making.write_bytes(data)
            making.replace(path)
        except OSError as error:
            try:
                making.unlink(missing_ok=True)
            except OSError:
                pass
            raise unwritable(path, error) from None
        return Done(piece.number, piece.digest, len(data), digest_of(data), piece.rows, counts.to_dict(), sorted(seen))

    def _part(self, piece: Piece, counts: Counts, seen: set[str], at: _Row) -> bytes:
        if self._job.kind == "parquet":
            return self._arrow_part(piece, counts, seen, at)
        lines = []
        for record in self._records(piece, seen, at):
            lines.append(self._line(record))
            counts.count(record)  # behind it: what cannot be written is an error too
        lines.append("")
        text = "\n".join(lines)
        if not text.isascii():
            text = _BREAKS.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
        data = text.encode()
        return gzip.compress(data, 6, mtime=0) if self._job.kind == "gzip" else data

    def _records(self, piece: Piece, seen: set[str], at: _Row) -> Iterator[Record]:
        """The record of each row, with its place before it and behind it what is kept."""
        read = self._reader.read
        watched = [name for name in self._watched if name not in seen]
        for index, row in enumerate(rows_of_piece(piece, self._job.options)):
            at.index = index
            place = {"row": piece.row + index, "file": piece.file, "line": piece.line + index}
            if isinstance(row, BatchError):
                yield {**place, **broken(row), **dict.fromkeys(self._keep)}
                continue
            record = {**place, **read(row)}
            for name in self._keep:
                record[name] = row.get(name)
            if watched:
                seen.update(name for name in watched if name in row)
                watched = [name for name in watched if name not in seen]
            yield record

    def _line(self, record: Record) -> str:
        try:
            line = _encode(record)
            if not line.isascii():
                line.encode()
        except (ValueError, TypeError):  # a number that is none, a date, half of a surrogate pair
            line = _ESCAPED(self._written(record))
        return line

    def _written(self, record: Record) -> Record:
        """A record that can be written, whatever is kept."""
        kept = {name: plain(record[name]) for name in self._keep}
        try:
            _encode({**record, **dict.fromkeys(kept)}).encode()
        except UnicodeEncodeError:
            record.update(broken(lone_surrogate()))
        return {**record, **kept}

    def _arrow_part(self, piece: Piece, counts: Counts, seen: set[str], at: _Row) -> bytes:
        import pyarrow as pa

        from .arrow import FIELDS, PLACES, arrays
        from .parquet import from_bytes, write_part

        records = list(self._records(piece, seen, at))
        made = arrays(records, [*PLACES, *FIELDS])
        for record in records:
            counts.count(record)
        columns = self._job.columns
        if piece.kind == "arrow":
            batch = from_bytes(piece.data)
            same = [name for name in self._keep if batch.schema.field(name).type == columns.field(name).type]
        else:
            same = []
        kept = [
            batch.column(batch.schema.get_field_index(name))
            if name in same
            else pa.array([_text(record[name]) for record in records], pa.string())
            for name in self._keep
        ]
        return write_part(pa.RecordBatch.from_arrays([*made, *kept], schema=columns))


@dataclass
class _Row:
    """The row that is being read: ``index`` in its piece."""

    piece: Piece
    index: int = 0


@contextmanager
def _named(at: _Row) -> Iterator[None]:
    """Say in which row our own code failed, and let the failure go on as a `BatchError`."""
    with ExitStack() as stack:
        stack.push(partial(_failed, at))
        yield


def _failed(at: _Row, kind: object, error: BaseException | None, trace: object) -> None:
    if isinstance(error, Exception) and not isinstance(error, BatchError):
        piece = at.piece
        where = f"row {piece.row + at.index:,} (line {piece.line + at.index:,} of {piece.file or 'the input'})"
        raise BatchError(
            f"{where} brought down the parser: {type(error).__name__}: {error}. This is a mistake in Toolglot; "
            "please report it with that row",
            "batch.crash",
        ) from error


def unwritable(path: Path, error: OSError) -> BatchError:
    """What to say of a file that cannot be written."""
    return BatchError(f"{path} cannot be written: {error.strerror or error}", "batch.output")


def rows_of_piece(piece: Piece, options: Options) -> Iterator[Mapping[str, Any] | BatchError]:
    """Each row, or what is wrong with its line."""
    if piece.kind == "long":
        yield BatchError(f"the line is longer than {MAX_LINE:,} bytes", "batch.line_too_long")
    elif piece.kind == "arrow":
        from .arrow import rows_of
        from .parquet import from_bytes

        yield from rows_of(from_bytes(piece.data), options)
    else:
        yield from map(read_line, _lines(piece.data))


def _lines(data: bytes) -> list[str] | list[bytes]:
    """The lines, as text if all are; only a line feed ends one."""
    try:
        lines: Any = data.decode().split("\n")
    except UnicodeDecodeError:
        lines = data.split(b"\n")
    if not lines[-1]:
        lines.pop()
    return lines  # type: ignore[no-any-return]


def read_line(line: str | bytes) -> Mapping[str, Any] | BatchError:
    """The row that a line holds, or what is wrong with it."""
    if isinstance(line, bytes):
        try:
            line = line.decode()
        except UnicodeDecodeError as error:
            return BatchError(f"the line is not UTF-8: {error.reason} at byte {error.start}", "batch.invalid_encoding")
    try:
        row = json.loads(line)
    except json.JSONDecodeError as error:
        what = (
            "the line is empty"
            if not line.strip()
            else f"the line is not JSON: {error.msg.removesuffix(' starting at')}"
        )
        return BatchError(what, "batch.invalid_line", min(error.pos, len(line)))
    except ValueError:
        return BatchError("the line is not JSON: a number has too many digits", "batch.invalid_line")
    except RecursionError:
        return BatchError("the line is nested too deeply", "batch.invalid_line")
    if not isinstance(row, dict):
        kind = {"list": "an array", "str": "a string", "NoneType": "null"}.get(type(row).__name__, "a number or word")
        return BatchError(f"the line is {kind}, no object", "batch.invalid_line", 0)
    if line.count("{") + line.count("[") > _DEEPEST and _depth(row) > _DEEPEST:
        return BatchError(f"the line is nested deeper than {_DEEPEST} levels", "batch.invalid_line")
    return row


def _depth(value: Any) -> int:
    """How deep a value is nested, which may be deeper than functions can call each other."""
    depth = 0
    level = [value]
    while level:
        depth += 1
        inner: list[Any] = []
        for item in level:
            if isinstance(item, dict):
                inner.extend(item.values())
            elif isinstance(item, list):
                inner.extend(item)
        level = inner
    return depth


def plain(value: Any) -> Any:
    """What is kept as a JSON value: NaN and infinities by name, bytes in Base64, dates and the like as text."""
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {math.inf: "Infinity", -math.inf: "-Infinity"}.get(value, "NaN")
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def _text(value: Any) -> str | None:
    """What is kept of a line as text, in Parquet: text as it is, all else as JSON."""
    if value is None:
        return None
    try:
        text = value if isinstance(value, str) else _encode(value)
        text.encode()
    except (ValueError, TypeError):
        text = _ESCAPED(plain(value))
    return text


# -- in a process of its own

_worker: Worker


def start(job: Job) -> None:
    """Make a process ready."""
    global _worker  # noqa: PLW0603 - a process has one
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent says when to stop
    threading.Thread(target=_die_with_parent, daemon=True).start()
    for fmt in job.formats:
        REGISTRY.add(fmt)
    _worker = Worker(job)
    _tune()


def do(piece: Piece) -> Done:
    """A piece, in a process that was made ready."""
    return _worker.do(piece)


def _die_with_parent() -> None:
    """A parent that is killed cannot say so: without it the process would wait for work for ever."""
    from multiprocessing import parent_process
    from multiprocessing.connection import wait

    parent = parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


def _tune() -> None:
    gc.freeze()
    gc.set_threshold(100_000, 20, 20)


@contextmanager
def tuned() -> Iterator[None]:
    """Rarer garbage collection: what a row leaves behind is freed without it."""
    before = gc.get_threshold()
    _tune()
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
