"""Functionary v2: messages with a recipient; ``all`` is the user. v2.llama3: a reserved token, the name and JSON.

Source: the chat templates of functionary-small-v2.2 and small-v2.5.
"""

from ..format import Format, Results
from ..pattern import arguments, call, either, lit, name, ws

TO = "<|from|>assistant\n<|recipient|>"

FORMAT = Format(
    either(
        call(lit(TO, weak=True), name(), lit("\n<|content|>", "<|content|>"), arguments("json")),
        call("<|reserved_special_token_249|>", name(), ws("\n"), arguments("json")),
    ),
    title="<|recipient|> messages with JSON",
    before=("\n",),
    between="\n",
    prompt=TO,
    wrappers=(f"{TO}all\n<|content|>",),
    around=(f"{TO}all\n<|content|>", ""),
    results=(Results("<|from|>{name}\n<|recipient|>all\n<|content|>{result}"),),
    turn_ends=("<|stop|>", "<|eot_id|>"),
    special=("<|from|>", "<|recipient|>", "<|content|>", "<|stop|>", "<|reserved_special_token_249|>", "<|eot_id|>"),
    detect=False,
    families=("Functionary v2",),
    models=(r"functionary.*v2",),
    source="chat template",
)
