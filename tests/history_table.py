"""What becomes of histories: ``python tests/history_table.py`` prints it, and ends with 1 if anything goes unsaid.

(a) The ten turns of `turns.CONVERSATION` (parallel calls, an error and an image for a result, reasoning) as each
    provider has them, read to the neutral turns and written again: ``identity``, or the losses. "Anew" is without what
    the turns remember of their source; there the same turns may be written another way.
(b) The same between OpenAI's chat and five others, both ways: ``identity`` of all but ids, or the losses with their
    paths. What is gone, or new, without a loss that says so is ``UNSAID``.
(c) The planted faults of the recorded cases by their codes, for each provider that has the rule: how many, and how many
    of them `check_messages` finds. Histories without a fault have to be found clean.
"""

from __future__ import annotations

import copy
import json
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import turns
from toolglot import (
    Loss,
    Message,
    Provider,
    SystemMessage,
    ToolResult,
    Turn,
    WireProvider,
    check_messages,
    convert_messages,
    get_provider,
    providers,
)
from toolglot.providers._dialects import DIALECTS
from toolglot.providers._turns import SOURCE
from toolglot.providers._writing import Writing, pair, says_error

CASES = {case.wire: case for case in turns.cases()}
OTHERS = (Provider.ANTHROPIC, Provider.GOOGLE, Provider.OPENAI_RESPONSES, Provider.BEDROCK, Provider.MISTRAL)
THOUGHT = "Two lookups."
_SUMMARY = {"summary": [{"type": "summary_text", "text": THOUGHT}], "encrypted_content": "ZW5j"}
_THINKING = {"type": "thinking", "thinking": [{"type": "text", "text": THOUGHT}]}
# The reasoning of the third turn as each API's own: what stands first in the content, or an item before it.
PARTS: dict[str, dict[str, Any]] = {
    "anthropic": {"type": "thinking", "thinking": THOUGHT, "signature": "c2ln"},
    "bedrock": {"reasoningContent": {"reasoningText": {"text": THOUGHT, "signature": "c2ln"}}},
    "cohere": {"type": "thinking", "thinking": THOUGHT},
    "gemini": {"text": THOUGHT, "thought": True},
    "mistral": _THINKING,
    "mistral_conversations": _THINKING,
}
ITEMS: dict[str, dict[str, Any]] = {
    "gemini_interactions": {"type": "thought", "summary": [{"type": "text", "text": THOUGHT}], "signature": "ZW5j"},
    "openai_responses": {"type": "reasoning", "id": "rs_1", **_SUMMARY},
}
# Which loss says that a fact is gone.
SAID = {
    "reasoning": {"loss.reasoning"},
    "error": {"loss.error_flag"},
    "result's part": {"loss.part", "loss.moved"},
    "user": {"loss.part"},
}


def shared(provider: Provider) -> dict[str, Any]:
    """The conversation as the provider has it, with reasoning of its own if it has any."""
    wire = str(provider.wire_format)
    made: dict[str, Any] = copy.deepcopy(CASES[wire].data["written"])
    items = made[get_provider(provider).messages_member]
    spoken = next(item for item in items if "I look." in json.dumps(item))
    place = items.index(spoken)
    if wire in ITEMS:
        items.insert(place, ITEMS[wire])
    elif wire in PARTS:
        member = "parts" if wire == "gemini" else "content"
        said = spoken[member]
        spoken[member] = [PARTS[wire], *([{"type": "text", "text": said}] if isinstance(said, str) else said)]
    elif wire == "openai_chat" and (provider not in DIALECTS or DIALECTS[provider].echo):
        spoken["reasoning_content"] = THOUGHT
    return made


def as_text(losses: Iterable[Loss]) -> str:
    """Losses in one line."""
    return "; ".join(f"{loss.code} {loss.path} ({loss.detail})" for loss in losses) or "identity"


def anew(read: list[Turn]) -> list[Turn]:
    """The turns without what they remember of their source."""
    return [replace(turn, extra={key: value for key, value in turn.extra.items() if key != SOURCE}) for turn in read]


def facts(read: list[Turn]) -> Counter[tuple[str, str]]:
    """What a history says, whatever the ids are and however it is cut into messages: each fact with its kind."""
    found: Counter[tuple[str, str]] = Counter()
    for number, turn in enumerate(read):
        told = turns.told(turn)
        if isinstance(turn, Message):
            for part in told["assistant"]:
                kind = next(iter(part))
                found["reasoning" if kind == "reasoning" else "assistant", _json({**part, "id": None})] += 1
            behind = read[number + 1 :]
            until = next((place for place, one in enumerate(behind) if isinstance(one, Message)), len(behind))
            results = [one for one in behind[:until] if isinstance(one, ToolResult)]
            for result, call in pair(results, turn.tool_calls, Writing()):
                failed = result.is_error or says_error(result.content)
                text = turns.text_of(result.content)
                text = text.removeprefix("Error: ") if failed else text
                name = None if call is None else call.name
                found["result", _json([name, text])] += 1
                if failed:
                    found["error", _json(name)] += 1
                parts = turns.told(result)["result"]
                for part in parts if isinstance(parts, list) and not isinstance(result.content, dict) else ():
                    if isinstance(part, dict) and "text" not in part:
                        found["result's part", _json(part)] += 1
        elif not isinstance(turn, ToolResult):
            kind = "system" if isinstance(turn, SystemMessage) else "user"
            content = told[kind]
            for part in [{"text": content}] if isinstance(content, str) else content:
                found[kind, _json(part)] += 1
    return found


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def unsaid(before: list[Turn], after: list[Turn], losses: Iterable[Loss]) -> list[str]:
    """What is gone without a loss, or new without anything that was moved."""
    codes = {loss.code for loss in losses}
    old, new = facts(before), facts(after)
    gone = [fact for kind, fact in old - new if not SAID.get(kind, set()) & codes]
    made = [] if "loss.moved" in codes else [fact for _, fact in new - old]
    return [*gone, *made]


