"""Formats of a user's own: a mistake in a declaration is found when it is made, and what is accepted works."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import toolglot
from compare import plain
from toolglot import DefinitionError, Format
from toolglot.pattern import arguments, call, call_object, each, either, elements, id_, key, maybe, name, tag, value, ws
from toolglot.registry import REGISTRY

OBJECT = '{"name":"f","arguments":{}}'


@pytest.fixture(autouse=True)
def only_here() -> Iterator[None]:
    """What a test registers is gone behind it."""
    formats, programs, added = dict(REGISTRY._formats), dict(REGISTRY._programs), list(REGISTRY._added)
    yield
    REGISTRY._formats, REGISTRY._programs, REGISTRY._added = formats, programs, added
    REGISTRY._plans.clear()
    REGISTRY._names = REGISTRY.detection = None


@pytest.mark.parametrize(
    ("items", "part"),
    [
        (("<a>", call_object(), elements(), "</a>"), "elements at 2 gives the arguments again"),
        (("<a>", arguments("json"), "|", name(), "</a>"), "hole at 3: the name has to stand before the arguments"),
        (
            ("<a ", name(), ">", arguments("gemma"), "|", arguments("json"), "</a>"),
            "arguments at 5 gives the arguments",
        ),
        (("<a ", name(), ">", name(), "|", arguments(), "</a>"), "hole at 3 gives the name again, after hole at 1"),
        (("<a ", name(), ">", call_object(), "</a>"), "callobject at 3 gives the name again"),
        ((tag("<a", name="name"), call_object(), "</a>"), "callobject at 1 gives the name again"),
        (("<a ", name(), "#", id_(), ">", arguments(), "#", id_(), "</a>"), "hole at 7 gives the id again"),
        ((tag("<a", name="name", id="id"), maybe("#", id_()), arguments(), "</a>"), "hole at 1 gives the id again"),
        (("<a>", call_object(order=("id", "name", "arguments")), "#", id_(), "</a>"), "hole at 3 gives the id again"),
        (("<a ", name(), ">", key(), "=", value(), "</a>"), "into each"),
        (("<a ", name(), ">", each("<k>", key(), "=", value(), "|", value(), "</k>"), "</a>"), "gives the value again"),
        (("<a ", name(), ">", each("<k>", key(), "</k>"), "</a>"), "a key without a value"),
        (("<a ", name(), ">", each("<k>", value(), "</k>"), "</a>"), "without a key"),
        (("<a>", each("<k>", name(), "=", arguments(), "</k>"), "</a>"), "hole at 1 in each"),
        (("<a ", name(), ">", each("<k>", each("<l>", key(), "=", value(), ";")), "</a>"), "inside each"),
        (("<a ", maybe("!", name(), ">"), arguments(), "</a>"), "nothing gives the tool's name"),
        (("<a", either(("!", name(), ">"), "?"), arguments(), "</a>"), "nothing gives the tool's name"),
    ],
)
def test_what_cannot_work_is_refused(items: tuple[Any, ...], part: str) -> None:
    with pytest.raises(DefinitionError) as caught:
        Format(call(*items), id="mine")
    assert part in str(caught.value)


def both(items: tuple[Any, ...], text: str, **options: Any) -> tuple[toolglot.ToolCall, list[toolglot.Event]]:
    """The one call in ``text``, whole and by characters the same, and the events."""
    toolglot.register_format(Format(call(*items), id="mine"))
    whole = toolglot.parse(text, format="mine", **options)
    parser = toolglot.StreamParser(format="mine", **options)
    events = [event for char in text for event in parser.feed(char)] + parser.close()
    assert plain(parser.message) == plain(whole)
    [made] = parser.message.tool_calls
    return made, events


@pytest.mark.parametrize("ids", ["given", "synthesize"])
@pytest.mark.parametrize(
    ("items", "text"),
    [
        (("<a ", id_(), ">", call_object(), "</a>"), f"<a i1>{OBJECT}</a>"),
        (("<a>", call_object(), "#", id_(), "</a>"), f"<a>{OBJECT}#i1</a>"),
        (("<a>", call_object(), "#", id_(), "</a>"), '<a>{"id":"i1","name":"f","arguments":{}}#i2</a>'),
        (("<a ", id_(), ">", call_object(), "</a>"), '<a i1>{"name":"f","arguments":{},"id":"i2"}</a>'),
        (("<a ", name(), ">", arguments(), "#", id_(), "</a>"), "<a f>{}#i1</a>"),
        (("<a ", name(), ">", arguments(), maybe("#", id_()), "</a>"), "<a f>{}#i1</a>"),
        (("<a ", name(), ">", each("<k>", key(), "=", value(), ";"), "#", id_(), "</a>"), "<a f><k>a=1;#i1</a>"),
    ],
)
def test_an_id_outside_the_object(items: tuple[Any, ...], text: str, ids: str) -> None:
    made, events = both(items, text, ids=ids)
    assert (made.name, made.id, made.id_synthesized) == ("f", "i1", False)
    assert [event.id in (None, "i1") for event in events if isinstance(event, toolglot.ToolCallStart)] == [True]


@pytest.mark.parametrize("codec", ["json", "gemma", "function_gemma", "python"])
def test_white_space_before_arguments_is_no_part_of_them(codec: Any) -> None:
    raw = {"json": '{"a":1}', "python": "a=1"}.get(codec, "{a:1}")
    end = ")" if codec == "python" else ""
    made, _ = both((";", name(), "<c>", ws("\n"), arguments(codec), ws(), ";"), f";g<c>\n \n{raw}{end};")
    assert (made.arguments, made.raw_arguments) == ({"a": 1}, raw)
