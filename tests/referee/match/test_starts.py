"""How long bots take to start, and what they printed where they did not: in the result and in the record."""

import asyncio
import shutil
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from referee.games.api import resolve_options
from referee.games.registry import get_game
from referee.match import EndReason, Fault, Limits, MatchResult, MatchSpec, SeatSpec, SeatStats, Table, pool
from referee.match.effort import NO_EFFORT, Effort
from referee.process.entry import Entry, load_entry
from referee.process.sandbox import Sandbox
from referee.process.trees import remove_tree
from referee.record import read_record

R = EndReason
RANDOM = Path(__file__).resolve().parents[3] / "bots" / "python" / "random"

LATE_IMPORT = """
import os, shutil

from crosstown_bot import Bot, run


class Late(Bot):
    def choose(self, turn):
        os.chmod(os.getcwd(), 0o755)
        shutil.rmtree(os.getcwd())  # in place of a cleaner of caches
        import needed_only_now


run(Late)
"""


def make_spec(number: int, *entries: Entry) -> MatchSpec:
    return MatchSpec(
        match_id=f"m-{number:04}",
        game="toy",
        options=resolve_options("toy", get_game("toy").options, {}),
        seats=tuple(SeatSpec(entry.id, f"bot {seat}", "1") for seat, entry in enumerate(entries)),
        seed=f"{number:032x}",
        limits=Limits(startup_s=60, ready_s=60, first_move_s=60, move_s=60),
        block=number,
    )


async def test_the_start_up_time_of_every_process_stands_in_the_record_of_the_match_it_was_started_for(
    tmp_path: Path,
) -> None:
    bot = load_entry(RANDOM)
    async with Table({bot.id: bot}) as table:
        first = await table.play(make_spec(0, bot, bot), tmp_path)
        second = await table.play(make_spec(1, bot, bot), tmp_path)
    assert [10_000 < took_us < 60_000_000 for took_us in first.startup_us] == [True, True]
    footer = read_record(tmp_path / "m-0000.jsonl.gz").footer
    assert footer is not None
    assert footer.startup_us == first.startup_us
    assert second.startup_us == ()


