"""Anthropic's Messages, also as Bedrock's InvokeModel and compatible servers speak it.

Cannot carry: a choice limited to several tools (``request`` leaves the others out), reasoning without the signature
that it came with, files other than PDF and plain text.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final

from ..definition import Tool
from ..schema.names import NameRule
from ..schema.subset import Subset, words
from ..types import (
    CallPart,
    FilePart,
    ImagePart,
    Message,
    OpaquePart,
    ReasoningPart,
    StopReason,
    TextPart,
    ToolCall,
    ToolChoice,
    ToolResult,
)
from ._base import NewReading, WireProvider
from ._names import WireFormat
from ._payload import Path
from ._reading import Reading, rest
from ._writing import Wire, Writing, base64_text, media_type, result_parts, result_text

PLAIN: Final = Subset(root_unions=False)
# What the SDK's own transformation keeps.
STRICT: Final = Subset(
    words("type description title properties required additionalProperties items enum const anyOf allOf $ref format"),
    references="alone",
    untyped=False,
    root_unions=False,
    closed=True,
    optional=True,
    formats=words("date-time time date duration email hostname uri ipv4 ipv6 uuid"),
)
_IMAGES: Final = words("image/png image/jpeg image/gif image/webp")
_CHOICES: Final = {"auto": "auto", "none": "none", "required": "any", "named": "tool"}
_RESPONSE: Final = words("type role content stop_reason usage error")
_TEXT: Final = words("type text")
_CALL: Final = words("type id name input")
_THINKING: Final = words("type thinking")
_SERVER_CALLS: Final = words("server_tool_use mcp_tool_use")


class Anthropic(WireProvider):
    """Messages."""

    wire = WireFormat.ANTHROPIC
    call_ids = NameRule()
    limits_choice = False
    stop_reasons: ClassVar[Mapping[str, StopReason]] = {
        "end_turn": "stop",
        "stop_sequence": "stop",
        "tool_use": "tool_calls",
        "max_tokens": "length",
        "model_context_window_exceeded": "length",
        "refusal": "content_filter",
    }

    # -- definition

    def write_tool(self, tool: Tool, name: str, path: str, out: Writing) -> dict[str, Any]:
        if tool.kind == "custom":
            out.lost("loss.tool_kind", path, "free text; now a tool with a string called input")
        schema, strict = self.schema(tool, path, out, PLAIN, STRICT)
        about = {"description": tool.description} if tool.description else {}
        return {
            "name": name,
            **about,
            "input_schema": schema,
            **({"strict": True} if strict else {}),
            **self.own(tool.extra),
        }

    # -- choice

    def write_choice(self, choice: ToolChoice, named: list[Tool], out: Writing) -> dict[str, Any]:
        written: dict[str, Any] = {"type": _CHOICES[choice.mode]}
        if choice.mode == "named":
            written["name"] = named[0].name
        if choice.parallel is not None and choice.mode != "none":
            written["disable_parallel_tool_use"] = not choice.parallel
        return {"tool_choice": written}

    # -- response

    def read(self, payload: dict[str, Any], new: NewReading) -> list[Reading]:
        reading = new()
        self.stop(payload.get("stop_reason"), reading, "stop_reason")
        reading.usage = payload.get("usage")
        content = payload.get("content")
        if type(content) is str:  # as a history may have it
            reading.text(content)
            content = None
        elif content is None and "type" in payload and "stop_reason" not in payload:
            content = [payload] if payload["type"] != "message" else None  # a block by itself
        if content is None or content is payload.get("content"):
            reading.keep(payload, _RESPONSE)
        blocks = reading.as_list(content, ("content",))
        alone = content is not payload.get("content")
        for number, item in enumerate(blocks):
            path: Path = () if alone else ("content", number)
            block = item if type(item) is dict else reading.as_object(item, path)
            # At the limit the last block may lack its end, and an input that was cut off still is an object.
            if reading.cut and block.get("type") == "tool_use" and number == len(blocks) - 1:
                reading.truncated_call(block.get("name"), path)
            else:
                self._block(block, path, reading)
        return [reading]

    def _block(self, block: dict[str, Any], path: Path, reading: Reading) -> None:
        kind = block.get("type")
        if kind == "text":
            reading.text(reading.as_text(block.get("text"), (*path, "text")), rest(block, _TEXT))
        elif kind == "tool_use":
            extra = rest(block, _CALL)
            reading.call(block.get("name"), block.get("input"), path, key="input", id=block.get("id"), extra=extra)
        elif kind == "thinking":
            reading.reasoning(reading.as_text(block.get("thinking"), (*path, "thinking")), rest(block, _THINKING))
        elif type(kind) is str and kind in _SERVER_CALLS:
            reading.server_call(block.get("name"), block.get("input"), block.get("id"), block)
        elif block:
            reading.opaque(block)  # redacted thinking, results of the server's own calls, what is yet to come

    # -- result

    def write_results(self, results: list[tuple[ToolResult, ToolCall | None]], out: Writing) -> Wire:
        blocks = []
        for number, (result, call) in enumerate(results):
            block: dict[str, Any] = {"type": "tool_result", "tool_use_id": self.result_id(result, call)}
            parts = result_parts(result)
            if parts is None:
                block["content"] = result_text(result)
            else:
                block["content"] = [
                    written
                    for place, part in enumerate(parts)
                    if (written := _part(part, f"$[{number}].content[{place}]", out)) is not None
                ]
            block["is_error"] = result.is_error
            own = self.own(call.extra) if call is not None else {}
            if "toolset_name" in own:
                block["toolset_name"] = own["toolset_name"]
            blocks.append(block)
        return out.as_object({"role": "user", "content": blocks})

    def write_assistant(self, message: Message, parts: list[tuple[str, Any]], out: Writing) -> Wire:
        blocks: list[dict[str, Any]] = []
        calls: list[dict[str, Any]] = []
        for path, part in parts:
            own = self.own(part.extra)
            if isinstance(part, TextPart):
                if part.text:  # an empty block is refused
                    blocks.append({"type": "text", "text": part.text, **own})
            elif isinstance(part, ReasoningPart):
                if "signature" in own:
                    blocks.append({"type": "thinking", "thinking": part.text, **own})
                else:
                    out.lost("loss.reasoning", path, "reasoning without Anthropic's signature")
            elif isinstance(part, OpaquePart):
                blocks.append(part.data)
            elif isinstance(part, CallPart) and part.call.kind == "server":
                blocks.append(own["item"])
            elif isinstance(part, CallPart):
                calls.append(self._call_back(part.call))
        # Calls come last: text or the server's blocks behind them are refused.
        return out.as_object({"role": "assistant", "content": [*blocks, *calls]})

    def _call_back(self, call: ToolCall) -> dict[str, Any]:
        return {
            "type": "tool_use",
            "id": self.call_id(call.id, f"the call of {call.name!r}"),
            "name": self.name(call.name),
            "input": {"input": call.input or ""} if call.kind == "custom" else call.arguments,
            **self.own(call.extra),
        }


def _part(part: TextPart | ImagePart | FilePart, path: str, out: Writing) -> dict[str, Any] | None:
    """A part of a result as a block; None if there is none for it."""
    if isinstance(part, TextPart):
        return {"type": "text", "text": part.text} if part.text else None
    kind = "image" if isinstance(part, ImagePart) else "document"
    named = media_type(part)
    titled = {"title": part.name} if isinstance(part, FilePart) and part.name else {}
    source: dict[str, Any]
    if isinstance(part, FilePart) and part.id is not None:
        source = {"type": "file", "file_id": part.id}
    elif part.url is not None:
        source = {"type": "url", "url": part.url}
    elif part.data is None:
        out.lost("loss.part", path, "there is nothing in it")
        return None
    elif named in _IMAGES if kind == "image" else named == "application/pdf":
        source = {"type": "base64", "media_type": named, "data": base64_text(part.data)}
    elif kind == "document" and named == "text/plain":
        source = {"type": "text", "media_type": "text/plain", "data": part.data.decode("utf-8", "replace")}
    else:
        out.lost("loss.part", path, f"Anthropic takes nothing of the type {part.media_type!r:.80}")
        return None
    return {"type": kind, "source": source, **titled}


WIRE = Anthropic
