"""What the tests of grammars share: which golden calls a grammar has to hold, a matcher and a sampler of its tree."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import toolglot
from texts import json_type, tools_of
from toolglot import golden, grammars, pattern
from toolglot.engine.grammar.nodes import Alt, Chars, Json, Node, Other, Ref, Repeat, Rules, Run, Seq, Text, Token

FORMATS = [fmt.id for fmt in toolglot.formats()]


def tree(tools: Any, format: str) -> tuple[Node, Rules]:
    """The tree of the calls, and its rules."""
    _, blocks, rules = grammars._blocks(tools, format, toolglot.ToolChoice("required"))
    return blocks.required(), rules


# -- golden calls


class Case:
    """The calls of a golden case: how they are written, and the tools that declare them."""

    def __init__(self, name: str, text: str, tools: list[dict[str, Any]], calls: list[toolglot.ToolCall]) -> None:
        self.name = name
        self.text = text
        self.tools = tools
        self.calls = calls


def cases(format: str) -> Iterator[Case]:
    """Every golden case with calls that can be written, in the order of its schema, with tools that fit it exactly.

    Each comes twice if it can: with tools made from its own arguments, and with the case's tools where they fit.
    """
    for case in golden.load():
        if case.format != format or not case.expected["calls"]:
            continue
        calls = [
            toolglot.ToolCall(call["name"], call["arguments"], id=call.get("id"))
            for call in case.expected["calls"]
            if call.get("kind", "function") == "function"
        ]
        if len(calls) != len(case.expected["calls"]):
            continue
        declared = case.options.get("tools") or golden.standard_tools()
        for tools in (tools_of(calls), declared):
            schemas = {toolglot.Tool.from_any(t).name: toolglot.Tool.from_any(t).parameters for t in tools}
            if not all(c.name in schemas and fits(c.arguments, schemas[c.name]) for c in calls):
                continue
            ordered = [replace(c, arguments=in_order(c.arguments, schemas[c.name])) for c in calls]
            text = text_of(ordered, format)
            if text is not None:  # `test_round_trip` says what a format may refuse
                yield Case(case.name + ("" if tools is declared else "/own"), text, tools, ordered)


def fits(value: Any, schema: Mapping[str, Any]) -> bool:
    """Whether a value is one of a schema, as far as the golden cases' schemas go."""
    if "anyOf" in schema:
        return any(fits(value, part) for part in schema["anyOf"])
    types = schema.get("type", [])
    types = [types] if isinstance(types, str) else types
    kind = json_type(value)
    if types and kind not in types and not (kind == "integer" and "number" in types):
        return False
    if "enum" in schema and value not in schema["enum"]:
        return False
    if isinstance(value, dict) and "properties" in schema:
        properties = schema["properties"]
        return all(key in value for key in schema.get("required", ())) and all(
            key in properties and fits(item, properties[key]) for key, item in value.items()
        )
    if isinstance(value, list) and "items" in schema:
        return all(fits(item, schema["items"]) for item in value)
    return True


def in_order(value: Any, schema: Mapping[str, Any]) -> Any:
    """The value with its members in the schema's order."""
    for part in schema.get("anyOf", ()):
        if fits(value, part):
            return in_order(value, part)
    if isinstance(value, dict) and "properties" in schema:
        return {k: in_order(value[k], s) for k, s in schema["properties"].items() if k in value}
    if isinstance(value, list) and "items" in schema:
        return [in_order(item, schema["items"]) for item in value]
    return value


def excused(format: str, case: Case) -> bool:
    """Whether a grammar need not hold the case.

    In bare text a string may hold what could close it: the parser tells that from a closer by what follows, a grammar
    cannot. And elements of any name cannot be closed by one, so items that the schema does not describe are text.
    """
    if case.name == "list_of_objects" and format == "minimax_m3":
        return True
    parts = parts_of(format)
    counters = [part for part in parts if isinstance(part, pattern.Hole) and part.counter]
    if any(call.id is not None and not call.id.startswith(part.prefix) for part in counters for call in case.calls):
        return True  # what is written is the model's own id
    if not any(isinstance(part, pattern.Value | pattern.Elements | pattern.TypedElements) for part in parts):
        return False
    markup = {text for part in parts for text in _texts(part) if len(text) > 2}
    if toolglot.get_format(format).by_tool:
        markup |= {f"</{key}>" for call in case.calls for key in call.arguments}
    return any(text in string for string in _strings([c.arguments for c in case.calls]) for text in markup)


