"""MiniCPM 3 and 4: calls in Python's syntax, one a line, in a code fence between tool-call tokens.

Source: the parser plugin that comes with the models; it takes the calls without the fence, too. The opener is LFM2's:
what stands behind it decides.
"""

from ..format import Format, Reasoning, Results
from ..pattern import arguments, call, either, lit, name, section, ws

START = "<|tool_call_start|>"
END = "<|tool_call_end|>"
THOUGHTS = ("<|thought_start|>", "<|thought_end|>")

CALL = call(name(), "(", arguments("pythonic"))

FORMAT = Format(
    either(
        section(
            (START, ws("\n"), lit("```python", "```py", "```"), ws("\n")),
            CALL,
            (ws("\n"), "```", ws("\n"), END),
        ),
        section((START, ws()), CALL, (ws(), END)),
    ),
    title="a code fence between tool-call tokens",
    before=("\n",),
    between="\n",
    reasoning=Reasoning(*THOUGHTS, inner=("\n", "\n"), after="\n"),
    results=(Results("<|im_start|>tool\n{result}<|im_end|>"),),
    turn_ends=("<|im_end|>", "</s>"),
    special=(START, END, *THOUGHTS, "<|im_end|>"),
    rank=60,
    families=("MiniCPM3", "MiniCPM4 / 4.1"),
    engines={"vllm": ("minicpm",)},
    models=(r"minicpm-?[34]",),
    source="parser plugin",
)
