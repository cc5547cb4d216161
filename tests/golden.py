"""The golden cases: what a text of a format means, written down from the specification.

A case is two files in ``tests/formats/<id>/``: ``<case>.txt``, the exact output of a model, and ``<case>.json``:

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

FOLDER = Path(__file__).parent / "formats"

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
def standard_tools() -> list[dict[str, Any]]:
    """The tools that the cases share."""
    tools: list[dict[str, Any]] = json.loads((FOLDER / "tools.json").read_text("utf-8"))
    return tools


def folders() -> list[str]:
    """The ids that have a folder."""
    return sorted(path.name for path in FOLDER.iterdir() if path.is_dir())


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
        options["tools"] = standard_tools()
    return GoldenCase(path.name, name, text, options, expected)


def _check(sheet: Path, value: dict[str, Any], known: set[str], needed: set[str]) -> None:
    if value.keys() - known:
        raise ValueError(f"{sheet}: unknown {', '.join(sorted(value.keys() - known))}")
    if needed - value.keys():
        raise ValueError(f"{sheet}: missing {', '.join(sorted(needed - value.keys()))}")


@cache
def load() -> list[GoldenCase]:
    """Every case, by format and name."""
    return [case for name in folders() for case in load_folder(FOLDER / name)]
