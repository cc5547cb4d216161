"""Hunyuan Hy4: suffixed tags without line breaks. Source: vLLM's and SGLang's parsers; the template was not seen."""

from ._hunyuan import hunyuan

FORMAT = hunyuan(
    ":6124c78e",
    "",
    False,
    title="<tool_calls:...> with <arg_key> pairs, compact",
    rank=39,
    families=("Hy4", "Hy4-preview"),
    engines={"vllm": ("hy_v4",)},
    models=(r"\bhy-?4",),
    template=(("<tool_calls:", "<tool_call:"),),
    source="vLLM and SGLang parsers",
)
