"""Many who follow one page cost one look, and are told at most four times a second."""

import asyncio
import threading
import time

from leaderboard.web import live
from leaderboard.web.live import SharedLooks, changes


async def test_five_hundred_who_follow_the_same_are_one_look(monkeypatch) -> None:
    monkeypatch.setattr(live, "LOOK_S", 0.05)
    looked, lock = [0], threading.Lock()
    looks, told, all_told_twice = SharedLooks(), [0], asyncio.Event()

    def look() -> int:
        with lock:
            looked[0] += 1
            return looked[0] // 3

    async def follow() -> None:
        async for _ in changes(look, lambda seen, _: {"seen": seen}, 0.05, looks.turn("run")):
            told[0] += 1
            if told[0] == 1000:
                all_told_twice.set()

    tasks = [asyncio.create_task(follow()) for _ in range(500)]
    async with asyncio.timeout(60):
        await all_told_twice.wait()
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert 3 <= looked[0] < 100, "each alone would look three times for its two news"


async def test_who_waits_for_a_look_that_takes_long_does_not_look_again() -> None:
    turn, looked = SharedLooks().turn("run"), [0]

    def look() -> int:
        looked[0] += 1
        time.sleep(0.1)
        return looked[0]

    seen = await asyncio.gather(*(turn.look(look, 0.01) for _ in range(50)))
    assert looked[0] <= 2, "one that had begun when most asked, and one for all of those"
    assert seen[0] == 1
    before = looked[0]
    assert await turn.look(look, 0.01) == before + 1, "what is older than that is not shown"


async def test_what_nobody_follows_is_forgotten() -> None:
    looks = SharedLooks()
    first = looks.turn("run")
    assert looks.turn("run") is first
    assert looks.turn("other") is not first
    del first
    assert len(looks._turns) == 0


async def test_who_follows_alone_sees_each_change() -> None:
    seen = iter(["a", "b", "b", "c", None])
    found = [text async for text in changes(lambda: next(seen), lambda now, _: {"now": now}, 0.001)]
    assert found == ['data: {"now": "a"}\n\n', 'data: {"now": "b"}\n\n', 'data: {"now": "c"}\n\n']
