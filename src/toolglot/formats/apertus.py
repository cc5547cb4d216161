"""Apertus: ``<|tools_prefix|>[{NAME: ARGUMENTS}, ...]<|tools_suffix|>``. Source: the chat template of Apertus 2509."""

from ..format import Format, Reasoning, Results, Tools
from ..pattern import call, call_object, section, ws

TOOLS = ("<|tools_prefix|>", "<|tools_suffix|>")
INNER = ("<|inner_prefix|>", "<|inner_suffix|>")

FORMAT = Format(
    section((TOOLS[0], ws(), "["), call(call_object(keyed=True)), ("]", ws(), TOOLS[1]), separator=", "),
    title="<|tools_prefix|> with objects keyed by the tool's name",
    reasoning=Reasoning(*INNER),
    calls_in_reasoning=True,
    results=(Results("{result}", "[", ", ", "]"),),
    tools=(Tools("Tool Capabilities:\n{tools}", "typescript_apertus"),),
    turn_ends=("<|assistant_end|>",),
    special=(*TOOLS, *INNER, "<|assistant_end|>"),
    template_checked=True,
    families=("Apertus 8B / 70B Instruct 2509", "Apertus v1.5"),
    engines={"vllm": ("apertus",), "sglang": ("apertus2509",)},
    models=(r"apertus",),
    template=(("<|inner_prefix|>",), ("<|tools_prefix|>",)),
    source="chat template",
)
