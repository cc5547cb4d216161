"""What a batch came to, by format and by error."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .record import Record


@dataclass(slots=True)
class Tally:
    """Rows of one format: how many, with how many calls, and how often which error."""

    rows: int = 0
    calls: int = 0
    rows_with_errors: int = 0
    repairs: int = 0
    errors: dict[str, int] = field(default_factory=dict)

    def add(self, other: Tally) -> None:
        """Count those of ``other`` too."""
        self.rows += other.rows
        self.calls += other.calls
        self.rows_with_errors += other.rows_with_errors
        self.repairs += other.repairs
        for code, count in other.errors.items():
            self.errors[code] = self.errors.get(code, 0) + count

    def to_dict(self) -> dict[str, Any]:
        """As JSON values, the most frequent error first."""
        errors = dict(sorted(self.errors.items(), key=lambda item: (-item[1], item[0])))
        return {
            "rows": self.rows,
            "calls": self.calls,
            "rows_with_errors": self.rows_with_errors,
            "repairs": self.repairs,
            "errors": errors,
        }


class Counts:
    """`Tally` by format; ``""`` is for rows in which none was found."""

    __slots__ = ("formats",)

    def __init__(self, formats: dict[str, Tally] | None = None) -> None:
        self.formats: dict[str, Tally] = {} if formats is None else formats

    def count(self, record: Record) -> None:
        """One row more."""
        errors = record["errors"]
        calls = record["tool_calls"]
        name = record["format"] or record["provider"] or ""
        if not name and (calls or errors):
            name = (calls or errors)[0]["format"] or ""
        tally = self.formats.get(name)
        if tally is None:
            tally = self.formats[name] = Tally()
        tally.rows += 1
        tally.calls += len(calls)
        if record["repairs"]:
            tally.repairs += len(record["repairs"])
        if errors:
            tally.rows_with_errors += 1
            for error in errors:
                tally.errors[error["code"]] = tally.errors.get(error["code"], 0) + 1

    def add(self, other: Counts) -> None:
        """All of ``other`` too."""
        for name, tally in other.formats.items():
            self.formats.setdefault(name, Tally()).add(tally)

    def total(self) -> Tally:
        """All formats together."""
        total = Tally()
        for tally in self.formats.values():
            total.add(tally)
        return total

    def to_dict(self) -> dict[str, Any]:
        """As JSON values, the most frequent format first."""
        order = sorted(self.formats.items(), key=lambda item: (-item[1].rows, item[0]))
        return {name: tally.to_dict() for name, tally in order}

    @classmethod
    def of(cls, value: dict[str, Any]) -> Counts:
        """The inverse of `to_dict`."""
        return cls({name: Tally(**tally) for name, tally in value.items()})


@dataclass(slots=True)
class Summary:
    """What `run` did. ``rows`` and counts are of the whole batch; ``resumed_rows`` of them were there already."""

    output: str
    counts: Counts
    seconds: float
    processes: int
    resumed_rows: int = 0
    left_out: list[str] = field(default_factory=list)
    unseen: list[str] = field(default_factory=list)

    @property
    def rows(self) -> int:
        """How many rows were read, and written."""
        return self.counts.total().rows

    @property
    def rows_per_second(self) -> float:
        """Of this run."""
        return (self.rows - self.resumed_rows) / self.seconds if self.seconds else 0.0

    def to_dict(self) -> dict[str, Any]:
        """As JSON values: totals, and the same by format (``""``: none was found)."""
        return {
            "type": "batch",
            "output": self.output,
            **self.counts.total().to_dict(),
            "formats": self.counts.to_dict(),
            "seconds": round(self.seconds, 3),
            "rows_per_second": round(self.rows_per_second, 1),
            "processes": self.processes,
            "resumed_rows": self.resumed_rows,
            "left_out": self.left_out,
            "unseen_columns": self.unseen,
        }
