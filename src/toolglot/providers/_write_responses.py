"""OpenAI's Responses written: events, and the whole response.

Items come one after the other, in the order in which the model wrote; reasoning is an item with a summary. A limit is
``response.incomplete``, a broken call ``response.failed``. ``tools`` and ``tool_choice``, which the API repeats from
the request, are empty and ``auto`` unless ``extra`` says them.
"""

from __future__ import annotations

from os import urandom
from typing import Any, Final

from ..types import CallPart, OpaquePart, Part, ReasoningPart, StopReason, ToolCall
from ._usage import read_usage
from ._write_stream import StreamWriter

_INCOMPLETE: Final[dict[StopReason, str]] = {"length": "max_output_tokens", "content_filter": "content_filter"}
_ECHO: Final[dict[str, Any]] = {"instructions": None, "metadata": {}, "parallel_tool_calls": True}
_SUMMARY: Final = "response.reasoning_summary_"
_CALL: Final = "response.function_call_arguments"


class ResponseWriter(StreamWriter):
    """``response.created`` to ``response.completed``."""

    id_prefix = "resp_"

    def begin(self) -> None:
        self._number = 0
        self._items: list[dict[str, Any]] = []  # that are complete
        self._item: dict[str, Any] | None = None  # that is open
        self._pieces: list[str] = []
        self._status = "in_progress"
        self._why: str | None = None
        self._error: dict[str, Any] | None = None
        self._event("response.created", response=self._response())
        self._event("response.in_progress", response=self._response())

    def _event(self, kind: str, **members: Any) -> None:
        self.put({"type": kind, "sequence_number": self._number, **members})
        self._number += 1

    def _response(self) -> dict[str, Any]:
        ended = self._status != "in_progress"
        return {
            "id": self.id,
            "object": "response",
            "created_at": self.created,
            "status": self._status,
            "error": None if self._error is None else dict(self._error),
            "incomplete_details": None if self._why is None else {"reason": self._why},
            "model": self.model,
            "output": [dict(item) for item in self._items],
            **_ECHO,
            "tool_choice": "auto",
            "tools": [],
            "temperature": None,
            "top_p": None,
            "usage": self._usage() if ended else None,
            **self.extra,
        }

    def _usage(self) -> dict[str, Any] | None:
        if self.usage is None:
            return None
        read = read_usage(self.usage)
        return {
            "input_tokens": read.input,
            "input_tokens_details": {"cached_tokens": read.cached, "cache_write_tokens": read.written},
            "output_tokens": read.output,
            "output_tokens_details": {"reasoning_tokens": read.reasoning},
            "total_tokens": read.input + read.output,
        }

    # -- items

    def _at(self) -> dict[str, Any]:
        assert self._item is not None
        return {"item_id": self._item["id"], "output_index": len(self._items)}

    def _begin(self, prefix: str, item: dict[str, Any]) -> None:
        self._item = {"id": f"{prefix}_{urandom(12).hex()}", **item}
        self._pieces = []
        self._event("response.output_item.added", output_index=len(self._items), item=dict(self._item))

    def _done(self, **members: Any) -> None:
        assert self._item is not None
        self._items.append({**self._item, **members})
        self._item = None
        self._event("response.output_item.done", output_index=len(self._items) - 1, item=dict(self._items[-1]))

    def text(self, text: str) -> None:
        if self._item is None:
            self._begin("msg", {"type": "message", "status": "in_progress", "role": "assistant", "content": []})
            self._event("response.content_part.added", **self._at(), content_index=0, part=_text(""))
        self._pieces.append(text)
        self._event("response.output_text.delta", **self._at(), content_index=0, delta=text, logprobs=[])

    def reasoning(self, text: str) -> None:
        if self._item is None:
            self._begin("rs", {"type": "reasoning", "summary": []})
            self._event(f"{_SUMMARY}part.added", **self._at(), summary_index=0, part=_summary(""))
        self._pieces.append(text)
        self._event(f"{_SUMMARY}text.delta", **self._at(), summary_index=0, delta=text)

    def shut(self, status: str) -> None:
        assert self._item is not None
        whole = "".join(self._pieces)
        if self._item["type"] == "message":
            at = {**self._at(), "content_index": 0}
            self._event("response.output_text.done", **at, text=whole, logprobs=[])
            self._event("response.content_part.done", **at, part=_text(whole))
            self._done(status=status, content=[_text(whole)])
        else:
            at = {**self._at(), "summary_index": 0}
            self._event(f"{_SUMMARY}text.done", **at, text=whole)
            self._event(f"{_SUMMARY}part.done", **at, part=_summary(whole))
            self._done(summary=[_summary(whole)])

    def call(self, call: ToolCall, id: str) -> None:
        if call.kind != "custom":
            self.call_begin(id, call.name)
            self.call_piece(call.arguments_json)
            self.call_end(call)
            return
        text = call.input or ""
        self._begin("ctc", {"type": "custom_tool_call", "call_id": id, "name": call.name, "input": ""})
        if text:
            self._event("response.custom_tool_call_input.delta", **self._at(), delta=text)
        self._event("response.custom_tool_call_input.done", **self._at(), input=text)
        self._done(input=text)

    def call_begin(self, id: str, name: str) -> None:
        call = {"type": "function_call", "status": "in_progress", "call_id": id, "name": name, "arguments": ""}
        self._begin("fc", call)

    def call_piece(self, text: str) -> None:
        self._pieces.append(text)
        self._event(f"{_CALL}.delta", **self._at(), delta=text)

    def call_end(self, call: ToolCall) -> None:
        whole = "".join(self._pieces)
        self._event(f"{_CALL}.done", **self._at(), arguments=whole)
        self._done(status="completed", arguments=whole)

    def native(self, part: Part, own: dict[str, Any]) -> dict[str, Any] | None:
        if isinstance(part, OpaquePart):
            return dict(part.data)
        if isinstance(part, ReasoningPart) or (isinstance(part, CallPart) and part.call.kind == "server"):
            return own.get("item")
        return None

    def as_it_is(self, native: dict[str, Any]) -> None:
        self._event("response.output_item.added", output_index=len(self._items), item=dict(native))
        self._item = dict(native)
        self._done()

    # -- the end

    def finish(self, stop: StopReason) -> None:
        self._why = _INCOMPLETE.get(stop)
        self._status = "completed" if self._why is None else "incomplete"
        self._event(f"response.{self._status}", response=self._response())

    def broken(self, message: str, code: str | None) -> None:
        self._status = "failed"
        said = f"{message} ({code})" if code else message
        self._error = {"code": "server_error", "message": said}
        self._event("response.failed", response=self._response())

    def body(self) -> dict[str, Any]:
        return self._response()


def _text(text: str) -> dict[str, Any]:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def _summary(text: str) -> dict[str, Any]:
    return {"type": "summary_text", "text": text}


WRITER = ResponseWriter
