"""The pages of an account: joining, signing in, one's own bots with their hand-ins, and tokens."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import quote

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from leaderboard.web.accounts import (
    account_of,
    address_of,
    browser_of,
    count_open_join,
    forget_session,
    hand_ins_of,
    is_own,
    keep_browser,
    keep_session,
    needed_account,
    own_bots,
    sentence,
    session_of,
)
from leaderboard.web.guard import Guard, form_of
from leaderboard.web.hand_ins import (
    OVER,
    SCOPES,
    Account,
    BotState,
    HandInRefused,
    NewToken,
    Refusal,
    Scope,
    VersionState,
)
from leaderboard.web.ladder import Playing, playing_of
from leaderboard.web.live import changes, stream
from leaderboard.web.pages import page
from leaderboard.web.people import LadderHost
from leaderboard.web.rates import NAME_SIGN_INS, PASSWORD_CHANGES, STRANGE_SIGN_INS, KnownAddresses, Rates
from referee.run.folder import RunFolder

T = TypeVar("T")

LOOK_S = 0.5
"""How often the stream of one's own bots looks whether something has changed."""


def routes() -> list[Route]:
    """The addresses of a server whose `state` has `hand_ins`."""
    return [
        Route("/join", join, methods=["GET"]),
        Route("/join", redeem, methods=["POST"]),
        Route("/sign-in", sign_in_page, methods=["GET"]),
        Route("/sign-in", sign_in, methods=["POST"]),
        Route("/sign-in/{provider}", go_to_provider),
        Route("/sign-in/{provider}/back", back_from_provider),
        Route("/sign-out", sign_out, methods=["POST"]),
        Route("/reset", reset_page, methods=["GET"]),
        Route("/reset", reset, methods=["POST"]),
        Route("/my", my_bots),
        Route("/my/events", my_events),
        Route("/my/account", my_account, methods=["GET"]),
        Route("/my/account", change_account, methods=["POST"]),
        Route("/bots/{name}", change_bot, methods=["POST"]),
        Route("/bots/{name}/versions/{number}/log", log_page),
    ]


# Joining and signing in


def join(request: Request) -> Response:
    """Where an invitation, the organiser's one-time link, or an account elsewhere becomes an account here."""
    asked = request.query_params
    return _join_page(request, asked.get("code", ""), asked.get("pending", ""), "", None)


def _join_page(request: Request, code: str, pending: str, name: str, refused: HandInRefused | None) -> Response:
    ladder = hand_ins_of(request)
    invitation = identity = None
    try:
        if code and refused is None:
            invitation = ladder.invitation(code)
        if pending:
            identity = ladder.people.pending(pending, browser_of(request))
    except HandInRefused as error:
        refused = refused or error
    answer = page(
        request,
        "join.html",
        status=_status(refused),
        title=ladder.title,
        sign_up=ladder.people.sign_up,
        providers=ladder.people.providers,
        invitation=invitation,
        identity=identity,
        pending=pending,
        code=code,
        name=name,
        **problem_words(refused),
    )
    answer.headers["Cache-Control"] = "no-store"
    return _waiting(answer, refused)


async def redeem(request: Request) -> Response:
    """Make the account, and sign this browser in."""
    form = await checked_form(request)
    code, name, pending = (form.get(field, "").strip() for field in ("code", "owner", "pending"))
    password, people = form.get("password", ""), hand_ins_of(request).people
    try:
        if not code:
            count_open_join(request)
        check_twice(password, form.get("again", ""))
        browser = browser_of(request)
        made = await asyncio.to_thread(people.join, name, password, code=code, pending=pending, browser=browser)
    except HandInRefused as refused:
        return await asyncio.to_thread(_join_page, request, code, pending, name, refused)
    return _signed_in(request, made)


def check_twice(password: str, again: str) -> None:
    """UNUSABLE if somebody has typed two passwords."""
    if password != again:
        raise HandInRefused(Refusal.UNUSABLE, "the two passwords differ", "enter the same one twice")


def sign_in_page(request: Request) -> Response:
    """Where a password, a token or an account elsewhere signs a browser in."""
    return _sign_in_page(request, None)


def _sign_in_page(request: Request, refused: HandInRefused | None) -> Response:
    people = hand_ins_of(request).people
    answer = page(
        request,
        "sign_in.html",
        status=_status(refused),
        sign_up=people.sign_up,
        providers=people.providers,
        **problem_words(refused),
    )
    return _waiting(answer, refused)


