"""GLM-4.7 and GLM-5: as GLM-4.5 without a line break anywhere. Source: the chat template of GLM-4.7."""

from ..format import Format, Results, Tools
from ..pattern import call, either, name, ws
from ._pairs import SLIP, pairs
from ._shared import GLM_ENDS, THINK_BARE, json_in_tool_call, name_and_json, opened

FORMAT = Format(
    either(
        call("<tool_call>", name(), SLIP, ws(), pairs("", "", implied="any"), "</tool_call>"),
        json_in_tool_call(),
        name_and_json(),
    ),
    title="<arg_key> and <arg_value> pairs, compact",
    reasoning=opened(THINK_BARE),
    calls_in_reasoning=True,
    results=(Results("<tool_response>{result}</tool_response>", "<|observation|>"),),
    tools=(Tools("glm47"),),
    turn_ends=GLM_ENDS,
    rank=30,
    template_checked=True,
    families=("GLM-4.7", "GLM-4.7-Flash", "GLM-5", "GLM-5.x"),
    engines={
        "vllm": ("glm47",),
        "sglang": ("glm47",),
        "mlx-lm": ("glm47",),
        "ollama": ("glm-4.7",),
        "dynamo": ("glm47",),
        "smg": ("glm47_moe",),
        "tensorrt-llm": ("glm47",),
        "lmdeploy": ("glm47",),
        "xgrammar": ("glm_4_7",),
    },
    models=(r"glm-?4[.]7|glm-?5",),
    template=(("<tool_call>", "<arg_key>"),),
    source="chat template",
)
