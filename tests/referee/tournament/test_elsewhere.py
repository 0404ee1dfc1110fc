"""Matches that are played on other machines: the result brings the record, and the runner writes it."""

from pathlib import Path

import pytest

from referee.record import RecordExistsError, keep_record, read_record
from referee.run.journal import read_journal
from referee.tournament import runner


def lines_of(folder, kind):
    return [line.fields for line in read_journal(folder.journal).events if line.kind == kind]


def test_the_runner_writes_the_records_that_results_bring(make_tournament, play, run_folder):
    run = play(make_tournament(3), brings=True, slots=2)
    assert run.summary.complete
    assert run.summary.played == len(run.log.records)
    assert set(run_folder.matches.glob("*")) == {*run.log.records, run_folder.matches / "void"}
    assert all(read_record(path).problems == () for path in run.log.records)


def test_a_run_played_elsewhere_has_the_records_of_one_played_here(make_tournament, play, run_folder, unfinish):
    play(make_tournament(3))
    here = {path.name: path.read_bytes() for path in run_folder.matches.glob("*.gz")}
    unfinish()
    for path in run_folder.matches.glob("*.gz"):
        path.unlink()
    play(make_tournament(3), brings=True)
    assert {path.name: path.read_bytes() for path in run_folder.matches.glob("*.gz")} == here


def test_a_record_that_arrives_damaged_is_void_and_the_match_is_played_again(make_tournament, play, run_folder):
    run = play(make_tournament(), brings=True, script={1: ["void", "rated"]})
    assert (run.summary.void, run.summary.complete) == (1, True)
    assert [path.name.partition(".")[2] for path in (run_folder.matches / "void").iterdir()] == ["1-void.jsonl.gz"]


def test_a_lost_machine_is_no_attempt_at_its_match(make_tournament, play, run_folder):
    times = runner.MAX_ATTEMPTS + 2
    run = play(make_tournament(), script={1: [*["machine"] * times, "rated"]}, brings=True)
    assert (run.summary.complete, run.summary.void, run.summary.given_up) == (True, 0, ())
    lost = lines_of(run_folder, "lost")
    assert [line["machine"] for line in lost] == ["b"] * times
    assert {line["detail"] for line in lost} == {"the machine 'b' is gone"}
    assert lines_of(run_folder, "void") == []


def test_a_match_that_ends_one_machine_after_the_other_is_given_up(make_tournament, play, run_folder):
    run = play(make_tournament(), script={1: ["machine"]}, brings=True)
    assert [item.place for item in run.summary.given_up] == [1]
    assert len(lines_of(run_folder, "lost")) == runner.MOST_MACHINES
    assert [line["attempt"] for line in lines_of(run_folder, "void")] == [1, 2, 3]


def test_a_record_is_never_replaced_by_a_second_one(tmp_path):
    keep_record(tmp_path, "m1", b"first")
    with pytest.raises(RecordExistsError, match="match m1 has a record"):
        keep_record(tmp_path, "m1", b"second")
    assert [path.name for path in tmp_path.iterdir()] == ["m1.jsonl.gz"]
    assert (tmp_path / "m1.jsonl.gz").read_bytes() == b"first"


def test_the_closed_record_replaces_what_was_followed_live(tmp_path: Path):
    (tmp_path / "m1.jsonl").write_text("what has come so far")
    assert keep_record(tmp_path, "m1", b"whole") == tmp_path / "m1.jsonl.gz"
    assert [path.name for path in tmp_path.iterdir()] == ["m1.jsonl.gz"]
