"""DeepSeek's DSML, of which three versions differ in the words of their tags. One tolerant pattern reads them all.

The sources are the encoders that come with DeepSeek-V3.2, V4 and V4.1. GigaChat 3.5 took it over under another name.
"""

from __future__ import annotations

from ..format import Format
from ..pattern import arguments, call, each, either, lit, section, tag, value, ws
from ._shared import THINK_BARE

END = "<\uff5cend\u2581of\u2581sentence\uff5c>"
BLOCKS = ("function_calls", "tool_calls", " calls", "calls", "toolcalls", "tool_call")


def dsml(block: str, space: str, empty: str, mark: str = "DSML", **about: object) -> Format:
    """A version: its block's word, what stands before each word, and what an empty call holds.

    ``about`` may also say other than DeepSeek's what stands around.
    """
    bar = f"\uff5c{mark}\uff5c"
    bars = (bar, f"|{mark}|", f"\u2016{mark}\u2016", f"\uff5c{bar}\uff5c")

    def spellings(words: tuple[str, ...], head: str, tail: str) -> tuple[str, ...]:
        return tuple(f"{head}{bar}{word}{tail}" for word in words for bar in bars)

    blocks = (space + block, *(b for b in BLOCKS if b != space + block))
    words = {w: (space + w, w if space else " " + w) for w in ("invoke", "parameter")}
    invoke = call(
        tag(*spellings(words["invoke"], "<", ""), name="name"),
        ws("\n"),
        either(
            each(
                tag(*spellings(words["parameter"], "<", ""), name="key", string="string"),
                value(),
                lit(*spellings(words["parameter"], "</", ">")),
                ws("\n"),
                empty=empty,
            ),
            (arguments("json"), ws()),
        ),
        lit(*spellings(words["invoke"], "</", ">")),
    )
    around = {
        "before": ("\n\n",),
        "lead": "\n\n",
        "between": "\n",
        "reasoning": THINK_BARE,
        "turn_ends": (END,),
        "special": (bar, END),
    }
    return Format(
        section(
            (lit(*spellings(blocks, "<", ">")), ws("\n")),
            invoke,
            (ws("\n"), lit(*spellings(blocks, "</", ">"))),
            bare="declared",
        ),
        **{**around, **about},  # type: ignore[arg-type]
    )
