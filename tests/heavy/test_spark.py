"""Spark: `mapInArrow` over `parse_arrow` on Parquet files gives what `run` gives on this machine."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from clusters import COLUMNS, KEEP, local_rows, print_compared, write_parquet

from toolglot import batch

pyspark = pytest.importorskip("pyspark", reason="needs the extra `spark`")
pq = pytest.importorskip("pyarrow.parquet")

pytestmark = [
    pytest.mark.timeout(600),
    # Of Spark and of what it imports.
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning", "ignore::UserWarning"),
]


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A session of this machine alone, with two cores."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    paths = [str(Path(batch.__file__).parents[2]), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.executorEnv.PYTHONPATH", os.pathsep.join(paths))
        .config("spark.sql.execution.arrow.maxRecordsPerBatch", "128")
        .config("spark.sql.warehouse.dir", str(tmp_path_factory.mktemp("warehouse")))
        .getOrCreate()
    )
    yield session
    session.stop()


def test_map_in_arrow_is_what_run_writes(spark: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from pyspark.sql.pandas.types import from_arrow_schema

    folder = write_parquet(tmp_path / "in", files=3, rows=400)
    columns = pq.read_schema(next(folder.iterdir()))
    read = partial(batch.parse_arrow, keep=KEEP)
    rows = spark.read.parquet(str(folder)).mapInArrow(
        lambda batches: map(read, batches), from_arrow_schema(batch.schema(columns, keep=KEEP))
    )
    rows.write.parquet(str(tmp_path / "out"))
    found = pq.read_table(tmp_path / "out").to_pylist()
    print_compared("Spark", found, local_rows(folder, tmp_path), capsys)
    assert list(found[0]) == [*COLUMNS, *KEEP]