def parts_of(format: str) -> list[Any]:
    """All parts of a format's pattern."""
    return [part for node in toolglot.get_format(format).nodes() for part in _parts(node)]


def _parts(node: Any) -> Iterator[Any]:
    """All parts of a pattern."""
    yield node
    for name in ("items", "options", "open", "close"):
        inner = getattr(node, name, ())
        for part in inner if isinstance(inner, tuple) else ():
            if not isinstance(part, str):
                yield from _parts(part) if not isinstance(part, tuple) else (x for p in part for x in _parts(p))


def _texts(part: Any) -> tuple[str, ...]:
    if isinstance(part, pattern.Elements):
        return (part.namespace,)
    if isinstance(part, pattern.TypedElements):
        return (f"</{part.tag}>",)
    return part.texts if isinstance(part, pattern.Lit) else part.open if isinstance(part, pattern.Tag) else ()


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _strings(item)


def text_of(calls: list[toolglot.ToolCall], format: str, *, check: bool = True) -> str | None:
    """The calls as the format writes them; None if it cannot."""
    try:
        return toolglot.render(calls, format, check=check)
    except toolglot.ConversionError:
        return None


def named(format: str, name: str) -> str:
    """A tool's name as the format can write it: some say the server as well."""
    served = any(isinstance(p, pattern.Hole) and p.field == "server" for p in parts_of(format))
    return f"srv/{name}" if served else name


def tools(format: str) -> list[dict[str, Any]]:
    """``TOOLS`` with names that the format can write."""
    return [{**tool, "name": named(format, tool["name"])} for tool in TOOLS]


def calls(format: str, calls: list[toolglot.ToolCall]) -> list[toolglot.ToolCall]:
    """The calls with names that the format can write."""
    return [replace(call, name=named(format, call.name)) for call in calls]


def right(format: str) -> dict[str, str]:
    """Texts that the grammar of ``tools`` has to hold."""
    texts = {what: text_of(calls(format, some), format) for what, some in RIGHT.items()}
    return {what: text for what, text in texts.items() if text is not None}


def wrong(format: str) -> dict[str, str]:
    """Texts that the grammar of ``tools`` has to refuse."""
    texts = {what: text_of(calls(format, [call]), format, check=False) for what, call in WRONG.items()}
    return {what: text for what, text in texts.items() if text is not None}


TOOLS: list[dict[str, Any]] = [
    {
        "name": "get_weather",
        "parameters": {
            "type": "object",
            "properties": {
                "city": {"type": "string"},
                "days": {"type": "integer"},
                "unit": {"enum": ["celsius", "fahrenheit"]},
                "place": {
                    "type": "object",
                    "properties": {"lat": {"type": "number"}, "tags": {"type": "array", "items": {"type": "string"}}},
                    "required": ["lat"],
                },
                "exact": {"type": "boolean"},
            },
            "required": ["city", "days"],
        },
    },
    {"name": "ping", "parameters": {"type": "object", "properties": {}}},
]

