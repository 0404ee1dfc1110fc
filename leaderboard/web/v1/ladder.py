"""`/api/v1` of a ladder: one's account and tokens, bots, hand-ins, and what organisers do."""

import asyncio
from collections.abc import AsyncIterator, Callable, MutableMapping, Sequence
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal, TypeVar

from fastapi import APIRouter, Depends, Header, Path, Query, Request, Security
from fastapi.security import HTTPBearer
from pydantic import BaseModel, Field
from starlette.requests import ClientDisconnect
from starlette.responses import Response

from leaderboard.web import live
from leaderboard.web.accounts import (
    account_of,
    caller_of,
    count_open_join,
    hand_ins_of,
    is_own,
    own_bots,
    public_bot,
    public_versions,
)
from leaderboard.web.hand_ins import (
    OVER,
    Account,
    BotState,
    Connection,
    Division,
    HandedIn,
    HandInLimits,
    HandInRefused,
    Invitation,
    LogPart,
    NewInvitation,
    NewToken,
    Overview,
    Person,
    Refusal,
    Scope,
    Token,
    Upload,
    VersionState,
)
from leaderboard.web.people import LadderHost
from leaderboard.web.v1.runs import Refusals, refusals

LOOK_S: Final = 0.3
"""How often a stream looks whether something has changed."""

MOST_LOG_BYTES: Final = 1 << 16
_BLOCK_BYTES: Final = 1 << 20

T = TypeVar("T")

router = APIRouter(responses=refusals(404, 422, 503))
_SIGNED = Security(HTTPBearer(auto_error=False, description="A token, from the page of the account or `POST /join`."))


def _caller(request: Request, _: Annotated[object, _SIGNED]) -> Account:
    return caller_of(request)


def _visitor(request: Request) -> Account | None:
    return account_of(request)


Ladder = Annotated[LadderHost, Depends(hand_ins_of)]
Caller = Annotated[Account, Depends(_caller)]
Visitor = Annotated[Account | None, Depends(_visitor)]
BotName = Annotated[str, Path(description="Name of a bot.")]
Number = Annotated[int, Path(ge=1, le=999_999_999, description="Number of a version of the bot, from 1.")]
FirstByte = Annotated[int, Query(alias="from", ge=0, le=1 << 53, description="The first byte.")]
TokenId = Annotated[str, Path(description="Id of a token.")]
Label = Annotated[str, Field(description="What it is for, for people.")]
Days = Annotated[int | None, Field(ge=1, le=3650, description="How long it is good for; null: it does not expire.")]

_SIGNED_IN: Final = refusals(401, 403)


@dataclass(frozen=True, slots=True)
class Me:
    """The caller, and what a hand-in may have."""

    ladder: str
    account: Account
    limits: HandInLimits


class Join(BaseModel):
    """An invitation's code, and the name that the account is to have. Where sign-up is open `code` may be empty; then a
    password is needed."""

    code: str = ""
    owner: str
    password: str = Field("", max_length=1000, description="To sign in with in a browser; empty: none.")


class WantedToken(BaseModel):
    """A token that is to be made. With `bot` it is good for that one bot."""

    label: Label
    scope: Scope = "submit"
    days: Days = 90
    bot: str = ""


class WantedInvitation(BaseModel):
    """An invitation that is to be made."""

    label: Label
    uses: int = Field(1, ge=1, le=10_000, description="How many accounts may be made with it.")
    days: int = Field(14, ge=1, le=3650, description="How long it is good for.")
    organiser: bool = Field(False, description="Whether these accounts are organisers.")


class Reason(BaseModel):
    """Why, in a sentence."""

    reason: str = Field("", max_length=500)


class Bots(BaseModel):
    """Bots by name."""

    bots: list[BotState]


class Versions(BaseModel):
    """Versions of one bot, the newest first."""

    versions: list[VersionState]


class Tokens(BaseModel):
    """Tokens without their secrets, the newest first."""

    tokens: list[Token]


