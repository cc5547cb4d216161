"""Step-Audio 2: the word ``function``, the name and JSON arguments, each in a line of a ``<tool_call>``.

Source: the model's chat format, as its tokenizer and SGLang's detector have it.
"""

from ..format import Format
from ..pattern import arguments, call, name, ws
from ._shared import THINK

FORMAT = Format(
    call("<tool_call>", "function\n", name(), ws("\n"), arguments("json"), ws(), "</tool_call>"),
    title="<tool_call>function, a name and JSON",
    reasoning=THINK,
    turn_ends=("<|EOT|>",),
    special=("<|EOT|>",),
    families=("Step-Audio 2",),
    engines={"vllm": ("step_audio_2",)},
    models=(r"step-audio-?2",),
    source="chat template",
)
