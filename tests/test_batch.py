"""`toolglot.batch` and `toolglot batch`: a row out for every row in, in order, whatever stands in it."""

from __future__ import annotations

import datetime as dt
import gzip
import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import toolglot
from batches import BAD_LINES, PIECE, lines, read, write_lines
from toolglot import batch, golden
from toolglot.batch import sources, work
from toolglot.batch.options import COLUMNS, PLACE
from toolglot.batch.work import plain
from toolglot.errors import CODES, BatchError

PING = "[TOOL_CALLS]ping[ARGS]{}"
BROKEN = '<tool_call>{"name": "f", "arguments": {"a": 1,}}</tool_call>'
WEATHER = '<tool_call>{"name": "get_weather", "arguments": {"days": "2"}}</tool_call>'
TOOL = {
    "name": "get_weather",
    "parameters": {"type": "object", "properties": {"days": {"type": "integer"}}},
}


def one(row: Any, **options: Any) -> dict[str, Any]:
    [record] = batch.parse_rows([row], **options)
    return record


def codes(record: dict[str, Any]) -> list[str]:
    return [error["code"] for error in record["errors"]]


def calls(record: dict[str, Any]) -> list[Any]:
    return [(call["name"], json.loads(call["arguments"])) for call in record["tool_calls"]]


def write(folder: Path, *rows: Any, name: str = "in.jsonl") -> Path:
    path = folder / name
    path.write_bytes(b"".join(json.dumps(row).encode() + b"\n" for row in rows))
    return path


def command(*args: str | Path, **options: Any) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "toolglot", "batch", *map(str, args)],
        capture_output=True,
        check=False,
        timeout=100,
        **options,
    )


# -- one row


@pytest.mark.parametrize("case", golden.load()[::40], ids=str)
def test_record_says_what_parse_says(case: golden.GoldenCase) -> None:
    message = toolglot.parse(case.text, on_error="collect")
    record = one({"text": case.text})
    assert list(record) == list(COLUMNS)
    assert (record["content"], record["reasoning"], record["format"]) == (
        message.content,
        message.reasoning,
        message.format,
    )
    assert calls(record) == [(call.name, call.arguments) for call in message.tool_calls]
    assert [(error["code"], error["position"], error["raw"], error["span"]) for error in record["errors"]] == [
        (error.code, error.position, error.raw, error.span) for error in message.errors
    ]


class NAType:
    """As the one value of pandas that stands for null in a column of type "string"."""


@pytest.mark.parametrize("null", [None, float("nan"), NAType()])
def test_nulls_of_pandas(null: Any) -> None:
    assert codes(one({"text": null})) == codes(one(null)) == ["batch.missing_text"]
    row = {"text": PING, "model": null, "tools": null, "why": null}
    assert calls(one(row, model_column="model", tools_column="tools", finish_reason_column="why")) == [("ping", {})]


def test_options_of_a_row() -> None:
    row = {"text": "plan</think>" + WEATHER, "model": "Qwen/Qwen3-8B", "prompt": "<think>", "why": "max_tokens"}
    options = {"model_column": "model", "generation_prompt_column": "prompt", "finish_reason_column": "why"}
    record = one(row, **options)
    assert (record["reasoning"], record["stop_reason"], record["format"]) == ("plan", "length", "hermes")
    # What a row does not say is that of all rows.
    bare = dict.fromkeys(row) | {"text": "plan</think>"}
    assert one(bare, **options, generation_prompt="<think>")["reasoning"] == "plan"
    assert one(bare, **options, generation_prompt="")["content"] is None


@pytest.mark.parametrize("tools", [[TOOL], json.dumps([TOOL]), json.dumps({"tools": [TOOL]}).encode()])
def test_tools_of_a_row(tools: Any) -> None:
    row = {"text": WEATHER, "tools": tools}
    assert calls(one(row, tools_column="tools")) == [("get_weather", {"days": "2"})]
    assert codes(one(row, tools_column="tools", validate=True)) == ["schema.violation"]
    coerced = one(row, tools_column="tools", validate=True, coerce=True)
    assert calls(coerced) == [("get_weather", {"days": 2})]
    assert [repair["code"] for repair in coerced["repairs"]] == ["coerce.string_to_integer"]
    # A row without tools is read all the same.
    assert calls(one({"text": WEATHER}, tools_column="tools", validate=True)) == [("get_weather", {"days": "2"})]