# -- of one provider


def there_and_back(provider: Provider) -> tuple[str, str, str, bool]:
    """What becomes of the conversation as the provider has it, of that written anew, and of its own recorded history;
    and whether all of it is as it has to be.
    """
    parser = get_provider(provider)
    payload = shared(provider)
    read = parser.history(payload)
    written = parser.messages(read)
    back = [*read.losses, *written.losses]
    same = dict(written) == payload
    fresh = parser.messages(anew(read))
    lost = unsaid(read, parser.history(fresh), fresh.losses)
    case = CASES[str(parser.wire)]
    own = parser.history(case.data["history"])
    again = parser.messages(own)
    held = {key: case.data["history"][key] for key in again}
    kept = held == dict(again)
    return (
        as_text(back) if same else "DIFFERS",
        f"UNSAID {lost}" if lost else _anew(dict(fresh) == payload, fresh.losses),
        as_text(again.losses) if kept else "DIFFERS",
        same and not back and not lost and kept and not again.losses,
    )


def _anew(same: bool, losses: tuple[Loss, ...]) -> str:
    return as_text(losses) if losses or same else "the same turns"


# -- from one to another


def between(source: Provider, target: Provider) -> tuple[list[str], list[str]]:
    """What is lost from one to another; and what is lost there unsaid."""
    payload = shared(source)
    written = convert_messages(payload, source, target)
    before, after = get_provider(source).history(payload), get_provider(target).history(dict(written))
    return [as_text([loss]) for loss in written.losses] or ["identity"], unsaid(before, after, written.losses)


# -- faults


def planted(provider: Provider) -> tuple[Counter[str], Counter[str], int]:
    """The planted faults of the provider's wire format for which it has a rule, by code; those of them that are found;
    and how much is found in histories that have no fault, by the rules of the wire format.
    """
    parser: WireProvider = get_provider(provider)
    case = CASES[str(parser.wire)]
    rules = parser.rules if parser.roles is not None else parser.rules.keys() - {"history.unknown_role"}
    there: Counter[str] = Counter()
    found: Counter[str] = Counter()
    for fault in case.data["faults"]:
        if fault.get("provider", provider) != provider:
            continue
        left = Counter(
            (one.code, one.path) for one in check_messages(fault["messages"], provider, tools=fault.get("tools"))
        )
        for code, path, _ in fault["problems"]:
            if code in rules:
                there[code] += 1
                found[code] += left[code, path] > 0
                left[code, path] -= 1
    clean = [shared(provider), case.data["history"], parser.messages(turns.CONVERSATION)]
    wrong = [one for history in clean for one in check_messages(history, provider, tools=turns.TOOLS)]
    told = [(code, path) for code, path in case.data.get("problems", ()) if code in rules]  # of its own history
    return there, found, sum(one.code in case.parser.rules for one in wrong) - len(told)


def main() -> int:
    """Print the tables; 1 if something is lost unsaid, or a planted fault is not found."""
    bad = 0
    print("(a) ten turns from each provider to the neutral ones and back; written anew; its own recorded history")
    for provider in providers():
        back, fresh, own, good = there_and_back(provider)
        bad += not good
        print(f"{provider:24}{back:12}{fresh:18}{own:12}")
    print("\n(b) ten turns from one provider to another")
    for other in OTHERS:
        for source, target in ((Provider.OPENAI, other), (other, Provider.OPENAI)):
            losses, lost = between(source, target)
            bad += len(lost)
            print(f"{source} -> {target}: {losses[0] if losses == ['identity'] else ''}".rstrip())
            for line in (*(losses if losses != ["identity"] else ()), *(f"UNSAID {one}" for one in lost)):
                print(f"    {line}")
    print("\n(c) planted faults: found / planted, and by code")
    for provider in providers():
        there, found, wrong = planted(provider)
        bad += wrong + (found != there)
        codes = ", ".join(f"{code.removeprefix('history.')} {found[code]}/{there[code]}" for code in sorted(there))
        print(f"{provider:24}{found.total()}/{there.total()}, {wrong} where there is none: {codes}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
