"""How those deviate who speak OpenAI's Chat Completions: one `Dialect` each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from ._names import Provider
from ._openai_parts import DEEPSEEK, OPENROUTER, VLLM

__all__ = ["DIALECTS", "Dialect"]


@dataclass(frozen=True)
class Dialect:
    """How a provider deviates.

    ``strict``: takes ``function.strict``. ``parallel``: takes ``parallel_tool_calls``. ``custom``: has tools of free
    text. ``allowed``: can limit a choice to several tools. ``reasoning``: the member in which reasoning must go back,
    whoever it came from. ``echo``: takes its own reasoning back in the member that it came in. ``thinks``: the member
    in which it gives reasoning out. ``parts``: the content of a result may hold images. ``files``: takes files and
    sound from a user. ``developer``: knows the role of that name. ``rules``: what it refuses of a history besides.
    """

    strict: bool = True
    parallel: bool = True
    custom: bool = False
    allowed: bool = False
    reasoning: str | None = None
    echo: bool = True
    thinks: str | None = "reasoning_content"
    parts: bool = False
    files: bool = True
    developer: bool = False
    rules: Mapping[str, str | None] = field(default_factory=dict)


DIALECTS: Final = {
    Provider.OPENAI: Dialect(custom=True, allowed=True, echo=False, thinks=None, developer=True),
    Provider.AZURE_OPENAI: Dialect(custom=True, allowed=True, echo=False, thinks=None, developer=True),
    Provider.XAI: Dialect(strict=False),
    # Thinking models refuse an assistant's turn with calls that comes without its reasoning_content.
    Provider.DEEPSEEK: Dialect(strict=False, parallel=False, reasoning="reasoning_content", rules=DEEPSEEK),
    Provider.GROQ: Dialect(thinks="reasoning", parts=True, files=False),
    Provider.TGI: Dialect(strict=False, parallel=False, echo=False),
    Provider.LLAMA_CPP: Dialect(strict=False),
    Provider.OPENROUTER: Dialect(thinks="reasoning", rules=OPENROUTER),
    Provider.VLLM: Dialect(thinks="reasoning", rules=VLLM),
}
