"""Values as the formats spell them: shapes become trees."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from ...errors import UnsafeValueError
from ...pattern import Escapes
from ...types import json_text
from ..render import escaped, ordered
from ..write import gemma_text, python_text
from .nodes import EMPTY, Chars, Node, Other, Repeat, Rules, Run, Text, Token, alt, before, maybe, seq
from .schema import FREE, LIST, Anything, Array, Const, Link, Object, Scalar, Shape, Union, kinds, options

Entry = tuple[Node, bool]


def chars(text: str, *ranges: str, negated: bool = False) -> Chars:
    """Single characters, and ranges of two."""
    return Chars((*((c, c) for c in text), *((r[0], r[1]) for r in ranges)), negated)


def _times(node: Node, least: int, most: int | None) -> Node:
    return Repeat(node, least, most)


DIGIT = chars("", "09")
HEX = chars("", "09", "af", "AF")
COUNT = seq(chars("", "19"), Repeat(DIGIT))
WHOLE = seq(maybe(Text("-")), alt((Text("0"), COUNT)))
INTEGER = Token("integer", alt((Text("0"), seq(maybe(Text("-")), COUNT))))
# No number is out of range: an exponent is at most 299.
EXPONENT = seq(
    chars("eE"),
    alt(
        (
            seq(Text("-"), _times(DIGIT, 1, 3)),
            seq(maybe(Text("+")), alt((_times(DIGIT, 1, 2), seq(chars("12"), _times(DIGIT, 2, 2))))),
        )
    ),
)
NUMBER = Token("number", seq(WHOLE, maybe(seq(Text("."), _times(DIGIT, 1, None))), maybe(EXPONENT)))
# Half of a surrogate pair may not stand alone.
CODE = alt(
    (
        seq(chars("", "09", "ac", "ef", "AC", "EF"), _times(HEX, 3, 3)),
        seq(chars("dD"), chars("", "07"), _times(HEX, 2, 2)),
    )
)
PAIR = seq(
    chars("dD"),
    chars("89abAB"),
    _times(HEX, 2, 2),
    Text("\\u"),
    chars("dD"),
    chars("", "cf", "CF"),
    _times(HEX, 2, 2),
)
JSON_ESCAPE = seq(Text("\\"), alt((chars('"\\bfnrt'), seq(Text("u"), alt((CODE, PAIR))))))
JSON_CHARS = Chars((('"', '"'), ("\\", "\\"), ("\x00", "\x1f")), True)
STRING = Token("string", seq(Text('"'), Repeat(alt((JSON_CHARS, JSON_ESCAPE))), Text('"')))
PYTHON_ESCAPE = seq(
    Text("\\"),
    alt(
        (
            chars("'\"\\abfnrtv"),
            seq(Text("x"), _times(HEX, 2, 2)),
            seq(Text("u"), CODE),
            seq(Text("U00"), alt((seq(Text("0"), chars("", "19", "af", "AF")), Text("10"))), _times(HEX, 4, 4)),
        )
    ),
)


def _python_string(quote: str, never: tuple[str, ...] = ()) -> Node:
    chars = Chars(((quote, quote), ("\\", "\\"), ("\n", "\n"), ("\r", "\r"), ("\x00", "\x00")), True)
    if never:
        return Run(quote, never, quote, chars, PYTHON_ESCAPE)
    return seq(Text(quote), Repeat(alt((chars, PYTHON_ESCAPE))), Text(quote))


def listed(rules: Rules, entries: list[Entry], comma: str = "", extra: Callable[[str], Node] | None = None) -> Node:
    """Entries in their order, those that are not required perhaps missing; then any number of what ``extra`` makes.

    ``extra`` is given the text that it begins with.
    """
    more = EMPTY if extra is None else Repeat(extra(comma))
    if not comma:
        return seq(*(node if needed else maybe(node) for node, needed in entries), more)
    size = len(entries)
    free = next((i for i, (_, needed) in enumerate(entries) if needed), size)
    ends: list[Node] = [more] * (size + 2)  # what may follow when the entry before was written
    for at in range(size - 1, 0, -1):
        node, needed = entries[at]
        step = before(comma, node)
        ends[at] = seq(step if needed else maybe(step), ends[at + 1])
        if free and at <= free + 1:  # several ways lead to the same end: it is written once
            ends[at] = rules.add("rest", ends[at])
    ways = [seq(entries[at][0], ends[at + 1]) for at in range(min(free + 1, size))]
    if free == size:
        ways.append(EMPTY if extra is None else maybe(seq(extra(""), more)))
    return _or_nothing(ways)


def _or_nothing(ways: list[Node]) -> Node:
    if EMPTY in ways:
        rest = [way for way in ways if way != EMPTY]
        return maybe(alt(rest)) if rest else EMPTY
    return alt(ways)


@dataclass(frozen=True)
class Notation:
    """A notation of values: how it spells strings, words, keys and brackets."""

    name: str
    string: Node
    const: Callable[[Any], str]
    key: Callable[[str], str]
    words: tuple[str, str, str] = ("true", "false", "null")
    comma: str = ", "
    colon: str = ": "
    free_key: tuple[str, Chars, str] | None = None  # of a key that is not declared: its opener, characters, closer
    sort: Callable[[str], str] | None = None  # by what members are sorted
    gap: Node = EMPTY  # what stands around members and items, over several lines
    objects: Notation | None = None  # how objects are spelled, if differently
    arrays: Notation | None = None

    def value(self, rules: Rules, shape: Shape) -> Node:
        """A value of this shape."""
        if isinstance(shape, Anything):
            return rules.rule(f"{self.name}-value", (self, "any"), lambda: self._any(rules))
        if isinstance(shape, Scalar):
            return self.scalar(shape.type)
        if isinstance(shape, Const):
            return Text(self.const(shape.value))
        if isinstance(shape, Link):
            # The hint is the definition's name, so that a reader recognises it.
            hint = re.sub(r"[^a-z0-9]+", "-", shape.pointer.rpartition("/")[2].lower()).strip("-") or "definition"
            key = (self, shape.schemas, shape.pointer)
            return rules.rule(f"{self.name}-{hint}", key, lambda: self.value(rules, shape.target()))
        if isinstance(shape, Union):
            if any(isinstance(part, Anything) for part in options(shape)):
                return self.value(rules, Anything())
            return alt(self.value(rules, option) for option in shape.options)
        if isinstance(shape, Array):
            if self.arrays is not None:
                return self.arrays.value(rules, shape)
            if shape is LIST:
                return rules.rule(f"{self.name}-array", (self, "array"), lambda: self._array(rules, shape))
            return self._array(rules, shape)
        if self.objects is not None:
            return self.objects.value(rules, shape)
        if shape is FREE:
            return rules.rule(f"{self.name}-object", (self, "object"), lambda: self._object(rules, shape))
        return self._object(rules, shape)

    def _any(self, rules: Rules) -> Node:
        return alt(self.value(rules, shape) for _, shape in kinds(Anything()))

    def scalar(self, type_: str) -> Node:
        """A value that is no container."""
        if type_ == "string":
            return self.string
        if type_ == "boolean":
            return alt((Text(self.words[0]), Text(self.words[1])))
        return Text(self.words[2]) if type_ == "null" else INTEGER if type_ == "integer" else NUMBER

    def _array(self, rules: Rules, shape: Array) -> Node:
        item = seq(self.gap, self.value(rules, shape.items))
        return seq(Text("["), several(rules, item, shape, self.comma), maybe(self.gap), Text("]"))

    def _object(self, rules: Rules, shape: Object) -> Node:
        return seq(Text("{"), self.members(rules, shape), maybe(self.gap), Text("}"))

    def members(self, rules: Rules, shape: Object) -> Node:
        """The members between an object's braces."""
        sort = self.sort
        members = sorted(shape.members, key=lambda m: sort(m[0])) if sort is not None else shape.members
        entries = [
            (seq(self.gap, Text(self.key(key) + self.colon), self.value(rules, inner)), needed)
            for key, inner, needed in members
        ]
        free, more = self.free_key, shape.extra
        if free is None or more is None:
            return listed(rules, entries, self.comma)
        words = tuple(self.key(key)[len(free[0]) : len(self.key(key)) - len(free[2])] for key, _, _ in members)

        def extra(lead: str) -> Node:
            if self.gap != EMPTY:
                return seq(Text(lead), self.gap, extra_key(""), self.value(rules, more))
            return seq(extra_key(lead), self.value(rules, more))

        def extra_key(lead: str) -> Node:
            return Other(lead + free[0], words, free[1], free[2] + self.colon)

        return listed(rules, entries, self.comma, extra)


