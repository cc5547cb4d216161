"""What is parsed: short messages of the seven formats, prose, and calls with an argument of any size."""

from __future__ import annotations

import json
from itertools import cycle

# What the calls of the short messages say: other values in each, so that nothing can be remembered from the last one.
_SAID: tuple[tuple[str, dict[str, object]], ...] = tuple(
    (name, {**arguments, "limit": number})
    for number in range(1, 9)
    for name, arguments in (
        ("search", {"query": f"rust async runtime {number}"}),
        ("get_weather", {"city": "São Paulo", "units": "metric", "detailed": True}),
        ("create_event", {"title": 'Sync "A"', "when": {"day": number, "slots": ["am", "pm"]}, "note": None}),
    )
)
_BEFORE = ("I will look that up.\n", "", "Let me check this for you, one moment.\n\n")


def _xml(name: str, arguments: dict[str, object]) -> str:
    lines = [
        f'<parameter name="{key}">{value if isinstance(value, str) else json.dumps(value)}</parameter>'
        for key, value in arguments.items()
    ]
    return "\n".join([f'<invoke name="{name}">', *lines, "</invoke>"])


def _write(format: str, name: str, arguments: dict[str, object], before: str) -> str:
    """A call as one of the seven formats of the first seed document writes it."""
    text = json.dumps(arguments, ensure_ascii=False)
    if format == "hermes":
        return f'{before}<tool_call>\n{{"name": "{name}", "arguments": {text}}}\n</tool_call>'
    if format == "bracket":
        return f"{before}[TOOL_CALL]name={name};args={text}[/TOOL_CALL]"
    if format == "mistral":
        return f'[TOOL_CALLS] [{{"name": "{name}", "arguments": {text}}}]'
    if format == "llama":
        return f'<|python_tag|>{{"name": "{name}", "parameters": {text}}}'
    if format == "xml_invoke":
        return before + _xml(name, arguments)
    if format == "json":
        return json.dumps({"type": "function", "function": {"name": name, "arguments": text}}, ensure_ascii=False)
    return f"{before}{name}({', '.join(f'{key}={value!r}' for key, value in arguments.items())})"


# By the ids of the seed; each message has one call and 60 to 160 characters.
SHORT: dict[str, list[str]] = {
    format: [_write(format, *said, _BEFORE[i % 3]) for i, said in enumerate(_SAID)]
    for format in ("hermes", "bracket", "mistral", "llama", "xml_invoke", "json", "python")
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
