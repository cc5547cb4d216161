"""HyperCLOVA X SEED Think: a JSON array in a message of the assistant to the role ``tool/function_call``.

Source: the model card of the 14B (which shows one object with ``input``) and vLLM's parsers of 14B and 32B (arrays).
"""

from ..format import Format, Reasoning, Results
from ..pattern import call, call_object, either, section, ws

ASSISTANT = "<|im_start|>assistant"
OPEN = f"{ASSISTANT} -> tool/function_call\n"
END = "<|im_end|>"

FORMAT = Format(
    either(
        section((OPEN, ws(), "["), call(call_object()), ("]", ws(), END), separator=", "),
        call(OPEN, ws(), call_object(), ws(), END),
    ),
    title="a message to tool/function_call with a JSON array",
    before=(f"{END}\n", END),
    prompt=ASSISTANT,
    reasoning=Reasoning(f"{ASSISTANT}/think\n", END, after="\n"),
    wrappers=(f"{END}\n{ASSISTANT}\n", f"{END}{ASSISTANT}\n", f"{ASSISTANT}\n"),
    around=(f"{ASSISTANT}\n", ""),
    results=(Results("<|im_start|>tool/function_call\n{result}<|im_end|>", between="\n"),),
    turn_ends=(END, "<|stop|>", "<|endofturn|>"),
    special=("<|im_start|>", END, "<|stop|>", "<|endofturn|>"),
    families=("HyperCLOVA X SEED Think",),
    engines={"vllm": ("hyperclovax_seed_think", "hyperclovax_seed_think_14b")},
    models=(r"hyperclova",),
    source="model documentation and parser sources",
)
