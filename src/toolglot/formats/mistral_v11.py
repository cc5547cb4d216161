"""Mistral, tokenizer v11: ``[TOOL_CALLS]name[CALL_ID]id[ARGS]{...}``. Source: the template of Mistral Small 3.2."""

from ..format import Format, Results
from ..pattern import arguments, call, either, id_, maybe, name
from ._shared import THINK
from ._tools import MISTRAL

FORMAT = Format(
    either(
        call("[TOOL_CALLS]", name(), "[CALL_ID]", id_(), "[ARGS]", arguments("json")),
        call("[TOOL_CALLS]", name(), maybe("[ARGS]"), arguments("json")),
    ),
    title="[TOOL_CALLS] with name, id and JSON",
    reasoning=THINK,
    results=(Results("[TOOL_RESULTS]{id}[TOOL_CONTENT]{result}[/TOOL_RESULTS]"),),
    tools=(MISTRAL,),
    turn_ends=("</s>",),
    special=("[TOOL_CALLS]", "[CALL_ID]", "[ARGS]", "</s>"),
    ids="{index:09d}",
    rank=30,
    template_checked=True,
    families=("Mistral Small 3.2", "Mistral Medium 3.x", "Magistral 2506"),
    engines=dict.fromkeys(("vllm", "sglang", "mlx-lm"), ("mistral",)),
    models=(r"mistral-small-3[.]2|magistral.*2506|mistral-medium-3",),
    template=(("[TOOL_CALLS]", "[CALL_ID]"),),
    source="chat template",
)
