"""Pieces of Markdown."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any


def text(plain: str) -> str:
    """Plain text with the markup in it made harmless; code spans, with one backtick or two, stay."""
    parts = re.split(r"(``.+?``|`[^`]+`)", plain, flags=re.DOTALL)
    return "".join(part if i % 2 else part.replace("<", "&lt;").replace("|", "\\|") for i, part in enumerate(parts))


def code(plain: str) -> str:
    """One line as code, in running text and in a table: HTML, since a bar in a table's code cannot be escaped."""
    shown = "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in plain)
    for char, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("|", "&#124;"), ("*", "&#42;"), ("_", "&#95;")):
        shown = shown.replace(char, entity)
    for char in "`[]\\":
        shown = shown.replace(char, f"&#{ord(char)};")
    return f"<code>{shown}</code>"


def codes(plain: Iterable[str]) -> str:
    """Several, behind each other."""
    return ", ".join(map(code, plain))


def fence(block: str, language: str = "text", indent: str = "") -> str:
    """A block of code; its fence is longer than any within."""
    longest = max(map(len, re.findall(r"`{3,}", block)), default=2)
    fences = "`" * (longest + 1)
    lines = [f"{fences}{language}", *block.rstrip("\n").split("\n"), fences]
    return "".join(f"{indent}{line}".rstrip(" ") + "\n" for line in lines)


def folded(title: str, block: str, language: str = "text") -> str:
    """A block of code that opens on a click."""
    return f'??? note "{title}"\n\n{fence(block, language, "    ")}'


def data(value: Any) -> str:
    """JSON, as a block of code."""
    return fence(_laid_out(value, 0, 0), "json")


def _laid_out(value: Any, depth: int, before: int) -> str:
    """JSON on one line where that is short enough behind ``before`` characters, else a member a line."""
    line = json.dumps(value, ensure_ascii=False)
    if len(line) + before + 2 * depth <= 88 or not value or not isinstance(value, dict | list):
        return line
    pad = "  " * (depth + 1)
    if isinstance(value, list):
        inner = [pad + _laid_out(item, depth + 1, 0) for item in value]
        return "[\n" + ",\n".join(inner) + f"\n{pad[2:]}]"
    heads = {json.dumps(key, ensure_ascii=False) + ": ": item for key, item in value.items()}
    inner = [pad + head + _laid_out(item, depth + 1, len(head)) for head, item in heads.items()]
    return "{\n" + ",\n".join(inner) + f"\n{pad[2:]}}}"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; cells are Markdown."""
    lines = [f"| {' | '.join(head)} |", f"|{' --- |' * len(head)}"]
    lines += [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join(lines) + "\n"


def page(title: str, *sections: str) -> str:
    """A page of sections; what is empty is left out."""
    return "\n\n".join(part.strip("\n") for part in (f"# {title}", *sections) if part) + "\n"
