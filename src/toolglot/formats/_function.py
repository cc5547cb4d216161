"""A call as ``<function=...>`` with ``<parameter=...>`` elements, values directly between their tags."""

from __future__ import annotations

from ..pattern import Call, call, each, key, lit, name, value, ws


def function_call(close: str) -> Call:
    """The call in a wrapper that ``close`` closes."""
    return call(
        "<function=",
        name(),
        ">",
        ws("\n"),
        each("<parameter=", key(), ">", value(), "</parameter>", ws("\n")),
        lit("</function>", implied_by=close),
    )