async def sign_in(request: Request) -> Response:
    """A session for a name with its password, or for a token."""
    form = await checked_form(request)
    ladder = hand_ins_of(request)
    name = form.get("owner", "").strip()
    try:
        if name:
            made = await _with_password(request, name, form.get("password", ""))
        else:
            made = await asyncio.to_thread(ladder.sign_in, form.get("secret", "").strip())
    except HandInRefused as refused:
        return await asyncio.to_thread(_sign_in_page, request, refused)
    return _signed_in(request, made)


async def _with_password(request: Request, name: str, password: str) -> NewToken:
    """A session. TOO_MANY after many tries from one address, or from all addresses together that have not signed in
    with this name before. So guesses do not lock the owner out at a known address, nor, if they come from a few
    addresses, at a new one."""
    known: KnownAddresses = request.app.state.known_addresses
    used, address = name.casefold()[:100], address_of(request)
    _rates(request).take(NAME_SIGN_INS, f"name {used} at {address}")
    if (used, address) not in known:
        _rates(request).take(STRANGE_SIGN_INS, f"name {used}")
    made = await asyncio.to_thread(hand_ins_of(request).people.sign_in, name, password)
    known.add(used, address)
    return made


async def go_to_provider(request: Request) -> Response:
    """Send the browser to where somebody has an account. Who comes from the page of the account adds that account to
    the one here. Another site can lead a browser to this address, too, and may have signed it in there as somebody
    else: that is a sign-in like a visitor's, and adds nothing."""
    people = hand_ins_of(request).people
    provider = request.path_params["provider"]
    adds = secrets.compare_digest(request.query_params.get("add", "").encode(), _add_token(request, provider).encode())
    account = await asyncio.to_thread(account_of, request) if adds else None
    browser = browser_of(request) or secrets.token_urlsafe(32)
    to = await _ask(request, people.begin, provider, browser, _back(request, provider), account)
    answer = RedirectResponse(to, 303)
    keep_browser(request, answer, browser)
    answer.headers["Cache-Control"] = "no-store"
    return answer


async def back_from_provider(request: Request) -> Response:
    """The provider has sent the browser back."""
    people = hand_ins_of(request).people
    provider, asked = request.path_params["provider"], request.query_params
    try:
        returned = await _ask(
            request,
            people.finish,
            provider,
            browser_of(request),
            _back(request, provider),
            asked.get("state", ""),
            asked.get("code", ""),
        )
    except HandInRefused as refused:
        return await asyncio.to_thread(_sign_in_page, request, refused)
    if returned.session is not None:
        return _signed_in(request, returned.session)
    return RedirectResponse("/my/account" if returned.added else f"/join?pending={returned.pending}", 303)


async def _ask(request: Request, question: Callable[..., T], *values: Any) -> T:
    """What a provider answers. Others do not wait for the threads in which it is waited for."""
    return await asyncio.get_running_loop().run_in_executor(request.app.state.asking, question, *values)


def _add_token(request: Request, provider: str) -> str:
    """What the link on the page of the account has, of this session alone. It is good for no form."""
    guard: Guard = request.app.state.guard
    return guard.token(f"add {provider} {session_of(request)}")


def _back(request: Request, provider: str) -> str:
    return f"{request.url.scheme}://{request.url.netloc}/sign-in/{provider}/back"


def reset_page(request: Request) -> Response:
    """Where the organiser's link becomes a new password."""
    return _reset_page(request, request.query_params.get("code", ""), None)


def _reset_page(request: Request, code: str, refused: HandInRefused | None) -> Response:
    owner = ""
    try:
        owner = hand_ins_of(request).people.check_reset(code)
    except HandInRefused as error:
        refused = refused or error
    answer = page(request, "reset.html", status=_status(refused), code=code, owner=owner, **problem_words(refused))
    answer.headers["Cache-Control"] = "no-store"
    return answer


async def reset(request: Request) -> Response:
    """A new password; all sessions and tokens of the account end, and this browser is signed in."""
    form = await checked_form(request)
    code, new = form.get("code", ""), form.get("password", "")
    try:
        check_twice(new, form.get("again", ""))
        made = await asyncio.to_thread(hand_ins_of(request).people.reset, code, new)
    except HandInRefused as refused:
        return await asyncio.to_thread(_reset_page, request, code, refused)
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
    own = [_own_bot(request, ladder, bot) for bot in own_bots(ladder, account)]
    return page(
        request,
        "my.html",
        own=own,
        limits=ladder.limits,
        base=f"{request.url.scheme}://{request.url.netloc}",
        admits_remote=any("remote" in division.admits for division in ladder.divisions()),
        may_submit=account.may("submit"),
        may_manage=account.may("manage"),
        over=OVER,
    )