def test_tools_are_not_mixed_up() -> None:
    """Each row has its own, also when they are written alike, and when more go by than are kept ready."""
    rows = [{"text": WEATHER, "tools": [f"tool_{i % 700}"] if i % 3 else ["get_weather"]} for i in range(5000)]
    rows[4] = {"text": WEATHER, "tools": repr(rows[4]["tools"])}  # Python's text of a list, which is no JSON
    for i, record in enumerate(batch.parse_rows(rows, tools_column="tools", format="hermes")):
        wanted = ["batch.invalid_option"] if i == 4 else ["tool_call.unknown_tool"] if i % 3 else []
        assert codes(record) == wanted, i


@pytest.mark.parametrize(
    ("column", "value", "code"),
    [
        ("model", 5, "batch.invalid_option"),
        ("prompt", ["<think>"], "batch.invalid_option"),
        ("why", 1.5, "batch.invalid_option"),
        ("why", "because", "batch.invalid_option"),
        ("tools", 5, "batch.invalid_option"),
        ("tools", "{", "batch.invalid_option"),
        ("tools", "5", "batch.invalid_option"),
        ("tools", [5], "batch.invalid_option"),
        ("tools", [{}], "definition.invalid_tool"),
    ],
)
def test_option_of_a_row_that_cannot_be_used(column: str, value: Any, code: str) -> None:
    options = {"model_column": "model", "generation_prompt_column": "prompt"}
    options |= {"finish_reason_column": "why", "tools_column": "tools"}
    record = one({"text": PING, column: value}, **options)
    assert (codes(record), record["tool_calls"]) == ([code], [])


def test_limit_is_an_error_of_its_row() -> None:
    records = list(batch.parse_rows([PING * 3, PING], limits=toolglot.Limits(calls=2)))
    assert [codes(record) for record in records] == [["tool_call.limit"], []]


def test_responses() -> None:
    response = {"choices": [{"message": {"tool_calls": [{"id": "c1", "function": {"name": "f", "arguments": "{}"}}]}}]}
    for value in (response, json.dumps(response), json.dumps(response).encode()):
        record = one({"r": value}, response_column="r")
        assert (record["provider"], calls(record), record["tool_calls"][0]["id"]) == ("openai", [("f", {})], "c1")
    for value, code in ((None, "batch.missing_text"), (5, "batch.invalid_text")):
        assert codes(one({"r": value}, response_column="r", provider="openai")) == [code]
    broken = one({"r": '{"choices": ['}, response_column="r")
    assert codes(broken)
    assert broken["tool_calls"] == []


