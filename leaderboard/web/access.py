"""Access rights: one table of all addresses. A request that no row allows is refused.

Each row is one method of one address, with the least role that may use it and the media types that it accepts. The
table is checked before any other code sees the request, and a body is read up to its limit, unless it is an archive.
The handlers then check the owner of a bot, the scope of a token and the token of a form.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.routing import compile_path
from starlette.types import ASGIApp, Message, Receive, Send
from starlette.types import Scope as AsgiScope
from starlette.websockets import WebSocketClose

from leaderboard.web.accounts import address_of, caller_of, hand_ins_of, needed_account
from leaderboard.web.guard import body_of
from leaderboard.web.hand_ins import Account, HandInRefused, Refusal, Scope
from leaderboard.web.rates import CHANGES, JOINS, MOVES, SIGN_INS, STARTS, UPLOADS, Rate

Role: TypeAlias = Literal["visitor", "author", "organiser"]
"""`visitor`: anyone. `author`: is signed in or sends a token. `organiser`: has all rights."""

API: Final = "/api/v1"
"""Below it a token identifies the caller, and refusals are JSON."""

NO_BODY: Final[tuple[str, ...]] = ("", "application/json")
"""`""` stands for a request that names no media type."""
FORM: Final[tuple[str, ...]] = ("application/x-www-form-urlencoded",)
JSON: Final[tuple[str, ...]] = ("application/json",)
ARCHIVE: Final[tuple[str, ...]] = (
    "",
    "application/zip",
    "application/x-zip-compressed",
    "application/gzip",
    "application/x-gzip",
    "application/octet-stream",
)


@dataclass(frozen=True, slots=True)
class Access:
    """One row. `GET` includes `HEAD`. `takes` are the accepted media types; a `GET` has no body. `rate` is
    counted by address and, from authors on, by account; its default for other methods than `GET` is `CHANGES`. `scope`
    is the scope that an organiser's token needs."""

    method: Literal["GET", "POST", "DELETE"]
    path: str
    role: Role
    takes: tuple[str, ...] = NO_BODY
    rate: Rate | None = None
    scope: Scope = "organise"


def _reads(role: Role, *paths: str) -> list[Access]:
    return [Access("GET", path, role) for path in paths]


_RUN = "/runs/{run}"
_MATCH = "/runs/{run}/matches/{match}"
_SEAT = "/play/{match}/{key}"
_BOT = f"{API}/bots/{{name}}"
_VERSION = f"{_BOT}/versions/{{number}}"
_ORGANISER = f"{API}/organiser"

TABLE: Final[tuple[Access, ...]] = (
    # Pages about games, runs and matches
    *_reads("visitor", "/", "/games", "/games/{game:path}", "/search", "/static/{path:path}"),
    *_reads("visitor", "/runs", _RUN, f"{_RUN}/events", f"{_RUN}/standings.csv", f"{_RUN}/cross", f"{_RUN}/plots"),
    *_reads("visitor", f"{_RUN}/pairings", f"{_RUN}/pairings.csv", f"{_RUN}/bracket.svg"),
    *_reads("visitor", f"{_RUN}/schedule", f"{_RUN}/settings", f"{_RUN}/matches", f"{_RUN}/matches.csv"),
    *_reads("visitor", "/wall", f"{_RUN}/results.atom", f"{_RUN}/embed"),
    *_reads("visitor", f"{_RUN}/bots/{{entry}}", _MATCH, f"{_MATCH}/events", f"{_MATCH}/record"),
    # People play bots: only on a server without a ladder
    *_reads("visitor", "/play", _SEAT, f"{_SEAT}/state", f"{_SEAT}/events"),
    Access("POST", "/play", "visitor", FORM, STARTS),
    Access("POST", f"{_SEAT}/answer", "visitor", JSON, MOVES),
    # Pages of a ladder
    *_reads("visitor", "/ladder", "/ladder/{division}", "/bots/{name}"),
    *_reads("visitor", "/join", "/sign-in"),
    Access("POST", "/join", "visitor", FORM, JOINS),
    Access("POST", "/sign-in", "visitor", FORM, SIGN_INS),
    Access("GET", "/sign-in/{provider}", "visitor", rate=SIGN_INS),
    Access("GET", "/sign-in/{provider}/back", "visitor", rate=SIGN_INS),
    Access("POST", "/sign-out", "visitor", FORM),
    Access("GET", "/reset", "visitor", rate=SIGN_INS),
    Access("POST", "/reset", "visitor", FORM, SIGN_INS),
    *_reads("author", "/my", "/my/events", "/my/account", "/bots/{name}/versions/{number}/log"),
    Access("POST", "/my/account", "author", FORM),
    Access("POST", "/bots/{name}", "author", FORM),
    *_reads("organiser", "/organiser", "/organiser/events"),
    Access("POST", "/organiser", "organiser", FORM),
    Access("GET", "/organiser/tournaments/{run}", "organiser"),
    Access("POST", "/organiser/tournaments/{run}", "organiser", FORM),
    # Programs that watch the server
    *_reads("visitor", "/healthz"),
    Access("GET", "/metrics", "organiser", scope="read"),
    # Older addresses for programs
    *_reads("visitor", "/api", "/api/openapi.json", "/api/runs", "/api/runs/{run}", "/api/runs/{run}/standings"),
    *_reads("visitor", "/api/runs/{run}/bots/{entry}", "/api/runs/{run}/matches", "/api/runs/{run}/matches/{match}"),
    *_reads("visitor", "/api/runs/{run}/matches/{match}/frames"),
    # /api/v1: runs
    *_reads("visitor", f"{API}/openapi.json", f"{API}/runs", f"{API}{_RUN}", f"{API}{_RUN}/standings"),
    *_reads("visitor", f"{API}{_RUN}/bots/{{entry}}", f"{API}{_RUN}/matches", f"{API}{_MATCH}"),
    *_reads("visitor", f"{API}{_MATCH}/frames", f"{API}{_MATCH}/record", f"{API}{_RUN}/events"),
    *_reads("visitor", f"{API}{_MATCH}/events"),
    # /api/v1: accounts
    Access("POST", f"{API}/join", "visitor", JSON, JOINS),
    *_reads("author", f"{API}/me", f"{API}/me/tokens", f"{API}/me/bots"),
    Access("POST", f"{API}/me/tokens", "author", JSON),
    Access("DELETE", f"{API}/me/tokens/{{token_id}}", "author"),
    # /api/v1: bots and divisions
    *_reads("visitor", f"{API}/bots", _BOT, f"{_BOT}/versions", _VERSION, f"{API}/divisions"),
    *_reads("author", f"{_VERSION}/log", f"{_VERSION}/log/events", f"{_VERSION}/events"),
    Access("POST", f"{_BOT}/versions", "author", ARCHIVE, UPLOADS),
    Access("POST", f"{_BOT}/connection", "author"),
    Access("POST", f"{_VERSION}/activate", "author"),
    Access("POST", f"{_VERSION}/retire", "author"),
    Access("POST", f"{_BOT}/pause", "author", JSON),
    Access("POST", f"{_BOT}/resume", "author"),
    # /api/v1: organisers
    *_reads("organiser", f"{_ORGANISER}/overview", f"{_ORGANISER}/invitations"),
    Access("POST", f"{_ORGANISER}/invitations", "organiser", JSON),
    Access("DELETE", f"{_ORGANISER}/invitations/{{invitation_id}}", "organiser"),
    Access("POST", f"{_ORGANISER}/owners/{{owner}}/block", "organiser", JSON),
)


