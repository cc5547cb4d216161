"""Why a model stopped: every API's and engine's word for it."""

from __future__ import annotations

from .types import StopReason

__all__ = ["read_finish_reason"]

# What APIs and engines say when a model stops, in lower case, by what it means.
_FINISH_REASONS: dict[StopReason, tuple[str, ...]] = {
    "stop": ("stop", "end_turn", "stop_sequence", "complete", "completed", "eos", "eos_token"),
    "tool_calls": ("tool_calls", "tool_call", "tool_use", "function_call"),
    "length": (
        "length",
        "max_tokens",
        "max_output_tokens",
        "max_length",
        "model_length",
        "model_context_window_exceeded",
        "error_limit",
    ),
    "content_filter": (
        "content_filter",
        "content_filtered",
        "refusal",
        "guardrail_intervened",
        "safety",
        "recitation",
        "language",
        "blocklist",
        "prohibited_content",
        "spii",
        "error_toxic",
    ),
    "error": (
        "error",
        "abort",
        "cancelled",
        "timeout",
        "network_error",
        "insufficient_system_resource",
        "malformed_function_call",
        "malformed_model_output",
        "malformed_tool_use",
    ),
    "other": ("other", "unknown", "finish_reason_unspecified", "pause_turn"),
}
_MEANING: dict[str, StopReason] = {word: reason for reason, words in _FINISH_REASONS.items() for word in words}


def read_finish_reason(word: str | None) -> StopReason | None:
    """What an API's or engine's word for why the model stopped means; `ValueError` for one that is not known."""
    if word is None:
        return None
    if not isinstance(word, str):
        raise TypeError(f"finish_reason: expected str or None, got {type(word).__name__}")
    meaning = _MEANING.get(str.lower(word))
    if meaning is None:
        known = ", ".join(map(repr, _MEANING))
        raise ValueError(f"finish_reason: {str.__str__(word)[:80]!r} is not known; expected one of {known}")
    return meaning
