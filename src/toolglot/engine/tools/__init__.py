"""Tool definitions as a family's chat template writes them.

JSON is written here; every other notation has a function of its own in the modules beside this one, which says the
same as the template does, its oddities included. A function gets a definition as a template gets it: the member
``function`` of OpenAI's shape.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ...definition.tool import Tool
from ...errors import ConversionError, DefinitionError, UnsafeValueError
from ...format import Format, Tools, base_name
from . import gemma, kimi, markup, python, typescript

Function = dict[str, Any]

# How control tokens look. A family that has one of the first two has more of them than its format names.
_SHAPES = (re.compile(r"<\|[^|<>\s]{1,40}\|>"), re.compile(r"<｜[^｜<>\s]{1,40}｜>"))
_TOKEN = re.compile("|".join(shape.pattern for shape in _SHAPES) + r"|\[/?[A-Z_]{3,30}\]|<SPECIAL_[0-9]+>")


def choose(fmt: Format, model: str | None) -> Tools:
    """How this model is told of tools; `ConversionError` where that is not known."""
    name = None if model is None else base_name(model)
    for how in fmt.tools:
        if not how.models or (how.default if name is None else any(re.search(pattern, name) for pattern in how.models)):
            return how
    if name is None and fmt.tools:
        raise ConversionError(f"{fmt.id}: models are told of tools in different ways; say which one by model=")
    whose = "the template" if name is None else f"the template of {model!r:.80}"
    raise ConversionError(f"{fmt.id}: it is not known how {whose} writes tool definitions")


def write_tools(fmt: Format, how: Tools, prompt: str, tools: Sequence[Tool], check: bool) -> str:
    """The tools in their ``prompt``; `UnsafeValueError` for a definition that holds the family's markup."""
    if how.notation not in EACH and how.notation not in WHOLE:
        raise DefinitionError(f"{fmt.id}: tools: no notation is called {how.notation!r:.80}")
    functions = [function_of(tool) for tool in tools]
    if check:
        _refuse(fmt, how, prompt, functions)
    try:
        whole = WHOLE.get(how.notation)
        text = whole(functions) if whole else how.between.join(map(EACH[how.notation], functions))
    except (TypeError, ValueError, LookupError, AttributeError, RecursionError) as error:
        raise ConversionError(f"{fmt.id}: its template cannot write these definitions: {error}") from error
    before, _, after = prompt.partition("{tools}")
    return before + text + after


def function_of(tool: Tool) -> Function:
    """A definition as a template gets it."""
    if tool.kind == "server":
        raise ConversionError(f"{tool.name!r} is a tool that a provider runs; no template presents it")
    function: Function = {"name": tool.name}
    if tool.description:
        function["description"] = tool.description
    function["parameters"] = tool.parameters
    if tool.strict is not None:
        function["strict"] = tool.strict
    return {**function, **tool.extra.get("openai_chat", {})}


def _refuse(fmt: Format, how: Tools, prompt: str, functions: Sequence[Function]) -> None:
    tokens = {*fmt.special, *fmt.turn_ends, *how.guards, *_TOKEN.findall(prompt + how.between)}
    for results in fmt.results:
        tokens.update(_TOKEN.findall(results.open + results.each + results.close))
    shapes = [shape for shape in _SHAPES if any(map(shape.fullmatch, tokens))]
    known = sorted(tokens)
    for function in functions:
        for text in _texts(function):
            found = next((token for token in known if token in text), None)
            for shape in shapes:
                match = shape.search(text)
                found = found or (match and match[0])
            if found:
                raise UnsafeValueError(f"{fmt.id}: the definition of {function['name']!r:.80} holds {found!r}")


def _texts(function: Function) -> Iterator[str]:
    """Every text of a definition, keys included."""
    left: list[Any] = [function]
    seen: set[int] = set()  # what holds itself is refused by the writers, or not looked at
    while left:
        value = left.pop()
        if isinstance(value, str):
            yield value
        elif id(value) in seen:
            continue
        elif isinstance(value, dict):
            left += value
            left += value.values()
        elif isinstance(value, list | tuple):
            left += value
        seen.add(id(value))


def _wrapped(function: Function) -> dict[str, Any]:
    return {"type": "function", "function": function}


def _json(value: Any, indent: int | None = None) -> str:
    return json.dumps(value, ensure_ascii=False, indent=indent)


def _nested(function: Function) -> str:
    """As an element of an indented list."""
    return "    " + _json(_wrapped(function), 4).replace("\n", "\n    ")


def _sorted(value: Any) -> str:
    """Compact, keys sorted regardless of case."""
    if isinstance(value, dict):
        items = sorted(value.items(), key=lambda item: item[0].lower())
        return "{" + ",".join(f"{_json(key)}:{_sorted(inner)}" for key, inner in items) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(map(_sorted, value)) + "]"
    return _json(value)


def _raw(function: Function) -> str:
    """JSON in which a text of the function itself is not escaped."""
    members = ((key, value) for key, value in function.items() if key != "return")
    texts = (f'"{key}": "{value}"' if isinstance(value, str) else f'"{key}": {_json(value)}' for key, value in members)
    return '{"type": "function", "function": {' + ", ".join(texts) + "}}"


def _cohere(function: Function) -> str:
    """One line of Cohere's list, in which a description is not escaped."""
    name, about, parameters = function["name"], function.get("description", ""), _json(function["parameters"])
    return f'    {{"name": "{name}", "description": "{about}", "parameters": {parameters}, "responses": null}}'


def _deepseek(function: Function) -> str:
    """A heading, and the parameters alone as JSON."""
    name, about = function["name"], function.get("description", "")
    return f"\n### {name}\nDescription: {about}\n\nParameters: {_json(function['parameters'])}\n"


def _muse(functions: Sequence[Function]) -> str:
    """The spaces that the names begin with, then the functions."""
    spaces = dict.fromkeys(function["name"].split(".")[0] for function in functions)
    lines = [f'{{"name": {_json(space)}, "description": ""}}' for space in spaces]
    lines.append("// Function schemas")
    for function in functions:
        name, about = _json(function["name"]), _json(function.get("description", ""))
        lines.append(f'{{"name": {name}, "description": {about}, "parameters": {_json(function["parameters"])}}}')
    return "\n".join(lines)


EACH: dict[str, Callable[[Function], str]] = {
    "tool": lambda function: _json(_wrapped(function)),
    "function": _json,
    "tool_compact": lambda function: json.dumps(_wrapped(function), ensure_ascii=False, separators=(",", ":")),
    "tool_ascii": lambda function: json.dumps(_wrapped(function)),
    "tool_indented": lambda function: _json(_wrapped(function), 4),
    "tool_nested": _nested,
    "tool_sorted": lambda function: _sorted(_wrapped(function)),
    "tool_raw": _raw,
    "tool_repr": lambda function: str(_wrapped(function)),
    "cohere": _cohere,
    "deepseek": _deepseek,
    "gemma": gemma.declaration,
    "html": markup.html,
    "xml": markup.xml,
    "xml_next": markup.xml_next,
    "xml_nemotron": markup.xml_nemotron,
    "python_seed": python.seed,
    "python_command_r": python.command_r,
    "python_hermes": python.hermes,
    "typescript": typescript.harmony,
    "typescript_apertus": typescript.apertus,
    "typescript_kimi": kimi.typescript,
    "typescript_functionary": typescript.functionary,
    "typescript_gigachat": typescript.gigachat,
}
"""How one function is written, by the name of the notation."""

WHOLE: dict[str, Callable[[Sequence[Function]], str]] = {"muse": _muse}
"""Notations that write all functions at once."""
