"""What `toolglot check-format` does: a format of one's own is loaded, tried out, and held against its golden cases."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass, field, replace
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from traceback import extract_tb
from typing import Any

import toolglot

from .. import golden
from ..errors import ConversionError, DefinitionError, ToolglotError
from ..format import Format
from ..registry import PACKAGE, REGISTRY
from ..types import Message, ToolCall
from .catalogue import SAMPLES
from .inputs import UsageProblem

_KNOWN = frozenset(REGISTRY.ids())  # before anything is loaded
_TAGS = ("single", "hostile", "truncated", "malformed")  # that every folder of golden cases has


@dataclass
class Report:
    """What was found out about a format: what is ``wrong``, and what would be ``advised``."""

    id: str
    checks: dict[str, str] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)
    advised: list[str] = field(default_factory=list)

    def fault(self, check: str, what: str) -> None:
        """A check that fails."""
        self.checks[check] = "wrong"
        self.wrong.append(f"{check}: {what}")

    def data(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "type": "format",
            "id": self.id,
            "checks": self.checks,
            "wrong": self.wrong,
            "advised": self.advised,
        }


def load(path: Path) -> Format:
    """The one `Format` that a Python file declares. The file is run, as ``python FILE`` would run it.

    It is loaded as a file of ``toolglot.formats`` is, so that it may say ``from ..format import Format``.
    """
    packaged = Path(PACKAGE.__path__[0])
    if path.resolve().parent == packaged.resolve() and path.stem in REGISTRY.ids():
        return REGISTRY.get(path.stem)
    before = set(REGISTRY.ids())
    spec = spec_from_file_location(f"{PACKAGE.__name__}.{path.stem}", path)
    if spec is None or spec.loader is None:
        raise UsageProblem(f"{path} is no Python file: its name has to end in .py")
    module = module_from_spec(spec)
    try:
        with redirect_stdout(sys.stderr):  # what it prints is no part of the report
            spec.loader.exec_module(module)
    except ToolglotError as error:
        raise UsageProblem(f"{path}{_line(error, path)}: {error} ({error.code})") from None
    except (Exception, SystemExit) as error:  # noqa: BLE001 (a file that is run may raise anything)
        raise UsageProblem(f"{path}{_line(error, path)}: {type(error).__name__}: {error}") from None
    registered = [REGISTRY.get(id) for id in REGISTRY.ids() if id not in before]
    named = getattr(module, "FORMAT", None)
    if isinstance(named, Format):
        return named if named.id else replace(named, id=path.stem)
    found = registered or [value for value in vars(module).values() if isinstance(value, Format)]
    if not found:
        raise UsageProblem(f"{path} declares no format: it needs FORMAT = Format(...), or register_format(Format(...))")
    if len(found) > 1:
        raise UsageProblem(f"{path} declares {len(found)} formats: call the one to be checked FORMAT")
    return found[0] if found[0].id else replace(found[0], id=path.stem)


def _line(error: BaseException, path: Path) -> str:
    """Where in the file it happened."""
    if isinstance(error, SyntaxError) and error.lineno is not None:
        return f", line {error.lineno}"
    lines = [frame.lineno for frame in extract_tb(error.__traceback__) if Path(frame.filename) == path]
    return f", line {lines[-1]}" if lines else ""


def check(fmt: Format, cases: Path | None) -> Report:
    """Try a format out: its declaration, sample calls whole and streamed, detection, its golden cases."""
    report = Report(fmt.id)
    if fmt.id not in REGISTRY.ids():
        try:
            toolglot.register_format(fmt)
        except DefinitionError as error:
            report.fault("declaration", str(error))
            return report
    elif REGISTRY.get(fmt.id) is not fmt:
        report.fault("declaration", f"{fmt.id!r} is the id of a format that comes with Toolglot: choose another")
        return report
    report.checks["declaration"] = "right"
    _samples(fmt, report)
    _others(fmt, report)
    _golden(fmt, cases, report)
    for name, why in (("title", "what it is, for `toolglot formats`"), ("source", "where the facts come from")):
        if not getattr(fmt, name):
            report.advised.append(f"say its {name}: {why}")
    return report


def _writable(fmt: Format) -> Iterator[tuple[list[ToolCall], str]]:
    for sample in SAMPLES:
        try:
            yield sample[: fmt.max_calls], toolglot.render(sample[: fmt.max_calls], fmt.id)
        except ConversionError:
            continue


def _tools(calls: list[ToolCall]) -> list[dict[str, Any]]:
    """Tools whose schemas say what the values of the sample calls are."""
    kinds = {str: "string", int: "integer", dict: "object"}
    return [
        {
            "name": call.name,
            "parameters": {
                "type": "object",
                "properties": {key: {"type": kinds[type(value)]} for key, value in call.arguments.items()},
            },
        }
        for call in calls
    ]


def _samples(fmt: Format, report: Report) -> None:
    """Sample calls are written, and read whole, one character at a time, and without the format's name."""
    if fmt.parse_only:
        report.checks["render"] = "does not apply: it is only read"
        return
    written = next(_writable(fmt), None)
    if written is None:
        try:
            toolglot.render(SAMPLES[0][: fmt.max_calls], fmt.id)
        except ConversionError as error:
            report.fault("render", f"none of the sample calls can be written: {error} ({error.code})")
        return
    report.checks["render"] = "right"
    calls, text = written
    tools = _tools(calls)
    options: dict[str, Any] = {"tools": tools, "on_error": "collect", "generation_prompt": ""}
    whole = toolglot.parse(text, format=fmt.id, **options)
    _compare(report, "parse", calls, whole, text)
    parser = toolglot.StreamParser(format=fmt.id, **options)
    for char in text:
        parser.feed(char)
    parser.close()
    _compare(report, "stream", calls, parser.message, text)
    if not fmt.detect:
        report.checks["detect"] = "does not apply: it has to be named"
        return
    detected = toolglot.parse(text, **options)
    if _said(detected) != _said(whole):
        report.fault(
            "detect",
            f"without its name the sample is read as {detected.format or 'no call'}; if they share an opener, a lower "
            "rank= is tried first, and detect=False leaves detection to the others",
        )
    elif detected.format not in (fmt.id, fmt.reported, whole.format):
        report.checks["detect"] = f"the same calls, by {detected.format}"
    else:
        report.checks["detect"] = "right"