_GOOD: dict[str, Any] = {"city": "Paris", "days": 2}
RIGHT: dict[str, list[toolglot.ToolCall]] = {
    "required only": [toolglot.ToolCall("get_weather", _GOOD, id="call00001")],
    "all": [
        toolglot.ToolCall(
            "get_weather",
            {**_GOOD, "unit": "celsius", "place": {"lat": -1.5, "tags": ["a", "b <c>"]}, "exact": True},
            id="call00001",
        )
    ],
    "some": [toolglot.ToolCall("get_weather", {**_GOOD, "place": {"lat": 2}}, id="call00001")],
    "none": [toolglot.ToolCall("ping", {}, id="call00001")],
    "two": [toolglot.ToolCall("ping", {}, id="call00001"), toolglot.ToolCall("get_weather", _GOOD, id="call00002")],
}
WRONG: dict[str, toolglot.ToolCall] = {
    "unknown tool": toolglot.ToolCall("get_whether", _GOOD, id="call00001"),
    "longer name": toolglot.ToolCall("ping2", {}, id="call00001"),
    "string for an integer": toolglot.ToolCall("get_weather", {"city": "Paris", "days": "two"}, id="call00001"),
    "float for an integer": toolglot.ToolCall("get_weather", {"city": "Paris", "days": 2.5}, id="call00001"),
    "missing": toolglot.ToolCall("get_weather", {"city": "Paris"}, id="call00001"),
    "missing inside": toolglot.ToolCall("get_weather", {**_GOOD, "place": {"tags": []}}, id="call00001"),
    "wrong inside": toolglot.ToolCall("get_weather", {**_GOOD, "place": {"lat": "x"}}, id="call00001"),
    "not of the enum": toolglot.ToolCall("get_weather", {**_GOOD, "unit": "kelvin"}, id="call00001"),
    "unknown argument": toolglot.ToolCall("get_weather", {**_GOOD, "colour": 1}, id="call00001"),
    "arguments for none": toolglot.ToolCall("ping", {"a": 1}, id="call00001"),
    "number for a boolean": toolglot.ToolCall("get_weather", {**_GOOD, "exact": 1}, id="call00001"),
}


class SchemaCase(NamedTuple):
    """A schema of a call's arguments, arguments that it allows, and arguments that it does not."""

    schema: dict[str, Any]
    right: list[dict[str, Any]]
    wrong: list[dict[str, Any]]


def _one(schema: dict[str, Any], right: list[Any], wrong: list[Any], **more: Any) -> SchemaCase:
    """Of one required argument ``a``."""
    whole = {"type": "object", "properties": {"a": schema}, "required": ["a"], **more}
    return SchemaCase(whole, [{"a": value} for value in right], [{"a": value} for value in wrong])


_NODE = {
    "type": "object",
    "properties": {"value": {"type": "integer"}, "next": {"$ref": "#/$defs/Node"}},
    "required": ["value"],
}
SCHEMAS: dict[str, SchemaCase] = {
    "types": _one({"type": ["integer", "boolean"]}, [1, -20, True, False], ["x", 1.5, [1]]),
    "number": _one({"type": "number"}, [0, 1.5, -2e-07, 1e22, 10**30], ["x", True, {}]),
    "any of": _one(
        {"anyOf": [{"type": "integer"}, {"type": "array", "items": {"type": "string"}}]},
        [3, [], ["x", "y"]],
        [{"x": 1}, True],
    ),
    "one of": _one(
        {
            "oneOf": [
                {
                    "type": "object",
                    "properties": {"kind": {"const": "a"}, "n": {"type": "integer"}},
                    "required": ["kind"],
                },
                {"type": "object", "properties": {"kind": {"const": "b"}, "s": {"type": "string"}}, "required": ["s"]},
            ]
        },
        [{"kind": "a"}, {"kind": "a", "n": 1}, {"kind": "b", "s": "x"}, {"s": "x"}],
        [{"kind": "a", "s": "x"}, {"kind": "c"}, {"n": 1}],
    ),
    "enum": _one({"type": "string", "enum": ["a", "ab", "b c"]}, ["a", "ab", "b c"], ["abc", "", "c"]),
    "enum of numbers": _one({"enum": [1, 2, 10]}, [1, 2, 10], [3, 11, True]),
    "all of": _one(
        {
            "allOf": [
                {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]},
                {"properties": {"y": {"type": "boolean"}}, "required": ["y"]},
            ]
        },
        [{"x": 1, "y": True}],
        [{"x": 1}, {"y": True}, {"x": "n", "y": True}],
    ),
    "items": _one(
        {"type": "array", "items": {"type": "integer"}, "minItems": 1, "maxItems": 3}, [[1], [1, 2, 3]], [[], [1] * 4]
    ),
    "nested": _one(
        {"type": "array", "items": {"type": "array", "items": {"type": "boolean"}}},
        [[], [[]], [[True], [False, True]]],
        [[True]],
    ),
    "recursive": _one(
        {"$ref": "#/$defs/Node"},
        [{"value": 1}, {"value": 1, "next": {"value": 2, "next": {"value": 3}}}],
        [{}, {"value": 1, "next": {}}, {"value": "x"}, {"value": 1, "next": 2}],
        **{"$defs": {"Node": _NODE}},
    ),
    "optional": SchemaCase(
        {"type": "object", "properties": {k: {"type": "integer"} for k in "abcd"}, "required": ["c"]},
        [{"c": 1}, {"a": 1, "c": 1}, {"b": 1, "c": 1, "d": 1}, {"a": 1, "b": 1, "c": 1, "d": 1}],
        [{}, {"a": 1}, {"c": 1, "e": 1}, {"d": 1}, {"c": 1, "a": 1}],  # the last: not in the schema's order
    ),
}
# Where objects are JSON (or Gemma's, or Python's), keys that nobody declared can be written.
FREE: dict[str, SchemaCase] = {
    "free": _one({"type": "object"}, [{}, {"x": 1, "y": [None, {"z": "w"}]}], ["x", []]),
    "anything": _one({}, [1, [{"x": None}], {"a": {"b": True}}], []),
    "additional": _one(
        {
            "type": "object",
            "properties": {"x": {"type": "integer"}, "xy": {"type": "integer"}},
            "additionalProperties": {"type": "string"},
        },
        [{"x": 1}, {"x": 1, "z": "s"}, {"xyz": "s"}, {"xy": 2, "y": "s", "zx": "s"}, {}],
        [{"x": "1"}, {"z": 1}, {"x": 1, "z": 2}],
    ),
}


