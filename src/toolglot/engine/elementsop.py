"""Arguments as nested elements (MiniMax-M3): every tag has a namespace token before it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ..errors import Fault
from ..values.bare import read_text, schema_types
from ..values.gather import gather
from ..values.json import quote
from .machine import Machine
from .ops import WS, Op, put_argument
from .output import NEVER
from .valueops import ahead

_TAG = re.compile(r"<(/?)([^<>]{1,512})>")
_TAG_PART = re.compile(r"<?/?[^<>]{0,512}\Z")


class Element:
    """An element that is being read."""

    __slots__ = ("at", "children", "key", "pieces")

    def __init__(self, key: str, at: int) -> None:
        self.key = key
        self.at = at
        self.pieces: list[str] = []
        self.children: list[tuple[str, Element]] | None = None

    @property
    def text(self) -> str:
        """The text in it."""
        return "".join(self.pieces)


class ElementsOp(Op):
    """Elements up to the tag that is none of theirs."""

    def __init__(self, namespace: str) -> None:
        self.namespace = namespace

    def run(self, m: Machine) -> Op | None:
        buf = m.buf
        pos = m.pos
        stack: list[Element] | None = m.st
        if stack is None:
            stack = m.st = []
            m.args_from = m.base + pos
        ns = self.namespace
        closer = self.next.first() if self.next is not None else None
        if not ns:
            return self.flat(m, stack, closer or ())
        while True:
            i = m.find_text(ns, pos)
            if i < 0:
                if m.final:
                    fault = self.text(m, stack, buf[pos:], m.base + pos)
                    return m.truncated("the arguments") if fault is None else m.fail(fault)
                hold = len(buf)
                for n in range(min(len(ns) - 1, hold - pos), 0, -1):
                    if ns.startswith(buf[hold - n :]):
                        hold -= n
                        break
                fault = self.text(m, stack, buf[pos:hold], m.base + pos)
                if fault is not None:
                    return m.fail(fault)
                m.pos = hold
                return None
            fault = self.text(m, stack, buf[pos:i], m.base + pos)
            if fault is not None:
                return m.fail(fault)
            m.pos = pos = i
            if not stack and closer and m.stands(closer, i):
                m.st = None
                m.args_to = m.base + i
                return self.next
            tag_at = i + len(ns)
            match = _TAG.match(buf, tag_at)
            if match is None:
                if not m.final and _TAG_PART.match(buf, tag_at):
                    return None
                if m.final and _TAG_PART.match(buf, tag_at):
                    return m.truncated("a tag")
                if stack:  # the namespace token as data
                    stack[-1].pieces.append(ns)
                    m.pos = pos = tag_at
                    continue
                m.pos = tag_at
                return m.expected("an element's tag")
            key = match.group(2)
            if match.group(1):
                if not stack or key != stack[-1].key:
                    if stack and all(e.key != key for e in stack):
                        stack[-1].pieces.append(buf[i : match.end()])
                        m.pos = pos = match.end()
                        continue
                    m.pos = i
                    return m.expected(repr(f"{ns}</{stack[-1].key}>") if stack else repr((closer or ("",))[0]))
                if stack[-1].children is None:
                    # A closer is one only where a tag can follow.
                    verdict = ahead(m, (ns,), buf, match.end())
                    if verdict is None:
                        return None
                    if not verdict:
                        stack[-1].pieces.append(buf[i : match.end()])
                        m.pos = pos = match.end()
                        continue
                element = stack.pop()
                m.pos = pos = match.end()
                if stack:
                    parent = stack[-1]
                    if parent.children is None:
                        parent.children = []
                    parent.children.append((key, element))
                else:
                    self.argument(m, element)
                continue
            if len(stack) >= m.limits.depth:
                return m.fail(Fault("json.too_deep", m.base + i, f"elements nested deeper than {m.limits.depth}"))
            if stack and not all(map(str.isspace, reversed(stack[-1].pieces))):
                # Text and elements do not mix in this family: a tag behind text is data.
                stack[-1].pieces.append(buf[i : match.end()])
                m.pos = pos = match.end()
                continue
            stack.append(Element(key, m.base + i))
            m.pos = pos = match.end()

    def flat(self, m: Machine, stack: list[Element], closer: tuple[str, ...]) -> Op | None:
        """Without a namespace elements do not nest: a value is the text up to its closer."""
        buf = m.buf
        while True:
            if not stack:
                pos = m.pos = WS.match(buf, m.pos).end()  # type: ignore[union-attr]
                if buf.startswith(closer, pos):
                    m.st = None
                    m.args_to = m.base + pos
                    return self.next
                match = _TAG.match(buf, pos)
                if match is None or match.group(1):
                    if match is None and _TAG_PART.match(buf, pos):
                        return m.truncated("a tag") if m.final else None
                    return m.expected("an element's tag")
                stack.append(Element(match.group(2), m.base + pos))
                m.pos = match.end()
            element = stack[-1]
            close = f"</{element.key}>"
            i = buf.find(close, max(m.pos, m.scan - m.base))
            while i >= 0:
                verdict = ahead(m, ("<",), buf, i + len(close))
                if verdict is None:
                    m.scan = m.base + i
                    return None
                if verdict:
                    break
                i = buf.find(close, i + 1)
            if i < 0:
                if m.final:
                    return m.truncated(f"the value of {element.key[:80]!r}")
                hold = max(m.pos, len(buf) - len(close) + 1)
                gather(element.pieces, buf[m.pos : hold])
                m.pos = hold
                return None
            element.pieces.append(buf[m.pos : i])
            m.pos = i + len(close)
            m.scan = NEVER
            self.argument(m, stack.pop())

    def text(self, m: Machine, stack: list[Element], text: str, at: int) -> Fault | None:
        """Text between tags."""
        if not text:
            return None
        if not stack or stack[-1].children is not None:
            if not text.isspace():
                at += len(text) - len(text.lstrip())
                return Fault("tool_call.expected_markup", at, f"expected a tag, found {text.strip()[0]!r}", "a tag")
            return None
        gather(stack[-1].pieces, text)
        return None

    def argument(self, m: Machine, element: Element) -> None:
        """A complete argument."""
        key = element.key
        if m.args is not None and key in m.args:
            m.fault = m.fault or Fault("tool_call.duplicate_argument", element.at, f"duplicate argument {key[:80]!r}")
        root = m.tools.schema(m.name) if m.tools is not None and m.name is not None else None
        schema = _property(root, key, root)
        try:
            value, json, fault = _convert(element, schema, root)
        except RecursionError:  # the caller's own stack is deep already
            value, json, fault = None, "null", Fault("json.too_deep", element.at, "elements nested too deeply")
        if fault is not None:
            m.fault = m.fault or fault
        put_argument(m, key, value, json)


def _property(schema: Mapping[str, Any] | None, key: str, root: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    schema = _resolve(schema, root)
    properties = schema.get("properties") if schema is not None else None
    found = properties.get(key) if isinstance(properties, Mapping) else None
    return found if isinstance(found, Mapping) else None


def _resolve(schema: Mapping[str, Any] | None, root: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    for _ in range(16):
        ref = schema.get("$ref") if schema is not None else None
        if not isinstance(ref, str) or not ref.startswith("#/"):
            break
        target: Any = root
        for part in ref[2:].split("/"):
            target = target.get(part) if isinstance(target, Mapping) else None
        if not isinstance(target, Mapping):
            break
        schema = target
    return schema


def _convert(
    element: Element, schema: Mapping[str, Any] | None, root: Mapping[str, Any] | None
) -> tuple[Any, str, Fault | None]:
    types = schema_types(schema, root or {}) if schema is not None else None
    children = element.children
    if children is None:
        text = element.text
        if text == "":
            if types is None:
                return None, "null", None
            if "string" in types:
                return "", '""', None
            if "object" in types:
                return {}, "{}", None
            if "array" in types:
                return [], "[]", None
            return None, "null", None
        value, json = read_text(text, types)
        return value, json, None
    keys = [key for key, _ in children]
    is_array = all(key == "item" for key in keys)
    if is_array and types is not None and "array" not in types and "object" in types:
        is_array = False
    fault: Fault | None = None
    jsons: list[str] = []
    if is_array:
        resolved = _resolve(schema, root)
        items = resolved.get("items") if resolved is not None else None
        inner = items if isinstance(items, Mapping) else None
        values: list[Any] = []
        for _, child in children:  # a comprehension would be a frame of its own
            value, json, inner_fault = _convert(child, inner, root)
            fault = fault or inner_fault
            values.append(value)
            jsons.append(json)
        return values, "[" + ", ".join(jsons) + "]", fault
    result: dict[str, Any] = {}
    for key, child in children:
        value, json, inner_fault = _convert(child, _property(schema, key, root), root)
        fault = fault or inner_fault
        if key in result:
            fault = fault or Fault("tool_call.duplicate_key", child.at, f"duplicate key {key[:80]!r}")
        result[key] = value
        jsons.append(f"{quote(key)}: {json}")
    return result, "{" + ", ".join(jsons) + "}", fault
