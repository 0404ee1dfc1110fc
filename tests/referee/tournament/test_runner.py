"""How matches are handed out, and how a run ends."""

import os
import signal

import pytest

from referee.games.registry import get_game
from referee.record import read_record
from referee.run.folder import RunFolder
from referee.run.journal import read_journal
from referee.schedule.schedule import known_matches
from referee.tournament import runner
from referee.tournament.identity import config_of
from referee.tournament.runner import cap_s, check_disk


def test_matches_are_handed_out_in_schedule_order(make_tournament, play):
    tournament = make_tournament(4)
    run = play(tournament, slots=3)
    assert run.executor.started == list(range(config_of(tournament).extent().most))


def test_no_slot_idles_while_there_is_work_sch11(make_tournament, play):
    slow_first = play(make_tournament(3, blocks=4), slots=4, order=lambda spec: 500 if spec.place == 0 else 1)
    assert slow_first.executor.most_at_once == 4
    # The slow first match did not hold the others up: nearly all had started before it ended.
    assert slow_first.log.records[-1].name.startswith("m000000-")


def test_the_next_match_begins_while_the_record_of_the_last_is_closed(make_tournament, play):
    run = play(make_tournament(3), slots=1, closing=30)
    total = run.summary.total
    assert (run.summary.played, run.summary.complete) == (total, True)
    assert run.executor.started == list(range(total))
    assert run.executor.ended_before == [max(0, number - 1) for number in range(total)]


def test_a_last_attempt_waits_until_all_records_are_closed(make_tournament, play):
    run = play(make_tournament(3), slots=1, closing=30, script={1: ["void", "void", "rated"]})
    last = len(run.executor.started) - 1 - run.executor.started[::-1].index(1)
    assert run.executor.ended_before[last] == last


def test_a_replay_comes_before_what_is_later_in_the_schedule(make_tournament, play):
    run = play(make_tournament(3), script={2: ["void", "rated"]})
    assert run.executor.started[:5] == [0, 1, 2, 2, 3]


def test_results_do_not_depend_on_the_number_of_slots_or_on_who_is_slow(make_tournament, play, run_folder, unfinish):
    def rankings():
        return {path.name: read_record(path).footer.ranking for path in sorted(run_folder.matches.glob("*.gz"))}

    tournament = make_tournament(4)
    play(tournament, slots=1)
    one = rankings()
    unfinish()
    for path in run_folder.matches.glob("*.gz"):
        path.unlink()
    play(tournament, slots=5, order=lambda spec: int(spec.seed, 16) % 17)
    assert rankings() == one


def test_a_match_whose_worker_died_after_its_end_counts(make_tournament, play, run_folder):
    run = play(make_tournament(), script={1: ["dies at the end"]})
    assert (run.summary.played, run.summary.void) == (4, 0)
    assert sorted(path.name for path in run_folder.matches.iterdir()) == [
        *sorted(p.name for p in run.log.records),
        "void",
    ]
    assert all(path.suffix == ".gz" for path in run.log.records)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_lets_matches_in_progress_finish_and_starts_no_more(make_tournament, play, run_folder, number):
    before = signal.signal(number, signal.default_int_handler)  # under nohup SIGHUP is ignored, and stays so
    sent = []

    def order(spec):
        if spec.place == 3 and not sent:
            sent.append(os.kill(os.getpid(), number))
        return 3

    tournament = make_tournament(3, blocks=5)
    run = play(tournament, slots=2, order=order)
    assert run.summary.stopped
    assert 3 <= run.summary.played < 10
    assert len(run.executor.started) == run.summary.played
    assert any("stopping" in note for note in run.log.notes)
    assert read_journal(run_folder.journal).events[-1].kind == "stopped"
    rest = play(tournament)
    assert rest.summary.complete
    assert rest.summary.found == run.summary.played
    signal.signal(number, before)


