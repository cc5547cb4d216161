"""Ray Data: `map_batches` over `parse_arrow` on Parquet files gives what `run` gives on this machine."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from clusters import COLUMNS, KEEP, local_rows, print_compared, write_parquet

from toolglot import batch

os.environ["RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO"] = "0"  # what Ray is going to do anyway; it warns of it else
ray = pytest.importorskip("ray", reason="needs the extra `ray`")

pytestmark = [
    pytest.mark.timeout(600),
    # Of Ray and of what it imports.
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning", "ignore::UserWarning"),
]


@pytest.fixture(scope="module", autouse=True)
def cluster() -> Iterator[None]:
    """A cluster of this machine alone."""
    paths = os.pathsep.join(dict.fromkeys([str(Path(batch.__file__).parents[2]), *_paths()]))
    ray.init(
        num_cpus=2,
        include_dashboard=False,
        log_to_driver=False,
        runtime_env={"env_vars": {"PYTHONPATH": paths}},
        object_store_memory=200 << 20,
    )
    yield
    ray.shutdown()


def _paths() -> list[str]:
    return [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]


def test_map_batches_is_what_run_writes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = write_parquet(tmp_path / "in", files=3, rows=400)
    options: dict[str, Any] = {"keep": KEEP}
    rows = ray.data.read_parquet(str(folder)).map_batches(
        batch.parse_arrow, batch_format="pyarrow", batch_size=128, fn_kwargs=options
    )
    rows.write_parquet(str(tmp_path / "out"))
    found = ray.data.read_parquet(str(tmp_path / "out")).take_all()
    print_compared("Ray Data", found, local_rows(folder, tmp_path), capsys)
    assert list(found[0]) == [*COLUMNS, *KEEP]
