"""The organiser's page: what needs somebody first, then queue, workers, builds, people and invitations."""

import asyncio
from dataclasses import dataclass
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from leaderboard.web.accounts import hand_ins_of, needed_account
from leaderboard.web.hand_ins import HandInRefused, HandIns, NewInvitation, Refusal
from leaderboard.web.live import changes, stream
from leaderboard.web.members import LOOK_S, checked_form, problem_words, until_refused
from leaderboard.web.pages import page
from referee.record import RecordError
from referee.record.reader import read_header
from referee.run.folder import RunFolder


def routes() -> list[Route]:
    """The addresses of a server whose `state` has `hand_ins`."""
    return [
        Route("/organiser", overview, methods=["GET"]),
        Route("/organiser", change, methods=["POST"]),
        Route("/organiser/events", events),
    ]


def overview(request: Request) -> Response:
    """What an organiser needs to know."""
    return _overview(request, None, None)


def _overview(request: Request, made: NewInvitation | None, refused: HandInRefused | None) -> Response:
    account = needed_account(request)
    ladder = hand_ins_of(request)
    answer = page(
        request,
        "organiser.html",
        status=400 if refused else 200,
        title=ladder.title,
        overview=ladder.overview(account),
        invitations=ladder.invitations(account),
        playing=_playing(request, ladder),
        paused=[bot for bot in ladder.bots() if bot.paused],
        made=made,
        link=f"{request.url.scheme}://{request.url.netloc}/join?code={made.code}" if made else "",
        **problem_words(refused),
    )
    if made is not None:
        answer.headers["Cache-Control"] = "no-store"
    return answer


@dataclass(frozen=True, slots=True)
class LiveMatch:
    """A match that goes on, or was cut off."""

    division: str
    match_id: str
    names: tuple[str, ...]
    started: str


def _playing(request: Request, ladder: HandIns) -> list[LiveMatch]:
    """The matches in play, which organisers alone may see."""
    found = []
    for division in ladder.divisions():
        records = RunFolder(request.app.state.runs / division.name).records
        for match_id in records.live() if records.exists else []:
            path = records.find(match_id)
            try:
                header = read_header(path) if path else None
            except RecordError:  # nothing is written yet, or the match has just ended
                header = None
            if header is not None:
                names = tuple(seat.name for seat in header.seats)
                found.append(LiveMatch(division.name, match_id, names, header.created_at))
    return found


async def change(request: Request) -> Response:
    """What the forms of the page do."""
    form = await checked_form(request)
    account = await asyncio.to_thread(needed_account, request)
    ladder = hand_ins_of(request)
    made = None

    def act() -> NewInvitation | None:
        match form.get("action"):
            case "invite":
                uses, days = _number(form, "uses"), _number(form, "days")
                return ladder.create_invitation(
                    account, form.get("label", ""), uses, days, form.get("organiser") == "yes"
                )
            case "revoke":
                ladder.revoke_invitation(account, form.get("id", ""))
            case "block":
                ladder.block(
                    account, form.get("owner", ""), form.get("reason", "").strip() or "blocked by the organiser"
                )
            case "unblock":
                ladder.block(account, form.get("owner", ""), "")
            case "resume":
                ladder.resume(account, form.get("bot", ""))
            case _:
                raise HTTPException(400, "This is not a form of this server.")
        return None

    try:
        made = await asyncio.to_thread(act)
    except HandInRefused as refused:
        return await asyncio.to_thread(_overview, request, None, refused)
    if made is None:
        return RedirectResponse("/organiser", 303)
    return await asyncio.to_thread(_overview, request, made, None)


async def events(request: Request) -> Response:
    """`{"changed": n}` whenever what the page shows has changed; n = 0 at once."""
    account = await asyncio.to_thread(needed_account, request)
    ladder = hand_ins_of(request)
    await asyncio.to_thread(ladder.overview, account)

    def look() -> Any:
        return ladder.overview(account), _playing(request, ladder)

    return stream(until_refused(changes(look, lambda _, number: {"changed": number}, LOOK_S)))


def _number(form: dict[str, str], name: str) -> int:
    text = form.get(name, "")
    if not (text.isascii() and text.isdecimal() and len(text) < 6):
        raise HandInRefused(Refusal.UNUSABLE, f"{name} {text[:20]!r} is no number", "give a whole number")
    return int(text)
