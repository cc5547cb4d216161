"""``python -m bench.batch [--rows N]``: the rate of batches, their memory, and what a kill does to them.

The rows are the golden cases' texts, some of them broken, and lines that are no rows at all.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import toolglot
from toolglot.batch.options import Options
from toolglot.batch.sources import LineCutter, Source
from toolglot.batch.work import Job, Worker, read_line, tuned

from .report import Report, Row

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))
MAIN = "from toolglot.cli import main; main()"
RATE, MEMORY, KILLED = "Rate", "Peak memory", "Killed twice"
LEAST, SCALES, MOST_MB = 0.6, 1.6, 400.0


def write_rows(path: Path, rows: int) -> Path:
    """A file of so many rows, as the tests have them."""
    written: Path = importlib.import_module("batches").write_lines(path, rows, longest=400)
    return written


class Memory:
    """The peaks of a process and of those that it starts, in MB, as Linux tells them."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.peaks: dict[int, float] = {}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def _watch(self) -> None:
        while not self._stop.wait(0.1):
            for pid in [self.pid, *self._children()]:
                try:
                    status = Path(f"/proc/{pid}/status").read_text("utf-8")
                except OSError:
                    continue
                for line in status.splitlines():
                    if line.startswith("VmHWM:"):
                        self.peaks[pid] = max(self.peaks.get(pid, 0.0), int(line.split()[1]) / 1024)

    def _children(self) -> list[int]:
        try:
            found = [task.joinpath("children").read_text("utf-8") for task in Path(f"/proc/{self.pid}/task").iterdir()]
        except OSError:
            return []
        return [int(pid) for text in found for pid in text.split()]

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Look all the while."""
        self._thread.start()
        try:
            yield
        finally:
            self._stop.set()
            self._thread.join()


def command(file: Path, out: Path, processes: int, *more: str) -> list[str]:
    given = ["batch", str(file), str(out), "--keep", "id", "--processes", str(processes), "--json", *more]
    return [sys.executable, "-c", MAIN, *given]


def timed(file: Path, out: Path, processes: int) -> tuple[float, float, dict[int, float], int]:
    """Seconds by the wall and of all processes' own time, peaks of memory, and the pid of the parent."""
    before = os.times()
    begin = time.perf_counter()
    with subprocess.Popen(command(file, out, processes), stdout=subprocess.PIPE) as process:
        memory = Memory(process.pid)
        with memory.watching():
            assert process.stdout is not None
            process.stdout.read()
        assert process.wait() == 0
    wall = time.perf_counter() - begin
    after = os.times()
    own = after.children_user + after.children_system - before.children_user - before.children_system
    return wall, own, memory.peaks, process.pid


LOOP = """
import json, sys, time
from toolglot import parse
texts = []
for line in open(sys.argv[1], encoding="utf-8", errors="replace"):
    try:
        row = json.loads(line)
    except ValueError:
        continue
    if isinstance(row, dict) and isinstance(row.get("text"), str):
        texts.append(row["text"])
begin, own = time.perf_counter(), time.process_time()
for text in texts:
    parse(text, on_error="collect")
print(len(texts), time.perf_counter() - begin, time.process_time() - own)
"""


def loop(file: Path) -> tuple[float, float]:
    """Rows a second of a bare loop over `parse` that throws its answers away: by the wall, and by its own time."""
    result = subprocess.run([sys.executable, "-c", LOOP, str(file)], check=True, capture_output=True, text=True)
    rows, wall, own = result.stdout.split()
    return int(rows) / float(wall), int(rows) / float(own)


def in_turns(file: Path, folder: Path) -> float:
    """How many times the loop's time a process takes, from lines to lines: the two take turns, piece by piece."""
    source = Source(str(file), "lines", file.stat().st_size)
    worker = Worker(Job(Options(keep=("id",)), "jsonl", folder))
    ratios = []
    for piece in LineCutter(source, 1 << 18, 0, 0, 0).pieces():
        rows = [row for row in map(read_line, piece.data.split(b"\n")) if isinstance(row, dict)]
        texts = [row["text"] for row in rows if isinstance(row.get("text"), str)]
        begin = time.process_time()
        for text in texts:
            toolglot.parse(text, on_error="collect")
        middle = time.process_time()
        with tuned():
            worker.do(piece)
        ratios.append((time.process_time() - middle) / (middle - begin) * len(texts) / piece.rows)
    return statistics.median(ratios)


