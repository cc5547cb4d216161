"""What in a turn is for one provider only."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from ..history import UserPart
from ..types import FilePart, OpaquePart, ToolResult
from ._turns import SOURCE, WHOLE
from ._writing import Writing

if TYPE_CHECKING:
    from ._base import WireProvider

__all__ = ["fit_part", "fit_result", "told_to", "whole_items"]

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


def fit_result(provider: WireProvider, result: ToolResult, path: str, out: Writing) -> ToolResult:
    """A copy of ``result`` without the parts that cannot be written here."""
    content = result.content
    if not isinstance(content, list) or not any(isinstance(part, (OpaquePart, FilePart)) for part in content):
        return replace(result)
    kept = []
    for place, part in enumerate(content):
        fitting = fit_part(part, provider.wire)
        if fitting is None or (isinstance(part, OpaquePart) and not provider.opaque_results):
            out.lost("loss.part", f"{path}.content[{place}]", "something that only another can read")
        else:
            kept.append(fitting)
    return replace(result, content=kept or "")


def fit_part(part: Any, wire: str) -> Any:
    """``part`` as it can be written for ``wire``; None if it says something to another provider only.

    An API's items are for itself, the id of a file for whoever keeps the file: for all APIs of its provider.
    """
    if isinstance(part, OpaquePart):
        return part if wire in part.extra else None
    if isinstance(part, FilePart) and part.id is not None and part.extra:
        keeper = wire.partition("_")[0]
        if all(one.partition("_")[0] != keeper for one in part.extra):
            return None if part.data is None and part.url is None else replace(part, id=None)
    return part


def whole_items(content: str | list[tuple[str, UserPart]], wire: str) -> list[Any]:
    """What a content holds if that is no part of a message, but messages of a kind that nobody knows, of ``wire``."""
    found = []
    for _, part in () if isinstance(content, str) else content:
        own = part.extra.get(wire) if isinstance(part, OpaquePart) else None
        if not isinstance(part, OpaquePart) or not isinstance(own, Mapping) or own.get(WHOLE) is not True:
            return []
        found.append(part.data)
    return found


def _forms(wire: str) -> frozenset[str]:
    """What in an extra of a wire format is no content."""
    from ._api import try_get_provider
    from ._names import DEFAULT

    provider = try_get_provider(DEFAULT.get(wire, wire))  # type: ignore[call-overload]
    return _ABOUT if provider is None else _ABOUT | provider.forms
