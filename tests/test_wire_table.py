"""The table of what is proved has no empty cell."""

from __future__ import annotations

import payloads
import wire_table


def test_every_cell_has_a_case_or_a_reason() -> None:
    cases = payloads.cases()
    for wire in sorted({case.wire for case in cases}):
        tags = {tag for case in cases if case.wire == wire for tag in case.data["tags"]}
        for column in wire_table.COLUMNS:
            assert (column in tags) != ((wire, column) in wire_table.NONE), (wire, column)


def test_a_failing_case_is_counted() -> None:
    case = next(case for case in payloads.cases() if case.is_response and "message" in case.data)
    wrong = payloads.Payload(case.wire, case.name, {**case.data, "message": {"stop_reason": "wrong"}})
    assert wire_table.passes(case)
    assert not wire_table.passes(wrong)
