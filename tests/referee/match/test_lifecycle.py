"""Processes over many matches: used again where that is fair, never left behind; matches that repeat exactly."""

import asyncio
import os
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from referee.games.api import resolve_options
from referee.games.registry import get_game
from referee.match import EndReason, Limits, MatchResult, MatchSpec, SeatSpec, Table
from referee.process.bot import BotProcess
from referee.process.entry import Entry, load_entry
from referee.record import Answer, Chance, RecordFollower, read_record, verify
from tests.living import is_alive, open_files

ROOT = Path(__file__).resolve().parents[3]
ROGUE = ROOT / "tests" / "mock_bots" / "grpc_rogue"
RANDOM = ROOT / "bots" / "python" / "random"
PATIENT = Limits(startup_s=30, ready_s=30, first_move_s=30, move_s=30)

Specs = Callable[..., MatchSpec]


@pytest.fixture
def random_bot() -> Entry:
    return load_entry(RANDOM)


@pytest.fixture
def rogue() -> Callable[..., Entry]:
    return lambda deed, at=0: load_entry(ROGUE, options={"deed": deed, "at": at})


@pytest.fixture
def spec() -> Specs:
    def make(number: int, *entries: Entry, block: int | None = None, game: str = "toy", **more: Any) -> MatchSpec:
        return MatchSpec(
            match_id=f"m-{number:04}",
            game=game,
            options=resolve_options(game, get_game(game).options, {}),
            seats=tuple(SeatSpec(entry.id, f"bot {seat}", "1") for seat, entry in enumerate(entries)),
            seed=more.pop("seed", f"{number:032x}"),
            limits=more.pop("limits", PATIENT),
            block=number if block is None else block,
            **more,
        )

    return make


def processes_of(table: Any) -> set[int]:
    """Ids of the idle bots' processes."""
    return {bot.process.pid for bot in table._pool._idle}


OF_OTHERS: set[int] = set()
"""Children of this process that were there before the test: a browser of another test leaves some."""


@pytest.fixture(autouse=True)
def _others() -> None:
    OF_OTHERS.clear()
    OF_OTHERS.update(children())


def children() -> list[int]:
    """Children of this process that have come since the test began, zombies too."""
    found = []
    for path in Path("/proc").iterdir():
        if path.name.isdigit():
            try:
                parent = int((path / "stat").read_text().rpartition(")")[2].split()[1])
            except (OSError, ValueError, IndexError):
                continue
            if parent == os.getpid() and int(path.name) not in OF_OTHERS:
                found.append(int(path.name))
    return found


async def answers_in(record: Path) -> None:
    """Until the growing record has an answer."""
    follower = RecordFollower(record)
    async with asyncio.timeout(20):
        while not any(isinstance(line, Answer) for line in follower.poll()):  # noqa: ASYNC110 - it is a file
            await asyncio.sleep(0.02)


async def gone(pid: int, limit_s: float = 5.0) -> bool:
    end = time.monotonic() + limit_s
    while is_alive(pid):
        if time.monotonic() > end:
            return False
        await asyncio.sleep(0.01)
    return True


async def test_processes_are_used_again_in_other_blocks_only(random_bot: Entry, spec: Specs, tmp_path: Path) -> None:
    async with Table({random_bot.id: random_bot}) as table:
        await table.play(spec(0, random_bot, random_bot, block=0), tmp_path)
        first = processes_of(table)
        assert len(first) == 2
        await table.play(spec(1, random_bot, random_bot, block=1), tmp_path)
        assert processes_of(table) == first
        await table.play(spec(2, random_bot, random_bot, block=1), tmp_path)
        second = processes_of(table)
        assert second > first
        assert len(second) == 4
        await table.play(spec(3, random_bot, random_bot, block=2), tmp_path)
        assert processes_of(table) == second
        await table.play(spec(4, random_bot, random_bot, block=2, tournament="another"), tmp_path)
        assert processes_of(table) == second
    for pid in second:
        assert await gone(pid)


async def test_idle_processes_are_bounded(random_bot: Entry, spec: Specs, tmp_path: Path) -> None:
    async with Table({random_bot.id: random_bot}, max_idle=3) as table:
        await table.play(spec(0, random_bot, random_bot, block=0), tmp_path)
        oldest = processes_of(table)
        await table.play(spec(1, random_bot, random_bot, block=0), tmp_path)
        kept = processes_of(table)
        assert len(kept) == 3
        [evicted] = oldest - kept
        assert await gone(evicted)


async def test_a_bot_with_fresh_processes_has_a_new_one_for_each_match(
    random_bot: Entry, spec: Specs, tmp_path: Path
) -> None:
    async with Table({random_bot.id: random_bot}, fresh=[random_bot.id]) as table:
        pids: set[int] = set()
        for number in range(2):
            await table.play(spec(number, random_bot, random_bot, block=number), tmp_path)
            assert processes_of(table) == set()
            pids |= {process.pid for process in table._pool.waiting()}
        assert len(pids) == 4
        for pid in pids:
            assert await gone(pid)


