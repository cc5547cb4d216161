"""The fast way through a complete and plainly written call: a few matches at C speed.

It is made from the same declaration as the operations, and it only ever says "this is the call" or "ask the
operations". It answers for what needs no judgement: names of plain characters, values without markup, closers in
place. That both agree is what every comparison of whole and streamed parsing tests, since streams do not use it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from ..definition import ToolSet
from ..format import Format
from ..pattern import Arguments, Call, CallObject, Each, Either, Hole, Lit, Maybe, Node, Section, Tag, Value, Ws
from ..values.bare import read_python, read_text
from ..values.json import quote, scan
from ..values.literal import MAX_DEPTH
from ..values.simple import scan_arguments
from .ops import DOTTED, PAREN

Match = Callable[[str, int], Any]
# name, arguments, where they stand, JSON text if it is not what stands there, where the call stands
Plain = tuple[str, dict[str, Any], int, int, "str | None", int, int]
WS = r"[ \t\r\n]{0,200}"  # how much of it may stand where, the operations judge
SPACE: Match = re.compile(WS).match
MAY_BE_JSON = frozenset('{["-0123456789tfn \t\r\n')
NAME = r"([\w.\-]{1,128})"
IN_NAME = re.compile(r"[\w.\-]")
CALL_NAME = rf"(?=[^\W\d]){NAME}"  # before a parenthesis
DOTTED_NAME = rf"(?=[\w.]{{1,128}}\()({DOTTED.pattern})"


class Quick:
    """One call, from behind its opener."""

    __slots__ = ("closer", "depth", "each", "end", "frame", "head", "method", "python", "tail", "value")

    def __init__(self, head: str, tail: str, python: bool = False, each: str = "", frame: str = "") -> None:
        self.head: Match = re.compile(head).match
        self.tail: Match = re.compile(tail).match
        self.end = tail
        self.python = python
        # Matches of it one behind the other.
        self.each: Callable[[str, int], Any] | None = re.compile(each).scanner if each else None  # type: ignore[attr-defined]
        self.frame = frame
        self.depth = MAX_DEPTH  # of JSON arguments; only what has the default limits is read here
        self.method = ""  # what may stand behind the name of a tool of the model's own
        self.closer = 0  # how long a value's closer is
        self.value: Callable[[str, frozenset[str] | None], tuple[Any, str]] = read_text

    def read(self, text: str, start: int, pos: int, tools: ToolSet | None, write: bool) -> tuple[Plain, int] | None:
        """The call that starts at ``start`` and whose opener ends at ``pos``; None: ask the operations.

        ``write``: the JSON text of arguments that are not JSON is wanted.
        """
        match = self.head(text, pos)
        if match is None or (self.method and tools is not None and match[1].endswith(self.method)):
            return None
        begin = match.end()
        json: str | None = None
        if self.each is not None:
            arguments, json, end = self.pairs(text, begin, match[1], tools, write)
            if json is None:
                return None
            if write:
                begin = SPACE(text, begin).end() if arguments else end
            tail = self.tail(text, end)
        elif self.python:
            simple = scan_arguments(text, begin, write)
            if simple is None:
                return None
            arguments, json, end = simple
            tail = self.tail(text, end)
            end -= 1
        else:
            result = scan(text, begin, self.depth)
            if result is None:
                return None
            arguments, end = result
            tail = self.tail(text, end)
        if tail is None:
            return None
        stop = tail.end()
        return (match[1], arguments, begin, end, json, start, stop), stop

    def pairs(
        self, text: str, pos: int, name: str, tools: ToolSet | None, write: bool
    ) -> tuple[dict[str, Any], str | None, int]:
        """Bare values: the arguments, their JSON text (None: ask the operations) and where they end."""
        arguments: dict[str, Any] = {}
        pieces: list[str] = []
        frame = self.frame
        assert self.each is not None
        following = self.each(text, pos).match
        last = None
        while True:
            match = following()
            if match is None:
                end = pos if last is None else last.end(2) + self.closer
                return arguments, "{" + ", ".join(pieces) + "}" if write else "", end
            last = match
            key, raw = match.groups()
            if key in arguments:
                return arguments, None, pos
            if frame:
                raw = raw.removeprefix(frame)
                raw = raw.removesuffix(frame)
            if tools is None and raw[:1] not in MAY_BE_JSON:
                arguments[key] = raw
                if write:
                    pieces.append(f"{quote(key)}: {quote(raw)}")
            elif not write and tools is None and raw[0] in "{[" and (whole := scan(raw, 0)) is not None:
                if whole[1] != len(raw):
                    return arguments, None, pos
                arguments[key] = whole[0]
            else:
                value, json = self.value(raw, None if tools is None else tools.types(name, key))
                arguments[key] = value
                if write:
                    pieces.append(f"{quote(key)}: {json}")


def quick_call(fmt: Format, node: Call, not_before: tuple[str, ...] = ()) -> Quick | None:
    """The fast way for a call, from behind its first literal; None if the pattern has none."""
    if any(isinstance(n, Lit) and (n.stop or n.line or n.says) for n in node.items):
        return None
    quick = _quick_call(node)
    if quick is not None and not_before:
        ahead = "|".join(map(re.escape, not_before))
        end = quick.end.removesuffix(WS)
        quick.tail = re.compile(rf"{end}(?![ \t\r\n]*(?:{ahead})){quick.end[len(end) :]}").match
    return quick


def _quick_call(node: Call) -> Quick | None:
    items = list(node.items)
    first = items[0]
    head = ""
    if isinstance(first, Tag):
        tag = _tag(first, NAME)
        if tag is None:
            return None
        head = tag
    elif not isinstance(first, Lit):
        return None
    return _rest(items[1:], head)


def _rest(items: list[Node], head: str) -> Quick | None:
    names = head.count(NAME)
    for i, node in enumerate(items):
        if isinstance(node, Lit):
            head += _texts(node)
        elif isinstance(node, Ws):
            # Behind a name the white space tells families apart that share an opener.
            before = next((n for n in reversed(items[:i]) if not (isinstance(n, Maybe) and not n.write)), None)
            head = _white(head + (re.escape(node.canonical) if isinstance(before, Hole) else ""))
        elif isinstance(node, Maybe):
            inner = node.items[0]
            if len(node.items) == 1 and isinstance(inner, Lit):
                then = WS if _ends_white(head) and _before_white(items, i) else ""
                head += f"(?:{_texts(inner)}{then})?"
            elif node.write:
                return None  # what is only read is not plain
        elif isinstance(node, Hole) and node.field == "name" and not node.prefix and not node.counter:
            begins = _begins(items[i + 1 :])
            if begins is None or IN_NAME.search(begins):
                return None  # what ends the name may stand in it: it ends where that stands first
            dotted = any(isinstance(n, Arguments) and n.codec == "python" for n in items[i:])
            behind = next((n for n in items[i + 1 :] if not isinstance(n, Ws)), None)
            syntax = isinstance(behind, Lit) and behind.texts == ("(",)
            head += DOTTED_NAME if dotted else CALL_NAME if syntax else NAME
            names += 1
        elif isinstance(node, CallObject):
            if names:
                return None
            keys = "|".join(map(re.escape, node.name))
            args = "|".join(map(re.escape, node.arguments))
            head += rf'\{{{WS}"(?:{keys})"{WS}:{WS}"{NAME}"{WS},{WS}"(?:{args})"{WS}:{WS}(?=\{{)'
            tail = _tail(items[i + 1 :], WS + r"\}")
            if tail is None:
                return None
            quick = Quick(head, tail)
            quick.depth -= 1  # the object that holds them is a level, too
            return quick
        elif isinstance(node, Arguments) and node.codec in ("json", "python", "pythonic") and not node.escapes:
            tail = _tail(items[i + 1 :])
            if tail is None or names != 1:
                return None
            python = node.codec != "json"
            if node.codec == "python":
                head += f"(?={PAREN.pattern})"
            quick = Quick(head if python else _white(head) + r"(?=\{)", tail, python)
            quick.method = next((n.method for n in items[:i] if isinstance(n, Hole)), "")
            return quick
        elif isinstance(node, Each):
            return _each(node, items[i + 1 :], head) if names == 1 else None
        else:
            return None
    return None


def _each(node: Each, rest: list[Node], head: str) -> Quick | None:
    each = WS
    value: Value | None = None
    closer = 0
    for i, item in enumerate(node.items):
        ends = re.escape("".join(sorted(set(_begins([*node.items[i + 1 :], *rest]) or "") - set("<>&"))))
        if isinstance(item, Lit):
            each += _texts(item)
            if value is not None and not closer:
                if len(item.texts) > 1:
                    return None
                closer = len(item.texts[0])
        elif isinstance(item, Ws):
            each = _white(each)
        elif isinstance(item, Tag):
            tag = _tag(item, r'([^"<>&]{1,128})')
            if tag is None:
                return None
            each += _texts(Lit(item.open)) + tag
        elif isinstance(item, Hole) and item.field == "key":
            each += rf"([^<>\s{ends}]{{1,128}})"
        elif isinstance(item, Value):
            value = item
            each += f"([^<&{ends}]*)" if item.entities else f"([^<{ends}]*)"
        else:
            return None
    tail = _tail(rest, WS)
    if tail is None or value is None:
        return None
    quick = Quick(head, tail, each=each, frame=value.frame)
    quick.closer = closer
    if value.python_containers:
        quick.value = read_python
    return quick


def _begins(items: Sequence[Node]) -> str | None:
    """The characters with which what follows may begin, white space aside; None if they are not known."""
    found = ""
    for node in items:
        if isinstance(node, Lit | Tag):
            texts = node.texts if isinstance(node, Lit) else node.open
            return found + "".join(text[:1] for text in texts)
        if isinstance(node, Maybe):
            inner = _begins(node.items)
            if inner is None:
                return None
            found += inner
        elif isinstance(node, Each):
            inner = _begins(node.items)
            if inner is None:
                return None
            found += inner  # there may be none of them
        elif isinstance(node, CallObject | Arguments):
            return found + "{("
        elif not isinstance(node, Ws):
            return None
    return found


def _ends_white(pattern: str) -> bool:
    return pattern.rstrip(")?").endswith(WS)


def _before_white(items: Sequence[Node], i: int) -> bool:
    return i + 1 < len(items) and isinstance(items[i + 1], Ws)


def _white(pattern: str) -> str:
    """``pattern`` and white space. Two runs of it must never meet: the time to tell them apart would be quadratic."""
    return pattern if _ends_white(pattern) else pattern + WS


def _tail(items: Sequence[Node], tail: str = "") -> str | None:
    """``tail`` and the literals of ``items``."""
    for i, node in enumerate(items):
        if isinstance(node, Lit):
            tail += _texts(node)
        elif isinstance(node, Ws):
            tail = _white(tail)
        elif isinstance(node, Maybe):
            white = _ends_white(tail)
            optional = _tail(node.items, "" if white else WS)
            if optional is None:
                return None
            if white and _before_white(items, i):
                optional = _white(optional)
            tail += f"(?:{optional})?"
        else:
            return None
    return tail


def _texts(node: Lit) -> str:
    return "(?:" + "|".join(map(re.escape, sorted(node.texts, key=len, reverse=True))) + ")"


def _tag(node: Tag, value: str) -> str | None:
    if len(node.attributes) != 1:
        return None
    return rf'[ \t\r\n]{{1,200}}{re.escape(node.attributes[0][0])}="{value}"{re.escape(node.end)}'


class QuickSection:
    """A section of calls, from behind its opener."""

    __slots__ = ("call", "first", "next")

    def __init__(self, call: Quick, first: str, more: str, close: str) -> None:
        self.call = call
        # To behind the first call's opener, group 1; to behind the next one's, or the end of the section.
        self.first: Match = re.compile(first).match
        self.next: Match = re.compile(f"{more}|(?P<end>{close})").match

    def read(self, text: str, pos: int, tools: ToolSet | None, write: bool) -> tuple[list[Plain], int] | None:
        """The calls and the end of the section; None: ask the operations."""
        match = self.first(text, pos)
        calls: list[Plain] = []
        call = self.call
        while match is not None:
            pos = match.end()
            one = call.read(text, match.start(1), pos, tools, write)
            if one is None:
                return None
            calls.append(one[0])
            match = self.next(text, one[1])
            if match is not None and match.lastgroup is not None:
                return calls, match.end()
        return None


def quick_section(fmt: Format, node: Section) -> QuickSection | None:
    """The fast way for a section, from behind its first literal."""
    items = [n for n in node.items if not (isinstance(n, Maybe) and not n.write)]
    call_node = items[0]
    others: list[Node] = []
    if isinstance(call_node, Either):
        others = [option[0] for option in call_node.options[1:]]
        call_node = call_node.options[0][0]
    if fmt.unit or len(items) != 1 or not isinstance(call_node, Call):
        return None
    first = call_node.items[0]
    marked = isinstance(first, Lit | Tag)
    if isinstance(first, Lit | Tag):
        call = quick_call(fmt, call_node)
        opener = "(" + _texts(Lit(first.texts if isinstance(first, Lit) else first.open)) + ")"
    else:
        # What another way of writing begins with is none of this way's names.
        firsts = [n.items[0] for n in others if isinstance(n, Call)]
        ahead = "".join(f"(?!{_texts(n)})" for n in firsts if isinstance(n, Lit))
        call = _rest(list(call_node.items), ahead)
        opener = "()"  # a call object begins with what its own expression reads
    open = _tail(node.open[1:])
    # Before a closer that is missing white space is none of the section's.
    close = _tail(node.close, "" if all(isinstance(n, Maybe) for n in node.close) else WS)
    if call is None or open is None or close is None:
        return None
    separator = WS
    if node.separator is not None:
        separator += re.escape(node.separator.texts[0].strip())
    elif not marked:
        if all(isinstance(n, Maybe) for n in node.close):
            return None  # whether the section ends or another call stands there, the operations judge
        separator = f"(?!{close}){WS}"
    return QuickSection(call, _white(open) + opener, _white(separator) + opener, close)
