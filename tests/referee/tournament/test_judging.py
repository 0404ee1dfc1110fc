"""What is decided in schedule order: the breaker and stopping rules. In-flight matches change neither."""

import shutil

import pytest

from leaderboard.index import load_index
from leaderboard.indexer import Indexer
from leaderboard.run_table import run_table
from leaderboard.store import read_rows
from leaderboard.web.facts import facts_of
from referee.record import read_record
from referee.record.journal import departures, read_controls
from referee.run.head import head_file
from referee.run.journal import read_journal
from referee.run.run import Run
from referee.schedule.formats.api import MatchScore
from referee.schedule.schedule import known_matches
from referee.tournament.breaker import LEAST_PLAYED, Breaker
from referee.tournament.identity import config_of
from referee.tournament.progress import Reached
from referee.tournament.sections import BreakerConfig


def counted(folder):
    return {
        record.header.match_id: record.footer.ranking for record in map(read_record, folder.matches.glob("*.jsonl*"))
    }


def score(place, fault="", entry="ab"):
    return MatchScore(place, f"m{place}", "toy", (0, 1), (entry, "cd"), (0, 1), (1, 2), (fault, ""))


def tripped_at(faults, **config):
    """At which of these matches of one entry the breaker trips; `faults` has a letter each: x a fault."""
    breaker = Breaker(BreakerConfig(**config))
    for place, letter in enumerate(faults):
        if breaker.note(score(place, "crashed" if letter == "x" else "")):
            return place
    return None


@pytest.mark.parametrize(
    ("faults", "place"),
    [
        ("xxx", 2),
        ("xx.xx.", None),
        (".xx.xxx", 6),
        # more than a tenth of the last fifty, once twenty are played
        ("x.." * 6 + "xx", 19),
        (".........x" * 10, None),
        (".........x" * 5 + "........x", 58),
        ("." * (LEAST_PLAYED - 4) + "xx.x", 19),
        ("." * 60, None),
    ],
)
def test_when_an_entry_is_set_aside(faults, place):
    assert tripped_at(faults) == place


def test_the_rule_can_be_changed_or_switched_off():
    assert tripped_at("x", in_a_row=1) == 0
    assert tripped_at("xxxxx", enabled=False) is None


def test_giving_up_is_no_fault():
    breaker = Breaker(BreakerConfig())
    assert not any(breaker.note(score(place, "resigned")) for place in range(30))


def test_a_fault_that_a_strike_paid_for_is_none(make_tournament, play, run_folder):
    """What the tournament file allows spoils no match."""
    tournament = make_tournament(2, blocks=4, more="[breaker]\nin_a_row = 1\n")
    play(tournament, script={place: ["struck"] for place in range(config_of(tournament).extent().most)})
    assert not read_controls(run_folder.journal)
    assert len(counted(run_folder)) == config_of(tournament).extent().most
    records = map(read_record, run_folder.matches.glob("*.jsonl*"))
    assert all(record.footer.faults[0]["strikes"] == 1 for record in records)


def test_an_entry_that_faults_is_set_aside_and_what_it_has_played_stays(make_tournament, play, run_folder):
    tournament = make_tournament(4, blocks=4)
    bad = tournament.entries[1].id
    run = play(tournament, crashes=bad)
    (control,) = read_controls(run_folder.journal)
    assert (control.kind, control.entry_id, control.choice, control.by) == ("breaker", bad, "keep", "rule")
    assert control.reason == "3 faults in a row, the last: crashed"
    with_bad = [spec for spec in known_matches(config_of(tournament)) if bad in {seat.entry_id for seat in spec.seats}]
    assert control.place == with_bad[2].place + 1
    others = {spec.match_id for spec in known_matches(config_of(tournament))} - {spec.match_id for spec in with_bad}
    assert set(counted(run_folder)) == others | {spec.match_id for spec in with_bad[:3]}
    assert run.summary.cancelled == len(with_bad) - 3
    assert Run(run_folder).cancelled == (len(with_bad) - 3, (bad,))
    planned = len(others) + len(with_bad)
    assert facts_of(run_folder.path).cancelled.startswith(
        f"{planned} matches were planned; {len(with_bad) - 3} of them were cancelled, because bot1 was disqualified"
    )
    assert run.summary.set_aside == ("bot1",)
    assert run.summary.complete
    assert run.log.steps[-1] == Reached(run.summary.played, run.summary.played, 0)
    assert any("'bot1' is disqualified from here on: 3 faults in a row" in note for note in run.log.notes)


