"""DSML as DeepSeek-V3.2 writes it: ``<｜DSML｜function_calls>``. Source: the model's encoder."""

from ..format import Results, Tools
from ._dsml import dsml

FORMAT = dsml(
    "function_calls",
    "",
    "",
    title="DSML, function_calls",
    results=(Results("<result>{result}</result>", "\n\n<function_results>\n", "\n", "\n</function_results>"),),
    tools=(Tools("dsml_v32", "function"),),
    rank=40,
    template_checked=True,
    families=("DeepSeek-V3.2",),
    engines={
        "vllm": ("deepseek_v32",),
        "sglang": ("deepseekv32",),
        "dynamo": ("deepseek_v3_2",),
        "smg": ("deepseek32",),
        "tensorrt-llm": ("deepseek_v32",),
        "lmdeploy": ("deepseek-v32",),
        "xgrammar": ("deepseek_v3_2",),
    },
    models=(r"deepseek-?v?3[.]2(?!-exp)",),
    template=(("<｜DSML｜function_calls>",), ("dsml_token", "function_calls>")),
    source="encoder",
)
