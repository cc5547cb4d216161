"""Separators are the same however a text is cut: neighbours are one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import toolglot

CALL = '{"name":"f","arguments":{}}'
LLAMA = '{"name":"f","parameters":{}}'


def cuts(text: str) -> Iterator[list[str]]:
    """Pieces of every one size, and every cut into three."""
    size = len(text)
    for n in range(1, size + 1):
        yield [text[i : i + n] for i in range(0, size, n)]
    for i in range(size):
        for j in range(i, size):
            yield [text[:i], text[i:j], text[j:]]


@pytest.mark.parametrize(
    ("format", "text", "options", "expected"),
    [
        ("json", f"{CALL}\r\n", {}, [(27, 29)]),
        ("json", f"{CALL}\r\n;\n{CALL} \r\n", {}, [(27, 31), (58, 61)]),
        ("llama3_json", f"{LLAMA}\r\n", {}, [(28, 30)]),
        ("python", "f(a=1)\r\n", {}, [(6, 8)]),
        ("granite3", f"{CALL}\r\n", {"tools": ["f"]}, [(27, 29)]),
        ("minimax_m3", f"{CALL}\r\n", {"tool_choice": "required"}, [(27, 29)]),
        ("json", f"{CALL}\r\nx", {}, []),
        (None, f"{CALL}\r\n", {}, [(27, 29)]),
    ],
)
def test_white_space_behind_a_call(
    format: str | None, text: str, options: dict[str, Any], expected: list[tuple[int, int]]
) -> None:
    assert toolglot.parse(text, format=format, **options).separators == expected
    for pieces in cuts(text):
        parser = toolglot.StreamParser(format=format, **options)
        for piece in pieces:
            parser.feed(piece)
        parser.close()
        assert parser.message.separators == expected, pieces
