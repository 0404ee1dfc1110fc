"""A bot that is entered twice on purpose: a copy has a name and an id of its own, and all else from its original."""

import shutil

import pytest

from referee.errors import ConfigError
from referee.run.participants import newest_participants
from referee.run.run import Run
from referee.tournament.config import load_config
from referee.tournament.entrants import load_tournament, sources_needed
from referee.tournament.identity import describe
from referee.tournament.messages import read_line, setup_line
from referee.tournament.worker import Bots

HEAD = 'game = "toy"\nseed = 1\nblocks = 1\n'
TWINS = '[[bots]]\npath = "bots/ann"\nclock = { move_s = 2 }\n[[bots]]\ncopy_of = "ann"\nname = "ann again"\n'


@pytest.fixture
def ann(write_bot):
    return write_bot("ann")


def test_a_copy_has_the_settings_and_files_of_its_original(write_file, ann):
    tournament = load_tournament(write_file(HEAD + TWINS))
    first, second = tournament.entries
    assert (first.name, second.name) == ("ann", "ann again")
    assert first.id == second.copy_of != second.id
    assert (first.home, first.argv, first.content) == (second.home, second.argv, second.content)
    assert tournament.bots[1].clock == {"move_s": 2}
    assert second.id == load_tournament(write_file(HEAD + TWINS)).entries[1].id


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ('[[bots]]\ncopy_of = "bob"\nname = "x"\n', "no bot before it is called so"),
        ('[[bots]]\ncopy_of = "ann"\n', "'bots[2].name' is missing"),
        ('[[bots]]\ncopy_of = "ann"\nname = "ann"\n', "two bots are named 'ann'"),
        ('[[bots]]\ncopy_of = "ann"\nname = "x"\nfresh = true\n', "'bots[2].copy_of' is beside 'fresh'"),
        (
            '[[bots]]\ncopy_of = "ann"\nname = "x"\n[[bots]]\ncopy_of = "x"\nname = "y"\n',
            "'y' is a copy of 'x', a copy itself",
        ),
        ('[[bots]]\npath = "bots/ann"\nname = "x"\n', "the same entry"),
    ],
)
def test_what_is_no_copy_is_refused(write_file, ann, text, what):
    with pytest.raises(ConfigError) as caught:
        load_tournament(write_file(HEAD + '[[bots]]\npath = "bots/ann"\n' + text))
    assert what in str(caught.value)


def test_a_worker_knows_a_copy_by_its_own_id(write_file, ann, tmp_path):
    tournament = load_tournament(write_file(HEAD + TWINS))
    _, setup = read_line(setup_line(tournament.entries, tmp_path / "matches", tmp_path, None))
    bots = Bots(setup)
    assert {id_: (entry.id, entry.name) for id_, entry in bots.entries.items()} == {
        entry.id: (entry.id, entry.name) for entry in tournament.entries
    }


@pytest.mark.parametrize("happens", [lambda folder: (folder / "bot.py").write_text("# new\n"), shutil.rmtree])
def test_a_run_goes_on_with_a_copy_as_it_began(write_file, ann, play, run_folder, happens):
    path = write_file(HEAD + TWINS)
    begun = load_tournament(path)
    play(begun)
    happens(ann)
    again = load_tournament(path, newest_participants(run_folder.path.parent, "cup"))
    assert describe(again) == describe(begun)
    assert play(again).summary.complete


def test_the_original_is_built_and_plays_when_its_copy_has_left(write_file, write_bot, ann, play, run_folder):
    write_bot("bob")
    path = write_file(HEAD + TWINS + '[[bots]]\npath = "bots/bob"\n')
    begun = load_tournament(path)
    play(begun)
    Run(run_folder).leave("withdrawn", "ann again", None, by="eve", reason="")
    known = newest_participants(run_folder.path.parent, "cup")
    assert len(sources_needed(load_config(path), known)) == 2
    assert describe(load_tournament(path, known)) == describe(begun)
