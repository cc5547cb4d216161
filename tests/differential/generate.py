"""Seeded texts for the differential test: what models write in the seven formats, and what goes wrong with it.

Half of the texts are as a model writes them; the other half are mutated: characters and tokens deleted, doubled,
swapped and put in, the end cut off, keys duplicated, closers removed. Equal seeds give equal texts. No text holds a
lone surrogate, which the reference program cannot take.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

NAMES = ("search", "get_weather", "f", "a.b", "tool_2", "write-file", "x_y.z", "Ping")
KEYS = ("query", "limit", "a", "b", "path", "text", "name", "arguments", "when", "k_1", "é", "a b")
WORDS = ("Paris", "rust async", "007", "null", "True", "a < b", "c[0]", "f(x)", "it's", 'say "hi"', "", " ", "\n", "\\")
ODD = (
    "é",
    "日本",
    "😀",
    "\t",
    "\\n",
    "\x00",
    "\u2028",
    "&lt;b&gt;",
    "&amp;",
    "&#65;",
    "</b>",
    "{}",
    "#",
    "'''",
    "  x ",
)
NUMBERS = (0, 1, -1, 5, 42, 1.0, -0.0, 0.5, 1e-7, 1e22, 123456789, 2**63, 2**64, -(10**30), 10**400)

PLAIN = (
    "I will look that up.",
    "Let me see:",
    "Done.",
    "Two lines\nof text",
    "Sure, café!",
    "Step 1: think. Step 2: act.",
)
BUSY = (
    "Use `f(x)` here.",
    "See [the guide](https://example.org/a?b=c).",
    "```python\nfor i in range(3):\n    print(i)\n```",
    'The data is {"id": 1, "tags": ["a", "b"]}.',
    "a < b > c && d[0] == {e}",
    'He said "name" and left.',
    "{curly} and [square] and (round)",
    "<b>bold</b> &amp; <br/>",
    "it's 5 o'clock",
    "[1, 2, 3]",
    "def f(x): return x",
)
REASONING = (
    "I should search.",
    "Use f(a=1)?",
    '<tool_call>{"name": "f", "arguments": {}}</tool_call>',
    "a [b] {c}",
    "",
)
SPACE = ("", "", "", " ", "\n", "\n\n", "  ", "\t", " \n ", "\r\n")

FRAGMENTS = (
    *(
        "<tool_call>",
        "</tool_call>",
        "[TOOL_CALL]",
        "[/TOOL_CALL]",
        "[TOOL_CALLS]",
        "[ARGS]",
        "[CALL_ID]x",
        "<|python_tag|>",
    ),
    *('<invoke name="g">', "</invoke>", '<parameter name="k">', "</parameter>", "<function_calls>", "<invoke", "</"),
    *("<think>", "</think>", "<|eom_id|>", "</s>", "<|im_end|>", "```json\n", "```", "name=f;args=", ";"),
    *("{", "}", "[", "]", "(", ")", '"', "'", ",", ":", "=", "\\", "<", ">", "&", "\n", " ", "\t", "-", "+", ".", "#"),
    *("null", "None", "true", "True", "tru", "NaN", "Infinity", "1e400", "01", "1.", "-", ".5", "0x1", "1_0"),
    *('"\\u00e9"', "\\ud83d", "\\u12", "\\x41", "\\q", "\\/", "\\'", '"""', "'''", "\x01", "é", "😀"),
    *('{"name": "g", "arguments": {}}', '"name"', '"name": ', '"arguments": {}', '"input": {}', '{"a": 1}', "[]", "{}"),
    *('"tool_calls": []', '"function": {', "g()", "g(x)", "g(k=1)", "g(", "k=", "k=2, ", "1, ", '"k": 1, ', "prose "),
)

_TOKEN = re.compile(r"</?[\w|]+[^<>]*>|\[/?[A-Z_]+\]|\"(?:[^\"\\]|\\.)*\"|\w+|\s+|.", re.DOTALL)


def value(random: Random, depth: int = 0) -> Any:
    """A JSON value."""
    kind = random.randrange(10 if depth < 3 else 6)
    if kind < 3:
        return random.choice(WORDS) + random.choice(("", "", random.choice(ODD)))
    if kind < 5:
        return random.choice(NUMBERS)
    if kind < 6:
        return random.choice((True, False, None))
    if kind < 8:
        return [value(random, depth + 1) for _ in range(random.randrange(4))]
    return arguments(random, depth + 1)