def test_what_an_organiser_chose_for_a_disqualified_bot_holds_when_the_breaker_decides_again(
    make_tournament, play, run_folder
):
    """An annulled match before its place lets what the breaker decided fall, until the run goes on."""
    tournament = make_tournament(4, blocks=4)
    bad = tournament.entries[1].id
    play(tournament, crashes=bad)
    Run(run_folder).leave("withdrawn", "bot1", "annul", by="ann")
    other = next(spec for spec in known_matches(config_of(tournament)) if bad not in {s.entry_id for s in spec.seats})
    Run(run_folder).annul(other.match_id, by="ann")
    play(tournament, crashes=bad)
    out = departures(read_controls(run_folder.journal))[bad]
    assert (out.kind, out.by, out.choice) == ("breaker", "rule", "annul")


@pytest.mark.slow
@pytest.mark.parametrize("style", ["round-robin", "league", "swiss", "knockout"])
def test_the_breaker_trips_at_the_same_place_with_any_number_of_tables(make_tournament, play, run_folder, style):
    more = "[knockout]\nbest_of = 7\n" if style == "knockout" else "[swiss]\nrounds = 4\n" if style == "swiss" else ""
    tournament = make_tournament(5, blocks=20 if style == "league" else 2, format=style, more=more)
    bad = tournament.entries[2].id
    runs = []
    for slots, order in ((1, None), (6, lambda spec: 40 - spec.place if spec.place < 40 else 1), (4, lambda spec: 3)):
        run = play(tournament, slots=slots, order=order, crashes=bad)
        runs.append((counted(run_folder), [(c.kind, c.place) for c in read_controls(run_folder.journal)]))
        assert play(tournament).summary.cancelled == run.summary.cancelled
        shutil.rmtree(run_folder.path)
    assert runs[0] == runs[1] == runs[2]
    assert runs[0][1]


def test_on_resume_the_breaker_trips_again_at_the_same_place_even_if_it_was_not_written_down(
    make_tournament, play, run_folder
):
    tournament = make_tournament(3, blocks=3)
    bad = tournament.entries[0].id
    play(tournament, crashes=bad)
    before = counted(run_folder), [(c.kind, c.place) for c in read_controls(run_folder.journal)]
    lines = run_folder.journal.read_bytes().splitlines(keepends=True)
    run_folder.journal.write_bytes(lines[0])  # killed before the decision was on the disk
    head_file(run_folder.journal).unlink()
    play(tournament)
    assert (counted(run_folder), [(c.kind, c.place) for c in read_controls(run_folder.journal)]) == before


def test_an_entry_that_was_set_aside_is_named_on_every_later_run(make_tournament, play):
    tournament = make_tournament(3, blocks=3)
    play(tournament, crashes=tournament.entries[0].id)
    assert play(tournament).summary.set_aside == ("bot0",)


