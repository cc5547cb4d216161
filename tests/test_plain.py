"""The fast way through a whole output says what the machine says, or nothing.

`TOOLGLOT_PLAIN=200000 pytest tests/test_plain.py` tries more texts.
"""

from __future__ import annotations

import os
import random
from typing import Any

import pytest

import toolglot
from differential import generate
from texts import golden_texts
from toolglot import api

COUNT = int(os.environ.get("TOOLGLOT_PLAIN", "4000"))
# What call syntax is made of, and what stands where its reader looks.
PIECES = (
    *("(", "(", ")", "f", "search", "if", "foo.bar", "a=1", "b='x'", "a = 2", "d=1.5", "t=True", ",", "=", "==", "é"),
    *(" ", "\n", "\t", "\f", " " * 600, "z" * 300, "[1]", "{'a': 1}", "{", "}", "'", '"', "\\", "\\n", "\ud800"),
    *("✿FUNCTION✿:", "functools", "functools[", "[", "<", "``` ", '"name"', 'b="a(c=1)"', "x=f(y=1)", "Call: "),
    '{"name": "ping", "arguments": {}}',
)


def made(count: int) -> list[str]:
    chance = random.Random(20261201)
    return ["".join(chance.choices(PIECES, k=chance.randrange(1, 14))) for _ in range(count)]


def said(text: str) -> Any:
    try:
        return toolglot.parse_tool_calls(text, include_format=True)
    except toolglot.ToolglotError as error:
        return error.code, getattr(error, "position", None)


@pytest.mark.parametrize("kind", ["golden", "call syntax", "mixed"])
def test_says_what_the_machine_says(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if kind == "golden":
        texts = [text for some in golden_texts().values() for text in some]
    else:
        texts = made(COUNT) if kind == "call syntax" else list(generate.texts(20261201, COUNT))
    quick = [said(text) for text in texts]
    assert sum(isinstance(answer, list) for answer in quick) > len(texts) // 10
    monkeypatch.setattr(api, "plain_calls", lambda *_: None)
    for text, answer in zip(texts, quick, strict=True):
        assert answer == said(text), text


@pytest.mark.parametrize(
    "text", ['{"name": "p", "arguments": {}}\n', "f(a=1)\n", "[TOOL_CALL]name=p;args={}[/TOOL_CALL]"]
)
def test_has_the_limit_of_calls(text: str) -> None:
    most = toolglot.Limits().calls
    assert len(toolglot.parse_tool_calls(text * most)) == most
    with pytest.raises(toolglot.LimitError):
        toolglot.parse_tool_calls(text * (most + 1))
