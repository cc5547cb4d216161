"""GLM-4 before 4.5: the tool's name stands where a message's metadata does, JSON below it.

Source: the chat template of GLM-4-9B, whose prompt ends with ``<|assistant|>``; a line break means a plain answer.
That of GLM-Z1 opens ``<think>`` behind it. ChatGLM3 writes Python code instead, which is text.
"""

from ..format import Format, Reasoning, Results
from ..pattern import arguments, call, lit, name, ws
from ._shared import GLM_ENDS

ASSISTANT = "<|assistant|>"

FORMAT = Format(
    call(lit(ASSISTANT, weak=True), name(), ws("\n"), arguments("json")),
    title="<|assistant|>name with JSON below",
    prompt=ASSISTANT,
    wrappers=(f"{ASSISTANT}\n",),
    around=(f"{ASSISTANT}\n", ""),
    reasoning=Reasoning("<think>", "</think>", inner=("\n", "\n"), after="\n", opened=(r"glm-?z1",)),
    results=(Results("<|observation|>\n{result}"),),
    turn_ends=GLM_ENDS,
    special=(ASSISTANT, *GLM_ENDS),
    detect=False,
    families=("GLM-4-9B", "GLM-4-0414", "GLM-Z1"),
    engines={"vllm": ("glm4",)},
    models=(r"chatglm3|glm-?4-9b|glm-?4-(32b|0414)|glm-?z1",),
    source="chat template",
)
