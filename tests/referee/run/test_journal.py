"""Control events are durable, chained, and survive a cut at any byte."""

import errno
import json
import os

import pytest

from referee.errors import JournalError, PlatformError, UsageError
from referee.record import journal as lines
from referee.record.journal import JournalLine
from referee.run import journal as journals
from referee.run.head import head_file, read_head
from referee.run.journal import LOST, Journal, JournalText, read_journal, read_on
from referee.run.run import Run
from tests.living import open_files


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "tournament.jsonl"
    with Journal(path, read_journal(path)) as journal:
        journal.append("created", format=1, hash="ab", configuration={"name": "Bü\nro"})
        journal.append("void", match="m1", detail="\x1b[31m")
        journal.append("finished", rated=3)
    return path


def test_events_come_back_in_order(path):
    events = read_journal(path).events
    assert [event.kind for event in events] == ["created", "void", "finished"]
    assert events[0].fields["configuration"] == {"name": "Bü\nro"}
    assert all(event.at.endswith("+00:00") for event in events)


def test_a_match_that_a_machine_of_a_cluster_lost_says_nothing_of_what_bots_have_of_their_machine(tmp_path):
    """A run on a cluster that had lost a match ended with an error of ours whenever it was to go on."""
    path = tmp_path / "tournament.jsonl"
    with Journal(path, read_journal(path)) as journal:
        journal.append("created", format=1, hash="ab", configuration={}, machine={"ab": {"profile": "strict"}})
        journal.append(LOST, match="m1", place=0, machine="east", detail="its disk is full")
    assert read_journal(path).machine == {"ab": {"profile": "strict"}}


def test_each_line_is_json_by_itself_and_plain_ascii(path):
    for line in path.read_bytes().splitlines():
        kind, _at, fields, chain = json.loads(line)
        assert isinstance(kind, str)
        assert isinstance(fields, dict)
        assert len(chain) == 8
        assert not any(byte < 32 or byte > 126 for byte in line)


def test_a_cut_at_any_byte_loses_at_most_the_last_event_and_the_next_one_fits(path):
    whole = path.read_bytes()
    lines = whole.splitlines(keepends=True)
    for cut in range(len(whole) + 1):
        path.write_bytes(whole[:cut])
        head_file(path).unlink(missing_ok=True)  # as a kill leaves it: never of more lines than there are
        text = read_journal(path)
        complete = sum(cut >= len(b"".join(lines[: number + 1])) for number in range(3))
        assert len(text.events) == complete, cut
        if complete == 0:
            continue
        with Journal(path, text) as journal:
            journal.append("resumed", rated=1)
        assert [event.kind for event in read_journal(path).events][complete:] == ["resumed"]


@pytest.mark.parametrize("line", [1, 2, 3])
def test_a_changed_line_is_named(path, line):
    lines = path.read_bytes().splitlines(keepends=True)
    at = lines[line - 1].index(b"{") + 2
    lines[line - 1] = lines[line - 1][:at] + b"#" + lines[line - 1][at + 1 :]
    path.write_bytes(b"".join(lines))
    with pytest.raises(JournalError, match=rf"tournament.jsonl:{line}: the journal is damaged") as caught:
        read_journal(path)
    assert "--new" in caught.value.next_step


def test_a_line_taken_out_is_noticed(path):
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + lines[2])
    with pytest.raises(JournalError, match=":2:"):
        read_journal(path)


def test_a_full_disk_is_told_and_leaves_the_file_as_it_was(path, monkeypatch):
    before = path.read_bytes()
    write = os.pwrite

    def half(fd, data, offset):
        if offset > len(before):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(fd, data[:20], offset)

    with Journal(path, read_journal(path)) as journal:
        monkeypatch.setattr("referee.run.journal.os.pwrite", half)
        with pytest.raises(PlatformError, match="No space left"):
            journal.append("finished", rated=4)
        monkeypatch.undo()
        assert path.read_bytes() == before
        journal.append("finished", rated=5)
    assert read_journal(path).events[-1].fields == {"rated": 5}


def test_a_journal_of_another_format_is_refused(tmp_path):
    path = tmp_path / "tournament.jsonl"
    with Journal(path, read_journal(path)) as journal:
        journal.append("created", format=3)
    with pytest.raises(JournalError, match="expected a 'created' line of format 1 to 2"):
        read_journal(path)


def test_a_disk_that_takes_nothing_at_all_is_told_like_a_full_one(tmp_path, monkeypatch):
    def broken(*_):
        raise OSError(errno.EIO, "Input/output error")

    with Journal(tmp_path / "tournament.jsonl", JournalText()) as journal:
        monkeypatch.setattr(os, "fsync", broken)
        monkeypatch.setattr(os, "ftruncate", broken)
        with pytest.raises(PlatformError, match=r"cannot write .*Input/output error"):
            journal.append("created", format=1)
        monkeypatch.undo()
        with pytest.raises(PlatformError, match="cannot write"):  # nothing follows what could not be cut off
            journal.append("stopped", why="")


def test_a_journal_that_cannot_be_opened_leaves_no_file_open(tmp_path, monkeypatch):
    def broken(*_):
        raise OSError(errno.EIO, "Input/output error")

    before = open_files()
    monkeypatch.setattr(os, "ftruncate", broken)
    with pytest.raises(PlatformError):
        Journal(tmp_path / "tournament.jsonl", JournalText())
    assert open_files() <= before


