"""Nemotron: ``<TOOLCALL>[{...}, {...}]</TOOLCALL>``; Llama-Nemotron Nano writes a list of Python calls in it.

Source: the chat template of NVIDIA-Nemotron-Nano-v2.
"""

from ..format import Format, Results, Tools
from ..pattern import arguments, call, call_object, either, name, section, ws
from ._shared import THINK, opened

FORMAT = Format(
    section(
        ("<TOOLCALL>", ws(), "["),
        either(call(call_object()), call(name(), "(", arguments("pythonic"))),
        ("]", ws(), "</TOOLCALL>"),
        separator=", ",
    ),
    title="<TOOLCALL> with a JSON array",
    before=("\n",),
    reasoning=opened(THINK, r"nano-(9b|12b)-v2|nano-v2"),
    calls_in_reasoning=True,
    results=(Results("{result}", "<SPECIAL_11>User\n<TOOL_RESPONSE>[", ", ", "]</TOOL_RESPONSE>"),),
    tools=(Tools("nemotron2", "function", ", ", (r"nano",), default=True),),
    turn_ends=("<SPECIAL_12>", "<|eot_id|>"),
    special=("<SPECIAL_12>", "<|eot_id|>"),
    template_checked=True,
    families=("Nemotron-Nano-9B / 12B-v2", "Llama-3.1 / 3.3-Nemotron Nano / Super / Ultra"),
    engines={
        "vllm": ("nemotron_json", "nemotron_nano_v2"),
        "dynamo": ("nemotron_deci",),
    },
    models=(r"nemotron-nano-(9b|12b)-v2|nemotron-nano-v2|llama-3[_.][13].*nemotron-(nano|super|ultra)",),
    template=(("<TOOLCALL>",),),
    source="chat template",
)
