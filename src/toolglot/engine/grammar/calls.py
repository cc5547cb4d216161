"""From a declaration to a tree: the same walk over its nodes as rendering, with every value that a schema allows."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ...definition import Tool
from ...errors import ConversionError, DefinitionError, UnsafeValueError
from ...format import Format
from ...pattern import (
    Again,
    Arguments,
    Call,
    CallObject,
    Each,
    Either,
    Hole,
    Lit,
    Maybe,
    Section,
    Tag,
    TypedElements,
    Value,
    Ws,
)
from ...pattern import Elements as ElementsNode
from ...pattern import Node as Part
from ...types import json_text
from ..bytool import named_items
from .markup import Bare, Elements, Typed, as_json
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
    without,
)
from .schema import Schemas, Shape, Union, kinds
from .values import JSON, LFM, PYTHON, Entry, Notation, gemma_notation, json_notation, listed, written_json

DIGITS = Token("number-of-call", Repeat(Chars((("0", "9"),)), 1, 9))
ID = Token("id", Repeat(Chars((("a", "z"), ("A", "Z"), ("0", "9"), ("_", "_"), ("-", "-"))), 1, 64))
_NAME = re.compile(r"[\w.:/\-]+")
_KEY = re.compile(r"[^\s<>\"&=]+")


@dataclass
class Blocks:
    """The markup of calls: each of ``nodes`` is a call, or a section of calls.

    ``triggers`` are the texts one of which begins it. ``between`` stands between two; None: there is but one.
    ``leads``: what may stand before the first. ``last``: no text follows, which could be read as one more call.
    ``prompt``: what the prompt may have written of the first. ``ends``: what stands behind the last, and behind others.
    """

    nodes: list[Node]
    triggers: list[str]
    between: str | None
    leads: tuple[str, ...] = ()
    last: bool = False
    prompt: str = ""
    ends: tuple[str, str] = ("", "")

    def required(self) -> Node:
        """Calls and nothing else."""
        one = alt(self.nodes)
        first = one
        if self.prompt and all(way.startswith(self.prompt) for way in starts(one)):
            first = alt((one, without(one, self.prompt)))
        lead = maybe(alt(map(Text, self.leads))) if self.leads else EMPTY
        more = EMPTY if self.between is None else Repeat(before(self.ends[1] + self.between, one))
        return seq(lead, first, more, Text(self.ends[0]))

    def whole(self) -> list[Node]:
        """Each with what stands behind it."""
        end = alt(Text(text) for text in self.ends)
        return [seq(node, end) for node in self.nodes]


def blocks_of(fmt: Format, tools: Sequence[Tool], rules: Rules, machine: Any, once: bool) -> Blocks:
    """The calls of these tools as a format writes them; ``once``: at most one."""
    if fmt.parse_only:
        raise ConversionError(f"{fmt.id}: the format is read and not written")
    for tool in tools:
        if tool.kind != "function":
            raise ConversionError(f"{fmt.id}: a grammar has no arguments for {tool.name!r}, a {tool.kind} tool")
    walks = [_Walk(fmt, tool, rules) for tool in tools]
    once = once or fmt.max_calls == 1
    between = None if once else fmt.between
    leads = (fmt.lead,) if fmt.lead else ()
    if machine is not None:
        if not hasattr(machine, "call_texts"):
            raise DefinitionError(f"{fmt.id}: its hand-written machine has no grammar")
        blocks = Blocks([], [], None if once else machine.between, machine.leads, once, ends=machine.call_ends)
        for walk in walks:
            trigger, headers = machine.call_texts(_plain_name(fmt, walk.tool.name))
            walk.gap, walk.sort = machine.gap, machine.sort_keys
            body = walk.sequence(machine.inside)
            blocks.nodes.append(seq(alt(map(Text, headers)), body))
            blocks.triggers += [trigger] if trigger not in blocks.triggers else []
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
    triggers = list(dict.fromkeys(_trigger(fmt, nodes, walk) for walk in walks))
    return Blocks(made, triggers, between, leads, once or open_ended, fmt.prompt)


def _trigger(fmt: Format, nodes: Sequence[Part], walk: _Walk) -> str:
    """The text that begins a call: the format's own opener, else all that stands before the first argument."""
    text = ""
    named = False
    pending = list(nodes)
    while pending:
        node = pending.pop(0)
        if isinstance(node, Section | Call):
            pending = [*(node.open if isinstance(node, Section) else ()), *node.items]
        elif isinstance(node, CallObject):
            lead = leading(walk.object(node))
            head, name, _ = lead.rpartition(json_text(walk.tool.name))
            return text + (head + '"' if name else lead)
        elif isinstance(node, Lit | Tag):
            text += node.texts[0] if isinstance(node, Lit) else node.open[0]
            own = fmt.tier == "tagged" and not fmt.by_tool and not (isinstance(node, Lit) and node.weak)
            if own or named:
                return text
        else:
            text += leading(walk.one(node, pending))
            named = named or isinstance(node, Hole)
    return text


