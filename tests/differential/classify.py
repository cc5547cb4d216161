"""What the two programs say of a text, and which kinds of difference explain that they do not agree.

A kind is a row of `kinds.json` and a small predicate here. Most predicates take the cause out of the text, one
character for one, and demand that the two programs then say the same: a difference with a further cause is not
explained. `explain` tries the kinds alone, then two and three together.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations
from pathlib import Path
from typing import Any

import beacon

import toolglot

ROWS: list[dict[str, Any]] = json.loads(Path(__file__).with_name("kinds.json").read_text(encoding="utf-8"))

SEED_FORMATS = frozenset({"hermes", "bracket", "mistral", "llama", "xml_invoke", "json", "python"})


@dataclass(frozen=True)
class Outcome:
    """The calls that were found, or the code and position of the error. ``format``: of an error, where known."""

    calls: tuple[dict[str, Any], ...] | None = None
    code: str | None = None
    position: int | None = None
    format: str | None = None

    def __eq__(self, other: object) -> bool:
        # `repr` tells 1 from 1.0 and True, and keeps the order of arguments. A format of an error is no outcome.
        if not isinstance(other, Outcome):
            return NotImplemented
        return (repr(self.calls), self.code, self.position) == (repr(other.calls), other.code, other.position)

    __hash__ = None  # type: ignore[assignment]

    def moved(self, by: int) -> Outcome:
        """The same with its position shifted."""
        return replace(self, position=None if self.position is None else self.position + by)

    def said(self) -> Any:
        """As plain data, for `kinds.json` and for people."""
        return [self.code, self.position] if self.calls is None else list(self.calls)


NOT_FOUND = Outcome(code="tool_call.not_found")


@lru_cache(maxsize=4096)
def theirs(text: str) -> Outcome:
    """What beacon says. It may crash, and leaves integers that are too long to the interpreter."""
    try:
        return Outcome(tuple(beacon.parse_tool_calls(text, include_format=True)))
    except beacon.errors.MalformedOutputError as error:
        return Outcome(code=error.code, position=error.position)
    except ValueError as error:
        if "integer string conversion" not in str(error):
            raise
        return Outcome(code="beacon.int_digits")
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        return Outcome(code="beacon.panic")


@lru_cache(maxsize=4096)
def ours(text: str) -> Outcome:
    """What Toolglot says."""
    try:
        return Outcome(tuple(toolglot.parse_tool_calls(text, include_format=True)))
    except toolglot.ParseError as error:
        return Outcome(code=error.code, position=error.position, format=error.format)


def shape(outcome: Outcome) -> Any:
    """An outcome without the values, which a rewritten text may change."""
    if outcome.calls is None:
        return outcome.code, outcome.position
    return [(call["name"], list(call["arguments"]), call["format"]) for call in outcome.calls]


# Kinds that take the cause out of the text, keeping every other character in its place.

_STRING = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'', re.DOTALL)
_MARKUP = re.compile(r"</?(?:tool_call|invoke|parameter|think)\b>?|\[/?TOOL_CALLS?\]|\[ARGS\]|<\|\w+\|>|```")
_THINK = re.compile(r"<think>.*?</think>", re.DOTALL)
_ESCAPE = re.compile(r"\\(?:[avfU/\n]|N\{|[0-7]{1,3}|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4})")


def _without_markup(match: re.Match[str]) -> str:
    return _MARKUP.sub(lambda found: "_" * len(found[0]), match[0])


def markup_in_string(text: str) -> str:
    """Markup inside quotes becomes underscores."""
    return _STRING.sub(_without_markup, text)


def closed_reasoning(text: str) -> str:
    """A closed reasoning block becomes white space."""
    return _THINK.sub(lambda match: " " * len(match[0]), text)


def python_escapes(text: str) -> str:
    """Escapes that only Python has become underscores."""
    return _ESCAPE.sub(lambda match: "_" * len(match[0]), text)


def top_keys(text: str, start: int, stop: int) -> Iterator[str]:
    """The keys at the top level of the object that begins at ``start``, as far as they stand before ``stop``."""
    depth = 0
    at = start
    while at < stop:
        char = text[at]
        if char == '"':
            match = _STRING.match(text, at)
            end = match.end() if match else stop
            if depth == 1 and end <= stop and text[end:stop].lstrip().startswith(":"):
                yield text[at + 1 : end - 1]
            at = end
            continue
        depth += (char in "{[") - (char in "}]")
        at += 1


CALL_KEYS = frozenset({"name", "function", "tool_calls", "function_call"})


def broken_prose(text: str) -> str:
    """The bracket of the first broken JSON fragment that shows no call key becomes a space, again and again."""
    for _ in range(len(text)):
        said = theirs(text)
        if said.code is None or said.position is None or not said.code.startswith("json."):
            break
        start = fragment_start(text, said)
        if start is None or not CALL_KEYS.isdisjoint(top_keys(text, start, said.position)):
            break
        text = f"{text[:start]} {text[start + 1 :]}"
    return text


def fragment_start(text: str, said: Outcome) -> int | None:
    """Where the JSON begins that breaks as beacon says."""
    tag = "<tool_call>"
    for match in re.finditer(r"[{\[]", text[: (said.position or 0) + 1]):
        start = match.start()
        if theirs(tag + text[start:]).moved(start - len(tag)) == said:
            return start
    return None


REWRITES: dict[str, Callable[[str], str]] = {
    "markup_in_string": markup_in_string,
    "closed_reasoning": closed_reasoning,
    "python_escapes": python_escapes,
    "broken_prose": broken_prose,
}


# Kinds that ask beacon in another way.


def in_pieces(text: str) -> Outcome | None:
    """What beacon says of each `[TOOL_CALLS]` by itself."""
    starts = [match.start() for match in re.finditer(r"\[TOOL_CALLS\]", text)][1:]
    calls: list[dict[str, Any]] = []
    for start, end in zip([0, *starts], [*starts, len(text)], strict=True):
        said = theirs(text[start:end])
        if said.calls is not None:
            calls += [call for call in said.calls if call["format"] not in {"json", "python"}]
        elif said != NOT_FOUND:
            return said.moved(start)
    return Outcome(tuple(calls)) if starts else None


def with_closer(text: str) -> Outcome | None:
    """What beacon says when the section's `]` is put at the end."""
    said = theirs(text)
    if said.code == "json.unexpected_end" and said.position == len(text) and "[TOOL_CALLS]" in text:
        return theirs(text + "]")
    return None


