"""Functionary v2: messages with a recipient; ``all`` is the user. v2.llama3: a reserved token, the name and JSON.

Source: the chat templates of the family's repository (v2 and v2.llama3), and its parser, which takes off the blank that
stands behind a token.
"""

from ..format import Format, Results
from ..pattern import arguments, call, either, lit, name, ws

TO = "<|from|>assistant\n<|recipient|>"
SPACED = "<|from|> assistant\n<|recipient|>"
ALL = tuple(f"{to}{blank}all\n<|content|>" for to in (TO, SPACED) for blank in ("", " "))

FORMAT = Format(
    either(
        call(lit(TO, SPACED, weak=True), ws(), name(), lit("\n<|content|>", "<|content|>"), ws(), arguments("json")),
        call("<|reserved_special_token_249|>", name(), ws("\n"), arguments("json")),
    ),
    title="<|recipient|> messages with JSON",
    before=("\n",),
    between="\n",
    prompt=TO,
    wrappers=ALL,
    around=(ALL[0], ""),
    results=(
        Results(
            "<|start_header_id|>tool<|end_header_id|>\n\nname={name}\n{result}<|eot_id|>",
            models=(r"v2[.]5|v2[.]llama3",),
        ),
        Results("<|from|>{name}\n<|recipient|>all\n<|content|>{result}", between="\n"),
    ),
    turn_ends=("<|stop|>", "<|eot_id|>"),
    special=("<|from|>", "<|recipient|>", "<|content|>", "<|stop|>", "<|reserved_special_token_249|>", "<|eot_id|>"),
    detect=False,
    families=("Functionary v2",),
    models=(r"functionary.*v2",),
    source="chat template",
)
