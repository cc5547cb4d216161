"""Which kinds of difference explain that the two programs do not agree on a text.

A kind is a row of `kinds.json` and one small function here, of one of four sorts:

- a *rewrite* takes the cause out of the text, one character for one, and the two must then say the same;
- a *way* asks beacon in another way, and it must then say what we say;
- a *view* looks at one side's calls in another way, and they must then be equal;
- a *sight* sees the kind in the two outcomes, the text beside them.

`explain` tries the kinds alone, then several together; each has to do something.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import partial
from itertools import combinations, product
from pathlib import Path
from typing import Any

from toolglot.errors import Fault
from toolglot.values.json import loads

from .fragments import STRING, broken_fragment
from .outcome import NOT_FOUND, Outcome, ours, theirs
from .sights import SIGHTS

ROWS: list[dict[str, Any]] = json.loads(Path(__file__).with_name("kinds.json").read_text(encoding="utf-8"))


def _filled(pattern: re.Pattern[str], text: str, filler: str) -> str:
    """``text`` with every match of ``pattern`` overwritten."""
    return pattern.sub(lambda match: filler * len(match[0]), text)


# Rewrites.

_MARKUP = re.compile(r"</?(?:tool_call|function_calls|invoke|parameter|think)\b>?|\[/?TOOL_CALLS?\]|<\|\w+\|>|```")
_TAGGED = re.compile(r"<tool_call>|\[TOOL_CALLS?\]|<\|python_tag\|>")
_PARAMETER = re.compile(r"(<parameter\b[^>]*>)(.*?)(?=</parameter>)", re.DOTALL)
_ATTRIBUTE = re.compile(r'(?<=name=")[^"<>]*(?=")')
_HEAD = re.compile(r"(\[TOOL_CALLS?\])(?!\s*[{\[])(.*?)(?=\[ARGS\]|args=)", re.DOTALL)
_THINK = re.compile(r"<think>.*?</think>", re.DOTALL)
_UNOPENED = re.compile(r"\A.*</think>", re.DOTALL)
_ESCAPE = re.compile(r"\\(?:[abvfU/\n]|N\{|[0-7]{1,3}|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4})")
_FENCE = re.compile(r"```[\w+-]*")
_CLOSER = re.compile(r"</parameter>(?!\s*(?:<parameter\b|</invoke>|\Z))")
_WORD = re.compile(r"[^\W\x00-\x7f][A-Za-z0-9_.]*\(")
_REFERENCE = re.compile(r"&#(?:x[0-9a-fA-F]+|[0-9]+);")
_ARGS = re.compile(r"\[ARGS\]([ \t\r\n]+)")
_TURN_END = re.compile(r"(?:[ \t\r\n]*(?:<\|(?:eom_id|eot_id|im_end|end_of_text|endoftext)\|>|</s>))+[ \t\r\n]*\Z")
_QUOTED = re.compile(r'"[nft](ame|unction|ool_calls|unction_call)"')


def _no_markup(text: str) -> str:
    """Markup overwritten but for its first character, with which JSON may break."""
    return _MARKUP.sub(lambda match: match[0][0] + "_" * (len(match[0]) - 1), text)


def markup_in_string(text: str) -> str:
    return STRING.sub(lambda match: _no_markup(match[0]), text)


def markup_in_tagged_string(text: str) -> str:
    """As the strings stand from the first opener on, whatever quotes stand before it."""
    opener = _TAGGED.search(text)
    return text[: opener.end()] + markup_in_string(text[opener.end() :]) if opener else text


def markup_in_parameter(text: str) -> str:
    start = max(text.find("<invoke"), 0)  # a <parameter> before any call is text
    return text[:start] + _PARAMETER.sub(lambda match: match[1] + _no_markup(match[2]), text[start:])


def markup_in_attribute(text: str) -> str:
    return _ATTRIBUTE.sub(lambda match: _no_markup(match[0]), markup_in_parameter(text))


def markup_in_head(text: str) -> str:
    return _HEAD.sub(lambda match: match[1] + _no_markup(match[2]), text)


def closed_reasoning(text: str) -> str:
    return _filled(_THINK, text, " ")


def unopened_reasoning(text: str) -> str:
    return _filled(_UNOPENED, closed_reasoning(text), " ")


def python_escapes(text: str) -> str:
    return _filled(_ESCAPE, text, "_")


def bare_beside_fence(text: str) -> str:
    return _filled(_FENCE, text, "#")


def xml_closer_in_value(text: str) -> str:
    return _filled(_CLOSER, text, "_")


def unicode_word(text: str) -> str:
    """A word with letters of another script before a bracket, of which beacon takes the ASCII end for a name."""
    return _filled(_WORD, text, "#")


def xml_references(text: str) -> str:
    return _filled(_REFERENCE, text, "_")


def space_before_args(text: str) -> str:
    """The white space stands before `[ARGS]`, where beacon allows it."""
    return _ARGS.sub(r"\1[ARGS]", text)


def tool_use_without_input(text: str) -> str:
    """Objects whose type is not a `tool_use` need arguments for beacon too."""
    return text.replace('"tool_use"', '"________"')


def broken_prose(text: str) -> str:
    """The brackets of each broken JSON fragment that is no call are overwritten."""
    for _ in range(len(text)):
        start, stop = broken_fragment(text)
        if stop < 0:
            break
        text = text[:start] + re.sub(r"[{\[]", "#", text[start:stop]) + text[stop:]
    return text


def broken_prose_renamed(text: str) -> str:
    """The words that make beacon think of a call are other words."""
    start, stop = broken_fragment(text)
    return text if stop < 0 else text[:start] + _QUOTED.sub(r'"_\1"', text[start:])


REWRITES: dict[str, tuple[Callable[[str], str], ...]] = {
    # The first two before others that look at where strings and values end.
    "closed_reasoning": (closed_reasoning, unopened_reasoning),
    "xml_closer_in_value": (xml_closer_in_value,),
    "markup_in_value": (
        markup_in_string,
        markup_in_tagged_string,
        markup_in_parameter,
        markup_in_attribute,
        markup_in_head,
    ),
    "python_escapes": (python_escapes,),
    "bare_beside_fence": (bare_beside_fence,),
    "unicode_word": (unicode_word,),
    "xml_references": (xml_references,),
    "space_before_args": (space_before_args,),
    "tool_use_without_input": (tool_use_without_input,),
    "broken_prose": (broken_prose, broken_prose_renamed),
}


# Ways.

Ask = Callable[[str], Outcome]


def _in_pieces(opener: str, text: str, ask: Ask) -> Outcome:
    """What beacon says of each ``opener`` and what follows it, by itself."""
    starts = [match.start() for match in re.finditer(re.escape(opener), text)][1:]
    calls: list[dict[str, Any]] = []
    for start, end in zip([0, *starts], [*starts, len(text)], strict=True):
        said = ask(text[start:end])
        if said.calls is not None:
            calls += [call for call in said.calls if call["format"] not in {"json", "python"}]
        elif said != NOT_FOUND:
            return said.moved(start)
    return Outcome(tuple(calls)) if calls else ask(text)


def second_mistral_call(text: str, ask: Ask) -> Outcome:
    return _in_pieces("[TOOL_CALLS]", text, ask)


def second_llama_call(text: str, ask: Ask) -> Outcome:
    return _in_pieces("<|python_tag|>", text, ask)


def text_after_llama(text: str, ask: Ask) -> Outcome:
    """The call's end is marked, as Llama marks it, where beacon complains of what follows."""
    mark = "<|eom_id|>"
    places: list[int] = []
    said = ask(text)
    while said.code in {"json.trailing_characters", "tool_call.trailing_characters"} and said.position is not None:
        at = said.position
        if "<|python_tag|>" not in text[:at] or text[:at].endswith(mark) or (places and at <= places[-1] + len(mark)):
            break
        places.append(at)
        text = text[:at] + mark + text[at:]
        said = ask(text)
    return said.moved(-len(mark) * sum(place < (said.position or 0) for place in places))


