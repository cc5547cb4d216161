"""Kinds of difference that show in the two outcomes: the last of the four sorts of `classify`."""

from __future__ import annotations

import re
from collections.abc import Callable

from .fragments import broken_fragment, fragment_start
from .outcome import SEED_FORMATS, Outcome, theirs

Ask = Callable[[str], Outcome]

_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_OPENER = re.compile(r"<tool_call>|\[TOOL_CALLS?\]|<\|python_tag\|>|<function_calls>|<invoke\b")
_IN_STRING = {"json.control_character", "json.invalid_unicode_escape", "json.invalid_escape"}
_HALF_TAG = re.compile(r"<(?:i(?:n(?:v(?:o(?:k(?:e(?:\s[^<>]*)?)?)?)?)?)?|/[a-z_]{0,14})?\Z")
_PART = re.compile(r"[-+.0-9eE]+\s*|[a-z]+\s*")
_ONLY_OBJECTS = re.compile(r"\[\s*\{")
_CALL_KEY = re.compile(r'"(?:name|function|tool_calls|function_call)"')
_CLOSERS = ("</tool_call>", "[/TOOL_CALL]", "</invoke>", "</parameter>")


def position_in_string(text: str, beacons: Outcome, mine: Outcome, ask: Ask) -> bool:
    """Both say that the arguments string is broken; ours says where in it."""
    if not (beacons.code == mine.code == "tool_call.invalid_arguments"):
        return False
    start, at = beacons.position, mine.position
    strings = _STRING.finditer(text, start or 0)
    return start is not None and at is not None and any(match.start() < at < match.end() for match in strings)


def unknown_family(text: str, beacons: Outcome, mine: Outcome, ask: Ask) -> bool:
    """A call, or an error, of a format that the seed does not have, or of Mistral's form without `[ARGS]`."""
    formats = {call["format"] for call in mine.calls or ()} | ({mine.format} if mine.format else set())
    if not formats <= SEED_FORMATS:
        return True
    for call in beacons.calls or ():
        name, brace, _ = call["name"].partition("{")
        start = text.find(call["name"])
        if call["format"] == "mistral" and brace and start >= 0:
            if mine.calls is None:
                return start + len(name) <= (mine.position or 0) <= start + len(call["name"] + "[ARGS]")
            return any(name.strip() == one["name"] for one in mine.calls)
    bare = re.search(r"\[TOOL_CALLS\]\s*[\w./:-]+\s*(?:\[CALL_ID\]\w+\s*)?\{", text)
    return bare is not None and beacons.position is not None and beacons.position > bare.start()


def bracket_empty_name(text: str, beacons: Outcome, mine: Outcome, ask: Ask) -> bool:
    """`name=` with nothing behind it is an empty name, as the seed's table says."""
    return (beacons.code, mine.code, mine.format) == ("tool_call.unrecognized", "tool_call.invalid_name", "bracket")


def triple_quotes(text: str, beacons: Outcome, mine: Outcome, ask: Ask) -> bool:
    """beacon stops at the third quote of a string that begins with three."""
    at = beacons.position
    stopped = beacons.code in {"tool_call.expected_comma", "tool_call.expected_colon"}
    return stopped and at is not None and text[at - 2 : at + 1] in {'"""', "'''"}


def long_integer(text: str, beacons: Outcome, mine: Outcome, ask: Ask) -> bool:
    """An integer that the interpreter refuses to convert."""
    return beacons.code == "beacon.int_digits" and (
        mine.code == "json.number_too_long" or bool(re.search(r">\s*-?\d{4301,}\s*<", text))
    )


def open_reasoning(text: str, beacons: Outcome, mine: Outcome, ask: Ask) -> bool:
    """Reasoning was opened and not closed: we say so, or run nothing of it, or the calls at its end only."""
    opened = text.find("<think>", text.rfind("</think>") + 1)
    if opened < 0:
        return False
    if mine.code is not None:
        said = mine.code == "reasoning.unclosed" and mine.position is not None and mine.position > opened
        return said or mine.code == "tool_call.not_found"
    starts = [match.start() for match in _OPENER.finditer(text, opened + 1)]
    return any(ask(text[:opened] + " " * (start - opened) + text[start:]) == mine for start in starts)


