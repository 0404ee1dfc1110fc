"""Answers are computed a few at a time for each address: who asks for much at once keeps only itself waiting."""

import asyncio
from weakref import WeakValueDictionary

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from referee.addresses import address_key


class Turns:
    """Middleware: at most `most` requests of an address are computed at the same time, and more wait in order.

    To draw all steps of a match takes seconds. A request has its turn until its answer begins; one whose visitor goes
    away while it waits is not computed. Only requests that read: what is sent to the server may take long to arrive.
    """

    def __init__(self, app: ASGIApp, most: int) -> None:
        self.app = app
        self._most = most
        self._turns: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()
        """By address, as long as a request of it is there."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] not in ("GET", "HEAD"):
            await self.app(scope, receive, send)
            return
        address = address_key(str((scope.get("client") or ("",))[0]))
        turn = self._turns.get(address)
        if turn is None:
            turn = self._turns[address] = asyncio.Semaphore(self._most)
        if not await _has_come(turn, receive):
            return
        is_held = True

        async def send_in_turn(message: Message) -> None:
            nonlocal is_held
            if is_held:
                is_held = False
                turn.release()
            await send(message)

        try:
            await self.app(scope, receive, send_in_turn)
        finally:
            if is_held:
                turn.release()


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
