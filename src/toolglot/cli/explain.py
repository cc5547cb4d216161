"""``toolglot explain``: a code; or a text, what is wrong with it and why what looks like a call is none."""

from __future__ import annotations

import re
from difflib import get_close_matches
from os.path import exists  # False for a name that no file can have, where Path.exists raises
from typing import Annotated, Any

import typer

import toolglot

from ..codes import CodeInfo
from ..errors import CODES, LOSSES, PROBLEMS, REPAIRS, LimitError, TruncatedError
from ..explanation import MAX_TEXT, Explanation
from ..types import Message
from . import complete, data
from .common import (
    Coerce,
    Color,
    FinishReason,
    Format,
    GenerationPrompt,
    Json,
    Model,
    Provider,
    Tools,
    Validate,
    usage_problems,
    write_json,
)
from .common import ToolChoice as Choice
from .escape import line, plain
from .inputs import UsageProblem, chunks, payload_of, provider_named, recorded
from .parse import parser, read_options, response_reader
from .show import Screen

_ALL = [*CODES, *LOSSES, *PROBLEMS, *REPAIRS]
_FAMILIES = {code.partition(".")[0] for code in _ALL}
_KINDS = {
    "loss": "what a conversion could not carry",
    "problem": "what an API would refuse of a history",
    "repair": "a mend of a broken call",
}


def explain(
    what: Annotated[
        str | None,
        typer.Argument(
            metavar="CODE|FILE",
            help="An error's code, or a file with an output or a response; - or nothing is standard input.",
            autocompletion=complete.codes,
        ),
    ] = None,
    format: Format = None,
    provider: Provider = None,
    model: Model = None,
    tools: Tools = None,
    tool_choice: Choice = None,
    generation_prompt: GenerationPrompt = None,
    finish_reason: FinishReason = None,
    validate: Validate = False,
    coerce: Coerce = False,
    json: Json = False,
    color: Color = True,
) -> None:
    """Say what a code means; or what is wrong with an output, what the model would be told, and what repair would do.

    Where no call was found, say what looks like one and why it is none, and which format would read one if it is named.
    """
    of_text = [format, model, tool_choice, generation_prompt, finish_reason]
    with usage_problems():
        screen = None if json else Screen(color)
        code = _code(what)
        if code is not None:
            if any(option is not None for option in (*of_text, provider, tools)):
                raise UsageProblem(f"{code} is a code, and the options are for texts")
            info = toolglot.code_info(code)
            assert info is not None
            if screen is None:
                write_json(data.code_data(info), indent=2)
            else:
                _show_code(screen, info)
            raise typer.Exit
        if provider is not None and any(option is not None for option in of_text):
            raise UsageProblem("--provider reads a response; format, model and the like are of a model's own text")
        options = read_options(
            what, format, model, tools, tool_choice, generation_prompt, finish_reason, validate, coerce
        )
        parser(options)  # what is wrong with the options shows before anything is read
        owner = None if provider is None else provider_named(provider)
        text = "".join(chunks(what))
        if owner is None and all(option is None for option in of_text):
            owner = payload_of(text)
        found, stop = _explanation(text, owner, options)
    if screen is None:
        said = data.explanation_data(found)
        if stop is not None:
            said["message"]["errors"].append(data.error_data(stop))
        write_json(said, indent=2)
    else:
        unreadable = owner is not None and bool(found.message.errors) and found.message.provider is None
        _show(screen, found, text, stop, tools is not None, unreadable)
    raise typer.Exit(1 if found.message.errors or stop is not None else 0)


def _code(what: str | None) -> str | None:
    """The code that ``what`` is; None if it is a file."""
    if what is None or what in _ALL:
        return what
    if exists(what) or not re.fullmatch(r"[a-z_]+\.[a-z_]+", what) or what.partition(".")[0] not in _FAMILIES:
        return None
    near = get_close_matches(what, _ALL, n=3, cutoff=0.6)
    raise UsageProblem(
        f"no code is called {what!r:.80}, and there is no such file"
        + (f"; did you mean {' or '.join(near)}?" if near else "; docs/errors.md lists the codes")
    )


def _explanation(text: str, owner: str | None, options: dict[str, Any]) -> tuple[Explanation, LimitError | None]:
    """The explanation, and the limit at which reading stopped."""
    try:
        if owner is None:
            return toolglot.explain(text, **options), None
        kept = {key: options[key] for key in ("tools", "validate", "coerce")}
        if not recorded(text):
            return toolglot.explain_response(text, owner, **kept), None
        found = Explanation(response_reader(owner, {**kept, "on_error": "collect"})(text))
        if found.message.errors:
            mended = response_reader(owner, {**kept, "on_error": "repair"})(text)
            found.repaired = mended if mended.repairs else None
        return found, None
    except LimitError as error:
        return Explanation(Message()), error


