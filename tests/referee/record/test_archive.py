"""Packed records: read as before, found at once, and lost by no kill."""

import gzip
import os
import signal
import tracemalloc
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from random import Random

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from referee.errors import PlatformError
from referee.record import RecordError, RecordFollower, read_record
from referee.record import archive as archive_module
from referee.record import store as store_module
from referee.record.reader import read_header
from referee.record.store import FileStamp, RecordStore, archives_in, contents, is_packed
from tests.referee.record.conftest import Played, header

DAY_S = 86_400
NOON_S = 1_700_049_600  # 2023-11-15, 12:00 UTC


def anything(_match_id: str, _data: bytes) -> bool:
    return True


def add(store: RecordStore, match_id: str, data: bytes, at_s: float = NOON_S) -> Path:
    store.make()
    path = store.folder / f"{match_id}.jsonl.gz"
    path.write_bytes(gzip.compress(data, mtime=0))
    os.utime(path, ns=(int(at_s * 1e9), int(at_s * 1e9) + 123))
    return path


def filled(folder: Path, number: int = 6) -> RecordStore:
    store = RecordStore(folder)
    for one in range(number):
        add(store, f"m{one:06d}-{one:08x}", f"record {one}\n".encode() * (one + 1), NOON_S + one)
    return store


def known(store: RecordStore) -> dict[str, tuple[FileStamp, bytes]]:
    """All that a reader sees, in each of the ways in which one may look."""
    stamps = store.stamps()
    assert list(stamps) == list(store.paths()) == sorted(stamps)
    for most in (1, 3, len(stamps) + 1):
        assert store.last(most) == (list(store.paths().values())[-most:], len(stamps))
    for match_id, path in store.paths().items():
        assert store.find(match_id) == store.find_anywhere(match_id) == path == store.at(stamps[match_id])
        assert match_id in store
        assert FileStamp.of(path) == stamps[match_id]
    return {match_id: (stamp, contents(store.at(stamp))) for match_id, stamp in stamps.items()}


def files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_packed_records_are_found_with_the_same_bytes_and_stamps(tmp_path: Path) -> None:
    store = filled(tmp_path / "matches")
    before = known(store)
    packing = store.pack(before, anything)
    assert (packing.records, packing.archives, packing.kept) == (6, 1, ())
    assert files(store.folder) == ["packed/2023-11-15.1.pack.gz"]
    assert known(store) == before
    assert store.tidy() == store.paths()
    assert store.packed() == set(before)
    assert all(map(is_packed, store.paths().values()))
    assert "m999999-00000000" not in store


def test_the_records_of_each_day_have_archives_of_their_own(tmp_path: Path) -> None:
    store = RecordStore(tmp_path)
    for number, day in enumerate((0, 0, 1, 3)):
        add(store, f"m{number:06d}", b"x", NOON_S + day * DAY_S)
    assert store.pack(store.paths(), anything).archives == 3
    add(store, "m000009", b"y", NOON_S)
    store.pack(store.paths(), anything)
    names = [archive.path.name for archive in archives_in(tmp_path)]
    days = [(datetime.fromtimestamp(NOON_S + day * DAY_S, UTC).date().isoformat(), 1) for day in (0, 1, 3)]
    assert sorted(names) == sorted(f"{day}.{number}.pack.gz" for day, number in [*days, (days[0][0], 2)])
    assert store.packed() == {"m000000", "m000001", "m000002", "m000003", "m000009"}


def test_an_archive_has_so_many_records_at_most(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_module, "_MOST_RECORDS", 4)
    store = filled(tmp_path, 10)
    before = known(store)
    assert store.pack(before, anything).archives == 3
    assert [len(list(archive)) for archive in archives_in(tmp_path)] == [4, 4, 2]
    assert known(store) == before


def test_it_stops_between_archives_when_asked_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_module, "_MOST_RECORDS", 4)
    store = filled(tmp_path, 10)
    asked = iter((False, False, True))
    assert store.pack(store.paths(), anything, lambda: next(asked)).records == 8
    assert len(store.packed()) == 8
    assert len(store.paths()) == 10


def test_an_archive_is_a_gzip_file_with_all_lines(tmp_path: Path) -> None:
    store = filled(tmp_path)
    lines = b"".join(gzip.decompress(contents(path)) for path in store.paths().values())
    store.pack(store.paths(), anything)
    (archive,) = archives_in(tmp_path)
    assert gzip.decompress(archive.path.read_bytes()).startswith(lines)


