"""What an organiser decides on the command line."""

import shutil
from pathlib import Path

import pytest

from leaderboard.store import read_rows
from referee.record.control import read_controls

ROOT = Path(__file__).resolve().parents[3]


def test_an_annulled_match_leaves_the_database_at_once(make_run, crosstown):
    folder = make_run()
    assert crosstown("rebuild", "cup").code == 0
    first, second, *_ = sorted(path.name.partition(".")[0] for path in folder.matches.glob("*.gz"))
    printed = crosstown("annul", "cup", first)
    assert (printed.code, printed.out) == (0, f"match {first} does not count\n")
    assert [row.place for row in read_rows(folder.database)] == [1, 2, 3]
    printed = crosstown("annul", "cup", second, "--replay")
    assert printed.out.startswith(f"match {second} does not count; it is played again by: crosstown run ")
    assert [row.place for row in read_rows(folder.database)] == [2, 3]


def test_a_bot_that_must_be_built_is_built_before_it_joins(make_run, crosstown, tmp_path, monkeypatch):
    monkeypatch.setenv("CROSSTOWN_CACHE", str(tmp_path / "cache"))
    folder = make_run()
    shutil.copytree(ROOT / "bots" / "bridge" / "c", tmp_path / "c", ignore=shutil.ignore_patterns("build"))
    printed = crosstown("add", "cup", "c")
    assert printed.code == 0, printed.err
    assert "building c ..." in printed.err
    assert printed.out.startswith("'c' joins from place 4 on; go on with: crosstown run ")
    assert [control.kind for control in read_controls(folder.journal)] == ["added"]


def test_a_bot_that_cannot_be_built_does_not_join(make_run, crosstown, tmp_path, monkeypatch):
    monkeypatch.setenv("CROSSTOWN_CACHE", str(tmp_path / "cache"))
    folder = make_run()
    shutil.copytree(ROOT / "bots" / "bridge" / "c", tmp_path / "c", ignore=shutil.ignore_patterns("build"))
    (tmp_path / "c" / "bot.c").write_text("int main(void) { return oops; }\n")
    printed = crosstown("add", "cup", "c")
    assert printed.code == 1
    assert "ended with exit code" in printed.err
    assert read_controls(folder.journal) == ()


@pytest.mark.parametrize("command", ["withdraw", "disable"])
def test_whoever_lets_too_few_bots_remain_hears_what_that_means(make_run, crosstown, command):
    make_run()
    printed = crosstown(command, "cup", "<ann>")
    assert printed.code == 0
    assert printed.out.splitlines()[1] == "too few bots are left (1): nothing more is played"
    refused = crosstown(command, "cup", "[b]bob")
    assert refused.code == 2
    assert "'[b]bob' is the last bot of this run" in refused.err
    assert "next: leave the run as it is, or let another bot join first: crosstown add" in refused.err
