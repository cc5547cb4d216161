"""A page a text format, made from its declaration, its golden cases, and what parsing and rendering do with a call."""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from typing import Any, Final

import toolglot
from toolglot import Format, ToolCall, ToolResult, golden
from toolglot.pattern import (
    Again,
    Arguments,
    Call,
    CallObject,
    Each,
    Either,
    Hole,
    Lit,
    Maybe,
    Section,
    Tag,
    Value,
    Ws,
)

from .markdown import code, codes, data, fence, folded, page, table, text

# Who serves or runs the models, by the key in `Format.engines`.
ENGINES: Final = {
    "dynamo": "NVIDIA Dynamo",
    "lmdeploy": "LMDeploy",
    "mlx-lm": "mlx-lm",
    "ollama": "Ollama",
    "sglang": "SGLang",
    "smg": "SGLang Model Gateway",
    "tensorrt-llm": "TensorRT-LLM",
    "vllm": "vLLM",
    "xgrammar": "XGrammar",
}
TIERS: Final = {
    "tagged": "yes, by its markup",
    "json": "yes, as JSON in the shape of a call",
    "python": "yes, as call syntax",
}
SKETCH: Final = (
    "The pattern. Words in capitals are holes, `⟨ ⟩` groups, and `¦` stands between alternatives, of which the first "
    "is written.\n\n"
)
_PROPERTIES: Final = {"city": {"type": "string"}, "days": {"type": "integer"}}
TOOLS: Final[list[dict[str, Any]]] = [
    {
        "name": "get_weather",
        "description": "The weather of the next days.",
        "parameters": {"type": "object", "properties": _PROPERTIES, "required": ["city"]},
    },
    {"name": "get_time", "description": "The time now.", "parameters": {"type": "object", "properties": {}}},
]
CALLS: Final = [ToolCall("get_weather", {"city": "Zürich", "days": 2}, id="a1b2c3d40"), ToolCall("get_time", {})]
# What cannot take those: tools of servers, and code.
_SERVER_CALLS: Final = [ToolCall(f"home/{call.name}", call.arguments) for call in CALLS]
_CODE: Final = [ToolCall("python_interpreter", {"code": "print(6 * 7)"})]


def sample(fmt: Format) -> tuple[list[ToolCall], str]:
    """Calls that the format can write, and their text; none if it is only read."""
    for calls in (CALLS, _SERVER_CALLS, _CODE):
        try:
            return calls[: fmt.max_calls], toolglot.render(calls[: fmt.max_calls], fmt.id, tools=_tools(calls))
        except toolglot.ConversionError:
            continue
    return [], ""


def _tools(calls: list[ToolCall]) -> list[dict[str, Any]]:
    """The definitions of the tools that are called."""
    shapes = {tool["name"]: tool["parameters"] for tool in TOOLS}
    any_code = {"type": "object", "properties": {"code": {"type": "string"}}}
    return [
        {"name": call.name, "parameters": shapes.get(call.name.rpartition("/")[2], any_code), "description": ""}
        for call in calls
    ]


def _found(written: str, fmt: Format, calls: list[ToolCall]) -> list[tuple[str, Any]] | None:
    """What is read from a text; None if anything is wrong with it."""
    message = toolglot.parse(written, format=fmt.id, tools=_tools(calls), generation_prompt="", on_error="collect")
    return None if message.errors else [(call.name, call.arguments) for call in message.tool_calls]


def missing_closer(fmt: Format, calls: list[ToolCall], written: str) -> str:
    """The longest end of a text of calls without which they are all still read."""
    whole = [(call.name, call.arguments) for call in calls]
    cuts = range(max(0, len(written) - 200), len(written))
    return next((written[cut:] for cut in cuts if _found(written[:cut], fmt, calls) == whole), "")


def _walk(node: Any) -> list[Any]:
    """A pattern's nodes, itself first."""
    found = [node]
    for name in getattr(node, "__slots__", ()):
        inner = getattr(node, name)
        for item in inner if isinstance(inner, tuple) else (inner,):
            options = item if isinstance(node, Either) and isinstance(item, tuple) else (item,)
            for one in options:
                if hasattr(one, "__slots__"):
                    found += _walk(one)
    return found


