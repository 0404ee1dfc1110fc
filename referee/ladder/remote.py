"""Remote bots: which are connected, their versions, and their qualification matches."""

import asyncio
import secrets
import shutil
import tempfile
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from leaderboard.web.hand_ins import HandInRefused, Refusal
from referee.ladder.bots import LadderBot
from referee.ladder.config import DivisionConfig, LadderConfig
from referee.ladder.runner import load_remote
from referee.ladder.steps import WaitingVersion
from referee.ladder.store import LadderStore
from referee.match.invitation import Seen
from referee.match.result import MatchResult
from referee.process.entry import Entry, load_entry
from referee.process.manifest import ANY_GAME
from referee.process.sandbox import Profile, Sandbox
from referee.record.reasons import EndReason
from referee.schedule.spec import Faults, MatchSpec, SeatSpec
from referee.texts import one_line, plural
from referee.tournament.executor import MatchLost
from referee.tournament.messages import BotSetup, Door, Meeting
from referee.tournament.remote import Guests, Terms, listen_with, usual_keepalive_s
from referee.tournament.runner import cap_s
from referee.wire.public_address import parse_address, reached_at

LOOK_S = 0.5
"""How often it looks for connections that came or went, and for tokens."""

AWAY_S = 30.0
"""A bot without a connection for this long leaves its divisions until it is back; its waiting matches are cancelled."""

TOKENS_S = 30.0
"""How often tokens are looked at though nothing changed: they expire."""

_AGAIN = (EndReason.START_FAILED, EndReason.DISCONNECTED)
"""Ends of a qualification match that a network can be the cause of: the match is played once more."""


class Tables(Protocol):
    """What plays, and listens for remote bots: a `LocalExecutor` that was given `guests_of`."""

    @property
    def door(self) -> Door: ...

    @property
    def door_trouble(self) -> str: ...

    async def expect(self, name: str, digests: Sequence[str]) -> None: ...

    def is_busy(self, name: str) -> bool: ...

    async def play(self, spec: MatchSpec, cap_s: float, meeting: Meeting | None = None) -> MatchResult: ...


def guests_of(config: LadderConfig) -> Guests | None:
    """Where remote bots connect; None if no division admits them. A certificate is made in the data folder if the file
    names none. PlatformError."""
    remote = config.remote
    clocks = [division.limits for division in config.divisions if "remote" in division.admits]
    if remote is None or not clocks:
        return None
    listen = replace(remote.listen, keepalive_s=remote.keepalive_s or usual_keepalive_s(clocks))
    return Guests(
        listen_with(listen, remote.public, config.data / "tls"),
        {},
        {},
        remote.public,
        Terms(config.limits, remote.reconnect_s),
    )


