"""Solar Open: id, name and JSON arguments behind a token each, in a message of their own.

Source: the chat template of Solar Open 100B. A message holds either text or calls.
"""

from ..format import Format, Reasoning, Results, Tools
from ..pattern import arguments, call, id_, name, section, ws

ASSISTANT = "<|begin|>assistant"
NEXT = f"<|end|>{ASSISTANT}"

FORMAT = Format(
    section(
        "<|tool_calls|>",
        call(
            "<|tool_call:begin|>",
            id_(),
            "<|tool_call:name|>",
            name(),
            "<|tool_call:args|>",
            arguments("json"),
            ws(),
            "<|tool_call:end|>",
        ),
        "<|calls|>",
    ),
    title="<|tool_calls|> with id, name and JSON",
    prompt=ASSISTANT,
    reasoning=Reasoning("<|think|>", "<|end|>", then=ASSISTANT),
    before=(NEXT, ""),
    wrappers=(f"{NEXT}<|content|>", NEXT, f"{ASSISTANT}<|content|>", ASSISTANT, "<|content|>"),
    around=("<|content|>", ""),
    results=(
        Results(
            "<|tool_response:begin|>{id}<|tool_response:name|>{name}<|tool_response:result|>{result}<|tool_response:end|>",
            "<|begin|>tool<|tool_response|>",
            "",
            "<|end|>",
        ),
    ),
    tools=(Tools("solar", "function", "<|tool:end|><|tool:begin|>"),),
    turn_ends=("<|end|>",),
    special=("<|tool_calls|>", "<|tool_call:begin|>", "<|tool_call:end|>", "<|calls|>", "<|think|>", "<|end|>"),
    ids="{index:010d}",
    template_checked=True,
    families=("Solar Open",),
    models=(r"solar-open",),
    template=(("<|tool_call:begin|>",),),
    source="chat template",
)
