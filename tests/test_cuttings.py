"""Some of the cuttings of `cuttings.py`, which tries all; and that it would tell if one were wrong."""

from __future__ import annotations

from typing import Any

import pytest

import cuttings
from toolglot import Message, WireProvider

STREAMS = list(cuttings.streams())


@pytest.mark.parametrize(("name", "parser", "body", "whole"), STREAMS, ids=[name for name, *_ in STREAMS])
def test_some_cuttings(name: str, parser: WireProvider, body: bytes, whole: Any) -> None:
    if parser.binary:
        pytest.importorskip("botocore")
    assert list(cuttings.wrong(parser, body, whole, step=37)) == []


def test_another_message_is_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    found = [one for one in STREAMS if one[0] == "ollama"]
    monkeypatch.setattr(cuttings, "streams", lambda: iter(found))
    assert cuttings.main() == 0
    ((_, parser, body, whole),) = found
    assert f"{len(body) - 1} cuttings  one message" in capsys.readouterr().out

    def broken(parser: WireProvider, *pieces: bytes) -> Message:
        return read(parser, *(piece for piece in pieces if len(piece) != 100))

    read = cuttings.read
    monkeypatch.setattr(cuttings, "read", broken)
    assert [line[:27] for line in cuttings.wrong(parser, body, whole)] == [
        "another message, cut at 100",
        f"another message, cut at {len(body) - 100}"[:27],
    ]
    assert cuttings.main() == 1
    assert "2 WRONG" in capsys.readouterr().out
