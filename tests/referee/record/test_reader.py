"""Reading: whole, growing, cut, damaged, too new."""

import gzip
import json
import os
import tracemalloc
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from referee.record import (
    Answer,
    Chance,
    Dropped,
    FaultLine,
    Footer,
    RecordError,
    RecordFollower,
    RecordWriter,
    SeatStats,
    Usage,
    read_record,
    reader,
)
from referee.record.format import MOST_USED
from referee.record.journal import digest_of
from referee.record.reader import read_header

text = st.text(max_size=20)
number = st.integers(-1, 2**53)
used = st.one_of(st.none(), st.builds(Usage, *[st.integers(0, MOST_USED)] * 7))
line_values = st.one_of(
    st.builds(Chance, outcome=st.one_of(st.integers(-(2**53), 2**53), text)),
    st.builds(Answer, seat=number, action=text, wall_us=number, cpu_us=number, lag_us=number, note=text),
    st.builds(FaultLine, seat=number, reason=text, detail=text, withdrawn=st.booleans(), later=st.booleans()),
    st.builds(Dropped, seat=number, what=text, message=text),
)
footers = st.builds(
    Footer,
    status=text,
    reason=text,
    detail=text,
    seed=text,
    ranking=st.tuples(number, number),
    returns=st.tuples(number, number),
    state_hash=text,
    seat_stats=st.tuples(*[st.builds(SeatStats, number, number, number, number, number)] * 2),
    faults=st.tuples(st.none(), st.dictionaries(text, st.one_of(text, number, st.lists(text)), min_size=1)),
    decisions=number,
    wall_us=number,
    trouble=text,
    usage=st.one_of(st.just(()), st.tuples(used, used)),
)


def write(writer: RecordWriter, line: Any) -> None:
    match line:
        case Chance(outcome):
            writer.chance(outcome)
        case Answer():
            writer.answer(line)
        case FaultLine():
            writer.fault(line)
        case Dropped():
            writer.dropped(line)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.lists(line_values, max_size=12), footer=footers)
def test_whatever_is_written_is_read_again(
    tmp_path_factory: pytest.TempPathFactory, make_header: Callable[..., Any], content: list[Any], footer: Footer
) -> None:
    head = make_header(options={"a": [1, {"b": "\u2603"}]}, limits={"x_s": 0.25, "y_bytes": 7})
    writer = RecordWriter(tmp_path_factory.mktemp("r"), head)
    for line in content:
        write(writer, line)
    record = read_record(writer.close(footer))
    assert record.header == head
    assert list(record.lines) == content
    assert record.footer == footer
    assert record.complete


def test_a_live_record_cut_anywhere_is_read_up_to_its_last_whole_line(lines: Any, tmp_path: Path) -> None:
    path = tmp_path / "cut.jsonl"
    whole = lines.write(path).read_bytes()
    record = read_record(path)
    header_end = whole.index(b"\n") + 1
    for size in range(header_end, len(whole), 7):
        path.write_bytes(whole[:size])
        cut = read_record(path)
        assert cut.problems == ()
        assert not cut.complete
        assert cut.lines == record.lines[: whole[:size].count(b"\n") - 1]


@pytest.mark.parametrize("size", [0, 1, 200])
def test_a_record_without_a_whole_header_is_refused(lines: Any, tmp_path: Path, size: int) -> None:
    path = lines.write(tmp_path / "cut.jsonl")
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(RecordError, match="no whole line"):
        read_record(path)


def test_a_cut_closed_record_says_so_and_keeps_its_beginning(closed: Path) -> None:
    data = closed.read_bytes()
    whole = read_record(closed)
    for size in (len(data) - 1, len(data) * 9 // 10):
        closed.write_bytes(data[:size])
        record = read_record(closed)
        assert [problem.line for problem in record.problems] == [0]
        assert "cut" in record.problems[0].what
        assert not record.complete
        assert record.lines == whole.lines[: len(record.lines)]


def test_a_damaged_closed_record_says_so(closed: Path) -> None:
    data = bytearray(closed.read_bytes())
    data[-6] ^= 1  # its checksum
    closed.write_bytes(data)
    record = read_record(closed)
    assert "damaged" in record.problems[0].what
    assert not record.complete


def test_bytes_after_the_end_of_a_closed_record_are_a_problem(closed: Path) -> None:
    closed.write_bytes(closed.read_bytes() + b"more")
    assert "follow the end" in read_record(closed).problems[0].what


def test_a_closed_record_without_a_footer_is_a_problem(lines: Any, tmp_path: Path) -> None:
    path = tmp_path / "m.jsonl.gz"
    path.write_bytes(gzip.compress("".join(line + "\n" for line in lines.lines[:-1]).encode()))
    assert "no footer" in read_record(path).problems[0].what


def test_a_file_that_is_no_record_is_refused(tmp_path: Path) -> None:
    for name, data in {"a.jsonl": b"hello\n", "b.jsonl.gz": b"hello", "c.jsonl": b"\xff\xfe\n"}.items():
        (tmp_path / name).write_bytes(data)
        with pytest.raises(RecordError, match=rf"{name} is not a match record"):
            read_record(tmp_path / name)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match=r"cannot read the record .*none\.jsonl: No such file"):
        read_record(tmp_path / "none.jsonl")


