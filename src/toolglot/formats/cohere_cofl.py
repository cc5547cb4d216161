"""Cohere Command 5: calls between ``cofl`` tags; nested elements say the type of every value.

Sources: the parser in Cohere's melody library, and xgrammar's structural tag. An earlier template wrote flat
``<cofl:tool_param>`` elements whose text is XML; they are read, as is plain JSON.
"""

from ..format import Format, Reasoning
from ..pattern import arguments, call, each, either, section, tag, typed_elements, value, ws

THINKING = ("<|START_THINKING|>", "<|END_THINKING|>")
FLAT = tag("<cofl:tool_param", name="key", string="string")

FORMAT = Format(
    section(
        ("<cofl:tool_calls>", ws()),
        call(
            tag("<cofl:tool_call", id="id", name="name", escape=True),
            either(
                typed_elements("cofl:value"),
                each(FLAT, value(entities=True), "</cofl:tool_param>", ws()),
                (arguments("json"), ws()),
            ),
            "</cofl:tool_call>",
        ),
        (ws(), "</cofl:tool_calls>"),
    ),
    title="<cofl:tool_calls> with typed elements",
    reasoning=Reasoning(*THINKING),
    wrappers=("<|START_TEXT|>", "<|END_TEXT|>"),
    turn_ends=("<|END_OF_TURN_TOKEN|>",),
    special=(*THINKING, "<|END_OF_TURN_TOKEN|>"),
    ids="{index}",
    families=("Command 5",),
    engines={"xgrammar": ("cohere",)},
    source="parser sources",
)
