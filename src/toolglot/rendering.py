"""Calls, results and definitions to text: what a family's chat template writes, calls checked by reading them back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pkgutil import get_data
from typing import Any, Literal, TypeAlias, TypeVar

from .api import parse
from .definition.reading import read_tools
from .engine.render import render_segments as _segments
from .engine.results import write_results
from .engine.tools import choose, write_tools
from .engine.write import check_value, json_type
from .errors import ConversionError, DefinitionError, UnsafeValueError
from .format import Format
from .registry import REGISTRY
from .types import ToolCall, ToolResult, json_text

_T = TypeVar("_T")
Unsafe: TypeAlias = Literal["raise", "allow"]


def render(
    calls: Sequence[ToolCall],
    format: str,
    *,
    content: str | None = None,
    reasoning: str | None = None,
    tools: Any = None,
    check: bool = True,
) -> str:
    """The text that the family's chat template writes for these calls.

    The text is parsed back, and what would not come back the same raises `UnsafeValueError` (unless ``check`` is
    off). `ConversionError` if the format has no way to write it, or if a value is none that JSON has.

    That it comes back is promised for a parse with the same ``tools`` and ``generation_prompt=""``. Formats that write
    values as bare text leave their types to the schema: without ``tools`` here, a schema that says just what each
    value is is presumed, and a parse without them reads ``"1"``, ``"true"``, ``"null"`` and ``"[1]"`` as what they
    look like, and in ``minimax_m3`` an empty text, list or object as None (inside a value that is refused). Content or
    reasoning of white space only comes back as None, and ``gemma4`` sorts an object's keys.

    >>> render([ToolCall("ping")], "hermes", content="On it.")
    'On it.\\n<tool_call>\\n{"name": "ping", "arguments": {}}\\n</tool_call>'
    """
    return "".join(
        text
        for text, _ in render_segments(calls, format, content=content, reasoning=reasoning, tools=tools, check=check)
    )


def render_segments(
    calls: Sequence[ToolCall],
    format: str,
    *,
    content: str | None = None,
    reasoning: str | None = None,
    tools: Any = None,
    check: bool = True,
) -> list[tuple[str, bool]]:
    """The same in segments: each text with whether it is control text of the format (True) or data (False)."""
    id = REGISTRY.resolve(format)[-1]
    fmt = REGISTRY.get(id)
    program = REGISTRY.program(id)
    calls = _listed(calls, "calls", ToolCall)
    for i, call in enumerate(calls):
        _check_call(call, i)
    for what, text in (("content", content), ("reasoning", reasoning)):
        if text is not None and not isinstance(text, str):
            raise TypeError(f"{what}: expected str or None, got {type(text).__name__}")
    try:
        merged = _merged(_segments(fmt, calls, content, reasoning, program.machine))
        if check and calls:
            text = "".join(text for text, _ in merged)
            _check_back(fmt, calls, content, reasoning, text, _presumed(calls) if tools is None else tools)
        return merged
    except RecursionError:
        raise ConversionError(f"{fmt.id}: the arguments are nested too deeply to be written") from None


def _merged(segments: Iterable[tuple[str, bool]]) -> list[tuple[str, bool]]:
    merged: list[tuple[str, bool]] = []
    for text, control in segments:
        if merged and merged[-1][1] == control:
            merged[-1] = (merged[-1][0] + text, control)
        else:
            merged.append((text, control))
    return merged


def render_results(
    results: Sequence[ToolResult], format: str, *, model: str | None = None, unsafe: Unsafe = "raise"
) -> str:
    """The text that the family's chat template writes for a run of tool results, its turn's markup included.

    ``model`` chooses where models of one family differ. A result that holds markup with which it would end itself
    raises `UnsafeValueError` unless ``unsafe="allow"``; `ConversionError` if it has no text (an image), if the format
    needs a tool's name or a call's id that it lacks, or if it is not known how the family writes results.

    >>> render_results([ToolResult("1", {"temp": 20}, "get_weather")], "glm47")
    '<|observation|><tool_response>{"temp": 20}</tool_response>'
    """
    fmt = REGISTRY.get(REGISTRY.resolve(format)[-1])
    results = _listed(results, "results", ToolResult)
    strict = _strict(model, unsafe)
    return write_results(fmt, results, model, strict) if results else ""


def _strict(model: Any, unsafe: Any) -> bool:
    """Whether what is unsafe is refused; both options are checked, also where nothing is written."""
    if model is not None and not isinstance(model, str):
        raise TypeError(f"model: expected str or None, got {type(model).__name__}")
    if unsafe not in ("raise", "allow"):
        raise ValueError(f"unsafe: expected 'raise' or 'allow', got {unsafe!r:.80}")
    return bool(unsafe == "raise")


def _listed(values: Any, name: str, cls: type[_T]) -> list[_T]:
    """An argument that has to be a list of ``cls``."""
    if not isinstance(values, Iterable):
        raise TypeError(f"{name}: expected a list of {cls.__name__}, got {type(values).__name__}")
    listed: list[_T] = list(values)
    for i, value in enumerate(listed):
        if not isinstance(value, cls):
            raise TypeError(f"{name}[{i}]: expected {cls.__name__}, got {type(value).__name__}")
    return listed


def _check_call(call: ToolCall, i: int) -> None:
    """Refuse what no format can write."""
    for field, cls in (("name", str), ("arguments", dict), ("id", str), ("input", str)):
        value = getattr(call, field)
        if not isinstance(value, cls) and (value is not None or field in ("name", "arguments")):
            raise TypeError(f"calls[{i}].{field}: expected {cls.__name__}, got {type(value).__name__}")
    if not call.name:
        raise ConversionError(f"calls[{i}].name: a call needs the name of a tool")
    for key, value in call.arguments.items():
        check_value({key: value}, f"calls[{i}]: argument {key!r:.80} of {call.name[:80]!r}")


def render_tools(tools: Any, format: str, *, model: str | None = None, unsafe: Unsafe = "raise") -> str:
    """The text with which the family's chat template presents these tools: its part of the prompt, markup included.

    ``tools`` are whatever `Tool.from_any` reads, one or several; the template is given them in OpenAI's shape. The
    part is a turn of its own where the template makes it one; else it stands in the system message (in Llama's first
    user message), and the blank lines that set it apart there are the caller's. ``model`` chooses where models of one
    family differ. A definition that holds the family's control tokens raises `UnsafeValueError` unless
    ``unsafe="allow"``; `ConversionError` if it is not known how the template writes tools, or if it cannot write these.

    >>> render_tools({"name": "ping", "description": "Ping it."}, "mistral_v13")[:67]
    '[AVAILABLE_TOOLS][{"type": "function", "function": {"name": "ping",'
    """
    fmt = REGISTRY.get(REGISTRY.resolve(format)[-1])
    strict = _strict(model, unsafe)
    how = choose(fmt, model)
    given = read_tools(tools)
    return write_tools(fmt, how, _prompt(how.prompt), given, strict) if given else ""


def _prompt(text: str) -> str:
    """A prompt that holds its place for tools; it may be named by its file."""
    if "{tools}" in text:
        return text
    try:
        data = get_data(f"{__package__}.formats", f"prompts/{text}.txt")
    except OSError:
        raise DefinitionError(f"tools: {text!r:.80} holds no {{tools}} and is no file of formats/prompts") from None
    return (data or b"").decode()


def _presumed(calls: Sequence[ToolCall]) -> list[dict[str, Any]]:
    """Tools whose schemas say what these calls' values are."""
    tools: dict[str, dict[str, Any]] = {}
    for call in calls:
        properties = tools.setdefault(call.name, {})
        for key, value in call.arguments.items():
            known = properties.setdefault(key, {"anyOf": []})["anyOf"]
            known.append(_schema_of(value) if value else {"type": json_type(value)})
    return [
        {"name": name, "parameters": {"type": "object", "properties": _narrow(properties)}}
        for name, properties in tools.items()
    ]


