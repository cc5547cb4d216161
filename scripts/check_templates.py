"""Compares what is rendered with what the families' chat templates render, byte for byte.

    python scripts/check_templates.py FOLDER [--keep]

FOLDER holds chat templates as the source archive of llama-cpp-python has them (vendor/llama.cpp/models/templates):
`pip download --no-deps --no-binary :all: llama-cpp-python` fetches it; tool definitions are also compared with those of
TRL's wheel (trl/chat_templates) and vLLM's source archive (examples), if they are below FOLDER. Prints a line for each
template; exit status 1 if one differs, 2 if there are none. ``--keep`` writes what the templates say about tools to
tests/tool_texts. Needs Jinja2 (extra `templates`).
"""

from __future__ import annotations

import datetime as dt
import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import jinja2
from jinja2.ext import Extension, loopcontrols
from jinja2.nodes import Node
from jinja2.parser import Parser

import toolglot
from template_tools import CUTS, DEFINITIONS, check_tools, keep
from toolglot import ToolCall, ToolResult

# Template: format, and the model where models of a format differ.
TEMPLATES: dict[str, tuple[str, str | None]] = {
    "Apertus-8B-Instruct": ("apertus", None),
    "ByteDance-Seed-OSS": ("seed_oss", None),
    "CohereForAI-c4ai-command-r-plus-tool_use": ("cohere_command_r", None),
    "CohereForAI-c4ai-command-r7b-12-2024-tool_use": ("cohere_action", None),
    "GLM-4.6": ("glm45", None),
    "GLM-4.7-Flash": ("glm47", None),
    "GigaChat3.1-10B-A1.8B": ("gigachat3", None),
    "Kimi-K2-Instruct": ("kimi_k2", None),
    "Kimi-K2-Thinking": ("kimi_k2", None),
    "Kimi-K3": ("kimi_k3", None),
    "LFM2-8B-A1B": ("lfm2", None),
    "LFM2.5-8B-A1B": ("lfm2", "LFM2.5-8B-A1B"),
    "MiniMax-M1": ("minimax_m1", None),
    "MiniMax-M2": ("minimax_m2", None),
    "MiniMax-M3": ("minimax_m3", None),
    "Mistral-Small-3.2-24B-Instruct-2506": ("mistral_v11", None),
    "NVIDIA-Nemotron-3-Nano-30B-A3B-BF16": ("qwen3_coder", "NVIDIA-Nemotron-3-Nano-30B-A3B-BF16"),
    "NVIDIA-Nemotron-Nano-v2": ("nemotron_toolcall", None),
    "NousResearch-Hermes-3-Llama-3.1-8B-tool_use": ("hermes", "Hermes-3-Llama-3.1-8B"),
    "Qwen-Qwen2.5-7B-Instruct": ("hermes", None),
    "Qwen-Qwen3-0.6B": ("hermes", None),
    "Qwen3-Coder": ("qwen3_coder", "Qwen3-Coder-30B-A3B-Instruct"),
    "Qwen3.5-4B": ("qwen3_coder", "Qwen3.5-4B"),
    "Spark2.5": ("spark25", None),
    "deepseek-ai-DeepSeek-R1-Distill-Llama-8B": ("deepseek_v3", None),
    "deepseek-ai-DeepSeek-V3.1": ("deepseek_v31", None),
    "deepseek-ai-DeepSeek-V3.2": ("dsml_v32", None),
    "deepseek-ai-DeepSeek-V4": ("dsml_v4", None),
    "google-gemma-4-31B-it": ("gemma4", None),
    "ibm-granite-granite-4.0": ("hermes", "granite-4.0-h-tiny"),
    "inclusionai-ling-3.0-flash": ("ling3", None),
    "meetkai-functionary-medium-v3.1": ("function_tag_json", None),
    "meetkai-functionary-medium-v3.2": ("functionary_v32", None),
    "meta-llama-Llama-3.3-70B-Instruct": ("llama3_json", None),
    "mistralai-Ministral-3-14B-Reasoning-2512": ("mistral_v13", None),
    "mistralai-Mistral-Nemo-Instruct-2407": ("mistral_v3", None),
    "muse-glimmer": ("muse_atem", None),
    "openai-gpt-oss-120b": ("harmony", None),
    "openbmb-MiniCPM5-1B": ("minicpm5", None),
    "poolside-Laguna-XS-2.1": ("laguna", None),
    "tencent-Hy3": ("hy_v3", None),
    "upstage-Solar-Open-100B": ("solar_open", None),
}

