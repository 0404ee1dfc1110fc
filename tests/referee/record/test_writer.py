"""Writing: what was flushed stays, what is closed is durable and the same bytes every time."""

import errno
import gzip
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from referee.record import Answer, RecordError, RecordExistsError, RecordWriter, SeatHeader, read_record

Start = Callable[..., Any]


def test_a_closed_record_replaces_the_live_one(start_match: Start, tmp_path: Path) -> None:
    match = start_match()
    match.play()
    path = match.writer.close(match.footer())
    assert path == tmp_path / "m-1.jsonl.gz"
    assert [entry.name for entry in tmp_path.iterdir()] == ["m-1.jsonl.gz"]


def test_equal_matches_give_equal_bytes(start_match: Start, tmp_path: Path) -> None:
    paths = []
    for name in ("one", "two"):
        match = start_match(folder=tmp_path / name)
        match.play()
        paths.append(match.writer.close(match.footer()))
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_what_was_flushed_can_be_read_while_the_match_goes_on(start_match: Start) -> None:
    match = start_match()
    count = match.play(decisions=6)
    record = read_record(match.writer.path)
    assert sum(isinstance(line, Answer) for line in record.lines) == count
    assert record.footer is None
    assert not record.complete
    assert record.problems == ()


def test_a_seat_is_read_as_it_was_written(start_match: Start) -> None:
    seats = (
        SeatHeader("00ff", "one", "1", {"move_s": 2.0}, "strict, network", "1a2b by go version go1.26"),
        SeatHeader("11ff", "two", "1"),
    )
    match = start_match(seats=seats)
    match.play()
    assert read_record(match.writer.close(match.footer())).header.seats == seats


def test_a_second_record_of_the_same_match_is_refused(start_match: Start, closed: Path) -> None:
    with pytest.raises(RecordExistsError, match="m-1 has a record"):
        start_match()


def test_a_second_writer_of_a_live_match_is_refused(start_match: Start) -> None:
    start_match()
    with pytest.raises(RecordExistsError):
        start_match()


def test_a_folder_that_cannot_be_made_is_named(start_match: Start, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RecordError, match=r"cannot create the record .*file/inner"):
        start_match(folder=tmp_path / "file" / "inner")


def full_disk(monkeypatch: pytest.MonkeyPatch, room: int) -> None:
    """From now on `room` more bytes fit onto the disk."""
    left = [room]
    write = os.write

    def limited(fd: int, data: Any) -> int:
        if left[0] <= 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        count = write(fd, bytes(data)[: left[0]])
        left[0] -= count
        return count

    monkeypatch.setattr(os, "write", limited)


@pytest.mark.parametrize("room", [0, 1, 7, 40, 100])
def test_a_full_disk_is_an_error_and_costs_no_line_that_was_whole(
    start_match: Start, monkeypatch: pytest.MonkeyPatch, room: int
) -> None:
    match = start_match()
    match.play(decisions=4)
    before = read_record(match.writer.path)
    full_disk(monkeypatch, room)
    with pytest.raises(RecordError, match="No space left on device"):
        match.play()
    after = read_record(match.writer.path)
    assert after.lines == before.lines
    assert after.problems == ()
    assert match.writer.path.read_bytes().endswith(b"\n")


def test_after_a_failed_write_the_writer_says_so_again(start_match: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    match = start_match()
    full_disk(monkeypatch, 0)
    with pytest.raises(RecordError):
        match.play()
    with pytest.raises(RecordError, match="not open"):
        match.writer.chance(1)


def test_a_record_that_cannot_be_compressed_stays_plain_and_complete(
    start_match: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    match = start_match()
    match.play()

    def refuse(*_: object, **__: object) -> bytes:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(gzip, "compress", refuse)
    path = match.writer.close(match.footer())
    assert path.suffix == ".jsonl"
    assert read_record(path).complete
    assert [entry.name for entry in path.parent.iterdir()] == ["m-1.jsonl"]


def test_a_record_that_no_file_descriptor_is_left_for_is_a_record_error(
    start_match: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    match = start_match()
    match.play()
    opened = os.open

    def out_of_files(path: Any, *more: Any) -> int:
        if path == match.writer.path.parent or str(path).endswith(".tmp"):
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        return opened(path, *more)

    monkeypatch.setattr(os, "open", out_of_files)
    with pytest.raises(RecordError, match="durable: Too many open files"):
        match.writer.close(match.footer())
    assert read_record(match.writer.path).complete


def test_control_characters_of_bots_never_reach_the_file_raw(make_header: Callable[..., Any], tmp_path: Path) -> None:
    writer = RecordWriter(tmp_path, make_header())
    note = "\x1b[2J\x00\u202e\ud800\n"
    writer.answer(Answer(0, "pass()", 1, 1, 0, note))
    writer.flush()
    raw = writer.path.read_bytes()
    assert all(32 <= byte < 127 or byte == 10 for byte in raw)
    assert raw.count(b"\n") == 2
    answer = read_record(writer.path).lines[0]
    assert isinstance(answer, Answer)
    assert answer.note == note
