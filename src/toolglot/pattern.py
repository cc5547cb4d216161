"""The vocabulary in which a format is declared.

A pattern is a sequence of literals and named holes. One declaration is read by several interpreters: the
machine that parses (whole and streamed), the renderer, later the grammar writer and the documentation. Plain
strings stand for literals. Of several spellings of a literal the first is the one that is written; the others
are accepted.

    call("<tool_call>", ws("\\n"), call_object(), ws("\\n"), "</tool_call>")
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Codec: TypeAlias = Literal["json", "python", "pythonic", "lfm", "gemma", "function_gemma", "python_dict"]
Implied: TypeAlias = Literal["no", "line", "any"]
Bare: TypeAlias = Literal["no", "declared", "yes"]
Escapes: TypeAlias = tuple[tuple[str, str], ...]  # what a client replaces in data, and by what


@dataclass(frozen=True, slots=True)
class Lit:
    """One of several spellings of a fixed text. ``implied_by``: texts before which it may be missing.

    ``weak``: as an opener it stands before other things too, so what goes on otherwise is text and no broken call.
    ``stop``: a stop sequence. It closes a call, may be missing at the end of the text, and what follows it is content.
    ``written``: whether it is written. ``line``: as an opener it counts only at a line start. ``says``: fields that
    it sets, which stand nowhere else (``name``, ``key``, ``type``).
    """

    texts: tuple[str, ...]
    implied_by: tuple[str, ...] = ()
    weak: bool = False
    stop: bool = False
    written: bool = True
    line: bool = False
    says: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Ws:
    """White space that may be missing; ``canonical`` is what is written."""

    canonical: str = ""


@dataclass(frozen=True, slots=True)
class Hole:
    """Text up to the next literal, without the white space around it.

    ``field`` says what it is: ``name``, ``id``, ``key``, ``label`` (the name once more, which is not used), or a note
    that only this format knows (then ``canonical`` is written). ``prefix`` is taken off a name when read and put
    before it when written. ``counter``: the text is the call's id as well, in which this and a number follow the name.
    ``server`` and ``tool`` are a name in two parts, ``server/tool``. ``assigned``: a variable and ``=`` may stand
    before a name, and say nothing. ``method``: what a model may write behind the name of a tool of its
    own; it is no part of the name where the tool is declared without it.
    """

    field: str
    canonical: str = ""
    prefix: str = ""
    counter: str = ""
    assigned: bool = False
    method: str = ""

    def name_in(self, text: str) -> str:
        """The tool's name in what stands here."""
        if self.counter:
            head, _, number = text.rpartition(self.counter)
            if number.isascii() and number.isdigit():
                text = head  # empty where nothing but a number stands
        return text.removeprefix(self.prefix)


@dataclass(frozen=True, slots=True)
class Again:
    """The tool's name or the argument's name once more, in a format that is read by its tools (``by_tool``)."""

    field: str


@dataclass(frozen=True, slots=True)
class Tag:
    """An opening tag with attributes: ``open``, white space, ``key="value"`` pairs, ``end``.

    ``attributes`` maps attribute to field: ``name``, ``id``, ``key``, ``type`` (a JSON type word), ``string``
    (``true`` or ``false``), ``index`` (the call's number, from 1). ``escape``: values are written with ``&amp;``
    and ``&quot;``. ``quoted``: a value without quotes, which some models write, does not count.
    """

    open: tuple[str, ...]
    attributes: tuple[tuple[str, str], ...]
    end: str = ">"
    escape: bool = False
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class Value:
    """Text up to its closer, typed by a type attribute if the format has one, else by the tool's schema.

    ``frame`` stands once inside each end and is no part of the value. ``implied``: the next key's opener or the
    call's closer may end it too, at a ``line`` start or at ``any`` place. ``entities``: XML text.
    ``python_scalars``: written ``True``, ``False``, ``None``. ``python_containers``: lists and dicts are written as
    Python literals, and read as such where they are no JSON. ``cdata``: strings with markup or line breaks stand in
    CDATA sections.
    ``python_scalars``: written ``True``, ``False``, ``None``. ``needed``: the frame is written only around a value that
    begins or ends with it.
    """

    frame: str = ""
    implied: Implied = "no"
    entities: bool = False
    python_scalars: bool = False
    python_containers: bool = False
    cdata: bool = False
    needed: bool = False


