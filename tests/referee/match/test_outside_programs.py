"""What a record says of programs outside of a bot's folder is what played."""

import os
import sys
from pathlib import Path

from referee.match import table as table_module
from referee.match.table import Table
from referee.process.fact_names import BESIDE, OUR_PACKAGES
from referee.process.outside import Prints
from referee.record import read_record
from tests.referee.match.toy_match import load_two, toy_match

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
    entries = load_two(folder)
    headers, processes = [], []
    async with Table({entry.id: entry for entry in entries}) as table:
        for number, name in enumerate(("one", "two", "three")):
            if number == 2:
                script.write_text(BOT + "# changed\n")
            result = await table.play(toy_match(name, number, entries), tmp_path)
            assert result.status == "rated", result
            headers.append(read_record(tmp_path / f"{name}.jsonl.gz").header)
            processes.append({bot.pid for bot in table.waiting()})
    outside = [header.seats[0].outside for header in headers]
    assert set(outside[0]) == {str(script), f"{BESIDE}{script}", PYTHON, OUR_PACKAGES}
    assert outside[0] == outside[1]
    assert {path for path in outside[0] if outside[0][path] != outside[2][path]} == {str(script)}
    assert processes[0] == processes[1]
    assert not processes[1] & processes[2]
    assert headers[0].seats[0].runtime.startswith("CPython 3.")
