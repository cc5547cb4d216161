"""The events in which Bedrock's Converse is streamed, block by block: `stream` of `Bedrock`."""

from __future__ import annotations

from typing import Any, Final

from ..schema.subset import words
from ._assembly import Assembly
from ._base import WireProvider
from ._payload import Path
from ._pieces import Pieces, hashable, joined, merge, more_bytes, parse_member

__all__ = ["CITED", "BlockStream"]

CITED: Final = "citationsContent"
_STARTS: Final = words("toolUse toolResult image")  # what blocks begin with; others have no start
_HOLDERS: Final = words("output message content toolUse")  # where a whole response has its message


class BlockStream(WireProvider):
    """A wire format that is streamed as ``contentBlockStart``, ``contentBlockDelta``, ``contentBlockStop``."""

    binary = True
    stream_ends_with = "messageStop"
    cut_objects = True

    def stream_event(self, event: dict[str, Any], into: Assembly) -> None:
        for kind, value in event.items():  # one member, the kind of the event
            if value is None:
                continue
            at: Path = (kind,)
            body = into.as_object(value, at)
            index = hashable(body.get("contentBlockIndex"))
            if kind == "contentBlockDelta":
                self._delta(into.as_object(body.get("delta"), (*at, "delta")), index, into)
            elif kind == "contentBlockStart":
                into.go_on()
                self._start(into.as_object(body.get("start"), (*at, "start")), index, into)
            elif kind == "contentBlockStop":
                self._stopped(into.items.get(index), into)
            elif kind in ("messageStop", "metadata"):
                into.payload.update({key: value for key, value in body.items() if key not in _HOLDERS})
                if kind == "messageStop":
                    into.stop(body.get("stopReason"))
                    into.finish()
            elif kind == "messageStart":
                _message(into).update({key: value for key, value in body.items() if key not in _HOLDERS})
            elif type(kind) is str and kind.endswith("Exception"):
                into.refused({"code": kind, **body})
            else:
                into.unknown(kind)

    def _start(self, start: dict[str, Any], index: Any, into: Assembly) -> None:
        at: Path = ("contentBlockStart", "start")
        block = {
            key: joined(into.as_object(value, (*at, key)))
            for key, value in start.items()
            if key in _STARTS and value is not None
        }
        if into.late() or ("toolUse" in block and into.repeated(index, block["toolUse"].get("toolUseId"))):
            return
        self._begin(block, index, into)
        self._delta({key: value for key, value in start.items() if key not in _STARTS}, index, into)

    def _begin(self, block: dict[str, Any], index: Any, into: Assembly) -> dict[str, Any]:
        content = _message(into).setdefault("content", [])
        path: Path = ("output", "message", "content", len(content))
        content.append(block)
        into.items[index] = block
        call = block.get("toolUse")
        if call is not None and call.get("type") != "server_tool_use":
            into.begin(index, call, (*path, "toolUse"), id=call.get("toolUseId"), name=call.get("name"))
        return block

    def _delta(self, delta: dict[str, Any], index: Any, into: Assembly) -> None:
        if into.late():
            return
        for key, value in delta.items():
            if value is None:
                continue
            at: Path = ("contentBlockDelta", "delta", key)
            block = into.items.get(index)
            holder = "text" if key == "citation" else key
            if block is None or not (holder in block or (holder == "text" and CITED in block)):
                # Blocks of text have no start; and a block is of one kind.
                into.go_on()
                block = self._begin({"toolUse": {}} if key == "toolUse" else {}, index, into)
            if key == "text":
                pieces = block[CITED]["content"][0]["text"] if CITED in block else block.setdefault("text", Pieces())
                into.text(pieces, into.as_text(value, at))
            elif key == "citation":  # whole, the text stands among its citations
                if CITED not in block:
                    block[CITED] = {"content": [{"text": block.pop("text", Pieces())}]}
                merge(block[CITED], "citations", [value])
            elif key == "toolUse":
                self._call_delta(into.as_text(into.as_object(value, at).get("input"), (*at, "input")), block, into)
            elif key == "toolResult":
                merge(block.setdefault(key, {}), "content", into.as_list(value, at))
            elif key == "reasoningContent":
                self._thought(into.as_object(value, at), block, index, into)
            elif key == "image":
                for name, more in into.as_object(value, at).items():
                    source = into.as_object(more, at) if name == "source" else {}
                    for part, data in source.items():
                        self._blob(block.setdefault(key, {}).setdefault(name, {}), part, data, at, into)
                    if name != "source":
                        block.setdefault(key, {})[name] = more
            elif key != CITED:
                merge(block, key, value)
            else:
                into.lost(at, "a delta has citations one by one")

    def _call_delta(self, piece: str, block: dict[str, Any], into: Assembly) -> None:
        call = block["toolUse"]
        slot = into.slot_of(call)
        if slot is not None and piece:
            call["input"] = slot.pieces
            into.arguments(slot, piece)
        elif piece:  # of a call that the server runs
            if type(call.get("input")) is not Pieces:
                call["input"] = Pieces()
            call["input"].append(piece)

    def _thought(self, delta: dict[str, Any], block: dict[str, Any], index: Any, into: Assembly) -> None:
        for key, value in delta.items():
            if value is None:
                continue
            content = block.setdefault("reasoningContent", {})
            holder = "reasoningText" if key in ("text", "signature") else key
            if content and holder not in content:  # a block is of one kind
                block = self._begin({}, index, into)
                content = block.setdefault("reasoningContent", {})
            at: Path = ("contentBlockDelta", "delta", "reasoningContent", key)
            if key == "text":
                thought = content.setdefault(holder, {"text": Pieces()})
                into.reasoning(thought["text"], into.as_text(value, at))
            elif key == "signature":
                content.setdefault(holder, {"text": Pieces()})[key] = value
            else:
                self._blob(content, key, value, at, into)

    def _blob(self, held: dict[str, Any], key: str, value: Any, at: Path, into: Assembly) -> None:
        if not more_bytes(held, key, value):
            into.lost(at, "it cannot be put together with what came before")

    def _stopped(self, block: dict[str, Any] | None, into: Assembly) -> None:
        if block is None:
            return
        call = block.get("toolUse")
        slot = None if call is None else into.slot_of(call)
        if slot is not None:  # whether the model was cut off in it, only the next event tells
            into.stopped(slot)
        elif type(call) is dict:  # of a call that the server ran
            parse_member(call, "input")


def _message(into: Assembly) -> dict[str, Any]:
    message: dict[str, Any] = into.payload.setdefault("output", {"message": {}})["message"]
    return message
