"""Text that ends at a literal, as an automaton: which character leads where."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from .nodes import Run

DEAD = -1  # no way on
END = -2  # the text is complete


@dataclass
class State:
    """Where each character leads; ``otherwise`` is for all that are not named. ``accepts``: the text may end here."""

    edges: dict[str, int] = field(default_factory=dict)
    otherwise: int = 0
    accepts: bool = False


def run_states(run: Run) -> tuple[list[State], int]:
    """The automaton of a run (Aho and Corasick's, of its end and what never stands in it), and where it starts."""
    words = [w for w in (run.end, *run.never) if w]
    goto: list[dict[str, int]] = [{}]
    longest: list[str] = [""]  # of the words that end at a node
    for word in words:
        node = 0
        for char in word:
            if char not in goto[node]:
                goto[node][char] = len(goto)
                goto.append({})
                longest.append("")
            node = goto[node][char]
        longest[node] = word
    fail = [0] * len(goto)
    order = [0]
    for node in order:
        for char, child in goto[node].items():
            at = fail[node]
            while at and char not in goto[at]:
                at = fail[at]
            fail[child] = goto[at][char] if node and char in goto[at] else 0
            longest[child] = longest[child] or longest[fail[child]]
            order.append(child)
    alphabet = sorted({char for word in words for char in word})

    def step(node: int, char: str) -> int:
        while node and char not in goto[node]:
            node = fail[node]
        return goto[node].get(char, 0)

    def leads(node: int) -> int:
        word = longest[node]
        return node if not word else END if word == run.end else DEAD

    states = []
    for node in range(len(goto)):
        edges = {c: leads(step(node, c)) for c in alphabet}
        states.append(State({c: t for c, t in edges.items() if t != 0}, accepts=not run.end))
    start = 0
    for char in run.begin:
        start = step(start, char)
        if longest[start]:
            start = fail[start]
    return states, start


def other_states(words: Sequence[str]) -> list[State]:
    """The automaton of a word of at least one character that is none of ``words``; it starts at the first state."""
    states = [State(otherwise=1), State(otherwise=1, accepts=True)]
    for word in words:
        node = 0
        for char in word:
            to = states[node].edges.get(char)
            if to is None:
                to = len(states)
                states[node].edges[char] = to
                states.append(State(otherwise=1, accepts=True))
            node = to
        states[node].accepts = False
    return states
