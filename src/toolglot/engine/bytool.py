"""Formats in which names are the markup: their pattern is made anew for the tools at hand."""

from __future__ import annotations

from dataclasses import replace

from ..definition import Tool, ToolSet
from ..errors import DefinitionError
from ..format import Format
from ..pattern import Again, Call, Each, Either, Hole, Lit, Node, Ws

PROBE = ToolSet([Tool("f", parameters={"properties": {"a": {}, "b": {}}})])


def for_tools(fmt: Format, tools: ToolSet | None) -> Format | None:
    """The format with a literal for each name, one option a tool; None if there is no tool.

    Without ``tools`` the pattern is only checked: nothing can be told from the text alone.
    """
    checked = tools or PROBE
    options: list[tuple[Node, ...]] = []
    for name, parameters in checked.parameters():
        nodes = fmt.nodes()
        if len(nodes) != 1 or not isinstance(nodes[0], Call):
            raise DefinitionError(f"format {fmt.id!r}: by_tool: the pattern has to be one call(...)")
        options.append((Call(named_items(fmt, nodes[0].items, name, None, parameters)),))
    if not options:
        return None
    made = replace(fmt, pattern=Either(tuple(options)), by_tool=False)
    return made if tools is not None else None


def named_items(
    fmt: Format, items: tuple[Node, ...], name: str, key: str | None, keys: tuple[str, ...] = ()
) -> tuple[Node, ...]:
    """``items`` with the names in place; what stands together becomes one literal, which says what it means."""
    made: list[Node] = []
    text = ""
    says: tuple[tuple[str, str], ...] = ()
    for node in (*items, Ws()):
        word = None
        if isinstance(node, Lit) and len(node.texts) == 1:
            word = node.texts[0]
        elif isinstance(node, Hole | Again) and node.field in ("name", "key"):
            word = name if node.field == "name" else key
            if word is None:
                raise DefinitionError(f"format {fmt.id!r}: by_tool: a key outside of each(...)")
            if isinstance(node, Hole):
                says = ((node.field, word),)
        if word is not None:
            text += word
            continue
        if text:
            made.append(Lit((text,), says=says))
            text, says = "", ()
        if isinstance(node, Each):
            options = tuple(named_items(fmt, node.items, name, one) for one in keys)
            if options:
                made.append(Each((Either(options),)))
        else:
            made.append(node)
    return tuple(made[:-1])
