"""Why a text was read as it was: what is broken, what repair would do, what looks like a call and is none.

The machine keeps nothing of a candidate that it passed over, since what it passes over is most of every text. So the
text is looked at again, only when somebody asks: for everything that opens a call in some format, each in its place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final, Literal

from .api import parse
from .definition import ToolSet
from .engine import shapes
from .errors import Fault, ParseError
from .format import Format
from .providers._api import parse_response
from .providers._names import Provider
from .registry import REGISTRY
from .types import CallPart, Limits, Message, ReasoningPart, Span, TextPart, ToolCall
from .values.dialect import JSON, PYTHON
from .values.json import scan
from .values.literal import LiteralReader

MAX_CANDIDATES: Final = 20
MAX_PLACES: Final = 200  # that are looked at; each may take as long as the text
MAX_TEXT: Final = 131_072  # characters; a longer text is not read in all the other formats
_JSON: Final = re.compile(r"\{[ \t\r\n]{0,64}[\"']|\[[ \t\r\n]{0,64}\{")
_CALL: Final = re.compile(r"(?<![A-Za-z0-9_.])[A-Za-z_][A-Za-z0-9_.]{0,127}\(")
_SHOWN: Final = 60


@dataclass(slots=True)
class Candidate:
    """Something in a text that looks like a call and is none.

    ``kind``: markup of a format, JSON, or call syntax. ``text`` is its beginning, ``span`` where that stands, ``line``
    and ``column`` count from 1. ``reason`` says in a sentence why it is no call. ``formats`` are those whose markup it
    is, and ``code`` that of the error which it would be, if it is none for that.
    """

    kind: Literal["markup", "json", "call syntax"]
    text: str
    span: Span
    line: int
    column: int
    reason: str
    formats: tuple[str, ...] = ()
    code: str | None = None


@dataclass(slots=True)
class OtherReading:
    """What a text would be read as if its format were named: ``message``, and the ``formats`` that read it so.

    No format at all means: if none were named.
    """

    formats: tuple[str, ...]
    message: Message


@dataclass(slots=True)
class Explanation:
    """Why a text was read as it was.

    ``message`` is what was read, with all errors, each with its `ParseError.feedback`. ``repaired`` is what
    ``on_error="repair"`` reads, None where that is nothing else. ``candidates`` look like calls and are none, in their
    order; ``more_places`` is how many places behind them were not looked at. ``readings``, if nothing was found: what
    the text would be read as with a format named; ``too_long`` says that this was not tried.
    """

    message: Message
    repaired: Message | None = None
    candidates: list[Candidate] = field(default_factory=list)
    more_places: int = 0
    readings: list[OtherReading] = field(default_factory=list)
    too_long: bool = False


def explain(
    text: str,
    *,
    format: str | None = None,
    model: str | None = None,
    tools: Any = None,
    tool_choice: Any = None,
    generation_prompt: str | None = None,
    finish_reason: str | None = None,
    validate: bool = False,
    coerce: bool = False,
    limits: Limits | None = None,
) -> Explanation:
    """Why a complete output is read as it is; the options are those of `parse`.

    It reads the text many times over, which is for people, and not for every output.

    >>> found = explain('Use {"city": "Oslo"} or search(query="rust").')
    >>> for candidate in found.candidates:
    ...     print(candidate.column, candidate.reason)
    5 it is JSON, but not in the shape of a call: it has 'city', where a call has a name and arguments
    25 call syntax is read only with tools that declare 'search', or with a format that is written so
    >>> [(reading.formats[0], len(reading.message.tool_calls)) for reading in found.readings]
    [('python', 1)]
    """
    if not isinstance(text, str):
        raise TypeError(f"text: expected str, got {type(text).__name__}")
    options: dict[str, Any] = {
        "tools": tools,
        "tool_choice": tool_choice,
        "generation_prompt": generation_prompt,
        "finish_reason": finish_reason,
        "validate": validate,
        "coerce": coerce,
        "limits": limits,
    }
    message = parse(text, format=format, model=model, on_error="collect", **options)
    found = Explanation(message)
    if message.errors or not message.tool_calls:
        mended = parse(text, format=format, model=model, on_error="repair", **options)
        if (mended.tool_calls, mended.errors) != (message.tool_calls, message.errors):
            found.repaired = mended
    search = _Search(text, message, tools, format, model)
    found.candidates = list(islice(search.candidates(), MAX_CANDIDATES))
    found.more_places = sum(1 for _ in search.places)
    found.too_long = len(text) > MAX_TEXT
    if not message.tool_calls and not message.errors and not found.too_long:
        found.readings = _readings(text, options, named=format is not None or model is not None)
    return found


def explain_response(
    response: Any,
    provider: str | Provider = Provider.AUTO,
    *,
    tools: Any = None,
    validate: bool = False,
    coerce: bool = False,
) -> Explanation:
    """The same of a provider's response: candidates and other readings are those in its content, and count from there.

    >>> found = explain_response('{"choices": [{"message": {"content": "[TOOL_CALLS]ping{}"}}]}')
    >>> found.message.tool_calls, found.readings[0].message.tool_calls[0].name
    ([], 'ping')
    """
    options: dict[str, Any] = {"tools": tools, "validate": validate, "coerce": coerce}
    try:
        message = parse_response(response, provider, on_error="collect", **options)
    except ParseError as error:  # it is no JSON, and nothing was read
        return Explanation(Message(errors=[error]))
    found = Explanation(message)
    if message.errors:
        mended = parse_response(response, provider, on_error="repair", **options)
        if mended.repairs:
            found.repaired = mended
    if message.content and not message.tool_calls and not message.errors:
        inner = explain(message.content, **options)
        found.candidates, found.more_places, found.too_long = inner.candidates, inner.more_places, inner.too_long
        if inner.message.tool_calls or inner.message.errors:
            found.readings.append(OtherReading((), inner.message))
        found.readings += inner.readings
    return found


def _readings(text: str, options: dict[str, Any], *, named: bool) -> list[OtherReading]:
    """What other formats read; those that read the same stand together, the most calls and fewest errors first."""
    found: list[OtherReading] = []
    ids: list[str | None] = [None] if named else []
    ids += [fmt.id for fmt in REGISTRY]
    for id in ids:
        message = parse(text, format=id, on_error="collect", **options)
        if not message.tool_calls:
            continue
        names = () if id is None else (id,)
        for other in found:
            if id is not None and other.formats and other.message.tool_calls == message.tool_calls:
                other.formats += names
                break
        else:
            found.append(OtherReading(names, message))
    return sorted(found, key=lambda one: (len(one.message.errors), -len(one.message.tool_calls), bool(one.formats)))


class _Search:
    """Looks for what seems to be a call, in the text between what was read as calls, errors and separators."""

    def __init__(self, text: str, message: Message, tools: Any, format: str | None, model: str | None) -> None:
        self.text = text
        self.message = message
        self.tools = ToolSet.of(tools)
        named = None
        if format is not None:
            named = REGISTRY.resolve(format)
        elif model is not None and (known := REGISTRY.for_model(model)) is not None:
            named = (known,)
        self.named = None if named is None else " or ".join(named)
        self.openers: dict[str, list[Format]] = {}
        plan = REGISTRY.plan(None)
        for program in [*(REGISTRY.program(id) for id in named or ()), *plan.programs]:
            starters = program.openers if program.machine is None else program.machine.starters
            for opener in starters:
                known_formats = self.openers.setdefault(opener, [])
                if program.fmt not in known_formats:
                    known_formats.append(program.fmt)
        literals = sorted(self.openers, key=len, reverse=True)
        self.markup = re.compile("|".join(map(re.escape, literals)))
        self.places = self._places()

    def _places(self) -> Iterator[tuple[str, int, int, bool]]:
        """Kind, position, end of the stretch, and whether that is reasoning, of everything to be looked at."""
        for part in self.message.parts:
            if not isinstance(part, TextPart | ReasoningPart) or part.span is None:
                continue
            start, end = part.span
            reasoning = isinstance(part, ReasoningPart)
            found = [
                (match.start(), kind)
                for kind, pattern in (("markup", self.markup), ("json", _JSON), ("call syntax", _CALL))
                for match in pattern.finditer(self.text, start, end)
            ]
            for at, kind in sorted(found):
                yield kind, at, end, reasoning

    def candidates(self) -> Iterator[Candidate]:
        """Each with the reason, in the order of the text."""
        past = 0  # what was looked at as a whole
        for kind, at, end, reasoning in islice(self.places, MAX_PLACES):
            if at < past:
                continue
            found: tuple[Candidate, int] | None
            if kind == "markup":
                found = self._markup(at, end)
            elif kind == "json":
                found = self._json(at, end)
            else:
                found = self._call(at, end)
            if found is None:
                continue
            candidate, past = found
            if reasoning:
                candidate.reason = "; ".join(
                    filter(None, ("it stands in the reasoning, which is not run", candidate.reason))
                )
            elif not candidate.reason:
                candidate.reason = "it is a call, but not where it stands"
            yield candidate

    def _candidate(self, kind: Any, at: int, upto: int, reason: str, **more: Any) -> Candidate:
        shown = self.text[at : min(upto, at + _SHOWN)]
        start = self.text.rfind("\n", 0, at) + 1
        line = self.text.count("\n", 0, at) + 1
        return Candidate(kind, shown, (at, upto), line, at - start + 1, reason, **more)

    def _only(self) -> str:
        """Why what would be a call is none: what was looked for is something else."""
        return f"only {self.named} was looked for" if self.named is not None else ""

    def _markup(self, at: int, end: int) -> tuple[Candidate, int]:
        match = self.markup.match(self.text, at)
        assert match is not None
        opener = match.group()
        formats = self.openers[opener]
        calls = {fmt.id: call for fmt in formats if (call := self._reads(fmt, self.text[at:end])) is not None}
        if not calls:
            ids = tuple(fmt.id for fmt in formats)
            reason = f"it opens a call of {_listed(ids)}, and what stands behind it is none"
            return self._candidate("markup", at, match.end(), reason, formats=ids), match.end()
        own = parse(self.text[at:end], on_error="collect").tool_calls
        first = calls.get(own[0].format or "") if own else None
        if first is not None:  # what it is where nothing is named; who shares the opener may read something else of it
            same = [id for id, call in calls.items() if (call.name, call.arguments) == (first.name, first.arguments)]
            ids = tuple(sorted(same, key=lambda id: calls[id] is not first))
        else:
            ids = tuple(calls)
        upto = max(calls[id].span[1] for id in ids)  # type: ignore[index]  # it was read from a text
        reason = self._only() and f"it is a call of {_listed(ids)}, and {self._only()}"
        return self._candidate("markup", at, at + upto, reason, formats=ids), at + upto

    def _reads(self, fmt: Format, text: str) -> ToolCall | None:
        """The call that stands at the start of a text, if the format reads one there."""
        tools = [*self.tools] if self.tools is not None else None
        found = parse(text, format=fmt.id, tools=tools, on_error="collect", generation_prompt="")
        for part in found.parts:
            if isinstance(part, CallPart):  # in front of it there is only markup
                return part.call
            if not isinstance(part, TextPart) or part.text.strip():
                break
        return None

    def _json(self, at: int, end: int) -> tuple[Candidate, int] | None:
        text = self.text[:end]
        value = scan(text, at, 512)
        if value is None:
            return self._broken_json(text, at)
        upto = value[1]
        read = shapes.read(text, at, 0)
        shape = None if read is None else read[0]
        code = None
        if isinstance(shape, Fault):
            reason, code = f"it is JSON in the shape of a call, but {shape.text}", shape.code
        elif not shape:
            reason = "it is JSON, but not in the shape of a call: " + _keys(value[0])
        else:
            reason = self._why([call.name for call in shape])
        return self._candidate("json", at, upto, reason, code=code), upto

    def _broken_json(self, text: str, at: int) -> tuple[Candidate, int]:
        reader = LiteralReader(JSON, at)
        try:
            reader.feed(text, at, True)
            said, code = "it is nested too deeply", "json.too_deep"
        except Fault as fault:
            said, code = fault.text, fault.code
        reason = f"it is no JSON ({said}), and nothing before that shows that it is a call"
        return self._candidate("json", at, at + 1, reason, code=code), at + 1

    def _call(self, at: int, end: int) -> tuple[Candidate, int] | None:
        """Call syntax: what is no such thing is prose, unless it has the name of a tool."""
        text = self.text[:end]
        paren = text.index("(", at)
        name = text[at:paren]
        declared = self.tools is not None and name in self.tools.names
        reader = LiteralReader(PYTHON, paren + 1, json_out=True, arguments=True)
        try:
            upto = reader.feed(text, paren + 1, True)
        except Fault as fault:
            if not declared:
                return None
            return self._candidate("call syntax", at, paren + 1, f"it is no call: {fault.text}", code=fault.code), paren
        reason = self._why([name])
        if self.tools is None and self.named is None and not self.message.tool_calls:
            reason = (
                f"call syntax is read only with tools that declare {name[:80]!r}, or with a format that is written so"
            )
        return self._candidate("call syntax", at, upto, reason), upto

    def _why(self, names: Sequence[str]) -> str:
        """Why calls without markup, which are whole, are none; empty if for nothing but where they stand."""
        only = self._only()
        if only:
            return only
        unknown = [name for name in names if self.tools is not None and name not in self.tools.names]
        if unknown and self.tools is not None:
            near = _listed(self.tools.nearest(unknown[0]) or sorted(self.tools.names)[:5])
            return f"no tool {unknown[0][:80]!r} is declared, and without markup it is then prose; there is {near}"
        if self.message.tool_calls or self.message.errors:
            return "where there are calls with markup, or JSON before call syntax, what has none is text"
        return ""


def _listed(names: Sequence[str]) -> str:
    """At most five names."""
    shown = ", ".join(names[:5])
    return shown if len(names) <= 5 else f"{shown} and {len(names) - 5} more"


def _keys(value: Any) -> str:
    """What a JSON value has, where a call has its name."""
    wanted = "where a call has a name and arguments"
    if isinstance(value, list):
        return f"it is a list, {wanted.replace('where a call has', 'each item of which would have to have')}"
    return f"it has {_listed([repr(key[:40]) for key in value]) or 'no keys'}, {wanted}"
