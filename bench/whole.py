"""Complete texts: short messages and prose against beacon, long arguments against `json.loads`."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from types import ModuleType

import toolglot

from . import messages
from .report import Report, Row
from .timing import interleaved

SHORT, PROSE, LONG = "Short messages", "Prose without a call, 1.2 kB", "Long argument, 75 kB"


def micro(seconds: float) -> str:
    """``seconds`` as microseconds."""
    return f"{seconds * 1e6:,.2f} us"


def quiet(parse: Callable[[str], object], text: str, error: type[Exception]) -> Callable[[], object]:
    """``parse(text)``, of which ``error`` is the expected outcome."""

    def run() -> object:
        try:
            return parse(text)
        except error:
            return None

    return run


def each(parse: Callable[[str], object], texts: list[str]) -> Callable[[], None]:
    """``parse`` of each of ``texts``."""

    def run() -> None:
        for text in texts:
            parse(text)

    return run


def short_messages(report: Report, beacon: ModuleType) -> None:
    """Like for like: the two functions of the seed; `parse`, which says more, beside them."""
    ratios = []
    for format, texts in messages.SHORT.items():
        for text in texts:
            if beacon.parse_tool_calls(text) != toolglot.parse_tool_calls(text):
                raise SystemExit(f"the two sides do not agree on {text!r}")
        # Without tools or a format, `parse` takes no call syntax for a call.
        given = "python" if format == "python" else None
        timing = interleaved(
            {
                "beacon": each(beacon.parse_tool_calls, texts),
                "toolglot": each(toolglot.parse_tool_calls, texts),
                "parse": each(partial(toolglot.parse, format=given), texts),
            }
        )
        ratio = timing.ratio("toolglot", "beacon")
        ratios.append(ratio)
        beacons, ours, parse = (timing.median[side] / len(texts) for side in ("beacon", "toolglot", "parse"))
        detail = (
            f"beacon {micro(beacons)}, parse_tool_calls {micro(ours)}, "
            f"parse {micro(parse)} ({timing.ratio('parse', 'beacon'):.2f} x)"
        )
        report.add(Row(SHORT, format, ratio, "x", 3.0, detail))
    report.add(Row(SHORT, "geometric mean (aim: 2)", geometric_mean(ratios), "x", 3.0))


def geometric_mean(values: list[float]) -> float:
    """The mean of ratios."""
    product = 1.0
    for value in values:
        product *= value
    return float(product ** (1 / len(values)))


def prose(report: Report, beacon: ModuleType) -> None:
    """The usual message: no call in it."""
    for busy, target in ((False, 0.2), (True, 1.0)):
        text = messages.prose(1200, busy=busy)
        timing = interleaved(
            {
                "beacon": quiet(beacon.parse_tool_calls, text, beacon.NoToolCallFoundError),
                "toolglot": quiet(toolglot.parse_tool_calls, text, toolglot.NoToolCallFoundError),
                "parse": partial(toolglot.parse, text),
            }
        )
        name = "brackets, tags, JSON and code" if busy else "none of < [ { ("
        detail = (
            f"beacon {micro(timing.median['beacon'])}, parse_tool_calls {micro(timing.median['toolglot'])}, "
            f"parse {micro(timing.median['parse'])} ({timing.ratio('parse', 'beacon'):.2f} x)"
        )
        report.add(Row(PROSE, name, timing.ratio("toolglot", "beacon"), "x", target, detail))


def long_arguments(report: Report, beacon: ModuleType | None) -> None:
    """One long string, and many small objects, against `json.loads` of the same arguments."""
    shapes = (("one long string", messages.one_string, 1.5), ("many small objects", messages.many_objects, 2.5))
    for name, shape, target in shapes:
        value = shape(75_000)
        arguments = json.dumps(value)
        text = messages.hermes(arguments)
        if toolglot.parse(text).tool_calls[0].arguments != value:
            raise SystemExit("the long argument is not read back")
        works: dict[str, Callable[[], object]] = {
            "json.loads": partial(json.loads, arguments),
            "parse": partial(toolglot.parse, text),
            "parse_tool_calls": partial(toolglot.parse_tool_calls, text),
        }
        if beacon is not None:
            works["beacon"] = partial(beacon.parse_tool_calls, text)
        timing = interleaved(works, rounds=21, slice_seconds=0.01)
        detail = ", ".join(f"{side} {micro(timing.median[side])}" for side in works)
        report.add(Row(LONG, name, timing.ratio("parse", "json.loads"), "x", target, detail))
        report.add(Row(LONG, f"{name}, parse_tool_calls", timing.ratio("parse_tool_calls", "json.loads")))


def run(report: Report, beacon: ModuleType | None) -> None:
    """All rows about complete texts."""
    if beacon is not None:
        short_messages(report, beacon)
        prose(report, beacon)
    long_arguments(report, beacon)
