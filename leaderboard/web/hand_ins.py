"""The interface of what keeps the accounts, bots and hand-ins of a ladder for the pages and for `/api/v1`.

Nothing here reads a database or an archive. Every method of a protocol may be called from any thread and may wait for
a disk, so the server calls each in a thread of its own. Times are UTC, ISO 8601 with a `Z`. Texts that an owner or a
bot brought in are raw: the code that shows them escapes them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Literal, Protocol, TypeAlias

from referee.errors import ExpectedError
from referee.run.machines import ClusterState


class Refusal(StrEnum):
    """Why a request is refused. The API answers with the status that stands beside it."""

    UNAUTHENTICATED = "unauthenticated"
    """401: the token or code is unknown, expired, used up or revoked."""
    FORBIDDEN = "forbidden"
    """403: the account may not do that: its scope, another owner's bot, organisers only, blocked."""
    UNKNOWN = "unknown"
    """404: there is no such bot, version, token, invitation or division. Also for one the caller may not know of."""
    CONFLICT = "conflict"
    """409: the name is taken or too like another, the idempotency key was used for other content, or the state of the
    version does not allow it."""
    TOO_LARGE = "too_large"
    """413: more bytes than one hand-in may have."""
    UNUSABLE = "unusable"
    """422: not an archive, a name that is no name, a value out of its range."""
    TOO_MANY = "too_many"
    """429: over a limit of hand-ins, tokens or bots; `retry_after_s` says when to try again."""
    UNAVAILABLE = "unavailable"
    """503: the disk is full, or another program holds the database. Nothing was changed."""


class HandInRefused(ExpectedError):
    """A request that was refused and changed nothing. `str()` is one sentence on what is wrong with the value in it,
    `next_step` one on what to do."""

    def __init__(self, refusal: Refusal, what: str, next_step: str, retry_after_s: int | None = None) -> None:
        super().__init__(what, next_step)
        self.refusal = refusal
        self.retry_after_s = retry_after_s


Scope: TypeAlias = Literal["read", "submit", "manage", "organise"]
"""What a token is good for; each includes those before it. `read`: see one's own bots; `submit`: hand in versions;
`manage`: activate, retire, pause, and make and revoke tokens; `organise`: all that an organiser may do."""

SCOPES: Final[tuple[Scope, ...]] = ("read", "submit", "manage", "organise")


@dataclass(frozen=True, slots=True)
class Account:
    """Who acts, and with which token. `bot` is the one bot that the token is good for, '' for all of the owner's.

    `scope` is never `organise` for an owner who is not an organiser.
    """

    owner: str
    scope: Scope
    token_id: str
    organiser: bool = False
    bot: str = ""

    def may(self, scope: Scope) -> bool:
        """Whether what needs `scope` is allowed."""
        return SCOPES.index(scope) <= SCOPES.index(self.scope)


TokenKind: TypeAlias = Literal["token", "session", "connection"]
"""A session is the token in a browser's cookie; it is made by signing in, and ended by signing out. With a connection
one remote bot connects to play; it is good for nothing else."""


@dataclass(frozen=True, slots=True)
class Token:
    """What is known of a token except its secret, which is stored as a hash. `expires` and `last_used` may be ''."""

    id: str
    label: str
    scope: Scope
    created: str
    kind: TokenKind = "token"
    bot: str = ""
    expires: str = ""
    last_used: str = ""


@dataclass(frozen=True, slots=True)
class NewToken:
    """A token just made. `secret` is shown this once."""

    owner: str
    token: Token
    secret: str


@dataclass(frozen=True, slots=True)
class Invitation:
    """Lets people make an account; with `organiser` as organisers. `uses_left` 0 or an `expires` gone by: useless."""

    id: str
    label: str
    created: str
    expires: str
    uses_left: int
    organiser: bool = False


@dataclass(frozen=True, slots=True)
class NewInvitation:
    """An invitation just made. `code` is shown this once; `/join?code=...` is its link."""

    invitation: Invitation
    code: str


VersionStatus: TypeAlias = Literal[
    "received", "checking", "building", "qualifying", "active", "inactive", "rejected", "retired"
]
"""`active`: this version plays. `inactive`: it qualified, and another version of the bot plays. `rejected`: a step
failed, `reason` says why. `retired`: its owner does not want it to play again."""

StepName: TypeAlias = Literal["received", "checked", "built", "qualified", "active"]
StepState: TypeAlias = Literal["waiting", "running", "done", "failed", "skipped"]

STEPS: Final[tuple[StepName, ...]] = ("received", "checked", "built", "qualified", "active")
OVER: Final[frozenset[VersionStatus]] = frozenset({"active", "inactive", "rejected", "retired"})
"""Nothing happens to such a version before somebody asks for it."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a hand-in. `began` and `ended` are '' before that; `limit_s` None where there is no limit; `detail`
    is one sentence, such as what it waits for or why it failed."""

    name: StepName
    state: StepState
    began: str = ""
    ended: str = ""
    limit_s: float | None = None
    detail: str = ""


