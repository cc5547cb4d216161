"""`Format`: everything that is known of one text format, as data."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from .errors import DefinitionError
from .pattern import Arguments, Call, CallObject, Each, Either, Hole, Item, Lit, Maybe, Node, Section, Tag, _sequence

CODECS = ("json", "python", "pythonic", "lfm", "gemma", "function_gemma")
FIELDS = frozenset(("name", "server", "tool", "id", "key", "type", "string", "index", "ignored"))
Tier = Literal["tagged", "json", "python"]


@dataclass(frozen=True, slots=True)
class Reasoning:
    """How a family delimits its reasoning.

    ``lead``, ``inner`` (behind the opener, before the closer) and ``after`` are the white space that its template
    writes around; each is taken off once if it is there.
    """

    open: str
    close: str
    lead: str = ""
    inner: tuple[str, str] = ("", "")
    after: str = ""


@dataclass(frozen=True)
class Format:
    """One text format. A file in ``formats/`` holds one as ``FORMAT``; `register_format` takes one at run time.

    ``id``: catalogue id; in a file of ``formats/`` it is the file's name and may be left out.
    ``pattern``: what a call, or a section of calls, looks like.
    ``before``: what the template writes between content and the first call, alternatives, the written one first.
    ``between``: what it writes between two calls.
    ``reasoning``, ``calls_in_reasoning``: its delimiters; whether an open block may hold a call.
    ``turn_ends``: tokens that may end the output. ``wrappers``: markup around content, dropped.
    ``finals``: at a line start they begin the final answer, behind which nothing is a call.
    ``special``: literals that are control tokens of the tokenizer.
    ``start``: the call may stand only at the start of the output, and without markup of its own.
    ``tier``, ``detect``, ``rank``: how detection treats it (a lower rank is tried first).
    ``engines``: engine to parser names. ``models``: regular expressions on a lower-case model name.
    ``max_calls``: how many its template can write. ``ids``: what a written id looks like (a format string with
    ``name`` and ``index``), if the text carries one and the call has none.
    ``per_call``: the section is written around each call. ``unit``: none of the calls counts before all are closed.
    ``bare_json``: at the start of the output its JSON counts without markup, if the tools are declared.
    ``members``: ids of formats that are read as well. ``reported``: what `ToolCall.format` says, if not ``id``.
    ``prefix_ambiguous``: a shorter text can be another sound call.
    ``parse_only``: it is read and not written.
    ``by_tool``: names and keys are markup: only declared tools and their declared parameters are read.
    """

    pattern: Node | tuple[Item, ...] | str
    id: str = ""
    title: str = ""
    aliases: tuple[str, ...] = ()
    before: tuple[str, ...] = ("",)
    between: str = ""
    lead: str = ""
    reasoning: Reasoning | None = None
    calls_in_reasoning: bool = False
    turn_ends: tuple[str, ...] = ()
    wrappers: tuple[str, ...] = ()
    finals: tuple[str, ...] = ()
    special: tuple[str, ...] = ()
    start: bool = False
    tier: Tier = "tagged"
    detect: bool = True
    rank: int = 50
    machine: str | None = None
    families: tuple[str, ...] = ()
    engines: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    models: tuple[str, ...] = ()
    source: str = ""
    verified: bool = True
    template_checked: bool = False
    max_calls: int | None = None
    per_call: bool = False
    unit: bool = False
    bare_json: bool = False
    members: tuple[str, ...] = ()
    reported: str = ""
    ids: str | None = None
    prefix_ambiguous: bool = False
    by_tool: bool = False
    parse_only: bool = False

    def nodes(self) -> tuple[Node, ...]:
        """The pattern as a sequence of nodes."""
        return _sequence(self.pattern)

    def __post_init__(self) -> None:
        what = f"format {self.id or self.title or '?'!r}"
        if self.tier not in ("tagged", "json", "python"):
            raise DefinitionError(f"{what}: tier {self.tier!r}: expected 'tagged', 'json' or 'python'")
        for name in (
            "before",
            "turn_ends",
            "wrappers",
            "finals",
            "special",
            "models",
            "members",
            "aliases",
            "families",
        ):
            if not isinstance(getattr(self, name), tuple):
                raise DefinitionError(f"{what}: {name} has to be a tuple of texts")
        for pattern in self.models:
            try:
                re.compile(pattern)
            except re.error as error:
                raise DefinitionError(f"{what}: models: {pattern!r} is no regular expression: {error}") from None
        if self.machine is None:
            _check(self)


def _check(fmt: Format) -> None:
    """Find a newcomer's mistakes before the format is used; each names the part."""
    what = f"format {fmt.id or fmt.title or '?'!r}"
    if not fmt.before:
        raise DefinitionError(f"{what}: before needs at least one text (use '' for none)")
    calls: list[Node] = []

    def walk(items: tuple[Node, ...], inside: bool, path: str) -> None:
        if not items:
            raise DefinitionError(f"{what}: {path} is empty")
        for i, node in enumerate(items):
            here = f"{path}[{i}] {type(node).__name__.lower()}"
            if isinstance(node, Call):
                if inside:
                    raise DefinitionError(f"{what}: {here}: a call inside a call")
                calls.append(node)
                walk(node.items, True, here)
                _check_call(node, f"{what}: {here}")
            elif isinstance(node, Each | Maybe):
                walk(node.items, inside, here)
            elif isinstance(node, Either):
                for option in node.options:
                    walk(option, inside, here)
            elif isinstance(node, Section):
                if inside:
                    raise DefinitionError(f"{what}: {here}: a section inside a call")
                if node.open:
                    walk(node.open, inside, here + ".open")
                walk(node.items, inside, here + ".items")
            elif not inside and isinstance(node, CallObject):
                raise DefinitionError(f"{what}: {here}: put it into call(...)")
            texts = getattr(node, "texts", None)
            if texts is not None and (not texts or not all(texts)):
                raise DefinitionError(f"{what}: {here}: a literal needs a text that is not empty")

    walk(fmt.nodes(), False, "pattern")
    if not calls:
        raise DefinitionError(f"{what}: the pattern has no call(...)")


