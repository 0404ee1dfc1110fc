"""Which run a command means: by name, path or tournament file, among several runs and in renamed folders."""

import shutil
from pathlib import Path

import pytest

from referee.cli import run_pages
from referee.errors import PlatformError
from referee.run.journal import read_journal
from referee.run.participants import participants_of
from tests.referee.run.organiser import Organiser


def test_a_run_that_was_moved_with_its_file_is_changed_and_continued_where_it_is_now(organiser):
    here = organiser()
    here.begin(2, "round-robin")
    new = here.there.with_name(f"{here.there.name}-moved")
    here.there.rename(new)
    here.there = new
    try:
        code, out, err = here.command("add", "cup", "--remote", "--name", "Ada", "--token-env", "FAR0")
        assert (code, out) == (0, "'Ada' joins from place 4 on; continue with: crosstown run cup.toml\n"), err
        code, out, err = here.command("withdraw", "cup", "Ada")
        assert out.endswith("continue with: crosstown run cup.toml\n"), err
    finally:
        shutil.rmtree(new)


def begin_as(organiser: Organiser, place: str, bots: str, seed: int, *words: str) -> tuple[Path, tuple[int, str, str]]:
    """A file cup.toml in the folder `place` of the organiser, with the bots that a pattern finds; and how its run
    went."""
    file = organiser.there / place / "cup.toml"
    file.parent.mkdir(exist_ok=True)
    file.write_text(f'name = "cup"\ngame = "toy"\nseed = {seed}\nblocks = 2\n[[bots]]\npath = "{bots}"\n')
    return file, organiser.command("run", file, "--quiet", *words)


def sizes(organiser: Organiser) -> dict[str, int]:
    return {run.name: (run / "tournament.jsonl").stat().st_size for run in (organiser.there / "runs").iterdir()}


@pytest.fixture
def two_files(organiser) -> tuple[Organiser, Path, Path]:
    """Two tournament files of one name, each with bots and a run of its own: cup and cup-2."""
    here = organiser()
    here.begin(2, "round-robin")
    shutil.rmtree(here.run.path)
    for number, place in enumerate(("one", "other")):
        for bot in ("bot0", "bot1"):
            shutil.copytree(here.there / "bots" / bot, here.there / place / "bots" / bot)
            (here.there / place / "bots" / bot / "salt.txt").write_text(f"{place} {bot}")
        file, (code, _, err) = begin_as(here, place, "bots/*", number, *(["--new"] if number else []))
        assert code == 0, err
    assert {*sizes(here)} == {"cup", "cup-2"}
    return here, here.there / "one" / "cup.toml", file


def test_of_two_files_with_one_name_each_names_its_own_run(two_files):
    here, one, other = two_files
    for file, run in ((one, "cup"), (other, "cup-2"), (one, "cup")):
        before = sizes(here)
        assert here.command("extend", file, "--blocks", "1")[0] == 0
        assert [name for name, size in sizes(here).items() if size != before[name]] == [run]


def test_a_command_about_an_older_run_says_that_its_file_continues_a_newer_one(organiser):
    here = organiser()
    here.begin(2, "round-robin")
    assert here.command("run", here.file, "--quiet")[0] == 0
    assert here.command("run", here.file, "--quiet", "--new")[0] == 0
    for words in (("extend", "cup", "--blocks", "1"), ("annul", "cup", here.matches()[0], "--replay")):
        code, out, err = here.command(*words)
        assert code == 0, err
        newer = "crosstown run cup.toml continues runs/cup-2, a newer run; to continue runs/cup, move the newer one"
        assert f"; {newer} out of runs\n" in out
    assert here.command("extend", "cup-2", "--blocks", "1")[1].endswith("; continue with: crosstown run cup.toml\n")


def test_a_new_run_that_the_machine_stops_is_to_be_continued_without_new(organiser, monkeypatch):
    """The same command, as the error said, began another run, and what had been played was not gone on with."""
    here = organiser()
    here.begin(2, "round-robin")
    play = run_pages.play

    def full(*given, **keys):
        play(*given, **keys)
        raise PlatformError("the disk is full", "free some space, then run the same command again")

    monkeypatch.setattr(run_pages, "play", full)
    told = "next: free some space, then run the same command again"
    code, _, err = here.command("run", here.file, "--quiet", "--new")
    assert (code, err.endswith(f"{told}; but without --new, which would begin another run beside runs/cup-2\n")) == (
        3,
        True,
    ), err
    code, _, err = here.command("run", here.file, "--quiet")
    assert (code, err.endswith(f"{told}\n")) == (3, True), err


def test_a_path_that_begins_with_a_dot_is_no_name_of_a_run(organiser):
    """The run of that name was changed, and its matches listed."""
    here = organiser()
    here.begin(2, "round-robin")
    other = here.there / "cup"
    shutil.copytree(here.run.path, other)
    before = here.run.journal.read_bytes()
    assert here.command("extend", "./cup", "--blocks", "1")[0] == 0
    assert here.run.journal.read_bytes() == before
    assert read_journal(other / "tournament.jsonl").length == {"blocks": 3}
    record = min((other / "matches").glob("*.gz"))
    record.unlink()
    gone = record.name.partition(".")[0]
    for option in ((), ("--run",)):
        assert gone not in here.command("matches", "list", *option, "./cup")[1]
        assert gone in here.command("matches", "list", *option, "cup")[1]


