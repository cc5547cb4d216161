"""Grammars for constrained decoding, from the same declarations that parse and render."""

from __future__ import annotations

from typing import Any, Literal

from .definition import Tool, ToolSet
from .engine.grammar.calls import Blocks, blocks_of
from .engine.grammar.nodes import Rules
from .engine.grammar.write import KINDS, write
from .errors import ConversionError, DefinitionError
from .format import Format
from .registry import REGISTRY
from .types import ToolChoice

Kind = Literal["gbnf", "lark", "structural_tag"]


def grammar(
    tools: Any,
    format: str,
    kind: Kind = "gbnf",
    *,
    tool_choice: Any = None,
    strict: bool = False,
) -> str:
    r"""A grammar of the outputs that call these tools in a format: what `render` writes and `parse` reads.

    ``kind``: ``"gbnf"`` for llama.cpp, ``"lark"`` for llguidance, ``"structural_tag"`` for XGrammar. ``tool_choice``
    of ``"required"`` or a tool's name allows calls only; else text may stand around them (with GBNF by running the
    grammar lazily, see `grammar_triggers`). Its ``parallel=False`` allows one call. ``strict``: a schema keyword that
    the grammar would not enforce is a `ConversionError`; else it is a comment in the grammar.

    >>> print(grammar(["ping"], "hermes", tool_choice=ToolChoice(parallel=False)), end="")
    root ::= "<tool_call>\n{\"name\": \"ping\", \"arguments\": " arguments-ping "}\n</tool_call>"
    arguments-ping ::= "{}"
    """
    if kind not in KINDS:
        raise ValueError(f"kind: expected one of {', '.join(KINDS)}, got {kind!r}")
    choice = ToolChoice.from_any(tool_choice)
    fmt, blocks, rules = _blocks(tools, format, choice)
    if strict and rules.loose:
        raise ConversionError(f"{fmt.id}: a grammar does not hold {'; '.join(rules.loose)}")
    program = REGISTRY.program(fmt.id)
    # A weak opener stands before other things too.
    openers = tuple(text for entry in program.code.entries if not entry.weak for text in entry.texts)
    auto = choice.mode == "auto"
    return write(kind, blocks, rules, auto=auto, start=fmt.start, openers=openers)


def grammar_triggers(tools: Any, format: str) -> list[str]:
    """The texts that begin a call: where a lazy grammar starts (llama.cpp's ``grammar_lazy`` and trigger words).

    >>> grammar_triggers(["ping"], "hermes")
    ['<tool_call>']
    >>> grammar_triggers(["ping", "search"], "pythonic")
    ['[ping(', '[search(']
    """
    return _blocks(tools, format, ToolChoice())[1].triggers


def _blocks(tools: Any, format: str, choice: ToolChoice) -> tuple[Format, Blocks, Rules]:
    declared = ToolSet.of(tools)
    if declared is None:
        raise TypeError("tools: a grammar needs the tools")
    names = [*declared.names] if choice.mode != "named" else list(choice.names)
    chosen: list[Tool] = [tool for tool in declared if tool.name in names]
    for name in choice.names:
        if declared.get(name) is None:
            raise DefinitionError(f"tool_choice: no tool is called {name!r}", "definition.invalid_tool")
    if not chosen or choice.mode == "none":
        raise ConversionError("there is no call to be written: no tools, or tool_choice='none'")
    fmt = REGISTRY.get(REGISTRY.resolve(format)[-1])
    rules = Rules()
    blocks = blocks_of(fmt, chosen, rules, REGISTRY.program(fmt.id).machine, choice.parallel is False)
    return fmt, blocks, rules
