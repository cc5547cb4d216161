"""`Assembly`: what a stream has said so far, put together as the response that it would have been whole.

A wire format's stream section puts each event in its place in `payload`; at the end the same ``read`` that reads whole
responses reads it, so that streamed and whole cannot disagree. What can be told before that is told as events.
"""

from __future__ import annotations

from collections.abc import Hashable
from os import urandom
from typing import TYPE_CHECKING, Any, Final

from ..errors import LimitError, ParseError, TruncatedError
from ..events import ErrorEvent, Event, ReasoningDelta, TextDelta, ToolCallDelta, ToolCallEnd, ToolCallStart
from ..types import CallPart, Limits, Loss, Repair
from ._payload import Path
from ._pieces import Balance, Pieces, joined, settle, shown
from ._reading import id_text

if TYPE_CHECKING:
    from ._base import WireProvider
    from ._reading import Reading

__all__ = ["Assembly", "Slot"]

_WHITE: Final = " \t\n\r"
_MAX_LOSSES: Final = 1000
id_of: Final = id  # `id` is a call's here


class Slot:
    """A call that the stream has begun.

    ``index`` is its ordinal among attempted calls. ``item`` is the call's object in the payload, which is dropped from
    the message while the call is open, and ``path`` where it stands there. ``pieces`` are its arguments' text.
    """

    __slots__ = (
        "balance",
        "begun",
        "custom",
        "ended",
        "goes_on",
        "held",
        "id",
        "index",
        "item",
        "name",
        "path",
        "pieces",
        "size",
        "told",
    )

    def __init__(self, index: int, item: dict[str, Any], path: Path, custom: bool) -> None:
        self.index = index
        self.item = item
        self.path = path
        self.custom = custom
        self.id: str | None = None
        self.name: str | None = None
        self.pieces = Pieces()
        self.size = 0
        self.balance: Balance | None = None
        # Whether deltas are given out as they come (True), one is at the end (None), or not even the start (False).
        self.told: bool | None = None
        self.begun = False  # a delta has been given out
        self.held: list[str] = []  # white space that may be the last of the arguments
        self.goes_on = False  # the API has said that more of it comes: else it is cut off
        self.ended = False