@dataclass(frozen=True, slots=True)
class Arguments:
    """All arguments in a notation that ends by itself. ``python`` begins behind ``(`` and ends with ``)``;
    ``python_dict`` is one literal.

    ``json_containers``, ``json_values``: mappings, or all values, are written as JSON and not as Python. ``escapes``:
    what stands for markup in it (``json`` only).
    """

    codec: Codec = "json"
    sort_keys: bool = False
    json_containers: bool = False
    json_values: bool = False
    escapes: Escapes = ()


@dataclass(frozen=True, slots=True)
class FreeText:
    """The input of a custom call: text up to the literal behind it, without the white space around.

    ``line``: that literal counts only at a line start. ``escapes``: what stands for markup in it.
    """

    line: bool = False
    escapes: Escapes = ()


@dataclass(frozen=True, slots=True)
class Elements:
    """All arguments as nested elements, each tag with ``namespace`` before it; arrays are ``<item>`` children."""

    namespace: str = ""


@dataclass(frozen=True, slots=True)
class TypedElements:
    """All arguments as nested elements of one ``tag``, whose attributes say the ``name`` and the ``type``.

    A type is ``raw`` (text as it is), ``json``, ``dict`` (of named elements) or ``list`` (of unnamed ones).
    """

    tag: str
    name: str = "name"
    type: str = "type"


@dataclass(frozen=True, slots=True)
class CallObject:
    """A JSON object that is a call. The first key of each tuple is the one that is written.

    ``order`` says what is written in which order. A list of such objects is accepted where ``many`` is set.
    ``compact``, ``sort_keys``: how it is written. ``keyed``: written ``{NAME: ARGUMENTS}``; several keys are several
    calls. ``indent``: written over several lines, so many blanks a level, itself one level deep. ``wrapper``: a key
    under which the object may stand alone. ``text``: arguments that are a string, and no JSON object in one, are the
    input of a custom call. ``answers``: names that are no tools, but say that the rest is the answer. ``loose``: other
    keys may stand in it.
    """

    name: tuple[str, ...] = ("name",)
    arguments: tuple[str, ...] = ("arguments", "parameters", "input", "args")
    id: tuple[str, ...] = ("id", "call_id")
    order: tuple[str, ...] = ("name", "arguments")
    many: bool = False
    keyed: bool = False
    indent: int | None = None
    wrapper: str | None = None
    compact: bool = False
    sort_keys: bool = False
    text: bool = False
    answers: tuple[str, ...] = ()
    loose: bool = False


@dataclass(frozen=True, slots=True)
class Call:
    """The markup of one call."""

    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Each:
    """Any number of times ``items``: a call's arguments. ``empty`` is written where there are none."""

    items: tuple[Node, ...]
    empty: str = ""


@dataclass(frozen=True, slots=True)
class Maybe:
    """``items`` or nothing. Written when ``write`` is set."""

    items: tuple[Node, ...]
    write: bool = True


@dataclass(frozen=True, slots=True)
class Either:
    """One of several; the next characters decide. The first is the one that is written."""

    options: tuple[tuple[Node, ...], ...]


@dataclass(frozen=True, slots=True)
class Section:
    """``open``, any number of calls, ``close``. ``array``: with separators between them, as in a list.

    ``bare`` says whether a call counts without the section around it: ``no``, ``declared`` (if the tool is
    declared) or ``yes``. ``stray``: text between the calls is content.
    """

    open: tuple[Node, ...]
    items: tuple[Node, ...]
    close: tuple[Node, ...]
    separator: Lit | None = None
    bare: Bare = "no"
    stray: bool = False


Node: TypeAlias = (
    Lit
    | Ws
    | Hole
    | Again
    | Tag
    | Value
    | Arguments
    | FreeText
    | Elements
    | TypedElements
    | CallObject
    | Call
    | Each
    | Maybe
    | Either
    | Section
)
Item: TypeAlias = Node | str


def _nodes(items: tuple[Item, ...]) -> tuple[Node, ...]:
    return tuple(Lit((item,)) if isinstance(item, str) else item for item in items)


def _sequence(items: Item | tuple[Item, ...]) -> tuple[Node, ...]:
    return _nodes(items if isinstance(items, tuple) else (items,))


def lit(
    *texts: str,
    implied_by: str | tuple[str, ...] = (),
    weak: bool = False,
    stop: bool = False,
    written: bool = True,
    line: bool = False,
    **says: str,
) -> Lit:
    """A literal with several spellings, the written one first."""
    implied = (implied_by,) if isinstance(implied_by, str) else implied_by
    return Lit(texts, implied, weak, stop, written, line, tuple(says.items()))


