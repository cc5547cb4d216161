"""Step3: steptml invoke elements between tokens with full-width bars and ASCII underscores, values as bare text.

Source: the parsers of SGLang and SMG; the template was not seen.
"""

from ..format import Format, Results
from ..pattern import call, each, section, tag, value, ws
from ._shared import THINK, opened

BEGIN, END = "<\uff5ctool_call_begin\uff5c>", "<\uff5ctool_call_end\uff5c>"
SEP = "function<\uff5ctool_sep\uff5c>"

FORMAT = Format(
    section(
        ("<\uff5ctool_calls_begin\uff5c>", ws("\n")),
        call(
            # The type word may be missing, and a line break may stand before the element.
            tag(*(f"{BEGIN}{mid}<steptml:invoke" for mid in (SEP, SEP + "\n", "", "\n")), name="name"),
            ws("\n"),
            each(tag("<steptml:parameter", name="key"), value(), "</steptml:parameter>", ws("\n")),
            "</steptml:invoke>",
            ws(),
            END,
        ),
        (ws("\n"), "<\uff5ctool_calls_end\uff5c>"),
    ),
    title="<steptml:invoke> elements",
    between="\n",
    reasoning=opened(THINK),
    results=(
        Results(
            "<｜tool_output_begin｜>{result}<｜tool_output_end｜>",
            "<｜tool_outputs_begin｜>",
            "",
            "<｜tool_outputs_end｜>",
        ),
    ),
    special=(BEGIN, END, "<\uff5ctool_sep\uff5c>", "<\uff5ctool_calls_begin\uff5c>", "<\uff5ctool_calls_end\uff5c>"),
    turn_ends=("<|im_end|>",),
    rank=28,
    families=("step3", "step3-vl"),
    engines={"vllm": ("step3",), "sglang": ("step3",), "smg": ("step3",)},
    models=(r"step-?3(?![.p\d])",),
    template=(("<steptml:",),),
    source="SGLang and SMG parsers",
)
