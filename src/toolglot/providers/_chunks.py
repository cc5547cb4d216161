"""The chunks in which Chat Completions are streamed, whoever speaks them: `stream` of `OpenAIChat` and `Mistral`.

The official client joins ids and names that are sent again, and calls whose chunks share an index. Here a call's id and
name are set once, and a new id at a used index begins another call.
"""

from __future__ import annotations

from typing import Any, ClassVar, Final

from ..schema.subset import words
from ._assembly import Assembly, Slot
from ._base import WireProvider
from ._payload import Path
from ._pieces import Balance, Pieces, hashable, merge, number_of

__all__ = ["REASONING", "SERVER", "ChunkStream"]

REASONING: Final = ("reasoning_content", "reasoning")
SERVER: Final = "TOOL_CALL_TYPE_"  # the type of xAI's own tools begins so, which only its SDK shows
CALL: Final = words("id type function index custom")


class ChunkStream(WireProvider):
    """A wire format that is streamed as ``choices[].delta``."""

    stream_ends_with = "a finish_reason, or [DONE]"
    # What stands for an id that is missing, and whether parts of content may be thinking.
    no_ids: ClassVar[frozenset[str]] = frozenset(("",))
    thinking_parts: ClassVar[bool] = False

    def stream_event(self, event: dict[str, Any], into: Assembly) -> None:
        payload = into.payload
        if "choices" not in event and "usage" not in event:
            into.unknown(event.get("object") or event.get("type"))
        for key in ("id", "model"):
            if key not in payload and event.get(key) is not None:
                payload[key] = event[key]
        if event.get("usage") is not None:
            payload["usage"] = event["usage"]
        for number, item in enumerate(into.as_list(event.get("choices"), ("choices",))):
            path: Path = ("choices", number)
            choice = into.as_object(item, path)
            index = hashable(choice.get("index")) or 0
            if "choices" not in payload:
                payload["choices"] = [{"index": index, "message": {}}]
            if index != payload["choices"][0]["index"]:
                into.choices.add(index)
                continue
            key = "delta" if choice.get("delta") is not None else "message"
            self._delta(into.as_object(choice.get(key), (*path, key)), (*path, key), into)
            reason = choice.get("finish_reason")
            if reason:
                if "finish_reason" not in payload["choices"][0]:
                    payload["choices"][0]["finish_reason"] = reason
                    into.stop(reason)
                into.finish()

    def _delta(self, delta: dict[str, Any], path: Path, into: Assembly) -> None:
        message = into.payload["choices"][0]["message"]
        for key, value in delta.items():
            if value is None or value in ("", []):
                continue
            if key == "content":
                self._content_delta(value, message, (*path, key), into)
            elif key == "tool_calls":
                items = [value] if type(value) is dict else into.as_list(value, (*path, key))
                for number, item in enumerate(items):
                    self._fragment(into.as_object(item, (*path, key, number)), into)
            elif key in REASONING:
                if into.state.setdefault("reasoning", key) == key:  # some send the same twice
                    into.reasoning(message.setdefault(key, Pieces()), into.as_text(value, (*path, key)))
            elif key == "function_call":
                self._legacy(into.as_object(value, (*path, key)), message, into)
            elif key == "refusal":
                message.setdefault(key, Pieces()).append(into.as_text(value, (*path, key)))
            elif key != "role" and not into.late():
                merge(message, key, value)

    def _content_delta(self, content: Any, message: dict[str, Any], path: Path, into: Assembly) -> None:
        """Text, or a list of parts, as some send it."""
        if type(content) is str and type(message.setdefault("content", Pieces())) is Pieces:
            into.text(message["content"], content)
            return
        begun = message.get("content")
        if type(begun) is not list:
            message["content"] = [{"type": "text", "text": begun}] if begun else []
        parts = [{"type": "text", "text": content}] if type(content) is str else into.as_list(content, path)
        for number, item in enumerate(parts):
            part = into.as_object(item, (*path, number))
            last = message["content"][-1] if message["content"] else {}
            if part.get("type") == "text":
                if type(last.get("text")) is not Pieces:
                    last = {**part, "text": Pieces()}
                    message["content"].append(last)
                into.text(last["text"], into.as_text(part.get("text"), (*path, number, "text")))
            elif self.thinking_parts and part.get("type") == "thinking":
                self._thinking(part, last, message, (*path, number, "thinking"), into)
            elif part and not into.late():
                message["content"].append(part)

    def _thinking(self, part: dict[str, Any], last: Any, message: dict[str, Any], path: Path, into: Assembly) -> None:
        if into.late():
            return
        if last.get("type") != "thinking":
            last = {"type": "thinking", "thinking": []}
            message["content"].append(last)
        last.update({key: value for key, value in part.items() if key != "thinking" and value is not None})
        for number, item in enumerate(into.as_list(part.get("thinking"), path)):
            thought = into.as_object(item, (*path, number))
            before = last["thinking"][-1] if last["thinking"] else {}
            if thought.get("type") == "text":
                if type(before.get("text")) is not Pieces:
                    before = {**thought, "text": Pieces()}
                    last["thinking"].append(before)
                into.reasoning(before["text"], into.as_text(thought.get("text"), (*path, number, "text")))
            elif thought:
                last["thinking"].append(thought)

    def _fragment(self, item: dict[str, Any], into: Assembly) -> None:
        """A piece of a call: the index says of which, and a new id at a used index, that it is another."""
        if not item:
            return
        kind = item.get("type")
        if type(kind) is str and kind.startswith(SERVER):
            self._server(item, into)
            return
        held = [item[key] for key in ("function", "custom") if type(item.get(key)) is dict]
        function: dict[str, Any] = held[0] if held else item
        id = self.given_id(item)
        name = function.get("name")
        arguments = function.get("arguments", function.get("input"))
        slot = self._slot(item.get("index"), id, name, arguments, into)
        if slot is None:
            if into.late():
                return
            slot = self._begin(item, id, name, into)
        else:
            into.named(slot, id, name)
            if slot.id is not None:
                slot.item["id"] = slot.id
        inner = slot.item.get("custom" if slot.custom else "function")
        if inner is not None:
            inner["name"] = slot.name
            if type(arguments) is str:
                into.arguments(slot, arguments)
            elif arguments is not None and not slot.ended:
                inner["arguments"] = arguments  # whole, as an object
                slot.balance = None
        for key, value in item.items():
            if key not in CALL and value is not None:
                slot.item[key] = value

    def _server(self, item: dict[str, Any], into: Assembly) -> None:
        """A call that the provider runs itself, which comes whole: nobody has to answer it, so no event tells of it."""
        key = ("server", hashable(item.get("id")))
        if key not in into.items:
            if into.late():
                return
            into.items[key] = {}
            into.payload["choices"][0]["message"].setdefault("tool_calls", []).append(into.items[key])
        into.items[key].update({name: value for name, value in item.items() if value is not None})

    def given_id(self, item: dict[str, Any]) -> Any:
        """A call's id, None if something stands for a missing one."""
        id = item.get("id")
        return None if type(id) is str and id in self.no_ids else id

    def _slot(self, index: Any, id: Any, name: Any, arguments: Any, into: Assembly) -> Slot | None:
        """The call that a fragment belongs to; None: a new one."""
        index = number_of(index)
        key = hashable(id)
        if key is not None:
            slot = into.slots.get((index, key))
            if slot is not None:
                return slot
        slot = into.slots.get(index) if index is not None else (into.calls[-1] if into.calls else None)
        if slot is None or (key is not None and slot.id is not None and slot.id != str(id)):
            return None
        if key is None and name and slot.name is not None:
            # Without an id: another name begins another call; so does the same one if this call has its arguments,
            # unless it is only sent again.
            done = slot.balance is None or slot.balance.whole
            begins = type(arguments) is dict or (type(arguments) is str and arguments.lstrip()[:1] == "{")
            if name != slot.name or (done and (begins or index is None)):
                return None
        return slot

    def _begin(self, item: dict[str, Any], id: Any, name: Any, into: Assembly) -> Slot:
        calls = into.payload["choices"][0]["message"].setdefault("tool_calls", [])
        where: Path = ("choices", 0, "message", "tool_calls", len(calls))
        custom = type(item.get("custom")) is dict
        call: dict[str, Any] = {"id": id, "type": item.get("type") or ("custom" if custom else "function")}
        calls.append(call)
        index = number_of(item.get("index"))
        slot = into.begin(index, call, where, id=id, name=name, custom=custom)
        slot.balance = Balance()
        into.slots[index, hashable(id)] = slot
        call["custom" if custom else "function"] = {"name": name, "input" if custom else "arguments": slot.pieces}
        return slot

    def _legacy(self, call: dict[str, Any], message: dict[str, Any], into: Assembly) -> None:
        """The form from before there were several calls."""
        slot = into.slots.get("function_call")
        if slot is None:
            if into.late():
                return
            path: Path = ("choices", 0, "message", "function_call")
            message["function_call"] = {}
            slot = into.begin("function_call", message["function_call"], path)
            slot.item["arguments"] = slot.pieces
        into.named(slot, None, call.get("name"))
        slot.item["name"] = slot.name
        into.arguments(slot, into.as_text(call.get("arguments"), ("function_call", "arguments")))