def _closers(fmt: Format, calls: list[ToolCall], written: str) -> str:
    said = []
    if written and (end := missing_closer(fmt, calls, written)):
        said.append(
            f"- At the end of the output {code(end)} may be missing, as where it was a stop sequence. After "
            '`finish_reason="length"` nothing may.'
        )
    elif written:
        said.append("- At the end of the output nothing may be missing: what is cut off is a `TruncatedError`.")
    nodes = [node for root in fmt.nodes() for node in _walk(root)]
    for node in nodes:
        if isinstance(node, Lit) and node.implied_by:
            said.append(f"- {code(node.texts[0])} may be missing before {codes(node.implied_by)}.")
        if isinstance(node, Lit) and len(node.texts) > 1:
            count = len(node.texts) - 1
            more = f" and {count - 3} more are" if count > 3 else " are" if count > 1 else " is"
            said.append(f"- {code(node.texts[0])} is written; {codes(node.texts[1:4])}{more} read as well.")
    if any(isinstance(node, Value) and node.implied != "no" for node in nodes):
        line = any(isinstance(node, Value) and node.implied == "line" for node in nodes)
        where = ", at a line start" if line else ""
        said.append(f"- A value's closer may be missing before the next argument's opener or the call's closer{where}.")
    return "\n".join(dict.fromkeys(said))


def _reasoning(fmt: Format) -> str:
    blocks = fmt.reasonings()
    if not blocks:
        return "The hand-written machine reads it." if fmt.machine else "The format has no reasoning of its own."
    said = []
    for block in blocks:
        line = f"- {code(block.open)} ... {code(block.close)}"
        if block.opened is True:
            line += "; the prompt opens it"
        elif block.opened:
            line += f"; the prompt opens it for models whose name matches {codes(block.opened)}"
        said.append(line)
    said.append("")
    said.append(
        "A complete call in a block that is still open at the end counts, if nothing but calls follows it."
        if fmt.calls_in_reasoning
        else "What stands in a block is no call, even if the block is never closed."
    )
    return "\n".join(said)


def _written_back(fmt: Format, calls: list[ToolCall]) -> str:
    parts = []
    if fmt.results:
        results = [
            ToolResult.success(call.id or "b2", {"celsius": 4} if i == 0 else "12:30", call.name)
            for i, call in enumerate(calls)
        ]
        try:
            shown = toolglot.render_results(results, fmt.id)
            parts.append("Results, as `render_results` writes them:\n\n" + fence(shown))
        except toolglot.ToolglotError as error:
            parts.append(f"Results: {text(str(error))}")
        also = [pattern for one in fmt.results for pattern in one.models]
        if also:
            parts.append(f"Another way for models whose name matches {codes(also)}.")
    else:
        parts.append("How results are written is not known, or the client's affair: `render_results` refuses.")
    if fmt.tools:
        try:
            parts.append(folded("Tools, as render_tools writes them", toolglot.render_tools(TOOLS, fmt.id)))
        except toolglot.ToolglotError as error:
            parts.append(f"Tools: {text(str(error))}")
    else:
        parts.append("How tools are presented is not known, or the client's affair: `render_tools` refuses.")
    return "\n\n".join(parts)


def _quirks(fmt: Format) -> str:
    said = []
    if fmt.machine:
        said.append("A hand-written machine reads it; the declaration says the rest.")
    if fmt.start:
        said.append("A call may stand only at the start of the output.")
    if fmt.unit:
        said.append("The calls are one unit: until the last closer none of them was made.")
    if fmt.bare_json:
        said.append("JSON at the start of the output counts without markup, if its tools are declared.")
    if fmt.by_tool:
        said.append("The names of tools and arguments are the markup: only declared ones are read (`tools=`).")
    if fmt.max_calls is not None:
        said.append(f"At most {fmt.max_calls} call{'' if fmt.max_calls == 1 else 's'} can be written in one turn.")
    if fmt.ids:
        said.append(f"A call without an id is written with one: {code(fmt.ids)}.")
    if fmt.prefix_ambiguous:
        said.append("A shorter text can be another sound call, so say `finish_reason` where the output was cut.")
    if fmt.members:
        said.append(f"It also reads {', '.join(f'[`{id}`]({id}.md)' for id in fmt.members)}.")
    if fmt.parse_only:
        said.append("It is read and not written.")
    if fmt.prompt:
        said.append(f"The prompt is taken to end with {code(fmt.prompt)} where `generation_prompt` is not given.")
    if fmt.special:
        said.append(f"Control tokens of the tokenizer: {codes(fmt.special)}.")
    if fmt.turn_ends:
        said.append(f"May end the output, and is no part of the content: {codes(fmt.turn_ends)}.")
    return "\n".join(f"- {line}" for line in said)


def sketch(nodes: tuple[Any, ...]) -> str:
    """A pattern on one line: literals as they are written, holes in capitals, white space as written."""
    return "".join(map(_sketched, nodes))


