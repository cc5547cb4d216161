"""What holds for all tests."""

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from toolglot.registry import REGISTRY

# A busy machine is slow, not wrong; what hangs is stopped by pytest's own timeout.
settings.register_profile("toolglot", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("toolglot")


@pytest.fixture(autouse=True)
def _no_format_is_left() -> Iterator[None]:
    """A format that a test registers is gone after it, whatever order the tests run in."""
    before = {fmt.id for fmt in REGISTRY.added()}
    yield
    for fmt in REGISTRY.added():
        if fmt.id not in before:
            REGISTRY.remove(fmt.id)