def turn_end(text: str, ask: Ask) -> Outcome:
    """The text without what ends the turn."""
    return ask(_TURN_END.sub("", text))


def closer_at_end(text: str, ask: Ask) -> Outcome:
    said = ask(text)
    at_end = said.code == "json.unexpected_end" and said.position in {len(text), len(text.rstrip())}
    return ask(text + "]") if at_end and "[TOOL_CALLS]" in text else said


WAYS: dict[str, Callable[[str, Ask], Outcome]] = {
    "turn_end": turn_end,
    "second_mistral_call": second_mistral_call,
    "second_llama_call": second_llama_call,
    "text_after_llama": text_after_llama,
    "closer_at_end": closer_at_end,
}


_SIGNS = {
    "turn_end": _TURN_END,
    "second_mistral_call": re.compile(r"\[TOOL_CALLS\]"),
    "second_llama_call": re.compile(r"<\|python_tag\|>"),
    "text_after_llama": re.compile(r"<\|python_tag\|>"),
    "closer_at_end": re.compile(r"\[TOOL_CALLS\]"),
}


def ask(text: str, ways: tuple[str, ...]) -> Outcome:
    """What beacon says when it is asked in all of ``ways``."""
    if not ways:
        return theirs(text)
    return WAYS[ways[0]](text, lambda piece: ask(piece, ways[1:]))


