"""Providers' responses with two calls: read against `json.loads` of the same bytes, and detected.

``python -m bench.provider`` measures only these.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any

import toolglot
from toolglot.values.json import loads

from .report import Report, Row
from .timing import interleaved
from .whole import micro

PARSE, DETECT = "Provider responses with two calls", "Detecting the provider of a dict"

CALLS: list[tuple[str, dict[str, Any]]] = [
    ("get_weather", {"city": "Oslo", "unit": "c", "days": 2}),
    ("search", {"query": "rust async runtime", "limit": 5, "filters": {"language": "en"}}),
]


def _functions() -> list[dict[str, Any]]:
    """The calls as OpenAI and those after it have them."""
    return [
        {
            "id": f"call_{number}a7Xq",
            "type": "function",
            "function": {"name": name, "arguments": json.dumps(arguments)},
        }
        for number, (name, arguments) in enumerate(CALLS)
    ]


def responses() -> dict[str, dict[str, Any]]:
    """A response of each wire format, with what its API sends beside the calls; by its provider."""
    return {
        "openai": {
            "id": "chatcmpl-9fGq",
            "object": "chat.completion",
            "created": 1764000000,
            "model": "gpt-5",
            "choices": [
                {
                    "index": 0,
                    "message": {
                        "role": "assistant",
                        "content": None,
                        "tool_calls": _functions(),
                        "refusal": None,
                        "annotations": [],
                    },
                    "logprobs": None,
                    "finish_reason": "tool_calls",
                }
            ],
            "usage": {"prompt_tokens": 81, "completion_tokens": 40, "total_tokens": 121},
            "service_tier": "default",
        },
        "openai_responses": {
            "id": "resp_68a",
            "object": "response",
            "created_at": 1764000000,
            "status": "completed",
            "error": None,
            "incomplete_details": None,
            "model": "gpt-5",
            "output": [
                {
                    "id": f"fc_{number}",
                    "type": "function_call",
                    "status": "completed",
                    "call_id": f"call_{number}",
                    "name": name,
                    "arguments": json.dumps(arguments),
                }
                for number, (name, arguments) in enumerate(CALLS)
            ],
            "parallel_tool_calls": True,
            "usage": {"input_tokens": 81, "output_tokens": 40, "total_tokens": 121},
        },
        "anthropic": {
            "id": "msg_01Xq",
            "type": "message",
            "role": "assistant",
            "model": "claude-sonnet-5",
            "content": [
                {"type": "text", "text": "I will look both up."},
                *(
                    {"type": "tool_use", "id": f"toolu_0{number}", "name": name, "input": arguments}
                    for number, (name, arguments) in enumerate(CALLS)
                ),
            ],
            "stop_reason": "tool_use",
            "stop_sequence": None,
            "usage": {"input_tokens": 81, "output_tokens": 40},
        },
        "google": {
            "candidates": [
                {
                    "content": {
                        "role": "model",
                        "parts": [{"functionCall": {"name": name, "args": arguments}} for name, arguments in CALLS],
                    },
                    "finishReason": "STOP",
                    "index": 0,
                }
            ],
            "usageMetadata": {"promptTokenCount": 81, "candidatesTokenCount": 40, "totalTokenCount": 121},
            "modelVersion": "gemini-3-pro",
            "responseId": "r1",
        },
        "google_interactions": {
            "id": "v1_1",
            "status": "requires_action",
            "steps": [
                {"type": "function_call", "id": f"g{number}", "name": name, "arguments": arguments}
                for number, (name, arguments) in enumerate(CALLS)
            ],
        },
        "cohere": {
            "id": "r1",
            "finish_reason": "TOOL_CALL",
            "message": {"role": "assistant", "tool_plan": "I will look both up.", "tool_calls": _functions()},
            "usage": {"tokens": {"input_tokens": 81, "output_tokens": 40}},
        },
        "bedrock": {
            "output": {
                "message": {
                    "role": "assistant",
                    "content": [
                        {"toolUse": {"toolUseId": f"tooluse_{number}", "name": name, "input": arguments}}
                        for number, (name, arguments) in enumerate(CALLS)
                    ],
                }
            },
            "stopReason": "tool_use",
            "usage": {"inputTokens": 81, "outputTokens": 40, "totalTokens": 121},
            "metrics": {"latencyMs": 900},
        },
        "mistral": {
            "id": "cmpl-e5cc70",
            "object": "chat.completion",
            "created": 1764000000,
            "model": "mistral-large-latest",
            "choices": [
                {
                    "index": 0,
                    "message": {
                        "role": "assistant",
                        "content": "",
                        "tool_calls": [
                            {
                                "id": f"D681PevK{number}",
                                "function": {"name": name, "arguments": json.dumps(arguments)},
                                "index": number,
                            }
                            for number, (name, arguments) in enumerate(CALLS)
                        ],
                        "prefix": False,
                    },
                    "finish_reason": "tool_calls",
                }
            ],
            "usage": {"prompt_tokens": 81, "completion_tokens": 40, "total_tokens": 121},
        },
        # The last members are those of docs.ollama.com/api/usage, times in nanoseconds.
        "ollama": {
            "model": "qwen3",
            "created_at": "2026-01-01T00:00:00.414671Z",
            "message": {
                "role": "assistant",
                "content": "",
                "tool_calls": [
                    {"id": f"call_{number}", "function": {"index": number, "name": name, "arguments": arguments}}
                    for number, (name, arguments) in enumerate(CALLS)
                ],
            },
            "done": True,
            "done_reason": "stop",
            "total_duration": 174560334,
            "load_duration": 101397084,
            "prompt_eval_count": 81,
            "prompt_eval_duration": 13074791,
            "eval_count": 40,
            "eval_duration": 52479709,
        },
    }


def run(report: Report) -> None:
    """Every provider's response as bytes, as text and as a dict; what nobody reads yet is left out."""
    known = {provider.value for provider in toolglot.providers()}
    found = {provider: response for provider, response in responses().items() if provider in known}
    detections = {}
    for provider, response in found.items():
        text = json.dumps(response)
        sent = text.encode()
        named = "mistral" if provider == "mistral" else "auto"  # its shape is OpenAI's
        message = toolglot.parse_response(sent, named)
        if message.provider != provider or [(call.name, call.arguments) for call in message.tool_calls] != CALLS:
            raise SystemExit(f"{provider}: the calls are not read")
        # Where arguments are text, whoever wants them has to read them too.
        inner = [call.raw_arguments for call in message.tool_calls if call.raw_arguments is not None]
        works: dict[str, Callable[[], object]] = {
            "json.loads": partial(_each, json.loads, [text, *inner]),
            "strict JSON": partial(_each, loads, [text, *inner]),
            "parse": partial(toolglot.parse_response, text, named),
            "json.loads of bytes": partial(_each, json.loads, [sent, *inner]),
            "parse of bytes": partial(toolglot.parse_response, sent, named),
            "of a dict": partial(toolglot.parse_response, response, named),
            "detect": partial(toolglot.detect_provider, response),
        }
        timing = interleaved(works)
        detections[provider] = timing.median["detect"] * 1e6
        shown = ("json.loads", "strict JSON", "parse", "of a dict")
        detail = ", ".join(f"{name} {micro(timing.median[name])}" for name in shown)
        # The target is for the bytes that an API sends; text is for comparison.
        report.add(Row(PARSE, f"{provider}, text", timing.ratio("parse", "json.loads"), "x", None, detail))
        shown = ("json.loads of bytes", "parse of bytes")
        detail = ", ".join(f"{name} {micro(timing.median[name])}" for name in shown)
        ratio = timing.ratio("parse of bytes", "json.loads of bytes")
        report.add(Row(PARSE, f"{provider}, bytes", ratio, "x", 2.0, detail))
    for provider, cost in detections.items():
        report.add(Row(DETECT, provider, cost, "us", 2.0))


def _each(read: Callable[[Any], object], texts: list[str | bytes]) -> None:
    for text in texts:
        read(text)


if __name__ == "__main__":
    run(Report())
