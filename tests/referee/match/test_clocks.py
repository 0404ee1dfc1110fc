"""Deadlines, as traces of a clock that the test turns."""

from collections.abc import Callable
from typing import Any

import pytest

from referee.record import Answer, read_record
from referee.record.reasons import EndReason
from referee.schedule.spec import Limits

Sit = Callable[..., Any]


async def test_the_first_move_has_its_own_limit(sit: Sit) -> None:
    table = sit()
    await table.start()
    assert [seat.asked.clock.left_us for seat in table.seats] == [5_000_000, 5_000_000]
    await table.clock.turn(4.9)
    for seat in table.seats:
        seat.move(0)
    mover = await table.play_to("turn")
    assert mover.asked.clock.left_us == 1_000_000
    assert (mover.asked.clock.first_move_us, mover.asked.clock.move_us) == (5_000_000, 1_000_000)


@pytest.mark.parametrize(
    ("after_s", "on_time"), [(0.0, True), (1.0, True), (1.0099, True), (1.0101, False), (3, False)]
)
async def test_a_move_counts_up_to_its_limit_and_the_margin(sit: Sit, after_s: float, on_time: bool) -> None:
    table = sit()
    await table.start()
    mover = await table.play_to("turn")
    await table.clock.turn(after_s)
    mover.move(0)
    if on_time:
        await table.play_to("turn", 1 - mover.number)
    else:
        outcome = await table.outcome()
        assert (outcome.reason, outcome.fault_seat) == (EndReason.MOVE_TIMEOUT, mover.number)


async def test_every_move_starts_with_a_full_limit(sit: Sit) -> None:
    table = sit()
    await table.start()
    for _ in range(6):  # each takes nearly all of its time: together far more than one limit
        mover = await table.play_to("turn")
        await table.clock.turn(0.99)
        mover.move(0)
    assert not table.task.done()


async def test_the_limit_acts_on_a_late_move_as_well_as_on_the_first(sit: Sit) -> None:
    table = sit()
    await table.start()
    for _ in range(5):
        mover = await table.play_to("turn")
        mover.move(0)
    mover = await table.play_to("turn")
    await table.clock.turn(1.5)
    assert (await table.outcome()).reason is EndReason.MOVE_TIMEOUT


async def test_chatter_never_moves_a_deadline(sit: Sit) -> None:
    table = sit()
    await table.start()
    mover = await table.play_to("turn")
    for _ in range(11):
        await table.clock.turn(0.1)
        mover.move(0, decision=9999)
    outcome = await table.outcome()
    assert (outcome.reason, outcome.fault_seat) == (EndReason.MOVE_TIMEOUT, mover.number)


async def test_a_time_out_shows_limit_time_lag_and_processor_time(sit: Sit) -> None:
    table = sit()
    await table.start()
    mover = await table.play_to("turn")
    mover.cpu += 700_000_000
    table.clock.lag += 1_000_000
    await table.clock.turn(2)
    await table.outcome()
    await table.match.collect_output()
    evidence = table.match.faults[mover.number].evidence
    assert evidence["limit_us"] == 1_010_000
    assert evidence["wall_us"] == 1_012_000  # judged two milliseconds after the deadline
    assert evidence["cpu_us"] == 700_000
    assert evidence["lag_us"] == 1_000
    assert evidence["stderr"] == f"last words of {mover.number}"
    assert evidence["kind"] == "turn"
    assert evidence["process_state"] == "S"
    assert evidence["legal_count"] == mover.asked.legal_count
    assert "pass()" in evidence["legal"]
    assert "seat  coins" in evidence["board"]


@pytest.mark.parametrize("answers", [False, True], ids=["no answer", "a late answer"])
async def test_the_state_of_a_bot_is_that_at_its_deadline_before_it_is_sent_anything(sit: Sit, answers: bool) -> None:
    """A bot that slept wakes to read the Cancel, or to answer: that is not what it did with its time."""
    table = sit()
    await table.start()
    mover = await table.play_to("turn")
    send = mover.send

    def wake(data: bytes) -> None:
        mover.state = "R"
        send(data)

    mover.send = wake
    await table.clock.turn(1.0105)
    if answers:
        mover.state = "R"
        mover.move(0)
    await table.clock.turn(0.002)
    await table.outcome()
    assert table.match.faults[mover.number].evidence["process_state"] == "S"
    assert mover.stacks_asked == (0 if answers else 1), "only who does not answer is asked where it is"


async def test_a_time_out_that_may_be_the_referees_own_lag_is_suspect_and_void(sit: Sit) -> None:
    table = sit()
    await table.start()
    mover = await table.play_to("turn")
    for second in range(12):  # hardly any of the time so far can be called the bot's
        assert second == 11 or not table.task.done()
        table.clock.lag += 1_000_000_000
        await table.clock.turn(1.0)
    outcome = await table.outcome()
    assert (outcome.reason, outcome.status, outcome.ranking) == (EndReason.SUSPECT_TIMEOUT, "void", ())
    assert "the referee was late by 1" in outcome.detail
    assert outcome.fault_seat == mover.number


@pytest.mark.parametrize(("after_s", "on_time"), [(1.05, True), (1.109, True), (1.111, False), (1.2, False)])
async def test_time_that_the_referee_was_late_by_is_given_back(sit: Sit, after_s: float, on_time: bool) -> None:
    table = sit()
    await table.start()
    mover = await table.play_to("turn")
    table.clock.lag += 100_000_000
    await table.clock.turn(after_s)
    mover.move(0)
    await table.clock.turn(0)
    assert table.task.done() is not on_time
    if not on_time:
        assert (await table.outcome()).reason is EndReason.MOVE_TIMEOUT