# Template: cases in which it writes another text, and why. What is not listed has to be equal.
CONTENT, TWO = ("content",), ("two calls",)
DROPS = "drops content beside calls"
KNOWN: dict[str, tuple[tuple[str, ...], str]] = {
    "CohereForAI-c4ai-command-r7b-12-2024-tool_use": (CONTENT, DROPS),
    "GigaChat3.1-10B-A1.8B": (TWO, "writes two calls as two turns"),
    "Kimi-K2-Instruct": (("result", "two results"), "numbers the calls of the conversation anew"),
    "Kimi-K2-Thinking": (("result", "two results"), "numbers the calls of the conversation anew"),
    "LFM2-8B-A1B": (("single", "two calls", "no arguments", "nested", "content"), "knows calls as content only"),
    "MiniMax-M1": (CONTENT, DROPS),
    "Mistral-Small-3.2-24B-Instruct-2506": (CONTENT, DROPS),
    "NVIDIA-Nemotron-3-Nano-30B-A3B-BF16": (CONTENT, "writes one line break before the calls, Qwen's two"),
    "NVIDIA-Nemotron-Nano-v2": (CONTENT, "writes content as a turn of its own"),
    "NousResearch-Hermes-3-Llama-3.1-8B-tool_use": (CONTENT, DROPS),
    "deepseek-ai-DeepSeek-R1-Distill-Llama-8B": (
        ("single", "no arguments", "nested", "content"),
        "closes the section only behind a second call",
    ),
    "google-gemma-4-31B-it": (CONTENT, "writes content behind the calls"),
    "meta-llama-Llama-3.3-70B-Instruct": (CONTENT, DROPS),
    "mistralai-Mistral-Nemo-Instruct-2407": (
        ("single", "two calls", "no arguments", "nested", "content", "result", "two results"),
        "lacks the blank of mistral-common's text behind the token, and writes a result as it is, which is no JSON",
    ),
    "muse-glimmer": (CONTENT, DROPS),
    "openai-gpt-oss-120b": (("two calls", "content", "two results"), "writes one call; content is analysis"),
    "upstage-Solar-Open-100B": (CONTENT, DROPS),
}
# Templates that number ids themselves.
NUMBERED = {"CohereForAI-c4ai-command-r7b-12-2024-tool_use"}

WEATHER = ToolCall("get_weather", {"city": "Paris", "days": 2}, id="9fH2kLm0a")
TIME = ToolCall("get_time", {"zone": "Europe/Paris"}, id="8fH2kLm0b")
NESTED = ToolCall("create_event", {"when": {"day": 3, "slots": ["am", "pm"]}, "urgent": True}, id="7fH2kLm0c")
CALLS: dict[str, tuple[str, list[ToolCall]]] = {
    "single": ("", [WEATHER]),
    "two calls": ("", [WEATHER, TIME]),
    "no arguments": ("", [ToolCall("ping", {}, id="6fH2kLm0d")]),
    "nested": ("", [NESTED]),
    "content": ("On it.", [WEATHER]),
}
RESULTS = {
    "result": [ToolResult("9fH2kLm0a", "RES0", "get_weather")],
    "two results": [ToolResult("9fH2kLm0a", "RES0", "get_weather"), ToolResult("8fH2kLm0b", "RES1", "get_time")],
}
USER = {"role": "user", "content": "USER"}
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": call.name,
            "description": "d",
            "parameters": {"type": "object", "properties": {k: {"type": "string", "description": "p"} for k in "ab"}},
        },
    }
    for call in (WEATHER, TIME, NESTED, ToolCall("ping"))
]


class Generation(Extension):
    """The tag that marks what a model is trained on: its body."""

    tags = {"generation"}  # noqa: RUF012

    def parse(self, parser: Parser) -> Node | list[Node]:
        """The body alone."""
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


def environment() -> jinja2.Environment:
    """Jinja as Transformers sets it up. The templates are the caller's own files."""
    made = jinja2.Environment(trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols, Generation])  # noqa: S701

    def fail(message: str) -> None:
        raise jinja2.TemplateError(message)

    def tojson(value: Any, ensure_ascii: bool = False, **options: Any) -> str:
        return json.dumps(value, ensure_ascii=ensure_ascii, **options)

    made.filters["tojson"] = tojson
    made.globals["raise_exception"] = fail
    made.globals["strftime_now"] = dt.datetime(2026, 1, 1, tzinfo=dt.timezone.utc).strftime
    return made


WAYS = ((False, None), (True, None), (False, ""), (True, ""))
"""How templates want messages: arguments as JSON text or as an object, no content as null or as an empty text."""


def message(content: str, calls: list[ToolCall], as_text: bool, nothing: str | None) -> dict[str, Any]:
    """An assistant's message for a template."""
    return {
        "role": "assistant",
        "content": content or nothing,
        "tool_calls": [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments_json if as_text else call.arguments},
            }
            for call in calls
        ],
    }


def written(template: jinja2.Template, messages: list[dict[str, Any]]) -> str:
    """What a template writes for messages."""
    given = {"bos_token": "<s>", "eos_token": "</s>", "tools": TOOLS, "add_generation_prompt": False}
    return template.render(messages=messages, **given)


def texts(template: jinja2.Template) -> Iterator[tuple[str, str, list[str]]]:
    """Case, the template's text, and what must not be left over in it."""
    for name, (content, calls) in CALLS.items():
        text = first(template, content, calls, [])
        if text is not None:
            yield name, text, [call.name for call in calls]
    for name, results in RESULTS.items():
        answers = [
            {"role": "tool", "content": r.content, "tool_call_id": r.tool_call_id, "name": r.tool_name} for r in results
        ]
        text = first(template, "", [WEATHER, TIME][: len(results)], answers)
        if text is not None:
            yield name, text, ["RES"]


