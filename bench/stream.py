"""Streams: microseconds per delta of four characters, and how they grow; SGLang's detector beside it."""

from __future__ import annotations

import importlib
import json
import logging
import statistics
from typing import Any

import toolglot

from . import messages, provider_stream
from .report import Report, Row
from .timing import once

FLAT, DOUBLE, SGLANG = "Streaming, 4 characters a delta", "Doubling the stream", "Streaming hermes against SGLang"
FORMATS = ("hermes", "qwen3_coder", "pythonic", "harmony")
SIZES = {"1 kB": 1_000, "35 kB": 35_000, "1 MB": 1_000_000}
REPEATS = {1_000: 61, 35_000: 9, 500_000: 3, 1_000_000: 3}


def deltas(text: str, size: int = 4) -> list[str]:
    """``text`` in pieces of ``size`` characters."""
    return [text[i : i + size] for i in range(0, len(text), size)]


def per_delta(format: str, pieces: list[str], repeats: int) -> float:
    """Seconds a delta, median of ``repeats`` whole streams."""

    def work() -> None:
        parser = toolglot.StreamParser(format=format)
        feed = parser.feed
        for piece in pieces:
            feed(piece)
        parser.close()
        if len(parser.message.tool_calls) != 1:
            raise SystemExit(f"{format}: the streamed call was not found")

    return statistics.median(once(work) for _ in range(repeats)) / len(pieces)


def growth(report: Report, formats: tuple[str, ...] = FORMATS) -> None:
    """The cost of a delta must not depend on how much came before it."""
    doublings = []
    for format in formats:
        costs = {}
        for label, size in SIZES.items():
            pieces = deltas(messages.streamed(format, size))
            costs[label] = per_delta(format, pieces, REPEATS[size]) * 1e6
        worst = max(costs["35 kB"], costs["1 MB"]) / costs["1 kB"]
        detail = ", ".join(f"{label} {cost:.2f} us" for label, cost in costs.items())
        report.add(Row(FLAT, f"{format}: 1 MB", costs["1 MB"], "us", None))
        report.add(Row(FLAT, f"{format}: growth from 1 kB to 1 MB", worst, "x", 1.25, detail, costs))
        half = deltas(messages.streamed(format, 500_000))
        doubling = 2 * costs["1 MB"] / (per_delta(format, half, REPEATS[500_000]) * 1e6)
        doublings.append(Row(DOUBLE, f"{format}: 500 kB to 1 MB", doubling, "x", 2.2))
    for row in doublings:
        report.add(row)


def detector() -> tuple[Any, list[Any]] | str:
    """SGLang's Hermes detector and its tools, or why it cannot be had."""
    package = "llm_router_utils.sglang.srt"
    try:
        hermes = importlib.import_module(f"{package}.function_call.hermes_detector")
        protocol = importlib.import_module(f"{package}.entrypoints.openai.protocol")
    except ImportError as error:
        return f"not installed ({error}); see bench/README.md"
    logging.disable(logging.CRITICAL)
    properties = {"path": {"type": "string"}, "text": {"type": "string"}}
    function = {"name": "write_file", "parameters": {"type": "object", "properties": properties}}
    return hermes.HermesDetector, [protocol.Tool(type="function", function=function)]


def against_sglang(report: Report, sizes: tuple[int, ...]) -> None:
    """The same hermes stream through SGLang's detector, which parses everything again with every delta."""
    found = detector()
    if isinstance(found, str):
        report.add(Row(SGLANG, "SGLang's detector", None, detail=found))
        return
    make, tools = found
    for size in sizes:
        text = messages.streamed("hermes", size)
        pieces = deltas(text)
        arguments: list[str] = []

        def theirs(pieces: list[str] = pieces, arguments: list[str] = arguments) -> None:
            arguments.clear()
            parser = make()
            for piece in pieces:
                calls = parser.parse_streaming_increment(piece, tools).calls
                arguments.extend(call.parameters for call in calls)

        cost = once(theirs) / len(pieces) * 1e6
        if json.loads("".join(arguments)) != toolglot.parse(text).tool_calls[0].arguments:
            raise SystemExit("SGLang's detector did not read the call")
        ours = per_delta("hermes", pieces, 9) * 1e6
        detail = f"SGLang {cost:,.0f} us a delta, toolglot {ours:.2f} us: {cost / ours:,.0f} times faster"
        times = {"SGLang": cost, "toolglot": ours}
        report.add(Row(SGLANG, f"{size / 1000:g} kB", ours / cost, "x", 1.0, detail, times))


def run(report: Report, *, quick: bool) -> None:
    """All rows about streams."""
    growth(report)
    against_sglang(report, (1_000, 4_000) if quick else (1_000, 4_000, 35_000))


def main() -> None:
    """Streams of providers and of text."""
    report = Report()
    provider_stream.run(report)
    run(report, quick=True)


if __name__ == "__main__":
    main()
