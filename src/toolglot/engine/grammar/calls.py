"""From a declaration to a tree: the same walk over its nodes as rendering, with every value that a schema allows."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ...definition import Tool
from ...errors import DefinitionError, UnsafeValueError
from ...format import Format
from ...pattern import Arguments, Call, CallObject, Each, Either, Hole, Lit, Maybe, Section, Tag, Value, Ws
from ...pattern import Elements as ElementsNode
from ...pattern import Node as Part
from ...types import json_text
from .nodes import (
    EMPTY,
    Alt,
    Chars,
    Json,
    Node,
    Repeat,
    Rules,
    Seq,
    Text,
    Token,
    alt,
    before,
    leading,
    maybe,
    seq,
    starts,
)
from .schema import Schemas, Shape, Union, kinds
from .values import LFM, PYTHON, Bare, Elements, Entry, Notation, as_json, gemma_notation, listed

DIGITS = Token("number-of-call", Repeat(Chars((("0", "9"),)), 1, 9))
ID = Token("id", Repeat(Chars((("a", "z"), ("A", "Z"), ("0", "9"), ("_", "_"), ("-", "-"))), 1, 64))
_NAME = re.compile(r"[\w.:/\-]+")
_KEY = re.compile(r"[^\s<>\"&=]+")


@dataclass
class Blocks:
    """The markup of calls: each of ``nodes`` is a call, or a section of calls.

    ``triggers`` are the texts one of which begins it. ``between`` stands between two; None: there is but one.
    ``leads``: what may stand before the first. ``last``: no text follows, which could be read as one more call.
    """

    nodes: list[Node]
    triggers: list[str]
    between: str | None
    leads: tuple[str, ...] = ()
    last: bool = False

    def required(self) -> Node:
        """Calls and nothing else."""
        one = alt(self.nodes)
        lead = maybe(alt(map(Text, self.leads))) if self.leads else EMPTY
        return seq(lead, one, EMPTY if self.between is None else Repeat(before(self.between, one)))


def blocks_of(fmt: Format, tools: Sequence[Tool], rules: Rules, machine: Any, once: bool) -> Blocks:
    """The calls of these tools as a format writes them; ``once``: at most one."""
    walks = [_Walk(fmt, tool, rules) for tool in tools]
    once = once or fmt.max_calls == 1
    between = None if once else fmt.between
    leads = (fmt.lead,) if fmt.lead else ()
    if machine is not None:
        if not hasattr(machine, "call_texts"):
            raise DefinitionError(f"{fmt.id}: its hand-written machine has no grammar")
        blocks = Blocks([], [machine.trigger], None if once else machine.between, machine.leads, once)
        for walk in walks:
            opener, headers, closer = machine.call_texts(_plain_name(fmt, walk.tool.name))
            blocks.nodes.append(seq(Text(opener), alt(map(Text, headers)), walk.json(), Text(closer)))
        return blocks
    nodes = fmt.nodes()
    if isinstance(nodes[0], Either):
        nodes = nodes[0].options[0]
    first = nodes[0]
    if not isinstance(first, Section):
        made = [walk.sequence(nodes) for walk in walks]
    elif fmt.per_call:
        made = [walk.sequence((*first.open, *first.items, *first.close)) for walk in walks]
    else:
        items = [walk.sequence(first.items) for walk in walks]
        separator = first.separator.texts[0] if first.separator is not None else fmt.between
        opener = leading(walks[0].sequence(first.open))
        more = EMPTY if once else rules.add("more", Repeat(alt(before(separator, item) for item in items)))
        made = [seq(alt(before(opener, item) for item in items), more, walks[0].sequence(first.close))]
        between = None
    open_ended = isinstance(first, Section) and not first.close
    return Blocks(made, _triggers(fmt, nodes, made), between, leads, once or open_ended)


def _triggers(fmt: Format, nodes: Sequence[Part], made: list[Node]) -> list[str]:
    """The texts one of which begins a call: the format's own opener, else what stands before the first argument."""
    node = nodes[0]
    while isinstance(node, Section | Call):
        node = (*node.open, *node.items)[0] if isinstance(node, Section) else node.items[0]
    if fmt.tier == "tagged":
        return [node.texts[0] if isinstance(node, Lit) else node.open[0]] if isinstance(node, Lit | Tag) else []
    if isinstance(node, CallObject):
        return [f'{{"{node.name[0]}": "']
    ways = [way for block in made for way in starts(block)]
    return list(dict.fromkeys(way[: way.index("(") + 1] for way in ways))