def test_repair() -> None:
    text = WEATHER.replace('"2"}', '"2",}')
    assert codes(one(text)) == ["json.trailing_comma"]
    mended = one(text, on_error="repair")
    assert (calls(mended), [one["code"] for one in mended["repairs"]]) == (
        [("get_weather", {"days": "2"})],
        ["repair.trailing_comma"],
    )


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"on_error": "raise"}, ValueError),
        ({"keep": "id"}, TypeError),
        ({"keep": ["content"]}, BatchError),
        ({"keep": ["row"]}, BatchError),
        ({"validate": True}, TypeError),
        ({"format": "no such format"}, toolglot.DefinitionError),
        ({"provider": "openai"}, ValueError),
        ({"response_column": "r", "format": "hermes"}, ValueError),
        ({"response_column": "r", "provider": "nobody"}, toolglot.DefinitionError),
        ({"tools": 5}, TypeError),
        ({"no_such_option": 1}, TypeError),
    ],
)
def test_options_that_are_wrong_show_at_once(options: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        batch.parse_rows([], **options)


# -- lines


def test_bad_lines_keep_their_place(tmp_path: Path) -> None:
    good = json.dumps({"text": PING}).encode()
    rows = [line for bad in BAD_LINES for line in (good, bad)]
    file = tmp_path / "in.jsonl"
    file.write_bytes(b"\n".join(rows))
    summary = batch.run(file, tmp_path / "out.jsonl", processes=1)
    found = read(tmp_path / "out.jsonl")
    assert [codes(record) for record in found] == [code for bad in BAD_LINES.values() for code in ([], [bad])]
    assert [record["row"] for record in found] == list(range(len(rows)))
    assert [record["line"] for record in found] == list(range(1, len(rows) + 1))
    assert all(calls(record) == ([] if codes(record) else [("ping", {})]) for record in found)
    assert summary.counts.total().rows_with_errors == len(BAD_LINES)
    assert set(BAD_LINES.values()) <= CODES.keys()


@pytest.mark.parametrize(
    ("data", "rows"),
    [
        (b"", 0),
        (b"\xef\xbb\xbf", 0),
        (b'\xef\xbb\xbf{"text": "a"}', 1),
        (b'{"text": "a"}\r\n{"text": "b"}\r\n', 2),
        (b'{"text": "a\xe2\x80\xa8b\xc2\x85c"}\n{"text": "d\x0bx"}', 2),
        (b'{"text": "a"}\n\n{"text": "b"}\n\n', 4),
    ],
)
def test_what_is_a_line(data: bytes, rows: int, tmp_path: Path) -> None:
    file = tmp_path / "in.jsonl"
    file.write_bytes(data)
    assert batch.run(file, tmp_path / "out.jsonl", processes=1).rows == rows
    written = (tmp_path / "out.jsonl").read_text("utf-8")
    # Whatever a reader takes for the end of a line.
    assert len(written.splitlines()) == rows
    content = [json.loads(line)["content"] for line in written.splitlines()]
    if rows == 2:
        assert content[0] in ("a", "a\u2028b\x85c")


@pytest.mark.parametrize("size", [1, 7, 100, 1000, 1 << 20])
@pytest.mark.parametrize("pack", [False, True])
def test_pieces_are_the_file(size: int, pack: bool, tmp_path: Path) -> None:
    data = b"".join(line + b"\n" for line in lines(60, seed=3)) + b'{"text": "last"}'
    file = tmp_path / "in"
    file.write_bytes(gzip.compress(data[:500]) + gzip.compress(data[500:]) if pack else data)
    source = sources.Source(str(file), "gzip" if pack else "lines", file.stat().st_size)
    pieces = list(sources.LineCutter(source, size, 5, 100, 0).pieces())
    assert b"".join(piece.data for piece in pieces) == data
    assert all(piece.data.endswith(b"\n") for piece in pieces[:-1])
    assert [piece.number for piece in pieces] == list(range(5, 5 + len(pieces)))
    row = 100
    for piece in pieces:
        assert (piece.row, piece.line, piece.rows) == (row, row - 99, len(piece.data.splitlines()))
        row += piece.rows
    assert row == 161
    assert pieces[-1].done == file.stat().st_size


@pytest.mark.parametrize("size", [10, 64, 1000])
def test_line_that_is_too_long(size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "MAX_LINE", 200)
    rows = [b'{"text": "a"}', b'{"text": "' + b"x" * 5000 + b'"}', b'{"text": "b"}', b'{"text": "c"}', b"y" * 1000]
    file = tmp_path / "in.jsonl"
    file.write_bytes(b"\n".join(rows))
    batch.run(file, tmp_path / "out.jsonl", processes=1, piece_bytes=size)
    found = read(tmp_path / "out.jsonl")
    assert [record["row"] for record in found] == list(range(5))
    expected = {"content": ["a", None, "b", "c", None]}
    assert [record["content"] for record in found] == expected["content"]
    # A block that is larger than the limit may hold the whole line, which then is read.
    said = {code for record in (found[1], found[4]) for code in codes(record)}
    assert said <= {"batch.line_too_long", "batch.invalid_line"}
    assert codes(found[1]) == ["batch.line_too_long"]


def test_kept_columns(tmp_path: Path) -> None:
    rows = [{"text": "a", "id": 7, "meta": {"x": [1, None, "\u2028"]}}, {"text": "b", "id": "7"}]
    file = write(tmp_path, *rows)
    with file.open("ab") as out:
        out.write(b'{"text": "c", "id": NaN, "meta": [1e999, "half \\ud83d"]}\n')
    batch.run(file, tmp_path / "out.jsonl", keep=["id", "meta", "id"], processes=1)
    found = read(tmp_path / "out.jsonl")
    assert [record["content"] for record in found] == ["a", "b", "c"]
    assert [record["id"] for record in found] == [7, "7", "NaN"]
    assert [record["meta"] for record in found] == [rows[0]["meta"], None, ["Infinity", "half \ud83d"]]


def test_plain() -> None:
    day = dt.date(2026, 1, 2)
    assert plain({"a": (b"\xff", day, float("-inf"), True), 1: None}) == {
        "a": ["/w==", "2026-01-02", "-Infinity", True],
        "1": None,
    }


# -- files


def test_files_folders_and_suffixes(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    (folder / "b").mkdir(parents=True)
    write(folder, {"text": "2"}, name="b/x.jsonl")
    write(folder, {"text": "1"}, name="a.ndjson")
    (folder / "c.jsonl.gz").write_bytes(gzip.compress(b'{"text": "3"}'))
    for name in ("readme.txt", "_SUCCESS", ".hidden.jsonl"):
        (folder / name).write_text("x")
    (folder / "link").symlink_to(folder)
    summary = batch.run([folder, folder / "a.ndjson"], folder / "out.jsonl", processes=1)
    found = read(folder / "out.jsonl")
    assert [(record["content"], Path(record["file"]).name, record["row"], record["line"]) for record in found] == [
        ("1", "a.ndjson", 0, 1),
        ("2", "x.jsonl", 1, 1),
        ("3", "c.jsonl.gz", 2, 1),
        ("1", "a.ndjson", 3, 1),
    ]
    assert sorted(Path(name).name for name in summary.left_out) == [".hidden.jsonl", "_SUCCESS", "link", "readme.txt"]
    # The output of the run before is in the folder, and no input of the next.
    again = batch.run([folder, folder / "a.ndjson"], folder / "out.jsonl", processes=1, overwrite=True)
    assert again.rows == 4


def test_names_do_not_matter_but_first_bytes(tmp_path: Path) -> None:
    file = tmp_path / "outputs.txt"
    file.write_bytes(gzip.compress(b'{"text": "a"}\n'))
    assert batch.run(file, tmp_path / "out.jsonl", processes=1).rows == 1


def test_gzip_output_is_the_same(tmp_path: Path) -> None:
    file = write_lines(tmp_path / "in.jsonl", 300)
    for name in ("a.jsonl", "b.jsonl.gz", "c.jsonl.gz"):
        batch.run(file, tmp_path / name, processes=1, piece_bytes=10_000)
    plain_text = (tmp_path / "a.jsonl").read_bytes()
    assert gzip.decompress((tmp_path / "b.jsonl.gz").read_bytes()) == plain_text
    assert (tmp_path / "b.jsonl.gz").read_bytes() == (tmp_path / "c.jsonl.gz").read_bytes()


@pytest.mark.parametrize(
    ("inputs", "output", "code", "said"),
    [
        ("none.jsonl", "out.jsonl", "batch.input", "none.jsonl cannot be read: No such file"),
        ("empty", "out.jsonl", "batch.input", "nothing to read"),
        ("in.jsonl", "out.csv", "batch.output", "ends with one of"),
        ("in.jsonl", "none/out.jsonl", "batch.output", "is not there"),
        ("in.jsonl", "in.jsonl", "batch.output", "is the input and the output"),
        ("in.jsonl", "link.jsonl", "batch.output", "is the input and the output"),
        ("in.jsonl", "there.jsonl", "batch.output", "there already"),
        ("in.jsonl", "folder.jsonl", "batch.output", "is a folder"),
        ("in.jsonl", "taken.jsonl", "batch.output", "holds something else: thesis.txt"),
        ("fake.parquet", "out.jsonl", "batch.input", "no Parquet file"),
        ("packed.jsonl", "out.jsonl", "batch.input", "zstd"),
        ("other.jsonl", "out.jsonl", "batch.columns", "no column 'text'; its first row has 'a', 'b'"),
        ("x" * 300, "out.jsonl", "batch.input", "cannot be read: File name too long"),
        ("in.jsonl", "x" * 300 + ".jsonl", "batch.output", "cannot be written: File name too long"),
        ("in.jsonl", "x" * 245 + ".jsonl", "batch.output", "cannot be written: File name too long"),
    ],
)
def test_what_cannot_be(inputs: str, output: str, code: str, said: str, tmp_path: Path) -> None:
    write(tmp_path, {"text": "a"})
    write(tmp_path, {"a": "a", "b": 1}, name="other.jsonl")
    (tmp_path / "empty").mkdir()
    (tmp_path / "folder.jsonl").mkdir()
    (tmp_path / "taken.jsonl.parts").mkdir()
    (tmp_path / "taken.jsonl.parts" / "thesis.txt").write_text("years of work")
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "in.jsonl")
    (tmp_path / "there.jsonl").write_text("precious")
    (tmp_path / "fake.parquet").write_text('{"text": "a"}')
    (tmp_path / "packed.jsonl").write_bytes(b"\x28\xb5\x2f\xfd....")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(BatchError) as info:
        batch.run(tmp_path / inputs, tmp_path / output, processes=1)
    assert info.value.code == code
    assert said in str(info.value)
    assert (tmp_path / "there.jsonl").read_text() == "precious"
    assert (tmp_path / "taken.jsonl.parts" / "thesis.txt").read_text() == "years of work"
    assert sorted(tmp_path.rglob("*")) == before


def test_output_behind_a_link_is_written_there(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "out.jsonl").symlink_to(tmp_path / "real" / "far.jsonl")
    batch.run(write(tmp_path, {"text": "a"}), tmp_path / "out.jsonl", processes=1)
    assert (tmp_path / "out.jsonl").is_symlink()
    assert len(read(tmp_path / "real" / "far.jsonl")) == 1


def test_overwrite_replaces_in_the_end_only(tmp_path: Path) -> None:
    output = tmp_path / "out.jsonl"
    output.write_text("old")
    file = write(tmp_path, {"text": "a"})

    def look(now: batch.Progress) -> None:
        assert output.read_text() == "old"

    batch.run(file, output, processes=1, overwrite=True, progress=look)
    assert len(read(output)) == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.jsonl", "out.jsonl"]


def test_a_mistake_of_ours_names_the_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Stumbling(batch.rows.RowReader):  # type: ignore[name-defined]
        def read(self, row: Any) -> Any:
            return 1 // (row["text"] != "stone") and super().read(row)

    monkeypatch.setattr(work, "RowReader", Stumbling)
    file = write(tmp_path, {"text": "a"}, {"text": "stone"}, {"text": "b"})
    with pytest.raises(BatchError, match=r"row 1 \(line 2 of .*in.jsonl\) brought down .* ZeroDivisionError") as info:
        batch.run(file, tmp_path / "out.jsonl", processes=1)
    assert info.value.code == "batch.crash"
    assert isinstance(info.value.__cause__, ZeroDivisionError)


def test_many_processes_and_progress(tmp_path: Path) -> None:
    """Two processes write what one does, and what is read of each row is what `parse` reads."""
    file = write_lines(tmp_path / "in.jsonl", 1500)
    told: list[batch.Progress] = []
    summary = batch.run(file, tmp_path / "two.jsonl", processes=2, piece_bytes=30_000, progress=told.append)
    batch.run(file, tmp_path / "one.jsonl", processes=1)
    found = read(tmp_path / "two.jsonl")
    assert (tmp_path / "one.jsonl").read_bytes() == (tmp_path / "two.jsonl").read_bytes()
    assert [record["row"] for record in found] == list(range(1500))
    assert len(told) >= 5
    assert [now.rows for now in told] == sorted({now.rows for now in told})
    last = told[-1]
    assert (last.rows, last.done, last.total) == (1500, file.stat().st_size, file.stat().st_size)
    assert last.rows_with_errors == summary.counts.total().rows_with_errors == sum(bool(r["errors"]) for r in found)
    totals = summary.to_dict()
    assert totals["rows"] == 1500 == sum(one["rows"] for one in totals["formats"].values())
    counted = [code for record in found for code in codes(record)]
    assert totals["errors"] == {code: counted.count(code) for code in set(counted)}
    assert totals["calls"] == sum(len(record["tool_calls"]) for record in found)
    assert list(found[0]) == [*PLACE, *COLUMNS]


OWN = """
import sys, toolglot
from toolglot import batch
from toolglot.pattern import arguments, call, name

if __name__ == "__main__":
    toolglot.register_format(toolglot.Format(call("<<call ", name(), ">>", arguments("json"), "<</call>>"), id="own"))
    for processes in (1, 2):
        batch.run(sys.argv[1], sys.argv[1] + f".{processes}.jsonl", processes=processes)
"""


def test_formats_of_ones_own_are_known_to_every_process(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(OWN)
    file = write(tmp_path, *[{"text": '<<call f>>{"a": 1}<</call>>'}] * 3)
    subprocess.run([sys.executable, str(script), str(file)], check=True, timeout=100)
    for processes in (1, 2):
        found = read(tmp_path / f"in.jsonl.{processes}.jsonl")
        assert [(record["format"], calls(record)) for record in found] == [("own", [("f", {"a": 1})])] * 3


def test_columns_that_no_row_has(tmp_path: Path) -> None:
    file = write(tmp_path, {"text": "a", "b": 1}, {"text": "a", "c": 1})
    summary = batch.run(file, tmp_path / "out.jsonl", processes=1, keep=["b", "c", "d"], model_column="e")
    assert sorted(summary.unseen) == ["d", "e"]


def test_piece_that_stays_is_bounded() -> None:
    """The folder of parts has some thousand files, whatever the size of the input."""
    assert sources.piece_size([sources.Source("a", "lines", None)]) == 256 << 10
    for size in (0, 1 << 30, 40 << 30):
        assert size / sources.piece_size([sources.Source("a", "lines", size)]) <= 4096


# -- the command


def test_command(tmp_path: Path) -> None:
    file = write(tmp_path, {"text": PING, "id": 1}, {"text": BROKEN, "id": 2}, {"text": "prose"})
    out = tmp_path / "out.jsonl"
    result = command(file, out, "--keep", "id", "--processes", "1")
    shown = result.stdout.decode()
    assert (result.returncode, result.stderr) == (0, b"")
    assert [line.split() for line in shown.splitlines()[:5]] == [
        ["format", "rows", "calls", "rows", "with", "errors", "repairs"],
        ["none", "1", "0", "0", "0"],
        ["hermes", "1", "0", "1", "0"],
        ["mistral_v13", "1", "1", "0", "0"],
        ["all", "3", "1", "1", "0"],
    ]
    assert ["json.trailing_comma", "1", "hermes", "1"] in [line.split() for line in shown.splitlines()]
    assert shown.splitlines()[-1].startswith("3 rows in ")
    assert [record["id"] for record in read(out)] == [1, 2, None]
    again = command(file, out)
    assert (again.returncode, again.stdout) == (2, b"")
    assert again.stderr.decode().endswith("(batch.output)\n")


def test_command_json_and_standard_input(tmp_path: Path) -> None:
    data = b'{"text": "a"}\n{"text": "b"}\n'
    for name, given in (("a.jsonl", data), ("b.jsonl", gzip.compress(data))):
        result = command("-", tmp_path / name, "--json", "--processes", "1", "--keep", "x", input=given)
        assert result.stderr == b"toolglot: no row has a column 'x'\n"
        summary = json.loads(result.stdout)
        assert (summary["type"], summary["rows"], summary["unseen_columns"]) == ("batch", 2, ["x"])
        assert [(record["file"], record["line"]) for record in read(tmp_path / name)] == [(None, 1), (None, 2)]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--tools", "none.json"], "cannot read none.json"),
        (["--format", "none"], "(definition.unknown_format)"),
        (["--provider", "nobody"], "no provider is called 'nobody'"),
        (["--provider", "openai"], "response_column"),
        (["--validate"], "needs tools"),
        (["--keep", "content"], "(batch.columns)"),
        (["--text-column", "output"], "(batch.columns)"),
    ],
)
def test_command_that_cannot_be_carried_out(options: list[str], said: str, tmp_path: Path) -> None:
    result = command(write(tmp_path, {"text": "a"}), tmp_path / "out.jsonl", *options)
    assert result.returncode == 2
    assert result.stdout == b""
    assert said in result.stderr.decode()
    assert len(result.stderr.splitlines()) == 1
    assert not (tmp_path / "out.jsonl").exists()


