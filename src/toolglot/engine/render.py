"""The inverse of parsing: calls as a family's chat template writes them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from ..errors import ConversionError, UnsafeValueError
from ..format import Format
from ..pattern import (
    Again,
    Arguments,
    Call,
    CallObject,
    Each,
    Either,
    Elements,
    Escapes,
    FreeText,
    Hole,
    Lit,
    Maybe,
    Node,
    Section,
    Tag,
    TypedElements,
    Value,
    Ws,
)
from ..types import ToolCall, json_text
from .write import gemma_text, python_text, scalar_text, value_text

Segment = tuple[str, bool]
Parser = Callable[[str], Any]
ENTITIES = (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;"))


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
    if fmt.parse_only:
        raise ConversionError(f"{fmt.id}: the format is read and not written")
    if fmt.max_calls is not None and len(calls) > fmt.max_calls:
        raise ConversionError(f"{fmt.id}: its template writes at most {fmt.max_calls} call, not {len(calls)}")
    w = Writer(fmt)
    if reasoning:
        r = fmt.reasoning
        if r is None:
            raise ConversionError(f"{fmt.id}: the format has no reasoning block")
        w.control(r.lead + r.open + r.inner[0])
        w.data(reasoning)
        w.control(r.inner[1] + r.close + r.after + r.then)
    if content:
        w.control(fmt.around[0])
        w.data(content)
        w.control(fmt.around[1])
    if calls:
        if content:
            w.control(fmt.before[0])
        elif fmt.lead:
            w.control(fmt.lead)
        write_calls(w, fmt.nodes(), list(calls))
    return w.out


def write_calls(w: Writer, nodes: Sequence[Node], calls: list[ToolCall]) -> None:
    """All calls, by the first of the pattern's options; free text by the first that takes it."""
    texts = nodes
    if len(nodes) == 1 and isinstance(nodes[0], Either):
        options = nodes[0].options
        nodes = options[0]
        texts = next((option for option in options if any(map(_takes_text, option))), nodes)
    first = nodes[0]
    if isinstance(first, Section) and w.fmt.per_call and len(calls) > 1:
        for i, call in enumerate(calls):
            w.control(w.fmt.between if i else "")
            write_calls(w, nodes, [call])
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
        _sequence(w, texts if call.kind == "custom" else nodes, call, i)


def _plain(w: Writer, nodes: Iterable[Node]) -> None:
    for node in nodes:
        if isinstance(node, Lit):
            w.control(node.texts[0] if node.written else "")
        elif isinstance(node, Ws):
            w.control(node.canonical)
        elif isinstance(node, Maybe) and node.write:
            _plain(w, node.items)


def _sequence(w: Writer, nodes: Sequence[Node], call: ToolCall, index: int, key: str | None = None) -> None:
    for node in nodes:
        if isinstance(node, Lit) and node.says:
            key = _said(w.fmt, dict(node.says), call)
        _node(w, node, call, index, key)


def _said(fmt: Format, says: dict[str, str], call: ToolCall) -> str | None:
    """The key that a literal says; only a call that fits what it says can be written."""
    key = says.get("key")
    name = says.get("name", call.name)
    fits = call.name == name and (key is None or list(call.arguments) == [key])
    if fits and key is not None and says.get("type") == "string":
        fits = isinstance(call.arguments[key], str)
    if not fits:
        raise ConversionError(f"{fmt.id}: only {name}({key or ''}) can be written, not {call.name!r}")
    return key


