"""Every golden case damaged and cut in every place: no mend makes a call that was not meant. Too long for every change.

python tests/repair_sweep.py [--sample N] [--only damage|cuts] [FORMAT ...]    N damaged and N cut texts of each case
"""

from __future__ import annotations

import argparse
import random
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import toolglot
from repairs import TOOLS
from toolglot import golden

GOLDEN = [case for folder in golden.folders() for case in golden.load_folder(golden.FOLDER / folder)]
# Formats of which a cut output may hold a call that the whole does not, and why.
CUT_EXEMPT: dict[str, str] = {}


def calls(message: toolglot.Message) -> list[Any]:
    """What of a message's calls must be the same."""
    return [(call.name, call.arguments, call.input) for call in message.tool_calls]


def sound(case: golden.GoldenCase) -> bool:
    """Whether it is one to damage."""
    return bool(case.expected["calls"]) and not case.expected["errors"] and len(case.text) <= 400


def damaged(text: str) -> Iterator[str]:
    """The text with one thing wrong, in every place and way."""
    for i, char in enumerate(text):
        if not char.isalnum():
            yield text[:i] + text[i + 1 :]
        if char in "}])":
            yield f"{text[:i]},{text[i:]}"
            yield f"{text[:i]}{char}{text[i:]}"
        if char in "=:":
            yield f"{text[:i]}{':' if char == '=' else '='}{text[i + 1 :]}"
        if char == "," and text[:i].replace('\\"', "").count('"') % 2 == 0:
            yield f"{text[:i]}, // note\n{text[i + 1 :]}"
            yield f"{text[:i]}, # note\n{text[i + 1 :]}"
    for found in re.finditer(r'"((?:[^"\\]|\\.)*)"', text):
        yield f"{text[: found.start()]}'{found[1]}'{text[found.end() :]}"
        yield text[: found.start()] + found[1] + text[found.end() :]
    for found in re.finditer(r'\\([nt"])', text):
        plain = {"n": "\n", "t": "\t", '"': '"'}[found[1]]
        yield text[: found.start()] + plain + text[found.end() :]
    for found in re.finditer(r"\b(true|false|null|True|False|None)\b", text):
        words = {"true": "True", "false": "False", "null": "None", "True": "true", "False": "false", "None": "null"}
        yield text[: found.start()] + words[found[0]] + text[found.end() :]
    for found in re.finditer(r"<[^<>]{1,60}>|\[[A-Z_]+\]", text):
        yield text[: found.start()] + text[found.end() :]
        yield f"{text[: found.end() - 1]} {text[found.end() - 1 :]}"
        word = re.match(r"\W*\w+", found[0])  # what may follow in the tag is data, a name or a key
        if word is not None:
            yield text[: found.start()] + word[0].title() + text[found.start() + word.end() :]
        if "=" in found[0]:
            yield text[: found.start()] + found[0].replace("=", " = ") + text[found.end() :]
            yield text[: found.start()] + found[0].replace('"', "") + text[found.end() :]
            yield text[: found.start()] + re.sub('="?([^">]*)"?>', r"='\1'>", found[0]) + text[found.end() :]


def _some(rng: random.Random, texts: Sequence[Any], most: int | None) -> Sequence[Any]:
    return texts if most is None else rng.sample(texts, min(len(texts), most))


def streamed(text: str, size: int = 1, **options: Any) -> tuple[toolglot.Message, list[toolglot.Event]]:
    """The message and the events of a text in pieces."""
    finish_reason = options.pop("finish_reason", None)
    parser = toolglot.StreamParser(**options)
    events = [event for i in range(0, len(text), size) for event in parser.feed(text[i : i + size])]
    events += parser.close(finish_reason)
    return parser.message, events


def same(one: toolglot.Message, other: toolglot.Message) -> bool:
    """Whether two messages are equal, also in what is certain of broken calls."""
    certain = [error.partial_arguments for error in one.errors]
    return one == other and certain == [error.partial_arguments for error in other.errors]


def check_damage(folder: str, most: int | None = None) -> tuple[Counter[str], list[str]]:
    """Damage the sound cases of a format: how often what became of them, and what is wrong with that."""
    rng = random.Random(folder)
    counts: Counter[str] = Counter()
    wrong: list[str] = []
    for case in (case for case in GOLDEN if case.format == folder and sound(case)):
        for tools in (case.options.get("tools"), TOOLS):
            options = {**case.options, "tools": tools, "format": folder}
            meant = toolglot.parse(case.text, on_error="collect", **options)
            if meant.errors:
                continue
            for text in _some(rng, list(damaged(case.text)), most):
                counts["damaged"] += 1
                message = toolglot.parse(text, on_error="repair", **options)
                strict = toolglot.parse(text, on_error="collect", **options)
                counts["broken or text"] += len(strict.tool_calls) < len(meant.tool_calls)
                if not same(streamed(text, 5, on_error="repair", **options)[0], message):
                    wrong.append(f"{case}: streamed it is another message: {text!r}")
                if not message.repairs:
                    if message != strict:
                        wrong.append(f"{case}: nothing was mended, and it is another message: {text!r}")
                    continue
                counts["mended"] += 1
                known = calls(meant) + calls(strict)
                unopened = any(repair.code == "repair.missing_opener" for repair in message.repairs)
                if [call for call in calls(message) if call not in known]:
                    wrong.append(f"{case}: another call: {text!r}: {calls(message)}")
                if len(message.errors) >= len(strict.errors) + unopened:  # without its opener it was text
                    wrong.append(f"{case}: as many errors: {text!r}")
    return counts, wrong


