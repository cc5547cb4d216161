"""The whole grammar of an output, in one of three languages."""

from __future__ import annotations

from .calls import Blocks
from .gbnf import Gbnf
from .lark import Lark
from .nodes import Alt, Node, Repeat, Rules, Run, Seq, alt, leading, seq, without
from .tags import Tag, Tags, triggered, written

KINDS = ("gbnf", "lark", "structural_tag")


def write(kind: str, blocks: Blocks, rules: Rules, *, auto: bool, start: bool, openers: tuple[str, ...]) -> str:
    """The grammar as text.

    ``auto``: text may stand around the calls (GBNF leaves that to lazy triggers); ``start``: a call stands only at
    the start of the output. ``openers`` are all texts that would be read as the beginning of a call.
    """
    never = tuple(dict.fromkeys((*blocks.triggers, *openers)))
    if kind == "gbnf":
        return Gbnf(rules).grammar(blocks.required())
    if kind == "lark":
        return Lark(rules).grammar(_lark_root(blocks, never, auto, start))
    return written(_tag_root(blocks, rules, never, auto, start))


def _lark_root(blocks: Blocks, never: tuple[str, ...], auto: bool, start: bool) -> Node:
    text = Run("", never)
    if not auto:
        return blocks.required()
    if start:
        return alt((blocks.required(), text))
    # llguidance takes the longest word, so the text before a call and the call's opener are one.
    calls: list[Node] = []
    for trigger in blocks.triggers:
        others = tuple(word for word in never if word != trigger and word not in trigger)
        rest = alt(without(way, trigger) for way in _ways(blocks.nodes) if leading(way).startswith(trigger))
        calls.append(seq(Run(trigger, others), rest))
    return alt((*calls, text)) if blocks.last else seq(Repeat(alt(calls)), text)


def _ways(nodes: list[Node]) -> list[Node]:
    """Blocks, each with a text in front."""
    ways: list[Node] = []
    for node in nodes:
        if isinstance(node, Alt):
            ways.extend(_ways(list(node.options)))
        elif isinstance(node, Seq) and isinstance(node.items[0], Alt):
            ways.extend(seq(way, *node.items[1:]) for way in _ways([node.items[0]]))
        else:
            ways.append(node)
    return ways


def _tag_root(blocks: Blocks, rules: Rules, never: tuple[str, ...], auto: bool, start: bool) -> Tag:
    if not auto or start:
        required = Tags(rules, within=False).of(blocks.required())
        text: Tag = {"type": "any_text", "excludes": list(never)}
        return {"type": "or", "elements": [required, text]} if auto else required
    # XGrammar wants no trigger to be forbidden, nor a part of one.
    others = [text for text in never if not any(text in trigger for trigger in blocks.triggers)]
    writer = Tags(rules, within=True)
    tags = [writer.tag(way, blocks.triggers) for way in _ways(blocks.nodes)]
    return triggered(tags, blocks.triggers, others, blocks.last)
