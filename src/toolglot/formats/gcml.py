"""GCML (GigaChat 3.5): DSML under another name. Source: SGLang's parser and vLLM's tests; the template was not seen."""

from ..format import Reasoning, Results
from ._dsml import dsml

END = "<|message_sep|>"

FORMAT = dsml(
    "tool_calls",
    "",
    "",
    "GCML",
    title="GCML, tool_calls",
    lead="",
    reasoning=Reasoning("<think>", "</think>", after="\n\n"),
    results=(
        Results("function result<|role_sep|>\n<function_response>{result}</function_response><|message_sep|>\n\n"),
    ),
    turn_ends=(END, "</s>"),
    special=("\uff5cGCML\uff5c", END),
    rank=43,
    families=("GigaChat 3.5",),
    engines={"vllm": ("gigachat35",), "sglang": ("gigachat35",)},
    models=(r"gigachat-?3[.]5",),
    template=(("<｜GCML｜tool_calls>",),),
    source="SGLang parser",
)
