"""The journal knows the records that count by their digests, and its own end from a second place."""

import gzip
import json
import os
import shutil
import subprocess
from hashlib import blake2b

import pytest

from leaderboard.index import load_index
from referee.errors import JournalError, PlatformError, UsageError
from referee.record.format import next_chain, open_line
from referee.record.journal import anchors_of
from referee.run import anchors
from referee.run.anchors import BATCH_MATCHES, HEAD_MATCHES, AnchorKeeper
from referee.run.head import head_file, read_head
from referee.run.journal import Journal, read_journal
from referee.run.run import Run


def digests(run_folder):
    """Of the records that count by what lies there, by match id."""
    return {
        path.name.removesuffix(".jsonl.gz"): blake2b(gzip.decompress(path.read_bytes()), digest_size=32).hexdigest()
        for path in run_folder.matches.glob("*.gz")
    }


def anchored(run_folder):
    return dict(anchors_of(read_journal(run_folder.journal).events).digests)


def kinds(run_folder):
    return [event.kind for event in read_journal(run_folder.journal).events]


def forge(path):
    """Another winner, and every chain made anew."""
    lines = gzip.decompress(path.read_bytes()).decode().splitlines()
    before = lines[-1]
    lines[-1] = lines[-1].replace('"ranking":[1,2]', '"ranking":[9,9]').replace('"ranking":[2,1]', '"ranking":[1,2]')
    lines[-1] = lines[-1].replace('"ranking":[9,9]', '"ranking":[2,1]')
    assert lines[-1] != before
    chain, made = "", []
    for line in lines:
        body, _ = open_line(line)
        chain = next_chain(chain, body)
        made.append(f'{body},"{chain}"]\n')
    path.write_bytes(gzip.compress("".join(made).encode(), mtime=0))


def cut_journal(run_folder, kind, *, head=False):
    """Drop the journal from the first line of this kind on, as a kill before it does; with `head` its head, too."""
    lines = run_folder.journal.read_bytes().splitlines(keepends=True)
    first = next(number for number, line in enumerate(lines) if line.startswith(f'["{kind}"'.encode()))
    run_folder.journal.write_bytes(b"".join(lines[:first]))
    if head:
        head_file(run_folder.journal).unlink()


def test_each_match_that_counts_is_in_the_journal_with_the_digest_of_its_lines(make_tournament, play, run_folder):
    play(make_tournament(3, blocks=2), slots=2)
    assert anchored(run_folder) == digests(run_folder)
    assert len(anchored(run_folder)) == 12
    assert kinds(run_folder)[-1] == "finished"
    assert all(len(digest) == 64 for digest in anchored(run_folder).values())


def test_what_is_void_has_no_digest(make_tournament, play, run_folder):
    run = play(make_tournament(2, blocks=2), script={1: ["void", "rated"], 2: ["void"]})
    assert len(run.summary.given_up) == 1
    assert anchored(run_folder) == digests(run_folder)


def test_a_batch_is_written_when_it_is_full_or_old(tmp_path):
    now = [0.0]
    path = tmp_path / "tournament.jsonl"
    with Journal(path, read_journal(path)) as journal:
        journal.append("created", format=2)
        keeper = AnchorKeeper(journal, {}, lambda: now[0])
        keeper.counted("a", "1")
        assert journal.lines == 1
        now[0] = anchors.BATCH_S
        keeper.counted("b", "2")
        assert journal.lines == 2, "no match waits much longer than another takes"
        for number in range(BATCH_MATCHES):
            keeper.counted(f"c{number}", "3")
        assert journal.lines == 3
        keeper.flush()
        assert journal.lines == 3, "nothing was left"
        for number in range(HEAD_MATCHES):
            keeper.counted(f"d{number}", "4")
        assert read_head(head_file(path)).lines >= journal.lines - 1, "while the run goes on"


def test_a_record_costs_no_second_wait_for_the_disk(make_tournament, play, run_folder):
    """Fake matches take no time: all of a run are in one line of the journal."""
    play(make_tournament(2, blocks=20))
    assert kinds(run_folder) == ["created", "counted", "revealed", "finished"]


@pytest.mark.parametrize("moment", ["before the line", "after the line"])
def test_a_runner_killed_beside_its_journal_goes_on_exactly(make_tournament, play, run_folder, moment, tmp_path):
    """SIGKILL of a real process, between a record and the line with its digest, or just behind that line."""
    tournament = make_tournament(2, blocks=3)
    calm = play(tournament)
    expected = dict.fromkeys(digests(run_folder))
    shutil.rmtree(run_folder.path)
    child = os.fork()
    if child == 0:
        flush = AnchorKeeper.flush

        def die(self):
            if self._counted:
                if moment == "after the line":
                    flush(self)
                os.kill(os.getpid(), 9)
            flush(self)

        AnchorKeeper.flush = die
        play(tournament)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -9
    assert kinds(run_folder) == ["created"] + (["counted"] if moment == "after the line" else [])
    run = play(tournament)
    assert run.executor is None, "every record was there"
    assert run.summary.complete
    assert digests(run_folder).keys() == expected.keys()
    assert anchored(run_folder) == digests(run_folder)
    found = anchors_of(read_journal(run_folder.journal).events).found
    assert found == (expected.keys() if moment == "before the line" else set())
    assert run.summary.found == calm.summary.played
    assert kinds(run_folder)[-1] == "finished"


