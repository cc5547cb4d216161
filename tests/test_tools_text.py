"""Tool definitions in a prompt, against what the chat templates wrote (`scripts/check_templates.py --keep`)."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

import pytest

import toolglot
from toolglot import ConversionError, DefinitionError, Format, Tool, Tools, UnsafeValueError, get_format, render_tools
from toolglot.engine.tools import EACH, WHOLE, choose
from toolglot.pattern import arguments, call, name

FOLDER = Path(__file__).parent / "tool_texts"
INDEX: dict[str, dict[str, Any]] = json.loads((FOLDER / "index.json").read_text("utf-8"))
DEFINITIONS: dict[str, list[dict[str, Any]]] = json.loads((FOLDER / "definitions.json").read_text("utf-8"))
PING = {"name": "ping", "description": "Ping it.", "input_schema": {"type": "object", "properties": {}}}
ONE = (
    '{"type": "function", "function": '
    '{"name": "ping", "description": "Ping it.", "parameters": {"type": "object", "properties": {}}}}'
)
PATTERN = call("<call ", name(), ">", arguments("json"), "</call>")
WITH_TOOLS = [fmt for fmt in toolglot.formats() if fmt.tools]


def test_every_text_has_its_template() -> None:
    checked = {id(choose(get_format(entry["format"]), entry["model"])) for entry in INDEX.values()}
    for fmt in WITH_TOOLS:
        assert all(id(how) in checked for how in fmt.tools), fmt.id
    assert {path.stem for path in FOLDER.glob("*.txt")} == set(INDEX)


@pytest.mark.parametrize("template", INDEX)
def test_as_the_template_writes_it(template: str) -> None:
    entry = INDEX[template]
    tools = [tool for case in entry["definitions"] for tool in DEFINITIONS[case]]
    expected = (FOLDER / f"{template}.txt").read_bytes().decode()
    assert render_tools(tools, entry["format"], model=entry["model"]) == expected
    assert all(tool["function"]["name"] in expected for tool in tools)


def test_definitions_of_any_shape() -> None:
    expected = f"[AVAILABLE_TOOLS][{ONE}][/AVAILABLE_TOOLS]"
    assert render_tools(PING, "mistral_v13") == expected
    assert render_tools([Tool("ping", "Ping it.")], "mistral_v13") == expected
    assert render_tools({"functionDeclarations": [{"name": "ping", "description": "Ping it."}]}, "mistral") == expected

    def ping() -> None:
        """Ping it."""

    assert '"name": "ping", "description": "Ping it."' in render_tools(ping, "mistral_v13")
    assert render_tools([], "hermes") == ""


def test_what_a_definition_says_besides() -> None:
    tool = {"type": "function", "function": {"name": "f", "strict": True, "return": {"type": "string"}}}
    text = render_tools(tool, "mistral_v13")
    assert '"parameters": {"type": "object", "properties": {}}, "strict": true, "return": {"type": "string"}' in text
    assert "f() -> str - " in render_tools(tool, "hermes", model="Hermes-3-Llama-3.1-8B")


def test_models_of_one_format() -> None:
    assert "<name>ping</name>" in render_tools(PING, "qwen3_coder")
    assert ONE in render_tools(PING, "qwen3_coder", model="Qwen/Qwen3.5-4B")
    with pytest.raises(ConversionError, match=r"hermes: it is not known how the template of 'EXAONE-4.0-32B'"):
        render_tools(PING, "hermes", model="EXAONE-4.0-32B")
    with pytest.raises(ConversionError, match="say which one by model="):
        render_tools(PING, "tool_calls_array")


def test_unknown_template() -> None:
    with pytest.raises(ConversionError, match="bracket: it is not known how the template writes tool definitions"):
        render_tools(PING, "bracket")


@pytest.mark.parametrize(
    ("format", "token"),
    [
        ("hermes", "<|im_end|>"),
        ("hermes", "<|im_start|>"),
        ("hermes", "<|endoftext|>"),
        ("glm47", "<|assistant|>"),
        ("dsml_v4", "<｜Assistant｜>"),
        ("mistral_v3", "[/INST]"),
        ("mistral_v13", "[/AVAILABLE_TOOLS]"),
        ("gemma4", '<|"|>'),
        ("gemma4", "<tool|>"),
        ("harmony", "<|call|>"),
        ("harmony", "} // namespace"),
        ("dsml_v32", "｜DSML｜"),
        ("qwen3_coder", "</tools>"),
        ("kimi_k3", "<|sep|>"),
    ],
)
@pytest.mark.parametrize("where", ["description", "key", "value"])
def test_control_tokens(format: str, token: str, where: str) -> None:
    text = f"a {token} b"
    field = {"type": "string", "description": text if where == "value" else "d"}
    tool = Tool("f", text if where == "description" else "d", {"properties": {text if where == "key" else "k": field}})
    with pytest.raises(UnsafeValueError, match=r"the definition of 'f' holds"):
        render_tools(tool, format)
    assert text in render_tools(tool, format, unsafe="allow")


def test_what_only_looks_like_one() -> None:
    tool = Tool("f", "a [GET] <b> <|> a || b <im_end> [INST", {"properties": {"<x|y>": {"description": "|>"}}})

    def outcome(format: str, unsafe: Literal["raise", "allow"]) -> str:
        try:
            return render_tools(tool, format, unsafe=unsafe)
        except ConversionError as error:
            return f"{type(error).__name__}: {error}"

    for fmt in WITH_TOOLS:
        assert outcome(fmt.id, "raise") == outcome(fmt.id, "allow")


def test_what_no_template_can_write() -> None:
    with pytest.raises(ConversionError, match="a provider runs"):
        render_tools({"type": "web_search_20250305", "name": "web_search"}, "hermes")
    with pytest.raises(ConversionError, match=r"cohere_command_r: .* 'a' has no description"):
        render_tools(Tool("f", "", {"properties": {"a": {"type": "string"}}}), "cohere_command_r")
    with pytest.raises(ConversionError, match="cannot write these definitions"):
        render_tools(Tool("f", "", {"properties": {"a": {"default": {1, 2}}}}), "hermes")
    itself: dict[str, Any] = {"type": "object"}
    itself["properties"] = {"a": itself}
    for fmt in WITH_TOOLS:
        with suppress(ConversionError):  # some do not look deeper than a parameter
            render_tools(Tool("f", "", itself), fmt.id)
    deep: dict[str, Any] = {}
    for _ in range(20_000):
        deep = {"items": deep}
    for fmt in WITH_TOOLS:
        model = "apriel-1.6" if fmt.id == "tool_calls_array" else None
        with suppress(ConversionError):  # some do not look that deep
            render_tools(Tool("f", "", {"properties": {"a": deep}}), fmt.id, model=model)


def test_a_format_of_ones_own() -> None:
    toolglot.register_format(Format(PATTERN, id="own", tools=(Tools("Tools: {tools}.", "function", "; "),)))
    assert render_tools(["f"], "own") == 'Tools: {"name": "f", "parameters": {"type": "object", "properties": {}}}.'
    toolglot.register_format(Format(PATTERN, id="own", tools=(Tools("no such prompt"),)))
    with pytest.raises(DefinitionError, match=r"'no such prompt' holds no \{tools\}"):
        render_tools(["f"], "own")
    toolglot.register_format(Format(PATTERN, id="own", tools=(Tools("{tools}", "runes"),)))
    with pytest.raises(DefinitionError, match="no notation is called 'runes'"):
        render_tools(["f"], "own")


def test_notations_are_known() -> None:
    for fmt in WITH_TOOLS:
        for how in fmt.tools:
            assert how.notation in EACH or how.notation in WHOLE
