"""`parse_arrow`, and Parquet in and out: the same rows as of lines, in a fixed schema."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from batches import read, write_lines
from toolglot import batch
from toolglot.batch import work
from toolglot.batch.options import COLUMNS, PLACE
from toolglot.errors import BatchError

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
arrow = pytest.importorskip("toolglot.batch.arrow")

PING = "[TOOL_CALLS]ping[ARGS]{}"


def texts(count: int, tmp_path: Path) -> list[dict[str, Any]]:
    """Rows of the golden cases' texts, with nulls for those that are no text."""
    rows = []
    for number, line in enumerate(write_lines(tmp_path / "lines", count).read_bytes().split(b"\n")[:-1]):
        text = json.loads(line)["text"] if line.startswith(b'{"id"') and b'"text"' in line else None
        rows.append({"id": number, "text": text})
    return rows


def table(rows: list[dict[str, Any]]) -> Any:
    return pa.Table.from_pylist(rows, pa.schema([("id", pa.int32()), ("text", pa.string())]))


def plain(value: Any) -> Any:
    """What JSON gives back: lists for tuples."""
    return json.loads(json.dumps(value))


# -- parse_arrow


def test_same_rows_as_parse_rows(tmp_path: Path) -> None:
    rows = texts(600, tmp_path)
    wanted = plain(list(batch.parse_rows(rows, keep=["id"])))
    given = table(rows)
    whole = batch.parse_arrow(given, keep=["id"])
    assert isinstance(whole, pa.Table)
    assert whole.to_pylist() == wanted
    pieces = [batch.parse_arrow(piece, keep=["id"]) for piece in given.to_batches(max_chunksize=100)]
    assert {type(piece) for piece in pieces} == {pa.RecordBatch}
    assert [row for piece in pieces for row in piece.to_pylist()] == wanted


def test_schema_is_fixed(tmp_path: Path) -> None:
    """Also of no rows, of nulls only, and of rows without calls, whose types nothing tells."""
    given = table([{"id": 1, "text": None}, {"id": 2, "text": PING}])
    wanted = batch.schema(given.schema, keep=["id"])
    assert wanted.names == [*COLUMNS, "id"]
    assert wanted.field("id").type == pa.int32()
    for rows in (given, given[:0], given[:1], given[1:]):
        assert batch.parse_arrow(rows, keep=["id"]).schema == wanted
        for piece in rows.to_batches():
            assert batch.parse_arrow(piece, keep=["id"]).schema == wanted
    whole = batch.parse_arrow(table([{"id": 1, "text": "prose"}]))
    assert whole.schema == batch.schema()
    # Every member of a call and an error has its place: what is written is what `parse_rows` gives.
    [record] = batch.parse_rows([PING])
    members = wanted.field("tool_calls").type.value_type
    assert [members.field(i).name for i in range(members.num_fields)] == list(record["tool_calls"][0])
    [record] = batch.parse_rows([None])
    members = wanted.field("errors").type.value_type
    assert [members.field(i).name for i in range(members.num_fields)] == list(record["errors"][0])


@pytest.mark.parametrize(
    "kind",
    [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string()), pa.binary()],
    ids=str,
)
def test_kinds_of_text(kind: Any) -> None:
    column = pa.array([PING, None, "prosé"], pa.string())
    column = column.dictionary_encode().cast(kind) if pa.types.is_dictionary(kind) else column.cast(kind)
    rows = batch.parse_arrow(pa.table({"text": column})).to_pylist()
    assert [row["content"] for row in rows] == [None, None, "prosé"]
    assert [len(row["tool_calls"]) for row in rows] == [1, 0, 0]
    assert [error["code"] for error in rows[1]["errors"]] == ["batch.missing_text"]


def test_wrong_utf8_is_an_error_of_its_row() -> None:
    """Arrow does not look whether text is UTF-8."""
    good = pa.array(["a", "b"]).buffers()
    data = pa.py_buffer(b"a\xff")
    column = pa.StringArray.from_buffers(2, good[1], data)
    rows = batch.parse_arrow(pa.record_batch({"text": column})).to_pylist()
    assert [row["content"] for row in rows] == ["a", None]
    assert [[error["code"] for error in row["errors"]] for row in rows] == [[], ["batch.invalid_encoding"]]


