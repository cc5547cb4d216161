"""The public functions on providers."""

from __future__ import annotations

from difflib import get_close_matches
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from ..errors import DefinitionError
from ..types import Message
from ._base import Ids, OnError, WireProvider, checked
from ._detect import detect_provider, detect_value
from ._names import Provider, WireFormat
from ._payload import load

__all__ = ["detect_provider", "get_provider", "parse_response", "parse_responses", "providers", "try_get_provider"]


@cache
def _wires() -> frozenset[str]:
    """The wire formats that have a file."""
    return frozenset(path.stem for path in Path(__file__).parent.glob("[!_]*.py"))


def providers() -> list[Provider]:
    """Every provider that `get_provider` knows.

    >>> Provider.ANTHROPIC in providers()
    True
    """
    wires = _wires()
    return [provider for provider in Provider if provider.wire_format.value in wires]


def get_provider(name: str | Provider) -> WireProvider:
    """The tool calling of a provider: ``tools``, ``tool_choice``, ``parse``, ``results`` and what goes with them.

    >>> get_provider("anthropic").tool_choice("required")
    {'tool_choice': {'type': 'any'}}
    """
    if not isinstance(name, str):
        raise TypeError(f"name: expected a Provider or its name, got {type(name).__name__}")
    try:
        provider = Provider(name)
    except ValueError:
        known = [provider.value for provider in providers()]
        near = get_close_matches(name[:80].lower(), known, n=3, cutoff=0.6)
        hint = f"did you mean {' or '.join(map(repr, near))}?" if near else "providers() lists them"
        raise DefinitionError(f"no provider is called {name[:80]!r}; {hint}", "definition.unknown_provider") from None
    if provider is Provider.AUTO:
        raise DefinitionError(
            "'auto' stands for a provider that is yet to be detected; detect_provider does that",
            "definition.unknown_provider",
        )
    return _get(provider)


@cache
def _get(provider: Provider) -> WireProvider:
    wire = provider.wire_format.value
    if wire not in _wires():
        raise DefinitionError(f"{provider}: the wire format {wire} is not built yet", "definition.unknown_provider")
    made: WireProvider = import_module(f".{wire}", __package__).WIRE(provider)
    return made


def try_get_provider(name: str | Provider) -> WireProvider | None:
    """The same, or None if there is no such provider."""
    try:
        return get_provider(name)
    except DefinitionError:
        return None


def parse_response(
    response: Any,
    provider: str | Provider = "auto",
    *,
    on_error: OnError = "raise",
    ids: Ids = "given",
    tools: Any = None,
    text_format: str | None = None,
    validate: bool = False,
    coerce: bool = False,
) -> Message:
    """The message in a provider's response: JSON text, bytes, JSON values or an SDK's object.

    ``provider="auto"`` looks at the shape. Of several choices the first is read, and the others are counted as a
    `Loss`. ``on_error``, ``ids`` and ``tools`` are those of `parse`; positions of errors are those of the payload's
    text, and ``error.path`` is a JSON path into it. A shape that nobody has gives an empty message with a `Loss`.
    With ``text_format`` (a format's name, or ``"auto"``) the content is read for calls and reasoning that the model
    wrote as text, because the server has no parser or let them through; positions and spans in them count from the
    beginning of the content that they stand in. ``validate`` and ``coerce`` are those of `parse`.

    >>> message = parse_response('{"content": [{"type": "tool_use", "id": "t1", "name": "ping", "input": {}}]}')
    >>> message.provider, message.tool_calls[0].name
    ('anthropic', 'ping')
    """
    payload, text = load(response)
    parser = _by_shape(detect_value(payload, type(response))) if provider == "auto" else get_provider(provider)
    if tools is None and text_format is None and not validate and not coerce:
        found = parser.ordinary(payload, on_error, ids)
        if found is not None:
            return found
    return parser.read_first(payload, text, on_error, ids, tools, text_format, validate, coerce)


def parse_responses(
    response: Any,
    provider: str | Provider = "auto",
    *,
    on_error: OnError = "raise",
    ids: Ids = "given",
    tools: Any = None,
    text_format: str | None = None,
    validate: bool = False,
    coerce: bool = False,
) -> list[Message]:
    """The same for every choice of a response."""
    payload, text = load(response)
    parser = _by_shape(detect_value(payload, type(response))) if provider == "auto" else get_provider(provider)
    return [
        checked(message, on_error)
        for message in parser.read_all(payload, text, on_error, ids, tools, text_format, validate, coerce)
    ]


@cache
def _by_shape(provider: Provider) -> WireProvider:
    """Who reads what has the shape of ``provider``."""
    return _get(provider) if provider.wire_format.value in _wires() else _Nobody(Provider.AUTO)


class _Nobody(WireProvider):
    """What has no provider's shape."""

    wire = WireFormat.UNKNOWN

    def read(self, payload: dict[str, Any], new: Any) -> list[Any]:
        """Nothing."""
        reading = new()
        if payload:
            reading.lost((), "no provider's response has this shape")
        return [reading]
