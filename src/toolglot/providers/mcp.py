"""The Model Context Protocol: what a server lists, what it is asked to call, what it answers; and messages that are
sampled for it.

A definition is an item of ``tools/list``. A ``tools/call`` is read as a message with one call, whose id is that of the
JSON-RPC request; results are written as ``tools/call`` results, within a JSON-RPC response where there is an id. A
sampled message (``sampling/createMessage``) is a model's message like any other, and `assistant` writes one.

Cannot carry: a choice of one tool (``request`` leaves the others out), whether calls may be parallel, strict mode,
reasoning.
"""

from __future__ import annotations

import binascii
from base64 import b64decode
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final
from urllib.parse import quote, unquote

from ..definition import Tool
from ..errors import ConversionError
from ..schema.names import NameRule
from ..schema.subset import ANY, words
from ..types import (
    CallPart,
    FilePart,
    ImagePart,
    Message,
    OpaquePart,
    StopReason,
    TextPart,
    ToolCall,
    ToolChoice,
    ToolResult,
    json_text,
)
from ..values.json import loads
from ._base import NewReading, WireProvider
from ._names import WireFormat
from ._payload import Path, load
from ._reading import Reading, rest
from ._writing import Wire, WireList, Writing, base64_text, result_parts, result_text, sent_arguments

_TEXT: Final = words("type text")
_RESPONSE: Final = words("jsonrpc id role content stopReason tools result error")
_USE: Final = words("name id input")  # `type` tells a sampled call from one of a server
_PARAMS: Final = words("name arguments")