def test_a_newer_format_is_explained(lines: Any, tmp_path: Path) -> None:
    index = lines.find('"header"')
    lines.replace(index, '"format":1', '"format":2')
    path = lines.write(tmp_path / "new.jsonl", rechain=True)
    with pytest.raises(RecordError, match="format 2, this version of Crosstown reads format 1") as caught:
        read_record(path)
    assert caught.value.next_step == "use a newer Crosstown"


def test_every_changed_line_is_named(lines: Any, tmp_path: Path) -> None:
    original = list(lines.lines)
    for index in range(1, len(original) - 1):
        changed = list(original)
        kind, *rest, chain = json.loads(changed[index])
        rest[-1] = rest[-1] + 1 if isinstance(rest[-1], int) else rest[-1] + "x"
        changed[index] = json.dumps([kind, *rest, chain], separators=(",", ":"))
        lines.lines = changed
        record = read_record(lines.write(tmp_path / "changed.jsonl"))
        assert [problem.line for problem in record.problems] == [index + 1], changed[index]


@pytest.mark.parametrize("index", [1, 5, -2])
def test_a_lost_line_is_noticed_where_it_stood(lines: Any, tmp_path: Path, index: int) -> None:
    place = index % len(lines.lines)
    del lines.lines[place]
    record = read_record(lines.write(tmp_path / "lost.jsonl"))
    assert record.problems[0].line == place + 1


def test_an_inserted_line_is_noticed(lines: Any, tmp_path: Path) -> None:
    lines.lines.insert(4, lines.lines[3])
    record = read_record(lines.write(tmp_path / "more.jsonl"))
    assert record.problems[0].line == 5


@pytest.mark.parametrize(
    "line",
    [
        '["z",1,"00000000"]',
        '["a","0","pass()",1,1,0,"00000000"]',
        '["c",true,"00000000"]',
        '["c",1.5,"00000000"]',
        '["a",0,"00000000"]',
        '{"a":1,"b":"00000000"]',
        "[" * 100_000 + ',"00000000"]',
        "hello",
        "",
    ],
)
def test_a_line_that_cannot_be_understood_ends_the_reading(lines: Any, tmp_path: Path, line: str) -> None:
    lines.lines[4] = line
    record = read_record(lines.write(tmp_path / "bad.jsonl"))
    assert record.problems[-1].line == 5
    assert "nothing from here on was read" in record.problems[-1].what
    assert len(record.lines) == 3
    assert record.footer is None


