"""Phi-4-mini's own tokens: ``<|tool_call|>[{...}]<|/tool_call|>``. Source: Ollama's template of phi4-mini.

What stands behind the opener does not tell it from Granite 3, which reads the closer as well: detection says
``granite3`` where the closer cannot have been seen yet.
"""

from ..format import Format, Results
from ..pattern import call, call_object, either, section, ws

START, END = "<|tool_call|>", "<|/tool_call|>"

FORMAT = Format(
    either(
        section((START, ws(), "["), call(call_object()), ("]", ws(), END), separator=", "),
        call(START, ws(), call_object(), ws(), END),
    ),
    title="<|tool_call|> with a JSON array and a closer",
    bare_json=True,
    results=(Results("<|tool_response|>{result}<|end|>", codec="json"),),
    turn_ends=("<|end|>", "<|endoftext|>"),
    special=(START, END, "<|end|>", "<|endoftext|>"),
    rank=75,
    families=("Phi-4-mini-instruct",),
    template=(("<|tool_call|>", "<|/tool_call|>"),),
    source="parser sources",
)
