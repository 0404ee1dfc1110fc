"""Remote bots of a ladder: tokens, versions, who is away, and qualification matches, with tables that are made up."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from leaderboard.web.hand_ins import OVER, HandInRefused, Refusal, VersionState
from referee.ladder import intake as intake_module
from referee.ladder import remote as module
from referee.ladder.config import LadderConfig
from referee.ladder.intake import Intake
from referee.ladder.remote import RemoteBots, guests_of
from referee.ladder.store import LadderStore
from referee.match.invitation import Seen
from referee.match.result import Fault, MatchResult
from referee.record.reasons import EndReason
from referee.schedule.spec import Limits, MatchSpec
from referee.tournament.bot_sections import RemoteConfig
from referee.tournament.executor import MatchLost
from referee.tournament.messages import Door, Meeting
from referee.wire import Listen
from referee.wire.remote_bots import token_digest
from tests.referee.ladder.handing_in import RANDOM


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LOOK_S", 0.01)
    monkeypatch.setattr(intake_module, "LOOK_S", 0.01)


@dataclass
class FakeTables:
    """Where bots are as a test says; `how` are the ends of matches, one after another, the last one for all others."""

    bots: dict[str, Seen] = field(default_factory=dict)
    address: str = "127.0.0.1:7000"
    door_trouble: str = ""
    expected: dict[str, tuple[str, ...]] = field(default_factory=dict)
    how: list[Any] = field(default_factory=lambda: ["rated"])
    played: list[tuple[MatchSpec, Meeting]] = field(default_factory=list)

    @property
    def door(self) -> Door:
        return Door(self.address, dict(self.bots))

    async def expect(self, name: str, digests: Sequence[str]) -> None:
        self.expected[name] = tuple(digests)

    def is_busy(self, name: str) -> bool:
        return False

    async def play(self, spec: MatchSpec, cap_s: float, meeting: Meeting | None = None) -> MatchResult:
        assert meeting is not None
        assert meeting.records.is_dir()
        self.played.append((spec, meeting))
        how = self.how.pop(0) if len(self.how) > 1 else self.how[0]
        if isinstance(how, Exception):
            raise how
        faults: list[Fault | None] = [None] * len(spec.seats)
        if isinstance(how, EndReason):
            faults[0] = Fault(0, how, "it did that")
        status = "void" if how in ("void", EndReason.START_FAILED) else "rated"
        reason = how if isinstance(how, EndReason) else EndReason.NORMAL
        return MatchResult(spec.match_id, status, reason, "", (1, 2), (1, 0), tuple(faults), (), 7, 0.1, "")


@dataclass
class World:
    """A ladder whose second division admits remote bots, and the clock of `remote`."""

    config: LadderConfig
    store: LadderStore
    tables: FakeTables
    remote: RemoteBots
    notes: list[str]
    clock_s: list[float]

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        intake = Intake(self.config, self.store, RANDOM, note=self.notes.append, remote=self.remote, back_off_s=0.01)
        tasks = [asyncio.create_task(one()) for one in (self.remote.run, intake.run)]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task

    def connect(self, label: str = "1", games: tuple[str, ...] = (), name: str = "afar") -> str:
        token = self.store.open_connection("ann", name).secret
        self.tables.bots[name] = Seen(True, label, games)
        return token

    def active(self) -> list[tuple[str, int, bool]]:
        """Name, version, and whether it is away."""
        return [(bot.name, bot.version, bot.away) for bot in self.remote.active("second")]

    async def over(self, number: int = 1) -> VersionState:
        await until(lambda: [v.number for v in self.store.versions("afar")][:1] == [number])
        await until(lambda: self.store.version("afar", number).status in OVER and not self.store.steps.qualifying())
        return self.store.version("afar", number)


async def until(condition: Callable[[], object], within_s: float = 20.0) -> None:
    async with asyncio.timeout(within_s):
        while not condition():  # noqa: ASYNC110 - of threads
            await asyncio.sleep(0.01)


@pytest.fixture
def world(config: LadderConfig, store: LadderStore) -> World:
    divisions = config.divisions[0], replace(config.divisions[1], admits=("remote",))
    plain = RemoteConfig(Listen("127.0.0.1", 7000, plain=True))
    admitting = replace(config, divisions=divisions, remote=plain)
    guests, tables, clock_s, notes = guests_of(admitting), FakeTables(), [1000.0], list[str]()
    assert guests is not None
    store.accounts.add_owner("ann")
    remote = RemoteBots(admitting, store, tables, guests, RANDOM, "plain", note=notes.append, time_s=lambda: clock_s[0])
    return World(admitting, store, tables, remote, notes, clock_s)


def test_nothing_listens_where_no_division_admits_remote_bots(config: LadderConfig) -> None:
    assert guests_of(config) is None
    assert guests_of(replace(config, remote=RemoteConfig(Listen("127.0.0.1", 7000)))) is None


def test_a_certificate_is_made_in_the_data_folder(world: World) -> None:
    secured = replace(world.config, remote=RemoteConfig(Listen("127.0.0.1", 7000)))
    guests = guests_of(secured)
    assert guests is not None
    assert guests.listen.certificate is not None
    assert guests.listen.certificate.is_relative_to(Path(world.config.data).resolve())


@pytest.mark.parametrize(("move_s", "keepalive_s"), [(1, 20), (40, 50), (600, 75)])
def test_a_silent_connection_is_found_within_the_time_that_the_clocks_of_the_divisions_give(
    world: World, move_s: float, keepalive_s: float
) -> None:
    """As in a tournament: a bot that answers no ping while it computes is not cut off in a long move."""
    closed, admitting = world.config.divisions
    divisions = replace(closed, limits=Limits(move_s=6000)), replace(admitting, limits=Limits(move_s=move_s))
    guests = guests_of(replace(world.config, divisions=divisions))
    assert guests is not None
    assert guests.listen.keepalive_s == keepalive_s


async def test_a_bot_that_connects_is_tried_in_the_divisions_that_admit_it_and_plays(world: World) -> None:
    token = world.connect()
    async with world.running():
        version = await world.over()
    assert (version.status, version.label, version.divisions) == ("active", "1", ("second",))
    assert world.tables.expected == {"afar": (token_digest(token).hex(),)}
    ((spec, meeting),) = world.tables.played
    assert [(bot.name, bot.remote, bot.version) for bot in meeting.bots] == [("afar", "afar", "1"), ("random", "", "")]
    assert [seat.clock for seat in spec.seats] == [{"margin_s": 0.25}, {}]
    assert (spec.tournament, spec.limits) == ("qualification", world.config.divisions[1].limits)
    assert world.active() == [("afar", 1, False)]
    assert [step.state for step in version.steps] == ["done"] * 5


async def test_the_token_of_a_bot_is_taken_away_from_the_tables_when_it_is_revoked(world: World) -> None:
    world.connect()
    async with world.running():
        await world.over()
        (token,) = world.store.accounts.tokens("ann")
        world.store.accounts.revoke_token("ann", token.id)
        await until(lambda: world.tables.expected == {"afar": ()})


async def test_a_bot_that_is_gone_for_long_is_away_until_it_is_back(world: World) -> None:
    world.connect()
    async with world.running():
        await world.over()
        before = world.remote.change_count()
        world.tables.bots["afar"] = Seen(False)
        world.clock_s[0] += module.AWAY_S - 1
        assert world.active() == [("afar", 1, False)]
        world.clock_s[0] += 2
        assert world.active() == [("afar", 1, True)]
        await until(lambda: world.remote.change_count() > before)
        world.tables.bots["afar"] = Seen(True, "1")
        await until(lambda: world.active() == [("afar", 1, False)])


async def test_what_a_bot_once_said_of_its_version_is_not_kept(world: World) -> None:
    world.connect()
    async with world.running():
        for number in range(5):
            world.tables.bots["afar"] = Seen(True, f"v{number}")
            await until(lambda number=number: ("afar", f"v{number}") in world.remote._seen_s)  # type: ignore[misc]
        world.clock_s[0] += module.AWAY_S + 1
        await until(lambda: set(world.remote._seen_s) == {("afar", "v4")})


async def test_another_version_in_hello_is_tried_and_takes_the_place_of_the_one_before(world: World) -> None:
    world.connect()
    async with world.running():
        await world.over()
        (bot,) = world.remote.active("second")
        assert world.remote.connected(bot)
        world.tables.bots["afar"] = Seen(True, "2")
        await world.over(2)
        assert not world.remote.connected(bot)
        assert world.active() == [("afar", 2, False)]
        world.tables.bots["afar"] = Seen(True, "1")
        await until(lambda: world.active() == [("afar", 1, False)])
    assert len(world.tables.played) == 2, "what has qualified is not tried again"


async def test_versions_of_a_day_are_counted_as_hand_ins(world: World) -> None:
    world.store.hand_ins_per_day = 2
    world.connect()
    async with world.running():
        await world.over()
        for label, games in (("1", ("toy",)), ("2", ()), ("3", ())):
            world.tables.bots["afar"] = Seen(True, label, games)
            await asyncio.sleep(0.1)
        await until(lambda: any("handed in 2 times" in note for note in world.notes))
        world.tables.bots["afar"] = Seen(True, "1", ("toy",))
        await world.over()
    assert [version.label for version in world.store.versions("afar")] == ["1"]


@pytest.mark.parametrize(
    "how", [["void", EndReason.DISCONNECTED, EndReason.START_FAILED, MatchLost("its worker died"), "rated"]]
)
async def test_a_qualification_match_that_the_network_may_have_spoilt_is_played_again(
    world: World, how: list[Any]
) -> None:
    world.tables.how = how
    world.connect()
    async with world.running():
        version = await world.over()
    assert (version.status, len(world.tables.played)) == ("active", 5)


async def test_a_bot_that_never_gets_to_the_end_of_its_match_is_rejected(world: World) -> None:
    world.tables.how = [EndReason.DISCONNECTED]
    world.connect()
    async with world.running():
        version = await world.over()
    assert (version.status, len(world.tables.played)) == ("rejected", 5)
    assert "5 matches in second had no result, the last one: it did that" in version.reason


async def test_a_fault_in_the_qualification_match_rejects_the_version_until_it_is_connected_anew(world: World) -> None:
    world.tables.how = [EndReason.ILLEGAL_ACTION, "rated"]
    world.connect()
    async with world.running():
        version = await world.over()
        assert version.status == "rejected"
        assert "a fault in the match against random in second: illegal_action" in version.reason
        assert "crosstown bots connect" in version.next_step
        world.tables.bots["afar"] = Seen(False)
        await asyncio.sleep(0.05)
        world.connect()
        await until(lambda: world.store.version("afar", 1).status == "active")


async def test_a_version_waits_while_its_bot_is_not_connected_and_no_other_hand_in_waits_for_it(world: World) -> None:
    world.connect()
    world.tables.bots.clear()
    world.store.has_connected("afar", "1", [])
    async with world.running():
        await asyncio.sleep(0.1)
        assert world.store.version("afar", 1).status == "received"
        world.connect(name="other")
        await until(lambda: world.store.versions("other") and world.store.version("other", 1).status == "active")
        world.tables.bots["afar"] = Seen(True, "1")
        assert (await world.over()).status == "active"


async def test_a_bot_that_plays_no_game_of_the_ladder_is_rejected_with_its_games(world: World) -> None:
    world.connect(games=("chess",))
    async with world.running():
        version = await world.over()
    assert version.status == "rejected"
    assert "it plays chess" in version.reason or "no division of chess admits remote bots" in version.reason


async def test_the_pages_are_told_where_bots_connect_and_which_are_there(world: World) -> None:
    world.tables.bots = {"afar": Seen(True, "1"), "gone": Seen(False)}
    assert world.remote.state() == {
        "address": "127.0.0.1:7000",
        "certificate": "",
        "trouble": "",
        "bots": {"afar": "1"},
    }
    world.tables.address, world.tables.door_trouble = "", "the port is in use"
    assert world.remote.state() == {"address": "", "trouble": "the port is in use"}


async def test_a_database_that_another_program_holds_is_asked_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = [True]
    connections = world.store.accounts.connections

    def ask() -> dict[str, list[str]]:
        if held[0]:
            raise HandInRefused(Refusal.UNAVAILABLE, "another program holds it", "wait")
        return connections()

    monkeypatch.setattr(world.store.accounts, "connections", ask)
    world.connect()
    async with world.running():
        await until(lambda: world.notes == ["remote bots wait: another program holds it"])
        held[0] = False
        assert (await world.over()).status == "active"


async def test_bots_that_are_there_are_not_away_while_another_program_holds_the_database(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[bool] = []

    def ask() -> dict[str, list[str]]:
        asked.append(True)
        raise HandInRefused(Refusal.UNAVAILABLE, "another program holds it", "wait")

    world.connect()
    async with world.running():
        await world.over()
        monkeypatch.setattr(world.store, "change_count", ask)
        for _ in range(3):
            world.clock_s[0] += module.AWAY_S - 1
            before = len(asked)
            await until(lambda before=before: len(asked) > before + 1)  # type: ignore[misc]
            assert world.active() == [("afar", 1, False)]
