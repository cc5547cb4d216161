"""Lark, as llguidance reads it: a lexer that takes the longest word, regular expressions with ``&`` and ``~``."""

from __future__ import annotations

import json
from collections.abc import Sequence

from .nodes import (
    Alt,
    Chars,
    Json,
    Node,
    Other,
    Ref,
    Repeat,
    Rules,
    Run,
    Seq,
    Text,
    Token,
    alt,
    leading,
    references,
    seq,
    without,
)

_META = frozenset(r"\.+*?()|[]{}^$#&-~/")


class Lark:
    """Writes rules, and a terminal for every regular part."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.terminals: dict[Node, str] = {}
        self.taken = {_rule(name).upper() for name in rules.nodes}
        self.lines: list[str] = []

    def grammar(self, root: Node) -> str:
        """The whole grammar; ``root`` is where it starts."""
        body = [f"start: {self.body(root)}"]
        done: set[str] = set()
        pending = [root]
        while pending:
            for name in references(pending.pop()):
                if name not in done:
                    done.add(name)
                    body.append(f"{_rule(name)}: {self.body(self.rules.nodes[name])}")
                    pending.append(self.rules.nodes[name])
        notes = (f"// not enforced: {note}" for note in self.rules.loose)
        return "\n".join((*notes, *body, *self.lines)) + "\n"

    def body(self, node: Node) -> str:
        """A rule's right side."""
        if isinstance(node, Json):
            return self.body(node.node)
        node = factored(node)
        return " | ".join(map(self.sequence, node.options)) if isinstance(node, Alt) else self.sequence(node)

    def sequence(self, node: Node) -> str:
        """An option of a rule."""
        items = node.items if isinstance(node, Seq) else (node,)
        return " ".join(map(self.one, items)) if items else '""'

    def one(self, node: Node) -> str:
        """One element of a sequence."""
        if isinstance(node, Text):
            return json.dumps(node.text, ensure_ascii=False)
        if isinstance(node, Ref):
            return _rule(node.name)
        if isinstance(node, Json):
            return self.one(node.node)
        if isinstance(node, Token | Run | Other | Chars):
            return self.terminal(node)
        if isinstance(node, Repeat):
            item = self.one(node.item)
            least, most = node.least, node.most
            if (least, most) in _SIGNS:
                return item + _SIGNS[least, most]
            return f"{item}{{{least},{'' if most is None else most}}}"
        return f"({self.body(node)})"

    def terminal(self, node: Token | Run | Other | Chars) -> str:
        """The name of a regular part."""
        name = self.terminals.get(node)
        if name is None:
            hint = node.name.replace("-", "_").upper() if isinstance(node, Token) else type(node).__name__.upper()
            name, count = hint, 1
            while name in self.taken:
                count += 1
                name = f"{hint}_{count}"
            self.taken.add(name)
            self.lines.append(f"{name}: {_terms(node)}")
            if isinstance(node, Run) and node.end and node.chars is None:
                # It ends where it can first; else the longest word would win, up to the last closer.
                self.lines.append(f"{name.lower()}[lazy]: {name}")
                name = name.lower()
            self.terminals[node] = name
        return name


_SIGNS = {(0, 1): "?", (0, None): "*", (1, None): "+"}


def factored(node: Node) -> Node:
    """Options that begin with the same text share it, so that no word is the beginning of another."""
    if not isinstance(node, Alt):
        return node
    plain = alt(map(_bare, node.options))
    rest = list(plain.options) if isinstance(plain, Alt) else [plain]
    options: list[Node] = []
    while rest:
        short = min(map(leading, rest), key=len)
        group = [option for option in rest if leading(option).startswith(short)] if short else rest[:]
        if short and len(group) > 1:
            options.append(seq(Text(short), factored(alt(without(option, short) for option in group))))
        else:
            group = [option for option in group if leading(option) == short]
            options.extend(group)
        rest = [option for option in rest if option not in group]
    return alt(options)


def _bare(node: Node) -> Node:
    """A node that begins with JSON, as what that JSON is."""
    if isinstance(node, Json):
        return _bare(node.node)
    return seq(_bare(node.items[0]), *node.items[1:]) if isinstance(node, Seq) and node.items else node


def _rule(name: str) -> str:
    return name.replace("-", "_")


def _terms(node: Token | Run | Other | Chars) -> str:
    """A terminal's definition."""
    if isinstance(node, Token):
        return f"/{_regex(node.node)}/"
    if isinstance(node, Chars):
        return f"/{_regex(node)}/"
    if isinstance(node, Other):
        inner = f"{_regex(node.chars)}+"
        words = "|".join(map(_quote, node.words))
        text = f"/{_quote(node.begin)}{inner}{_quote(node.end)}/"
        return f"{text} & ~/{_quote(node.begin)}({words}){_quote(node.end)}/" if words else text
    return _run(node)


def _run(node: Run) -> str:
    anything = "(?s:.*)"
    never = list(node.never)
    if node.chars is not None:
        assert node.escape is not None
        terms = [f"/{_quote(node.begin)}({_regex(node.chars)}|{_regex(node.escape)})*{_quote(node.end)}/"]
    else:
        terms = [f"/{_quote(node.begin)}{anything}/"] if node.begin else []
        terms.append(f"/{anything}{_quote(node.end)}/")
    # What the closer ends with may stand at the very end. One expression a group: the lexer counts them.
    last = [word for word in never if node.end and node.end.endswith(word)]
    for words, rest in ((last, "(?s:.+)"), ([word for word in never if word not in last], anything)):
        if words:
            terms.append(f"~/{anything}({'|'.join(map(_quote, words))}){rest}/")
    return " & ".join(terms)


def _regex(node: Node) -> str:
    if isinstance(node, Text):
        return _quote(node.text)
    if isinstance(node, Chars):
        inner = "".join(_member(a) if a == b else f"{_member(a)}-{_member(b)}" for a, b in node.ranges)
        return f"[{'^' if node.negated else ''}{inner}]" if inner else "(?s:.)"
    if isinstance(node, Seq):
        return "".join(map(_regex, node.items))
    if isinstance(node, Alt):
        return f"({'|'.join(map(_regex, node.options))})"
    assert isinstance(node, Repeat)
    item = _regex(node.item)
    if not isinstance(node.item, Chars | Alt):
        item = f"({item})"
    least, most = node.least, node.most
    if (least, most) in _SIGNS:
        return item + _SIGNS[least, most]
    return item + (f"{{{least}}}" if least == most else f"{{{least},{'' if most is None else most}}}")


def _quote(text: Sequence[str]) -> str:
    return "".join(map(_member, text))


def _member(char: str) -> str:
    if char in _META:
        return "\\" + char
    return char if char.isprintable() else f"\\x{{{ord(char):x}}}"
