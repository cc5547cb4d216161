"""Text of a model on its way to a terminal: nothing in it may act on the terminal.

Control characters (escape sequences, carriage returns) and characters that reorder a line are written as Python
and JSON write them; everything else stays as it is.
"""

from __future__ import annotations

import json
import re
from typing import Any

# JSON escapes the characters below space itself. These it leaves raw: DEL and C1 controls (0x9B starts a terminal
# sequence), line separators, and what reorders or hides text.
_ACTIVE = re.compile(
    "[\x7f-\x9f\xad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff]"
)

# Needed by scripts and emoji, harmless to a terminal, and yet not `isprintable`.
_JOINERS = "\u200c\u200d"


def plain(text: str, keep: str = "\n\t") -> str:
    r"""``text`` with every character escaped that is not printable, but for those in ``keep``.

    >>> print(plain("red: \x1b[31m, caf\u00e9"))
    red: \x1b[31m, café
    """
    if text.isprintable():
        return text
    keep += _JOINERS
    return "".join(c if c.isprintable() or c in keep else c.encode("unicode_escape").decode("ascii") for c in text)


def line(text: str) -> str:
    """``text`` on one line: line breaks and tabs escaped too."""
    return plain(text, keep="")


def json_text(value: Any, *, indent: int | None = None, ascii_only: bool = False) -> str:
    r"""``value`` as JSON that is safe to show: what a terminal could obey is escaped, which JSON allows.

    >>> print(json_text({"a": "\x9b31m"}))
    {"a": "\u009b31m"}
    """
    text = json.dumps(value, ensure_ascii=ascii_only, allow_nan=False, indent=indent)
    # Outside strings JSON is ASCII, so whatever matches stands in a string, where an escape means the same.
    return _ACTIVE.sub(lambda match: json.dumps(match[0])[1:-1], text)
