"""Hunyuan 3 and 4: GLM's pairs, calls in a block, and a word of the checkpoint's behind each tag's name.

``:opensource`` is that of the published Hy3, ``:6124c78e`` that of Hy4 and of hosted Hy3; Hy3's preview has none.
"""

from __future__ import annotations

from ..format import Format, Reasoning, Results
from ..pattern import Maybe, call, maybe, name, section, ws
from ._pairs import pairs, tags

TAILS = (":opensource", ":6124c78e", "")


def hunyuan(tail: str, line: str, sep: bool, **about: object) -> Format:
    """A version: its word, what stands between its tags, and whether a tag separates name and arguments."""
    tails = (tail, *(t for t in TAILS if t != tail))
    separator: Maybe = maybe(tags("tool_sep", tails), write=sep)
    think = [Reasoning(f"<think{t}>", f"</think{t}>") for t in tails]
    ends = tuple(f"<\uff5chy_eos{t}\uff5c>" for t in tails)
    return Format(
        section(
            (tags("tool_calls", tails), ws(line)),
            call(
                tags("tool_call", tails),
                name(),
                separator,
                ws(line),
                pairs(line, line, tails=tails, implied="line" if line else "any"),
                tags("tool_call", tails, "/"),
            ),
            (ws(line), tags("tool_calls", tails, "/")),
        ),
        between=line,
        reasoning=think[0],
        more_reasoning=tuple(think[1:]),
        calls_in_reasoning=True,
        results=(
            Results(
                f"<tool_response{tail}>{line}{{result}}{line}</tool_response{tail}>{line}",
                f"<tool_responses{tail}>{line}",
                close=f"</tool_responses{tail}>",
            ),
        ),
        turn_ends=ends,
        special=ends,
        **about,  # type: ignore[arg-type]
    )
