"""The whole grammar of an output, in one of three languages."""

from __future__ import annotations

from .calls import Blocks
from .gbnf import Gbnf
from .lark import Lark
from .nodes import Node, Repeat, Rules, Run, alt, seq, starts, without
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
    # llguidance's words do not overlap, so the text before a call and the call's opener are one.
    others = tuple(word for word in never if not any(word in trigger for trigger in blocks.triggers))
    calls: list[Node] = []
    for trigger in blocks.triggers:
        begun = [block for block in blocks.whole() if all(way.startswith(trigger) for way in starts(block))]
        calls.append(seq(Run(trigger, others), alt(without(block, trigger) for block in begun)))
    return alt((*calls, text)) if blocks.last else seq(Repeat(alt(calls)), text)


def _tag_root(blocks: Blocks, rules: Rules, never: tuple[str, ...], auto: bool, start: bool) -> Tag:
    if not auto or start:
        required = Tags(rules, within=False).of(blocks.required())
        text: Tag = {"type": "any_text", "excludes": list(never)}
        return {"type": "or", "elements": [required, text]} if auto else required
    # XGrammar wants no trigger to be forbidden, nor a part of one.
    others = [text for text in never if not any(text in trigger for trigger in blocks.triggers)]
    writer = Tags(rules, within=True)
    tags = [writer.tag(block, blocks.triggers) for block in blocks.whole()]
    return triggered(tags, blocks.triggers, others, blocks.last)
