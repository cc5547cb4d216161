"""LangChain's XML agent: ``<tool>name</tool><tool_input>...</tool_input>``; the last closer is the stop sequence.

Source: LangChain's XML agent and its parser, which replaces the agent's own tags in data (``[[tool]]``). Input that is
no JSON object is the input of a custom call.
"""

from ..format import Format, Results
from ..pattern import arguments, call, either, free_text, lit, name, ws
from ._shared import THINK

TAGS = ("tool", "/tool", "tool_input", "/tool_input", "observation", "/observation")
ESCAPES = tuple((f"<{tag}>", f"[[{tag}]]") for tag in TAGS)

FORMAT = Format(
    call(
        "<tool>",
        name(),
        "</tool>",
        ws(),
        "<tool_input>",
        either(arguments("json", escapes=ESCAPES), free_text(escapes=ESCAPES)),
        ws(),
        lit("</tool_input>", stop=True),
    ),
    title="<tool> and <tool_input>",
    detect=False,
    before=("\n",),
    finals=("<final_answer>",),
    max_calls=1,
    reasoning=THINK,
    results=(Results("<observation>{result}</observation>"),),
    families=("any, prompted (LangChain's XML agent)",),
    source="client parser",
)
