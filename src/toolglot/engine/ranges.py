"""Ranges of positions, in order: where a text holds no control tokens."""

from __future__ import annotations

from bisect import bisect_left, bisect_right


class Ranges:
    """Half-open ranges that are added in order; neighbours are one."""

    __slots__ = ("_ends", "_starts")

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []

    def __len__(self) -> int:
        return len(self._ends)

    def add(self, a: int, b: int) -> None:
        """Add a range that does not begin before the last one ends."""
        if self._ends and self._ends[-1] == a:
            self._ends[-1] = b
        else:
            self._starts.append(a)
            self._ends.append(b)

    def touch(self, a: int, b: int) -> bool:
        """Whether a range has a position in common with ``a`` to ``b``."""
        n = bisect_right(self._ends, a)
        return n < len(self._ends) and self._starts[n] < b

    def forget(self, before: int) -> None:
        """Nothing before this position is asked for any more."""
        n = bisect_left(self._ends, before)
        if n > 32 and 2 * n > len(self._ends):  # rarely, so that it costs nothing
            del self._starts[:n]
            del self._ends[:n]
