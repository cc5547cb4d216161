"""Hermes: a JSON object between ``<tool_call>`` tags. Qwen2.5, Qwen3 (not Coder), Hermes, Granite 4 and many more.

Source: the chat templates of Qwen3 and Hermes 3.
"""

from ..format import Format
from ..pattern import call, call_object, ws
from ._shared import QWEN_ENDS, THINK, opened, tool_response
from ._tools import HERMES

FORMAT = Format(
    call("<tool_call>", ws("\n"), call_object(many=True), ws("\n"), "</tool_call>"),
    title="JSON object inside <tool_call>",
    aliases=("hermes_json",),
    before=("\n",),
    between="\n",
    reasoning=opened(THINK, r"qwq", r"qwen3-.*thinking", r"(^|-)ring-"),
    calls_in_reasoning=True,
    results=(
        tool_response("<|im_start|>tool\n", "<|im_end|>", models=(r"hermes",)),
        tool_response("<|start_of_role|>user<|end_of_role|>\n", "<|end_of_text|>\n", models=(r"granite",)),
        tool_response(),
    ),
    tools=HERMES,
    turn_ends=(*QWEN_ENDS, "<|end_of_text|>", "[|endofturn|]", "</s>"),
    rank=10,
    template_checked=True,
    families=(
        "Hermes 2 Pro / 3 / 4",
        "Qwen2.5",
        "QwQ",
        "Qwen3 (not Coder)",
        "Granite 4.0 / 4.1",
        "SmolLM3",
        "EXAONE 4",
    ),
    engines={
        "vllm": ("hermes", "qwen3_json", "qwen2_5_coder", "granite4", "ernie45"),
        "sglang": ("hermes", "qwen", "qwen25", "trinity"),
        "ollama": ("qwen3", "qwen3-thinking", "qwen3-vl-instruct", "qwen3-vl-thinking"),
        "dynamo": ("hermes", "qwen25"),
        "mlx-lm": ("json_tools",),
        "lmdeploy": ("qwen", "qwen2d5", "qwen3"),
        "smg": ("qwen",),
        "tensorrt-llm": ("qwen3",),
        "xgrammar": ("qwen_3", "exaone"),
    },
    models=(
        r"qwq|qwen[-_]?3(?![0-9])",
        r"qwen[-_]?2[.]5",
        r".*hermes-?[234].*|nous-?hermes.*|deephermes.*",
        r"mimo-?(7b|vl)",
        r"granite-?4",
        r"(?<![a-z])(ling|ring)-|trinity|smollm3|exaone|ernie-4[.]5|falcon|bielik|reka|arch-function|jan-",
    ),
    template=(("<tool_call>",),),
    source="chat template",
)
