"""A bare JSON array of calls: xLAM, Hammer, and models that are prompted for it.

Source: vLLM's parser. Read as ``json`` is (an object, an array, a fence, ``{"tool_calls": [...]}``), with the tags of
Hermes and Mistral; written as an array. Never detected: detection calls it ``json``.
"""

from ..format import Format
from ..pattern import call, call_object, section
from ._shared import QWEN_ENDS, THINK

FORMAT = Format(
    section("[", call(call_object(many=True)), "]", separator=", "),
    title="a bare JSON array of calls",
    tier="json",
    detect=False,
    members=("hermes", "mistral_v3"),
    reasoning=THINK,
    turn_ends=(*QWEN_ENDS, "<|eot_id|>", "</s>"),
    families=("xLAM-1 / 2", "Llama-xLAM-2", "Hammer 2.x", "models prompted for plain JSON"),
    engines={"vllm": ("xlam",), "smg": ("json",)},
    models=(r"(?:llama-)?xlam|hammer",),
    source="parser sources",
)
