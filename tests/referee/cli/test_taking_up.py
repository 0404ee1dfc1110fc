"""A run that is taken up again reads only the records that it does not know yet."""

import os

import pytest

from referee.tournament import progress
from referee.tournament.remembered import NAME


@pytest.fixture
def judged(monkeypatch):
    """The names of the records that are read."""
    read, judge = [], progress.judge
    monkeypatch.setattr(progress, "judge", lambda path, *given: read.append(path.name) or judge(path, *given))
    return read


@pytest.mark.slow
def test_records_that_are_known_are_not_read_again_in_files_or_packed(played, crosstown, judged):
    names = sorted(path.name for path in played.matches.glob("*.gz"))
    assert crosstown("run", "cup.toml").code == 0
    assert judged == []
    os.utime(played.matches / names[0])
    assert crosstown("run", "cup.toml").code == 0
    assert judged == names[:1], "another file may be another record"
    assert crosstown("run", "cup.toml").code == 0
    assert judged == names[:1]
    assert crosstown("pack", "cup").code == 0
    assert crosstown("run", "cup.toml").code == 0
    assert judged == names[:1]
    (played.path / NAME).unlink()
    assert crosstown("run", "cup.toml").code == 0
    assert judged == [names[0], *names]
