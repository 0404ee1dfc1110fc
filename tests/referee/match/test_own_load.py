"""Bots that keep themselves from running, on a real table: that is their own time."""

from pathlib import Path
from typing import Any

import pytest

from referee.games.api import resolve_options
from referee.games.registry import get_game
from referee.match import EndReason, Limits, MatchResult, MatchSpec, SeatSpec, Table, decision
from referee.match.rejudge import rejudge
from referee.process.cgroup import Cgroups, find
from referee.process.entry import load_entry
from referee.record import read_record

BOT = """
import os, signal, time
from crosstown_bot import Bot, run

def spin(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass

class Loads(Bot):
    wants_observation = wants_legal_actions = False

    def choose(self, turn):
        if self.options["helpers"]:
            time.sleep(0.1)  # the first look at it is over
            for _ in range(self.options["helpers"]):
                if os.fork() == 0:
                    spin(0.6)  # gone before the limit
                    os._exit(0)
        spin(self.options["spins_s"])
        return 0

signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # no trace is left of them
run(Loads)
"""
MANIFEST = """
name = "loads"
version = "1"
games = ["*"]
run = ["{python}", "bot.py"]
[options]
helpers = 0
spins_s = 0
"""


async def play(folder: Path, groups: Cgroups, limits: Limits, **options: Any) -> MatchResult:
    """The bot of seat 0 has the options; that of seat 1 answers at once."""
    (folder / "bot").mkdir()
    (folder / "bot" / "bot.py").write_text(BOT)
    (folder / "bot" / "bot.toml").write_text(MANIFEST)
    entries = [load_entry(folder / "bot", "loads", options), load_entry(folder / "bot", "honest", {})]
    spec = MatchSpec(
        match_id="m-1",
        game="toy",
        options=resolve_options("toy", get_game("toy").options, {}),
        seats=tuple(SeatSpec(entry.id, entry.name, "1") for entry in entries),
        seed="0" * 32,
        limits=limits,
    )
    async with Table({entry.id: entry for entry in entries}, cgroups=groups) as table:
        result = await table.play(spec, folder / "records")
    assert rejudge(read_record(folder / "records" / "m-1.jsonl.gz")).stands
    return result


def evidence(result: MatchResult) -> Any:
    """Of the time-out of seat 0, which is all that happened."""
    assert (result.reason, result.status) == (EndReason.MOVE_TIMEOUT, "rated"), result.detail
    [fault, nothing] = result.faults
    assert fault is not None
    assert nothing is None
    return fault.evidence


@pytest.mark.slow
async def test_a_bot_that_has_used_up_its_share_of_a_processor_is_late_and_not_suspect(tmp_path: Path) -> None:
    """With less than a tenth of a processor it needs ten limits to compute for one. Without control groups the limit
    does not hold, and it is late all the same."""
    groups = find()
    limits = Limits(startup_s=120, ready_s=120, first_move_s=0.3, move_s=60, cores=0.05)
    found = evidence(await play(tmp_path, groups, limits, spins_s=60))
    if "cpu" in groups.controllers:
        assert found["bot_throttled_us"] > 0


@pytest.mark.slow
async def test_helpers_that_come_and_go_buy_no_time_where_no_control_group_counts_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decision, "LOOKS", 40)  # so that no luck is needed
    limits = Limits(startup_s=120, ready_s=120, first_move_s=1, move_s=60)
    found = evidence(await play(tmp_path, Cgroups(), limits, helpers=4, spins_s=60))
    assert found["bot_waited_us"] == 0
