"""A ladder for the tests of pages and API: the real store, and an intake that keeps archives and checks nothing."""

import hashlib
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from leaderboard.web.hand_ins import (
    Account,
    Alarm,
    BotState,
    Connection,
    Division,
    Entry,
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
    VersionState,
)
from referee.ladder.store import LadderStore
from referee.ladder.tournaments import SteeredTournaments

LIMITS = HandInLimits(upload_bytes=3 << 20, unpacked_bytes=8 << 20, files=100, build_s=60.0, qualify_s=60.0)


class Intake:
    """Implements HandIns over a store. `entries_of` are what a division's entry ids are."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.store = LadderStore(folder / "ladder.db", folder / "content")
        self.accounts = self.store.accounts
        self.people = self.store.people(divisions=["cup"])
        self.archives: dict[str, bytes] = {}
        self.logs: dict[tuple[str, int], bytes] = {}
        self.entries_of: dict[str, dict[str, Entry]] = {}
        self.alarms: list[Alarm] = []
        self.open_uploads = 0
        self.tournaments: SteeredTournaments | None = None
        self.title = "Test ladder"
        self.limits = LIMITS

    def need(self, account: Account, scope: Scope, owner: str = "") -> None:
        if not account.may(scope):
            raise HandInRefused(Refusal.FORBIDDEN, f"this token is good for '{account.scope}' only", "use another one")
        if owner and owner != account.owner and not account.may("organise"):
            raise HandInRefused(Refusal.FORBIDDEN, f"the bot belongs to '{owner}'", "use a token of its owner")

    def account(self, secret: str) -> Account:
        return self.accounts.account(secret)

    def invitation(self, code: str) -> Invitation:
        return self.accounts.invitation(code)

    def sign_in(self, secret: str) -> NewToken:
        return self.accounts.session_of(secret)

    def sign_out(self, account: Account) -> None:
        self.accounts.revoke_token(account.owner, account.token_id)

    def tokens(self, account: Account) -> Sequence[Token]:
        self.need(account, "manage")
        return self.accounts.tokens(account.owner)

    def create_token(self, account: Account, label: str, scope: Scope, days: int | None, bot: str = "") -> NewToken:
        self.need(account, "manage")
        self.need(account, scope)
        return self.accounts.create_token(account.owner, label, scope, days, bot=bot)

    def revoke_token(self, account: Account, token_id: str) -> None:
        self.need(account, "manage")
        self.accounts.revoke_token(account.owner, token_id)

    def invitations(self, account: Account) -> Sequence[Invitation]:
        self.need(account, "organise")
        return self.accounts.invitations()

    def create_invitation(self, account: Account, label: str, uses: int, days: int, organiser: bool) -> NewInvitation:
        self.need(account, "organise")
        return self.accounts.create_invitation(label, uses, days, organiser=organiser)

    def revoke_invitation(self, account: Account, invitation_id: str) -> None:
        self.need(account, "organise")
        self.accounts.revoke_invitation(invitation_id)

    def bots(self, owner: str | None = None) -> Sequence[BotState]:
        return self.store.bots(owner)

    def bot(self, name: str) -> BotState:
        return self.store.bot(name)

    def versions(self, name: str) -> Sequence[VersionState]:
        return self.store.versions(name)

    def version(self, name: str, number: int) -> VersionState:
        return self.store.version(name, number)

    def log(self, account: Account, name: str, number: int, start: int, most_bytes: int) -> LogPart:
        version = self.store.version(name, number)
        if account.owner != version.owner and not account.may("organise"):
            raise HandInRefused(Refusal.UNKNOWN, f"you have no bot '{name}'", "see the list of your bots")
        data = self.logs.get((name, number), b"")
        part = data[start : start + most_bytes]
        complete = version.status in ("active", "inactive", "rejected")
        return LogPart(part.decode(errors="replace"), start + len(part), complete)

    def begin_upload(self, account: Account, name: str, key: str, games: Sequence[str] = ()) -> "Arriving":
        self.need(account, "submit")
        self.store.check_bot(account.owner, name, remote=False)
        self.open_uploads += 1
        return Arriving(self, account.owner, name, key, games)

    def connect(self, account: Account, name: str) -> Connection:
        self.need(account, "submit")
        made = self.store.open_connection(account.owner, name)
        return Connection(name, made.token.id, made.secret, made.token.expires, "games.example:7000", True, "PEM")

    def activate(self, account: Account, name: str, number: int) -> VersionState:
        self.need(account, "manage", self.store.bot(name).owner)
        return self.store.activate(name, number)

    def retire(self, account: Account, name: str, number: int) -> VersionState:
        self.need(account, "manage", self.store.bot(name).owner)
        return self.store.retire(name, number)

    def pause(self, account: Account, name: str, reason: str) -> BotState:
        owner = self.store.bot(name).owner
        self.need(account, "manage", owner)
        return self.store.pause(name, reason or "paused", "owner" if owner == account.owner else "organiser")

    def resume(self, account: Account, name: str) -> BotState:
        owner = self.store.bot(name).owner
        self.need(account, "manage", owner)
        return self.store.resume(name, "organiser" if account.may("organise") else "owner")

    def divisions(self) -> Sequence[Division]:
        return [Division("cup", "Toy, 2 players", "toy", (2,), {"clock": "1 s a move"}, len(self.store.bots()))]

    def playing(self, division: str) -> Mapping[str, int]:
        return {bot.name: bot.version for bot in self.store.active(division)}

    def entries(self, division: str) -> Mapping[str, Entry]:
        return self.entries_of.get(division, {})

    def overview(self, account: Account) -> Overview:
        self.need(account, "organise")
        queue, builds = self.store.overview(50)
        return Overview(tuple(self.alarms), tuple(queue), (), tuple(builds), tuple(self.accounts.people()))

    def block(self, account: Account, owner: str, reason: str) -> Person:
        return self.people.block(account, owner, reason)

    # What a runner would do

    def qualify(self, name: str, number: int, divisions: Sequence[str] = ("cup",)) -> None:
        """All steps of a version, as if it had passed them."""
        for waiting in self.store.steps.waiting():
            if (waiting.bot, waiting.number) == (name, number):
                self.store.steps.begin_step(waiting.id, "checked", "checking", 60)
                self.store.steps.checked(waiting.id, "1.0", divisions)
                self.store.steps.end_step(waiting.id, "checked", "done", 0.5)
                self.store.steps.begin_step(waiting.id, "built", "building", 60)
                self.store.steps.end_step(waiting.id, "built", "done", 1.5)
                self.store.steps.begin_step(waiting.id, "qualified", "qualifying", 60)
                for division in divisions:
                    self.store.steps.qualified(waiting.id, division)

    def reject(self, name: str, number: int, reason: str, next_step: str) -> None:
        """A version, at its first step."""
        for waiting in self.store.steps.waiting():
            if (waiting.bot, waiting.number) == (name, number):
                self.store.steps.begin_step(waiting.id, "checked", "checking", 60)
                self.store.steps.reject(waiting.id, "checked", 0.5, reason, next_step)


class Arriving:
    """An archive that is on its way."""

    def __init__(self, intake: Intake, owner: str, name: str, key: str, games: Sequence[str]) -> None:
        self.intake, self.owner, self.name, self.key, self.games = intake, owner, name, key, games
        self.data = bytearray()
        self.ended = False

    def write(self, data: bytes) -> None:
        assert not self.ended
        self.data += data

    def _end(self) -> None:
        assert not self.ended, "it ended twice"
        self.ended = True
        self.intake.open_uploads -= 1

    def finish(self) -> HandedIn:
        self._end()
        data = bytes(self.data)
        if data[:2] not in (b"PK", b"\x1f\x8b"):
            raise HandInRefused(Refusal.UNUSABLE, "this is neither a zip nor a tar.gz", "hand in the bot's folder")
        content = hashlib.sha256(data).hexdigest()[:32]
        digest = hashlib.sha256(data).digest()
        version, created = self.intake.store.hand_in(
            self.owner, self.name, content, key=self.key, digest=digest, games=self.games
        )
        self.intake.archives[content] = data
        return HandedIn(version, created)

    def abort(self) -> None:
        self._end()


def wait_for(condition: Any, within_s: float = 20.0) -> None:
    """Until the condition holds."""
    end = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)
