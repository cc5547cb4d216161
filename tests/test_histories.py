"""Histories: to the neutral turns and back, to every other API, what an API would refuse, and repairs."""

from __future__ import annotations

import copy
import json
import pickle
import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import turns
from effort import full_or
from toolglot import (
    CallPart,
    ConversionError,
    FilePart,
    ImagePart,
    Message,
    OpaquePart,
    Problem,
    Provider,
    ReasoningPart,
    SystemMessage,
    TextPart,
    ToolCall,
    ToolglotError,
    ToolResult,
    UserMessage,
    check_messages,
    convert_messages,
    get_provider,
    providers,
)
from toolglot.errors import PROBLEMS
from toolglot.history import Turns
from toolglot.providers._check import check_turns
from toolglot.providers._detect_history import detect_history
from toolglot.providers._history import Histories
from toolglot.providers._payload import json_path
from toolglot.providers._repair import REPAIRS
from toolglot.providers._turns import SOURCE
from turns import CONVERSATION, PNG, TOOLS, Case, answers, told

CASES = turns.cases()
FAULTS = [pytest.param(case, fault, id=f"{case}: {fault['name']}") for case in CASES for fault in case.data["faults"]]


def said(losses: Any) -> list[list[str]]:
    return [[loss.code, loss.path] for loss in losses]


def held(case: Case) -> dict[str, Any]:
    """The members of the case's own history that hold the messages."""
    parser = case.parser
    names = (parser.messages_member, parser.system_member, *case.data["written"])
    return {key: value for key, value in case.data["history"].items() if key in names}


def test_who_reads_histories_has_cases() -> None:
    read = {str(provider.wire_format) for provider in providers() if reads(get_provider(provider))}
    assert {case.wire for case in CASES} == read


def reads(parser: Any) -> bool:
    return type(parser).read_turn is not Histories.read_turn


# -- one conversation for everyone


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_conversation_is_written(case: Case) -> None:
    before = copy.deepcopy(CONVERSATION)
    written = case.parser.messages(CONVERSATION)
    assert written == case.data["written"]
    assert said(written.losses) == case.data["losses"]
    assert before == CONVERSATION
    assert check_messages(written, case.parser.provider, tools=TOOLS) == []
    if written.losses:
        with pytest.raises(ConversionError) as info:
            case.parser.messages(CONVERSATION, strict=True)
        assert info.value.losses == written.losses


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_conversation_is_read_again(case: Case) -> None:
    """Every call has its arguments and its result; what was lost was said when it was written."""
    read = case.parser.history(case.data["written"], strict=True)
    texts = case.data.get("results", [text for _, _, text in answers(CONVERSATION)])
    assert answers(read) == [(*call[:2], text) for call, text in zip(answers(CONVERSATION), texts, strict=True)]
    assert case.parser.messages(read, strict=True) == case.data["written"]


# -- an API's own


def refused(payload: Any, case: Case) -> list[list[str]]:
    """Code and place of what the case's own API would refuse."""
    found = check_messages(payload, case.parser.provider, tools=TOOLS)
    return [[problem.code, problem.path] for problem in found]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_own_history(case: Case) -> None:
    parser, payload = case.parser, case.data["history"]
    read = parser.history(payload)
    assert [told(turn) for turn in read] == case.data["turns"]
    assert said(read.losses) == case.data.get("read_losses", [])
    for form in (json.dumps(payload), json.dumps(payload).encode()):
        assert parser.history(form) == read
    # It goes back as it was, also from a copy.
    for same in (read, list(read), pickle.loads(pickle.dumps(read)), copy.deepcopy(read)):
        written = parser.messages(same, strict=True)
        assert written == held(case)
    assert refused(payload, case) == case.data.get("problems", [])


@pytest.mark.parametrize("case", CASES, ids=str)
def test_only_what_was_changed_is_written_anew(case: Case) -> None:
    parser = case.parser
    member = parser.messages_member
    read = parser.history(case.data["history"])
    items = held(case)[member]
    written = parser.messages([*read, Message(content="Well."), UserMessage("So?")])
    assert written[member][: len(items)] == items
    assert answers(parser.history(written))[: len(answers(read))] == answers(read)
    # A message that was changed says what it says now, and nothing of what it said.
    last = max(number for number, turn in enumerate(read) if isinstance(turn, Message))
    read[last] = Message(content="Something else.")
    text = json.dumps(parser.messages(read))
    assert "Something else." in text
    # One whose own messages were changed under our hands as well.
    payload = copy.deepcopy(case.data["history"])
    read = parser.history(payload)
    before = answers(parser.history(parser.messages(read)))
    payload[member][-1].clear()
    assert answers(parser.history(parser.messages(read))) == before


def said_in(turns: list[Any]) -> list[str]:
    """All that is said in a history, whatever it is cut into: the assistant's texts that follow each other are one, and
    of what the system says each line is by itself.
    """
    found: list[dict[str, Any]] = []
    for turn in turns:
        one = told(turn)
        kind = next(iter(one))
        content = one[kind] if isinstance(one[kind], list) else [{"text": one[kind]}]
        for place, part in enumerate(content):
            part = {key: value for key, value in part.items() if key != "id"}
            if place and kind == "assistant" and part.keys() == {"text"} and "text" in found[-1]:
                found[-1]["text"] += part["text"]
            elif kind == "system" and "text" in part:
                found += [{"in": kind, **part, "text": line} for line in part["text"].split("\n") if line]
            else:
                found.append({"in": kind, "error": one.get("error", False), **part})
    return sorted(json.dumps(part, sort_keys=True) for part in found)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_what_is_written_anew_says_all_that_was_read(case: Case) -> None:
    """Of its own nothing is lost, even if no message is left: messages of a kind that nobody knows, too."""
    read = case.parser.history(case.data["history"])
    made = [replace(turn, extra={key: value for key, value in turn.extra.items() if key != SOURCE}) for turn in read]
    written = case.parser.messages(made)
    assert {loss.detail for loss in written.losses} <= {"now part of the one system prompt"}
    assert said_in(case.parser.history(written)) == said_in(read)
    assert refused(written, case) == case.data.get("problems", [])


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_history_may_be_trimmed_anywhere(case: Case) -> None:
    """Whatever is left out of the turns: it is written, and read again with all calls and results that are left."""
    parser = case.parser
    read = parser.history(case.data["history"])
    for start in range(len(read)):
        for end in range(start + 1, len(read) + 1):
            left = read[start:end]
            try:
                written = parser.messages(left)
            except ConversionError as error:
                assert error.code in ("conversion.missing_id", "conversion.missing_name")  # an orphan result
                continue
            again = parser.history(written)
            assert sum(isinstance(turn, ToolResult) for turn in again) == sum(
                isinstance(turn, ToolResult) for turn in left
            )
            mended = parser.messages(left, repair=True)
            assert unmended(check_messages(mended, parser.provider, tools=TOOLS)) == []


