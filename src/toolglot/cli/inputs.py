"""What comes in: the text, whole or in deltas, and the tools; what is wrong with them is a `UsageProblem`."""

from __future__ import annotations

import codecs
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from os.path import isdir
from pathlib import Path
from typing import Any, BinaryIO

import toolglot

from ..errors import Fault
from ..golden import FOLDER
from ..providers._detect import are_definitions, by_others
from ..providers._frames import Frames
from ..providers._payload import parse_error
from ..values.json import loads
from .escape import line

_CHUNK = 65_536
_EVENT = 67_108_864  # bytes of one event of a recorded stream


class UsageProblem(Exception):
    """The command cannot be carried out as it was given; the exit status is 2."""


def case_folder(name: str | None) -> Path:
    """The folder of golden cases: the one that was named, else that of the source tree."""
    folder = FOLDER if name is None else Path(name)
    if not isdir(folder):  # False for a name that no file can have, where Path.is_dir raises
        if name is None:
            raise UsageProblem("an installed package has no golden cases: say where they are with --cases FOLDER")
        raise UsageProblem(f"{line(name)} is not a folder")
    return folder


def chunks(file: str | None) -> Iterator[str]:
    """The text of ``file`` as it comes; ``-``, or none with piped input, is standard input.

    Strict UTF-8 and verbatim, but for a byte order mark at the start, which editors write and no model does.
    """
    name = source_name(file)
    decoder = codecs.getincrementaldecoder("utf-8")("strict")
    done = 0
    start = True
    try:
        with _open(file) as source:
            read = getattr(source, "read1", source.read)  # `read1` gives what is there and does not wait for more
            while True:
                data: bytes = read(_CHUNK)
                held = len(decoder.getstate()[0])
                try:
                    text = decoder.decode(data, final=not data)
                except UnicodeDecodeError as error:
                    at = done - held + error.start
                    raise UsageProblem(f"{name} is not UTF-8: {error.reason} at byte {at}") from None
                if text and start:
                    text = text.removeprefix("\ufeff")
                    start = False
                done += len(data)
                if text:
                    yield text
                if not data:
                    return
    except OSError as error:
        raise UsageProblem(f"cannot read {name}: {error.strerror or error}") from None


def _open(file: str | None) -> AbstractContextManager[BinaryIO]:
    if file is None and sys.stdin.isatty():
        raise UsageProblem("nothing to read: name a file, or pipe the text in")
    if file is None or file == "-":
        return nullcontext(sys.stdin.buffer)  # not ours to close
    return Path(file).open("rb")


def deltas(pieces: Iterator[str], size: int) -> Iterator[str]:
    """``pieces`` cut anew into ``size`` characters each; the last may be shorter."""
    held = ""
    for piece in pieces:
        held += piece
        full = len(held) - len(held) % size
        for start in range(0, full, size):
            yield held[start : start + size]
        held = held[full:]
    if held:
        yield held


def source_name(file: str | None) -> str:
    """What a file is called in a message."""
    return "standard input" if file in (None, "-") else line(file or "")


def json_value(text: str, name: str) -> Any:
    """``text``, which came from ``name``, as a JSON value; strict, so that it can be written as JSON again."""
    try:
        return loads(text)
    except Fault as fault:
        error = parse_error(fault.text, fault.code, text, fault.at)
        raise UsageProblem(f"{name} is not JSON: {error}") from None


def read_json(file: str | None) -> Any:
    """The JSON value in ``file``."""
    return json_value("".join(chunks(file)), source_name(file))


def read_tools(file: str | None) -> list[Any]:
    """The tool definitions of a JSON file: a list, or an object with ``tools``, or one definition."""
    value = read_json(file)
    if isinstance(value, dict):
        value = value["tools"] if isinstance(value.get("tools"), list) else [value]
    if not isinstance(value, list):
        raise UsageProblem(f"{source_name(file)}: expected a list of tool definitions, got {type(value).__name__}")
    return value


def provider_named(name: str) -> str:
    """The provider called ``name``."""
    parser = toolglot.try_get_provider(name)
    if parser is None:
        known = ", ".join(map(str, toolglot.providers()))
        raise UsageProblem(f"no provider is called {name!r:.80}; there are {known}")
    return parser.provider.value


def payload_of(text: str) -> str | None:
    """The provider whose response, or recorded stream, ``text`` is; None if it is a model's own text.

    Conversations and definitions have an API's shape too and are no response: reading them would make calls of them.
    """
    events = recorded(text)
    if events:
        found = {toolglot.detect_provider(event) for event in events[:2]}
        provider = found.pop()
        return provider.value if not found and toolglot.try_get_provider(provider) is not None else None
    if text.lstrip()[:1] not in ("{", "["):
        return None
    what = _no_response(text)
    if what:
        raise UsageProblem(f"this is {what}; --format json reads it as what a model wrote")
    provider = toolglot.detect_provider(text)
    return provider.value if toolglot.try_get_provider(provider) is not None else None


def recorded(text: str, size: int = _CHUNK) -> list[dict[str, Any]]:
    """The events of a stream that was recorded, in the first ``size`` characters; none if it is no stream.

    It is server-sent events, or JSON a line.
    """
    head = text.lstrip()[:6]
    if not head.startswith(("data:", "event:", "id:", "retry:", ":", "{")):
        return []
    found = Frames(_EVENT).feed(text[:size].encode("utf-8", "replace"))
    events = [event for event in found if isinstance(event, dict)]
    return events if len(events) > 1 or (events and head[0] != "{") else []


def _no_response(text: str) -> str:
    """What a JSON list with an API's shape is, if it is no response."""
    try:
        value = loads(text)
    except Fault:
        return ""
    items = [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
    if any(by_others(item) for item in items):
        return "a conversation: `toolglot check-history` and `toolglot convert messages` take it"
    if are_definitions(items):
        return "a list of tool definitions: `toolglot convert tools` and --tools take it"
    return ""
