"""Names: of models, of the engines' parsers, and the signs of chat templates."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

import pytest

import toolglot
from toolglot.registry import REGISTRY

NAMES = Path(__file__).parent / "names"
MODELS = [
    pytest.param(model, expected, id=model)
    for models in json.loads((NAMES / "models.json").read_text("utf-8")).values()
    for model, expected in models.items()
]
PARSERS: dict[str, dict[str, str | list[str]]] = json.loads((NAMES / "parsers.json").read_text("utf-8"))


@pytest.mark.parametrize(("model", "expected"), MODELS)
def test_model(model: str, expected: str) -> None:
    assert toolglot.format_for_model(model) == expected


@pytest.mark.parametrize("model", ["gpt-4o", "claude-sonnet-4-5", "gemini-3-pro", "my-model", "", "/", "model.gguf"])
def test_unknown_model(model: str) -> None:
    assert toolglot.format_for_model(model) is None
    assert toolglot.model_info(model) is None


def test_a_name_without_end() -> None:
    """Patterns with ``.*`` take the square of a name's length, and a model's name may come from a request."""
    start = time.process_time()
    assert toolglot.format_for_model("qwen" * 250_000) is None
    toolglot.render_tools(["f"], "hermes", model="qwen" * 250_000)
    assert time.process_time() - start < 1


@pytest.mark.parametrize("model", [case.values[0] for case in MODELS])
def test_one_winner(model: str) -> None:
    """Among the formats that know a model, none ties with the winner."""
    name = toolglot.format.base_name(model)
    ranks: dict[tuple[int, int], set[str]] = {}
    for fmt in toolglot.formats():
        for pattern in fmt.models:
            match = re.search(pattern, name)
            if match is not None:
                ranks.setdefault((match.end() - match.start(), -fmt.rank), set()).add(fmt.id)
    assert len(ranks[max(ranks)]) == 1


@pytest.mark.parametrize(
    ("model", "opened"),
    [
        ("zai-org/GLM-4.7", True),
        ("zai-org/GLM-4.6", False),
        ("moonshotai/Kimi-K3", True),
        ("Qwen/Qwen3.5-9B", True),
        ("Qwen/Qwen3-Coder-30B-A3B-Instruct", False),
        ("nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16", True),
        ("Qwen/Qwen3-4B-Thinking-2507", True),
        ("Qwen/Qwen3-8B", False),
        ("zai-org/GLM-Z1-9B-0414", True),
        ("zai-org/GLM-4-9B-0414", False),
        ("openai/gpt-oss-20b", False),
    ],
)
def test_reasoning_opened_by_the_prompt(model: str, opened: bool) -> None:
    info = toolglot.model_info(model)
    assert info is not None
    assert info.opens_reasoning is opened


@pytest.mark.parametrize(("engine", "name"), [(engine, name) for engine in PARSERS for name in PARSERS[engine]])
def test_parser_name(engine: str, name: str) -> None:
    expected = PARSERS[engine][name]
    ids = {expected} if isinstance(expected, str) else set(expected)
    found = set(REGISTRY.resolve(f"{engine}:{name}"))
    # Where the catalogue names several, each reads what the others write; one of them answers to the name.
    assert found == ids or (len(ids) > 1 and found < ids)


def test_names_on_which_engines_agree() -> None:
    """A plain name is the format if all engines mean the same, else an error that lists the readings."""
    meant: dict[str, set[str]] = {}
    for fmt in toolglot.formats():
        for names in fmt.engines.values():
            for name in names:
                meant.setdefault(name, set()).add(fmt.id)
    own = {*REGISTRY.ids(), *(alias for fmt in toolglot.formats() for alias in fmt.aliases), "mistral"}
    for name, ids in meant.items():
        if name in own:
            continue
        if len(ids) == 1:
            assert REGISTRY.resolve(name) == tuple(ids)
        else:
            with pytest.raises(toolglot.DefinitionError, match="names several formats"):
                REGISTRY.resolve(name)


def test_wrong_types() -> None:
    for function in (toolglot.format_for_model, toolglot.model_info, toolglot.format_for_template):
        with pytest.raises(TypeError):
            function(None)  # type: ignore[operator]