def arguments(random: Random, depth: int = 0) -> dict[str, Any]:
    """A JSON object."""
    keys = random.sample(KEYS, random.choice((0, 1, 1, 2, 2, 3)))
    return {key: value(random, depth) for key in keys}


def dumps(random: Random, data: Any) -> str:
    """``data`` as JSON, in one of the usual layouts."""
    layout = random.randrange(5)
    if layout == 0:
        return json.dumps(data)
    if layout == 1:
        return json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return json.dumps(data, ensure_ascii=False, indent=2 if layout == 2 else None)


def call_object(random: Random, name: str, args: dict[str, Any]) -> dict[str, Any]:
    """A call in one of the JSON shapes."""
    shape = random.randrange(12)
    given: Any = dumps(random, args) if random.randrange(5) == 0 else args
    if shape == 0:
        return {"type": "tool_use", "id": "toolu_1", "name": name, "input": given}
    if shape <= 2:
        return {"id": "call_1", "type": "function", "function": {"name": name, "arguments": given}}
    if shape == 3:
        return {"function": {"name": name, "arguments": given}}
    key = random.choice(("arguments", "arguments", "arguments", "parameters", "input", "args"))
    found: dict[str, Any] = {"name": name, key: given}
    for beside in ("id", "type", "call_id", "index"):
        if random.randrange(12) == 0:
            found[beside] = random.choice(("x", "function", 0, None))
    if random.randrange(25) == 0:
        found["comment"] = "not a call"
    items = list(found.items())
    if random.randrange(4) == 0:
        random.shuffle(items)
    return dict(items)


def plain_call(random: Random) -> str:
    """A call as the JSON that stands in most tags."""
    return dumps(random, call_object(random, random.choice(NAMES), arguments(random)))


def space(random: Random) -> str:
    return random.choice(SPACE)


def hermes(random: Random) -> str:
    one = random.choice((plain_call, plain_call, plain_call, array))
    return f"<tool_call>{space(random)}{one(random)}{space(random)}</tool_call>"


def bracket(random: Random) -> str:
    if random.randrange(2):
        return f"[TOOL_CALL]{space(random)}{plain_call(random)}{space(random)}[/TOOL_CALL]"
    args = dumps(random, arguments(random))
    return f"[TOOL_CALL]name={random.choice(NAMES)};args={args}[/TOOL_CALL]"


def mistral(random: Random) -> str:
    shape = random.randrange(4)
    if shape == 0:
        return f"[TOOL_CALLS]{space(random)}{array(random)}"
    if shape == 1:
        return f"[TOOL_CALLS]{random.choice(NAMES)}[CALL_ID]aB3dE6gH9[ARGS]{dumps(random, arguments(random))}"
    count = 2 if random.randrange(30) == 0 else 1
    return "".join(f"[TOOL_CALLS]{random.choice(NAMES)}[ARGS]{dumps(random, arguments(random))}" for _ in range(count))


def llama(random: Random) -> str:
    body = python_call(random) if random.randrange(2) else plain_call(random)
    return f"<|python_tag|>{space(random)}{body}{random.choice(('', '', '<|eom_id|>', '<|eot_id|>'))}"


def xml_text(random: Random, data: Any) -> str:
    if isinstance(data, str):
        return data.replace("&", "&amp;").replace("<", "&lt;") if random.randrange(2) else data
    return dumps(random, data)


def xml_invoke(random: Random) -> str:
    lines = [f'<parameter name="{key}">{xml_text(random, data)}</parameter>' for key, data in arguments(random).items()]
    between = random.choice(("", "\n", "\n", "\n  "))
    name = random.choice(NAMES)
    inner = between.join([f'<invoke name="{name}">', *lines, "</invoke>"])
    return f"<function_calls>\n{inner}\n</function_calls>" if random.randrange(3) == 0 else inner


def array(random: Random) -> str:
    return dumps(
        random,
        [call_object(random, random.choice(NAMES), arguments(random)) for _ in range(random.choice((1, 1, 2, 3)))],
    )


def json_text(random: Random) -> str:
    shape = random.randrange(6)
    if shape == 0:
        body = array(random)
    elif shape == 1:
        calls = [call_object(random, random.choice(NAMES), arguments(random)) for _ in range(random.randrange(3))]
        body = dumps(random, {"role": "assistant", "content": None, "tool_calls": calls})
    elif shape == 2:
        body = dumps(random, {"function_call": {"name": random.choice(NAMES), "arguments": dumps(random, {"a": 1})}})
    else:
        body = plain_call(random)
    fence = random.randrange(4)
    return f"```json\n{body}\n```" if fence == 0 else f"```\n{body}\n```" if fence == 1 else body


