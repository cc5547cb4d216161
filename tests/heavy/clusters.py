"""What the tests on clusters share: Parquet files, what `run` makes of them here, and the comparison."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from batches import lines
from toolglot import batch
from toolglot.batch import COLUMNS

__all__ = ["COLUMNS", "KEEP", "local_rows", "print_compared", "write_parquet"]

KEEP = ["id", "weight"]


def write_parquet(folder: Path, files: int, rows: int) -> Path:
    """Files with rows of every format, some broken, some null."""
    folder.mkdir()
    given = lines(files * rows, seed=11)
    for number in range(files):
        found = []
        for line in (next(given) for _ in range(rows)):
            row = json.loads(line) if line.startswith(b'{"id"') and b'"text"' in line else {}
            found.append(row.get("text"))
        ids = range(number * rows, (number + 1) * rows)
        table = pa.table({"id": pa.array(ids, pa.int64()), "text": found, "weight": [i / 3 for i in ids]})
        pq.write_table(table, folder / f"{number}.parquet", row_group_size=150)
    return folder


def local_rows(folder: Path, work: Path) -> list[dict[str, Any]]:
    """What `run` writes, without the place of a row, which a batch in memory does not know."""
    batch.run(folder, work / "local.parquet", keep=KEEP, processes=1)
    return pq.read_table(work / "local.parquet").drop_columns(["row", "file", "line"]).to_pylist()  # type: ignore[no-any-return]


def print_compared(
    name: str, found: list[dict[str, Any]], wanted: list[dict[str, Any]], capsys: pytest.CaptureFixture[str]
) -> None:
    """Say how many rows are equal; all have to be. A cluster may give them in any order."""
    found.sort(key=lambda row: row["id"])
    equal = sum(a == b for a, b in zip(found, wanted, strict=True))
    calls = sum(len(row["tool_calls"]) for row in wanted)
    errors = sum(bool(row["errors"]) for row in wanted)
    with capsys.disabled():
        print(f"\n{name}: {equal:,} of {len(wanted):,} rows equal to the local run's, {calls:,} calls, ", end="")
        print(f"{errors:,} rows with errors")
    assert equal == len(wanted) > 0
    assert calls > 0 < errors
