"""A bot whose provider gives no answer: its own loss or a void match, as agreed; and what it has used."""

from collections.abc import Callable
from typing import Any

import pytest
from crosstown_proto.v1 import referee_pb2 as pb

from referee.match import Faults, MatchResult, MatchSpec, SeatSpec
from referee.record import Usage, verify
from referee.record.format import MOST_USED
from referee.record.reasons import EndReason as R

Sit = Callable[..., Any]
WHY = "HTTP 503 'busy' at request 5"
VOID = Faults(provider_errors="void")


def no_answer(seat: Any, why: str = WHY) -> None:
    seat.move(None, provider_error=why)


async def test_a_bot_without_an_answer_from_its_provider_loses_by_that_reason(sit: Sit) -> None:
    table = sit()
    await table.start()
    mover = await table.play_to("turn")
    no_answer(mover)
    outcome = await table.outcome()
    assert (outcome.reason, outcome.status, outcome.fault_seat) == (R.PROVIDER_ERROR, "rated", mover.number)
    assert outcome.ranking[mover.number] == 2
    assert outcome.detail.endswith(f"no answer from its provider in decision 3: {WHY}")
    assert mover.end.reason == "provider_error"
    assert verify(table.finish(outcome)).status == "ok"


async def test_where_that_was_agreed_the_match_is_void_and_no_seat_has_a_rank(sit: Sit) -> None:
    table = sit(faults=VOID)
    await table.start()
    mover = await table.play_to("turn")
    no_answer(mover)
    outcome = await table.outcome()
    assert (outcome.reason, outcome.status, outcome.ranking) == (R.PROVIDER_ERROR_VOID, "void", ())
    assert WHY in outcome.detail
    assert table.match.faults[mover.number].reason is R.PROVIDER_ERROR_VOID
    assert verify(table.finish(outcome)).status == "ok"


async def test_a_seat_that_is_charged_loses_also_where_provider_errors_are_void(sit: Sit) -> None:
    table = sit(faults=VOID, charged_for_provider=(0, 1))
    await table.start()
    mover = await table.play_to("turn")
    no_answer(mover)
    outcome = await table.outcome()
    assert (outcome.reason, outcome.status, outcome.fault_seat) == (R.PROVIDER_ERROR, "rated", mover.number)
    assert outcome.detail.endswith("no more attempts are void for that, so it counts as its fault")
    assert verify(table.finish(outcome)).status == "ok"


@pytest.mark.parametrize("faults", [Faults(), VOID])
async def test_a_provider_error_that_comes_too_late_is_a_time_out(sit: Sit, faults: Faults) -> None:
    table = sit(faults=faults)
    await table.start()
    mover = await table.play_to("turn")
    await table.clock.turn(1.005)
    table.clock.ns += 20_000_000  # past the limit and its margin, before the timer
    no_answer(mover)
    outcome = await table.outcome()
    assert (outcome.reason, outcome.status) == (R.MOVE_TIMEOUT, "rated")


async def test_a_provider_error_that_answers_nothing_asked_is_dropped(sit: Sit) -> None:
    table = sit(faults=VOID)
    await table.start()
    mover = await table.play_to("turn")
    other = table.seats[1 - mover.number]
    other.move(None, provider_error=WHY, decision=mover.asked.decision)
    mover.move(None, provider_error=WHY, decision=1)
    assert table.open() == [mover]
    assert [stats.dropped for stats in table.match.seat_stats] == [1, 1]


async def test_a_strike_pays_for_a_provider_error(sit: Sit) -> None:
    table = sit(faults=Faults(strikes=1))
    await table.start()
    mover = await table.play_to("turn")
    no_answer(mover)
    await table.clock.turn(0)
    assert table.match.faults[mover.number].evidence["strikes"] == 1
    again = await table.play_to("turn", mover.number)
    no_answer(again)
    outcome = await table.outcome()
    assert (outcome.reason, outcome.fault_seat) == (R.PROVIDER_ERROR, mover.number)
    assert verify(table.finish(outcome)).status == "ok"


async def test_the_words_of_a_bot_about_its_provider_are_one_line_of_bounded_length(sit: Sit) -> None:
    table = sit()
    await table.start()
    no_answer(await table.play_to("turn"), "busy\n\n  red" + "x" * 5000)
    outcome = await table.outcome()
    assert "busy redxxx" in outcome.detail
    assert len(outcome.detail) < 700


def use(seat: Any, **counts: int) -> None:
    move = pb.Move(match=seat.asked.match, decision=seat.asked.decision, index=0, usage=pb.Usage(**counts))
    seat.say(pb.BotMessage(move=move))


async def test_what_a_bot_has_used_is_added_up_for_each_seat(sit: Sit) -> None:
    table = sit()
    await table.start()
    seat = table.seats[0]
    use(seat, requests=1, prompt_tokens=900, reply_tokens=20, wait_us=5, cost_nanos=7)
    use(seat, requests=1)  # answers nothing asked
    first = await table.play_to("turn", 0)
    use(first, requests=2, prompt_tokens=100, provider_errors=1, unreadable=1)
    assert table.match.usage == (Usage(3, 1000, 20, 1, 1, 5, 7), None)


async def test_what_was_used_counts_also_where_the_answer_is_a_fault(sit: Sit) -> None:
    table = sit()
    await table.start()
    mover = await table.play_to("turn")
    move = pb.Move(match=mover.asked.match, decision=mover.asked.decision, provider_error=WHY)
    move.usage.provider_errors = 5
    mover.say(pb.BotMessage(move=move))
    assert table.match.usage[mover.number] == Usage(provider_errors=5)


async def test_no_count_grows_without_bound(sit: Sit) -> None:
    table = sit()
    await table.start()
    use(table.seats[0], requests=2**32 - 1, wait_us=2**64 - 1, cost_nanos=2**64 - 1)
    assert table.match.usage[0] == Usage(requests=2**32 - 1, wait_us=MOST_USED, cost_nanos=MOST_USED)


def test_a_specification_and_a_result_keep_both_through_json() -> None:
    seats = (SeatSpec("a" * 16, "a", "1"), SeatSpec("b" * 16, "b", "1"))
    spec = MatchSpec("m", "toy", {}, seats, "00", faults=VOID, charged_for_provider=(1,))
    assert MatchSpec.from_json(spec.to_json()) == spec
    usual = MatchSpec("m", "toy", {}, seats, "00")
    assert "provider" not in usual.to_json()
    result = MatchResult(
        "m", "void", R.PROVIDER_ERROR_VOID, "", (), (), (None, None), (), 0, 0.0, "", usage=(None, Usage(2))
    )
    assert MatchResult.from_json(result.to_json()).usage == (None, Usage(2))
