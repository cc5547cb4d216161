"""The table of the parser names of vLLM and SGLang, for docs/coming-from-engines.md."""

from __future__ import annotations

import toolglot

from .formats import ENGINES


def names_table() -> str:
    """Each parser's name, the format that reads what it reads, and who writes that."""
    parts = []
    for engine in ("vllm", "sglang"):
        names = sorted({name for fmt in toolglot.formats() for name in fmt.engines.get(engine, ())})
        rows = [(name, toolglot.get_format(f"{engine}:{name}")) for name in names]
        lines = [
            f"| `{name}` | `{fmt.id}` | {', '.join(fmt.families).replace('|', chr(92) + '|')} |" for name, fmt in rows
        ]
        parts.append(f"### {ENGINES[engine]}\n\n| `--tool-call-parser` | format | written by |\n| --- | --- | --- |\n")
        parts += [line + "\n" for line in lines]
        parts.append("\n")
    return "".join(parts)
