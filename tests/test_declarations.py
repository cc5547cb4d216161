"""A mistake in a declaration is a `DefinitionError` that says what is wrong."""

from __future__ import annotations

import pytest

import toolglot
from toolglot.pattern import Item, arguments, call, name, section
from toolglot.registry import Registry

BODY: tuple[Item, ...] = ("<n>", name(), "</n>", arguments("json"), "</c>")


@pytest.mark.parametrize(
    ("pattern", "what"),
    [
        (call("<c>", arguments("json"), "</c>"), "nothing gives the tool's name"),
        (call(name(), "</n>", arguments("json"), "</c>"), "has to begin with a literal"),
        (section("<cs>", call("<c>", *BODY), "</cs>", bare="declared"), "needs the name right behind the opener"),
    ],
)
def test_mistake(pattern: Item, what: str) -> None:
    with pytest.raises(toolglot.DefinitionError, match=what):
        Registry().add(toolglot.Format(pattern, id="mistaken"))


def test_sound() -> None:
    """The same section is sound if its calls do not count without it."""
    registry = Registry()
    registry.add(toolglot.Format(section("<cs>", call("<c>", *BODY), "</cs>"), id="sound"))
    assert [entry.texts for entry in registry.program("sound").code.entries] == [("<cs>",)]


def test_answer() -> None:
    with pytest.raises(toolglot.DefinitionError, match="answer needs two texts"):
        toolglot.Format(call("<c>", *BODY), id="mistaken", answer=("<a>", ""))
