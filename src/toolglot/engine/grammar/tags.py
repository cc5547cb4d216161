"""Structural tags, as XGrammar reads them: JSON that says which text triggers which structure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from .gbnf import Gbnf
from .nodes import EMPTY, Alt, Json, Node, Ref, Repeat, Rules, Run, Seq, Text, leading, references, starts, without

Tag = dict[str, Any]


class Tags:
    """Writes the formats of a structural tag."""

    def __init__(self, rules: Rules, *, within: bool) -> None:
        self.rules = rules
        self.within = within  # a tag, which may hold no open repetition but in a grammar of its own

    def of(self, node: Node) -> Tag:
        """What stands for a node."""
        if isinstance(node, Text):
            return {"type": "const_string", "value": node.text}
        if isinstance(node, Json) and usable(node.schema):
            found = {"type": "json_schema", "json_schema": node.schema, "max_whitespace_cnt": 1}
            return found | ({"excludes": list(node.never)} if node.never else {})
        if isinstance(node, Json):
            return self.of(node.node)
        if isinstance(node, Ref) and not self.recursive(node.name):
            return self.of(self.rules.nodes[node.name])
        if isinstance(node, Run) and node.chars is None and not node.begin:
            text = {"type": "any_text", "excludes": [w for w in (node.end, *node.never) if w]}
            return text if not node.end else _sequence([text, {"type": "const_string", "value": node.end}])
        if isinstance(node, Seq) and node.items:
            return _sequence([self.of(item) for item in node.items])
        if isinstance(node, Alt):
            return {"type": "or", "elements": [self.of(option) for option in node.options]}
        if isinstance(node, Repeat) and not (self.within and node.most is None):
            inner = self.of(node.item)
            word = {(0, 1): "optional", (0, None): "star", (1, None): "plus"}.get((node.least, node.most))
            if word is not None:
                return {"type": word, "content": inner}
            most = -1 if node.most is None else node.most
            return {"type": "repeat", "min": node.least, "max": most, "content": inner}
        return {"type": "grammar", "grammar": Gbnf(Rules(self.rules.nodes)).grammar(node)}

    def recursive(self, name: str) -> bool:
        """Whether a rule leads to itself."""
        seen: set[str] = set()
        pending = references(self.rules.nodes[name])
        while pending:
            ref = pending.pop()
            if ref == name:
                return True
            if ref not in seen:
                seen.add(ref)
                pending.extend(references(self.rules.nodes[ref]))
        return False

    def tag(self, block: Node, triggers: list[str]) -> Tag:
        """A block of calls: the text that it begins with, and the rest."""
        begin = leading(block)
        if not begin or without(block, begin) == EMPTY:  # several texts, or nothing but text: its trigger begins it
            begin = next(trigger for trigger in triggers if any(way.startswith(trigger) for way in starts(block)))
        rest = without(block, begin)
        # A closer as `end` would be forbidden in the text before it; as a part of the content it is not.
        return {"type": "tag", "begin": begin, "content": self.of(rest), "end": ""}


def written(format_: Tag) -> str:
    """The structural tag as JSON text."""
    return json.dumps({"type": "structural_tag", "format": format_}, ensure_ascii=False)


def triggered(tags: list[Tag], triggers: list[str], never: list[str], once: bool) -> Tag:
    """Any text, and a tag where a trigger begins one."""
    return {
        "type": "triggered_tags",
        "triggers": triggers,
        "tags": tags,
        "at_least_one": False,
        "stop_after_first": once,
        "excludes": never,
    }


def _sequence(elements: list[Tag]) -> Tag:
    flat: list[Tag] = []
    for element in elements:
        for one in element["elements"] if element["type"] == "sequence" else (element,):
            if flat and flat[-1]["type"] == one["type"] == "const_string":
                one = {"type": "const_string", "value": flat.pop()["value"] + one["value"]}
            flat.append(one)
    return flat[0] if len(flat) == 1 else {"type": "sequence", "elements": flat}


_TYPES = {"string", "integer", "number", "boolean", "null", "object", "array"}


def usable(schema: Any) -> bool:
    """Whether XGrammar reads a schema as `schema.Schemas` does: the usual words for types, and references within."""
    if isinstance(schema, bool):
        return True
    if not isinstance(schema, Mapping) or "allOf" in schema or "nullable" in schema:
        return False
    type_ = schema.get("type", [])
    if not {type_} <= _TYPES if isinstance(type_, str) else not set(type_) <= _TYPES:
        return False
    reference = schema.get("$ref")
    if reference is not None and (len(schema) > 1 or not str(reference).startswith(("#/$defs/", "#/definitions/"))):
        return False
    inner = [*schema.get("anyOf", ()), *schema.get("oneOf", ())]
    inner += [schema[k] for k in ("items", "additionalProperties") if k in schema]
    for keyword in ("properties", "$defs", "definitions"):
        inner.extend(schema.get(keyword, {}).values())
    return all(usable(one) for one in inner)
