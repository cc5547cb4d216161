"""OLMo 3: calls in Python's syntax, one a line, between ``<function_calls>`` tags; values are written as JSON.

Source: the model's training code (its chat template's twin), which joins ``json.dumps`` values; vLLM's parser also
takes a list. An opener before ``<invoke`` is `xml_invoke`'s.
"""

from ..format import Format, Results
from ..pattern import arguments, call, either, name, section, ws
from ._shared import QWEN_ENDS, THINK_BARE

OPEN = "<function_calls>"
CLOSE = "</function_calls>"
CALL = call(name(), "(", arguments("pythonic", json_values=True))

FORMAT = Format(
    either(
        section((OPEN, ws()), CALL, (ws(), CLOSE)),
        section((OPEN, ws(), "["), CALL, ("]", ws(), CLOSE), separator=", "),
    ),
    title="<function_calls> with a call a line",
    between="\n",
    reasoning=THINK_BARE,
    results=(Results("<|im_start|>environment\n{result}<|im_end|>"),),
    turn_ends=QWEN_ENDS,
    rank=70,
    families=("Olmo 3 Instruct", "Olmo 3.1", "Olmo 3 Think"),
    engines={"vllm": ("olmo3",), "ollama": ("olmo3", "olmo3-think")},
    models=(r"olmo-?3",),
    template=(("<function_calls>", "<functions>"),),
    source="training code, parser sources",
)
