"""Tool results as a family's chat template writes them."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from string import Formatter
from typing import Any

from ..errors import ConversionError, UnsafeValueError
from ..format import Format, Results, base_name
from ..types import ToolResult, json_text
from .write import check_value, gemma_text

QUOTES = {"gemma": '<|"|>', "function_gemma": "<escape>"}


def write_results(fmt: Format, results: Sequence[ToolResult], model: str | None, check: bool) -> str:
    """A run of results; `ConversionError` where one cannot be written."""
    how = choose(fmt, model)
    closers = _closers(fmt, how) if check else ()
    pieces = [_one(fmt, how, result, index, closers) for index, result in enumerate(results)]
    return how.open + how.between.join(pieces) + how.close


def choose(fmt: Format, model: str | None) -> Results:
    """How this model writes results."""
    name = None if model is None else base_name(model)
    for how in fmt.results:
        if not how.models or (name is not None and any(re.search(pattern, name) for pattern in how.models)):
            return how
    raise ConversionError(f"{fmt.id}: it is not known how its template writes tool results")


def _one(fmt: Format, how: Results, result: ToolResult, index: int, closers: tuple[str, ...]) -> str:
    text = _spelled(fmt, how, result.content, index)
    for closer in closers:
        if closer in text:
            raise UnsafeValueError(f"{fmt.id}: result {index} holds {closer!r}, which would end it")
    id = result.tool_call_id
    if id is None and fmt.ids is not None and ("{name}" not in fmt.ids or result.tool_name is not None):
        id = fmt.ids.format(name=result.tool_name, index=index)
    fields = {"result": text, "name": result.tool_name, "id": id, "index": index, "number": index + 1}
    for field in ("name", "id"):
        if fields[field] is None and "{" + field + "}" in how.each:
            what = "tool_name" if field == "name" else "tool_call_id"
            raise ConversionError(f"{fmt.id}: result {index} has no {what}, which its template writes")
    return how.each.format(**fields)


def _spelled(fmt: Format, how: Results, content: Any, index: int) -> str:
    if isinstance(content, list) and any(hasattr(part, "text") or hasattr(part, "data") for part in content):
        texts = [getattr(part, "text", None) for part in content]
        if None in texts:
            raise ConversionError(f"{fmt.id}: result {index} is not only text, and its template writes text only")
        content = "".join(map(str, texts))
    check_value(content, f"{fmt.id}: result {index}")
    if how.codec == "gemma":
        return gemma_text(content if isinstance(content, dict) else {"value": content}, QUOTES["gemma"], fmt.id)
    if how.codec == "function_gemma":
        quote = QUOTES["function_gemma"]
        if isinstance(content, dict):
            return gemma_text(content, quote, fmt.id, sort=False)
        return "{" + gemma_text(content if isinstance(content, str) else json_text(content), quote, fmt.id) + "}"
    if how.codec == "text" and isinstance(content, str):
        return content
    if how.codec == "value" and isinstance(content, str):
        try:
            json.loads(content)
        except (ValueError, RecursionError):
            return json_text(content)
        return content
    return json_text(content)


def _closers(fmt: Format, how: Results) -> tuple[str, ...]:
    """What a result must not hold: control tokens, and, unless it is JSON, the markup behind it."""
    closers = [*fmt.special, *fmt.turn_ends]
    if how.codec in QUOTES:  # which refuses it itself, and writes it around strings
        closers.remove(QUOTES[how.codec])
    if how.codec == "text" or how.codec in QUOTES:
        pieces = [(text, field) for text, field, _, _ in Formatter().parse(how.each)]
        at = next(i for i, (_, field) in enumerate(pieces) if field == "result")
        behind = pieces[at + 1][0] if at + 1 < len(pieces) else ""
        closers += [text for text in (behind.strip(), how.close.strip()) if len(text) > 2]
    return tuple(dict.fromkeys(closers))
