"""`Format`: everything that is known of one text format, as data."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from dataclasses import fields as dataclass_fields
from typing import Any, Literal

from .errors import DefinitionError
from .pattern import (
    Arguments,
    Call,
    CallObject,
    Each,
    Either,
    Elements,
    FreeText,
    Hole,
    Item,
    Lit,
    Maybe,
    Node,
    Section,
    Tag,
    TypedElements,
    Value,
    Ws,
    _sequence,
)

CODECS = ("json", "python", "pythonic", "lfm", "gemma", "function_gemma", "python_dict")
FIELDS = frozenset(("name", "server", "tool", "id", "key", "type", "string", "index", "ignored"))
Tier = Literal["tagged", "json", "python"]


def base_name(model: str) -> str:
    """A model's name as patterns see it: lower case, without the owner of the repository or the folders of a path.

    It is cut where no name is longer: a pattern with ``.*`` in it takes the square of the length.
    """
    name = model.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1]
    name = name.rsplit("--", 1)[-1] if name.startswith("models--") else name
    return name[:256].lower()


@dataclass(frozen=True, slots=True)
class Reasoning:
    """How a family delimits its reasoning.

    ``lead``, ``inner`` (behind the opener, before the closer) and ``after`` are the white space that its template
    writes around; each is taken off once if it is there. ``then`` is markup that the template writes behind it; it is
    read as one of the format's ``wrappers``. ``opened``: whether the prompt opens the block unless the caller asks for
    something else; regular expressions on a lower-case model name where only some models do so. ``detect``: whether
    they count as well where the format is not named; prose does not, others write it as text.
    """

    open: str
    close: str
    lead: str = ""
    inner: tuple[str, str] = ("", "")
    after: str = ""
    then: str = ""
    opened: bool | tuple[str, ...] = False
    detect: bool = True

    def opened_for(self, model: str | None) -> bool:
        """Whether the prompt of this model (None: of the family) opens the block by default."""
        if isinstance(self.opened, bool):
            return self.opened
        name = "" if model is None else base_name(model)
        return any(re.search(pattern, name) for pattern in self.opened)


@dataclass(frozen=True, slots=True)
class Results:
    """How a family's chat template writes a run of tool results, its turn's markup included.

    ``each`` is one result, literal text with the fields ``{result}``, ``{name}``, ``{id}``, ``{index}`` (from 0) and
    ``{number}`` (from 1), other braces doubled; ``open`` and ``close`` stand around the run, ``between`` between two.
    ``codec``: a result as text, everything but a string being JSON (``text``); as JSON (``json``); as JSON unless it
    is a string that holds JSON already (``value``); as an object in Gemma's notation (``gemma``); as one in
    FunctionGemma's, where text stands alone (``function_gemma``).
    ``models``: regular expressions on a lower-case model name, where only some models write it so.
    """

    each: str
    open: str = ""
    between: str = ""
    close: str = ""
    models: tuple[str, ...] = ()
    codec: Literal["text", "json", "value", "gemma", "function_gemma"] = "text"


@dataclass(frozen=True, slots=True)
class Tools:
    """How a family's chat template presents the tools' definitions.

    ``prompt``: the template's text with ``{tools}`` where they stand, or the name of a file in ``formats/prompts/``
    that holds it. ``notation``: how one is written (a key of ``EACH`` or ``WHOLE`` in ``engine/tools``): ``tool`` is
    JSON in OpenAI's shape, ``function`` what stands under its ``function``. ``between``: what stands between two.
    ``models``: regular expressions on a lower-case model name, where only some models are told so; ``default``: so is
    a model that is not named. ``guards``: markup that a definition must not hold, besides control tokens.
    """

    prompt: str
    notation: str = "tool"
    between: str = "\n"
    models: tuple[str, ...] = ()
    default: bool = False
    guards: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)  # one is equal to itself, and can be a key
class Format:
    """One text format. A file in ``formats/`` holds one as ``FORMAT``; `register_format` takes one at run time.

    ``id``: catalogue id; in a file of ``formats/`` it is the file's name and may be left out.
    ``pattern``: what a call, or a section of calls, looks like.
    ``before``: what the template writes between content and the first call, alternatives, the written one first.
    ``between``: what it writes between two calls.
    ``reasoning``, ``more_reasoning``, ``calls_in_reasoning``: its delimiters; others that are read as well; whether an
    open block may hold a call.
    ``turn_ends``: tokens that may end the output. ``wrappers``: markup around content, dropped; ``around``: what is
    written before and behind content.
    ``answer``: tags around the final answer, where the format is named: dropped at the start or behind markup, and at
    the end.
    ``prompt``: the end of the generation prompt, which is assumed where it is not known.
    ``finals``: at a line start they begin the final answer, behind which nothing is a call.
    ``special``: literals that are control tokens of the tokenizer.
    ``results``: how tool results are written back, ``tools``: how definitions are presented; the first that is for a
    model wins.
    ``start``: the call may stand only at the start of the output, and without markup of its own.
    ``tier``, ``detect``, ``rank``: how detection treats it (a lower rank is tried first).
    ``engines``: engine to parser names. ``models``: regular expressions on a lower-case model name.
    ``template``: signs of its chat template's source, each a group of literals that all have to stand there.
    ``max_calls``: how many its template can write. ``ids``: what a written id looks like (a format string with
    ``name`` and ``index``), if the text carries one and the call has none.
    ``per_call``: the section is written around each call. ``unit``: none of the calls counts before all are closed.
    ``bare_json``: at the start of the output its JSON counts without markup, if the tools are declared; texts that may
    be left of the opener then, where control tokens were taken out.
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
    more_reasoning: tuple[Reasoning, ...] = ()
    calls_in_reasoning: bool = False
    turn_ends: tuple[str, ...] = ()
    wrappers: tuple[str, ...] = ()
    around: tuple[str, str] = ("", "")
    answer: tuple[str, str] | None = None
    prompt: str = ""
    finals: tuple[str, ...] = ()
    special: tuple[str, ...] = ()
    start: bool = False
    results: tuple[Results, ...] = ()
    tools: tuple[Tools, ...] = ()
    tier: Tier = "tagged"
    detect: bool = True
    rank: int = 50
    machine: str | None = None
    families: tuple[str, ...] = ()
    engines: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    models: tuple[str, ...] = ()
    template: tuple[tuple[str, ...], ...] = ()
    source: str = ""
    verified: bool = True
    template_checked: bool = False
    max_calls: int | None = None
    per_call: bool = False
    unit: bool = False
    bare_json: bool | tuple[str, ...] = False
    members: tuple[str, ...] = ()
    reported: str = ""
    ids: str | None = None
    prefix_ambiguous: bool = False
    by_tool: bool = False
    parse_only: bool = False

    def nodes(self) -> tuple[Node, ...]:
        """The pattern as a sequence of nodes."""
        return _sequence(self.pattern)

    def reasonings(self) -> tuple[Reasoning, ...]:
        """All delimiters of reasoning, the written ones first."""
        return (() if self.reasoning is None else (self.reasoning,)) + self.more_reasoning

    def __post_init__(self) -> None:
        what = f"format {self.id or self.title or '?'!r}"
        if self.tier not in ("tagged", "json", "python"):
            raise DefinitionError(f"{what}: tier {self.tier!r}: expected 'tagged', 'json' or 'python'")
        _check_fields(self, what)
        for inner in (*self.reasonings(), *self.results, *self.tools):
            _check_fields(inner, f"{what}: {type(inner).__name__}")
        for pattern in self.models:
            try:
                re.compile(pattern)
            except re.error as error:
                raise DefinitionError(f"{what}: models: {pattern!r} is no regular expression: {error}") from None
        if self.machine is None:
            _check(self)