@pytest.mark.parametrize("bots", ["as they were", "in the store alone"])
def test_a_file_that_may_mean_several_renamed_runs_is_refused_by_every_command(organiser, bots):
    """`run` refused it, and the others took the last."""
    here = organiser()
    here.begin(2, "round-robin")
    if bots == "in the store alone":
        (here.folders["bot0"] / "salt.txt").write_text("another version")
    shutil.copytree(here.run.path, here.run.path.with_name("copy"))
    here.run.path.rename(here.run.path.with_name("old"))
    before = sizes(here)
    for words in (("extend", here.file, "--blocks", "1"), ("run", here.file, "--quiet")):
        code, _, err = here.command(*words)
        assert (code, "2 folders have a run of 'cup': runs/copy, runs/old" in err) == (2, True), err
    assert sizes(here) == before
    assert here.command("run", here.file, "--quiet", "--new")[0] == 0


def test_a_command_about_a_run_whose_file_is_gone_says_so(organiser):
    here = organiser()
    here.begin(2, "round-robin")
    here.file.unlink()
    code, out, err = here.command("extend", "cup", "--blocks", "1")
    gone = "; continue with: crosstown run cup.toml, with the tournament file, which is not there any more\n"
    assert (code, out.endswith(gone)) == (0, True), (out, err)


def test_of_two_files_with_one_name_each_continues_its_own_run(two_files):
    """A pattern finds the bots of the run that is continued, whichever run was played last."""
    here, one, other = two_files
    for file, run in ((one, "cup"), (other, "cup-2")):
        matches = here.there / "runs" / run / "matches"
        before = len([*matches.glob("*.gz")])
        assert here.command("extend", run, "--blocks", "1")[0] == 0
        code, _, err = here.command("run", file, "--quiet")
        assert (code, len([*matches.glob("*.gz")])) == (0, before + 2), err


def test_a_file_that_is_edited_back_continues_the_run_that_it_began(organiser):
    """In between it began another run, with a bot more that its pattern found."""
    here = organiser()
    here.begin(2, "round-robin")
    shutil.rmtree(here.run.path)
    away = here.there / "away"
    away.mkdir()
    for number in range(3):
        (here.there / "bots" / f"late{number}").rename(away / f"late{number}")
    assert begin_as(here, "one", "../bots/*", 1)[1][0] == 0
    (away / "late0").rename(here.there / "bots" / "late0")
    assert begin_as(here, "one", "../bots/*", 2, "--new")[1][0] == 0
    file, (code, _, err) = begin_as(here, "one", "../bots/*", 1)
    assert (code, {*sizes(here)}) == (0, {"cup", "cup-2"}), err
    before = sizes(here)
    assert here.command("extend", file, "--blocks", "1")[0] == 0
    assert [name for name, size in sizes(here).items() if size != before[name]] == ["cup"]


def test_a_file_names_the_run_of_its_bots_as_they_are_on_disk(organiser):
    """The other run could be continued, too, with the bot that it has in the store."""
    here = organiser()
    here.begin(2, "round-robin")
    salt = here.folders["bot0"] / "salt.txt"
    salt.write_text("another version")
    assert here.command("run", here.file, "--quiet", "--new")[0] == 0
    for text, run in (("another version", "cup-2"), ("bot0", "cup"), ("a third version", "cup-2")):
        salt.write_text(text)
        for words in (("extend", here.file, "--blocks", "1"), ("run", here.file, "--quiet")):
            before = sizes(here)
            code, _, err = here.command(*words)
            assert code == 0, err
            assert [name for name, size in sizes(here).items() if size != before[name]] == [run]


def test_a_run_that_begins_beside_a_renamed_one_has_its_bots_as_they_are_now(organiser):
    """The folder of the run before was renamed, to keep it, and the file changed."""
    here = organiser()
    here.begin(2, "round-robin")
    shutil.rmtree(here.run.path)
    (here.there / "bots" / "late0").rename(here.there / "late0")
    assert begin_as(here, "one", "../bots/*", 1)[1][0] == 0
    here.run.path.rename(here.run.path.with_name("last year"))
    (here.there / "late0").rename(here.there / "bots" / "late0")
    (here.folders["bot0"] / "salt.txt").write_text("another version")
    _, (code, _, err) = begin_as(here, "one", "../bots/*", 2)
    assert code == 0, err
    before, now = (
        {bot.name: bot.entry_id for bot in participants_of(read_journal(run / "tournament.jsonl"))}
        for run in (here.run.path.with_name("last year"), here.run.path)
    )
    assert {*now} == {*before, "late0"}
    assert [name for name in before if before[name] != now[name]] == ["bot0"]
