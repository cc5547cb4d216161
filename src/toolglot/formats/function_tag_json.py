"""``<function=NAME>{...}</function>``: Functionary v3.1, and Llama 3.1 prompted with Meta's custom tool format.

Source: the chat template of functionary-medium-v3.1. Some models leave out the ``>`` or the closer, or
write the opener as closer.
"""

from ..format import Format, Results, Tools
from ..pattern import arguments, call, lit, name, ws

FORMAT = Format(
    call(
        "<function=",
        name(),
        lit(">", implied_by="{"),
        ws(),
        arguments("json"),
        ws(),
        lit("</function>", "<function>", implied_by="<function="),
    ),
    title="<function=> with JSON",
    results=(Results("<|start_header_id|>ipython<|end_header_id|>\n\n{result}<|eot_id|>"),),
    tools=(Tools("functionary_v31", "html", "\n\n"),),
    turn_ends=("<|eom_id|>", "<|eot_id|>"),
    special=("<|eom_id|>", "<|eot_id|>"),
    rank=15,
    template_checked=True,
    families=("Functionary v3.1", "Llama 3.1 with Meta's custom tool format"),
    models=(r"functionary.*v3[.]1",),
    template=(("<function=", "</function>", "<|eom_id|>"),),
    source="chat template",
)