async def test_what_others_kept_a_bot_from_running_is_not_in_its_start_up_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor is it in the limit, so that no bot is warned of a start that took longer than it may."""
    monkeypatch.setattr(pool, "_kept_waiting_ns", lambda process: 10**15)
    bot = load_entry(RANDOM)
    async with Table({bot.id: bot}) as table:
        assert (await table.play(make_spec(0, bot, bot), tmp_path)).startup_us == (1, 1)


async def test_a_failed_start_has_its_charged_time_with_lag_beside_it_and_its_last_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "_kept_waiting_ns", lambda process: 10**15)
    folder = tmp_path / "bad"
    folder.mkdir()
    (folder / "bot.toml").write_text('name = "bad"\nversion = "1"\ngames = ["*"]\nrun = ["{python}", "-S", "bot.py"]\n')
    (folder / "bot.py").write_text("import sys\nprint('no weights', file=sys.stderr)\nsys.exit(3)\n")
    good, bad = load_entry(RANDOM), load_entry(folder)
    async with Table({good.id: good, bad.id: bad}) as table:
        result = await table.play(make_spec(0, good, bad), tmp_path)
    assert result.reason is EndReason.START_FAILED
    assert result.faults[1] is not None
    evidence = result.faults[1].evidence
    assert evidence["startup_us"] == 1, "others kept it from running all the time"
    assert evidence["startup_lag_us"] > 1000
    sent = MatchResult.from_json(result.to_json())
    assert sent.faults[1] is not None
    assert sent.faults[1].last_lines() == ("no weights",)


@pytest.mark.parametrize("stands_still", [True, False])
async def test_a_bot_that_gave_up_while_the_referee_stood_still_has_not_failed_to_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stands_still: bool
) -> None:
    """A worker that was stopped: nobody answered the bot, which exits after ten seconds. One that was late eight times
    for half a second did answer."""
    folder = tmp_path / "waits"
    folder.mkdir()
    (folder / "bot.toml").write_text('name = "waits"\nversion = "1"\ngames = ["*"]\nrun = ["{python}", "bot.py"]\n')
    (folder / "bot.py").write_text("import sys\nsys.exit('no answer from the referee')\n")
    waits = load_entry(folder)
    monkeypatch.setattr(pool, "STOOD_STILL_NS", 3_000_000_000)
    shake = pool.Pool.shake_hands

    async def stand_still(*arguments: Any) -> Any:
        for _ in range(1 if stands_still else 8):
            time.sleep(4 if stands_still else 0.5)  # noqa: ASYNC251 - nothing else happens meanwhile
            await asyncio.sleep(0.05)
        return await shake(*arguments)

    monkeypatch.setattr(pool.Pool, "shake_hands", stand_still)
    async with Table({waits.id: waits}) as table:
        result = await table.play(make_spec(0, waits, waits), tmp_path)
    if stands_still:
        assert (result.reason, result.faults) == (R.PLATFORM_FAULT, (None, None))
        assert "bot 'waits' ended before it said Hello: exit code 1; the referee had stood still for" in result.detail
    else:
        assert result.reason is R.START_FAILED


@pytest.mark.parametrize("gone", ["", "bot.py"])
async def test_a_bot_whose_copy_is_taken_away_has_not_failed_to_start(tmp_path: Path, cache: Path, gone: str) -> None:
    bot = load_entry(RANDOM)
    bot.home.chmod(0o755)
    if gone:
        (bot.home / gone).unlink()
    else:
        remove_tree(bot.home)
    async with Table({bot.id: bot}) as table:
        result = await table.play(make_spec(0, bot, bot), tmp_path)
    assert (result.reason, result.status, result.faults) == (EndReason.PLATFORM_FAULT, "void", (None, None))
    assert str(bot.home) in result.detail


async def test_a_bot_whose_copy_is_taken_away_while_it_plays_has_not_crashed(tmp_path: Path, cache: Path) -> None:
    folder = tmp_path / "late"
    folder.mkdir()
    (folder / "bot.toml").write_text('name = "late"\nversion = "1"\ngames = ["*"]\nrun = ["{python}", "bot.py"]\n')
    (folder / "bot.py").write_text(LATE_IMPORT)
    good, late = load_entry(RANDOM), load_entry(folder)
    async with Table({good.id: good, late.id: late}) as table:
        result = await table.play(make_spec(0, good, late), tmp_path)
    assert (result.reason, result.status, result.faults) == (EndReason.PLATFORM_FAULT, "void", (None, None))
    assert result.detail.endswith(f"{late.home}, which it plays from, is gone")


def test_only_the_last_lines_travel_and_long_ones_keep_their_ends() -> None:
    text = "\n".join(f"line {number}" for number in range(50)) + "\n" + "x" * 5000 + " no memory\n"
    lines = Fault(0, EndReason.START_FAILED, "", {"stderr": text, "stdout": "never"}).last_lines()
    assert len(lines) == 10
    assert lines[0] == "line 41"
    assert lines[-1] == "x" * 100 + "..." + "x" * 190 + " no memory"
    assert Fault(0, EndReason.START_FAILED, "", {"stdout": "said\n"}).last_lines() == ("said",)


def test_a_result_of_a_match_that_was_played_carries_no_output() -> None:
    fault = Fault(0, EndReason.CRASHED, "it crashed", {"stderr": "secret"})
    result = MatchResult(
        "m", "rated", EndReason.CRASHED, "", (2, 1), (), (fault, None), (SeatStats(),) * 2, 0, 0.1, "", (5, 0)
    )
    assert "secret" not in result.to_json()
    assert MatchResult.from_json(result.to_json()).startup_us == (5, 0)


@pytest.mark.parametrize(("waited_s", "sleeps_s", "reason"), [(60, 1.5, R.NORMAL), (0, 30.0, R.START_FAILED)])
async def test_time_in_which_others_kept_a_bot_from_running_is_none_of_its_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, waited_s: int, sleeps_s: float, reason: EndReason
) -> None:
    """Another bot may use up the processors meanwhile; this one would be blamed, and in the end be set aside."""
    folder = tmp_path / "late"
    shutil.copytree(RANDOM, folder)
    program = folder / "bot.py"
    program.write_text(f"import time\ntime.sleep({sleeps_s})\n{program.read_text()}")
    good, late = load_entry(RANDOM), load_entry(folder, "late")
    monkeypatch.setattr(pool, "measure_effort", lambda _: Effort({1: (0, waited_s * 10**9)}))
    spec = make_spec(0, good, late)
    spec = replace(spec, seats=(spec.seats[0], replace(spec.seats[1], clock={"startup_s": 0.5})))
    async with Table({good.id: good, late.id: late}) as table:
        result = await table.play(spec, tmp_path)
    assert result.reason is reason
    if reason is R.START_FAILED:
        assert result.faults[1] is not None
        assert result.faults[1].detail.startswith("no Hello 0.5 s after the start")


def test_what_a_bot_that_starts_did_to_itself_is_not_excused() -> None:
    """Its own tasks ran while one of them waited, and its own limit of processors held it back."""
    seen = Effort({1: (1, 50), 2: (20, 0)}, throttled_ns=5)
    assert seen.excused_at_start_ns(21) == 50 - 20 - 5
    assert seen.excused_at_start_ns(60) == 0, "others of its processes are gone, and have run as well"
    assert NO_EFFORT.excused_at_start_ns(0) == 0


async def test_a_process_that_was_in_a_match_when_its_bot_was_confined_anew_plays_no_other_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bot = load_entry(RANDOM)
    sandboxes, release = {bot.id: Sandbox(network=True)}, pool.Pool.release

    def confine(self: pool.Pool, one: pool.LiveBot, *, reusable: bool) -> None:
        sandboxes[bot.id] = Sandbox()
        release(self, one, reusable=reusable)

    monkeypatch.setattr(pool.Pool, "release", confine)
    async with Table({bot.id: bot}, sandboxes=sandboxes) as table:
        assert (await table.play(make_spec(0, bot, bot), tmp_path)).status == "rated"
        again = await table.play(make_spec(1, bot, bot), tmp_path)
        assert len(again.startup_us) == 2
        assert (await table.play(make_spec(2, bot, bot), tmp_path)).startup_us == ()
