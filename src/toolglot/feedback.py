"""What to say to a model about its broken call: facts, a text made of them, a result that answers the call.

All of it is deterministic and bounded, and text of the model stands in it only as `quoted` writes it: on one line, with
no control characters, and with nothing that a chat template or a tokenizer takes for markup.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from .types import Message, ToolResult

if TYPE_CHECKING:
    from .errors import ParseError

__all__ = ["FEEDBACK_LENGTH", "REMEDIES", "as_result", "facts", "message_feedback", "quoted", "write"]

# The most characters of a feedback, of one error or of a message's errors together.
FEEDBACK_LENGTH: Final = 2_000

REMEDIES: dict[str, str] = {
    # Code: what the model has to write instead. Every code that a model can cause has one.
    "json.expected_value": "Write a value there: a string, number, array or object, or true, false or null.",
    "json.expected_key": "Put every key in double quotes.",
    "json.expected_colon": "Write a colon between key and value.",
    "json.expected_comma": 'Write a comma between two members, and \\" for a quote inside a string.',
    "json.trailing_comma": "Leave out the comma before the closing bracket.",
    "json.trailing_characters": "Write nothing behind the JSON value.",
    "json.unexpected_end": "Close every string, array and object.",
    "json.unterminated_string": "End the string with a double quote.",
    "json.control_character": "In a string write \\n for a line break and \\t for a tab.",
    "json.invalid_escape": "Write two backslashes for a backslash.",
    "json.invalid_unicode_escape": "Write four hexadecimal digits after \\u, or the character itself.",
    "json.lone_surrogate": "Write the character itself, or both halves of its pair.",
    "json.invalid_literal": "Write true, false or null, or put the word in double quotes.",
    "json.invalid_number": "Write the number as JSON has it: no leading zero, no plus, digits around the point.",
    "json.number_out_of_range": "Write a smaller number, or a string.",
    "json.number_too_long": "Write a shorter number, or a string.",
    "json.duplicate_key": "Give each key once.",
    "json.too_deep": "Nest fewer arrays and objects.",
    "tool_call.not_found": "Write a tool call.",
    "tool_call.multiple": "Write exactly one tool call.",
    "tool_call.unrecognized": "Give the tool's name and its arguments, in the form of a call.",
    "tool_call.invalid_name": "Give the name of a tool.",
    "tool_call.invalid_arguments": "Write the arguments as one object of names and values.",
    "tool_call.ambiguous_arguments": "Give the arguments once, under one key.",
    "tool_call.positional_argument": "Write every argument as name=value.",
    "tool_call.duplicate_argument": "Give each argument once.",
    "tool_call.unknown_tool": "Call a declared tool by its exact name.",
    "tool_call.expected_value": "Write a literal there: a string, number, list or dictionary, or True, False or None.",
    "tool_call.expected_key": "Put every key in quotes.",
    "tool_call.expected_colon": "Write a colon between key and value.",
    "tool_call.expected_comma": "Write a comma between two items.",
    "tool_call.expected_markup": "Write all tags of the call, in their order.",
    "tool_call.duplicate_key": "Give each key once.",
    "tool_call.invalid_escape": "Write two backslashes for a backslash.",
    "tool_call.unterminated_string": "End the string with its quote, and write \\n for a line break.",
    "tool_call.trailing_characters": "Write nothing behind the value.",
    "tool_call.unexpected_end": "Write the call to its end.",
    "tool_call.truncated": "Write a shorter call, or do the work in several.",
    "reasoning.unclosed": "Close the reasoning before the call.",
    "schema.violation": "Give the arguments as the tool's schema has them.",
}

# What may open markup, and what is written for it. One character for one, so that a caret stays where it is.
_LESS, _SQUARE = "\N{SINGLE LEFT-POINTING ANGLE QUOTATION MARK}", "\N{MATHEMATICAL LEFT WHITE SQUARE BRACKET}"
_OPENERS: Final = str.maketrans(
    {
        **dict.fromkeys("<\N{FULLWIDTH LESS-THAN SIGN}\N{WHITE LEFT-POINTING TRIANGLE}\u2329\u3008\u27e8", _LESS),
        "\N{FULLWIDTH VERTICAL LINE}": "|",
        "\N{BLACK FLORETTE}": "*",
        "`": "'",
    }
)
# ``[INST]``, ``[TOOL_CALLS]``, ``functools[``; not the brackets of JSON.
_BRACKET = re.compile(r"\[(?=[^\s\"'\d{\[\]-])|(?<=[^\W\d_])\[")
_LEGEND: Final = {_LESS: "a less-than sign", _SQUARE: "an opening square bracket"}

_MOST: Final = {"message": 240, "expected": 240, "name": 80, "signature": 320, "path": 120, "violations": 4}


def quoted(text: str, size: int) -> str:
    r"""``text`` on one line, at most ``size`` characters of it, and nothing in it that acts.

    What is not printable becomes U+FFFD. ``<`` becomes U+2039, and so do the signs like it that open control tokens of
    some tokenizers; a square bracket that does not open JSON becomes U+27E6, a backtick an apostrophe.

    >>> print(quoted("[INST] a\n<|im_end|> [1]", 80))
    ⟦INST] a�‹|im_end|> [1]
    """
    if len(text) > size:
        text = text[: size - 3] + "..."
    if not text.isprintable():
        text = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)
    return _BRACKET.sub(_SQUARE, text.translate(_OPENERS))


def _quoted(text: str | None, kind: str) -> str | None:
    return None if text is None else quoted(text, _MOST[kind])


def facts(error: ParseError) -> dict[str, Any]:
    """What is known of an error, as JSON values; what is not known is None or empty. All text is `quoted`."""
    line, _, caret = error.context().partition("\n")
    violations = error.violations
    return {
        "code": error.code,
        "message": _quoted(error.text, "message"),
        "tool": _quoted(error.called or error.name, "name"),
        "id": _quoted(error.id, "name"),
        "position": error.position,
        "line": error.line,
        "column": error.column,
        "path": _quoted(error.path, "path"),
        "excerpt": f"{quoted(line, len(line))}\n{caret}" if line else None,
        "expected": _quoted(error.expected, "expected"),
        "nearest": [quoted(name, _MOST["name"]) for name in error.nearest],
        "signature": _quoted(error.signature, "signature"),
        "violations": [_violation(one) for one in violations[: _MOST["violations"]]],
        "more_violations": max(0, len(violations) - _MOST["violations"]) + error.more_violations,
        "instead": REMEDIES.get(error.code),
    }


def _violation(one: Any) -> dict[str, Any]:
    span = one.span
    return {
        "path": quoted(one.path, 60),
        "keyword": one.keyword,
        "message": quoted(one.message, 120),
        "expected": None if one.expected is None else quoted(one.expected, 80),
        "span": None if span is None else list(span),
    }


def write(known: dict[str, Any]) -> str:
    """The text for the model that says these `facts`; at most `FEEDBACK_LENGTH` characters."""
    code = known["code"]
    about_call = not code.startswith("provider.") and code not in ("tool_call.not_found", "tool_call.multiple")
    tool = "" if known["tool"] is None else f" of the tool '{known['tool']}'"
    head = f"Your call{tool} was not run" if about_call else "No tool was run"
    lines = []
    if known["violations"]:
        lines.append(f"{head}: the arguments do not fit.")
        for one in known["violations"]:
            wanted = f" (expected {one['expected']})" if one["expected"] else ""
            lines.append(f"- {one['path']}: {one['message']}{wanted}")
        if known["more_violations"]:
            lines.append(f"- and {known['more_violations']} more")
    else:
        message = "the output was cut off in it" if code == "tool_call.truncated" else known["message"]
        lines.append(f"{head}: {message}.")
    if known["excerpt"]:
        # Behind a mark of its own no line of the model's begins a line: some markup counts only there.
        lines += ["> " + line for line in known["excerpt"].split("\n")]
    if known["nearest"]:
        lines.append("There is: " + ", ".join(f"'{name}'" for name in known["nearest"]) + ".")
    # What says nothing new is left out.
    said = known["violations"] or code in ("tool_call.unknown_tool", "tool_call.truncated")
    if known["expected"] and not said and known["expected"] not in known["message"]:
        lines.append(f"Expected: {known['expected']}.")
    if known["signature"]:
        lines.append(f"Signature: {known['signature']}")
    again = "Write the whole call again." if about_call else ""
    signs = [f"{sign} for {words}" for sign, words in _LEGEND.items() if any(sign in line for line in lines)]
    if signs:
        lines.append(f"(Here stands {' and '.join(signs)}.)")
    lines.append(" ".join(filter(None, (known["instead"], again))))
    return "\n".join(filter(None, lines))


def message_feedback(message: Message) -> str | None:
    """The feedback of all errors of a message, one after another, as many as fit; None if there are none."""
    said: list[str] = []
    size = 0
    for number, error in enumerate(message.errors):
        text = error.feedback()
        more = f"\n\nAnd {len(message.errors) - number} more."
        if said and size + len(text) + 2 + len(more) > FEEDBACK_LENGTH:
            return "\n\n".join(said) + more
        said.append(text)
        size += len(text) + 2
    return "\n\n".join(said) or None


def as_result(error: ParseError) -> ToolResult:
    """The result that answers a broken call with the error's feedback, for `WireProvider.results`.

    It has the call's id and the tool's name where they are known (an API that wants one of them refuses a result
    without it: `ConversionError`; then the feedback goes into a message of the user). The history has to hold the call
    as the provider sent it: `WireProvider.assistant` writes complete calls only.
    """
    from .errors import ParseError

    if not isinstance(error, ParseError):
        raise TypeError(f"error: expected ParseError, got {type(error).__name__}")
    return ToolResult.failure(error.id, error.feedback(), error.name)