def truncated_markup(text: str, beacons: Outcome, mine: Outcome, ask: Ask) -> bool:
    """The text ends inside a tag or a head: for us it was cut off."""
    if mine.code not in {"tool_call.unexpected_end", "tool_call.truncated"} or mine.position != len(text):
        return False
    if text.rstrip().endswith("<invoke>"):
        return True  # the older form, of which a tag with the name has to follow
    section = max(text.rfind("<function_calls>"), text.rfind("</invoke>"))  # behind which another call may begin
    if beacons.calls is not None or beacons.position is None or beacons.position < section:
        return section >= 0 and _HALF_TAG.search(text) is not None
    rest = text[beacons.position or 0 :]
    if beacons.code == "json.trailing_characters":
        return any(closer.startswith(rest.strip()) for closer in _CLOSERS)
    return (
        beacons.code in {"tool_call.unrecognized", "tool_call.invalid_name"}
        and ">" not in rest
        and ("]" not in rest or rest[0] == "<")
    )


def xml_end(text: str, beacons: Outcome, mine: Outcome, ask: Ask) -> bool:
    """A closer of `<invoke>` is missing: we point to the end of the text, beacon to a value or key before."""
    ended = beacons.code in {"tool_call.unexpected_end", "tool_call.duplicate_argument"}
    return (
        ended and mine.code == "tool_call.unexpected_end" and mine.format == "xml_invoke" and mine.position == len(text)
    )


def xml_tag(text: str, beacons: Outcome, mine: Outcome, ask: Ask) -> bool:
    """A tag of `<invoke>` is malformed, or something stands between its parameters: we say where."""
    if mine.code not in {"tool_call.expected_markup", "tool_call.unrecognized"} or mine.format != "xml_invoke":
        return False
    opened = text.rfind("<invoke", 0, (mine.position or 0) + 1)
    return opened >= 0 and (beacons.calls is not None or (beacons.position is not None and opened <= beacons.position))


def section_tag(text: str, beacons: Outcome, mine: Outcome, ask: Ask) -> bool:
    """`<function_calls>` opens a section for us, and no call follows it; what stood open before it ends there."""
    if mine.position is None:
        return False
    if mine.code == "json.unexpected_end":
        return beacons.position == mine.position and text.startswith("<function_calls>", mine.position)
    before = text[: mine.position].rstrip()
    in_section = before.endswith(("<function_calls>", "<invoke")) and "<function_calls>" in before
    return mine.code == "tool_call.expected_markup" and in_section


def quoted_bracket(text: str, beacons: Outcome, mine: Outcome, ask: Ask) -> bool:
    """A tag of `<invoke>` holds a `>` between quotes, where beacon ends the tag."""
    if beacons.position is None or not text.startswith(("<invoke", "<parameter"), beacons.position):
        return False
    tag = text[beacons.position : text.find(">", beacons.position) + 1]
    return tag.count('"') % 2 == 1 or tag.count("'") % 2 == 1


def xml_long_value(text: str, beacons: Outcome, mine: Outcome, ask: Ask) -> bool:
    """A value of `<invoke>` goes on behind a closer that nothing legal follows, where beacon ends it."""
    if mine.calls is None:
        missing = beacons.code == "tool_call.unexpected_end" and beacons.position is not None
        closer = text.find("</invoke>", beacons.position or 0)
        return missing and mine.format == "xml_invoke" and 0 <= closer < (mine.position or 0)
    values = [v for call in mine.calls if call["format"] == "xml_invoke" for v in call["arguments"].values()]
    return any(isinstance(value, str) and re.search(r"</(?:invoke|parameter)>", value) for value in values)


def end_of_text(text: str, beacons: Outcome, mine: Outcome, ask: Ask) -> bool:
    """Both say that the JSON ends too early: we take the white space at the end for part of it."""
    if beacons.code == mine.code == "json.unexpected_end":
        return mine.position == len(text) and beacons.position == len(text.rstrip())
    codes = (beacons.code, mine.code) == ("json.unterminated_string", "json.control_character")
    return codes and not text[mine.position :].strip()


