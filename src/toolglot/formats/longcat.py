"""LongCat: GLM's pairs or a JSON object in tags of its own. LongCat-Flash-Chat writes JSON, later models pairs.

Source: the model cards, and the parsers of vLLM (JSON) and mlx-lm (pairs; a key's closer may be missing).
Some write all arguments as one JSON object where the first key belongs.
"""

from ..format import Format, Reasoning, Results
from ..pattern import arguments, call, call_object, each, either, key, lit, maybe, name, value, ws

OPEN = "<longcat_tool_call>"
CLOSE = "</longcat_tool_call>"
KEY = "<longcat_arg_key>"
KEY_END = "</longcat_arg_key>"

FORMAT = Format(
    either(
        call(
            OPEN,
            name(),
            ws("\n"),
            each(
                KEY,
                key(),
                lit(KEY_END, implied_by="<longcat_arg_value>"),
                ws("\n"),
                "<longcat_arg_value>",
                value(),
                "</longcat_arg_value>",
                ws("\n"),
            ),
            CLOSE,
        ),
        call(OPEN, ws("\n"), call_object(many=True), ws("\n"), CLOSE),
        call(OPEN, name(), ws("\n"), KEY, arguments("json"), ws(), maybe(KEY_END), ws(), CLOSE),
    ),
    title="<longcat_arg_key> and <longcat_arg_value> pairs, or JSON",
    before=("\n",),
    between="\n",
    reasoning=Reasoning("<longcat_think>", "</longcat_think>", inner=("\n", "\n"), after="\n"),
    results=(Results("<longcat_tool_response>\n{result}\n</longcat_tool_response>"),),
    turn_ends=("</longcat_s>",),
    families=("LongCat-Flash-Chat", "LongCat-Flash-Thinking", "LongCat-Flash-Lite"),
    engines={"vllm": ("longcat",), "mlx-lm": ("longcat",)},
    models=(r"longcat",),
    template=(("<longcat_tool_call>",),),
    source="model documentation and parser sources",
)
