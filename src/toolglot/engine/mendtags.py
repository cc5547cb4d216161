"""Mends of a call's tags: spelled in another way, or missing where nothing else can stand."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ..errors import ParseError, TruncatedError
from ..pattern import Lit, Tag
from ..repair.edits import Edit, Edited, Unmendable

if TYPE_CHECKING:
    from .mend import Region
    from .ops import Begin

__all__ = ["closed", "drifted", "missing", "respelled"]

_MISSING = frozenset(
    (
        "tool_call.expected_markup",
        "tool_call.unexpected_end",
        "tool_call.truncated",
        "tool_call.unrecognized",
        "json.trailing_characters",
    )
)
_ODD_TAG = re.compile(r"[ \t\r\n]{0,64}(<[ \t]{0,8}/?[ \t]{0,8}[\w:.|-]{1,64}[ \t\r\n]{0,8}>?)")
# A tag that names something: its word, and the name with whatever stands before and around it.
_NAMING = re.compile(
    r"""<[ \t]{0,8}([\w:.\-|\uff5c\u2581]{1,64}?)(?:[ \t]{1,8}([a-zA-Z_]{1,16}))?[ \t]{0,8}="""
    r"""[ \t]{0,8}(["']?)([\w:.\-/]{1,256})(["']?)[ \t]{0,8}>"""
)
_NAMES = frozenset(("", "name", "key", "function", "tool"))
_MOST = 64


def missing(region: Region, edited: Edited, error: ParseError) -> Edit:
    """The tag that the format misses in the edited text: put in, or put right where it is spelled in another way."""
    expected, at = error.expected, error.position
    if error.code not in _MISSING or expected is None or at is None or len(expected) < 5 or expected[0] not in "'\"":
        raise Unmendable
    tag = expected[1:-1]
    if "\\" in tag or tag[0] not in "<[":
        raise Unmendable
    text = edited.text
    if isinstance(error, TruncatedError):
        if region.open and not region.m.ended_itself:
            raise Unmendable  # it may have been cut off
        at = len(text.rstrip(" \t\r\n"))
    found = _ODD_TAG.match(text, at)
    closes = tag in region.closers
    behind = text[at:]
    if found is not None and _squeezed(found[1]) == _squeezed(tag) and (closes or found[1].endswith(">")):
        return Edit(edited.origin(found.start(1)), edited.origin(found.end(1)), tag, "repair.tag_drift")
    begin: Begin | None = region.m.resume
    openers = () if begin is None or region.m.tools is None else begin.first() or ()
    at = edited.origin(at)
    if begin is not None and openers and region.begin is None and tag in begin.section_closers:
        tag = openers[0]  # the section's end is wanted only where no call begins
    if tag in openers:
        return Edit(at, at, tag, "repair.missing_opener")
    if not closes or _interrupted(region, behind):
        raise Unmendable  # what it was to open or close would begin or end where it is put
    return Edit(at, at, tag, "repair.missing_tag")


def _interrupted(region: Region, rest: str) -> bool:
    """Whether the call stops at another one's opener, and no JSON says that it is complete."""
    m = region.m
    begin: Begin | None = m.resume
    if rest.strip(" \t\r\n") or region.open or m.read_at is not None or m.raw_span is not None:
        return False
    return begin is not None and not m.stands(begin.section_closers, region.span[1] - m.base)


def drifted(region: Region) -> Iterator[list[Edit]]:
    """Closers that are spelled in another way, where values are bare text and would go on beyond them."""
    tags = {_squeezed(tag): tag for tag in region.closers if tag[0] == "<"}
    edits = [
        Edit(match.start(1), match.end(1), tags[_squeezed(match[1])], "repair.tag_drift")
        for match in _ODD_TAG.finditer(region.text)
        if match[1] not in region.closers and _squeezed(match[1]) in tags
    ]
    if len(edits) == 1:
        yield edits


def respelled(region: Region) -> Iterator[list[Edit]]:
    """Tags that name a tool or an argument in another spelling: quotes, blanks, capitals, an attribute or none."""
    known = _naming(region)
    if not known or region.m.tools is None:
        return
    edits = []
    for match in _NAMING.finditer(region.text):
        word, attribute, one, name, other = match.groups()
        spelled = known.get(word.lower())
        if spelled is None or (attribute or "").lower() not in _NAMES or one != other:
            continue
        tag = spelled.format(name)
        if match.group() != tag:
            edits.append(Edit(match.start(), match.end(), tag, "repair.tag_drift"))
    closers = {_squeezed(f"</{word}>"): f"</{word}>" for word in known}
    for match in _ODD_TAG.finditer(region.text):
        tag = closers.get(_squeezed(match[1]), match[1])
        if match[1] != tag and match[1].endswith(">"):
            edits.append(Edit(match.start(1), match.end(1), tag, "repair.tag_drift"))
    if 0 < len(edits) <= _MOST:
        yield edits


def closed(region: Region) -> Iterator[list[Edit]]:
    """A call's closer that is missing before that of its section: the value before it would go on to the end."""
    begin: Begin | None = region.m.resume
    if begin is None or not begin.closers or begin.closers[0][0] != "<":
        return
    for end in begin.section_closers:
        at = region.text.rfind(end)
        before = region.text[:at].rstrip(" \t\r\n") if at > 0 else ""
        last = before[before.rfind("<") :]
        if before.endswith(">") and last.startswith("</") and not before.endswith(begin.closers):
            yield [Edit(len(before), len(before), begin.closers[0], "repair.missing_tag")]


def _naming(region: Region) -> dict[str, str]:
    """How the format writes its tags that name something, by their words in lower case."""
    known = region.m.plan.naming.get(region.m.fmt or "")
    if known is None:
        formats = [fmt for fmt in region.m.plan.formats if region.m.fmt in (fmt.id, fmt.reported)]
        known = {}
        for node in (node for fmt in formats for node in _nodes(fmt.nodes())):
            if isinstance(node, Lit) and node.texts[0][0] == "<" and node.texts[0].endswith("="):
                known[node.texts[0][1:-1].lower()] = node.texts[0] + "{}>"
            elif isinstance(node, Tag) and node.open[0][0] == "<":
                named = [attribute for attribute, field in node.attributes if field in ("name", "key")]
                if len(node.attributes) == len(named) == 1:
                    known[node.open[0][1:].strip().lower()] = f'{node.open[0]} {named[0]}="{{}}"{node.end}'
        region.m.plan.naming[region.m.fmt or ""] = known
    return known


def _nodes(items: Any) -> Iterator[Any]:
    """All nodes of a pattern."""
    for item in items:
        if isinstance(item, tuple):
            yield from _nodes(item)
        else:
            yield item
            for name in ("open", "items", "close", "options"):
                inner = getattr(item, name, ())
                if inner and not isinstance(item, Tag):
                    yield from _nodes(inner)


def _squeezed(tag: str) -> str:
    return "".join(tag.split()).lower().removesuffix(">")