def python_literal(random: Random, data: Any) -> str:
    if isinstance(data, (dict, list)) and random.randrange(3) == 0:
        return json.dumps(data, ensure_ascii=random.randrange(2) == 0)
    if isinstance(data, list) and random.randrange(3) == 0:
        return (
            "(" + ", ".join(python_literal(random, item) for item in data) + random.choice((")", ",)" if data else ")"))
        )
    if isinstance(data, str) and random.randrange(2):
        return json.dumps(data, ensure_ascii=False)
    return repr(data)


def python_call(random: Random) -> str:
    args = {re.sub(r"\W", "_", key, flags=re.ASCII): data for key, data in arguments(random).items()}
    equals, comma = random.choice(("=", "=", "=", " = ")), random.choice((", ", ", ", ",", ",\n    "))
    inner = comma.join(f"{key}{equals}{python_literal(random, data)}" for key, data in args.items())
    return f"{random.choice(NAMES).replace('-', '_')}({random.choice(('', '', ' ', chr(10)))}{inner})"


FORMATS: dict[str, Callable[[Random], str]] = {
    "hermes": hermes,
    "bracket": bracket,
    "mistral": mistral,
    "llama": llama,
    "xml_invoke": xml_invoke,
    "json": json_text,
    "python": python_call,
}


def prose(random: Random) -> str:
    return random.choice(BUSY if random.randrange(3) == 0 else PLAIN)


def canonical(random: Random, format: str) -> str:
    """What a model might write: reasoning, text, one call or a few, text."""
    parts: list[str] = []
    if random.randrange(12) == 0:
        parts += ["<think>", random.choice(REASONING), "</think>" if random.randrange(6) else "", random.choice(SPACE)]
    if random.randrange(2):
        parts += [prose(random), random.choice(SPACE)]
    # A second [TOOL_CALLS] or <|python_tag|> call is a kind of difference by itself and would drown the others.
    count = random.choice((1, 1, 1, 2, 2, 3)) if format not in {"mistral", "llama"} else 1
    for number in range(count):
        kind = random.choice(list(FORMATS)) if random.randrange(12) == 0 else format
        parts += [random.choice(SPACE[3:]) if number else "", FORMATS[kind](random)]
    if random.randrange(3) == 0:
        parts += [random.choice(SPACE), prose(random)]
    return "".join(parts)


def mutate(random: Random, text: str) -> str:
    """``text`` with one thing wrong with it."""
    kind = random.randrange(12)
    if kind == 0:
        return text[: random.randrange(len(text) + 1)]
    if kind == 1:
        at = random.randrange(len(text) + 1)
        return text[:at] + text[at + random.choice((1, 1, 2, 5)) :]
    if kind <= 4:
        at = random.randrange(len(text) + 1)
        return text[:at] + random.choice(FRAGMENTS) + text[at:]
    if kind == 5:
        at = random.randrange(max(1, len(text) - 1))
        return text[:at] + text[at + 1 : at + 2] + text[at : at + 1] + text[at + 2 :]
    if kind == 6:
        closers = [match.span() for match in re.finditer(r"</\w+>|\[/\w+\]|[\])}]|[\"']", text)]
        start, end = random.choice(closers or [(0, 0)])
        return text[:start] + text[end:]
    if kind == 7:
        keys = [match.span() for match in re.finditer(r'"\w+": ?', text)]
        start, end = random.choice(keys or [(0, 0)])
        return text[:start] + text[start:end] + random.choice(("1, ", "{}, ", '"x", ')) + text[start:]
    tokens = _TOKEN.findall(text)
    if not tokens:
        return random.choice(FRAGMENTS)
    at = random.randrange(len(tokens))
    if kind == 8:
        del tokens[at]
    elif kind == 9:
        tokens.insert(at, tokens[at])
    elif kind == 10:
        other = random.randrange(len(tokens))
        tokens[at], tokens[other] = tokens[other], tokens[at]
    else:
        tokens[at] = random.choice(FRAGMENTS)
    return "".join(tokens)


def texts(seed: int, count: int) -> Iterator[str]:
    """``count`` texts; every second one is mutated, once or a few times."""
    random = Random(seed)
    formats = list(FORMATS)
    for number in range(count):
        text = canonical(random, formats[number % len(formats)])
        if number % 2:
            for _ in range(random.choice((1, 1, 1, 2, 3))):
                text = mutate(random, text)
        yield text
