"""The pages of an account: joining, signing in, one's own bots with their hand-ins, and tokens."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from leaderboard.web.accounts import (
    account_of,
    forget_session,
    hand_ins_of,
    is_own,
    keep_session,
    needed_account,
    sentence,
)
from leaderboard.web.guard import Guard, form_of
from leaderboard.web.hand_ins import (
    OVER,
    SCOPES,
    Account,
    BotState,
    HandInRefused,
    HandIns,
    NewToken,
    Refusal,
    Scope,
    VersionState,
)
from leaderboard.web.ladder import Playing, playing_of
from leaderboard.web.live import changes, stream
from leaderboard.web.pages import page
from referee.run.folder import RunFolder

LOOK_S = 0.5
"""How often the stream of one's own bots looks whether something has changed."""


def routes() -> list[Route]:
    """The addresses of a server whose `state` has `hand_ins`."""
    return [
        Route("/join", join, methods=["GET"]),
        Route("/join", redeem, methods=["POST"]),
        Route("/sign-in", sign_in_page, methods=["GET"]),
        Route("/sign-in", sign_in, methods=["POST"]),
        Route("/sign-out", sign_out, methods=["POST"]),
        Route("/my", my_bots),
        Route("/my/events", my_events),
        Route("/my/account", my_account, methods=["GET"]),
        Route("/my/account", change_tokens, methods=["POST"]),
        Route("/bots/{name}", change_bot, methods=["POST"]),
        Route("/bots/{name}/versions/{number:int}/log", log_page),
    ]


# Joining and signing in


def join(request: Request) -> Response:
    """Where an invitation, or the organiser's one-time link, becomes an account."""
    return _join_page(request, request.query_params.get("code", ""), "", None)


def _join_page(request: Request, code: str, name: str, refused: HandInRefused | None) -> Response:
    invitation = None
    if code and refused is None:
        try:
            invitation = hand_ins_of(request).invitation(code)
        except HandInRefused as error:
            refused = error
    return page(
        request,
        "join.html",
        status=400 if refused else 200,
        title=hand_ins_of(request).title,
        invitation=invitation,
        code=code,
        name=name,
        **problem_words(refused),
    )


async def redeem(request: Request) -> Response:
    """Make the account, and sign this browser in."""
    form = await checked_form(request)
    code, name = form.get("code", "").strip(), form.get("owner", "").strip()
    ladder = hand_ins_of(request)
    try:
        made = await asyncio.to_thread(ladder.redeem, code, name)
    except HandInRefused as refused:
        return await asyncio.to_thread(_join_page, request, code, name, refused)
    return _signed_in(request, made)


def sign_in_page(request: Request) -> Response:
    """Where a token signs a browser in."""
    return _sign_in_page(request, None)


def _sign_in_page(request: Request, refused: HandInRefused | None) -> Response:
    return page(request, "sign_in.html", status=400 if refused else 200, **problem_words(refused))


async def sign_in(request: Request) -> Response:
    """A session for a token."""
    form = await checked_form(request)
    ladder = hand_ins_of(request)
    try:
        made = await asyncio.to_thread(ladder.sign_in, form.get("secret", "").strip())
    except HandInRefused as refused:
        return await asyncio.to_thread(_sign_in_page, request, refused)
    return _signed_in(request, made)


async def sign_out(request: Request) -> Response:
    """End this browser's session."""
    await checked_form(request)
    account = await asyncio.to_thread(account_of, request)
    if account is not None:
        with suppress(HandInRefused):  # it had ended already
            await asyncio.to_thread(hand_ins_of(request).sign_out, account)
    answer = RedirectResponse("/ladder", 303)
    forget_session(request, answer)
    return answer


def _signed_in(request: Request, made: NewToken) -> Response:
    answer = RedirectResponse("/organiser" if made.token.scope == "organise" else "/my", 303)
    keep_session(request, answer, made)
    return answer


# One's own bots


@dataclass(frozen=True, slots=True)
class OwnBot:
    """A bot of one's own: its versions, the newest first, and what the one that plays does, or the newest."""

    bot: BotState
    versions: tuple[VersionState, ...]
    playing: tuple[Playing, ...]


def my_bots(request: Request) -> Response:
    """Where bots are handed in, and what has become of them."""
    account = needed_account(request)
    ladder = hand_ins_of(request)
    own = [_own_bot(request, ladder, bot) for bot in ladder.bots(account.owner)]
    return page(
        request,
        "my.html",
        own=own,
        limits=ladder.limits,
        may_submit=account.may("submit"),
        may_manage=account.may("manage"),
        over=OVER,
    )


def _own_bot(request: Request, ladder: HandIns, bot: BotState) -> OwnBot:
    versions = tuple(ladder.versions(bot.name)) if bot.versions else ()
    number = bot.active or (bot.newest.number if bot.newest else 0)
    return OwnBot(bot, versions, tuple(playing_of(request, bot.name, number, with_faults=True)))


