"""Llama 3 behind ``<|python_tag|>``: JSON objects, ``; `` between them, or a built-in's ``name.call(key="value")``.

Source: Meta's Llama 3.1 template and llm-beacon. Calls are reported as ``llama3_json``.
"""

from ..format import Format
from ..pattern import arguments, call, call_object, either, maybe, name, section, ws
from ._shared import THINK
from ._tools import LLAMA

ENDS = ("<|eom_id|>", "<|eot_id|>", "<|end_of_text|>")
OBJECT = call_object(arguments=("parameters", "arguments", "input", "args"), many=True)
TAG = "<|python_tag|>"

PATTERN = section(
    (TAG, ws()),
    (maybe(TAG, ws(), write=False), either(call(OBJECT), call(name(method=".call"), "(", arguments("python")))),
    separator="; ",
)

FORMAT = Format(
    PATTERN,
    title="<|python_tag|> with JSON or call syntax",
    reported="llama3_json",
    reasoning=THINK,
    tools=(LLAMA,),
    turn_ends=ENDS,
    special=(TAG, *ENDS),
    families=("Llama 3.1", "Llama 3.2", "Llama 3.3"),
    source="chat template",
)
