"""Cohere Command R7B and Command A: a JSON array between action tokens. Source: the chat template of Command A."""

from ..format import Format, Reasoning, Results, Tools
from ..pattern import call, call_object, section, ws

OBJECT = call_object(
    name=("tool_name", "name"),
    arguments=("parameters", "arguments"),
    id=("tool_call_id", "id"),
    order=("id", "name", "arguments"),
)

FORMAT = Format(
    section(
        ("<|START_ACTION|>", ws(), "[", ws("\n    ")),
        call(OBJECT),
        (ws("\n"), "]", ws(), "<|END_ACTION|>"),
        separator=",\n    ",
    ),
    title="<|START_ACTION|> with a JSON array",
    reasoning=Reasoning("<|START_THINKING|>", "<|END_THINKING|>"),
    wrappers=("<|START_RESPONSE|>", "<|END_RESPONSE|>", "<|START_TEXT|>", "<|END_TEXT|>"),
    results=(
        Results(
            '    {{\n        "tool_call_id": "{index}",\n        "results": {{\n'
            '            "0": {result}\n        }},\n        "is_error": null\n    }}',
            "<|START_OF_TURN_TOKEN|><|SYSTEM_TOKEN|><|START_TOOL_RESULT|>[\n",
            ",\n",
            "\n]<|END_TOOL_RESULT|><|END_OF_TURN_TOKEN|>",
            codec="json",
        ),
    ),
    tools=(
        Tools("cohere_north", "cohere", ",\n", models=(r"north|cohere2",)),
        Tools("cohere_action", "cohere", ",\n", models=(r"command-r7b",), default=True),
    ),
    turn_ends=("<|END_OF_TURN_TOKEN|>",),
    special=("<|START_ACTION|>", "<|END_ACTION|>", "<|START_THINKING|>", "<|END_THINKING|>", "<|END_OF_TURN_TOKEN|>"),
    ids="{index}",
    template_checked=True,
    families=("Command R7B", "Command A", "Command A Reasoning / Vision / Translate", "North"),
    engines={
        "vllm": ("cohere_command3", "cohere_command4"),
        "sglang": ("cohere_command4",),
        "ollama": ("cohere",),
        "smg": ("cohere",),
    },
    models=(r"command-r7b|command-a|north-|cohere2",),
    template=(("<|START_ACTION|>",),),
    source="chat template",
)
