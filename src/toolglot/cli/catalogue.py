"""``toolglot formats``: the list, and one format with a sample that is written, read, and written again."""

from __future__ import annotations

from typing import Any

import toolglot

from ..types import ToolCall
from .data import call_data
from .escape import plain
from .show import Screen

# What every format is asked to write: two calls, a nested value, a word that is not ASCII.
SAMPLE = [
    ToolCall("get_weather", {"city": "Zürich", "days": 2}, id="0a1b2c3d4"),
    ToolCall("create_event", {"title": "Sync", "when": {"day": 3, "slots": ["am", "pm"]}}, id="1a1b2c3d4"),
]


def _facts(fmt: toolglot.Format) -> dict[str, Any]:
    return {
        "id": fmt.id,
        "title": fmt.title,
        "detected": fmt.tier if fmt.detect else None,
        "aliases": list(fmt.aliases),
        "engines": {engine: list(names) for engine, names in fmt.engines.items()},
        "families": list(fmt.families),
    }


def show_formats(screen: Screen | None) -> list[dict[str, Any]]:
    """Every format, one line each."""
    facts = [_facts(fmt) for fmt in toolglot.formats()]
    if screen is not None:
        rows = [("id", "detected", "what it is")]
        rows += [(fact["id"], fact["detected"] or "by name", fact["title"]) for fact in facts]
        screen.rows(rows, ("bold", "", ""))
    return facts


def show_format(name: str, screen: Screen | None) -> dict[str, Any]:
    """One format: what it is called, who writes it, and the sample calls in it."""
    fmt = toolglot.get_format(name)
    facts = _facts(fmt)
    sample = SAMPLE[: fmt.max_calls]
    text = toolglot.render(sample, fmt.id)
    message = toolglot.parse(text, format=fmt.id)
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
            ],
            ("bold cyan", ""),
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
