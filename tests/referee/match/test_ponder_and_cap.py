"""Bots that must not think off turn, and matches that must not take longer than their cap."""

from collections.abc import Callable
from typing import Any

import pytest

from referee.match import EndReason, Faults, Limits
from referee.match.seat import Wants

Sit = Callable[..., Any]


async def test_a_bot_runs_only_while_it_is_asked(sit: Sit) -> None:
    """TIM-21, TIM-24, PRC-16"""
    table = sit(ponder=False)
    await table.start()
    for _ in range(9):
        asked = {seat.number for seat in table.open()}
        assert [seat.frozen for seat in table.seats] == [seat.number not in asked for seat in table.seats]
        table.open()[0].move(0)
        await table.clock.turn(0)


def illegal(seat: Any) -> float:
    seat.move(99)
    return 0


def malformed(seat: Any) -> float:
    seat.say_raw(b"\xff\xff")
    return 0


def late(seat: Any) -> float:
    return 1.1


@pytest.mark.parametrize("deed", [illegal, malformed, late])
async def test_a_strike_buys_no_time_off_turn(sit: Sit, deed: Callable[[Any], float]) -> None:
    """The bot that was late is told before it is stopped, and none runs again until it is asked again."""
    table = sit(faults=Faults("forfeit", 5), ponder=False)
    await table.start()
    mover = await table.play_to("turn")
    await table.clock.turn(deed(mover))
    if deed is late:
        assert mover.kinds[-1] == "cancel"
    other = table.seats[1 - mover.number]
    assert table.open() == [other]
    assert (mover.frozen, other.frozen) == (True, False)
    await table.play_to("turn", mover.number)
    assert (mover.frozen, other.frozen) == (False, True)


async def test_a_bot_whose_fault_waits_for_others_answers_is_stopped_meanwhile(sit: Sit) -> None:
    table = sit(3, faults=Faults("forfeit", 5), ponder=False)
    await table.start()
    table.seats[1].move(99)
    await table.clock.turn(0.1)
    assert [seat.frozen for seat in table.seats] == [False, True, False]


async def test_who_leaves_runs_again_to_read_why(sit: Sit) -> None:
    table = sit(3, ponder=False)
    await table.start()
    table.seats[1].move(99)
    table.seats[0].move(0)
    table.seats[2].move(0)
    await table.clock.turn(0)
    assert (table.seats[1].frozen, table.seats[1].kinds[-1]) == (False, "match_end")


async def test_a_frozen_bot_is_sent_nothing_it_could_not_read(sit: Sit) -> None:
    table = sit(3, wants=Wants(updates=True), ponder=False)
    await table.start()
    for _ in range(60):
        for seat in table.open():
            seat.move(0)
        await table.clock.turn(0)
    assert (await table.outcome()).reason is EndReason.NORMAL
    assert all("update" not in seat.kinds for seat in table.seats)
    assert [seat.frozen for seat in table.seats] == [False] * 3


async def test_nobody_is_frozen_where_bots_may_ponder(sit: Sit) -> None:
    table = sit()
    await table.start()
    await table.play_to("turn")
    assert [seat.freezes for seat in table.seats] == [0, 0]


@pytest.mark.parametrize("ponder", [True, False])
async def test_a_match_that_takes_too_long_is_adjudicated(sit: Sit, ponder: bool) -> None:
    """RES-16, CON-6, INF-3: a reason of its own, and the moves so far are kept."""
    table = sit(3, limits=Limits(match_s=10, move_s=4), ponder=ponder)
    await table.start()
    for _ in range(3):
        mover = await table.play_to("turn")
        await table.clock.turn(3)
        mover.move(0)
        await table.clock.turn(0)
    await table.clock.turn(3)
    outcome = await table.outcome()
    assert (outcome.reason, outcome.status, outcome.ranking) == (EndReason.ADJUDICATED, "rated", (1, 1, 1))
    assert "longer than its cap of 10 s, after 6 decisions" in outcome.detail
    assert table.match.faults == (None,) * 3
    assert table.clock.waiting == []


async def test_who_has_left_before_the_cap_is_behind(sit: Sit) -> None:
    table = sit(3, limits=Limits(match_s=10, move_s=20))
    await table.start()
    await table.play_to("turn", 1)
    table.seats[0].resign()
    await table.clock.turn(11)
    assert (await table.outcome()).ranking == (3, 1, 1)


