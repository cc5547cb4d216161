"""Writes the pages of docs/ that are made from tables in the code.

python scripts/make_docs.py           write them
python scripts/make_docs.py --check   say what is out of date, exit 1 if anything is
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import toolglot
from pages.benchmark import benchmark_page
from pages.engines import names_table
from toolglot import golden
from toolglot.codes import HINTS, example, example_error, example_repairs, hint
from toolglot.errors import CODES, LOSSES, PROBLEMS, REPAIRS, ParseError
from toolglot.feedback import REMEDIES, facts, write

DOCS = Path(__file__).resolve().parent.parent / "docs"
TESTS = DOCS.parent / "tests"

TITLES = {
    "json": ("JSON", "What is wrong with JSON, in a call's arguments or around them. `ParseError`."),
    "tool_call": (
        "Tool calls",
        "What is wrong with a call. `ParseError`, `NoToolCallFoundError`, `TruncatedError`; `LimitError`.",
    ),
    "reasoning": ("Reasoning", "What is wrong with a block of reasoning. `ParseError`."),
    "provider": ("Providers", "What is wrong with an API's payload. `ParseError`."),
    "schema": (
        "Schemas",
        "Arguments that a tool's schema does not allow: `ParseError`; a schema that is wrong: `DefinitionError`.",
    ),
    "definition": (
        "Definitions",
        "What is wrong with a format, a tool or a name that the caller gave. `DefinitionError`.",
    ),
    "batch": (
        "Batches",
        "What is wrong with a row, in its own `errors`, or why a batch stopped: `BatchError`. [More](batch.md).",
    ),
    "conversion": ("Conversions", "What cannot be written for the target. `ConversionError`, `UnsafeValueError`."),
}

HEAD = """\
# Error codes

<!-- Made by scripts/make_docs.py from the tables of toolglot.errors, toolglot.feedback and toolglot.codes. Do not
edit. -->

Every `ToolglotError` has a `code`. Codes are part of the API: one is never renamed, and its meaning does not change.
A `ParseError` also says where: `position`, `line` and `column` count code points of the text that you gave,
`context()` is the line with a caret, `expected` what would have been right, and `feedback()` a message for the model.
[More](feedback.md).

