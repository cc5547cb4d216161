"""How each SDK opens a stream, synchronous and asynchronous.

A session is a generator: it makes the SDK's client, then gives a function that asks for one stream and returns the
iterable of the SDK's own events. What the APIs say is in ``streams/<answer>.json``: ``events``, and ``whole``, the same
answer not streamed.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import AbstractAsyncContextManager, AbstractContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clients import _NOBODY

import wires
from toolglot import WireProvider, get_provider

STREAMS = Path(__file__).parent / "streams"
SAID = [{"role": "user", "content": "How is the weather in Tromsø?"}]
MODEL = "anthropic.claude-v1"

Ask = Callable[[], Iterable[Any]]
AsyncAsk = Callable[[], AsyncIterator[Any]]


@dataclass(frozen=True)
class Streamed:
    """One way to stream. ``loses`` are the members of a `ToolCall` that the SDK's objects do not have."""

    id: str
    provider: str
    package: str
    answer: str
    session: Callable[[str], AbstractContextManager[Ask]]
    asession: Callable[[str], AbstractAsyncContextManager[AsyncAsk]] | None = None
    content_type: str = "text/event-stream"
    loses: frozenset[str] = frozenset()

    @property
    def parser(self) -> WireProvider:
        """Who reads it."""
        provider = get_provider(self.provider)
        if self.id == "bedrock_invoke":
            provider = get_provider("bedrock").for_invoke_model(MODEL)  # type: ignore[attr-defined]
        return provider

    @property
    def recorded(self) -> dict[str, Any]:
        """The answer."""
        recorded: dict[str, Any] = json.loads((STREAMS / f"{self.answer}.json").read_text("utf-8"))
        return recorded

    @property
    def body(self) -> bytes:
        """The stream as its bytes."""
        events = self.recorded["events"]
        if self.id == "bedrock_invoke":
            return wires.invoke_model(events)
        # Version 1 of Cohere sends JSON a line, as Ollama does.
        return wires.encoded("ollama" if self.id == "cohere_v1" else self.parser.wire.value, events)

    def __str__(self) -> str:
        return self.id


# -- OpenAI and who speaks like it


@contextmanager
def _openai_chat(url: str) -> Iterator[Ask]:
    import openai

    with openai.OpenAI(api_key="none", base_url=url + "/v1", max_retries=0) as client:
        yield lambda: client.chat.completions.create(model="m", messages=SAID, stream=True)


@asynccontextmanager
async def _openai_chat_async(url: str) -> AsyncIterator[AsyncAsk]:
    import openai

    async with openai.AsyncOpenAI(api_key="none", base_url=url + "/v1", max_retries=0) as client:

        async def ask() -> AsyncIterator[Any]:
            async for event in await client.chat.completions.create(model="m", messages=SAID, stream=True):
                yield event

        yield ask


@contextmanager
def _openai_responses(url: str) -> Iterator[Ask]:
    import openai

    with openai.OpenAI(api_key="none", base_url=url + "/v1", max_retries=0) as client:
        yield lambda: client.responses.create(model="m", input=SAID, stream=True)


@asynccontextmanager
async def _openai_responses_async(url: str) -> AsyncIterator[AsyncAsk]:
    import openai

    async with openai.AsyncOpenAI(api_key="none", base_url=url + "/v1", max_retries=0) as client:

        async def ask() -> AsyncIterator[Any]:
            async for event in await client.responses.create(model="m", input=SAID, stream=True):
                yield event

        yield ask


@contextmanager
def _groq(url: str) -> Iterator[Ask]:
    import groq

    with groq.Groq(api_key="none", base_url=url, max_retries=0) as client:
        yield lambda: client.chat.completions.create(model="m", messages=SAID, stream=True)


@asynccontextmanager
async def _groq_async(url: str) -> AsyncIterator[AsyncAsk]:
    import groq

    async with groq.AsyncGroq(api_key="none", base_url=url, max_retries=0) as client:

        async def ask() -> AsyncIterator[Any]:
            async for event in await client.chat.completions.create(model="m", messages=SAID, stream=True):
                yield event

        yield ask


# -- Anthropic


@contextmanager
def _anthropic(url: str) -> Iterator[Ask]:
    import anthropic

    with anthropic.Anthropic(api_key="none", base_url=url, max_retries=0) as client:
        yield lambda: client.messages.create(model="m", max_tokens=100, messages=SAID, stream=True)


@asynccontextmanager
async def _anthropic_async(url: str) -> AsyncIterator[AsyncAsk]:
    import anthropic

    async with anthropic.AsyncAnthropic(api_key="none", base_url=url, max_retries=0) as client:

        async def ask() -> AsyncIterator[Any]:
            async for event in await client.messages.create(model="m", max_tokens=100, messages=SAID, stream=True):
                yield event

        yield ask


# -- Google


@contextmanager
def _google(url: str) -> Iterator[Any]:
    from google import genai

    client = genai.Client(api_key="none", vertexai=False, http_options={"base_url": url})
    try:
        yield client
    finally:
        client.close()


@contextmanager
def _gemini(url: str) -> Iterator[Ask]:
    with _google(url) as client:
        yield lambda: client.models.generate_content_stream(model="m", contents="Weather?")


@asynccontextmanager
async def _gemini_async(url: str) -> AsyncIterator[AsyncAsk]:
    with _google(url) as client:

        async def ask() -> AsyncIterator[Any]:
            async for event in await client.aio.models.generate_content_stream(model="m", contents="Weather?"):
                yield event

        yield ask
        await client.aio.aclose()


@contextmanager
def _interactions(url: str) -> Iterator[Ask]:
    with _google(url) as client:
        yield lambda: client.interactions.create(model="m", input="Weather?", stream=True)


