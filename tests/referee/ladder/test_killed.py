"""A kill between each pair of writes: content, database, journal. The next start does what is missing, once."""

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from referee.ladder.config import load_ladder
from referee.ladder.intake import Places, open_store
from referee.record.journal import BLOCK, anchors_of
from referee.run.folder import RunFolder
from referee.run.run import Run
from tests.referee.ladder.killed import POINTS

ROOT = Path(__file__).resolve().parents[3]


def run(folder: Path, point: str) -> int:
    words = [sys.executable, "-m", "tests.referee.ladder.killed", str(folder), point]
    path = f"{ROOT / 'tests' / 'toy_game'}"
    done = subprocess.run(
        words,
        cwd=ROOT,
        env={"PYTHONPATH": path, "HOME": str(folder)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode in (0, 9), done.stderr
    return done.returncode


@pytest.mark.slow
@pytest.mark.parametrize("point", POINTS)
def test_after_a_kill_there_is_one_of_everything(tmp_path: Path, point: str) -> None:
    (tmp_path / "ladder.toml").write_text('[[divisions]]\ngame = "toy"\n[matchmaking]\nidle_below = 0.0\n')
    assert run(tmp_path, point) == 9, "it was killed there"
    config = load_ladder(tmp_path / "ladder.toml")
    division = RunFolder(config.folder_of(config.divisions[0]))
    known = (
        [line.fields for line in Run(division).journal.events if line.kind == BLOCK]
        if division.journal.exists()
        else []
    )
    assert run(tmp_path, "none") == 0

    places = Places(config.data)
    with open_store(config) as store:
        versions = [version for name in ("ann", "bob") for version in store.versions(name)]
        assert [(one.bot, one.number, one.status) for one in versions] == [("ann", 1, "active"), ("bob", 1, "active")]
        assert {path.name for path in places.content.iterdir()} == {one.content for one in versions}
    assert list(places.uploads.iterdir()) == []

    made = Run(division)
    joined = Counter(line.fields["name"] for line in made.journal.events if line.kind == "added")
    assert joined == {"ann": 1, "bob": 1}
    blocks = [line.fields for line in made.journal.events if line.kind == BLOCK]
    assert blocks[: len(known)] == known, "what was decided is not decided again"
    assert [one["number"] for one in blocks] == list(range(len(blocks)))
    assert anchors_of(made.journal.events).digests.keys() == made.records.paths().keys()
    assert not made.check().wrong