def _said(message: Message) -> list[tuple[str, Any]]:
    return [(call.name, golden.exact(call.arguments)) for call in message.tool_calls]


def _compare(report: Report, check: str, calls: list[ToolCall], message: Message, text: str) -> None:
    wanted = [(call.name, golden.exact(call.arguments)) for call in calls]
    if message.errors:
        error = message.errors[0]
        report.fault(check, f"the sample that it writes is read as broken: {error} ({error.code}); it is {text!r:.400}")
    elif _said(message) != wanted:
        report.fault(check, f"the sample that it writes is not read back; it is {text!r:.400}")
    else:
        report.checks[check] = "right"


def _others(fmt: Format, report: Report) -> None:
    """No sample of another format is read in another way because this one is there."""
    if not fmt.detect or fmt.id in _KNOWN:
        return
    taken = []
    for other in toolglot.formats():
        if other is fmt or not other.detect or other.parse_only:
            continue
        for calls, text in _writable(other):
            found = toolglot.parse(text, tools=_tools(calls), on_error="collect", generation_prompt="")
            if fmt.id in [call.format for call in found.tool_calls] + [error.format for error in found.errors]:
                taken.append(other.id)
                break
    if taken:
        report.fault(
            "neighbours",
            f"without a format's name it takes calls of {', '.join(taken[:5])}: let the text behind the shared opener "
            "tell them apart, give it a higher rank=, or detect=False",
        )
    else:
        report.checks["neighbours"] = "right"


def _golden(fmt: Format, folder: Path | None, report: Report) -> None:
    """The golden cases in ``folder``, or in its subfolder that has the format's id."""
    if folder is not None and (folder / fmt.id).is_dir():
        folder /= fmt.id
    if folder is None or not any(folder.glob("*.json")):
        where = f"in {folder}" if folder is not None else "(--cases FOLDER)"
        report.advised.append(
            f"write golden cases {where}: NAME.txt, an exact output, and NAME.json, what has to be read from it; "
            "toolglot.golden says how"
        )
        return
    try:
        cases = [replace(case, format=fmt.id) for case in golden.load_folder(folder)]
    except (ValueError, OSError, LookupError, TypeError) as error:
        report.fault("cases", str(error))
        return
    passed = {name: [0, 0] for name in golden.CHECKS}
    tags: set[str] = set()
    for case in cases:
        tags |= set(case.tags)
        for name, said in golden.check(case).items():
            if said is not None:
                passed[name][0] += not said
                passed[name][1] += 1
                if said:
                    report.wrong.append(f"{case}, {name}: {said}")
    for name, (right, of) in passed.items():
        report.checks[f"golden cases, {name}"] = f"{right} of {of}" if of else "does not apply"
    missing = [tag for tag in _TAGS if tag not in tags]
    if missing:
        report.advised.append(f"no golden case has the tag {' or '.join(missing)}: every format shows these")
