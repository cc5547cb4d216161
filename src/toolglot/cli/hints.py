"""What to say to a person of an output that was read, and not as it was meant."""

from __future__ import annotations

import json
from typing import Any

import toolglot

from ..pattern import Each, Elements, Tag, Value
from ..types import Message
from .escape import line
from .inputs import payload_of, recorded


def untyped(message: Message) -> str:
    """What to say of values whose type was guessed, since no schema was given; empty if there are none."""
    for call in message.tool_calls:
        if call.format is None or not any(map(_bare, toolglot.get_format(call.format).nodes())):
            continue
        for key, value in call.arguments.items():
            if not isinstance(value, str) or value in ("True", "False", "None"):
                shown = json.dumps(value, ensure_ascii=False)
                shown = shown if len(shown) <= 40 else shown[:37] + "..."
                return (
                    f"{call.format} writes values without their types, so {key[:40]!r} was read as {shown}; "
                    "--tools FILE says what each is"
                )
    return ""


def unread(message: Message) -> str:
    """What to say of call syntax in an output without a call; empty if there is none."""
    if message.provider is None and not message.tool_calls and message.content is not None:
        if toolglot.detect_format(message.content) == "python":
            return "there is call syntax in the text; it is read with --tools FILE, or as --format python or pythonic"
    return ""


def elsewhere(message: Message, options: dict[str, Any], streamed: bool) -> str:
    """What an output without a call is, if it is none of what the options say: another format's, a recorded stream."""
    text = message.content or ""
    provider = payload_of(text) if streamed and recorded(text) else None
    if provider is not None:
        return f"this is a recorded stream of {provider}; --stream cuts a model's own text, so leave it out"
    if options["format"] is None and options["model"] is None:
        return ""
    try:
        found = toolglot.parse(text, tools=options["tools"], on_error="collect")
    except toolglot.LimitError:  # a hint is not worth more than the text's own limits
        return ""
    calls = len(found.tool_calls)
    if not calls:
        return ""
    said = "--model" if options["format"] is None else "--format"
    return (
        f"without {said} there {'is 1 call' if calls == 1 else f'are {calls} calls'} in it ({line(found.format or '')})"
    )


def _bare(node: Any) -> bool:
    """Whether a pattern reads values that only a schema can type."""
    if isinstance(node, Elements):
        return True
    if isinstance(node, Each):
        typed = {field for item in node.items if isinstance(item, Tag) for _, field in item.attributes}
        return typed.isdisjoint(("type", "string")) and any(isinstance(item, Value) for item in node.items)
    inner = [*getattr(node, "items", ()), *(item for option in getattr(node, "options", ()) for item in option)]
    return any(map(_bare, inner))