def _node(w: Writer, node: Node, call: ToolCall, index: int, key: str | None) -> None:
    if isinstance(node, Lit):
        w.control(node.texts[0] if node.written else "")
    elif isinstance(node, Ws):
        w.control(node.canonical)
    elif isinstance(node, Call):
        if call.kind == "custom" and not _takes_text(node):
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
        texts = [option for option in node.options if any(map(_takes_text, option))]
        _sequence(w, texts[0] if texts and call.kind == "custom" else node.options[0], call, index, key)
    elif isinstance(node, FreeText):
        w.data(escaped(call.input or "", node.escapes))
    elif isinstance(node, Hole):
        if node.field == "name" and node.counter:
            own = call.id is not None and node.counter in call.id and node.name_in(call.id) == call.name
            w.data(_id(w.fmt, call if own else replace(call, id=None), index))
        elif node.field == "name":
            w.data(node.prefix + call.name)
        elif node.field == "label":
            w.data(call.name)
        elif node.field in ("server", "tool"):
            parts = call.name.split("/", 1)
            if len(parts) < 2 or not parts[0]:
                raise ConversionError(f"{w.fmt.id}: {call.name!r} names no server: expected 'server/tool'")
            w.data(parts[node.field == "tool"])
        elif node.field == "key":
            w.data(key or "")
        elif node.field == "id":
            w.data(_id(w.fmt, call, index))
        else:
            w.control(node.canonical)
    elif isinstance(node, Again):
        w.data(call.name if node.field == "name" else key or "")
    elif isinstance(node, Tag):
        _tag(w, node, call, index, key)
    elif isinstance(node, Value):
        assert key is not None
        text = value_text(node, call.arguments[key])
        framed = not node.needed or text.startswith(node.frame) or text.endswith(node.frame)
        w.control(node.frame if framed else "")
        w.data(text)
        w.control(node.frame if framed else "")
    elif isinstance(node, Arguments):
        _arguments(w, node, call)
    elif isinstance(node, CallObject):
        w.data(_object(w.fmt, node, call, index))
    elif isinstance(node, Elements):
        for name, value in call.arguments.items():
            if value is not None:
                _element(w, node.namespace, name, value)
    elif isinstance(node, TypedElements):
        for name, value in call.arguments.items():
            _typed(w, node, name, value)


def _takes_text(node: Node) -> bool:
    """Whether free text can be written in it."""
    if isinstance(node, Call):
        return any(map(_takes_text, node.items))
    if isinstance(node, Either):
        return any(_takes_text(item) for option in node.options for item in option)
    return isinstance(node, FreeText) or (isinstance(node, CallObject) and node.text)


def escaped(text: str, escapes: Escapes) -> str:
    """``text`` with what stands for markup in it."""
    for plain, escaped in escapes:
        text = text.replace(plain, escaped)
    return text


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
        w.data(escaped(json_text(call.arguments), node.escapes))
    elif node.codec == "python_dict":
        w.data(python_text(call.arguments))
    elif node.codec in ("python", "pythonic", "lfm"):
        for i, (name, value) in enumerate(call.arguments.items()):
            if not name.isidentifier() or not name.isascii():
                raise UnsafeValueError(f"{w.fmt.id}: {name!r} cannot be a keyword argument")
            text = json_text(value) if node.json_values else python_text(value, node.json_containers)
            w.data((", " if i else "") + f"{name}={text}")
        w.control(")")
    else:
        quote = '<|"|>' if node.codec == "gemma" else "<escape>"
        for i, text in enumerate(gemma_text(call.arguments, quote, w.fmt.id).split(quote)):
            w.control(quote if i else "")
            w.data(text)


def _object(fmt: Format, node: CallObject, call: ToolCall, index: int) -> str:
    fields: dict[str, Any] = {}
    arguments: Any = ordered(call.arguments) if node.sort_keys else call.arguments
    if call.kind == "custom":
        arguments = call.input
    for part in node.order:
        if node.keyed:
            fields[call.name] = arguments
        elif part == "name":
            fields[node.name[0]] = call.name
        elif part == "arguments":
            fields[node.arguments[0]] = arguments
        else:
            fields[node.id[0]] = _id(fmt, call, index)
    text = json_text(fields, node.indent, compact=node.compact)
    return text if node.indent is None else text.replace("\n", "\n" + " " * node.indent)


def ordered(value: Any) -> Any:
    """``value`` with the keys of its objects sorted."""
    if isinstance(value, dict):
        return {key: ordered(value[key]) for key in sorted(value)}
    return [ordered(item) for item in value] if isinstance(value, list) else value


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


def _typed(w: Writer, node: TypedElements, key: str | None, value: Any) -> None:
    kind = "dict" if isinstance(value, dict) else "list" if isinstance(value, list) else "json"
    w.control(f"<{node.tag}")
    if key is not None:
        key = escaped(key, ENTITIES)
        w.control(f' {node.name}="')
        w.data(key)
        w.control('"')
    w.control(f' {node.type}="{"raw" if isinstance(value, str) else kind}">')
    if isinstance(value, dict):
        for name, inner in value.items():
            _typed(w, node, name, inner)
    elif isinstance(value, list):
        for inner in value:
            _typed(w, node, None, inner)
    else:
        w.data(scalar_text(value, False))
    w.control(f"</{node.tag}>")
