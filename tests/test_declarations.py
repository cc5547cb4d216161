"""A mistake in a declaration is a `DefinitionError` that says what is wrong."""

from __future__ import annotations

from typing import Any

import pytest

import toolglot
from toolglot import Reasoning
from toolglot.pattern import Item, arguments, call, each, either, lit, maybe, name, section, ws
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


CALL = call("<c>", *BODY)
WRONG: dict[str, tuple[Any, ...]] = {
    # A field of `Format`, and values that are not of its kind, the newcomer's first.
    "id": (4, ["a"]),
    "title": (4,),
    "aliases": ("other", ["other"], (4,)),
    "before": ("\n", (4,)),
    "between": (4, None, ("\n",)),
    "lead": (4,),
    "prompt": (4,),
    "reasoning": ("<think>", ("<think>", "</think>")),
    "more_reasoning": (Reasoning("<a>", "</a>"), ("<a>",)),
    "around": ("x", ("x",), (4, 4)),
    "special": ("<c>", (4,)),
    "turn_ends": ("</s>",),
    "results": ("x", ("x",)),
    "tools": ("{tools}", ("{tools}",)),
    "rank": ("first", None),
    "detect": ("no",),
    "start": (1,),
    "engines": (4, {"vllm": "name"}, {"vllm": (4,)}, [("vllm", ("name",))]),
    "models": ("qwen", (4,)),
    "template": ("x", ("x",)),
    "max_calls": ("one", 0, -1),
    "ids": (4,),
}


@pytest.mark.parametrize("field", WRONG)
def test_a_field_of_another_kind(field: str) -> None:
    for value in WRONG[field]:
        with pytest.raises(toolglot.DefinitionError, match=rf": {field} has to be "):
            Registry().add(toolglot.Format(CALL, **{"id": "mistaken", field: value}))


def test_a_field_of_a_part_of_another_kind() -> None:
    wrong: Any = "x"
    with pytest.raises(toolglot.DefinitionError, match="Reasoning: inner has to be two texts"):
        toolglot.Format(CALL, id="mistaken", reasoning=Reasoning("<a>", "</a>", inner=wrong))
    with pytest.raises(toolglot.DefinitionError, match="Tools: models has to be a tuple of texts"):
        toolglot.Format(CALL, id="mistaken", tools=(toolglot.Tools("{tools}", models=wrong),))


def wrong(element: Any) -> Any:
    return element(4)


@pytest.mark.parametrize(
    ("element", "what"),
    [
        (4, "int: expected a text or an element"),
        (None, "NoneType: expected a text or an element"),
        (lit(), "needs a text that is not empty"),
        (wrong(lit), "texts has to be a tuple of texts"),
        (wrong(ws), "canonical has to be a text"),
        (ws("x"), "'x' is no white space"),
        (wrong(name), "prefix has to be a text"),
        (each(), "each is empty"),
        (maybe(), "maybe is empty"),
        (either(), "either is empty"),
    ],
    ids=str,
)
def test_an_element_of_another_kind(element: Any, what: str) -> None:
    with pytest.raises(toolglot.DefinitionError, match=f"(?i){what}"):
        toolglot.Format(call("<c>", element, *BODY), id="mistaken")
