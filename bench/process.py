"""What a process pays: the time of the import, and memory."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable
from functools import partial
from itertools import pairwise

import toolglot

from . import messages
from .report import Report, Row

IMPORT, FIRST, MEMORY = "Import", "First use in a process", "Peak memory, complete parse"
_STRANGERS = (
    "import sys; old = set(sys.modules); import toolglot; new = {m.split('.')[0] for m in set(sys.modules) - old};"
    "print(*sorted(new - sys.stdlib_module_names - {'toolglot'}))"
)


def start(code: str) -> float:
    """Milliseconds a new interpreter needs to run ``code``."""
    begin = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True)
    return (time.perf_counter() - begin) * 1e3


def import_time(report: Report, rounds: int) -> None:
    """An interpreter that imports Toolglot against an empty one, in turns."""
    start("import toolglot")
    pairs = [(start("import toolglot"), start("pass")) for _ in range(rounds)]
    ours = statistics.median(pair[0] for pair in pairs)
    empty = statistics.median(pair[1] for pair in pairs)
    detail = f"median of {rounds}: {ours:.1f} ms with, {empty:.1f} ms without"
    report.add(Row(IMPORT, "import toolglot", ours - empty, "ms", 30.0, detail))
    out = subprocess.run([sys.executable, "-c", _STRANGERS], check=True, capture_output=True, text=True).stdout.split()
    report.add(Row(IMPORT, "modules from outside the library", float(len(out)), "", 0.0, " ".join(out)))


_FIRST = """
import time, toolglot
times = [time.process_time()]
toolglot.parse
times.append(time.process_time())
toolglot.parse("a")
times.append(time.process_time())
toolglot.parse('<tool_call>{"name": "a", "arguments": {}}</tool_call>')
times.append(time.process_time())
print(*times)
"""


def first_use(report: Report, rounds: int) -> None:
    """What the first calls in a process pay: the engine's import, all formats, those that share an opener."""
    rows = []
    for _ in range(rounds):
        out = subprocess.run([sys.executable, "-c", _FIRST], check=True, capture_output=True, text=True).stdout
        times = [float(word) for word in out.split()]
        rows.append([(after - before) * 1e3 for before, after in pairwise(times)])
    engine, formats, opener = (statistics.median(column) for column in zip(*rows, strict=True))
    report.add(Row(FIRST, "import of the engine", engine, "ms"))
    report.add(Row(FIRST, "first parse, no format given", formats, "ms", 60.0))
    report.add(Row(FIRST, "first call behind <tool_call>", opener, "ms"))


def peak(work: Callable[[], object]) -> int:
    """Bytes at the highest point while ``work`` runs, its result included."""
    work()
    tracemalloc.start()
    try:
        result = work()
        highest = tracemalloc.get_traced_memory()[1]
        del result
    finally:
        tracemalloc.stop()
    return highest


def memory(report: Report) -> None:
    """At most what `json.loads` of the arguments takes, plus twice the text."""
    for name, shape in (("one long string", messages.one_string), ("many small objects", messages.many_objects)):
        for label, size in (("75 kB", 75_000), ("1 MB", 1_000_000)):
            arguments = json.dumps(shape(size))
            text = messages.hermes(arguments)
            ours = peak(partial(toolglot.parse, text))
            theirs = peak(partial(json.loads, arguments))
            allowed = theirs + 2 * sys.getsizeof(text)
            detail = (
                f"{ours / 1e3:,.0f} kB; json.loads {theirs / 1e3:,.0f} kB, text {sys.getsizeof(text) / 1e3:,.0f} kB"
            )
            report.add(Row(MEMORY, f"{name}, {label}", ours / allowed, "x", 1.0, detail))


def run(report: Report, *, quick: bool) -> None:
    """All rows about the process."""
    import_time(report, 11 if quick else 41)
    first_use(report, 5 if quick else 11)
    memory(report)
