"""``ids="synthesize"``: every call has an id, and a stream gives it with the start wherever it can be known there."""

from __future__ import annotations

import pytest

from toolglot import StreamParser, parse
from toolglot.events import ToolCallEnd, ToolCallStart
from toolglot.golden import load

CASES = [case for case in load() if case.name in ("single", "parallel") and case.expected["calls"]]
# The families that write an id behind the arguments: the start cannot know whether one comes.
LATE = {"mistral_v3"}


@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_call_has_an_id(case) -> None:  # type: ignore[no-untyped-def]
    options = {**case.options, "format": case.format, "ids": "synthesize"}
    given = [call.id for call in parse(case.text, **{**options, "ids": "given"}).tool_calls]
    whole = parse(case.text, **options).tool_calls
    assert all(call.id for call in whole)
    assert [call.id_synthesized for call in whole] == [id is None for id in given]
    assert len({call.id for call in whole}) == len(whole)

    parser = StreamParser(**options)
    events = [event for char in case.text for event in parser.feed(char)] + parser.close()
    starts = {event.index: event.id for event in events if isinstance(event, ToolCallStart)}
    ends = {event.index: event.call.id for event in events if isinstance(event, ToolCallEnd)}
    assert starts.keys() == ends.keys()
    if case.format not in LATE:
        assert starts == ends