OTHERWISE: dict[str, Callable[[str], Outcome | None]] = {
    "second_mistral_call": in_pieces,
    "closer_at_end": with_closer,
}


# Kinds that show in the outcomes.


def position_in_string(text: str, beacons: Outcome, mine: Outcome) -> bool:
    """Both say that the arguments string is broken; ours says where in it."""
    if not (beacons.code == mine.code == "tool_call.invalid_arguments"):
        return False
    start, at = beacons.position, mine.position
    return (
        start is not None
        and at is not None
        and any(match.start() < at < match.end() for match in _STRING.finditer(text, start))
    )


def unknown_family(text: str, beacons: Outcome, mine: Outcome) -> bool:
    """A call, or an error, of a format that the seed does not have."""
    del text, beacons
    formats = {call["format"] for call in mine.calls or ()} | ({mine.format} if mine.format else set())
    return not formats <= SEED_FORMATS


def triple_quotes(text: str, beacons: Outcome, mine: Outcome) -> bool:
    """beacon stops at the third quote of a string that begins with three."""
    del mine
    at = beacons.position
    return (
        beacons.code in {"tool_call.expected_comma", "tool_call.expected_colon"}
        and at is not None
        and text[at - 2 : at + 1] in {'"""', "'''"}
    )


def xml_verbatim(text: str, beacons: Outcome, mine: Outcome) -> bool:
    """The calls are equal once our strings are stripped."""
    del text
    return _with_strings(mine, str.strip) == beacons


def xml_references(text: str, beacons: Outcome, mine: Outcome) -> bool:
    """The calls are equal once beacon's numeric references are decoded."""
    del text
    return _with_strings(beacons, _decoded) == mine


def _decoded(text: str) -> str:
    return re.sub(r"&#(?:x([0-9a-fA-F]+)|([0-9]+));", lambda m: chr(int(m[1], 16) if m[1] else int(m[2])), text)


def _with_strings(outcome: Outcome, change: Callable[[str], str]) -> Outcome:
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


def long_integer(text: str, beacons: Outcome, mine: Outcome) -> bool:
    """An integer that the interpreter refuses to convert."""
    return beacons.code == "beacon.int_digits" and (
        mine.code == "json.number_too_long" or bool(re.search(r">\s*-?\d{4301,}\s*<", text))
    )


def crash(text: str, beacons: Outcome, mine: Outcome) -> bool:
    """beacon panics."""
    del text, mine
    return beacons.code == "beacon.panic"


OUTCOMES: dict[str, Callable[[str, Outcome, Outcome], bool]] = {
    "position_in_string": position_in_string,
    "unknown_family": unknown_family,
    "triple_quotes": triple_quotes,
    "xml_verbatim": xml_verbatim,
    "xml_references": xml_references,
    "long_integer": long_integer,
    "crash": crash,
}

KINDS: tuple[str, ...] = (*REWRITES, *OTHERWISE, *OUTCOMES)


def claims(kinds: tuple[str, ...], text: str) -> bool:
    """Whether ``kinds`` together, none of them idle, explain why the two do not agree on ``text``."""
    changed = text
    for kind in kinds:
        if kind in REWRITES:
            before, changed = changed, REWRITES[kind](changed)
            if changed == before:
                return False
    mine = ours(changed)
    if changed != text and shape(mine) != shape(ours(text)):
        return False
    beacons = theirs(changed)
    for kind in kinds:
        if kind in OTHERWISE:
            said = OTHERWISE[kind](changed)
            if said is None or said == beacons:
                return False
            beacons = said
    shown = [kind for kind in kinds if kind in OUTCOMES]
    if not shown:
        return beacons == mine
    return beacons != mine and all(OUTCOMES[kind](changed, beacons, mine) for kind in shown)


def explain(text: str) -> tuple[str, ...] | None:
    """The fewest kinds that explain the difference on ``text``; empty if there is none, None if nothing does."""
    if theirs(text) == ours(text):
        return ()
    for count in (1, 2, 3):
        for kinds in combinations(KINDS, count):
            if sum(kind in OUTCOMES for kind in kinds) <= 1 and claims(kinds, text):
                return kinds
    return None