def _check_back(
    fmt: Format, calls: Sequence[ToolCall], content: str | None, reasoning: str | None, text: str, tools: Any
) -> None:
    back = parse(text, format=fmt.id, tools=tools, generation_prompt="", on_error="collect")
    for error in back.errors:
        if error.code == "tool_call.unknown_tool":
            raise UnsafeValueError(f"{fmt.id}: the text calls {error.name!r:.100}, which is not among the tools")
    for i, call in enumerate(calls):
        again = back.tool_calls[i] if i < len(back.tool_calls) else None
        if again is None or again.name != call.name or (again.kind, again.input) != (call.kind, call.input):
            raise UnsafeValueError(f"{fmt.id}: call {i} ({call.name!r}) would not be read back as written")
        for key, value in call.arguments.items():
            if key not in again.arguments or not _same(again.arguments[key], value):
                why = ": a tuple is read back as a list, pass a list" if _holds_tuple(value) else ""
                raise UnsafeValueError(
                    f"{fmt.id}: argument {key!r} of {call.name!r} would not be read back as written{why}"
                )
        if len(again.arguments) != len(call.arguments):
            raise UnsafeValueError(f"{fmt.id}: the arguments of {call.name!r} would not be read back as written")
    if len(back.tool_calls) != len(calls) or back.errors:
        raise UnsafeValueError(f"{fmt.id}: the text holds markup that would be read as a call")
    for what, given, found in (("content", content, back.content), ("reasoning", reasoning, back.reasoning)):
        if given and not given.isspace() and given != found:
            raise UnsafeValueError(f"{fmt.id}: the {what} would not be read back as written")


def _narrow(properties: dict[str, Any]) -> dict[str, Any]:
    return {key: s["anyOf"][0] if all(x == s["anyOf"][0] for x in s["anyOf"]) else s for key, s in properties.items()}


def _schema_of(value: Any) -> dict[str, Any]:
    """The schema that a careful caller has for a value; few say what an empty one inside another is."""
    schema: dict[str, Any] = {"type": json_type(value)}
    if isinstance(value, dict):
        schema["properties"] = {key: _schema_of(inner) for key, inner in value.items()}
    elif isinstance(value, list) and value:
        schemas = [_schema_of(inner) for inner in value]
        same = all(schema == schemas[0] for schema in schemas)
        schema["items"] = schemas[0] if same else {"anyOf": schemas}
    return {} if value in ("", [], {}) else schema


def _holds_tuple(value: Any) -> bool:
    if isinstance(value, dict | list):
        return any(map(_holds_tuple, value.values() if isinstance(value, dict) else value))
    return isinstance(value, tuple)


def _same(a: Any, b: Any) -> bool:
    """Equal, and of the same types throughout; some templates sort keys."""
    try:
        return a == b and json_text(a, sort_keys=True) == json_text(b, sort_keys=True)
    except (ValueError, TypeError):
        return False
