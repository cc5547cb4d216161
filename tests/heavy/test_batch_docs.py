"""The blocks of docs/batch.md that need pandas, Polars, Hugging Face datasets, Ray or Spark, each in a Python anew."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from clusters import write_parquet

from toolglot import batch

ROOT = Path(__file__).parents[2]
BLOCKS = re.findall(r"^```py\n(.*?)^```$", (ROOT / "docs" / "batch.md").read_text("utf-8"), re.MULTILINE | re.DOTALL)
NEEDED = ("pandas", "polars", "datasets", "ray", "pyspark")

# What is compared: each way has its own to say what is in a table.
ROWS = {
    "pandas": "calls.astype(object).where(calls.notna(), None).to_dict('records')",
    "polars": "calls.to_dicts()",
    "datasets": "calls.with_format(None).to_list()",
    "ray": "sorted(ray.data.read_parquet('calls').take_all(), key=lambda row: row['id'])",
    "pyspark": "sorted(pq.read_table('calls').to_pylist(), key=lambda row: row['id'])",
}
SAID = """
import json
names = ("tool_calls", "errors")
print(json.dumps([[row["content"], *([dict(one) for one in row[name]] for name in names)] for row in {}]))
"""


def test_blocks_are_found() -> None:
    assert [name for block in BLOCKS for name in NEEDED if f"import {name}" in block or f"from {name}" in block] == [
        *NEEDED
    ]


@pytest.mark.timeout(600)
@pytest.mark.parametrize("number", range(len(NEEDED)), ids=NEEDED)
def test_block(number: int, tmp_path: Path) -> None:
    name = NEEDED[number]
    if find_spec(name) is None:
        pytest.skip(f"needs {name}")
    [file] = write_parquet(tmp_path / "in", files=1, rows=200).iterdir()
    file.rename(tmp_path / "outputs.parquet")
    source = BLOCKS[number]
    (tmp_path / "block.py").write_text(source + SAID.format(ROWS[name]), "utf-8")
    paths = [str(ROOT / "src"), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    settings = {"PYTHONPATH": os.pathsep.join(paths), "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
    result = subprocess.run(
        [sys.executable, "block.py"],
        cwd=tmp_path,
        env={**os.environ, **settings, "HF_HOME": str(tmp_path / "hf"), "HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=500,
    )
    assert result.returncode == 0, result.stderr[-3000:]
    found = json.loads(result.stdout.splitlines()[-1])
    assert found == wanted(tmp_path / "outputs.parquet")


def wanted(file: Path) -> list[Any]:
    records = batch.parse_arrow(pq.read_table(file)).to_pylist()
    return [[record["content"], record["tool_calls"], record["errors"]] for record in records]