def several(rules: Rules, item: Node, shape: Array, comma: str) -> Node:
    """As many items as the shape allows."""
    least, most = shape.least, shape.most
    if most == 0:
        return EMPTY
    rest = Repeat(before(comma, item), max(least - 1, 0), None if most is None else most - 1)
    some = seq(item, rest if rest.most != 0 else EMPTY)
    return some if least else maybe(some)


def safe(text: str, never: tuple[str, ...]) -> str:
    """``text``, which holds none of ``never``."""
    if any(word in text for word in never):
        raise UnsafeValueError(f"{text!r:.80} holds the markup that closes it")
    return text


def _but(chars: Chars, never: tuple[str, ...]) -> Chars:
    """Characters with which none of ``never`` begins."""
    return Chars((*chars.ranges, *((c, c) for c in dict.fromkeys(word[0] for word in never))), True)


@cache
def json_notation(never: tuple[str, ...] = (), escapes: Escapes = ()) -> Notation:
    """JSON; with ``never`` its strings do not hold these texts, unless they are escaped in a constant."""
    free = ('"', _but(JSON_CHARS, never), '"')
    if not never:
        return Notation("json", STRING, json_text, json_text, free_key=free)

    def spelled(value: Any) -> str:
        return safe(escaped(json_text(value), escapes), never)

    string = Run('"', never, '"', JSON_CHARS, JSON_ESCAPE)
    return Notation("json-in-text", string, spelled, spelled, free_key=free)


