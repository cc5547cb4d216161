"""``python -m bench [--quick] [--check]``."""

from __future__ import annotations

import argparse
import datetime as dt
import importlib
import os
import platform
import sys
import time
from pathlib import Path
from types import ModuleType

import toolglot

from . import formats, process, provider, provider_stream, stream, validate, whole
from .report import Report
from .timing import reference_loop

RESULTS = Path(__file__).with_name("results.json")


def load_beacon() -> ModuleType | None:
    """The package `llm-beacon`, if it is installed."""
    try:
        return importlib.import_module("beacon")
    except ImportError:
        return None


def processor() -> str:
    """What the processor is called, as far as the system says it."""
    try:
        said = Path("/proc/cpuinfo").read_text("utf-8")
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in said.splitlines() if line.startswith("model name")]
    return names[0] if names else platform.machine()


def main() -> int:
    """Run everything; 1 if ``--check`` is given and a target was missed."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer repeats, and SGLang only up to 4 kB")
    parser.add_argument("--check", action="store_true", help="exit with status 1 if a target was missed")
    parser.add_argument("--json", type=Path, default=RESULTS, metavar="FILE", help="where the numbers are written")
    options = parser.parse_args()

    begin = time.perf_counter()
    report = Report()
    report.fact("date", dt.datetime.now(dt.timezone.utc).date().isoformat())
    report.fact("toolglot", toolglot.__version__)
    report.fact("machine", f"{processor()}, {os.cpu_count()} cores, {platform.system()} {platform.machine()}")
    report.fact("python", f"{platform.python_implementation()} {platform.python_version()}")
    report.fact("reference loop, ns a turn", round(reference_loop(), 2))
    beacon = load_beacon()
    report.fact("beacon", "installed" if beacon else "not installed: nothing to compare with; see bench/README.md")
    whole.run(report, beacon)
    provider.run(report)
    validate.run(report)
    provider_stream.run(report)
    stream.run(report, quick=options.quick)
    formats.run(report)
    process.run(report, quick=options.quick)
    report.fact("seconds", round(time.perf_counter() - begin, 1))
    report.write(options.json)
    failed = report.failed
    print(f"{len(failed)} target(s) missed" if failed else "every target reached")
    for row in failed:
        print(f"  {row.section}: {row.name}: {row.value:,.2f} {row.unit}, target {row.target:g}")
    return 1 if failed and options.check else 0


if __name__ == "__main__":
    sys.exit(main())