def bomb(path: Path, header: str, unit: bytes, mib: int) -> Path:
    """A small file that unpacks to so many MiB of `unit` behind the header."""
    packer = zlib.compressobj(wbits=31)
    parts = [packer.compress(f"{header}\n".encode())]
    parts += [packer.compress(unit * ((1 << 20) // len(unit))) for _ in range(mib)]
    path.write_bytes(b"".join([*parts, packer.flush()]))
    return path


@pytest.mark.parametrize(
    ("unit", "why"),
    [
        (b"\n", "line 2: the line does not end in a chained hash; nothing from here on was read"),
        (b"[],0,", f"line 2: a line of more than {16 << 20} bytes; nothing from here on was read"),
        (b'["c",1,"00000000"]\n', "line 102: 100 lines before this one are wrong; nothing from here on was read"),
    ],
)
def test_a_small_file_that_unpacks_to_much_takes_little_memory(
    lines: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unit: bytes, why: str
) -> None:
    """At 16 MiB for a line, where 64 are allowed: else lists in one line took twenty times the size of the file."""
    monkeypatch.setattr(reader, "MAX_RECORD_LINE_BYTES", 16 << 20)
    path = bomb(tmp_path / "m1.jsonl.gz", lines.lines[0], unit, 48)
    tracemalloc.start()
    record = read_record(path)
    peak_mib = tracemalloc.get_traced_memory()[1] >> 20
    tracemalloc.stop()
    last = record.problems[-1]
    assert f"line {last.line}: {last.what}" == why
    assert peak_mib < 120


def test_a_record_has_so_many_lines_and_no_more(lines: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = lines.write(tmp_path / "m1.jsonl")
    number = len(lines.lines)
    monkeypatch.setattr(reader, "MAX_LINES", number)
    monkeypatch.setattr(reader, "MAX_RECORD_LINE_BYTES", max(map(len, lines.lines)))
    assert read_record(path).problems == ()
    monkeypatch.setattr(reader, "MAX_LINES", number - 1)
    (problem,) = read_record(path).problems
    assert (problem.line, f"more than {number - 1} lines" in problem.what) == (number, True)


def test_a_damaged_file_that_unpacks_to_much_is_read_as_far_as_a_whole_one(
    lines: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader, "MAX_RECORD_BYTES", 8 << 20)
    path = bomb(tmp_path / "m1.jsonl.gz", lines.lines[0], b"x", 32)
    assert "unpacks to more than" in read_record(path).problems[0].what
    data = bytearray(path.read_bytes())
    data[len(data) // 2 :] = b"\xff" * 100
    path.write_bytes(data)
    content, problem = reader.unpack(bytes(data))
    assert len(content) < 16 << 20
    assert problem


def test_a_large_record_is_read_whole_and_has_the_digest_of_all_its_lines(make_header: Any, tmp_path: Path) -> None:
    """It is unpacked in several parts."""
    writer = RecordWriter(tmp_path, make_header())
    for number in range(6):
        writer.answer(Answer(number % 2, "pass", number, note=chr(ord("a") + number) * (1 << 20)))
    path = writer.close(Footer("void", "platform_fault", "", "00"))
    record = read_record(path)
    assert (len(record.lines), record.complete) == (6, True)
    assert record.digest == digest_of(gzip.decompress(path.read_bytes()))


def test_a_growing_record_is_followed_to_its_end(start_match: Callable[..., Any]) -> None:
    match = start_match()
    follower = RecordFollower(match.writer.path)
    seen = list(follower.poll())
    for _ in range(3):
        match.play(decisions=3)
        new = follower.poll()
        assert new
        seen += new
        assert follower.poll() == ()
    match.play()
    path = match.writer.close(match.footer())
    seen += follower.poll()  # the live file is gone by now
    assert tuple(seen) == read_record(path).lines
    assert follower.record.footer is not None


def test_a_line_that_is_half_written_is_followed_once_it_is_whole(lines: Any, tmp_path: Path) -> None:
    path = tmp_path / "growing.jsonl"
    whole = ("\n".join(lines.lines) + "\n").encode()
    middle = whole.index(b"\n") + 10
    path.write_bytes(whole[:middle])
    follower = RecordFollower(path)
    assert follower.poll() == ()
    path.write_bytes(whole)
    assert len(follower.poll()) == len(lines.lines) - 2
    assert follower.record.complete


def test_a_record_that_is_not_there_yet_is_waited_for(tmp_path: Path) -> None:
    follower = RecordFollower(tmp_path / "later.jsonl")
    assert follower.poll() == ()
    with pytest.raises(RecordError, match="no whole line yet"):
        _ = follower.record


@pytest.mark.parametrize("field", ["ranking", "returns", "seat_stats", "faults", "usage"])
def test_a_footer_that_forgets_a_seat_is_a_problem_of_its_line(closed: Path, tmp_path: Path, field: str) -> None:
    record = read_record(closed)
    assert record.footer is not None
    full = {
        "ranking": (1, 2),
        "returns": (1, 0),
        "seat_stats": (SeatStats(),) * 2,
        "faults": ({"reason": "x"}, None),
        "usage": (Usage(), None),
    }
    short = replace(record.footer, **{field: full[field][:1]})
    found = read_record(RecordWriter(tmp_path / "short", record.header).close(short))
    assert [(problem.line, problem.what) for problem in found.problems] == [
        (2, f"the footer has {field} of 1 seats, not of 2")
    ]
    assert not found.complete


def test_a_pipe_that_is_named_like_a_record_is_refused_at_once(tmp_path: Path) -> None:
    path = tmp_path / "m000000-00000000.jsonl.gz"
    os.mkfifo(path)
    for read in (read_record, read_header, lambda path: RecordFollower(path).poll()):
        with pytest.raises(RecordError, match="not an ordinary file"):
            read(path)
