"""What is parsed: short messages of the seven formats, prose, and calls with an argument of any size."""

from __future__ import annotations

import json
from itertools import cycle

ARGUMENTS = '{"query": "rust async runtime", "limit": 5}'

# The seven formats of the first seed document, by its ids.
SHORT: dict[str, str] = {
    "hermes": f'I will look.\n<tool_call>\n{{"name": "search", "arguments": {ARGUMENTS}}}\n</tool_call>',
    "bracket": f"I will look.\n[TOOL_CALL]name=search;args={ARGUMENTS}[/TOOL_CALL]",
    "mistral": f'[TOOL_CALLS] [{{"name": "search", "arguments": {ARGUMENTS}}}]',
    "llama": f'<|python_tag|>{{"name": "search", "parameters": {ARGUMENTS}}}',
    "xml_invoke": (
        'I will look.\n<invoke name="search">\n<parameter name="query">rust async runtime</parameter>\n'
        '<parameter name="limit">5</parameter>\n</invoke>'
    ),
    "json": json.dumps({"type": "function", "function": {"name": "search", "arguments": ARGUMENTS}}),
    "python": 'I will look that up. search(query="rust async runtime", limit=5)',
}

_PLAIN = (
    "A tool call is a message in which a model asks the program around it to do something, and to say what came "
    "of it. The program reads the name and the arguments, checks that such a tool exists, runs it, and writes the "
    "result into the conversation. Then the model goes on, with the result before its eyes. "
)
_BUSY = (
    "Use `list[int]` for ids (see [the guide](https://example.org/a?b=c)), and <b>never</b> `dict[str, Any]`:\n"
    "```python\nfor i in range(len(xs)):\n    if xs[i] < limit and flags & {1, 2}:\n        print(xs[i], end='')\n```\n"
    'The reply is {"status": "ok", "items": [1, 2, 3]} (or `{}` when there are none), as in <code>a[0](x)</code>. '
)


def prose(size: int, *, busy: bool) -> str:
    """About ``size`` characters without a call: plain, or full of brackets, tags, JSON and code."""
    return _fill(_BUSY if busy else _PLAIN, size)


def _fill(text: str, size: int) -> str:
    return (text * (size // len(text) + 1))[:size].rstrip()


_LINES = (
    "def resolve(items, limit=10):",
    '    """Return the first `limit` names that are not empty."""',
    "    found = [item for item in items if item and len(item) < 80]",
    "    for index, name in enumerate(found[:limit]):",
    '        print(f"{index}: {name}", end="\\n")',
    "    return {name: index for index, name in enumerate(found)}",
    "",
)


def long_string(size: int) -> str:
    """About ``size`` characters of source text, the usual long argument."""
    lines, total = [], 0
    for line in cycle(_LINES):
        lines.append(line)
        total += len(line) + 1
        if total >= size:
            return "\n".join(lines)
    raise AssertionError("a cycle does not end")


def one_string(size: int) -> dict[str, object]:
    """Arguments with one long string."""
    return {"path": "a.py", "text": long_string(size)}


def many_objects(size: int) -> dict[str, object]:
    """Arguments with many small objects, ``size`` characters as JSON."""
    row = {"id": 10_000, "name": "item 10000", "price": 12.5, "tags": ["a", "b"], "stock": True, "note": None}
    count = size // (len(json.dumps(row)) + 2)
    return {"rows": [{**row, "id": 10_000 + i, "name": f"item {10_000 + i}"} for i in range(count)]}


def hermes(arguments: str) -> str:
    """A call as Hermes and Qwen write it."""
    return f'<tool_call>\n{{"name": "write_file", "arguments": {arguments}}}\n</tool_call>'


def qwen3_coder(text: str) -> str:
    """A call as Qwen3-Coder writes it."""
    return (
        "<tool_call>\n<function=write_file>\n<parameter=path>\na.py\n</parameter>\n"
        f"<parameter=text>\n{text}\n</parameter>\n</function>\n</tool_call>"
    )


def pythonic(text: str) -> str:
    """A list of one call as Llama 4 writes it."""
    return f"[write_file(path='a.py', text={text!r})]"


def harmony(arguments: str) -> str:
    """A call as gpt-oss writes it."""
    return (
        "<|channel|>analysis<|message|>The file has to be written.<|end|><|start|>assistant<|channel|>commentary "
        f"to=functions.write_file <|constrain|>json<|message|>{arguments}<|call|>"
    )


def streamed(format: str, size: int) -> str:
    """The call that is streamed, about ``size`` characters, in one of the four formats that are measured."""
    text = long_string(size)
    if format == "hermes":
        return hermes(json.dumps({"path": "a.py", "text": text}))
    if format == "harmony":
        return harmony(json.dumps({"path": "a.py", "text": text}))
    return qwen3_coder(text) if format == "qwen3_coder" else pythonic(text)
