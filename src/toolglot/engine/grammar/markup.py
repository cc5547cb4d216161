"""Values in markup: bare text up to its closer, and nested elements."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ...errors import UnsafeValueError
from ...pattern import TypedElements, Value
from ..render import ENTITIES, escaped
from ..write import scalar_text, value_text
from .nodes import EMPTY, Json, Node, Other, Repeat, Rules, Run, Text, Token, alt, maybe, seq
from .schema import Anything, Array, Const, Link, Object, Scalar, Shape, Union, kinds, not_null, options
from .values import (
    JSON,
    PYTHON_WORDS,
    Entry,
    Notation,
    chars,
    json_notation,
    listed,
    python_notation,
    safe,
    several,
)


@dataclass(frozen=True)
class Bare:
    """Bare text up to ``closer``, as ``node`` says; none of ``never``, a closer among them, stands in it."""

    closer: str
    never: tuple[str, ...]
    node: Value

    def value(self, rules: Rules, shape: Shape) -> Node:
        """A value of this shape, with what closes it."""
        parts = options(shape)
        frame = "" if self.node.needed else self.node.frame  # a string that needs it has it
        end = Text(frame + self.closer)
        if any(isinstance(p, Anything) or p == Scalar("string") for p in parts):
            never = tuple(text for text in self.never if text != end.text)
            return Run(end.text, never, frame) if not self.node.cdata else seq(CDATA, end)
        return seq(Text(frame), alt(self._plain(rules, part) for part in parts), end)

    def _plain(self, rules: Rules, shape: Shape) -> Node:
        node = self.node
        if isinstance(shape, Const):
            text = safe(value_text(node, shape.value), self.never)
            framed = node.needed and (text.startswith(node.frame) or text.endswith(node.frame))
            return Text(node.frame + text + node.frame if framed else text)
        if isinstance(shape, Scalar):
            return replace(JSON, words=PYTHON_WORDS if node.python_scalars else JSON.words).scalar(shape.type)
        never = tuple(n for n in self.never if "\n" not in n)
        return python_notation(never).value(rules, shape) if node.python_containers else as_json(rules, shape, never)


# A string without markup and line breaks, or sections one after the other.
CDATA = alt(
    (
        maybe(Token("line-of-text", Repeat(chars("<&\n", negated=True), 1))),
        Repeat(seq(Text("<![CDATA["), Run("]]>")), 1),
    )
)


@dataclass(frozen=True)
class Elements:
    """Nested elements, ``namespace`` before every tag."""

    namespace: str

    def members(self, rules: Rules, shape: Object, where: str) -> Node:
        """The elements of an object's members; what may be null may be missing."""
        if shape.extra is not None:
            rules.note(where, "additionalProperties (further members are not written)")
        entries: list[Entry] = []
        for key, inner, needed in shape.members:
            rest, nullable = not_null(inner)
            if rest is not None:
                entries.append((self.element(rules, key, rest, f"{where}.{key}"), needed and not nullable))
        return listed(rules, entries)

    def element(self, rules: Rules, key: str, shape: Shape, where: str) -> Node:
        """One element."""
        if not key or any(c in key for c in "<>"):
            raise UnsafeValueError(f"{where}: {key!r} cannot be an element's name")
        ns = self.namespace
        if not ns:  # then elements do not nest: a value is bare text
            return seq(Text(f"<{key}>"), Bare(f"</{key}>", (f"</{key}>",), Value()).value(rules, shape))
        parts = options(shape)
        opener, end = Text(f"{ns}<{key}>"), Text(f"{ns}</{key}>")
        if any(isinstance(p, Anything) or p == Scalar("string") for p in parts):
            return seq(opener, Run(ns), Text(f"</{key}>"))
        return seq(opener, alt(self._content(rules, part, where) for part in parts), end)

    def _content(self, rules: Rules, shape: Shape, where: str) -> Node:
        if isinstance(shape, Const):
            return Text("" if shape.value is None else safe(scalar_text(shape.value, False), (self.namespace,)))
        if isinstance(shape, Scalar):
            return EMPTY if shape.type == "null" else JSON.scalar(shape.type)
        if isinstance(shape, Array):
            items = shape.items
            item = rules.rule("item", (self, "item", shape), lambda: self.element(rules, "item", items, f"{where}[]"))
            return several(rules, item, shape, "")
        assert isinstance(shape, Object)
        if shape.members:
            return rules.rule("members", (self, shape), lambda: self.members(rules, shape, where))
        # Names that nobody declared cannot be opened and closed by a grammar; JSON in an element is read too.
        return EMPTY if shape.extra is None else maybe(as_json(rules, shape, (self.namespace,)))


