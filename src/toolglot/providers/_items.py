"""The events in which the items of OpenAI's Responses are streamed: `stream` of `OpenAIResponses`.

An item is named by its id and its place; gateways use either again, or make up another id for each event. So both
together come first, then the id, then the place if nothing else is known of that id. The item that is whole in the
end, by itself or in the response, is what counts.
"""

from __future__ import annotations

from typing import Any, Final

from ..events import ReasoningDelta
from ..schema.subset import words
from ._assembly import Assembly, Slot
from ._base import WireProvider
from ._payload import Path
from ._pieces import Pieces, hashable

__all__ = ["BEGUN", "ItemStream"]

# Under this name the payload has the ids of calls that were begun: nobody has answered them before.
BEGUN: Final = "toolglot.begun"
_ARGUMENTS: Final[dict[Any, str]] = {"function_call": "arguments", "custom_tool_call": "input"}
_TEXTS: Final[dict[Any, str]] = {"message": "output_text", "reasoning": "reasoning_text"}
_SAID: Final = words("output_text text input_text summary_text reasoning_text")
_ENDS: Final = words("response.completed response.incomplete response.failed response.done response.cancelled")
# What an event does: the name of a method.
_EVENTS: Final = {
    **dict.fromkeys(words("response.created response.in_progress response.queued") | _ENDS, "_response"),
    "response.output_item.added": "_added",
    "response.output_item.done": "_done",
    **dict.fromkeys(
        words(
            "response.function_call_arguments.delta response.function_call_arguments.done "
            "response.custom_tool_call_input.delta response.custom_tool_call_input.done"
        ),
        "_call_delta",
    ),
    **dict.fromkeys(words("response.content_part.added response.reasoning_summary_part.added"), "_part_added"),
    **{
        f"response.{name}.{when}": "_text_delta"
        for name in words("output_text refusal reasoning_text text reasoning_summary_text")
        for when in ("delta", "done")
    },
}
# Events that bring nothing that the items do not hold in the end.
_KNOWN: Final = tuple(
    f"response.{name}"
    for name in words(
        "output_text. refusal. text. content_part. reasoning mcp_ web_search_call. file_search_call. audio. "
        "code_interpreter_call image_generation_call. shell_call compaction output_audio rate_limits."
    )
)


