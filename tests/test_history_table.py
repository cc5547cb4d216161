"""The table of histories finds what it is to find."""

from __future__ import annotations

import pytest

import history_table
import turns
from toolglot import Loss, ToolResult, UserMessage


def test_nothing_goes_unsaid(capsys: pytest.CaptureFixture[str]) -> None:
    assert history_table.main() == 0
    assert "$.messages[4]" in capsys.readouterr().out  # of the image in Anthropic's result


def test_what_is_not_said_is_seen() -> None:
    read = turns.CONVERSATION
    assert history_table.unsaid(read, read, ()) == []
    assert history_table.unsaid(read, [*read[:3], *read[4:]], ()) == ['["get_time", "clock offline"]', '"get_time"']
    assert history_table.unsaid(read, [*read, UserMessage("Hm")], ()) == ['{"text": "Hm"}']
    # A loss says of what it speaks, and of nothing else.
    shown = [*read[:6], ToolResult("call_3", "A harbour."), *read[7:]]
    assert len(history_table.unsaid(read, shown, ())) == 1
    assert history_table.unsaid(read, shown, [Loss("loss.part", "$[6]", "")]) == []
    assert len(history_table.unsaid(read, shown, [Loss("loss.reasoning", "$[6]", "")])) == 1


def test_a_fault_that_is_not_found_is_counted(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(history_table, "check_messages", lambda *args, **named: [])
    assert history_table.main() == 1
    assert "orphan_call 0/1" in capsys.readouterr().out
