"""Key and value elements as GLM writes them, which many families took over with other words or spaces."""

from __future__ import annotations

from collections.abc import Iterable

from ..pattern import Each, Implied, Lit, Maybe, each, key, lit, maybe, value, ws

SLIP: Maybe = maybe("\\n", write=False)
"""What models write behind the name at times: a line break's escape instead of the line break."""


def tags(word: str, tails: Iterable[str] = ("",), slash: str = "") -> Lit:
    """A tag, of which each of ``tails`` is a spelling."""
    return lit(*(f"<{slash}{word}{tail}>" for tail in tails))


def pairs(
    gap: str,
    after: str,
    words: tuple[str, str] = ("arg_key", "arg_value"),
    tails: tuple[str, ...] = ("",),
    implied: Implied = "no",
) -> Each:
    """Pairs with ``gap`` between key and value and ``after`` behind each."""
    name, text = words
    return each(
        tags(name, tails),
        key(),
        tags(name, tails, "/"),
        ws(gap),
        tags(text, tails),
        value(implied=implied),
        tags(text, tails, "/"),
        ws(after),
    )
