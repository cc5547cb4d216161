"""What an answer cost, from any API's members to those of the API that is spoken."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any, Final, NamedTuple

from ._payload import sdk_object

__all__ = ["Usage", "as_usage", "read_usage"]

_INPUT: Final = ("prompt_tokens", "input_tokens", "inputTokens", "promptTokenCount", "prompt_eval_count")
_OUTPUT: Final = ("completion_tokens", "output_tokens", "outputTokens", "candidatesTokenCount", "eval_count")
_DETAILS: Final = ("prompt_tokens_details", "input_tokens_details")
_OUTPUT_DETAILS: Final = ("completion_tokens_details", "output_tokens_details")
# Anthropic and Bedrock count apart what they read from their cache and what they put there.
_READ: Final = ("cache_read_input_tokens", "cacheReadInputTokens")
_WRITTEN: Final = ("cache_creation_input_tokens", "cacheWriteInputTokens")


class Usage(NamedTuple):
    """Tokens: ``input`` holds ``cached`` and ``written``, ``output`` holds ``reasoning``."""

    input: int = 0
    output: int = 0
    cached: int = 0
    written: int = 0
    reasoning: int = 0


def as_usage(usage: Any) -> dict[str, Any] | None:
    """``usage``, an API's or SDK's object, as a dict."""
    if usage is None:
        return None
    found = dict(usage) if isinstance(usage, Mapping) else sdk_object(usage)
    if found is None:
        raise TypeError(f"usage: expected an API's object, got {type(usage).__name__}")
    return found


def read_usage(usage: Mapping[str, Any] | None) -> Usage:
    """``usage`` as any API has it; what it does not say is 0."""
    if usage is None:
        return Usage()
    if isinstance(usage.get("tokens"), Mapping):  # Cohere
        usage = usage["tokens"]
    cached, written = _first(usage, _READ), _first(usage, _WRITTEN)
    apart = cached + written
    for key in _DETAILS:
        cached = cached or _inner(usage, key, "cached_tokens")
        written = written or _inner(usage, key, "cache_write_tokens")
    thoughts = _first(usage, ("thoughtsTokenCount",))
    return Usage(
        _first(usage, _INPUT) + apart,
        _first(usage, _OUTPUT) + thoughts,
        cached or _first(usage, ("cachedContentTokenCount",)),
        written,
        thoughts or max(_inner(usage, key, "reasoning_tokens") for key in _OUTPUT_DETAILS),
    )


def _first(usage: Mapping[str, Any], keys: tuple[str, ...]) -> int:
    for key in keys:
        value = usage.get(key)
        if isinstance(value, int) and not isinstance(value, bool):
            return value
        if isinstance(value, float) and isfinite(value):
            return int(value)
    return 0


def _inner(usage: Mapping[str, Any], key: str, name: str) -> int:
    details = usage.get(key)
    return _first(details, (name,)) if isinstance(details, Mapping) else 0
