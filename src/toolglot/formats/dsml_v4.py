"""DSML as DeepSeek-V4 writes it: ``<｜DSML｜tool_calls>``. Source: the model's encoder."""

from ..format import Results, Tools
from ._dsml import dsml

FORMAT = dsml(
    "tool_calls",
    "",
    "\n",
    title="DSML, tool_calls",
    results=(Results("<tool_result>{result}</tool_result>", "<｜User｜>", "\n\n"),),
    tools=(Tools("dsml_v4", "function"),),
    rank=41,
    template_checked=True,
    families=("DeepSeek-V4",),
    engines={
        "vllm": ("deepseek_v4",),
        "sglang": ("deepseekv4",),
        "dynamo": ("deepseek_v4",),
        "smg": ("deepseek_v4",),
        "tensorrt-llm": ("deepseek_v4",),
        "lmdeploy": ("deepseek-v4",),
        "xgrammar": ("deepseek_v4",),
    },
    models=(r"deepseek-?v?4(?![.]1)",),
    template=(("<｜DSML｜tool_calls>",), ("dsml_token", "tool_calls>")),
    source="encoder",
)