def first(template: jinja2.Template, content: str, calls: list[ToolCall], answers: list[dict[str, Any]]) -> str | None:
    """What the template writes for the first way of putting the messages that it takes."""
    for as_text, nothing in WAYS:
        try:
            text = written(template, [USER, message(content, calls, as_text, nothing), *answers])
        except (jinja2.TemplateError, TypeError, AttributeError):
            continue
        if calls[0].name in text:
            return text
    return None


def ours(name: str, case: str) -> str:
    """What we write."""
    format, model = TEMPLATES[name]
    if case in RESULTS:
        return toolglot.render_results(RESULTS[case], format, model=model)
    content, calls = CALLS[case]
    if name in NUMBERED:
        calls = [replace(call, id=None) for call in calls]
    return toolglot.render(calls, format, content=content or None)


def check(template: jinja2.Template, name: str) -> tuple[int, list[str]]:
    """How many cases are equal, and what is not."""
    equal, wrong = 0, []
    other = KNOWN.get(name, ((), ""))[0]
    for case, text, marks in texts(template):
        try:
            mine = ours(name, case)
        except toolglot.ConversionError as error:
            if case not in other:
                wrong.append(f"{case}: {error}")
            continue
        before, found, after = text.rpartition(mine)
        rest = after + before[before.rfind("USER") :]
        if found and not any(mark in rest.replace('"name"', "") for mark in marks):
            equal += 1
        elif case not in other:
            wrong.append(f"{case}:\n    template {text[text.rfind('USER') :]!r}\n    ours     {mine!r}")
    return equal, wrong


FAILURES = (jinja2.TemplateError, TypeError, AttributeError, RecursionError)


def about_tools(template: jinja2.Template, tools: list[dict[str, Any]], system: bool) -> str:
    """What a template writes for a first message and these tools."""
    given = {"bos_token": "<s>", "eos_token": "</s>", "add_generation_prompt": False}
    if tools:
        given["tools"] = tools
    messages = [{"role": "system", "content": "SYSTEM"}] if system else []
    return template.render(messages=[*messages, USER], **given)


def keep_all(files: dict[str, Path]) -> None:
    """Write the tests' texts about tools, one for each way of presenting them."""
    folder = Path(__file__).parent.parent / "tests" / "tool_texts"
    file = folder / "index.json"
    # Those of templates that are not there stay; Kimi K2.5's text is its tokenizer's (tool_declaration_ts.py).
    index = {name: of for name, of in json.loads(file.read_text("utf-8")).items() if name not in files}
    kept = set()
    for name, path in files.items():
        if name not in CUTS:
            continue
        format, model, _, _ = CUTS[name]
        template = environment().from_string(path.read_text("utf-8"))
        cases, text = keep(name, partial(about_tools, template), FAILURES)
        if text not in kept:
            kept.add(text)
            index[name] = {"format": format, "model": model, "definitions": cases}
            (folder / f"{name}.txt").write_bytes(text.encode())
    for path, data in ((file, dict(sorted(index.items()))), (folder / "definitions.json", DEFINITIONS)):
        path.write_text(json.dumps(data, ensure_ascii=False, indent=1) + "\n", "utf-8")


def main() -> int:
    """Check all templates of a folder."""
    if len(sys.argv) < 2 or sys.argv[2:] not in ([], ["--keep"]):
        sys.stderr.write(__doc__ or "")
        return 2
    known = {*TEMPLATES, *CUTS}
    files = {path.stem: path for path in sorted(Path(sys.argv[1]).rglob("*.jinja")) if path.stem in known}
    if not files:
        print(f"no known template below {sys.argv[1]}")
        return 2
    if sys.argv[2:]:
        keep_all(files)
    total, tools, failed = 0, 0, False
    for name, path in files.items():
        source = path.read_text("utf-8")
        template = environment().from_string(source)
        equal, about = 0, 0
        wrong: list[str] = []
        if name in TEMPLATES:
            equal, wrong = check(template, name)
            found = toolglot.format_for_template(source)
            if found != TEMPLATES[name][0]:
                wrong.append(f"by its source the template is {found}")
        if name in CUTS:
            about, more = check_tools(name, partial(about_tools, template), FAILURES)
            wrong += more
        total += equal
        tools += about
        failed = failed or bool(wrong)
        format = (TEMPLATES.get(name) or CUTS[name])[0]
        print(f"{name}: {equal} equal, {about} about tools, {len(wrong)} different ({format})")
        for line in wrong:
            print(f"  {line}")
    print(f"{total} texts equal of {len(TEMPLATES.keys() & files)} templates")
    print(f"{tools} texts about tools equal of {len(CUTS.keys() & files)} templates")
    print(f"{len(known) - len(files)} templates not there")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