def test_an_archive_in_the_place_of_one_with_the_same_inode_size_and_times_is_read_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """File systems give the inode number of a file that was removed to the next one."""
    path, real = tmp_path / "day.1.pack.gz", Path.stat

    def write(number: int) -> os.stat_result:
        archive_module.write_archive(path, [(f"m{number:06d}.jsonl.gz", NOON_S * 10**9, b"data")])
        return real(path)

    first = write(0)
    monkeypatch.setattr(Path, "stat", lambda self, **how: first if self == path else real(self, **how))
    assert [packed.name for packed in archive_module.open_archive(path)] == ["m000000.jsonl.gz"]
    number = next(number for number in range(1, 1000) if write(number).st_size == first.st_size)
    assert [packed.name for packed in archive_module.open_archive(path)] == [f"m{number:06d}.jsonl.gz"]


def test_what_does_not_fit_stays_in_its_file(tmp_path: Path) -> None:
    store = filled(tmp_path)
    live = tmp_path / "m000042.jsonl"
    live.write_text("{}\n")
    first, second, *_ = store.paths()
    asked = {}
    packing = store.pack(
        [*store.paths(), "m000042", "nobody"], lambda name, data: not asked.update({name: data}) and name != first
    )
    assert packing.kept == (first,)
    assert asked[second] == contents(store.at(store.stamps()[second]))
    assert files(tmp_path) == [f"{first}.jsonl.gz", "m000042.jsonl", "packed/2023-11-15.1.pack.gz"]
    assert "m000042" in store.paths()


def test_a_file_wins_over_a_packed_record_and_is_not_packed_over_it(tmp_path: Path) -> None:
    store = filled(tmp_path)
    store.pack(store.paths(), anything)
    name = next(iter(store.paths()))
    path = add(store, name, b"another")
    store.tidy()
    assert store.pack([name], anything).records == 0
    assert gzip.decompress(contents(path)) == b"another"
    assert FileStamp.of(path).size_bytes == path.stat().st_size


def test_a_copy_that_a_kill_left_beside_its_archive_is_removed(tmp_path: Path) -> None:
    store = filled(tmp_path)
    name, path = next(iter(store.paths().items()))
    data, stamp = path.read_bytes(), FileStamp.of(path)
    store.pack(store.paths(), anything)
    path.write_bytes(data)
    os.utime(path, ns=(stamp.mtime_ns, stamp.mtime_ns))
    (tmp_path / "packed" / ".2023-11-15.9.pack.gz.77.tmp").write_bytes(b"part")
    assert store.tidy()[name] == path
    assert files(tmp_path) == ["packed/2023-11-15.1.pack.gz"]


@pytest.mark.parametrize("number", [1, 3])
def test_a_packed_record_that_is_set_aside_is_a_file_and_in_no_archive(tmp_path: Path, number: int) -> None:
    store = filled(tmp_path, number)
    store.pack(store.paths(), anything)
    name, path = next(iter(store.paths().items()))
    before = known(store)
    stamp, data = before.pop(name)
    aside = store.set_aside(path, "annulled")
    assert aside == tmp_path / "void" / f"{name}.1-annulled.jsonl.gz"
    assert (aside.read_bytes(), aside.stat().st_mtime_ns) == (data, stamp.mtime_ns)
    assert known(store) == before
    assert store.find(name) is None
    assert len(archives_in(tmp_path)) == bool(before)


def test_a_record_in_a_file_and_an_archive_is_set_aside_from_both(tmp_path: Path) -> None:
    store = filled(tmp_path)
    name, path = next(iter(store.paths().items()))
    data = path.read_bytes()
    store.pack(store.paths(), anything)
    path.write_bytes(data)
    store.set_aside(path, "late")
    assert store.find(name) is None
    assert [one.name for one in store.aside_of(name)] == [f"{name}.1-late.jsonl.gz"]


def test_the_fingerprint_and_the_number_of_changes_follow_archives(tmp_path: Path) -> None:
    store = filled(tmp_path)
    seen = {store.fingerprint()}
    changes = {store.changed_ns()}
    store.pack(store.paths(), anything)
    seen.add(store.fingerprint())
    changes.add(store.changed_ns())
    store.set_aside(next(iter(store.paths().values())), "late")
    assert store.fingerprint() not in seen
    assert store.changed_ns() not in changes
    assert len(seen) == 2


def test_a_real_record_reads_the_same_when_it_is_packed(tmp_path: Path) -> None:
    played = Played(tmp_path, header(), Random(1))
    played.play()
    path = played.writer.close(played.footer())
    before = read_record(path)
    assert before.complete
    follower = RecordFollower(path.with_name("m-1.jsonl"))
    RecordStore(tmp_path).pack(["m-1"], anything)
    assert not path.exists()
    assert read_record(path) == before
    assert read_header(path) == before.header
    assert follower.poll() == before.lines


