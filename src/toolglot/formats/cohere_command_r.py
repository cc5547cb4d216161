"""Command R and R+: ``Action:`` and a fenced JSON array. Source: the tool-use template of Command R+.

``Action:`` opens a call only where the fence follows. ``directly-answer`` is a tool of the template's own, which says
that none is needed; it is read as the call that it is.
"""

from ..format import Format, Results, Tools
from ..pattern import call, call_object, section, ws

OBJECT = call_object(name=("tool_name", "name"), arguments=("parameters", "arguments"), indent=4)

FORMAT = Format(
    section(
        ("Action:", ws("\n"), "```json", ws("\n"), "[", ws("\n    ")),
        call(OBJECT),
        (ws("\n"), "]", ws(), "```"),
        separator=",\n    ",
    ),
    title="Action: with a fenced JSON array",
    before=("\n",),
    lead="\n",
    detect=False,
    results=(Results("<|START_OF_TURN_TOKEN|><|SYSTEM_TOKEN|><results>\n{result}</results><|END_OF_TURN_TOKEN|>"),),
    tools=(Tools("command_r", "python_command_r", "\n\n", guards=("```", '"""')),),
    turn_ends=("<|END_OF_TURN_TOKEN|>",),
    special=("<|END_OF_TURN_TOKEN|>",),
    template_checked=True,
    families=("Command R", "Command R+", "Aya Expanse"),
    models=(r"command-r(?!7b)|aya-expanse|c4ai-command-r(?!7b)",),
    template=(("directly_answer", "Action:"), ("directly-answer",)),
    source="chat template",
)
