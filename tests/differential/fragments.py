"""Broken JSON in a text: where it begins, and whether it was to be a call."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .outcome import Outcome, theirs

STRING = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'', re.DOTALL)
_WRAPPERS = frozenset({"function", "tool_calls", "function_call"})
_BESIDE = frozenset({"name", "arguments", "parameters", "input", "args", "id", "type", "call_id", "index"})


def broken_fragment(text: str) -> tuple[int, int]:
    """Where the JSON begins and breaks of which beacon complains, if the keys read so far are not a call's."""
    said = theirs(text)
    start = fragment_start(text, said) if (said.code or "").startswith("json.") else None
    if start is None or said.position is None:
        return 0, -1
    keys = set(_top_keys(text, start, said.position))
    if text[start] == "[" and not _only_objects(text, start, said.position):
        keys.clear()  # a list of calls holds nothing else
    if keys & _WRAPPERS or ("name" in keys and keys <= _BESIDE):
        return 0, -1
    return start, max(said.position, start + 1)


def fragment_start(text: str, said: Outcome) -> int | None:
    """Where the JSON begins that breaks as beacon says."""
    tag = "[TOOL_CALLS]"  # which reads one value and leaves the rest alone
    for match in re.finditer(r"[{\[]", text[: (said.position or 0) + 1]):
        start = match.start()
        again = theirs(tag + text[start:]).moved(start - len(tag))
        ends = again.code == said.code == "json.unexpected_end"  # where beacon takes off white space or does not
        if again == said or ends:
            return start
    return None


def _only_objects(text: str, start: int, stop: int) -> bool:
    """Whether the list at ``start`` holds nothing but objects before ``stop``."""
    depth = 0
    at = start
    while at < stop:
        match = STRING.match(text, at) if text[at] == '"' else None
        end = match.end() if match else at + 1
        if depth == 1 and text[at] not in "{}], \t\r\n":
            return False
        depth += (text[at] in "{[") - (text[at] in "}]")
        at = end
    return True


def _top_keys(text: str, start: int, stop: int) -> Iterator[str]:
    """The keys of the object at ``start``, or of the objects of the list at ``start``, read before ``stop``."""
    level = 2 if text[start] == "[" else 1
    depth = 0
    at = start
    while at < stop:
        if text[at] == '"':
            match = STRING.match(text, at)
            end = match.end() if match else stop
            if depth == level and text[end:stop].lstrip().startswith(":"):
                yield text[at + 1 : end - 1]
            at = end
            continue
        depth += (text[at] in "{[") - (text[at] in "}]")
        at += 1
