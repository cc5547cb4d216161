"""What stands in an `extra` that no reader left there (written by hand, or out of a pickle) is written or said to be
lost, or refused by an error of ours; never a `TypeError` from within."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any

import pytest

from toolglot import (
    CallPart,
    FilePart,
    ImagePart,
    Message,
    OpaquePart,
    ReasoningPart,
    SystemMessage,
    TextPart,
    Tool,
    ToolCall,
    ToolglotError,
    ToolResult,
    UserMessage,
    WireFormat,
    WireProvider,
    get_provider,
    providers,
)
from toolglot.schema.subset import words

PARSERS = {parser.wire: parser for parser in map(get_provider, providers())}
KEYS = words(
    "item part step entry choice message key id type name text content arguments input function functionCall toolUse "
    "thinking reasoning signature tool_calls role data caller custom namespace inlineData fileData status"
)
VALUES: list[Any] = [5, "x", None, [], {}, [5], {"type": 5}, {"type": "message"}, {"content": 5}]


def forged() -> Iterator[Any]:
    yield from (5, "x", [5])
    for key in sorted(KEYS):
        yield from ({key: value} for value in VALUES)


def works(parser: WireProvider, own: Any) -> list[Callable[[], Any]]:
    """Everything that writes, with ``own`` wherever an extra is."""
    extra = {parser.wire.value: own}
    call, plain = ToolCall("f", {"a": 1}, "call_1", extra=extra), ToolCall("f", {}, "call_1")
    custom = ToolCall("f", {}, "call_1", kind="custom", input="x", extra=extra)
    server = ToolCall("f", {}, "s", kind="server")
    text, opaque = TextPart("x", None, extra), OpaquePart(own, None, extra)
    result = ToolResult("call_1", "x", "f", extra=extra)
    said: list[Any] = [text, ReasoningPart("y", None, extra), CallPart(call, None, extra), opaque]
    said += [CallPart(server, None, extra), CallPart(custom), TextPart("x")]
    image, file = ImagePart(b"x", extra=extra), FilePart(b"x", extra=extra)
    shown: list[Any] = [text, image, file, opaque]
    return [
        *(partial(parser.assistant, Message(parts=[part, text], extra=extra)) for part in said),
        *(partial(parser.messages, [UserMessage([part], extra=extra)]) for part in shown),
        lambda: parser.results([result], [call]),
        lambda: parser.results([result]),
        lambda: parser.results([ToolResult("call_1", shown[:3], "f")], [plain]),
        lambda: parser.tools([Tool("f", extra=extra)]),
        lambda: parser.messages([UserMessage("u", extra), Message(parts=said, extra=extra), result]),
        lambda: parser.messages([SystemMessage("s", extra), UserMessage("u"), Message("x", extra=extra)]),
    ]


@pytest.mark.parametrize("wire", PARSERS)
def test_no_extra_breaks_a_writer(wire: WireFormat) -> None:
    for own in forged():
        for work in works(PARSERS[wire], own):
            with suppress(ToolglotError):
                work()


def test_what_was_forged_is_said_to_be_lost() -> None:
    part = TextPart("x", None, {"gemini_interactions": {"step": 5}})
    written = get_provider("google_interactions").assistant(Message(parts=[part]))
    assert written == [{"type": "model_output", "content": [{"type": "text", "text": "x"}]}]
    assert [(loss.code, loss.path) for loss in written.losses] == [
        ("loss.extra", "$.parts[0].extra.gemini_interactions.step")
    ]