@dataclass(frozen=True, slots=True)
class VersionState:
    """One version of a bot. `number` counts from 1. `label` is the version that its manifest states, '' before it was
    checked; `content` the hash of its files, '' before that. `divisions` are the names of those it plays or will play.

    `reason` and `next_step` say why it was rejected and what to do, '' otherwise. `has_log`: see `HandIns.log`.
    """

    bot: str
    owner: str
    number: int
    status: VersionStatus
    steps: tuple[Step, ...]
    created: str
    label: str = ""
    content: str = ""
    divisions: tuple[str, ...] = ()
    reason: str = ""
    next_step: str = ""
    has_log: bool = False


@dataclass(frozen=True, slots=True)
class BotState:
    """One bot. `versions` counts all hand-ins; `newest` is the last one; `active` the number of the version that plays,
    None for none. `paused` is '' or a sentence that says why it does not play, with `paused_by` who decided that;
    `next_step` what its owner can do. `remote`: it runs at its owner's; then `connected` says whether it is there."""

    name: str
    owner: str
    created: str
    versions: int
    newest: VersionState | None
    active: int | None
    paused: str = ""
    paused_by: Literal["", "owner", "organiser", "breaker", "limit"] = ""
    next_step: str = ""
    house: bool = False
    remote: bool = False
    connected: bool = False


@dataclass(frozen=True, slots=True)
class HandedIn:
    """What became of an upload: `created` is False if this content is a version already, which is then returned."""

    version: VersionState
    created: bool


@dataclass(frozen=True, slots=True)
class Connection:
    """With what the program of a remote bot connects to play. `token` is shown this once. `address` is HOST:PORT;
    `certificate` is what the ladder shows there, in PEM, for who does not trust its authority anyway; '' without
    `tls`."""

    bot: str
    token_id: str
    token: str
    expires: str
    address: str
    tls: bool
    certificate: str


@dataclass(frozen=True, slots=True)
class LogPart:
    """A log from a byte on. `text` is decoded with replacement characters; `end` is where the next part begins; with
    `complete` nothing will be added."""

    text: str
    end: int
    complete: bool


@dataclass(frozen=True, slots=True)
class Entry:
    """Which version of which bot an entry id in the journal and the records of a division is."""

    entry_id: str
    bot: str
    owner: str
    number: int
    house: bool = False


@dataclass(frozen=True, slots=True)
class Division:
    """One division. `name` also names its run folder. `players` are the numbers of seats that it may play with;
    `settings` clock and options in words, by name; `bots` how many may play. `waits` is '' or one sentence on why no
    match is played, such as that one bot alone is there. `admits`: "remote", "network" or "people", where bots that may
    remember other matches play."""

    name: str
    title: str
    game: str
    players: tuple[int, ...]
    settings: Mapping[str, str]
    bots: int
    waits: str = ""
    admits: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class HandInLimits:
    """What one hand-in may have, for people and for programs that want to know before they send."""

    upload_bytes: int
    unpacked_bytes: int
    files: int
    build_s: float
    qualify_s: float


@dataclass(frozen=True, slots=True)
class Alarm:
    """Something that needs an organiser. `address` is the page about it, '' for none."""

    what: str
    next_step: str
    since: str
    address: str = ""


@dataclass(frozen=True, slots=True)
class Worker:
    """What a worker of the runner does now, in words; `match_id` '' when it plays none. `since` is when it began."""

    name: str
    doing: str
    since: str
    division: str = ""
    match_id: str = ""


@dataclass(frozen=True, slots=True)
class Person:
    """An owner. `blocked` is '' or a sentence that says why the owner may do nothing. Bots of an owner who is not
    `approved` are rated, and do not move the ratings of others."""

    owner: str
    organiser: bool
    joined: str
    bots: int
    last_seen: str = ""
    blocked: str = ""
    approved: bool = True


@dataclass(frozen=True, slots=True)
class Overview:
    """What an organiser sees. `queue` are the hand-ins that are on their way, the next first; `builds` the last
    versions that were built or rejected, the newest first. `runner` is '' or a sentence on why nothing is played.
    `cluster` has the machines, where the ladder plays on a cluster."""

    alarms: tuple[Alarm, ...]
    queue: tuple[VersionState, ...]
    workers: tuple[Worker, ...]
    builds: tuple[VersionState, ...]
    people: tuple[Person, ...]
    runner: str = ""
    cluster: ClusterState | None = None


class Upload(Protocol):
    """One archive on its way. Exactly one of `finish` and `abort` ends it; `abort` leaves nothing behind."""

    def write(self, data: bytes) -> None:
        """The next bytes. HandInRefused: TOO_LARGE, UNAVAILABLE; only `abort` may follow."""

    def finish(self) -> HandedIn:
        """All bytes are there: they are durable, and the version stands in the database, when this returns.

        HandInRefused: CONFLICT (the idempotency key was used for other bytes), UNUSABLE (neither zip nor tar.gz, or
        empty), UNAVAILABLE. It has then ended, too.
        """

    def abort(self) -> None:
        """Forget it. Never raises."""