def check_cuts(folder: str, most: int | None = None) -> tuple[Counter[str], list[str]]:
    """Cut the cases of a format: each call of a cut text is one of the whole text, in every mode."""
    rng = random.Random(folder)
    counts: Counter[str] = Counter()
    wrong: list[str] = []
    for case in (case for case in GOLDEN if case.format == folder and folder not in CUT_EXEMPT):
        options = {**case.options, "format": folder}
        options.pop("finish_reason", None)
        known = {mode: calls(toolglot.parse(case.text, on_error=mode, **options)) for mode in ("collect", "repair")}
        for size in _some(rng, range(len(case.text)), most):
            counts["cuts"] += 1
            cut = case.text[:size]
            for mode in ("raise", "collect", "repair"):
                try:
                    message = toolglot.parse(cut, finish_reason="length", on_error=mode, **options)
                except toolglot.ParseError as error:
                    assert error.message is not None
                    message = error.message
                if mode == "repair":
                    if not same(streamed(cut, 5, finish_reason="length", on_error=mode, **options)[0], message):
                        wrong.append(f"{case}: streamed a cut text is another message: {cut!r}")
                meant = known["repair"] if mode == "repair" else known["collect"]
                if [call for call in calls(message) if call not in meant]:
                    wrong.append(f"{case}: {mode}: a call that was cut off: {cut!r}: {calls(message)}")
    return counts, wrong


# What a call without its opener is made of, and what may be taken for it.
PIECES = (
    *("<|tool_calls_section_begin|>", "<|tool_call_begin|>", "functions.get_weather:0", "<|tool_call_argument_begin|>"),
    *('{"city": "Paris"}', "<|tool_call_end|>", "<|tool_calls_section_end|>", "<tool_call>", "get_weather", "\n"),
    *("<arg_key>", "city", "</arg_key>", "<arg_value>", "Paris", "</arg_value>", "</tool_call>", " text ", "call:"),
    *('{"name": "get_weather", "arguments": ', "}", "get_weather{", 'city:<|"|>Paris<|"|>}', "<tool_call|>", "{", "'"),
    *('<invoke name="get_weather">', '<parameter name="city">', "</parameter>", "</invoke>", "<minimax:tool_call>"),
    *("</minimax:tool_call>", "<think>", "</think>", '"', ",", "(", ")", "function", "```json\n", "\n```"),
    *("<｜tool▁call▁begin｜>", "<｜tool▁sep｜>", "<｜tool▁call▁end｜>", "[get_weather(", "city='Paris'", ")]"),
)
MIXED = (None, "deepseek_v3", "gemma4", "glm45", "hermes", "kimi_k2", "minimax_m2", "pythonic", "qwen3_coder")


def tiles(message: toolglot.Message, text: str) -> bool:
    """Whether parts, errors and separators lie side by side and are all of the text."""
    spans = [part.span for part in message.parts] + [error.span for error in message.errors]
    at = 0
    for start, end in sorted([span for span in spans if span is not None] + message.separators):
        at = end if start == at else -1
    return at == len(text)


def check_mixed(format: str | None, count: int) -> list[str]:
    """Read pieces of markup in any order: streamed it is the same, and all of it is in a part, separator or error."""
    rng = random.Random(str(format))
    wrong: list[str] = []
    options: dict[str, Any] = {"format": format, "tools": TOOLS, "on_error": "repair", "generation_prompt": ""}
    for _ in range(count):
        text = "".join(rng.choice(PIECES) for _ in range(rng.randrange(3, 16)))
        message = toolglot.parse(text, **options)
        also, events = streamed(text, rng.choice((1, 2, 5)), **options)
        ended = [event.call for event in events if isinstance(event, toolglot.ToolCallEnd)]
        if also != message or ended != message.tool_calls:
            wrong.append(f"{format}: streamed it is another message: {text!r}")
        if not tiles(message, text):
            wrong.append(f"{format}: the spans do not tile it: {text!r}")
    return wrong


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the checks; 1 if one fails."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sample", type=int)
    parser.add_argument("--only", choices=("damage", "cuts"))
    parser.add_argument("formats", nargs="*")
    options = parser.parse_args(arguments)
    total: Counter[str] = Counter()
    wrong: list[str] = []
    for folder in options.formats or golden.folders():
        for name, check in (("damage", check_damage), ("cuts", check_cuts)):
            if options.only not in (None, name):
                continue
            counts, found = check(folder, options.sample)
            total += counts
            wrong += found
            for line in found:
                print(line, flush=True)
    mixed = 20 * (options.sample or 100)
    for format in MIXED if options.only is None else ():
        found = check_mixed(format, mixed)
        total["mixed"] += mixed
        wrong += found
        for line in found:
            print(line, flush=True)
    print(", ".join(f"{count} {what}" for what, count in total.items()), f"- {len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