def _texts(value: Any) -> bool:
    return isinstance(value, tuple) and all(isinstance(text, str) for text in value)


def _all(cls: type) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, tuple) and all(isinstance(item, cls) for item in value)


# What a field has to be, by its annotation: for people and for the program.
_KINDS: dict[Any, tuple[str, Callable[[Any], bool]]] = {
    "str": ("a text", lambda value: isinstance(value, str)),
    "str | None": ("a text or None", lambda value: value is None or isinstance(value, str)),
    "bool": ("True or False", lambda value: isinstance(value, bool)),
    "int": ("a number", lambda value: isinstance(value, int)),
    "int | None": ("a positive number or None", lambda value: value is None or (isinstance(value, int) and value > 0)),
    "tuple[str, ...]": ("a tuple of texts", _texts),
    "bool | tuple[str, ...]": ("a tuple of texts, True or False", lambda v: isinstance(v, bool) or _texts(v)),
    "tuple[str, str]": ("two texts", lambda value: _texts(value) and len(value) == 2),
    "tuple[tuple[str, str], ...]": (
        "a tuple of pairs of texts",
        lambda value: isinstance(value, tuple) and all(_texts(pair) and len(pair) == 2 for pair in value),
    ),
    "tuple[tuple[str, ...], ...]": (
        "a tuple of tuples of texts",
        lambda value: isinstance(value, tuple) and all(map(_texts, value)),
    ),
    "Mapping[str, tuple[str, ...]]": (
        "a mapping of texts to tuples of texts",
        lambda value: isinstance(value, Mapping) and _texts(tuple(value)) and all(map(_texts, value.values())),
    ),
    "Reasoning | None": ("a Reasoning or None", lambda value: value is None or isinstance(value, Reasoning)),
    "tuple[Reasoning, ...]": ("a tuple of Reasoning", _all(Reasoning)),
    "tuple[Results, ...]": ("a tuple of Results", _all(Results)),
    "tuple[Tools, ...]": ("a tuple of Tools", _all(Tools)),
}


