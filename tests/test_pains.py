"""The table of pains and their tests."""

from __future__ import annotations

import pytest

import pains


def test_every_pain_has_its_tests() -> None:
    assert list(pains.faults()) == []


def test_what_is_not_there_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = {
        "a": ("", ["mistral/no_such_case"]),
        "b": ("", ["test_pains.py::test_no_such_test"]),
        "c": ("", ["no_such_file.py::test_it"]),
        "d": ("", []),
    }
    monkeypatch.setattr(pains, "PAINS", pains.PAINS | wrong)
    assert list(pains.faults()) == [
        "pain a: there is no mistral/no_such_case",
        "pain b: there is no test_pains.py::test_no_such_test",
        "pain c: there is no no_such_file.py::test_it",
        "pain d has no test",
    ]