def _check_call(node: Call, what: str) -> None:
    fields: list[str] = []

    def walk(items: tuple[Node, ...], last: bool) -> None:
        for i, item in enumerate(items):
            following = items[i + 1] if i + 1 < len(items) else None
            kind = type(item).__name__
            open_end = following is None and last
            if kind in ("Hole", "Value", "FreeText") and (open_end or type(following).__name__ in ("Hole", "Value")):
                raise DefinitionError(f"{what}: {kind.lower()} at {i} needs a literal behind it that ends it")
            if isinstance(item, Hole):
                fields.append(item.field)
            elif isinstance(item, Lit):
                if not {f for f, _ in item.says} <= FIELDS:
                    raise DefinitionError(f"{what}: lit(...): a field is one of {', '.join(sorted(FIELDS))}")
                fields.extend(f for f, _ in item.says)
            elif isinstance(item, Arguments) and item.codec not in CODECS:
                raise DefinitionError(f"{what}: arguments({item.codec!r}): expected one of {', '.join(CODECS)}")
            elif isinstance(item, Tag) and not {f for _, f in item.attributes} <= FIELDS:
                raise DefinitionError(f"{what}: tag(...): a field is one of {', '.join(sorted(FIELDS))}")
            if isinstance(item, Tag):
                fields.extend(f for _, f in item.attributes)
            elif kind == "CallObject":
                fields.extend(("name", "arguments"))
            elif kind in ("Value", "Arguments", "Elements"):
                fields.append("arguments" if kind != "Value" else "value")
            elif isinstance(item, Each | Maybe):
                walk(item.items, False)
            elif isinstance(item, Either):
                for option in item.options:
                    walk(option, False)

    walk(node.items, True)
    if "name" not in fields and "tool" not in fields:
        raise DefinitionError(
            f"{what}: nothing gives the tool's name: use name(), tag(..., name='name') or call_object()"
        )
    if "value" in fields and "key" not in fields:
        raise DefinitionError(f"{what}: value() without a key: use key() or tag(..., name='key')")
