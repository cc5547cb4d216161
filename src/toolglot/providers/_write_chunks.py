"""Chat Completions written: chunks, and the whole completion.

The last chunk has a ``finish_reason``, and behind it one without choices has the usage, if that is known. A broken call
is an ``error`` instead, which the official client raises. Calls of free text are in the specification of the whole
response only; in chunks they are written as the service sends them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

from ..types import StopReason, ToolCall
from ._output import custom_arguments
from ._usage import read_usage
from ._write_stream import StreamWriter

if TYPE_CHECKING:
    from .openai_chat import OpenAIChat

_STOP: Final[dict[StopReason, str]] = {
    "tool_calls": "tool_calls",
    "length": "length",
    "content_filter": "content_filter",
}


class ChunkWriter(StreamWriter):
    """``chat.completion.chunk`` objects."""

    id_prefix = "chatcmpl-"
    sse_end = b"data: [DONE]\n\n"
    sse_names = False

    def begin(self) -> None:
        self._content: list[str] = []
        self._thoughts: list[str] = []
        self._refusal: str | None = None
        self._calls: list[dict[str, Any]] = []
        self._finish: str | None = None
        self._error: dict[str, Any] | None = None
        self._delta({"role": "assistant", "content": None})

    def _head(self, kind: str) -> dict[str, Any]:
        return {"id": self.id, "object": kind, "created": self.created, "model": self.model}

    def _delta(self, delta: dict[str, Any], finish: str | None = None) -> None:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        self.put({**self._head("chat.completion.chunk"), "choices": [choice], **self.extra})

    def text(self, text: str) -> None:
        self._content.append(text)
        self._delta({"content": text})

    def reasoning(self, text: str) -> None:
        member = self._dialect.thinks
        if member is None:
            self.lost_once("loss.reasoning", "$.reasoning", f"{self.wire.provider} does not show reasoning")
            return
        self._thoughts.append(text)
        self._delta({member: text})

    def refusal(self, text: str) -> bool:
        self._refusal = text
        self._delta({"refusal": text})
        return True

    @property
    def _dialect(self) -> Any:
        return cast("OpenAIChat", self.wire).dialect

    def call(self, call: ToolCall, id: str) -> None:
        if call.kind == "custom" and self._dialect.custom:
            made: dict[str, Any] = {"id": id, "type": "custom"}
            made["custom"] = {"name": call.name, "input": call.input or ""}
        else:
            if call.kind == "custom":
                path = f"$.tool_calls[{self.calls}]"
                self.out.lost("loss.tool_kind", path, "free text; now a function with a string called input")
            made = {"id": id, "type": "function"}
            made["function"] = {"name": call.name, "arguments": custom_arguments(call)}
        self._calls.append(made)
        self._delta({"tool_calls": [{"index": len(self._calls) - 1, **made}]})

    def call_begin(self, id: str, name: str) -> None:
        self._pieces: list[str] = []
        self._begun_call = {"id": id, "type": "function", "function": {"name": name, "arguments": ""}}
        self._delta({"tool_calls": [{"index": len(self._calls), **self._begun_call}]})

    def call_piece(self, text: str) -> None:
        self._pieces.append(text)
        self._delta({"tool_calls": [{"index": len(self._calls), "function": {"arguments": text}}]})

    def call_end(self, call: ToolCall) -> None:
        function = {"name": call.name, "arguments": "".join(self._pieces)}
        self._calls.append({**self._begun_call, "function": function})

    def in_doubt(self) -> bool:
        return self.last_custom  # a message has no order: what was cut off may be the call

    def finish(self, stop: StopReason) -> None:
        self._finish = _STOP.get(stop, "stop")
        self._delta({}, self._finish)
        usage = self._usage()
        if usage is not None:
            self.put({**self._head("chat.completion.chunk"), "choices": [], "usage": usage, **self.extra})

    def broken(self, message: str, code: str | None) -> None:
        self._error = {"message": message, "type": "server_error", "param": None, "code": code}
        self.put({"error": dict(self._error)})

    def _usage(self) -> dict[str, Any] | None:
        if self.usage is None:
            return None
        read = read_usage(self.usage)
        made: dict[str, Any] = {"prompt_tokens": read.input, "completion_tokens": read.output}
        made["total_tokens"] = read.input + read.output
        if read.cached:
            made["prompt_tokens_details"] = {"cached_tokens": read.cached}
        if read.reasoning:
            made["completion_tokens_details"] = {"reasoning_tokens": read.reasoning}
        return {**made, **self.usage} if "prompt_tokens" in self.usage else made

    def body(self) -> dict[str, Any]:
        if self._error is not None:
            return {"error": dict(self._error)}
        message: dict[str, Any] = {"role": "assistant", "content": "".join(self._content) or None}
        if self._refusal is not None:
            message["refusal"] = self._refusal
        if self._thoughts:
            message[self._dialect.thinks] = "".join(self._thoughts)
        if self._calls:
            message["tool_calls"] = [dict(call) for call in self._calls]
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": self._finish}
        usage = self._usage()
        told = {} if usage is None else {"usage": usage}
        return {**self._head("chat.completion"), "choices": [choice], **told, **self.extra}


WRITER = ChunkWriter
