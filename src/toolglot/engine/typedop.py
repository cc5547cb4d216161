"""Arguments as nested elements of one tag, each with its type (Cohere): raw text, JSON, a dict or a list of more."""

from __future__ import annotations

import re
from typing import Any

from ..errors import Fault
from ..pattern import TypedElements
from ..values.bare import decode_entities, read_text
from ..values.gather import gather
from ..values.json import quote
from .machine import Machine
from .ops import WS, Op, partial, put_argument
from .valueops import TYPED, ahead

_ATTRIBUTE = re.compile(r'(?<=[ \t\r\n])([\w:.\-]+)[ \t\r\n]*=[ \t\r\n]*"([^"]*)"')


class Element:
    """An element that is being read: text, or a container of further elements."""

    __slots__ = ("at", "key", "kind", "text", "value")

    def __init__(self, kind: str, key: str | None, at: int) -> None:
        self.kind = kind
        self.key = key  # an item of a list has none
        self.at = at
        self.value: Any = {} if kind == "dict" else [] if kind == "list" else None
        self.text: list[str] = []


class State:
    """What is open, and the JSON text of the argument so far, in pieces, so that depth costs nothing."""

    __slots__ = ("json", "stack")

    def __init__(self) -> None:
        self.stack: list[Element] = []
        self.json: list[str] = []


class TypedElementsOp(Op):
    """Elements up to the tag that is none of theirs."""

    def __init__(self, node: TypedElements) -> None:
        self.node = node
        self.open = f"<{node.tag}"
        self.close = f"</{node.tag}>"

    def run(self, m: Machine) -> Op | None:
        st: State | None = m.st
        if st is None:
            st = m.st = State()
            m.args_from = m.base + m.pos
        outer = (self.next.first() if self.next is not None else None) or ()
        while True:
            buf = m.buf
            top = st.stack[-1] if st.stack else None
            if top is not None and top.value is None:
                closed = self.leaf(m, st, top, outer)
                if closed is None:
                    return m.truncated("a value") if m.final else None
                continue
            pos = m.pos = WS.match(buf, m.pos).end()  # type: ignore[union-attr]
            ends = outer if top is None else (self.close,)
            if buf.startswith(ends, pos):
                if top is None:
                    m.st = None
                    m.args_to = m.base + pos
                    return self.next
                m.pos = pos + len(self.close)
                st.json.append("}" if top.kind == "dict" else "]")
                self.closed(m, st)
            elif buf.startswith(self.open, pos):
                end = buf.find(">", pos, pos + 4 * m.limits.name)
                if end < 0:
                    if len(buf) - pos >= 4 * m.limits.name:
                        text = f"the tag {self.open!r} has no end"
                        return m.fail(Fault("tool_call.invalid_name", m.base + pos, text))
                    return m.truncated(f"{self.open!r}") if m.final else None
                fault = self.begin(m, st, buf[pos + len(self.open) : end], m.base + pos)
                if fault is not None:
                    return m.fail(fault)
                m.pos = end + 1
            elif pos == len(buf) or partial((self.open, *ends), buf, pos):
                return m.truncated("the arguments") if m.final else None
            else:
                return m.expected(repr(ends[0]))

    def begin(self, m: Machine, st: State, inside: str, at: int) -> Fault | None:
        """An opening tag, with its attributes."""
        attributes = {key: decode_entities(text) for key, text in _ATTRIBUTE.findall(inside)}
        stack = st.stack
        parent = stack[-1] if stack else None
        named = parent is None or parent.kind == "dict"
        key = attributes.get(self.node.name)
        if (named and key is None) or inside[:1] not in ("", " ", "\t", "\r", "\n"):
            attribute = f'{self.node.name}="..."'
            return Fault("tool_call.unrecognized", at, f"{self.open} needs a {self.node.name} attribute", attribute)
        if len(stack) >= m.limits.depth:
            return Fault("json.too_deep", at, f"elements nested deeper than {m.limits.depth}")
        kind = attributes.get(self.node.type, "raw")
        element = Element(kind, key if named else None, at)
        if parent is not None:
            if parent.value:
                st.json.append(", ")
            if named:
                assert key is not None
                if key in parent.value and m.fault is None:
                    m.fault = Fault("tool_call.duplicate_key", at, f"duplicate key {key[:80]!r}")
                st.json.append(f"{quote(key)}: ")
        elif m.args is not None and key in m.args and m.fault is None:
            m.fault = Fault("tool_call.duplicate_argument", at, f"duplicate argument {key[:80]!r}")
        if element.value is not None:
            st.json.append("{" if kind == "dict" else "[")
        stack.append(element)
        return None

    def leaf(self, m: Machine, st: State, element: Element, outer: tuple[str, ...]) -> bool | None:
        """Text up to its closer, which is one only where a tag may follow. None: more text decides."""
        buf = m.buf
        close = self.close
        follow = (self.open, *(outer if len(st.stack) == 1 else (close,)))
        scan = m.pos
        while True:
            i = buf.find(close, scan)
            verdict = None if i < 0 else ahead(m, follow, buf, i + len(close))
            if verdict is None:
                if i < 0:  # what may be the beginning of the closer stays
                    i = len(buf)
                    for n in range(min(len(close) - 1, i - scan), 0, -1):
                        if close.startswith(buf[-n:]):
                            i -= n
                            break
                gather(element.text, buf[m.pos : i])
                m.pos = i
                return None
            if verdict:
                break
            scan = i + 1
        element.text.append(buf[m.pos : i])
        m.pos = i + len(close)
        text = "".join(element.text)
        if element.kind == "json":
            element.value, json = read_text(text.strip() or "null", TYPED)
        else:
            element.value, json = text, quote(text)
        st.json.append(json)
        self.closed(m, st)
        return True

    @staticmethod
    def closed(m: Machine, st: State) -> None:
        """The innermost element is complete."""
        element = st.stack.pop()
        if not st.stack:
            assert element.key is not None
            put_argument(m, element.key, element.value, "".join(st.json))
            st.json.clear()
        elif element.key is None:
            st.stack[-1].value.append(element.value)
        else:
            st.stack[-1].value[element.key] = element.value
