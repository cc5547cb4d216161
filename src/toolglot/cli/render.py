"""``toolglot render`` and ``toolglot grammar``: a format's text from calls, results and definitions; its grammars."""

from __future__ import annotations

from enum import Enum
from typing import Annotated, Any

import typer

import toolglot

from ..errors import ConversionError
from . import complete
from .common import Json, Tools, refused, tell, usage_problems, write_json, write_text
from .inputs import UsageProblem, read_json, read_tools, source_name
from .values import read_message, read_results

Id = Annotated[
    str,
    typer.Option(help="The format's id or name; `toolglot formats` lists them.", autocompletion=complete.format_ids),
]


class What(str, Enum):
    """What the JSON holds."""

    CALLS = "calls"
    RESULTS = "results"
    TOOLS = "tools"


class Kind(str, Enum):
    """Whose grammar it is."""

    GBNF = "gbnf"
    LARK = "lark"
    STRUCTURAL_TAG = "structural_tag"


def render(
    format: Id,
    file: Annotated[
        str | None,
        typer.Argument(
            help="JSON: calls (name, arguments, id), a message of `parse --json`, or what an API's model said; "
            "- or nothing is standard input."
        ),
    ] = None,
    what: Annotated[
        What, typer.Option(help="What the JSON holds: calls, tool results, or the tools' definitions.")
    ] = What.CALLS,
    content: Annotated[str | None, typer.Option(metavar="TEXT", help="Text to stand before the calls.")] = None,
    reasoning: Annotated[str | None, typer.Option(metavar="TEXT", help="Reasoning to stand before that.")] = None,
    tools: Tools = None,
    model: Annotated[
        str | None,
        typer.Option(
            help="For results and tools: the model, where those of one family differ.",
            autocompletion=complete.model_names,
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Write calls, results or definitions as a family's own chat template does; calls are checked by reading them back.

    Into a file or a pipe the text is written exactly, without a line break behind it.
    """
    with usage_problems():
        if what is not What.CALLS and any(option is not None for option in (content, reasoning, tools)):
            raise UsageProblem("--content, --reasoning and --tools are for calls")
        if tools == "-" and file in (None, "-"):
            raise UsageProblem("the calls and the tools cannot both be standard input")
        id = toolglot.get_format(format).id
        declared = None if tools is None else read_tools(tools)
        segments: list[tuple[str, bool]] | None = None
        try:
            if what is What.RESULTS:
                results, _ = read_results(read_json(file), source_name(file))
                text = toolglot.render_results(results, format, model=model)
            elif what is What.TOOLS:
                text = toolglot.render_tools(read_tools(file), format, model=model)
            else:
                message = read_message(read_json(file), source_name(file))
                if message.errors:
                    count = len(message.errors)
                    tell(f"{count} broken call{' is' if count == 1 else 's are'} not written")
                segments = toolglot.render_segments(
                    message.tool_calls,
                    format,
                    content=message.content if content is None else content,
                    reasoning=message.reasoning if reasoning is None else reasoning,
                    tools=declared,
                )
                text = "".join(piece for piece, _ in segments)
        except TypeError as error:  # a tool that is no definition
            raise UsageProblem(str(error)) from None
        except ConversionError as error:
            raise refused(error, {"type": "text", "format": id, "text": None} if json else None) from None
        if json:
            said: dict[str, Any] = {"type": "text", "format": id, "text": text}
            if segments is not None:
                said["segments"] = [{"text": piece, "control": control} for piece, control in segments]
            write_json(said, indent=2)
        else:
            write_text(text)


def grammar(
    format: Id,
    file: Annotated[
        str | None, typer.Argument(help="Tool definitions of any API's shape, JSON; - or nothing is standard input.")
    ] = None,
    kind: Annotated[
        Kind, typer.Option(help="gbnf for llama.cpp, lark for llguidance, structural_tag for XGrammar.")
    ] = Kind.GBNF,
    tool_choice: Annotated[
        str | None, typer.Option(help="required, or a tool's name, allows calls only; else text may stand around them.")
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with 1 if the grammar would not hold all of a schema.")
    ] = False,
    json: Json = False,
) -> None:
    """Write a grammar of the calls of these tools in a format, for constrained decoding."""
    with usage_problems():
        id = toolglot.get_format(format).id
        tools = read_tools(file)
        said = {"type": "grammar", "format": id, "kind": kind.value}
        try:
            text = toolglot.grammar(tools, format, kind.value, tool_choice=tool_choice, strict=strict)
            triggers = toolglot.grammar_triggers(tools, format)
        except TypeError as error:
            raise UsageProblem(str(error)) from None
        except ConversionError as error:
            raise refused(error, {**said, "grammar": None} if json else None) from None
        if json:
            write_json({**said, "grammar": text, "triggers": triggers}, indent=2)
        else:
            write_text(text)
