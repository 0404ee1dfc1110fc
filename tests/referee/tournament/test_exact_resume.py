"""Killed at any byte, any format goes on to the same matches, results and table."""

import gzip
import random
import shutil

import pytest

from referee.record import read_record
from referee.run.journal import read_journal

FORMATS = {
    "round-robin": {"blocks": 1},
    "gauntlet": {"blocks": 2},
    "swiss": {"blocks": 1, "more": "[swiss]\nrounds = 3\n"},
    "knockout": {"blocks": 1, "more": "[knockout]\nbest_of = 3\n"},
    "league": {"blocks": 9, "more": "[league]\nwindow = 2\nclose = true\n"},
    "stages": {
        "blocks": 1,
        "more": '[[stages]]\nname = "groups"\ngroups = 2\nadvance = 1\n[[stages]]\nformat = "knockout"\n',
    },
}
CASES = [(name, bots) for name in FORMATS for bots in ((4, 7) if name == "stages" else (2, 3, 7))]


def counted(folder):
    """What counts: per match id its place, seats, seed and ranking, from the records themselves."""
    found = {}
    for path in folder.matches.glob("*.jsonl*"):
        record = read_record(path)
        assert record.complete
        seats = tuple(seat.entry_id for seat in record.header.seats)
        assert record.header.match_id not in found
        found[record.header.match_id] = record.header.place, seats, record.footer.seed, record.footer.ranking
    return found


@pytest.fixture
def make(make_tournament):
    return lambda name, bots: make_tournament(bots, format=name, **FORMATS[name])


class Killed:
    """A calm run, from which states are made as a kill would leave them."""

    def __init__(self, run_folder, calm):
        self.folder = run_folder
        self.results = counted(run_folder)
        self.placings = calm.summary.placings
        self.files = [(path.name, path.read_bytes()) for path in sorted(run_folder.matches.glob("*.gz"))]
        self.journal = run_folder.journal.read_bytes()
        self.created = self.journal[: self.journal.index(b"\n") + 1]

    def leave(self, records, live_bytes=None, journal_bytes=None):
        """So many records, the next one live and cut to `live_bytes`, the journal cut to `journal_bytes`."""
        shutil.rmtree(self.folder.path)
        self.folder.make()
        self.folder.journal.write_bytes(self.journal[:journal_bytes] if journal_bytes is not None else self.created)
        for name, data in self.files[:records]:
            (self.folder.matches / name).write_bytes(data)
        if live_bytes is not None and records < len(self.files):
            name, data = self.files[records]
            live = gzip.decompress(data)[:live_bytes]
            (self.folder.matches / name.removesuffix(".gz")).write_bytes(live)

    def check(self, run):
        assert run.summary.complete
        assert counted(self.folder) == self.results
        assert run.summary.placings == self.placings
        assert not list(self.folder.matches.glob("*.jsonl"))
        assert read_journal(self.folder.journal).events[-1].kind == "finished"


@pytest.mark.slow
@pytest.mark.parametrize(("name", "bots"), CASES)
def test_any_format_killed_anywhere_is_taken_up_exactly_res2_res3_res12(make, play, run_folder, name, bots):
    tournament = make(name, bots)
    killed = Killed(run_folder, play(tournament))
    chance = random.Random(f"{name} {bots}")
    for _ in range(4):
        records = chance.randrange(len(killed.files))
        size = len(gzip.decompress(killed.files[records][1]))
        killed.leave(records, live_bytes=chance.choice([0, 1, chance.randrange(size), size - 1, size]))
        run = play(make(name, bots), slots=chance.choice([1, 2, 5]), order=lambda spec: int(spec.seed, 16) % 5)
        killed.check(run)
        started = run.executor.started if run.executor else []
        assert sorted(started) == sorted(set(started))


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.long
def test_killed_at_every_byte_of_every_record(make, play, run_folder, name):
    tournament = make(name, 4 if name == "stages" else 3)
    killed = Killed(run_folder, play(tournament))
    for records in range(len(killed.files)):
        size = len(gzip.decompress(killed.files[records][1]))
        for cut in range(0, size + 1, 1 if records in (0, len(killed.files) - 1) else 97):
            killed.leave(records, live_bytes=cut)
            killed.check(play(tournament, slots=2))


@pytest.mark.slow
def test_killed_at_every_byte_of_the_journal(make, play, run_folder):
    tournament = make("swiss", 3)
    killed = Killed(run_folder, play(tournament))
    for cut in range(len(killed.created), len(killed.journal)):
        killed.leave(len(killed.files), journal_bytes=cut)
        run = play(tournament)
        killed.check(run)
        assert run.executor is None
    for cut in range(0, len(killed.created), 151):
        killed.leave(0, journal_bytes=cut)
        killed.check(play(tournament))


def test_a_run_killed_between_its_last_record_and_finished_ends_finished(make, play, run_folder):
    tournament = make("round-robin", 3)
    killed = Killed(run_folder, play(tournament))
    killed.leave(len(killed.files))
    killed.check(play(tournament))
    before = run_folder.journal.read_bytes()
    play(tournament)
    assert run_folder.journal.read_bytes() == before


@pytest.mark.slow
@pytest.mark.parametrize("name", FORMATS)
def test_a_record_lost_in_the_middle_is_played_again_and_nothing_else(make, play, run_folder, unfinish, name):
    tournament = make(name, 7)
    killed = Killed(run_folder, play(tournament))
    unfinish()
    lost = len(killed.files) // 3
    (run_folder.matches / killed.files[lost][0]).unlink()
    run = play(tournament, slots=3)
    killed.check(run)
    assert run.executor.started == [lost]


@pytest.mark.slow
@pytest.mark.parametrize("name", FORMATS)
def test_the_number_of_tables_and_who_is_slow_change_nothing(make, play, run_folder, name):
    tournament = make(name, 7)
    calm = Killed(run_folder, play(tournament))
    for slots, order in ((5, lambda spec: int(spec.seed, 16) % 17), (3, lambda spec: 300 if spec.place == 0 else 1)):
        shutil.rmtree(run_folder.path)
        calm.check(play(tournament, slots=slots, order=order))


def test_damaged_records_are_set_aside_and_told(make, play, run_folder, unfinish):
    tournament = make("round-robin", 2)
    killed = Killed(run_folder, play(tournament))
    unfinish()
    path = run_folder.matches / killed.files[0][0]
    path.write_bytes(path.read_bytes()[:-5])
    run = play(tournament)
    killed.check(run)
    assert any("1 record that does not count was set aside" in note and path.name[:7] in note for note in run.log.notes)


def test_idle_tables_take_other_work_while_a_round_is_open_sch21(make, play):
    run = play(make("swiss", 7), slots=3, order=lambda spec: 50 if spec.place == 0 else 1)
    assert run.executor.most_at_once == 3
    # Round one of three pairs is six matches; all but the slow one were played before the second began.
    assert set(run.executor.started[:6]) == set(range(6))