def test_command_works_without_pyarrow(tmp_path: Path) -> None:
    """Lines need nothing but the extra `cli`; Parquet says what is missing."""
    code = "import sys; sys.modules['pyarrow'] = None; from toolglot.cli import main; main()"
    file = write(tmp_path, {"text": "a"})
    for name, status in (("out.jsonl", 0), ("out.parquet", 2)):
        result = subprocess.run(
            [sys.executable, "-c", code, "batch", str(file), str(tmp_path / name), "--processes", "1"],
            capture_output=True,
            check=False,
            timeout=60,
        )
        assert result.returncode == status, result.stderr
    assert result.stderr.decode() == "toolglot: Parquet needs the package pyarrow: pip install pyarrow\n"


@pytest.mark.parametrize("options", [["--tools"], ["--tools-column"]])
def test_command_says_that_validation_is_not_there(options: list[str], tmp_path: Path) -> None:
    code = "import sys; sys.modules['jsonschema_rs'] = None; from toolglot.cli import main; main()"
    file = write(tmp_path, {"text": "a", "tools": [TOOL]})
    (tmp_path / "tools.json").write_text(json.dumps([TOOL]))
    options = [*options, str(tmp_path / "tools.json") if options == ["--tools"] else "tools"]
    result = subprocess.run(
        [sys.executable, "-c", code, "batch", str(file), str(tmp_path / "out.jsonl"), "--validate", *options],
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert result.returncode == 2, result.stderr
    assert result.stderr.startswith(b"toolglot: validation needs jsonschema-rs")
    assert len(result.stderr.splitlines()) == 1


def test_summary_counts_what_is_written(tmp_path: Path) -> None:
    """A response whose result cannot be written as UTF-8 is counted as the error that stands in its place."""
    half = {"choices": [{"message": {"content": "half \ud83d"}}]}
    file = write(tmp_path, {"r": half}, {"r": half, "k": "\ud83d"}, {"r": {"choices": [{"message": {"content": "a"}}]}})
    summary = batch.run(file, tmp_path / "out.jsonl", processes=1, response_column="r", keep=["k"])
    found = read(tmp_path / "out.jsonl")
    assert [codes(record) for record in found] == [["batch.invalid_encoding"]] * 2 + [[]]
    assert [record["k"] for record in found] == [None, "\ud83d", None]
    assert summary.to_dict()["errors"] == {"batch.invalid_encoding": 2}


def test_script_without_a_guard_is_told_so(tmp_path: Path) -> None:
    write(tmp_path, {"text": "a"})
    script = tmp_path / "script.py"
    script.write_text("from toolglot import batch\nbatch.run('in.jsonl', 'out.jsonl', processes=2)\n")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    result = subprocess.run(
        [sys.executable, str(script)], cwd=tmp_path, env=environment, capture_output=True, check=False, timeout=60
    )
    assert result.returncode == 1
    assert b"RuntimeError: batch.run() is called with several processes: call it under `if __name__" in result.stderr
    assert b"(batch.worker)" in result.stderr or b"a process died" in result.stderr


def test_folder_that_cannot_be_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def closed(self: Path) -> None:
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(Path, "iterdir", closed)
    with pytest.raises(BatchError, match="cannot be read: Permission denied") as info:
        batch.run(tmp_path, tmp_path / "out.jsonl", processes=1)
    assert info.value.code == "batch.input"


# -- inputs that are damaged


def test_gzip_that_is_cut_off_can_be_mended(tmp_path: Path) -> None:
    data = b"".join(line + b"\n" for line in lines(400, seed=5))
    whole = gzip.compress(data)
    file = tmp_path / "in.jsonl.gz"
    file.write_bytes(whole[: len(whole) // 2])
    out = tmp_path / "out.jsonl"
    with pytest.raises(BatchError, match="is cut off: it ends within what gzip has packed") as info:
        batch.run(file, out, processes=1, piece_bytes=4000)
    assert info.value.code == "batch.input"
    assert not out.exists()
    file.write_bytes(whole)
    summary = batch.run(file, out, processes=1, piece_bytes=4000)
    assert summary.rows == 400
    assert 0 < summary.resumed_rows < 400
    batch.run(file, tmp_path / "once.jsonl", processes=1)
    assert out.read_bytes() == (tmp_path / "once.jsonl").read_bytes()


@pytest.mark.parametrize("damage", [b"", b"not gzip at all"], ids=["bits", "trailing"])
def test_gzip_that_is_damaged(damage: bytes, tmp_path: Path) -> None:
    packed = bytearray(gzip.compress(b"".join(line + b"\n" for line in lines(200))))
    if damage:
        packed += damage
    else:
        packed[len(packed) // 2] ^= 0x55
    (tmp_path / "in.jsonl.gz").write_bytes(packed)
    with pytest.raises(BatchError) as info:
        batch.run(tmp_path / "in.jsonl.gz", tmp_path / "out.jsonl", processes=1)
    assert info.value.code == "batch.input"


@pytest.mark.skipif(os.name != "posix", reason="limits of a process")
@pytest.mark.parametrize("processes", ["1", "2"])
def test_disk_that_is_full(processes: str, tmp_path: Path) -> None:
    """A limit on the size of files stands for the disk: the write fails in the same way."""
    file = write_lines(tmp_path / "in.jsonl", 400)
    code = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (9000, 9000))\n"
        "from toolglot.cli import main; main()"
    )
    arguments = ["batch", str(file), str(tmp_path / "out.jsonl"), "--processes", processes]
    full = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, check=False, timeout=100)
    assert full.returncode == 2, full.stderr
    assert "cannot be written: File too large" in full.stderr.decode()
    assert full.stderr.decode().endswith("(batch.output)\n")
    assert not (tmp_path / "out.jsonl").exists()
    assert command(*arguments[1:]).returncode == 0
    assert len(read(tmp_path / "out.jsonl")) == 400


def test_every_code_of_a_batch_is_that_of_a_row_or_stops_it() -> None:
    rows = {*BAD_LINES.values(), "batch.line_too_long", "batch.invalid_option"}
    stops = {"batch.input", "batch.columns", "batch.output", "batch.changed", "batch.worker", "batch.crash"}
    assert {code for code in CODES if code.startswith("batch.")} == rows | stops


def test_line_cutter_does_not_wait_for_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """What comes through a pipe is cut as it comes; nothing waits for the end of the input."""

    class Endless(io.RawIOBase):
        def readable(self) -> bool:
            return True

        def readinto(self, buffer: Any) -> int:
            line = b'{"text": "a"}\n'
            buffer[: len(line)] = line
            return len(line)

    class Stdin:
        buffer = io.BufferedReader(Endless())

    monkeypatch.setattr(sys, "stdin", Stdin)
    pieces: Iterator[Any] = sources.LineCutter(sources.Source("-", "lines", None), 100, 0, 0, 0).pieces()
    assert next(pieces).rows == 7
    assert PIECE.rows == 1