@pytest.mark.parametrize("replaced", [False, True])
def test_a_journal_that_was_taken_away_is_missed_at_the_next_event(tmp_path, replaced):
    path = tmp_path / "tournament.jsonl"
    with Journal(path, JournalText()) as journal:
        journal.append("created", format=1)
        path.unlink()
        if replaced:
            path.touch()
        with pytest.raises(PlatformError, match="removed or replaced"):
            journal.append("finished", rated=1, missing=0)


def test_a_head_in_a_second_place_is_a_file_and_goes_through_links(path, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "link.head").symlink_to("elsewhere/real.head")
    with Journal(path, read_journal(path)) as journal:
        for name, why in (("pipe", "not an ordinary file"), ("elsewhere", "a folder")):
            with pytest.raises(UsageError, match=f"it is {why}"):
                journal.write_head_to(tmp_path / name)
        journal.write_head_to(tmp_path / "link.head")
        lines = journal.lines
        journal.write_head_to(tmp_path / "link.head")
        assert journal.lines == lines, "it is known"
        journal.write_head()
    assert (tmp_path / "link.head").is_symlink()
    head = read_head(tmp_path / "elsewhere" / "real.head")
    assert head is not None
    assert head.lines == lines


class Watched(tuple):
    """Events that count how often somebody goes through all of them."""

    def __init__(self, _events):
        self.looks = 0

    def __iter__(self):
        self.looks += 1
        return super().__iter__()

    def __reversed__(self):
        self.looks += 1
        return iter(self[::-1])


CONFIGURATION = {"name": "cup", "format": "ladder", "settings": {}, "blocks": 1, "bots": []}


def many_matches(*ends):
    kinds = ["created", "resumed", *["block", "counted"] * 50, *ends]
    bot = {"entry_id": "e1", "name": "ann", "version": "1", "options": {}, "folder": ""}
    fields = {"configuration": CONFIGURATION, "hash": "ab", "rated": 50, "missing": 0, "place": 7, **bot}
    return Watched(JournalLine(kind, "", fields, "", place) for place, kind in enumerate(kinds))


@pytest.mark.parametrize(
    ("ends", "state"),
    [
        ((), "cut off"),
        (("stopped",), "stopped"),
        (("finished",), "finished"),
        (("finished", "counted", "block"), "finished"),
        (("finished", "added"), "stopped"),
    ],
)
def test_the_state_of_a_run_is_found_without_going_through_its_matches(tmp_path, ends, state):
    run = Run(tmp_path, JournalText(events := many_matches(*ends)))
    assert run.state == state  # the journal is gone through the first time
    before = events.looks
    for _ in range(3):
        assert (run.state, run.held, run.finished) == (state, False, state == "finished")
        assert run.failed_starts == {}
        assert run.machine_changes == []
        assert dict(run.rating_anchors) == {}
    assert events.looks == before


def count_lines(monkeypatch):
    """The lines of journals that are read from here on."""
    seen = []
    monkeypatch.setattr(lines, "open_line", lambda text, read=lines.open_line: seen.append(text) or read(text))
    return seen


@pytest.fixture
def long(path, monkeypatch):
    monkeypatch.setattr(journals, "_LONG_BYTES", 0)
    return path


def append(path, *kinds, **fields):
    with Journal(path, read_journal(path)) as journal:
        for kind in kinds:
            journal.append(kind, **fields)


BLOCK_FIELDS = {"number": 0, "variant": 0, "group": ["a", "b"], "seed_group": 0}


def test_of_a_long_journal_that_has_grown_only_the_new_lines_are_read(long, monkeypatch):
    before = read_journal(long)
    assert before.blocks == ()
    append(long, "block", **BLOCK_FIELDS)
    append(long, "counted", matches={})
    seen = count_lines(monkeypatch)
    after = read_on(long, before)
    assert len(seen) == 1 + 2  # the last line that is known, and the new ones
    assert after == read_journal(long)
    assert after.steps is before.steps
    assert [block.group for block in after.blocks] == [("a", "b")]
    append(long, "annulled", place=0, match_id="m1")
    again = read_on(long, after)
    fresh = read_journal(long)
    assert again == fresh
    assert (again.steps, again.blocks) == (fresh.steps, fresh.blocks)
    assert [control.match_id for control in again.controls] == ["m1"]


def test_a_long_journal_that_has_not_grown_is_the_one_that_was_read(long):
    before = read_journal(long)
    assert read_on(long, before) is before


def test_a_journal_that_is_another_one_or_shorter_is_read_from_its_beginning(long):
    before = read_journal(long)
    whole = long.read_bytes().splitlines(keepends=True)
    long.write_bytes(b"".join(whole[:2]))
    head_file(long).unlink()
    assert read_on(long, before).events == before.events[:2]
    append(long, "stopped", why="x" * 200)
    assert read_on(long, before) == read_journal(long)


def test_damage_in_new_lines_is_told_with_the_number_of_the_line(long):
    before = read_journal(long)
    append(long, "resumed", rated=1)
    long.write_bytes(long.read_bytes()[:-20] + b"#" + long.read_bytes()[-19:])
    with pytest.raises(JournalError, match=r"tournament.jsonl:4: the journal is damaged"):
        read_on(long, before)


def test_a_new_line_that_is_cut_is_not_there_yet(long):
    before = read_journal(long)
    append(long, "resumed", rated=1)
    whole = long.read_bytes()
    long.write_bytes(whole[:-5])
    assert read_on(long, before) is before
    long.write_bytes(whole)
    assert [line.kind for line in read_on(long, before).events[-2:]] == ["finished", "resumed"]
