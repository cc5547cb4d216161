"""The tree between a declaration and a written grammar."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias


@dataclass(frozen=True, slots=True)
class Text:
    """Exactly this text."""

    text: str


@dataclass(frozen=True, slots=True)
class Chars:
    """One character of ``ranges``, or one that is in none of them."""

    ranges: tuple[tuple[str, str], ...]
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Run:
    """``begin``, text up to ``end``, and ``end``; none of ``never`` stands in it. Without an ``end``: any such text.

    ``end`` may share characters with ``begin`` (a frame of line breaks around nothing). With ``chars`` the text is
    made of these and of what ``escape`` is, and shares none.
    """

    end: str
    never: tuple[str, ...] = ()
    begin: str = ""
    chars: Chars | None = None
    escape: Node | None = None


@dataclass(frozen=True, slots=True)
class Other:
    """``begin``, characters of ``chars`` that are none of ``words``, and ``end``: a key that is not declared."""

    begin: str
    words: tuple[str, ...]
    chars: Chars
    end: str


@dataclass(frozen=True, slots=True)
class Seq:
    """One after the other."""

    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Alt:
    """One of these."""

    options: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """``item`` from ``least`` to ``most`` times (None: without bound)."""

    item: Node
    least: int = 0
    most: int | None = None


@dataclass(frozen=True, slots=True)
class Token:
    """A regular part that is one word of the language: a string, a number. Its name says what it is."""

    name: str
    node: Node


@dataclass(frozen=True, slots=True)
class Ref:
    """A rule."""

    name: str


@dataclass(frozen=True, slots=True)
class Json:
    """A JSON value: ``node``, or for a reader that knows JSON Schema ``schema``, its strings without ``never``."""

    node: Node
    schema: Mapping[str, Any] | bool = field(compare=False, hash=False)
    never: tuple[str, ...] = ()


Node: TypeAlias = Text | Chars | Run | Other | Seq | Alt | Repeat | Token | Ref | Json

EMPTY = Seq(())


def seq(*nodes: Node) -> Node:
    """A sequence: flat, with neighbouring texts joined."""
    items: list[Node] = []
    for node in nodes:
        for item in node.items if isinstance(node, Seq) else (node,):
            last = items[-1] if items else None
            if isinstance(item, Text) and isinstance(last, Text):
                items[-1] = Text(last.text + item.text)
            elif not isinstance(item, Text) or item.text:
                items.append(item)
    return items[0] if len(items) == 1 else Seq(tuple(items))


def alt(options: Iterable[Node]) -> Node:
    """One of several: flat, each once."""
    flat: dict[Node, None] = {}
    for node in options:
        flat.update(dict.fromkeys(node.options if isinstance(node, Alt) else (node,)))
    return next(iter(flat)) if len(flat) == 1 else Alt(tuple(flat))


def maybe(node: Node) -> Node:
    """What may be missing."""
    return node if node == EMPTY else Repeat(node, 0, 1)


def before(text: str, node: Node) -> Node:
    """``text``, then ``node``: put into the options, so that each begins with a text of its own.

    A reader that looks for the longest word (llguidance's) could not tell a text from one that begins with it.
    """
    if not text:
        return node
    if isinstance(node, Alt):
        return Alt(tuple(before(text, option) for option in node.options))
    if isinstance(node, Run) and node.chars is not None:
        return replace(node, begin=text + node.begin)
    if isinstance(node, Other):
        return replace(node, begin=text + node.begin)
    if isinstance(node, Seq) and node.items:
        return seq(before(text, node.items[0]), *node.items[1:])
    return seq(Text(text), node)


def leading(node: Node) -> str:
    """The text that a node begins with."""
    if isinstance(node, Text):
        return node.text
    return leading(node.items[0]) if isinstance(node, Seq) and node.items else ""


def starts(node: Node) -> list[str]:
    """The texts that a node may begin with."""
    if isinstance(node, Alt):
        return [text for option in node.options for text in starts(option)]
    if isinstance(node, Seq) and node.items:
        return starts(node.items[0])
    return [node.text] if isinstance(node, Text) else []


def without(node: Node, text: str) -> Node:
    """A node that begins with ``text``, without it."""
    if isinstance(node, Seq):
        return seq(without(node.items[0], text), *node.items[1:])
    if isinstance(node, Alt):
        return alt(without(option, text) for option in node.options)
    assert isinstance(node, Text) and node.text.startswith(text)
    return Text(node.text[len(text) :]) if node.text != text else EMPTY


def references(node: Node) -> list[str]:
    """The rules that a node names."""
    if isinstance(node, Ref):
        return [node.name]
    if isinstance(node, Seq):
        return [name for item in node.items for name in references(item)]
    if isinstance(node, Alt):
        return [name for item in node.options for name in references(item)]
    if isinstance(node, Repeat):
        return references(node.item)
    return references(node.node) if isinstance(node, Json) else []


@dataclass
class Rules:
    """The rules of one grammar by name, and what the grammar does not hold of the tools' schemas."""

    nodes: dict[str, Node] = field(default_factory=dict)
    loose: dict[str, None] = field(default_factory=dict)
    _keys: dict[object, str] = field(default_factory=dict)

    def rule(self, hint: str, key: object, make: Callable[[], Node]) -> Ref:
        """The rule for ``key``, made when it is first asked for; it may ask for itself."""
        name = self._keys.get(key)
        if name is None:
            name, count = hint, 1
            while name in self.nodes:
                count += 1
                name = f"{hint}-{count}"
            self._keys[key] = name
            self.nodes[name] = EMPTY
            self.nodes[name] = make()
        return Ref(name)

    def add(self, hint: str, node: Node) -> Ref:
        """A rule for ``node``."""
        return self.rule(hint, object(), lambda: node)

    def note(self, where: str, keyword: str) -> None:
        """Note a keyword that the grammar does not hold."""
        note = f"{where}: {keyword}"
        # It becomes a comment, which ends with the line.
        self.loose["".join(c if c.isprintable() else " " for c in note)] = None
