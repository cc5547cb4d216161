"""`Options`: what to read of each row, and how."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal

from ..definition import ToolSet
from ..errors import BatchError
from ..types import Limits

COLUMNS = (
    "format",
    "provider",
    "content",
    "reasoning",
    "tool_calls",
    "server_calls",
    "errors",
    "repairs",
    "losses",
    "notes",
    "stop_reason",
)
"""What is written of each row, in this order, before the columns that are kept."""

PLACE = ("row", "file", "line")
"""Where the row came from, which `run` writes before them."""


_OF_TEXT = (
    "model_column",
    "generation_prompt_column",
    "finish_reason_column",
    "format",
    "model",
    "tool_choice",
    "generation_prompt",
    "limits",
)


@dataclass(frozen=True, slots=True)
class Options:
    """What to read of each row, and how.

    ``text_column`` holds the model's output; with ``response_column`` that column is read instead, as a provider's
    response. ``model_column``, ``tools_column``, ``generation_prompt_column`` and ``finish_reason_column`` hold the
    row's own options of `parse`; where they are null, ``model``, ``tools`` and ``generation_prompt`` hold for it.
    Columns in ``keep`` are carried along. ``provider`` and ``text_format`` are those of `parse_response`, the others
    those of `parse`; ``validate`` and ``coerce`` do nothing for a row without tools.
    """

    text_column: str = "text"
    response_column: str | None = None
    model_column: str | None = None
    tools_column: str | None = None
    generation_prompt_column: str | None = None
    finish_reason_column: str | None = None
    keep: Sequence[str] = ()
    format: str | None = None
    model: str | None = None
    tools: Any = None
    tool_choice: Any = None
    generation_prompt: str | None = None
    provider: str = "auto"
    text_format: str | None = None
    on_error: Literal["collect", "repair"] = "collect"
    ids: Literal["given", "synthesize"] = "given"
    validate: bool = False
    coerce: bool = False
    limits: Limits | None = None

    def __post_init__(self) -> None:
        if self.on_error not in ("collect", "repair"):
            raise ValueError(f"on_error: expected 'collect' or 'repair', got {self.on_error!r}")
        if isinstance(self.keep, str):
            raise TypeError("keep: expected the names of columns, got one str")
        if self.response_column is not None:
            for name in _OF_TEXT:
                if getattr(self, name) is not None:
                    raise ValueError(f"{name}: is of a model's own text; response_column has responses")
        elif self.provider != "auto" or self.text_format is not None:
            raise ValueError("provider and text_format are of responses: say in which response_column they stand")
        # Read once: what is wrong with the tools shows before anything is read, and a process gets plain data.
        tools = ToolSet.of(self.tools)
        object.__setattr__(self, "tools", None if tools is None else list(tools))
        object.__setattr__(self, "keep", tuple(dict.fromkeys(self.keep)))
        if (self.validate or self.coerce) and tools is None and self.tools_column is None:
            raise TypeError(f"{'validate' if self.validate else 'coerce'}=True: needs tools or a tools_column")
        for name in self.keep:
            if name in COLUMNS or name in PLACE:
                raise BatchError(
                    f"keep: {name!r} is the name of a column that is written; rename it in the input", "batch.columns"
                )

    @property
    def read_column(self) -> str:
        """The column that is read."""
        return self.text_column if self.response_column is None else self.response_column

    @property
    def other_columns(self) -> tuple[str, ...]:
        """All others that are looked at or kept."""
        own = (self.model_column, self.tools_column, self.generation_prompt_column, self.finish_reason_column)
        names = dict.fromkeys(name for name in (*own, *self.keep) if name is not None)
        names.pop(self.read_column, None)
        return tuple(names)

    def to_dict(self) -> dict[str, Any]:
        """Every field as a JSON value, to be compared with what another run was given."""
        return {field.name: _plain(getattr(self, field.name)) for field in fields(self)}


def _plain(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return list(map(_plain, value))
    return value if value is None or isinstance(value, (str, bool)) else repr(value)