class Invitations(BaseModel):
    """Invitations without their codes."""

    invitations: list[Invitation]


class Divisions(BaseModel):
    """Divisions in the order of the configuration."""

    divisions: list[Division]


class Done(BaseModel):
    """Nothing more to say."""

    done: Literal[True] = True


# Who is there


@router.get("/me", tags=["Account"], response_model=Me, responses=_SIGNED_IN)
def show_me(ladder: Ladder, caller: Caller) -> Me:
    """Show the account of the token, its scope, and the limits of a hand-in."""
    return Me(ladder.title, caller, ladder.limits)


@router.post(
    "/join", tags=["Account"], status_code=201, response_model=NewToken, responses=refusals(401, 403, 409, 429)
)
def join_ladder(request: Request, ladder: Ladder, wanted: Join) -> NewToken:
    """Make an account, with an invitation unless sign-up is open. The token's secret is shown only once."""
    if not wanted.code:
        count_open_join(request)
    return ladder.people.join(wanted.owner, wanted.password, code=wanted.code)


@router.get("/me/tokens", tags=["Account"], response_model=Tokens, responses=_SIGNED_IN)
def list_tokens(ladder: Ladder, caller: Caller) -> Tokens:
    """List the valid tokens of the account, including browser sessions."""
    return Tokens(tokens=list(ladder.tokens(caller)))


@router.post("/me/tokens", tags=["Account"], status_code=201, response_model=NewToken, responses=_SIGNED_IN)
def create_token(ladder: Ladder, caller: Caller, wanted: WantedToken) -> NewToken:
    """Make a token. Its secret is shown only once."""
    return ladder.create_token(caller, wanted.label, wanted.scope, wanted.days, wanted.bot)


@router.delete("/me/tokens/{token_id}", tags=["Account"], response_model=Done, responses=_SIGNED_IN)
def revoke_token(ladder: Ladder, caller: Caller, token_id: TokenId) -> Done:
    """Revoke one of one's own tokens, at once."""
    ladder.revoke_token(caller, token_id)
    return Done()


# Bots and versions


@router.get("/me/bots", tags=["Bots"], response_model=Bots, responses=_SIGNED_IN)
def list_own_bots(ladder: Ladder, caller: Caller) -> Bots:
    """List one's own bots."""
    return Bots(bots=own_bots(ladder, caller))


@router.get("/bots", tags=["Bots"], response_model=Bots)
def list_bots(ladder: Ladder, visitor: Visitor) -> Bots:
    """List all bots. Of others' bots, hand-ins that do not play are not shown."""
    return Bots(bots=[public_bot(bot, visitor) for bot in ladder.bots()])


@router.get("/bots/{name}", tags=["Bots"], response_model=BotState)
def show_bot(ladder: Ladder, visitor: Visitor, name: BotName) -> BotState:
    """Show one bot."""
    return public_bot(ladder.bot(name), visitor)


@router.get("/bots/{name}/versions", tags=["Bots"], response_model=Versions)
def list_versions(ladder: Ladder, visitor: Visitor, name: BotName) -> Versions:
    """List the versions of a bot, the newest first. Of others' bots, only those that have qualified."""
    return Versions(versions=public_versions(ladder.versions(name), visitor))


@router.get("/bots/{name}/versions/{number}", tags=["Bots"], response_model=VersionState)
def show_version(ladder: Ladder, visitor: Visitor, name: BotName, number: Number) -> VersionState:
    """Show one version: its state, and its steps with their times and limits."""
    found = public_versions([ladder.version(name, number)], visitor)
    if not found:
        raise HandInRefused(
            Refusal.UNKNOWN, f"the bot '{name}' has no version {number}", "see the list of its versions"
        )
    return found[0]


_ARCHIVE: Final = {"schema": {"type": "string", "format": "binary"}}


