"""Which requests are computed, and which wait for others."""

import asyncio
from collections import defaultdict
from typing import Any

from starlette.types import Message, Receive, Scope, Send

from leaderboard.web.request_queue import Turns


class Server:
    """Begins the answer to a request when it is let; `begun` are those that are, or were, computed."""

    def __init__(self, most: int) -> None:
        self.begun: list[str] = []
        self._let: dict[str, asyncio.Event] = defaultdict(asyncio.Event)
        self._turns = Turns(self._compute, most)
        self._tasks: list[asyncio.Task[None]] = []

    async def _compute(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.begun.append(scope["path"])
        await self._let[scope["path"]].wait()
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async def ask(self, address: str, *paths: str) -> None:
        for path in paths:
            scope = {"type": "http", "method": "GET", "path": path, "client": (address, 1)}
            self._tasks.append(asyncio.create_task(self._turns(scope, _stays, _reads)))
            await _settle()

    async def let(self, path: str) -> None:
        self._let[path].set()
        await _settle()

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


async def _stays() -> Message:
    await asyncio.Event().wait()
    raise AssertionError


async def _reads(_message: Any) -> None:
    pass


async def _settle() -> None:
    for _ in range(50):  # nothing here waits for anything but other tasks
        await asyncio.sleep(0)


async def test_one_match_is_drawn_at_a_time_and_addresses_take_turns() -> None:
    server = Server(most=4)
    await server.ask("10.0.0.1", "/1/frames", "/2/frames", "/3/frames")
    await server.ask("10.0.0.2", "/4/frames")
    assert server.begun == ["/1/frames"]
    await server.let("/1/frames")
    await server.let("/4/frames")
    assert server.begun == ["/1/frames", "/4/frames", "/2/frames"]
    await server.close()


async def test_requests_that_wait_for_a_drawing_keep_no_page_of_their_address_waiting() -> None:
    server = Server(most=4)
    await server.ask("10.0.0.1", "/1/frames")
    await server.ask("10.0.0.2", *(f"/{number}/frames" for number in range(2, 8)), "/runs", "/games")
    assert server.begun == ["/1/frames", "/runs", "/games"]
    await server.close()
