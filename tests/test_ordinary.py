"""What is read at once is what `read` reads."""

from __future__ import annotations

import copy
import dataclasses
import json
import random
from typing import Any

import pytest
from bench.provider import responses

import payloads
from test_provider_properties import VALUES, places
from toolglot import Message, WireProvider, detect_provider, get_provider
from toolglot.errors import Fault
from toolglot.providers._ordinary import Unusual

RESPONSES = [json.loads(case.text) for case in payloads.cases() if case.is_response] + list(responses().values())
# Names that some format knows: at a place where it does not stand it may be taken for something.
MEMBERS = sorted({key for response in RESPONSES for holder, key in places(response) if isinstance(holder, dict)})
PARSERS = [get_provider(provider) for provider in responses()]


def refuse(payload: Any) -> Message:
    raise Unusual


def everything(message: Message) -> str:
    """All fields, those that are not compared and the order of members too."""
    return repr(dataclasses.asdict(message))


def at_once(parser: WireProvider, payload: Any) -> str | None:
    try:
        return everything(parser.read_ordinary(copy.deepcopy(payload)))
    except (Unusual, KeyError, Fault):
        return None


def thoroughly(parser: WireProvider, payload: Any) -> str:
    slow = copy.copy(parser)
    slow.__dict__["read_ordinary"] = refuse
    return everything(slow.parse(copy.deepcopy(payload), on_error="collect"))


def is_answer(payload: Any) -> bool:
    return type(payload) is dict and payload.get("error") is None and type(payload.get("message")) is not str


@pytest.mark.parametrize("provider", responses())
def test_a_response_with_two_calls_is_read_at_once(provider: str) -> None:
    response, parser = responses()[provider], get_provider(provider)
    assert detect_provider(response) == ("openai" if provider == "mistral" else provider)  # they share the shape
    found = at_once(parser, response)
    assert found is not None
    assert found == thoroughly(parser, response) == everything(parser.parse(response))


def test_all_responses_are_read_alike() -> None:
    read = 0
    for response in filter(is_answer, RESPONSES):
        for parser in PARSERS:
            found = at_once(parser, response)
            if found is not None:
                read += 1
                assert found == thoroughly(parser, response), (parser, response)
    assert read > 30


def test_mutated_responses_are_read_alike() -> None:
    """A value is replaced, missing or doubled; much of what comes of it is still a response."""
    chance = random.Random(4)
    values = [*VALUES, "length", "incomplete", "error", "functionCall", 5, {"id": "x"}, {"error": "x"}, [{"x": 1}]]
    read = 0
    for _ in range(6000):
        parser = chance.choice(PARSERS)
        payload = copy.deepcopy(responses()[parser.provider.value])
        for _ in range(chance.choice((1, 1, 2))):
            holder, key = chance.choice(list(places(payload)))
            what = chance.randrange(4)
            if what == 0 and len(payload) > 1:
                del holder[key]
            elif what == 1 and isinstance(holder, dict):
                holder[chance.choice(MEMBERS)] = copy.deepcopy(chance.choice([*values, holder[key]]))
            elif what == 2 and isinstance(holder, list):
                holder.insert(key, copy.deepcopy(chance.choice([*values, holder[key]])))
            else:
                holder[key] = copy.deepcopy(chance.choice(values))
        found = at_once(parser, payload) if is_answer(payload) else None
        if found is not None:
            read += 1
            assert found == thoroughly(parser, payload), (parser, payload)
    assert read > 1000


def test_ids_that_are_to_be_made_are_made() -> None:
    message = get_provider("google").parse(responses()["google"], ids="synthesize")
    assert all(call.id and call.id_synthesized for call in message.tool_calls)