def test_a_match_of_the_journal_without_its_record_is_told_and_played_again(
    make_tournament, play, run_folder, unfinish
):
    tournament = make_tournament(2, blocks=2)
    play(tournament)
    unfinish()
    lost = sorted(digests(run_folder))[1]
    (run_folder.matches / f"{lost}.jsonl.gz").unlink()
    run = play(tournament)
    assert run.summary.complete
    assert f"1 match that counted has no record any more: {lost}; what is missing is played again" in run.log.notes
    assert anchored(run_folder) == digests(run_folder)
    assert anchors_of(read_journal(run_folder.journal).events).uncounted == {lost: "lost"}


def test_a_forged_record_counts_neither_in_a_table_nor_when_the_run_goes_on(
    make_tournament, play, run_folder, unfinish
):
    tournament = make_tournament(2, blocks=2)
    play(tournament)
    unfinish()
    forged = sorted(run_folder.matches.glob("*.gz"))[2]
    honest = forged.read_bytes()
    forge(forged)
    index = load_index(run_folder, database=run_folder.path / "none.db")
    assert [item.path for item in index.unusable] == [forged]
    assert "this is not the record that counted" in index.unusable[0].problem
    run = play(tournament)
    match_id = forged.name.removesuffix(".jsonl.gz")
    assert (run_folder.void / f"{match_id}.1-changed.jsonl.gz").exists()
    assert run.executor.started == [2]
    assert forged.read_bytes() == honest, "the same match again, as it is made up here"
    assert anchored(run_folder) == digests(run_folder)


def test_a_match_that_ceases_to_count_leaves_the_journal_and_is_not_called_lost(make_tournament, play, run_folder):
    """A match in play when its bot was set aside: its record counted for a moment."""
    tournament = make_tournament(3, blocks=3)
    run = play(tournament, slots=3, crashes=tournament.entries[0].id, order=lambda spec: 5 - spec.place % 5)
    assert run.summary.set_aside
    assert anchored(run_folder) == digests(run_folder)
    again = play(tournament)
    assert not any("no record any more" in note for note in again.log.notes)


def test_a_record_set_aside_before_a_kill_is_not_called_lost(make_tournament, play, run_folder, unfinish):
    tournament = make_tournament(2, blocks=1)
    play(tournament)
    unfinish()
    path = sorted(run_folder.matches.glob("*.gz"))[0]
    match_id = path.name.removesuffix(".jsonl.gz")
    path.rename(run_folder.void / f"{match_id}.1-annulled.jsonl.gz")
    run = play(tournament)
    assert run.summary.complete
    assert not any("no record any more" in note for note in run.log.notes)
    assert anchors_of(read_journal(run_folder.journal).events).uncounted == {match_id: "annulled"}


def test_a_run_of_an_older_version_goes_on_and_says_that_its_records_were_found(
    make_tournament, play, run_folder, unfinish
):
    tournament = make_tournament(2, blocks=2)
    play(tournament)
    cut_journal(run_folder, "counted", head=True)
    assert anchored(run_folder) == {}
    assert play(tournament).executor is None
    assert anchored(run_folder) == digests(run_folder)
    assert anchors_of(read_journal(run_folder.journal).events).found == digests(run_folder).keys()


def test_a_journal_that_was_cut_is_refused_by_its_head(make_tournament, play, run_folder):
    tournament = make_tournament(2, blocks=1)
    play(tournament)
    whole = run_folder.journal.read_bytes()
    lines = whole.splitlines(keepends=True)
    run_folder.journal.write_bytes(b"".join(lines[:-1]))
    with pytest.raises(JournalError, match="1 line was cut off the end of the journal: it has 3, and had 4") as caught:
        play(tournament)
    assert "restore" in caught.value.next_step
    run_folder.journal.write_bytes(whole)
    assert play(tournament).summary.complete


def test_a_journal_that_was_made_anew_is_refused_by_its_head(make_tournament, play, run_folder):
    tournament = make_tournament(2, blocks=1)
    play(tournament)
    text = read_journal(run_folder.journal)
    head = head_file(run_folder.journal).read_bytes()
    for path in (run_folder.journal, head_file(run_folder.journal)):
        path.unlink()
    with Journal(run_folder.journal, read_journal(run_folder.journal)) as journal:
        for event in text.events:
            journal.append(event.kind, **event.fields)
    head_file(run_folder.journal).write_bytes(head)
    with pytest.raises(JournalError, match=r"of another run|are not those"):
        play(tournament)


