"""What a request asks for, and reading the text in it: as it was asked for, or as what it is."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from importlib.util import find_spec
from time import perf_counter
from typing import Any, Final, NamedTuple

import toolglot

from ..definition import ToolSet
from ..errors import DefinitionError, LimitError, ParseError, ToolglotError
from ..types import Message

MAX_TEXT: Final = 200_000  # characters of an output
MAX_TOOLS: Final = 100_000

_OF_RESPONSES: Final = ("tools", "on_error", "validate", "ids")
_MISSING_ENGINE: Final = {
    "emscripten": "the validator (jsonschema-rs) is not built for Python in a page: start `toolglot playground` for it",
    "": "the validator is not installed:  pip install 'toolglot[validate]'",
}


class Problem(Exception):
    """The request cannot be carried out: what has to be corrected, and why."""

    def __init__(self, where: str, message: str) -> None:
        super().__init__(message)
        self.where = where


class Asked(NamedTuple):
    """How a text is to be read. ``format`` is a name of one, ``"response"``, or None: it is detected."""

    text: str
    format: str | None
    options: dict[str, Any]


class Read(NamedTuple):
    """What was read: ``again`` reads once more, ``format`` is how it was read in the end. ``errors`` is the one that
    was raised, or those that were collected.
    """

    message: Message
    errors: list[ToolglotError]
    how: str
    format: str | None
    again: Callable[[], Message]
    seconds: float


# -- fields of a request


def string(asked: dict[str, Any], field: str, most: int) -> str:
    """A field that is a text of at most ``most`` characters."""
    value = asked.get(field)
    if not isinstance(value, str):
        raise Problem(field, f"{field}: expected a string")
    if len(value) > most:
        raise Problem(field, f"{field}: it has {len(value):,} characters; the playground takes {most:,}")
    return value


def number(asked: dict[str, Any], field: str, most: int) -> int:
    """A field that is a number from 1 to ``most``."""
    value = asked.get(field)
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= most:
        raise Problem(field, f"{field}: expected a whole number from 1 to {most:,}")
    return value


def choice(asked: dict[str, Any], field: str, known: tuple[str, ...]) -> str:
    """A field that is one of ``known``; the first if it is missing."""
    value = asked.get(field, known[0])
    if value not in known:
        raise Problem(field, f"{field}: expected one of {', '.join(known)}")
    return str(value)


def _tools(asked: dict[str, Any]) -> list[Any] | None:
    if asked.get("tools") is None:
        return None
    text = string(asked, "tools", MAX_TOOLS)
    if not text.strip():
        return None
    try:
        value = json.loads(text)
    except ValueError as error:
        raise Problem("tools", f"tools: not JSON: {error}") from None
    except RecursionError:
        raise Problem("tools", "tools: nested too deeply") from None
    if isinstance(value, dict):
        value = value["tools"] if isinstance(value.get("tools"), list) else [value]
    if not isinstance(value, list):
        raise Problem("tools", "tools: expected a list of tool definitions, or one")
    try:
        ToolSet.of(value)
    except (TypeError, DefinitionError, RecursionError) as error:
        raise Problem("tools", str(error) or "tools: nested too deeply") from None
    return value


def no_validator() -> str:
    """Why arguments cannot be validated here; empty if they can."""
    if find_spec("jsonschema_rs") is not None:
        return ""
    return _MISSING_ENGINE.get(sys.platform, _MISSING_ENGINE[""])


def read_request(asked: dict[str, Any]) -> Asked:
    """The fields that say what is read, and how."""
    text = string(asked, "text", MAX_TEXT)
    format = None if asked.get("format") is None else string(asked, "format", 200)
    tools = _tools(asked)
    options: dict[str, Any] = {"tools": tools, "on_error": choice(asked, "on_error", ("raise", "collect", "repair"))}
    if asked.get("validate") is True and tools is not None and not no_validator():
        options["validate"] = True
    if asked.get("cut") is True:
        options["finish_reason"] = "length"
    if asked.get("prompt") is not None:
        options["generation_prompt"] = string(asked, "prompt", MAX_TEXT)
    if format not in (None, "response"):
        try:
            toolglot.get_format(format)
        except DefinitionError as error:
            raise Problem("format", str(error)) from None
    return Asked(text, format, options)


# -- reading


def reading_of(asked: Asked) -> Read:
    """Read a text: as it was asked for, else as what it is.

    JSON of an API's shape is its response, unless it is one of the shapes that models write as text (format `json`).
    Call syntax counts where nothing else is found, as it does for the two functions that return plain dicts.
    """
    if asked.format == "response":
        return _read_response(asked, "auto")
    found = _read_text(asked, asked.format)
    if asked.format is not None:
        return found
    if asked.text.lstrip()[:1] in ("{", "["):
        provider = _provider(asked.text)
        if provider is not None and not (found.message.tool_calls and found.message.format == "json"):
            return _read_response(asked, provider)
    if not (found.message.tool_calls or found.errors) and toolglot.detect_format(asked.text) == "python":
        return _read_text(asked, "python")
    return found


def _provider(text: str) -> str | None:
    found = toolglot.detect_provider(text)
    return found.value if toolglot.try_get_provider(found) is not None else None


def _read_text(asked: Asked, format: str | None) -> Read:
    return _once(lambda: toolglot.parse(asked.text, format=format, **asked.options), "text", format)


def _read_response(asked: Asked, provider: str) -> Read:
    options = {key: value for key, value in asked.options.items() if key in _OF_RESPONSES}
    return _once(lambda: toolglot.parse_response(asked.text, provider, **options), "response", provider)


def _once(again: Callable[[], Message], how: str, format: str | None) -> Read:
    began = perf_counter()
    try:
        message = again()
    except (ParseError, LimitError) as error:
        seconds = perf_counter() - began
        return Read(getattr(error, "message", None) or Message(), [error], how, format, again, seconds)
    except DefinitionError as error:  # a schema that is none
        raise Problem("tools", str(error)) from None
    except RecursionError:
        raise Problem("text", "text: nested too deeply for this Python") from None
    return Read(message, list(message.errors), how, format, again, perf_counter() - began)
