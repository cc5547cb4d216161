"""Hunyuan Hy3: suffixed tags, one a line. Source: the chat template of Hy3."""

from ..format import Tools
from ._hunyuan import hunyuan

FORMAT = hunyuan(
    ":opensource",
    "\n",
    True,
    title="<tool_calls:...> with <arg_key> pairs, one a line",
    tools=(Tools("hy_v3"),),
    rank=38,
    template_checked=True,
    families=("Hy3", "Hy3-preview"),
    engines={"vllm": ("hy_v3",), "sglang": ("hunyuan",)},  # the latter reads both
    models=(r"\bhy-?3",),
    template=(("<tool_sep",),),
    source="chat template",
)