def schema_cases(format: str) -> Iterator[tuple[str, dict[str, Any], list[str], list[str]]]:
    """What it is about, the tool, texts that its grammar has to hold, texts that it has to refuse."""
    free = {} if format == "minimax_m3" else FREE  # elements of any name cannot be closed by a grammar
    for what, case in {**SCHEMAS, **free}.items():
        tool = {"name": named(format, "f"), "parameters": case.schema}
        texts = [
            [
                text_of([toolglot.ToolCall(named(format, "f"), arguments, id="call00001")], format, check=False)
                for arguments in some
            ]
            for some in (case.right, case.wrong)
        ]
        good, bad = ([text for text in some if text is not None] for some in texts)
        # A format that sorts its keys writes those in the wrong order right.
        yield what, tool, good, [text for text in bad if text not in good]


# Those that can write calls of any tool; the others have a tool of their own.
GENERAL = [format for format in FORMATS if text_of(calls(format, RIGHT["none"]), format, check=False) is not None]


# -- the tree itself


def accepts(node: Node, rules: Rules, text: str) -> bool:
    """Whether the tree holds a text."""
    return len(text) in _Matcher(rules, text).ends(node, frozenset((0,)))


class _Matcher:
    def __init__(self, rules: Rules, text: str) -> None:
        self.rules = rules
        self.text = text
        self.known: dict[tuple[Node, int], frozenset[int]] = {}

    def ends(self, node: Node, starts: frozenset[int]) -> frozenset[int]:
        return frozenset(end for at in starts for end in self.at(node, at))

    def at(self, node: Node, at: int) -> frozenset[int]:
        key = (node, at)
        if key not in self.known:
            self.known[key] = frozenset()  # no rule begins with itself
            self.known[key] = frozenset(self.match(node, at))
        return self.known[key]

    def match(self, node: Node, at: int) -> set[int] | frozenset[int]:
        text = self.text
        if isinstance(node, Text):
            return {at + len(node.text)} if text.startswith(node.text, at) else set()
        if isinstance(node, Chars):
            return {at + 1} if at < len(text) and holds(node, text[at]) else set()
        if isinstance(node, Seq):
            ends = frozenset((at,))
            for item in node.items:
                ends = self.ends(item, ends)
            return ends
        if isinstance(node, Alt):
            return {end for option in node.options for end in self.at(option, at)}
        if isinstance(node, Repeat):
            return self.repeat(node, at)
        if isinstance(node, Token | Json):
            return self.at(node.node, at)
        if isinstance(node, Ref):
            return self.at(self.rules.nodes[node.name], at)
        if isinstance(node, Other):
            end = text.find(node.end, at + len(node.begin) + 1)
            word = text[at + len(node.begin) : end]
            fine = text.startswith(node.begin, at) and end >= 0 and word not in node.words
            return {end + len(node.end)} if fine and all(holds(node.chars, c) for c in word) else set()
        return self.run(node, at)

    def repeat(self, node: Repeat, at: int) -> set[int]:
        found: set[int] = set()
        ends, count = frozenset((at,)), 0
        while ends and (node.most is None or count <= node.most):
            if count >= node.least:
                if ends <= found:
                    break
                found |= ends
            ends, count = self.ends(node.item, ends), count + 1
        return found

    def run(self, node: Run, at: int) -> set[int]:
        text = self.text
        if not text.startswith(node.begin, at):
            return set()
        if not node.end:
            return set(range(at, len(text) + 1))
        if node.chars is not None:
            assert node.escape is not None
            unit = Repeat(Alt((node.chars, node.escape)))
            ends = self.match(Seq((Text(node.begin), unit, Text(node.end))), at)
            return {end for end in ends if not any(word in text[at:end] for word in node.never)}
        # The first end, which may share characters with the beginning.
        end = text.find(node.end, at if node.begin and node.end.startswith(node.begin) else at + len(node.begin))
        while end >= 0 and end + len(node.end) < at + len(node.begin):
            end = text.find(node.end, end + 1)
        stop = end + len(node.end)
        inner = text[at:stop]
        bad = any(word in inner[: len(inner) - 1 if node.end.endswith(word) else None] for word in node.never)
        return set() if end < 0 or bad else {stop}


