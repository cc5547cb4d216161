"""Fair timing: interleaved, in one process, medians of many, and the speed of the machine beside it."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

Work = Callable[[], object]

# The process's own time, where it is fine enough: what other programs of a busy machine take is none of it.
_now = time.process_time if time.get_clock_info("process_time").resolution < 1e-6 else time.perf_counter


@dataclass
class Timing:
    """Seconds a run of each work took: the median, and every round's value in the order of the rounds."""

    median: dict[str, float]
    rounds: dict[str, list[float]]

    def ratio(self, name: str, base: str) -> float:
        """How many times the time of ``base`` the work ``name`` took: the median of the rounds' own ratios."""
        return statistics.median(a / b for a, b in zip(self.rounds[name], self.rounds[base], strict=True))


def once(work: Work) -> float:
    """Seconds of one run, garbage collection switched off as `timeit` does."""
    gc.collect()
    enabled = gc.isenabled()
    gc.disable()
    try:
        start = _now()
        work()
        return _now() - start
    finally:
        if enabled:
            gc.enable()


def interleaved(works: Mapping[str, Work], *, rounds: int = 31, slice_seconds: float = 0.004) -> Timing:
    """Time several works in turns, so that a slow moment of the machine meets all of them.

    In each round every work runs for about ``slice_seconds``; the order of the works turns with the rounds.
    """
    names = list(works)
    loops: dict[str, int] = {}
    for name in names:
        works[name]()
        single = min(once(works[name]) for _ in range(3))
        loops[name] = max(1, int(slice_seconds / max(single, 1e-9)))
    taken: dict[str, list[float]] = {name: [] for name in names}
    for turn in range(rounds):
        first = turn % len(names)
        for name in names[first:] + names[:first]:
            count = loops[name]
            work = works[name]

            def repeat(work: Work = work, count: int = count) -> None:
                for _ in range(count):
                    work()

            taken[name].append(once(repeat) / count)
    return Timing({name: statistics.median(values) for name, values in taken.items()}, taken)


def reference_loop() -> float:
    """Nanoseconds a turn of a plain Python loop takes: what to divide by when machines are compared."""

    def loop() -> int:
        total = 0
        for i in range(100_000):
            total += i & 7
        return total

    return min(once(loop) for _ in range(25)) / 100_000 * 1e9