@router.post(
    "/bots/{name}/versions",
    tags=["Bots"],
    status_code=201,
    response_model=VersionState,
    responses={
        200: {"model": VersionState, "description": "This content is this version already"},
        **refusals(401, 403, 409, 413, 429),
    },
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {"application/zip": _ARCHIVE, "application/gzip": _ARCHIVE},
        }
    },
)
async def hand_in_version(
    request: Request,
    response: Response,
    ladder: Ladder,
    caller: Caller,
    name: BotName,
    idempotency_key: Annotated[
        str,
        Header(
            max_length=200,
            description="Any text. A second request with the same text and content is answered like the first.",
        ),
    ] = "",
    game: Annotated[
        list[str], Query(max_length=100, description="Play only in divisions of this game. Can be repeated.")
    ] = [],  # noqa: B006 - FastAPI copies it
) -> VersionState:
    """Hand in a version: the body is the bot's folder as a zip or a tar.gz. The first version makes the bot.

    The answer comes when the archive is stored; `GET` of the version shows the progress of its checks.
    """
    done = await receive(request, ladder, caller, name, idempotency_key, game)
    response.status_code = 201 if done.created else 200
    return done.version


@router.post("/bots/{name}/connection", tags=["Bots"], status_code=201, response_model=Connection,
             responses=_SIGNED_IN | refusals(409, 429))  # fmt: skip
def connect_bot(ladder: Ladder, caller: Caller, name: BotName) -> Connection:
    """Get the address and the token with which a remote bot connects. The first request makes the bot.

    The token is shown only once and allows only to play as this bot. It replaces the previous token, whose connection
    is closed.
    """
    return ladder.connect(caller, name)


@router.get("/bots/{name}/versions/{number}/log", tags=["Bots"], response_model=LogPart, responses=_SIGNED_IN)
def read_log(ladder: Ladder, caller: Caller, name: BotName, number: Number, start: FirstByte = 0) -> LogPart:
    """Read what checking, building and qualifying printed, of one's own bot."""
    return ladder.log(caller, name, number, start, MOST_LOG_BYTES)


_EVENTS: Refusals = {200: {"content": {"text/event-stream": {}}, "description": "Server-sent events"}}


@router.get("/bots/{name}/versions/{number}/log/events", tags=["Bots"], responses=_EVENTS | _SIGNED_IN)
async def follow_log(
    request: Request, ladder: Ladder, caller: Caller, name: BotName, number: Number, start: FirstByte = 0
) -> Response:
    """Follow the log: `{"text": "...", "end": n, "complete": false}` for each part, until it is complete."""
    await asyncio.to_thread(ladder.log, caller, name, number, 0, 1)
    return live.stream(request, _log_parts(lambda at: ladder.log(caller, name, number, at, MOST_LOG_BYTES), start))


@router.get("/bots/{name}/versions/{number}/events", tags=["Bots"], responses=_EVENTS | _SIGNED_IN)
async def follow_version(request: Request, ladder: Ladder, caller: Caller, name: BotName, number: Number) -> Response:
    """Follow a version of one's own bot: its status and steps, at once and after each change, until all are over."""

    def look() -> VersionState:
        return _own(ladder.version(name, number), caller)

    await asyncio.to_thread(look)
    return live.stream(request, _states(look))


@router.post("/bots/{name}/versions/{number}/activate", tags=["Bots"], response_model=VersionState,
             responses=_SIGNED_IN | refusals(409))  # fmt: skip
def activate_version(ladder: Ladder, caller: Caller, name: BotName, number: Number) -> VersionState:
    """Let this version play from now on, instead of another one."""
    return ladder.activate(caller, name, number)


@router.post("/bots/{name}/versions/{number}/retire", tags=["Bots"], response_model=VersionState,
             responses=_SIGNED_IN | refusals(409))  # fmt: skip
def retire_version(ladder: Ladder, caller: Caller, name: BotName, number: Number) -> VersionState:
    """Retire this version: it no longer plays. Its results stay."""
    return ladder.retire(caller, name, number)


