"""A page a provider, made from the declarations and from what the library writes and reads."""

from __future__ import annotations

import inspect
import json
import re
from pathlib import Path
from typing import Any, Final

import toolglot
from toolglot import ConversionError, Loss, Message, Provider, ToolResult, WireFormat, WireProvider
from toolglot.errors import PROBLEMS
from toolglot.providers._dialects import DIALECTS, Dialect
from toolglot.providers._names import _ALIASES

from .formats import CALLS, TOOLS
from .markdown import code, codes, data, page, table, text

RECORDED: Final = Path(__file__).resolve().parents[2] / "tests" / "providers"
CHOICES: Final = ("auto", "none", "required", "get_weather")
# What a field of `Dialect` says, where it is not as with most.
SAYS: Final = {
    "strict": {False: "does not take `strict` in a definition"},
    "parallel": {False: "does not take `parallel_tool_calls`"},
    "custom": {True: "has tools that take free text (`custom`)"},
    "allowed": {True: "can limit a choice to several tools (`allowed_tools`)"},
    "echo": {False: "does not take its own reasoning back"},
    "parts": {True: "takes images in a result"},
    "files": {False: "takes no files and no sound from a user"},
    "developer": {True: "knows the role `developer`"},
}


def deviations(dialect: Dialect) -> list[str]:
    """What a dialect says, in words."""
    said = [words[value] for name, words in SAYS.items() if (value := getattr(dialect, name)) in words]
    if dialect.thinks:
        said.append(f"gives reasoning out in `{dialect.thinks}`")
    if dialect.reasoning:
        said.append(f"wants reasoning back in `{dialect.reasoning}`, whoever it came from")
    said += [f"refuses besides: `{rule}`" for rule in dialect.rules]
    return said


def _losses(losses: tuple[Loss, ...]) -> str:
    return "".join(f"\nLost: {text(loss.detail)} (`{loss.code}` at {code(loss.path)}).\n" for loss in losses)


def _choice_rows(wire: WireProvider) -> list[tuple[str, str]]:
    rows = []
    for choice in CHOICES:
        made = wire.tool_choice(choice)
        said = code(json.dumps(made)) if made else "nothing to write"
        said += "".join(f"; {text(loss.detail)} (`{loss.code}`)" for loss in made.losses)
        rows.append((code(choice), said))
    return rows


def _recorded(wire: WireFormat) -> dict[str, Any]:
    case: dict[str, Any] = json.loads((RECORDED / wire.value / "calls.json").read_text("utf-8"))
    return case


def _response(provider: Provider) -> str:
    case = _recorded(provider.wire_format)
    response = case["payload"]
    message = toolglot.get_provider(provider).parse(response)
    calls = table(
        ("name", "arguments", "id"),
        [
            (code(call.name), code(call.arguments_json), code(call.id) if call.id else "-")
            for call in message.tool_calls
        ],
    )
    found = toolglot.detect_provider(response)
    whose = (
        f"`detect_provider` takes it for {code(found.value)}"
        + ("" if found is provider else f", whose shape it is: name {code(provider.value)} yourself")
        + "."
    )
    return f"{data(response)}\nThe calls in it:\n\n{calls}\n{whose}"


def _written(wire: WireProvider) -> str:
    message = Message(content="I look it up.", tool_calls=list(CALLS))
    results = [
        ToolResult.success(CALLS[0].id, {"celsius": 4}, CALLS[0].name),
        ToolResult.failure("call_2", "the clock stands still", CALLS[1].name),
    ]
    message.tool_calls[1] = toolglot.ToolCall("get_time", {}, id="call_2")
    said = wire.assistant(message)
    back = wire.results(results, message)
    return (
        f"The model's turn, as `assistant` writes it:\n\n{data(said)}{_losses(said.losses)}\n"
        f"Its results, of which the second is an error, as `results` writes them:\n\n{data(back)}{_losses(back.losses)}"
    )


def _stream(wire: WireProvider) -> str:
    try:
        wire.stream_writer(model="m")
    except ConversionError:
        return "Streams are read; they are not written for others."
    return "Streams are read, and written for clients of this API ([more](../streams.md#speaking-an-api))."


def _rules(wire: WireProvider) -> str:
    rows = [
        (f"`{rule}`", text(PROBLEMS[rule]), text(words) if words else "-")
        for rule, words in {**wire.rules, **DIALECTS.get(wire.provider, Dialect()).rules}.items()
    ]
    head = "What `check_messages` finds in a history for it ([more](../histories.md)):\n\n"
    return head + table(("code", "what", "the API's words"), rows) if rows else ""


def _doc(wire: WireProvider) -> str:
    module = inspect.getmodule(type(wire))
    assert module is not None
    return text(re.sub(r"``([^`]+)``", r"`\1`", inspect.cleandoc(module.__doc__ or "")))


def provider_page(provider: Provider) -> str:
    """The page of one provider."""
    wire = toolglot.get_provider(provider)
    dialect = DIALECTS.get(provider, Dialect()) if provider.wire_format is WireFormat.OPENAI_CHAT else None
    aliases = [alias for alias, name in _ALIASES.items() if name == provider.value]
    url = provider.documentation_url
    facts = [
        ("name", code(provider.value)),
        ("also called", codes(aliases) or "-"),
        ("wire format", code(provider.wire_format.value)),
        ("documentation", f"<{url}>" if url else "-"),
    ]
    request = wire.request(TOOLS, "auto")
    return page(
        provider.value,
        _doc(wire),
        table(("", ""), facts),
        "## How it deviates\n\n" + "\n".join(f"- {line}" for line in deviations(dialect)) if dialect else "",
        f"## Tools\n\n`get_provider({provider.value!r}).request(tools)` makes these members of a request:\n\n"
        + data(request)
        + _losses(request.losses),
        "## Choice\n\n" + table(("choice", "becomes"), _choice_rows(wire)),
        "## A response\n\nOne of the recorded ones (`tests/providers/`):\n\n" + _response(provider),
        "## What goes back\n\n" + _written(wire),
        "## Streams\n\n" + _stream(wire),
        "## What it refuses\n\n" + _rules(wire),
    )


INDEX = """\
One tool, one call and one result, to and from every API. What is in the tables of each page is made by the library
while the documentation is built. Who is not listed and speaks OpenAI's Chat Completions or Anthropic's Messages is
`openai_compatible` or `anthropic_compatible`.
"""


def index_page() -> str:
    """All providers, a line each."""
    rows = []
    for provider in toolglot.providers():
        wire = toolglot.get_provider(provider)
        found = toolglot.detect_provider(_recorded(provider.wire_format)["payload"])
        choices = [mode for mode in ("auto", "none", "required", "named") if mode in wire.modes]
        rows.append(
            (
                f"[`{provider.value}`]({provider.value}.md)",
                code(provider.wire_format.value),
                "yes" if found is provider else f"as `{found.value}`",
                ", ".join(choices),
                "read, written" if "written for clients" in _stream(wire) else "read",
            )
        )
    return page(
        "All providers",
        INDEX,
        table(("provider", "wire format", "detected", "choices it has words for", "streams"), rows),
    )


def pages() -> dict[str, str]:
    """Every page, by its path."""
    made = {f"providers/{provider.value}.md": provider_page(provider) for provider in toolglot.providers()}
    return {"providers/index.md": index_page(), **made}
