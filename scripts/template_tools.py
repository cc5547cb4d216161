"""What the families' chat templates write about tools: where it stands in their text, and definitions to try.

`check_templates.py` compares it with `toolglot.render_tools`, and keeps it for the tests, which have no templates.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import toolglot

Write = Callable[[list[dict[str, Any]], bool], str]
"""What a template writes for these tools, with a system message or without."""

# Template: format, model, and where its text about tools begins and ends. White space that sets it apart is no part.
CUTS: dict[str, tuple[str, str | None, str, str]] = {
    "Apertus-8B-Instruct": ("apertus", None, "Tool Capabilities:\n", "=> any;"),
    "Apriel-1.6-15b-Thinker-fixed": (
        "tool_calls_array",
        "Apriel-1.6-15b-Thinker",
        "You are provided with function signatures",
        "]</tool_calls>",
    ),
    "Bielik-11B-v3.0-Instruct": ("hermes", "Bielik-11B-v3.0-Instruct", "Masz dostęp", "<|function_output|>.\n"),
    "ByteDance-Seed-OSS": ("seed_oss", None, "Function:\ndef ", "</seed:tool_call>\n"),
    "Cohere2MoE": ("cohere_action", "North-Mini-Code", "# Available Tools", "]\n```"),
    "CohereForAI-c4ai-command-r-plus-tool_use": ("cohere_command_r", None, "## Available Tools", "    pass\n```"),
    "CohereForAI-c4ai-command-r7b-12-2024-tool_use": ("cohere_action", None, "You have been trained to have", "]\n```"),
    "GLM-4.6": ("glm45", None, "<|system|>\n# Tools", "</tool_call>"),
    "GLM-4.7-Flash": ("glm47", None, "<|system|>\n# Tools", "</tool_call>"),
    "GigaChat3-10B-A1.8B": (
        "gigachat3",
        "GigaChat3-10B-A1.8B",
        "function descriptions<|role_sep|>",
        "functions\n\n<|message_sep|>\n\n",
    ),
    "GigaChat3.1-10B-A1.8B": (
        "gigachat3",
        None,
        "function descriptions<|role_sep|>",
        "functions\n\n<|message_sep|>\n\n",
    ),
    "Kimi-K2-Instruct": ("kimi_k2", None, "<|im_system|>tool_declare", "]<|im_end|>"),
    "Kimi-K2-Thinking": ("kimi_k2", "Kimi-K2-Thinking", "<|im_system|>tool_declare", "]<|im_end|>"),
    "Kimi-K3": (
        "kimi_k3",
        None,
        '<|open|>message role="system" type="tool-declare"',
        "]\n```<|close|>message<|sep|><|end_of_msg|>",
    ),
    "LFM2-8B-A1B": ("lfm2", None, "List of tools: ", "]<|tool_list_end|>"),
    "LFM2.5-8B-A1B": ("lfm2", "LFM2.5-8B-A1B", "List of tools: ", "}]"),
    "LFM2.5-Instruct": ("lfm2", "LFM2.5-1.2B-Instruct", "List of tools: ", "}]"),
    "MiMo-VL": ("hermes", "MiMo-VL-7B-RL", "# Tools", "</tool_call>"),
    "MiniMax-M1": (
        "minimax_m1",
        None,
        "<beginning_of_sentence>system tool_setting",
        "</tool_calls><end_of_sentence>\n",
    ),
    "MiniMax-M2": ("minimax_m2", None, "# Tools", "</minimax:tool_call>"),
    "MiniMax-M3": ("minimax_m3", None, "# Tools", "]<]minimax[>[</tool_call>"),
    "Mistral-Small-3.2-24B-Instruct-2506": ("mistral_v11", None, "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]"),
    "NVIDIA-Nemotron-3-Nano-30B-A3B-BF16": ("qwen3_coder", "Nemotron-3-Nano-30B-A3B", "# Tools", "</IMPORTANT>"),
    "NVIDIA-Nemotron-Nano-v2": ("nemotron_toolcall", None, "You can use the following tools", "respond to the user."),
    "NousResearch-Hermes-2-Pro-Llama-3-8B-tool_use": (
        "hermes",
        "Hermes-2-Pro-Llama-3-8B",
        "<|im_start|>system\nYou are a",
        "</tool_call><|im_end|>\n",
    ),
    "NousResearch-Hermes-3-Llama-3.1-8B-tool_use": (
        "hermes",
        "Hermes-3-Llama-3.1-8B",
        "<|im_start|>system\nYou are a",
        "</tool_call><|im_end|>\n",
    ),
    "Qwen-QwQ-32B": ("hermes", "QwQ-32B", "# Tools", "</tool_call>"),
    "Qwen-Qwen2.5-7B-Instruct": ("hermes", "Qwen2.5-7B-Instruct", "# Tools", "</tool_call>"),
    "Qwen-Qwen3-0.6B": ("hermes", None, "# Tools", "</tool_call>"),
    "Qwen3.5-4B": ("qwen3_coder", "Qwen3.5-4B", "# Tools", "</IMPORTANT>"),
    "Reka-Edge": ("hermes", "Reka-Edge", "# Tools", "</tool_call>"),
    "Spark2.5": ("spark25", None, "## Tools", "</tools>"),
    "StepFun3.5-Flash": ("qwen3_coder", "Step-3.5-Flash", "# Tools", "</IMPORTANT>"),
    "deepseek-ai-DeepSeek-V3.2": ("dsml_v32", None, "## Tools", "</functions>\n"),
    "deepseek-ai-DeepSeek-V4": ("dsml_v4", None, "## Tools", "to invoke tool calls.\n"),
    "deepseek-ai-DeepSeek-V4-Flash-0731": ("dsml_v4", "DeepSeek-V4-Flash-0731", "## Tools", "to invoke tool calls.\n"),
    "google-gemma-4-31B-it": ("gemma4", None, "<|tool>", "<tool|>"),
    "ibm-granite-granite-3.3-2B-Instruct": ("granite3", None, "<|start_of_role|>available_tools", "]<|end_of_text|>\n"),
    "ibm-granite-granite-4.0": (
        "hermes",
        "granite-4.0-h-tiny",
        "You are a helpful assistant with access",
        "the request.",
    ),
    "ibm-granite-granite-4.1": ("hermes", "granite-4.1-8b", "You are a helpful assistant with access", "the request."),
    "inclusionai-ling-3.0-flash": ("ling3", None, "# Tools", "</tool_call>\n"),
    "meetkai-functionary-medium-v3.1": (
        "function_tag_json",
        None,
        "You have access to the following",
        "on one line\n\n",
    ),
    "meetkai-functionary-medium-v3.2": (
        "functionary_v32",
        None,
        "<|start_header_id|>system",
        "namespace functions<|eot_id|>",
    ),
    "meta-llama-Llama-3.1-8B-Instruct": (
        "llama3_json",
        "Llama-3.1-8B-Instruct",
        "Given the following functions",
        "}\n\n",
    ),
    "meta-llama-Llama-3.2-3B-Instruct": (
        "llama3_json",
        "Llama-3.2-3B-Instruct",
        "Given the following functions",
        "}\n\n",
    ),
    "meta-llama-Llama-3.3-70B-Instruct": ("llama3_json", None, "Given the following functions", "}\n\n"),
    "mistralai-Ministral-3-14B-Reasoning-2512": ("mistral_v13", None, "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]"),
    "mistralai-Mistral-Nemo-Instruct-2407": ("mistral_v3", None, "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]"),
    "moonshotai-Kimi-K2": ("kimi_k2", "Kimi-K2-Instruct-0905", "<|im_system|>tool_declare", "]<|im_end|>"),
    "muse-glimmer": ("muse_atem", None, "In this environment you have access", "</atem:function_calls>"),
    "openai-gpt-oss-120b": ("harmony", None, "# Tools", "} // namespace functions"),
    "openbmb-MiniCPM5-1B": ("minicpm5", None, "# Tools", "]]></param>"),
    "poolside-Laguna-S-2.1": ("laguna", "Laguna-S-2.1", "### Tools", "</available_tools>"),
    "poolside-Laguna-XS-2.1": ("laguna", "Laguna-XS-2.1", "### Tools", "</tool_call>"),
    "poolside-Laguna-XS.2": ("laguna", None, "### Tools", "</tool_call>"),
    "tencent-Hy3": ("hy_v3", None, "# Tools", "</tool_calls:opensource>"),
    "unsloth-Apriel-1.5": (
        "tool_calls_array",
        "Apriel-1.5-15b-Thinker",
        "You are provided with function signatures",
        "</available_tools>",
    ),
    "unsloth-mistral-Devstral-Small-2507": (
        "mistral_v13",
        "Devstral-Small-2507",
        "[AVAILABLE_TOOLS]",
        "[/AVAILABLE_TOOLS]",
    ),
    "upstage-Solar-Open-100B": ("solar_open", None, "## Tools", "matches the corresponding tool call"),
    # Copies of the families' own that come with TRL (trl/chat_templates in its wheel).
    "diffusion_gemma": ("gemma4", "diffusiongemma-26b", "<|tool>", "<tool|>"),
    "gemma4_v5": ("gemma4", "gemma-4-12b-it", "<|tool>", "<tool|>"),
    "glm4moe": ("glm45", "GLM-4.5", "<|system|>\n# Tools", "</tool_call>"),
    "gptoss": ("harmony", "gpt-oss-20b", "# Tools", "} // namespace functions"),
    "lfm2_2_5_vl": ("lfm2", "LFM2.5-VL-1.6B", "List of tools: ", "}]"),
    "lfm2_v2": ("lfm2", "LFM2-1.2B", "List of tools: ", "<|tool_list_end|>"),
    "nemotron_3_5_lightning": ("qwen3_coder", "Nemotron-3.5-Lightning", "# Tools", "</IMPORTANT>"),
    "nemotron_3_super": ("qwen3_coder", "Nemotron-3-Super", "# Tools", "</IMPORTANT>"),
    "nemotron_3_ultra": ("qwen3_coder", "Nemotron-3-Ultra", "# Tools", "</IMPORTANT>"),
    "qwen3_6": ("qwen3_coder", "Qwen3.6-27B", "# Tools", "</IMPORTANT>"),
    "qwen3_8": ("qwen3_coder", "Qwen3.8-27B", "# Tools", "</IMPORTANT>"),
    "qwen3_instruct_2507": ("hermes", "Qwen3-4B-Instruct-2507", "# Tools", "</tool_call>"),
    "qwen3_vl": ("hermes", "Qwen3-VL-8B-Instruct", "# Tools", "</tool_call>"),
    # Those with vLLM (examples in its source archive): of the families' own, or by their documentation.
    "tool_chat_template_deepseekv31": ("deepseek_v31", None, "## Tools", "without separators or spaces\n"),
    "tool_chat_template_internlm2_tool": ("internlm_plugin", None, "<|im_start|>system name=", "]<|im_end|>\n"),
    "tool_chat_template_qwen3coder": ("qwen3_coder", None, "# Tools", "</IMPORTANT>"),
    # Of the model's own repository.
    "Qwen3-Coder-Next": ("qwen3_coder", "Qwen3-Coder-Next", "# Tools", "</IMPORTANT>"),
}

# Templates that llama.cpp changed, since its Jinja knows no `separators`: the models' own write JSON without blanks.
SPACED = {"Kimi-K2-Instruct", "Kimi-K2-Thinking", "moonshotai-Kimi-K2"}

# Template: definitions of which it writes less than the current revision does.
OLDER = {"google-gemma-4-31B-it": ("reserved names",)}

# Templates that write their text about tools without tools too, or another in its place.
ALWAYS = {
    "Apertus-8B-Instruct",
    "Cohere2MoE",
    "CohereForAI-c4ai-command-r-plus-tool_use",
    "NousResearch-Hermes-2-Pro-Llama-3-8B-tool_use",
    "NousResearch-Hermes-3-Llama-3.1-8B-tool_use",
    "meetkai-functionary-medium-v3.2",
}

# Template: what it writes elsewhere if there are tools, as a regular expression.
_CHANNEL = r"\nCalls to these tools must go to the commentary channel: 'functions'[.]"
_IPYTHON = r"Environment: ipython\n"
ELSEWHERE = {
    "meta-llama-Llama-3.1-8B-Instruct": _IPYTHON,
    "meta-llama-Llama-3.2-3B-Instruct": _IPYTHON,
    "meta-llama-Llama-3.3-70B-Instruct": _IPYTHON,
    "muse-glimmer": r'"[^"]+[.][*]", ',
    "gptoss": _CHANNEL,
    "openai-gpt-oss-120b": _CHANNEL,
}


def definition(
    name: str, about: str | None, properties: dict[str, Any] | None, *required: str, **more: Any
) -> dict[str, Any]:
    """A tool in OpenAI's shape."""
    parameters: dict[str, Any] = {"type": "object", "properties": properties or {}}
    if required:
        parameters["required"] = list(required)
    parameters.update(more)
    described = {} if about is None else {"description": about}
    return {"type": "function", "function": {"name": name, **described, "parameters": parameters}}


