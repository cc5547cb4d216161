"""IQuest: GLM-4.5's pairs in a tag of its own. Source: SGLang's and vLLM's parsers; the template was not seen."""

from ..format import Format
from ..pattern import call, call_object, either, lit, name, ws
from ._pairs import SLIP, pairs
from ._shared import THINK, name_and_json

OPEN = lit("<iquest_tool_call>", "<iquestcoder_tool_call>")
CLOSE = lit("</iquest_tool_call>", "</iquestcoder_tool_call>")

FORMAT = Format(
    either(
        call(OPEN, name(), SLIP, ws("\n"), pairs("\n", "\n", implied="line"), CLOSE),
        call(OPEN, ws("\n"), call_object(many=True), ws("\n"), CLOSE),
        name_and_json(OPEN, CLOSE),
    ),
    title="<arg_key> and <arg_value> pairs in <iquest_tool_call>",
    before=("\n",),
    between="\n",
    reasoning=THINK,
    calls_in_reasoning=True,
    turn_ends=("<|im_end|>", "<|iquest_end|>"),
    rank=34,
    families=("IQuest-Q1", "IQuest-Coder v2"),
    engines={"vllm": ("iquest_coder", "iquest_coder_v2"), "sglang": ("iquest_q1",)},
    models=(r"iquest",),
    template=(("<|iquest_assistant|>",), ("<iquest_tool_call>",)),
    source="SGLang and vLLM parsers",
)