async def test_an_answer_that_only_the_referees_lag_made_late_counts(sit: Sit) -> None:
    table = sit()
    await table.start()
    mover = await table.play_to("turn")
    table.clock.lag += 600_000_000
    table.clock.ns += 1_500_000_000  # the loop stood still: the timer has not run yet
    mover.move(0)
    await table.play_to("turn", 1 - mover.number)


async def test_another_seats_load_excuses_nobody_beyond_it(sit: Sit) -> None:
    table = sit()
    await table.start()
    await table.play_to("turn")
    table.clock.lag += 100_000_000
    table.clock.ns += 1_500_000_000
    table.seats[0].move(0)
    assert (await table.outcome()).reason is EndReason.MOVE_TIMEOUT


async def test_simultaneous_decisions_have_a_deadline_each(sit: Sit) -> None:
    table = sit(3)
    await table.start()
    assert [seat.asked.kind for seat in table.seats] == ["stash"] * 3
    table.seats[1].move(0)
    await table.clock.turn(4)
    table.seats[2].move(0)
    await table.clock.turn(2)
    assert table.match.faults[0].reason is EndReason.MOVE_TIMEOUT
    assert [table.match.faults[seat] for seat in (1, 2)] == [None, None]
    assert not table.task.done()  # three were there, two play on


async def test_nobody_is_asked_before_everyone_is_ready(sit: Sit) -> None:
    table = sit()
    table.seats[1].auto_ready = False
    await table.start()
    await table.clock.turn(9)
    assert table.seats[0].kinds == ["match_start"]
    table.seats[1].say(ready("m-1"))
    await table.clock.turn(0)
    assert [seat.kinds for seat in table.seats] == [["match_start", "decide"]] * 2
    assert table.seats[0].asked.clock.left_us == 5_000_000


async def test_a_seat_that_is_never_ready_makes_the_match_void(sit: Sit) -> None:
    table = sit(limits=Limits(ready_s=3))
    table.seats[1].auto_ready = False
    await table.start()
    await table.clock.turn(2.999)
    assert not table.task.done()
    await table.clock.turn(0.004)
    outcome = await table.outcome()
    assert (outcome.reason, outcome.status, outcome.fault_seat) == (EndReason.START_FAILED, "void", 1)
    assert outcome.detail == "seat 1 (bot 1): not ready 3 s after MatchStart"


async def test_bots_are_told_their_last_latency(sit: Sit) -> None:
    table = sit()
    await table.start()
    assert table.seats[0].asked.last_latency_us == 0
    await table.clock.turn(0.25)
    for seat in table.seats:
        seat.move(0)
    mover = await table.play_to("turn")
    assert mover.asked.last_latency_us == 250_000


async def test_times_of_each_answer_stand_in_the_record(sit: Sit) -> None:
    table = sit()
    await table.start()
    await table.clock.turn(0.1)
    table.seats[1].cpu += 40_000_000
    table.seats[1].move(0)
    await table.clock.turn(0.2)
    table.clock.lag += 3_000_000
    table.seats[0].move(0)
    await table.play_to("turn")
    await table.clock.turn(0.05)  # a decision that lasts
    answers = [line for line in read_record(table.record.path).lines if isinstance(line, Answer)]
    assert [(a.seat, a.wall_us, a.cpu_us, a.lag_us) for a in answers] == [
        (0, 300_000, 0, 3_000),
        (1, 100_000, 40_000, 0),
    ]
    stats = table.match.seat_stats
    assert (stats[0].decisions, stats[0].total_us, stats[0].worst_us) == (1, 300_000, 300_000)


async def test_a_decision_that_lasts_has_those_before_it_written_and_quick_ones_are_written_together(sit: Sit) -> None:
    table = sit()

    def written() -> int:
        return sum(isinstance(line, Answer) for line in read_record(table.record.path).lines)

    await table.start()
    for seat in table.seats:
        seat.move(0)
    mover = await table.play_to("turn")
    assert written() == 0
    await table.clock.turn(0.021)
    assert written() == 2
    mover.move(0)
    await table.play_to("turn")
    assert written() == 2


async def test_each_decision_is_looked_at_when_it_has_lasted_a_little_itself(sit: Sit) -> None:
    """One timer serves many decisions: it must not take the time of those before for that of the open one."""
    table = sit()
    await table.start()
    await table.clock.turn(0.015)
    for seat in table.seats:
        seat.move(0)
    mover = await table.play_to("turn")
    question = table.match._controller.seats[mover.number].question
    assert question is not None
    await table.clock.turn(0.0199)
    assert question.timer is None
    await table.clock.turn(0.0002)
    assert question.timer is not None


async def test_no_timer_is_left_behind(sit: Sit) -> None:
    table = sit()
    await table.start()
    for _ in range(100):
        for seat in table.open():
            seat.move(0)
        await table.clock.turn(0)
    assert (await table.outcome()).reason is EndReason.NORMAL
    assert table.clock.waiting == []


def ready(match: str) -> Any:
    from crosstown_proto.v1 import referee_pb2 as pb

    return pb.BotMessage(ready=pb.Ready(match=match))
