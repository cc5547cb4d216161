"""MiniMax-M3: arguments as nested elements; a namespace token stands before every tag.

Source: the chat template of MiniMax-M3. Members that are null are not written; an empty element is typed by schema.
"""

from ..format import Format, Reasoning, Results, Tools
from ..pattern import call, elements, section, tag, ws

NS = "]<]minimax[>["

FORMAT = Format(
    section(
        (NS + "<tool_call>", ws("\n")),
        call(tag(NS + "<invoke", name="name"), elements(NS), NS + "</invoke>"),
        (ws("\n"), NS + "</tool_call>"),
    ),
    title="namespaced nested elements",
    before=("", "\n"),
    between="\n",
    reasoning=Reasoning("<mm:think>", "</mm:think>"),
    results=(Results("<response>{result}</response>", "]~b]tool\n", "\n", "[e~[\n"),),
    tools=(Tools("minimax_m3", "function", "</tool>\n<tool>"),),
    turn_ends=("[e~[",),
    special=(NS,),
    template_checked=True,
    families=("MiniMax-M3",),
    engines={
        "vllm": ("minimax_m3",),
        "sglang": ("minimax-m3",),
        "smg": ("minimax_m3",),
        "tensorrt-llm": ("minimax_m3",),
        "xgrammar": ("minimax_m3",),
    },
    models=(r"minimax-?m3",),
    template=(("]<]minimax[>[",), ("<mm:think>",)),
    source="chat template",
)
