"""Kinds of difference that show in the two outcomes: the last of the four sorts of `classify`."""

from __future__ import annotations

import re
from collections.abc import Callable

from .outcome import SEED_FORMATS, Outcome

_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_CLOSERS = ("</tool_call>", "[/TOOL_CALL]", "</invoke>", "</parameter>")


def position_in_string(text: str, beacons: Outcome, mine: Outcome) -> bool:
    """Both say that the arguments string is broken; ours says where in it."""
    if not (beacons.code == mine.code == "tool_call.invalid_arguments"):
        return False
    start, at = beacons.position, mine.position
    strings = _STRING.finditer(text, start or 0)
    return start is not None and at is not None and any(match.start() < at < match.end() for match in strings)


def unknown_family(text: str, beacons: Outcome, mine: Outcome) -> bool:
    """A call, or an error, of a format that the seed does not have, or of Mistral's form without `[ARGS]`."""
    formats = {call["format"] for call in mine.calls or ()} | ({mine.format} if mine.format else set())
    if not formats <= SEED_FORMATS:
        return True
    return beacons.code == "tool_call.unrecognized" and bool(
        re.match(r"\s*[\w./:-]+\s*(?:\[CALL_ID\]\w+\s*)?\{", text[beacons.position or 0 :])
        and text[: beacons.position].rstrip().endswith("[TOOL_CALLS]")
    )


def triple_quotes(text: str, beacons: Outcome, mine: Outcome) -> bool:
    """beacon stops at the third quote of a string that begins with three."""
    del mine
    at = beacons.position
    stopped = beacons.code in {"tool_call.expected_comma", "tool_call.expected_colon"}
    return stopped and at is not None and text[at - 2 : at + 1] in {'"""', "'''"}


def long_integer(text: str, beacons: Outcome, mine: Outcome) -> bool:
    """An integer that the interpreter refuses to convert."""
    return beacons.code == "beacon.int_digits" and (
        mine.code == "json.number_too_long" or bool(re.search(r">\s*-?\d{4301,}\s*<", text))
    )


def crash(text: str, beacons: Outcome, mine: Outcome) -> bool:
    """beacon panics."""
    del text, mine
    return beacons.code == "beacon.panic"


def open_reasoning(text: str, beacons: Outcome, mine: Outcome) -> bool:
    """Reasoning was opened and not closed, and we say so, or run nothing of it."""
    del beacons
    opened = text.rfind("<think>")
    if opened < 0 or "</think>" in text[opened:]:
        return False
    if mine.code == "reasoning.unclosed":
        return mine.position is not None and mine.position > opened
    return mine.code == "tool_call.not_found"


def truncated_markup(text: str, beacons: Outcome, mine: Outcome) -> bool:
    """The text ends inside a tag or a head: for us it was cut off."""
    if mine.code not in {"tool_call.unexpected_end", "tool_call.truncated"} or mine.position != len(text):
        return False
    rest = text[beacons.position or 0 :]
    if beacons.code == "json.trailing_characters":
        return any(closer.startswith(rest.strip()) for closer in _CLOSERS)
    return beacons.code in {"tool_call.unrecognized", "tool_call.invalid_name"} and ">" not in rest and "]" not in rest


def xml_end(text: str, beacons: Outcome, mine: Outcome) -> bool:
    """A closer of `<invoke>` is missing: we point to the end of the text, beacon to where the value begins."""
    same = beacons.code == mine.code == "tool_call.unexpected_end"
    return same and mine.format == "xml_invoke" and mine.position == len(text)


def xml_tag(text: str, beacons: Outcome, mine: Outcome) -> bool:
    """A tag of `<invoke>` is malformed, or something stands between its parameters: we say where."""
    if mine.code != "tool_call.expected_markup" or mine.format != "xml_invoke" or mine.position is None:
        return False
    opened = text.rfind("<invoke", 0, mine.position + 1)
    if beacons.calls is not None:
        return opened >= 0
    return beacons.position is not None and 0 <= opened <= beacons.position <= len(text)


def end_of_text(text: str, beacons: Outcome, mine: Outcome) -> bool:
    """Both say that the JSON ends too early: we point behind the white space at the end."""
    same = beacons.code == mine.code == "json.unexpected_end"
    return same and mine.position == len(text) and beacons.position == len(text.rstrip())


def cut_at_closer(text: str, beacons: Outcome, mine: Outcome) -> bool:
    """beacon cuts at the first closing tag and says that the JSON ends there; we read on and say what is wrong."""
    if beacons.code not in {"json.unexpected_end", "json.unterminated_string"} or beacons.position is None:
        return False
    rest = text[beacons.position :]
    if beacons.code == "json.unterminated_string":
        return mine.code == "json.control_character" and any(closer in rest for closer in _CLOSERS)
    return (
        mine.code is not None
        and mine.code.startswith("json.")
        and rest.lstrip().startswith(_CLOSERS)
        and mine.position == len(text) - len(rest.lstrip())
    )


def tool_use_without_input(text: str, beacons: Outcome, mine: Outcome) -> bool:
    """A `tool_use` without `input` is no call for us; beacon makes its arguments `{}`."""
    made = any(not call["arguments"] for call in beacons.calls or ())
    return made and '"tool_use"' in text and mine.code in {"tool_call.unrecognized", "tool_call.not_found"}


SIGHTS: dict[str, Callable[[str, Outcome, Outcome], bool]] = {
    "position_in_string": position_in_string,
    "unknown_family": unknown_family,
    "triple_quotes": triple_quotes,
    "long_integer": long_integer,
    "crash": crash,
    "open_reasoning": open_reasoning,
    "truncated_markup": truncated_markup,
    "xml_end": xml_end,
    "xml_tag": xml_tag,
    "end_of_text": end_of_text,
    "cut_at_closer": cut_at_closer,
    "tool_use_without_input": tool_use_without_input,
}