def _sketched(node: Any) -> str:
    match node:
        case Lit():
            return node.texts[0] if node.written else ""
        case Ws():
            return node.canonical
        case Hole() | Again():
            return f"{getattr(node, 'prefix', '')}{node.field.upper()}"
        case Tag():
            return node.open[0] + "".join(f' {key}="{field.upper()}"' for key, field in node.attributes) + node.end
        case Value():
            return f"{node.frame}VALUE{node.frame}"
        case Arguments():
            return f"ARGUMENTS:{node.codec}"
        case CallObject():
            return f"{{CALL: {', '.join(node.order)}}}"
        case Call():
            return sketch(node.items)
        case Each():
            return f"⟨{sketch(node.items)}⟩*"
        case Maybe():
            return f"⟨{sketch(node.items)}⟩?" if node.write else ""
        case Either():
            return "⟨" + " ¦ ".join(sketch(option) for option in node.options) + "⟩"
        case Section():
            between = f" with {node.separator.texts[0]!r} between" if node.separator else ""
            return f"{sketch(node.open)}⟨{sketch(node.items)}⟩+{between}{sketch(node.close)}"
        case _:  # elements, free text
            return type(node).__name__.upper()


def _doc(fmt: Format) -> str:
    module = import_module(f"toolglot.formats.{fmt.id}")
    return text(re.sub(r"``([^`]+)``", r"`\1`", inspect.cleandoc(module.__doc__ or "")))


def _grammar(fmt: Format, calls: list[ToolCall]) -> str:
    shown = SKETCH + fence(sketch(fmt.nodes()))
    if not calls:
        return shown
    try:
        made = toolglot.grammar(_tools(calls), fmt.id, "gbnf", tool_choice="required")
    except toolglot.ConversionError as error:
        return shown + "\n" + text(str(error))
    title = "GBNF for the sample's tools, as grammar(tools, format, tool_choice='required') gives it"
    return shown + "\n" + folded(title, made) + "\n[More about grammars](../grammars.md)."


def _example(fmt: Format, calls: list[ToolCall], written: str) -> str:
    found = toolglot.parse(written, format=fmt.id, tools=_tools(calls), generation_prompt="")
    read = data([call.to_dict() for call in found.tool_calls])
    return f"{fence(written)}\n`parse(output, format={fmt.id!r}, tools=tools)` reads from it:\n\n{read}"


def format_page(fmt: Format) -> str:
    """The page of one format."""
    calls, written = sample(fmt)
    cases = golden.load_folder(golden.FOLDER / fmt.id)
    engines = [(ENGINES.get(engine, engine), codes(names)) for engine, names in fmt.engines.items()]
    facts = [
        ("id", code(fmt.id)),
        ("also called", codes(fmt.aliases) or "-"),
        ("what it is", text(fmt.title)),
        ("written by", text(", ".join(fmt.families)) or "no model by default"),
        ("detected", TIERS[fmt.tier] if fmt.detect else "no: it has to be named, or the model"),
        ("model names", codes(fmt.models) or "-"),
        ("source", text(fmt.source) + ("" if fmt.verified else " (not verified)")),
        (
            "rendering",
            "compared with the family's own template, byte for byte" if fmt.template_checked else "not compared",
        ),
    ]
    module = import_module(f"toolglot.formats.{fmt.id}")
    return page(
        fmt.id,
        _doc(fmt),
        table(("", ""), facts),
        "## Its names in engines\n\n" + table(("engine", "parser"), engines) if engines else "",
        "## What it looks like\n\n" + _example(fmt, calls, written) if calls else "",
        "## What may be missing, and other spellings\n\n" + _closers(fmt, calls, written),
        "## Reasoning\n\n" + _reasoning(fmt),
        "## Results and tools\n\n" + _written_back(fmt, calls),
        "## Good to know\n\n" + _quirks(fmt) if _quirks(fmt) else "",
        "## Grammar\n\n" + _grammar(fmt, calls),
        "## Declaration\n\n"
        + folded(f"src/toolglot/formats/{fmt.id}.py", inspect.getsource(module), "python")
        + f"\n{len(cases)} golden cases in `tests/formats/{fmt.id}/`: "
        + ", ".join(case.name.replace("_", " ") for case in cases)
        + ".",
    )


INDEX = """\
How a format is found and declared is told on [its own page](../formats.md); what each can do, by the number of its
golden cases, in [the matrix](../matrix.md); the same names as a table for [vLLM and SGLang](../coming-from-engines.md).
Each page here is made from the declaration and from what `render` and `parse` do with it.
"""


def index_page() -> str:
    """All formats, a line each."""
    rows = [
        (
            f"[`{fmt.id}`]({fmt.id}.md)",
            text(fmt.title),
            text(", ".join(fmt.families)) or "no model by default",
            "yes" if fmt.detect else "by name",
            codes(sorted({name for names in fmt.engines.values() for name in names})) or "-",
        )
        for fmt in toolglot.formats()
    ]
    return page(
        "All formats",
        INDEX,
        f"{len(rows)} formats.",
        table(("format", "what it is", "written by", "detected", "parser names"), rows),
    )


def pages() -> dict[str, str]:
    """Every page, by its path."""
    made = {f"formats/{fmt.id}.md": format_page(fmt) for fmt in toolglot.formats()}
    return {"formats/index.md": index_page(), **made}
