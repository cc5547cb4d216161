"""Kimi K2: a section of calls between tokens; the call's id says the tool's name: ``functions.get_weather:0``.

Source: the chat templates of Kimi-K2-Instruct and K2-Thinking. Moonshot's template counts calls over the whole
conversation; what is written here keeps an id of that shape and counts from 0 where a call has none.
"""

from ..format import Format, Reasoning, Results, Tools
from ..pattern import arguments, call, lit, name, section, ws

CALL = ("<|tool_call_begin|>", "<|tool_call_argument_begin|>", "<|tool_call_end|>")
SECTION = ("<|tool_calls_section_begin|>", "<|tool_calls_section_end|>")

FORMAT = Format(
    section(
        lit(SECTION[0], "<|tool_call_section_begin|>"),
        call(CALL[0], ws(), name("functions.", counter=":"), ws(), CALL[1], ws(), arguments("json"), ws(), CALL[2]),
        (ws(), lit(SECTION[1], "<|tool_call_section_end|>")),
    ),
    title="<|tool_calls_section_begin|> with ids that name the tool",
    reasoning=Reasoning("<think>", "</think>", opened=(r"k2[.][56]",)),
    calls_in_reasoning=True,
    results=(Results("<|im_system|>{name}<|im_middle|>## Return of {id}\n{result}<|im_end|>"),),
    tools=(
        Tools(
            "<|im_system|>tool_declare<|im_middle|>[{tools}]<|im_end|>",
            "tool_compact",
            ",",
            models=(r"kimi-?k2(?![.][0-9])|kimi-?linear",),
            default=True,
        ),
        Tools("kimi_k2_5", "typescript_kimi", "", (r"kimi-?k2[.][5-9]",)),
    ),
    turn_ends=("<|im_end|>",),
    special=(*SECTION, *CALL, "<|im_end|>"),
    ids="functions.{name}:{index}",
    template_checked=True,
    families=("Kimi-K2-Instruct", "Kimi-K2-Thinking", "Kimi-K2.5 / K2.6", "Kimi-Linear"),
    engines={
        "vllm": ("kimi_k2",),
        "sglang": ("kimi_k2",),
        "dynamo": ("kimi_k2",),
        "smg": ("kimik2",),
        "lmdeploy": ("kimi_k2",),
        "mlx-lm": ("kimi_k2",),
        "tensorrt-llm": ("kimi_k2",),
        "xgrammar": ("kimi",),
    },
    models=(r"kimi-?k2|kimi-?linear",),
    template=(("<|tool_calls_section_begin|>",),),
    source="chat template",
)
