"""`Histories`: what of `WireProvider` is about conversations. A wire format fills in its section ``history``."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, cast

from ..errors import ConversionError
from ..history import SystemMessage, Turn, Turns, UserPart
from ..types import ToolCall, ToolResult
from ._turns import Alone, TurnReader, read_turns
from ._write_turns import write_turns
from ._writing import WireObject, Writing

if TYPE_CHECKING:
    from ._base import WireProvider
    from ._payload import Path

__all__ = ["Histories", "Report"]

Report = Callable[..., None]


class Histories:
    """A provider's conversations, to and from a list of `Turn`."""

    # The member of a request that holds the messages, and that of the system prompt; None: it is a message as well.
    messages_member: ClassVar[str] = "messages"
    system_member: ClassVar[str | None] = None
    # Whether a request may have a text in place of the list; and members of it that say that the provider has kept what
    # was said before.
    text_alone: ClassVar[bool] = False
    stored_by: ClassVar[tuple[str, ...]] = ()
    # What the API refuses, by the code of a `Problem`, and in which words (None: not known). What is not here is not
    # checked. A dialect may have rules of its own, so an instance may set it.
    rules: Mapping[str, str | None] = {}
    # The roles of its messages, as its SDK has them, None among them if a message may lack one; None alone: not known.
    roles: frozenset[str | None] | None = None
    # Whether a result can be said to be an error, an image to be of some detail, and a result to hold an `OpaquePart`.
    error_flag: ClassVar[bool] = True
    image_detail: ClassVar[bool] = False
    opaque_results: ClassVar[bool] = False
    # Whether calls may be free text. A dialect may differ.
    custom_calls: bool = False
    # Whether messages of one role that follow each other have to be one; or of which roles.
    joins: ClassVar[bool | frozenset[str]] = False
    # Whether no two calls of a history may have the same id, or only no two of one message.
    unique_ids: ClassVar[bool] = True
    # With a ``system_member``: whether a system prompt may also be a message among the others.
    system_inside: ClassVar[bool] = False
    # Whether an assistant's text may stand behind its calls.
    interleaves: ClassVar[bool] = False
    # Members of an `extra` of this format that say how something was written, and nothing that another could lose.
    forms: ClassVar[frozenset[str]] = frozenset()

    def history(self, payload: Any, *, strict: bool = False) -> Turns:
        """The turns of a conversation as this provider has it.

        ``payload`` is the list of messages, or the request with its system prompt: JSON text, bytes, JSON values or an
        SDK's objects, also one inside the other. What was not read is in ``losses`` of what comes back; ``strict=True``
        makes a loss a `ConversionError`. What only the provider can read is kept, and `messages` writes it again.
        """
        turns = read_turns(cast("WireProvider", self), payload)
        out = Writing(strict)
        out.losses += turns.losses
        out.check()
        return turns

    def messages(
        self, history: Sequence[Turn], *, strict: bool = False, repair: bool | Collection[str] = ()
    ) -> WireObject:
        """The members of a request that hold ``history``, a list of `Turn`.

        What came from this provider and was not changed goes back as it was. Of the rest the results of a turn stand
        in the calls' order behind their assistant's message, and ids are such as the API takes, the same for a call
        and its result, and no two calls have the same. A call without an id gets one.

        ``repair`` are names of repairs, or True for all: what they add, move and leave out is in ``repairs``.
        """
        from ._repair import repair_names

        out = Writing(strict, repair_names(repair))
        return out.as_object(write_turns(cast("WireProvider", self), history, out))

    # What a wire format gives.

    def read_turn(self, items: list[Any], turns: TurnReader) -> None:
        """Read one message (``items[0]``), or what `runs` put together: call ``turns.system``, ``.user``,
        ``.assistant``, ``.result`` or ``.unknown``, in the order in which things stand.
        """
        raise ConversionError(f"histories of {cast('WireProvider', self).provider} are not read yet")

    def write_user(self, content: str | list[tuple[str, UserPart]], extra: dict[str, Any], out: Writing) -> Any:
        """A user's message, or a list of messages. Each part comes with its path; one that is opaque is this API's."""
        raise ConversionError(f"histories are not written for {cast('WireProvider', self).provider} yet")

    def write_system(self, turns: list[SystemMessage], out: Writing) -> Any:
        """The value of ``system_member``; without one, the message of the only turn."""
        raise NotImplementedError

    def write_system_message(self, turn: SystemMessage, out: Writing) -> Any:
        """A system prompt as a message, for APIs with ``system_inside`` or without ``system_member``."""
        return self.write_system([turn], out)

    def system_fits(self, last: Any) -> bool:
        """Whether a message of the system may stand behind the message ``last`` (None: it is the first). Where it may
        not, it is put at the beginning.
        """
        return True

    def runs(self, items: list[Any]) -> Iterator[int]:
        """How many items make one turn, for APIs that have calls, reasoning and text as items of their own."""
        for _ in items:
            yield 1

    def join(self, messages: list[dict[str, Any]]) -> dict[str, Any]:
        """Messages of one role as one, for APIs with ``joins``."""
        raise NotImplementedError

    def read_request(self, request: dict[str, Any], turns: TurnReader) -> tuple[Any, Path]:
        """The list of messages in a request, and where it stands; reads the system prompt."""
        turns.stored = any(request.get(name) for name in self.stored_by)
        member = self.system_member
        if member is not None and request.get(member) is not None:
            turns.begin([], (member,))
            self.read_system(request[member], turns)
            turns.end("system", request[member])
        items = request.get(self.messages_member)
        return [Alone(items)] if self.text_alone and type(items) is str else items, (self.messages_member,)

    def read_system(self, value: Any, turns: TurnReader) -> None:
        """Read the value of ``system_member`` by ``turns.system``."""
        raise NotImplementedError

    def write_request(self, items: list[Any], system: Any) -> dict[str, Any]:
        """The members of the request; ``system`` is None if there is nothing to be said."""
        said = {self.system_member: system} if self.system_member is not None and system is not None else {}
        if len(items) == 1 and type(items[0]) is Alone:
            return {**said, self.messages_member: str(items[0])}
        alone = [self.write_user(str(item), {}, Writing()) if type(item) is Alone else item for item in items]
        return {**said, self.messages_member: alone}

    def declared(self, request: dict[str, Any]) -> Any:
        """The tools in a request."""
        return request.get("tools")

    def wants_id(self, one: ToolCall | ToolResult) -> bool:
        """Whether a call or result has to have an id, where the API has the rule."""
        return True

    def check(self, turns: Turns, report: Report) -> None:
        """What only this API refuses: ``report(code, number of the turn, detail, what)``, where ``what`` is an id or a
        text that stands in the part that is wrong.
        """
