"""DeepSeek V3 and R1: ``function``, the name and fenced JSON between sentinel tokens. Source: R1's chat template."""

from ..format import Results
from ._deepseek import FENCED, deepseek
from ._shared import THINK, opened

FORMAT = deepseek(
    FENCED,
    title="fenced JSON between DeepSeek's tool tokens",
    between="\n",
    reasoning=opened(THINK, r"deepseek-?r1"),
    results=(
        Results(
            "<｜tool▁output▁begin｜>{result}<｜tool▁output▁end｜>",
            "<｜tool▁outputs▁begin｜>",
            "\n",
            "<｜tool▁outputs▁end｜>",
        ),
    ),
    rank=40,
    template_checked=True,
    families=("DeepSeek-V3", "DeepSeek-V3-0324", "DeepSeek-R1", "DeepSeek-R1-Distill", "Cogito v1 / v2"),
    engines={
        "vllm": ("deepseek_v3",),
        "sglang": ("deepseekv3",),
        "ollama": ("cogito",),
        "dynamo": ("deepseek_v3",),
        "smg": ("deepseek",),
        "tensorrt-llm": ("deepseekv3",),
        "xgrammar": ("deepseek_r1",),
    },
    models=(r"deepseek-?r1", r"deepseek-?v3|cogito"),
    template=(("<｜tool▁calls▁begin｜>", "```json"), ("<｜tool▁calls▁begin｜>", "function<｜tool▁sep｜>")),
    source="chat template",
)
