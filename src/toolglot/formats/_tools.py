"""How the families' chat templates present tools, where several formats share it or a format has many ways.

The long texts are in ``prompts/``, as the templates write them.
"""

from ..format import Tools

_TURNS = ("[INST]", "[/INST]", "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]", "[TOOL_CONTENT]")
MISTRAL = Tools("[AVAILABLE_TOOLS][{tools}][/AVAILABLE_TOOLS]", between=", ", guards=_TURNS)
MISTRAL_RAW = Tools("[AVAILABLE_TOOLS][{tools}][/AVAILABLE_TOOLS]", "tool_raw", ", ", guards=_TURNS)
LLAMA = Tools("llama", "tool_indented", "\n\n")
HERMES = (
    Tools("qwen", models=(r"qwq|qwen|mimo",), default=True),
    Tools("qwen", "tool_ascii", models=(r"reka",)),
    Tools("hermes", "python_hermes", models=(r"hermes",)),
    Tools("granite4", models=(r"granite",)),
    Tools("bielik", between=",\n", models=(r"bielik",)),
)

_XML = ("</tools>", "</function>")
QWEN3_CODER = (
    Tools("qwen3_coder", "xml", models=(r"qwen3[-_]?coder(?!-next)",), default=True, guards=_XML),
    Tools("qwen3_coder", "xml_next", models=(r"qwen3[-_]?coder-next",), guards=_XML),
    Tools("qwen3_coder", "xml_nemotron", models=(r"nemotron-?3",), guards=_XML),
    Tools("qwen3_5", models=(r"qwen-?3[.][5-9]",)),
    Tools("step3_5", models=(r"step-?3[.]?5",)),
)
