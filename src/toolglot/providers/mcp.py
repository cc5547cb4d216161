"""The Model Context Protocol: what a server lists, what it is asked to call, what it answers; and messages that are
sampled for it.

A definition is an item of ``tools/list``. A ``tools/call`` is read as a message with one call, whose id is that of the
JSON-RPC request; results are written as ``tools/call`` results, within a JSON-RPC response where there is an id. A
sampled message (``sampling/createMessage``) is a model's message like any other, and `assistant` writes one.

Cannot carry: a choice of one tool (``request`` leaves the others out), whether calls may be parallel, strict mode,
reasoning.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Final
from urllib.parse import quote, unquote

from ..definition import Tool
from ..errors import ConversionError
from ..history import SystemMessage, Turns, UserPart
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
from ._history import Report
from ._names import WireFormat
from ._payload import Path, load
from ._reading import Reading, rest
from ._turns import SOURCE, TurnReader, from_base64, shortest
from ._writing import (
    Wire,
    WireList,
    Writing,
    base64_text,
    pop_beside,
    result_parts,
    result_text,
    sent_arguments,
    system_text,
)

_TEXT: Final = words("type text")
_RESPONSE: Final = words("jsonrpc id role content stopReason tools result error")
_USE: Final = words("name id input")  # `type` tells a sampled call from one of a server
_PARAMS: Final = words("name arguments")
_MESSAGE: Final = words("role content")
_RESULT: Final = words("type toolUseId content structuredContent isError")
_PART: Final = words("type text data mimeType")
_KINDS: Final = words("text image audio resource resource_link")
_BLOCK: Final = _PART | words("resource uri name")
_MISMATCH: Final = "ids of tool_result blocks and tool_use blocks from previous message do not match"
_RULES: Final[dict[str, str | None]] = {  # as the Python SDK checks a request before it is sent
    "history.unknown_role": None,
    "history.orphan_call": _MISMATCH,
    "history.results_not_adjacent": _MISMATCH,
    "history.results_split": _MISMATCH,
    "history.orphan_result": "tool_result blocks do not match any tool_use in the previous message",
    "history.results_mixed": "The last message must contain only tool_result content if any is present",
    "history.missing_id": None,
    "history.arguments_not_object": None,
}


Own = Callable[[Mapping[str, Any]], dict[str, Any]]


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
        self.stop(node, "stopReason", path, reading)
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
            reading.text(reading.text_at(block, "text", path), rest(block, _TEXT))
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
        failed = node.get("isError") is True
        said = "\n".join(part.text for part in parts if isinstance(part, TextPart))
        return ToolResult(id, _answer(node, parts), name, failed, said if failed else None)

    # -- stream

    # MCP has none: a result comes whole.

    # -- result

    def write_results(self, results: list[tuple[ToolResult, ToolCall | None]], out: Writing) -> Wire:
        # In a history they are those of a sampled message, else if the calls were.
        sampled = out.repair is not None or all(
            call is not None and self.own(call.extra).get("type") == "tool_use" for _, call in results
        )
        written = []
        beside: dict[str, Any] = {}
        for number, (result, call) in enumerate(results):
            body = _result(result, f"$[{number}].content", out, self.own)
            if sampled:
                use = {"type": "tool_result", "toolUseId": self.result_id(result, call)}
                block = {**use, **body, **self.own(result.extra)}
                beside |= pop_beside(block)
                written.append(block)
                continue
            id = call.id if call is not None else result.tool_call_id
            id = self.own(call.extra).get("id", id) if call is not None else id  # a number, if it was one
            written.append({"jsonrpc": "2.0", "id": id, "result": body} if id is not None else body)
        if sampled and written:
            return out.as_object({"role": "user", "content": written, **beside})
        return out.as_list(written)

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

    # -- history

    system_member = "systemPrompt"
    interleaves = True
    forms = words("type")
    rules = _RULES
    roles = frozenset(("user", "assistant"))

    def read_request(self, request: dict[str, Any], turns: TurnReader) -> tuple[Any, Path]:
        """The members of ``sampling/createMessage``, or the JSON-RPC request around them."""
        params = request.get("params")
        if "messages" in request or not isinstance(params, dict):
            return super().read_request(request, turns)
        items, at = super().read_request(params, turns)
        for turn in turns.turns:
            turn.extra[SOURCE]["path"] = ("params", *turn.extra[SOURCE]["path"])
        return items, ("params", *at)

    def read_turn(self, items: list[Any], turns: TurnReader) -> None:
        message = items[0]
        role = message.get("role") if isinstance(message, dict) else None
        if role == "assistant":
            turns.assistant({"result": message}, ("result",), rest(message, _MESSAGE))
        elif role == "user":
            self._read_blocks(message, turns)
        else:
            turns.unknown(message)

    def _read_blocks(self, message: dict[str, Any], turns: TurnReader) -> None:
        """A user's message: results, or what the user said."""
        content, extra = message.get("content"), rest(message, _MESSAGE)
        said: list[UserPart] = []
        found = False
        for block in content if isinstance(content, list) else [content]:
            if not isinstance(block, dict) or block.get("type") != "tool_result":
                said += [] if block is None else [turns.part(block, _read_said, _PART)]
                continue
            if said:
                turns.user(shortest(said) or "", extra)
            said, found = [], True
            inner = block.get("content")
            if inner is not None and not (isinstance(inner, list) and all(isinstance(one, dict) for one in inner)):
                turns.lost(("content",), "expected a list of objects")
            # What no part is for is told as JSON, whole.
            parts: list[Any] = [
                turns.part(one, _read_part, _known(one))
                for one in (inner if isinstance(inner, list) else ())
                if isinstance(one, dict)
            ]
            failed = block.get("isError") is True
            own = rest(block, _RESULT)
            turns.result(block.get("toolUseId"), _answer(block, parts), is_error=failed, extra=own, beside=extra)
        if said or not found:
            turns.user(shortest(said) or "", extra)

    def read_system(self, value: Any, turns: TurnReader) -> None:
        turns.system(turns.content(value, (), lambda part: None, frozenset()))

    def write_user(self, content: str | list[tuple[str, UserPart]], extra: dict[str, Any], out: Writing) -> Any:
        blocks: list[Any] = [{"type": "text", "text": content}] if isinstance(content, str) else []
        for path, part in () if isinstance(content, str) else content:
            if isinstance(part, OpaquePart):
                blocks.append(part.data)
                continue
            block = _part(part, path, Writing(), self.own(part.extra))
            if block is None or str(block["type"]).startswith("resource"):
                out.lost("loss.part", path, "sampled messages hold text, and the bytes of images and sound")
            else:
                blocks.append(block)
        # Before the revision of 2025-11 a message has one block.
        return {"role": "user", "content": blocks[0] if len(blocks) == 1 else blocks, **extra}

    def write_system(self, turns: list[SystemMessage], out: Writing) -> Any:
        return system_text(turns, out)

    def check(self, turns: Turns, report: Report) -> None:
        mixed: dict[Path, list[bool]] = {}
        for turn in turns:
            mixed.setdefault(turn.extra[SOURCE]["path"], []).append(isinstance(turn, ToolResult))
        for number, turn in enumerate(turns):
            kinds = mixed[turn.extra[SOURCE]["path"]]
            if turn.extra[SOURCE]["place"] == 0 and any(kinds) and not all(kinds):
                report("history.results_mixed", number, "there are results in it, and something else")

    # -- of a server

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


