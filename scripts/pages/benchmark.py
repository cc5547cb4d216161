"""The page of the benchmark, from the numbers of one run (docs/benchmark.json): tables, and drawings for the site."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any, Final

from .markdown import table, text

NUMBERS: Final = Path(__file__).resolve().parents[2] / "docs" / "benchmark.json"
# Drawings: their place on the page is a comment, `<!-- drawing: NAME -->`, which stays one where they are not made.
PLACE: Final = "<!-- drawing: {} -->"
HEAD: Final = """\
# Benchmark

<!-- Made by scripts/make_docs.py from docs/benchmark.json. Do not edit. -->

Ratios, measured side by side in one process, with the time of a plain Python loop beside them: a ratio holds on another
machine, a time does not. How each is measured, and what against, is told in [bench/README.md](../bench/README.md);
`python -m bench` measures it where you are.

{machine}, {python}, Toolglot {toolglot}, {date}. The reference loop takes {loop} ns a turn.
{reached} of {judged} targets were reached in this run.
"""
# Section of the report: what is said above it, and its drawing.
SECTIONS: Final = {
    "Short messages": (
        (
            "How many times as long `parse_tool_calls` takes as the function of that name in llm-beacon, whose core is "
            "written in Rust, for the same messages with the same answers."
        ),
        "short",
    ),
    "Prose without a call, 1.2 kB": ("The same for text in which there is nothing to find.", ""),
    "Long argument, 75 kB": ("How many times as long a whole `parse` takes as `json.loads` of the arguments.", "long"),
    "Streaming, 4 characters a delta": (
        (
            "What a delta costs must not depend on how much came before it. Growth is the cost at 35 kB or 1 MB, "
            "whichever is more, over that at 1 kB."
        ),
        "delta",
    ),
    "Doubling the stream": ("Twice the text, how many times the time: 2 is linear, 4 would be quadratic.", ""),
    "Streaming hermes against SGLang": (
        "The same stream through SGLang's detector, which reads everything again with every delta. Below 1 is faster.",
        "sglang",
    ),
}
Numbers = dict[str, Any]


def load() -> Numbers:
    """The run that is shown."""
    numbers: Numbers = json.loads(NUMBERS.read_text("utf-8"))
    return numbers


def _rows(numbers: Numbers, section: str) -> list[dict[str, Any]]:
    return [row for row in numbers["rows"] if row["section"] == section]


def _figure(row: dict[str, Any]) -> str:
    if row["value"] is None:
        return "-"
    digits = 4 if abs(row["value"]) < 0.05 else 2
    return f"{row['value']:,.{digits}f} {row['unit']}".strip()


def _section(numbers: Numbers, section: str, about: str = "", drawing: str = "") -> str:
    rows = [
        (
            text(row["name"]),
            _figure(row),
            "" if row["target"] is None else f"at most {row['target']:g}",
            {"PASS": "reached", "FAIL": "missed", "": ""}[row["verdict"]],
            text(row["detail"]),
        )
        for row in _rows(numbers, section)
    ]
    place = PLACE.format(drawing) if drawing else ""
    parts = [f"## {section}", about, place, table(("what", "measured", "target", "", "times"), rows)]
    return "\n\n".join(part.strip("\n") for part in parts if part) + "\n"


def benchmark_page() -> str:
    """The page: what is judged, section by section, and the facts of the run."""
    numbers = load()
    facts = numbers["facts"]
    judged = [row for row in numbers["rows"] if row["verdict"]]
    head = HEAD.format(
        machine=facts["machine"],
        python=facts["python"],
        toolglot=facts["toolglot"],
        date=facts["date"],
        loop=facts["reference loop, ns a turn"],
        reached=sum(row["verdict"] == "PASS" for row in judged),
        judged=len(judged),
    )
    others = dict.fromkeys(row["section"] for row in numbers["rows"] if row["section"] not in SECTIONS)
    parts = [_section(numbers, section, *said) for section, said in SECTIONS.items() if _rows(numbers, section)]
    return "\n".join([head, *parts, *(_section(numbers, section) for section in others)])


# -- drawings ---------------------------------------------------------------------------------------------------------

WIDTH, LABEL, LINE = 680, 170, 24


def bars(
    title: str, values: Sequence[tuple[str, float, str]], target: float | None = None, *, log: bool = False
) -> str:
    """Horizontal bars: label, value, and what is written behind it. ``target`` is a line; ``log``: decades are equal.

    Text has the colour of the page around it, so that it can be read on light and dark.
    """
    room = WIDTH - LABEL - 140
    most = max([value for _, value, _ in values] + [target or 0.0])
    least = min(value for _, value, _ in values) / 2

    def length(value: float) -> float:
        share = math.log(value / least) / math.log(most / least) if log else value / most
        return round(room * share, 1)

    height = LINE * len(values) + 30
    drawn = [
        (
            f'<svg role="img" aria-label="{escape(title)}" viewBox="0 0 {WIDTH} {height}" width="100%" '
            f'style="max-width:{WIDTH}px" font-size="13" fill="currentColor" font-family="inherit">'
        )
    ]
    for number, (label, value, said) in enumerate(values):
        y = number * LINE
        drawn += [
            f'<text x="{LABEL - 8}" y="{y + 16}" text-anchor="end">{escape(label)}</text>',
            f'<rect x="{LABEL}" y="{y + 4}" width="{length(value)}" height="{LINE - 8}" fill="#4a7fd0"/>',
            f'<text x="{LABEL + room + 8}" y="{y + 16}">{escape(said)}</text>',
        ]
    if target is not None:
        x = LABEL + length(target)
        drawn += [
            f'<line x1="{x}" x2="{x}" y1="0" y2="{height - 22}" stroke="#d0603a" stroke-dasharray="4 3"/>',
            f'<text x="{x}" y="{height - 8}" text-anchor="middle">target: at most {target:g}</text>',
        ]
    return "<figure>\n" + "\n".join([*drawn, "</svg>", f"<figcaption>{escape(title)}</figcaption>", "</figure>"])


def drawings() -> dict[str, str]:
    """The drawings, by the comment that stands where they go."""
    numbers = load()
    short = _rows(numbers, "Short messages")
    long = [row for row in _rows(numbers, "Long argument, 75 kB") if row["target"]]
    deltas = [row for row in _rows(numbers, "Streaming, 4 characters a delta") if row["data"]]
    sglang = [row for row in _rows(numbers, "Streaming hermes against SGLang") if row["data"]]
    made = {}
    if short:
        values = [(row["name"].partition(" (")[0], row["value"], f"{row['value']:.2f} x") for row in short]
        made["short"] = bars("Short messages, times llm-beacon", values, short[0]["target"])
    if long:
        values = [(row["name"], row["value"], f"{row['value']:.2f} x (at most {row['target']:g})") for row in long]
        made["long"] = bars("A long argument, times json.loads", values)
    if deltas:
        values = [
            (f"{row['name'].partition(':')[0]}, {size}", cost, f"{cost:.2f} µs")
            for row in deltas
            for size, cost in row["data"].items()
        ]
        made["delta"] = bars("What a delta costs, by the length of the stream", values)
    if sglang:
        values = [
            (f"{who}, {row['name']}", cost, f"{cost:,.1f} µs") for row in sglang for who, cost in row["data"].items()
        ]
        made["sglang"] = bars("What a delta costs, against SGLang (decades are equal)", values, log=True)
    return {PLACE.format(name): drawing for name, drawing in made.items()}
