"""What a declaration compiles to, for every format."""

from __future__ import annotations

import re

import pytest

import toolglot
from texts import format_ids
from toolglot.engine.compile import Program, compile_format
from toolglot.engine.quick import WS, Quick
from toolglot.engine.search import Searcher


def program(id: str) -> Program:
    return compile_format(toolglot.get_format(id))


@pytest.mark.parametrize("id", format_ids())
def test_openers_are_known_before_it_is_compiled(id: str) -> None:
    made = program(id)
    assert set(made.openers) == {text for entry in made.code.entries for text in entry.texts}


def expressions(quick: Quick) -> list[str]:
    """The expressions of a call's fast way."""
    found = [quick.head, quick.tail, *([quick.each] if quick.each else [])]
    return [match.__self__.pattern for match in found]  # type: ignore[attr-defined]


@pytest.mark.parametrize("id", format_ids())
def test_no_two_runs_of_white_space_meet(id: str) -> None:
    """In how many ways two runs divide the blanks between them is what makes a failing match quadratic."""
    found: list[str] = []
    for entry in program(id).code.entries:
        if entry.quick is not None:
            found += expressions(entry.quick)
        if (section := entry.quick_section) is not None:
            found += expressions(section.call)
            found += [section.first.__self__.pattern, section.next.__self__.pattern]  # type: ignore[attr-defined]
    for expression in found:
        # Runs next to each other, or with nothing but the edge of a group between them.
        assert not re.search(r"~(?:\(\?:|\(|\)\??)*~", expression.replace(WS, "~")), expression


def test_first_is_the_first_of_all() -> None:
    """A text with literals of one group, of several, of none; beyond ASCII; and a long one."""
    searcher = Searcher(["<a>", "<ab>", "<｜b｜>", "[C]", "functools[", "✿"])
    for text in ("", "x < y [1]", "<a>", "x<ab>", "[C]<a>", "<a>[C]", "functools[C]", "é<｜b｜>", "é✿[C]", "<a✿", "é"):
        for padded in (text, text + " " * 5000, "é" + text):
            search, match = searcher.first(padded)
            wanted = searcher.all(padded, 0)
            assert (match and match.span()) == (wanted and wanted.span()), padded[:20]
            end = match.end() if match else 0
            again, wanted = search(padded, end), searcher.all(padded, end)
            assert (again and again.span()) == (wanted and wanted.span()), padded[:20]