# -- from everyone to everyone


def unmended(problems: list[Problem]) -> list[Problem]:
    """The problems that there is a repair for."""
    return [problem for problem in problems if problem.code.removeprefix("history.") in REPAIRS]


def plain(call: tuple[str, dict[str, Any], str | None]) -> tuple[str, dict[str, Any]]:
    """Name and arguments; free text is a string called input where an API has no such calls."""
    name, arguments, _ = call
    return name, {} if arguments.keys() == {"input"} else arguments


@pytest.mark.parametrize("target", CASES, ids=str)
@pytest.mark.parametrize("source", CASES, ids=str)
def test_every_pair(source: Case, target: Case) -> None:
    for payload in (source.data["written"], source.data["history"]):
        before = copy.deepcopy(payload)
        written = convert_messages(payload, source.parser.provider, target.parser.provider)
        assert payload == before
        read = source.parser.history(payload)
        again = target.parser.history(json.loads(json.dumps(written)))
        assert [plain(call) for call in answers(again)] == [plain(call) for call in answers(read)]
        provider = target.parser.provider
        # What the API refuses of its own stays; the rest can be mended, such as Mistral's user behind a result.
        own = source.data.get("problems", []) if source is target and payload is source.data["history"] else []
        problems = check_messages(written, provider, tools=TOOLS)
        left = [problem for problem in problems if problem not in unmended(problems)]
        assert [[problem.code, problem.path] for problem in left] == own
        mended = convert_messages(payload, source.parser.provider, provider, repair=True)
        assert refused(mended, target) == own
        if source.wire != target.wire:
            text = json.dumps(written)
            for secret in (
                "signature",
                "srvtoolu_",
                "ZW5j",
                "cache_control",
                "refusal",
                "audio_1",
                "reasoning_details",
                "cachePoint",
                "qualifiers",
            ):
                assert secret not in text.replace("skip_thought_signature_validator", "")


@pytest.mark.parametrize("case", CASES, ids=str)
def test_detection(case: Case) -> None:
    for payload in (case.data["history"], case.data["written"]):
        found = detect_history(payload)
        assert get_provider(found).wire is case.parser.wire or found == case.data.get("detect")
        assert convert_messages(payload, target="openai") == convert_messages(payload, found, "openai")


# -- what is wrong


@pytest.mark.parametrize(("case", "fault"), FAULTS)
def test_faults(case: Case, fault: dict[str, Any]) -> None:
    provider = fault.get("provider", case.parser.provider)
    found = check_messages(fault["messages"], provider, tools=fault.get("tools"))
    assert [[problem.code, problem.path] for problem in found] == [problem[:2] for problem in fault["problems"]]
    rules = get_provider(provider).rules
    for problem, (_, _, word) in zip(found, fault["problems"], strict=True):
        assert word in problem.detail
        assert problem.rule == rules[problem.code]
    # Unrepaired it goes back as it was.
    messages = fault["messages"]
    parser = get_provider(provider)
    written = parser.messages(parser.history(messages))
    messages = messages.get("params", messages) if isinstance(messages, dict) else messages  # of JSON-RPC
    assert written[parser.messages_member] == (
        messages[parser.messages_member] if isinstance(messages, dict) else messages
    )


@pytest.mark.parametrize(("case", "fault"), [fault for fault in FAULTS if "repaired" in fault.values[1]])
def test_repairs(case: Case, fault: dict[str, Any]) -> None:
    provider = fault.get("provider", case.parser.provider)
    written = convert_messages(fault["messages"], provider, provider, repair=True)
    assert written == fault["repaired"]
    assert said(written.repairs) == fault["repairs"]
    assert check_messages(written, provider) == []
    # Only what was asked for.
    for name in REPAIRS:
        one = convert_messages(fault["messages"], provider, provider, repair=[name])
        assert {made.code for made in one.repairs} <= {f"history.{name}"}


def test_repairs_are_documented() -> None:
    page = (turns.FOLDER.parent.parent / "docs" / "histories.md").read_text("utf-8")
    assert dict(re.findall(r"^\| `([a-z_]+)` \| (.*) \|$", page, re.MULTILINE)) == REPAIRS


def test_every_problem_is_planted() -> None:
    planted = {problem[0] for case in CASES for fault in case.data["faults"] for problem in fault["problems"]}
    assert set(PROBLEMS) - planted == set()
    assert {f"history.{name}" for name in REPAIRS} <= set(PROBLEMS)


class Asks(type(get_provider("openai"))):  # type: ignore[misc]
    """OpenAI's, but with the rules that other APIs have."""

    def __init__(self) -> None:
        super().__init__(Provider.OPENAI)
        self.rules = {"history.user_after_tool": "after", "history.result_order": "order"}


def test_rules_are_data() -> None:
    asks = Asks()
    call = ToolCall("f", {}, "c1")
    other = ToolCall("g", {}, "c2")
    turns = [
        Message(tool_calls=[call, other]), ToolResult("c2", "2"), ToolResult("c1", "1"), UserMessage("Go on"),
    ]  # fmt: skip
    messages = [
        *get_provider("openai").messages(turns[:1])["messages"],
        {"role": "tool", "tool_call_id": "c2", "content": "2"},
        {"role": "tool", "tool_call_id": "c1", "content": "1"},
        {"role": "user", "content": "Go on"},
    ]
    found = check_turns(asks, asks.history(messages), None)
    assert found == [
        Problem("history.result_order", "$[2]", "the result of 'c1' comes after that of a later call", "order"),
        Problem("history.user_after_tool", "$[3]", "it stands directly behind a result", "after"),
    ]
    written = asks.messages(turns, repair=["user_after_tool"])
    assert [message["role"] for message in written["messages"]] == ["assistant", "tool", "tool", "assistant", "user"]
    assert said(written.repairs) == [["history.user_after_tool", "$[3]"]]
    assert check_turns(asks, asks.history(written), None) == []
    assert "assistant" not in [message["role"] for message in asks.messages(turns)["messages"][3:]]