@asynccontextmanager
async def _interactions_async(url: str) -> AsyncIterator[AsyncAsk]:
    with _google(url) as client:

        async def ask() -> AsyncIterator[Any]:
            async for event in await client.aio.interactions.create(model="m", input="Weather?", stream=True):
                yield event

        yield ask
        await client.aio.aclose()


# -- Cohere


@contextmanager
def _cohere(url: str) -> Iterator[Ask]:
    import cohere

    client = cohere.ClientV2(api_key="none", base_url=url)
    yield lambda: client.chat_stream(model="m", messages=SAID)


@asynccontextmanager
async def _cohere_async(url: str) -> AsyncIterator[AsyncAsk]:
    import cohere

    async with cohere.AsyncClientV2(api_key="none", base_url=url) as client:
        yield lambda: client.chat_stream(model="m", messages=SAID)


@contextmanager
def _cohere_v1(url: str) -> Iterator[Ask]:
    import cohere

    with cohere.Client(api_key="none", base_url=url) as client:
        yield lambda: client.chat_stream(model="m", message="Weather?")


@asynccontextmanager
async def _cohere_v1_async(url: str) -> AsyncIterator[AsyncAsk]:
    import cohere

    async with cohere.AsyncClient(api_key="none", base_url=url) as client:
        yield lambda: client.chat_stream(model="m", message="Weather?")


# -- Amazon Bedrock, whose SDK has no asynchronous client


@contextmanager
def _boto3(url: str) -> Iterator[Any]:
    import boto3

    client = boto3.client("bedrock-runtime", endpoint_url=url, **_NOBODY)
    try:
        yield client
    finally:
        client.close()


@contextmanager
def _bedrock(url: str) -> Iterator[Ask]:
    messages = [{"role": "user", "content": [{"text": "Weather?"}]}]
    with _boto3(url) as client:
        yield lambda: client.converse_stream(modelId="m", messages=messages)["stream"]


@contextmanager
def _bedrock_invoke(url: str) -> Iterator[Ask]:
    with _boto3(url) as client:
        yield lambda: client.invoke_model_with_response_stream(modelId=MODEL, body="{}")["body"]


# -- Mistral


@contextmanager
def _mistral(url: str) -> Iterator[Ask]:
    from mistralai.client import Mistral

    with Mistral(api_key="none", server_url=url) as client:
        yield lambda: client.chat.stream(model="m", messages=SAID)


@asynccontextmanager
async def _mistral_async(url: str) -> AsyncIterator[AsyncAsk]:
    from mistralai.client import Mistral

    async with Mistral(api_key="none", server_url=url) as client:

        async def ask() -> AsyncIterator[Any]:
            async for event in await client.chat.stream_async(model="m", messages=SAID):
                yield event

        yield ask


@contextmanager
def _conversations(url: str) -> Iterator[Ask]:
    from mistralai.client import Mistral

    with Mistral(api_key="none", server_url=url) as client:
        yield lambda: client.beta.conversations.start_stream(model="m", inputs="Weather?")


@asynccontextmanager
async def _conversations_async(url: str) -> AsyncIterator[AsyncAsk]:
    from mistralai.client import Mistral

    async with Mistral(api_key="none", server_url=url) as client:

        async def ask() -> AsyncIterator[Any]:
            async for event in await client.beta.conversations.start_stream_async(model="m", inputs="Weather?"):
                yield event

        yield ask


# -- Ollama


@contextmanager
def _ollama(url: str) -> Iterator[Ask]:
    import ollama

    with ollama.Client(host=url) as client:
        yield lambda: client.chat(model="m", messages=SAID, stream=True)


@asynccontextmanager
async def _ollama_async(url: str) -> AsyncIterator[AsyncAsk]:
    import ollama

    async with ollama.AsyncClient(host=url) as client:

        async def ask() -> AsyncIterator[Any]:
            async for event in await client.chat(model="m", messages=SAID, stream=True):
                yield event

        yield ask


_AMAZON = "application/vnd.amazon.eventstream"
_LINES = "application/x-ndjson"

STREAMED = [
    Streamed("openai_chat", "openai", "openai", "openai_chat", _openai_chat, _openai_chat_async),
    Streamed(
        "openai_responses",
        "openai_responses",
        "openai",
        "openai_responses",
        _openai_responses,
        _openai_responses_async,
    ),
    Streamed("groq", "groq", "groq", "openai_chat", _groq, _groq_async),
    Streamed("anthropic", "anthropic", "anthropic", "anthropic", _anthropic, _anthropic_async),
    Streamed("gemini", "google", "google.genai", "gemini", _gemini, _gemini_async),
    Streamed(
        "interactions",
        "google_interactions",
        "google.genai",
        "interactions",
        _interactions,
        _interactions_async,
    ),
    Streamed("cohere", "cohere", "cohere", "cohere", _cohere, _cohere_async),
    Streamed("cohere_v1", "cohere_v1", "cohere", "cohere_v1", _cohere_v1, _cohere_v1_async, _LINES),
    Streamed("bedrock", "bedrock", "boto3", "bedrock", _bedrock, None, _AMAZON),
    Streamed("bedrock_invoke", "anthropic", "boto3", "anthropic", _bedrock_invoke, None, _AMAZON),
    Streamed("mistral", "mistral", "mistralai", "mistral", _mistral, _mistral_async),
    Streamed(
        "mistral_conversations",
        "mistral_conversations",
        "mistralai",
        "mistral_conversations",
        _conversations,
        _conversations_async,
    ),
    # The SDK's types have no member for a call's id (ollama 0.6, `ollama._types.Message.ToolCall`).
    Streamed("ollama", "ollama", "ollama", "ollama", _ollama, _ollama_async, _LINES, frozenset(("id",))),
]
