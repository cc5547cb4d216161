"""Tool calls of millions of outputs: rows in, rows out, on all cores of a machine or on a cluster.

`run` is what ``toolglot batch`` does: files in, one file out, every row in its place. `parse_arrow` is the same for a
batch of rows in memory, as Arrow, pandas, Polars, Spark and Ray have them (it needs the extra ``batch``), and
`parse_rows` for any rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..errors import BatchError
from .options import COLUMNS, Options
from .rows import parse_rows
from .running import Progress, run
from .summary import Counts, Summary, Tally

if TYPE_CHECKING:
    from .arrow import parse_arrow, schema

__all__ = [
    "COLUMNS",
    "BatchError",
    "Counts",
    "Options",
    "Progress",
    "Summary",
    "Tally",
    "parse_arrow",
    "parse_rows",
    "run",
    "schema",
]


def __getattr__(name: str) -> Any:
    if name in ("parse_arrow", "schema"):
        from . import arrow  # needs pyarrow, the others do not

        return getattr(arrow, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
