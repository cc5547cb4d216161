"""The table, and the same as data."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path


@dataclass
class Row:
    """One measurement. ``value`` is judged against ``target`` (at most), where there is one; ``data`` are the numbers
    behind it, in microseconds.
    """

    section: str
    name: str
    value: float | None
    unit: str = "x"
    target: float | None = None
    detail: str = ""
    data: dict[str, float] = field(default_factory=dict)

    @property
    def verdict(self) -> str:
        """PASS, FAIL, or nothing where there is no target."""
        if self.target is None or self.value is None:
            return ""
        return "PASS" if self.value <= self.target else "FAIL"


@dataclass
class Report:
    """All rows, printed as they come."""

    facts: dict[str, str | float] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)
    _section: str = ""

    def fact(self, name: str, value: str | float) -> None:
        """Something about the machine or the interpreter."""
        self.facts[name] = value
        print(f"{name}: {value}", flush=True)

    def add(self, row: Row) -> None:
        """Keep and print a row."""
        self.rows.append(row)
        if row.section != self._section:
            self._section = row.section
            print(f"\n{row.section}", flush=True)
        digits = 4 if row.value is not None and abs(row.value) < 0.05 else 2
        value = "-" if row.value is None else f"{row.value:,.{digits}f} {row.unit}"
        target = "" if row.target is None else f"at most {row.target:g}"
        print(f"  {row.name:<38}{value:>14}  {target:<13}{row.verdict:<6}{row.detail}".rstrip(), flush=True)

    @property
    def failed(self) -> list[Row]:
        """The rows that missed their target."""
        return [row for row in self.rows if row.verdict == "FAIL"]

    def write(self, path: Path) -> None:
        """Everything as JSON."""
        rows = [{**asdict(row), "verdict": row.verdict} for row in self.rows]
        path.write_text(json.dumps({"facts": self.facts, "rows": rows}, indent=2) + "\n", encoding="utf-8")
