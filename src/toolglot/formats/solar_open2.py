"""Solar Open 2 and Solar Pro 4: the name, then arguments between tokens, values as bare text.

Source: SGLang's parser and the tests of vLLM's; the template was not seen, so the line break between calls is a guess.
"""

from ..format import Format, Reasoning, Results
from ..pattern import call, each, key, name, value, ws

FORMAT = Format(
    call(
        "<|tool_call:start|>",
        name(),
        ws("\n"),
        each("<|tool_arg:start|>", key(), "<|tool_arg:value|>", value(implied="any"), "<|tool_arg:end|>", ws("\n")),
        "<|tool_call:end|>",
    ),
    title="<|tool_call:start|> with <|tool_arg:...|> tokens",
    between="\n",
    reasoning=Reasoning("<|think:start|>", "<|think:end|>"),
    results=(Results("<|tool_response:start|>{result}<|tool_response:end|>"),),
    turn_ends=("<|im:end|>",),
    special=(
        "<|tool_call:start|>",
        "<|tool_call:end|>",
        "<|tool_arg:start|>",
        "<|tool_arg:value|>",
        "<|tool_arg:end|>",
        "<|think:start|>",
        "<|think:end|>",
        "<|im:end|>",
    ),
    families=("Solar-Open2", "Solar Pro 4"),
    engines={"vllm": ("solar_open2",)},
    models=(r"solar-?open-?2|solar-?pro-?4",),
    template=(("<|tool_call:start|>",),),
    source="SGLang parser",
)
