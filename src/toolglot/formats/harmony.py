"""Harmony (gpt-oss): messages in channels; one with a recipient is a call. Source: the Harmony format's description.

Header parts come in free order, so a hand-written machine reads them (``engine/machines/harmony.py``).
"""

from ..format import Format, Results, Tools
from ..pattern import arguments, call, name

FORMAT = Format(
    call("<|start|>assistant to=", name("functions."), "<|message|>", arguments("json"), "<|call|>"),
    title="channels and recipients",
    machine="harmony",
    results=(
        Results("<|start|>functions.{name} to=assistant<|channel|>commentary<|message|>{result}<|end|>", codec="json"),
    ),
    tools=(Tools("harmony", "typescript", "", guards=("} // namespace",)),),
    turn_ends=("<|return|>", "<|call|>", "<|end|>"),
    special=("<|start|>", "<|end|>", "<|message|>", "<|channel|>", "<|constrain|>", "<|return|>", "<|call|>"),
    template_checked=True,
    families=("gpt-oss-20b", "gpt-oss-120b", "gpt-oss-safeguard"),
    engines={
        "vllm": ("openai",),
        "sglang": ("gpt-oss",),
        "ollama": ("harmony",),
        "dynamo": ("harmony",),
        "xgrammar": ("harmony",),
    },
    models=(r"gpt-?oss",),
    template=(("<|channel|>", "<|start|>", "<|message|>"),),
    source="format description, chat template",
)
