"""Mistral, tokenizers v2 to v7: ``[TOOL_CALLS] [{...}, {...}]``. Source: the chat templates and mistral-common."""

from ..format import Format, Results
from ..pattern import call, call_object, either, section, ws
from ._shared import THINK
from ._tools import MISTRAL_RAW

OBJECT = call_object(order=("name", "arguments", "id"))

FORMAT = Format(
    either(
        section(("[TOOL_CALLS]", ws(" "), "["), call(OBJECT), "]", separator=", "),
        call("[TOOL_CALLS]", ws(), OBJECT),
    ),
    title="[TOOL_CALLS] with a JSON array",
    reasoning=THINK,
    results=(Results('[TOOL_RESULTS]{{"content": {result}, "call_id": "{id}"}}[/TOOL_RESULTS]', codec="value"),),
    tools=(MISTRAL_RAW,),
    turn_ends=("</s>",),
    special=("[TOOL_CALLS]", "</s>"),
    ids="{index:09d}",
    rank=20,
    template_checked=True,
    families=("Mistral 7B v0.3", "Mixtral 8x22B", "Mistral Nemo", "Mistral Large 2", "Codestral", "Pixtral"),
    engines=dict.fromkeys(("vllm", "sglang", "mlx-lm", "dynamo", "smg"), ("mistral",)),
    models=(r"mistral|mixtral|ministral-8b|codestral|pixtral",),
    template=(("[TOOL_CALLS]",),),
    source="chat template",
)
