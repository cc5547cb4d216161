"""What a person can do about an error: one sentence a code, or a family of codes."""

from __future__ import annotations

import json
from typing import Any

import toolglot

from ..pattern import Each, Elements, Tag, Value
from ..types import Message

HINTS: dict[str, str] = {
    # A code's own entry, else that of its family, which ends with a dot.
    "json.": "Send the error's feedback() to the model and let it write the call again.",
    "json.too_deep": "Raise Limits.depth if nesting this deep is expected.",
    "tool_call.": "Send the error's feedback() to the model and let it write the call again.",
    "tool_call.not_found": "Look at the text: the model answered in prose, or in a format that has to be named.",
    "tool_call.multiple": "Use parse_tool_calls or parse, which read any number of calls.",
    "tool_call.unrecognized": "Check that the format is the one that the model writes.",
    "tool_call.unknown_tool": "Declare the tool if it exists; else send feedback() to the model, it has the nearest "
    "names.",
    "tool_call.truncated": "Raise the limit on output tokens and ask again: what was cut off is never run.",
    "tool_call.limit": "Raise the field of Limits that the error names if the text is honest.",
    "reasoning.": "If the prompt opened the reasoning, say so with generation_prompt; if the output was cut off, "
    "raise the limit on output tokens.",
    "provider.": "Look at the payload at the path that the error names.",
    "provider.event_after_end": "Open a new stream for each response.",
    "provider.stream_incomplete": "What is complete stands in the message; send the request again for the rest.",
    "provider.error_response": "Look at what the provider says, and send the request again when that is settled.",
    "schema.": "Send the error's feedback() to the model and let it write the call again; `violations` are the facts.",
    "schema.invalid": "Correct the schema of the tool's parameters at the path that the error names.",
    "definition.": "Correct the declaration: the message names the part.",
    "definition.unknown_provider": "Choose one of toolglot.providers().",
    "definition.unknown_format": "Choose one of `toolglot formats`.",
    "definition.ambiguous_name": "Write engine:name, as the message lists them.",
    "definition.invalid_tool": "Give the tool as any provider defines one: a name, and a JSON Schema of parameters.",
    "definition.invalid_function": "Annotate each parameter with a type that JSON can hold, and take it by name.",
    "batch.": "Correct what the message names and give the same command again: what is done is kept.",
    "batch.invalid_line": "Look at that line of the input; the other rows are not touched by it.",
    "batch.invalid_encoding": "Look at that row of the input: it was cut within a character, or is not UTF-8.",
    "batch.line_too_long": "Look whether the line's end is missing; the line is counted as one row.",
    "batch.missing_text": "Look whether the model answered; the row is kept, with this error.",
    "batch.invalid_text": "Write text into that column; a provider's response goes into a column that is named by "
    "--response-column.",
    "batch.invalid_option": "Correct the row's option; a null leaves it to the option of the whole batch.",
    "batch.changed": "Give the options and the input that the batch was begun with, or --overwrite to begin anew.",
    "batch.crash": "Report it, with that row; the parts that are done stay.",
    "conversion.": "Choose another target, or leave out what it cannot carry.",
    "conversion.missing_id": 'Parse with ids="synthesize", or give the results together with their calls.',
    "conversion.missing_name": "Give the results together with their calls, or say the tool's name in each.",
    "conversion.lossy": "Look at the losses that the error lists; without strict=True they are accepted.",
    "conversion.unsafe_value": "Write it in a format that can escape the value, or pass the value by reference.",
}


def hint(code: str) -> str:
    """What to do about ``code``: its own entry, else its family's; empty if there is nothing to say."""
    return HINTS.get(code) or HINTS.get(code.partition(".")[0] + ".", "")


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


def _bare(node: Any) -> bool:
    """Whether a pattern reads values that only a schema can type."""
    if isinstance(node, Elements):
        return True
    if isinstance(node, Each):
        typed = {field for item in node.items if isinstance(item, Tag) for _, field in item.attributes}
        return typed.isdisjoint(("type", "string")) and any(isinstance(item, Value) for item in node.items)
    inner = [*getattr(node, "items", ()), *(item for option in getattr(node, "options", ()) for item in option)]
    return any(map(_bare, inner))
