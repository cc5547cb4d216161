"""GLM-4.5 and 4.6: the name, then ``<arg_key>`` and ``<arg_value>`` pairs, one a line; values are bare text.

Source: the chat template of GLM-4.5. One pattern reads this and GLM-4.7's compact form; they differ in writing.
"""

from ..format import Format, Reasoning, Results, Tools
from ..pattern import call, either, name, ws
from ._pairs import SLIP, pairs
from ._shared import GLM_ENDS, json_in_tool_call, name_and_json

FORMAT = Format(
    either(
        call("<tool_call>", name(), SLIP, ws("\n"), pairs("\n", "\n", implied="line"), "</tool_call>"),
        json_in_tool_call(),
        name_and_json(),
    ),
    title="<arg_key> and <arg_value> pairs, one a line",
    before=("\n",),
    between="\n",
    reasoning=Reasoning("<think>", "</think>", lead="\n", after="\n"),
    calls_in_reasoning=True,
    results=(Results("\n<tool_response>\n{result}\n</tool_response>", "<|observation|>"),),
    tools=(Tools("glm45"),),
    turn_ends=GLM_ENDS,
    rank=29,
    template_checked=True,
    families=("GLM-4.5", "GLM-4.5-Air", "GLM-4.5V", "GLM-4.6", "GLM-4.6V"),
    engines={
        "vllm": ("glm45",),
        "sglang": ("glm45", "glm"),
        "smg": ("glm45_moe",),
        "tensorrt-llm": ("glm4",),
    },
    models=(r"glm-?4[.][56]",),
    template=(("<tool_call>", "<arg_key>", "'\\n<tool_call>'"),),
    source="chat template",
)
