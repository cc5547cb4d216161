"""Amazon Bedrock's Converse.

Cannot carry: a choice of no tool (``request`` leaves all out; a history with calls is refused then) or of several,
whether calls may be parallel, images and files of other than its own types, reasoning of others. Written is JSON, with
bytes as base64; boto3 wants the bytes themselves, see `Bedrock.for_boto3`.
"""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Mapping
from typing import Any, ClassVar, Final

from ..definition import Tool
from ..errors import ConversionError
from ..schema.names import NameRule
from ..schema.subset import words
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
from ._assembly import Assembly
from ._base import NewReading, WireProvider
from ._names import WireFormat
from ._payload import Path
from ._pieces import Pieces, hashable, merge, parse_member
from ._reading import Reading, rest
from ._writing import Wire, Writing, base64_text, media_type, result_parts, result_text, sent_arguments
from .anthropic import PLAIN, STRICT

_CALL: Final = words("toolUseId name input")
_RESPONSE: Final = words("output message content toolUse role stopReason usage error Error ResponseMetadata")
_MESSAGE: Final = words("role content toolUse")
_REFUSALS: Final = ("Error", "message", "Message")
_TEXT: Final = words("text")
_USE: Final = words("toolUse")
_THOUGHT: Final = words("reasoningContent")
_REASONING: Final = words("reasoningText")
_IMAGES: Final = {f"image/{name}": name for name in ("png", "jpeg", "gif", "webp")}
_VIDEOS: Final = {f"video/{name}": name for name in ("mp4", "webm", "mpeg")} | {
    "video/x-matroska": "mkv",
    "video/quicktime": "mov",
    "video/x-flv": "flv",
    "video/x-ms-wmv": "wmv",
    "video/3gpp": "three_gp",
}
_DOCUMENTS: Final = {
    "application/pdf": "pdf",
    "text/csv": "csv",
    "text/html": "html",
    "text/plain": "txt",
    "text/markdown": "md",
    "application/msword": "doc",
    "application/vnd.ms-excel": "xls",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
}
# Whose wire format the bodies of InvokeModel have, by what a model's id begins with. Others take a prompt.
_FAMILIES: Final = {
    "ai21.jamba": "openai_compatible",
    "amazon.nova": "bedrock",
    "anthropic.": "anthropic",
    "cohere.command-r": "cohere_v1",
    "mistral.": "mistral",
    "openai.": "openai_compatible",
}