def list_item(text: str, beacons: Outcome, mine: Outcome, ask: Ask) -> bool:
    """One call of a JSON list is wrong: we point to it, beacon to where the JSON begins."""
    codes = {
        "tool_call.invalid_arguments",
        "tool_call.invalid_name",
        "tool_call.ambiguous_arguments",
        "tool_call.unrecognized",
    }
    if beacons.code != mine.code or mine.code not in codes:
        return False
    start, at = beacons.position, mine.position
    if start is None or at is None or start >= at:
        return False
    # An item that is no object is none of the calls.
    return text[start] in "[{" and (text[at] == "{" or (mine.code == "tool_call.unrecognized" and text[start] == "["))


def cut_at_closer(text: str, beacons: Outcome, mine: Outcome, ask: Ask) -> bool:
    """beacon cuts at the first closing tag and says that the JSON ends there; we read on and say what is wrong."""
    start, at = beacons.position, mine.position
    if start is None or at is None or not (mine.code or "").startswith("json."):
        return False
    rest = text[start:]
    closers = (*_CLOSERS, "<|python_tag|>", "<|eom_id|>", "<|eot_id|>") if mine.format == "llama" else _CLOSERS
    if beacons.code == "json.unterminated_string":
        return mine.code in _IN_STRING and any(closer in rest for closer in closers)
    if beacons.code != "json.unexpected_end" or not rest.lstrip().startswith(closers):
        return False
    if mine.code in {"json.invalid_number", "json.invalid_literal"} and _PART.fullmatch(text, at, start):
        return True  # a number or word that the tag cuts in two
    return 0 <= at - (len(text) - len(rest.lstrip())) <= rest.lstrip().startswith("[")


def bracket_name(text: str, beacons: Outcome, mine: Outcome, ask: Ask) -> bool:
    """A name with a line break is none for us; beacon takes whatever stands before the ``;``."""
    if mine.code != "tool_call.invalid_name" or mine.position is None:
        return False
    name, end, _ = text[mine.position :].partition(";")
    name = name.strip()
    if mine.format != "bracket" or not end or "\n" not in name:
        return False
    if beacons.calls is not None:
        return any(call["name"] == name for call in beacons.calls)
    return beacons.position is not None and beacons.position > mine.position  # what it then finds wrong


def later_error(text: str, beacons: Outcome, mine: Outcome, ask: Ask) -> bool:
    """beacon complains of JSON without any key of a call; we of the broken call behind it."""
    both = (beacons.code or "").startswith("json.") and (mine.code or "").startswith("json.")
    if not both or beacons.position is None or mine.position is None or mine.position <= beacons.position:
        return False
    return broken_fragment(text)[1] >= 0


def far_name(text: str, beacons: Outcome, mine: Outcome, ask: Ask) -> bool:
    """The JSON of a broken call has the key that beacon looks for only far behind its bracket."""
    if mine.position is None or not (mine.code or "").startswith("json."):
        return False
    start = fragment_start(text, mine)
    return start is not None and _CALL_KEY.search(text, start, start + 200) is None


def inside_broken(text: str, beacons: Outcome, mine: Outcome, ask: Ask) -> bool:
    """beacon finds a call, or a broken one, inside a broken list that is no list of calls; we read on behind it."""
    inner = fragment_start(text, beacons) if (beacons.code or "").startswith("json.") else None
    if inner is None and not any(call["format"] == "json" for call in beacons.calls or ()):
        return False
    for match in re.finditer(r"\[", text):
        start = match.start()
        said = theirs("[TOOL_CALLS]" + text[start:]).moved(start - len("[TOOL_CALLS]"))
        broken = (said.code or "").startswith("json.") and said.position is not None
        if not broken or _ONLY_OBJECTS.match(text, start):
            continue
        stop = said.position or 0
        if _CALL_KEY.search(text, start, stop) if inner is None else start < inner < stop:
            return True
    return False


