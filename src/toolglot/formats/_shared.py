"""What several families share."""

from __future__ import annotations

from ..format import Reasoning
from ..pattern import Call, call, call_object, ws

THINK = Reasoning("<think>", "</think>", inner=("\n", "\n"), after="\n\n")
"""As Qwen3's template writes it."""

THINK_BARE = Reasoning("<think>", "</think>")
"""As DeepSeek's template writes it: nothing around."""

THINK_OPENED = Reasoning("<think>", "</think>", opened=True)
"""The same, opened by the prompt."""

QWEN_ENDS = ("<|im_end|>", "<|endoftext|>")
GLM_ENDS = ("<|observation|>", "<|user|>", "<|endoftext|>")


def json_in_tool_call() -> Call:
    """A JSON call between ``<tool_call>`` tags, which models of the XML families write as well."""
    return call("<tool_call>", ws("\n"), call_object(many=True), ws("\n"), "</tool_call>")