@pytest.mark.parametrize("on_turn", [True, False])
async def test_who_closed_its_stream_before_the_cap_and_computes_on_has_lost_by_that(sit: Sit, on_turn: bool) -> None:
    table = sit(limits=Limits(match_s=10, move_s=20))
    await table.start()
    mover = await table.play_to("turn")
    gone = table.seats[mover.number if on_turn else 1 - mover.number]
    gone.ending = True
    await table.clock.turn(11.1)
    outcome = await table.outcome()
    assert (outcome.reason, outcome.fault_seat) == (EndReason.DISCONNECTED, gone.number)
    assert outcome.ranking[gone.number] == 2


async def test_who_crashed_just_before_the_cap_has_crashed(sit: Sit) -> None:
    table = sit(3, limits=Limits(match_s=10, move_s=20))
    await table.start()
    await table.play_to("turn", 1)
    table.seats[2].ending = True
    await table.clock.turn(10.5)
    table.seats[2].die()
    await table.clock.turn(0.6)
    outcome = await table.outcome()
    assert (outcome.reason, outcome.ranking) == (EndReason.ADJUDICATED, (1, 1, 3))
    assert [fault and fault.reason for fault in table.match.faults] == [None, None, EndReason.CRASHED]


async def test_who_is_past_its_limit_at_the_cap_is_late_first(sit: Sit) -> None:
    """Its deadline came just before, and it was to be judged a little later than the cap."""
    table = sit(limits=Limits(match_s=10, move_s=9.999, margin_s=0))
    await table.start()
    mover = await table.play_to("turn")
    await table.clock.turn(10.1)
    outcome = await table.outcome()
    assert (outcome.reason, outcome.fault_seat) == (EndReason.MOVE_TIMEOUT, mover.number)


async def test_time_in_which_the_referee_was_late_does_not_count_towards_the_cap(sit: Sit) -> None:
    table = sit(limits=Limits(match_s=10, move_s=20))
    await table.start()
    mover = await table.play_to("turn")
    table.clock.lag += 9_000_000_000
    await table.clock.turn(18.9)
    assert not table.task.done()
    mover.move(0)
    await table.clock.turn(0.2)
    outcome = await table.outcome()
    assert (outcome.reason, outcome.ranking) == (EndReason.ADJUDICATED, (1, 1))
    assert table.clock.waiting == []


async def test_an_answer_that_had_come_before_the_cap_is_read_before_it(sit: Sit) -> None:
    table = sit(limits=Limits(match_s=10, move_s=20), rounds=1)
    await table.start()
    last = await table.play_to("turn", 1)
    await table.clock.turn(10)
    last.move(0)
    assert (await table.outcome()).reason is EndReason.NORMAL


async def test_processor_time_between_matches_is_counted_apart(sit: Sit) -> None:
    table = sit(rounds=1)
    table.seats[0].cpu, table.seats[0].idle_from_ns = 900_000_000, 200_000_000
    table.seats[1].idle_from_ns = None
    await table.start()
    assert [stats.idle_cpu_us for stats in table.match.seat_stats] == [700_000, 0]


async def test_no_bot_runs_before_its_match_starts_where_none_may_ponder(sit: Sit) -> None:
    table = sit(ponder=False)
    for seat in table.seats:
        seat.freeze()
    await table.start()
    assert [seat.kinds[0] for seat in table.seats] == ["match_start"] * 2


async def test_processor_time_off_turn_is_counted_apart(sit: Sit) -> None:
    """TIM-21, PRC-16: work outside of the measured time is not free of notice."""
    table = sit()
    await table.start()
    mover = await table.play_to("turn")
    other = table.seats[1 - mover.number]
    mover.cpu += 30_000_000
    other.cpu += 400_000_000
    mover.move(0)
    for _ in range(60):
        for seat in table.open():
            seat.move(0)
        await table.clock.turn(0)
    stats = table.match.seat_stats
    assert (stats[mover.number].cpu_us, stats[mover.number].off_turn_cpu_us) == (30_000, 0)
    assert (stats[other.number].cpu_us, stats[other.number].off_turn_cpu_us) == (0, 400_000)
