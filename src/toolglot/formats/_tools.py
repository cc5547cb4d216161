"""How the families' chat templates present tools, where it takes more than a line or several families share it.

The long texts are in ``prompts/``, as the templates write them.
"""

from ..format import Tools

MISTRAL_RAW = Tools("[AVAILABLE_TOOLS][{tools}][/AVAILABLE_TOOLS]", "tool_raw", ", ")
MISTRAL = Tools("[AVAILABLE_TOOLS][{tools}][/AVAILABLE_TOOLS]", between=", ")
LLAMA = Tools("llama", "tool_indented", "\n\n")

_XML = ("</tools>", "</function>")
_NAMESPACE = ("} // namespace",)

HERMES = (
    Tools("qwen", models=(r"qwq|qwen|mimo",), default=True),
    Tools("qwen", "tool_ascii", models=(r"reka",)),
    Tools("hermes", "python_hermes", models=(r"hermes",)),
    Tools("granite4", models=(r"granite",)),
    Tools("bielik", between=",\n", models=(r"bielik",)),
)
QWEN3_CODER = (
    Tools("qwen3_coder", "xml", models=(r"qwen3[-_]?coder(?!-next)",), default=True, guards=_XML),
    Tools("qwen3_5", models=(r"qwen-?3[.][5-9]",)),
    Tools("nemotron3", "xml_nemotron", models=(r"nemotron-?3",), guards=_XML),
    Tools("step3_5", models=(r"step-?3[.]?5",)),
)
LAGUNA = (Tools("laguna_s", models=(r"laguna-s",)), Tools("laguna"))
LFM2 = (
    Tools("List of tools: [{tools}]", between=", ", models=(r"lfm-?2[.]5",)),
    Tools(
        "List of tools: <|tool_list_start|>[{tools}]<|tool_list_end|>",
        between=", ",
        models=(r"lfm-?2",),
        default=True,
    ),
)
COHERE = (
    Tools("cohere_north", "cohere", ",\n", models=(r"north|cohere2",)),
    Tools("cohere_action", "cohere", ",\n", models=(r"command-r7b",), default=True),
)
APRIEL = (
    Tools("apriel_1_6", "tool_repr", "", models=(r"apriel-?1[.]6",)),
    Tools("apriel_1_5", "tool_repr", models=(r"apriel",)),
)
COMMAND_R = Tools("command_r", "python_command_r", "\n\n", guards=("```", '"""'))
SEED = Tools("seed", "python_seed", "\n\n", guards=('"""',))
GEMMA4 = Tools("<|tool>{tools}<tool|>", "gemma", "<tool|><|tool>", guards=("<|tool>", "<tool|>", "<|turn>"))
HARMONY = Tools("harmony", "typescript", "", guards=_NAMESPACE)
APERTUS = Tools("Tool Capabilities:\n{tools}", "typescript_apertus")
FUNCTIONARY = Tools("functionary", "typescript_functionary", "", guards=_NAMESPACE)
GIGACHAT = Tools("gigachat", "typescript_gigachat", guards=_NAMESPACE)
KIMI_K2 = Tools(
    "<|im_system|>tool_declare<|im_middle|>[{tools}]<|im_end|>",
    between=", ",
    models=(r"kimi-?k2(?![.][0-9])|kimi-?linear",),
    default=True,
)
SOLAR = Tools("solar", "function", "<|tool:end|><|tool:begin|>")