def rates(report: Report, folder: Path, rows: int, rounds: int) -> None:
    """The loop, one process and two, in turns."""
    file = write_rows(folder / "rates.jsonl", rows)
    found: dict[str, list[float]] = {name: [] for name in ("loop", "loop own", "one", "one own", "two", "two own")}
    for _ in range(rounds):
        wall, own = loop(file)
        found["loop"].append(wall)
        found["loop own"].append(own)
        for name, processes in (("one", 1), ("two", 2)):
            out = folder / f"{name}.jsonl"
            seconds, cpu, _, _ = timed(file, out, processes)
            out.unlink()
            found[name].append(rows / seconds)
            found[name + " own"].append(rows / cpu)
    middle = {name: statistics.median(values) for name, values in found.items()}
    print(f"\nrows a second, median of {rounds} runs of {rows:,} rows; load {os.getloadavg()[0]:.1f}")
    for name in ("loop", "one", "two"):
        print(
            f"  {name:<6}{middle[name]:>12,.0f} by the wall{middle[name + ' own']:>12,.0f} by the processes' own time"
        )
    turns = in_turns(file, folder)
    report.add(Row(RATE, "time of a piece, to the loop's", turns, "x", round(1 / LEAST, 2), "in turns, own time"))
    own = statistics.median(b / a for a, b in zip(found["one own"], found["loop own"], strict=True))
    report.add(Row(RATE, "time of one process, to the loop's", own, "x", None, "own time, its start included"))
    wall = statistics.median(b / a for a, b in zip(found["two"], found["one"], strict=True))
    report.add(Row(RATE, "time of two processes, to one's", wall, "x", 1 / SCALES, "by the wall"))
    extra = statistics.median(b / a for a, b in zip(found["two own"], found["one own"], strict=True))
    report.add(Row(RATE, "work of two processes, to one's", extra, "x", None, "own time of all processes"))


def digest(path: Path) -> str:
    hashed = hashlib.blake2b(digest_size=16)
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            hashed.update(block)
    return hashed.hexdigest()


def done_rows(out: Path) -> int:
    journal = out.with_name(out.name + ".parts") / "done.jsonl"
    lines = journal.read_bytes().split(b"\n")[:-1] if journal.exists() else []
    return sum(json.loads(line).get("rows", 0) for line in lines)


def in_order(path: Path) -> int:
    """How many rows a file has; they have to be numbered as they stand."""
    count = 0
    with path.open("rb") as file:
        for line in file:
            assert json.loads(line)["row"] == count, f"row {count} is not in its place"
            count += 1
    return count


def killed(report: Report, folder: Path, rows: int) -> None:
    """A run without a break, and one that is killed twice, all its processes by SIGKILL; and memory."""
    file = write_rows(folder / "rows.jsonl", rows)
    print(f"\n{rows:,} rows, {file.stat().st_size / 1e6:,.0f} MB; load {os.getloadavg()[0]:.1f}")
    whole = folder / "whole.jsonl"
    wall, own, peaks, parent = timed(file, whole, 2)
    workers = sorted((peak for pid, peak in peaks.items() if pid != parent), reverse=True)
    print(f"without a break: {wall:,.1f} s, {rows / wall:,.0f} rows/s, own time of all processes {own:,.1f} s")
    detail = "parent {:.0f} MB, others {}".format(peaks[parent], ", ".join(f"{peak:.0f}" for peak in workers))
    report.add(Row(MEMORY, "all processes together", sum(peaks.values()), "MB", MOST_MB, detail))

    out = folder / "killed.jsonl"
    for share in (0.3, 0.65):
        process = subprocess.Popen(command(file, out, 2), stdout=subprocess.DEVNULL, start_new_session=True)
        while done_rows(out) < share * rows:
            assert process.poll() is None, "it ended before it could be killed"
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        print(f"killed with {done_rows(out):,} rows done")
    result = subprocess.run(command(file, out, 2), check=True, capture_output=True, text=True)
    summary = json.loads(result.stdout)
    print(f"gone on with {summary['resumed_rows']:,} rows; {summary['rows']:,} rows in the end")
    count = in_order(out)
    print(f"{count:,} rows written, numbered 0 to {count - 1:,} in order")
    same = digest(out) == digest(whole)
    print(f"{digest(out)} {out.name}\n{digest(whole)} {whole.name}: {'equal' if same else 'NOT EQUAL'}")
    wrong = float((not same) + (count != rows) + (summary["rows"] != rows))
    report.add(Row(KILLED, "differences from a run without a break", wrong, "", 0.0))
    totals = {key: summary[key] for key in ("rows", "calls", "rows_with_errors")}
    print(f"{totals}, error codes: {len(summary['errors'])}, formats: {len(summary['formats'])}")


def main() -> int:
    """Measure; 1 if a target was missed."""
    parser = argparse.ArgumentParser(prog="python -m bench.batch", description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000, help="of the file that is killed (default 1,000,000)")
    # So many that the start of the processes, a second in all, is a small part of what is measured.
    parser.add_argument("--rate-rows", type=int, default=300_000, help="of the file whose rate is measured")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    report = Report()
    report.fact("toolglot", toolglot.__version__)
    with tempfile.TemporaryDirectory() as name:
        rates(report, Path(name), options.rate_rows, options.rounds)
        killed(report, Path(name), options.rows)
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
