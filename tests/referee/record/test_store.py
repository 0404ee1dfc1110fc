"""Where records lie: what is found there, what is set aside, and what a killed worker leaves."""

import os
from pathlib import Path

import pytest

from referee.record.archive import SUFFIX, write_archive
from referee.record.store import RecordStore, counts_in, is_aside, match_id_of, run_of, why_aside


@pytest.fixture
def store(tmp_path: Path) -> RecordStore:
    store = RecordStore.of_run(tmp_path / "cup")
    store.make()
    return store


def names(store: RecordStore) -> list[str]:
    return sorted(path.name for path in store.folder.iterdir() if path.is_file())


def test_a_live_record_that_its_whole_copy_has_replaced_is_removed(store: RecordStore) -> None:
    live, closed = store.folder / "m1.jsonl", store.folder / "m1.jsonl.gz"
    live.write_text("{}\n")
    store.tidy_match("m1")
    assert live.exists()
    closed.write_bytes(b"whole")
    (store.folder / "m2.jsonl").write_text("{}\n")
    (store.folder / ".m1.123.tmp").write_bytes(b"part")
    store.tidy_match("m1")
    assert names(store) == ["m1.jsonl.gz", "m2.jsonl"]


def test_to_tidy_the_store_removes_all_left_overs(store: RecordStore) -> None:
    for name in ("m1.jsonl", "m1.jsonl.gz", "m2.jsonl", ".m3.jsonl.9.tmp", "notes.txt"):
        (store.folder / name).write_bytes(b"")
    assert store.tidy() == {"m1": store.folder / "m1.jsonl.gz", "m2": store.folder / "m2.jsonl"}
    assert names(store) == ["m1.jsonl.gz", "m2.jsonl", "notes.txt"]


def test_the_closed_record_wins_over_a_live_one_beside_it(store: RecordStore) -> None:
    for name in ("m2.jsonl", "m1.jsonl", "m1.jsonl.gz", ".m0.jsonl"):
        (store.folder / name).write_bytes(b"")
    assert store.paths() == {"m1": store.folder / "m1.jsonl.gz", "m2": store.folder / "m2.jsonl"}
    assert [stamp.name for stamp in store.stamps().values()] == ["m1.jsonl.gz", "m2.jsonl"]
    assert store.live() == ["m2"]
    assert store.find("m1") == store.folder / "m1.jsonl.gz"
    assert RecordStore(store.folder / "none").paths() == {}


def test_the_last_records_are_those_of_the_last_ids_packed_or_not(store: RecordStore) -> None:
    for name in ("m3.jsonl.gz", "m1.jsonl", "m4.jsonl"):
        (store.folder / name).write_bytes(b"")
    (store.folder / "packed").mkdir()
    write_archive(store.folder / "packed" / f"2026-01-01.1{SUFFIX}", [("m2.jsonl.gz", 1, b"")])
    wanted = ["m2.jsonl.gz", "m3.jsonl.gz", "m4.jsonl"]
    assert store.last_paths(3) == [store.folder / name for name in wanted]
    assert store.last_paths(9) == [store.folder / name for name in ("m1.jsonl", *wanted)]


def test_matches_in_play_are_listed_again_only_when_a_record_came_or_went(
    store: RecordStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed: list[Path] = []
    monkeypatch.setattr(os, "listdir", lambda folder, read=os.listdir: listed.append(folder) or read(folder))

    def long_ago(hour: int) -> None:
        os.utime(store.folder, (3600 * hour, 3600 * hour))

    (store.folder / "m1.jsonl").write_text("{}\n")
    long_ago(1)
    assert [store.live(), store.live(), store.live()] == [["m1"]] * 3
    assert listed == [store.folder]
    (store.folder / "m2.jsonl").write_text("{}\n")  # now: more may come in the same moment
    assert [store.live(), store.live()] == [["m1", "m2"]] * 2
    assert listed == [store.folder] * 3
    (store.folder / "m1.jsonl.gz").write_bytes(b"whole")
    long_ago(2)
    assert store.live() == ["m2"]


def test_a_record_that_is_set_aside_is_kept_under_a_number_and_the_reason(store: RecordStore) -> None:
    aside = []
    for why in ("late", "foreign"):
        record = store.folder / "m1.jsonl.gz"
        record.write_bytes(b"")
        assert (counts_in(record), is_aside(record), why_aside(record)) == (store.folder.parent, False, "")
        aside.append(store.set_aside(record, why))
    assert [path.name for path in aside] == ["m1.1-late.jsonl.gz", "m1.2-foreign.jsonl.gz"]
    assert [(match_id_of(path), why_aside(path)) for path in aside] == [("m1", "late"), ("m1", "foreign")]
    assert [(counts_in(path), run_of(path)) for path in aside] == [(None, store.folder.parent)] * 2
    assert list(store.aside_of("m1")) == list(store.aside_paths().values()) == aside
    assert store.paths() == {}
    assert store.find("m1.1-late") is None
    assert store.find_anywhere("m1.1-late") == aside[0]


@pytest.mark.parametrize("name", ["", "../cup", "a/b", ".m1", "m1\n", "m" * 201])
def test_a_name_that_is_no_match_id_finds_nothing(store: RecordStore, name: str) -> None:
    assert store.find_anywhere(name) is None


def test_a_folder_of_records_alone_is_a_store_too(tmp_path: Path) -> None:
    assert RecordStore.found_in(tmp_path) == RecordStore(tmp_path)
    (tmp_path / "matches").mkdir()
    assert RecordStore.found_in(tmp_path) == RecordStore(tmp_path / "matches")


def test_the_fingerprint_is_another_one_after_any_change(store: RecordStore) -> None:
    seen = {store.fingerprint(), store.fingerprint("more")}
    (store.folder / "m1.jsonl").write_text("1")
    seen.add(store.fingerprint())
    (store.folder / "m1.jsonl").write_text("12")
    seen.add(store.fingerprint())
    assert len(seen) == 4
    assert store.fingerprint() in seen
