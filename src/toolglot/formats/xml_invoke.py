"""Invoke elements as prompted models write them, with or without ``<function_calls>`` around. Values are XML text.

Source: llm-beacon and BFCL's prompts. A value without a schema is JSON where it parses as strict JSON.
"""

from ..format import Format, Results
from ..pattern import call, each, either, elements, lit, name, section, tag, value, ws
from ._shared import THINK

INVOKE = call(
    tag("<invoke", quoted=True, name="name"),
    ws("\n"),
    each(tag("<parameter", quoted=True, name="key"), value(entities=True), "</parameter>", ws("\n")),
    lit("</invoke>"),
)

LEGACY = call(
    lit("<invoke>"),
    ws("\n"),
    "<tool_name>",
    name(),
    "</tool_name>",
    ws("\n"),
    "<parameters>",
    ws("\n"),
    elements(),
    ws("\n"),
    "</parameters>",
    ws("\n"),
    lit("</invoke>"),
)

FORMAT = Format(
    section(("<function_calls>", ws("\n")), either(INVOKE, LEGACY), (ws("\n"), "</function_calls>"), bare="yes"),
    title="<invoke> with <parameter> elements",
    aliases=("anthropic_xml",),
    before=("\n",),
    between="\n",
    reasoning=THINK,
    results=(
        Results(
            "<result>\n<tool_name>{name}</tool_name>\n<stdout>{result}</stdout>\n</result>\n",
            "<function_results>\n",
            "",
            "</function_results>",
        ),
    ),
    turn_ends=("<|im_end|>", "</s>"),
    rank=60,
    families=("models trained on invoke traces", "prompted agents"),
    source="llm-beacon",
)
