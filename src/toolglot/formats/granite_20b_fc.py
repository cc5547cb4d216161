"""Granite-20B-FunctionCalling: ``<function_call> {...}``, one a line; nothing closes it. Source: vLLM's parser.

Prompted models write the same with a closer, which is read. It stands in a section's place, so that a call is complete
where its object is. ``no_function`` is the model's name for none of the tools; it is read as the call that it is.
"""

from ..format import Format, Results
from ..pattern import call, call_object, maybe, section, ws

FORMAT = Format(
    section(("<function_call>", ws(" ")), call(call_object()), maybe("</function_call>", write=False)),
    title="<function_call> with a JSON object",
    between="\n",
    per_call=True,
    results=(Results("<function_response> {result}"),),
    turn_ends=("<|endoftext|>",),
    special=("<|endoftext|>",),
    families=("Granite-20B-FunctionCalling",),
    engines={"vllm": ("granite-20b-fc",)},
    models=(r"granite-20b-func",),
    source="parser sources",
)
