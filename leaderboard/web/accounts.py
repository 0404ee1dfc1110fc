"""Who asks: the session of a browser, or the token that a program sends, and what they may see and do.

A browser's session is a cookie that no script can read and no other site can have sent with a change: besides the
cookie, a change needs the origin and the token of a page of ours (`guard`). A program sends `Authorization: Bearer`.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from leaderboard.web.guard import SENT_IN, Guard
from leaderboard.web.hand_ins import (
    Account,
    BotState,
    HandInRefused,
    NewToken,
    Refusal,
    VersionState,
)
from leaderboard.web.people import LadderHost
from leaderboard.web.rates import OPEN_JOINS, Rates
from referee.addresses import address_key

STATUS: Final = {
    Refusal.UNAUTHENTICATED: 401,
    Refusal.FORBIDDEN: 403,
    Refusal.UNKNOWN: 404,
    Refusal.CONFLICT: 409,
    Refusal.TOO_LARGE: 413,
    Refusal.UNUSABLE: 422,
    Refusal.TOO_MANY: 429,
    Refusal.UNAVAILABLE: 503,
}

_SHOWN: Final = frozenset({"active", "inactive", "retired"})
"""What everybody may see of versions."""

SESSION_S: Final = 30 * 86400
"""How long a browser keeps the cookie; the session itself may end sooner."""


BROWSER_S: Final = 3600


def has_ladder(request: Request) -> bool:
    """Whether this server has accounts at all."""
    return request.app.state.hand_ins is not None


def hand_ins_of(request: Request) -> LadderHost:
    """404 on a server without a ladder."""
    found: LadderHost | None = request.app.state.hand_ins
    if found is None:
        raise HTTPException(404, "This server has no ladder.")
    return found


def caller_of(request: Request) -> Account:
    """The account of a request to the API. HandInRefused without one; 403 if another site asks with our cookie. Asks
    once for each request."""
    if not hasattr(request.state, "caller"):
        request.state.caller = _caller(request)
    found: Account = request.state.caller
    return found


def _caller(request: Request) -> Account:
    secret, sent = _secret(request)
    if not secret:
        raise HandInRefused(
            Refusal.UNAUTHENTICATED, "this needs a token", "send the header Authorization: Bearer TOKEN, or sign in"
        )
    if not sent and request.method not in ("GET", "HEAD"):
        guard: Guard = request.app.state.guard
        guard.check(request, request.headers.get(SENT_IN, ""), secret)
    return hand_ins_of(request).account(secret)


def _secret(request: Request) -> tuple[str, bool]:
    """The secret, '' for none, and whether the request has it in a header: another site's page cannot do that."""
    kind, _, secret = request.headers.get("authorization", "").partition(" ")
    if kind.lower() == "bearer":
        return secret.strip(), True
    return session_of(request), False


def session_of(request: Request) -> str:
    """The secret in the browser's cookie; '' for none."""
    return request.cookies.get(_cookie(request), "")


def browser_of(request: Request) -> str:
    """The secret that tells this browser from others while somebody signs in elsewhere; '' for none."""
    return request.cookies.get(_browser_cookie(request), "")


def keep_browser(request: Request, answer: Response, secret: str) -> None:
    """Have the browser send that secret while somebody signs in elsewhere."""
    _set_cookie(request, answer, _browser_cookie(request), secret, BROWSER_S)


def account_of(request: Request) -> Account | None:
    """Who looks at a page; None for a visitor, and for a session that has ended. Asks once for each request."""
    if not hasattr(request.state, "account"):
        request.state.account = account_now(request)
    found: Account | None = request.state.account
    return found


def account_now(request: Request) -> Account | None:
    """As `account_of`, for an answer that goes on: the session may have ended since it began."""
    secret, _ = _secret(request)
    if not secret or not has_ladder(request):
        return None
    try:
        return hand_ins_of(request).account(secret)
    except HandInRefused:  # ended, or the database cannot be read now: what everybody may see is shown
        return None


