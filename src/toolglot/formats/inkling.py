"""Inkling: messages of typed content; a call's message has the tool's name in its header and compact JSON.

Source: vLLM's encoder and parser of the family. The JSON's name counts. The text of a
``<|content_invoke_tool_text|>`` message, which vLLM shows, is the input of a custom call.
"""

from ..format import Format, Reasoning, Results
from ..pattern import Item, call, call_object, either, free_text, label, lit, name, ws

MODEL = "<|message_model|>"
INVOKE = "<|content_invoke_tool_json|>"
INVOKE_TEXT = "<|content_invoke_tool_text|>"
END = "<|end_message|>"
SAMPLED = "<|content_model_end_sampling|>"
BODY: tuple[Item, ...] = (
    ws(),
    call_object(arguments=("args", "arguments", "parameters"), compact=True, sort_keys=True),
    ws(),
    END,
)

FORMAT = Format(
    either(
        call(lit(MODEL, weak=True), ws(), label(), INVOKE, *BODY),
        call(MODEL + INVOKE, *BODY),
        call(INVOKE, *BODY),
        call(lit(MODEL, weak=True), ws(), name(), INVOKE_TEXT, free_text(), END),
    ),
    title="<|content_invoke_tool_json|> messages",
    prompt=MODEL,
    reasoning=Reasoning(f"{MODEL}<|content_thinking|>", END),
    wrappers=(f"{MODEL}<|content_text|>", "<|content_text|>", END),
    around=(f"{MODEL}<|content_text|>", END),
    results=(Results("<|message_tool|>{name}<|content_text|>{result}<|end_message|>"),),
    turn_ends=(SAMPLED,),
    special=(MODEL, INVOKE, INVOKE_TEXT, END, SAMPLED, "<|content_text|>", "<|content_thinking|>"),
    families=("Inkling", "Inkling-2"),
    engines=dict.fromkeys(("vllm", "sglang", "smg", "tensorrt-llm"), ("inkling",)),
    models=(r"inkling",),
    template=(("<|content_invoke_tool_json|>",),),
    source="parser sources",
)
