"""MiMo-V2: as Qwen3-Coder, but values stand directly between their tags.

Source: vLLM's and SGLang's parsers; the template was not seen.
"""

from ..format import Format, Results
from ..pattern import either, section, ws
from ._function import function_call
from ._shared import QWEN_ENDS, THINK, json_in_tool_call

FORMAT = Format(
    either(
        section(("<tool_call>", ws("\n")), function_call("</tool_call>"), (ws("\n"), "</tool_call>"), bare="declared"),
        json_in_tool_call(),
    ),
    title="<function=> with unframed <parameter=> elements",
    before=("\n",),
    between="\n",
    per_call=True,
    reasoning=THINK,
    calls_in_reasoning=True,
    results=(Results("<|im_start|>tool\n{result}<|im_end|>"),),
    turn_ends=QWEN_ENDS,
    detect=False,
    rank=21,
    families=("MiMo-V2-Flash", "MiMo-V2.5-Pro", "MiMo-V2.6-Pro"),
    engines={"vllm": ("mimo",), "sglang": ("mimo",), "xgrammar": ("mimo",)},
    models=(r"mimo-?v2",),
    template=(("<function=", "<parameter=", "<|mimo"),),
    source="vLLM and SGLang parsers",
)
