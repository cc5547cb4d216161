"""The inverse of parsing: calls as a family's chat template writes them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..errors import ConversionError, UnsafeValueError
from ..format import Format
from ..pattern import (
    Arguments,
    Call,
    CallObject,
    Each,
    Either,
    Elements,
    Hole,
    Lit,
    Maybe,
    Node,
    Section,
    Tag,
    Value,
    Ws,
)
from ..types import ToolCall, json_text
from .write import gemma_text, python_text, scalar_text

Segment = tuple[str, bool]
Parser = Callable[[str], Any]


class Writer:
    """Collects segments: text, and whether it is control text of the format."""

    def __init__(self, fmt: Format) -> None:
        self.fmt = fmt
        self.out: list[Segment] = []

    def control(self, text: str) -> None:
        """Markup."""
        if text:
            self.out.append((text, True))

    def data(self, text: str) -> None:
        """What the user or the model said."""
        if text:
            self.out.append((text, False))


def render_segments(
    fmt: Format, calls: Sequence[ToolCall], content: str | None, reasoning: str | None, machine: Any = None
) -> list[Segment]:
    """The segments of a whole message."""
    if machine is not None:
        segments: list[Segment] = machine.render(list(calls), content, reasoning)
        return segments
    if fmt.max_calls is not None and len(calls) > fmt.max_calls:
        raise ConversionError(f"{fmt.id}: its template writes at most {fmt.max_calls} call, not {len(calls)}")
    w = Writer(fmt)
    if reasoning:
        r = fmt.reasoning
        if r is None:
            raise ConversionError(f"{fmt.id}: the format has no reasoning block")
        w.control(r.lead + r.open + r.inner[0])
        w.data(reasoning)
        w.control(r.inner[1] + r.close + r.after)
    if content:
        w.data(content)
    if calls:
        if content:
            w.control(fmt.before[0])
        elif fmt.lead:
            w.control(fmt.lead)
        _calls(w, fmt.nodes(), list(calls))
    return w.out


def _calls(w: Writer, nodes: Sequence[Node], calls: list[ToolCall]) -> None:
    """All calls, by the first of the pattern's options."""
    if len(nodes) == 1 and isinstance(nodes[0], Either):
        nodes = nodes[0].options[0]
    first = nodes[0]
    if isinstance(first, Section) and w.fmt.per_call and len(calls) > 1:
        for i, call in enumerate(calls):
            w.control(w.fmt.between if i else "")
            _calls(w, nodes, [call])
        return
    if isinstance(first, Section):
        _plain(w, first.open)
        for i, call in enumerate(calls):
            if i:
                w.control(first.separator.texts[0] if first.separator is not None else w.fmt.between)
            _sequence(w, first.items, call, i)
        _plain(w, first.close)
        return
    for i, call in enumerate(calls):
        if i:
            w.control(w.fmt.between)
        _sequence(w, nodes, call, i)


def _plain(w: Writer, nodes: Iterable[Node]) -> None:
    for node in nodes:
        if isinstance(node, Lit):
            w.control(node.texts[0])
        elif isinstance(node, Ws):
            w.control(node.canonical)
        elif isinstance(node, Maybe) and node.write:
            _plain(w, node.items)


def _sequence(w: Writer, nodes: Sequence[Node], call: ToolCall, index: int, key: str | None = None) -> None:
    for node in nodes:
        _node(w, node, call, index, key)


