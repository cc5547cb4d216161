"""The JSON blob of LangChain's chat agents: ``{"action": ..., "action_input": ...}``, in a fence behind ``Action:``.

Source: the output parsers of LangChain's structured and conversational chat agents and Transformers' ReAct prompts. The
action ``Final Answer`` is the answer and no call; input that is a text is the input of a custom call.
"""

from ..format import Format, Results
from ..pattern import call, call_object
from ._shared import THINK

BLOB = call_object(
    name="action",
    arguments="action_input",
    order=("name", "arguments"),
    text=True,
    answers=("Final Answer",),
    loose=True,
)

FORMAT = Format(
    call("```json\n", BLOB, "\n```"),
    title="a JSON blob with action and action_input",
    results=(Results("Observation: {result}\nThought:"),),
    tier="json",
    detect=False,
    before=("\nAction:\n", "\n\nAction:\n", "\nAction: ", "Action: "),
    lead="Action:\n",
    max_calls=1,
    reasoning=THINK,
    families=("any, prompted (LangChain's chat agents)",),
    source="client parsers",
)