CITY = {"type": "string", "description": "Where."}
SIMPLE = definition("get_weather", "The weather.", {"city": CITY, "days": {"type": "integer"}}, "city")
PING = definition("ping", "Ping it.", {})
SLOT = {
    "type": "object",
    "properties": {"from": CITY, "to": {"type": "number", "description": "Until."}},
    "required": ["from"],
}
DEFINITIONS: dict[str, list[dict[str, Any]]] = {
    "one": [definition("get_time", "The time.", {"zone": {"type": "string", "description": "A zone."}}, "zone")],
    "several": [SIMPLE, PING, definition("files.read", "Reads a file.", {"path": CITY}, "path")],
    "no parameters": [PING],
    "enum": [
        definition(
            "convert",
            "Converts a temperature.",
            {
                "unit": {"type": "string", "enum": ["celsius", "fahrenheit"], "description": "The unit"},
                "value": {"type": "number", "default": 1.5, "minimum": -273.15, "description": "Degrees."},
                "mode": {"default": "a", "enum": ["a", "b"], "type": "string"},
            },
            "unit",
        )
    ],
    "nested": [
        definition(
            "create_event",
            "Creates an event.",
            {
                "slot": {**SLOT, "description": "When."},
                "slots": {"type": "array", "items": SLOT, "description": "More."},
                "tags": {"type": "array", "items": {"type": "string"}},
                "grid": {"type": "array", "items": {"type": "array", "items": {"type": "integer"}}},
                "kinds": {"type": "array", "items": {"type": "string", "enum": ["x", "y"]}, "minItems": 1},
                "any": {"type": "array"},
                "free": {"type": "object", "additionalProperties": {"type": "string"}, "description": "Labels."},
            },
            "slot",
            "tags",
        )
    ],
    "types": [
        definition(
            "f",
            "Types.",
            {
                "union": {"type": ["string", "null"], "description": "Text or nothing."},
                "maybe": {"type": "string", "nullable": True, "description": "Text."},
                "either": {"oneOf": [{"type": "string"}, {"type": "integer", "description": "A number."}]},
                "pick": {
                    "oneOf": [{"type": "object", "properties": {"b": CITY}}, {"type": "boolean", "default": True}]
                },
                "both": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
                "date": {
                    "type": "string",
                    "format": "date",
                    "description": "A day.",
                    "examples": ["2026-01-01", "it's"],
                },
                "flag": {"type": "boolean", "default": True, "description": "Whether."},
                "level": {"type": "integer", "enum": [1, 2], "description": "How much."},
                "short": {"type": "string", "maxLength": 5, "pattern": "^[a-z]+$"},
            },
            "union",
            additionalProperties=False,
        )
    ],
    "described": [
        definition(
            "g",
            "A.",
            {
                "a": {
                    "type": "object",
                    "properties": {"b": CITY},
                    "additionalProperties": {"type": "integer"},
                    "description": "Obj.",
                },
                "c": {"type": "array", "items": {"type": "number"}, "description": "List."},
            },
            "a",
        ),
    ],
    "hostile": [
        definition(
            "search_web",
            "Says \"hi\"\\n to <b>x</b> & 'y'.\nSecond line: Zürich, 東京 🌍.\n\nThird {tools} {0} %s.",
            {
                "query": {"type": "string", "description": ' A "quoted" one,\nwith <tags> & ümlauts. '},
                "Über-größe": {"type": "integer", "description": "1"},
            },
            "query",
        )
    ],
    "unsorted": [
        definition(
            "z",
            "Z.",
            {"b": {"description": "B.", "type": "string"}, "A": CITY, "a": CITY},
            "b",
            title="Z",
            description="Parameters.",
        ),
    ],
    "reserved names": [
        definition(
            "n",
            "N.",
            {
                "type": {"type": "string", "description": "T.", "examples": [None, 1]},
                "items": {"type": "array", "items": {"type": "string", "default": None}, "description": "I."},
                "description": {"type": "string", "description": "D."},
                "required": {"type": "object", "properties": {"properties": CITY}, "description": "R."},
            },
            "type",
        )
    ],
    "no description": [definition("h", None, {"a": {"type": "string"}}), PING],
}


