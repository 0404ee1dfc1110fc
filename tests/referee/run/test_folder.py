"""Which folder a run goes to, and when it is refused."""

import os
from pathlib import Path

import pytest

from referee.cli.find import find_folders, find_run
from referee.errors import ChangedError, JournalError, UsageError
from referee.record.journal import Control
from referee.run.folder import RunFolder, changes, choose_folder, is_renamed, run_folders, runs_in, title_of
from referee.run.journal import Journal, read_journal
from referee.schedule.config import digest
from referee.tournament.entrants import load_tournament
from referee.tournament.identity import describe


def begin(folder: RunFolder, description) -> None:
    folder.make()
    with Journal(folder.journal, read_journal(folder.journal)) as journal:
        journal.append("created", format=1, hash=digest(description), configuration=description)


@pytest.fixture
def out(tmp_path):
    return tmp_path / "runs"


def test_the_first_run_gets_the_name_of_the_tournament(make_tournament, out):
    assert choose_folder(out, describe(make_tournament()), new=False).path == out / "cup"
    assert not out.exists()


def test_the_same_configuration_is_taken_up_again(make_tournament, out):
    begin(RunFolder(out / "cup"), describe(make_tournament()))
    assert choose_folder(out, describe(make_tournament()), new=False).path == out / "cup"


def test_a_changed_configuration_is_refused_with_the_differences(make_tournament, out, write_bot, tmp_path):
    begin(RunFolder(out / "cup"), describe(make_tournament()))
    changed = make_tournament(seed=2, more="[options]\nrounds = 5\n")
    with pytest.raises(ChangedError) as caught:
        choose_folder(out, describe(changed), new=False)
    assert caught.value.changes == ("games[1].options.rounds: 4 -> 5", "seed: 1 -> 2")
    assert "seed: 1 -> 2" in str(caught.value)
    assert "--new" in caught.value.next_step


def test_a_changed_bot_is_refused_by_name(make_tournament, out, tmp_path):
    before = make_tournament()
    begin(RunFolder(out / "cup"), describe(before))
    bot = tmp_path / "bots" / "bot1" / "bot.py"
    bot.write_text("# better\n")
    with pytest.raises(ChangedError, match=r"bots\[2\]\.entry_id \(source and options of 'bot1'\)"):
        choose_folder(out, describe(load_tournament(before.config.path)), new=False)


def test_new_starts_beside_the_old_and_each_is_found_again(make_tournament, out):
    old, changed = describe(make_tournament()), describe(make_tournament(seed=2))
    begin(RunFolder(out / "cup"), old)
    second = choose_folder(out, changed, new=True)
    assert second.path == out / "cup-2"
    begin(second, changed)
    assert choose_folder(out, changed, new=False).path == out / "cup-2"
    assert choose_folder(out, old, new=False).path == out / "cup"
    assert choose_folder(out, old, new=True).path == out / "cup-3"


def test_a_run_that_was_killed_before_it_began_is_begun(make_tournament, out):
    RunFolder(out / "cup").make()
    (out / "cup" / "tournament.jsonl").write_bytes(b'["created","2026')
    assert choose_folder(out, describe(make_tournament()), new=False).path == out / "cup"


def test_records_without_a_journal_are_not_run_over(make_tournament, out):
    folder = RunFolder(out / "cup")
    folder.make()
    (folder.matches / "m000000-00000000.jsonl.gz").touch()
    with pytest.raises(JournalError, match="match records but no journal"):
        choose_folder(out, describe(make_tournament()), new=False)
    assert choose_folder(out, describe(make_tournament()), new=True).path == out / "cup-2"


def test_a_damaged_journal_is_told_and_new_leads_on(make_tournament, out):
    begin(RunFolder(out / "cup"), describe(make_tournament()))
    path = out / "cup" / "tournament.jsonl"
    path.write_bytes(path.read_bytes().replace(b"toy", b"tow"))
    with pytest.raises(JournalError, match=":1: the journal is damaged"):
        choose_folder(out, describe(make_tournament()), new=False)
    assert choose_folder(out, describe(make_tournament()), new=True).path == out / "cup-2"


def test_a_tournament_named_like_a_numbered_run_is_another(make_tournament, out):
    begin(RunFolder(out / "cup-2"), describe(make_tournament(name="cup-2", seed=9)))
    assert run_folders(out, "cup") == []
    assert choose_folder(out, describe(make_tournament()), new=False).path == out / "cup-3"


