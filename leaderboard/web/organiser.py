"""The organiser's page: what needs somebody first, then queue, workers, builds, people, and what was decided."""

import asyncio
import math
import time
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from leaderboard.web.accounts import hand_ins_of, needed_account
from leaderboard.web.hand_ins import HandInRefused, NewInvitation, Refusal
from leaderboard.web.improbable import improbable_results
from leaderboard.web.ladder import run_of
from leaderboard.web.live import changes, stream
from leaderboard.web.members import LOOK_S, checked_form, problem_words, until_refused
from leaderboard.web.pages import page
from leaderboard.web.people import LadderHost, NewReset, Suspicion
from leaderboard.web.tournaments import tournaments_of
from leaderboard.web.watching import LiveMatch, live_matches
from referee.record import RecordError
from referee.run.folder import RunFolder

SUSPICIONS_S = 300.0
"""How old what is said of improbable results may be."""

ACTS = 30
"""What organisers did last, on the page."""


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


def _overview(request: Request, made: NewInvitation | NewReset | None, refused: HandInRefused | None) -> Response:
    account = needed_account(request)
    ladder = hand_ins_of(request)
    people = ladder.people
    here = f"{request.url.scheme}://{request.url.netloc}"
    answer = page(
        request,
        "organiser.html",
        status=400 if refused else 200,
        title=ladder.title,
        overview=ladder.overview(account),
        invitations=ladder.invitations(account),
        playing=_playing(request, ladder),
        bots=[bot for bot in ladder.bots() if bot.active or bot.paused],
        divisions=ladder.divisions(),
        tournaments=tournaments_of(request),
        steering=people.steering(),
        suspicions=[*people.suspicions(account), *_improbable(request, ladder)],
        acts=people.acts(account, ACTS),
        made=made,
        link="" if made is None else f"{here}/{'reset' if isinstance(made, NewReset) else 'join'}?code={made.code}",
        is_reset=isinstance(made, NewReset),
        **problem_words(refused),
    )
    if made is not None:
        answer.headers["Cache-Control"] = "no-store"
    return answer


def _improbable(request: Request, ladder: LadderHost) -> list[Suspicion]:
    """Of all divisions, as of the last `SUSPICIONS_S`: it takes seconds where many matches were played."""
    found: list[Suspicion] = []
    kept: dict[str, tuple[float, list[Suspicion]]] = request.app.state.kept_suspicions
    for division in ladder.divisions():
        at_s, before = kept.get(division.name, (-math.inf, []))
        now_s = time.monotonic()
        try:
            run = run_of(request, division.name) if now_s >= at_s + SUSPICIONS_S else None
        except RecordError:  # the page of the division says what is wrong
            run = None
        if run is not None:
            kept[division.name] = now_s, before  # for others who ask now
            before = improbable_results(division.name, run[1], ladder.entries(division.name))
            kept[division.name] = now_s, before
        found += before
    return found


def _playing(request: Request, ladder: LadderHost) -> list[tuple[str, LiveMatch]]:
    """The matches in play by division, which organisers alone may see."""
    runs = ((division.name, RunFolder(request.app.state.runs / division.name)) for division in ladder.divisions())
    return [(name, match) for name, run in runs for match in live_matches(run)]


async def change(request: Request) -> Response:
    """What the forms of the page do."""
    form = await checked_form(request)
    account = await asyncio.to_thread(needed_account, request)
    ladder = hand_ins_of(request)
    made = None

    def act() -> NewInvitation | NewReset | None:
        people = ladder.people
        owner, bot, division, reason = (form.get(name, "") for name in ("owner", "bot", "division", "reason"))
        match form.get("action"):
            case "invite":
                uses, days = _number(form, "uses"), _number(form, "days")
                return ladder.create_invitation(
                    account, form.get("label", ""), uses, days, form.get("organiser") == "yes"
                )
            case "revoke":
                ladder.revoke_invitation(account, form.get("id", ""))
            case "approve":
                people.approve(account, owner, True, reason)
            case "unapprove":
                people.approve(account, owner, False, reason)
            case "reset":
                return people.make_reset(account, owner)
            case "block":
                ladder.block(account, owner, reason.strip() or "banned by the organiser")
            case "unblock":
                ladder.block(account, owner, "")
            case "disable":
                ladder.pause(account, bot, reason)
            case "resume":
                ladder.resume(account, bot)
            case "pause":
                people.steer(account, "pause", division, reason)
            case "drain":
                people.steer(account, "drain", "", reason)
            case "go on":
                people.steer(account, "go on", division, reason)
            case "notice":
                people.steer(account, "notice", "", form.get("text", ""))
            case "annul":
                people.annul(account, division, form.get("match", "").strip(), reason)
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

    return stream(request, until_refused(changes(look, lambda _, number: {"changed": number}, LOOK_S)))


def _number(form: dict[str, str], name: str) -> int:
    text = form.get(name, "")
    if not (text.isascii() and text.isdecimal() and len(text) < 6):
        raise HandInRefused(Refusal.UNUSABLE, f"{name} {text[:20]!r} is no number", "give a whole number")
    return int(text)
