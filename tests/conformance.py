"""The public conformance suite (package ``canitoolcall``) on this library: ``python tests/conformance.py`` prints it.

Each fixture is parsed whole and in five cuttings, judged by the suite's own checks. It is called with the model that
the fixture names, its tools, its prompt and whether the output was cut; a prompt that is not given is the model's
default, unless the fixture says that thinking is off.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from canitoolcall.checks import case_status, run_checks
from canitoolcall.fixtures import Family, Fixture, load_families, load_fixtures
from canitoolcall.results import CheckResult, Observation, ParsedToolCall, ParseResult, Status, StreamAccumulator

import toolglot
from toolglot.events import ReasoningDelta, ReasoningReclassified, TextDelta, ToolCallEnd

# They differ from others of the suite, or from their family's template, by one blank before a call.
SOFT = {
    "gemma4/vllm-text-before-call",
    "glm/glm45-vllm-newline-format-content-before",
    "qwen3-hermes/sglang-text-before-call-with-space",
}


@dataclass(frozen=True)
class Case:
    """A fixture with what the suite's checks say of it."""

    fixture: Fixture
    rows: list[CheckResult]

    @property
    def status(self) -> Status:
        """The worst of all checks, every cutting counted."""
        return case_status([row for row in self.rows if row.status is not Status.UNSUPPORTED])


def options(fixture: Fixture) -> dict[str, Any]:
    """The options of `toolglot.parse` for a fixture."""
    prompt = fixture.generation_prompt
    if prompt is None and fixture.thinking is False:
        prompt = ""
    return {
        "model": fixture.models[0],
        "tools": [dict(tool) for tool in fixture.tools] or None,
        "on_error": "collect",
        "finish_reason": "length" if fixture.truncated else None,
        "generation_prompt": prompt,
    }


def whole(fixture: Fixture) -> ParseResult:
    """The fixture parsed in one go."""
    message = toolglot.parse(fixture.raw_output, **options(fixture))
    calls = tuple(ParsedToolCall(call.name, call.arguments_json) for call in message.tool_calls)
    return ParseResult(message.content, message.reasoning, calls)


def streamed(fixture: Fixture, pieces: list[str]) -> ParseResult:
    """The fixture as a client sees it that puts the verified events together."""
    parser = toolglot.StreamParser(**options(fixture))
    seen = StreamAccumulator()
    content = ""
    events = [event for piece in pieces for event in parser.feed(piece)] + parser.close()
    for event in events:
        if isinstance(event, TextDelta):
            content += event.text
        elif isinstance(event, ReasoningDelta):
            seen.add_reasoning(event.text)
        elif isinstance(event, ReasoningReclassified):
            seen.add_reasoning(content)
            content = ""
        elif isinstance(event, ToolCallEnd):
            seen.append_tool_call(event.call.name, event.call.arguments_json)
    seen.add_content(content if content.strip() else None)
    result = seen.result()
    message = parser.message
    assert result.content == message.content, fixture.id
    assert result.reasoning_content == message.reasoning, fixture.id
    return result


def cuttings(text: str) -> Iterator[tuple[str, list[str]]]:
    """One delta, every character, three seeded random cuttings."""
    yield "one", [text]
    yield "char", list(text)
    for seed in range(3):
        rng = random.Random(seed)
        pieces, at = [], 0
        while at < len(text):
            size = rng.choice((1, 2, 3, 5, 8, 21))
            pieces.append(text[at : at + size])
            at += size
        yield f"random {seed}", pieces


def cases(family: str | None = None) -> Iterator[Case]:
    """All fixtures, or those of one family, checked."""
    families: dict[str, Family] = load_families()
    for fixture in load_fixtures():
        if family in (None, fixture.family):
            streams = {name: streamed(fixture, pieces) for name, pieces in cuttings(fixture.raw_output)}
            rows = run_checks(fixture, families[fixture.family], Observation(whole(fixture), streams))
            yield Case(fixture, rows)


def matrix(found: list[Case]) -> str:
    """A table of family by check: passed of applied, soft passes in brackets."""
    checks = sorted({row.check for case in found for row in case.rows})
    lines = [f"{'family':14}{'cases':>6}{'strict':>8}{'soft':>6}{'fail':>6}" + "".join(f"{c:>24}" for c in checks)]
    for family in [*sorted({case.fixture.family for case in found}), "all"]:
        own = [case for case in found if family in (case.fixture.family, "all")]
        status = Counter(case.status for case in own)
        failed = len(own) - status[Status.PASS] - status[Status.SOFT_PASS]
        line = f"{family:14}{len(own):>6}{status[Status.PASS]:>8}{status[Status.SOFT_PASS]:>6}{failed:>6}"
        for check in checks:
            count = Counter(row.status for case in own for row in case.rows if row.check == check)
            soft = f" ({count[Status.SOFT_PASS]} soft)" if count[Status.SOFT_PASS] else ""
            applied = sum(count.values()) - count[Status.UNSUPPORTED]
            line += f"{f'{count[Status.PASS]}/{applied}{soft}':>24}"
        lines.append(line)
    return "\n".join(lines)


if __name__ == "__main__":
    print(matrix(list(cases())))
