"""Names and ids that a provider takes, made from those that it does not; the same ones in every run.

A name that is legal stays. Another loses its illegal characters and gets a digest of itself at the end: what it
becomes depends on nothing else, so a history and a later request agree, and adding a tool renames no other.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

__all__ = ["LETTERS", "NameRule", "Names"]

LETTERS: Final = "A-Za-z0-9_-"


class NameRule:
    """What a provider's names look like: the inside of a character class, the most and least characters, the first."""

    __slots__ = ("_illegal", "_legal", "length")

    def __init__(self, characters: str = LETTERS, length: int = 64, first: str | None = None, least: int = 1) -> None:
        self.length = length
        self._legal = re.compile(f"[{first or characters}][{characters}]{{{least - 1},{length - 1}}}").fullmatch
        self._illegal = re.compile(f"[^{characters}]").sub

    def takes(self, name: str) -> bool:
        """Whether ``name`` is legal."""
        return self._legal(name) is not None

    def fit(self, name: str, attempt: int = 0) -> str:
        """``name`` itself, or the legal name that stands for it; ``attempt`` gives another."""
        if not attempt and self.takes(name):
            return name
        from hashlib import sha256

        digest = sha256(f"{attempt or ''}{name}".encode("utf-8", "surrogatepass")).hexdigest()
        size = min(8, self.length)
        plain = self._illegal("_", name)[: max(self.length - size - 1, 0)]
        made = f"{plain}_{digest[:size]}" if plain else digest[:size]
        if self.takes(made):
            return made
        made = f"t_{made}"[: self.length]
        return made if self.takes(made) else re.sub("[^A-Za-z0-9]", "", digest)[: self.length]


class Names:
    """The tools' names and what they are called at one provider, both ways."""

    __slots__ = ("_back", "_forth", "_rule")

    def __init__(self, rule: NameRule, names: Iterable[str] = ()) -> None:
        self._rule = rule
        wanted = list(dict.fromkeys(names))
        self._forth = {name: name for name in wanted if rule.takes(name)}
        self._back = dict(self._forth)
        for name in wanted:
            attempt = 0
            while name not in self._forth:
                made = rule.fit(name, attempt)
                if made not in self._back:
                    self._forth[name] = made
                    self._back[made] = name
                attempt += 1

    def forth(self, name: str) -> str:
        """What ``name`` is called at the provider."""
        return self._forth.get(name) or self._rule.fit(name)

    def back(self, name: str) -> str:
        """The caller's name of what the provider calls ``name``."""
        return self._back.get(name, name)

    @property
    def changed(self) -> dict[str, str]:
        """The names that could not stay, and what they became."""
        return {name: made for name, made in self._forth.items() if name != made}