def _node(w: Writer, node: Node, call: ToolCall, index: int, key: str | None) -> None:
    if isinstance(node, Lit):
        w.control(node.texts[0])
    elif isinstance(node, Ws):
        w.control(node.canonical)
    elif isinstance(node, Call):
        if call.kind == "custom":
            raise ConversionError(f"{w.fmt.id}: a free-text call cannot be written")
        _sequence(w, node.items, call, index, key)
    elif isinstance(node, Each):
        for name in call.arguments:
            _sequence(w, node.items, call, index, name)
        if not call.arguments:
            w.control(node.empty)
    elif isinstance(node, Maybe):
        has_id = any(isinstance(n, Hole) and n.field == "id" for n in node.items)
        if node.write and not (has_id and call.id is None and w.fmt.ids is None):
            _sequence(w, node.items, call, index, key)
    elif isinstance(node, Either):
        _sequence(w, node.options[0], call, index, key)
    elif isinstance(node, Hole):
        if node.field == "name":
            w.data(node.prefix + call.name)
        elif node.field == "key":
            w.data(key or "")
        elif node.field == "id":
            w.data(_id(w.fmt, call, index))
        else:
            w.control(node.canonical)
    elif isinstance(node, Tag):
        _tag(w, node, call, index, key)
    elif isinstance(node, Value):
        assert key is not None
        w.control(node.frame)
        w.data(scalar_text(call.arguments[key], node.python_scalars))
        w.control(node.frame)
    elif isinstance(node, Arguments):
        _arguments(w, node, call)
    elif isinstance(node, CallObject):
        w.data(_object(w.fmt, node, call, index))
    elif isinstance(node, Elements):
        for name, value in call.arguments.items():
            if value is not None:
                _element(w, node.namespace, name, value)


def _id(fmt: Format, call: ToolCall, index: int) -> str:
    if call.id is not None:
        return call.id
    if fmt.ids is None:
        raise ConversionError(f"{fmt.id}: a call needs an id to be written")
    return fmt.ids.format(name=call.name, index=index)


def _tag(w: Writer, node: Tag, call: ToolCall, index: int, key: str | None) -> None:
    w.control(node.open[0])
    for attribute, field in node.attributes:
        value = call.arguments[key] if key is not None else None
        if field == "name":
            text = call.name
        elif field == "key":
            text = key or ""
        elif field == "id":
            text = _id(w.fmt, call, index)
        elif field == "index":
            text = str(index + 1)
        elif field == "string":
            text = "true" if isinstance(value, str) else "false"
        else:
            text = _type_word(value)
        if node.escape:
            text = text.replace("&", "&amp;").replace('"', "&quot;")
        elif '"' in text:
            raise UnsafeValueError(f"{w.fmt.id}: {text!r} cannot be written as an attribute")
        w.control(f' {attribute}="')
        w.data(text)
        w.control('"')
    w.control(node.end)


def _type_word(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    return "string" if isinstance(value, str) else "array" if isinstance(value, list) else "object"


def _arguments(w: Writer, node: Arguments, call: ToolCall) -> None:
    if node.codec == "json":
        w.data(json_text(call.arguments))
    elif node.codec in ("python", "pythonic", "lfm"):
        for i, (name, value) in enumerate(call.arguments.items()):
            if not name.isidentifier() or not name.isascii():
                raise UnsafeValueError(f"{w.fmt.id}: {name!r} cannot be a keyword argument")
            w.data((", " if i else "") + f"{name}={python_text(value, node.json_containers)}")
        w.control(")")
    else:
        quote = '<|"|>' if node.codec == "gemma" else "<escape>"
        for i, text in enumerate(gemma_text(call.arguments, quote, w.fmt.id).split(quote)):
            w.control(quote if i else "")
            w.data(text)


def _object(fmt: Format, node: CallObject, call: ToolCall, index: int) -> str:
    fields: list[str] = []
    for part in node.order:
        if part == "name":
            fields.append(f'"{node.name[0]}": {json_text(call.name)}')
        elif part == "arguments":
            fields.append(f'"{node.arguments[0]}": {json_text(call.arguments)}')
        else:
            fields.append(f'"{node.id[0]}": {json_text(_id(fmt, call, index))}')
    return "{" + ", ".join(fields) + "}"


def _element(w: Writer, namespace: str, key: str, value: Any) -> None:
    if not key or any(c in key for c in "<>"):
        raise UnsafeValueError(f"{w.fmt.id}: {key!r} cannot be an element's name")
    w.control(f"{namespace}<")
    w.data(key)
    w.control(">")
    if isinstance(value, dict):
        for name, inner in value.items():
            if inner is not None:
                _element(w, namespace, name, inner)
    elif isinstance(value, list):
        for inner in value:
            _element(w, namespace, "item", inner)
    elif value is not None:
        w.data(scalar_text(value, False))
    w.control(f"{namespace}</")
    w.data(key)
    w.control(">")
