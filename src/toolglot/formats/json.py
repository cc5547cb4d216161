"""JSON in a tool call's shape, bare or in a code fence: OpenAI, Anthropic and plain objects, or an array of them.

Source: llm-beacon's table of shapes. Detected only outside reasoning, and behind every tagged format.
"""

from ..format import Format
from ..pattern import call, call_object
from ._shared import QWEN_ENDS, THINK

FORMAT = Format(
    call(call_object(many=True)),
    title="JSON shapes, bare or fenced",
    tier="json",
    between="\n",
    reasoning=THINK,
    turn_ends=(*QWEN_ENDS, "</s>"),
    families=("any",),
    source="llm-beacon",
)
