"""InternLM: a JSON object between action tokens. InternLM2 to 3, Intern-S1.

Source: the chat format of InternLM2 (its repository), and the parsers of vLLM and LMDeploy. Behind
``<|interpreter|>`` Python code stands instead of JSON; that is reported as broken.
"""

from ..format import Format, Results, Tools
from ..pattern import call, call_object, ws
from ._shared import THINK

FORMAT = Format(
    call(
        "<|action_start|>",
        ws(),
        "<|plugin|>",
        ws("\n"),
        call_object(arguments=("parameters", "arguments", "input", "args")),
        ws(),
        "<|action_end|>",
    ),
    title="JSON object between action tokens",
    between="\n",
    reasoning=THINK,
    results=(Results("<|im_start|>environment name=<|plugin|>\n{result}<|im_end|>", between="\n"),),
    tools=(
        Tools("<|im_start|>system name=<|plugin|>\n[{tools}]<|im_end|>\n", "function", ", ", (r"internlm-?2",), True),
    ),
    turn_ends=("<|im_end|>",),
    special=("<|action_start|>", "<|plugin|>", "<|action_end|>", "<|im_end|>"),
    families=("InternLM2", "InternLM2.5", "InternLM3", "Intern-S1"),
    engines={"vllm": ("internlm", "intern_s1"), "sglang": ("interns1",), "lmdeploy": ("internlm", "intern-s1")},
    models=(r"intern-?s1|internlm-?[23]",),
    template=(("<|action_start|>",),),
    source="model documentation and parser sources",
)