def number(value: int, kind: Any) -> Any:
    return pa.array([value], pa.int64()).view(kind)


_WRONG = pa.array([b"\xff"]).view(pa.string())


@pytest.mark.parametrize(
    ("column", "written"),
    [
        (number(1577836800000000001, pa.timestamp("ns")), "2020-01-01T00:00:00.000000001"),
        (number(1577836800000000001, pa.timestamp("ns", "Europe/Paris")), "2020-01-01T00:00:00.000000001+00:00"),
        (number(1577836800, pa.timestamp("s", "Nowhere/Town")), "2020-01-01T00:00:00+00:00"),
        (number(253_402_300_800, pa.timestamp("s", "UTC")), "10000-01-01T00:00:00+00:00"),
        (number(10**17, pa.timestamp("s")), str(10**17)),
        (pa.array([10**8], pa.int32()).view(pa.date32()), str(10**8)),
        (number(1, pa.time64("ns")), "00:00:00.000000001"),
        (number(1, pa.duration("ns")), "1 ns"),
        (_WRONG, "/w=="),
        (pa.StructArray.from_arrays([_WRONG, pa.array([1])], ["a", "b"]), {"a": "/w==", "b": 1}),
        (pa.ListArray.from_arrays([0, 1], _WRONG), ["/w=="]),
        (pa.MapArray.from_arrays([0, 1], pa.array(["a"]), _WRONG), [["a", "/w=="]]),
        (pa.DictionaryArray.from_arrays(pa.array([0]), _WRONG), "/w=="),
        (pa.StructArray.from_arrays([pa.array([1]), pa.array([2])], ["a", "a"]), [["a", 1], ["a", 2]]),
    ],
    ids=str,
)
def test_value_that_python_cannot_hold(column: Any, written: Any) -> None:
    """It does not stop the batch; kept in Parquet it never passes through Python at all."""
    columns = pa.record_batch({"text": pa.array(["a"]), "k": column})
    [row] = arrow.rows_of(columns, batch.Options(keep=("k",)))
    assert plain(work.plain(row["k"])) == written
    assert batch.parse_arrow(columns, keep=["k"]).column("k").equals(column)


def test_values_too_fine_for_python_are_kept(tmp_path: Path) -> None:
    rows = pa.table({"text": ["a"], "k": number(1577836800000000001, pa.timestamp("ns"))})
    pq.write_table(rows, tmp_path / "in.parquet")
    for name in ("out.jsonl", "out.parquet"):
        batch.run(tmp_path / "in.parquet", tmp_path / name, processes=1, keep=["k"])
    assert read(tmp_path / "out.jsonl")[0]["k"] == "2020-01-01T00:00:00.000000001"
    assert pq.read_table(tmp_path / "out.parquet").column("k").equals(rows.column("k"))
    (tmp_path / "more.jsonl").write_text('{"text": "b", "k": 1}\n')
    batch.run([tmp_path / "in.parquet", tmp_path / "more.jsonl"], tmp_path / "both.parquet", processes=1, keep=["k"])
    assert pq.read_table(tmp_path / "both.parquet").column("k").to_pylist() == ["2020-01-01T00:00:00.000000001", "1"]


@pytest.mark.parametrize("kind", [pa.int64(), pa.list_(pa.string()), pa.null()], ids=str)
def test_column_that_is_no_text(kind: Any) -> None:
    column = pa.array([None, None], kind) if pa.types.is_null(kind) else pa.array([[1], [2]][0] * 2).cast(pa.int64())
    if pa.types.is_list(kind):
        column = pa.array([["a"], ["b"]], kind)
    rows = batch.parse_arrow(pa.table({"text": column})).to_pylist()
    code = "batch.missing_text" if pa.types.is_null(kind) else "batch.invalid_text"
    assert [[error["code"] for error in row["errors"]] for row in rows] == [[code], [code]]


def test_half_a_surrogate_in_a_response_is_an_error_of_its_row() -> None:
    half = '{"choices": [{"message": {"content": "half \\ud83d"}}]}'
    whole = '{"choices": [{"message": {"content": "whole"}}]}'
    rows = batch.parse_arrow(pa.table({"r": [half, whole]}), response_column="r").to_pylist()
    assert rows[0]["content"] is None
    assert rows[0]["errors"]
    assert rows[1]["content"] == "whole"