class MCP(WireProvider):
    """``tools/list``, ``tools/call``, and sampled messages."""

    wire = WireFormat.MCP
    tool_names = NameRule("A-Za-z0-9_.-", 128)
    modes = frozenset({"auto", "none", "required"})
    limits_choice = False
    stop_reasons: ClassVar[Mapping[str, StopReason]] = {
        "endTurn": "stop",
        "stopSequence": "stop",
        "toolUse": "tool_calls",
        "maxTokens": "length",
    }

    # -- definition

    def write_tool(self, tool: Tool, name: str, path: str, out: Writing) -> dict[str, Any]:
        schema, _ = self.schema(tool, path, out, ANY, None)
        about = {"description": tool.description} if tool.description else {}
        return {"name": name, **about, "inputSchema": schema, **self.own(tool.extra)}

    # -- choice

    def write_choice(self, choice: ToolChoice, named: list[Tool], out: Writing) -> dict[str, Any]:
        if choice.parallel is not None:
            out.lost("loss.parallel", "$.parallel", "MCP does not take it")
        return {"toolChoice": {"mode": choice.mode}}

    # -- response

    def from_list(self, items: list[Any]) -> dict[str, Any]:
        """A batch of JSON-RPC, or the blocks of a message."""
        batch = any(type(item) is dict and "jsonrpc" in item for item in items)
        return {"batch" if batch else self.list_member: items}

    def read(self, payload: dict[str, Any], new: NewReading) -> list[Reading]:
        reading = new()
        if type(payload.get("batch")) is list:
            for number, item in enumerate(payload["batch"]):
                self._request(reading.as_object(item, ("batch", number)), ("batch", number), reading)
            return [reading]
        if "method" in payload:
            self._request(payload, (), reading)
            return [reading]
        path: Path = ("result",) if payload.get("result") is not None else ()
        node = reading.as_object(payload["result"], path) if path else payload
        if "name" in node and "content" not in node and "type" not in node:
            self._call(node, path, reading, None, {})
            return [reading]
        self.stop(node.get("stopReason"), reading, *path, "stopReason")
        reading.keep(node, _RESPONSE)
        if node.get("isError") is True:
            reading.stop_reason = "error"
        if "tools" in node:
            reading.lost((*path, "tools"), "definitions; Tool.from_any reads them")
        content = node.get("content")
        if type(content) is dict:  # a sampled message may have one block alone
            self._block(content, (*path, "content"), reading)
        else:
            for number, item in enumerate(reading.as_list(content, (*path, "content"))):
                at = (*path, "content", number)
                self._block(reading.as_object(item, at), at, reading)
        return [reading]

    def _request(self, request: dict[str, Any], path: Path, reading: Reading) -> None:
        if request.get("method") == "tools/call":
            at = (*path, "params")
            extra = {"id": request["id"]} if "id" in request else {}
            self._call(reading.as_object(request.get("params"), at), at, reading, request.get("id"), extra)
        elif request:
            reading.lost((*path, "method") if "method" in request else path, "not a tools/call")

    def _call(self, params: dict[str, Any], path: Path, reading: Reading, id: Any, extra: dict[str, Any]) -> None:
        beside = {**extra, **(rest(params, _PARAMS) or {})}
        reading.call(params.get("name"), params.get("arguments"), path, id=id, extra=beside)

    def _block(self, block: dict[str, Any], path: Path, reading: Reading) -> None:
        kind = block.get("type")
        if kind == "text":
            reading.text(reading.as_text(block.get("text"), (*path, "text")), rest(block, _TEXT))
        elif kind == "tool_use":
            extra = rest(block, _USE)
            reading.call(block.get("name"), block.get("input"), path, key="input", id=block.get("id"), extra=extra)
        elif block:
            reading.opaque(block)  # images, sound, resources

    def read_result(self, response: Any, call: ToolCall | None = None) -> ToolResult:
        """A server's answer to a ``tools/call`` as a `ToolResult`, which every provider can be given.

        ``response`` is the result or the JSON-RPC response around it: JSON text, bytes, JSON values or the SDK's
        object. Nothing of it is lost: structured content is the content, unless there is something else beside it.

        >>> from toolglot import get_provider
        >>> get_provider("mcp").read_result({"content": [{"type": "text", "text": "4 C"}]}).content
        '4 C'
        """
        payload, _ = load(response)
        payload = payload if isinstance(payload, dict) else {}
        id = call.id if call is not None else payload.get("id")
        id = str(id) if type(id) is int else id if type(id) is str else None
        name = call.name if call is not None else None
        if isinstance(payload.get("error"), dict):
            said = payload["error"].get("message")
            return ToolResult.failure(id, said if isinstance(said, str) else _told(payload["error"]), name)
        node = payload["result"] if isinstance(payload.get("result"), dict) else payload
        if node.get("resultType", "complete") != "complete":
            raise ConversionError(f"the server's answer is not final: {node['resultType']!r:.80}")
        blocks = node.get("content")
        parts = [_read_part(block) for block in blocks] if isinstance(blocks, list) else []
        texts = [part.text for part in parts if isinstance(part, TextPart)]
        content: Any = parts
        structured = node.get("structuredContent")
        if structured is not None and (not parts or (len(parts) == len(texts) == 1 and _says(texts[0], structured))):
            content = structured
        elif structured is not None:
            content = [*parts, TextPart(_told(structured))]
        elif len(parts) == len(texts) <= 1:
            content = "".join(texts)
        failed = node.get("isError") is True
        return ToolResult(id, content, name, failed, "\n".join(texts) if failed else None)

    # -- stream

    # MCP has none: a result comes whole.

    # -- result

    def write_results(self, results: list[tuple[ToolResult, ToolCall | None]], out: Writing) -> Wire:
        sampled = [call is not None and self.own(call.extra).get("type") == "tool_use" for _, call in results]
        written = []
        for number, (result, call) in enumerate(results):
            body = _result(result, f"$[{number}].content", out)
            if all(sampled):
                written.append({"type": "tool_result", "toolUseId": self.result_id(result, call), **body})
                continue
            id = call.id if call is not None else result.tool_call_id
            id = self.own(call.extra).get("id", id) if call is not None else id  # a number, if it was one
            written.append({"jsonrpc": "2.0", "id": id, "result": body} if id is not None else body)
        return out.as_object({"role": "user", "content": written}) if all(sampled) and written else out.as_list(written)

    def write_assistant(self, message: Message, parts: list[tuple[str, Any]], out: Writing) -> Wire:
        blocks: list[dict[str, Any]] = []
        for path, part in parts:
            if isinstance(part, TextPart):
                blocks.append({"type": "text", "text": part.text, **self.own(part.extra)})
            elif isinstance(part, OpaquePart):
                blocks.append(part.data)
            elif isinstance(part, CallPart):
                call = part.call
                meta = {key: value for key, value in self.own(call.extra).items() if key == "_meta"}
                id = self.call_id(call.id, f"the call of {call.name!r}")
                use = {"type": "tool_use", "id": id, "name": self.name(call.name), "input": sent_arguments(call)}
                blocks.append({**use, **meta})
            else:
                out.lost("loss.reasoning", path, "MCP's messages have no reasoning")
        return out.as_object({"role": "assistant", "content": blocks})

    def call_requests(self, calls: Sequence[ToolCall] | Message) -> WireList:
        """A JSON-RPC request ``tools/call`` for each call that a model made, whatever its provider.

        >>> from toolglot import get_provider
        >>> get_provider("mcp").call_requests([ToolCall("ping", id="1")])[0]["params"]
        {'name': 'ping', 'arguments': {}}
        """
        made = []
        for call in calls.tool_calls if isinstance(calls, Message) else calls:
            id = self.own(call.extra).get("id", self.call_id(call.id, f"the call of {call.name!r}"))
            params = {"name": self.name(call.name), "arguments": sent_arguments(call)}
            made.append({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
        return WireList(made)


def _result(result: ToolResult, path: str, out: Writing) -> dict[str, Any]:
    """A ``CallToolResult``."""
    parts = result_parts(result)
    if parts is None:
        text = result_text(result)
        content: list[Any] = [{"type": "text", "text": text}] if text else []
        # Before the revision of 2026 only an object may be structured; those who are older read its text.
        structured = {"structuredContent": result.content} if isinstance(result.content, dict) else {}
        return {"content": content, **structured, "isError": result.is_error}
    made = [_part(part, f"{path}[{number}]", out) for number, part in enumerate(parts)]
    return {"content": [part for part in made if part is not None], "isError": result.is_error}


def _part(part: TextPart | ImagePart | FilePart, path: str, out: Writing) -> dict[str, Any] | None:
    """A part of a result as a block; None if there is none for it."""
    if isinstance(part, TextPart):
        return {"type": "text", "text": part.text}
    name = (part.name if isinstance(part, FilePart) else None) or "file"
    if part.url is not None:
        return {"type": "resource_link", "uri": part.url, "name": name, "mimeType": part.media_type}
    if part.data is None:
        out.lost("loss.part", path, "there is neither data nor an address")
        return None
    data = base64_text(part.data)
    kind = "image" if isinstance(part, ImagePart) else part.media_type.partition("/")[0]
    if kind in ("image", "audio"):
        return {"type": kind, "data": data, "mimeType": part.media_type}
    return {
        "type": "resource",
        "resource": {"uri": f"file:///{quote(name)}", "mimeType": part.media_type, "blob": data},
    }


def _read_part(block: Any) -> TextPart | ImagePart | FilePart:
    """A block of a server's answer; what has no part of its own is told as JSON."""
    node = block if isinstance(block, dict) else {}
    kind = node.get("type")
    if kind == "resource" and isinstance(node.get("resource"), dict):
        node = node["resource"]
    uri, mime = node.get("uri"), node.get("mimeType")
    name = unquote(uri.rpartition("/")[2]) or None if isinstance(uri, str) else None
    if kind in ("text", "resource") and isinstance(node.get("text"), str):
        return TextPart(node["text"])
    if kind == "resource_link" and isinstance(uri, str) and uri.startswith(("https://", "http://")):
        named = node.get("name") if isinstance(node.get("name"), str) else name
        return FilePart(None, mime if isinstance(mime, str) else "application/octet-stream", named, uri)
    encoded = node.get("blob" if kind == "resource" else "data")
    if kind in ("image", "audio", "resource") and isinstance(encoded, str):
        try:
            data = b64decode(encoded, validate=True)
        except (binascii.Error, ValueError):
            return TextPart(_told(block))
        if kind == "image":
            return ImagePart(data, mime if isinstance(mime, str) else "image/png")
        return FilePart(data, mime if isinstance(mime, str) else "application/octet-stream", name)
    return TextPart(_told(block))


def _told(value: Any) -> str:
    """A value as JSON; raises `ConversionError` if that cannot be."""
    return json_text(value) if isinstance(value, str) else result_text(ToolResult(None, value))


def _says(text: str, value: Any) -> bool:
    """Whether ``text`` is the JSON of ``value``."""
    from ..errors import Fault

    try:
        return bool(loads(text) == value)
    except Fault:
        return False


WIRE = MCP
