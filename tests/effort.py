"""How much the tests try: a part of it for every change, all of it in `.ci/full`, which sets `TOOLGLOT_FULL`.

`TOOLGLOT_EXAMPLES=20 pytest tests/test_properties.py` tries twenty times as many examples.
"""

from __future__ import annotations

import os
from typing import TypeVar

from hypothesis import HealthCheck, settings

FULL = bool(os.environ.get("TOOLGLOT_FULL"))
Amount = TypeVar("Amount")

# The golden tests settle what each text means; in property tests many odd ones are tried, which takes no deadline.
QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]


def full_or(full: Amount, part: Amount) -> Amount:
    """``full`` in `.ci/full`, else ``part``."""
    return full if FULL else part


def examples(count: int) -> settings:
    """Settings of a property test: ``count`` examples in `.ci/full`, else half as many."""
    tried = full_or(count, count // 2) * int(os.environ.get("TOOLGLOT_EXAMPLES", "1"))
    return settings(max_examples=tried, deadline=None, suppress_health_check=QUIET)
