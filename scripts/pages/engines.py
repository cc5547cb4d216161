"""The table of the parser names of vLLM and SGLang, for docs/coming-from-engines.md."""

from __future__ import annotations

import toolglot

from .formats import ENGINES
from .markdown import table, text


def names_table() -> str:
    """Each parser's name, the formats that read what it reads, and who writes those."""
    parts = []
    for engine in ("vllm", "sglang"):
        readers: dict[str, list[toolglot.Format]] = {}
        for fmt in toolglot.formats():
            for name in fmt.engines.get(engine, ()):
                readers.setdefault(name, []).append(fmt)
        rows = [
            (
                f"`{name}`",
                ", ".join(f"`{fmt.id}`" for fmt in formats),
                text(", ".join(family for fmt in formats for family in fmt.families)),
            )
            for name, formats in sorted(readers.items())
        ]
        parts.append(f"### {ENGINES[engine]}\n\n{table(('`--tool-call-parser`', 'format', 'written by'), rows)}\n")
    return "".join(parts)
