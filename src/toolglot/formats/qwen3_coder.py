"""Qwen3-Coder: ``<function=...>`` with ``<parameter=...>`` elements, values as bare text framed by line breaks.

Source: the chat templates of Qwen3-Coder, Qwen3.5 and Nemotron 3. Nothing is escaped: a value that holds its own
closer, before something that may follow one, cannot be told from its end.
"""

from ..format import Format, Results
from ..pattern import call, each, either, key, lit, name, section, value, ws
from ._shared import IM_END, QWEN_ENDS, THINK, json_in_tool_call, opened, tool_response
from ._tools import QWEN3_CODER

OPENED = (r"qwen[-_]?(3[.]?[5-9]|3_5|4)(?![0-9]*b)", r"nemotron-?3", r"step-?(3[.]?[57]|3p[57]|5)")

FUNCTION = call(
    *("<function=", name(), ">", ws("\n")),
    each("<parameter=", key(), ">", value("\n", implied="line", python_scalars=True), "</parameter>", ws("\n")),
    lit("</function>", implied_by="</tool_call>"),
)

FORMAT = Format(
    either(
        section(("<tool_call>", ws("\n")), FUNCTION, (ws("\n"), "</tool_call>"), bare="declared"),
        json_in_tool_call(),
    ),
    title="<function=> with <parameter=> elements",
    before=("\n\n", "\n"),
    between="\n",
    per_call=True,
    reasoning=opened(THINK, *OPENED),
    calls_in_reasoning=True,
    results=(
        tool_response(models=(r"qwen(?!.*coder)",)),
        Results("<tool_response>{result}</tool_response>", "<|im_start|>tool_response\n", "", IM_END, ("step",)),
        tool_response(end="\n"),
    ),
    tools=QWEN3_CODER,
    turn_ends=QWEN_ENDS,
    rank=20,
    template_checked=True,
    families=("Qwen3-Coder", "Qwen3.5 / 3.6 / 3.8", "Nemotron 3", "Step-3.5", "Nanbeige4", "Granite 4.2"),
    engines={
        "vllm": ("qwen3_coder", "qwen3_xml", "step3p5", "step5"),
        "sglang": ("qwen3_coder", "step3p5", "nanbeige"),
        "ollama": ("qwen3-coder", "qwen3.5", "nemotron-3-nano", "nemotron-3.5-nano", "ornith"),
        "dynamo": ("qwen3_coder", "nemotron_nano"),
        "mlx-lm": ("qwen3_coder",),
        "lmdeploy": ("qwen3coder", "interns2-preview"),
        "smg": ("qwen_xml",),
        "tensorrt-llm": ("qwen3_coder",),
        "xgrammar": ("qwen_3_coder", "qwen_3_5"),
    },
    models=(
        r"qwen3[-_]?coder|qwen3[-_]next[-_]coder",
        *OPENED,
        r"nanbeige-?4|granite-?4[.]2|intern-?s2|minicpm-?(v-?4|o-?4[.]5)|ornith",
    ),
    template=(("<function=", "<parameter="),),
    source="chat template",
)
