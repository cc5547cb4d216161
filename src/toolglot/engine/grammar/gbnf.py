"""GBNF, as llama.cpp reads it; XGrammar's EBNF is the same language."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from .nodes import Alt, Chars, Json, Node, Other, Ref, Repeat, Rules, Run, Seq, Text, Token, references
from .runs import DEAD, END, State, other_states, run_states

_PLAIN = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\", '"': '\\"'}


class Gbnf:
    """Writes rules; what is used at several places becomes a rule of its own."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.lines: list[str] = []
        self.names: dict[object, str] = {}
        self.runs: dict[Node, list[str]] = {}
        self.taken = set(rules.nodes)

    def grammar(self, root: Node) -> str:
        """The whole grammar; ``root`` is where it starts."""
        body = [f"root ::= {self.body(root)}"]
        seen: set[str] = set()
        pending = [root]
        while pending:
            for ref in references(pending.pop()):
                if ref not in seen:
                    seen.add(ref)
                    body.append(f"{ref} ::= {self.body(self.rules.nodes[ref])}")
                    pending.append(self.rules.nodes[ref])
        return "\n".join((*(f"# not enforced: {note}" for note in self.rules.loose), *body, *self.lines)) + "\n"

    def body(self, node: Node) -> str:
        """A rule's right side."""
        if isinstance(node, Json):
            return self.body(node.node)
        return " | ".join(map(self.sequence, node.options)) if isinstance(node, Alt) else self.sequence(node)

    def sequence(self, node: Node) -> str:
        """An option of a rule."""
        items = node.items if isinstance(node, Seq) else (node,)
        return " ".join(map(self.open, items)) if items else '""'

    def open(self, node: Node) -> str:
        """The same where several may stand beside each other."""
        if isinstance(node, Run | Other):
            return " ".join(self.run(node) if isinstance(node, Run) else self.other(node))
        return self.one(node)

    def one(self, node: Node) -> str:
        """One element of a sequence."""
        if isinstance(node, Text):
            return '"' + "".join(map(_char, node.text)) + '"'
        if isinstance(node, Chars):
            return _class(node.ranges, node.negated)
        if isinstance(node, Ref):
            return node.name
        if isinstance(node, Json):
            return self.one(node.node)
        if isinstance(node, Token):
            return self.named(node.name, node, lambda: [self.body(node.node)])
        if isinstance(node, Run | Other):
            parts = self.run(node) if isinstance(node, Run) else self.other(node)
            return parts[0] if len(parts) == 1 else f"({' '.join(parts)})"
        if isinstance(node, Repeat):
            item = self.one(node.item)
            least, most = node.least, node.most
            if (least, most) in _SIGNS:
                return item + _SIGNS[least, most]
            return f"{item}{{{least}}}" if least == most else f"{item}{{{least},{'' if most is None else most}}}"
        return f"({self.body(node)})"

    def fresh(self, hint: str) -> str:
        """A name that no rule has."""
        name, count = hint, 1
        while name in self.taken:
            count += 1
            name = f"{hint}-{count}"
        self.taken.add(name)
        return name

    def named(self, hint: str, key: object, make: Callable[[], list[str]]) -> str:
        """The rule for ``key``, written when it is first asked for."""
        name = self.names.get(key)
        if name is None:
            name = self.names[key] = self.fresh(hint)
            at = len(self.lines)
            self.lines.append("")
            self.lines[at] = f"{name} ::= {' | '.join(make())}"
        return name

    def run(self, node: Run) -> list[str]:
        """A run: its states become rules that end where it ends."""
        states, start = run_states(node)
        names = self.states(replace(node, begin=""), states, "text")
        return [*([self.one(Text(node.begin))] if node.begin else []), names[start]]

    def other(self, node: Other) -> list[str]:
        """A key that is not declared."""
        names = self.states(replace(node, begin="", end=""), other_states(node.words), "key")
        begin = [self.one(Text(node.begin))] if node.begin else []
        return [*begin, names[0], self.one(Text(node.end))]

    def states(self, node: Run | Other, states: list[State], hint: str) -> list[str]:
        """A rule a state, but for those that nothing leads to."""
        known = self.runs.get(node)
        if known is not None:
            return known
        used = {0, *(t for s in states for t in (*s.edges.values(), s.otherwise) if t >= 0)}
        names = self.runs[node] = [self.fresh(hint) if i in used else "" for i in range(len(states))]
        chars = node.chars.ranges if node.chars is not None else ()
        for name, state in zip(names, states, strict=True):
            ways = [f"{_class((*chars, *((c, c) for c in state.edges)), True)} {names[state.otherwise]}"]
            if isinstance(node, Run) and node.escape is not None:
                ways.append(f"{self.one(node.escape)} {names[0]}")
            for target in dict.fromkeys(state.edges.values()):
                if target != DEAD:
                    text = _class(((c, c) for c, t in state.edges.items() if t == target), False)
                    ways.append(text if target == END else f"{text} {names[target]}")
            if state.accepts:
                ways.append('""')
            if name:
                self.lines.append(f"{name} ::= {' | '.join(ways)}")
        return names


_SIGNS = {(0, 1): "?", (0, None): "*", (1, None): "+"}


def _char(char: str) -> str:
    if char in _PLAIN:
        return _PLAIN[char]
    return char if char.isprintable() else f"\\u{ord(char):04x}" if ord(char) < 0x10000 else f"\\U{ord(char):08x}"


def _class(ranges: Iterable[tuple[str, str]], negated: bool) -> str:
    parts = [_member(a) if a == b else f"{_member(a)}-{_member(b)}" for a, b in dict.fromkeys(ranges)]
    if negated and not parts:
        return "[^\\u0000]"
    return f"[{'^' if negated else ''}{''.join(parts)}]"


def _member(char: str) -> str:
    # Never `\\x`: XGrammar takes every hexadecimal digit behind it, llama.cpp two.
    return f"\\u{ord(char):04x}" if char in "]^-[" else _char(char)
