"""GigaChat 3: one JSON object behind a token (3.1) or in a message of the role ``function call`` (3.0).

Sources: the chat templates of GigaChat 3 and 3.1, which write one call; vLLM's parser, which also reads what is left of
3.0's opener where the special tokens were taken out.
"""

from ..format import Format, Results, Tools
from ..pattern import call, call_object, lit, ws

SEP = "<|message_sep|>"
ROLE = "function call<|role_sep|>"

FORMAT = Format(
    call(lit("<|function_call|>", f"{SEP}\n\n{ROLE}", ROLE), ws(), call_object(), ws(), SEP),
    title="<|function_call|> with a JSON object",
    bare_json=("function call\n", "function call"),
    results=(Results("function result<|role_sep|>\n{result}<|message_sep|>\n\n"),),
    tools=(Tools("gigachat", "typescript_gigachat", guards=("} // namespace",)),),
    turn_ends=(SEP, "</s>"),
    special=("<|function_call|>", SEP, "<|role_sep|>", "</s>"),
    max_calls=1,
    template_checked=True,
    families=("GigaChat 3", "GigaChat 3.1"),
    engines={"vllm": ("gigachat3",), "sglang": ("gigachat3",)},
    models=(r"gigachat-?3",),
    template=(("function call", "<|role_sep|>"), ("<|function_call|>",)),
    source="chat template",
)
