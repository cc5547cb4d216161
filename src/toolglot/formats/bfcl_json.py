"""BFCL's JSON return format: a list of ``{"function": ..., "parameters": {...}}`` in a code fence.

Source: BFCL's prompt variations. Its Python list is `pythonic`; its two XML forms are not read.
``<TOOLCALL>`` tags around, which some of them ask for, are dropped.
"""

from ..format import Format
from ..pattern import call, call_object, section
from ._shared import THINK

FORMAT = Format(
    section(
        "```json\n[",
        call(call_object(name="function", arguments="parameters")),
        "]\n```",
        separator=", ",
    ),
    title="a JSON list with function and parameters",
    tier="json",
    detect=False,
    reasoning=THINK,
    wrappers=("<TOOLCALL>", "</TOOLCALL>"),
    families=("benchmark prompts (BFCL)",),
    verified=False,
    source="benchmark prompts",
)
