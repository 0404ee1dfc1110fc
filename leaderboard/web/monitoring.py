"""For monitoring: `/healthz` says whether the server can do its work, `/metrics` what it and the ladder do."""

import asyncio

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from leaderboard.web.limits import Places
from leaderboard.web.metrics import FORMAT, Metric, Monitor, text_of


def routes() -> list[Route]:
    """The addresses of a server whose `state` has a `monitor`."""
    return [Route("/healthz", health), Route("/metrics", metrics)]


async def health(request: Request) -> Response:
    """200 if all is well; 503 with `problems` if not. Public: programs that start and watch servers ask without an
    account."""
    monitor: Monitor = request.app.state.monitor
    problems = await asyncio.to_thread(monitor.problems)
    answer = {"status": "failing" if problems else "ok", "problems": list(problems)}
    return JSONResponse(answer, 503 if problems else 200, {"Cache-Control": "no-store"})


async def metrics(request: Request) -> Response:
    """In Prometheus' text format, for organisers' tokens: of the scope `read` are enough."""
    monitor: Monitor = request.app.state.monitor
    streams: Places = request.app.state.streams
    own = Metric("crosstown_streams", "gauge", "Live pages that are followed now.", (), [((), streams.taken)])
    found = [*await asyncio.to_thread(monitor.metrics), own]
    return PlainTextResponse(await asyncio.to_thread(text_of, found), media_type=FORMAT)