def described(tools: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same with descriptions that are empty instead of missing, without which some templates fail."""
    functions = (tool["function"] for tool in tools)
    return [
        {"type": "function", "function": {"name": function["name"], "description": "", **function}}
        for function in functions
    ]


def cut(name: str, text: str) -> tuple[str, str, str]:
    """What a template wrote: before the tools, about them, and behind."""
    _, _, first, last = CUTS[name]
    start, end = text.index(first), text.rindex(last) + len(last)
    part = text[start:end]
    if name in SPACED:
        head, tail = part.index("["), part.rindex("]") + 1
        compact = json.dumps(json.loads(part[head:tail]), ensure_ascii=False, separators=(",", ":"))
        part = part[:head] + compact + part[tail:]
    return text[:start], part, text[end:]


def check_tools(name: str, write: Write, failures: tuple[type[Exception], ...]) -> tuple[int, list[str]]:
    """How many texts about tools are equal, and what is not."""
    equal, wrong = 0, []
    format, model, _, _ = CUTS[name]
    for case, tools in DEFINITIONS.items():
        for system in (True, False) if case not in OLDER.get(name, ()) else ():
            try:
                text = write(tools, system)
            except failures:
                try:
                    text = write(described(tools), system)
                except failures:
                    text = None
            try:
                mine = toolglot.render_tools(tools, format, model=model)
            except toolglot.ConversionError as error:
                mine = None
                if text is not None:
                    wrong.append(f"tools, {case}: {error}")
            if text is None or mine is None:
                if mine is not None:
                    wrong.append(f"tools, {case}: the template cannot write them")
                continue
            before, part, behind = cut(name, text)
            if part != mine:
                wrong.append(f"tools, {case}:\n    template {part!r}\n    ours     {mine!r}")
            elif system and not is_rest(name, before, behind, write([], True)):
                wrong.append(f"tools, {case}: more than this is about tools")
            else:
                equal += 1
    return equal, wrong


def is_rest(name: str, before: str, behind: str, without: str) -> bool:
    """Whether what stands around is what a template writes without tools, but for white space."""
    before, behind = (re.sub(ELSEWHERE.get(name, "(?!)"), "", text) for text in (before.rstrip(), behind.lstrip()))
    if name in ALWAYS:
        return without.startswith(before) and without.endswith(behind)
    return without.startswith(before) and without[len(before) :].lstrip() == behind


def keep(name: str, write: Write, failures: tuple[type[Exception], ...]) -> tuple[list[str], str]:
    """For the tests: the definitions that a template can write, and what it writes of all of them."""
    cases: list[str] = []
    tools: list[dict[str, Any]] = []
    text = ""
    for case, more in DEFINITIONS.items():
        if case in OLDER.get(name, ()):
            continue
        for given in (more, described(more)):
            try:
                text = cut(name, write(tools + given, True))[1]
            except failures:
                continue
            cases.append(case)
            tools += given
            break
    return cases, text
