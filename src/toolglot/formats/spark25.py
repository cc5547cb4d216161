"""Spark 2.5 (iFlytek): what GLM-4.7 writes, in other turns. Source: the chat template of Spark 2.5."""

from ..format import Format, Results, Tools
from ..pattern import call, either, name, ws
from ._pairs import SLIP, pairs
from ._shared import THINK_BARE, json_in_tool_call, name_and_json, opened

END = "<\uff5cend\u2581of\u2581sentence\uff5c>"

FORMAT = Format(
    either(
        call("<tool_call>", name(), SLIP, ws(), pairs("", "", implied="any"), "</tool_call>"),
        json_in_tool_call(),
        name_and_json(),
    ),
    title="<arg_key> and <arg_value> pairs, compact",
    reasoning=opened(THINK_BARE),
    calls_in_reasoning=True,
    results=(
        Results(
            "<tool_response>{result}</tool_response>",
            "<｜start▁of▁sentence｜><|Tool|>",
            "",
            "<｜end▁of▁sentence｜>",
        ),
    ),
    tools=(Tools("spark", "function"),),
    turn_ends=(END,),
    special=(END,),
    detect=False,
    rank=33,
    template_checked=True,
    families=("Spark 2.5", "Spark 3"),
    engines={"vllm": ("spark3",), "sglang": ("spark25",)},
    models=(r"(?<!muse-)spark-?(2[.]5|3)",),
    template=(("<tool_call>", "<arg_key>", "<|Bot|>"),),
    source="chat template",
)
