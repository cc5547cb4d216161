"""The sentinel tokens of DeepSeek V3 to V3.1 and the two ways of writing a call between them.

The sources are the chat templates of DeepSeek-R1 and V3.1. Distilled models misspell the section's tokens, which are
no tokens of theirs, as llama.cpp's parser knows.
"""

from __future__ import annotations

from ..format import Format
from ..pattern import Call, arguments, call, either, lit, maybe, name, section, ws

BAR, GAP = "\uff5c", "\u2581"
END_OF_SENTENCE = f"<{BAR}end{GAP}of{GAP}sentence{BAR}>"


def token(words: str, bar: str = BAR, gap: str = GAP) -> str:
    """``tool calls begin`` as a token."""
    return f"<{bar}{words.replace(' ', gap)}{bar}>"


def spellings(words: str) -> tuple[str, ...]:
    """The token and its misspellings."""
    return tuple(token(words, bar, gap) for bar in (BAR, "|") for gap in (GAP, "_", " ", "\\_"))


BEGIN, SEP, END = (token(words) for words in ("tool call begin", "tool sep", "tool call end"))

FENCED = call(
    f"{BEGIN}function{SEP}",
    name(),
    ws("\n"),
    maybe(lit("```json", "```")),
    ws("\n"),
    arguments("json"),
    ws("\n"),
    maybe("```"),
    ws(),
    END,
)
PLAIN = call(BEGIN, name(), SEP, ws(), arguments("json"), ws(), END)


def deepseek(*calls: Call, **about: object) -> Format:
    """A version writes the first of the ways and reads all that are given."""
    return Format(
        section(
            (lit(*spellings("tool calls begin"), token("tool calls")), ws()),
            either(*calls),
            (ws(), lit(*spellings("tool calls end"))),
        ),
        turn_ends=(END_OF_SENTENCE,),
        special=(token("tool calls begin"), token("tool calls end"), BEGIN, SEP, END, END_OF_SENTENCE),
        **about,  # type: ignore[arg-type]
    )