class Gate:
    """The application behind the table. A request that no row allows raises the error to answer: 404 for an unknown
    address, 405 for a method, 401 and 403 for a role, 415 for a media type."""

    def __init__(self, app: ASGIApp, table: Sequence[Access] = TABLE) -> None:
        self.app = app
        rows: dict[str, list[Access]] = {}
        for row in table:
            rows.setdefault(row.path, []).append(row)
        self._rows = [(compile_path(path)[0], found) for path, found in rows.items()]

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await WebSocketClose()(scope, receive, send)
            return
        if scope["type"] == "http":
            row = self._row(scope)
            await _check(row, Request(scope, receive))
            if row.method != "GET" and row.takes != ARCHIVE:
                receive = await _whole_body(Request(scope, receive))
        await self.app(scope, receive, send)

    def _row(self, scope: AsgiScope) -> Access:
        rows = next((rows for pattern, rows in self._rows if pattern.match(scope["path"])), None)
        if rows is None:
            raise HTTPException(404, "There is nothing at this address.")
        method = "GET" if scope["method"] == "HEAD" else scope["method"]
        for row in rows:
            if row.method == method:
                return row
        allowed = ", ".join(row.method for row in rows)
        raise HTTPException(405, f"This address answers {allowed} alone.", {"Allow": allowed})


async def _check(row: Access, request: Request) -> None:
    """HTTPException or HandInRefused unless the row allows the request."""
    counted = [f"address {address_of(request)}"]
    if row.role != "visitor":
        hand_ins_of(request)  # without a ladder there are no accounts
        who = caller_of if row.path.startswith(f"{API}/") or row.path == "/metrics" else needed_account
        account = await asyncio.to_thread(who, request)
        if row.role == "organiser" and (account.bot or not (account.organiser and account.may(row.scope))):
            raise _not_organiser(account)
        counted.append(f"account {account.owner}")
    rate = row.rate or (CHANGES if row.method != "GET" else None)
    if rate is not None:
        request.app.state.rates.take(rate, *counted)
    if row.method == "GET":
        return
    kind = request.headers.get("content-type", "").strip().lower()
    if kind not in row.takes and not any(one and kind.startswith(f"{one};") for one in row.takes):
        named = " or ".join(one for one in row.takes if one)
        given = kind or "a body without a media type"
        raise HTTPException(415, f"The header Content-Type must be {named} for this address, not {given}.")


async def _whole_body(request: Request) -> Receive:
    """Read the body, and return what gives it once more. FastAPI would read any number of bytes. 413 if it is too long,
    400 if it does not arrive."""
    try:
        body = await body_of(request)
    except ClientDisconnect:
        raise HTTPException(400, "The connection broke before all of the request had come.") from None
    left: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> Message:
        return left.pop() if left else await request.receive()

    return receive


def _not_organiser(account: Account) -> HandInRefused:
    if account.bot:
        what, step = f"the token is good for the bot '{account.bot}' alone", "use another token"
    elif account.organiser:
        what, step = f"this token is for '{account.scope}'", "use or make a token of the scope 'organise'"
    else:
        what, step = f"this is for organisers, and '{account.owner}' is not one", "ask the organiser"
    return HandInRefused(Refusal.FORBIDDEN, what, step)
