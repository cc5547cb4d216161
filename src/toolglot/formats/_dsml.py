"""DeepSeek's DSML, of which three versions differ in the words of their tags. One tolerant pattern reads them all.

The sources are the encoders that come with DeepSeek-V3.2, V4 and V4.1.
"""

from __future__ import annotations

from ..format import Format
from ..pattern import arguments, call, each, either, lit, section, tag, value, ws
from ._shared import THINK_BARE

BAR = "\uff5cDSML\uff5c"
BARS = (BAR, "|DSML|", "\u2016DSML\u2016", "\uff5c\uff5cDSML\uff5c\uff5c")
BLOCKS = ("function_calls", "tool_calls", " calls", "calls", "toolcalls", "tool_call")


def _spellings(words: tuple[str, ...], head: str, tail: str) -> tuple[str, ...]:
    return tuple(f"{head}{bar}{word}{tail}" for word in words for bar in BARS)


def dsml(block: str, space: str, empty: str, **about: object) -> Format:
    """A version: its block's word, what stands before each word, and what an empty call holds."""
    blocks = (space + block, *(b for b in BLOCKS if b != space + block))
    words = {w: (space + w, w if space else " " + w) for w in ("invoke", "parameter")}
    invoke = call(
        tag(*_spellings(words["invoke"], "<", ""), name="name"),
        ws("\n"),
        either(
            each(
                tag(*_spellings(words["parameter"], "<", ""), name="key", string="string"),
                value(),
                lit(*_spellings(words["parameter"], "</", ">")),
                ws("\n"),
                empty=empty,
            ),
            (arguments("json"), ws()),
        ),
        lit(*_spellings(words["invoke"], "</", ">")),
    )
    return Format(
        section(
            (lit(*_spellings(blocks, "<", ">")), ws("\n")),
            invoke,
            (ws("\n"), lit(*_spellings(blocks, "</", ">"))),
            bare="declared",
        ),
        before=("\n\n",),
        lead="\n\n",
        between="\n",
        reasoning=THINK_BARE,
        turn_ends=("<\uff5cend\u2581of\u2581sentence\uff5c>",),
        special=(BAR, "<\uff5cend\u2581of\u2581sentence\uff5c>"),
        **about,  # type: ignore[arg-type]
    )
