"""Mistral, tokenizers v13 and v15: ``[TOOL_CALLS]name[ARGS]{...}``. Source: the templates of Devstral and Ministral 3.

``[CALL_ID]`` is read, and ``[ARGS]`` may be missing, as the engines accept it.
"""

from ..format import Format, Reasoning, Results
from ..pattern import arguments, call, id_, maybe, name
from ._tools import MISTRAL

FORMAT = Format(
    call("[TOOL_CALLS]", name(), maybe("[CALL_ID]", id_(), write=False), maybe("[ARGS]"), arguments("json")),
    title="[TOOL_CALLS] with name and JSON",
    reasoning=Reasoning("[THINK]", "[/THINK]"),
    results=(Results("[TOOL_RESULTS]{result}[/TOOL_RESULTS]"),),
    tools=(MISTRAL,),
    turn_ends=("</s>",),
    special=("[TOOL_CALLS]", "[CALL_ID]", "[ARGS]", "[THINK]", "[/THINK]", "</s>"),
    rank=40,
    template_checked=True,
    families=("Devstral", "Magistral 2507+", "Ministral 3", "Mistral Large 3 / 4", "Mistral Small 4", "Voxtral"),
    engines={**dict.fromkeys(("vllm", "sglang", "mlx-lm"), ("mistral",)), "ollama": ("ministral",)},
    models=(r"devstral|magistral|ministral-3|mistral-large-[34]|mistral-small-4|voxtral",),
    template=(("[TOOL_CALLS]", "[ARGS]"),),
    source="chat template",
)
