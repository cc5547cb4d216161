"""MiniMax-M1: ``<tool_calls>`` with one JSON object a line. Source: the chat template of MiniMax-M1.

The template writes no text beside calls, so nothing before them is a separator.
"""

from ..format import Format, Results, Tools
from ..pattern import call, call_object, section, ws
from ._shared import THINK

FORMAT = Format(
    section(("<tool_calls>", ws("\n")), call(call_object()), (ws("\n"), "</tool_calls>")),
    title="<tool_calls> with a JSON object a line",
    between="\n",
    reasoning=THINK,
    results=(Results("<beginning_of_sentence>tool name=tools\ntool result: {result}\n\n<end_of_sentence>\n"),),
    tools=(Tools("minimax_m1", models=(r"minimax-?m1",), default=True),),
    turn_ends=("<end_of_sentence>",),
    special=("<end_of_sentence>",),
    template_checked=True,
    families=("MiniMax-M1", "MiniMax-Text-01"),
    engines={"vllm": ("minimax",)},
    models=(r"minimax-?(m1|text)",),
    template=(("<tool_calls>", "<beginning_of_sentence>"),),
    source="chat template",
)