def needed_account(request: Request) -> Account:
    """Who looks at a page that is for owners alone. 401 for a visitor: the page says where to sign in."""
    account = account_of(request)
    if account is None:
        raise HTTPException(401, "This page is for people with an account. Sign in first.")
    return account


def is_organiser(request: Request) -> bool:
    """Whether an organiser asks, with all rights of one."""
    account = account_of(request)
    return account is not None and _organises(account)


def _organises(account: Account) -> bool:
    return account.may("organise") and not account.bot


def keep_session(request: Request, answer: Response, made: NewToken) -> None:
    """Have the browser send the session from now on."""
    _set_cookie(request, answer, _cookie(request), made.secret, SESSION_S)


def _set_cookie(request: Request, answer: Response, name: str, value: str, seconds: int) -> None:
    answer.set_cookie(
        name,
        value,
        max_age=seconds,
        path="/",
        secure=request.url.scheme == "https",
        httponly=True,
        samesite="lax",
    )


def forget_session(request: Request, answer: Response) -> None:
    """Have the browser forget it."""
    answer.delete_cookie(_cookie(request), path="/", httponly=True, samesite="lax")


def address_of(request: Request) -> str:
    """Whom limits for each address count; an IPv6 network of 64 bits is one."""
    return address_key(request.client.host if request.client else "")


def count_open_join(request: Request) -> None:
    """One more account is wanted without an invitation. TOO_MANY."""
    rates: Rates = request.app.state.rates
    rates.take(OPEN_JOINS, f"address {address_of(request)}")


def notice_of(request: Request) -> str:
    """What the organiser wants all pages to say; '' for nothing."""
    if not has_ladder(request):
        return ""
    try:
        return hand_ins_of(request).people.steering().notice
    except HandInRefused:
        return ""


def is_own(owner: str, bot: str, visitor: Account | None) -> bool:
    """Whether the visitor may see all that the owner of the bot sees: the owner, if not by a token that is good for
    another bot alone, or an organiser."""
    if visitor is None:
        return False
    return (visitor.owner == owner and visitor.bot in ("", bot)) or _organises(visitor)


def public_bot(bot: BotState, visitor: Account | None) -> BotState:
    """What the visitor may see of a bot: of another's neither hand-ins that do not play nor why it is paused."""
    if is_own(bot.owner, bot.name, visitor):
        return bot
    newest = public_versions([bot.newest] if bot.newest else [], visitor)
    return replace(bot, newest=newest[0] if newest else None, paused="paused" if bot.paused else "", next_step="")


def public_versions(versions: Iterable[VersionState], visitor: Account | None) -> list[VersionState]:
    """What the visitor may see of versions: of another's bot those that have qualified, without reasons."""
    return [
        version
        if is_own(version.owner, version.bot, visitor)
        else replace(version, steps=(), reason="", next_step="", has_log=False)
        for version in versions
        if is_own(version.owner, version.bot, visitor) or version.status in _SHOWN
    ]


def own_bots(ladder: LadderHost, account: Account) -> list[BotState]:
    """Those of the account, or the one that its token is good for."""
    return [bot for bot in ladder.bots(account.owner) if account.bot in ("", bot.name)]


def sentence(text: str) -> str:
    """A refusal's words as a sentence of a page. A name at the beginning, such as that of a file, is left as it is."""
    text = text.strip()
    first = text.partition(" ")[0].rstrip(",:;")
    head = text if not first.isalpha() else f"{text[0].upper()}{text[1:]}"
    return f"{head}{'' if not head or head.endswith(('.', '?', '!')) else '.'}"


def _cookie(request: Request) -> str:
    """Its name: browsers send cookies to all ports of a host, where another ladder may be."""
    return f"crosstown-session-{request.url.port or 0}"


def _browser_cookie(request: Request) -> str:
    return f"crosstown-browser-{request.url.port or 0}"