# Views.


def xml_verbatim(beacons: Outcome, mine: Outcome) -> tuple[Outcome, Outcome]:
    def stripped(text: str) -> Any:
        try:
            return loads(text.strip()) if text != text.strip() else text
        except Fault:
            return text.strip()

    return beacons, _with_strings(mine, stripped)


def _with_strings(outcome: Outcome, change: Callable[[str], Any]) -> Outcome:
    """The outcome with each string argument of an `<invoke>` changed."""
    if outcome.calls is None:
        return outcome
    calls = []
    for call in outcome.calls:
        if call["format"] == "xml_invoke":
            arguments = {k: change(v) if isinstance(v, str) else v for k, v in call["arguments"].items()}
            call = {**call, "arguments": arguments}
        calls.append(call)
    return Outcome(tuple(calls))


VIEWS: dict[str, Callable[[Outcome, Outcome], tuple[Outcome, Outcome]]] = {
    "xml_verbatim": xml_verbatim,
}


KINDS: tuple[str, ...] = (*REWRITES, *WAYS, *VIEWS, *SIGHTS)


def claims(kinds: tuple[str, ...], text: str) -> bool:
    """Whether ``kinds`` together, none of them idle, explain why the two do not agree on ``text``."""
    for rewrites in product(*(REWRITES[kind] for kind in kinds if kind in REWRITES)):
        changed = text
        for rewrite in rewrites:
            before, changed = changed, rewrite(changed)
            if changed == before:
                break
        else:
            same = changed == text or ours(changed).shape() == ours(text).shape()
            if same and _explained(kinds, changed):
                return True
    return False


def _explained(kinds: tuple[str, ...], text: str) -> bool:
    """Whether the kinds that rewrite nothing explain what is left of the difference."""
    mine = ours(text)
    ways = tuple(kind for kind in kinds if kind in WAYS)
    beacons = ask(text, ways)
    if any(ask(text, tuple(way for way in ways if way != idle)) == beacons for idle in ways):
        return False
    for kind in kinds:
        if kind in VIEWS:
            was = beacons, mine
            beacons, mine = VIEWS[kind](beacons, mine)
            if (beacons, mine) == was:
                return False
    seen = [kind for kind in kinds if kind in SIGHTS]
    if beacons == mine:
        return not seen
    return bool(seen) and all(SIGHTS[kind](text, beacons, mine, partial(ask, ways=ways)) for kind in seen)


def _may(kind: str, text: str) -> bool:
    """Whether ``kind`` can have to do with ``text``, seen cheaply."""
    if kind in WAYS:
        return _SIGNS[kind].search(text) is not None
    if kind in REWRITES and kind != "broken_prose":  # which may show only when another cause is gone
        texts = (text, closed_reasoning(text), xml_closer_in_value(text))  # which may show more
        return any(rewrite(each) != each for rewrite in REWRITES[kind] for each in texts)
    return True


def explain(text: str) -> tuple[str, ...] | None:
    """The fewest kinds that explain the difference on ``text``; empty if there is none, None if nothing does."""
    if theirs(text) == ours(text):
        return ()
    likely = [kind for kind in KINDS if _may(kind, text)]
    for count in (1, 2, 3, 4):
        for kinds in combinations(likely, count):
            if sum(kind in SIGHTS for kind in kinds) <= 1 and claims(kinds, text):
                return kinds
    return None