def _check_fields(declared: Any, what: str) -> None:
    """The fields of a declaration are of their kinds."""
    for one in dataclass_fields(declared):
        kind = _KINDS.get(one.type)
        if kind is not None and not kind[1](getattr(declared, one.name)):
            raise DefinitionError(f"{what}: {one.name} has to be {kind[0]}")


def _check(fmt: Format) -> None:
    """Find a newcomer's mistakes before the format is used; each names the part."""
    what = f"format {fmt.id or fmt.title or '?'!r}"
    if fmt.answer is not None and not all(fmt.answer):
        raise DefinitionError(f"{what}: answer needs two texts, an opening and a closing tag")
    if not fmt.before:
        raise DefinitionError(f"{what}: before needs at least one text (use '' for none)")
    calls: list[Node] = []

    def walk(items: tuple[Node, ...], inside: bool, path: str) -> None:
        if not items:
            raise DefinitionError(f"{what}: {path} is empty")
        for i, node in enumerate(items):
            here = f"{path}[{i}] {type(node).__name__.lower()}"
            if not isinstance(node, Node):
                raise DefinitionError(f"{what}: {here}: expected a text or an element of toolglot.pattern")
            _check_fields(node, f"{what}: {here}")
            if isinstance(node, Ws) and node.canonical.strip():
                raise DefinitionError(f"{what}: {here}: {node.canonical!r:.80} is no white space")
            if isinstance(node, Call):
                if inside:
                    raise DefinitionError(f"{what}: {here}: a call inside a call")
                calls.append(node)
                walk(node.items, True, here)
                _check_call(node, f"{what}: {here}")
            elif isinstance(node, Each | Maybe):
                walk(node.items, inside, here)
            elif isinstance(node, Either):
                if not node.options:
                    raise DefinitionError(f"{what}: {here} is empty")
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
    _check_white(fmt.nodes(), False, what)


def _check_white(nodes: tuple[Node, ...], skipped: bool, what: str) -> None:
    """A literal begins with no white space where white space before it is skipped: it would never be found.

    ``skipped``: it is before the first of ``nodes``. It is behind ``ws()``, around the arguments of ``each(...)`` and
    around the calls of a section.
    """
    for node in nodes:
        if isinstance(node, Lit | Tag):
            texts = node.texts if isinstance(node, Lit) else node.open
            white = next((text for text in texts if text[:1].isspace()), None)
            if skipped and white is not None:
                raise DefinitionError(
                    f"{what}: the literal {white!r:.80} begins with white space where white space is skipped, so it is "
                    "never found: leave that out of it, or put ws(...) there to have it written"
                )
            skipped = False
        elif isinstance(node, Ws):
            skipped = True
        elif isinstance(node, Maybe):
            _check_white(node.items, skipped, what)
        elif isinstance(node, Each | Call):
            _check_white(node.items, skipped or isinstance(node, Each), what)
            skipped = True
        elif isinstance(node, Either):
            for option in node.options:
                _check_white(option, skipped, what)
            skipped = False
        elif isinstance(node, Section):
            _check_white(node.open, False, what)
            _check_white((*node.items, *node.close), True, what)
        else:
            skipped = False


