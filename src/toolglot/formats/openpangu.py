"""openPangu: a JSON array between tool-call tokens, which older vocabularies spell ``[unused11]`` and ``[unused12]``.

Source: vLLM's Pangu parser and the agent prompts of openPangu. LFM2 uses the same tokens.
"""

from ..format import Format, Reasoning
from ..pattern import call, call_object, lit, section, ws

START = ("<|tool_call_start|>", "[unused11]")
END = ("<|tool_call_end|>", "[unused12]")

FORMAT = Format(
    section((lit(*START), ws(), "["), call(call_object()), ("]", ws(), lit(*END)), separator=", "),
    title="a JSON array between tool-call tokens",
    reasoning=Reasoning("[unused16]", "[unused17]"),
    turn_ends=("[unused10]",),
    special=(*START, *END, "[unused10]", "[unused16]", "[unused17]"),
    families=("openPangu Embedded", "openPangu Pro", "openPangu 2"),
    engines={"vllm": ("pangu", "openpangu_v2")},
    models=(r"pangu",),
    template=(("<|tool_call_start|>", "[unused"),),
    source="parser sources",
)
