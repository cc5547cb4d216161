"""smolagents' ToolCallingAgent without native tools: ``Action:`` and a JSON object with name and arguments.

Source: smolagents' prompt and its parser, which takes arguments that are a text as well (a custom call here). What
follows the first call is content: ``Observation:`` is the stop sequence.
"""

from ..format import Format, Results
from ..pattern import call, call_object
from ._shared import THINK

FORMAT = Format(
    call(call_object(text=True, loose=True)),
    title="Action: and a JSON object",
    results=(Results("Observation:\n{result}"),),
    tier="json",
    detect=False,
    before=("\nAction:\n", "\n\nAction:\n", "\nAction: ", "Action: "),
    lead="Action:\n",
    max_calls=1,
    reasoning=THINK,
    families=("any, prompted (smolagents ToolCallingAgent)",),
    source="client prompt and parser",
)
