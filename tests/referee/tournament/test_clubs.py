"""Bots of one club do not meet in a Swiss or a knockout: in the file, in a list of entries, and when they join late."""

import pytest

from referee.errors import ConfigError
from referee.record import read_record
from referee.run.folder import RunFolder
from referee.run.run import Run
from referee.tournament import play as running
from referee.tournament.entrants import load_tournament
from referee.tournament.identity import config_of, describe

HEAD = 'name = "cup"\ngame = "toy"\nseed = 1\nblocks = 1\nformat = "swiss"\n'


@pytest.fixture(autouse=True)
def made_up_matches(monkeypatch, fake_executor):
    monkeypatch.setattr(running, "LocalExecutor", lambda entries, records, **keys: fake_executor(records))


def clubs_of(tournament):
    return dict(zip((entry.name for entry in tournament.entries), config_of(tournament).field.clubs, strict=True))


def test_a_club_is_that_of_all_folders_of_a_pattern_of_a_copy_and_of_a_row(write_file, write_bot, tmp_path):
    for name in ("ann", "bob", "cyd", "dan"):
        write_bot(name)
    (tmp_path / "class.csv").write_text("path,club\nbots/cyd,South\nbots/dan,\n")
    file = write_file(
        f'entries = "class.csv"\n{HEAD}[[bots]]\npath = "bots/[ab]*"\nclub = " North "\n'
        '[[bots]]\ncopy_of = "ann"\nname = "ann again"\n'
    )
    tournament = load_tournament(file)
    assert clubs_of(tournament) == {"ann": "North", "bob": "North", "ann again": "North", "cyd": "South", "dan": ""}
    assert [bot.get("club") for bot in describe(tournament)["bots"]] == ["North"] * 3 + ["South", None]


@pytest.mark.parametrize("value", ["3", '"a\\nb"', f'"{"x" * 61}"', '""'])
def test_what_is_no_club_is_refused(write_file, write_bot, value):
    write_bot("ann")
    with pytest.raises(ConfigError, match=r"'bots\[1\].club'"):
        load_tournament(write_file(f'{HEAD}[[bots]]\npath = "bots/ann"\nclub = {value}\n'))


def test_a_club_beside_a_copy_is_refused(write_file, write_bot):
    write_bot("ann")
    more = '[[bots]]\ncopy_of = "ann"\nname = "ann again"\nclub = "North"\n'
    with pytest.raises(ConfigError, match="is beside 'club'"):
        load_tournament(write_file(f'{HEAD}[[bots]]\npath = "bots/ann"\n{more}'))


def test_a_run_keeps_clubs_apart_with_bots_that_join_late(write_file, write_bot, command, tmp_path):
    for name in ("a1", "a2", "b1", "b2", "a3"):
        write_bot(name)
    bots = "".join(f'[[bots]]\npath = "bots/{name}"\nclub = "{name[0]}"\n' for name in ("a1", "a2", "b1", "b2"))
    file = write_file(f"{HEAD}{bots}[swiss]\nrounds = 2\n")
    command("run", file, "--quiet")
    command("extend", "cup", "--rounds", "2")
    assert "'a3' joins" in command("add", "cup", "bots/a3", "--club", "a")
    assert "Round 3" in command("pairings", "cup"), "the next round is printed before it is played"
    command("run", file, "--quiet")
    run = Run(RunFolder(tmp_path / "runs" / "cup"))
    assert run.schedule_config.field.clubs == ("a", "a", "b", "b", "a")
    assert run.schedule_config.field.late == ("a3",)
    met = {tuple(read_record(path).header.names) for path in run.folder.matches.glob("*.gz")}
    assert any("a3" in names for names in met)
    assert all(one[0] != other[0] for one, other in met)
    assert "Round 4" in command("pairings", "cup")


def test_a_run_without_clubs_is_described_as_ever(write_file, write_bot):
    write_bot("ann")
    write_bot("bob")
    tournament = load_tournament(write_file(HEAD + '[[bots]]\npath = "bots/*"\n'))
    assert all("club" not in bot for bot in describe(tournament)["bots"])
    assert config_of(tournament).field.clubs == ()
