"""`crosstown pack`: every command says the same of a packed run as before, and the run goes on."""

import json
import os
import time

import pytest

from referee.cli.app import run_command
from referee.record.store import archives_in
from referee.run.lock import RunLock

READING = [
    ("standings", "--json"),
    ("standings", "--live"),
    ("matches", "list", "--json"),
    ("matches", "list", "--reason", "normal", "--json"),
    ("matches", "verify", "--json"),
    ("matches", "show", "MATCH", "--json"),
    ("matches", "show", "PATH"),
    ("matches", "rejudge", "MATCH"),
    ("matches", "export", "MATCH", "m.json"),
    ("rebuild", "--json"),
]


@pytest.fixture
def packed(played, crosstown):
    """The finished run `cup`, packed."""
    printed = crosstown("pack", "cup")
    assert printed.code == 0, printed.err
    assert printed.out == "runs/cup: 2 records packed into 1 archive\n"
    assert list(played.matches.glob("*.gz")) == []
    return played


@pytest.mark.slow
@pytest.mark.parametrize("words", READING, ids=" ".join)
def test_a_command_says_the_same_of_packed_records(played, crosstown, words):
    match_id, path = next(iter(played.records.paths().items()))
    words = [{"MATCH": match_id, "PATH": f"runs/cup/matches/{path.name}"}.get(word, word) for word in words]
    before = crosstown(*words)
    assert crosstown("pack", "cup").code == 0
    assert not path.exists()
    assert crosstown(*words) == before
    assert before.code == 0, before.err


def test_the_database_is_not_made_again_for_packed_records(packed, crosstown, monkeypatch):
    def read(path):
        raise AssertionError(f"{path} is read")

    monkeypatch.setattr("leaderboard.index.read_match", read)
    assert crosstown("standings", "cup").code == 0


def test_a_packed_run_goes_on_without_a_match_played_twice(packed, crosstown):
    before = packed.records.stamps()
    printed = crosstown("run", "cup.toml")
    assert printed.code == 0, printed.err
    assert packed.records.stamps() == before
    assert list(packed.void.iterdir()) == []


@pytest.mark.slow
def test_a_packed_match_can_be_annulled_and_played_again(packed, crosstown):
    match_id = next(iter(packed.records.paths()))
    assert crosstown("annul", "cup", match_id, "--replay").code == 0
    assert match_id not in packed.records
    assert crosstown("run", "cup.toml").code == 0
    assert (packed.matches / f"{match_id}.jsonl.gz").exists()
    assert len(packed.records.paths()) == 2
    assert crosstown("matches", "verify", "cup").code == 0


def test_the_report_links_to_no_file_that_is_not_there(played, crosstown):
    assert crosstown("report", "cup").code == 0
    page = played.path / "report.html"
    names = [path.name for path in played.matches.glob("*.gz")]
    assert all(f'href="matches/{name}"' in page.read_text() for name in names)
    crosstown("pack", "cup")
    assert crosstown("report", "cup").code == 0
    assert not any(f'href="matches/{name}"' in page.read_text() for name in names)


def test_only_old_records_are_packed(played, crosstown):
    first, second = played.matches.glob("*.gz")
    long_ago = time.time() - 3 * 86_400
    os.utime(first, (long_ago, long_ago))
    assert json.loads(crosstown("pack", "cup", "--older-than", "2", "--json").out) == {
        "run": "runs/cup",
        "records": 1,
        "archives": 1,
        "kept": [],
    }
    assert not first.exists()
    assert second.exists()


def test_a_record_that_is_not_the_one_that_counted_is_not_packed(played, crosstown):
    first, second = sorted(played.matches.glob("*.gz"))
    first.write_bytes(second.read_bytes())
    printed = crosstown("pack", "cup")
    assert printed.code == 1
    match_id = first.name.removesuffix(".jsonl.gz")
    assert f"not packed: {match_id}" in printed.out
    assert "crosstown matches verify runs/cup" in printed.out
    assert "this is not the record that counted" in printed.out
    assert first.exists()
    assert second.exists(), "it is of the same group, in which a match has to be played again"
    assert json.loads(crosstown("pack", "cup", "--json").out)["kept"] == [match_id]


def test_matches_of_a_group_that_is_not_complete_and_records_without_a_digest_stay_files(make_run, crosstown):
    folder = make_run(played=3)
    printed = crosstown("pack", "cup")
    assert printed.out.splitlines() == [
        "runs/cup: 0 records packed into 0 archives",
        "not packed: 2 records without a digest in the journal; to add it: crosstown sign runs/cup",
    ]
    assert crosstown("sign", "cup").code == 0
    assert crosstown("pack", "cup").out == "runs/cup: 2 records packed into 1 archive\n"
    assert len(list(folder.matches.glob("*.gz"))) == 1


def test_a_run_that_is_played_is_not_packed(played, crosstown):
    with RunLock(played.lock):
        printed = crosstown("pack", "cup")
    assert printed.code != 0
    assert "is being run by process" in printed.err
    assert archives_in(played.matches) == []


@pytest.mark.slow
@pytest.mark.parametrize("words", [*READING, ("run", "cup.toml"), ("report", "cup"), ("pack", "cup")], ids=" ".join)
def test_a_damaged_archive_is_named_by_every_command(packed, crosstown, words):
    match_id = next(iter(packed.records.paths()))
    words = [{"MATCH": match_id, "PATH": f"runs/cup/matches/{match_id}.jsonl.gz"}.get(word, word) for word in words]
    (archive,) = archives_in(packed.matches)
    whole = archive.path.read_bytes()
    archive.path.write_bytes(whole[: len(whole) // 2])
    printed = crosstown(*words)
    assert printed.code not in (0, 70), printed.err
    assert f"the archive {archive.path.relative_to(packed.path.parents[1])} is damaged" in printed.err.replace(
        f"{packed.path.parents[1]}/", ""
    )
    assert "restore the file from a copy" in printed.err
    archive.path.write_bytes(whole)
    assert run_command(["matches", "verify", "cup"]) == 0
