"""All that the page asks of Python: `answer`, JSON text in, JSON text out.

A request is an object whose ``do`` names what to do; `TASKS` has each with the fields that it takes. An answer is the
result with ``"ok": true``, or ``{"ok": false, "problem": {"where": ..., "message": ...}}`` if the request cannot be
carried out, ``where`` being the field that has to be corrected. A broken model output is no problem but a result.

Answers are ASCII, so that half a surrogate pair, which a text of a page may hold, gets through. Values of a model are
sent as JSON text, not as JSON values: a page's numbers are floats, which would change large integers.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from time import perf_counter
from typing import Any, Final

import toolglot

from ..cli.data import call_data, error_data, event_data, loss_data, repair_data
from ..cli.hints import untyped
from ..codes import hint
from ..errors import ConversionError, DefinitionError, LimitError, ParseError, ToolglotError
from ..types import ToolCall, json_text
from .reading import MAX_TEXT, MAX_TOOLS, Problem, choice, no_validator, number, read_request, reading_of, string
from .samples import SAMPLES, TOOLS, sample_of
from .spans import runs

MAX_REQUEST: Final = 4_000_000  # all of it, its characters escaped
MAX_RUNS: Final = 10_000
MAX_SECONDS: Final = 5.0
MAX_DELTAS: Final = 1_000
MAX_EVENTS: Final = 5_000
MAX_CALLS: Final = 500  # that are shown
MAX_EXPLAINED: Final = 20_000  # characters: a text is read many times over


def answer(request: str) -> str:
    """The answer to one request.

    >>> json.loads(answer('{"do": "parse", "text": "<tool_call>ping</tool_call>"}'))["format"]
    'glm47'
    >>> json.loads(answer('{"do": "parse"}'))["problem"]
    {'where': 'text', 'message': 'text: expected a string'}
    """
    try:
        result = {"ok": True, **_task(request)}
    except Problem as problem:
        result = {"ok": False, "problem": {"where": problem.where, "message": str(problem)}}
    return json.dumps(result, allow_nan=False)


def _task(request: str) -> dict[str, Any]:
    if len(request) > MAX_REQUEST:
        raise Problem("request", f"the request has {len(request):,} characters, at most {MAX_REQUEST:,} are taken")
    try:
        asked = json.loads(request)
    except (ValueError, RecursionError):
        raise Problem("request", "the request is not JSON") from None
    if not isinstance(asked, dict):
        raise Problem("request", "the request is not an object")
    do = asked.get("do")
    task = TASKS.get(do) if isinstance(do, str) else None
    if task is None:
        raise Problem("do", f"do: expected one of {', '.join(TASKS)}")
    return task(asked)


# -- the tasks


def about(asked: dict[str, Any]) -> dict[str, Any]:
    """What the page shows before anything is read."""
    writers = {"openai_chat", "openai_responses", "anthropic"}
    return {
        "version": toolglot.__version__,
        "python": ".".join(map(str, sys.version_info[:3])),
        "formats": [{"id": fmt.id, "title": fmt.title} for fmt in toolglot.formats()],
        "samples": [sample._asdict() for sample in SAMPLES],
        "tools": json_text(TOOLS, indent=2),
        "providers": [
            {"id": provider.value, "responses": provider.wire_format.value in writers}
            for provider in toolglot.providers()
        ],
        "no_validation": no_validator(),
        "limits": {"text": MAX_TEXT, "tools": MAX_TOOLS, "runs": MAX_RUNS, "deltas": MAX_DELTAS},
    }


def sample(asked: dict[str, Any]) -> dict[str, Any]:
    """``format``: a text in it, and what has to be said beside it so that its calls are read."""
    name = string(asked, "format", 200)
    try:
        text = sample_of(name)
    except DefinitionError as error:
        raise Problem("format", str(error)) from None
    # Some families' prompts open the reasoning, and some formats have the tools' names for tags.
    for prompt, tools in ((None, None), ("", None), (None, TOOLS), ("", TOOLS)):
        found = toolglot.parse(text, format=name, generation_prompt=prompt, tools=tools, on_error="collect")
        if found.tool_calls and not found.errors:
            break
    return {"text": text, "prompt": prompt, "tools": tools is not None}


def parse(asked: dict[str, Any]) -> dict[str, Any]:
    """``text``, ``format``, ``tools``, ``on_error``, ``validate``, ``cut``, ``prompt``: everything about a text."""
    want = read_request(asked)
    read = reading_of(want)
    message = read.message
    notes = list(message.notes)
    if want.options["tools"] is None:
        # (The command line's words.)
        notes += [note.replace("--tools FILE says", "the tools box can say") for note in [untyped(message)] if note]
        if read.format == "python" and want.format is None:
            notes.append("call syntax was read because nothing else was found; parse() needs the tools, or its format")
    elif asked.get("validate") is True and no_validator():
        notes.append(f"the arguments were not validated: {no_validator()}")
    if want.options["on_error"] == "raise":
        feedback = [error.feedback() for error in read.errors if isinstance(error, ParseError)]
    else:
        feedback = [text for text in [message.feedback()] if text]
    return {
        "how": read.how,
        "format": message.format or message.provider or _format_of(read.errors),
        "content": message.content,
        "reasoning": message.reasoning,
        "calls": [_call(call) for call in message.tool_calls[:MAX_CALLS]],
        "server_calls": [_call(call) for call in message.server_calls[:MAX_CALLS]],
        "call_count": len(message.tool_calls),
        "errors": [_error(error) for error in read.errors[:MAX_CALLS]],
        "error_count": len(read.errors),
        "repairs": [repair_data(repair) for repair in message.repairs[:MAX_CALLS]],
        "losses": [loss_data(loss) for loss in message.losses[:MAX_CALLS]],
        "notes": notes,
        "runs": runs(want.text, message, message.errors or read.errors) if read.how == "text" else [],
        "feedback": "\n\n".join(feedback) or None,
        "ms": read.seconds * 1000,
    }


def _format_of(errors: list[ToolglotError]) -> str | None:
    return next((error.format for error in errors if isinstance(error, ParseError) and error.format), None)


def _call(call: ToolCall) -> dict[str, Any]:
    data = call_data(call)
    data["arguments"] = _shown(call)
    return data


def _shown(call: ToolCall) -> str:
    try:
        return json_text(call.arguments, indent=2)
    except RecursionError:  # indented JSON is written by Python code, which takes more of the stack
        return call.arguments_json


def _error(error: ToolglotError) -> dict[str, Any]:
    data = error_data(error)
    data["hint"] = hint(error.code)
    if isinstance(error, ParseError):
        del data["raw"]  # the page has the text
        data["violations"] = [f"{one.path}: {one.message}" for one in error.violations[:20]]
    return data


def explain(asked: dict[str, Any]) -> dict[str, Any]:
    """The fields of `parse`: what looks like a call and is none, and what the text would be with a format named."""
    want = read_request(asked)
    if want.format == "response" or len(want.text) > MAX_EXPLAINED:
        return {"lines": []}
    options = {key: value for key, value in want.options.items() if key not in ("on_error", "validate")}
    try:
        found = toolglot.explain(want.text, format=want.format, **options)
    except (LimitError, RecursionError) as error:
        return {"lines": [str(error)]}
    lines = [f"line {one.line}, column {one.column}: {one.text}: {one.reason}" for one in found.candidates]
    for reading in found.readings:
        if reading.formats and reading.message.tool_calls:
            calls = ", ".join(call.name for call in reading.message.tool_calls[:5])
            lines.append(f"read as {', '.join(reading.formats[:5])} it calls {calls}")
    return {"lines": lines}


def run_many(asked: dict[str, Any]) -> dict[str, Any]:
    """The fields of `parse`, and ``times``: how long that many parses take."""
    times = number(asked, "times", MAX_RUNS)
    read = reading_of(read_request(asked))
    done = 0
    began = perf_counter()
    while done < times and perf_counter() - began < MAX_SECONDS:
        for _ in range(min(10, times - done)):
            try:
                read.again()
            except (ParseError, LimitError):
                pass
            done += 1
    seconds = perf_counter() - began
    return {"runs": done, "ms": seconds * 1000, "us_each": seconds * 1e6 / done}


def events(asked: dict[str, Any]) -> dict[str, Any]:
    """The fields of `parse`, and ``size``: the events as they come when that many characters come at a time.

    Each event has the number of the delta that it came with; what the end of the text decides comes behind the last.
    """
    want = read_request(asked)
    size = max(number(asked, "size", MAX_TEXT), -(-len(want.text) // MAX_DELTAS))
    read = reading_of(want)
    if read.how == "response":
        raise Problem("text", "an API's response comes whole; events are those of a text")
    deltas = range(0, len(want.text), size)
    parser = toolglot.StreamParser(format=read.format, **want.options)
    found: list[dict[str, Any]] = []
    cut = None
    try:
        for delta, start in enumerate(deltas, 1):
            found += [_event(event, delta) for event in parser.feed(want.text[start : start + size])]
            if len(found) > MAX_EVENTS:
                raise Problem("size", f"size: more than {MAX_EVENTS:,} events; let more characters come at a time")
        found += [_event(event, len(deltas) + 1) for event in parser.close()]
    except (ParseError, LimitError) as error:
        cut = str(error)
    return {"size": size, "deltas": len(deltas), "events": found[:MAX_EVENTS], "raised": cut}


def _event(event: toolglot.Event, delta: int) -> dict[str, Any]:
    data = event_data(event)
    if isinstance(event, toolglot.ToolCallEnd):
        data["call"] = {"name": event.call.name, "arguments": event.call.arguments_json}
    elif isinstance(event, toolglot.ErrorEvent):
        data["error"] = {"code": event.error.code, "message": str(event.error)}
    return {**data, "delta": delta}


def render(asked: dict[str, Any]) -> dict[str, Any]:
    """The fields of `parse`, and ``target``: the calls, and the text around them, in another format."""
    want = read_request(asked)
    target = string(asked, "target", 200)
    message = reading_of(want).message
    if not message.tool_calls:
        raise Problem("text", "there is no call to write")
    around: dict[str, Any] = {"content": message.content, "reasoning": message.reasoning}
    left_out: list[str] = []
    while True:
        try:
            text = toolglot.render(message.tool_calls, target, tools=want.options["tools"], **around)
            return {"rendered": text, "left_out": left_out}
        except DefinitionError as error:
            raise Problem("target", str(error)) from None
        except (ConversionError, RecursionError) as error:
            # Some families write no text, or no reasoning, beside calls: then the calls alone.
            field = next((field for field in ("reasoning", "content") if around.pop(field, None)), None)
            if field is None:
                raise Problem("target", str(error)) from None
            left_out.append(f"{field}: {error}")


def convert(asked: dict[str, Any]) -> dict[str, Any]:
    """The fields of `parse`, ``what`` and ``target``: ``tools`` as a provider's request has them; or what was read, as
    a ``message`` of its history or as a ``response`` of its API. Ids that are missing are made up.
    """
    want = read_request(asked)
    want.options["ids"] = "synthesize"
    what = choice(asked, "what", ("message", "tools", "response"))
    provider = toolglot.try_get_provider(string(asked, "target", 200))
    if provider is None:
        raise Problem("target", "target: no provider is called so")
    try:
        made: Any
        if what == "tools":
            if want.options["tools"] is None:
                raise Problem("tools", "there is no tool to convert: write definitions into the tools box")
            made = provider.request(want.options["tools"])
        else:
            message = reading_of(want).message
            made = provider.assistant(message) if what == "message" else provider.response(message, model="a-model")
        return {"converted": json_text(made, indent=2), "losses": [loss_data(loss) for loss in made.losses]}
    except (ToolglotError, RecursionError) as error:
        raise Problem("target", str(error)) from None


TASKS: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "about": about,
    "sample": sample,
    "parse": parse,
    "explain": explain,
    "run_many": run_many,
    "events": events,
    "render": render,
    "convert": convert,
}
"""What can be asked for."""
