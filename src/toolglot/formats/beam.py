"""Beam: Harmony's messages, the arguments as ``<rfl:parameter>`` elements, keys sorted, values on lines of their own.

Source: the parsers of vLLM and SGLang; the template was not seen. A hand-written machine reads the headers
(``engine/machines/beam.py``).
"""

from ..format import Format
from ..pattern import call, each, name, tag, value, ws

FORMAT = Format(
    call(
        "<|start|>assistant to=",
        name(),
        "<|channel|>analysis <|constrain|>xml<|message|>",
        each(tag("<rfl:parameter", name="key"), value("\n", implied="line"), "</rfl:parameter>", ws("\n")),
        "<|call|>",
    ),
    title="channels and recipients, <rfl:parameter> elements",
    machine="beam",
    turn_ends=("<|return|>", "<|call|>", "<|end|>"),
    special=("<|start|>", "<|end|>", "<|message|>", "<|channel|>", "<|constrain|>", "<|return|>", "<|call|>"),
    rank=45,
    families=("Reflection Beam",),
    engines={"vllm": ("beam",), "sglang": ("beam",)},
    models=(r"\bbeam\b",),
    template=(("<rfl:parameter",),),
    source="vLLM and SGLang parsers",
)
