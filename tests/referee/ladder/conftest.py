"""A ladder of the toy game whose matches are made up instead of played; and one that takes hand-ins."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from leaderboard.web.hand_ins import Account, Scope
from referee.ladder.bots import LadderBot, entry_id
from referee.ladder.config import LadderConfig, load_ladder
from referee.ladder.division import Division
from referee.ladder.hand_ins import LadderHandIns
from referee.ladder.intake import open_store
from referee.ladder.members import Loaded
from referee.ladder.people import LadderPeople
from referee.ladder.runner import LadderRunner, load_remote
from referee.ladder.store import LadderStore
from referee.match.result import MatchResult
from referee.process.sandbox import Sandbox
from referee.run.folder import RunFolder
from referee.run.run import Run
from referee.schedule.spec import MatchSpec
from referee.tournament.executor import nothing
from referee.tournament.messages import BotSetup, Meeting
from tests.referee.ladder.clock import Clock
from tests.referee.ladder.handing_in import Sign


def load(bot: LadderBot) -> Loaded:
    """A bot of which nothing is on the disk."""
    if bot.remote:
        return load_remote(bot, LadderConfig(Path(), "", Path(), (), ()))
    source = f"{bot.name}-{bot.version}"
    known_as = entry_id(bot, source)
    trouble = "its build in /srv/ladder/cyd is gone" if bot.content == "broken" else ""
    return Loaded(known_as, BotSetup("", bot.name, {}, source, Sandbox(), bot.content, known_as), trouble=trouble)


@dataclass
class FakeRoster:
    """Who plays, by division; '' for all divisions."""

    bots: list[LadderBot] = field(default_factory=list)
    changes: int = 0
    told: list[tuple[str, str, str]] = field(default_factory=list)

    def change_count(self) -> int:
        return self.changes

    def active(self, division: str) -> Sequence[LadderBot]:
        return list(self.bots)

    def paused(self, division: str, bot: LadderBot, reason: str) -> None:
        self.told.append((division, bot.name, reason))

    def set(self, *bots: LadderBot) -> None:
        self.bots, self.changes = list(bots), self.changes + 1


@dataclass
class FakeTables:
    """Makes records up; `behaves` says how by specification, and is called when a match begins."""

    leave: Callable[..., MatchResult]
    slots: int = 2
    behaves: Callable[[MatchSpec], str] = lambda _spec: "rated"
    played: list[MatchSpec] = field(default_factory=list)
    begun: list[str] = field(default_factory=list)
    """For each match in `played`, what its meeting says of its block."""
    met: list[BotSetup] = field(default_factory=list)
    """The bots of all matches."""

    async def play(
        self, spec: MatchSpec, cap_s: float, meeting: Meeting | None = None, *, over: Callable[[], None] = nothing
    ) -> MatchResult:
        assert meeting is not None
        assert [bot.known_as for bot in meeting.bots] == [seat.entry_id for seat in spec.seats]
        self.played.append(spec)
        self.begun.append(meeting.begun)
        self.met.extend(meeting.bots)
        what = self.behaves(spec)
        await asyncio.sleep(0)
        if what == "stays":
            await asyncio.Event().wait()
        if what.startswith("crashed "):
            seat = [seat.name for seat in spec.seats].index(what.split()[1])
            return self.leave(meeting.records, spec, "crashed", seat)
        return self.leave(meeting.records, spec, what)


@dataclass
class FakeConnections:
    """Which remote bots are there, by name with the version that they say; and which are in matches elsewhere."""

    there: dict[str, str] = field(default_factory=dict)
    seated: set[str] = field(default_factory=set)

    def connected(self, bot: LadderBot) -> bool:
        return self.there.get(bot.name) == bot.label

    def busy(self, bot: LadderBot) -> bool:
        return bot.name in self.seated


@dataclass
class World:
    """One ladder: what it is made of, and what is there of it."""

    config: LadderConfig
    tables: FakeTables
    make_log: Callable[[], Any]
    roster: FakeRoster = field(default_factory=FakeRoster)
    connections: FakeConnections = field(default_factory=FakeConnections)
    notes: list[str] = field(default_factory=list)
    day: datetime = field(default_factory=lambda: datetime.now(UTC))
    clock_s: float = 1000.0
    logs: list[Any] = field(default_factory=list)

    def folder(self, number: int = 0) -> RunFolder:
        return RunFolder(self.config.folder_of(self.config.divisions[number]))

    def run(self, number: int = 0) -> Run:
        return Run(self.folder(number))

    def division(self, number: int = 0) -> Division:
        return Division(
            self.config,
            self.config.divisions[number],
            self.tables,
            self.make_log(),
            now=lambda: self.day,
            time_s=lambda: self.clock_s,
        )

    def runner(self, people: LadderPeople | None = None) -> LadderRunner:
        def observer(_folder: RunFolder) -> Any:
            self.logs.append(self.make_log())
            return self.logs[-1]

        return LadderRunner(
            self.config,
            [self.roster],
            self.tables,
            load,
            observer,
            self.notes.append,
            self.connections,
            people=people,
            time_s=lambda: self.clock_s,
            now=lambda: self.day,
        )

    def load(self, bot: LadderBot) -> Loaded:
        return load(bot)

    def play(
        self,
        until: Callable[[], bool] | None = None,
        *,
        seconds: float = 60,
        runner: LadderRunner | None = None,
        people: LadderPeople | None = None,
    ) -> LadderRunner:
        """Play until this is so, asked again and again; or until all divisions idle."""
        runner = runner or self.runner(people)
        asyncio.run(self._play(runner, until, seconds))
        return runner

    async def _play(self, runner: LadderRunner, until: Callable[[], bool] | None, seconds: float) -> None:
        stop = asyncio.Event()
        running = asyncio.create_task(runner.run(stop))
        quiet = 0
        async with asyncio.timeout(seconds):
            while not running.done():
                await asyncio.sleep(0)
                busy = any(division.playing for division in runner.divisions)
                quiet = 0 if busy else quiet + 1
                if until() if until is not None else quiet > 50:
                    stop.set()
                    break
            await running

    def later(self, **more: float) -> None:
        self.day += timedelta(**more)

    def lines(self, kind: str, number: int = 0) -> list[Any]:
        return [line.fields for line in self.run(number).journal.events if line.kind == kind]


@pytest.fixture
def make_ladder(tmp_path: Path, leave_record, make_log) -> Callable[..., World]:
    """make_ladder("exploration = 0.0", divisions=..., slots=2) is a World with that in [matchmaking]."""

    def make(matchmaking: str = "", divisions: str = '[[divisions]]\ngame = "toy"\n', slots: int = 2) -> World:
        path = tmp_path / "ladder.toml"
        path.write_text(f"{divisions}\n[matchmaking]\n{matchmaking}\n", encoding="utf-8")
        return World(load_ladder(path), FakeTables(leave_record, slots), make_log)

    return make


@pytest.fixture
def bot() -> Callable[..., LadderBot]:
    """bot("ann", version=2, ...)"""

    def make(name: str, version: int = 1, **more: Any) -> LadderBot:
        return replace(LadderBot(name, more.pop("owner", f"owner of {name}"), version), **more)

    return make


@pytest.fixture
def config(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> LadderConfig:
    """Two divisions of one game; `cache`: where bots play from and builds are kept."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2] / "toy_game"))
    file = tmp_path / "ladder.toml"
    lines = ['name = "test"', 'data = "data"', "[hand_ins]", "archive_mib = 1", "unpacked_mib = 4", "files = 100"]
    for name in ("first", "second"):
        lines += ["[[divisions]]", 'game = "toy"', f'name = "{name}"']
    file.write_text("\n".join(lines))
    return load_ladder(file)


@pytest.fixture
def store(config: LadderConfig) -> Iterator[LadderStore]:
    with open_store(config) as made:
        yield made


@pytest.fixture
def hand_ins(config: LadderConfig, store: LadderStore) -> LadderHandIns:
    return LadderHandIns(config, store)


@pytest.fixture
def sign(hand_ins: LadderHandIns, store: LadderStore) -> Sign:
    """sign("ann", "submit") is an account with a token for that; "otto" is an organiser."""

    def make(owner: str = "ann", scope: Scope = "manage", bot: str = "") -> Account:
        store.accounts.add_owner(owner, organiser=owner == "otto")
        return hand_ins.account(store.accounts.create_token(owner, "", scope, None, bot=bot).secret)

    return make


@pytest.fixture
def clock() -> Clock:
    return Clock()