@router.post("/bots/{name}/pause", tags=["Bots"], response_model=BotState, responses=_SIGNED_IN)
def pause_bot(ladder: Ladder, caller: Caller, name: BotName, why: Reason) -> BotState:
    """Give the bot no new matches until it is resumed."""
    return ladder.pause(caller, name, why.reason)


@router.post("/bots/{name}/resume", tags=["Bots"], response_model=BotState, responses=_SIGNED_IN)
def resume_bot(ladder: Ladder, caller: Caller, name: BotName) -> BotState:
    """Let a paused bot play again."""
    return ladder.resume(caller, name)


# Divisions


@router.get("/divisions", tags=["Divisions"], response_model=Divisions)
def list_divisions(ladder: Ladder) -> Divisions:
    """List the divisions. The name of one is also its run's: its table is at `/runs/{run}/standings`."""
    return Divisions(divisions=list(ladder.divisions()))


# For organisers


@router.get("/organiser/overview", tags=["Organiser"], response_model=Overview, responses=_SIGNED_IN)
def show_overview(ladder: Ladder, caller: Caller) -> Overview:
    """Show what an organiser needs to know: alarms, queue, workers, builds, people."""
    return ladder.overview(caller)


@router.get("/organiser/invitations", tags=["Organiser"], response_model=Invitations, responses=_SIGNED_IN)
def list_invitations(ladder: Ladder, caller: Caller) -> Invitations:
    """List the valid invitations."""
    return Invitations(invitations=list(ladder.invitations(caller)))


@router.post("/organiser/invitations", tags=["Organiser"], status_code=201, response_model=NewInvitation,
             responses=_SIGNED_IN)  # fmt: skip
def create_invitation(ladder: Ladder, caller: Caller, wanted: WantedInvitation) -> NewInvitation:
    """Make an invitation. Its code is shown only once; the page `/join?code=CODE` accepts it."""
    return ladder.create_invitation(caller, wanted.label, wanted.uses, wanted.days, wanted.organiser)


@router.delete("/organiser/invitations/{invitation_id}", tags=["Organiser"], response_model=Done, responses=_SIGNED_IN)
def revoke_invitation(
    ladder: Ladder, caller: Caller, invitation_id: Annotated[str, Path(description="Id of an invitation.")]
) -> Done:
    """Revoke an invitation. Accounts that were made with it stay."""
    ladder.revoke_invitation(caller, invitation_id)
    return Done()


@router.post("/organiser/owners/{owner}/block", tags=["Organiser"], response_model=Person,
             responses=_SIGNED_IN | refusals(409))  # fmt: skip
def block_owner(
    ladder: Ladder, caller: Caller, owner: Annotated[str, Path(description="Name of an owner.")], why: Reason
) -> Person:
    """Ban an owner, whose bots then get no new matches. An empty reason ends the ban."""
    return ladder.block(caller, owner, why.reason)


def _own(version: VersionState, caller: Account) -> VersionState:
    if not is_own(version.owner, version.bot, caller):
        raise HandInRefused(
            Refusal.UNKNOWN,
            f"you have no bot '{version.bot}' with a version {version.number}",
            "see the list of your bots",
        )
    return version


# Uploads and streams


async def receive(
    request: Request, ladder: LadderHost, caller: Account, name: str, key: str, games: Sequence[str] = ()
) -> HandedIn:
    """The body of the request as a hand-in. What had come of one that broke off is removed."""
    most = ladder.limits.upload_bytes
    try:
        declared = request.headers.get("content-length", "")
        if declared.isascii() and declared.isdecimal() and int(declared[:20]) > most:
            raise too_large(int(declared[:20]), most)
        upload = await _begin(ladder, caller, name, key, games)
        turn, arrived = _turn_of(request, caller.owner), False
        try:
            await _pass_on(request, upload, most)
            await turn.acquire()
            arrived = True
        finally:
            if not arrived:
                await _whole(upload.abort)
        try:
            return await _whole(upload.finish, by=request.app.state.unpacking)
        finally:
            turn.release()
    except ClientDisconnect:
        raise HandInRefused(
            Refusal.UNUSABLE, "the connection broke before all of the archive had come", "send it again"
        ) from None
    except HandInRefused:
        await _read_off(request, most)
        raise