# -- ids


def ids_of(written: Any) -> tuple[list[str], list[str]]:
    """The ids of calls and of results in OpenAI's messages."""
    messages = written["messages"]
    calls = [call["id"] for message in messages for call in message.get("tool_calls", ())]
    return calls, [message["tool_call_id"] for message in messages if message["role"] == "tool"]


def test_ids_that_come_again_are_paired_by_the_turn() -> None:
    history = []
    for number in range(3):
        history += [Message(tool_calls=[ToolCall("f", {"n": number}, "call_0")]), ToolResult("call_0", str(number))]
    calls, results = ids_of(get_provider("openai").messages(history))
    assert calls == results == ["call_0", "call_0_2", "call_0_3"]
    read = get_provider("openai").history(get_provider("openai").messages(history))
    assert answers(read) == [("f", {"n": 0}, "0"), ("f", {"n": 1}, "1"), ("f", {"n": 2}, "2")]


def test_calls_without_ids_get_some() -> None:
    history = [
        Message(tool_calls=[ToolCall("f", {"n": 1}), ToolCall("f", {"n": 2}), ToolCall("g", {})]),
        ToolResult(None, "of g", "g"),
        ToolResult(None, "first", "f"),
        ToolResult(None, "second", "f"),
        UserMessage("Again"),
        Message(tool_calls=[ToolCall("f", {"n": 3}, "call_0")]),
        ToolResult("call_0", "third"),
    ]
    written = get_provider("openai").messages(history)
    calls, results = ids_of(written)
    assert calls == results == ["call_0", "call_1", "call_2", "call_0_2"]
    assert [message["content"] for message in written["messages"] if message["role"] == "tool"] == [
        "first", "second", "of g", "third",
    ]  # fmt: skip
    assert written.losses == ()


@pytest.mark.parametrize("provider", [case.parser.provider for case in CASES])
def test_ids_never_collide(provider: Provider) -> None:
    """Nor do those that are made of ids that are not legal with ids that are."""
    parser = get_provider(provider)
    wanted = ["a b", "a|b", "x" * 100, "x" * 101, "é", ""]
    if parser.call_ids is not None:
        wanted += [parser.call_ids.fit("a b"), parser.call_ids.fit("a|b"), "call_5"]
    calls = [ToolCall("f", {"n": number}, id) for number, id in enumerate(dict.fromkeys(wanted))]
    history = [Message(tool_calls=calls), *(ToolResult(call.id, str(call.arguments["n"])) for call in calls[:5])]
    history += [ToolResult(call.id, str(call.arguments["n"])) for call in calls[6:]]
    read = parser.history(parser.messages(history))
    assert [found for found in answers(read) if found[2] is not None] == [
        ("f", {"n": number}, str(number)) for number in range(len(calls)) if number != 5
    ]
    made = [call.id for turn in read if isinstance(turn, Message) for call in turn.tool_calls if call.id is not None]
    assert len(set(made)) == len(made)
    assert len(made) == (0 if parser.wire == "gemini" else len(calls))  # which takes back its own only