class Bedrock(WireProvider):
    """Converse."""

    wire = WireFormat.BEDROCK
    call_ids = NameRule("A-Za-z0-9_.:-")
    modes = frozenset({"auto", "required", "named"})
    limits_choice = False
    raw_bytes = False
    stream_ends_with = "messageStop"
    cut_objects = True
    stop_reasons: ClassVar[Mapping[str, StopReason]] = {
        "end_turn": "stop",
        "stop_sequence": "stop",
        "tool_use": "tool_calls",
        "max_tokens": "length",
        "model_context_window_exceeded": "length",
        "guardrail_intervened": "content_filter",
        "content_filtered": "content_filter",
        "malformed_model_output": "error",
        "malformed_tool_use": "error",
    }

    def for_boto3(self) -> Bedrock:
        """The same, but images and files are written as bytes, which boto3 encodes itself."""
        made = Bedrock(self.provider)
        made.raw_bytes = True
        return made

    def for_invoke_model(self, model: str) -> WireProvider:
        """Who reads and writes the bodies that ``InvokeModel`` has for a model: each family has those of its own API.

        Raises `ConversionError` for a model that takes a prompt and answers in text: a text format reads its calls.

        >>> from toolglot import get_provider
        >>> get_provider("bedrock").for_invoke_model("us.anthropic.claude-sonnet-4-20250514-v1:0")
        get_provider('anthropic')
        """
        from ._api import get_provider

        name = "." + model.rpartition("/")[2]  # an ARN ends with the id, which may begin with a region
        for family, provider in _FAMILIES.items():
            if f".{family}" in name:
                return self if provider == "bedrock" else get_provider(provider)
        raise ConversionError(f"{model!r:.100} takes a prompt with InvokeModel, not tools; Converse may do it")

    # -- definition

    def write_tool(self, tool: Tool, name: str, path: str, out: Writing) -> dict[str, Any]:
        schema, strict = self.schema(tool, path, out, PLAIN, STRICT)
        about = {"description": tool.description} if tool.description else {}  # an empty one is refused
        spec = {"name": name, **about, "inputSchema": {"json": schema}, **({"strict": True} if strict else {})}
        return {"toolSpec": {**spec, **self.own(tool.extra)}}

    def write_tools(self, tools: list[dict[str, Any]]) -> dict[str, Any]:
        return {"toolConfig": {"tools": tools}}

    # -- choice

    def write_choice(self, choice: ToolChoice, named: list[Tool], out: Writing) -> dict[str, Any]:
        if choice.parallel is not None:
            out.lost("loss.parallel", "$.parallel", "Converse does not take it")
        written: dict[str, Any] = {"any" if choice.mode == "required" else "auto": {}}
        if choice.mode == "named":
            written = {"tool": {"name": named[0].name}}
        return {"toolConfig": {"toolChoice": written}}

    # -- response

    def read(self, payload: dict[str, Any], new: NewReading) -> list[Reading]:
        reading = new()
        self.stop(payload.get("stopReason"), reading, "stopReason")
        reading.usage = payload.get("usage")
        reading.keep(payload, _RESPONSE)
        for key in _REFUSALS if "output" not in payload else ():  # of the service, and of what boto3 raises
            if type(payload.get(key)) is str or (key == "Error" and payload.get(key)):
                self.refused(payload[key], reading, (key,))
                reading.extra["error"] = payload
                return [reading]
        path: Path = ()
        node = payload
        for key in ("output", "message"):
            if node.get(key) is None:
                continue
            path = (*path, key)
            node = reading.as_object(node[key], path)
        if path:
            reading.keep(node, _MESSAGE)
        if "toolUse" in node:  # a block by itself
            self._block(node, path, reading)
            return [reading]
        blocks = reading.as_list(node.get("content"), (*path, "content"))
        for number, item in enumerate(blocks):
            at = (*path, "content", number)
            block = item if type(item) is dict else reading.as_object(item, at)
            # At the limit the last call may lack its end, and an input that was cut off still is an object.
            call = block.get("toolUse") if reading.cut and number == len(blocks) - 1 else None
            if isinstance(call, dict) and call.get("type") != "server_tool_use":
                reading.truncated_call(call.get("name"), (*at, "toolUse"))
            else:
                self._block(block, at, reading)
        if payload.get("stopReason") == "malformed_tool_use" and not any(
            type(one) is CallPart for one in reading.parts
        ):
            reading.unreadable_call("the provider could not read the model's call", ("stopReason",))
        return [reading]

    def _block(self, block: dict[str, Any], path: Path, reading: Reading) -> None:
        known = _USE
        if block.get("toolUse") is not None:
            at = (*path, "toolUse")
            call = reading.as_object(block["toolUse"], at)
            id = call.get("toolUseId")
            if call.get("type") == "server_tool_use":
                reading.server_call(call.get("name"), call.get("input"), id, block)
            else:
                reading.call(call.get("name"), call.get("input"), at, key="input", id=id, extra=rest(call, _CALL))
        elif "text" in block:
            known = _TEXT
            reading.text(reading.as_text(block["text"], (*path, "text")))
        elif type(block.get("reasoningContent")) is dict and "reasoningText" in block["reasoningContent"]:
            at = (*path, "reasoningContent", "reasoningText")
            thought = reading.as_object(block["reasoningContent"]["reasoningText"], at)
            extra = {"key": "reasoningText", **(rest(thought, _TEXT) or {})}
            reading.reasoning(reading.as_text(thought.get("text"), (*at, "text")), extra)
            for key in rest(block["reasoningContent"], _REASONING) or ():
                reading.lost((*path, "reasoningContent", key), "beside the reasoning's text")
            known = _THOUGHT
        elif type(block.get("citationsContent")) is dict:
            at = (*path, "citationsContent", "content")
            cited = [
                reading.as_text(reading.as_object(item, (*at, number)).get("text"), (*at, number, "text"))
                for number, item in enumerate(reading.as_list(block["citationsContent"].get("content"), at))
            ]
            reading.text("".join(cited), {"item": block})
            known = frozenset(block)
        elif block:
            known = frozenset(block)
            reading.opaque(block)  # redacted reasoning, results of the server's own calls, images
        if len(block) > 1:
            for key in rest(block, known) or ():  # a block is one thing
                reading.lost((*path, key), "a second thing in one block")

    # -- stream

    def stream_event(self, event: dict[str, Any], into: Assembly) -> None:
        for kind, value in event.items():  # one member, the kind of the event
            at: Path = (kind,)
            body = into.as_object(value, at)
            if kind == "contentBlockDelta":
                self._delta(
                    into.as_object(body.get("delta"), (*at, "delta")), hashable(body.get("contentBlockIndex")), into
                )
            elif kind == "contentBlockStart":
                into.go_on()
                self._start(
                    into.as_object(body.get("start"), (*at, "start")), hashable(body.get("contentBlockIndex")), into
                )
            elif kind == "contentBlockStop":
                self._stopped(into.items.get(hashable(body.get("contentBlockIndex"))), into)
            elif kind == "messageStop":
                into.payload.update(body)
                into.stop(body.get("stopReason"))
                into.finish()
            elif kind == "metadata":
                into.payload.update(body)
            elif kind == "messageStart":
                into.payload["output"] = {"message": {**body, "content": []}}
            elif kind.endswith("Exception"):
                into.refused({"code": kind, **body})
            else:
                into.unknown(kind)

    def frames(self, limit: int) -> Any:
        from ._frames import AwsFrames

        return AwsFrames(limit)

    def _start(self, start: dict[str, Any], index: Any, into: Assembly) -> dict[str, Any]:
        if into.late():
            return {}
        block = {key: dict(value) if type(value) is dict else value for key, value in start.items()}
        content = into.payload.setdefault("output", {"message": {}})["message"].setdefault("content", [])
        path: Path = ("output", "message", "content", len(content))
        content.append(block)
        into.items[index] = block
        call = block.get("toolUse")
        if type(call) is dict and call.get("type") != "server_tool_use":
            into.begin(index, block, path, id=call.get("toolUseId"), name=call.get("name"))
        return block

    def _delta(self, delta: dict[str, Any], index: Any, into: Assembly) -> None:
        """Blocks of text have no start."""
        if into.late():
            return
        block = into.items.get(index)
        if block is None:
            into.go_on()
            block = self._start({}, index, into)
        for key, value in delta.items():
            at: Path = ("contentBlockDelta", "delta", key)
            if key == "text":
                into.text(block.setdefault("text", Pieces()), into.as_text(value, at))
            elif key == "toolUse":
                piece = into.as_text(into.as_object(value, at).get("input"), (*at, "input"))
                call = block.setdefault("toolUse", {})
                slot = into.slot_of(block)
                if slot is not None and piece:
                    call["input"] = slot.pieces
                    into.arguments(slot, piece)
                elif piece:
                    if type(call.get("input")) is not Pieces:
                        call["input"] = Pieces()
                    call["input"].append(piece)
            elif key == "reasoningContent":
                self._thought(into.as_object(value, at), block, at, into)
            elif key == "citation":
                merge(block.setdefault("citationsContent", {"content": []}), "citations", [value])
            else:
                merge(block, key, value)

    def _thought(self, delta: dict[str, Any], block: dict[str, Any], at: Path, into: Assembly) -> None:
        content = block.setdefault("reasoningContent", {})
        for key, value in delta.items():
            if key in ("text", "signature"):
                thought = content.setdefault("reasoningText", {"text": Pieces()})
                if key == "text":
                    into.reasoning(thought["text"], into.as_text(value, (*at, key)))
                else:
                    thought["signature"] = value
            else:
                content[key] = value

    def _stopped(self, block: dict[str, Any] | None, into: Assembly) -> None:
        if block is None:
            return
        slot = into.slot_of(block)
        call = block.get("toolUse")
        if slot is not None:  # whether the model was cut off in it, only the next event tells
            into.stopped(slot)
        elif type(call) is dict:  # of a call that the server ran
            parse_member(call, "input")
        elif "citationsContent" in block and "text" in block:  # whole, the text stands among its citations
            block["citationsContent"]["content"] = [{"text": block.pop("text")}]

    def read_item(self, item: dict[str, Any], path: Path, reading: Reading) -> None:
        self._block(item, path, reading)

    # -- result

    def write_results(self, results: list[tuple[ToolResult, ToolCall | None]], out: Writing) -> Wire:
        blocks = []
        for number, (result, call) in enumerate(results):
            parts = result_parts(result)
            if parts is not None:
                made = [self._part(part, f"$[{number}].content[{n}]", out) for n, part in enumerate(parts)]
                content = [part for part in made if part is not None]
            elif isinstance(result.content, dict) and not result.is_error:
                result_text(result)  # it has to be JSON
                content = [{"json": result.content}]  # nothing but an object is taken
            else:
                content = [{"text": text}] if (text := result_text(result)).strip() else []  # blank text is refused
            if result.is_error and not content:
                content = [{"text": result.error_message or "error"}]  # and so is an error without content
            status = "error" if result.is_error else "success"
            block = {"toolUseId": self.result_id(result, call), "content": content, "status": status}
            blocks.append({"toolResult": block})
        return out.as_object({"role": "user", "content": blocks})

    def _part(self, part: TextPart | ImagePart | FilePart, path: str, out: Writing) -> dict[str, Any] | None:
        """A part of a result as a block; None if there is none for it."""
        if isinstance(part, TextPart):
            return {"text": part.text} if part.text.strip() else None
        source: dict[str, Any]
        if part.url is not None and part.url.startswith("s3://"):
            source = {"s3Location": {"uri": part.url}}
        elif part.data is not None:
            source = {"bytes": part.data if self.raw_bytes else base64_text(part.data)}
        else:
            out.lost("loss.part", path, "Converse takes bytes, or an address in S3")
            return None
        kind = media_type(part)
        if kind in _IMAGES:
            return {"image": {"format": _IMAGES[kind], "source": source}}
        if kind in _VIDEOS:
            return {"video": {"format": _VIDEOS[kind], "source": source}}
        if kind in _DOCUMENTS:
            named = part.name if isinstance(part, FilePart) and part.name else "file"
            name = re.sub(r"[^A-Za-z0-9 ()\[\]-]+", "-", " ".join(named.split()))[:200]
            return {"document": {"format": _DOCUMENTS[kind], "name": name, "source": source}}
        out.lost("loss.part", path, f"Converse takes nothing of the type {kind!r:.80}")
        return None

    def write_assistant(self, message: Message, parts: list[tuple[str, Any]], out: Writing) -> Wire:
        blocks: list[dict[str, Any]] = []
        calls: list[dict[str, Any]] = []
        for path, part in parts:
            own = self.own(part.extra)
            if isinstance(part, TextPart):
                if part.text.strip():  # a blank block is refused
                    blocks.append(own.get("item") or {"text": part.text})
            elif isinstance(part, ReasoningPart):
                if own.pop("key", None) is None:
                    out.lost("loss.reasoning", path, "reasoning of another provider")
                else:
                    blocks.append({"reasoningContent": {"reasoningText": {"text": part.text, **own}}})
            elif isinstance(part, OpaquePart):
                blocks.append(_blobs(part.data, self.raw_bytes))
            elif isinstance(part, CallPart) and part.call.kind == "server":
                blocks.append(_blobs(own["item"], self.raw_bytes))
            elif isinstance(part, CallPart):
                calls.append(self._call_back(part.call))
        # Calls come last, as with Anthropic.
        return out.as_object({"role": "assistant", "content": [*blocks, *calls]})

    def _call_back(self, call: ToolCall) -> dict[str, Any]:
        use = {
            "toolUseId": self.call_id(call.id, f"the call of {call.name!r}"),
            "name": self.name(call.name),
            "input": sent_arguments(call),
        }
        return {"toolUse": {**use, **self.own(call.extra)}}


def _blobs(node: Any, raw: bool, depth: int = 0) -> Any:
    """A block with its blobs as bytes or as base64, however they came: boto3 gives bytes, JSON has base64."""
    if isinstance(node, list):
        return [_blobs(item, raw, depth) for item in node]
    if not isinstance(node, dict) or depth > 10:  # they stand no deeper
        return node
    made = {}
    for key, value in node.items():
        if key in ("bytes", "redactedContent"):
            if raw and isinstance(value, str):
                try:
                    value = b64decode(value, validate=True)
                except ValueError:
                    pass  # not base64: not ours to mend
            elif not raw and isinstance(value, bytes):
                value = base64_text(value)
        made[key] = _blobs(value, raw, depth + 1)
    return made


WIRE = Bedrock
