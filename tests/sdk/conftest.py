"""The server of the SDK tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from loopback import Loopback, loopback


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Loopback]:
    """A server on this machine; no proxy stands between."""
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    with loopback() as running:
        yield running