def test_the_head_is_written_elsewhere_too_where_the_organiser_says_so(make_tournament, play, run_folder, tmp_path):
    tournament, elsewhere = make_tournament(2, blocks=1), tmp_path / "usb" / "cup.head"
    elsewhere.parent.mkdir()
    play(tournament, head_file=elsewhere)
    text = read_journal(run_folder.journal)
    assert read_head(elsewhere) == read_head(head_file(run_folder.journal))
    assert read_head(elsewhere).lines == len(text.events)
    assert read_head(elsewhere).digest == blake2b(run_folder.journal.read_bytes(), digest_size=32).hexdigest()
    lines = run_folder.journal.read_bytes().splitlines(keepends=True)
    run_folder.journal.write_bytes(b"".join(lines[:-1]))
    head_file(run_folder.journal).unlink()
    with pytest.raises(JournalError, match=f"cut off the end of the journal.* by {elsewhere}"):
        play(tournament)


@pytest.mark.parametrize("content", ["", "my thesis\n", '{"format":1}', "[]"])
def test_a_file_that_is_no_head_is_never_written_over(make_tournament, play, tmp_path, content):
    precious = tmp_path / "thesis"
    precious.write_text(content)
    with pytest.raises(UsageError, match="is not the head of a journal"):
        play(make_tournament(2, blocks=1), head_file=precious)
    assert precious.read_text() == content


def test_the_head_of_another_run_is_never_written_over(make_tournament, play, run_folder, tmp_path):
    elsewhere = tmp_path / "cup.head"
    play(make_tournament(2, blocks=1), head_file=elsewhere)
    shutil.rmtree(run_folder.path)
    with pytest.raises(UsageError, match="is the head of another run's journal"):
        play(make_tournament(2, blocks=1), head_file=elsewhere)


def test_a_head_that_cannot_be_written_is_told_and_costs_no_match(make_tournament, play, run_folder, tmp_path):
    tournament, elsewhere = make_tournament(2, blocks=1), tmp_path / "usb" / "cup.head"
    elsewhere.parent.mkdir()
    play(tournament, head_file=elsewhere)
    shutil.rmtree(elsewhere.parent)
    run_folder.matches.joinpath(f"{min(digests(run_folder))}.jsonl.gz").unlink()
    run = play(tournament)
    assert run.summary.complete
    assert any(f"its head cannot be written to {elsewhere}" in note for note in run.log.notes)


def test_a_decision_whose_head_cannot_be_written_says_that_it_holds(make_tournament, play, run_folder, tmp_path):
    """It asked for the same command once more, which extended the run twice."""
    tournament, elsewhere = make_tournament(2, blocks=1), tmp_path / "usb" / "cup.head"
    elsewhere.parent.mkdir()
    play(tournament, head_file=elsewhere)
    shutil.rmtree(elsewhere.parent)
    with pytest.raises(PlatformError, match="the decision is in the journal and holds; the journal is whole") as caught:
        Run(run_folder).extend({"blocks": 1}, by="ann")
    assert "do not enter the command again" in caught.value.next_step
    assert read_journal(run_folder.journal).length == {"blocks": 2}
    elsewhere.parent.mkdir()
    Run(run_folder).leave("withdrawn", "bot0", by="ann")
    assert read_head(elsewhere).lines == len(read_journal(run_folder.journal).events)


def test_a_head_is_replaced_whole_or_not_at_all(make_tournament, play, run_folder, monkeypatch):
    play(make_tournament(2, blocks=1))
    head = head_file(run_folder.journal)
    before = head.read_bytes()
    with Journal(run_folder.journal, read_journal(run_folder.journal)) as journal:
        monkeypatch.setattr("os.fsync", lambda fd: (_ for _ in ()).throw(OSError(28, "No space left on device")))
        with pytest.raises(PlatformError, match="the journal is whole, but its head cannot be written"):
            journal.write_head()
    assert head.read_bytes() == before
    assert [path.name for path in head.parent.glob(".*head*")] == []


def test_digest_and_head_are_what_b2sum_prints(make_tournament, play, run_folder):
    """As docs/records.md says: nothing of ours is needed to compare them."""
    play(make_tournament(2, blocks=1))
    match_id, digest = min(anchored(run_folder).items())
    data = gzip.decompress((run_folder.matches / f"{match_id}.jsonl.gz").read_bytes())
    printed = subprocess.run(["b2sum", "--length", "256"], input=data, capture_output=True, check=True)
    assert printed.stdout.decode().split()[0] == digest
    head = json.loads(head_file(run_folder.journal).read_text())
    printed = subprocess.run(
        ["b2sum", "--length", "256", str(run_folder.journal)], capture_output=True, check=True, text=True
    )
    assert printed.stdout.split()[0] == head["digest"]
