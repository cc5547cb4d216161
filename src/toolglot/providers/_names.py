"""The names of providers and of the wire formats that they speak."""

from __future__ import annotations

from enum import Enum
from typing import Final


class WireFormat(str, Enum):
    """A shape of payloads. Its value is the name of its file in ``toolglot/providers/``."""

    UNKNOWN = "unknown"
    OPENAI_CHAT = "openai_chat"
    OPENAI_RESPONSES = "openai_responses"
    ANTHROPIC = "anthropic"
    GEMINI = "gemini"
    GEMINI_INTERACTIONS = "gemini_interactions"
    COHERE = "cohere"
    COHERE_V1 = "cohere_v1"
    BEDROCK = "bedrock"
    MISTRAL = "mistral"
    MISTRAL_CONVERSATIONS = "mistral_conversations"
    OLLAMA = "ollama"
    MCP = "mcp"

    __hash__ = str.__hash__  # fast, and the same for the value itself

    def __str__(self) -> str:
        return self.value


class Provider(str, Enum):
    """Who serves the model. ``Provider("anthropic")`` finds one by name; ``auto`` stands for whoever it is.

    >>> Provider("gemini").wire_format
    <WireFormat.GEMINI: 'gemini'>
    """

    AUTO = "auto"
    OPENAI = "openai"
    OPENAI_RESPONSES = "openai_responses"
    AZURE_OPENAI = "azure_openai"
    ANTHROPIC = "anthropic"
    GOOGLE = "google"
    GOOGLE_INTERACTIONS = "google_interactions"
    COHERE = "cohere"
    COHERE_V1 = "cohere_v1"
    BEDROCK = "bedrock"
    MISTRAL = "mistral"
    MISTRAL_CONVERSATIONS = "mistral_conversations"
    XAI = "xai"
    DEEPSEEK = "deepseek"
    OLLAMA = "ollama"
    GROQ = "groq"
    TOGETHER = "together"
    FIREWORKS = "fireworks"
    OPENROUTER = "openrouter"
    VLLM = "vllm"
    LLAMA_CPP = "llama_cpp"
    TGI = "tgi"
    MCP = "mcp"
    OPENAI_COMPATIBLE = "openai_compatible"
    ANTHROPIC_COMPATIBLE = "anthropic_compatible"

    @classmethod
    def _missing_(cls, value: object) -> Provider | None:
        if not isinstance(value, str):
            return None
        name = value.strip().lower().replace("-", "_").replace(" ", "_").replace(".", "_")
        name = _ALIASES.get(name, name)
        return cls._value2member_map_.get(name)  # type: ignore[return-value]

    __hash__ = str.__hash__  # fast, and the same for the value itself

    def __str__(self) -> str:
        return self.value

    @property
    def wire_format(self) -> WireFormat:
        """The shape of this provider's payloads."""
        return _WIRES[self]

    @property
    def is_openai_compatible(self) -> bool:
        """Whether it speaks OpenAI's Chat Completions, deviations included."""
        return self.wire_format in (WireFormat.OPENAI_CHAT, WireFormat.MISTRAL)

    @property
    def is_anthropic_compatible(self) -> bool:
        """Whether it speaks Anthropic's Messages."""
        return self.wire_format is WireFormat.ANTHROPIC

    @property
    def documentation_url(self) -> str | None:
        """Where the provider documents tool calling; None if nobody in particular does."""
        return _DOCUMENTATION.get(self)


