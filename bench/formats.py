"""Every format: its own rendered call with a long argument, streamed in deltas of four characters."""

from __future__ import annotations

import gc
import statistics
from collections.abc import Callable
from functools import partial

import toolglot
from toolglot import ConversionError, Format, StreamParser, Tool, ToolCall

from . import messages
from .report import Report, Row
from .timing import once

SECTION = "Every format, streamed: 100 kB against 1 kB a delta, and against 50 kB"
FLAT, DOUBLE = 1.25, 2.2
SMALL, HALF, FULL = 1_000, 50_000, 100_000

# Names and arguments that formats can write: most any call, some only their own tool or a server's. The text is
# source code where the format can write it, else what has no sign that could be markup.
_NAMES = ("write_file", "home/write_file", "python_interpreter")
_TEXTS: tuple[Callable[[int], str], ...] = (messages.long_string, partial(messages.prose, busy=False))


def sample(fmt: Format, size: int) -> tuple[str, list[Tool]] | None:
    """A call with ``size`` characters of argument as the format writes it, and its tool; None if it writes none."""
    for text in _TEXTS:
        for name in _NAMES:
            for key in ("text", "code"):
                tool = Tool(name, parameters={"type": "object", "properties": {key: {"type": "string"}}})
                try:
                    return toolglot.render([ToolCall(name, {key: text(size)}, id="0a1b2c3d4")], fmt.id), [tool]
                except ConversionError:
                    continue
    return None


def stream(name: str, text: str, format: str | None, tools: list[Tool] | None, calls: int) -> Callable[[], None]:
    """Stream ``text``, in which there are so many ``calls``."""
    pieces = [text[i : i + 4] for i in range(0, len(text), 4)]

    def work() -> None:
        parser = StreamParser(format=format, tools=tools, generation_prompt="")
        feed = parser.feed
        for piece in pieces:
            feed(piece)
        parser.close()
        if len(parser.message.tool_calls) != calls:
            raise SystemExit(f"{name}: not the calls that were written")

    return work


def seconds(work: Callable[[], object], repeats: int, runs: int = 1) -> float:
    """Seconds of one run: the least of ``repeats`` times ``runs``."""

    def many() -> None:
        for _ in range(runs):
            work()

    return min(once(many) for _ in range(repeats)) / runs


class Stream:
    """One text at three sizes, and what a delta costs."""

    def __init__(self, name: str, texts: list[str], format: str | None, tools: list[Tool] | None, calls: int) -> None:
        self.name = name
        self.deltas = [-(-len(text) // 4) for text in texts]
        self.works = [stream(name, text, format, tools, calls) for text in texts]
        self.micro = 0.0
        self.flat = self.double = float("inf")

    def measure(self) -> None:
        """Measure, and keep the better ratios: what disturbs a run only ever makes it longer."""
        times = [seconds(self.works[0], 2, 8), seconds(self.works[1], 1), seconds(self.works[2], 1)]
        costs = [time / count for time, count in zip(times, self.deltas, strict=True)]
        self.micro = costs[2] * 1e6
        self.flat = min(self.flat, costs[2] / costs[0])
        # What an exact double of the text would take.
        self.double = min(self.double, 2 * costs[2] / costs[1])

    @property
    def missed(self) -> bool:
        """Whether a target was missed."""
        return self.flat > FLAT or self.double > DOUBLE

    def __str__(self) -> str:
        return f"{self.micro:.2f} us a delta, growth {self.flat:.2f}, doubling {self.double:.2f}"


def streams() -> tuple[list[Stream], list[str]]:
    """All formats, and a call and prose where the format has to be found out; the ids of those that write nothing."""
    found, unwritten = [], []
    for fmt in toolglot.formats():
        samples = [sample(fmt, size) for size in (SMALL, HALF, FULL)]
        texts = [one[0] for one in samples if one is not None]
        if samples[0] is None or len(texts) < 3:
            unwritten.append(fmt.id)
            continue
        tools = samples[0][1] if fmt.by_tool else None
        found.append(Stream(fmt.id, texts, fmt.id, tools, 1))
    sizes = (SMALL, HALF, FULL)
    for format in ("hermes", "qwen3_coder", "harmony"):
        texts = [messages.streamed(format, size) for size in sizes]
        found.append(Stream(f"detected: {format}", texts, None, None, 1))
    for busy in (False, True):
        name = f"detected: {'busy ' * busy}prose"
        texts = [messages.prose(size, busy=busy) for size in sizes]
        found.append(Stream(name, texts, None, None, 0))
    return found, unwritten


def run(report: Report) -> None:
    """The worst formats, those that missed a target, and what is typical."""
    found, unwritten = streams()
    gc.collect()
    gc.freeze()  # what stays is not looked through again and again
    for one in found:
        one.measure()
        for _ in range(4):
            if one.missed:
                one.measure()
    gc.unfreeze()
    report.fact("formats that are streamed", sum(":" not in one.name for one in found))
    if unwritten:
        report.fact("formats that write no such call", ", ".join(unwritten))
    typical = statistics.median(one.micro for one in found)
    report.add(Row(SECTION, "median of all, a delta", typical, "us"))
    slowest = max(found, key=lambda one: one.micro)
    report.add(Row(SECTION, f"slowest: {slowest.name}", slowest.micro, "us", None, str(slowest)))
    worst = max(found, key=lambda one: one.flat)
    report.add(Row(SECTION, f"worst growth: {worst.name}", worst.flat, "x", FLAT, str(worst)))
    worst = max(found, key=lambda one: one.double)
    report.add(Row(SECTION, f"worst doubling: {worst.name}", worst.double, "x", DOUBLE, str(worst)))
    for one in found:
        if one.missed:
            value, target = (one.flat, FLAT) if one.flat > FLAT else (one.double, DOUBLE)
            report.add(Row(SECTION, one.name, value, "x", target, str(one)))