def test_a_fault_after_the_run_was_told_to_stop_is_never_scored(make_tournament, play, run_folder):
    """What ends a run, such as the end of the machine's day, may end its bots a moment earlier."""
    tournament = make_tournament(2, blocks=3)
    sent = []

    def crashes_at(spec):
        if spec.place == 1 and not sent:
            sent.append(os.kill(os.getpid(), signal.SIGTERM))
        return bool(sent)

    run = play(tournament, crashes=tournament.entries[0].id, crashes_at=crashes_at)
    assert (run.summary.played, run.summary.void, run.summary.stopped) == (1, 0, True)
    assert [path.name.partition(".")[2] for path in run_folder.void.iterdir()] == ["1-stopped.jsonl.gz"]
    rest = play(tournament)
    assert rest.summary.complete


@pytest.mark.slow
def test_what_does_not_finish_in_time_is_abandoned_and_starts_afresh_res9(
    make_tournament, play, run_folder, monkeypatch
):
    monkeypatch.setattr(runner, "STOP_GRACE_S", 0.05)

    def order(spec):
        if spec.place == 1:
            os.kill(os.getpid(), signal.SIGINT)
        return 50

    tournament = make_tournament(2)
    run = play(tournament, slots=2, script={0: ["hang"]}, order=order)
    assert (run.summary.played, run.summary.void, run.summary.stopped) == (1, 0, True)
    assert play(tournament).summary.complete


def test_a_signal_that_the_shell_had_ignored_stays_ignored(make_tournament, play, monkeypatch):
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as nohup does
    try:
        sent = []
        run = play(make_tournament(), order=lambda spec: sent.append(os.kill(os.getpid(), signal.SIGHUP)) or 5)
        assert sent
        assert run.summary.complete
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


def test_a_second_signal_ends_everything_at_once(make_tournament, play, run_folder):
    def order(spec):
        os.kill(os.getpid(), signal.SIGINT)
        return 2

    run = play(make_tournament(2), slots=2, script={0: ["hang"], 1: ["hang"]}, order=order)
    assert run.executor.killed.is_set()
    assert (run.summary.played, run.summary.void, run.summary.stopped) == (0, 0, True)


def test_a_match_has_a_cap_no_limit_of_its_own_can_exceed_res16(make_tournament):
    spec = next(known_matches(config_of(make_tournament(2))))
    decisions = get_game("toy").max_decisions(2, spec.options)
    assert cap_s(spec) > decisions * spec.limits.move_s + 2 * spec.limits.startup_s


def test_the_disk_probe_passes_on_a_sound_disk_and_leaves_nothing(tmp_path):
    check_disk(RunFolder(tmp_path))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("style", "bound"), [("knockout", True), ("swiss", False), ("round-robin", False)])
def test_a_total_that_depends_on_results_is_told_as_a_bound_until_it_is_known(make_tournament, play, style, bound):
    run = play(make_tournament(4, blocks=1, format=style))
    assert run.log.steps[0].at_most == bound
    assert (run.log.steps[-1].at_most, run.summary.at_most) == (False, False)
    assert run.log.steps[-1].total == run.summary.played


def test_matches_of_a_bot_with_one_copy_wait_and_the_others_go_on(make_tournament, play):
    """bot3 is slow and may be there once."""
    tournament = make_tournament(4, blocks=3, more="copies = 1\n")
    limited = tournament.entries[3].id
    assert tournament.processes.copies == {limited: 1}
    of_it = {
        spec.place for spec in known_matches(config_of(tournament)) if limited in {seat.entry_id for seat in spec.seats}
    }
    run = play(tournament, slots=4, order=lambda spec: 100 if spec.place in of_it else 1)
    assert run.summary.complete
    in_play_with_it = [len(places & of_it) for places in run.executor.moments]
    assert max(in_play_with_it) == 1
    others = [place for place in run.executor.started if place not in of_it]
    # All that others have to play had begun when its second match did.
    second = [place for place in run.executor.started if place in of_it][1]
    assert run.executor.started.index(second) > run.executor.started.index(others[-1])


def test_a_replay_that_must_wait_for_a_copy_does_not_hold_up_the_others(make_tournament, play):
    tournament = make_tournament(3, blocks=3, more="copies = 1\n")
    limited = tournament.entries[2].id
    of_it = [
        spec.place for spec in known_matches(config_of(tournament)) if limited in {seat.entry_id for seat in spec.seats}
    ]
    run = play(tournament, slots=3, script={place: ["void", "rated"] for place in of_it})
    assert run.summary.complete
    assert max(len(places & set(of_it)) for places in run.executor.moments) == 1
