"""What is proved of each wire format: ``python tests/wire_table.py`` runs every recorded case and prints how many pass.

A column is a tag of the cases; ``-`` says that the API has no such thing, and why stands below the table.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import payloads
import test_providers
import test_streams
from payloads import Payload

COLUMNS = (
    "definition",
    "choice",
    "response",
    "stream",
    "result",
    "error",
    "ids",
    "reasoning",
    "server calls",
    "extra",
)
# What an API has not.
NONE: dict[tuple[str, str], str] = {
    ("mcp", "stream"): "a result comes whole",
    ("mcp", "reasoning"): "calls and results only",
    ("mcp", "server calls"): "calls and results only",
    ("cohere", "server calls"): "its own tools are gone from version 2",
    ("cohere_v1", "reasoning"): "no model of its time thinks",
    ("cohere_v1", "server calls"): "connectors leave documents, not calls",
    ("mistral", "server calls"): "only Conversations run tools",
    ("ollama", "server calls"): "it runs no tools",
    ("openai_chat", "server calls"): "only xAI's protobuf objects show them: tests/sdk/test_xai.py",
}


def checks(case: Payload) -> list[Callable[[Payload], None]]:
    """The tests that a case has."""
    found: list[Callable[[Payload], None]] = []
    if case.is_response:
        found += [test_providers.test_response, test_providers.test_detection]
    if "assistant" in case.data:
        found.append(test_providers.test_written_back)
    if "request" in case.data:
        found.append(test_providers.test_request)
    if "results" in case.data:
        found.append(test_providers.test_results)
    if "stream" in case.data:
        found += [test_streams.test_stream, test_streams.test_a_dropped_connection]
    return found


def passes(case: Payload) -> bool:
    """Whether all of them pass."""
    try:
        for check in checks(case):
            check(case)
    except AssertionError:
        return False
    return True


def table() -> dict[str, dict[str, tuple[int, int]]]:
    """Of each wire format, the cases of each column that pass, and all of them."""
    rows: dict[str, dict[str, tuple[int, int]]] = {}
    for case in payloads.cases():
        row = rows.setdefault(case.wire, dict.fromkeys(COLUMNS, (0, 0)))
        good = passes(case)
        for tag in case.data["tags"]:
            if tag in row:
                row[tag] = (row[tag][0] + good, row[tag][1] + 1)
    return rows


def main() -> int:
    """Print the table; 1 if a case fails or a cell is empty."""
    bad = 0
    print(f"{'':24}" + "".join(f"{column:>14}" for column in COLUMNS))
    for wire, row in table().items():
        cells = []
        for column, (good, total) in row.items():
            none = (wire, column) in NONE
            bad += good != total or none == bool(total)
            cells.append("-" if none else f"{good}/{total}")
        print(f"{wire:24}" + "".join(f"{cell:>14}" for cell in cells))
    for (wire, column), why in NONE.items():
        print(f"{wire}, {column}: {why}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
