"""Every kind of clock as a trace: how long each answer of a seat took, and what the seat was told it had left."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from toy_game.burning import CardsBurn
from toy_game.game import ToyGame

from referee.match import EndReason, Limits, MatchSpec, SeatSpec, SpecError

Sit = Callable[..., Any]
R = EndReason

EXACT = {"margin_s": 0}
PLAIN = {"first_move_s": 5, "move_s": 1}
MARGIN = {**PLAIN, "margin_s": 0.01}
BANK = {"first_move_s": 5, "move_s": 1, "bank_s": 3}
BANK_MARGIN = {**BANK, "margin_s": 0.01}
TOTAL = {"first_move_s": 0, "move_s": 0, "total_s": 10}
TOTAL_MARGIN = {**TOTAL, "total_s": 0.03, "margin_s": 0.01}
INCREMENT = {"first_move_s": 0, "move_s": 0, "total_s": 2, "increment_s": 1}
INCREMENT_MARGIN = {**INCREMENT, "margin_s": 0.01}
CAPPED = {"first_move_s": 4, "move_s": 1, "total_s": 5}

# Clock; per decision (seconds told to be left, seconds taken); how the seat ends, None if it is still playing.
TRACES: list[tuple[str, Mapping[str, float], list[tuple[float, float]], EndReason | None]] = [
    ("a limit is full again for every move", PLAIN, [(5, 4.9), (1, 0.99), (1, 0.99), (1, 0.99)], None),
    ("the first move has a limit of its own", PLAIN, [(5, 5.02)], R.MOVE_TIMEOUT),
    ("the margin counts for nobody", MARGIN, [(5, 5.009), (1, 1.009), (1, 1.009)], None),
    ("a later move has the smaller limit", PLAIN, [(5, 0.1), (1, 1.02)], R.MOVE_TIMEOUT),
    ("moves within their limit leave the bank alone", BANK, [(8, 5), (4, 1), (4, 1)], None),
    ("the bank pays for what is above the limit", BANK, [(8, 6), (3, 2.5), (1.5, 1.4), (1.1, 0.2), (1.1, 1)], None),
    ("the bank pays for what a move takes of the margin", BANK_MARGIN, [(8, 5.01), (3.99, 1.01), (3.98, 3.98)], None),
    ("the margin of a bank helps once", BANK_MARGIN, [(8, 8.009), (1, 1.001), (1, 1), (1, 1.002)], R.BANK_EXHAUSTED),
    ("9 ms a move use up a total", TOTAL_MARGIN, [(0.03, 0.009), (0.021, 0.009), (0.012, 0.009)], None),
    ("the margin of a total helps once", TOTAL_MARGIN, [(0.03, 0.035), (0, 0.004), (0, 0.002)], R.BANK_EXHAUSTED),
    ("an increment pays for the margin first", INCREMENT_MARGIN, [(2, 2.009), (0.991, 0.9), (1.091, 0)], None),
    ("a bank that is used up", BANK, [(8, 8), (1, 1), (1, 1.02)], R.BANK_EXHAUSTED),
    ("more than limit and bank together", BANK, [(8, 8.02)], R.BANK_EXHAUSTED),
    ("a total goes down by what is used", TOTAL, [(10, 4), (6, 5), (1, 0.5), (0.5, 0.4)], None),
    ("a total that is used up", TOTAL, [(10, 4), (6, 6.02)], R.BANK_EXHAUSTED),
    ("each answer adds the increment", INCREMENT, [(2, 1.5), (1.5, 1), (1.5, 0), (2.5, 2.5), (1, 1)], None),
    ("the increment comes after the answer", INCREMENT, [(2, 2.02)], R.BANK_EXHAUSTED),
    ("a limit within a total is a limit of the move", CAPPED, [(4, 3), (1, 1.02)], R.MOVE_TIMEOUT),
    ("a total below the limit of the move is what counts", CAPPED, [(4, 4), (1, 0.5), (0.5, 0.6)], R.BANK_EXHAUSTED),
]


@pytest.mark.parametrize(("clock", "moves", "end"), [trace[1:] for trace in TRACES], ids=[item[0] for item in TRACES])
async def test_a_clock(
    sit: Sit, clock: Mapping[str, float], moves: list[tuple[float, float]], end: EndReason | None
) -> None:
    """TIM-3, TIM-20: seat 0 takes the times of the trace, seat 1 answers at once."""
    limits = Limits(**{**EXACT, **clock})
    table = sit(limits=limits, rounds=6)
    await table.start()
    seat, other = table.seats
    other.auto = lambda _: 0
    other.move(0)
    for told_s, taken_s in moves:
        assert seat.asked.clock.left_us == pytest.approx(told_s * 1e6, abs=1)
        await table.clock.turn(taken_s)
        if taken_s <= told_s + limits.margin_s:
            seat.move(0)
            await table.clock.turn(0)
    if end is None:
        assert not table.task.done()
        assert table.match.faults == (None, None)
        return
    outcome = await table.outcome()
    assert (outcome.reason, outcome.status, outcome.fault_seat) == (end, "rated", 0)


async def test_a_bank_and_what_is_left_of_it_are_told(sit: Sit) -> None:
    """TIM-20"""
    table = sit(limits=Limits(**BANK))
    await table.start()
    clock = table.seats[0].sent[0].match_start.clock
    assert (clock.first_move_us, clock.move_us, clock.bank_us, clock.margin_us) == (
        5_000_000,
        1_000_000,
        3_000_000,
        10_000,
    )
    await table.clock.turn(6)
    for seat in table.seats:
        seat.move(0)
    mover = await table.play_to("turn")
    assert (mover.asked.clock.bank_us, mover.asked.clock.bank_left_us) == (3_000_000, 2_000_000)
    assert mover.asked.clock.left_us == 3_000_000


async def test_a_total_and_what_is_left_of_it_are_told(sit: Sit) -> None:
    table = sit(limits=Limits(**INCREMENT))
    await table.start()
    await table.clock.turn(1.01)
    for seat in table.seats:
        seat.move(0)
    mover = await table.play_to("turn")
    clock = mover.asked.clock
    assert (clock.total_us, clock.total_left_us, clock.increment_us) == (2_000_000, 1_990_000, 1_000_000)


async def test_an_exhausted_bank_says_so_with_its_numbers(sit: Sit) -> None:
    table = sit(limits=Limits(**BANK))
    await table.start()
    table.seats[1].move(0)
    await table.clock.turn(9)
    outcome = await table.outcome()
    assert "8 s were left with all that the bank of 3 s for the match could give" in outcome.detail
    evidence = table.match.faults[0].evidence
    assert (evidence["bank_us"], evidence["limit_us"], evidence["wall_us"]) == (3_000_000, 8_010_000, 8_012_000)


async def test_what_was_not_the_bots_doing_is_never_taken_from_a_bank(sit: Sit) -> None:
    table = sit(limits=Limits(**BANK))
    await table.start()
    await table.clock.turn(1)
    table.seats[0].waited += 500_000_000
    table.clock.lag += 1_500_000_000
    await table.clock.turn(5)
    for seat in table.seats:
        seat.move(0)
    mover = await table.play_to("turn", 0)
    assert mover.asked.clock.bank_left_us == 3_000_000


@pytest.mark.parametrize("limits", [TOTAL_MARGIN, {**BANK_MARGIN, "first_move_s": 0.002}], ids=["total", "bank"])
async def test_a_short_wait_for_a_processor_is_not_taken_from_bank_or_total(
    sit: Sit, limits: Mapping[str, float]
) -> None:
    """No margin covers what was not excused: the bot's tasks are looked at after a millisecond."""
    table = sit(limits=Limits(**limits))
    await table.start()
    seat = table.seats[0]
    left_us = seat.asked.clock.left_us
    await table.clock.turn(0.002)
    seat.waited += 7_000_000
    await table.clock.turn(0.007)
    for each in table.seats:
        each.move(0)
    mover = await table.play_to("turn", 0)
    left = mover.asked.clock
    assert (left.bank_left_us or left.total_left_us) == (3_000_000 if left.bank_us else left_us - 2_000)


