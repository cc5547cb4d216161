"""A call as ``<function=...>`` with ``<parameter=...>`` elements, values directly between their tags."""

from __future__ import annotations

from ..pattern import Call, call, each, key, lit, name, value, ws


def function_call(close: str, *, python: bool = False) -> Call:
    """The call in a wrapper that ``close`` closes. ``python``: what is no string is written as Python's literal."""
    return call(
        "<function=",
        name(),
        ">",
        ws("\n"),
        each(
            "<parameter=",
            key(),
            ">",
            value(implied="line", python_scalars=python, python_containers=python),
            "</parameter>",
            ws("\n"),
        ),
        lit("</function>", implied_by=close),
    )