def ws(canonical: str = "") -> Ws:
    """Optional white space."""
    return Ws(canonical)


def name(prefix: str = "", *, counter: str = "", assigned: bool = False, method: str = "") -> Hole:
    """The tool's name. With ``counter`` it stands in the call's id: ``name("functions.", counter=":")`` is Kimi's."""
    return Hole("name", prefix=prefix, counter=counter, assigned=assigned, method=method)


def label() -> Hole:
    """The tool's name, where it is written a second time: what stands there is not used."""
    return Hole("label")


def server() -> Hole:
    """The first part of a name that is ``server/tool``."""
    return Hole("server")


def tool() -> Hole:
    """The second part of such a name."""
    return Hole("tool")


def id_() -> Hole:
    """The call's id."""
    return Hole("id")


def again(field: str) -> Again:
    """The ``name`` or the ``key`` once more."""
    return Again(field)


def key() -> Hole:
    """An argument's name."""
    return Hole("key")


def tag(*open: str, end: str = ">", escape: bool = False, quoted: bool = False, **attributes: str) -> Tag:
    """An opening tag: ``tag("<invoke", name="name")`` is ``<invoke name="...">``."""
    return Tag(open, tuple(attributes.items()), end, escape, quoted)


def value(
    frame: str = "",
    *,
    implied: Implied = "no",
    entities: bool = False,
    python_scalars: bool = False,
    python_containers: bool = False,
    cdata: bool = False,
    needed: bool = False,
) -> Value:
    """An argument's value as bare text."""
    return Value(frame, implied, entities, python_scalars, python_containers, cdata, needed)


def arguments(
    codec: Codec = "json",
    *,
    sort_keys: bool = False,
    json_containers: bool = False,
    json_values: bool = False,
    escapes: Escapes = (),
) -> Arguments:
    """All arguments in one notation."""
    return Arguments(codec, sort_keys, json_containers, json_values, escapes)


def free_text(*, line: bool = False, escapes: Escapes = ()) -> FreeText:
    """The input of a custom call, which is no arguments."""
    return FreeText(line, escapes)


def elements(namespace: str = "") -> Elements:
    """All arguments as nested elements."""
    return Elements(namespace)


def typed_elements(tag: str, *, name: str = "name", type: str = "type") -> TypedElements:
    """All arguments as nested elements of one tag that says their types."""
    return TypedElements(tag, name, type)


def call_object(
    name: str | tuple[str, ...] = "name",
    arguments: str | tuple[str, ...] = ("arguments", "parameters", "input", "args"),
    id: str | tuple[str, ...] = ("id", "call_id"),
    order: tuple[str, ...] = ("name", "arguments"),
    many: bool = False,
    *,
    compact: bool = False,
    sort_keys: bool = False,
    keyed: bool = False,
    indent: int | None = None,
    wrapper: str | None = None,
    text: bool = False,
    answers: tuple[str, ...] = (),
    loose: bool = False,
) -> CallObject:
    """A JSON object that is a call."""

    def keys(x: str | tuple[str, ...]) -> tuple[str, ...]:
        return (x,) if isinstance(x, str) else x

    return CallObject(
        name=keys(name),
        arguments=keys(arguments),
        id=keys(id),
        order=order,
        many=many,
        keyed=keyed,
        indent=indent,
        wrapper=wrapper,
        compact=compact,
        sort_keys=sort_keys,
        text=text,
        answers=answers,
        loose=loose,
    )


def call(*items: Item) -> Call:
    """The markup of one call."""
    return Call(_nodes(items))


def each(*items: Item, empty: str = "") -> Each:
    """``items`` any number of times."""
    return Each(_nodes(items), empty)


def maybe(*items: Item, write: bool = True) -> Maybe:
    """``items`` or nothing."""
    return Maybe(_nodes(items), write)


def either(*options: Item | tuple[Item, ...]) -> Either:
    """One of several; the first is written."""
    return Either(tuple(_sequence(option) for option in options))


def section(
    open: Item | tuple[Item, ...],
    items: Item | tuple[Item, ...],
    close: Item | tuple[Item, ...] = (),
    *,
    separator: str | Lit | None = None,
    bare: Bare = "no",
    stray: bool = False,
) -> Section:
    """Calls between an opener and a closer."""
    sep = Lit((separator,)) if isinstance(separator, str) else separator
    return Section(_sequence(open), _sequence(items), _sequence(close), sep, bare, stray)
