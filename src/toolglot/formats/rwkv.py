"""RWKV-7: a JSON object in a fence under a bold heading. Too much like prose to be detected.

Source: the tool parser of vLLM's RWKV branch.
"""

from ..format import Format
from ..pattern import call, call_object, lit, ws

FORMAT = Format(
    call(lit("**Tool Call:**", weak=True), ws("\n"), "```json", ws("\n"), call_object(), ws("\n"), "```"),
    title="**Tool Call:** with a JSON fence",
    before=("\n",),
    between="\n",
    detect=False,
    families=("RWKV-7 G1",),
    engines={"vllm": ("rwkv",)},
    models=(r"rwkv",),
    source="parser sources",
)
