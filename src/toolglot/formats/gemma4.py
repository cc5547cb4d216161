"""Gemma 4: ``<|tool_call>call:name{key:<|"|>text<|"|>}<tool_call|>``; bare sorted keys, no escapes.

Source: the chat template of Gemma 4. A string that holds the quote token cannot be written.
"""

from ..format import Format, Reasoning, Results, Tools
from ..pattern import arguments, call, name, ws

FORMAT = Format(
    call("<|tool_call>", ws(), "call:", name(), arguments("gemma", sort_keys=True), ws(), "<tool_call|>"),
    title="call: with bare keys and quote tokens",
    reasoning=Reasoning("<|channel>thought", "<channel|>", inner=("\n", "\n")),
    results=(Results("<|tool_response>response:{name}{result}<tool_response|>", codec="gemma"),),
    tools=(Tools("<|tool>{tools}<tool|>", "gemma", "<tool|><|tool>", guards=("<|tool>", "<tool|>", "<|turn>")),),
    turn_ends=("<turn|>", "<|tool_response>", "<eos>"),
    special=("<|tool_call>", "<tool_call|>", '<|"|>', "<|channel>", "<channel|>", "<turn|>", "<|tool_response>"),
    template_checked=True,
    families=("Gemma 4", "DiffusionGemma"),
    engines={
        "vllm": ("gemma4",),
        "sglang": ("gemma4",),
        "ollama": ("gemma4", "gemma4-no-thinking"),
        "dynamo": ("gemma4",),
        "mlx-lm": ("gemma4",),
        "tensorrt-llm": ("gemma4",),
        "xgrammar": ("gemma_4",),
    },
    models=(r"gemma-?4|diffusiongemma",),
    template=(("<|tool_call>call:",),),
    source="chat template",
)
