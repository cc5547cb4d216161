"""``<tool_calls>[{...}, {...}]</tool_calls>``: Jamba, Hunyuan (2025) and Apriel.

Sources: vLLM's parsers for Jamba and Hunyuan-A13B, the chat templates of Apriel 1.5 and 1.6. Apriel's ids are read and
not written: the others have none, and Apriel's results do not refer to them. Hunyuan writes its answer between tags,
and its role before calls; Apriel 1.6 has prose around its reasoning, whose beginning stands in the prompt.
"""

from ..format import Format, Reasoning, Results, Tools
from ..pattern import call, call_object, section, ws
from ._shared import THINK

FORMAT = Format(
    section(("<tool_calls>", ws(), "["), call(call_object()), ("]", ws(), "</tool_calls>"), separator=", "),
    title="<tool_calls> with a JSON array",
    before=("", "\n", "助手："),
    reasoning=THINK,
    more_reasoning=(
        Reasoning("<thinking>", "</thinking>", detect=False),
        Reasoning("Here are my reasoning steps:\n", "[BEGIN FINAL RESPONSE]", "", ("", "\n"), "\n", detect=False),
    ),
    answer=("<answer>\n", "\n</answer>"),
    results=(
        Results("<|begin_tool_result|>\n{result}\n\n\n", models=(r"apriel-?1[.]6",)),
        Results("<|tool_result|>\n{result}\n<|end|>\n", models=(r"apriel",)),
        Results("<tool_response>{result}</tool_response>", close="<|extra_0|>", models=(r"hunyuan",)),
        Results("<|bom|><|tool|> {result}<|eom|>"),
    ),
    tools=(
        Tools("apriel_1_6", "tool_repr", "", models=(r"apriel-?1[.]6",)),
        Tools("apriel_1_5", "tool_repr", models=(r"apriel-?1[.]5",)),
    ),
    turn_ends=("<|eom|>", "<|eos|>", "<|end|>", "[END FINAL RESPONSE]"),
    special=("<|eom|>", "<|eos|>", "<|end|>"),
    families=("Jamba 1.5 / 1.6 / 1.7", "Hunyuan-A13B / 7B / 4B", "Apriel 1.5 / 1.6"),
    engines={"vllm": ("jamba", "hunyuan_a13b"), "dynamo": ("jamba",)},
    models=(r"jamba", r"hunyuan-?(a13b|7b|4b|1[.]8b|0[.]5b)", r"apriel"),
    template=(("<tool_calls>[",),),
    source="parser sources",
)
