"""Qwen-Agent's markers for Qwen1.5 and Qwen2: name and JSON arguments, a line each.

Source: Qwen-Agent. ``RESULT`` and ``RETURN`` are its stop words; a code interpreter's arguments, which are a fenced
block and no JSON, are reported as broken.
"""

from ..format import Format, Results
from ..pattern import arguments, call, lit, name, ws
from ._shared import QWEN_ENDS

FUNCTION = "\u273fFUNCTION\u273f:"
ARGS = "\u273fARGS\u273f:"

FORMAT = Format(
    call(FUNCTION, ws(" "), name(), lit("\n" + ARGS, ARGS), ws(" "), arguments("json")),
    title="\u273fFUNCTION\u273f and \u273fARGS\u273f lines",
    before=("\n",),
    between="\n",
    wrappers=("\u273fRETURN\u273f: ", "\u273fRETURN\u273f:"),
    results=(Results("\n✿RESULT✿: {result}", close="\n✿RETURN✿: "),),
    turn_ends=("\u273fRESULT\u273f", "\u273fRETURN\u273f", *QWEN_ENDS),
    families=("Qwen1.5", "Qwen2", "Qwen-VL agents"),
    engines={"qwen-agent": ("qwen",)},
    models=(r"qwen[-_]?(1[.]5|2)(?![.])|qwen-7b-chat",),
    source="Qwen-Agent",
)