def _plain_name(fmt: Format, name: str) -> str:
    """A name where nothing escapes it."""
    if not _NAME.fullmatch(name):
        raise UnsafeValueError(f"{fmt.id}: a tool called {name!r} cannot be written")
    return name


class _Walk:
    """Writes the calls of one tool."""

    def __init__(self, fmt: Format, tool: Tool, rules: Rules) -> None:
        self.fmt = fmt
        self.tool = tool
        self.rules = rules
        self.shape = Schemas(tool.parameters, tool.name, rules.note).parameters()

    def rule(self, node: Node) -> Node:
        """The arguments as a rule of their own, named after the tool."""
        if not isinstance(node, Seq | Alt | Repeat | Json) or node == EMPTY:
            return node
        hint = re.sub(r"[^a-z0-9]+", "-", self.tool.name.lower()).strip("-")
        return self.rules.rule(f"arguments-{hint}".rstrip("-"), ("arguments", self.tool.name), lambda: node)

    def json(self) -> Node:
        """The arguments as a JSON object."""
        return self.rule(as_json(self.rules, self.shape))

    def sequence(self, nodes: Sequence[Part]) -> Node:
        """Nodes in their order."""
        return seq(*(self.one(node, nodes[i + 1 :]) for i, node in enumerate(nodes)))

    def one(self, node: Part, behind: Sequence[Part]) -> Node:
        """One node; ``behind`` is what follows it."""
        if isinstance(node, Lit):
            return Text(node.texts[0])
        if isinstance(node, Ws):
            return Text(node.canonical)
        if isinstance(node, Call):
            return self.sequence(node.items)
        if isinstance(node, Maybe):
            has_id = any(isinstance(n, Hole) and n.field == "id" for n in node.items)
            return self.sequence(node.items) if node.write and not (has_id and self.fmt.ids is None) else EMPTY
        if isinstance(node, Either):
            return self.sequence(node.options[0])
        if isinstance(node, Hole):
            if node.field == "name":
                return Text(node.prefix + _plain_name(self.fmt, self.tool.name))
            return ID if node.field == "id" else Text(node.canonical)
        if isinstance(node, Tag):
            return _tag(node, {"name": self.name(node)})
        if isinstance(node, Each):
            return self.rule(self.each(node, behind))
        if isinstance(node, CallObject):
            return self.object(node)
        if isinstance(node, ElementsNode):
            return self.rule(Elements(node.namespace).members(self.rules, self.shape, self.tool.name))
        if isinstance(node, Arguments):
            return self.arguments(node)
        raise DefinitionError(f"{self.fmt.id}: a grammar cannot hold {type(node).__name__.lower()}(...) there")

    def name(self, tag: Tag) -> str:
        """The name as an attribute."""
        name = self.tool.name
        if not tag.escape and '"' in name:
            raise UnsafeValueError(f"{self.fmt.id}: {name!r} cannot be written as an attribute")
        return name

    def arguments(self, node: Arguments) -> Node:
        """All arguments in one notation."""
        if node.codec == "json":
            return self.json()
        if node.codec not in ("python", "pythonic", "lfm", "gemma", "function_gemma"):
            raise DefinitionError(f"{self.fmt.id}: there is no grammar for arguments({node.codec!r})")
        if node.codec in ("gemma", "function_gemma"):
            quote = '<|"|>' if node.codec == "gemma" else "<escape>"
            return self.rule(gemma_notation(quote, self.fmt.id).value(self.rules, self.shape))
        notation: Notation = LFM if node.json_containers else PYTHON
        if self.shape.extra is not None:
            self.rules.note(self.tool.name, "additionalProperties (further arguments are not written)")
        entries: list[Entry] = []
        for key, shape, needed in self.shape.members:
            if not key.isidentifier() or not key.isascii():
                raise UnsafeValueError(f"{self.fmt.id}: {key!r} cannot be a keyword argument")
            entries.append((seq(Text(f"{key}="), notation.value(self.rules, shape)), needed))
        return seq(self.rule(listed(self.rules, entries, ", ")), Text(")"))

    def object(self, node: CallObject) -> Node:
        """A JSON object that is the call."""
        parts: list[Node] = []
        for part in node.order:
            head = ", " if parts else "{"
            if part == "name":
                parts.append(Text(f'{head}"{node.name[0]}": {json_text(self.tool.name)}'))
            elif part == "arguments":
                parts.append(seq(Text(f'{head}"{node.arguments[0]}": '), self.json()))
            else:
                parts.append(seq(Text(f'{head}"{node.id[0]}": "'), ID, Text('"')))
        return seq(*parts, Text("}"))

    def each(self, node: Each, behind: Sequence[Part]) -> Node:
        """The arguments as bare values, one after the other."""
        if self.shape.extra is not None:
            self.rules.note(self.tool.name, "additionalProperties (further arguments are not written)")
        closing = next((n for n in behind if isinstance(n, Lit)), None)
        entries: list[Entry] = []
        for key, shape, needed in self.shape.members:
            if not _KEY.fullmatch(key) and not any(isinstance(item, Tag) and item.escape for item in node.items):
                raise UnsafeValueError(f"{self.fmt.id}: {key!r} cannot be an argument's name")
            entries.append((self.argument(node, key, shape, closing), needed))
        body = listed(self.rules, entries)
        if not node.empty or any(needed for _, needed in entries):
            return body
        # Nothing at all is written in a way of its own.
        ways: list[Node] = [Text(node.empty)]
        rest: Node = EMPTY
        for entry, _ in reversed(entries):
            ways.append(seq(entry, rest))
            rest = self.rules.add("rest", seq(maybe(entry), rest))
        return alt(ways)

    def argument(self, node: Each, key: str, shape: Shape, closing: Lit | None) -> Node:
        """One argument: as many ways as its tag has attributes for."""
        word = next((f for n in node.items if isinstance(n, Tag) for _, f in n.attributes if f in _WORDS), None)
        if word is None:
            return self.filled(node, key, shape, closing, {})
        groups: dict[str, list[Shape]] = {}
        for kind, part in kinds(shape):
            groups.setdefault(_WORDS[word](kind), []).append(part)
        return alt(
            self.filled(node, key, parts[0] if len(parts) == 1 else Union(tuple(parts)), closing, {word: text})
            for text, parts in groups.items()
        )

    def filled(self, node: Each, key: str, shape: Shape, closing: Lit | None, fields: dict[str, str]) -> Node:
        """The items of an argument."""
        opener = node.items[0]
        openers = opener.texts if isinstance(opener, Lit) else opener.open if isinstance(opener, Tag) else ()
        out: list[Node] = []
        closed = False
        for at, item in enumerate(node.items):
            if isinstance(item, Tag):
                out.append(_tag(item, {"key": key, **fields}))
            elif isinstance(item, Hole) and item.field == "key":
                out.append(Text(key))
            elif isinstance(item, Value):
                closer = node.items[at + 1]
                assert isinstance(closer, Lit)
                never = list(closer.texts)
                if item.implied != "no":
                    line = "\n" if item.implied == "line" else ""
                    never += [line + text for text in (*openers, *(closing.texts if closing is not None else ()))]
                bare = Bare(closer.texts[0], tuple(never), item.frame, item.python_scalars)
                out.append(bare.value(self.rules, shape))
                closed = True
            elif closed and isinstance(item, Lit):
                closed = False  # it stands behind the value
            else:
                out.append(self.one(item, ()))
        return seq(*out)


_WORDS: dict[str, Callable[[str], str]] = {
    "type": lambda kind: "number" if kind == "integer" else kind,
    "string": lambda kind: "true" if kind == "string" else "false",
}


def _tag(node: Tag, fields: dict[str, str]) -> Node:
    """An opening tag."""
    out: list[Node] = [Text(node.open[0])]
    for attribute, field in node.attributes:
        if field == "index":
            out += [Text(f' {attribute}="'), DIGITS, Text('"')]
            continue
        text = fields[field]
        if node.escape:
            text = text.replace("&", "&amp;").replace('"', "&quot;")
        out.append(Text(f' {attribute}="{text}"'))
    return seq(*out, Text(node.end))
