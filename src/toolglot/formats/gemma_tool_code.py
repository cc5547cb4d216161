"""Gemma 2 and 3, prompted: calls in Python's syntax, one a line, in a ``tool_code`` fence.

Source: Google's prompts for Gemma 3 and Gemini's ``tool_code`` blocks. ``print(...)`` around a call and a variable
before it say nothing and are dropped. The prompt decides, so it is read by name only.
"""

from ..format import Format, Results
from ..pattern import arguments, call, either, name, section, ws
from ._shared import THINK

FORMAT = Format(
    section(
        ("```tool_code", ws("\n")),
        either(
            call(name(assigned=True), "(", arguments("pythonic")),
            call("print(", ws(), name(), "(", arguments("pythonic"), ws(), ")"),
        ),
        (ws("\n"), "```"),
    ),
    title="calls in a tool_code fence",
    detect=False,
    before=("\n",),
    between="\n",
    reasoning=THINK,
    results=(Results("```tool_output\n{result}\n```", between="\n"),),
    turn_ends=("<end_of_turn>", "<eos>"),
    special=("<end_of_turn>", "<eos>"),
    rank=60,
    families=("Gemma 3 (prompted)", "Gemma 3n", "Gemma 2"),
    models=(r"(?<!function)gemma-?(2|3n?)",),
    verified=False,
    source="prompt format",
)
