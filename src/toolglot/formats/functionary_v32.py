"""Functionary v3.2: segments ``>>>recipient`` with JSON in the lines below; ``>>>all`` is text for the user.

Source: the chat template of functionary-medium-v3.2, whose prompt ends with ``>>>``. Code for ``python`` is text.
"""

from ..format import Format, Results, Tools
from ..pattern import arguments, call, lit, name, ws

FORMAT = Format(
    call(lit(">>>", weak=True), name(), ws("\n"), arguments("json")),
    title=">>>name with JSON below",
    prompt=">>>",
    wrappers=(">>>all\n",),
    around=(">>>all\n", ""),
    results=(Results("<|start_header_id|>tool<|end_header_id|>\n\n{result}<|eot_id|>"),),
    tools=(Tools("functionary", "typescript_functionary", "", guards=("} // namespace",)),),
    turn_ends=("<|eot_id|>",),
    special=("<|eot_id|>",),
    detect=False,
    template_checked=True,
    families=("Functionary v3.2",),
    models=(r"functionary.*v3[.]2",),
    template=((">>>all",), (">>>",)),
    source="chat template",
)
