"""DeepSeek V3.1: the name and bare JSON between sentinel tokens; at times the model goes back to V3's form.

Source: the chat template of DeepSeek-V3.1.
"""

from ..format import Results, Tools
from ._deepseek import FENCED, PLAIN, deepseek
from ._shared import THINK_BARE

FORMAT = deepseek(
    PLAIN,
    FENCED,
    title="JSON between DeepSeek's tool tokens",
    reasoning=THINK_BARE,
    results=(Results("<｜tool▁output▁begin｜>{result}<｜tool▁output▁end｜>"),),
    tools=(Tools("deepseek_v31", "deepseek", ""),),  # as the model's card says; its template leaves that to the caller
    rank=41,
    template_checked=True,
    families=("DeepSeek-V3.1", "DeepSeek-V3.1-Terminus", "DeepSeek-V3.2-Exp"),
    engines={
        "vllm": ("deepseek_v31",),
        "sglang": ("deepseekv31",),
        "ollama": ("deepseek3",),
        "dynamo": ("deepseek_v3_1",),
        "smg": ("deepseek31",),
        "tensorrt-llm": ("deepseekv3.1",),
        "xgrammar": ("deepseek_v3_1",),
    },
    models=(r"deepseek-?v?3[.]2-exp", r"deepseek-?v?3[.]1"),
    template=(("<｜tool▁calls▁begin｜>",),),
    source="chat template",
)