def test_responses_and_tools_as_structs() -> None:
    response = {"choices": [{"message": {"tool_calls": [{"id": "c1", "function": {"name": "f", "arguments": "{}"}}]}}]}
    other = {"choices": [{"message": {"content": "prose"}}]}
    tools = [{"name": "g", "parameters": {"type": "object"}}]
    given = pa.table({"r": [response, other], "t": [tools, None]})
    rows = batch.parse_arrow(given, response_column="r", tools_column="t").to_pylist()
    assert [error["code"] for error in rows[0]["errors"]] == ["tool_call.unknown_tool"]
    assert rows[1]["content"] == "prose"
    rows = batch.parse_arrow(given, response_column="r").to_pylist()
    assert [(call["name"], call["id"]) for call in rows[0]["tool_calls"]] == [("f", "c1")]


def test_columns_that_cannot_be() -> None:
    given = pa.table({"text": ["a"], "id": [1]})
    for options in ({"text_column": "output"}, {"keep": ["name"]}, {"model_column": "m"}):
        with pytest.raises(BatchError, match=r"has no column .*; there are 'text', 'id'"):
            batch.parse_arrow(given, **options)
    twice = pa.Table.from_arrays([pa.array(["a"]), pa.array(["b"])], names=["text", "text"])
    with pytest.raises(BatchError, match="2 columns that are called 'text'"):
        batch.parse_arrow(twice)
    with pytest.raises(TypeError, match="expected a pyarrow RecordBatch or Table, got list"):
        batch.parse_arrow([{"text": "a"}])


# -- files


def test_parquet_and_lines_say_the_same(tmp_path: Path) -> None:
    rows = texts(900, tmp_path)
    pq.write_table(table(rows), tmp_path / "in.parquet", row_group_size=250)
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    found: dict[tuple[str, str], Any] = {}
    for given in ("in.parquet", "in.jsonl"):
        for name in ("out.jsonl", "out.parquet"):
            out = tmp_path / f"{given}.{name}"
            summary = batch.run(tmp_path / given, out, keep=["id"], processes=1, piece_bytes=20_000)
            assert summary.rows == 900
            found[given, name] = read(out) if name == "out.jsonl" else pq.read_table(out).to_pylist()
    assert found["in.jsonl", "out.parquet"][5]["id"] == "5"  # lines have no types: what is kept of them is text
    for records in found.values():
        for record in records:
            assert Path(record.pop("file")).name in ("in.jsonl", "in.parquet")
            record["id"] = int(record["id"])
    first, *others = found.values()
    assert [record["row"] for record in first] == list(range(900))
    assert all(other == first for other in others)
    assert first == [
        {"row": number, "line": number + 1, **record, "id": number}
        for number, record in enumerate(plain(list(batch.parse_rows(rows))))
    ]
    wanted = pa.schema([("row", pa.int64()), ("file", pa.string()), ("line", pa.int64()), *batch.schema()])
    written = pq.read_schema(tmp_path / "in.parquet.out.parquet")
    assert written.names == [*PLACE, *COLUMNS, "id"]
    assert [field.type for field in written][:-1] == [field.type for field in wanted]
    assert written.field("id").type == pa.int32()


def test_parquet_goes_on(tmp_path: Path) -> None:
    class Stop(Exception):
        pass

    def stop(now: batch.Progress) -> None:
        if now.rows > 300:
            raise Stop

    pq.write_table(table(texts(900, tmp_path)), tmp_path / "in.parquet", row_group_size=250)
    out = tmp_path / "out.parquet"
    options: dict[str, Any] = {"keep": ["id"], "processes": 1, "piece_bytes": 20_000}
    with pytest.raises(Stop):
        batch.run(tmp_path / "in.parquet", out, **options, progress=stop)
    assert batch.run(tmp_path / "in.parquet", out, **options).resumed_rows > 300
    batch.run(tmp_path / "in.parquet", tmp_path / "once.parquet", **options)
    assert out.read_bytes() == (tmp_path / "once.parquet").read_bytes()
    # Another file of the same size and shape is not gone on with.
    with pytest.raises(Stop):
        batch.run(tmp_path / "in.parquet", out, **options, progress=stop, overwrite=True)
    data = bytearray((tmp_path / "in.parquet").read_bytes())
    data[300] ^= 1
    (tmp_path / "in.parquet").write_bytes(data)
    with pytest.raises(BatchError) as info:
        batch.run(tmp_path / "in.parquet", out, **options)
    assert info.value.code in ("batch.changed", "batch.input")


