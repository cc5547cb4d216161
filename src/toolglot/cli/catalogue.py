"""``toolglot formats``: the list, and one format with a sample that is written, read, and written again."""

from __future__ import annotations

from typing import Any

import toolglot

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
        rows = [("id", "detected", "what it is")]
        rows += [(fact["id"], fact["detected"] or "by name", fact["title"]) for fact in facts]
        screen.rows(rows, ("bold", "", ""))
    return facts


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