def test_own_ids_stay_and_others_keep_clear_of_them() -> None:
    openai = get_provider("openai")
    own = openai.history([
        {"role": "assistant", "content": None, "tool_calls": [
            {"id": "call_0", "type": "function", "function": {"name": "f", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "call_0", "content": "1"},
    ])  # fmt: skip
    foreign = [Message(tool_calls=[ToolCall("g", {}, "call_0")]), ToolResult("call_0", "2")]
    calls, results = ids_of(openai.messages([*foreign, *own]))
    assert calls == results == ["call_0_2", "call_0"]


# -- what is built by hand, or comes from a response


def test_a_response_and_its_results() -> None:
    """No history was read: what `parse` gave goes back with the results, signature and all."""
    claude = get_provider("anthropic")
    blocks = [
        {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"},
        {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {"n": 1}},
    ]
    message = claude.parse({"role": "assistant", "stop_reason": "tool_use", "content": blocks})
    turns = [UserMessage("Hi"), message, ToolResult.success("toolu_1", {"n": 2})]
    assert claude.messages(turns, strict=True)["messages"] == [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": blocks},
        claude.results(turns[2], message),
    ]
    openai = get_provider("openai").messages(turns)
    assert said(openai.losses) == [["loss.reasoning", "$[1].parts[0]"]]
    assert [one["role"] for one in openai["messages"]] == ["user", "assistant", "tool"]


def test_losses_are_said() -> None:
    turns = [
        SystemMessage([TextPart("A", extra={"anthropic": {"cache_control": {}}})], {"openai_chat": {"name": "n"}}),
        UserMessage([OpaquePart({"x": 1}, None, {"gemini": {}})]),
        Message(tool_calls=[ToolCall("f", {}, "c1", extra={"gemini": {"thoughtSignature": "c2ln"}})]),
        UserMessage("wait"),
        ToolResult("c1", "no", is_error=True, extra={"anthropic": {"cache_control": {}}}),
        ToolResult("zz", [TextPart("lost"), OpaquePart({}, None, {"anthropic": {}})]),
        SystemMessage("B"),
        Message(tool_calls=[ToolCall("f", {}, "c2")]),
        UserMessage("bye"),
    ]
    written = get_provider("openai").messages(turns)
    assert said(written.losses) == [
        ["loss.extra", "$[0]"],
        ["loss.part", "$[1].content[0]"],
        ["loss.extra", "$[2]"],
        ["loss.extra", "$[4]"],
        ["loss.error_flag", "$[4]"],
        ["loss.moved", "$[4]"],
        ["loss.part", "$[5].content[1]"],
        ["loss.result_unmatched", "$[5]"],
        ["loss.result_missing", "$[7]"],
    ]
    assert [message["role"] for message in written["messages"]] == [
        "system", "assistant", "tool", "user", "tool", "system", "assistant", "user",
    ]  # fmt: skip
    claude = get_provider("anthropic").messages(turns)
    assert claude["system"] == [{"type": "text", "text": "A", "cache_control": {}}, {"type": "text", "text": "B"}]
    assert ["loss.moved", "$[6]"] in said(claude.losses)
    with pytest.raises(ConversionError) as info:
        get_provider("openai").messages(turns, strict=True)
    assert info.value.losses == written.losses


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_text_behind_a_call_stays_there_or_is_said(case: Case) -> None:
    parts = [CallPart(ToolCall("f", {}, "c1")), TextPart("after"), CallPart(ToolCall("g", {}, "c2"))]
    turns = [UserMessage("Hi"), Message(parts=parts), ToolResult("c1", "1"), ToolResult("c2", "2"), UserMessage("So?")]
    parser = case.parser
    written = parser.messages(turns)
    read = next(turn for turn in parser.history(written) if isinstance(turn, Message))
    kinds = [type(part) for part in read.parts]
    assert sorted(kind.__name__ for kind in kinds) == ["CallPart", "CallPart", "TextPart"]
    assert (["loss.moved", "$[1]"] in said(written.losses)) == (kinds != [CallPart, TextPart, CallPart])


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_result_that_nobody_can_place_is_left_out_and_said(case: Case) -> None:
    parser = case.parser
    turns = [UserMessage("Hi"), ToolResult(None, "1"), Message(content="Well."), UserMessage("So?")]
    written = parser.messages(turns)
    assert said(written.losses) == [["loss.result_unmatched", "$[1]"], ["loss.part", "$[1]"]]
    assert len(parser.history(written)) == 3
    with pytest.raises(ConversionError):
        parser.messages(turns, strict=True)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_message_of_which_nothing_is_left_is_not_written(case: Case) -> None:
    """What only another can read, or nobody takes, leaves no empty message behind."""
    parser = case.parser
    nothing = [OpaquePart({"x": 1}, None, {"nobody": {}}), FilePart(b"x", "application/x-nothing")]
    lost = parser.messages([SystemMessage([nothing[0]]), UserMessage([nothing[0]]), UserMessage("Hi")])
    assert sorted(said(lost.losses)) == [["loss.part", "$[0].content[0]"], ["loss.part", "$[1].content[0]"]]
    assert lost == parser.messages([UserMessage("Hi")])
    server = CallPart(ToolCall("search", kind="server"), None, {"nobody": {}})
    lost = parser.messages([UserMessage("Hi"), Message(parts=[server, nothing[0]])])
    assert said(lost.losses) == [["loss.part", "$[1].parts[0]"], ["loss.part", "$[1].parts[1]"]]
    assert lost == parser.messages([UserMessage("Hi")])
    written = parser.messages([UserMessage(nothing), UserMessage("Hi")])
    if len(written.losses) == 2:  # OpenAI takes any file
        assert written == parser.messages([UserMessage("Hi")])


def test_calls_of_one_turn_may_have_the_same_id() -> None:
    """As where models count from zero: results belong to them in their order."""
    turns = [
        Message(tool_calls=[ToolCall("f", {"n": 1}, "c1"), ToolCall("g", {}, "c1"), ToolCall("f", {"n": 3}, "c1")]),
        ToolResult("c1", "1"),
        ToolResult("c1", "2"),
    ]
    openai = get_provider("openai")
    written = openai.messages(turns)
    assert said(written.losses) == [["loss.result_missing", "$[0]"]]
    assert answers(openai.history(written)) == [("f", {"n": 1}, "1"), ("g", {}, "2"), ("f", {"n": 3}, None)]
    mended = openai.messages([*turns, UserMessage("So?")], repair=True)
    assert said(mended.repairs) == [["history.orphan_call", "$[0]"]]
    assert [text for _, _, text in answers(openai.history(mended))] == ["1", "2", "Error: the tool was not run"]
    mended = openai.messages([*turns, ToolResult("c1", "3"), ToolResult("c1", "4")], repair=True)
    assert said(mended.repairs) == [["history.duplicate_result", "$[4]"]]


def test_a_system_prompt_that_stands_apart_separates_nothing() -> None:
    turns = [
        UserMessage("Hi"),
        Message(tool_calls=[ToolCall("f", {}, "c1")]),
        ToolResult("c1", "1"),
        SystemMessage("Be brief."),
        UserMessage("And?"),
    ]
    cohere = get_provider("cohere_v1")
    assert said(cohere.messages(turns, repair=True).repairs) == [["history.user_after_tool", "$[4]"]]
    assert check_messages(cohere.messages(turns, repair=True), "cohere_v1") == []


def test_a_system_prompt_that_is_put_first_separates_nothing() -> None:
    turns = [
        UserMessage("Hi"),
        Message(tool_calls=[ToolCall("f", {}, "abcdefghi")]),
        ToolResult("abcdefghi", "1"),
        SystemMessage("Be brief."),
        UserMessage("And?"),
    ]
    mended = get_provider("mistral").messages(turns, repair=True)
    assert [message["role"] for message in mended["messages"]] == [
        "system", "user", "assistant", "tool", "assistant", "user",
    ]  # fmt: skip
    assert said(mended.repairs) == [["history.user_after_tool", "$[4]"]]
    assert check_messages(mended, "mistral") == []


def test_more_results_without_ids_than_calls_are_orphans() -> None:
    """Each is told from one that has its call, and left out if that is asked for."""
    call = {"role": "model", "parts": [{"functionCall": {"name": "g", "args": {}}}]}
    results = [{"functionResponse": {"name": "g", "response": {"output": text}}} for text in "12"]
    contents = [{"role": "user", "parts": [{"text": "Hi"}]}, call, {"role": "user", "parts": results}]
    assert [problem.code for problem in check_messages(contents, "google")] == ["history.orphan_result"]
    mended = convert_messages(contents, "google", "google", repair=True)
    assert said(mended.repairs) == [["history.orphan_result", "$[2]"]]
    assert mended["contents"] == [*contents[:2], {"role": "user", "parts": results[:1]}]
    assert check_messages(mended, "google") == []
    # The same object twice is two results, and one that stands before any call is not one of them.
    one = ToolResult(None, "1", "g")
    turns = [UserMessage("Hi"), one, Message(tool_calls=[ToolCall("g", {})]), one, one]
    assert len(get_provider("google").messages(turns, repair=["orphan_result"]).repairs) == 2


def test_a_result_without_an_id_leaves_those_their_calls_that_have_one() -> None:
    calls = [{"functionCall": {"name": "f", "args": {}, "id": "c1"}}, {"functionCall": {"name": "f", "args": {}}}]
    results = [
        {"functionResponse": {"name": "f", "response": {"output": "2"}}},
        {"functionResponse": {"name": "f", "response": {"output": "1"}, "id": "c1"}},
    ]
    contents = [
        {"role": "user", "parts": [{"text": "Hi"}]},
        {"role": "model", "parts": calls},
        {"role": "user", "parts": results},
    ]
    assert [problem.code for problem in check_messages(contents, "google")] == ["history.result_order"]


def test_results_of_responses_stand_anywhere_behind_their_calls() -> None:
    """OpenAI pairs them by `call_id`, whatever stands between."""

    def called(id: str, arguments: str = "{}") -> dict[str, Any]:
        return {"type": "function_call", "call_id": id, "name": "f", "arguments": arguments}

    def result(id: str) -> dict[str, Any]:
        return {"type": "function_call_output", "call_id": id, "output": id}

    user = {"role": "user", "content": "Hi"}
    assistant = {"type": "message", "role": "assistant", "content": "Wait."}
    late = [user, called("c1"), called("c2"), result("c1"), assistant, user, called("c3"), result("c2"), result("c3")]
    assert check_messages(late, "openai_responses") == []
    again = convert_messages(late, "openai_responses", "openai_responses", repair=True)
    assert (again["input"], again.repairs, again.losses) == (late, (), ())
    wrong = [*late[:-2], result("c4"), result("c1")]
    assert [(problem.code, problem.path) for problem in check_messages(wrong, "openai_responses")] == [
        ("history.orphan_call", "$[2]"),
        ("history.orphan_call", "$[6]"),
        ("history.orphan_result", "$[7]"),
        ("history.duplicate_result", "$[8]"),
    ]
    broken = [user, called("c1", "[1]"), assistant, user, called("c2"), result("c1"), result("c2")]
    assert check_messages(broken, "openai_responses") == []


def test_an_error_keeps_its_content_beside_its_message() -> None:
    """Where the result is an object that says `error`."""
    turns = [
        Message(tool_calls=[ToolCall("f", {}, "c1")]),
        ToolResult("c1", "Disk full at 12:30", is_error=True, error_message="disk full"),
    ]
    for provider in ("cohere", "cohere_v1"):
        assert "Disk full at 12:30" in json.dumps(get_provider(provider).messages(turns))


def test_results_of_calls_without_ids_go_by_their_names_first() -> None:
    calls = [ToolCall("f", {}), ToolCall("g", {}), ToolCall("f", {"n": 2})]
    results = [ToolResult(None, "of anyone"), ToolResult(None, "of f", "f"), ToolResult(None, "of f too", "f")]
    written = get_provider("openai").messages([Message(tool_calls=calls), *results])
    assert written.losses == ()
    assert [message["content"] for message in written["messages"][1:]] == ["of f", "of anyone", "of f too"]


def test_who_speaks_the_same_gets_what_goes_beside() -> None:
    """Between providers of one wire format members that are not ours to read stay, and messages as well."""
    messages = [
        {"role": "user", "content": "Hi", "name": "sam"},
        {"role": "assistant", "content": None, "audio": {"id": "audio_1"}, "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}, "extra_content": {"k": 1}}]},
        {"role": "tool", "tool_call_id": "c1", "content": "1", "cache_control": {"type": "ephemeral"}},
        {"role": "critic", "content": "Well done."},
    ]  # fmt: skip
    assert convert_messages(messages, "openai", "azure_openai", strict=True) == {"messages": messages}
    written = convert_messages(messages, "openai", "anthropic")
    assert said(written.losses) == [
        ["loss.extra", "$[0]"],
        ["loss.extra", "$[1]"],
        ["loss.extra", "$[1]"],
        ["loss.extra", "$[2]"],
        ["loss.part", "$[3]"],
    ]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_what_stands_beside_a_message_is_lost_only_aloud(case: Case) -> None:
    """A member that nobody knows, at every message of the history."""
    payload = copy.deepcopy(case.data["history"])
    member = case.parser.messages_member
    keys = [f"x_{number}_beside" for number in range(len(payload[member]))]
    for key, message in zip(keys, payload[member], strict=True):
        message[key] = 1
    target = "openai" if case.wire != "openai_chat" else "anthropic"
    losses = convert_messages(payload, case.parser.provider, target).losses
    told = "; ".join(loss.detail for loss in losses)
    whole = {loss.path for loss in losses if loss.code in ("loss.part", "loss.reasoning")}
    for turn in case.parser.history(payload):
        path = json_path(turn.extra[SOURCE]["path"])
        parts = turn.parts if isinstance(turn, Message) else turn.content
        for part in parts if path in whole and isinstance(parts, list) else ():
            call = part.call if isinstance(part, CallPart) else None
            if isinstance(part, (OpaquePart, ReasoningPart)) or (call is not None and call.kind == "server"):
                told += f"{part!r} {part.extra!r}"  # it is lost whole
    assert [key for key in keys if f"'{key}'" not in told] == []


@pytest.mark.parametrize("case", CASES, ids=str)
def test_what_stands_beside_stays_with_the_same_provider(case: Case) -> None:
    """Also where a turn was changed, so that its message is written anew."""
    payload = copy.deepcopy(case.data["written"])
    for message in payload[case.parser.messages_member]:
        if "tool_calls" not in message and message.get("role") not in ("assistant", "CHATBOT"):
            message["x_beside"] = {"k": 1}
    parser = case.parser
    read = parser.history(payload)
    for turn in read:
        if not isinstance(turn, Message):
            turn.content = "changed"
    written = parser.messages(read)
    again = json.dumps(written)
    assert again.count("x_beside") == json.dumps(payload).count("x_beside")
    assert again.count("changed") >= len([turn for turn in read if isinstance(turn, (UserMessage, ToolResult))])


def test_blobs_of_bedrock_are_bytes_or_base64_however_they_came() -> None:
    bedrock = get_provider("bedrock")
    boto3 = bedrock.for_boto3()  # type: ignore[attr-defined]
    use = {"toolUseId": "t1", "name": "f", "input": {"bytes": "iVBORw0KGgo="}}  # an argument, no blob
    messages = [
        {"role": "user", "content": [{"image": {"format": "png", "source": {"bytes": "iVBORw0KGgo="}}}]},
        {"role": "assistant", "content": [{"reasoningContent": {"redactedContent": "ZW5j"}}, {"toolUse": use}]},
        {"role": "user", "content": [{"toolResult": {"toolUseId": "t1", "content": [{"json": {"bytes": "YQ=="}}]}}]},
    ]
    raw = copy.deepcopy(messages)
    raw[0]["content"][0]["image"]["source"]["bytes"] = turns.PNG  # type: ignore[index]
    raw[1]["content"][0]["reasoningContent"]["redactedContent"] = b"enc"  # type: ignore[index]
    assert boto3.messages(bedrock.history(messages)) == {"messages": raw}
    assert bedrock.messages(boto3.history(raw)) == {"messages": messages}
    assert bedrock.messages(bedrock.history(messages))["messages"][0] is messages[0]


def test_a_broken_call_is_said_and_goes_back_to_its_own() -> None:
    messages = [
        {"role": "assistant", "content": "x", "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "[1"}}]},
        {"role": "tool", "tool_call_id": "c1", "content": "bad arguments"},
    ]  # fmt: skip
    openai = get_provider("openai")
    read = openai.history(messages)
    assert said(read.losses) == [["loss.unread", "$[0].tool_calls[0].function.arguments"]]
    assert str(read[0].errors[0]).endswith("($[0].tool_calls[0].function.arguments, line 1, column 3)")
    assert openai.messages(read) == {"messages": messages}
    assert check_messages(messages, "openai") == []  # it takes any string
    with pytest.raises(ConversionError):
        openai.history(messages, strict=True)
    written = convert_messages(messages, target="anthropic")
    assert [loss.code for loss in written.losses] == ["loss.unread", "loss.unread", "loss.result_unmatched"]


def test_the_result_of_a_broken_call_is_no_orphan_where_both_go_back() -> None:
    """Neither is it one of an earlier call that had the same id."""

    def asked(*arguments: str) -> dict[str, Any]:
        calls = [
            {"id": f"call_{n}", "type": "function", "function": {"name": "f", "arguments": text}}
            for n, text in enumerate(arguments)
        ]
        return {"role": "assistant", "content": None, "tool_calls": calls}

    def told(id: str) -> dict[str, Any]:
        return {"role": "tool", "tool_call_id": id, "content": id}

    messages = [
        {"role": "user", "content": "Hi"}, asked("{}"), told("call_0"),
        asked("{", "{}"), told("call_0"), told("call_1"), {"role": "user", "content": "And?"},
    ]  # fmt: skip
    assert check_messages(messages, "openai") == []
    mended = convert_messages(messages, "openai", "openai", repair=True)
    assert (mended["messages"], mended.repairs) == (messages, ())
    mended = convert_messages([*messages[:6], told("call_0"), told("call_2")], "openai", "openai", repair=True)
    assert mended["messages"] == messages[:6]
    assert said(mended.repairs) == [["history.duplicate_result", "$[6]"], ["history.orphan_result", "$[7]"]]
    # Another API is not told of the call, nor of its result.
    away = convert_messages(messages, "openai", "anthropic", repair=True)
    assert check_messages(away, "anthropic") == []
    assert ["history.orphan_result", "$[4]"] in said(away.repairs)
    assert [loss.code for loss in away.losses] == ["loss.unread", "loss.unread"]


def test_a_broken_call_without_a_result_is_an_orphan() -> None:
    """The API that it goes back to counts it among the calls; another is not told of it."""

    def asked(*arguments: str) -> dict[str, Any]:
        calls = [
            {"id": f"call_{n}", "type": "function", "function": {"name": "f", "arguments": text}}
            for n, text in enumerate(arguments)
        ]
        return {"role": "assistant", "content": None, "tool_calls": calls}

    answer = {"role": "tool", "tool_call_id": "call_1", "content": "1"}
    user = {"role": "user", "content": "Hi"}
    messages = [user, asked("{", "{}"), answer, user]
    problems = check_messages(messages, "openai")
    assert [(one.code, one.path) for one in problems] == [("history.orphan_call", "$[1].tool_calls[0]")]
    assert "'call_0', which cannot be read, has no result" in problems[0].detail
    mended = convert_messages(messages, "openai", "openai", repair=True)
    assert said(mended.repairs) == [["history.orphan_call", "$[1]"]]
    assert mended["messages"][:3] == messages[:3]
    assert [one.get("tool_call_id") for one in mended["messages"]] == [None, None, "call_1", "call_0", None]
    assert check_messages(mended["messages"], "openai") == []
    away = convert_messages(messages, "openai", "anthropic", repair=True)
    assert ["history.orphan_call", "$[1]"] not in said(away.repairs)
    assert check_messages(away, "anthropic") == []


def test_the_id_of_a_file_is_for_who_keeps_it() -> None:
    """For all APIs of that provider; what a caller makes by hand is for whoever it is given to."""
    part = {"type": "file", "file": {"file_id": "file-1"}}
    messages = [{"role": "user", "content": [{"type": "text", "text": "Read."}, part]}]
    assert convert_messages(messages, "openai", "openai")["messages"] == messages
    same = convert_messages(messages, "openai", "openai_responses")
    assert same["input"][0]["content"][1] == {"type": "input_file", "file_id": "file-1"}
    other = convert_messages(messages, "openai", "anthropic")
    assert "file-1" not in json.dumps(other)
    assert said(other.losses) == [["loss.part", "$[0]"]]
    turn = get_provider("openai").history(messages)[0]
    assert isinstance(turn, UserMessage)
    told = get_provider("anthropic").results(ToolResult("t1", turn.content))
    assert "file-1" not in json.dumps(told)
    assert said(told.losses) == [["loss.part", "$[0].content[1]"]]
    made = get_provider("anthropic").messages([UserMessage([FilePart(id="file_2")])])
    assert made["messages"][0]["content"][0]["source"] == {"type": "file", "file_id": "file_2"}
    assert made.losses == ()


def test_what_is_no_history() -> None:
    with pytest.raises(TypeError, match="expected a list of turns"):
        get_provider("openai").messages("Hi")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="get_provider"):
        get_provider("openai").messages([{"role": "user", "content": "Hi"}])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="orphan_call"):
        get_provider("openai").messages([], repair=["everything"])
    with pytest.raises(TypeError, match="target"):
        convert_messages([])
    with pytest.raises(ConversionError, match="source"):
        convert_messages([{"x": 1}], target="openai")
    assert get_provider("openai").messages([]) == {"messages": []}
    assert said(get_provider("openai").history({"model": "m"}).losses) == [["loss.unread", "$.messages"]]
    assert get_provider("openai").history([]) == Turns()


def test_a_text_in_place_of_the_list_goes_back_as_one() -> None:
    responses = get_provider("openai_responses")
    turns = responses.history({"model": "m", "instructions": "Be brief.", "input": "Hi"}, strict=True)
    assert turns == [SystemMessage("Be brief."), UserMessage("Hi")]
    assert responses.messages(pickle.loads(pickle.dumps(turns))) == {"instructions": "Be brief.", "input": "Hi"}
    assert responses.messages([*turns, Message(content="Hello")])["input"] == [
        {"type": "message", "role": "user", "content": "Hi"},
        {"type": "message", "role": "assistant", "content": "Hello"},
    ]


def test_parts_in_place_of_the_list_get_a_step_when_it_goes_on() -> None:
    interactions = get_provider("google_interactions")
    parts = [{"type": "text", "text": "What?"}, {"type": "image", "data": "iVBORw0KGgo=", "mime_type": "image/png"}]
    turns = interactions.history({"input": parts}, strict=True)
    assert turns == [UserMessage([TextPart("What?"), ImagePart(PNG)])]
    assert interactions.messages(turns) == {"input": parts}
    assert interactions.messages([*turns, Message(content="A dot.")])["input"] == [
        {"type": "user_input", "content": parts},
        {"type": "model_output", "content": [{"type": "text", "text": "A dot."}]},
    ]
    assert interactions.history({"input": parts[0]}) == [UserMessage("What?")]


def test_a_system_prompt_stays_where_it_stood() -> None:
    """OpenAI's Responses have a member for it, and messages: what stood in one is written there."""
    responses = get_provider("openai_responses")
    said = {"instructions": "A", "input": [{"role": "user", "content": "Hi"}, {"role": "developer", "content": "B"}]}
    turns = responses.history(said)
    turns[0] = replace(turns[0], content="A, too")  # type: ignore[type-var]
    turns[2] = replace(turns[2], content="B, too")  # type: ignore[type-var]
    written = responses.messages([*turns, SystemMessage("C")], strict=True)
    assert written["instructions"] == "A, too"
    assert written["input"][1:] == [
        {"type": "message", "role": "developer", "content": "B, too"},
        {"type": "message", "role": "system", "content": "C"},
    ]


def test_a_part_of_a_system_prompt_that_only_another_can_read_is_left_out() -> None:
    turns = get_provider("anthropic").history(
        {"system": [{"type": "text", "text": "A"}, {"type": "new"}], "messages": []}
    )
    for case in CASES:
        written = case.parser.messages(turns)
        assert ('"new"' in json.dumps(written)) is (case.wire == "anthropic")
        assert [loss.code for loss in written.losses] == ([] if case.wire == "anthropic" else ["loss.part"])


def test_a_system_prompt_that_may_not_stand_there_is_put_first() -> None:
    turns = [
        SystemMessage("A"), UserMessage("Hi"), SystemMessage("B"), Message(content="Hello"), SystemMessage("C"),
        UserMessage("So?"),
    ]  # fmt: skip
    written = get_provider("mistral").messages(turns)
    assert [message["content"] for message in written["messages"]] == ["A", "C", "Hi", "B", "Hello", "So?"]
    assert said(written.losses) == [["loss.moved", "$[4]"]]
    assert check_messages(written, "mistral") == []
    assert get_provider("mistral").messages(turns[3:5])["messages"][0] == {"role": "system", "content": "C"}


def test_what_the_provider_has_kept_is_no_orphan() -> None:
    asked = {
        "previous_response_id": "resp_1",
        "input": [{"type": "function_call_output", "call_id": "c1", "output": "1"}],
    }
    assert check_messages(asked, "openai_responses") == []
    written = convert_messages(asked, "openai_responses", "openai_responses", repair=True)
    assert (written, written.repairs) == ({"input": asked["input"]}, ())
    del asked["previous_response_id"]
    assert [problem.code for problem in check_messages(asked, "openai_responses")] == ["history.orphan_result"]


def test_results_without_ids_and_names_are_taken_in_order() -> None:
    turns = [Message(tool_calls=[ToolCall("f", {}), ToolCall("g", {})]), ToolResult(None, "1"), ToolResult(None, "2")]
    for case in CASES:
        written = case.parser.messages(turns)
        assert [(name, result) for name, _, result in answers(case.parser.history(written))] == [("f", "1"), ("g", "2")]


def test_a_call_of_another_gets_a_signature_where_that_is_asked_for() -> None:
    """The first call of each turn, and no call of Gemini's own."""
    google = get_provider("google")
    stand_in = {"thoughtSignature": "skip_thought_signature_validator"}
    foreign = [
        UserMessage("Hi"),
        Message(tool_calls=[ToolCall("f", {}, "c1"), ToolCall("g", {}, "c2")]),
        ToolResult("c1", "1"),
        ToolResult("c2", "2"),
    ]
    own = google.history([
        {"role": "model", "parts": [{"functionCall": {"name": "h", "args": {}}, "thoughtSignature": "c2ln"}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "h", "response": {"output": "3"}}}]},
    ])  # fmt: skip
    assert [problem.code for problem in check_messages(google.messages([*foreign, *own]), "google")] == [
        "history.signature_missing"
    ]
    written = google.messages([*foreign, *own], repair=["signature_missing"])
    assert written["contents"][1]["parts"] == [
        {"functionCall": {"name": "f", "args": {}}, **stand_in},
        {"functionCall": {"name": "g", "args": {}}},
    ]
    assert written["contents"][3] == {
        "role": "model", "parts": [{"functionCall": {"name": "h", "args": {}}, "thoughtSignature": "c2ln"}],
    }  # fmt: skip
    assert said(written.repairs) == [["history.signature_missing", "$[1].parts[0]"]]
    assert check_messages(written, "google") == []
    # What a turn of its own does not bring along nobody makes up.
    own[0] = replace(own[0], tool_calls=[], parts=[CallPart(ToolCall("h", {"n": 1}))])
    assert google.messages(own, repair=True)["contents"][0]["parts"] == [
        {"functionCall": {"name": "h", "args": {"n": 1}}}
    ]


def test_a_stand_in_does_not_show_that_the_model_signs() -> None:
    """Only a signature that came from a model says that it wants its own back."""
    google = get_provider("google")
    own = Message(tool_calls=[ToolCall("f", {})], provider="google")  # of a model before signatures
    foreign = Message(tool_calls=[ToolCall("g", {})], provider="openai")
    turns = [UserMessage("Hi"), own, ToolResult(None, "1", "f"), foreign, ToolResult(None, "2", "g")]
    written = google.messages(turns, repair=True)
    assert said(written.repairs) == [["history.signature_missing", "$[3].parts[0]"]]
    assert check_messages(written, "google") == []
    signed = ToolCall("f", {}, extra={"gemini": {"thoughtSignature": "AA=="}})
    turns[3] = Message(tool_calls=[signed], provider="google")
    turns[4] = ToolResult(None, "2", "f")
    assert [one.code for one in check_messages(google.messages(turns), "google")] == ["history.signature_missing"]


def test_the_calls_of_a_model_that_goes_on_stand_in_one_content() -> None:
    """Behind a content of the model's none with calls may stand; a function's response stands alone in its own."""
    turns = [
        UserMessage("Hi"),
        Message(content="I look."),
        Message(tool_calls=[ToolCall("f", {})]),
        ToolResult(None, "1"),
        UserMessage("And?"),
    ]
    assert get_provider("google").messages(turns, strict=True)["contents"] == [
        {"role": "user", "parts": [{"text": "Hi"}]},
        {"role": "model", "parts": [{"text": "I look."}, {"functionCall": {"name": "f", "args": {}}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"output": "1"}}}]},
        {"role": "user", "parts": [{"text": "And?"}]},
    ]


def test_a_turn_of_which_nothing_is_left_is_not_written() -> None:
    turns = [UserMessage("Hi"), Message(reasoning="Hm."), UserMessage("Well?")]
    written = get_provider("openai").messages(turns)
    assert [message["role"] for message in written["messages"]] == ["user", "user"]
    assert said(written.losses) == [["loss.reasoning", "$[1].parts[0]"]]


class Dumped:
    """As an SDK's object: it can be dumped."""

    def __init__(self, **members: Any) -> None:
        self.members = members

    def model_dump(self, **options: Any) -> dict[str, Any]:
        return self.members


def test_objects_of_an_sdk_stand_anywhere() -> None:
    block = Dumped(type="tool_use", id="t1", name="f", input={"n": 1})
    messages = [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": [block]},
        Dumped(role="user", content=(Dumped(type="tool_result", tool_use_id="t1", content="1"),)),
    ]
    claude = get_provider("anthropic")
    assert json.loads(json.dumps(claude.messages(claude.history(messages)))) == {
        "messages": [
            {"role": "user", "content": "Hi"},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "f", "input": {"n": 1}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "1"}]},
        ]
    }
    assert convert_messages(messages, target="openai")["messages"][2]["role"] == "tool"


