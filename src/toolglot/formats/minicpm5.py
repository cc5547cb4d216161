"""MiniCPM5: ``<function name="...">`` with ``<param>`` elements; strings with markup or line breaks stand in CDATA.

Source: the chat template of MiniCPM5-1B. It writes what is no string as Python's literal; models write JSON as well.
The space in a tag may be lost or be the tokenizer's mark for one, as may the line break before a tag; the engines'
parsers read names in single quotes as well.
"""

from ..format import Format, Tools
from ..pattern import call, each, key, lit, name, value, ws
from ._shared import THINK, tool_response

GAPS = (" ", "", "\u0120")
BREAKS = ("", "\u010a")
NAMED = lit('">', "'>")

FORMAT = Format(
    call(
        lit(*(f"{line}<function{gap}name={quote}" for line in BREAKS for quote in "\"'" for gap in GAPS)),
        name(),
        NAMED,
        ws(),
        each(
            lit(*(f"{line}<param{gap}name={quote}" for line in BREAKS for quote in "\"'" for gap in GAPS)),
            key(),
            NAMED,
            value(python_scalars=True, python_containers=True, cdata=True),
            "</param>",
            ws(),
        ),
        lit(*(f"{line}</function>" for line in BREAKS)),
    ),
    title="<function name> with <param> elements, CDATA",
    before=("\n",),
    between="\n",
    reasoning=THINK,
    results=(tool_response(),),
    tools=(Tools("minicpm5"),),
    turn_ends=("<|im_end|>", "</s>"),
    rank=55,
    template_checked=True,
    families=("MiniCPM5",),
    engines={"vllm": ("minicpm5",), "sglang": ("minicpm5",), "mlx-lm": ("minicpm5",)},
    models=(r"minicpm-?5",),
    template=(('<function name="', '<param name="'),),
    source="chat template",
)
