"""``toolglot check-history``: what an API would refuse of a conversation, before it does."""

from __future__ import annotations

from typing import Annotated, Any

import typer

import toolglot

from ..errors import ConversionError
from ..providers._payload import json_path
from ..providers._turns import SOURCE, WHOLE
from ..types import Loss, Message, OpaquePart
from . import complete, data
from .common import Color, Json, Tools, refused, usage_problems, write_json
from .escape import line
from .inputs import UsageProblem, read_json, read_tools, source_name
from .show import Screen
from .values import history_source


def check_history(
    file: Annotated[
        str | None,
        typer.Argument(help="A list of messages or a whole request, JSON; - or nothing is standard input."),
    ] = None,
    provider: Annotated[
        str | None,
        typer.Option(
            help="Whose API is to take it; else the one whose shape it has.", autocompletion=complete.provider_names
        ),
    ] = None,
    tools: Tools = None,
    json: Json = False,
    color: Color = True,
) -> None:
    """Say what an API would refuse of a conversation: calls without results, ids that it does not take, wrong order."""
    with usage_problems():
        if tools == "-" and file in (None, "-"):
            raise UsageProblem("the messages and the tools cannot both be standard input")
        screen = None if json else Screen(color)
        declared = None if tools is None else read_tools(tools)
        value = read_json(file)
        owner = history_source(value, source_name(file), provider, "--provider")
        try:
            problems = toolglot.check_messages(value, owner, tools=declared)
            refused_whole = {problem.path for problem in problems if problem.code == "history.unknown_role"}
            unread = [loss for loss in _unread(value, owner, source_name(file)) if loss.path not in refused_whole]
        except ConversionError as error:
            said = {"type": "problems", "provider": owner, "problems": None}
            raise refused(error, said if screen is None else None) from None
    if screen is None:
        found: list[Any] = [data.problem_data(problem) for problem in problems]
        losses = [data.loss_data(loss) for loss in unread]
        write_json({"type": "problems", "provider": owner, "problems": found, "losses": losses}, indent=2)
    else:
        for problem in problems:
            screen.say(("problem", "bold red"), "  ", (line(problem.code), "bold"), f"  {line(problem.path)}")
            screen.say(line(problem.detail), indent=2)
            if problem.rule:
                screen.say(("the API says: ", "bold"), line(problem.rule), indent=2)
            screen.say()
        for loss in unread:
            screen.say(("not checked", "bold yellow"), f"  {line(loss.path)}: {line(loss.detail)}")
            screen.say()
        screen.say((_summary(len(problems), len(unread), owner), "bold red" if problems else "bold green"))
    raise typer.Exit(1 if problems else 0)


def _summary(problems: int, unread: int, owner: str) -> str:
    told = f"{problems} problem{'' if problems == 1 else 's'}" if problems else "nothing that the API would refuse"
    return f"{told}{f', {unread} not checked' if unread else ''} ({owner})"


def _unread(value: Any, owner: str, name: str) -> list[Loss]:
    """What is no message of this API's, or is not known to be one, and so was not checked."""
    turns = toolglot.get_provider(owner).history(value)
    found = list(turns.losses)
    if found and not turns:
        raise UsageProblem(f"{name}: {found[0].path}: {found[0].detail}")
    for turn in turns:
        parts = [] if isinstance(turn, Message) or not isinstance(turn.content, list) else turn.content
        for part in parts:
            if isinstance(part, OpaquePart) and any(own.get(WHOLE) for own in part.extra.values()):
                path = json_path(turn.extra[SOURCE]["path"])
                found.append(Loss("loss.unread", path, f"it is not known as a message of {owner}"))
    return found