The tables show, for each code, a text that has it, or what raises it; the feedback of that very error, but for its
line with the caret, which is the example; and whether `on_error="repair"` mends it. [`toolglot explain
CODE`](command-line.md#explain) and `code_info(code)` say the same of one code.
"""
LOSSES_HEAD = """
## Losses

What a conversion could not carry is no error: it comes back as a `Loss` with a code, a JSON path and a sentence. With
`strict=True` the conversion raises a `ConversionError` instead.

| code | means |
| --- | --- |
"""
PROBLEMS_HEAD = """
## Problems

What an API would refuse of a history is no error either: `check_messages` gives each as a `Problem` with a code, a JSON
path, a sentence and the API's own words. [More](histories.md).

| code | means |
| --- | --- |
"""
REPAIRS_HEAD = """
## Repairs

What `on_error="repair"` mended ([more](repair.md)), and what was read as another type than it was written as
([more](validation.md#types-by-schema)), is told as a `Repair` in `Message.repairs`: a code, where it stood, and what it
was before and after.

| code | means |
| --- | --- |
"""


def errors_page() -> str:
    """The table of codes, by family."""
    families: dict[str, list[str]] = {}
    for code in CODES:
        families.setdefault(code.partition(".")[0], []).append(code)
    parts = [HEAD]
    for family, codes in families.items():
        title, about = TITLES[family]
        parts.append(f"\n## {title}\n\n{about}\n\n{hint(family + '.')}\n\n")
        heads = ["code", "means", "example"]
        told = any(code in REMEDIES for code in codes)
        heads += ["feedback", "repaired"] if told else []
        hints = any(code in HINTS for code in codes)
        heads += ["what to do instead"] if hints else []
        parts.append(f"| {' | '.join(heads)} |\n|{' --- |' * len(heads)}\n")
        for code in codes:
            cells = [f"`{code}`", _cell(CODES[code]), _code(example(code))]
            cells += [_cell(_feedback(code)), _repaired(code)] if told else []
            cells += [_cell(HINTS.get(code, ""))] if hints else []
            parts.append(f"| {' | '.join(cells)} |\n")
    parts.append(LOSSES_HEAD)
    parts.extend(f"| `{code}` | {_cell(meaning)} |\n" for code, meaning in LOSSES.items())
    parts.append(PROBLEMS_HEAD)
    parts.extend(f"| `{code}` | {_cell(meaning)} |\n" for code, meaning in PROBLEMS.items())
    parts.append(REPAIRS_HEAD)
    parts.extend(f"| `{code}` | {_cell(meaning)} |\n" for code, meaning in REPAIRS.items())
    return "".join(parts)


def _repaired(code: str) -> str:
    """The mends with which ``on_error="repair"`` reads the example."""
    repairs = example_repairs(code)
    return "-" if repairs is None else ", ".join(f"`{one}`" for one in repairs) or "no"


def _feedback(code: str) -> str:
    """What the model is told of the example, on one line and without the example's own."""
    error = example_error(code)
    if not isinstance(error, ParseError):
        return "-"
    return write({**facts(error), "excerpt": None}).replace("\n", " ")


def beacon_page() -> str:
    """The page for users of llm-beacon, its table made from the kinds of difference that the test allows."""
    page = (DOCS / "coming-from-beacon.md").read_text("utf-8")
    head, begin, rest = page.partition("<!-- differences -->\n")
    _, end, tail = rest.partition("<!-- end of differences -->\n")
    kinds = json.loads((DOCS.parent / "tests" / "differential" / "kinds.json").read_text("utf-8"))
    rows = ["| what differs | for example | llm-beacon | Toolglot |\n| --- | --- | --- | --- |\n"]
    for kind in kinds:
        cells = (_cell(kind["title"]), _code(kind["text"]), _answer(kind["beacon"]), _answer(kind["toolglot"]))
        rows.append(f"| {' | '.join(cells)} |\n")
    return head + begin + "".join(rows) + end + tail


def _answer(answer: list[Any]) -> str:
    """Calls, or a code and a position."""
    if answer and isinstance(answer[0], str):
        code, position = answer
        return f"`{code}`" + ("" if position is None else f" at {position}")
    return ", ".join(
        _code(call["name"] + json.dumps(call["arguments"], ensure_ascii=False)) + f" (`{call['format']}`)"
        for call in answer
    )


def _code(text: str) -> str:
    """``text`` as code in a cell of a table: on one line, shortened in the middle."""
    text = text.encode("unicode_escape").decode("ascii").replace("\\\\", "\\") if not text.isprintable() else text
    if len(text) > 100:
        text = f"{text[:60]} ... {text[-30:]}"
    fence = "``" if "`" in text else "`"
    pad = " " if fence == "``" else ""
    return fence + pad + text.replace("|", "\\|") + pad + fence


def _cell(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")


MATRIX_HEAD = """\
# What each format can do

<!-- Made by scripts/make_docs.py from the declarations and the golden cases. Do not edit. -->

{formats} formats, {cases} golden cases: exact outputs, and what has to be read from them (`tests/formats/<id>/`). A
number says how many of a format's cases show it; `toolglot formats --check` runs them all and prints how many pass.
`-` says that it does not apply.

- **parse**: read whole. **stream**: read in pieces, one character at a time and in random cuts, with the same outcome.
- **render**: writing what was read gives the very same text. The other cases are texts that no template writes: cut
  off, broken, spelled in another way. `-`: the format is only read.
- **results**, **tools**: `render_results` writes tool results, `render_tools` the tools' definitions. `-`: the family's
  way is not known, or it is the client's. **grammar**: `grammar` writes one for constrained decoding.
- **detection**: the outcome is the same where nobody says which format it is. `-`: the format has to be named.
- **verified**: the declaration follows a primary source, such as a template, an encoder, a specification or a parser.
- **template**: what is written was compared with the family's own chat template or encoder, byte for byte.

| format | parse | stream | render | results | tools | grammar | detection | verified | template | source |
| --- | ---: | ---: | ---: | --- | --- | --- | ---: | --- | --- | --- |
"""


def _has_grammar(format: str) -> bool:
    """Whether calls of some tool can be put into a grammar."""
    for name in ("ping", "server/ping", "python_interpreter"):
        tool = {"name": name, "parameters": {"type": "object", "properties": {"code": {"type": "string"}}}}
        try:
            toolglot.grammar([tool], format)
        except toolglot.ToolglotError:
            continue
        return True
    return False


def matrix_page() -> str:
    """Format by what it can do: the declarations say what applies, the golden folders how often it is shown."""
    formats = toolglot.formats()
    cases: dict[str, list[golden.GoldenCase]] = {fmt.id: [] for fmt in formats}
    for case in golden.load():
        cases[case.format].append(case)
    rows = []
    for fmt in formats:
        own = cases[fmt.id]
        cells = (
            f"`{fmt.id}`",
            str(len(own)),
            str(len(own)),
            "-" if fmt.parse_only else str(sum(case.render for case in own)),
            "yes" if fmt.results else "-",
            "yes" if fmt.tools else "-",
            "yes" if _has_grammar(fmt.id) else "-",
            str(sum(bool(case.detected) for case in own)) if fmt.detect else "-",
            "yes" if fmt.verified else "no",
            "yes" if fmt.template_checked else "no",
            _cell(fmt.source) or "none",
        )
        rows.append(f"| {' | '.join(cells)} |\n")
    return MATRIX_HEAD.format(formats=len(formats), cases=sum(map(len, cases.values()))) + "".join(rows)


def engines_page() -> str:
    """The page for users of vLLM and SGLang, with their parsers' names."""
    head, begin, rest = (DOCS / "coming-from-engines.md").read_text("utf-8").partition("<!-- names -->\n")
    _, end, tail = rest.partition("<!-- end of names -->\n")
    return head + begin + names_table() + end + tail


PAGES = {
    "benchmark.md": benchmark_page,
    "coming-from-beacon.md": beacon_page,
    "coming-from-engines.md": engines_page,
    "errors.md": errors_page,
    "matrix.md": matrix_page,
}


def main(check: bool) -> int:
    """Write or compare every page; the number of pages that were out of date if ``check``."""
    stale = 0
    for name, make in PAGES.items():
        path = DOCS / name
        text = make()
        if path.exists() and path.read_text("utf-8") == text:
            continue
        if check:
            stale += 1
            print(f"docs/{name} is out of date: run python scripts/make_docs.py", file=sys.stderr)
        else:
            path.write_text(text, "utf-8", newline="\n")
            print(f"wrote docs/{name}")
    return stale


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv[1:]) > 0)