def test_an_archive_that_was_changed_or_copied_makes_all_its_records_be_read_again(tmp_path: Path) -> None:
    store = filled(tmp_path)
    store.pack(store.paths(), anything)
    before = store.stamps()
    (archive,) = archives_in(tmp_path)
    os.utime(archive.path)
    after = store.stamps()
    assert {name for name in before if before[name] == after[name]} == set()
    assert {stamp.mtime_ns for stamp in after.values()} == {archive.path.stat().st_mtime_ns}


def test_damage_is_named_with_the_archive_and_what_to_do(tmp_path: Path) -> None:
    store = filled(tmp_path)
    store.pack(store.paths(), anything)
    (archive,) = archives_in(tmp_path)
    whole, path = archive.path.read_bytes(), next(iter(store.paths().values()))

    def damage(data: bytes) -> None:
        archive.path.write_bytes(data)

    damage(bytes([whole[0] ^ 1]) + whole[1:])
    with pytest.raises(RecordError, match=r"2023-11-15\.1\.pack\.gz is damaged: the bytes of m000000-00000000"):
        contents(path)
    assert len(store.paths()) == 6
    damage(whole[: archive.index_at + 12] + b"?" + whole[archive.index_at + 13 :])
    with pytest.raises(RecordError, match="is damaged: its index cannot be read") as caught:
        store.paths()
    assert caught.value.next_step == "restore the file from a copy"
    for cut in (0, 1, len(whole) // 2, len(whole) - 1):
        damage(whole[:cut])
        with pytest.raises(RecordError, match="its end is not that of an archive"):
            store.stamps()
        with pytest.raises(PlatformError, match="its end is not that of an archive"):
            store.tidy()
    damage(whole)
    assert len(known(store)) == 6


def test_a_small_archive_whose_index_unpacks_to_much_or_lies_elsewhere_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One of 3 MB had taken 8 GB and more."""
    monkeypatch.setattr(archive_module, "_MOST_INDEX_BYTES", 1 << 20)
    folder = tmp_path / "packed"
    folder.mkdir()
    path, index = folder / "2026-01-01.1.pack.gz", gzip.compress(b"m 0 1 1 x\n" * (4 << 20))
    for at, size, why in (
        (0, len(index), "its index is cut, or too long"),
        (-1, len(index), "its end is not that of an archive"),
        (0, 10**30, "its end is not that of an archive"),
    ):
        end = f"{at} {size} 0 m0.jsonl.gz m9.jsonl.gz 3"
        path.write_bytes(index + archive_module._stored(end.ljust(599) + "\n"))
        tracemalloc.start()
        with pytest.raises(RecordError, match=why):
            RecordStore(tmp_path).stamps()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 8 << 20


def test_a_pipe_that_is_named_like_an_archive_is_refused_at_once(tmp_path: Path) -> None:
    store = filled(tmp_path)
    (tmp_path / "packed").mkdir()
    os.mkfifo(tmp_path / "packed" / "2026-01-01.1.pack.gz")
    with pytest.raises(RecordError, match="it is not an ordinary file"):
        store.stamps()


@pytest.mark.parametrize("name", ["", "../m1.jsonl.gz", "m 1.jsonl.gz", "m1\n.jsonl.gz", "m\udc80.jsonl.gz", "m1"])
def test_a_name_that_is_no_record_is_in_no_archive(tmp_path: Path, name: str) -> None:
    store = filled(tmp_path)
    store.pack(store.paths(), anything)
    with pytest.raises(OSError):
        contents(tmp_path / name)


STEPS = ("open", "write", "fsync", "replace", "rename", "unlink", "utime", "mkdir")


def killed_at(step: int, work: Callable[[], object]) -> bool:
    """Do it in a process that is killed before its step of this number; False if it had none of that number."""
    child = os.fork()
    if child:
        return os.WIFSIGNALED(os.waitpid(child, 0)[1])
    left = iter(range(step, -1, -1))

    def counted(whole: Callable[..., object]) -> Callable[..., object]:
        def call(*given: object, **named: object) -> object:
            if next(left) == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return whole(*given, **named)

        return call

    try:
        for name in STEPS:
            setattr(os, name, counted(getattr(os, name)))
        work()
    finally:
        os._exit(0)


def pack_all(store: RecordStore) -> object:
    return store.pack(store.paths(), anything)


def all_steps(work: Callable[[RecordStore], object], start: Callable[[int], RecordStore]) -> Iterable[RecordStore]:
    """The store after a kill before each step of the work, each time from the beginning."""
    step = 0
    while True:
        store = start(step)
        if not killed_at(step, lambda store=store: work(store)):
            assert step > 5
            return
        yield store
        step += 1


def test_a_kill_at_any_step_of_packing_loses_no_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_module, "_MOST_RECORDS", 4)
    expected = known(filled(tmp_path / "all"))
    for store in all_steps(pack_all, lambda step: filled(tmp_path / str(step))):
        assert known(store) == expected
        store.tidy()
        assert known(store) == expected
        pack_all(store)
        assert known(store) == expected
        assert all(name.startswith("packed/2023-11-15") for name in files(store.folder))


def test_a_kill_at_any_step_of_setting_aside_leaves_the_record_where_it_counts_or_aside(tmp_path: Path) -> None:
    def start(step: int) -> RecordStore:
        store = filled(tmp_path / str(step))
        pack_all(store)
        return store

    def set_aside(store: RecordStore) -> Path:
        return store.set_aside(store.folder / "m000002-00000002.jsonl.gz", "late")

    expected = known(start(-1))
    _, data = expected.pop("m000002-00000002")
    for store in all_steps(set_aside, start):
        there = known(store)
        aside = [path.read_bytes() for path in store.aside_of("m000002-00000002") if not path.name.startswith(".")]
        assert aside == [data] or there.pop("m000002-00000002")[1] == data
        there.pop("m000002-00000002", None)
        assert there == expected
        store.tidy()
        if "m000002-00000002" in store:
            set_aside(store)
        assert known(store) == expected
        assert [path.read_bytes() for path in store.aside_of("m000002-00000002")] == [data]


class Packing(RuleBasedStateMachine):
    """A store in which records come, are packed, set aside and replaced, beside what it has to have."""

    place: Path
    numbers: Iterator[int]

    @initialize()
    def begin(self) -> None:
        self.store = RecordStore(self.place / str(next(self.numbers)) / "matches")
        self.expected: dict[str, bytes] = {}
        self.aside = 0

    @rule(number=st.integers(0, 12), data=st.binary(max_size=40), day=st.integers(0, 2))
    def arrive(self, number: int, data: bytes, day: int) -> None:
        name = f"m{number:06d}"
        if name not in self.expected:
            self.expected[name] = add(self.store, name, data, NOON_S + day * DAY_S).read_bytes()

    @rule(numbers=st.sets(st.integers(0, 12)), refused=st.sets(st.integers(0, 12)))
    def pack(self, numbers: set[int], refused: set[int]) -> None:
        self.store.make()
        self.store.pack((f"m{number:06d}" for number in numbers), lambda name, _: int(name[1:]) not in refused)

    @rule(number=st.integers(0, 12))
    def set_aside(self, number: int) -> None:
        name = f"m{number:06d}"
        if name in self.expected:
            path = self.store.set_aside(self.store.folder / f"{name}.jsonl.gz", "late")
            assert path.read_bytes() == self.expected.pop(name)

    @rule()
    def tidy(self) -> None:
        self.store.make()
        assert set(self.store.tidy()) == set(self.expected)

    @invariant()
    def has_what_it_has_to_have(self) -> None:
        if hasattr(self, "store"):
            assert {name: data for name, (_, data) in known(self.store).items()} == self.expected


@pytest.mark.slow
def test_whatever_happens_to_a_store_it_has_each_record_once(tmp_path: Path) -> None:
    class Here(Packing):
        place = tmp_path
        numbers = count()

    Here.TestCase.settings = settings(max_examples=60, stateful_step_count=20, deadline=None)
    Here.TestCase().runTest()


def test_an_archive_of_an_older_version_does_not_say_how_many_records_it_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_end = archive_module._stored
    monkeypatch.setattr(archive_module, "_stored", lambda text: make_end(" ".join(text.split()[:5]).ljust(599) + "\n"))
    store = filled(tmp_path)
    before = known(store)
    store.pack(list(before), anything)
    (archive,) = archives_in(tmp_path)
    assert len(gzip.decompress(archive.path.read_bytes()[archive.index_at + archive.index_bytes :]).split()) == 5
    assert archive.number == len(before)
    assert known(store) == before


def test_an_archive_that_appears_is_seen_at_once(tmp_path: Path) -> None:
    """The names of archives are read again when their folder has changed."""
    store = filled(tmp_path, 4)
    ids = list(store.paths())
    store.pack(ids[:2], anything)
    long_ago_ns = 1_700_000_000_000_000_000
    os.utime(tmp_path / "packed", ns=(long_ago_ns, long_ago_ns))
    assert is_packed(tmp_path / f"{ids[0]}.jsonl.gz")
    store.pack(ids[2:], anything)
    assert all(is_packed(tmp_path / f"{match_id}.jsonl.gz") for match_id in ids)
