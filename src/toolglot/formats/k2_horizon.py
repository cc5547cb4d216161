"""K2 Horizon: GLM's pairs in ``<ifm|...>`` tags, calls in a block; a pair may name its type; or JSON in a call's tag.

Source: the parsers of vLLM and SGLang, and a plugin for the template, which was not seen. Three pairs of tags delimit
reasoning, by how much of it was asked for.
"""

from ..format import Format, Reasoning
from ..pattern import Hole, call, call_object, each, either, key, maybe, name, section, value, ws

THINK = tuple(
    Reasoning(f"<ifm|{word}>", f"</ifm|{word}>", inner=("\n", "\n"), after="\n")
    for word in ("think", "think_fast", "think_faster")
)

PAIRS = each(
    "<ifm|arg_key>",
    key(),
    "</ifm|arg_key>",
    ws("\n"),
    maybe("<ifm|arg_type>", Hole("type"), "</ifm|arg_type>", ws(), write=False),
    "<ifm|arg_value>",
    value(),
    "</ifm|arg_value>",
    ws("\n"),
)

FORMAT = Format(
    section(
        ("<ifm|tool_calls>", ws("\n")),
        call("<ifm|tool_call>", either((name(), ws("\n"), PAIRS), (call_object(many=True), ws())), "</ifm|tool_call>"),
        (ws("\n"), "</ifm|tool_calls>"),
    ),
    title="<ifm|tool_calls> with <ifm|arg_key> pairs",
    before=("\n",),
    between="\n",
    reasoning=THINK[0],
    more_reasoning=THINK[1:],
    calls_in_reasoning=True,
    turn_ends=("<|ifm|im_end|>",),
    special=("<|ifm|im_end|>",),
    rank=41,
    families=("K2 Horizon",),
    engines={"vllm": ("k2_horizon",), "sglang": ("k2_horizon",)},
    models=(r"k2-?(horizon|v3)",),
    template=(("<ifm|tool_calls>",),),
    source="vLLM and SGLang parsers",
)