def _turn_of(request: Request, owner: str) -> asyncio.Lock:
    """One archive of an owner is unpacked at a time: who sends the same ones again and again, which counts as no
    hand-in, has others wait for one of them at most."""
    locks: MutableMapping[str, asyncio.Lock] = request.app.state.unpacking_of
    return locks.setdefault(owner, asyncio.Lock())


def too_large(size: int, most: int) -> HandInRefused:
    """The refusal of an archive of this size."""
    return HandInRefused(
        Refusal.TOO_LARGE,
        f"the archive has {size} bytes; at most {most} are allowed",
        "leave out what the bot does not need: builds, packages, data",
    )


async def _begin(ladder: LadderHost, caller: Account, name: str, key: str, games: Sequence[str]) -> Upload:
    """An upload, which is ended again if nobody waits for it any more."""
    task = asyncio.ensure_future(asyncio.to_thread(ladder.begin_upload, caller, name, key, games))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        with suppress(HandInRefused):
            await _whole((await task).abort)
        raise


async def _pass_on(request: Request, upload: Upload, most: int) -> None:
    buffer, size = bytearray(), 0
    async for part in request.stream():
        buffer += part
        size += len(part)
        if size > most:
            raise too_large(size, most)
        if len(buffer) >= _BLOCK_BYTES:
            await _whole(upload.write, bytes(buffer))
            buffer.clear()
    if buffer:
        await _whole(upload.write, bytes(buffer))


async def _whole(work: Callable[..., T], *values: Any, by: Executor | None = None) -> T:
    """What `work` returns, done in a thread, one of `by` where it is given, which is waited for even if the client has
    gone."""
    task = asyncio.ensure_future(asyncio.get_running_loop().run_in_executor(by, work, *values))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        with suppress(HandInRefused):
            await task
        raise


async def _read_off(request: Request, most: int) -> None:
    """Take what still comes, up to `most` bytes: many clients read the answer only when all is sent."""
    if "expect" in request.headers:
        return
    left = most
    with suppress(ClientDisconnect, RuntimeError):  # RuntimeError: it had all been read
        async for part in request.stream():
            left -= len(part)
            if left < 0:
                return


async def _states(look: Callable[[], VersionState]) -> AsyncIterator[str]:
    def shown(version: VersionState, _: int) -> dict[str, object]:
        return {
            "status": version.status,
            "steps": [{"name": step.name, "state": step.state} for step in version.steps],
            "reason": version.reason,
        }

    last: VersionState | None = None

    def until_over() -> VersionState | None:
        nonlocal last
        if last is not None and last.status in OVER:
            return None
        last = look()
        return last

    with suppress(HandInRefused):  # the database cannot be read now: the client connects again
        async for text in live.changes(until_over, shown, LOOK_S):
            yield text


async def _log_parts(read: Callable[[int], LogPart], start: int) -> AsyncIterator[str]:
    end, quiet_s = start, 0.0
    while True:
        try:
            part = await asyncio.to_thread(read, end)
        except HandInRefused:  # as above
            return
        if part.text or part.complete:
            yield live.event({"text": part.text, "end": part.end, "complete": part.complete and part.end == end})
            quiet_s = 0.0
        elif quiet_s >= live.QUIET_S:
            yield ": still here\n\n"
            quiet_s = 0.0
        if part.complete and part.end == end:
            return
        if part.end == end:
            await asyncio.sleep(LOOK_S)
            quiet_s += LOOK_S
        end = part.end