def _result(result: ToolResult, path: str, out: Writing, own: Own) -> dict[str, Any]:
    """A ``CallToolResult``."""
    parts = result_parts(result)
    if parts is None:
        text = result_text(result)
        content: list[Any] = [{"type": "text", "text": text}] if text else []
        # Before the revision of 2026 only an object may be structured; those who are older read its text.
        structured = {"structuredContent": result.content} if isinstance(result.content, dict) else {}
        return {"content": content, **structured, "isError": result.is_error}
    made = [_part(part, f"{path}[{number}]", out, own(part.extra)) for number, part in enumerate(parts)]
    return {"content": [part for part in made if part is not None], "isError": result.is_error}


def _part(part: Any, path: str, out: Writing, own: dict[str, Any]) -> dict[str, Any] | None:
    """A part of a result as a block; None if there is none for it."""
    if isinstance(part, TextPart):
        return {"type": "text", "text": part.text, **own}
    name = (part.name if isinstance(part, FilePart) else None) or "file"
    if part.url is not None:
        return {"type": "resource_link", "uri": part.url, "name": name, "mimeType": part.media_type, **own}
    if part.data is None:
        out.lost("loss.part", path, "there is neither data nor an address")
        return None
    data = base64_text(part.data)
    kind = "image" if isinstance(part, ImagePart) else part.media_type.partition("/")[0]
    if kind in ("image", "audio"):
        return {"type": kind, "data": data, "mimeType": part.media_type, **own}
    resource = {"uri": f"file:///{quote(name)}", "mimeType": part.media_type, "blob": data}
    return {"type": "resource", "resource": resource, **own}


def _known(block: dict[str, Any]) -> frozenset[str]:
    """What `_read_part` reads of a block: all of it, if no part is for it, for then it is told as JSON."""
    kind = block.get("type")
    return _BLOCK if isinstance(kind, str) and kind in _KINDS else frozenset(block)


def _answer(node: dict[str, Any], parts: list[Any]) -> Any:
    """The content of a result: its parts, its only text, or what is structured if that is all of it."""
    texts = [part.text for part in parts if isinstance(part, TextPart)]
    structured = node.get("structuredContent")
    if structured is not None and (not parts or (len(parts) == len(texts) == 1 and _says(texts[0], structured))):
        return structured
    if structured is not None:
        return [*parts, TextPart(_told(structured))]
    if len(parts) == len(texts) <= 1 and not any(part.extra for part in parts):
        return "".join(texts)
    return parts


def _read_said(block: dict[str, Any]) -> TextPart | ImagePart | FilePart | None:
    """A block of a sampled message; None if it is of another kind."""
    kind = block.get("type")
    if isinstance(block.get("text") if kind == "text" else None, str):
        return _read_part(block)
    return _read_part(block) if kind in ("image", "audio") and from_base64(block.get("data")) is not None else None


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
        data = from_base64(encoded)
        if data is None:
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
