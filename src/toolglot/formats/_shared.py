"""What several families share."""

from __future__ import annotations

from dataclasses import replace

from ..format import Reasoning, Results
from ..pattern import Call, Lit, arguments, call, call_object, name, ws

THINK = Reasoning("<think>", "</think>", inner=("\n", "\n"), after="\n\n")
"""As Qwen3's template writes it."""

THINK_BARE = Reasoning("<think>", "</think>")
"""As DeepSeek's template writes it: nothing around."""

IM_END = "<|im_end|>\n"
QWEN_ENDS = ("<|im_end|>", "<|endoftext|>")
GLM_ENDS = ("<|observation|>", "<|user|>", "<|endoftext|>")


def json_in_tool_call() -> Call:
    """A JSON call between ``<tool_call>`` tags, which models of the XML families write as well."""
    return call("<tool_call>", ws("\n"), call_object(many=True), ws("\n"), "</tool_call>")


def name_and_json(open: str | Lit = "<tool_call>", close: str | Lit = "</tool_call>") -> Call:
    """The name and a JSON object, which models of GLM's families write as well."""
    return call(open, name(), ws(), arguments("json"), ws(), close)


def tool_response(
    open: str = "<|im_start|>user\n", close: str = IM_END, *, end: str = "", models: tuple[str, ...] = ()
) -> Results:
    """Results as Qwen's templates write them: all in one turn, ``end`` behind each where another template has it."""
    return Results("<tool_response>\n{result}\n</tool_response>" + end, open, "" if end else "\n", close, models=models)


def opened(reasoning: Reasoning, *models: str) -> Reasoning:
    """The same, opened by the prompt: by the family's, or by that of the models which match."""
    return replace(reasoning, opened=models or True)
