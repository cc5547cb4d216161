"""`validate_call`: one call against the tools, without a text."""

from __future__ import annotations

from typing import Any

from .definition import ToolSet
from .errors import ParseError
from .types import Repair, ToolCall


def validate_call(call: ToolCall, tools: Any, *, coerce: bool = False, repairs: list[Repair] | None = None) -> ToolCall:
    """``call`` if it fits its tool's JSON Schema; needs the extra ``validate``.

    Raises `ParseError`: ``tool_call.unknown_tool``, or ``schema.violation`` with ``error.violations``, whose positions
    are those in ``call.raw_arguments``. Raises `DefinitionError` (``schema.invalid``) if the schema of one of ``tools``
    is wrong. With ``coerce`` the call that is returned is a copy with the arguments as the schema declares them;
    ``repairs`` is a list that gets what was changed. Calls of free text and the provider's own calls are returned as
    they are.

    >>> from toolglot import Tool, ToolCall, validate_call
    >>> tool = Tool("wait", parameters={"properties": {"seconds": {"type": "integer"}}})
    >>> validate_call(ToolCall("wait", {"seconds": "2"}), [tool], coerce=True).arguments
    {'seconds': 2}
    """
    from dataclasses import replace

    from .schema.check import Checks, headline

    if not isinstance(call, ToolCall):
        raise TypeError(f"call: expected ToolCall, got {type(call).__name__}")
    declared = ToolSet.of(tools)
    checks = Checks.of(declared, True, coerce)
    assert checks is not None and declared is not None
    if call.kind != "function":
        return call
    if call.name not in declared.names:
        near = declared.nearest(call.name)
        known = ", ".join(map(repr, near)) if near else "one of the declared tools"
        text = f"no tool {call.name[:80]!r} is declared"
        raise ParseError(
            text, "tool_call.unknown_tool", expected=known, call_index=call.index, name=call.name, format=call.format
        )
    made = replace(call) if coerce else call
    judged = checks.judge(made)
    if judged is None:
        return made
    if not judged.violations:
        if repairs is not None:
            repairs += judged.repairs
        return made
    first, raw = judged.violations[0], call.raw_arguments
    place: dict[str, Any] = {}
    if raw is not None and first.span is not None:
        at = first.span[0]
        place = {"position": at, "line": raw.count("\n", 0, at) + 1, "column": at - raw.rfind("\n", 0, at)}
        place |= {"raw": raw, "span": (0, len(raw))}
    error = ParseError(
        headline(first.message, len(judged.violations), judged.more),
        "schema.violation",
        expected=first.expected,
        call_index=call.index,
        name=call.name,
        format=call.format,
        **place,
    )
    error.call, error.partial_arguments = made, made.arguments
    error.violations, error.more_violations = judged.violations, judged.more
    raise error
