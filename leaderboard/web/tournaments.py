"""Tournaments of `crosstown run` that the organisers of a ladder steer, as the commands do: a page for each.

A decision is made in the journal of the run, or by the runner at work, as with the commands: see `referee.run.orders`.
"""

import asyncio
import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import quote

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from leaderboard.web.accounts import hand_ins_of, needed_account, sentence
from leaderboard.web.members import checked_form
from leaderboard.web.pages import page
from referee.errors import BusyError, ExpectedError, TournamentError, UsageError
from referee.record.journal import Choice, Control
from referee.run.decisions import length_words
from referee.run.folder import RunFolder, runs_in
from referee.run.run import Run
from referee.run.status import Status, read_status
from referee.schedule.config import make_field
from referee.schedule.formats.comparison import NAME as COMPARISON
from referee.schedule.formats.registry import UnknownFormat

DECISIONS = 30
"""What was decided last, on the page."""

PATIENCE_S = 8.0
"""How long a page waits for a runner that takes no orders now: others wait for the same threads."""

_CHOICES: Mapping[str, Choice] = {"keep": "keep", "annul": "annul", "losses": "losses"}


@dataclass(frozen=True, slots=True)
class Steered:
    """A tournament as the list shows it. `problem`: why its journal cannot be read; '' if it can."""

    name: str
    title: str
    state: str
    held: bool
    problem: str = ""


def routes() -> list[Route]:
    """The addresses of a server whose `state` has `hand_ins`."""
    return [
        Route("/organiser/tournaments/{run}", show, methods=["GET"]),
        Route("/organiser/tournaments/{run}", change, methods=["POST"]),
    ]


def tournaments_of(request: Request) -> list[Steered]:
    """Those that have begun, and those that cannot be read; the one that changed last first."""
    found = []
    for folder in _folders(request):
        try:
            run = Run(folder, brief=True)
        except TournamentError as error:
            found.append(Steered(folder.name, folder.name, "cannot be read", held=False, problem=error.sentence))
            continue
        if _is_steered(run):
            found.append(Steered(folder.name, run.title, run.state, run.held))
    return found


def _folders(request: Request) -> list[RunFolder]:
    host = hand_ins_of(request).tournaments
    return [] if host is None else runs_in(host.folder)


def _is_steered(run: Run) -> bool:
    return run.begun and run.configuration["format"] != COMPARISON


def _run(request: Request) -> Run:
    name = request.path_params["run"]
    for folder in _folders(request):
        if folder.name == name:
            try:
                run = Run(folder, brief=True)
            except TournamentError as error:
                raise HTTPException(409, f"{sentence(str(error))} {sentence(error.next_step)}") from None
            if _is_steered(run):
                return run
    raise HTTPException(404, "There is no such tournament.")


def _address(run: Run) -> str:
    return f"/organiser/tournaments/{quote(run.folder.name, safe='')}"


def show(request: Request) -> Response:
    """One tournament, and what may be decided about it."""
    return _page(request, _run(request), None)


def _page(request: Request, run: Run, refused: ExpectedError | None) -> Response:
    lengths: Mapping[str, float] = {}
    with suppress(UnknownFormat):  # of a plug-in that is not installed here
        style = run.schedule_config.style
        lengths = {} if style.journalled else style.lengths(make_field(run.configuration))
    status = read_status(run.folder) or Status()
    return page(
        request,
        "tournament.html",
        status=400 if refused else 200,
        run=run,
        here=_address(run),
        lengths=list(lengths),
        now=status,
        decided=[(control, _words(control)) for control in reversed(run.controls[-DECISIONS:])],
        problem="" if refused is None else sentence(str(refused)),
        next_step="" if refused is None else sentence(refused.next_step),
    )


def _words(control: Control) -> str:
    """What was decided, as a row of the list begins."""
    if control.kind == "extended":
        return f"extended to {length_words(control.length)}"
    about = control.name or control.match_id
    return f"{control.kind}: {about}" if about else control.kind


async def change(request: Request) -> Response:
    """What the forms of the page do."""
    form = await checked_form(request)
    account = await asyncio.to_thread(needed_account, request)
    run = await asyncio.to_thread(_run, request)
    run.patience_s = PATIENCE_S
    try:
        await asyncio.to_thread(_decide, request, run, form, account.owner)
    except BusyError as busy:
        why = BusyError(str(busy), "bots are being started, or it ends; try again in half a minute")
        return await asyncio.to_thread(_page, request, Run(run.folder, brief=True), why)
    except ExpectedError as refused:
        return await asyncio.to_thread(_page, request, Run(run.folder, brief=True), refused)
    return RedirectResponse(_address(run), 303)


def _decide(request: Request, run: Run, form: Mapping[str, str], by: str) -> None:
    reason, bot = form.get("reason", "").strip(), form.get("bot", "")
    match form.get("action"):
        case "pause" | "resume" as action:
            run.hold(by=by, reason=reason, going_on=action == "resume")
        case "withdraw" | "disable" as action:
            kind: Literal["withdrawn", "disabled"] = "withdrawn" if action == "withdraw" else "disabled"
            run.leave(kind, bot, _CHOICES.get(form.get("choice", "")), by=by, reason=reason)
        case "reinstate":
            run.reinstate(bot, by=by, reason=reason)
        case "annul":
            run.annul(form.get("match", "").strip(), replay=form.get("replay") == "yes", by=by, reason=reason)
        case "extend":
            run.extend(_length(form), by=by, reason=reason)
        case "add":
            host = hand_ins_of(request).tournaments
            assert host is not None  # the run is one of its runs
            folder = joining_folder(run, form.get("path", ""), host.closed)
            run.add(host.joining(run, folder, form.get("name", ""), form.get("club", "")), by=by, reason=reason)
        case _:
            raise HTTPException(400, "This is not a form of this server.")


def _length(form: Mapping[str, str]) -> dict[str, float]:
    """By what the schedule becomes longer, or its new precision."""
    key, text = form.get("length", ""), form.get("number", "")
    try:
        number = float(text) if key == "precision" else int(text)
    except ValueError:
        number = math.nan
    if key not in ("blocks", "rounds", "precision") or not 0 < number <= 10_000_000:
        raise UsageError(f"{text[:20]!r} is no number to extend by", "give a number greater than 0")
    return {key: number}


def joining_folder(run: Run, path: str, closed: Sequence[Path]) -> Path:
    """The folder of a bot that a page names, below that of the run's tournament file, and with nothing in common with
    the `closed` folders. UsageError."""
    file = run.file
    base = (file.parent if file is not None else run.folder.path.parent.parent).resolve()
    named = path.strip()
    if "\0" in path or not named:
        raise UsageError("no folder of a bot is named", f"give its path from {base}")
    try:
        folder = (base / named).resolve()
    except (OSError, RuntimeError):  # RuntimeError: a link that leads to itself, before Python 3.13
        raise UsageError(f"the folder {named[:200]!r} cannot be found", f"give its path from {base}") from None
    if not folder.is_relative_to(base) or folder == base:
        raise UsageError(f"the folder {named[:200]!r} is not below {base}", "put the bot there, and name it so")
    if any(folder.is_relative_to(one) or one.is_relative_to(folder) for one in (other.resolve() for other in closed)):
        raise UsageError(
            f"the folder {named[:200]!r} has data of the ladder, and bots that were handed in play only in the ladder",
            "name a folder outside of the ladder's data",
        )
    return folder
