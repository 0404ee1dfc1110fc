"""A run plays its bots as they were when it began, whatever becomes of their folders."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from referee.errors import ChangedError, ConfigError
from referee.record import read_record
from referee.run.folder import RunFolder, choose_folder, has_run
from referee.run.journal import read_journal
from referee.run.participants import newest_participants, participants_of
from referee.run.run import Run
from referee.tournament.config import Tournament
from referee.tournament.entrants import load_tournament, sources_needed
from referee.tournament.identity import describe
from referee.tournament.joining import load_joining


class Killed(Exception):
    """As near to a kill as a process can do to itself."""


@pytest.fixture
def begun(make_tournament, play) -> Callable[..., Tournament]:
    """begun(3) is a tournament whose run was killed after two matches."""

    def make(bots: int = 3, **keys) -> Tournament:
        tournament = make_tournament(bots, **keys)

        def order(spec):
            if spec.place == 2:
                raise Killed
            return 0

        with pytest.raises(Killed):
            play(tournament, order=order)
        return tournament

    return make


def load(tournament: Tournament, run_folder: RunFolder) -> Tournament:
    return load_tournament(tournament.config.path, newest_participants(run_folder.path.parent, "cup"))


def change(folder: Path) -> None:
    (folder / "bot.py").write_text("# better\n")


def spoil(folder: Path) -> None:
    (folder / "bot.toml").write_text("not TOML")


@pytest.mark.parametrize("happens", [change, shutil.rmtree, spoil], ids=["changed", "gone", "spoilt"])
def test_a_run_goes_on_with_its_bots_as_it_began(begun, play, run_folder, tmp_path, happens):
    tournament = begun()
    happens(tmp_path / "bots" / "bot1")
    with pytest.raises((ChangedError, ConfigError)):
        choose_folder(run_folder.path.parent, describe(load_tournament(tournament.config.path)), new=False)
    again = load(tournament, run_folder)
    assert [entry.id for entry in again.entries] == [entry.id for entry in tournament.entries]
    assert [entry.name for entry in again.kept] == ["bot1"]
    assert (again.kept[0].home / "bot.py").read_text() == "# bot1\n"
    assert choose_folder(run_folder.path.parent, describe(again), new=False).path == run_folder.path
    assert play(again).summary.complete
    ids = {seat.entry_id for path in run_folder.matches.glob("*.gz") for seat in read_record(path).header.seats}
    assert ids == {entry.id for entry in tournament.entries}


def test_folders_that_are_as_they_were_need_no_word(begun, run_folder):
    tournament = begun()
    assert load(tournament, run_folder).kept == ()


def test_what_is_built_for_a_run_that_has_begun_is_what_it_began_with(begun, run_folder, tmp_path):
    tournament = begun()
    change(tmp_path / "bots" / "bot1")
    known = newest_participants(run_folder.path.parent, "cup")
    places = [place for place, _ in sources_needed(tournament.config, known)]
    assert [(place / "bot.py").read_text() for place in places] == ["# bot0\n", "# bot1\n", "# bot2\n"]
    places = [place for place, _ in sources_needed(tournament.config, ())]
    assert places == [tmp_path / "bots" / name for name in ("bot0", "bot1", "bot2")]


def test_other_options_or_another_folder_in_the_file_are_a_change_still(begun, run_folder, write_bot):
    tournament = begun()
    write_bot("other")
    path = tournament.config.path
    path.write_text(path.read_text().replace("bots/bot1", "bots/other"))
    again = load(tournament, run_folder)
    assert again.kept == ()
    with pytest.raises(ChangedError, match=r"bots\[2\]\.entry_id"):
        choose_folder(run_folder.path.parent, describe(again), new=False)


def test_without_the_copy_a_changed_bot_is_refused_by_name(begun, run_folder, tmp_path):
    tournament = begun()
    shutil.rmtree(tournament.entries[1].home.parent)
    change(tmp_path / "bots" / "bot1")
    with pytest.raises(ChangedError, match=r"bots\[2\]\.entry_id \(source and options of 'bot1'\)"):
        choose_folder(run_folder.path.parent, describe(load(tournament, run_folder)), new=False)


def test_an_older_run_of_just_these_bots_is_found(begun, run_folder, tmp_path):
    tournament = begun()
    out = run_folder.path.parent
    change(tmp_path / "bots" / "bot1")
    as_it_lies = load_tournament(tournament.config.path)
    assert not has_run(out, describe(as_it_lies))
    assert has_run(out, describe(load(tournament, run_folder)))


def test_the_journal_names_the_copies(begun, run_folder, write_bot):
    tournament = begun()
    run = Run(run_folder)
    run.add(load_joining(run.journal, write_bot("late"), None), by="ann")
    text = read_journal(run_folder.journal)
    assert text.created.fields["contents"] == [entry.content for entry in tournament.entries]
    assert [len(bot.content) for bot in participants_of(text)] == [32] * 4
