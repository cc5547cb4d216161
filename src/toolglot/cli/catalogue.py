"""``toolglot formats``: the list, and one format with a sample that is written, read, and written again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import toolglot

from .. import golden
from ..types import ToolCall
from .data import call_data
from .escape import plain
from .show import Screen

# What a format is asked to write: two calls, a nested value, a word that is not ASCII; or what it can write at all.
SAMPLES = [
    [
        ToolCall(f"{server}get_weather", {"city": "Zürich", "days": 2}, id="0a1b2c3d4"),
        ToolCall(f"{server}create_event", {"title": "Sync", "when": {"day": 3, "slots": ["am", "pm"]}}, id="1a1b2c3d4"),
    ]
    for server in ("", "home/")
]
SAMPLES.append([ToolCall("python_interpreter", {"code": "print('Zürich')"}, id="0a1b2c3d4")])


def _facts(fmt: toolglot.Format) -> dict[str, Any]:
    return {
        "id": fmt.id,
        "title": fmt.title,
        "detected": fmt.tier if fmt.detect else None,
        "aliases": list(fmt.aliases),
        "engines": {engine: list(names) for engine, names in fmt.engines.items()},
        "families": list(fmt.families),
        "source": fmt.source,
        "verified": fmt.verified,
        "template_checked": fmt.template_checked,
    }


def _sample(fmt: toolglot.Format) -> tuple[list[ToolCall], str]:
    """Calls that the format can write, and their text; none if it is read only."""
    for sample in SAMPLES:
        calls = sample[: fmt.max_calls]
        try:
            return calls, toolglot.render(calls, fmt.id)
        except toolglot.ConversionError:
            continue
    return [], ""


def show_formats(screen: Screen | None) -> list[dict[str, Any]]:
    """Every format, one line each."""
    facts = [_facts(fmt) for fmt in toolglot.formats()]
    if screen is not None:
        # What a terminal leaves no room for is in the JSON, and on the page of one format.
        engines = screen.width is None or screen.width >= 100
        rows: list[tuple[str, ...]] = [("id", "detected", "source", *(["engines"] * engines), "families")]
        for fact in facts:
            source = fact["source"] if fact["verified"] else f"{fact['source'] or 'none'} (not verified)"
            source += ", byte-checked" if fact["template_checked"] else ""
            names = [", ".join(fact["engines"])] * engines
            rows.append((fact["id"], fact["detected"] or "by name", source, *names, ", ".join(fact["families"])))
        screen.rows(rows, ("bold", "", "", *([""] * engines), ""), wrap=True)
    return facts


def check_formats(folder: Path, ids: tuple[str, ...], screen: Screen | None) -> dict[str, Any]:
    """Every golden case in ``folder``: format by check, passed of applied, and what is wrong."""
    matrix: dict[str, dict[str, list[int]]] = {}
    wrong: list[dict[str, str]] = []
    for id in golden.folders(folder):
        if ids and id not in ids:
            continue
        counts = matrix[id] = {name: [0, 0] for name in golden.CHECKS}
        for case in golden.load_folder(folder / id):
            for name, said in golden.check(case).items():
                if said is not None:
                    counts[name][0] += not said
                    counts[name][1] += 1
                    if said:
                        wrong.append({"case": str(case), "check": name, "what": said})
    if screen is not None:
        rows: list[tuple[str, ...]] = [("format", *golden.CHECKS)]
        for id, counts in matrix.items():
            rows.append((id, *(f"{passed}/{of}" if of else "-" for passed, of in counts.values())))
        screen.rows(rows, ("bold", *("" for _ in golden.CHECKS)))
        for item in wrong:
            screen.say()
            screen.say((f"{item['case']}, {item['check']}", "bold red"))
            screen.say(plain(item["what"]), indent=2)
    return {"formats": matrix, "wrong": wrong}


def show_format(name: str, screen: Screen | None) -> dict[str, Any]:
    """One format: what it is called, who writes it, and the sample calls in it."""
    fmt = toolglot.get_format(name)
    facts = _facts(fmt)
    sample, text = _sample(fmt)
    tools = [{"name": call.name, "parameters": {"properties": {key: {} for key in call.arguments}}} for call in sample]
    message = toolglot.parse(text, format=fmt.id, tools=tools if fmt.by_tool else None)
    again = toolglot.render(message.tool_calls, fmt.id)
    facts |= {"sample": text, "calls": [call_data(call) for call in message.tool_calls], "rendered": again}
    if screen is not None:
        engines = [f"{engine}:{name}" for engine, names in fmt.engines.items() for name in names]
        screen.rows(
            [
                ("format", fmt.id),
                ("what it is", fmt.title),
                ("detected", fmt.tier if fmt.detect else "no: it has to be named"),
                ("also called", ", ".join((*fmt.aliases, *engines)) or "nothing else"),
                ("written by", ", ".join(fmt.families) or "no model by default"),
                ("source", fmt.source + ("" if fmt.verified else " (not verified)")),
                (
                    "rendering",
                    "as the chat template, byte for byte" if fmt.template_checked else "not compared with a template",
                ),
            ],
            ("bold cyan", ""),
            wrap=True,
        )
        screen.say()
        screen.say(("sample", "bold cyan"))
        screen.say(plain(text), indent=2)
        screen.say()
        screen.message(message, list(message.errors))
        screen.say()
        if again == text:
            screen.say("Written again, the calls give the same text.")
        else:
            screen.say(("written again", "bold cyan"))
            screen.say(plain(again), indent=2)
    return facts
