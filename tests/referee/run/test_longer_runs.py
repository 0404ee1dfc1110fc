"""Runs that are extended, by the command or by a longer tournament file."""

import pytest

from tests.referee.run.organiser import Organiser, seatings


def lengthen(organiser: Organiser, old: str, new: str) -> None:
    text = organiser.file.read_text()
    assert old in text
    organiser.file.write_text(text.replace(old, new))


@pytest.mark.slow
@pytest.mark.parametrize("by", ["command", "file"])
@pytest.mark.parametrize(
    ("style", "words", "old", "new"),
    [
        ("round-robin", ("--blocks", 3), "blocks = 2", "blocks = 5"),
        ("gauntlet", ("--blocks", 3), "blocks = 2", "blocks = 5"),
        ("league", ("--blocks", 3), "blocks = 2", "blocks = 5"),
    ],
)
def test_a_run_that_is_extended_plays_what_a_longer_one_would_have_played(organiser, by, style, words, old, new):
    """After its end, by the command or by a larger number in the file: bots and seats of each match are the same."""
    longer = organiser()
    longer.begin(4, style, blocks=5)
    whole = seatings(longer)

    here = organiser()
    here.begin(4, style)
    short = seatings(here)
    assert len(short) < len(whole)
    if by == "command":
        assert here.explained("extend", "cup", *words) == 0
    else:
        lengthen(here, old, new)
    assert here.explained("run", here.file, "--quiet") == 0
    assert seatings(here) == whole
    assert whole[: len(short)] == short
    here.check()


@pytest.mark.slow
@pytest.mark.parametrize("by", ["command", "file"])
def test_a_swiss_that_is_extended_keeps_its_rounds_and_plays_more(organiser, by):
    here = organiser()
    here.begin(4, "swiss")
    short = seatings(here)
    if by == "command":
        assert here.explained("extend", "cup", "--rounds", 1) == 0
    else:
        lengthen(here, "[remote]", "[swiss]\nrounds = 3\n[remote]")
    assert here.explained("run", here.file, "--quiet") == 0
    longer = seatings(here)
    assert longer[: len(short)] == short
    assert len({frozenset(names) for names in longer}) == 6, "in three rounds each of four meets each other"
    here.check()


@pytest.mark.slow
def test_a_league_that_has_reached_its_precision_goes_on_to_a_finer_one(organiser):
    here = organiser()
    here.begin(3, "league", blocks=400, more="[league]\nprecision = 0.2\n")
    before = len(here.matches())
    assert here.explained("extend", "cup", "--precision", "0.1") == 0
    assert here.explained("run", here.file, "--quiet") == 0
    assert len(here.matches()) > before
    here.check()


@pytest.mark.slow
def test_a_bot_that_joined_late_plays_all_of_what_a_run_is_extended_by(organiser):
    here = organiser()
    here.begin(2, "round-robin")
    assert here.explained("add", "cup", here.there / "bots" / "late0") == 0
    assert here.explained("run", here.file, "--quiet") == 0
    assert here.explained("extend", "cup", "--blocks", 2) == 0
    assert here.explained("run", here.file, "--quiet") == 0
    met: dict[frozenset[str], int] = {}
    for names in seatings(here):
        met[frozenset(names)] = met.get(frozenset(names), 0) + 1
    assert set(met.values()) == {2 * 4}, "two orders of seats, two blocks and two more"
    here.check()


def test_a_file_that_is_shorter_than_the_run_has_become_is_refused(organiser):
    here = organiser()
    here.begin(2, "round-robin", blocks=4)
    lengthen(here, "blocks = 4", "blocks = 6")
    assert here.explained("run", here.file, "--quiet") == 0
    lengthen(here, "blocks = 6", "blocks = 5")
    assert here.explained("run", here.file, "--quiet") == 2
    lengthen(here, "blocks = 5", "blocks = 4")
    assert here.explained("run", here.file, "--quiet") == 0, "the file that the run began with"
    lengthen(here, "blocks = 4", "blocks = 3")
    assert here.explained("run", here.file, "--quiet") == 2


def test_a_file_that_made_a_run_longer_goes_on_after_the_command_made_it_longer_still(organiser):
    here = organiser()
    here.begin(2, "round-robin", blocks=2)
    lengthen(here, "blocks = 2", "blocks = 3")
    assert here.explained("run", here.file, "--quiet") == 0
    assert here.explained("extend", "cup", "--blocks", 3) == 0
    assert here.explained("run", here.file, "--quiet") == 0, "as `extend` said: continue with the same file"
    assert len(here.matches()) == 12, "six blocks"
    lengthen(here, "blocks = 3", "blocks = 4")
    assert here.explained("run", here.file, "--quiet") == 2, "fewer than six"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("style", "words", "what"),
    [
        ("round-robin", ("--rounds", "1"), "cannot be extended by rounds\nnext: give --blocks"),
        ("knockout", ("--blocks", "1"), "cannot be extended by blocks\nnext: start another run: --new"),
        ("swiss", ("--blocks", "1"), "give --rounds"),
        ("league", ("--precision", "0.1"), "cannot be extended by precision\nnext: give --blocks"),
        ("round-robin", (), "give --blocks, --rounds or --precision"),
        ("round-robin", ("--blocks", "10000000"), "10000002 blocks are too many"),
    ],
)
def test_what_cannot_be_extended_is_said(organiser, style, words, what):
    here = organiser()
    here.begin(3, style)
    before = here.run.journal.read_bytes()
    code, _, err = here.command("extend", "cup", *words)
    assert code == 2
    assert what in err
    assert here.run.journal.read_bytes() == before


def test_a_dry_run_shows_what_a_longer_file_adds(organiser):
    here = organiser()
    here.begin(2, "round-robin")
    lengthen(here, "blocks = 2", "blocks = 5")
    code, out, _ = here.command("run", here.file, "--dry-run")
    assert code == 0
    assert "will be extended to 5 blocks" in out
    assert "4 matches of the run in runs/cup have been played; 6 are to be played" in " ".join(out.split())
