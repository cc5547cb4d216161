"""What holds for all tests."""

from collections.abc import Generator, Iterator
from typing import TypeVar

import pytest
from hypothesis import HealthCheck, settings

from effort import FULL
from toolglot.registry import REGISTRY

Report = TypeVar("Report", pytest.CollectReport, pytest.TestReport)

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


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    return _red(report, collector)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    return _red(report, item)


def _red(report: Report, node: pytest.Collector | pytest.Item) -> Report:
    """In `.ci/full` what is missing is installed before: a heavy test that is skipped there is one that failed."""
    if FULL and report.skipped and {"heavy", "browser"} & set(node.path.parts):
        report.outcome = "failed"
        report.longrepr = f"skipped, which .ci/full does not allow: {report.longrepr}"
    return report
