"""What a record says of programs outside of a bot's folder is what played."""

import os
import sys
from dataclasses import replace
from pathlib import Path

from referee.games.api import resolve_options
from referee.games.registry import get_game
from referee.match import table as table_module
from referee.match.table import Table
from referee.process.entry import load_entry
from referee.process.outside import OUR_PACKAGES, Prints
from referee.record import read_record
from referee.schedule.spec import Limits, MatchSpec, SeatSpec

PYTHON = os.path.realpath(sys.executable)
BOT = """
from crosstown_bot import Bot, run
class Mine(Bot):
    def choose(self, turn):
        return 0
run(Mine)
"""


async def test_a_script_outside_that_is_changed_between_matches_is_named_and_a_new_process_plays(
    tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.setenv("CROSSTOWN_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(table_module, "Prints", lambda: Prints(0))
    script = tmp_path / "shared" / "bot.py"
    script.parent.mkdir()
    script.write_text(BOT)
    folder = tmp_path / "bot"
    folder.mkdir()
    (folder / "bot.toml").write_text(
        f'name = "Bot"\nversion = "1"\ngames = ["*"]\nrun = ["{{python}}", "{script}"]\n[options]\nseat = 0\n'
    )
    entries = [load_entry(folder, options={"seat": seat}) for seat in (0, 1)]
    game = get_game("toy")
    first = MatchSpec(
        match_id="one",
        game="toy",
        options=resolve_options("toy", game.options, {}),
        seats=tuple(SeatSpec(entry.id, entry.name, "1") for entry in entries),
        seed="0" * 31 + "1",
        limits=Limits(),
    )
    headers, processes = [], []
    async with Table({entry.id: entry for entry in entries}) as table:
        for number, name in enumerate(("one", "two", "three")):
            if number == 2:
                script.write_text(BOT + "# changed\n")
            result = await table.play(replace(first, match_id=name, block=number), tmp_path)
            assert result.status == "rated", result
            headers.append(read_record(tmp_path / f"{name}.jsonl.gz").header)
            processes.append({bot.pid for bot in table.waiting()})
    outside = [header.seats[0].outside for header in headers]
    assert set(outside[0]) == {str(script), PYTHON, OUR_PACKAGES}
    assert outside[0] == outside[1]
    assert {path for path in outside[0] if outside[0][path] != outside[2][path]} == {str(script)}
    assert processes[0] == processes[1]
    assert not processes[1] & processes[2]
    assert headers[0].seats[0].runtime.startswith("CPython 3.")
