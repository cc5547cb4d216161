"""What the tests of batches share: rows, good and bad."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from toolglot import golden
from toolglot.batch.sources import Piece

# Lines that are no row with a text, and the code of the error in their place.
BAD_LINES: dict[bytes, str] = {
    b"": "batch.invalid_line",
    b"  ": "batch.invalid_line",
    b"[1, 2]": "batch.invalid_line",
    b'"text"': "batch.invalid_line",
    b"null": "batch.invalid_line",
    b'{"text": "cut o': "batch.invalid_line",
    b'{"text": 1' + b"0" * 5000 + b"}": "batch.invalid_line",
    b'{"text": ' + b"[" * 5000 + b"]" * 5000 + b"}": "batch.invalid_line",
    b'{"text": ' + b"[" * 300 + b"]" * 300 + b"}": "batch.invalid_line",
    b'{"text": "\xff"}': "batch.invalid_encoding",
    b'{"text": "half \\ud83d"}': "batch.invalid_encoding",
    b'{"text": null}': "batch.missing_text",
    b'{"text": NaN}': "batch.missing_text",  # as pandas writes null
    b'{"id": 1}': "batch.missing_text",
    b'{"text": 5}': "batch.invalid_text",
    b'{"text": ["a", "b"]}': "batch.invalid_text",
}


def lines(count: int, seed: int = 0, longest: int = 400) -> Iterator[bytes]:
    """Lines of texts of every format, some of them bad."""
    chance = random.Random(seed)
    texts = [case.text for case in golden.load() if len(case.text) < longest]
    bad = [line for line in BAD_LINES if len(line) < 100]
    for number in range(count):
        if chance.random() < 0.02:
            yield chance.choice(bad)
        else:
            yield json.dumps({"id": number, "text": chance.choice(texts)}, ensure_ascii=False).encode()


def write_lines(path: Path, count: int, seed: int = 0, longest: int = 400) -> Path:
    """A file of them."""
    with path.open("wb") as file:
        file.writelines(line + b"\n" for line in lines(count, seed, longest))
    return path


def read(path: Path) -> list[dict[str, Any]]:
    """The rows of an output."""
    return [json.loads(line) for line in path.read_bytes().split(b"\n")[:-1]]


PIECE = Piece(0, "lines", b"", "", "outputs.jsonl", 0, 1, 1, 0)
