"""The conversation that is written for every API is what the SDK's own types take, and all of it is known to them."""

from __future__ import annotations

import pytest
from clients import CLIENTS, Client

import turns
from toolglot import get_provider

pytestmark = [pytest.mark.sdk, pytest.mark.filterwarnings("ignore::DeprecationWarning")]
WIRES = {case.wire: case for case in turns.cases()}
KNOWN = [client for client in CLIENTS if get_provider(client.provider).wire in WIRES]


@pytest.mark.parametrize("client", KNOWN, ids=str)
def test_conversation(client: Client) -> None:
    pytest.importorskip(client.package)
    parser = get_provider(client.provider)
    body = {**client.rest, **parser.messages(turns.CONVERSATION)}
    assert client.check(body) == body


@pytest.mark.parametrize("client", KNOWN, ids=str)
def test_from_everyone(client: Client) -> None:
    pytest.importorskip(client.package)
    parser = get_provider(client.provider)
    for case in WIRES.values():
        if case.wire != parser.wire:
            body = {**client.rest, **parser.messages(case.parser.history(case.data["history"]))}
            assert client.check(body) == body
