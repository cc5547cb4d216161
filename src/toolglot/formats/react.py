"""ReAct: ``Action:`` with the tool's name, then ``Action Input:`` with a JSON object or text, up to ``Observation:``.

Source: the output parsers of LangChain, LlamaIndex and Qwen-Agent. Text that is no JSON object is the input of a custom
call. ``Observation:`` is the stop sequence: what a model writes behind it was never observed. Thoughts are content.
"""

from ..format import Format, Results
from ..pattern import arguments, call, either, free_text, lit, maybe, name, ws
from ._shared import THINK

NUMBERS = range(1, 30)
INPUTS = (
    *("\nAction Input:", "\n**Action Input:**"),
    *(f"\nAction{a} Input{b}:" for n in NUMBERS for a, b in (("", f" {n}"), (f" {n}", ""), (f" {n}", f" {n}"))),
)

FORMAT = Format(
    call(
        lit("Action:", "**Action:**", *(f"Action {n}:" for n in NUMBERS), line=True),
        ws(" "),
        maybe(lit("`", "["), write=False),  # around the name, as some models write it
        name(),
        lit(*(mark + text for mark in ("", "`", "]") for text in INPUTS)),
        ws(" "),
        either(arguments("json"), free_text(line=True)),
        ws(),
        lit("Observation:", stop=True, written=False),
    ),
    title="Action: and Action Input:",
    detect=False,
    before=("\n",),
    finals=("Final Answer:",),
    max_calls=1,
    reasoning=THINK,
    results=(Results("Observation: {result}\nThought:"),),
    families=("any, prompted (LangChain, LlamaIndex, CrewAI, Qwen-Agent, Dify)",),
    source="client parsers",
)