def mistral_name(text: str, beacons: Outcome, mine: Outcome, ask: Ask) -> bool:
    """What stands between `[TOOL_CALLS]` and `[ARGS]` is no name; beacon takes it for one and reads on."""
    at = mine.position
    if mine.code == "json.expected_value" and at is not None and text.startswith("[TOOL_CALLS]", at - 1):
        at -= 1  # the second opener, which begins as a list does
    elif mine.code != "tool_call.unrecognized":
        return False
    if at is None or not text[:at].rstrip().endswith("[TOOL_CALLS]"):
        return False
    head = re.split(r"\[ARGS\]|\[CALL_ID\]", text[at:])[0].strip()
    if re.fullmatch(r"[\w.:/-]+", head):
        return False
    if beacons.calls is not None:
        return any(call["format"] == "mistral" and call["name"].startswith(head) for call in beacons.calls)
    return beacons.position is not None and beacons.position > at


def empty_tool_calls(text: str, beacons: Outcome, mine: Outcome, ask: Ask) -> bool:
    """A tag holds a message whose list of calls is empty: for us no call stands where one has to."""
    if mine.code != "tool_call.unrecognized" or mine.position is None or beacons.calls is None:
        return False
    return re.match(r'\{[^{}\[\]]*"tool_calls":\s*\[\s*\]', text[mine.position :]) is not None


def missing_args_mark(text: str, beacons: Outcome, mine: Outcome, ask: Ask) -> bool:
    """Both say that it is no call; we point behind the name and id that were read."""
    start, at = beacons.position, mine.position
    if not (beacons.code == mine.code == "tool_call.unrecognized") or start is None or at is None:
        return False
    return re.fullmatch(r"[\w.:/-]+\s*\[CALL_ID\]", text[start:at]) is not None


def list_call_by_call(text: str, beacons: Outcome, mine: Outcome, ask: Ask) -> bool:
    """An item of a [TOOL_CALLS] list is no call, and we say so before we come to where the JSON breaks."""
    start, at = mine.position, beacons.position
    both = (mine.code or "").startswith("tool_call.") and (beacons.code or "").startswith("json.")
    if not both or start is None or at is None or start >= at:
        return False
    opener = text.rfind("[TOOL_CALLS]", 0, start)
    return opener >= 0 and text[opener + len("[TOOL_CALLS]") : start].lstrip().startswith("[")


def semicolon(text: str, beacons: Outcome, mine: Outcome, ask: Ask) -> bool:
    """A `;` stands behind a <|python_tag|> call, and what follows it is no call."""
    start, at = beacons.position, mine.position
    stopped = beacons.code in {"json.trailing_characters", "tool_call.trailing_characters"}
    return stopped and mine.format == "llama" and text[start:at].lstrip().startswith(";")


def behind_white_space(text: str, beacons: Outcome, mine: Outcome, ask: Ask) -> bool:
    """Both say the same is wrong; we point behind the white space that stands before it."""
    start, at = beacons.position, mine.position
    return beacons.code == mine.code and start is not None and at is not None and text[start:at].isspace()


SIGHTS: dict[str, Callable[[str, Outcome, Outcome, Ask], bool]] = {
    "position_in_string": position_in_string,
    "unknown_family": unknown_family,
    "bracket_empty_name": bracket_empty_name,
    "bracket_name": bracket_name,
    "triple_quotes": triple_quotes,
    "long_integer": long_integer,
    "open_reasoning": open_reasoning,
    "truncated_markup": truncated_markup,
    "xml_end": xml_end,
    "xml_tag": xml_tag,
    "section_tag": section_tag,
    "quoted_bracket": quoted_bracket,
    "xml_long_value": xml_long_value,
    "end_of_text": end_of_text,
    "list_item": list_item,
    "cut_at_closer": cut_at_closer,
    "later_error": later_error,
    "far_name": far_name,
    "inside_broken": inside_broken,
    "mistral_name": mistral_name,
    "empty_tool_calls": empty_tool_calls,
    "missing_args_mark": missing_args_mark,
    "list_call_by_call": list_call_by_call,
    "semicolon": semicolon,
    "behind_white_space": behind_white_space,
}
