"""``validate=True`` and ``coerce=True``: what is asked of every call, by text and by providers alike.

`Checks` belongs to one parse or stream. Engine and providers each ask it at one place, where a call is complete.
"""

from __future__ import annotations

from typing import Any, Final, Literal, NamedTuple

from ..definition import Tool, ToolSet
from ..engine.shapes import inner_position
from ..errors import Fault
from ..types import Repair, Span, ToolCall, Violation, json_text
from ..values.json import loads
from ..values.locate import Keys, locate, near
from .coerce import Change, coerce, holds_json
from .explain import Flaw, explain
from .validate import Compiled, compile_schema
from .walk import json_path

__all__ = ["MOST_PLACES", "Checks", "Coerce", "Judged", "Places", "headline", "to_repair", "to_violation", "wanted"]


# So many changes of a call are looked for in its text, each of which takes time as long as that is.
MOST_PLACES: Final = 256


class Judged(NamedTuple):
    """What was found out about a call: in what it does not fit, and what was read as something else.

    Spans are indices into the call's ``raw_arguments``. ``more``: how many violations there are beside those.
    """

    violations: tuple[Violation, ...]
    repairs: tuple[Repair, ...]
    more: int = 0


# What is done with values of another type than the schema's: nothing, what ``coerce=True`` says, or only that strings
# which hold the array or object that the schema wants are decoded, as ``on_error="repair"`` does.
Coerce = Literal[False, True, "decode"]


def wanted(coerce: bool, mends: bool, tools: ToolSet | None) -> Coerce:
    """What to do with types where the caller says so."""
    return coerce or ("decode" if mends and tools is not None else False)


class Checks:
    """The tools of one parse, each with its compiled schema."""

    __slots__ = ("coerce", "tools", "validate")

    def __init__(self, tools: ToolSet, validate: bool, coerce: Coerce) -> None:
        self.tools = tools
        self.validate = validate
        self.coerce = coerce
        if validate:
            # All at once: what is wrong with a schema shows when the tools are given.
            for tool in tools:
                if tool._sound is not tool.parameters and tool.kind == "function":
                    compile_schema(tool.parameters, tool.name)
                    tool._sound = tool.parameters

    @classmethod
    def of(cls, tools: ToolSet | None, validate: bool, coerce: Coerce) -> Checks | None:
        """Those that are asked for; None for none.

        Raises `DefinitionError` for a schema that is wrong, `TypeError` if there are no tools.
        """
        if not validate and not coerce:
            return None
        if tools is None:
            raise TypeError(
                f"{'validate' if validate else 'coerce'}=True: needs tools, whose schemas say what is right"
            )
        return cls(tools, validate, coerce)

    def _compiled(self, name: str) -> Compiled | None:
        """The schema that the arguments of the tool ``name`` have to fit; None: any will do."""
        tool = self.tools.get(name) if self.validate else None
        return None if tool is None or tool.kind != "function" else compile_schema(tool.parameters, name)

    def flaws(self, name: str, arguments: dict[str, Any]) -> tuple[list[Flaw], int]:
        """In what the arguments do not fit, and in how much more."""
        compiled = self._compiled(name)
        if compiled is None or compiled.fits(arguments):
            return [], 0
        return explain(compiled, arguments)

    def coerced(self, name: str, arguments: dict[str, Any]) -> tuple[dict[str, Any], list[Change]]:
        """The arguments as the schema declares them, and what was changed for that."""
        tool: Tool | None = self.tools.get(name) if self.coerce else None
        decode = self.coerce == "decode"
        if tool is None or tool.kind != "function" or (decode and not holds_json(arguments)):
            return arguments, []
        return coerce(arguments, tool.parameters, decode=decode)

    def judge(self, call: ToolCall) -> Judged | None:
        """Look at a complete call, whose arguments may change; None if there is nothing to say."""
        compiled = self._compiled(call.name)
        if compiled is None:
            if self.coerce == "decode" and not holds_json(call.arguments):
                return None
        elif not self.coerce and compiled.fits(call.arguments):
            return None
        written = call.arguments
        changes: list[Change] = []
        if self.coerce:
            call.arguments, changes = self.coerced(call.name, written)
        flaws, more = self.flaws(call.name, call.arguments)
        if not changes and not flaws:
            return None
        places = Places(call.raw_arguments, call._json, written)
        if changes:
            call._json = None
        return Judged(
            tuple(to_violation(flaw, places.of(flaw.path)) for flaw in flaws),
            tuple(
                to_repair(change, places.of(change.path) if number < MOST_PLACES else None, call.raw_arguments)
                for number, change in enumerate(changes)
            ),
            more,
        )


class Places:
    """Where arguments stand in the text that they were read from: ``raw``, whose JSON is ``text``."""

    __slots__ = ("_arguments", "_inner", "_json", "_known", "_marks", "_raw")

    def __init__(self, raw: str | None, text: str | None, arguments: dict[str, Any]) -> None:
        self._raw = raw
        self._arguments = arguments
        self._marks: dict[Any, Any] = {}
        self._known: dict[Keys, Span] = {}
        self._inner = False  # it is a JSON string that holds JSON
        self._json: str | None = None
        if raw is not None and text is not None and not raw.isspace() and raw:
            if raw.strip() == text.strip():
                self._json = raw
            elif raw.startswith('"'):
                try:
                    self._json = loads(raw)
                    self._inner = True
                except Fault:
                    pass

    def of(self, path: Keys) -> Span | None:
        """Where the value at ``path`` stands, or the next around it that can be told; None if there is no text."""
        raw = self._raw
        if raw is None:
            return None
        if path not in self._known:
            self._known[path] = self._find(raw, path)
        return self._known[path]

    def _find(self, raw: str, path: Keys) -> Span:
        if self._json is None:
            found = near(raw, self._arguments, path[0]) if path and isinstance(path[0], str) else None
            return found or (0, len(raw))
        while True:
            found = locate(self._json, path, self._marks)
            if found is not None:
                break
            path = path[:-1]
        if self._inner:
            return inner_position(raw, found[0]), inner_position(raw, found[1])
        return found


def headline(first: str, known: int, more: int) -> str:
    """What is wrong with a call: the first of its ``known`` violations, and how many there are beside it.

    Of ``more`` than are told not all may have been counted.
    """
    others = f" (and {'at least ' if more else ''}{known - 1 + more} more)"
    return first + (others if known + more > 1 else "")


def to_violation(flaw: Flaw, span: Span | None) -> Violation:
    """A violation for the caller."""
    return Violation(json_path(flaw.path), flaw.keyword, flaw.message, flaw.expected, flaw.nearest, span)


def to_repair(change: Change, span: Span | None, raw: str | None) -> Repair:
    """A repair for the caller: what stood there in the model's own characters, where they are known."""
    known = raw is not None and span is not None and not change.inside
    before = raw[span[0] : span[1]] if known else json_text(change.before)  # type: ignore[index]
    left_out = change.code == "coerce.forced_null"
    return Repair(change.code, span, before, "" if left_out else json_text(change.after))
