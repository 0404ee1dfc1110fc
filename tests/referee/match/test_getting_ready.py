"""The limit of getting ready, while the referee is late itself."""

from collections.abc import Callable
from typing import Any

import pytest

from referee.match import EndReason, Limits

Sit = Callable[..., Any]


async def test_time_in_which_the_referee_was_late_is_none_of_getting_ready(sit: Sit) -> None:
    """It stood still for 11 s, and both Ready lie unread when it wakes: they are read before anybody is late."""
    table = sit(limits=Limits(ready_s=10))
    for seat in table.seats:
        seat.auto_ready = False
    await table.start()
    table.clock.lag += 11_000_000_000
    await table.clock.turn(11)
    assert not table.task.done()
    for seat in table.seats:
        seat.say_ready()
    await table.clock.turn(0)
    assert [seat.asked.kind for seat in table.open()] == ["stash", "stash"]


async def test_a_ready_that_comes_while_its_time_ends_is_read_before_it_does(sit: Sit) -> None:
    table = sit(limits=Limits(ready_s=10))
    table.seats[1].auto_ready = False
    await table.start()
    await table.clock.turn(10)
    table.seats[1].say_ready()
    await table.clock.turn(0)
    assert len(table.open()) == 2


async def test_who_is_not_ready_though_the_referee_was_late_has_failed_to_start(sit: Sit) -> None:
    table = sit(limits=Limits(ready_s=10))
    table.seats[1].auto_ready = False
    await table.start()
    table.clock.lag += 5_000_000_000
    await table.clock.turn(15.1)
    assert (await table.outcome()).reason is EndReason.START_FAILED


async def test_time_in_which_others_kept_a_bot_from_running_is_none_of_getting_ready(sit: Sit) -> None:
    """Another bot may use up the processors meanwhile; this one would be blamed, and in the end be set aside."""
    table = sit(limits=Limits(ready_s=10))
    table.seats[1].auto_ready = False
    await table.start()
    await table.clock.turn(5)
    table.seats[1].waited += 8_000_000_000
    await table.clock.turn(12)
    assert not table.task.done()
    table.seats[1].say_ready()
    await table.clock.turn(0)
    assert len(table.open()) == 2


@pytest.mark.parametrize(("waited_s", "ran_s", "lasts_s"), [(1000, 1, 100), (0, 10, 10)], ids=["others", "its own"])
async def test_getting_ready_lasts_ten_times_its_limit_at_most_and_its_limit_where_nobody_else_ran(
    sit: Sit, waited_s: int, ran_s: int, lasts_s: int
) -> None:
    table = sit(limits=Limits(ready_s=10))
    table.seats[1].auto_ready = False
    await table.start()
    await table.clock.turn(5)
    table.seats[1].waited += waited_s * 1_000_000_000
    table.seats[1].cpu += ran_s * 1_000_000_000
    await table.clock.turn(lasts_s - 5.1)
    assert not table.task.done()
    await table.clock.turn(0.2)
    assert (await table.outcome()).reason is EndReason.START_FAILED


@pytest.mark.parametrize("ready", [True, False])
async def test_a_bot_whose_connection_may_be_broken_has_time_to_come_back_and_to_get_ready_then(
    sit: Sit, ready: bool
) -> None:
    table = sit(limits=Limits(ready_s=10))
    seat = table.seats[1]
    seat.auto_ready, seat.contacted = False, "lost"
    await table.start()
    await table.clock.turn(60)
    assert not table.task.done()
    seat.contacted = "back"
    await table.clock.turn(9)
    assert not table.task.done()
    if ready:
        seat.say_ready()
        await table.clock.turn(0)
        assert len(table.open()) == 2
    else:
        seat.contacted = "there"
        await table.clock.turn(2)
        assert (await table.outcome()).reason is EndReason.START_FAILED


async def test_a_bot_whose_connection_breaks_twice_before_it_is_ready_is_awaited_twice(sit: Sit) -> None:
    table = sit(limits=Limits(ready_s=10))
    seat = table.seats[1]
    seat.auto_ready = False
    await table.start()
    for _ in range(2):
        seat.contacted = "lost"
        await table.clock.turn(60)
        assert not table.task.done()
        seat.contacted = "back"
        await table.clock.turn(9)
    seat.say_ready()
    await table.clock.turn(0)
    assert len(table.open()) == 2


async def test_no_match_waits_for_ever_for_a_bot_whose_connection_breaks_again_and_again(sit: Sit) -> None:
    table = sit(limits=Limits(ready_s=10))
    seat = table.seats[1]
    seat.auto_ready, seat.contacted = False, "back"
    await table.start()
    await table.clock.turn(59)
    assert not table.task.done()
    await table.clock.turn(2)
    outcome = await table.outcome()
    assert outcome.reason is EndReason.START_FAILED
    assert "its connection broke and it was back" in outcome.detail


async def test_a_bot_that_is_there_after_all_and_not_ready_has_failed_to_start(sit: Sit) -> None:
    """It answers a ping, for instance."""
    table = sit(limits=Limits(ready_s=10))
    seat = table.seats[1]
    seat.auto_ready, seat.contacted = False, "lost"
    await table.start()
    await table.clock.turn(15)
    seat.contacted = "there"
    await table.clock.turn(1)
    assert (await table.outcome()).reason is EndReason.START_FAILED
