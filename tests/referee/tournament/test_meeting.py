"""Bots that a worker meets after it has started, as those of a ladder and of a cluster."""

import os
from pathlib import Path

import pytest

from referee.games.registry import get_game
from referee.process.entry import load_entry
from referee.process.sandbox import Sandbox
from referee.record import read_record
from referee.schedule.spec import Limits, MatchSpec, SeatSpec
from referee.tournament.local import LocalExecutor
from referee.tournament.messages import BotSetup, Meeting

ROOT = Path(__file__).resolve().parents[3]
RANDOM = ROOT / "bots" / "python" / "random"


@pytest.fixture
def setups():
    """setups(profile) are two bots, confined so."""

    def make(profile):
        entries = [load_entry(RANDOM, f"bot {salt}", {"salt": salt}) for salt in (0, 1)]
        return tuple(
            BotSetup(str(one.folder), one.name, dict(one.options), one.id, Sandbox(profile), one.content)
            for one in entries
        )

    return make


@pytest.fixture
def tables(tmp_path, monkeypatch):
    """An executor that knows no bot yet."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "tests" / "toy_game"))
    return LocalExecutor([], tmp_path / "none", workers=1, log=tmp_path / "log")


def sandboxes(records):
    (path,) = records.glob("*.jsonl.gz")
    return [seat.sandbox for seat in read_record(path).header.seats]


def spec_of(name, bots):
    seats = tuple(SeatSpec(bot.entry_id, bot.name, "1") for bot in bots)
    game = get_game("toy")
    limits = Limits(startup_s=60, ready_s=60, first_move_s=30, move_s=30)
    return MatchSpec(name, "toy", {one.name: one.default for one in game.options}, seats, seed="ab" * 16, limits=limits)


@pytest.mark.slow
@pytest.mark.strict_sandbox
async def test_bots_that_a_worker_meets_later_are_confined_as_they_are_to_be(tables, setups, tmp_path):
    async with tables:
        for number, profile in enumerate(("strict", "plain", "strict")):
            bots, records = setups(profile), tmp_path / "runs" / f"run{number}" / "matches"
            result = await tables.play(spec_of(f"m{number}", bots), 200, Meeting(records, bots))
            assert result.status == "rated", result.detail
            assert sandboxes(records) == [profile, profile]


async def test_idle_workers_end_and_each_gets_a_new_process_with_its_next_match(tables, setups, tmp_path):
    """What a worker has played it holds: its end lets others remove that."""
    bots = setups("plain")
    async with tables:
        await tables.play(spec_of("m0", bots), 200, Meeting(tmp_path / "matches", bots))
        (first,) = tables.worker_pids
        await tables.end_idle()
        with pytest.raises(ProcessLookupError):
            os.kill(first, 0)
        result = await tables.play(spec_of("m1", bots), 200, Meeting(tmp_path / "matches", bots))
        assert result.status == "rated", result.detail
        (second,) = tables.worker_pids
        assert second != first
