"""``functools[{...}, {...}]``: Phi-4-mini and Firefunction v2, which writes a blank before it.

Sources: vLLM's parser and template for Phi-4-mini, the chat template of Firefunction v2. One object without the
brackets, which the models write as well, is read.
"""

from ..format import Format, Results
from ..pattern import call, call_object, either, lit, section

FORMAT = Format(
    either(
        section("functools[", call(call_object()), "]", separator=", "),
        call(lit("functools", weak=True), call_object()),
    ),
    title="functools[ with JSON objects",
    before=("", " "),
    results=(Results("<|tool|>\n{result}<|end|>"),),
    turn_ends=("<|end|>", "<|eot_id|>", "<|endoftext|>"),
    special=("<|end|>", "<|eot_id|>", "<|endoftext|>"),
    families=("Phi-4-mini-instruct", "Phi-4-multimodal", "Firefunction v2"),
    engines={"vllm": ("phi4_mini_json",), "dynamo": ("phi4",)},
    models=(r"phi-?4-(mini|multimodal)|firefunction",),
    template=(("functools[",),),
    source="parser sources",
)