def _plain_name(fmt: Format, name: str) -> str:
    """A name where nothing escapes it."""
    if not _NAME.fullmatch(name):
        raise UnsafeValueError(f"{fmt.id}: a tool called {name!r} cannot be written")
    return name


@dataclass
class _Argument:
    """The argument that is being written. ``fields`` are words that its tag says, ``ends`` what may end it as well."""

    key: str
    shape: Shape
    fields: dict[str, str]
    ends: tuple[str, ...] = ()


class _Walk:
    """Writes the calls of one tool."""

    def __init__(self, fmt: Format, tool: Tool, rules: Rules) -> None:
        self.fmt = fmt
        self.tool = tool
        self.rules = rules
        self.shape = Schemas(tool.parameters, tool.name, rules.note).parameters()
        self.gap = ""  # what stands between two arguments
        self.sort = False  # whether they are sorted

    def rule(self, node: Node) -> Node:
        """The arguments as a rule of their own, named after the tool."""
        if not isinstance(node, Seq | Alt | Repeat | Json) or node == EMPTY:
            return node
        hint = re.sub(r"[^a-z0-9]+", "-", self.tool.name.lower()).strip("-")
        return self.rules.rule(f"arguments-{hint}".rstrip("-"), ("arguments", self.tool.name), lambda: node)

    def json(self, notation: Notation = JSON, never: tuple[str, ...] = ()) -> Node:
        """The arguments as a JSON object."""
        return self.rule(as_json(self.rules, self.shape, never, notation))

    def sequence(self, nodes: Sequence[Part], arg: _Argument | None = None) -> Node:
        """Nodes in their order, within an argument or outside."""
        out: list[Node] = []
        closed = False
        for i, node in enumerate(nodes):
            if isinstance(node, Lit) and node.says and not self.fmt.by_tool:
                arg = self.said(dict(node.says))
            if isinstance(node, Value):
                closer = nodes[i + 1]
                if arg is None or not isinstance(closer, Lit):
                    raise self.misplaced(node)
                never = [*closer.texts, *(_line(node, text) for text in arg.ends if node.implied != "no")]
                out.append(Bare(closer.texts[0], tuple(never), node).value(self.rules, arg.shape))
            elif not closed:
                out.append(self.one(node, nodes[i + 1 :], arg))
            closed = isinstance(node, Value)  # then its closer stands there already
        return seq(*out)

    def one(self, node: Part, behind: Sequence[Part], arg: _Argument | None = None) -> Node:
        """One node; ``behind`` is what follows it."""
        if isinstance(node, Lit):
            return Text(node.texts[0] if node.written else "")
        if isinstance(node, Ws):
            return Text(node.canonical)
        if isinstance(node, Call):
            return self.sequence(node.items)
        if isinstance(node, Maybe):
            has_id = any(isinstance(n, Hole) and n.field == "id" for n in node.items)
            return self.sequence(node.items, arg) if node.write and not (has_id and self.fmt.ids is None) else EMPTY
        if isinstance(node, Either):
            return self.sequence(node.options[0], arg)
        if isinstance(node, Hole | Again):
            return self.hole(node, arg)
        if isinstance(node, Tag):
            return self.tag(node, arg)
        if isinstance(node, Each):
            return self.rule(self.each(node, behind))
        if isinstance(node, CallObject):
            return self.object(node)
        if isinstance(node, ElementsNode):
            return self.rule(Elements(node.namespace).members(self.rules, self.shape, self.tool.name))
        if isinstance(node, TypedElements):
            return self.rule(Typed(node).members(self.rules, self.shape))
        if isinstance(node, Arguments):
            return self.arguments(node)
        raise self.misplaced(node)

    def misplaced(self, node: Part) -> DefinitionError:
        """What is said of a node that a grammar cannot hold."""
        return DefinitionError(f"{self.fmt.id}: a grammar cannot hold {type(node).__name__.lower()}(...) there")

    def said(self, says: dict[str, str]) -> _Argument | None:
        """The argument that a literal says; only a tool that fits what it says can be written."""
        name, key = says.get("name", self.tool.name), says.get("key")
        shapes = {k: shape for k, shape, _ in self.shape.members}
        shape = shapes.get(key, self.shape.extra) if key is not None else None
        if shape is not None and says.get("type") == "string":
            strings = [part for kind, part in kinds(shape) if kind == "string"]
            shape = Union(tuple(strings)) if strings else None
        missing = key is not None and (shape is None or any(needed and k != key for k, _, needed in self.shape.members))
        if name != self.tool.name or missing:
            raise ConversionError(f"{self.fmt.id}: only {name}({key or ''}) can be written, not {self.tool.name!r}")
        return None if key is None or shape is None else _Argument(key, shape, {})

    def hole(self, node: Hole | Again, arg: _Argument | None) -> Node:
        """A name, an id or a key."""
        if node.field == "id":
            return ID
        if node.field == "key":
            if arg is None:
                raise self.misplaced(node)
            return Text(arg.key)
        if node.field in ("server", "tool"):
            server, slash, tool = _plain_name(self.fmt, self.tool.name).partition("/")
            if not server or not slash:
                raise ConversionError(f"{self.fmt.id}: {self.tool.name!r} names no server: expected 'server/tool'")
            return Text(server if node.field == "server" else tool)
        if node.field not in ("name", "label"):
            return Text(node.canonical if isinstance(node, Hole) else "")
        text = _plain_name(self.fmt, self.tool.name)
        if isinstance(node, Hole) and node.field == "name":
            text = node.prefix + text
            if node.counter:
                return seq(Text(text + node.counter), DIGITS)
        return Text(text)

    def tag(self, node: Tag, arg: _Argument | None) -> Node:
        """An opening tag."""
        out: list[Node] = [Text(node.open[0])]
        for attribute, field in node.attributes:
            if field in ("index", "id"):
                out += [Text(f' {attribute}="'), DIGITS if field == "index" else ID, Text('"')]
                continue
            name = self.tool.name if field == "name" else None
            text = name if name is not None else "" if arg is None else {"key": arg.key, **arg.fields}[field]
            if node.escape:
                text = text.replace("&", "&amp;").replace('"', "&quot;")
            elif '"' in text:
                raise UnsafeValueError(f"{self.fmt.id}: {text!r} cannot be written as an attribute")
            out.append(Text(f' {attribute}="{text}"'))
        return seq(*out, Text(node.end))

    def arguments(self, node: Arguments) -> Node:
        """All arguments in one notation."""
        if node.codec == "json":
            never = tuple(plain for plain, _ in node.escapes)
            return self.json(json_notation(never, node.escapes), never)
        if node.codec == "python_dict":
            return self.rule(PYTHON.value(self.rules, self.shape))
        if node.codec in ("gemma", "function_gemma"):
            quote = '<|"|>' if node.codec == "gemma" else "<escape>"
            return self.rule(gemma_notation(quote, self.fmt.id).value(self.rules, self.shape))
        notation = JSON if node.json_values else LFM if node.json_containers else PYTHON
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
        if self.tool.name in node.answers:
            raise UnsafeValueError(f"{self.fmt.id}: a tool called {self.tool.name!r} would be read as the answer")
        notation = written_json(node.compact, node.sort_keys, node.indent is not None)
        gap = notation.gap
        arguments = self.json(notation)
        parts: list[Node] = []
        for part in node.order:
            if node.keyed and parts:
                break  # the name is the key
            parts += [Text(notation.comma if parts else "{"), gap]
            if node.keyed:
                parts += [Text(json_text(self.tool.name) + notation.colon), arguments]
            elif part == "name":
                parts.append(Text(json_text(node.name[0]) + notation.colon + json_text(self.tool.name)))
            elif part == "arguments":
                parts += [Text(json_text(node.arguments[0]) + notation.colon), arguments]
            else:
                parts += [Text(f'{json_text(node.id[0])}{notation.colon}"'), ID, Text('"')]
        return seq(*parts, gap, Text("}"))

    def each(self, node: Each, behind: Sequence[Part]) -> Node:
        """The arguments as bare values, one after the other."""
        if self.shape.extra is not None:
            self.rules.note(self.tool.name, "additionalProperties (further arguments are not written)")
        closing = next((n for n in behind if isinstance(n, Lit)), None)
        opener = node.items[0]
        openers = opener.texts if isinstance(opener, Lit) else opener.open if isinstance(opener, Tag) else ()
        ends = (*openers, *(closing.texts if closing is not None else ()))
        entries: list[Entry] = []
        for key, shape, needed in sorted(self.shape.members) if self.sort else self.shape.members:
            if not _KEY.fullmatch(key) and not any(isinstance(item, Tag) and item.escape for item in node.items):
                raise UnsafeValueError(f"{self.fmt.id}: {key!r} cannot be an argument's name")
            entries.append((self.argument(node, key, shape, ends), needed))
        body = listed(self.rules, entries, self.gap)
        if not node.empty or any(needed for _, needed in entries):
            return body
        # Nothing at all is written in a way of its own.
        ways: list[Node] = [Text(node.empty)]
        rest: Node = EMPTY
        for entry, _ in reversed(entries):
            ways.append(seq(entry, rest))
            rest = self.rules.add("rest", seq(maybe(entry), rest))
        return alt(ways)

    def argument(self, node: Each, key: str, shape: Shape, ends: tuple[str, ...]) -> Node:
        """One argument: as many ways as its tag has attributes for."""
        items = named_items(self.fmt, node.items, self.tool.name, key) if self.fmt.by_tool else node.items
        word = next((f for n in items if isinstance(n, Tag) for _, f in n.attributes if f in _WORDS), None)
        groups: dict[str, list[Shape]] = {}
        for kind, part in kinds(shape) if word is not None else (("", shape),):
            groups.setdefault(_WORDS[word](kind) if word is not None else "", []).append(part)
        return alt(
            self.sequence(
                items,
                _Argument(key, Union(tuple(parts)) if len(parts) > 1 else parts[0], {word: text} if word else {}, ends),
            )
            for text, parts in groups.items()
        )


def _line(node: Value, text: str) -> str:
    return ("\n" if node.implied == "line" else "") + text


_WORDS: dict[str, Callable[[str], str]] = {
    "type": lambda kind: "number" if kind == "integer" else kind,
    "string": lambda kind: "true" if kind == "string" else "false",
}