async def my_events(request: Request) -> Response:
    """`{"changed": n}` whenever one of one's own bots, hand-ins or matches has changed; n = 0 at once."""
    account = await asyncio.to_thread(needed_account, request)
    ladder = hand_ins_of(request)
    tables, runs = request.app.state.tables, request.app.state.runs

    def look() -> object:
        places = [RunFolder(runs / division.name) for division in ladder.divisions()]
        numbers = [tables.number(place) for place in places if place.records.exists]
        return tuple(ladder.bots(account.owner)), tuple(numbers)

    return stream(until_refused(changes(look, lambda _, number: {"changed": number}, LOOK_S)))


async def until_refused(events: AsyncIterator[str]) -> AsyncIterator[str]:
    """The events until the database cannot be read; the page's script then connects again."""
    with suppress(HandInRefused):
        async for text in events:
            yield text


async def change_bot(request: Request) -> Response:
    """What the buttons beside a bot and its versions do; then back to the page."""
    form = await checked_form(request)
    account = await asyncio.to_thread(needed_account, request)
    ladder, name = hand_ins_of(request), request.path_params["name"]
    number = int(form["number"]) if form.get("number", "").isdecimal() and len(form["number"]) < 10 else 0
    actions: dict[str, Callable[[], object]] = {
        "pause": lambda: ladder.pause(account, name, ""),
        "resume": lambda: ladder.resume(account, name),
        "activate": lambda: ladder.activate(account, name, number),
        "retire": lambda: ladder.retire(account, name, number),
    }
    action = actions.get(form.get("action", ""))
    if action is None:
        raise HTTPException(400, "This is not a form of this server.")
    await asyncio.to_thread(action)
    return RedirectResponse(f"/bots/{quote(name)}" if form.get("back") == "bot" else "/my", 303)


def log_page(request: Request) -> Response:
    """What checking, building and qualifying printed."""
    account = needed_account(request)
    ladder = hand_ins_of(request)
    name, number = request.path_params["name"], request.path_params["number"]
    version = ladder.version(name, number)
    if not is_own(version.owner, account):
        raise HandInRefused(Refusal.UNKNOWN, f"you have no bot '{name}'", "see the list of your bots")
    part = ladder.log(account, name, number, 0, 1 << 18)
    return page(request, "log.html", handed_in=version, part=part)


# The account


def my_account(request: Request) -> Response:
    """Tokens, and where to sign out."""
    return _account_page(request, None, None)


def _account_page(request: Request, made: NewToken | None, refused: HandInRefused | None) -> Response:
    account = needed_account(request)
    ladder = hand_ins_of(request)
    may_manage = account.may("manage")
    answer = page(
        request,
        "account.html",
        status=400 if refused else 200,
        tokens=ladder.tokens(account) if may_manage else [],
        may_manage=may_manage,
        scopes=[scope for scope in SCOPES if account.may(scope)],
        bots=ladder.bots(account.owner),
        made=made,
        **problem_words(refused),
    )
    if made is not None:
        answer.headers["Cache-Control"] = "no-store"
    return answer


async def change_tokens(request: Request) -> Response:
    """Make a token, which is shown this once, or revoke one."""
    form = await checked_form(request)
    account = await asyncio.to_thread(needed_account, request)
    ladder = hand_ins_of(request)
    try:
        if form.get("action") == "revoke":
            await asyncio.to_thread(ladder.revoke_token, account, form.get("id", ""))
            return RedirectResponse("/my/account", 303)
        made = await asyncio.to_thread(_new_token, ladder, account, form)
    except HandInRefused as refused:
        return await asyncio.to_thread(_account_page, request, None, refused)
    return await asyncio.to_thread(_account_page, request, made, None)


def _new_token(ladder: HandIns, account: Account, form: dict[str, str]) -> NewToken:
    scope: Scope | None = next((scope for scope in SCOPES if scope == form.get("scope")), None)
    days = form.get("days", "")
    if scope is None or not (days.isascii() and days.isdecimal() and len(days) < 6):
        raise HandInRefused(Refusal.UNUSABLE, "a token needs a use and a number of days", "choose both")
    return ladder.create_token(account, form.get("label", ""), scope, int(days) or None, form.get("bot", ""))


# Shared by the pages with forms


async def checked_form(request: Request) -> dict[str, str]:
    """The fields of a form of a page of ours; 403 if another site has sent it."""
    form = await form_of(request)
    guard: Guard = request.app.state.guard
    guard.check(request, form.get("token", ""))
    return form


def problem_words(refused: HandInRefused | None) -> dict[str, Any]:
    """What a form says that was refused."""
    if refused is None:
        return {"problem": "", "next_step": ""}
    return {"problem": sentence(str(refused)), "next_step": sentence(refused.next_step)}
