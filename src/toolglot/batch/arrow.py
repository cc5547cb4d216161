"""Arrow in, Arrow out: the schema of what is written, and `parse_arrow`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pyarrow as pa

from ..errors import BatchError
from .options import COLUMNS, Options
from .record import Record, broken, lone_surrogate
from .rows import RowReader

_SPAN = pa.list_(pa.int64())
_CALLS = pa.list_(
    pa.struct(
        [
            ("index", pa.int64()),
            ("id", pa.string()),
            ("name", pa.string()),
            ("arguments", pa.string()),
            ("format", pa.string()),
            ("span", _SPAN),
            ("kind", pa.string()),
            ("input", pa.string()),
            ("id_synthesized", pa.bool_()),
        ]
    )
)
_ERRORS = pa.list_(
    pa.struct(
        [
            ("code", pa.string()),
            ("message", pa.string()),
            ("position", pa.int64()),
            ("line", pa.int64()),
            ("column", pa.int64()),
            ("span", _SPAN),
            ("raw", pa.string()),
            ("expected", pa.string()),
            ("call_index", pa.int64()),
            ("name", pa.string()),
            ("format", pa.string()),
            ("path", pa.string()),
        ]
    )
)
_TYPES: dict[str, pa.DataType] = {
    "tool_calls": _CALLS,
    "server_calls": _CALLS,
    "errors": _ERRORS,
    "repairs": pa.list_(
        pa.struct([("code", pa.string()), ("span", _SPAN), ("before", pa.string()), ("after", pa.string())])
    ),
    "losses": pa.list_(pa.struct([("code", pa.string()), ("path", pa.string()), ("detail", pa.string())])),
    "notes": pa.list_(pa.string()),
}
PLACES = [pa.field("row", pa.int64()), pa.field("file", pa.string()), pa.field("line", pa.int64())]
FIELDS = [pa.field(name, _TYPES.get(name, pa.string())) for name in COLUMNS]


def schema(columns: pa.Schema | None = None, **options: Any) -> pa.Schema:
    """The schema of what `parse_arrow` gives for batches of the schema ``columns``, which says the types of ``keep``.

    >>> schema().field("content").type
    DataType(string)
    """
    kept = Options(**options).keep
    return pa.schema([*FIELDS, *(_field(pa.schema([]) if columns is None else columns, name) for name in kept)])


def parse_arrow(batch: Any, **options: Any) -> Any:
    """A `RecordBatch` or `Table` with a row for each row of ``batch``, in order, and the schema that `schema` says.

    The options are the fields of `Options`; columns in ``keep`` are the batch's own. The same type comes out that went
    in.

    >>> import pyarrow as pa
    >>> batch = pa.record_batch({"id": [7], "text": ["[TOOL_CALLS]ping[ARGS]{}"]})
    >>> parse_arrow(batch, keep=["id"]).to_pylist()[0]["tool_calls"][0]["name"]
    'ping'
    """
    chosen = Options(**options)
    if isinstance(batch, pa.Table):
        wanted = schema(batch.schema, **options)
        reader = RowReader(chosen)
        pieces = [_parse(piece, chosen, reader, wanted) for piece in batch.to_batches(max_chunksize=4096)]
        return pa.Table.from_batches(pieces, wanted)
    if isinstance(batch, pa.RecordBatch):
        return _parse(batch, chosen, RowReader(chosen), schema(batch.schema, **options))
    raise TypeError(f"batch: expected a pyarrow RecordBatch or Table, got {type(batch).__name__}")


def _parse(batch: pa.RecordBatch, options: Options, reader: RowReader, wanted: pa.Schema) -> pa.RecordBatch:
    records = [reader.read(row) for row in rows_of(batch, replace(options, keep=()))]
    kept = [batch.column(batch.schema.get_field_index(name)) for name in options.keep]
    return pa.RecordBatch.from_arrays([*arrays(records, FIELDS), *kept], schema=wanted)


def rows_of(batch: pa.RecordBatch, options: Options) -> Iterable[Record]:
    """The rows of a batch, as far as the options name their columns."""
    names = [options.read_column, *options.other_columns]
    columns = [_values(batch.column(_index(batch.schema, name))) for name in names]
    return (dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True))


def arrays(records: list[Record], fields: list[pa.Field]) -> list[pa.Array]:
    """The columns of records; a record that Arrow cannot hold becomes an error."""
    try:
        return [pa.array([record[field.name] for record in records], field.type) for field in fields]
    except UnicodeEncodeError:
        for record in records:
            _check(record, fields)
        return [pa.array([record[field.name] for record in records], field.type) for field in fields]


def _check(record: Record, fields: list[pa.Field]) -> None:
    try:
        for field in fields:
            pa.array([record[field.name]], field.type)
    except UnicodeEncodeError:
        record.update(broken(lone_surrogate()))


def check_columns(columns: pa.Schema, options: Options, where: str = "the batch") -> None:
    """Whether every column that the options name is there, once."""
    for name in (options.read_column, *options.other_columns):
        _index(columns, name, where)


def _index(columns: pa.Schema, name: str, where: str = "the batch") -> int:
    found = columns.get_all_field_indices(name)
    if len(found) == 1:
        return int(found[0])
    if found:
        raise BatchError(f"{where} has {len(found)} columns that are called {name!r}", "batch.columns")
    known = ", ".join(map(repr, columns.names[:20])) or "none at all"
    raise BatchError(f"{where} has no column {name!r}; there are {known}", "batch.columns")


def _field(columns: pa.Schema, name: str) -> pa.Field:
    return columns.field(_index(columns, name))


def _values(column: pa.Array) -> list[Any]:
    """The values of a column. One that Python cannot hold costs its row that value only."""
    try:
        return list(column.to_pylist())
    except _NO_VALUE:
        return list(map(_value, column))


_NO_VALUE = (ValueError, OverflowError, pa.ArrowException)


def _value(scalar: pa.Scalar) -> Any:
    """A value, or what stands for it: bytes for text that is not UTF-8, text for times that Python does not know."""
    try:
        return scalar.as_py()
    except _NO_VALUE:
        pass
    if isinstance(scalar, (pa.DictionaryScalar, pa.ExtensionScalar)):
        return _value(scalar.value)
    if isinstance(scalar, pa.MapScalar):
        return [(_value(pair[0]), _value(pair[1])) for pair in scalar.values]
    if isinstance(scalar, pa.StructScalar):
        pairs = [(field.name, _value(scalar[index])) for index, field in enumerate(scalar.type)]
        return dict(pairs) if len(dict(pairs)) == len(pairs) else pairs  # two fields may have one name
    if hasattr(scalar, "values"):  # lists of all kinds
        return list(map(_value, scalar.values))
    if pa.types.is_temporal(scalar.type):
        return _time(scalar)
    return scalar.cast(pa.large_binary()).as_py()


def _time(scalar: pa.Scalar) -> str:
    """A time too fine or too far for Python, in ISO 8601; of a duration, and of years without end, the bare number."""
    kind = scalar.type
    number = scalar.cast(pa.int32() if kind.bit_width == 32 else pa.int64()).as_py()
    if pa.types.is_duration(kind):
        return f"{number} {kind.unit}"
    zone = pa.types.is_timestamp(kind) and kind.tz is not None
    if zone:
        scalar = scalar.cast(pa.timestamp(kind.unit, "UTC"))  # the zone may be one that is not known here
    text = str(scalar.cast(pa.string()).as_py())
    if text.startswith("<"):
        return str(number)
    return text.replace(" ", "T", 1).replace("Z", "+00:00")