class HandIns(Protocol):
    """The accounts, bots and hand-ins of one ladder. Any method may raise HandInRefused with UNAVAILABLE.

    A method with an `account` checks all rights itself, scope and `Account.bot` included.
    """

    @property
    def title(self) -> str:
        """The ladder's name for people."""

    @property
    def limits(self) -> HandInLimits: ...

    # Who is there

    def account(self, secret: str) -> Account:
        """Whose token this is. UNAUTHENTICATED if it is unknown, expired or revoked, FORBIDDEN if its owner is
        blocked."""

    def invitation(self, code: str) -> Invitation:
        """What a code is good for, without using it. UNAUTHENTICATED: it is unknown, expired or used
        up."""

    def sign_in(self, secret: str) -> NewToken:
        """A session for a browser from a token of the kind `token` without a `bot`. UNAUTHENTICATED, FORBIDDEN."""

    def sign_out(self, account: Account) -> None:
        """Revoke the token that the account acts with."""

    def tokens(self, account: Account) -> Sequence[Token]:
        """All that are good for something, sessions included, the newest first. Needs `manage`."""

    def create_token(self, account: Account, label: str, scope: Scope, days: int | None, bot: str = "") -> NewToken:
        """`days` None: it does not expire. FORBIDDEN beyond the account's own scope. Needs `manage`."""

    def revoke_token(self, account: Account, token_id: str) -> None:
        """One of the account's own; at once. UNKNOWN. Needs `manage`."""

    def invitations(self, account: Account) -> Sequence[Invitation]:
        """All that are good for something. Needs `organise`."""

    def create_invitation(self, account: Account, label: str, uses: int, days: int, organiser: bool) -> NewInvitation:
        """Needs `organise`."""

    def revoke_invitation(self, account: Account, invitation_id: str) -> None:
        """UNKNOWN. Needs `organise`."""

    # Bots and versions

    def bots(self, owner: str | None = None) -> Sequence[BotState]:
        """Of one owner or of all, by name. Public: the caller shows of others' bots only what all may see."""

    def bot(self, name: str) -> BotState:
        """UNKNOWN."""

    def versions(self, name: str) -> Sequence[VersionState]:
        """The newest first. UNKNOWN for a bot that is not there."""

    def version(self, name: str, number: int) -> VersionState:
        """UNKNOWN."""

    def log(self, account: Account, name: str, number: int, start: int, most_bytes: int) -> LogPart:
        """What checking, building and qualifying printed, from the byte `start` on. Of one's own bot, or any for an
        organiser; else UNKNOWN. Needs `read`."""

    def begin_upload(self, account: Account, name: str, key: str, games: Sequence[str] = ()) -> Upload:
        """A version of the bot `name` is about to arrive; the bot is made by the first one. `key` is the client's
        idempotency key, '' for none. `games`: the only ones that it is to play. Needs `submit`.

        FORBIDDEN: the bot is another's. UNUSABLE: no name for a bot. CONFLICT: too like another's. TOO_MANY.
        """

    def connect(self, account: Account, name: str) -> Connection:
        """The bot, which runs at its owner's, connects with this from now on; with what it had before it does not any
        more. The first time makes the bot. Needs `submit`.

        FORBIDDEN, UNUSABLE, TOO_MANY: as `begin_upload`. CONFLICT also where no division admits remote bots, and for a
        bot that was handed in as files. UNAVAILABLE while nothing listens for remote bots.
        """

    def activate(self, account: Account, name: str, number: int) -> VersionState:
        """Let this qualified version play instead of another. CONFLICT unless it is `inactive` or `retired` and had
        qualified (`active`: nothing to do). Needs `manage`."""

    def retire(self, account: Account, name: str, number: int) -> VersionState:
        """This version plays no more. CONFLICT while it is on its way. Needs `manage`."""

    def pause(self, account: Account, name: str, reason: str) -> BotState:
        """The bot gets no new matches until `resume`. Needs `manage`; organisers may for any bot."""

    def resume(self, account: Account, name: str) -> BotState:
        """FORBIDDEN for an owner whose bot was paused by an organiser. Needs `manage`."""

    # Divisions

    def divisions(self) -> Sequence[Division]:
        """In the order of the configuration."""

    def playing(self, division: str) -> Mapping[str, int]:
        """The number of the version that plays in the division, by name of the bot; house bots and those that are
        paused are left out. UNKNOWN."""

    def entries(self, division: str) -> Mapping[str, Entry]:
        """By entry id: all that have ever played in the division. UNKNOWN."""

    # For organisers

    def overview(self, account: Account) -> Overview:
        """Needs `organise`."""

    def block(self, account: Account, owner: str, reason: str) -> Person:
        """The owner may do nothing, and the owner's bots get no new matches; '' lifts it. CONFLICT for oneself. Needs
        `organise`."""