def test_a_run_whose_folder_was_renamed_goes_on_there(make_tournament, out):
    tournament = describe(make_tournament())
    begin(RunFolder(out / "last week"), tournament)
    begin(RunFolder(out / "other"), describe(make_tournament(name="other", seed=5)))
    found = choose_folder(out, tournament, new=False)
    assert found.path == out / "last week"
    assert is_renamed(found, "cup")
    assert not is_renamed(RunFolder(out / "cup-2"), "cup")
    assert [folder.path for folder in run_folders(out, "cup")] == [out / "last week"]
    assert choose_folder(out, tournament, new=True).path == out / "cup"
    assert choose_folder(out, describe(make_tournament(seed=9)), new=False).path == out / "cup"


def test_a_renamed_run_is_found_beside_one_of_another_configuration(make_tournament, out):
    begin(RunFolder(out / "kept"), describe(make_tournament()))
    begin(RunFolder(out / "cup"), describe(make_tournament(seed=2)))
    assert choose_folder(out, describe(make_tournament()), new=False).path == out / "kept"


def test_of_several_renamed_folders_of_one_run_none_is_guessed(make_tournament, out):
    for name in ("one", "two"):
        begin(RunFolder(out / name), describe(make_tournament()))
    with pytest.raises(UsageError, match=r"2 folders have a run of 'cup': .*one, .*two") as caught:
        choose_folder(out, describe(make_tournament()), new=False)
    assert f"rename the one to continue to {out / 'cup'}, or start another run with --new" in caught.value.next_step


def test_a_changed_name_is_refused_like_every_other_change(make_tournament, out):
    begin(RunFolder(out / "cup"), describe(make_tournament()))
    renamed = describe(make_tournament(name="cap"))
    with pytest.raises(ChangedError, match='under another name: name: "cup" -> "cap"') as caught:
        choose_folder(out, renamed, new=False)
    assert "--new" in caught.value.next_step
    assert choose_folder(out, renamed, new=True).path == out / "cap"
    assert choose_folder(out, describe(make_tournament(name="cap", seed=2)), new=False).path == out / "cap"


@pytest.fixture
def longer(out, make_tournament):
    """A run that began with 3 blocks, and was made longer by its file: it has 6. Its folder was renamed."""
    folder = RunFolder(out / "last week")
    begin(folder, describe(make_tournament(blocks=3)))
    with Journal(folder.journal, read_journal(folder.journal)) as journal:
        journal.control(Control("extended", 0, by="file", length={"blocks": 6}))
    return folder


@pytest.mark.parametrize("blocks", [3, 6, 9])
def test_a_run_that_was_made_longer_goes_on_in_its_renamed_folder(make_tournament, out, longer, blocks):
    assert choose_folder(out, describe(make_tournament(blocks=blocks)), new=False).path == longer.path


@pytest.mark.parametrize(
    ("blocks", "more"), [(2, "; blocks: 6 -> 2"), (3, "; blocks: 6 -> 3"), (6, ""), (9, "; blocks: 6 -> 9")]
)
def test_a_changed_name_is_refused_also_together_with_another_length(make_tournament, out, longer, blocks, more):
    """The run has six blocks. A longer or shorter file under a new name began another run without a word."""
    renamed = describe(make_tournament(name="cap", blocks=blocks))
    with pytest.raises(ChangedError) as caught:
        choose_folder(out, renamed, new=False)
    assert str(caught.value).endswith(f'under another name: name: "cup" -> "cap"{more}')
    assert choose_folder(out, renamed, new=True).path == out / "cap"
    other = describe(make_tournament(name="cap", blocks=blocks, seed=2))
    assert choose_folder(out, other, new=False).path == out / "cap"


