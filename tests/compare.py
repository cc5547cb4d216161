"""How the property tests compare."""

from __future__ import annotations

import dataclasses
from typing import Any

import toolglot


def plain(value: Any) -> Any:
    """What a parse says as plain data in which everything counts, also what `==` leaves out."""
    if isinstance(value, toolglot.ToolglotError):
        fields = {key: item for key, item in vars(value).items() if key != "message"}
        return (type(value).__name__, str(value), plain(fields))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        hidden = {"id"} if getattr(value, "id_synthesized", False) else set()  # such ids are random
        names = [field.name for field in dataclasses.fields(value) if field.name[0] != "_" and field.name not in hidden]
        return (type(value).__name__, [(name, plain(getattr(value, name))) for name in names])
    if isinstance(value, dict):
        return [(plain(key), plain(item)) for key, item in value.items()]
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return repr(value)


def unordered(value: Any) -> Any:
    """As `plain`, the keys of objects sorted, as some templates write them."""
    if isinstance(value, dict):
        return sorted((key, unordered(item)) for key, item in value.items())
    return [unordered(item) for item in value] if isinstance(value, list) else repr(value)
