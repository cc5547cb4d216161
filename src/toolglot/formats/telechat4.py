"""TeleChat 4 and Xing 4: the name, then ``<param_key>`` and ``<param_value>`` pairs; or the name and JSON; or JSON.

Source: the parsers of TensorRT-LLM, SGLang and ms-swift's template, which writes calls back to back.
"""

from ..format import Format
from ..pattern import call, either, name, ws
from ._pairs import SLIP, pairs
from ._shared import THINK_BARE, json_in_tool_call, name_and_json

PAIRS = pairs("", "", ("param_key", "param_value"), implied="any")

FORMAT = Format(
    either(
        call("<tool_call>", name(), SLIP, ws(), PAIRS, "</tool_call>"),
        json_in_tool_call(),
        name_and_json(),
    ),
    title="<param_key> and <param_value> pairs",
    reasoning=THINK_BARE,
    calls_in_reasoning=True,
    turn_ends=("<_end>",),
    special=("<_end>",),
    rank=37,
    families=("TeleChat4", "TeleChat3-Coder", "Xing4.0"),
    engines={"tensorrt-llm": ("telechat4", "xing4_0"), "sglang": ("telechat4",)},
    models=(r"telechat-?4|telechat-?3-coder|xing-?4",),
    template=(("<tool_call>", "<param_key>"),),
    source="SGLang parser, ms-swift template",
)