@pytest.mark.parametrize("blocks", [2, 5])
def test_a_file_with_fewer_blocks_than_its_run_has_is_refused_with_both_numbers(make_tournament, out, blocks):
    """The run began with 3 blocks, and `extend` has made it longer: "blocks: 3 -> 5" was what the file had done."""
    folder = RunFolder(out / "cup")
    begin(folder, describe(make_tournament(blocks=3)))
    with Journal(folder.journal, read_journal(folder.journal)) as journal:
        journal.control(Control("extended", 0, by="organiser", length={"blocks": 6}))
    with pytest.raises(ChangedError) as caught:
        choose_folder(out, describe(make_tournament(blocks=blocks)), new=False)
    assert str(caught.value) == (
        f"the run in {folder.path} has blocks = 6, and the file says {blocks}: a run cannot become shorter"
    )
    assert caught.value.next_step.startswith("write blocks = 6 in the file to continue the run, or start a new one")
    assert choose_folder(out, describe(make_tournament(blocks=3)), new=False).path == folder.path
    with pytest.raises(ChangedError, match="began: seed: 1 -> 2; blocks: 6 -> 5"):
        choose_folder(out, describe(make_tournament(blocks=5, seed=2)), new=False)


def test_a_swiss_whose_file_says_no_rounds_any_more_is_refused_as_it_is(make_tournament, out):
    """It said that the file says a number which is not in it."""
    folder = RunFolder(out / "cup")
    begin(folder, describe(make_tournament(4, format="swiss", more="[swiss]\nrounds = 3")))
    with pytest.raises(ChangedError, match="has rounds = 3, and the file without rounds asks for 2: a run cannot"):
        choose_folder(out, describe(make_tournament(4, format="swiss")), new=False)


def test_a_large_number_of_blocks_is_told_whole(make_tournament, out):
    folder = RunFolder(out / "cup")
    begin(folder, describe(make_tournament(blocks=1_234_567)))
    with pytest.raises(ChangedError, match="has blocks = 1234567, and the file says 1234566") as caught:
        choose_folder(out, describe(make_tournament(blocks=1_234_566)), new=False)
    assert caught.value.next_step.startswith("write blocks = 1234567 in the file to continue the run")


def test_what_is_no_journal_in_the_place_of_another_journal_is_passed_over(make_tournament, out):
    begin(RunFolder(out / "last week"), describe(make_tournament()))
    for name in ("pipe", "list", "empty list"):
        (out / name).mkdir()
    os.mkfifo(out / "pipe" / "tournament.jsonl")
    (out / "empty list" / "tournament.jsonl").write_text("[]\n")
    (out / "list" / "tournament.jsonl").write_text('["created", "", {"configuration": []}, ""]\n')
    assert choose_folder(out, describe(make_tournament()), new=False).path == out / "last week"


def test_a_file_in_the_way_is_not_written_over(make_tournament, out):
    out.mkdir()
    (out / "cup").touch()
    assert choose_folder(out, describe(make_tournament()), new=False).path == out / "cup-2"


def test_differences_name_what_came_and_went(make_tournament):
    two, three = describe(make_tournament(2)), describe(make_tournament(3))
    assert changes(two, two) == ()
    assert any(line.startswith("bots[3].name: nothing -> ") for line in changes(two, three))
    assert any(line.startswith("bots[3].name: ") and line.endswith(" -> nothing") for line in changes(three, two))


def test_the_difference_between_two_stages_is_named(make_tournament):
    """Both values were the same, as long lists are cut: a line that said nothing."""
    first = "[[stages]]\ngroups = 2\nadvance = 1\n"
    begun, other = (
        describe(make_tournament(4, format="stages", more=f'{first}{line}[[stages]]\nformat = "knockout"\n'))
        for line in ("", "same_seeds = true\nblocks = 3\n")
    )
    assert changes(begun, other) == ("stages[1].blocks: 2 -> 3", "stages[1].same_seeds: false -> true")


def test_a_second_run_of_a_tournament_is_told_from_the_first_by_its_title(tmp_path):
    assert title_of(RunFolder(tmp_path / "cup"), "cup") == "cup"
    assert title_of(RunFolder(tmp_path / "cup-2"), "cup") == "cup (cup-2)"


def test_a_run_that_this_user_may_not_enter_is_passed_over(make_tournament, out, monkeypatch):
    folders = [RunFolder(out / name) for name in ("cup", "other")]
    for folder in folders:
        begin(folder, describe(make_tournament()))
    assert len(runs_in(out)) == len(folders)
    may = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path).name != "other" and may(path, mode))
    assert [run.name for run in runs_in(out)] == ["cup"]
    assert find_folders(None, out) == [out / "cup"]
    assert find_run(None, out).name == "cup"
