"""Anthropic's Messages written: events, and the whole message.

Blocks come one after the other, in the order in which the model wrote. A broken call is an event ``error``, behind
which there is no ``message_stop``. Numbers that are not known are 0, since the API has none without them.
"""

from __future__ import annotations

from typing import Any, Final

from ..types import CallPart, OpaquePart, Part, ReasoningPart, StopReason, ToolCall
from ._output import custom_arguments
from ._usage import read_usage
from ._write_stream import StreamWriter

_STOP: Final[dict[StopReason, str]] = {"tool_calls": "tool_use", "length": "max_tokens", "content_filter": "refusal"}


class MessageWriter(StreamWriter):
    """``message_start`` to ``message_stop``."""

    id_prefix = "msg_"
    call_prefix = "toolu_"

    def begin(self) -> None:
        self._blocks: list[dict[str, Any]] = []
        self._pieces: list[str] | None = None  # of the block that is open
        self._stop: str | None = None
        self._error: dict[str, Any] | None = None
        message = self._message([], {**self._usage(), "output_tokens": 0})
        self.put({"type": "message_start", "message": message})

    def _message(self, content: list[dict[str, Any]], usage: dict[str, Any]) -> dict[str, Any]:
        return {
            "id": self.id,
            "type": "message",
            "role": "assistant",
            "model": self.model,
            "content": content,
            "stop_reason": self._stop,
            "stop_sequence": None,
            "usage": usage,
            **self.extra,
        }

    def _usage(self) -> dict[str, Any]:
        read = read_usage(self.usage)
        made = {"input_tokens": read.input - read.cached - read.written, "output_tokens": read.output}
        if read.cached:
            made["cache_read_input_tokens"] = read.cached
        if read.written:
            made["cache_creation_input_tokens"] = read.written
        return made

    # -- blocks

    def _begin(self, block: dict[str, Any]) -> None:
        self._blocks.append(block)
        self._pieces = []
        self.put({"type": "content_block_start", "index": len(self._blocks) - 1, "content_block": dict(block)})

    def _delta(self, kind: str, member: str, piece: str) -> None:
        self.put(
            {
                "type": "content_block_delta",
                "index": len(self._blocks) - 1,
                "delta": {"type": kind, member: piece},
            }
        )

    def _end_block(self) -> None:
        self._pieces = None
        self.put({"type": "content_block_stop", "index": len(self._blocks) - 1})

    def text(self, text: str) -> None:
        if self._pieces is None:
            self._begin({"type": "text", "text": ""})
        self._more("text", text)

    def reasoning(self, text: str) -> None:
        if self._pieces is None:
            detail = "without a signature, with which alone Anthropic itself takes it back"
            self.lost_once("loss.reasoning", f"$.content[{len(self._blocks)}]", detail)
            self._begin({"type": "thinking", "thinking": "", "signature": ""})
        self._more("thinking", text)

    def _more(self, kind: str, text: str) -> None:
        assert self._pieces is not None
        self._pieces.append(text)
        self._delta(f"{kind}_delta", kind, text)

    def shut(self, status: str) -> None:
        block = self._blocks[-1]
        block[block["type"]] = "".join(self._pieces or ())
        self._end_block()

    def call(self, call: ToolCall, id: str) -> None:
        if call.kind == "custom":
            path = f"$.content[{len(self._blocks)}]"
            self.out.lost("loss.tool_kind", path, "free text; now a call with a string called input")
        self.call_begin(id, call.name)
        self._delta("input_json_delta", "partial_json", custom_arguments(call))
        self._blocks[-1]["input"] = {"input": call.input or ""} if call.kind == "custom" else call.arguments
        self._end_block()

    def call_begin(self, id: str, name: str) -> None:
        self._begin({"type": "tool_use", "id": id, "name": name, "input": {}})

    def call_piece(self, text: str) -> None:
        self._delta("input_json_delta", "partial_json", text)

    def call_end(self, call: ToolCall) -> None:
        self._blocks[-1]["input"] = call.arguments
        self._end_block()

    def native(self, part: Part, own: dict[str, Any]) -> dict[str, Any] | None:
        if isinstance(part, OpaquePart):
            return dict(part.data)
        if isinstance(part, ReasoningPart) and own.get("signature"):
            return {"type": "thinking", "thinking": part.text, **own}
        if isinstance(part, CallPart) and part.call.kind == "server":
            return own.get("item")
        return None

    def as_it_is(self, native: dict[str, Any]) -> None:
        if native.get("type") != "thinking":
            self._begin(native)
        else:
            self._begin({**native, "thinking": "", "signature": ""})
            if native["thinking"]:
                self._delta("thinking_delta", "thinking", native["thinking"])
            self._delta("signature_delta", "signature", native["signature"])
            self._blocks[-1] = native
        self._end_block()

    # -- the end

    def in_doubt(self) -> bool:
        return self.last_is_call  # behind the limit an input that was cut off still is an object

    def finish(self, stop: StopReason) -> None:
        self._stop = _STOP.get(stop, "end_turn")
        delta = {"stop_reason": self._stop, "stop_sequence": None}
        self.put({"type": "message_delta", "delta": delta, "usage": self._usage()})
        self.put({"type": "message_stop"})

    def broken(self, message: str, code: str | None) -> None:
        said = f"{message} ({code})" if code else message
        self._error = {"type": "error", "error": {"type": "api_error", "message": said}, "request_id": None}
        self.put(dict(self._error))

    def body(self) -> dict[str, Any]:
        if self._error is not None:
            return dict(self._error)
        return self._message([dict(block) for block in self._blocks], self._usage())


WRITER = MessageWriter
