"""The benchmark's numbers as drawings."""

from __future__ import annotations


def drawings() -> dict[str, str]:
    """None yet."""
    return {}
