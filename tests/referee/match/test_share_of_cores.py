"""A bot that is held to a share of a processor: what that costs it is its own time."""

from pathlib import Path

from referee.games.api import resolve_options
from referee.games.registry import get_game
from referee.match import EndReason, Limits, MatchSpec, SeatSpec, Table
from referee.process.cgroup import find
from referee.process.entry import load_entry

SPINS = """
from crosstown_bot import Bot, run

class Spins(Bot):
    wants_observation = wants_legal_actions = False

    def choose(self, turn):
        while self.options["spins"]:
            pass
        return 0

run(Spins)
"""
MANIFEST = 'name = "spins"\nversion = "1"\ngames = ["*"]\nrun = ["{python}", "bot.py"]\n[options]\nspins = false\n'


async def test_a_bot_that_has_used_up_its_share_of_a_processor_is_late_and_not_suspect(tmp_path: Path) -> None:
    """With less than a tenth of a processor it needs ten limits to compute for one. Without control groups the limit
    does not hold, and it is late all the same."""
    (tmp_path / "bot").mkdir()
    (tmp_path / "bot" / "bot.py").write_text(SPINS)
    (tmp_path / "bot" / "bot.toml").write_text(MANIFEST)
    entries = [load_entry(tmp_path / "bot", f"spins {spins}", {"spins": spins}) for spins in (True, False)]
    spec = MatchSpec(
        match_id="m-1",
        game="toy",
        options=resolve_options("toy", get_game("toy").options, {}),
        seats=tuple(SeatSpec(entry.id, entry.name, "1") for entry in entries),
        seed="0" * 32,
        limits=Limits(startup_s=120, ready_s=120, first_move_s=0.3, move_s=60, cores=0.05),
    )
    groups = find()
    async with Table({entry.id: entry for entry in entries}, cgroups=groups) as table:
        result = await table.play(spec, tmp_path / "records")
    assert (result.reason, result.status) == (EndReason.MOVE_TIMEOUT, "rated"), result.detail
    [fault, nothing] = result.faults
    assert fault is not None
    assert nothing is None
    if "cpu" in groups.controllers:
        assert fault.evidence["bot_throttled_us"] > 0