JSON = json_notation()
# How deep a value stands cannot be counted where a schema leads back to itself: so any number of blanks.
LINE = Token("line", seq(Text("\n"), Repeat(chars(" "), 0, 64)))


@cache
def written_json(compact: bool, sort: bool, lines: bool) -> Notation:
    """JSON as `json_text` writes it: without blanks, with sorted keys, over several lines."""
    if not (compact or sort or lines):
        return JSON

    def spelled(value: Any) -> str:
        return json_text(ordered(value) if sort else value, compact=compact)

    comma, colon = ("," if compact or lines else ", "), (":" if compact else ": ")
    by = (lambda key: key) if sort else None
    gap = LINE if lines else EMPTY
    return replace(JSON, name="json-written", const=spelled, comma=comma, colon=colon, sort=by, gap=gap)


_PYTHON_STRING = Token("python-string", alt((_python_string("'"), _python_string('"'))))
_KEY_CHARS = Chars((("'", "'"), ("\\", "\\"), ("\x00", "\x1f"), ("\x7f", "\x7f")), True)
PYTHON_WORDS = ("True", "False", "None")
PYTHON = Notation("python", _PYTHON_STRING, python_text, repr, PYTHON_WORDS, free_key=("'", _KEY_CHARS, "'"))
LFM = replace(PYTHON, name="lfm", const=lambda v: python_text(v, True), objects=JSON, arrays=PYTHON)


@cache
def python_notation(never: tuple[str, ...]) -> Notation:
    """Python's literals, whose strings do not hold these texts."""
    string = alt((_python_string("'", never), _python_string('"', never)))
    const = lambda v: safe(python_text(v), never)  # noqa: E731
    free = ("'", _but(_KEY_CHARS, never), "'")
    return replace(PYTHON, name="python-in-text", string=string, const=const, key=const, free_key=free)


@cache
def gemma_notation(quote: str, fmt: str) -> Notation:
    """Gemma's: bare keys, strings between two quote tokens without escapes."""
    string = seq(Text(quote), Run(quote))

    def const(value: Any) -> str:
        return gemma_text(value, quote, fmt)

    def key(name: str) -> str:
        gemma_text({name: None}, quote, fmt)  # refuses what cannot be a key
        return name

    free = ("", Chars(tuple((c, c) for c in ':{},[]"<\t\r\n'), True), "")
    return Notation("gemma", string, const, key, comma=",", colon=":", free_key=free, sort=str.lower)
