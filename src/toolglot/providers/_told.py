"""What a turn was told by one provider, in its `extra`, and no other can be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from ._turns import SOURCE

__all__ = ["told_to"]

# What a response says about itself: no history needs it.
_ABOUT: Final = frozenset(("id", "model", "stop_reason", "stop_sequence", "stop_details", "usage", "created_at"))
# Members that hold what stood around a part, and what in them says nothing.
_AROUND: Final = frozenset(("message", "part", "step", "entry"))
_NOTHING: Final[tuple[Any, ...]] = (None, [], {}, "")


def told_to(extra: Mapping[str, Any], wire: str) -> Iterator[tuple[str, str]]:
    """The members of an ``extra`` that ``wire`` cannot be told, each with the wire format that it is of."""
    for other, own in extra.items():
        if other in (SOURCE, wire) or not isinstance(own, dict):
            continue
        told = {key: value for key, value in own.items() if key not in _AROUND or not isinstance(value, dict)}
        for key in own.keys() - told.keys():
            told |= {name: value for name, value in own[key].items() if value not in _NOTHING}
        for key in sorted(told.keys() - _forms(other)):
            yield other, key


def _forms(wire: str) -> frozenset[str]:
    """What in an extra of a wire format is no content."""
    from ._api import try_get_provider
    from ._names import DEFAULT

    provider = try_get_provider(DEFAULT.get(wire, wire))  # type: ignore[call-overload]
    return _ABOUT if provider is None else _ABOUT | provider.forms
