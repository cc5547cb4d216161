"""Where rows come from: the files of a batch, and the pieces that they are cut into.

A piece is what one process reads at a time and writes one part of the output for. How an input is cut depends on
nothing but the input, so that a run that goes on finds the pieces of the one before.
"""

from __future__ import annotations

import gzip
import os
import sys
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple, cast

from ..errors import BatchError

MAX_LINE: Final = 128 << 20
"""Bytes of a line; what is longer is a row with an error."""

PIECE: Final = 256 << 10
"""Bytes of a piece; an input of up to 1 GiB has at most some 4,000."""

_LARGEST: Final = 16 << 20
STDIN: Final = "-"
FOLDER_SUFFIX: Final = ".parts"
_SUFFIXES: Final = (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz", ".parquet")
_BOM: Final = b"\xef\xbb\xbf"


class Piece(NamedTuple):
    """Rows that follow each other: lines as they stand in the file, or an Arrow stream."""

    number: int
    kind: str  # "lines", "arrow", or "long": one line, which is too long
    data: bytes
    digest: str
    file: str | None
    row: int  # of the first, from 0, in all input
    line: int  # of the first, from 1, in its file
    rows: int
    done: int  # bytes of the files that have been read behind it


@dataclass(frozen=True)
class Source:
    """One input. ``kind`` is ``"lines"``, ``"gzip"`` or ``"parquet"``."""

    name: str
    kind: str
    size: int | None

    @property
    def label(self) -> str:
        """What a person calls it."""
        return self.shown or "standard input"

    @property
    def shown(self) -> str | None:
        """What stands in a row: text, also of a name that is none; None for standard input."""
        return None if self.name == STDIN else os.fsencode(self.name).decode("utf-8", "replace")

    @contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """The bytes of the file, packed or not."""
        if self.name == STDIN:
            yield sys.stdin.buffer  # not ours to close
            return
        try:
            file = Path(self.name).open("rb")  # noqa: SIM115
        except OSError as error:
            raise unreadable(self, error) from None
        with file:
            yield file


class Found(NamedTuple):
    """The inputs, and the files of folders that are none."""

    sources: list[Source]
    left_out: list[str]


def find_sources(inputs: Iterable[str | os.PathLike[str]], output: Path) -> Found:
    """The files that ``inputs`` name; of a folder all that have a known suffix, by name, its folders included."""
    sources: list[Source] = []
    left_out: list[str] = []
    names = [os.fspath(name) for name in inputs]
    if STDIN in names and len(names) > 1:
        raise BatchError("standard input is read alone, not together with files", "batch.input")
    for name in names:
        # (Those of `Path` raise where a name is too long, or a folder closed; opening it will say so.)
        if name != STDIN and os.path.isdir(name):
            sources.extend(_source(str(path)) for path in _walk(Path(name), output, left_out))
        else:
            if name != STDIN and _same(output, name):
                raise BatchError(f"{name} is the input and the output", "batch.output")
            sources.append(_source(name))
    if not sources:
        known = ", ".join(_SUFFIXES)
        raise BatchError(f"there is nothing to read in {', '.join(names) or 'no input'}: no {known}", "batch.input")
    return Found(sources, left_out)


def _walk(folder: Path, output: Path, left_out: list[str]) -> Iterator[Path]:
    """The files to read, in the order of their names. What is hidden, or named with ``_`` as Spark does, is not."""
    try:
        paths = sorted(folder.iterdir())
    except OSError as error:
        raise unreadable(Source(str(folder), "folder", None), error) from None
    for path in paths:
        if os.path.isdir(path):
            if path.suffix == FOLDER_SUFFIX and os.path.exists(path / "manifest.json"):
                continue  # a batch in the making
            if os.path.islink(path):
                left_out.append(str(path))  # it may lead back here
            elif path.name[0] not in "._":
                yield from _walk(path, output, left_out)
        elif _same(output, path):
            continue
        elif path.name[0] in "._" or not path.name.endswith(_SUFFIXES):
            left_out.append(str(path))
        else:
            yield path


def _same(one: Path, other: str | Path) -> bool:
    return os.path.exists(one) and os.path.exists(other) and os.path.samefile(one, other)


def _source(name: str) -> Source:
    """An input, told by its first bytes: files are called all sorts of names."""
    source = Source(name, "lines", None)
    try:
        if name == STDIN:
            if sys.stdin is None or sys.stdin.isatty():
                raise BatchError("there is nothing to read on standard input: pipe the rows in", "batch.input")
            head = cast("BufferedReader", sys.stdin.buffer).peek(4)[:4]
            size = None
        else:
            if not os.path.isfile(name) and os.path.exists(name):
                # A pipe can be opened once, and its first bytes read once.
                raise BatchError(f"{name} is no file; what is not one can be piped in, as -", "batch.input")
            with Path(name).open("rb") as file:
                head = file.read(4)
                size = os.fstat(file.fileno()).st_size
    except OSError as error:
        raise unreadable(source, error) from None
    if head == b"PAR1":
        if name == STDIN:
            raise BatchError("Parquet cannot be read from standard input: name the file", "batch.input")
        return Source(name, "parquet", size)
    if name.endswith(".parquet"):
        raise BatchError(f"{name} is no Parquet file: it does not begin as one", "batch.input")
    if head == b"\x28\xb5\x2f\xfd":
        raise BatchError(f"{source.label} is compressed by zstd; unpack it, or pipe it in", "batch.input")
    return Source(name, "gzip" if head[:2] == b"\x1f\x8b" else "lines", size)


def unreadable(source: Source, error: Exception) -> BatchError:
    """What to say of an input that cannot be read."""
    reason = (isinstance(error, OSError) and error.strerror) or str(error) or type(error).__name__
    return BatchError(f"{source.label} cannot be read: {reason}", "batch.input")


class LineCutter:
    """Cuts lines of one source into pieces of about ``size`` bytes, each of whole lines."""

    def __init__(self, source: Source, size: int, number: int, row: int, done: int) -> None:
        self._source = source
        self._size = size
        self._number = number
        self._row = row
        self._before = done
        self._line = 1
        self._read = 0
        self._file: BinaryIO  # as it is on the disk
        self._lines: BinaryIO  # unpacked

    def pieces(self) -> Iterator[Piece]:
        """The pieces, in order."""
        held: list[bytes] = []
        length = 0
        with self._source.open() as self._file:
            packed = self._source.kind == "gzip"
            self._lines = cast("BinaryIO", gzip.GzipFile(fileobj=self._file)) if packed else self._file
            for block in self._blocks():
                if self._line == 1 and not held:
                    block = block.removeprefix(_BOM)
                at = block.rfind(b"\n") + 1
                if at:
                    held.append(block[:at])
                    yield self._piece(b"".join(held))
                    held, length = [], 0
                held.append(block[at:])
                length += len(block) - at
                if length > MAX_LINE:
                    rest, piece = self._too_long(held)
                    yield piece
                    at = rest.rfind(b"\n") + 1
                    if at:
                        yield self._piece(rest[:at])
                    held, length = [rest[at:]], len(rest) - at
            if length:
                yield self._piece(b"".join(held))

    def _blocks(self) -> Iterator[bytes]:
        try:
            while block := self._lines.read(self._size):
                yield block
        except EOFError:
            raise BatchError(
                f"{self._source.label} is cut off: it ends within what gzip has packed. Line {self._line:,} and those "
                "behind it are not read",
                "batch.input",
            ) from None
        except (OSError, zlib.error) as error:
            raise unreadable(self._source, error) from None

    def _piece(self, data: bytes, kind: str = "lines", digest: str | None = None) -> Piece:
        rows = 1 if kind == "long" else data.count(b"\n") + (not data.endswith(b"\n"))
        source = self._source
        piece = Piece(
            self._number,
            kind,
            data,
            digest or digest_of(data),
            source.shown,
            self._row,
            self._line,
            rows,
            self._before + self._position(),
        )
        self._number += 1
        self._row += rows
        self._line += rows
        return piece

    def _position(self) -> int:
        return 0 if self._source.size is None else self._file.tell()

    def _too_long(self, held: list[bytes]) -> tuple[bytes, Piece]:
        """The line whose beginning is ``held`` goes by; what stands behind it, and its piece."""
        hashed = blake2b(digest_size=16)
        for block in held:
            hashed.update(block)
        rest = b""
        for block in self._blocks():
            at = block.find(b"\n") + 1
            hashed.update(block[:at] if at else block)
            if at:
                rest = block[at:]
                break
        return rest, self._piece(b"", "long", hashed.hexdigest())


def digest_of(data: bytes) -> str:
    """What tells whether a piece is the one that it was."""
    return blake2b(data, digest_size=16).hexdigest()


def piece_size(sources: list[Source]) -> int:
    """Bytes of a piece: more for large inputs, so that a folder of parts stays small."""
    return min(max(PIECE, sum(source.size or 0 for source in sources) // 4096), _LARGEST)
