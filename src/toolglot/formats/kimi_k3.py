"""Kimi K3: elements between ``<|open|>`` and ``<|close|>`` tokens; an attribute says each value's type.

Source: the chat template of Kimi K3. The response's own tags are wrappers around content.
"""

from ..format import Format, Reasoning, Results, Tools
from ..pattern import arguments, call, each, either, section, tag, value

END = "<|sep|>"
MESSAGE = f'<|open|>message role="tool" tool="{{name}}" index="{{number}}"{END}'


def close(element: str) -> str:
    """The closing tag."""
    return f"<|close|>{element}{END}"


FORMAT = Format(
    section(
        f"<|open|>tools{END}",
        call(
            tag("<|open|>call", tool="name", index="index", end=END, escape=True),
            either(
                each(
                    tag("<|open|>argument", key="key", type="type", end=END, escape=True),
                    value(),
                    close("argument"),
                ),
                (tag("<|open|>json", type="ignored", end=END), arguments("json"), close("json")),
            ),
            close("call"),
        ),
        close("tools"),
        bare="declared",
    ),
    title="<|open|> and <|close|> elements with typed values",
    reasoning=Reasoning(f"<|open|>think{END}", close("think"), opened=True),
    wrappers=(f"<|open|>response{END}", close("response"), close("message")),
    around=(f"<|open|>response{END}", close("response")),
    results=(Results(f"{MESSAGE}{{result}}{close('message')}<|end_of_msg|>"),),
    tools=(Tools("kimi_k3", "tool_sorted", ","),),
    turn_ends=("<|end_of_msg|>",),
    special=("<|open|>", "<|close|>", END, "<|end_of_msg|>"),
    template_checked=True,
    families=("Kimi K3",),
    engines=dict.fromkeys(("vllm", "sglang", "smg", "mlx-lm", "tensorrt-llm", "xgrammar"), ("kimi_k3",)),
    models=(r"kimi-?k3",),
    template=(("<|open|>", "<|sep|>"),),
    source="chat template",
)
