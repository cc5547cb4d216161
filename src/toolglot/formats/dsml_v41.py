"""DSML as DeepSeek-V4.1 writes it: ``<｜DSML｜ calls>``, a blank before every tag's word. Source: parser sources."""

from ..format import Results
from ._dsml import dsml

FORMAT = dsml(
    "calls",
    " ",
    "\n",
    title="DSML, calls",
    results=(Results("<tool_result>{result}</tool_result>", "<｜User｜>", "\n\n"),),
    rank=42,
    families=("DeepSeek-V4.1",),
    engines={
        "vllm": ("deepseek_v41",),
        "sglang": ("deepseekv41",),
        "smg": ("deepseek_v41",),
        "tensorrt-llm": ("deepseek_v41",),
        "xgrammar": ("deepseek_v4_1",),
    },
    models=(r"deepseek-?v?4[.]1",),
    template=(("<｜DSML｜ calls>",),),
    source="parser sources",
)
