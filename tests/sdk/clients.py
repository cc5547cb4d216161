"""The SDKs: how each sends a request, and which of its own types say that a request is right.

Nothing here is imported before it is needed: `Client.package` says what has to be installed. What an API answers is in
``answers/<id>.json``: ``call``, a response that calls ``get_weather``, and ``text``, the one to its result.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

ANSWERS = Path(__file__).parent / "answers"
QUESTION = "How is the weather in Oslo?"


@dataclass(frozen=True)
class Client:
    """One SDK, as the rounds need it.

    ``send(url, messages, members)`` makes a request and gives the SDK's own response object. ``check(body)`` raises
    unless the SDK's types take the body of a request, and gives it as they have it: what they do not know is missing
    there. ``user`` is the first message, ``messages`` the member of the body that holds them. What the API cannot be
    told has the codes ``loses``.
    """

    id: str
    provider: str
    package: str
    send: Callable[[str, list[Any], dict[str, Any]], Any]
    check: Callable[[dict[str, Any]], Any]
    user: dict[str, Any]
    messages: str = "messages"
    loses: frozenset[str] = frozenset()

    @property
    def rest(self) -> dict[str, Any]:
        """What else a request needs."""
        named = {} if self.id == "bedrock" else {"model": "m"}  # which is not in the body there
        return {**named, **({"max_tokens": 100} if self.id == "anthropic" else {})}

    def answer(self, name: str) -> Any:
        """A recorded response."""
        return json.loads((ANSWERS / f"{self.id}.json").read_text("utf-8"))[name]

    def __str__(self) -> str:
        return self.id


@cache
def _adapter(module: str, name: str) -> Any:
    from importlib import import_module

    from pydantic import TypeAdapter

    return TypeAdapter(getattr(import_module(module), name))


def listed(written: Any) -> list[Any]:
    """Some APIs have a turn as one message, some as several."""
    return [*written] if isinstance(written, list) else [written]


def typed(module: str, name: str) -> Callable[[Any], Any]:
    """A check by a type of the SDK."""
    return lambda value: plain(_adapter(module, name).validate_python(value))


def plain(value: Any) -> Any:
    """What was validated as JSON values. An ``Iterable`` is read here: pydantic checks its items when it is."""
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json", by_alias=True, exclude_unset=True)
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, str | bytes):
        return [plain(item) for item in value]
    return value


# -- OpenAI


def _openai(url: str) -> Any:
    import openai

    return openai.OpenAI(api_key="none", base_url=url + "/v1", max_retries=0)


def _openai_chat(url: str, messages: list[Any], members: dict[str, Any]) -> Any:
    with _openai(url) as client:
        return client.chat.completions.create(model="m", messages=messages, **members)


def _openai_responses(url: str, messages: list[Any], members: dict[str, Any]) -> Any:
    with _openai(url) as client:
        return client.responses.create(model="m", input=messages, **members)


# -- Groq


def _groq(url: str, messages: list[Any], members: dict[str, Any]) -> Any:
    import groq

    with groq.Groq(api_key="none", base_url=url, max_retries=0) as client:
        return client.chat.completions.create(model="m", messages=messages, **members)


# -- Anthropic


def _anthropic(url: str, messages: list[Any], members: dict[str, Any]) -> Any:
    import anthropic

    with anthropic.Anthropic(api_key="none", base_url=url, max_retries=0) as client:
        return client.messages.create(model="m", max_tokens=100, messages=messages, **members)


# -- Google


def _google(url: str) -> Any:
    from google import genai

    return genai.Client(api_key="none", vertexai=False, http_options={"base_url": url})


def _gemini(url: str, messages: list[Any], members: dict[str, Any]) -> Any:
    client = _google(url)
    try:
        return client.models.generate_content(model="m", contents=messages, config=members)
    finally:
        client.close()


def _gemini_check(body: dict[str, Any]) -> Any:
    from google.genai import types

    config = {key: body[key] for key in ("tools", "toolConfig", "systemInstruction") if key in body}
    contents = [_standard(plain(types.Content.model_validate(one))) for one in body["contents"]]
    return {**body, **plain(types.GenerateContentConfig.model_validate(config)), "contents": contents}


def _standard(node: Any) -> Any:
    """What google-genai dumps, with bytes in the standard alphabet of base64: it has that of addresses."""
    if isinstance(node, list):
        return [_standard(item) for item in node]
    if not isinstance(node, dict):
        return node
    made = {key: _standard(value) for key, value in node.items()}
    if made.keys() >= {"data", "mimeType"}:
        made["data"] = made["data"].replace("-", "+").replace("_", "/")
    return made


def _interactions(url: str, messages: list[Any], members: dict[str, Any]) -> Any:
    client = _google(url)
    try:
        return client.interactions.create(model="m", input=messages, **members)
    finally:
        client.close()


# -- Cohere


def _cohere(url: str, messages: list[Any], members: dict[str, Any]) -> Any:
    import cohere

    return cohere.ClientV2(api_key="none", base_url=url).chat(model="m", messages=messages, **members)


def _cohere_check(body: dict[str, Any]) -> Any:
    return {
        **body,
        "messages": [typed("cohere", "ChatMessageV2")(message) for message in body["messages"]],
        **({"tools": [typed("cohere", "ToolV2")(tool) for tool in body["tools"]]} if "tools" in body else {}),
    }


# -- Amazon Bedrock

_NOBODY = {"aws_access_key_id": "none", "aws_secret_access_key": "none", "region_name": "us-east-1"}


def _bedrock(url: str, messages: list[Any], members: dict[str, Any]) -> Any:
    import boto3

    client = boto3.client("bedrock-runtime", endpoint_url=url, **_NOBODY)
    try:
        return client.converse(modelId="m", messages=messages, **members)
    finally:
        client.close()


def _bedrock_check(body: dict[str, Any]) -> Any:
    import boto3
    from botocore.validate import ParamValidator

    client = boto3.client("bedrock-runtime", **_NOBODY)
    shape = client.meta.service_model.operation_model("Converse").input_shape
    report = ParamValidator().validate({"modelId": "m", **body}, shape)
    assert not report.has_errors(), report.generate_report()
    return body  # what the types do not know is an error already


# -- Mistral


def _mistral(url: str, messages: list[Any], members: dict[str, Any]) -> Any:
    from mistralai.client import Mistral

    with Mistral(api_key="none", server_url=url) as client:
        return client.chat.complete(model="m", messages=messages, **members)


# -- Ollama


def _ollama(url: str, messages: list[Any], members: dict[str, Any]) -> Any:
    import ollama

    return ollama.Client(host=url).chat(model="m", messages=messages, **members)


_SAID = {"role": "user", "content": QUESTION}

CLIENTS = [
    Client(
        "openai_chat",
        "openai",
        "openai",
        _openai_chat,
        typed("openai.types.chat.completion_create_params", "CompletionCreateParams"),
        _SAID,
    ),
    Client(
        "openai_responses",
        "openai_responses",
        "openai",
        _openai_responses,
        typed("openai.types.responses.response_create_params", "ResponseCreateParams"),
        _SAID,
        "input",
    ),
    Client(
        "groq",
        "groq",
        "groq",
        _groq,
        typed("groq.types.chat.completion_create_params", "CompletionCreateParams"),
        _SAID,
    ),
    Client(
        "anthropic",
        "anthropic",
        "anthropic",
        _anthropic,
        typed("anthropic.types.message_create_params", "MessageCreateParams"),
        _SAID,
    ),
    Client(
        "gemini",
        "google",
        "google.genai",
        _gemini,
        _gemini_check,
        {"role": "user", "parts": [{"text": QUESTION}]},
        "contents",
    ),
    Client(
        "interactions",
        "google_interactions",
        "google.genai",
        _interactions,
        typed("google.genai._gaos.types.interactions", "CreateModelInteraction"),
        {"type": "user_input", "content": [{"type": "text", "text": QUESTION}]},
        "input",
    ),
    Client("cohere", "cohere", "cohere", _cohere, _cohere_check, _SAID),
    Client(
        "bedrock",
        "bedrock",
        "boto3",
        _bedrock,
        _bedrock_check,
        {"role": "user", "content": [{"text": QUESTION}]},
    ),
    Client(
        "mistral",
        "mistral",
        "mistralai",
        _mistral,
        typed("mistralai.client.models", "ChatCompletionRequest"),
        _SAID,
    ),
    Client(
        "ollama",
        "ollama",
        "ollama",
        _ollama,
        typed("ollama._types", "ChatRequest"),
        _SAID,
        loses=frozenset(("loss.tool_choice", "loss.schema_keyword")),
    ),
]
