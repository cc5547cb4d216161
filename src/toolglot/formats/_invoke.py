"""Invoke elements in a block of their own, values as bare text. MiniMax-M2 and dots write the same inside."""

from __future__ import annotations

from ..pattern import Section, call, each, section, tag, value, ws


def invoke_block(*opener: object, close: str) -> Section:
    """A block with ``opener``, one call a line, one parameter a line."""
    invoke = call(
        tag("<invoke", name="name"),
        ws("\n"),
        each(tag("<parameter", name="key"), value(), "</parameter>", ws("\n")),
        "</invoke>",
    )
    return section((*opener, ws("\n")), invoke, (ws("\n"), close))  # type: ignore[arg-type]