async def test_what_is_left_is_never_told_with_the_margin_or_below_nothing(sit: Sit) -> None:
    """A total that the margin has paid for: the bot is told 0, and the evidence how far it is below that."""
    table = sit(limits=Limits(**TOTAL_MARGIN))
    await table.start()
    await table.clock.turn(0.035)
    for each in table.seats:
        each.move(0)
    mover = await table.play_to("turn", 0)
    assert (mover.asked.clock.left_us, mover.asked.clock.total_left_us) == (0, 0)
    await table.clock.turn(0.02)
    await table.outcome()
    evidence = table.match.faults[mover.number].evidence
    assert (evidence["total_us"], evidence["limit_us"]) == (-5_000, 5_000)


@pytest.mark.parametrize(
    ("limits", "taken_s", "left_s", "then_left_s"),
    [(TOTAL, 9.5, 10, 0.5), (INCREMENT, 1.5, 2, 1.5), (BANK, 7.5, 4, 1.5)],
)
async def test_an_answer_that_others_made_void_costs_nothing(
    sit: Sit, limits: Mapping[str, float], taken_s: float, left_s: float, then_left_s: float
) -> None:
    """Time is taken, and added, when an answer counts: who is asked again has its whole bank or total. The limit of a
    first move was for what is done only once; that has been done."""
    table = sit(3, game=ToyGame(CardsBurn), limits=Limits(**{**EXACT, **limits}))
    await table.start()
    late, *others = table.seats
    await table.clock.turn(taken_s)
    for seat in others:
        seat.move(0)
    late.move(late.asked.legal_count)
    await table.clock.turn(0)
    assert [len(seat.decides) for seat in others] == [2, 2]
    assert [seat.asked.clock.left_us for seat in others] == [left_s * 1e6] * 2
    assert [stats.total_us for stats in table.match.seat_stats[1:]] == [0, 0]
    await table.clock.turn(left_s - 0.5)
    assert not table.task.done()
    for seat in others:
        seat.move(0)
    mover = await table.play_to("turn")
    assert mover.asked.clock.left_us == pytest.approx(then_left_s * 1e6, abs=1)


