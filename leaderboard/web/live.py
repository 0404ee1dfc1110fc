"""Server-sent events: they say that something changed, and the page asks for the rest.

The server looks at the files; the referee does not know whether there are readers.
"""

import asyncio
import json
import math
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, StreamingResponse
from starlette.types import Receive, Scope, Send

from leaderboard.web.accounts import account_now, account_of
from leaderboard.web.limits import Places
from leaderboard.web.pages import wanted_run
from leaderboard.web.rights import check_shown
from leaderboard.web.tables import Tables
from referee.addresses import address_key
from referee.record import RecordError
from referee.record.reader import read_header
from referee.record.store import closed_path, is_live
from referee.run.folder import RunFolder

LOOK_S = 0.25
"""So often, at most, a page gets news."""

QUIET_S = 15.0
"""After so long without news a comment is sent, so that a connection whose reader has gone is found out."""


class SharedLooks:
    """What many follow is looked at once for all of them."""

    def __init__(self) -> None:
        self._turns: WeakValueDictionary[object, _Turn] = WeakValueDictionary()
        """By what is looked at, as long as somebody follows it."""

    def turn(self, key: object) -> "_Turn":
        """For who follows it, as long as that goes on."""
        found = self._turns.get(key)
        if found is None:
            found = self._turns[key] = _Turn()
        return found


class _Turn:
    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self._at_s = -math.inf
        self._seen: object = None

    async def look(self, look: Callable[[], object], fresh_s: float) -> object:
        """What `look`, which runs in a thread, saw after this was called, or less than `fresh_s` before."""
        called_s = asyncio.get_running_loop().time()
        async with self._lock:
            if self._at_s <= called_s - fresh_s:
                at_s = asyncio.get_running_loop().time()
                self._seen = await asyncio.to_thread(look)
                self._at_s = at_s
            return self._seen


async def match_events(request: Request) -> StreamingResponse:
    """`{"bytes": n, "over": false}` whenever the record has grown; `over` once it is closed, and then the end."""
    place = await asyncio.to_thread(wanted_run, request)
    path = await asyncio.to_thread(_wanted_path, request, place)
    return stream(request, _growth(path, request.app.state.looks))


def _wanted_path(request: Request, place: RunFolder) -> Path:
    """404 without the match, 403 for one that is not shown yet, RecordError for a file that is no record."""
    path = place.records.find_anywhere(request.path_params["match"])
    if path is None:
        raise HTTPException(404, "There is no such match in this run.")
    now = path
    try:
        header = read_header(now)
    except RecordError:
        if not is_live(now):
            raise
        now = closed_path(now)  # the match may just have ended
        header = read_header(now)
    check_shown(request, place, now, header)
    return path


async def run_events(request: Request) -> StreamingResponse:
    """`{"changed": n}` whenever the tables are new, since a record came or something was decided; n counts from 0,
    which is sent at once."""
    place = await asyncio.to_thread(wanted_run, request)
    return stream(request, run_changes(place, request.app.state.tables, request.app.state.looks))


class EventStream(StreamingResponse):
    """An answer that goes on; 503 where there are too many of them, in all or to one address."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        places: Places = scope["app"].state.streams
        address = address_key(str((scope.get("client") or ("",))[0]))
        if not places.take(address):
            full = PlainTextResponse(
                "This server follows as many pages as it can, in all or for one address. Load the page again later.\n",
                503,
                {"Retry-After": "30"},
            )
            await full(scope, receive, send)
            return
        try:
            await super().__call__(scope, receive, send)
        finally:
            places.give_back(address)


def stream(request: Request, events: AsyncIterator[str]) -> EventStream:
    """Events as they come, until the account of the request or its rights change."""
    allowed = _while_allowed(request, events)
    return EventStream(allowed, media_type="text/event-stream", headers={"Cache-Control": "no-store"})


async def _while_allowed(request: Request, events: AsyncIterator[str]) -> AsyncIterator[str]:
    """The events, until the session or the token has ended or has other rights. For a visitor they go on."""
    # Of a request to the API it is known already: asked again, an account that has just ended would be a visitor's.
    began = getattr(request.state, "caller", None) or await asyncio.to_thread(account_of, request)
    async for text in events:
        if began is not None and await asyncio.to_thread(account_now, request) != began:
            return  # a browser that may still follow connects again
        yield text


async def changes(
    look: Callable[[], object],
    data_of: Callable[[Any, int], dict[str, object]],
    every_s: float = LOOK_S,
    turn: _Turn | None = None,
) -> AsyncIterator[str]:
    """An event with `data_of(seen, n)` whenever `look`, which runs in a thread, sees something else; n counts from 0.

    Ends when it sees None. `turn`: that of all who look at the same.
    """
    turn = turn or _Turn()
    seen: object = None
    number, quiet_s = 0, 0.0
    while (now := await turn.look(look, every_s / 2)) is not None:
        if now != seen:
            yield event(data_of(now, number))
            seen, number, quiet_s = now, number + 1, 0.0
        elif quiet_s >= QUIET_S:
            quiet_s = 0.0
            yield ": still here\n\n"
        await asyncio.sleep(every_s)
        quiet_s += every_s


async def _growth(path: Path, looks: SharedLooks) -> AsyncIterator[str]:
    size = -1

    def size_of(now: int, _: int) -> dict[str, object]:
        nonlocal size
        size = now
        return {"bytes": now, "over": False}

    turn = looks.turn(("match", path))
    async for text in changes(lambda: _size(path) if is_live(path) else None, size_of, turn=turn):
        yield text
    yield event({"bytes": size, "over": True})


def run_changes(run: RunFolder, tables: Tables, looks: SharedLooks) -> AsyncIterator[str]:
    """Ends when the run's folder is gone."""
    return changes(
        lambda: tables.number(run) if run.records.exists else None,
        lambda _, number: {"changed": number},
        turn=looks.turn(("run", run.path)),
    )


def _size(path: Path) -> int | None:
    """None once the file is gone: the closed one has replaced it."""
    try:
        return path.stat().st_size
    except OSError:
        return None


def event(data: dict[str, object]) -> str:
    """One event with this data."""
    return f"data: {json.dumps(data)}\n\n"
