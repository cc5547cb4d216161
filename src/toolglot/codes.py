"""Every code explained: what it means, a text that has it, what the model is told, what to do.

The tables here, those of `errors` and of `feedback` are what docs/errors.md and `toolglot explain CODE` are made from.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

from .api import parse, parse_tool_call
from .batch.examples import EXAMPLES
from .definition import Tool
from .errors import CODES, LOSSES, PROBLEMS, REPAIRS, Fault, ParseError, ToolglotError
from .feedback import REMEDIES
from .format import Format
from .providers._api import get_provider, parse_response
from .providers._stream import iter_events
from .registry import REGISTRY, Registry
from .rendering import render
from .types import Limits, ToolCall, ToolResult
from .values.dialect import PYTHON
from .values.literal import LiteralReader

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


def _hermes(arguments: str) -> str:
    return f'<tool_call>{{"name": "f", "arguments": {arguments}}}</tool_call>'


# Code: a text that has it, read without any options.
BROKEN: Final[dict[str, str]] = {
    "json.expected_value": _hermes('{"a": }'),
    "json.expected_key": _hermes("{a: 1}"),
    "json.expected_colon": _hermes('{"a" 1}'),
    "json.expected_comma": _hermes('{"a": 1 "b": 2}'),
    "json.trailing_comma": _hermes('{"a": 1,}'),
    "json.trailing_characters": '<tool_call>{"name": "f", "arguments": {}} x</tool_call>',
    "json.unexpected_end": '<tool_call>{"name": "f", "arguments": {"a": 1',
    "json.unterminated_string": '<tool_call>{"name": "f", "arguments": {"a": "b',
    "json.control_character": _hermes('{"a": "\n"}'),
    "json.invalid_escape": _hermes(r'{"a": "\x"}'),
    "json.invalid_unicode_escape": _hermes(r'{"a": "\u12"}'),
    "json.lone_surrogate": _hermes(r'{"a": "\ud800"}'),
    "json.invalid_literal": _hermes('{"a": nul}'),
    "json.invalid_number": _hermes('{"a": 01}'),
    "json.number_out_of_range": _hermes('{"a": 1e999}'),
    "json.number_too_long": _hermes('{"a": ' + "9" * 4301 + "}"),
    "json.duplicate_key": _hermes('{"a": 1, "a": 2}'),
    "json.too_deep": _hermes('{"a": ' + "[" * 513 + "]" * 513 + "}"),
    "tool_call.unrecognized": '<tool_call>{"a": 1}</tool_call>',
    "tool_call.invalid_name": '<tool_call>{"name": "", "arguments": {}}</tool_call>',
    "tool_call.invalid_arguments": _hermes("[1]"),
    "tool_call.ambiguous_arguments": '<tool_call>{"name": "f", "arguments": {}, "parameters": {}}</tool_call>',
    "tool_call.positional_argument": "<|python_tag|>f.call(a=1, 2)",
    "tool_call.duplicate_argument": "<|python_tag|>f.call(a=1, a=2)",
    "tool_call.expected_value": "<|python_tag|>f.call(a=)",
    "tool_call.expected_key": "<|python_tag|>f.call(a={1: 2})",
    "tool_call.expected_colon": '<|python_tag|>f.call(a={"a" 2})',
    "tool_call.expected_comma": "<|python_tag|>f.call(a=1 b=2)",
    "tool_call.expected_markup": '<invoke name="f">x</invoke>',
    "tool_call.duplicate_key": '<|python_tag|>f.call(a={"a": 1, "a": 2})',
    "tool_call.invalid_escape": r'<|python_tag|>f.call(a="\xg")',
    "tool_call.unterminated_string": '<|python_tag|>f.call(a="b\n")',
    "tool_call.unexpected_end": "<|python_tag|>f.call(a=[",
    "reasoning.unclosed": "<think>I call it. <|python_tag|>f.call()",
}


class Raised(NamedTuple):
    """What raises a code that a text alone does not: in Python or in words, and to be run."""

    shown: str
    run: Callable[[], object]


def _ambiguous() -> None:
    """A parser name that two engines give to different formats; the registry is one of its own."""
    registry = Registry()
    registry.add(Format(REGISTRY.get("glm47").pattern, id="another", engines={"another_engine": ("qwen25",)}))
    registry.resolve("qwen25")


def _tool(type_: str) -> Tool:
    return Tool("f", parameters={"properties": {"a": {"type": type_}}})


_PING: Final = _hermes("{}")
_NUMBER: Final = _hermes('{"a": 1}')
_HELLO: Final[dict[str, Any]] = {"message": {"content": "a"}}

# Code: what raises it. What is shown as Python is that, with all names of toolglot (a test runs it).
RAISES: Final[dict[str, Raised]] = {
    "tool_call.not_found": Raised("parse_tool_call('prose')", lambda: parse_tool_call("prose")),
    "tool_call.multiple": Raised("parse_tool_call('f(a=1) g(a=1)')", lambda: parse_tool_call("f(a=1) g(a=1)")),
    "tool_call.unknown_tool": Raised(f"parse('{_PING}', tools=['g'])", lambda: parse(_PING, tools=["g"])),
    # Of Python's dialect; no format has a value that is one number and nothing else, so only the reader says it.
    "tool_call.trailing_characters": Raised(
        "something stands behind a literal of Python's, as 1-2",
        lambda: LiteralReader(PYTHON, 0).feed("1-2", 0, final=True),
    ),
    "tool_call.truncated": Raised(
        "parse('<tool_call>{\"name\": \"f', finish_reason='length')",
        lambda: parse('<tool_call>{"name": "f', finish_reason="length"),
    ),
    "tool_call.limit": Raised(
        f"parse('{_PING}' * 3, limits=Limits(calls=2))", lambda: parse(_PING * 3, limits=Limits(calls=2))
    ),
    "provider.invalid_encoding": Raised("parse_response(b'\\xff')", lambda: parse_response(b"\xff")),
    "provider.invalid_event": Raised(
        "list(iter_events([b'data: {,}\\n\\n'], 'openai'))", lambda: list(iter_events([b"data: {,}\n\n"], "openai"))
    ),
    "provider.truncated_event": Raised(
        "list(iter_events([b'data: {\"a'], 'openai'))", lambda: list(iter_events([b'data: {"a'], "openai"))
    ),
    "provider.event_after_end": Raised(
        "list(iter_events([{'message': {'content': 'a'}, 'done': True}, {'message': {'content': 'a'}}], 'ollama'))",
        lambda: list(iter_events([{**_HELLO, "done": True}, _HELLO], "ollama")),
    ),
    "provider.stream_incomplete": Raised(
        "list(iter_events([{'message': {'content': 'a'}}], 'ollama'))", lambda: list(iter_events([_HELLO], "ollama"))
    ),
    "provider.error_response": Raised(
        "parse_response({'error': {'message': 'Overloaded'}})",
        lambda: parse_response({"error": {"message": "Overloaded"}}),
    ),
    "schema.violation": Raised(
        f"parse('{_NUMBER}', tools=[Tool('f', parameters={{'properties': {{'a': {{'type': 'string'}}}}}})], "
        "validate=True)",
        lambda: parse(_NUMBER, tools=[_tool("string")], validate=True),
    ),
    "schema.invalid": Raised(
        "parse('prose', tools=[Tool('f', parameters={'properties': {'a': {'type': 'strin'}}})], validate=True)",
        lambda: parse("prose", tools=[_tool("strin")], validate=True),
    ),
    "definition.unknown_provider": Raised("get_provider('no such provider')", lambda: get_provider("no such provider")),
    "definition.unknown_format": Raised("get_format('no such format')", lambda: REGISTRY.resolve("no such format")),
    "definition.ambiguous_name": Raised("a parser name that two engines give to different formats", _ambiguous),
    "definition.invalid_pattern": Raised("Format('<call>')", lambda: Format("<call>")),
    "definition.invalid_tool": Raised("Tool.from_any({})", lambda: Tool.from_any({})),
    "definition.invalid_function": Raised(
        "Tool.from_function(lambda *arguments: None)", lambda: Tool.from_function(lambda *arguments: None)
    ),
    "conversion.unsafe_value": Raised(
        "render([ToolCall('f', {'a': '<|\"|>, b'})], 'gemma4')",
        lambda: render([ToolCall("f", {"a": '<|"|>, b'})], "gemma4"),
    ),
    "conversion.missing_id": Raised(
        "get_provider('openai').results(ToolResult(None, 'x'))",
        lambda: get_provider("openai").results(ToolResult(None, "x")),
    ),
    "conversion.missing_name": Raised(
        "get_provider('google').results(ToolResult('a', 'x'))",
        lambda: get_provider("google").results(ToolResult("a", "x")),
    ),
    "conversion.lossy": Raised(
        "get_provider('openai').tools(Tool('a.b'), strict=True)",
        lambda: get_provider("openai").tools(Tool("a.b"), strict=True),
    ),
    "conversion.unsupported": Raised(
        "render([ToolCall('f', kind='custom', input='x')], 'hermes')",
        lambda: render([ToolCall("f", kind="custom", input="x")], "hermes"),
    ),
}


RAISES.update((code, Raised(shown, raises)) for code, (shown, raises) in EXAMPLES.items())


@dataclass(frozen=True, slots=True)
class CodeInfo:
    """What is known of a code.

    ``kind``: whether it is the code of a `ToolglotError`, a `Loss`, a `Problem` or a `Repair`. ``meaning`` is one
    sentence. Of an error: ``error`` is the class that is raised for the example, ``example`` a text that has the code,
    or what raises it in Python or in words; ``feedback`` what the model is told of that example, None if a model cannot
    cause it; ``repairs`` the mends with which ``on_error="repair"`` reads it, empty if it does not, None if the example
    is no text; ``advice`` what a person can do.
    """

    code: str
    kind: Literal["error", "loss", "problem", "repair"]
    meaning: str
    error: str | None = None
    example: str | None = None
    feedback: str | None = None
    repairs: tuple[str, ...] | None = None
    advice: str = ""


_TABLES: Final = (("loss", LOSSES), ("problem", PROBLEMS), ("repair", REPAIRS))


def code_info(code: str) -> CodeInfo | None:
    """What a code means, of an error, a loss, a problem or a repair; None if there is no such code.

    >>> found = code_info("json.trailing_comma")
    >>> found.meaning, found.repairs
    ('a comma stands before the closing bracket', ('repair.trailing_comma',))
    >>> code_info("loss.name").kind
    'loss'
    """
    if not isinstance(code, str):
        raise TypeError(f"code: expected str, got {type(code).__name__}")
    for kind, table in _TABLES:
        if code in table:
            return CodeInfo(code, kind, table[code])  # type: ignore[arg-type]
    if code not in CODES:
        return None
    error = example_error(code)
    told = error.feedback() if isinstance(error, ParseError) and code in REMEDIES else None
    kind_of = None if error is None else type(error).__name__
    return CodeInfo(code, "error", CODES[code], kind_of, example(code), told, example_repairs(code), hint(code))


def hint(code: str) -> str:
    """What to do about ``code``: its own entry, else its family's; empty if there is nothing to say."""
    return HINTS.get(code) or HINTS.get(code.partition(".")[0] + ".", "")


def example(code: str) -> str:
    """A text that has the code, or what raises it: in Python, or in words."""
    return BROKEN[code] if code in BROKEN else RAISES[code].shown


def example_error(code: str) -> ToolglotError | None:
    """The error of the example; None where an extra is missing that it needs."""
    try:
        if code in BROKEN:
            parse(BROKEN[code])
        else:
            RAISES[code].run()
    except ToolglotError as error:
        return error
    except Fault as fault:
        return ParseError(fault.text, fault.code)
    except ImportError:
        return None
    raise AssertionError(f"{code}: the example is sound")


def example_repairs(code: str) -> tuple[str, ...] | None:
    """The mends with which ``on_error="repair"`` reads the example; empty if it does not, None if it is no text."""
    if code not in BROKEN:
        return None
    found = parse(BROKEN[code], on_error="repair")
    return () if found.errors else tuple(one.code for one in found.repairs)