def test_a_bot_that_starts_late_is_set_aside_at_the_same_place_however_often_the_run_was_killed(
    make_tournament, play, run_folder
):
    """Its failed starts are no records: killed, a run must not forget them."""
    tournament = make_tournament(3, blocks=12)
    late = {"absent": tournament.entries[0].id, "absent_at": lambda spec, attempt: attempt == 1}

    def outcome():
        return counted(run_folder), [(c.kind, c.place, c.reason) for c in read_controls(run_folder.journal)]

    play(tournament, **late)
    calm = outcome()
    ((_, place, reason),) = calm[1]
    assert reason == "faults in 10 of its last 20 matches, the last: did not start: it does not start"
    shutil.rmtree(run_folder.path)
    attempts: dict[int, int] = {}
    for killed_at in (0, 1, 7, place // 2, place - 2):

        def order(spec, killed_at=killed_at):
            if spec.place == killed_at:
                raise Killed
            return 1

        with pytest.raises(Killed):
            play(tournament, **late, attempts=attempts, order=order)
        assert read_journal(run_folder.journal).events[-1].kind != "finished"
        attempts.update(dict.fromkeys([place for place in attempts if place >= killed_at], 1))
    play(tournament, **late, attempts=attempts)
    assert outcome() == calm


class Killed(Exception):
    """As near to a kill as a process can do to itself."""


@pytest.mark.parametrize("lines", [1, 2, 3, 4])
def test_attempts_are_counted_through_kills(make_tournament, play, run_folder, lines):
    tournament = make_tournament(2, blocks=1)
    play(tournament, script={0: ["void"]})
    journal = run_folder.journal.read_bytes().splitlines(keepends=True)
    assert [event.kind for event in read_journal(run_folder.journal).events] == [
        *("created", "void", "void", "void"),
        *("given_up", "counted", "finished"),
    ]
    run_folder.journal.write_bytes(b"".join(journal[:lines]))
    head_file(run_folder.journal).unlink()
    run = play(tournament, script={0: ["void"]})
    assert run.executor is None or run.executor.started.count(0) == 4 - lines
    voids = [event.fields["attempt"] for event in read_journal(run_folder.journal).events if event.kind == "void"]
    assert voids == [1, 2, 3]
    assert [item.match_id for item in run.summary.given_up] == [next(known_matches(config_of(tournament))).match_id]
    again = play(tournament, script={0: ["void", "rated"]})
    assert again.summary.complete
    assert again.executor.attempts[0] == 2


def test_the_last_attempt_is_played_alone_after_a_kill_too(make_tournament, play, run_folder):
    tournament = make_tournament(3, blocks=2)
    play(tournament, script={5: ["void"]})
    journal = run_folder.journal.read_bytes().splitlines(keepends=True)
    run_folder.journal.write_bytes(b"".join(journal[:3]))
    head_file(run_folder.journal).unlink()
    for path in list(run_folder.matches.glob("*.gz"))[:4]:
        path.unlink()
    run = play(tournament, slots=4, order=lambda spec: 4)
    assert run.summary.complete
    assert (run.executor.attempts[5], run.executor.company[5]) == (1, 0)


# Stopping rules


class After:
    """Says stop when it was asked about so many blocks; remembers what it was asked."""

    def __init__(self, blocks):
        self.blocks = blocks
        self.asked = []

    def __call__(self, block):
        self.asked.append(block.number)
        assert block.complete
        assert [match.place for match in block.matches] == [block.place, block.place + 1]
        return len(self.asked) >= self.blocks


def test_a_run_ends_when_its_rule_says_so(make_tournament, play, run_folder):
    tournament = make_tournament(2, blocks=1000)
    decide = After(7)
    run = play(tournament, decide)
    assert decide.asked == list(range(7))
    assert run.summary.complete
    assert run.summary.decided
    assert (run.summary.played, run.summary.total, run.summary.missing) == (14, 14, 0)
    (control,) = read_controls(run_folder.journal)
    assert (control.kind, control.place) == ("decided", 14)


def test_matches_in_flight_finish_are_recorded_and_change_nothing_rat14(make_tournament, play, run_folder):
    tournament = make_tournament(2, blocks=1000)
    calm = play(tournament, After(7))
    assert calm.summary.played == 14
    results = counted(run_folder)
    shutil.rmtree(run_folder.path)
    decide = After(7)
    # The first match is the slowest: later blocks are complete long before the verdict can fall.
    run = play(tournament, decide, slots=6, order=lambda spec: 60 if spec.place == 0 else 1)
    assert decide.asked == list(range(7))
    assert counted(run_folder) == results
    late = [path.name for path in run_folder.void.iterdir()]
    assert late
    assert all("-late" in name for name in late)
    assert len(run.executor.started) == 14 + len(late)
    again = After(7)
    resumed = play(tournament, again)
    assert again.asked == list(range(7)), "found blocks are told again, and none beyond the verdict"
    assert resumed.executor is None
    assert [c.kind for c in read_controls(run_folder.journal)] == ["decided"]
    assert counted(run_folder) == results


def test_a_decided_run_that_lost_records_is_as_long_as_it_was(make_tournament, play, run_folder):
    tournament = make_tournament(2, blocks=1000)
    play(tournament, After(7))
    for path in sorted(run_folder.matches.glob("*.gz"))[1:]:
        path.unlink()
    run = play(tournament, After(7), slots=2)
    assert {step.total for step in run.log.steps} == {14}
    assert (run.summary.found, run.summary.played, run.summary.total) == (1, 13, 14)


def test_no_more_than_a_few_matches_are_begun_beyond_what_is_decided(make_tournament, play):
    run = play(make_tournament(2, blocks=100_000), After(3), slots=4, order=lambda spec: 5000 if spec.place == 0 else 1)
    assert len(run.executor.started) <= 6 + 64 + 4


def test_a_rule_is_not_asked_beyond_a_block_that_misses_a_match(make_tournament, play):
    decide = After(1000)
    run = play(make_tournament(2, blocks=10), decide, script={5: ["lost"]})
    assert decide.asked == [0, 1]
    assert [item.place for item in run.summary.given_up] == [5]


# What is told of matches that ended too late


@pytest.fixture
def keeping(make_log, run_folder):
    """keeping() is an observer that keeps the database up with what it is told."""
    made = []

    def make():
        log, index = make_log(), Indexer(run_folder)
        log.rated, log.revoked = index.add, index.drop
        made.append(index)
        return log, index

    yield make
    for index in made:
        index.close()


@pytest.mark.parametrize("why", ["breaker", "decided"])
def test_the_database_has_the_rows_of_a_rebuild_and_progress_counts_no_late_match(
    make_tournament, play, run_folder, keeping, why
):
    tournament = make_tournament(4, blocks=6) if why == "breaker" else make_tournament(2, blocks=500)
    decide = After(7) if why == "decided" else None
    crashes = tournament.entries[1].id if why == "breaker" else ""
    log, index = keeping()
    index.start()
    # The first match is the slowest: what comes after it ends before its fate is decided.
    run = play(tournament, decide, log, slots=5, crashes=crashes, order=lambda spec: 90 if spec.place == 0 else 1)
    assert any("-late" in path.name for path in run_folder.void.iterdir())
    index.close()
    assert index.finish(run_table(Run(run_folder))) == ""
    rebuilt = load_index(run_folder, database=run_folder.path / "none.db").rows
    assert tuple(read_rows(run_folder.database)) == rebuilt
    assert len(rebuilt) == run.summary.played
    assert log.steps[-1].done == run.summary.played
    assert log.steps[-1].total == run.summary.total
    assert all(step.done + step.off <= step.total for step in log.steps)


# Void matches


def test_the_last_attempt_is_played_alone_on_a_quiet_table(make_tournament, play):
    tournament = make_tournament(4, blocks=3)
    run = play(tournament, slots=4, script={6: ["void", "void", "rated"]}, order=lambda spec: 4)
    assert run.summary.complete
    assert run.executor.attempts[6] == 3
    assert run.executor.company[6] == 0
    assert max(run.executor.company.values()) == 3


def test_a_match_that_is_late_at_every_attempt_is_given_up_after_one_alone_and_blames_nobody(
    make_tournament, play, run_folder
):
    """As where the machine was too busy each time. What a bot does to bring that about is charged to it: see
    `tests/chaos/test_frames.py`."""
    tournament = make_tournament(4, blocks=3)
    run = play(tournament, slots=4, script={6: ["suspect_timeout"]}, order=lambda spec: 4)
    assert (run.executor.attempts[6], run.executor.company[6]) == (3, 0)
    assert [(item.place, item.reason) for item in run.summary.given_up] == [(6, "suspect_timeout")]
    assert (run.summary.void, run.summary.set_aside) == (3, ())
    voids = [event.fields for event in read_journal(run_folder.journal).events if event.kind == "void"]
    assert [(fields["attempt"], fields["reason"]) for fields in voids] == [
        (number, "suspect_timeout") for number in (1, 2, 3)
    ]
    again = play(tournament, slots=4, script={6: ["suspect_timeout", "rated"]})
    assert again.summary.complete
    assert again.executor.company[6] == 0


def test_a_round_waits_for_a_void_match_and_goes_on_when_it_counts(make_tournament, play):
    tournament = make_tournament(4, blocks=1, format="swiss", more="[swiss]\nrounds = 3\n")
    run = play(tournament, slots=4, script={1: ["void", "void", "rated"]})
    assert run.summary.complete
    assert run.summary.void == 2
    first_of_round_2 = run.executor.started.index(4)
    assert run.executor.started[:first_of_round_2].count(1) == 3


def test_a_round_that_misses_a_match_is_left_to_the_organiser(make_tournament, play):
    tournament = make_tournament(4, blocks=1, format="swiss", more="[swiss]\nrounds = 3\n")
    run = play(tournament, slots=4, script={1: ["void"]})
    assert not run.summary.complete
    assert [item.place for item in run.summary.given_up] == [1]
    assert set(run.executor.started) == {0, 1, 2, 3}
    assert run.summary.placings == ()
    again = play(tournament)
    assert again.summary.complete
    assert again.summary.total == config_of(tournament).extent().most


def test_long_matches_start_first_where_the_end_is_in_sight(make_tournament, play):
    tournament = make_tournament(4, blocks=1, players=[2, 3, 4])
    run = play(tournament, slots=2)
    sizes = {spec.place: len(spec.seats) for spec in known_matches(config_of(tournament))}
    tail = [sizes[place] for place in run.executor.started[-8:]]
    assert tail == sorted(tail, reverse=True)


def test_the_breaker_judges_a_bot_that_returned_from_there_on():
    breaker = Breaker(BreakerConfig())
    tripped = []
    for place in range(12):
        if place == 5:
            breaker.returned("ab", 5)
        tripped += [place for _ in breaker.note(score(place, "crashed"), place=place)]
    assert tripped == [2, 7]
    again = Breaker(BreakerConfig())
    again.left("ab", 3)
    again.returned("ab", 5)
    assert [place for place in range(12) for _ in again.note(score(place, "crashed"), place=place)] == [7]
    again = Breaker(BreakerConfig())
    again.left("ab", 3)
    again.returned("ab", 5)
    again.left("ab", 8)
    assert not any(again.note(score(place, "crashed"), place=place) for place in range(12))
