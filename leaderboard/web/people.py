"""The interface of what keeps passwords, sign-ins at other providers, and what an organiser has decided about people.

As in `hand_ins`: any method may be called from any thread, may wait for a disk or for a provider, and may raise
HandInRefused; with UNAVAILABLE nothing was changed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol, TypeAlias

from leaderboard.web.hand_ins import Account, HandIns, NewToken, Person
from referee.run.decisions import JoiningBot
from referee.run.run import Run

SignUp: TypeAlias = Literal["invitation", "open", "closed"]
"""Who may make an account: with an invitation, everybody, or nobody."""


Steer: TypeAlias = Literal["pause", "go on", "drain", "notice"]


@dataclass(frozen=True, slots=True)
class Provider:
    """Where people have an account already, such as a school's GitLab. `id` is part of addresses."""

    id: str
    title: str


@dataclass(frozen=True, slots=True)
class Identity:
    """An account at a provider by which an owner can sign in. `subject` is what the provider calls the person."""

    provider: str
    title: str
    subject: str
    created: str


@dataclass(frozen=True, slots=True)
class Returned:
    """What a sign-in at a provider came to: a session, an identity that was added to the account that is signed in, or
    the code `pending` of somebody new, who is to choose a name."""

    session: NewToken | None = None
    added: bool = False
    pending: str = ""


@dataclass(frozen=True, slots=True)
class SignInWays:
    """How an owner can sign in beside tokens."""

    has_password: bool
    identities: tuple[Identity, ...]


@dataclass(frozen=True, slots=True)
class NewReset:
    """A link with which an owner chooses a new password. `code` is shown this once."""

    owner: str
    code: str
    expires: str


@dataclass(frozen=True, slots=True)
class Suspicion:
    """Something that may be one person with two accounts. `owners` and `bots` are names."""

    what: str
    owners: tuple[str, ...]
    bots: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Act:
    """Something that an organiser has done. `state` is '' while the process that plays has still to carry it out, 'yes'
    afterwards, or a sentence that says why it could not."""

    at: str
    who: str
    what: str
    subject: str
    reason: str
    state: str = "yes"


@dataclass(frozen=True, slots=True)
class Steering:
    """What an organiser has set. `paused` has a reason for each division that gets no new blocks; with `drain` no
    division does, for that reason. `notice` is shown on all pages."""

    notice: str = ""
    drain: str = ""
    paused: tuple[tuple[str, str], ...] = ()


class People(Protocol):
    """Accounts of one ladder beyond tokens and invitations. A method with an `account` checks all rights itself."""

    @property
    def sign_up(self) -> SignUp: ...

    @property
    def providers(self) -> Sequence[Provider]: ...

    # Signing in

    def join(self, owner: str, password: str, *, code: str = "", pending: str = "", browser: str = "") -> NewToken:
        """Make the account `owner`: with the invitation `code`, or without where sign-up is open; with a password, or
        with the identity of which `pending` is the code in this `browser`.

        UNAUTHENTICATED, FORBIDDEN (sign-up is closed, or needs an invitation), UNUSABLE, CONFLICT.
        """

    def sign_in(self, owner: str, password: str) -> NewToken:
        """A session. UNAUTHENTICATED for a wrong name or password alike, FORBIDDEN if the owner is blocked."""

    def begin(self, provider: str, browser: str, back: str, account: Account | None = None) -> str:
        """The provider's address to which the `browser`, a secret of its own, is sent; the provider sends it to the
        address `back`. With `account` the identity is added to it. UNKNOWN, UNAVAILABLE."""

    def finish(self, provider: str, browser: str, back: str, state: str, code: str) -> Returned:
        """The browser is back. UNAUTHENTICATED if it is not the one that began, came late, or the provider says no."""

    def pending(self, pending: str, browser: str) -> Identity:
        """Who chooses a name. UNAUTHENTICATED."""

    # One's own account

    def ways(self, account: Account) -> SignInWays:
        """How to sign in beside tokens. Needs `manage`."""

    def change_password(self, account: Account, current: str, new: str) -> None:
        """Ends all other sessions. UNAUTHENTICATED if `current` is not the password that there is. Needs `manage`."""

    def forget_identity(self, account: Account, provider: str, subject: str) -> None:
        """UNKNOWN. Needs `manage`."""

    def delete(self, account: Account, name: str) -> None:
        """For good: the account, its tokens and ways to sign in. Its bots play no more. `name` is its own name, to be
        sure. CONFLICT for the last organiser. Needs `manage`."""

    def check_reset(self, code: str) -> str:
        """Whose password a reset link changes. UNAUTHENTICATED."""

    def reset(self, code: str, new: str) -> NewToken:
        """Choose a new password with a reset link: all sessions and tokens end. A new session. UNAUTHENTICATED."""

    # For organisers

    def make_reset(self, account: Account, owner: str) -> NewReset:
        """Needs `organise`, as all that follow. UNKNOWN."""

    def approve(self, account: Account, owner: str, approved: bool, reason: str) -> Person:
        """Bots of owners who are not approved do not move the ratings of others. UNKNOWN."""

    def steer(self, account: Account, what: Steer, division: str, text: str) -> None:
        """`pause` and `go on` are of a division, or of all with `drain` and `go on` and no division. UNKNOWN."""

    def annul(self, account: Account, division: str, match_id: str, reason: str) -> None:
        """The match does not count. The process that plays does it, and says so in the journal. UNUSABLE."""

    def steering(self) -> Steering:
        """What is set now."""

    def acts(self, account: Account, most: int) -> Sequence[Act]:
        """The last ones, the newest first."""

    def suspicions(self, account: Account) -> Sequence[Suspicion]:
        """Content that several owners have handed in."""


class Tournaments(Protocol):
    """Runs of `crosstown run` that organisers steer, and what is needed for bots that join them."""

    @property
    def folder(self) -> Path:
        """Of the run folders."""

    @property
    def closed(self) -> Sequence[Path]:
        """Folders with what strangers have handed in: no bot may join from there."""

    def joining(self, run: Run, folder: Path, name: str, club: str) -> JoiningBot:
        """The bot in a folder that is to join a run. ExpectedError."""


class LadderHost(HandIns, Protocol):
    """All that the pages and `/api/v1` of a ladder ask and do."""

    @property
    def people(self) -> People: ...

    @property
    def tournaments(self) -> Tournaments | None:
        """The tournaments that organisers steer here; None where the ladder's file names none."""