@pytest.mark.slow
async def test_there_is_never_more_than_one_process_of_a_bot_with_one_copy(
    random_bot: Entry, rogue: Callable[..., Entry], spec: Specs, tmp_path: Path
) -> None:
    """Not even of one block, whose luck no process may meet twice; nor while one that faulted is on its way out."""
    resigning = rogue("resigns", at=1)
    entries = {entry.id: entry for entry in (random_bot, resigning)}
    kept: list[int] = []
    for limited, other in ((random_bot, resigning), (resigning, random_bot)):
        async with Table(entries, copies={limited.id: 1}) as table:
            pids = watch_starts(table, limited.id)
            for number in range(3):
                result = await table.play(spec(number, limited, other, block=number // 2), tmp_path / limited.id)
                assert result.reason in (EndReason.NORMAL, EndReason.RESIGNED)
            kept.append(len(pids))
    assert kept == [2, 3]  # the first is kept for the next block, having done nothing wrong


def watch_starts(table: Any, entry_id: str) -> list[int]:
    """The processes of this entry, which are added as they start; none may while another is there."""
    pids: list[int] = []
    real = table._pool._start

    async def start(wanted: str, *more: Any) -> Any:
        if wanted == entry_id:
            assert not any(map(is_alive, pids))
        bot = await real(wanted, *more)
        if wanted == entry_id:
            pids.append(bot.process.pid)
        return bot

    table._pool._start = start
    return pids


async def test_a_start_that_fails_leaves_room_for_the_next(
    random_bot: Entry, rogue: Callable[..., Entry], spec: Specs, tmp_path: Path
) -> None:
    never = rogue("never_connects")
    async with Table({entry.id: entry for entry in (random_bot, never)}, copies={never.id: 1}) as table:
        for number in range(2):
            result = await table.play(spec(number, never, random_bot, limits=Limits(startup_s=0.5)), tmp_path)
            assert result.reason is EndReason.START_FAILED


async def test_processes_that_are_killed_while_a_match_waits_have_their_time_to_end_too(random_bot: Entry) -> None:
    """Whoever waited for the first of them heard that the second had not ended in all that time."""
    async with Table({random_bot.id: random_bot}) as table:
        lasting = table._pool._lasting.setdefault(random_bot.id, set())

        def killed() -> asyncio.Task[None]:
            end = asyncio.create_task(asyncio.sleep(0.01))
            lasting.add(end)
            end.add_done_callback(lasting.discard)
            return end

        killed().add_done_callback(lambda _: killed())
        await table._pool._wait_for_ends(random_bot.id, 60)
        assert not lasting


@pytest.mark.parametrize("copies", [None, 1])
async def test_a_bot_does_not_start_while_an_earlier_process_of_it_has_not_ended(
    random_bot: Entry,
    rogue: Callable[..., Entry],
    spec: Specs,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    copies: int | None,
) -> None:
    """It holds its memory still, and what it has mapped, however long the kernel takes to end it. The next match of a
    bot with one copy waited for that without a limit."""
    over = asyncio.Event()
    monkeypatch.setattr(BotProcess, "is_gone", property(lambda process: over.is_set()))
    monkeypatch.setattr(BotProcess, "wait_gone", lambda process: over.wait())
    resigning = rogue("resigns", at=1)
    some = {} if copies is None else {resigning.id: copies}
    async with Table({entry.id: entry for entry in (random_bot, resigning)}, copies=some) as table:
        result = await table.play(spec(0, resigning, random_bot), tmp_path)
        assert result.reason is EndReason.RESIGNED
        while copies is None and not table._pool._lasting.get(resigning.id):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        async with asyncio.timeout(60):
            result = await table.play(spec(1, resigning, random_bot, limits=Limits(startup_s=0.5)), tmp_path)
        assert result.reason is EndReason.START_FAILED
        assert "was killed and has not ended" in result.detail
        over.set()
        result = await table.play(spec(2, resigning, random_bot), tmp_path)
        assert result.reason is EndReason.RESIGNED


async def test_a_faulted_process_is_never_used_again(
    random_bot: Entry, rogue: Callable[..., Entry], spec: Specs, tmp_path: Path
) -> None:
    resigning = rogue("resigns", at=1)
    async with Table({entry.id: entry for entry in (random_bot, resigning)}) as table:
        await table.play(spec(0, resigning, random_bot), tmp_path)
        [left] = processes_of(table)
        await table.play(spec(1, resigning, random_bot), tmp_path)
        assert processes_of(table) == {left}


async def test_an_idle_process_that_died_is_replaced(random_bot: Entry, spec: Specs, tmp_path: Path) -> None:
    async with Table({random_bot.id: random_bot}) as table:
        await table.play(spec(0, random_bot, random_bot), tmp_path)
        victim, other = processes_of(table)
        os.kill(victim, 9)
        assert await gone(victim)
        await asyncio.sleep(0.1)
        result = await table.play(spec(1, random_bot, random_bot), tmp_path)
        assert result.reason is EndReason.NORMAL
        assert victim not in processes_of(table)
        assert other in processes_of(table)


async def test_other_limits_mean_another_process(random_bot: Entry, spec: Specs, tmp_path: Path) -> None:
    async with Table({random_bot.id: random_bot}) as table:
        await table.play(spec(0, random_bot, random_bot), tmp_path)
        await table.play(spec(1, random_bot, random_bot, limits=replace(PATIENT, max_note_bytes=7)), tmp_path)
        assert len(processes_of(table)) == 4


async def test_the_next_match_does_not_wait_for_a_dying_process(
    random_bot: Entry, rogue: Callable[..., Entry], spec: Specs, tmp_path: Path
) -> None:
    spinning = rogue("spins", at=1)
    quick = Limits(startup_s=30, ready_s=30, move_s=0.1)
    async with Table({entry.id: entry for entry in (random_bot, spinning)}) as table:
        await table.play(spec(0, random_bot, random_bot), tmp_path)
        await table.play(spec(1, spinning, random_bot, limits=quick), tmp_path)
        assert table._pool._stopping
        result = await table.play(spec(2, random_bot, random_bot), tmp_path)
        assert result.reason is EndReason.NORMAL


async def test_the_same_specification_gives_the_same_match(random_bot: Entry, spec: Specs, tmp_path: Path) -> None:
    played = []
    for attempt in ("one", "two"):
        async with Table({random_bot.id: random_bot}) as table:
            result = await table.play(spec(7, random_bot, random_bot, random_bot), tmp_path / attempt)
        lines = read_record(tmp_path / attempt / "m-0007.jsonl.gz").lines
        moves = [(line.seat, line.action) for line in lines if isinstance(line, Answer)]
        luck = [line.outcome for line in lines if isinstance(line, Chance)]
        played.append((moves, luck, result.ranking, result.returns, result.state_hash))
    assert played[0] == played[1]


async def test_swapped_seats_meet_the_same_luck(random_bot: Entry, spec: Specs, tmp_path: Path) -> None:
    deals = []
    async with Table({random_bot.id: random_bot}) as table:
        for number in range(2):
            await table.play(spec(number, random_bot, random_bot, block=0, seed="ab" * 16), tmp_path)
            lines = read_record(tmp_path / f"m-{number:04}.jsonl.gz").lines
            deals.append([line for line in lines[:6] if isinstance(line, Chance)])
    assert deals[0] == deals[1]
    assert len(deals[0]) == 6


@pytest.mark.slow
async def test_matches_side_by_side_do_not_mix(random_bot: Entry, spec: Specs, tmp_path: Path) -> None:
    async with Table({random_bot.id: random_bot}) as table:
        results = await asyncio.gather(
            *(table.play(spec(number, *[random_bot] * (2 + number % 2)), tmp_path) for number in range(4))
        )
    assert [result.match_id for result in results] == [f"m-{number:04}" for number in range(4)]
    for result in results:
        assert result.reason is EndReason.NORMAL
        assert verify(tmp_path / f"{result.match_id}.jsonl.gz").status == "ok"


async def test_the_next_match_begins_with_the_same_bots_before_the_record_of_the_last_is_closed(
    random_bot: Entry, spec: Specs, tmp_path: Path
) -> None:
    begun: list[asyncio.Task[MatchResult]] = []
    async with Table({random_bot.id: random_bot}) as table:

        def over() -> None:
            assert not (tmp_path / "m-0000.jsonl.gz").exists()
            begun.append(asyncio.create_task(table.play(spec(1, random_bot, random_bot), tmp_path)))

        await table.play(spec(0, random_bot, random_bot), tmp_path, over=over)
        assert (tmp_path / "m-0000.jsonl.gz").exists()
        assert (await begun[0]).startup_us == ()
    assert verify(tmp_path / "m-0000.jsonl.gz").status == verify(tmp_path / "m-0001.jsonl.gz").status == "ok"


async def test_a_cancelled_match_is_recorded_as_such_and_leaves_no_process(
    rogue: Callable[..., Entry], spec: Specs, tmp_path: Path
) -> None:
    sleeping = rogue("sleeps", at=1)
    async with Table({sleeping.id: sleeping}) as table:
        task = asyncio.ensure_future(table.play(spec(0, sleeping, sleeping), tmp_path))
        await answers_in(tmp_path / "m-0000.jsonl")
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        record = read_record(tmp_path / "m-0000.jsonl.gz")
        assert record.footer is not None
        assert (record.footer.reason, record.footer.status) == ("cancelled", "cancelled")
        assert any(isinstance(line, Answer) for line in record.lines)
        assert verify(record.path).status == "ok"
    assert children() == []


@pytest.mark.parametrize("after_s", [0.0, 0.02, 0.3])
async def test_a_match_cancelled_while_bots_start_leaves_no_process(
    random_bot: Entry, rogue: Callable[..., Entry], spec: Specs, tmp_path: Path, after_s: float
) -> None:
    never = rogue("never_connects")
    async with Table({entry.id: entry for entry in (random_bot, never)}) as table:
        task = asyncio.ensure_future(table.play(spec(0, random_bot, never), tmp_path))
        await asyncio.sleep(after_s)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert children() == []


async def test_an_error_inside_the_table_block_ends_all_bots(random_bot: Entry, spec: Specs, tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError):  # noqa: PT012
        async with Table({random_bot.id: random_bot}) as table:
            await table.play(spec(0, random_bot, random_bot), tmp_path)
            raise ZeroDivisionError
    assert children() == []


def memory_kib() -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1])
    raise AssertionError("no VmRSS")


