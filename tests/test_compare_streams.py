"""Our column of `compare_streams.py`: design.md, what is never a call; and the SDKs', where they are installed."""

from __future__ import annotations

import pytest

import compare_streams
from compare_streams import BLOCKS, CHAT, column, toolglot

ONE, TWO = 'c1 f {"a": 1}', 'c1 f {"a": 1}; c2 g {"b": 2}'
EXPECTED = {
    "same index, different ids": TWO,  # a new id begins another call
    "name resent": ONE,  # names and ids are set once
    "id resent": ONE,
    "empty arguments": "c1 f {}",
    'truncated {"a":"hel': "error tool_call.truncated",
    "truncated, and not said to be": "error json.unterminated_string",
    "no object: [1]": "error tool_call.invalid_arguments",
    "index 1 before index 0": 'c2 g {"b": 2}; c1 f {"a": 1}',  # in the order in which they come
    "index missing": TWO,
}


def test_chunks() -> None:
    assert dict(zip(CHAT, column(lambda events: toolglot("openai", events), CHAT), strict=True)) == EXPECTED


def test_blocks() -> None:
    found = dict(zip(BLOCKS, column(lambda events: toolglot("anthropic", events), BLOCKS), strict=True))
    assert found == {**{case: EXPECTED[case] for case in BLOCKS}, "index missing": ONE}


@pytest.mark.sdk
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_table(capsys: pytest.CaptureFixture[str]) -> None:
    """The SDKs read every stream, or say that they cannot; what they make of it is theirs to change."""
    pytest.importorskip("openai")
    pytest.importorskip("anthropic")
    compare_streams.main()
    lines = capsys.readouterr().out.splitlines()
    for case in {*CHAT, *BLOCKS}:
        assert f"  {case}" in lines
    for package, cases in (("openai", CHAT), ("anthropic", BLOCKS)):
        cells = [line.split(maxsplit=2)[2] for line in lines if line.startswith(f"    {package} ")]
        assert len(cells) == len(cases)
        assert any("c1 f" in cell for cell in cells)
