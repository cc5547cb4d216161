"""Whatever the recorded cases write is what the SDK's own types take, and all of it is known to them."""

from __future__ import annotations

from typing import Any

import pytest
from clients import CLIENTS, Client, listed

import payloads
from loopback import written
from toolglot import get_provider

pytestmark = [pytest.mark.sdk, pytest.mark.filterwarnings("ignore::DeprecationWarning")]
# Whose types are asked about a wire format; the others have files of their own.
CHECKED = [client for client in CLIENTS if client.id in ("openai_chat", "openai_responses", "anthropic", "gemini")]
DIALECT = {(case.wire, case.name): case.data.get("provider") for case in payloads.cases()}


@pytest.mark.parametrize(
    ("client", "case", "section", "value"),
    [(client, *one) for client in CHECKED for one in written(str(get_provider(client.provider).wire))],
    ids=lambda value: str(value) if isinstance(value, str | Client) else "",
)
def test_shape(client: Client, case: str, section: str, value: Any) -> None:
    pytest.importorskip(client.package)
    wire = str(get_provider(client.provider).wire)
    dialect = DIALECT.get((wire, case)) or client.provider
    client = next((one for one in CLIENTS if one.provider == dialect), client)
    pytest.importorskip(client.package)
    messages = [client.user] if section == "request" else [client.user, *listed(value)]
    body = {**client.rest, client.messages: messages, **(value if section == "request" else {})}
    known = client.check(body)
    if dialect == client.provider:
        assert known == body