async def soak(entry: Entry, spec: Specs, folder: Path, matches: int) -> None:
    """So many matches in a row on one table; after a tenth of them nothing may grow any more."""
    async with Table({entry.id: entry}) as table:
        warm = matches // 10
        files = memory = 0
        for number in range(matches):
            result = await table.play(spec(number, entry, entry), folder)
            assert result.reason is EndReason.NORMAL
            if number == warm:
                files, memory = open_files(), memory_kib()
        assert open_files() <= files
        assert memory_kib() - memory < 4096 + matches
        assert len(processes_of(table)) == 2
        assert len(asyncio.all_tasks()) < 20
    assert children() == []


@pytest.mark.slow
async def test_sixty_matches_in_a_row_leave_nothing_behind(random_bot: Entry, spec: Specs, tmp_path: Path) -> None:
    await soak(random_bot, spec, tmp_path, 60)


@pytest.mark.long
async def test_a_thousand_matches_in_a_row_leave_nothing_behind(random_bot: Entry, spec: Specs, tmp_path: Path) -> None:
    await soak(random_bot, spec, tmp_path, 1000)


@pytest.mark.slow
async def test_a_bot_that_said_hello_while_the_referee_stood_still_has_come(
    random_bot: Entry, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a worker that was stopped: the limit of its start is over, and Hello lies there unread."""
    from referee.match.pool import Pool

    shake = Pool.shake_hands

    async def stand_still(*arguments: Any) -> Any:
        asyncio.get_running_loop().call_later(0.01, time.sleep, 4)
        return await shake(*arguments)

    monkeypatch.setattr(Pool, "shake_hands", stand_still)
    async with Table({random_bot.id: random_bot}) as table:
        bot = await table._pool.acquire(random_bot.id, replace(PATIENT, startup_s=3), "toy", ("t", "toy", 1))
        table._pool.release(bot, reusable=False)


@pytest.mark.slow
async def test_bots_that_start_together_take_turns(random_bot: Entry, monkeypatch: pytest.MonkeyPatch) -> None:
    """CON-2: a start-up has its whole limit from its own start on, and no more of them go on at once than there are
    cores."""
    from referee.match.pool import Pool
    from referee.match.time_control import LoopTimeSource
    from referee.process.bot import BotProcess
    from referee.wire import WireServer

    going: list[int] = []
    at_once: list[int] = []
    start, shake = BotProcess.start, Pool.shake_hands

    async def counted(*arguments: Any, **keys: Any) -> Any:
        going.append(1)
        at_once.append(len(going))
        return await start(*arguments, **keys)

    async def shaken(*arguments: Any, **keys: Any) -> Any:
        try:
            return await shake(*arguments, **keys)
        finally:
            going.pop()

    monkeypatch.setattr(BotProcess, "start", counted)
    monkeypatch.setattr(Pool, "shake_hands", shaken)
    async with WireServer() as server, LoopTimeSource() as clock:
        pool = Pool(server, {random_bot.id: random_bot}, max_idle=4, clock=clock, starts_at_once=2)
        try:
            bots = await asyncio.gather(
                *[pool.acquire(random_bot.id, PATIENT, "toy", ("t", "toy", number)) for number in range(5)]
            )
            for bot in bots:
                pool.release(bot, reusable=False)
        finally:
            await pool.close()
    assert len(bots) == 5
    assert (max(at_once), len(at_once)) == (2, 5)
