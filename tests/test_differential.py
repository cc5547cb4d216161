"""Toolglot against llm-beacon: every difference is of a kind that has a reason.

`TOOLGLOT_DIFFERENTIAL=200000 pytest tests/test_differential.py` tries more texts, `TOOLGLOT_DIFFERENTIAL_SEED` others.
"""

from __future__ import annotations

import os
from collections import Counter
from typing import Any

import pytest

import toolglot
from differential import classify, generate
from differential.outcome import SEED_FORMATS, ours, theirs

COUNT = int(os.environ.get("TOOLGLOT_DIFFERENTIAL", "12000"))
SEED = int(os.environ.get("TOOLGLOT_DIFFERENTIAL_SEED", "20261130"))
ROWS = classify.ROWS


@pytest.fixture(scope="module")
def texts() -> list[str]:
    return list(generate.texts(SEED, COUNT))


@pytest.fixture(scope="module")
def explained(texts: list[str]) -> list[tuple[str, ...] | None]:
    return [classify.explain(text) for text in texts]


def test_every_difference_has_a_kind(texts: list[str], explained: list[tuple[str, ...] | None]) -> None:
    strange = sorted((text for text, kinds in zip(texts, explained, strict=True) if kinds is None), key=len)
    shown = "\n\n".join(
        f"{text!r}\n  beacon:   {theirs(text).said()}\n  toolglot: {ours(text).said()}" for text in strange[:20]
    )
    assert not strange, f"{len(strange)} of {len(texts)} differ without a reason; the shortest:\n\n{shown}"


@pytest.mark.parametrize("row", ROWS, ids=[row["id"] for row in ROWS])
def test_no_kind_explains_much(row: dict[str, Any], explained: list[tuple[str, ...] | None]) -> None:
    share = sum(row["id"] in (kinds or ()) for kinds in explained) / len(explained)
    assert share <= row["most"], f"{row['id']} explains {share:.2%} of the texts"


def test_all_kinds_together_explain_little(explained: list[tuple[str, ...] | None]) -> None:
    share = sum(bool(kinds) for kinds in explained) / len(explained)
    assert share <= 0.2
    assert sum(len(kinds or ()) > 1 for kinds in explained) / len(explained) <= 0.02


@pytest.mark.parametrize("row", ROWS, ids=[row["id"] for row in ROWS])
def test_examples(row: dict[str, Any]) -> None:
    assert theirs(row["text"]).said() == row["beacon"]
    assert ours(row["text"]).said() == row["toolglot"]
    assert classify.explain(row["text"]) == (row["id"],)


def test_each_kind_has_a_predicate_and_a_reason() -> None:
    assert sorted(row["id"] for row in ROWS) == sorted(classify.KINDS)
    for row in ROWS:
        assert set(row) == {"id", "title", "reason", "most", "text", "beacon", "toolglot"}
        assert row["reason"].startswith(("design.md", "Seed"))


def test_texts_are_worth_comparing(texts: list[str]) -> None:
    """Equal seeds, equal texts; all formats, all sorts of errors, many calls."""
    assert texts[:50] == list(generate.texts(SEED, 50))
    assert len(set(texts)) > 0.98 * len(texts)
    said = [theirs(text) for text in texts]
    formats = Counter(call["format"] for outcome in said for call in outcome.calls or ())
    assert set(formats) == SEED_FORMATS
    assert min(formats.values()) > len(texts) / 30
    codes = Counter(outcome.code for outcome in said if outcome.calls is None)
    assert sum(codes.values()) > len(texts) / 5
    assert len(codes) >= 22


def test_one_call_is_all_calls_counted(texts: list[str]) -> None:
    """`parse_tool_call` says what `parse_tool_calls` says, if that is one call."""
    for text in texts[:3000]:
        outcome = ours(text)
        try:
            call = toolglot.parse_tool_call(text)
        except toolglot.ParseError as error:
            several = outcome.calls is not None and len(outcome.calls) > 1
            expected = ("tool_call.multiple", None) if several else (outcome.code, outcome.position)
            found = (error.code, None if several else error.position)
        else:
            expected = ("", None)
            found = ("", None)
            assert outcome.calls is not None
            assert repr([call]) == repr([{key: each[key] for key in ("name", "arguments")} for each in outcome.calls])
        assert found == expected, text