# -- anything

ODD = st.sampled_from([None, True, 3, 1.5, "", "x", "{", [], {}, [[]], {"x": []}, [None], {"type": 3}, "\ud800"])


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(CASES), st.data())
def test_mutated_histories(case: Case, data: st.DataObject) -> None:
    """Whatever stands wherever: turns that go back as they came, or an error of ours."""
    payload = copy.deepcopy(case.data[data.draw(st.sampled_from(["history", "written"]))])
    places: list[tuple[Any, Any]] = []

    def look(node: Any) -> None:
        for key in node if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ():
            places.append((node, key))
            look(node[key])

    look(payload)
    for _ in range(data.draw(st.integers(1, 3))):
        node, key = data.draw(st.sampled_from(places))
        if key in node or isinstance(node, list):
            if data.draw(st.booleans()):
                node[key] = data.draw(ODD)
            elif isinstance(node, dict):
                del node[key]
    parser = case.parser
    try:
        read = parser.history(payload)
        written = parser.messages(read)
        again = parser.messages(parser.history(written))
        parser.messages(read, repair=True)
        for target in CASES:
            target.parser.messages(read)
            target.parser.messages(read, repair=True)
        for problem in check_messages(payload, parser.provider):
            assert problem.code in PROBLEMS
            assert problem.path.startswith("$")
    except ToolglotError as error:
        assert error.code.startswith("conversion.")
        return
    assert again == written
    member = parser.messages_member
    if isinstance(payload.get(member), list):
        assert written[member] == payload[member]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_time_is_linear(case: Case) -> None:
    """Many calls of a turn, with results in the wrong order and twice, and many turns."""
    many = full_or(3_000, 1_500)
    calls = [ToolCall("f", {}, f"c{number}") for number in range(many)]
    results = [ToolResult(call.id, "x") for call in reversed(calls)]
    history = [Message(tool_calls=calls), *results, *results, UserMessage("x")]
    history += [Message(tool_calls=[ToolCall("f", {}, "same")]), ToolResult("same", "x"), UserMessage("y")] * many
    written = case.parser.messages(history)
    problems = check_messages(written, case.parser.provider, tools=[])
    assert len(problems) >= (many if "history.duplicate_result" in case.parser.rules else 0)
    case.parser.messages(case.parser.history(written), repair=True)
