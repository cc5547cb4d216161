"""Pythonic: the output is a list of calls, ``[f(a='x'), g()]``. Llama 4, ToolACE, prompted models.

Source: Meta's Llama 4 prompt format and vLLM's parser. Until the list is closed none of its calls was made.
"""

from ..format import Format, Results
from ..pattern import arguments, call, maybe, name, section
from ._shared import THINK

FORMAT = Format(
    section(
        (maybe("<|python_start|>", write=False), "["),
        call(name(), "(", arguments("pythonic")),
        ("]", maybe("<|python_end|>", write=False)),
        separator=", ",
    ),
    title="a Python list of calls",
    results=(
        Results("<|header_start|>ipython<|header_end|>\n\n{result}<|eot|>", codec="json", models=(r"llama-?4",)),
        Results("<|start_header_id|>ipython<|end_header_id|>\n\n{result}<|eot_id|>", codec="json"),
    ),
    tier="python",
    start=True,
    unit=True,
    detect=False,
    reasoning=THINK,
    turn_ends=("<|eot|>", "<|eot_id|>", "<|im_end|>", "</s>"),
    special=("<|python_start|>", "<|python_end|>", "<|eot|>", "<|eot_id|>"),
    families=("Llama 4 Scout / Maverick", "Llama 3.2 1B / 3B (prompted)", "ToolACE", "watt-tool"),
    engines={
        "vllm": ("pythonic", "llama4_pythonic", "granite_pythonic"),
        "sglang": ("pythonic",),
        "dynamo": ("pythonic",),
        "smg": ("pythonic",),
    },
    models=(r"llama-?4", r"toolace|watt-tool"),
    source="prompt format",
)