_ALIASES: Final = {
    "aws": "bedrock",
    "amazon_bedrock": "bedrock",
    "aws_bedrock": "bedrock",
    "azure": "azure_openai",
    "claude": "anthropic",
    "gemini": "google",
    "gemini_interactions": "google_interactions",
    "google_gemini": "google",
    "grok": "xai",
    "llamacpp": "llama_cpp",
    "openai_chat": "openai",
    "responses": "openai_responses",
    "vertex": "google",
    "vertex_ai": "google",
    "x_ai": "xai",
}
# Who is not listed speaks OpenAI's Chat Completions.
_WIRES: Final[dict[Provider, WireFormat]] = dict.fromkeys(Provider, WireFormat.OPENAI_CHAT) | {
    Provider.AUTO: WireFormat.UNKNOWN,
    Provider.OPENAI_RESPONSES: WireFormat.OPENAI_RESPONSES,
    Provider.ANTHROPIC: WireFormat.ANTHROPIC,
    Provider.ANTHROPIC_COMPATIBLE: WireFormat.ANTHROPIC,
    Provider.GOOGLE: WireFormat.GEMINI,
    Provider.GOOGLE_INTERACTIONS: WireFormat.GEMINI_INTERACTIONS,
    Provider.COHERE: WireFormat.COHERE,
    Provider.COHERE_V1: WireFormat.COHERE_V1,
    Provider.BEDROCK: WireFormat.BEDROCK,
    Provider.MISTRAL: WireFormat.MISTRAL,
    Provider.MISTRAL_CONVERSATIONS: WireFormat.MISTRAL_CONVERSATIONS,
    Provider.OLLAMA: WireFormat.OLLAMA,
    Provider.MCP: WireFormat.MCP,
}
_DOCUMENTATION: Final = {
    Provider.OPENAI: "https://platform.openai.com/docs/guides/function-calling",
    Provider.OPENAI_RESPONSES: "https://platform.openai.com/docs/guides/function-calling?api-mode=responses",
    Provider.AZURE_OPENAI: "https://learn.microsoft.com/azure/ai-services/openai/how-to/function-calling",
    Provider.ANTHROPIC: "https://platform.claude.com/docs/en/docs/build-with-claude/tool-use",
    Provider.GOOGLE: "https://ai.google.dev/gemini-api/docs/function-calling",
    Provider.GOOGLE_INTERACTIONS: "https://ai.google.dev/gemini-api/docs/interactions",
    Provider.COHERE: "https://docs.cohere.com/docs/tool-use-overview",
    Provider.COHERE_V1: "https://docs.cohere.com/v1/docs/tool-use",
    Provider.BEDROCK: "https://docs.aws.amazon.com/bedrock/latest/userguide/tool-use.html",
    Provider.MISTRAL: "https://docs.mistral.ai/capabilities/function_calling",
    Provider.MISTRAL_CONVERSATIONS: "https://docs.mistral.ai/agents/agents_and_conversations",
    Provider.XAI: "https://docs.x.ai/docs/guides/function-calling",
    Provider.DEEPSEEK: "https://api-docs.deepseek.com/guides/function_calling",
    Provider.OLLAMA: "https://docs.ollama.com/capabilities/tool-calling",
    Provider.GROQ: "https://console.groq.com/docs/tool-use",
    Provider.TOGETHER: "https://docs.together.ai/docs/function-calling",
    Provider.FIREWORKS: "https://docs.fireworks.ai/guides/function-calling",
    Provider.OPENROUTER: "https://openrouter.ai/docs/features/tool-calling",
    Provider.VLLM: "https://docs.vllm.ai/en/latest/features/tool_calling.html",
    Provider.LLAMA_CPP: "https://github.com/ggml-org/llama.cpp/blob/master/docs/function-calling.md",
    Provider.TGI: "https://huggingface.co/docs/text-generation-inference/basic_tutorials/using_guidance",
    Provider.MCP: "https://modelcontextprotocol.io/specification/latest/server/tools",
}
# Whose name detection gives to a shape that several share.
DEFAULT: Final[dict[WireFormat, Provider]] = {
    WireFormat.UNKNOWN: Provider.AUTO,
    **{wire: provider for provider, wire in reversed(_WIRES.items()) if wire is not WireFormat.OPENAI_CHAT},
    WireFormat.OPENAI_CHAT: Provider.OPENAI,
    WireFormat.ANTHROPIC: Provider.ANTHROPIC,
}