class RemoteBots:
    """The store's roster, in which a remote bot that has been gone for long is `away`; and `Connections` of the runner.

    `run` keeps the tables up with the tokens, and the store with what connects.
    """

    def __init__(
        self,
        config: LadderConfig,
        store: LadderStore,
        tables: Tables,
        guests: Guests,
        opponent: Path,
        profile: Profile,
        *,
        note: Callable[[str], None] = lambda _: None,
        away_s: float = AWAY_S,
        time_s: Callable[[], float] = time.monotonic,
    ) -> None:
        """`opponent`: the folder of the bot that plays by chance in qualification matches."""
        self._config = config
        self._store = store
        self._tables = tables
        self._guests = guests
        self._opponent = opponent
        self._profile = profile
        self._note = note
        self._away_s = away_s
        self._time_s = time_s
        self._expected: dict[str, list[str]] = {}
        self._looked: tuple[int, float] | None = None
        self._told: dict[str, tuple[str, tuple[str, ...]]] = {}
        self._seen_s: dict[tuple[str, str], float] = {}
        """When a bot was there last as the version of this label."""
        self._began_s = time_s()
        self._present: Collection[tuple[str, str]] = ()
        self._changes = 0
        self._known_opponent: Entry | None = None

    # Roster

    def change_count(self) -> int:
        return self._store.change_count() + self._changes

    def active(self, division: str) -> Sequence[LadderBot]:
        return [
            replace(bot, away=not self._is_present(bot.name, bot.label)) if bot.remote else bot
            for bot in self._store.active(division)
        ]

    def paused(self, division: str, bot: LadderBot, reason: str) -> None:
        self._store.paused(division, bot, reason)

    # Connections

    def connected(self, bot: LadderBot) -> bool:
        seen = self._tables.door.bots.get(bot.name)
        return seen is not None and seen.connected and seen.version == bot.label

    def busy(self, bot: LadderBot) -> bool:
        return self._tables.is_busy(bot.name)

    def _is_present(self, name: str, label: str) -> bool:
        """Whether it was there a short time ago. When this begins nothing is known yet."""
        return self._time_s() - self._seen_s.get((name, label), self._began_s) <= self._away_s

    def state(self) -> dict[str, Any]:
        """For the pages, in the file that the runner writes."""
        door, listen = self._tables.door, self._guests.listen
        if not door.address:
            return {"address": "", "trouble": self._tables.door_trouble}
        _, port = parse_address(door.address)
        return {
            "address": reached_at(listen.host, port, self._guests.public),
            "certificate": str(listen.certificate or ""),
            "trouble": "",
            "bots": {name: seen.version for name, seen in sorted(door.bots.items()) if seen.connected},
        }

    # As long as the ladder plays

    async def run(self) -> None:
        """Until it is cancelled."""
        trouble = ""
        while True:
            for name, seen in self._tables.door.bots.items():
                if seen.connected:
                    self._seen_s[name, seen.version] = self._time_s()
            try:
                await self._expect()
                await self._take()
                trouble = ""
            except HandInRefused as error:  # another program holds the database: it is tried again
                if str(error) != trouble:
                    self._note(f"remote bots wait: {error}")
                trouble = str(error)
            known = {("", ""), *self._seen_s}  # nobody's name: whether all may be taken for present still
            present = {key for key in known if self._is_present(*key)}
            if present != self._present:
                self._present = present
                self._changes += 1
            for gone in known - present - {("", "")}:  # as if it had never been there
                del self._seen_s[gone]
            await asyncio.sleep(LOOK_S)

    async def _expect(self) -> None:
        """Tell the tables which tokens are good."""
        now_s, changes = self._time_s(), await asyncio.to_thread(self._store.change_count)
        if self._looked is not None and self._looked[0] == changes and now_s - self._looked[1] < TOKENS_S:
            return
        wanted = await asyncio.to_thread(self._store.accounts.connections)
        for name in {*wanted, *self._expected}:
            digests = wanted.get(name, [])
            if self._expected.get(name) != digests:
                await self._tables.expect(name, digests)
                self._expected[name] = digests
        self._looked = changes, now_s

    async def _take(self) -> None:
        """Tell the store which versions have come."""
        bots = self._tables.door.bots
        for name, seen in bots.items():
            if not seen.connected:
                continue
            said = seen.version, self._games(seen)
            if self._told.get(name) != said:
                await self._tell(name, *said)
                self._told[name] = said
        for name in [name for name in self._told if not (name in bots and bots[name].connected)]:
            del self._told[name]

    async def _tell(self, name: str, label: str, games: tuple[str, ...]) -> None:
        try:
            await asyncio.to_thread(self._store.has_connected, name, label, games)
        except HandInRefused as error:
            if error.refusal is Refusal.UNAVAILABLE:
                raise
            self._note(one_line(f"'{name}' has connected and does not play: {error}"))

    def _games(self, seen: Seen) -> tuple[str, ...]:
        """The ladder's games that it plays; () for all."""
        known = {division.game.game for division in self._config.divisions}
        return () if not seen.games or ANY_GAME in seen.games else tuple(sorted(known & {*seen.games})) or seen.games

    # Qualification

    def is_there(self, version: WaitingVersion) -> bool:
        """Whether the version is connected."""
        seen = self._tables.door.bots.get(version.bot)
        return seen is not None and seen.connected and seen.version == version.label

    async def qualify(self, version: WaitingVersion, division: DivisionConfig) -> tuple[bool, str]:
        """One match against a bot that plays by chance; whether the version passes, and a sentence. MatchLost for a
        match without a result, for which the bot is not responsible."""
        bot = LadderBot(version.bot, version.owner, version.number, remote=True, label=version.label)
        loaded, opponent = load_remote(bot, self._config), await asyncio.to_thread(self._load_opponent)
        sandbox = Sandbox(self._profile, read=self._config.sandbox.read, hidden=self._config.unseen)
        other = BotSetup(
            str(opponent.folder), "random", dict(opponent.options), opponent.id, sandbox, opponent.content, opponent.id
        )
        players = min(division.game.players)
        seats = (
            SeatSpec(loaded.bot_id, version.bot, str(version.number), loaded.clock),
            *[SeatSpec(opponent.id, "random", opponent.manifest.version)] * (players - 1),
        )
        spec = MatchSpec(
            match_id=f"qualify-{secrets.token_hex(6)}",
            game=division.game.game,
            options=division.game.options,
            seats=seats,
            seed=secrets.token_hex(16),
            limits=division.limits,
            tournament="qualification",
            faults=Faults(),
        )
        scratch = self._config.data / "hand_ins" / "scratch"
        records = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="qualify-", dir=scratch))
        try:
            meeting = Meeting(records, (loaded.setup, *[other] * (players - 1)))
            result = await self._tables.play(spec, cap_s(spec), meeting)
        finally:
            await asyncio.to_thread(shutil.rmtree, records, ignore_errors=True)
        fault = result.faults[0]
        if fault is not None and fault.reason not in _AGAIN:
            return False, one_line(
                f"a fault in the match against random in {division.name}: {fault.reason}: {fault.detail}"
            )
        if result.status == "rated" and fault is None:
            return True, f"{plural(result.decisions, 'decision')}, {result.reason}"
        raise MatchLost(one_line(fault.detail if fault is not None else result.detail or result.reason))

    def _load_opponent(self) -> Entry:
        if self._known_opponent is None:
            self._known_opponent = load_entry(self._opponent, "random")
        return self._known_opponent
