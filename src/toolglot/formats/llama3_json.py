"""Llama 3: a bare JSON object at the start of the output, or what stands behind ``<|python_tag|>``.

Source: Meta's Llama 3.1 template, which writes one call and no text; ``; `` joins several in the wild.
"""

from ..format import Format, Results
from ..pattern import call, section
from ._shared import THINK
from ._tools import LLAMA
from .llama import ENDS, OBJECT, TAG

FORMAT = Format(
    section((), call(OBJECT), separator="; "),
    title="bare JSON with parameters",
    results=(Results("<|start_header_id|>ipython<|end_header_id|>\n\n{result}<|eot_id|>", codec="json"),),
    tools=(LLAMA,),
    tier="json",
    start=True,
    members=("llama",),
    detect=False,
    reasoning=THINK,
    turn_ends=ENDS,
    special=(TAG, *ENDS),
    template_checked=True,
    families=("Llama 3.1", "Llama 3.2", "Llama 3.3", "Llama 4 in JSON mode"),
    engines={
        "vllm": ("llama3_json", "llama4_json"),
        "sglang": ("llama3",),
        "dynamo": ("llama3_json",),
        "smg": ("llama",),
        "lmdeploy": ("llama3",),
        "xgrammar": ("llama",),
    },
    models=(r"llama-3[_.]1-nemotron-70b", r"llama-?3[._]2-(1|3)b", r"llama-?3[._]?[123]?"),
    template=(("<|python_tag|>", '"parameters": '), ("ipython", '"parameters": ')),
    source="chat template",
    prefix_ambiguous=True,
)
