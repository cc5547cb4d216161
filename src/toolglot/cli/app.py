"""The commands, each with the end of its help. What they share is in `common`; a file has one command or a few."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from . import convert
from .batch import batch
from .check_format import check_format
from .common import examples, show_version, usage_problems
from .explain import explain
from .formats import formats
from .history import check_history
from .parse import detect, parse
from .playground import playground
from .render import grammar, render

ABOUT = """Reads the tool calls that language models write, and what goes to and from their APIs.

Start with `toolglot parse FILE`: what is in an output, or in an API's response. Where nothing was found, or something
is broken, `toolglot explain FILE` says why. Each command has examples: `toolglot parse --help`."""

app = typer.Typer(
    no_args_is_help=True,
    # Help and usage errors are plain text: the same in a terminal, a pipe and the documentation.
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(
    help=ABOUT,
    epilog=examples(
        "toolglot parse examples/hermes.txt",
        "toolglot parse examples/qwen3_coder.txt --tools examples/tools.json --json",
        "toolglot explain examples/broken.txt",
    ),
)
def _top(
    version: Annotated[
        bool, typer.Option("--version", callback=show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    for stream in (sys.stdout, sys.stderr):
        # A character that the terminal's encoding lacks is shown as an escape, not as a traceback.
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


app.command(
    short_help="What is in an output of a model, or in an API's response.",
    epilog=examples(
        "toolglot parse examples/hermes.txt",
        "toolglot parse examples/qwen3_coder.txt --tools examples/tools.json --validate",
        "toolglot parse examples/broken.txt --on-error repair --json",
        "toolglot parse examples/response.json",
        "cat examples/kimi_k3.txt | toolglot parse --stream 8",
        exits="0 for calls or none, 1 if the text is broken, 2 if the command is wrong.",
    ),
)(parse)
app.command(
    short_help="What a code means, or why a text was read as it was.",
    epilog=examples(
        "toolglot explain examples/broken.txt",
        "toolglot explain examples/python.txt",
        "toolglot explain json.trailing_comma",
        exits="0 if nothing is wrong, 1 if the text is broken, 2 if the command is wrong.",
    ),
)(explain)
app.command(
    short_help="The format of an output, or the provider of a response.",
    epilog=examples(
        "toolglot detect examples/harmony.txt",
        exits="0 whether something was found or not, 2 if the command is wrong.",
    ),
)(detect)
app.command(
    short_help="Calls, results or definitions as a format's own text.",
    epilog=examples(
        """echo '{"name": "get_weather", "arguments": {"city": "Paris"}}' | toolglot render --format hermes""",
        "toolglot parse examples/hermes.txt --json | toolglot render --format qwen3_coder",
        "toolglot render examples/tools.json --what tools --format hermes",
        exits="0 if it was written, 1 if the format cannot write it safely, 2 if the command is wrong.",
    ),
)(render)
app.command(
    short_help="Files of outputs, however many rows: a row for each.",
    epilog=examples(
        "toolglot batch outputs.jsonl calls.jsonl",
        "toolglot batch folder/ calls.parquet --text-column output --keep id",
        exits="0 whatever the rows are, 2 if it could not be carried out or stopped, 130 after Ctrl-C.",
    ),
)(usage_problems()(batch))
app.command(
    short_help="A grammar of tools' calls, for constrained decoding.",
    epilog=examples(
        "toolglot grammar examples/tools.json --format hermes --tool-choice required",
        "toolglot grammar examples/tools.json --format hermes --kind structural_tag",
        exits="0 if it was written, 1 if the format or a schema has no grammar, 2 if the command is wrong.",
    ),
)(grammar)
app.add_typer(convert.app, name="convert", short_help="Definitions, results, histories: from API to API.")
app.command(
    "check-history",
    short_help="What an API would refuse of a conversation.",
    epilog=examples(
        """echo '[{"role": "tool", "tool_call_id": "c1", "content": "4 C"}]' """
        "| toolglot check-history --provider openai",
        exits="0 if nothing would be refused, 1 if something would, 2 if the command is wrong.",
    ),
)(check_history)
app.command(
    short_help="The formats: all, or one with its names and a sample.",
    epilog=examples(
        "toolglot formats", "toolglot formats hermes", exits="0, 1 if a golden case fails, 2 if the command is wrong."
    ),
)(formats)
app.command(
    "check-format",
    short_help="Whether a format, yours or ours, does what it says.",
    epilog=examples(
        "toolglot check-format hermes",
        "toolglot check-format src/toolglot/formats/bracket.py",
        exits="0 if nothing is wrong, 1 if something has to be mended, 2 if the command is wrong.",
    ),
)(check_format)
app.command(
    short_help="A page to paste an output into, and look.",
    epilog=examples(
        "toolglot playground --browser",
        "toolglot playground --build site --pyodide node_modules/pyodide",
        exits="0 when it is ended, 2 if the command is wrong.",
    ),
)(playground)