def holds(chars: Chars, char: str) -> bool:
    """Whether a character is one of a class."""
    return any(a <= char <= b for a, b in chars.ranges) != chars.negated


_ALPHABET = " aé<>/{}[]()\"'\\,:=\n|&;tru0-1.\u4e00😀"


class Sampler:
    """Writes texts that the tree holds, at random."""

    def __init__(self, rules: Rules, seed: int, hints: str) -> None:
        self.rules = rules
        self.random = random.Random(seed)
        self.alphabet = _ALPHABET + hints
        self.depth = 0
        self.keys = 0

    def text(self, node: Node) -> str:
        """A text."""
        pick = self.random
        if isinstance(node, Text):
            return node.text
        if isinstance(node, Chars):
            some = [c for c in self.alphabet + "0123456789abcdefABCDEFx" if holds(node, c)]
            return pick.choice(some or [node.ranges[0][0]])
        if isinstance(node, Seq):
            return "".join(map(self.text, node.items))
        if isinstance(node, Alt):
            options = [o for o in node.options if not isinstance(o, Ref)] if self.depth > 6 else node.options
            return self.text(pick.choice(options or node.options))
        if isinstance(node, Repeat):
            most = node.least + 3 if node.most is None else min(node.most, node.least + 3)
            return "".join(
                self.text(node.item) for _ in range(pick.randint(node.least, node.least if self.depth > 6 else most))
            )
        if isinstance(node, Token | Json):
            return self.text(node.node)
        if isinstance(node, Ref):
            self.depth += 1
            text = self.text(self.rules.nodes[node.name])
            self.depth -= 1
            return text
        if isinstance(node, Other):
            self.keys += 1  # a grammar cannot see that a key comes twice
            return node.begin + "".join(c for c in self.word() if holds(node.chars, c)) + f"z{self.keys}" + node.end
        while True:  # a run
            word = self.word()
            if node.chars is not None:
                assert node.escape is not None
                word = "".join(c if holds(node.chars, c) else self.text(node.escape) for c in word)
            whole = node.begin + word + node.end
            if _Matcher(self.rules, whole).run(node, 0) == {len(whole)}:
                return whole

    def word(self) -> str:
        return "".join(self.random.choices(self.alphabet, k=self.random.randint(0, 12)))


def hints(node: Node, rules: Rules) -> str:
    """The characters of the tree's own texts, so that samples come near its markup."""
    seen: set[str] = set()

    def walk(node: Node) -> str:
        if isinstance(node, Text):
            return node.text
        if isinstance(node, Seq):
            return "".join(map(walk, node.items))
        if isinstance(node, Alt):
            return "".join(map(walk, node.options))
        if isinstance(node, Ref):
            if node.name in seen:
                return ""
            seen.add(node.name)
            return walk(rules.nodes[node.name])
        if isinstance(node, Run):
            return node.end
        return walk(node.item) if isinstance(node, Repeat) else walk(node.node) if isinstance(node, Json) else ""

    return "".join(re.findall(r"[<>/\[\]|\n=]", walk(node)))