async def test_each_seat_may_have_a_clock_of_its_own(sit: Sit) -> None:
    table = sit(clocks=({}, {"first_move_s": 2, "margin_s": 0.5}))
    await table.start()
    assert [seat.asked.clock.left_us for seat in table.seats] == [5_000_000, 2_000_000]
    await table.clock.turn(2.4)
    assert not table.task.done()
    await table.clock.turn(0.2)
    table.seats[0].move(0)
    assert (await table.outcome()).fault_seat == 1


async def test_no_clock_runs_before_all_seats_are_ready(sit: Sit) -> None:
    """TIM-16, CON-1: the first-turn timer starts once all bots have acknowledged the start."""
    table = sit()
    table.seats[1].auto_ready = False
    await table.start()
    await table.clock.turn(8)
    assert [seat.decides for seat in table.seats] == [[], []]
    table.seats[1].say_ready()
    await table.clock.turn(4.9)
    assert [len(seat.decides) for seat in table.seats] == [1, 1]
    assert not table.task.done()
    for seat in table.seats:
        seat.move(0)
    await table.play_to("turn")


async def test_getting_ready_has_a_limit_for_each_seat(sit: Sit) -> None:
    """TIM-15: start-up, warm-up and first move are limited apart."""
    table = sit(clocks=({"ready_s": 30}, {"ready_s": 2}))
    for seat in table.seats:
        seat.auto_ready = False
    await table.start()
    await table.clock.turn(2.1)
    outcome = await table.outcome()
    assert (outcome.reason, outcome.fault_seat) == (R.START_FAILED, 1)
    assert "not ready 2 s after MatchStart" in outcome.detail


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        ({"move_s": 0}, "move_s"),
        ({"first_move_s": 0}, "first_move_s"),
        ({"bank_s": 1, "total_s": 1}, "bank_s goes with move_s"),
        ({"increment_s": 1}, "give total_s too"),
        ({"bank_s": -1}, "bank_s"),
        ({"total_s": 0.0001}, "total_s"),
    ],
)
def test_limits_that_make_no_clock_are_refused(limits: dict[str, Any], said: str) -> None:
    with pytest.raises(SpecError, match=said):
        Limits(**limits)


@pytest.mark.parametrize("clock", [{"bank": 1}, {"max_note_bytes": 1}, {"total_s": 1, "bank_s": 1}, {"move_s": 0}])
def test_a_seats_clock_is_checked(clock: dict[str, Any]) -> None:
    with pytest.raises(SpecError):
        MatchSpec("m", "toy", {}, (SeatSpec("00", "a", "1", clock),), "00")


def test_limits_in_force_leave_out_what_does_not_limit() -> None:
    assert "bank_s" not in Limits().in_force()
    assert Limits(bank_s=2).in_force()["bank_s"] == 2
    assert Limits(total_s=2, move_s=0, first_move_s=0).in_force()["move_s"] == 0