def _show_code(screen: Screen, info: CodeInfo) -> None:
    screen.say(("code      ", "bold cyan"), (info.code, "bold"))
    screen.say(("means     ", "bold cyan"), info.meaning)
    screen.say(("is        ", "bold cyan"), f"raised: {info.error}" if info.error else _KINDS.get(info.kind, "raised"))
    if info.example is not None:
        screen.say(("example   ", "bold cyan"), line(_shortened(info.example)))
    if info.feedback is not None:
        screen.say(("feedback", "bold cyan"), "  (what the model is told of the example)")
        screen.say(plain(info.feedback), indent=10)
    if info.repairs is not None:
        screen.say(("repaired  ", "bold cyan"), ", ".join(info.repairs) or "no: it stays an error")
    if info.advice:
        screen.say(("to do     ", "bold cyan"), info.advice)


def _shortened(text: str) -> str:
    return text if len(text) <= 300 else f"{text[:200]} ... {text[-60:]}"


def _show(
    screen: Screen, found: Explanation, text: str, stop: LimitError | None, tools: bool, unreadable: bool
) -> None:
    message = found.message
    if stop is not None:
        screen.error(stop)
    for error in message.errors:
        screen.error(error)
        if unreadable:
            continue
        screen.say(("the model is told", "bold cyan"), "  (error.feedback())")
        screen.say(plain(error.feedback()), indent=2)
        screen.say()
    if found.repaired is not None:
        _show_repaired(screen, found.repaired, message)
    elif unreadable:
        screen.say("It is no response: its JSON is broken, for which no model is to blame.")
        screen.say()
    elif message.errors:
        cut = all(isinstance(error, TruncatedError) for error in message.errors)
        why = "what was cut off never becomes a call" if cut else "no reading of it is the only one"
        screen.say(f"--on-error repair mends nothing of it: {why}.")
        screen.say()
    screen.remarks(message)
    if found.candidates:
        screen.say(("looks like a call and is none", "bold cyan"))
        for one in found.candidates:
            screen.say((f"line {one.line}, column {one.column}", "bold"), f"  {line(one.text)}", indent=2)
            code = "" if one.code is None else f" ({one.code})"
            screen.say(f"{line(one.reason)}{code}", indent=4)
        if found.more_places:
            screen.say(f"{found.more_places} places behind these were not looked at", indent=2)
        screen.say()
    if found.readings:
        screen.say(("would be read", "bold cyan"))
        for reading in found.readings:
            names = [line(call.name) for call in reading.message.tool_calls]
            calls = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
            how = " or ".join(f"--format {id}" for id in reading.formats[:5])
            if not how and message.provider is not None:
                how = "as the model's own text (text_format='auto')"
            how = how or f"without a format ({line(reading.message.format or '')})"
            screen.say((how, "bold"), f"  {calls}", indent=2)
        screen.say()
    if found.too_long and not message.tool_calls and not message.errors:
        screen.say(f"It is longer than {MAX_TEXT:,} characters, so no other format was tried.")
        screen.say()
    if not (message.errors or stop or found.repaired or message.losses):
        if message.tool_calls:
            screen.say("Nothing is wrong; `toolglot parse` shows what is in it.")
            screen.say()
        elif not (found.candidates or found.readings or found.too_long):
            screen.say("Nothing in it looks like a call." if text.strip() else "It is empty.")
            if not tools and text.strip() and message.provider is None:
                named = ", ".join(fmt.id for fmt in toolglot.formats() if fmt.by_tool)
                screen.say(f"Formats whose markup is the tools' own names ({named}) are only found with --tools FILE.")
            screen.say()
    screen.summary(message, [*message.errors, *([] if stop is None else [stop])])


def _show_repaired(screen: Screen, repaired: Message, message: Message) -> None:
    """What repair adds to what was read without."""
    screen.say(("with --on-error repair", "bold cyan"))
    sound = [call.index for call in message.tool_calls]
    for call in repaired.tool_calls:
        if call.index not in sound:
            screen.call(call)
    screen.repairs(repaired)
    for error in repaired.errors:
        screen.say(f"stays broken: {line(error.code)}, {line(str(error))}")
    if repaired.errors:
        screen.say()