@dataclass(frozen=True)
class Typed:
    """Nested elements of one tag, which say their types."""

    node: TypedElements

    def members(self, rules: Rules, shape: Object) -> Node:
        """The elements of an object's members."""
        begin = f'<{self.node.tag} {self.node.name}="'
        words = [escaped(key, ENTITIES) for key, _, _ in shape.members]
        entries = [
            (seq(Text(f'{begin}{word}"'), self.content(rules, inner)), needed)
            for word, (_, inner, needed) in zip(words, shape.members, strict=True)
        ]
        more = shape.extra
        if more is None:
            return listed(rules, entries)
        # Without "#" no character of a declared key can be written in another way.
        key = Other(begin, tuple(words), chars('"<>#', "\x00\x1f", negated=True), '"')
        return listed(rules, entries, "", lambda _: seq(key, self.content(rules, more)))

    def content(self, rules: Rules, shape: Shape) -> Node:
        """An element from its type on."""
        if isinstance(shape, Anything):
            return rules.rule("typed-value", (self, "any"), lambda: self._any(rules, kinds(shape)))
        if isinstance(shape, Link):
            target = shape.target()
            return rules.rule("typed", (self, shape.schemas, shape.pointer), lambda: self.content(rules, target))
        if isinstance(shape, Union):
            return alt(self.content(rules, option) for option in shape.options)
        if isinstance(shape, Const) and isinstance(shape.value, dict):
            shape = Object(tuple((key, Const(value), True) for key, value in shape.value.items()))
        kind, close, item = "json", f"</{self.node.tag}>", Text(f"<{self.node.tag}")
        inner: Node
        if isinstance(shape, Object):
            kind, inner = "dict", self.members(rules, shape)
        elif isinstance(shape, Array):
            kind, inner = "list", several(rules, seq(item, self.content(rules, shape.items)), shape, "")
        elif isinstance(shape, Const) and isinstance(shape.value, list):
            kind, inner = "list", seq(*(seq(item, self.content(rules, Const(value))) for value in shape.value))
        elif isinstance(shape, Const):
            kind = "raw" if isinstance(shape.value, str) else "json"
            inner = Text(safe(scalar_text(shape.value, False), (close,)))
        elif shape == Scalar("string"):
            return seq(Text(f' {self.node.type}="raw">'), Run(close))
        else:
            assert isinstance(shape, Scalar)
            inner = JSON.scalar(shape.type)
        return seq(Text(f' {self.node.type}="{kind}">'), inner, Text(close))

    def _any(self, rules: Rules, parts: list[tuple[str, Shape]]) -> Node:
        return alt(self.content(rules, part) for _, part in parts)


def as_json(rules: Rules, shape: Shape, never: tuple[str, ...] = (), notation: Notation | None = None) -> Node:
    """A value in JSON, with its schema for who reads that and spells it the same."""
    usual = json_notation(never)
    notation = notation or usual
    node = notation.value(rules, shape)
    schema = getattr(shape, "schema", None) if notation.comma + notation.colon == ", : " else None
    return node if schema is None or notation.sort is not None else Json(node, schema, never)
