"""Muse ATEM: a message to a tool with a block of ``<atem:invoke>`` elements, values as bare text.

Source: the chat template of Muse Glimmer. A hand-written machine reads the headers (``engine/machines/muse.py``).
"""

from ..format import Format, Results, Tools
from ..pattern import call, each, maybe, section, tag, value, ws

FORMAT = Format(
    section(
        ("<atem:function_calls>", ws("\n")),
        call(
            tag("<atem:invoke", name="name"),
            ws("\n"),
            each(tag("<atem:parameter", name="key"), value(), "</atem:parameter>", ws("\n")),
            "</atem:invoke>",
        ),
        (ws("\n"), "</atem:function_calls>", maybe("<|eom|>")),
    ),
    title="messages to tools with <atem:invoke> elements",
    machine="muse",
    results=(Results('<|start|>tool {name}<|message|><tool_output name="{name}">\n{result}\n</tool_output><|eot|>'),),
    tools=(Tools("muse", "muse"),),
    turn_ends=("<|eot|>", "<|eom|>"),
    special=("<|start|>", "<|message|>", "<|eom|>", "<|eot|>"),
    rank=46,
    template_checked=True,
    families=("Muse Glimmer", "Muse Spark"),
    engines={
        "vllm": ("muse", "muse_glimmer", "musespark1x"),
        "sglang": ("muse",),
        "ollama": ("glimmer",),
        "mlx-lm": ("muse_spark",),
    },
    models=(r"muse",),
    template=(("<atem:function_calls>", "<|message|>"),),
    source="chat template",
)
