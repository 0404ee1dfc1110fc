"""The clock of the event loop: what it says about the referee's own lag."""

import asyncio
import threading
import time
from types import SimpleNamespace
from typing import Any

import pytest
from crosstown_proto.v1 import referee_pb2 as pb

from referee.match import time_control
from referee.match.invitation import Invitation
from referee.match.pool import BotStartError, _Place
from referee.match.time_control import LoopTimeSource, time_limit
from referee.process.entry import remote_bot_entry


async def test_a_loop_that_stands_still_is_late_by_that_long() -> None:
    async with LoopTimeSource() as clock:
        await asyncio.sleep(0.05)
        before, began = clock.lag_ns(), clock.now_ns()
        time.sleep(0.2)  # noqa: ASYNC251 - standing still is what is measured
        stood_ns = clock.now_ns() - began
        overdue = clock.lag_ns() - before
        await asyncio.sleep(0.03)
        settled = clock.lag_ns() - before
    assert stood_ns - 15_000_000 <= overdue <= stood_ns
    assert settled >= overdue


async def test_after_a_late_beat_the_referee_has_looked() -> None:
    async with LoopTimeSource() as clock:
        await asyncio.sleep(0.05)
        before = clock.looked_lag_ns()
        time.sleep(0.1)  # noqa: ASYNC251 - standing still is what is measured
        assert clock.looked_lag_ns() == before
        while clock.looked_lag_ns() < before + 50_000_000:  # noqa: ASYNC110 - it is what is awaited
            await asyncio.sleep(0.01)


async def test_what_other_threads_do_makes_nobody_late() -> None:
    """Messages are read by the event loop alone. A web server beside it may have threads that never rest."""
    over = threading.Event()

    def spin() -> None:
        while not over.is_set():
            over.wait(0)

    async with LoopTimeSource() as clock:
        thread = threading.Thread(target=spin)
        thread.start()
        try:
            before = clock.looked_lag_ns()
            time.sleep(0.1)  # noqa: ASYNC251 - standing still is what is measured
            while clock.looked_lag_ns() < before + 50_000_000:  # noqa: ASYNC110 - it is what is awaited
                await asyncio.sleep(0.01)
        finally:
            over.set()
            thread.join()


async def test_waiting_is_not_being_late() -> None:
    async with LoopTimeSource() as clock:
        for _ in range(200):  # a machine with too much to do makes the loop late indeed, but not all the time
            before, began = clock.lag_ns(), clock.now_ns()
            await asyncio.sleep(0.1)
            if clock.lag_ns() - before < (clock.now_ns() - began) / 4:
                return
    raise AssertionError("waiting counts as being late")


async def test_timers_run_at_their_time() -> None:
    async with LoopTimeSource() as clock:
        fired: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        due_ns = clock.now_ns() + 30_000_000
        clock.call_at(due_ns, lambda: fired.set_result(clock.now_ns()))
        assert await fired >= due_ns - 1_000_000


async def test_a_limit_gives_back_the_time_in_which_the_loop_stood_still() -> None:
    loop = asyncio.get_running_loop()
    async with LoopTimeSource() as clock:
        came = loop.create_future()
        loop.call_later(0.05, time.sleep, 0.5)
        loop.call_later(0.65, came.set_result, True)
        async with time_limit(clock, 0.3):
            assert await came


async def test_what_came_before_the_end_of_a_limit_is_read_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many turns of the loop that takes, and with the grace that a busy machine needs for them."""
    monkeypatch.setattr(time_control, "GRACE_NS", 10_000_000_000)
    loop = asyncio.get_running_loop()
    came = loop.create_future()

    def read(turns: int) -> None:
        loop.call_soon(read, turns - 1) if turns else came.set_result(True)

    clock: Any = SimpleNamespace(now_ns=time.monotonic_ns, lag_ns=lambda: 0, call_at=LoopTimeSource().call_at)
    loop.call_later(0.01, time.sleep, 0.1)
    loop.call_later(0.02, read, 20)
    async with time_limit(clock, 0.05):
        assert await came


async def test_a_limit_ends_what_takes_longer() -> None:
    async with LoopTimeSource() as clock:
        with pytest.raises(TimeoutError):
            async with time_limit(clock, 0.05):
                await asyncio.get_running_loop().create_future()


@pytest.mark.parametrize("busy", [False, True], ids=["is awaited", "plays another match"])
async def test_a_guest_that_came_while_the_referee_stood_still_is_there(busy: bool) -> None:
    loop = asyncio.get_running_loop()
    entry, there = remote_bot_entry("Ada", "1"), loop.create_future()
    session: Any = SimpleNamespace(hello=pb.Hello(), send=None, ended=there, online=True, listen=lambda _: None)
    async with LoopTimeSource() as clock:
        server: Any = SimpleNamespace(invite=lambda _: None)
        place = _Place(server, Invitation("a" * 16, wait_s=0.3), lambda _: None, clock)

        def come() -> None:
            place.remote_bot._session = session
            place.remote_bot._came.set()
            place.free.set()

        if busy:
            place.free.clear()
            place.remote_bot._session = session
        loop.call_later(0.05, time.sleep, 0.5)
        loop.call_later(0.65, come)
        bot = await place.take(entry, 0.3, "toy")
        bot.leave()


async def test_a_guest_that_does_not_come_is_waited_for_no_longer() -> None:
    async with LoopTimeSource() as clock:
        server: Any = SimpleNamespace(invite=lambda _: None)
        place = _Place(server, Invitation("a" * 16, wait_s=0.05), lambda _: None, clock)
        with pytest.raises(BotStartError, match="did not connect"):
            await place.take(remote_bot_entry("Ada", "1"), 0.05, "toy")
        assert place.free.is_set()


async def test_a_timer_can_be_cancelled() -> None:
    async with LoopTimeSource() as clock:
        fired: list[int] = []
        clock.call_at(clock.now_ns() + 1_000_000, lambda: fired.append(1)).cancel()
        await asyncio.sleep(0.01)
    assert fired == []
