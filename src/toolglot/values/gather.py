"""Text that arrives in pieces, gathered."""

from __future__ import annotations

from typing import Final

_MANY: Final = 1024


def gather(pieces: list[str], text: str) -> None:
    """Append ``text``. Many tiny strings cost more than their text, so they are joined, each once.

    >>> pieces = []
    >>> for _ in range(5000):
    ...     gather(pieces, "x")
    >>> len("".join(pieces)), len(pieces) < 1100
    (5000, True)
    """
    pieces.append(text)
    # What was joined is long, and what is long stays as it is: so the first of the last many tells of them all.
    if len(pieces) >= _MANY and len(pieces[-_MANY]) < _MANY:
        pieces[-_MANY:] = ["".join(pieces[-_MANY:])]
