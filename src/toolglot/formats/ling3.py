"""Ling 3: GLM's pairs, with a line break inside each but not between them. Source: the chat template of Ling-3.0."""

from ..format import Format, Reasoning, Results, Tools
from ..pattern import call, either, name, ws
from ._pairs import SLIP, pairs
from ._shared import json_in_tool_call, name_and_json

FORMAT = Format(
    either(
        call("<tool_call>", name(), SLIP, ws("\n"), pairs("\n", "", implied="any"), ws("\n"), "</tool_call>"),
        json_in_tool_call(),
        name_and_json(),
    ),
    title="<arg_key> and <arg_value> pairs, adjacent",
    before=("\n",),
    between="\n",
    reasoning=Reasoning("<think>", "</think>", lead="\n", opened=True),
    calls_in_reasoning=True,
    results=(Results("\n<tool_response>\n{result}\n</tool_response>", "<role>OBSERVATION</role>", "", "<|role_end|>"),),
    tools=(Tools("ling3"),),
    turn_ends=("<|role_end|>",),
    special=("<|role_end|>",),
    detect=False,
    rank=31,
    template_checked=True,
    families=("Ling-3.0-flash",),
    engines={"vllm": ("ling3",), "sglang": ("ling3",)},
    models=(r"ling-?3",),
    template=(("<tool_call>", "<arg_key>", "<role>"),),
    source="chat template",
)
