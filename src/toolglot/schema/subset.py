"""`Subset`: what a provider takes of JSON Schema, as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal


def words(text: str) -> frozenset[str]:
    """The words of ``text``: names of keywords, formats and the like."""
    return frozenset(text.split())


# Said about a schema, not about values: their loss changes nothing.
SILENT: Final = words("$schema $id $comment $anchor $defs definitions $vocabulary")
# What a description can say in words when the keyword itself may not stand there.
SAYABLE: Final = words(
    "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength pattern format minItems maxItems "
    "uniqueItems minProperties maxProperties default examples enum contentEncoding contentMediaType"
)


@dataclass(frozen=True, slots=True)
class Subset:
    """What of JSON Schema an API takes.

    ``keywords``: those that it knows, None for all. ``references``: ``"keep"``; ``"alone"``, nothing but a description
    and default may stand beside ``$ref``; ``"bare"``, nothing at all; ``"inline"``, there are none. ``type_lists``:
    ``type`` may be a list. ``nullable``: null is said by ``nullable: true``. ``string_enums``: only strings in
    ``enum``. ``untyped``: a schema may leave the type open. ``bare_arrays``: an array may do without ``items``.
    ``root_unions``: unions may stand at the top. ``closed``: every object lists all its members as required and allows
    no others; with ``optional`` those that were not required need not be listed. ``upper``: types are written in
    capitals. ``formats``: those that it knows, None for all.
    """

    keywords: frozenset[str] | None = None
    references: Literal["keep", "alone", "bare", "inline"] = "keep"
    type_lists: bool = True
    nullable: bool = False
    string_enums: bool = False
    untyped: bool = True
    bare_arrays: bool = True
    root_unions: bool = True
    closed: bool = False
    optional: bool = False
    upper: bool = False
    formats: frozenset[str] | None = None

    def takes(self, keyword: str) -> bool:
        """Whether ``keyword`` may stand in a schema."""
        return self.keywords is None or keyword in self.keywords


ANY: Final = Subset()
