"""dots: invoke elements in a ``<dots_function_call>`` block, or a JSON call in it. Source: the parsers of the engines.

The opener may be doubled; models do it.
"""

from ..format import Format
from ..pattern import call, call_object, either, maybe, ws
from ._invoke import invoke_block
from ._shared import THINK

OPEN, CLOSE = "<dots_function_call>", "</dots_function_call>"

FORMAT = Format(
    either(
        invoke_block(OPEN, ws(), maybe(OPEN, write=False), close=CLOSE),
        call(OPEN, ws("\n"), call_object(many=True), ws("\n"), CLOSE),
    ),
    title="<invoke> elements in <dots_function_call>",
    before=("\n",),
    between="\n",
    reasoning=THINK,
    rank=36,
    families=("dots-3", "dots-3-note"),
    engines={"vllm": ("dots",), "sglang": ("dots",)},
    models=(r"^dots[-.]?[23]|dots[.]?llm[23]",),
    template=(("<dots_function_call>",),),
    source="vLLM and SGLang parsers",
)