def fields(node: Node) -> tuple[str, ...]:
    """What of a call an element of a pattern gives by itself."""
    if isinstance(node, Hole):
        return ("name" if node.field == "tool" else node.field,)
    if isinstance(node, Lit):
        return tuple(field for field, _ in node.says)
    if isinstance(node, Tag):
        return tuple("name" if field == "tool" else field for _, field in node.attributes)
    if isinstance(node, CallObject):
        return ("name", "arguments", *({"id"} & {*node.order}))
    if isinstance(node, Arguments | Elements | TypedElements | FreeText):
        return ("arguments",)
    return ("value",) if isinstance(node, Value) else ()


def _check_call(node: Call, what: str) -> None:
    """Each part of a call is given once, the name on every way through the pattern and before the arguments."""
    by: dict[str, str] = {}  # what was given before, and by which element

    def walk(items: tuple[Node, ...], last: bool, by: dict[str, str], inside: bool) -> set[str]:
        """Check a sequence; gives what it gives on every way."""
        sure: set[str] = set()
        for i, item in enumerate(items):
            following = items[i + 1] if i + 1 < len(items) else None
            kind = type(item).__name__
            open_end = following is None and last
            if kind in ("Hole", "Value", "FreeText") and (open_end or type(following).__name__ in ("Hole", "Value")):
                raise DefinitionError(f"{what}: {kind.lower()} at {i} needs a literal behind it that ends it")
            if isinstance(item, Lit) and not {f for f, _ in item.says} <= FIELDS:
                raise DefinitionError(f"{what}: lit(...): a field is one of {', '.join(sorted(FIELDS))}")
            if isinstance(item, Arguments) and item.codec not in CODECS:
                raise DefinitionError(f"{what}: arguments({item.codec!r}): expected one of {', '.join(CODECS)}")
            if isinstance(item, Tag) and not {f for _, f in item.attributes} <= FIELDS:
                raise DefinitionError(f"{what}: tag(...): a field is one of {', '.join(sorted(FIELDS))}")
            for given in fields(item):
                give(given, f"{kind.lower()} at {i}", by, inside)
                sure.add(given)
            if isinstance(item, Each):
                if inside:
                    raise DefinitionError(f"{what}: each at {i} stands inside each(...)")
                one = walk(item.items, False, dict(by), True)
                if "value" in one and "key" not in one:
                    raise DefinitionError(f"{what}: value() without a key: use key() or tag(..., name='key')")
                if "key" in one and "value" not in one:
                    raise DefinitionError(f"{what}: each at {i} has a key without a value()")
                give("arguments", f"each at {i}", by, False)
            elif isinstance(item, Maybe):
                walk(item.items, False, by, inside)
            elif isinstance(item, Either):
                ways = [dict(by) for _ in item.options]
                sure |= set.intersection(*(walk(o, False, w, inside) for o, w in zip(item.options, ways, strict=True)))
                for way in ways:
                    by |= way
        return sure

    def give(given: str, part: str, by: dict[str, str], inside: bool) -> None:
        # A literal may say which argument the one value is.
        if given in by and given in ("name", "id", "arguments", "key", "value"):
            raise DefinitionError(f"{what}: {part} gives the {given} again, after {by[given]}")
        if given in ("name", "id", "arguments"):
            if inside:
                raise DefinitionError(f"{what}: {part} in each(...): one argument is a key and a value()")
            if given == "name" and "arguments" in by:
                raise DefinitionError(f"{what}: {part}: the name has to stand before the arguments ({by['arguments']})")
        elif given in ("key", "value") and not inside and "key" not in by and not part.startswith("lit"):
            raise DefinitionError(f"{what}: {part}: put the arguments, a key and a value() each, into each(...)")
        by[given] = part

    if "name" not in walk(node.items, True, by, False):
        raise DefinitionError(
            f"{what}: nothing gives the tool's name: use name(), tag(..., name='name') or call_object()"
        )
