"""Many who follow one page cost one look, and are told at most four times a second."""

import asyncio
import threading

from leaderboard.web import live
from leaderboard.web.live import SharedLooks, changes


async def test_five_hundred_who_follow_the_same_are_one_look(monkeypatch) -> None:
    monkeypatch.setattr(live, "LOOK_S", 0.05)
    looked, lock = [0], threading.Lock()
    looks, told = SharedLooks(), [0]

    def look() -> int:
        with lock:
            looked[0] += 1
            return looked[0] // 3

    async def follow() -> None:
        async for _ in changes(look, lambda seen, _: {"seen": seen}, 0.05, looks.turn("run")):
            told[0] += 1

    tasks = [asyncio.create_task(follow()) for _ in range(500)]
    await asyncio.sleep(0.5)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert 2 <= looked[0] <= 25, "about one for each 0.05 s, whoever looks"
    assert told[0] >= 500, "all were told"


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
