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
from ._reading import rest

__all__ = ["REASONING", "SERVER", "ChunkStream"]

REASONING: Final = ("reasoning_content", "reasoning")
SEVERAL: Final = "xai.outputs"  # what `_xai` calls chunks of several answers
SERVER: Final = "TOOL_CALL_TYPE_"  # the type of xAI's own tools begins so, which only its SDK shows
CALL: Final = words("id type function index custom")
FUNCTION: Final = words("name arguments")
CUSTOM: Final = words("name input")
# Of a chunk, and of a choice, what is not kept as it is.
RESPONSE: Final = words("choices usage object created error message choice refusal stop_reason obfuscation")
ABOUT: Final = ("id", "model")  # the first that is not empty counts
CHOICE: Final = words("index message delta finish_reason")
INNER: Final = words("name arguments parameters input")
_BARE: Final = CALL | INNER


class ChunkStream(WireProvider):
    """A wire format that is streamed as ``choices[].delta``."""

    stream_ends_with = "a finish_reason, or [DONE]"
    # What stands for an id that is missing, and whether parts of content may be thinking.
    no_ids: ClassVar[frozenset[str]] = frozenset(("",))
    thinking_parts: ClassVar[bool] = False
    reasons: ClassVar[tuple[str, ...]] = ("finish_reason",)
    # Members of a message that are more than kept, and parts of content that are text, with the member that has it.
    members: ClassVar[frozenset[str]] = words("reasoning_content reasoning function_call refusal")
    text_parts: ClassVar[tuple[str, ...]] = ("text", "refusal")

    def stream_event(self, event: dict[str, Any], into: Assembly) -> None:
        payload = into.payload
        if "choices" not in event and "usage" not in event:
            into.unknown(event.get("object") or event.get("type"))
        first = payload["choices"][0] if payload else payload.setdefault("choices", [{"message": {}}])[0]
        for key, value in event.items():
            if value is not None and key not in RESPONSE and (key not in ABOUT or not payload.get(key)):
                payload[key] = value
        if event.get("usage") is not None:
            payload["usage"] = event["usage"]
        for number, item in enumerate(into.as_list(event.get("choices"), ("choices",))):
            path: Path = ("choices", number)
            choice = into.as_object(item, path)
            index = hashable(choice.get("index")) or 0
            if first.setdefault("index", index) != index:
                into.choices.add(index)
                continue
            self._piece(choice, first, path, into, event.get("object") == SEVERAL)

    def _piece(self, choice: dict[str, Any], first: dict[str, Any], path: Path, into: Assembly, several: bool) -> None:
        """A choice's chunk; ``several``: it is made of several answers, each of which says that it is finished."""
        error = choice.get("error")
        refused = bool(error) and isinstance(error, (str, dict))  # OpenRouter's
        if refused:
            into.cut = True
        key = "delta" if choice.get("delta") is not None else "message"
        at = (*path, key)
        self._delta(into.as_object(choice.get(key), at), at, into, key == "message")
        if not CHOICE.issuperset(choice):
            for name, value in choice.items():
                if (
                    value is not None
                    and name not in CHOICE
                    and name not in self.reasons
                    and not (refused and name == "error")
                ):
                    merge(first, name, value)  # probabilities, what a filter found
        reason = next((choice[key] for key in self.reasons if choice.get(key) is not None), None)
        if reason is not None and type(reason) is not str:
            into.as_text(reason, (*path, "finish_reason"))
        elif reason:
            if several or "finish_reason" not in first:
                first["finish_reason"] = reason
                into.stop(reason)
            if not several:
                into.finish()
        if refused:
            into.refused(error)

    def stream_close(self, into: Assembly) -> None:
        if into.payload and into.payload["choices"][0].get("finish_reason"):
            into.finish()

    def _delta(self, delta: dict[str, Any], path: Path, into: Assembly, whole: bool) -> None:
        message = into.payload["choices"][0]["message"]
        for key, value in delta.items():
            if value is None or (not value and type(value) in (str, list)):
                continue
            if key == "content":
                self._content_delta(value, message, (*path, key), into)
            elif key == "tool_calls":
                items = [value] if type(value) is dict else into.as_list(value, (*path, key))
                for number, item in enumerate(items):
                    at = (*path, key, number)
                    self._fragment(into.as_object(item, at), at, into, whole)
            elif key not in self.members:
                if key != "role" and not into.late():
                    merge(message, key, value)
            elif key == "function_call":
                self._legacy(into.as_object(value, (*path, key)), message, into)
            elif key == "refusal":
                if not into.late():
                    message.setdefault(key, Pieces()).append(into.as_text(value, (*path, key)))
            elif into.state.setdefault("reasoning", next((one for one in REASONING if delta.get(one)), key)) == key:
                into.reasoning(message.setdefault(key, Pieces()), into.as_text(value, (*path, key)))
            elif key == REASONING[0]:
                into.lost((*path, key), "the reasoning came under another name before")
            elif not into.late():  # some send the same under both names: `read` compares them in the end
                message.setdefault(key, Pieces()).append(into.as_text(value, (*path, key)))

    def _content_delta(self, content: Any, message: dict[str, Any], path: Path, into: Assembly) -> None:
        """Text, or a list of parts, as some send it."""
        begun = message.get("content")
        if type(content) is str and (begun is None or type(begun) is Pieces):
            if begun is None:
                begun = message["content"] = Pieces()
            into.text(begun, content)
            return
        if type(begun) is not list:
            message["content"] = [{"type": "text", "text": begun}] if begun else []
        parts = [{"type": "text", "text": content}] if type(content) is str else into.as_list(content, path)
        for number, item in enumerate(parts):
            part = into.as_object(item, (*path, number))
            last = message["content"][-1] if message["content"] else {}
            kind = part.get("type")
            if type(kind) is str and kind in self.text_parts:
                if type(last.get(kind)) is not Pieces:
                    last = {**part, kind: Pieces()}
                    if not into.late():
                        message["content"].append(last)
                elif len(part) > 2 and not into.late():
                    last.update({key: value for key, value in part.items() if key != kind})
                into.text(last[kind], into.as_text(part.get(kind), (*path, number, kind)))
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
            if type(thought.get("text")) is str:
                if type(before.get("text")) is not Pieces:
                    before = {**thought, "text": Pieces()}
                    last["thinking"].append(before)
                into.reasoning(before["text"], into.as_text(thought.get("text"), (*path, number, "text")))
            elif thought:
                last["thinking"].append(thought)

    def _fragment(self, item: dict[str, Any], path: Path, into: Assembly, whole: bool) -> None:
        """A piece of a call: the index says of which, and a new id at a used index, that it is another.

        In a ``whole`` message each is a call.
        """
        if not item:
            return
        if len(item) == 2 and not whole and self._more(item, into):
            return
        kind = item.get("type")
        if type(kind) is str and kind.startswith(SERVER):
            self._server(item, into)
            return
        key = "custom" if item.get("function") is None and item.get("custom") is not None else "function"
        function = item.get(key)
        bare = function is None and not INNER.isdisjoint(item)  # without its envelope
        if bare:
            function = item
        elif type(function) is not dict:
            function = into.as_object(function, (*path, key))
        id = self.given_id(item)
        name = function.get("name")
        arguments = function.get("arguments")
        if arguments is None:
            arguments = _arguments(function, bare)
        slot = None if whole else self._slot(item.get("index"), id, name, arguments, into)
        if slot is None:
            if into.late():
                return
            slot = self._begin(item, id, name, into)
        elif id or name:
            into.named(slot, id, name)
            if slot.id is not None:
                slot.item["id"] = slot.id
        kind = "custom" if slot.custom else "function"
        inner = slot.item[kind]
        if slot.name is not None:
            inner["name"] = slot.name
        if arguments is not None:
            into.value(slot, inner, "input" if slot.custom else "arguments", arguments)
        beside = rest(item, _BARE if bare else CALL)
        if beside is not None and not (slot.ended and into.late(slot)):
            slot.item.update(beside)
        if not bare:
            beside = rest(function, CUSTOM if slot.custom else FUNCTION)
            if beside is not None and not (slot.ended and into.late(slot)):
                inner.update(beside)

    def _more(self, item: dict[str, Any], into: Assembly) -> bool:
        """Whether a piece is what nearly all are, an index and more of the arguments, which is taken in then."""
        index, function = item.get("index"), item.get("function")
        if type(index) is not int or type(function) is not dict or len(function) != 1:
            return False
        slot, piece = into.slots.get(index), function.get("arguments")
        if slot is None or slot.custom or type(piece) is not str:
            return False
        if slot.item["function"].get("arguments") is not slot.pieces:
            return False
        into.arguments(slot, piece)
        return True

    def _server(self, item: dict[str, Any], into: Assembly) -> None:
        """A call that the provider runs itself, which comes whole: nobody has to answer it, so no event tells of it."""
        id = hashable(item.get("id"))
        call = None if id is None else into.items.get(("server", id))
        if call is None:
            if into.late():
                return
            call = into.items["server", id] = {}
            into.payload["choices"][0]["message"].setdefault("tool_calls", []).append(call)
        call.update({name: value for name, value in item.items() if value is not None})

    def given_id(self, item: dict[str, Any]) -> Any:
        """A call's id, None if something stands for a missing one."""
        id = item.get("id")
        return None if type(id) is str and id in self.no_ids else id

    def _slot(self, index: Any, id: Any, name: Any, arguments: Any, into: Assembly) -> Slot | None:
        """The call that a fragment belongs to; None: a new one."""
        index = number_of(index)
        key = hashable(id)
        slot = into.slots.get((index, key)) if key is not None else None
        same = slot is not None
        if slot is None:
            slot = into.slots.get(index) if index is not None else (into.calls[-1] if into.calls else None)
        if (
            slot is None
            or slot is into.slots.get("function_call")
            or (key is not None and slot.id is not None and slot.id != str(id))
        ):
            return None
        if name and slot.name is not None and (same or key is None):
            # Without an id, or with one that is used again: another name begins another call; so does the same one if
            # this call has its arguments, unless it is only sent again.
            done = slot.balance is None or slot.balance.whole
            begins = type(arguments) is dict or (type(arguments) is str and arguments.lstrip()[:1] == "{")
            if name != slot.name:
                return slot if same and not (done and begins) else None
            if not same and done and (begins or index is None):
                return None
        return slot

    def _begin(self, item: dict[str, Any], id: Any, name: Any, into: Assembly) -> Slot:
        calls = into.payload["choices"][0]["message"].setdefault("tool_calls", [])
        where: Path = ("choices", 0, "message", "tool_calls", len(calls))
        custom = item.get("function") is None and item.get("custom") is not None
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
        into.value(slot, slot.item, "arguments", call.get("arguments"))
        beside = rest(call, FUNCTION)
        if beside is not None and not (slot.ended and into.late(slot)):
            slot.item.update(beside)


def _arguments(function: dict[str, Any], bare: bool) -> Any:
    for key in ("arguments", "input", "parameters") if bare else ("arguments", "input"):
        if function.get(key) is not None:
            return function[key]
    return None