def test_rows_of_a_piece_follow_their_size(tmp_path: Path) -> None:
    """Long rows make small pieces, so that memory stays bounded."""
    rows = [{"id": i, "text": f"{i}" + "x" * 100_000} for i in range(60)]
    pq.write_table(table(rows), tmp_path / "in.parquet", compression="zstd")
    told: list[int] = []
    batch.run(
        tmp_path / "in.parquet",
        tmp_path / "out.parquet",
        processes=1,
        piece_bytes=1_000_000,
        progress=lambda now: told.append(now.rows),
    )
    assert told[0] <= 11
    assert told[-1] == 60


@pytest.mark.parametrize("share", [0.3, 0.99])
def test_parquet_that_is_cut_off(share: float, tmp_path: Path) -> None:
    file = tmp_path / "in.parquet"
    pq.write_table(table(texts(300, tmp_path)), file)
    whole = file.read_bytes()
    file.write_bytes(whole[: int(len(whole) * share)])
    with pytest.raises(BatchError, match=re.escape(str(file))) as info:
        batch.run(file, tmp_path / "out.jsonl", processes=1)
    assert info.value.code == "batch.input"
    file.write_bytes(whole)
    assert batch.run(file, tmp_path / "out.jsonl", processes=1).rows == 300


def test_parquet_that_is_damaged_inside(tmp_path: Path) -> None:
    """What stands before the damage is done; with the file mended the batch goes on."""
    file = tmp_path / "in.parquet"
    pq.write_table(table(texts(900, tmp_path)), file, row_group_size=300, compression="zstd", use_dictionary=False)
    whole = file.read_bytes()
    start = pq.read_metadata(file).row_group(2).column(1).data_page_offset
    broken = bytearray(whole)
    broken[start + 40 : start + 400] = b"\0" * 360
    file.write_bytes(broken)
    with pytest.raises(BatchError, match="cannot be read") as info:
        batch.run(file, tmp_path / "out.jsonl", processes=1)
    assert info.value.code == "batch.input"
    file.write_bytes(whole)
    summary = batch.run(file, tmp_path / "out.jsonl", processes=1)
    assert (summary.rows, summary.resumed_rows) == (900, 600)


def test_columns_of_parquet(tmp_path: Path) -> None:
    pq.write_table(table([{"id": 1, "text": "a"}]), tmp_path / "a.parquet")
    pq.write_table(pa.table({"id": ["x"], "text": ["b"]}), tmp_path / "b.parquet")
    pq.write_table(pa.table({"other": ["x"]}), tmp_path / "c.parquet")
    both = [tmp_path / "a.parquet", tmp_path / "b.parquet"]
    with pytest.raises(BatchError, match=r"'id' is string, and in .*a.parquet int32") as info:
        batch.run(both, tmp_path / "out.parquet", keep=["id"], processes=1)
    assert info.value.code == "batch.columns"
    batch.run(both, tmp_path / "out.jsonl", keep=["id"], processes=1)
    assert [record["id"] for record in read(tmp_path / "out.jsonl")] == [1, "x"]
    with pytest.raises(BatchError, match=r"c.parquet has no column 'text'; there are 'other'"):
        batch.run(tmp_path / "c.parquet", tmp_path / "c.jsonl", processes=1)
    # Lines among Parquet: what is kept is text.
    (tmp_path / "d.jsonl").write_text('{"id": {"n": 1}, "text": "c"}\n{"id": "half \\ud83d", "text": "d"}\n')
    batch.run([*both, tmp_path / "d.jsonl"], tmp_path / "mixed.parquet", keep=["id"], processes=1)
    kept = pq.read_table(tmp_path / "mixed.parquet").column("id").to_pylist()
    assert kept == ["1", "x", '{"n":1}', '"half \\ud83d"']


def test_no_rows(tmp_path: Path) -> None:
    pq.write_table(table([]), tmp_path / "in.parquet")
    assert batch.run(tmp_path / "in.parquet", tmp_path / "out.parquet", keep=["id"], processes=1).rows == 0
    assert pq.read_table(tmp_path / "out.parquet").schema.names == [*PLACE, *COLUMNS, "id"]