class Assembly:
    """The response that a stream has given so far. `ProviderStream` owns it, the wire format fills it in.

    ``payload`` is the response; strings that grow are `Pieces`. ``state`` is the wire format's own, and so is
    ``items``: objects of the payload by whatever keys it chooses, as ``slots`` are the calls. ``cut`` says that the
    model was cut off, ``ended`` that the API has said its last word: only what tells of usage and the like may follow.
    """

    __slots__ = (
        "_beyond",
        "_by_item",
        "_late",
        "_live",
        "_stopped",
        "_synthesize",
        "_wire",
        "calls",
        "choices",
        "cut",
        "ended",
        "errors",
        "events",
        "items",
        "known",
        "limits",
        "losses",
        "made_ids",
        "payload",
        "repairs",
        "slots",
        "state",
    )

    def __init__(self, wire: WireProvider, live: Reading, synthesize: bool, limits: Limits) -> None:
        self.payload: dict[str, Any] = {}
        self.state: dict[Any, Any] = {}
        self.items: dict[Hashable, dict[str, Any]] = {}
        self.slots: dict[Hashable, Slot] = {}
        self._by_item: dict[int, Slot] = {}
        self._beyond: list[dict[str, Any]] = []  # calls beyond the limit, which are not read
        self.calls: list[Slot] = []
        self.choices: set[Any] = set()  # those that are not read
        self.events: list[Event] = []
        self.errors: list[ParseError] = []
        self.losses: list[Loss] = live.losses
        # What came of each attempted call, by its ordinal; `Reading` takes it from here when it comes to it.
        self.known: dict[int, CallPart | ParseError] = {}
        self.repairs: dict[int, list[Repair]] = {}  # of these calls
        self.made_ids: dict[int, str] = {}
        self.cut = False
        self.ended = False
        self.limits = limits
        self._late = False
        self._stopped: Slot | None = None
        self._live = live
        self._synthesize = synthesize
        self._wire = wire
        live.made_ids = self.made_ids

    # -- looking at an event

    def as_object(self, value: Any, path: Path) -> dict[str, Any]:
        """``value``, at ``path`` of the event, if it is an object, nothing if it is null; else it is noted."""
        return value if type(value) is dict else self._live.as_object(value, path)

    def as_list(self, value: Any, path: Path) -> list[Any]:
        """The same for a list."""
        return value if type(value) is list else self._live.as_list(value, path)

    def as_text(self, value: Any, path: Path) -> str:
        """The same for a string."""
        return value if type(value) is str else self._live.as_text(value, path)

    def lost(self, path: Path, detail: str, code: str = "loss.unread") -> None:
        """Note that something at ``path`` of an event was not read."""
        self._live.lost(path, detail, code)

    def unknown(self, kind: Any) -> None:
        """Note an event of a kind that is not known, once a kind."""
        if type(kind) is not str or not kind:
            self.lost((), "an event without a type")
        elif ("unknown", kind) not in self.state and len(self.state) < _MAX_LOSSES:
            self.state["unknown", kind] = True
            self.lost(("type",), f"events of the type {kind[:80]!r} are not known")

    # -- what an event brings

    def text(self, pieces: Pieces, piece: str) -> None:
        """More content, which belongs to ``pieces`` of the payload."""
        if piece and not self.late():
            pieces.append(piece)
            self.events.append(TextDelta(piece))

    def reasoning(self, pieces: Pieces, piece: str) -> None:
        """More reasoning."""
        if piece and not self.late():
            pieces.append(piece)
            self.events.append(ReasoningDelta(piece))

    def begin(
        self, key: Hashable, item: dict[str, Any], path: Path, *, id: Any = None, name: Any = None, custom: bool = False
    ) -> Slot:
        """A call begins: ``item`` is its object, which the wire format has put at ``path`` of the payload.

        ``key`` is how later events name it (an earlier call of the same key is no longer found). ``custom``: its input
        is free text.
        """
        index = len(self.calls)
        if index >= self.limits.calls:
            self._beyond.append(item)
            raise LimitError(f"more than {self.limits.calls} calls", "calls")
        slot = Slot(index, item, path, custom)
        self.calls.append(slot)
        self.slots[key] = slot
        self._by_item[id_of(item)] = slot
        self.named(slot, id, name)
        return slot

    def whole(self, item: dict[str, Any], path: Path, *, id: Any = None, name: Any = None) -> None:
        """A call comes at once: ``item`` is all of it."""
        self.end(self.begin(None, item, path, id=id, name=name))

    def repeated(self, key: Hashable, id: Any) -> bool:
        """Whether a call that begins has begun already: what is sent again changes nothing."""
        slot = self.slots.get(key)
        return slot is not None and slot.id is not None and slot.id == id_text(id)

    def stopped(self, slot: Slot) -> None:
        """The API says that the call is complete; whether the model was cut off in it, only what comes next tells."""
        self._stopped = slot

    def go_on(self) -> None:
        """Something else follows: the call that has stopped was not cut off."""
        slot, self._stopped = self._stopped, None
        if slot is not None:
            self.end(slot)

    def slot_of(self, item: dict[str, Any]) -> Slot | None:
        """The call whose object ``item`` is."""
        return self._by_item.get(id_of(item))

    def named(self, slot: Slot, id: Any = None, name: Any = None) -> None:
        """The call's id and name, each of which the first that is not empty decides."""
        if slot.id is None:
            slot.id = id_text(id)
        if slot.name is None and type(name) is str and name:
            slot.name = name
            self._start(slot, name)
        elif name and name != slot.name:
            self.lost(slot.path, f"the call of {shown(slot.name)} is renamed to {shown(name)}; the first name counts")

    def _start(self, slot: Slot, name: str) -> None:
        live = self._live
        known, tool = live.tool_called(name)
        if known is None:  # undeclared or illegal: an error at the end
            slot.told = False
            return
        id = slot.id
        if id is None and self._synthesize:
            id = self.made_ids[slot.index] = "call_" + urandom(12).hex()
        self.events.append(ToolCallStart(slot.index, id, known))
        # Arguments that are not the model's own characters in the end are given out when they are known.
        slot.told = None if slot.custom or (tool is not None and (tool.strict or tool.kind == "custom")) else True
        if slot.told and slot.pieces:
            self._tell(slot, "".join(slot.pieces))

    def arguments(self, slot: Slot, piece: str) -> None:
        """More of the text of a call's arguments (of a custom call's input)."""
        if not piece:
            return
        if slot.ended:
            self.late(slot)
            return
        slot.pieces.append(piece)
        slot.size += len(piece)
        if slot.size > self.limits.arguments:
            raise LimitError(f"arguments of more than {self.limits.arguments} characters", "arguments")
        if slot.balance is not None:
            slot.balance.feed(piece)
        if slot.told:
            self._tell(slot, piece)

    def value(self, slot: Slot, holder: dict[str, Any], key: str, value: Any) -> None:
        """More of what stands under ``key`` of ``holder``: of the text of its arguments, or all of them as a value.

        An empty object is a default. Of a text and a value, or of two values, none is sure to be what the model said.
        """
        known = holder.get(key)
        if known is slot.pieces and type(value) is str:
            self.arguments(slot, value)
        elif value is None or (slot.ended and value in ("", {})):
            pass
        elif slot.ended:
            self.late(slot)
        elif type(value) is str:
            if known is None:
                holder[key] = slot.pieces
                self.arguments(slot, value)
            elif value.strip():
                self.end(slot, broken="the arguments came in two forms")
        elif known is slot.pieces and (not slot.size or (value != {} and not "".join(slot.pieces).strip())):
            slot.balance = None
            holder[key] = value if value != {} else None
        elif value not in ({}, known):
            self.end(slot, broken="the arguments came in two forms")

    def complete(self, slot: Slot, text: Any) -> None:
        """The API gives the whole text of the arguments again, or for the first time: it counts."""
        if type(text) is not str or not text or slot.ended:
            return
        told = "".join(slot.pieces)
        if text.startswith(told):
            self.arguments(slot, text[len(told) :])
        else:
            self.lost(slot.path, "the arguments that were streamed are not those of the end, which count")
            slot.pieces[:] = [text]
            slot.size = len(text)

    def _tell(self, slot: Slot, piece: str) -> None:
        """Give a piece of the arguments out, without white space around all of them."""
        if not slot.begun:
            piece = piece.lstrip(_WHITE)
        bare = piece.rstrip(_WHITE) if piece and piece[-1] in _WHITE else piece
        if bare:
            slot.begun = True
            self.events.append(ToolCallDelta(slot.index, "".join((*slot.held, bare)) if slot.held else bare))
            slot.held.clear()
        if len(bare) < len(piece):
            slot.held.append(piece[len(bare) :])

    def late(self, slot: Slot | None = None, *, over: bool = False) -> bool:
        """Whether the end was before (of the call, or ``over`` says so); the first thing that follows is an error."""
        if not self.ended and slot is None and not over:
            return False
        if not self._late:
            self._late = True
            what = "an event came after the end"
            about: dict[str, Any] = {}
            if slot is not None:
                what, about = (
                    "more of a call came after its end",
                    {"call_index": slot.index, "name": slot.name, "id": slot.id},
                )
            self.error(what, "provider.event_after_end", **about)
        return True

    # -- what is decided

    def stop(self, raw: Any) -> None:
        """The API's reason to stop, which may be that the output was cut off."""
        if type(raw) is str:
            self.cut = self.cut or self._wire.stop_reasons.get(raw) == "length"

    def end(self, slot: Slot, *, broken: str | None = None, left: bool = False) -> None:
        """The API says that the call is complete, or (``left``) that no more comes; ``broken``: it cannot be read."""
        if slot.ended:
            return
        if broken is None:
            settle(slot.item)
        slot.ended = True
        live = self._live
        noted = len(live.losses)
        live.at_call(slot.index, self.cut)
        if broken is not None:
            live.unreadable_call(broken, slot.path, slot.id)
        elif slot.goes_on or (self.cut and self._wire.cut_objects and slot is self.calls[-1]):
            live.truncated_call(slot.name, slot.path, slot.id)
        else:
            self._wire.read_item(slot.item, slot.path, live)
            if slot is self.calls[-1] or (left and self._wire.ends_calls):
                live.check_last_call()
        del live.losses[noted:]  # what it notes is noted when the whole is read
        if live.repairs:
            self.repairs[slot.index] = live.repairs
        for error in live.errors:
            self.known[slot.index] = error
            self.events.append(ErrorEvent(error))
        for part in live.parts:
            if type(part) is CallPart and part.call.kind != "server":
                self.known[slot.index] = part
                call = part.call
                made = self.made_ids.get(slot.index)
                if made is not None and call.id != made:  # its start was given out with the one that was made
                    self.lost(slot.path, f"the call's id {call.id!r:.100} came too late; it is called {made}")
                    call.id, call.id_synthesized = made, True
                if not slot.begun:
                    self.events.append(ToolCallDelta(slot.index, call.arguments_json))
                self.events.append(ToolCallEnd(slot.index, call))

    def end_calls(self) -> None:
        """No more of any call comes."""
        for slot in self.calls:
            if not slot.ended:
                self.end(slot, left=True)

    def finish(self) -> None:
        """The API has said its last word."""
        self.end_calls()
        self.ended = True

    def error(self, message: str, code: str, *, kind: type[ParseError] = ParseError, **details: Any) -> None:
        """Something is wrong with the stream itself."""
        error = kind(message, code, **details)
        self.errors.append(error)
        self.events.append(ErrorEvent(error))

    def refused(self, error: Any) -> None:
        """The provider reports an error in the midst of its stream: ``error`` is its message, or an object with it."""
        inner = error if type(error) is dict else {"message": error}
        self.go_on()  # what has stopped before was whole
        self.cut = True
        self.state["error"] = error
        self.error(self._wire.error_text(inner), "provider.error_response")
        self.end_calls()
        self.ended = True

    def close(self) -> None:
        """Nothing more comes: what is open is judged, and it is an error if the API has not said its last word."""
        if self.ended:
            return
        self.go_on()
        self._wire.stream_close(self)
        if not self.ended:
            self._break_off()

    def _break_off(self) -> None:
        self.cut = True
        before = len(self.known)
        self.end_calls()
        broken = any(isinstance(self.known[index], ParseError) for index in list(self.known)[before:])
        if not broken:
            self.error(
                "the stream ended before the provider said that it was complete",
                "provider.stream_incomplete",
                kind=TruncatedError,
                expected=self._wire.stream_ends_with,
            )
        self.ended = True

    def so_far(self) -> dict[str, Any]:
        """The response without the calls that are open."""
        unread = [slot.item for slot in self.calls if not slot.ended] + self._beyond
        whole: dict[str, Any] = joined(self.payload, frozenset(map(id_of, unread)))
        return whole
