"""Worker processes that die or swell while a bot floods them: the bot is named, and loses the match.

Budgets for frames cut a flood off long before a worker feels it. So the workers here have none: what is tested is the
line of defence behind them."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from arena import Arena

from referee.match import EndReason
from referee.process.entry import Entry, load_entry
from referee.record import verify
from referee.tournament.executor import MatchLost
from referee.tournament.local import LocalExecutor

FLOODER = Path(__file__).parent / "bots" / "flooder"
CAP_S = 120.0
WITHOUT_BUDGETS = """
from referee.wire import http2, listener
from referee.wire.budget import Terms
listener.READ_BYTES = 2048  # so that no reading costs more than one within a budget may
http2.terms_of_session = lambda message_bytes: Terms(1 << 60, 0)
from referee.tournament import worker
worker.FLOOD_SHARE = 0.1  # on a busy machine a bot cannot take more of a worker's time
"""
MAIN = "worker.main()\n"
SWELLS = """
held, told = [], worker.floods_since
def floods_since(*args):
    found = told(*args)
    if SWELLS_ALONE or found:
        held.append(bytearray(600 << 20))
    return found
worker.floods_since = floods_since
"""
MakeExecutor = Callable[[str, list[Entry]], AbstractAsyncContextManager[LocalExecutor]]


@pytest.fixture
def executor(tmp_path: Path, place: Path, monkeypatch: pytest.MonkeyPatch) -> MakeExecutor:
    """executor(program, entries) has one worker."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[1] / "toy_game"))

    @asynccontextmanager
    async def make(program: str, entries: list[Entry]) -> AsyncIterator[LocalExecutor]:
        command = (sys.executable, "-P", "-c", WITHOUT_BUDGETS + program + MAIN)
        made = LocalExecutor(entries, tmp_path / "matches", workers=1, log=tmp_path / "log", command=command)
        async with made:
            yield made

    return make


@pytest.fixture
def bots(arena: Arena) -> list[Entry]:
    """One that plays, and one that floods at its third decision for longer than a worker lives here."""
    return [arena.good(0), load_entry(FLOODER, options={"deed": "ping", "where": "own", "seconds": 30})]


async def kill_when(executor: LocalExecutor, ready: Callable[[LocalExecutor], bool]) -> None:
    async with asyncio.timeout(CAP_S):
        while not ready(executor):  # noqa: ASYNC110 - it is told by a line of the worker
            await asyncio.sleep(0.02)
    os.kill(executor.worker_pids[0], signal.SIGKILL)


async def test_a_worker_that_is_killed_while_a_bot_floods_it_costs_that_bot_its_match(
    arena: Arena, bots: list[Entry], executor: MakeExecutor, tmp_path: Path
) -> None:
    spec = arena.spec(*bots)
    async with executor("", bots) as hosts:
        killing = asyncio.create_task(kill_when(hosts, lambda at: at.flood_in(spec.match_id) is not None))
        with pytest.raises(MatchLost, match="was killed by signal 9") as caught:
            await hosts.play(spec, CAP_S)
        await killing
        assert caught.value.flood is not None
        seat, why = caught.value.flood
        assert seat == 1
        assert "of the referee's time" in why
        (tmp_path / "matches" / f"{spec.match_id}.jsonl").unlink()
        again = arena.spec(*bots)
        result = await hosts.play(replace(again, forfeits=(caught.value.flood,)), CAP_S)
    assert (result.status, result.reason, result.ranking) == ("rated", EndReason.DISCONNECTED, (1, 2)), result.detail
    assert result.faults[0] is None
    assert result.faults[1] is not None
    assert result.faults[1].detail == why
    assert verify(tmp_path / "matches" / f"{again.match_id}.jsonl.gz").status == "ok"


async def test_a_worker_that_is_killed_while_bots_only_play_names_none_of_them(
    arena: Arena, bots: list[Entry], executor: MakeExecutor
) -> None:
    bots[1] = load_entry(FLOODER, options={"deed": "none", "where": "own"})
    slow = arena.unready()
    async with executor("", [*bots, slow]) as hosts:
        await hosts.play(arena.spec(*bots), CAP_S)
        killing = asyncio.create_task(asyncio.sleep(2.5))
        killing.add_done_callback(lambda _: os.kill(hosts.worker_pids[0], signal.SIGKILL))
        with pytest.raises(MatchLost, match="was killed by signal 9") as caught:
            await hosts.play(arena.spec(bots[0], slow), CAP_S)
    assert caught.value.flood is None


@pytest.mark.parametrize("alone", [False, True], ids=["while a bot floods it", "while none does"])
async def test_a_worker_that_swells_ends_itself_and_names_who_floods_it(
    arena: Arena, bots: list[Entry], executor: MakeExecutor, alone: bool
) -> None:
    if alone:
        bots[1] = arena.unready()
    async with executor(f"SWELLS_ALONE = {alone}" + SWELLS, bots) as hosts:
        with pytest.raises(MatchLost, match=r"exit code 1 \(it has \d+ MiB of memory, and may have 512\)") as caught:
            await hosts.play(arena.spec(*bots), CAP_S)
    assert (caught.value.flood is None) is alone
    if caught.value.flood is not None:
        assert caught.value.flood[0] == 1
