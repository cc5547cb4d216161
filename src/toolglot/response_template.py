"""Formats from Transformers' response templates: the part of such a template that says how a call is written.

A ``response_template`` (in ``tokenizer_config.json``) names regions of the output, what opens and closes them, and how
their content is read. What the vocabulary of `toolglot.pattern` can say becomes a `Format` that is read but not
written, and read as strictly as any other; what it cannot say is a `DefinitionError` that names the part.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from .errors import DefinitionError
from .format import Format, Reasoning
from .pattern import Hole, Lit, Node, Value, Ws, arguments, call, call_object, each, name, section, ws

THINKING = ("thinking", "reasoning", "reasoning_content")
DELIMITED = {('<|"|>', '<|"|>'): "gemma", ("<escape>", "<escape>"): "function_gemma"}
_FIELD = frozenset(
    ("open", "open_pattern", "close", "close_pattern", "content", "content_args", "repeats", "join", "optional")
) | {"transform", "transform_each"}
# What of a regular expression can be said with literals, white space and holes.
_TOKEN = re.compile(
    r"(?P<ws>(?:\\[snt]|[ \n\t]|\[(?:\\[snrt]|[ \n\t])+\])[*+?]\??)"
    r"|\(\?P?<(?P<group>\w+)>(?:\\[wSdD]|\.|\[\^?(?:\\.|[^\]\\])+\])[*+]\??\)"
    r"|\\(?P<escaped>[^\w\s])|(?P<control>\\[nt])|(?P<plain>[^\\.^$*+?{}\[\]|()])(?![*+?{])"
)
_PLACEHOLDER = re.compile(r"\{(\w+)(?:\.(\w+))?\}")


def format_from_response_template(
    template: Mapping[str, Any], id: str = "response_template", *, turn_ends: tuple[str, ...] = ()
) -> Format:
    """The format that a Transformers ``response_template`` describes, ready for `register_format`.

    ``turn_ends``: tokens that may end the output and that the template does not name. Raises `DefinitionError` where
    the template says something that a format cannot.

    >>> fmt = format_from_response_template({
    ...     "start_anchor": "<|im_start|>assistant\\n",
    ...     "fields": {
    ...         "content": {"close": "<|im_end|>"},
    ...         "tool_calls": {
    ...             "open": "<call>", "close": "</call>", "repeats": True, "content": "json",
    ...             "transform": {"type": "function", "function": "{content}"},
    ...         },
    ...     },
    ... })
    >>> fmt.turn_ends
    ('<|im_end|>',)
    """
    if not isinstance(template, Mapping):
        raise TypeError(f"template: expected a mapping, got {type(template).__name__}")
    if not isinstance(template.get("fields"), Mapping):
        legacy = "properties" in template or "x-regex" in template
        hint = ": this is the older response_schema, which Transformers does not read any more" if legacy else ""
        raise DefinitionError(f"response template: fields are missing{hint}")
    if template.get("version", 1) != 1:
        raise DefinitionError(f"response template: version {template['version']!r} is not known")
    reasoning: Reasoning | None = None
    pattern: Node | None = None
    wrappers: tuple[str, ...] = ()
    for key, field in template["fields"].items():
        what = f"response template: fields.{key}"
        if not isinstance(field, Mapping) or set(field) - _FIELD:
            raise DefinitionError(f"{what}: expected an object with {', '.join(sorted(_FIELD))}")
        if key == "tool_calls":
            pattern = _tool_calls(what, field)
        elif field.get("content", "text") != "text" or field.get("transform") is not None:
            raise DefinitionError(f"{what}: content: only text can be read here")
        elif key in THINKING:
            reasoning = Reasoning(_one(what, field, "open"), _one(what, field, "close"), inner=("\n", "\n"))
        elif key == "content":
            closers = _texts(what, field, "close")
            opens = _texts(what, field, "open")
            if opens:  # the text between is stripped
                wrappers += (*opens, *(text.rstrip() for text in opens), *closers, *("\n" + t for t in closers))
            else:
                turn_ends += closers
        else:
            raise DefinitionError(f"{what}: a message has content, reasoning and tool_calls only")
    if pattern is None:
        raise DefinitionError("response template: fields.tool_calls is missing")
    return Format(
        pattern,
        id=id,
        title="Transformers response template",
        detect=False,
        reasoning=reasoning,
        wrappers=wrappers,
        turn_ends=turn_ends,
        parse_only=True,
        source="response template",
    )


def _tool_calls(what: str, field: Mapping[str, Any]) -> Node:
    """The pattern of the calls."""
    uses = _uses(f"{what}.transform", field)
    opener = _region(what, field, "open", lambda group: _hole(what, uses, group))
    if not opener or not isinstance(opener[0], Lit):
        raise DefinitionError(f"{what}.open: it has to begin with a literal")
    closer = _region(what, field, "close", lambda group: _hole(what, uses, group))
    content = field.get("content", "text")
    args = field.get("content_args") or {}
    listed = bool(field.get("transform_each"))
    named = any(isinstance(node, Hole) and node.field == "name" for node in opener)
    if content == "python-call-list":
        body = call(name(), "(", arguments("pythonic"))
        return section((*opener, ws(), "["), body, ("]", ws(), *closer), separator=", ")
    if content == "json" and not named:
        if args.get("string_delims") or args.get("unquoted_keys"):
            raise DefinitionError(f"{what}.content_args: only strict JSON can hold name and arguments")
        keys = {use: key for key, use in uses.items()}
        obj = call_object(
            keys.get("name", "name"),
            keys.get("arguments", "arguments"),
            keys.get("id", ("id", "call_id", "tool_call_id")),
            loose=True,
        )
        if listed:
            return section((*opener, ws(), "["), call(obj), ("]", ws(), *closer), separator=", ")
        return call(*opener, ws(), obj, ws(), *closer)
    if listed:
        raise DefinitionError(f"{what}.transform_each: the elements have to be JSON objects or Python calls")
    if content == "json":
        return call(*opener, ws(), arguments(_codec(what, args)), ws(), *closer)
    if content == "xml-inline":
        items = _tag(f"{what}.content_args.tag_pattern", args.get("tag_pattern"))
        # The template passes over whatever stands between the elements and the region's end.
        return call(*opener, ws(), each(*items, ws()), *([Hole("ignored")] if closer else []), *closer)
    raise DefinitionError(f"{what}.content: {content!r} cannot be read as a call's arguments")


def _codec(what: str, args: Mapping[str, Any]) -> Any:
    delims = args.get("string_delims")
    if not delims:
        return "gemma" if args.get("unquoted_keys") else "json"
    codec = DELIMITED.get(tuple(delims[0])) if len(delims) == 1 and isinstance(delims[0], list | tuple) else None
    if codec is None:
        raise DefinitionError(f"{what}.content_args.string_delims: {delims!r} cannot be expressed")
    return codec


def _uses(what: str, field: Mapping[str, Any]) -> dict[str, str]:
    """What each captured group, or key of the content, is: name, arguments or id."""
    transform = field.get("transform")
    if transform is None and field.get("content") == "python-call-list":
        return {}
    if not isinstance(transform, Mapping):
        raise DefinitionError(f"{what}: expected an object with a function")
    function = transform.get("function")
    if function == "{content}":
        return {}
    if not isinstance(function, Mapping):
        raise DefinitionError(f"{what}: expected an object with a function")
    uses: dict[str, str] = {}
    for use, value in (*function.items(), ("id", transform.get("id"))):
        match = _PLACEHOLDER.fullmatch(value) if isinstance(value, str) else None
        if match is None:
            if use in ("name", "arguments"):
                raise DefinitionError(f"{what}.function.{use}: expected a placeholder, not {value!r}")
            continue
        if use not in ("name", "arguments", "id"):
            raise DefinitionError(f"{what}.function.{use}: a call has name, arguments and id only")
        root, key = match.groups()
        uses[key if root == "content" and key else root] = use
    return uses


def _hole(what: str, uses: Mapping[str, str], group: str) -> Hole:
    use = uses.get(group, "ignored")
    if use == "arguments":
        raise DefinitionError(f"{what}: the group {group!r} holds the arguments, which have to be the content")
    return Hole(use)


def _tag(what: str, pattern: Any) -> list[Node]:
    """One element of ``xml-inline`` content."""
    if not isinstance(pattern, str):
        raise DefinitionError(f"{what}: expected a regular expression")
    nodes = _translate(what, pattern, lambda group: Value() if group == "value" else Hole(group))
    at = next((i for i, node in enumerate(nodes) if isinstance(node, Value)), -1)
    if at < 0 or not any(isinstance(node, Hole) and node.field == "key" for node in nodes):
        raise DefinitionError(f"{what}: it needs the groups 'key' and 'value'")
    if not isinstance(nodes[0], Lit) or not any(isinstance(node, Lit) for node in nodes[at + 1 :]):
        raise DefinitionError(f"{what}: an element has to begin and end with a literal")
    framed = isinstance(nodes[at - 1], Ws) or isinstance(nodes[at + 1], Ws)
    nodes[at] = Value("\n" if framed else "")
    return [node for i, node in enumerate(nodes) if not (isinstance(node, Ws) and abs(i - at) == 1)]


def _region(what: str, field: Mapping[str, Any], side: str, hole: Callable[[str], Node]) -> list[Node]:
    """What opens or closes a region."""
    pattern = field.get(f"{side}_pattern")
    if pattern is not None:
        return _translate(f"{what}.{side}_pattern", pattern, hole)
    texts = _texts(what, field, side)
    if not texts:
        return []
    bare = tuple(dict.fromkeys(text.strip(" \t\r\n") for text in texts))
    if not all(bare):
        raise DefinitionError(f"{what}.{side}: white space alone is no delimiter")
    return [Lit(bare)] if side == "open" else [Ws(), Lit(bare)]


def _texts(what: str, field: Mapping[str, Any], side: str) -> tuple[str, ...]:
    """The literals that open or close a region of text; white space around a pattern's one literal says nothing."""
    pattern = field.get(f"{side}_pattern")
    if pattern is not None:
        # `(?:^|<think>)`: the prompt may have opened it, which needs no saying.
        opened = re.fullmatch(r"\(\?:\^\|(.*)\)", pattern) if isinstance(pattern, str) else None
        nodes = _translate(f"{what}.{side}_pattern", opened[1] if opened else pattern, Hole)
        lits = [node for node in nodes if not isinstance(node, Ws)]
        if len(lits) != 1 or not isinstance(lits[0], Lit):
            raise DefinitionError(f"{what}.{side}_pattern: expected one literal")
        return lits[0].texts
    texts = field.get(side)
    if texts is None:
        return ()
    found = (texts,) if isinstance(texts, str) else tuple(texts) if isinstance(texts, list | tuple) else ()
    if not found or not all(isinstance(text, str) and text for text in found):
        raise DefinitionError(f"{what}.{side}: expected a text or a list of texts")
    return found


def _one(what: str, field: Mapping[str, Any], side: str) -> str:
    texts = _texts(what, field, side)
    if len(texts) != 1:
        raise DefinitionError(f"{what}.{side}: reasoning needs exactly one text there")
    return texts[0]


def _translate(what: str, pattern: Any, hole: Callable[[str], Node]) -> list[Node]:
    """A regular expression as literals, white space and holes."""
    if not isinstance(pattern, str):
        raise DefinitionError(f"{what}: expected a regular expression")
    nodes: list[Node] = []
    text = ""
    pos = 0
    while pos < len(pattern):
        match = _TOKEN.match(pattern, pos)
        if match is None:
            raise DefinitionError(f"{what}: {pattern[pos : pos + 30]!r} at {pos} cannot be expressed")
        pos = match.end()
        literal = match["plain"] or match["escaped"] or {"\\n": "\n", "\\t": "\t"}.get(match["control"] or "")
        if literal:
            text += literal
            continue
        if text:
            nodes.append(Lit((text,)))
            text = ""
        nodes.append(Ws() if match["ws"] else hole(match["group"]))
    if text:
        nodes.append(Lit((text,)))
    return nodes
