"""LFM2: a Python list of calls between tokens; mappings are written as JSON. Source: the chat template of LFM2.5.

The template writes strings without escaping; we write them as Python does, which is what the model emits.
"""

from ..format import Format, Results, Tools
from ..pattern import arguments, call, call_object, either, lit, name, section, ws
from ._shared import THINK

START = "<|tool_call_start|>"
END = "<|tool_call_end|>"

FORMAT = Format(
    either(
        section(
            lit(START + "[", START + "\n[", START + " ["),
            call(name(), "(", arguments("lfm", json_containers=True)),
            ("]", ws(), END),
            separator=", ",
        ),
        call(START, ws(), call_object(many=True), ws(), END),
    ),
    title="a Python list between tool-call tokens",
    reasoning=THINK,
    results=(
        Results("<|im_start|>tool\n{result}<|im_end|>\n", models=(r"lfm-?2[.]5",)),
        Results("<|im_start|>tool\n<|tool_response_start|>{result}<|tool_response_end|><|im_end|>\n"),
    ),
    tools=(
        Tools("List of tools: [{tools}]", between=", ", models=(r"lfm-?2[.]5",)),
        Tools(
            "List of tools: <|tool_list_start|>[{tools}]<|tool_list_end|>",
            between=", ",
            models=(r"lfm-?2",),
            default=True,
        ),
    ),
    turn_ends=("<|im_end|>",),
    special=(START, END, "<|im_end|>"),
    families=("LFM2", "LFM2.5"),
    engines={"vllm": ("lfm2",), "sglang": ("lfm2",), "ollama": ("lfm2", "lfm2-thinking"), "mlx-lm": ("pythonic",)},
    models=(r"lfm-?[23]",),
    template=(("<|tool_list_start|>",), ("List of tools: [",), ("<|tool_call_start|>",)),
    source="chat template",
)
