"""Laguna: GLM's pairs, spaced as GLM-4.5 writes them. Source: the chat templates of Laguna-XS.2 and XS-2.1.

Laguna-S-2.1 writes them without line breaks, as GLM-4.7; that is read, not written.
"""

from ..format import Format, Reasoning, Results, Tools
from ..pattern import call, either, name, ws
from ._pairs import SLIP, pairs
from ._shared import json_in_tool_call, name_and_json

FORMAT = Format(
    either(
        call("<tool_call>", name(), SLIP, ws("\n"), pairs("\n", "\n", implied="any"), "</tool_call>"),
        json_in_tool_call(),
        name_and_json(),
    ),
    title="<arg_key> and <arg_value> pairs, one a line",
    before=("\n",),
    between="\n",
    reasoning=Reasoning("<think>", "</think>", inner=("\n", "\n"), after="\n", opened=(r"laguna-s",)),
    calls_in_reasoning=True,
    results=(
        Results("<tool_response>{result}</tool_response>\n", models=(r"laguna-s",)),
        Results("<tool_response>\n{result}\n</tool_response>\n"),
    ),
    tools=(Tools("laguna_s", models=(r"laguna-s",)), Tools("laguna")),
    turn_ends=("</assistant>",),
    detect=False,
    rank=32,
    template_checked=True,
    families=("Laguna-XS.2", "Laguna-XS-2.1", "Laguna-S-2.1"),
    engines={
        "vllm": ("poolside_v1",),
        "sglang": ("poolside_v1",),
        "ollama": ("laguna", "poolside-v1"),
        "mlx-lm": ("laguna",),
        "tensorrt-llm": ("poolside_v1",),
    },
    models=(r"laguna",),
    template=(("<tool_call>", "<arg_key>", "<assistant>"),),
    source="chat template",
)
