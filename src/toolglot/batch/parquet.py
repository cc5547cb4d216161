"""Parquet: cut into pieces, and put together from parts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Any, BinaryIO, Final

import pyarrow as pa
import pyarrow.parquet as pq

from .arrow import FIELDS, PLACES, check_columns, schema
from .options import Options
from .sources import Piece, Source, unreadable

VERSION: Final = pa.__version__
_MOST_ROWS: Final = 4096  # of a piece
_GROUP: Final = 32 << 20  # bytes of a row group, as they are in memory
_FAILURES: Final = (pa.ArrowException, OSError, EOFError)


def columns_of(source: Source, options: Options) -> pa.Schema:
    """The columns of a file; they have to be those that the options name."""
    with source.open() as file:
        try:
            columns = pq.read_schema(file)
        except _FAILURES as error:
            raise unreadable(source, error) from None
    check_columns(columns, options, source.label)
    return columns


def pieces(source: Source, options: Options, size: int, number: int, row: int, done: int) -> Iterator[Piece]:
    """The pieces of a file: some rows each, of one row group."""
    names = [options.read_column, *options.other_columns]
    line = 1
    with source.open() as raw:
        try:
            # Read in small steps: a row group may be as large as the file.
            file = pq.ParquetFile(raw, buffer_size=1 << 20, pre_buffer=False)
            for index in range(file.num_row_groups):
                group = file.metadata.row_group(index)
                mine = [group.column(i) for i in range(group.num_columns)]
                mine = [column for column in mine if column.path_in_schema.split(".")[0] in names]
                wide = sum(column.total_uncompressed_size for column in mine) // max(group.num_rows, 1)
                rows = max(1, min(_MOST_ROWS, size // max(wide, 1)))
                digest = _digest(source, mine)
                for batch in file.iter_batches(rows, row_groups=[index], columns=names, use_threads=False):
                    part = done + (source.size or 0) * (line + batch.num_rows - 1) // max(file.metadata.num_rows, 1)
                    hashed = blake2b(f"{digest} {line} {batch.num_rows}".encode(), digest_size=16).hexdigest()
                    data = _to_bytes(batch)
                    yield Piece(number, "arrow", data, hashed, source.shown, row, line, batch.num_rows, part)
                    number += 1
                    row += batch.num_rows
                    line += batch.num_rows
        except _FAILURES as error:
            raise unreadable(source, error) from None


def _digest(source: Source, columns: list[Any]) -> str:
    """Of the bytes of a row group's columns, which are not unpacked for it."""
    hashed = blake2b(digest_size=16)
    with Path(source.name).open("rb") as file:
        for column in columns:
            start = column.data_page_offset
            if column.has_dictionary_page:
                start = min(start, column.dictionary_page_offset)
            file.seek(start)
            left = column.total_compressed_size
            while left > 0 and (block := file.read(min(left, 1 << 20))):
                hashed.update(block)
                left -= len(block)
    return hashed.hexdigest()


def _to_bytes(batch: pa.RecordBatch) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return bytes(sink.getvalue())


def from_bytes(data: bytes) -> pa.RecordBatch:
    """The rows of a piece."""
    return pa.ipc.open_stream(pa.py_buffer(data)).read_next_batch()


def output_schema(columns: pa.Schema | None, options: Options) -> pa.Schema:
    """Of the file that is written: what is kept is as it was in Parquet (``columns``), else JSON text."""
    if columns is None:
        return pa.schema([*PLACES, *FIELDS, *(pa.field(name, pa.string()) for name in options.keep)])
    return pa.schema([*PLACES, *FIELDS, *list(schema(columns, **_kept(options)))[len(FIELDS) :]])


def _kept(options: Options) -> dict[str, Any]:
    return {"keep": options.keep}


def write_part(batch: pa.RecordBatch) -> bytes:
    """A part: an Arrow file, which is quicker to write and to read than Parquet."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, batch.schema, options=pa.ipc.IpcWriteOptions(compression="lz4")) as writer:
        writer.write_batch(batch)
    return bytes(sink.getvalue())


def merge(parts: Iterable[bytes], columns: pa.Schema, out: BinaryIO) -> None:
    """One Parquet file of all parts."""
    held: list[pa.RecordBatch] = []
    size = 0
    with pq.ParquetWriter(out, columns, compression="zstd") as writer:
        for part in parts:
            batch = pa.ipc.open_file(pa.py_buffer(part)).get_batch(0)
            held.append(batch)
            size += batch.nbytes
            if size >= _GROUP:
                writer.write_table(pa.Table.from_batches(held, columns))
                held, size = [], 0
        if held:
            writer.write_table(pa.Table.from_batches(held, columns))