class ItemStream(WireProvider):
    """A wire format whose response is streamed item by item."""

    ends_calls = True
    stream_ends_with = "response.completed, response.incomplete or response.failed"

    def stream_event(self, event: dict[str, Any], into: Assembly) -> None:
        """Also what the Realtime API says of a response; the other events of its sessions are noted once a kind."""
        if not into.payload:
            into.payload.update({"output": [], BEGUN: set()})
        kind = event.get("type")
        handler = _EVENTS.get(kind) if type(kind) is str else None
        if handler is not None:
            getattr(self, handler)(event, into)
        elif kind == "error":
            into.refused(event)
        elif type(kind) is not str or not kind.startswith(_KNOWN):
            into.unknown(kind)

    def _response(self, event: dict[str, Any], into: Assembly) -> None:
        response = into.as_object(event.get("response"), ("response",))
        if into.ended:
            return
        into.payload.update({key: value for key, value in response.items() if key not in ("output", BEGUN)})
        if event["type"] not in _ENDS:
            return
        details = response.get("incomplete_details") or response.get("status_details")
        reason = details.get("reason") if type(details) is dict else None
        into.cut = response.get("status") in ("incomplete", "cancelled", "failed") and reason != "content_filter"
        path: Path = ("response", "output")
        items = into.as_list(response.get("output"), path)
        answered = {hashable(item.get("call_id")) for item in items if type(item) is dict and _is_output(item)}
        matched: set[int] = set()
        left: dict[Any, list[dict[str, Any]]] = {}  # what was streamed, by its type, the first at the end
        for one in reversed(into.payload["output"]):
            left.setdefault(hashable(one.get("type")), []).append(one)
        for number, one in enumerate(items):
            item = into.as_object(one, (*path, number))
            if item:
                known = self._streamed(item, left.get(hashable(item.get("type")), []), matched, into)
                if known is None and item.get("type") in _KINDS and hashable(item.get("call_id")) in answered - {None}:
                    into.payload["output"].append(item)
                    continue
                if known is None:
                    known = self._begin({"item": item}, item, (*path, number), into)
                matched.add(id_of(known))
                self._complete(known, item, (*path, number), into)
        if response.get("error"):
            into.refused(response["error"])
        into.finish()

    def _streamed(
        self, item: dict[str, Any], left: list[dict[str, Any]], matched: set[int], into: Assembly
    ) -> dict[str, Any] | None:
        """What was streamed of an item of the response at its end: that with its id, or the next alike."""
        is_call = item.get("type") in _KINDS
        call, id = hashable(item.get("call_id")) if is_call else None, hashable(item.get("id"))
        for place in (("call", call), ("id", id)):
            known = into.items.get(place) if place[1] is not None else None
            if known is None or known.get("type") != item.get("type") or id_of(known) in matched:
                continue
            slot = into.slot_of(known)
            if slot is None or call is None or slot.id in (None, str(call)):
                return known
        while left and id_of(left[-1]) in matched:
            left.pop()
        if not left or (is_call and item.get("call_id") is not None):
            return None
        alike = left[-1].get("id") is None or item.get("id") is None or item.get("type") in _TALKS
        return left.pop() if alike else None

    def _added(self, event: dict[str, Any], into: Assembly) -> None:
        if into.late():
            return
        item = into.as_object(event.get("item"), ("item",))
        known = self._item_of(event, item.get("type"), item.get("id"), item.get("call_id"), into, sure=True)
        if known is None:  # else it is sent again
            self._begin(event, item, ("item",), into)

    def _begin(self, event: dict[str, Any], item: dict[str, Any], path: Path, into: Assembly) -> dict[str, Any]:
        """An item begins."""
        item = dict(item)
        output = into.payload["output"]
        where: Path = ("output", len(output))
        output.append(item)
        index, id, call = (hashable(one) for one in (event.get("output_index"), item.get("id"), item.get("call_id")))
        for place in ((index, id), ("index", index), ("id", id)):
            if place[1] is not None:
                into.items[place] = item
        if call is not None and item.get("type") in _KINDS:
            into.items["call", call] = item
        kind = item.get("type") if type(item.get("type")) is str else None
        key = _ARGUMENTS.get(kind)
        if key is not None:
            begun = item.get(key)
            slot = into.begin(None, item, where, id=item.get("call_id"), name=item.get("name"), custom=key == "input")
            into.payload[BEGUN].add(call)
            item[key] = slot.pieces
            into.value(slot, item, key, begun)
        elif kind in _TEXTS:
            for key in ("content", "summary"):
                parts = _parts(item.get(key), kind, (*path, key), into)
                if key in item:
                    item[key] = []
                for number, part in enumerate(parts):
                    self._part_at(item, key, number, part, into)
        elif _is_output(item) and call in into.payload[BEGUN]:
            into.lost(path, f"the result of the call {str(call)[:80]!r}, which was given to the caller before")
        return item

    def _item_of(
        self, event: dict[str, Any], kind: Any, id: Any, call: Any, into: Assembly, sure: bool = False
    ) -> dict[str, Any] | None:
        """The item of that kind (of one of those kinds) that an event is about; ``sure``: not only by its place."""
        index, id, call = hashable(event.get("output_index")), hashable(id), hashable(call)
        kinds = kind if type(kind) is tuple else (kind,)
        for place in ((index, id), ("id", id), ("index", index)):
            item = into.items.get(place) if place[1] is not None else None
            if item is None or item.get("type") not in kinds:
                continue
            slot = into.slot_of(item)
            if call is not None and slot is not None and slot.id not in (None, str(call)):
                continue
            if place[0] == "index" and id is not None and item.get("id") is not None:
                if sure or self._over(item, into) or (slot is not None and slot.ended):
                    continue
            return item
        return None

    def _call_delta(self, event: dict[str, Any], into: Assembly) -> None:
        kind = event["type"]
        item = self._item_of(event, _KINDS, event.get("item_id"), event.get("call_id"), into)
        if item is None:  # Realtime's may come by themselves
            if into.late():
                return
            about = {"id": event.get("item_id"), "call_id": event.get("call_id"), "name": event.get("name")}
            what = "custom_tool_call" if "custom" in kind else "function_call"
            item = self._begin(event, {"type": what, **about}, (), into)
        slot = into.slot_of(item)
        assert slot is not None
        self._named(slot, item, event, into)
        key = "input" if slot.custom else "arguments"
        if kind.endswith(".delta"):
            into.value(slot, item, key, event.get("delta"))
        else:
            self._whole(slot, item, key, event.get(key), into)

    def _named(self, slot: Slot, item: dict[str, Any], said: dict[str, Any], into: Assembly) -> None:
        into.named(slot, said.get("call_id"), said.get("name"))
        for key, value in (("name", slot.name), ("call_id", slot.id)):
            if value is not None or key not in item:
                item[key] = value
        into.payload[BEGUN].add(slot.id)
        into.items.setdefault(("call", slot.id), item)

    def _whole(self, slot: Slot, item: dict[str, Any], key: str, value: Any, into: Assembly) -> None:
        """All of a call's arguments, as they are in the end."""
        if type(value) is str and item[key] is slot.pieces:
            into.complete(slot, value)
        else:
            into.value(slot, item, key, value)

    def _part_at(self, item: dict[str, Any], key: str, number: Any, part: Any, into: Assembly) -> dict[str, Any]:
        """The part of that number of an item's content or summary, which begins if it has not."""
        if hashable(number) is None:
            number = max(0, len(item.get(key) or ()) - 1)
        place = (id_of(item), key, hashable(number))
        if place in into.items:
            return into.items[place]
        made: dict[str, Any] = dict(into.as_object(part, ("part",)))
        into.items[place] = made
        reasons = item.get("type") == "reasoning"
        if reasons and (item.get("summary") or item.get("content")):
            into.events.append(ReasoningDelta("\n\n"))  # which `read` puts between them
        if type(item.get(key)) is not list:
            item[key] = []
        item[key].append(made)
        name = _text_of(made)
        if name is not None:
            begun = into.as_text(made.get(name), ("part", name))
            made[name] = Pieces()
            (into.reasoning if reasons else into.text)(made[name], begun)
        return made

    def _part_added(self, event: dict[str, Any], into: Assembly) -> None:
        item = self._item_of(event, _TALKS, event.get("item_id"), None, into)
        key = "summary" if "summary" in event["type"] else "content"
        if item is not None and not into.late() and not self._over(item, into):
            self._part_at(item, key, event.get(f"{key}_index"), event.get("part"), into)

    def _text_delta(self, event: dict[str, Any], into: Assembly) -> None:
        """More of a text, or all of it."""
        kind: str = event["type"]
        what = "reasoning" if kind.startswith("response.reasoning") else "message"
        item = self._item_of(event, what, event.get("item_id"), None, into)
        key = "summary" if "summary" in kind else "content"
        done = kind.endswith(".done")
        name = "refusal" if "refusal" in kind else "text"
        said = into.as_text(event.get(name if done else "delta"), (name if done else "delta",))
        if not said or (done and item is not None and self._over(item, into)):
            return
        if done and into.ended:
            return
        if into.late():
            return
        if item is None:
            item = self._begin(event, {"type": what, "id": event.get("item_id")}, (), into)
        elif self._over(item, into):
            into.late(over=True)
            return
        part = {"type": "refusal" if name == "refusal" else "summary_text" if key == "summary" else _TEXTS[what]}
        made = self._part_at(item, key, event.get(f"{key}_index"), part, into)
        if _text_of(made) is None:
            made["type"] = part["type"]  # so it is a text
        name = _text_of(made) or name
        if type(made.get(name)) is not Pieces:
            made[name] = Pieces()
        pieces = made[name]
        add = into.reasoning if what == "reasoning" else into.text
        if not done:
            add(pieces, said)
            return
        if ("said", id_of(made)) in into.items:
            return
        into.items["said", id_of(made)] = made
        told = "".join(pieces)
        if said.startswith(told):
            add(pieces, said[len(told) :])

    def _done(self, event: dict[str, Any], into: Assembly) -> None:
        """An item once more, whole: it has what was not streamed."""
        item = into.as_object(event.get("item"), ("item",))
        known = self._item_of(event, item.get("type"), item.get("id"), item.get("call_id"), into)
        if known is None:
            if into.late():
                return
            known = self._begin(event, item, ("item",), into)
        self._complete(known, item, ("item",), into)

    def _complete(self, known: dict[str, Any], item: dict[str, Any], path: Path, into: Assembly) -> None:
        """``known`` is what was streamed of ``item``."""
        slot = into.slot_of(known)
        into.items.setdefault(("id", hashable(item.get("id"))), known)
        if slot is not None:
            if slot.ended:
                return
            self._named(slot, known, item, into)
            key = "input" if slot.custom else "arguments"
            self._whole(slot, known, key, item.get(key), into)
            own = ("type", key, "name", "call_id")
            known.update({name: value for name, value in item.items() if name not in own and value is not None})
            if item.get("status") != "incomplete":  # else the response's end says why
                into.end(slot)
        elif not self._over(known, into) and not into.late():
            into.items["over", id_of(known)] = known
            if item.get("type") in _TALKS:
                self._texts(known, item, path, into)
            known.update({name: value for name, value in item.items() if value is not None or name not in known})

    def _over(self, item: dict[str, Any], into: Assembly) -> bool:
        return ("over", id_of(item)) in into.items

    def _texts(self, known: dict[str, Any], item: dict[str, Any], path: Path, into: Assembly) -> None:
        """Give out what of an item's texts was not streamed: those of the end count."""
        reasons = item["type"] == "reasoning"
        add = into.reasoning if reasons else into.text
        told: list[str] = []
        said: list[str] = []
        for key in ("summary", "content"):
            told += [_said_by(part) for part in known.get(key) or () if type(part) is dict]
            said += [_said_by(part) for part in _parts(item.get(key), item["type"], (*path, key), into)]
        if "".join(told) == "".join(said):
            return
        aligned = len(told) <= len(said) and all(one.startswith(begun) for one, begun in zip(said, told, strict=False))
        if not aligned or "" in told[:-1]:
            whole, before = "".join(said), "".join(told)
            if whole.startswith(before):
                add(Pieces(), whole[len(before) :])
            else:
                into.lost(path, "the text that was streamed is not that of the end, which counts")
            return
        for number, one in enumerate(said):
            if reasons and number and number >= len(told):
                into.events.append(ReasoningDelta("\n\n"))
            add(Pieces(), one[len(told[number]) :] if number < len(told) else one)


_KINDS: Final = tuple(_ARGUMENTS)
_TALKS: Final = tuple(_TEXTS)
id_of: Final = id  # `id` is an item's here


def _is_output(item: dict[str, Any]) -> bool:
    return item.get("type") in ("function_call_output", "custom_tool_call_output")


def _parts(value: Any, kind: Any, path: Path, into: Assembly) -> list[dict[str, Any]]:
    """The parts of an item's text; a message's may be a string."""
    if type(value) is str and kind == "message":
        return [{"type": "output_text", "text": value}] if value else []
    return [into.as_object(part, (*path, number)) for number, part in enumerate(into.as_list(value, path))]


def _text_of(part: dict[str, Any]) -> str | None:
    """The member that has a part's text; None if it has none."""
    kind = part.get("type")
    if kind == "refusal":
        return "refusal"
    return "text" if type(kind) is not str or kind in _SAID else None


def _said_by(part: dict[str, Any]) -> str:
    name = _text_of(part)
    said = part.get(name) if name is not None else None
    return "".join(said) if type(said) is Pieces else said if type(said) is str else ""
