"""The clock of the event loop: what it says about the referee's own lag."""

import asyncio
import threading
import time

from referee.match.clock import LoopClock


async def test_a_loop_that_stands_still_is_late_by_that_long() -> None:
    async with LoopClock() as clock:
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
    async with LoopClock() as clock:
        await asyncio.sleep(0.05)
        before = clock.looked_lag_ns()
        time.sleep(0.1)  # noqa: ASYNC251 - standing still is what is measured
        assert clock.looked_lag_ns() == before
        while clock.looked_lag_ns() < before + 50_000_000:  # noqa: ASYNC110 - it is what is awaited
            await asyncio.sleep(0.01)


async def test_a_thread_that_is_awake_may_hold_a_message() -> None:
    async with LoopClock() as clock:
        over = threading.Event()

        def spin() -> None:
            while not over.is_set():
                pass

        thread = threading.Thread(target=spin)
        thread.start()
        while not clock.is_behind():  # noqa: ASYNC110 - starting still
            await asyncio.sleep(0.001)
        assert clock.effort().tasks
        over.set()
        thread.join()


async def test_waiting_is_not_being_late() -> None:
    async with LoopClock() as clock:
        for _ in range(200):  # a machine with too much to do makes the loop late indeed, but not all the time
            before, began = clock.lag_ns(), clock.now_ns()
            await asyncio.sleep(0.1)
            if clock.lag_ns() - before < (clock.now_ns() - began) / 4:
                return
    raise AssertionError("waiting counts as being late")


async def test_timers_run_at_their_time() -> None:
    async with LoopClock() as clock:
        fired: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        due_ns = clock.now_ns() + 30_000_000
        clock.call_at(due_ns, lambda: fired.set_result(clock.now_ns()))
        assert await fired >= due_ns - 1_000_000


async def test_a_timer_can_be_cancelled() -> None:
    async with LoopClock() as clock:
        fired: list[int] = []
        clock.call_at(clock.now_ns() + 1_000_000, lambda: fired.append(1)).cancel()
        await asyncio.sleep(0.01)
    assert fired == []
