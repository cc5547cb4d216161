"""Granite-20B-FunctionCalling: ``<function_call> {...}``, one a line; nothing closes it. Source: vLLM's parser."""

from ..format import Format
from ..pattern import call, call_object, ws

FORMAT = Format(
    call("<function_call>", ws(" "), call_object()),
    title="<function_call> with a JSON object",
    between="\n",
    turn_ends=("<|endoftext|>",),
    special=("<|endoftext|>",),
    families=("Granite-20B-FunctionCalling",),
    engines={"vllm": ("granite-20b-fc",)},
    models=(r"granite-20b-func",),
    source="parser sources",
)
