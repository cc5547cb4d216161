"""Bracket: ``[TOOL_CALL]name=f;args={...}[/TOOL_CALL]``, or a JSON call between the tags. Source: llm-beacon."""

from ..format import Format
from ..pattern import arguments, call, call_object, either, lit, name, ws
from ._shared import THINK

FORMAT = Format(
    either(
        call(
            "[TOOL_CALL]",
            ws(),
            "name=",
            name(),
            ";",
            ws(),
            lit("args=", "arguments="),
            arguments("json"),
            ws(),
            "[/TOOL_CALL]",
        ),
        call("[TOOL_CALL]", ws(), call_object(many=True), ws(), "[/TOOL_CALL]"),
    ),
    title="[TOOL_CALL] with name= and args=, or JSON",
    before=("\n",),
    between="\n",
    reasoning=THINK,
    turn_ends=("<|im_end|>", "</s>"),
    families=("prompted models",),
    source="llm-beacon",
)
