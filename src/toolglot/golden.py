"""Golden cases: what a text of a format means, written down from the specification; `check` runs one.

A case is two files in a folder ``<id>/``: ``<case>.txt``, the exact output of a model, and ``<case>.json``:

    tags         what the case is about
    source       where the fact comes from
    options      options of `toolglot.parse`, all optional; ``"tools": "standard"`` stands for ``formats/tools.json``
    detect       whether detection says the same; instead of ``true`` the ids (one or a list) that it may report
    render       whether rendering what was parsed gives the very same text
    round_trip   ``false`` where parsing what was rendered cannot give the same (a bare-text format without schema)
    content, reasoning, calls, errors, notes
                 what is found; an error's ``code`` may be a list of codes, its ``position`` may be missing, and so
                 may a call's ``id``, ``raw_arguments``, ``kind`` and ``input``, and ``notes``, where nothing is said
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from .api import StreamParser, parse
from .errors import ConversionError
from .rendering import render
from .types import Message

FOLDER = Path(__file__).parents[2] / "tests" / "formats"
"""Where the cases of the formats of this package stand in its source tree; an installed package has none."""

_KEYS = {"tags", "source", "options", "detect", "render", "round_trip", "content", "reasoning", "calls", "errors"}
_OPTIONS = {"tools", "generation_prompt", "finish_reason", "tool_choice"}
_CALL = {"name", "arguments", "id", "raw_arguments", "kind", "input"}
_ERROR = {"code", "position"}


@dataclass(frozen=True)
class GoldenCase:
    """One text and what it means; ``expected`` is the whole ``.json`` file."""

    format: str
    name: str
    text: str
    options: dict[str, Any]
    expected: dict[str, Any]

    @property
    def tags(self) -> list[str]:
        """What the case is about."""
        return list(self.expected["tags"])

    @property
    def detected(self) -> list[str]:
        """The ids that detection may report; empty where it is not to be tried."""
        detect = self.expected["detect"]
        if isinstance(detect, bool):
            return [self.format] if detect else []
        return [detect] if isinstance(detect, str) else list(detect)

    @property
    def render(self) -> bool:
        """Whether rendering gives the text back."""
        return bool(self.expected["render"])

    @property
    def round_trip(self) -> bool:
        """Whether parsing what was rendered has to give the same calls."""
        return bool(self.expected["calls"]) and self.expected.get("round_trip", True) is not False

    def __str__(self) -> str:
        return f"{self.format}/{self.name}"


@cache
def standard_tools(folder: Path = FOLDER) -> list[dict[str, Any]]:
    """The tools that the cases share: the file ``tools.json`` beside their folders."""
    tools: list[dict[str, Any]] = json.loads((folder / "tools.json").read_text("utf-8"))
    return tools


def folders(folder: Path = FOLDER) -> list[str]:
    """The ids that have a folder."""
    return sorted(path.name for path in folder.iterdir() if path.is_dir())


def load_folder(path: Path) -> list[GoldenCase]:
    """The cases of one folder, by name; `ValueError` if it is not sound."""
    texts = {file.stem for file in path.glob("*.txt")}
    sheets = {file.stem for file in path.glob("*.json")}
    for name in sorted(texts ^ sheets):
        there, missing = (".txt", ".json") if name in texts else (".json", ".txt")
        raise ValueError(f"{path / name}{there} has no {name}{missing} beside it")
    stray = [file.name for file in path.iterdir() if file.suffix not in (".txt", ".json")]
    if stray:
        raise ValueError(f"{path}: neither .txt nor .json: {', '.join(sorted(stray))}")
    return [_load(path, name) for name in sorted(texts)]


def _load(path: Path, name: str) -> GoldenCase:
    # As bytes: text mode would turn "\r\n" into "\n".
    text = (path / f"{name}.txt").read_bytes().decode("utf-8")
    sheet = path / f"{name}.json"
    try:
        expected: dict[str, Any] = json.loads(sheet.read_text("utf-8"))
    except ValueError as error:
        raise ValueError(f"{sheet}: {error}") from error
    options = dict(expected.get("options", {}))
    _check(sheet, expected, _KEYS | {"notes"}, _KEYS - {"options", "round_trip"})
    _check(sheet, options, _OPTIONS, set())
    for call in expected["calls"]:
        _check(sheet, call, _CALL, {"name", "arguments"})
    for item in expected["errors"]:
        _check(sheet, item, _ERROR, {"code"})
    if options.get("tools") == "standard":
        options["tools"] = standard_tools(path.parent)
    return GoldenCase(path.name, name, text, options, expected)


def _check(sheet: Path, value: dict[str, Any], known: set[str], needed: set[str]) -> None:
    if value.keys() - known:
        raise ValueError(f"{sheet}: unknown {', '.join(sorted(value.keys() - known))}")
    if needed - value.keys():
        raise ValueError(f"{sheet}: missing {', '.join(sorted(needed - value.keys()))}")


@cache
def load(folder: Path = FOLDER) -> list[GoldenCase]:
    """Every case, by format and name."""
    return [case for name in folders(folder) for case in load_folder(folder / name)]


# -- running one -------------------------------------------------------------------------------------------------

CHECKS = ("parse", "stream", "detect", "render", "round trip")


def check(case: GoldenCase) -> dict[str, str | None]:
    """What each of `CHECKS` says of a case: "" is right, another text what is wrong, None that it does not apply.

    The tests of this project ask more of a case (events, spans, every prefix); this is what a user needs of it.
    """
    options = {**case.options, "on_error": "collect"}
    message = parse(case.text, format=case.format, **options)
    found: dict[str, str | None] = dict.fromkeys(CHECKS)
    found["parse"] = _differs(_said(message), _meant(case, message))
    parser = StreamParser(format=case.format, **options)
    for char in case.text:
        parser.feed(char)
    parser.close()
    found["stream"] = _differs(_said(parser.message), _said(message))
    if case.detected:
        found["detect"] = _differs(_said(parse(case.text, **options)), _meant(case, message))
    try:
        if case.render:
            text = render(message.tool_calls, case.format, content=message.content, reasoning=message.reasoning)
            found["render"] = _differs(text, case.text)
        if case.round_trip:
            text = render(message.tool_calls, case.format)
            again = parse(
                text, format=case.format, tools=case.options.get("tools"), generation_prompt="", on_error="collect"
            )
            found["round trip"] = _differs(_said(again)["calls"], _said(message)["calls"])
    except ConversionError:
        pass  # what cannot be written safely is refused, which is right
    return found


def exact(value: Any) -> Any:
    """``value`` with its types spelled out, so that True is not 1 and 1 is not 1.0."""
    if isinstance(value, dict):
        return {key: exact(item) for key, item in value.items()}
    if isinstance(value, list):
        return [exact(item) for item in value]
    return type(value).__name__, value


def _said(message: Message) -> dict[str, Any]:
    return {
        "content": message.content,
        "reasoning": message.reasoning,
        "calls": [(call.name, exact(call.arguments), call.kind, call.input) for call in message.tool_calls],
        "errors": [(error.code, error.position) for error in message.errors],
    }


def _meant(case: GoldenCase, message: Message) -> dict[str, Any]:
    """What the sheet says, in the form of `_said`; where it leaves something open, what was found."""
    sheet = case.expected
    calls = []
    for i, want in enumerate(sheet["calls"]):
        call = message.tool_calls[i] if i < len(message.tool_calls) else None
        given = want.get("input", None if call is None else call.input)
        calls.append((want["name"], exact(want["arguments"]), want.get("kind", "function"), given))
    errors = []
    for i, want in enumerate(sheet["errors"]):
        error = message.errors[i] if i < len(message.errors) else None
        codes = want["code"] if isinstance(want["code"], list) else [want["code"]]
        code = error.code if error is not None and error.code in codes else codes[0]
        errors.append((code, want.get("position", None if error is None else error.position)))
    return {"content": sheet["content"], "reasoning": sheet["reasoning"], "calls": calls, "errors": errors}


def _differs(got: Any, wanted: Any) -> str:
    if got == wanted:
        return ""
    if isinstance(got, dict):
        key = next(key for key in got if got[key] != wanted[key])
        return f"{key}: expected {wanted[key]!r}, got {got[key]!r}"
    return f"expected {wanted!r}, got {got!r}"
