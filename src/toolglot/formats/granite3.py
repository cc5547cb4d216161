"""Granite 3.x: ``<|tool_call|>`` or ``<tool_call>``, then a JSON array; nothing closes it. Source: vLLM's parser.

Phi-4-mini writes the same with a closer, which is read, since the opener does not tell the two apart.
"""

from ..format import Format, Results, Tools
from ..pattern import call, call_object, lit, maybe, section, ws
from ._shared import THINK

FORMAT = Format(
    section(
        (lit("<|tool_call|>", "<tool_call>"), ws(), "["),
        call(call_object()),
        ("]", maybe("<|/tool_call|>", write=False)),
        separator=", ",
    ),
    title="<|tool_call|> with a JSON array",
    bare_json=True,
    reasoning=THINK,
    answer=("<response>", "</response>"),
    results=(Results("<|start_of_role|>tool<|end_of_role|>{result}<|end_of_text|>\n"),),
    tools=(Tools("granite3", "tool_nested", ",\n", (r"granite-?3[.]3",), default=True),),
    turn_ends=("<|end_of_text|>",),
    special=("<|tool_call|>", "<|end_of_text|>"),
    rank=70,
    families=("Granite 3.0 / 3.1 / 3.2 / 3.3",),
    engines={"vllm": ("granite",)},
    models=(r"granite-?3",),
    template=(("<|tool_call|>", "<|start_of_role|>"),),
    source="parser sources",
)
