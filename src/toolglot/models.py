"""Which format a model writes: by its name, or by its chat template."""

from __future__ import annotations

from dataclasses import dataclass

from .registry import REGISTRY


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """What is known of a model by its name.

    ``format``: the id of the format that it writes calls in. ``opens_reasoning``: whether the prompt that its chat
    template makes by default ends in an open block of reasoning, so that the output begins inside it.
    """

    format: str
    opens_reasoning: bool


def model_info(model_id: str) -> ModelInfo | None:
    """What is known of a model by its name, of any repository, in any case, quantised or not; None if nothing is.

    >>> model_info("Qwen/Qwen3.5-9B-FP8")
    ModelInfo(format='qwen3_coder', opens_reasoning=True)
    """
    found = format_for_model(model_id)
    if found is None:
        return None
    reasoning = REGISTRY.get(found).reasoning
    return ModelInfo(found, reasoning is not None and reasoning.opened_for(model_id))


def format_for_model(model_id: str) -> str | None:
    """The id of the format that a model writes, by its name; None if no format knows it.

    >>> format_for_model("unsloth/gpt-oss-20b-GGUF:Q4_K_M")
    'harmony'
    """
    if not isinstance(model_id, str):
        raise TypeError(f"model_id: expected str, got {type(model_id).__name__}")
    return REGISTRY.for_model(model_id)


def format_for_template(jinja_source: str) -> str | None:
    """The id of the format that a chat template writes calls in, by the markup in its source; None if none is known.

    Better than the model's name where both are at hand: fine-tunes and merges keep the template, not the name. The
    source is only searched for literals, never run.

    >>> format_for_template("{{ '<|tool_call>call:' + name }}")
    'gemma4'
    """
    if not isinstance(jinja_source, str):
        raise TypeError(f"jinja_source: expected str, got {type(jinja_source).__name__}")
    return REGISTRY.for_template(jinja_source)
