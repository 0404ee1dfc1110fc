"""A verdict that an organiser overrules: from the fault in a real match to the table, and from the records alone."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from referee.record import read_record

SLEEPER = """
import time
from pathlib import Path

from crosstown_bot import Bot, run


class Sleeper(Bot):
    wants_observation = wants_legal_actions = False
    asked = 0

    def choose(self, turn):
        self.asked += 1
        marker = Path(self.options["marker"])
        if self.asked == 3 and not marker.exists():  # once in its life, whoever runs it
            marker.touch()
            time.sleep(5)
        return 0


run(Sleeper)
"""
MANIFEST = """
name = "sleeper"
version = "1"
games = ["*"]
run = ["{{python}}", "bot.py"]

[options]
marker = "{marker}"
"""


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory, new_workplace: Any, write_cup_in: Any) -> Iterator[Any]:
    """The place of a finished run in which the sleeper has lost one match on time, with a copy of its records."""
    workplace = new_workplace(tmp_path_factory.mktemp("late"))
    path = write_cup_in(bots=2, blocks=2, folder=workplace.folder)
    bot = workplace.folder / "bots" / "bot0"
    (bot / "bot.py").write_text(SLEEPER)
    (bot / "bot.toml").write_text(MANIFEST.format(marker=workplace.folder / "slept"))
    clock = "[clock]\nfirst_move_s = 30\nmove_s = 1.5\n[sandbox]\nprofile = 'plain'\n"
    path.write_text(path.read_text().replace("[[bots]]", clock + "[[bots]]", 1))
    outcome = workplace.run("run", "cup.toml", "--workers", "1")
    assert outcome.code == 0, outcome.stderr
    shutil.copytree(workplace.folder / "runs", workplace.folder / "finished", symlinks=True)
    yield workplace
    workplace.end()


@pytest.fixture
def workplace(finished: Any) -> Any:
    """That place as it was when the run had ended."""
    shutil.rmtree(finished.folder / "runs")
    shutil.copytree(finished.folder / "finished", finished.folder / "runs", symlinks=True)
    return finished


@pytest.fixture
def late(workplace: Any) -> Path:
    """The record of the match that was lost on time."""
    found = [path for path in workplace.records() if read_record(path).footer.reason == "move_timeout"]
    assert len(found) == 1
    return found[0]


def name_of(path: Path) -> str:
    return path.name.partition(".")[0]


def faults(workplace: Any) -> dict[str, dict[str, int]]:
    return {row["name"]: row["faults"] for row in workplace.standings()}


def assert_rebuild_agrees(workplace: Any) -> None:
    before = workplace.standings()
    assert workplace.run("rebuild").code == 0
    assert workplace.standings() == before


def test_a_fault_that_stands_changes_nothing(workplace: Any, late: Path) -> None:
    before = workplace.standings()
    judged = workplace.run("matches", "rejudge", name_of(late), "--apply")
    assert judged.code == 0, judged.stderr
    assert "move_timeout stands: charged with" in judged.stdout
    assert workplace.standings() == before


def test_a_fault_that_falls_is_void_at_once_and_played_again_by_the_next_run(workplace: Any, late: Path) -> None:
    before = late.read_bytes()
    assert faults(workplace) == {"sleeper": {"move_timeout": 1}, "bot 1": {}}
    assert workplace.run("matches", "rejudge", name_of(late), "--extra-ms", "60000").code == 1
    assert faults(workplace)["sleeper"] == {"move_timeout": 1}  # without --apply it was a question
    judged = workplace.run(
        "matches", "rejudge", name_of(late), "--extra-ms", "60000", "--apply", "--reason", "the disk hung"
    )
    assert judged.code == 1
    assert "is void; it is played again by: crosstown run " in judged.stdout
    assert faults(workplace) == {"sleeper": {}, "bot 1": {}}
    assert [row["played"] for row in workplace.standings()] == [3, 3]
    assert_rebuild_agrees(workplace)
    assert "the disk hung" in (late.parents[1] / "tournament.jsonl").read_text()
    again = workplace.run("run", "cup.toml", "--workers", "1")
    assert again.code == 0, again.stderr
    assert [row["played"] for row in workplace.standings()] == [4, 4]
    assert faults(workplace) == {"sleeper": {}, "bot 1": {}}
    assert len(workplace.records()) == 4
    assert {read_record(path).footer.reason for path in workplace.records()} == {"normal"}
    kept = [path for path in late.parents[1].rglob("*.jsonl.gz") if path.read_bytes() == before]
    assert len(kept) == 1, "the record that fell is kept"
    assert_rebuild_agrees(workplace)


def test_an_organiser_decides_otherwise_and_every_table_follows(workplace: Any, late: Path) -> None:
    record = late.read_bytes()
    seat = next(seat for seat in read_record(late).header.seats if seat.name == "sleeper")
    ranking = "1,2" if read_record(late).header.seats[0] == seat else "2,1"
    before = {row["name"]: (row["won"], row["lost"]) for row in workplace.standings()}
    judged = workplace.run("matches", "rejudge", name_of(late), "--ranking", ranking, "--apply", "--reason", "agreed")
    assert judged.code == 0, judged.stderr
    after = {row["name"]: (row["won"], row["lost"]) for row in workplace.standings()}
    won, lost = before["sleeper"]
    assert after["sleeper"] == (won + 1, lost - 1)
    assert after["bot 1"] == (before["bot 1"][0] - 1, before["bot 1"][1] + 1)
    assert_rebuild_agrees(workplace)
    again = workplace.run("run", "cup.toml", "--json")
    assert again.code == 0, again.stderr
    assert json.loads(again.stdout)
    assert {row["name"]: (row["won"], row["lost"]) for row in workplace.standings()} == after
    assert late.read_bytes() == record, "a record is never changed"
