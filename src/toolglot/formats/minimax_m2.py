"""MiniMax-M2: invoke elements in a ``<minimax:tool_call>`` block, values as bare text.

Source: the chat template of MiniMax-M2. It writes a line break before the block, content or not. Nothing is escaped.
"""

from ..format import Format, Results, Tools
from ._invoke import invoke_block
from ._shared import THINK, opened

FORMAT = Format(
    invoke_block("<minimax:tool_call>", close="</minimax:tool_call>"),
    title="<invoke> elements in <minimax:tool_call>",
    before=("\n",),
    lead="\n",
    between="\n",
    reasoning=opened(THINK),
    calls_in_reasoning=True,
    results=(Results("<response>{result}</response>", "]~b]tool\n", "\n", "[e~[\n"),),
    tools=(Tools("minimax_m2", "function", "</tool>\n<tool>"),),
    turn_ends=("[e~[",),
    rank=35,
    template_checked=True,
    families=("MiniMax-M2", "MiniMax-M2.1", "MiniMax-M2.5", "MiniMax-M2.7"),
    engines={
        "vllm": ("minimax_m2",),
        "sglang": ("minimax-m2",),
        "dynamo": ("minimax_m2",),
        "smg": ("minimax_m2",),
        "mlx-lm": ("minimax_m2",),
        "tensorrt-llm": ("minimax_m2",),
        "xgrammar": ("minimax",),
    },
    models=(r"minimax-?m2",),
    template=(("<minimax:tool_call>",),),
    source="chat template",
)
