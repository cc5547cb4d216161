"""Amazon Bedrock's Converse.

Cannot carry: a choice of no tool (``request`` leaves all out; a history with calls is refused then) or of several,
whether calls may be parallel, images and files of other than its own types, reasoning of others. Written is JSON, with
bytes as base64; boto3 wants the bytes themselves, see `Bedrock.for_boto3`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from copy import copy
from typing import Any, ClassVar, Final

from ..definition import Tool
from ..errors import ConversionError
from ..history import SystemMessage, Turns, UserPart
from ..schema.names import NameRule
from ..schema.subset import words
from ..types import (
    CallPart,
    FilePart,
    Message,
    OpaquePart,
    Part,
    ReasoningPart,
    StopReason,
    TextPart,
    ToolCall,
    ToolChoice,
    ToolResult,
)
from ._base import NewReading, WireProvider
from ._bedrock_events import BlockStream
from ._bedrock_parts import DOCUMENTS, IMAGES, RULES, VIDEOS, blobs, content_of
from ._history import Report
from ._names import WireFormat
from ._ordinary import Unusual, call_of, keep, ordinary_message
from ._payload import Path
from ._reading import Reading, rest
from ._turns import TurnReader
from ._writing import Wire, Writing, base64_text, media_type, pop_beside, result_parts, result_text, sent_arguments
from .anthropic import PLAIN, STRICT

_CALL: Final = words("toolUseId name input")
_RESPONSE: Final = words("output message content toolUse role stopReason usage error Error ResponseMetadata")
_MESSAGE: Final = words("role content toolUse")
_REFUSALS: Final = ("Error", "message", "Message")
_TEXT: Final = words("text")
_USE: Final = words("toolUse")
_THOUGHT: Final = words("reasoningContent")
_REASONING: Final = words("reasoningText")
_SAID: Final = words("role content")
_RESULT: Final = words("toolUseId content status")
# Whose wire format the bodies of InvokeModel have, by what a model's id begins with. Others take a prompt.
_FAMILIES: Final = {
    "ai21.jamba": "openai_compatible",
    "amazon.nova": "bedrock",
    "anthropic.": "anthropic",
    "cohere.command-r": "cohere_v1",
    "mistral.": "mistral",
    "openai.": "openai_compatible",
}


class Bedrock(BlockStream):
    """Converse."""

    wire = WireFormat.BEDROCK
    call_ids = NameRule("A-Za-z0-9_.:-")
    modes = frozenset({"auto", "required", "named"})
    limits_choice = False
    raw_bytes = False
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

        Its streams are those of ``InvokeModelWithResponseStream``, each event in a ``chunk``.

        Raises `ConversionError` for a model that takes a prompt and answers in text: a text format reads its calls.

        >>> from toolglot import get_provider
        >>> get_provider("bedrock").for_invoke_model("us.anthropic.claude-sonnet-4-20250514-v1:0")
        get_provider('anthropic')
        """
        from ._api import get_provider

        name = "." + model.rpartition("/")[2]  # an ARN ends with the id, which may begin with a region
        for family, provider in _FAMILIES.items():
            if f".{family}" in name:
                if provider == "bedrock":
                    return self
                made = copy(get_provider(provider))
                made.binary = True
                return made
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
        self.stop(payload, "stopReason", (), reading)
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
            if node.get(key) is not None:
                node = reading.object_at(node, key, path)
                path = (*path, key)
        if path:
            reading.keep(node, _MESSAGE)
        if "toolUse" in node:  # a block by itself
            self._block(node, path, reading)
            return [reading]
        blocks = reading.list_at(node, "content", path)
        last = len(blocks) - 1 if reading.cut else -1
        for number, item in enumerate(blocks):
            at = (*path, "content", number)
            block = item if type(item) is dict else reading.as_object(item, at)
            # At the limit the last call may lack its end, and an input that was cut off still is an object.
            call = block.get("toolUse") if number == last else None
            if isinstance(call, dict) and call.get("type") != "server_tool_use":
                reading.truncated_call(call.get("name"), (*at, "toolUse"), call.get("toolUseId"))
            else:
                self._block(block, at, reading)
        if payload.get("stopReason") == "malformed_tool_use" and CallPart not in map(type, reading.parts):
            reading.unreadable_call("the provider could not read the model's call", ("stopReason",))
        return [reading]

    def _block(self, block: dict[str, Any], path: Path, reading: Reading) -> None:
        known = _USE
        call = block.get("toolUse")
        if call is not None:
            at = (*path, "toolUse")
            if type(call) is not dict:
                call = reading.as_object(call, at)
            if call.get("type") == "server_tool_use":
                reading.server_call(call.get("name"), call.get("input"), call.get("toolUseId"), block)
            else:
                self.read_item(call, at, reading)
        elif "text" in block:
            known = _TEXT
            reading.text(reading.text_at(block, "text", path))
        elif type(block.get("reasoningContent")) is dict and "reasoningText" in block["reasoningContent"]:
            at = (*path, "reasoningContent", "reasoningText")
            thought = reading.as_object(block["reasoningContent"]["reasoningText"], at)
            extra = {"key": "reasoningText", **(rest(thought, _TEXT) or {})}
            reading.reasoning(reading.text_at(thought, "text", at), extra)
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

    def read_ordinary(self, payload: dict[str, Any]) -> Message:
        reason, said = payload["stopReason"], payload["output"]
        said = said["message"] if type(said) is dict else None
        if type(reason) is not str or type(said) is not dict or type(said["content"]) is not list or "toolUse" in said:
            raise Unusual
        parts: list[Part] = []
        calls: list[ToolCall] = []
        text = ""
        for block in said["content"]:
            if type(block) is not dict or len(block) != 1:
                raise Unusual
            use = block.get("toolUse")
            if type(use) is dict and len(use) == 3:
                call = call_of(self._wire, len(calls), use["toolUseId"], use["name"], use["input"])
                calls.append(call)
                parts.append(CallPart(call, None, {}))
            elif type(block["text"]) is str and block["text"]:
                parts.append(TextPart(block["text"], None, {}))
                text += block["text"]
            else:
                raise Unusual
        extra = {"stop_reason": reason}
        keep(payload, _RESPONSE, extra)
        if not _MESSAGE.issuperset(said):
            keep(said, _MESSAGE, extra)
        stop = self.stop_reasons.get(reason, "other")
        return ordinary_message(self._name, self._wire, parts, calls, text, "", stop, payload.get("usage"), extra)

    # -- stream

    # In `BlockStream`.

    def read_item(self, item: dict[str, Any], path: Path, reading: Reading) -> None:
        id, extra = item.get("toolUseId"), rest(item, _CALL)
        reading.call(item.get("name"), item.get("input"), path, key="input", id=id, extra=extra)

    # -- result

    def write_results(self, results: list[tuple[ToolResult, ToolCall | None]], out: Writing) -> Wire:
        blocks = []
        beside: dict[str, Any] = {}
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
            block: dict[str, Any] = {"toolUseId": self.result_id(result, call), "content": content, "status": status}
            block |= self.own(result.extra)
            beside |= pop_beside(block)
            blocks.append({"toolResult": block})
        return out.as_object({"role": "user", "content": blocks, **beside})

    def _part(self, part: UserPart, path: str, out: Writing) -> dict[str, Any] | None:
        """A part of a result or of a user's message as a block; None if there is none for it."""
        own = self.own(part.extra)
        if isinstance(part, OpaquePart):
            return part.data  # type: ignore[no-any-return]
        if isinstance(part, TextPart):
            if "guardContent" in own:
                return {"guardContent": {"text": {**own["guardContent"], "text": part.text}}}
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
        if kind in IMAGES:
            return {"image": {"format": IMAGES[kind], "source": source, **own}}
        if kind in VIDEOS:
            return {"video": {"format": VIDEOS[kind], "source": source, **own}}
        if kind in DOCUMENTS:
            named = part.name if isinstance(part, FilePart) and part.name else "file"
            name = re.sub(r"[^A-Za-z0-9 ()\[\]-]+", "-", " ".join(named.split()))[:200]
            return {"document": {"format": DOCUMENTS[kind], "name": name, "source": source, **own}}
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
                blocks.append(blobs(part.data, self.raw_bytes))
            elif isinstance(part, CallPart) and part.call.kind == "server":
                blocks.append(blobs(own["item"], self.raw_bytes))
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

    # -- history

    system_member = "system"
    joins = True
    opaque_results = True
    rules = RULES
    roles = frozenset(("user", "assistant", "system"))

    def read_turn(self, items: list[Any], turns: TurnReader) -> None:
        message = items[0]
        role = message.get("role") if isinstance(message, dict) else None
        if role == "assistant":
            turns.assistant({"output": {"message": message}}, ("output", "message"), rest(message, _SAID))
        elif role == "user":
            self._read_blocks(message, turns)
        elif role == "system":
            turns.system(content_of(message.get("content"), ("content",), turns), rest(message, _SAID))
        else:
            turns.unknown(message)

    def _read_blocks(self, message: dict[str, Any], turns: TurnReader) -> None:
        """A user's message: runs of results, and of what the user said."""
        blocks, extra = message.get("content"), rest(message, _SAID)
        said: list[Any] = []
        found = False
        for block in blocks if isinstance(blocks, list) else ():
            result = block.get("toolResult") if isinstance(block, dict) else None
            if not isinstance(result, dict):
                said.append(block)
                continue
            if said:
                turns.user(content_of(said, ("content",), turns), extra)
            said, found = [], True
            content = content_of(result.get("content"), ("content",), turns)
            failed = result.get("status") == "error"
            turns.result(result.get("toolUseId"), content, is_error=failed, extra=rest(result, _RESULT), beside=extra)
        if said or not found:
            turns.user(content_of(said or blocks, ("content",), turns), extra)

    def read_system(self, value: Any, turns: TurnReader) -> None:
        turns.system(content_of(value, (), turns))

    def write_user(self, content: str | list[tuple[str, UserPart]], extra: dict[str, Any], out: Writing) -> Any:
        parts = [("$.content", TextPart(content))] if isinstance(content, str) else content
        made = [self._part(part, path, out) for path, part in parts]
        return {"role": "user", "content": [block for block in made if block is not None], **extra}

    def write_system(self, turns: list[SystemMessage], out: Writing) -> Any:
        blocks = []
        for number, turn in enumerate(turns):
            for place, part in enumerate([TextPart(turn.content)] if isinstance(turn.content, str) else turn.content):
                takes = isinstance(part, TextPart) or (isinstance(part, OpaquePart) and self.wire in part.extra)
                made = self._part(part, "$", out) if takes else None
                if not takes:
                    out.lost("loss.part", f"$[{number}].content[{place}]", "the system prompt is text")
                blocks += [] if made is None else [made]
        return blocks or None

    def write_request(self, items: list[Any], system: Any) -> dict[str, Any]:
        return super().write_request(blobs(items, self.raw_bytes), blobs(system, self.raw_bytes))

    def join(self, messages: list[dict[str, Any]]) -> dict[str, Any]:
        blocks: list[Any] = []
        joined: dict[str, Any] = {}
        for message in messages:
            content = message.get("content")
            blocks += content if isinstance(content, list) else [] if content is None else [content]
            joined |= message
        return {**joined, "content": blocks}

    def declared(self, request: dict[str, Any]) -> Any:
        return request.get("toolConfig")

    def check(self, turns: Turns, report: Report) -> None:
        for number, turn in enumerate(turns):
            if isinstance(turn, ToolResult):
                if turn.is_error and turn.content in ("", []):
                    report("history.empty_result", number, "an error without a content", turn.tool_call_id)
                continue
            content = turn.parts if isinstance(turn, Message) else turn.content
            for part in [TextPart(content)] if isinstance(content, str) else content:
                if isinstance(part, TextPart) and part.text and part.text.isspace():
                    report("history.empty_text", number, "a blank text", part.text)


WIRE = Bedrock