def _own_bot(request: Request, ladder: LadderHost, bot: BotState) -> OwnBot:
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
        return tuple(own_bots(ladder, account)), tuple(numbers)

    turn = request.app.state.looks.turn(("my", account.owner, account.bot))
    return stream(request, until_refused(changes(look, lambda _, number: {"changed": number}, LOOK_S, turn)))


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
    number = _version_number(form.get("number", ""))
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


def _version_number(text: str) -> int:
    """0, which no version has, for what is no number that one can have."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else 0


def log_page(request: Request) -> Response:
    """What checking, building and qualifying printed."""
    account = needed_account(request)
    ladder = hand_ins_of(request)
    name, number = request.path_params["name"], _version_number(request.path_params["number"])
    version = ladder.version(name, number)
    if not is_own(version.owner, version.bot, account):
        raise HandInRefused(Refusal.UNKNOWN, f"you have no bot '{name}'", "see the list of your bots")
    part = ladder.log(account, name, number, 0, 1 << 18)
    return page(request, "log.html", handed_in=version, part=part)


# The account


def my_account(request: Request) -> Response:
    """Ways to sign in, tokens, signing out, and the end of the account."""
    return _account_page(request, None, None)


def _account_page(request: Request, made: NewToken | None, refused: HandInRefused | None) -> Response:
    account = needed_account(request)
    ladder = hand_ins_of(request)
    may_manage = account.may("manage") and not account.bot
    answer = page(
        request,
        "account.html",
        status=_status(refused),
        tokens=ladder.tokens(account) if may_manage else [],
        ways=ladder.people.ways(account) if may_manage else None,
        providers=ladder.people.providers,
        add_tokens={provider.id: _add_token(request, provider.id) for provider in ladder.people.providers},
        may_manage=may_manage,
        scopes=[scope for scope in SCOPES if account.may(scope)],
        bots=own_bots(ladder, account),
        made=made,
        **problem_words(refused),
    )
    if made is not None:
        answer.headers["Cache-Control"] = "no-store"
    return answer


async def change_account(request: Request) -> Response:
    """Make or revoke a token, change the password, remove a way to sign in, or delete the account."""
    form = await checked_form(request)
    account = await asyncio.to_thread(needed_account, request)
    ladder = hand_ins_of(request)
    people, made = ladder.people, None
    try:
        match form.get("action"):
            case "revoke":
                await asyncio.to_thread(ladder.revoke_token, account, form.get("id", ""))
            case "password":
                new = form.get("password", "")
                check_twice(new, form.get("again", ""))
                _rates(request).take(PASSWORD_CHANGES, f"account {account.owner}")
                await asyncio.to_thread(people.change_password, account, form.get("current", ""), new)
            case "forget":
                provider, subject = form.get("provider", ""), form.get("subject", "")
                await asyncio.to_thread(people.forget_identity, account, provider, subject)
            case "delete":
                await asyncio.to_thread(people.delete, account, form.get("owner", ""))
                answer = RedirectResponse("/ladder", 303)
                forget_session(request, answer)
                return answer
            case _:
                made = await asyncio.to_thread(_new_token, ladder, account, form)
    except HandInRefused as refused:
        return await asyncio.to_thread(_account_page, request, None, refused)
    if made is None:
        return RedirectResponse("/my/account", 303)
    return await asyncio.to_thread(_account_page, request, made, None)


def _new_token(ladder: LadderHost, account: Account, form: dict[str, str]) -> NewToken:
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
    guard.check(request, form.get("token", ""), session_of(request))
    return form


def problem_words(refused: HandInRefused | None) -> dict[str, Any]:
    """What a form says that was refused."""
    if refused is None:
        return {"problem": "", "next_step": ""}
    return {"problem": sentence(str(refused)), "next_step": sentence(refused.next_step)}


def _status(refused: HandInRefused | None) -> int:
    if refused is None:
        return 200
    return 429 if refused.refusal is Refusal.TOO_MANY else 400


def _waiting(answer: Response, refused: HandInRefused | None) -> Response:
    """The answer, with when to try again."""
    if refused is not None and refused.retry_after_s is not None:
        answer.headers["Retry-After"] = str(refused.retry_after_s)
    return answer


def _rates(request: Request) -> Rates:
    rates: Rates = request.app.state.rates
    return rates
