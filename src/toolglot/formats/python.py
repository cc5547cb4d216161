"""Call syntax in text: ``search(query="rust", limit=5)``, keyword arguments only.

Source: llm-beacon. Detection looks for it only where tools are given: prose is full of ``print()``.
"""

from ..format import Format
from ..pattern import arguments, call, name
from ._shared import QWEN_ENDS, THINK

FORMAT = Format(
    call(name(), "(", arguments("python")),
    title="call syntax",
    tier="python",
    between="\n",
    reasoning=THINK,
    turn_ends=(*QWEN_ENDS, "</s>"),
    families=("any",),
    source="llm-beacon",
)
