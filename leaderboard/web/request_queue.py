"""Answers are computed a few at a time for each address: who asks for much at once keeps only itself waiting."""

import asyncio
from weakref import WeakValueDictionary

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from referee.addresses import address_key

DRAWN_AT_ONCE = 1
"""Matches that are drawn step by step at the same time, for all visitors together: several threads that draw leave
little of the process to the one that answers everybody."""

_DRAWN = "/frames"
"""How addresses end whose answers are all steps of a match."""


class Turns:
    """Middleware: at most `most` requests of an address are computed at the same time, and more wait in order.

    To draw all steps of a match takes seconds: of these requests `DRAWN_AT_ONCE` are computed, and one of each address
    waits for that; more of the address wait for this one and take no turn from its other requests. A request has its
    turn until its answer begins; one whose visitor goes away while it waits is not computed. Only requests that read:
    what is sent to the server may take long to arrive.
    """

    def __init__(self, app: ASGIApp, most: int) -> None:
        self.app = app
        self._most = most
        self._turns: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()
        """By address, as long as a request of it is there."""
        self._drawing = asyncio.Semaphore(DRAWN_AT_ONCE)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] not in ("GET", "HEAD"):
            await self.app(scope, receive, send)
            return
        address = address_key(str((scope.get("client") or ("",))[0]))
        turns = [self._turn(address, self._most)]
        if scope["path"].endswith(_DRAWN):
            turns = [self._turn(f"{address} draws", 1), *turns, self._drawing]
        held: list[asyncio.Semaphore] = []
        try:
            for turn in turns:
                if not await _has_come(turn, receive):
                    return
                held.append(turn)
            await self.app(scope, receive, _releasing(held, send))
        finally:
            _release(held)

    def _turn(self, key: str, most: int) -> asyncio.Semaphore:
        return self._turns.setdefault(key, asyncio.Semaphore(most))


def _release(held: list[asyncio.Semaphore]) -> None:
    while held:
        held.pop().release()


def _releasing(held: list[asyncio.Semaphore], send: Send) -> Send:
    """`send` that gives the turns back with the first that is sent."""

    async def send_in_turn(message: Message) -> None:
        _release(held)
        await send(message)

    return send_in_turn


async def _has_come(turn: asyncio.Semaphore, receive: Receive) -> bool:
    """Wait for the turn; False if the visitor goes away before."""
    if not turn.locked():
        return await turn.acquire()
    comes, goes = asyncio.ensure_future(turn.acquire()), asyncio.ensure_future(_disconnect(receive))
    try:
        await asyncio.wait([comes, goes], return_when=asyncio.FIRST_COMPLETED)
    finally:
        goes.cancel()
        if not comes.done():
            comes.cancel()
    return comes.done() and not comes.cancelled()


async def _disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
